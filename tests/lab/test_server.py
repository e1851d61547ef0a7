from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client import BlockingKernelClient

from convlab.errors import ConvlabError
from convlab.lab.server import arguments, port_sentence

CONVLAB = Path(sys.executable).with_name("convlab")
START_SECONDS = 60
KEPT_OUT = ("jupyter", "ipython", "numba", "no_proxy")  # what convlab lab would leave as it is


class Lab:
    """``convlab lab``, running in a folder of its own and with a home folder that cannot exist."""

    def __init__(self, folder: Path, *options: str) -> None:
        env = {name: value for name, value in os.environ.items() if not name.lower().startswith(KEPT_OUT)}
        command = [str(CONVLAB), "lab", "--no-browser", *options]
        self.log = folder / f"log-{len(list(folder.iterdir()))}.txt"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                command, cwd=folder, env={**env, "HOME": "/proc/nothing"}, stdout=output, stderr=subprocess.STDOUT
            )
        self.url = self._address()

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def _address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if "Ctrl-C stops it." in self.output():
                return re.findall(r"http://\S+", self.output())[0]
            time.sleep(0.1)
        raise AssertionError(self.output())

    def ask(self, path: str, content: object = None) -> str:
        base, _, token = self.url.partition("/lab/tree")[0], *self.url.partition("token=")[1:]
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{base}{path}", data, {"Authorization": f"token {token}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=START_SECONDS) as answer:
            return answer.read().decode()

    def run_in_a_kernel(self, code: str, runtime: Path) -> str:
        """Start a kernel as JupyterLab's page would, and return what ``code`` prints in it."""
        kernel = json.loads(self.ask("/api/kernels", {"name": "python3"}))["id"]
        client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{kernel}.json"))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(START_SECONDS)
        printed: list[str] = []
        client.execute_interactive(
            code,
            timeout=START_SECONDS,
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
        )
        client.stop_channels()
        return "".join(printed)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(START_SECONDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my courses 课程"
    folder.mkdir()
    return folder


@pytest.fixture
def labs(folder: Path) -> Iterator[Any]:
    started: list[Lab] = []

    def start(*options: str) -> Lab:
        started.append(Lab(folder, *options))
        return started[-1]

    yield start
    for lab in started:
        lab.process.kill()
        lab.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_it_serves_lesson_00_runs_kernels_and_stops_at_one_interrupt(labs: Any, folder: Path) -> None:
    port = free_port()
    lab = labs("--port", str(port))
    copy = folder / "my-convlab"
    assert lab.url.startswith(f"http://127.0.0.1:{port}/lab/tree/notebooks/00_start_here.ipynb?token=")
    assert lab.output() == f"Your notebooks: {copy}\nJupyterLab:     {lab.url}\nCtrl-C stops it.\n"

    page = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)<', lab.ask("/lab"), re.DOTALL)[1])
    assert "@jupyterlab/apputils-extension:announcements" in page["disabledExtensions"]  # the news pop-up
    listed = json.loads(lab.ask("/api/contents/notebooks"))["content"]
    assert "00_start_here.ipynb" in {entry["name"] for entry in listed}

    code = "import os, sys; print(sys.executable, os.environ['NUMBA_CACHE_DIR'], os.environ['NO_PROXY'], sep='\\n')"
    hidden = copy / ".convlab"  # the home folder is unusable
    assert lab.run_in_a_kernel(code, hidden / "jupyter_runtime_dir").splitlines() == [
        sys.executable,
        str(hidden / "numba_cache_dir"),
        "localhost,127.0.0.1,::1",
    ]
    (kernel,) = psutil.Process(lab.process.pid).children(recursive=True)

    assert lab.interrupt() == 0
    assert lab.output().endswith("Ctrl-C stops it.\nJupyterLab has stopped.\n")
    assert not kernel.is_running()
    assert list(hidden.rglob("kernel-*.json")) == []


def test_a_busy_port_and_a_second_start_each_get_one_plain_sentence(labs: Any, folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        lab = labs("--port", str(port), "--lesson", "1", "--folder", "here")
    taken = int(re.search(r"127\.0\.0\.1:(\d+)", lab.url)[1])
    assert taken != port
    assert lab.output().startswith(f"Port {port} is not available, so JupyterLab uses port {taken}.\n")
    assert "/lab/tree/notebooks/01_" in lab.url
    assert lab.interrupt() == 0

    shipped = folder / "here" / ".convlab" / "shipped.json"
    record = json.loads(shipped.read_text())
    name = next(iter(record))
    shipped.write_text(json.dumps({**record, name: "an older version"}))  # as after an update of the course
    mine = folder / "here" / name
    mine.write_text(mine.read_text().replace('"source": [', '"source": ["# mine\\n",', 1))
    before = mine.read_bytes()
    lab = labs("--folder", "here", "--port", "0")
    assert lab.output().startswith(f"{name} has a new version. Yours is kept; the new one is ")
    assert mine.read_bytes() == before
    assert "not available" not in lab.output()


def test_an_address_that_cannot_be_is_one_sentence(folder: Path) -> None:
    done = subprocess.run(
        [str(CONVLAB), "lab", "--no-browser", "--ip", "256.1.1.1"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.fullmatch(r"convlab: JupyterLab cannot start: .*\. Check --ip and --port\.\n", done.stderr)


def test_a_lesson_that_does_not_exist_is_one_sentence_and_no_working_copy(folder: Path) -> None:
    done = subprocess.run(
        [str(CONVLAB), "lab", "--lesson", "77"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"convlab: There is no lesson 77\. The lessons are 00, 01\b.*\.\n", done.stderr)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("argument", "instead"),
    [("--ServerApp.root_dir=/", "--folder"), ("--notebook-dir", "--folder"), ("--LabApp.default_url=/", "--lesson")],
)
def test_what_convlab_lab_sets_itself_is_refused_with_its_own_option(argument: str, instead: str) -> None:
    name = argument.split("=", maxsplit=1)[0]
    with pytest.raises(ConvlabError, match=f"^convlab lab sets {name} itself. Use {instead} instead.$"):
        arguments(Path("mine"), "notebooks/00.ipynb", ["--no-browser", argument])


def test_a_page_is_quoted_for_an_address() -> None:
    line = arguments(Path("a b"), "notebooks/00 卷.ipynb", [])
    assert line == ["--ServerApp.root_dir=a b", "--LabApp.default_url=/lab/tree/notebooks/00%20%E5%8D%B7.ipynb"]


def test_a_port_that_was_free_or_left_open_needs_no_word() -> None:
    assert port_sentence(8888, 8888) == port_sentence(0, 41234) == ""
