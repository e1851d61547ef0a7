"""JupyterLab, started for the course: at its first lesson, quiet, and asking nothing of the network."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from convlab import course
from convlab.errors import ConvlabError
from convlab.lab import folders, workspace

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["arguments", "port_sentence", "start"]

# JupyterLab's options that `convlab lab` has its own for.
_OURS = {"--ServerApp.root_dir": "--folder", "--notebook-dir": "--folder", "--LabApp.default_url": "--lesson"}


def start(folder: str | None = None, lesson: str = "00", forwarded: list[str] | None = None) -> int:
    """Open JupyterLab on the learner's working copy and serve until Ctrl-C; 0 when it stopped as asked.

    ``folder`` is the working copy's place (default ``my-convlab`` here), ``lesson`` the number of the
    notebook to open, ``forwarded`` what JupyterLab gets unchanged. Raises ``ConvlabError`` for a folder that
    cannot be written and for a lesson that does not exist.
    """
    page = course.lesson(lesson)
    home = Path(os.path.expanduser("~"))
    copy, sentence = workspace.choose(folder, Path.cwd(), home)
    argv = arguments(copy, page, forwarded or [])
    try:
        changed = workspace.refresh(copy)
    except OSError as error:
        raise ConvlabError(f"Cannot write {copy}: {error}. Name another folder with --folder.") from error
    for line in filter(None, [sentence, *changed]):
        print(line)
    # Before Jupyter is imported: it reads these when it is loaded, and the notebooks' kernels inherit them.
    os.environ.update(folders.environment(os.environ, copy / workspace.HIDDEN, home))
    _serve(argv, copy)
    return 0


def arguments(copy: Path, page: str, forwarded: list[str]) -> list[str]:
    """JupyterLab's command line.

    >>> arguments(Path("mine"), "notebooks/00_start_here.ipynb", ["--no-browser"])[1:]
    ['--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb', '--no-browser']
    """
    for argument in forwarded:
        name = argument.split("=")[0]
        if name in _OURS:
            raise ConvlabError(f"convlab lab sets {name} itself. Use {_OURS[name]} instead.")
    return [f"--ServerApp.root_dir={copy}", f"--LabApp.default_url=/lab/tree/{quote(page)}", *forwarded]


def port_sentence(asked: int, taken: int) -> str:
    """What to tell the learner about the port.

    >>> port_sentence(8888, 8889)
    'Port 8888 is not available, so JupyterLab uses port 8889.'
    """
    if asked in (taken, 0):  # 0 asks for any port
        return ""
    return f"Port {asked} is not available, so JupyterLab uses port {taken}."


def _serve(argv: list[str], copy: Path) -> None:
    from jupyterlab.labapp import LabApp
    from traitlets.config import Config

    from convlab.lab.export import PREPROCESSOR

    # Defaults only: the learner's options, and the learner's own Jupyter configuration, go before them.
    defaults = Config(
        {
            "Application": {"log_level": "ERROR"},  # its warnings are about Jupyter, not about the course
            "KernelManager": {"transport_encryption": "auto"},  # others on this machine cannot listen
            "LanguageServerManager": {"autodetect": False},  # it runs npm, which may ask the network, or hang
            "LabApp": {
                "extension_manager": "readonly",  # the other one lists extensions from the network
                "workspaces_dir": str(copy / workspace.HIDDEN / "workspaces"),  # the open tabs
            },
            "HTMLExporter": {"preprocessors": [PREPROCESSOR]},  # File, Save and Export Notebook As
            "ServerApp": {"allow_root": True},  # JupyterLab refuses root, which is who one is in a container
        }
    )
    try:
        server: ServerApp = LabApp.initialize_server(argv=argv, config=defaults)
    except OSError as error:
        raise ConvlabError(f"JupyterLab cannot start: {error}. Check --ip and --port.") from error
    asked = int(server.config.ServerApp.get("port", server.trait_defaults("port")))
    _stop_at_first_interrupt(server)
    lines = [
        port_sentence(asked, server.port),
        f"Your notebooks: {copy}",
        f"JupyterLab:     {server.local_url if server.ip in ('', 'localhost') else server.connect_url}",
        "Ctrl-C stops it.",
    ]
    print("\n".join(line for line in lines if line), flush=True)
    server.identity_provider.token_generated = False  # or Jupyter prints the address a second time
    server.start()
    print("JupyterLab has stopped.", flush=True)


def _stop_at_first_interrupt(server: ServerApp) -> None:
    """Jupyter itself would ask whether to stop, or without a terminal leave its kernels behind."""

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C does not wait for kernels
        server.stop(from_signal=True)

    signal.signal(signal.SIGINT, stop)
