"""Starts a real JupyterLab and looks at its notebooks in headless Chromium, as a learner's browser would."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, sync_playwright

__all__ = ["Lab", "Notebook", "running_lab", "write_notebook"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--no-sandbox",  # containers run as root, where Chromium's sandbox does not start
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
)
SETTINGS = {
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},  # as convlab lab has it
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # All cells exist in the page, not only those in sight.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
START_SECONDS = 60  # for JupyterLab, and again for its first page
RUN_SECONDS = 120  # for all cells of a notebook
WAIT_SECONDS = 15  # for anything else


@dataclass
class Notebook:
    """A notebook open in the browser; ``errors`` gathers what the console and failed requests complain of."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        self.page.on("requestfailed", self._note_request)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _note_request(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself changed its mind
            self.errors.append(f"request: {request.url} {request.failure}")

    def open(self, url: str) -> None:
        """Load the notebook and wait for its kernel: keys pressed before it is connected are lost."""
        self.page.goto(url)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_SECONDS * 1000)
        self.wait_idle()

    def run_all(self) -> None:
        """Run all cells from the menu, and wait until the last one is done."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.page.wait_for_function(
            """() => {
                const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")];
                const texts = prompts.map((prompt) => prompt.textContent);
                return texts.some((text) => /\\d/.test(text)) && !texts.some((text) => text.includes("*"));
            }""",
            timeout=RUN_SECONDS * 1000,
        )
        self.wait_idle()

    def wait_idle(self) -> None:
        """Wait until the status bar says that the kernel is idle."""
        status = self.page.locator("#jp-main-statusbar").get_by_text(re.compile(r"\| Idle$"))
        status.wait_for(timeout=RUN_SECONDS * 1000)

    def save(self) -> None:
        """Save the notebook, with the state of its widgets, and wait until it is written."""
        self.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")

    def cell(self, number: int) -> Locator:
        """The cell with the given number, counted from 0."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def python_errors(self) -> list[str]:
        """The texts of the error outputs of all cells."""
        return self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()

    def theme(self, name: str) -> None:
        """Switch JupyterLab's theme, as "JupyterLab Dark"."""
        command = "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})"
        self.page.evaluate(command, name)
        self.page.wait_for_function("(name) => document.body.dataset.jpThemeName === name", arg=name)
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")


@dataclass
class Lab:
    """A running JupyterLab that serves ``folder``, with a browser beside it."""

    folder: Path
    url: str
    token: str
    browser: Browser

    def open(self, name: str, width: int = 1366, height: int = 900) -> Notebook:
        """Open a notebook of the folder in a fresh browser profile."""
        context = self.browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(WAIT_SECONDS * 1000)
        notebook = Notebook(context.new_page())
        notebook.open(f"{self.url}/lab/tree/{name}?token={self.token}&reset")
        return notebook

    @contextmanager
    def running(self, name: str, *cells: str) -> Iterator[Notebook]:
        """A notebook of these cells that has been run; when it is left, nothing may have complained."""
        write_notebook(self.folder / name, *cells)
        notebook = self.open(name)
        notebook.run_all()
        yield notebook
        assert notebook.errors == []
        assert notebook.python_errors() == []


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells for the environment's own kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


@contextmanager
def running_lab(folder: Path, state: Path) -> Iterator[Lab]:
    """Start JupyterLab on a folder; its configuration and its log stay in ``state``."""
    executable = find_browser()
    port, token = _free_port(), secrets.token_hex(16)
    url = f"http://127.0.0.1:{port}"
    log = state / "jupyterlab.log"
    with log.open("wb") as stream:
        command, environment = _command(folder, port, token), _environment(state)
        server = subprocess.Popen(command, env=environment, stdout=stream, stderr=subprocess.STDOUT)
    try:
        _wait_for(f"{url}/api/status?token={token}", server, log)
        with sync_playwright() as playwright:
            chromium = playwright.chromium
            browser = chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
            yield Lab(folder, url, token, browser)
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=30)


def find_browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(
            f"No browser found: looked for {', '.join(BROWSERS)} on the PATH.\n"
            "Fix: install Chromium from your distribution (apt-get install chromium), "
            'or leave these tests out with: pytest -m "not browser".',
            pytrace=False,
        )
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(folder: Path, port: int, token: str) -> list[str]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", *(["--allow-root"] if is_root else [])),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"),
        *("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
        "--LabApp.expose_app_in_browser=True",
    ]


def _environment(state: Path) -> dict[str, str]:
    """Make the environment of a server that knows nothing of the user's own Jupyter."""
    folders = {
        name: state / name.lower()
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    overrides = folders["JUPYTER_CONFIG_DIR"] / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(SETTINGS), encoding="utf-8")
    return os.environ | {
        **{name: str(folder) for name, folder in folders.items()},
        "JUPYTER_PREFER_ENV_PATH": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            opener.open(url, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"JupyterLab did not start.\n{log.read_text(errors='replace')[-4000:]}", pytrace=False)
