"""Where submissions are judged: on this machine's cores or on a Dask cluster, by the same calls."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from convlab.errors import ConvlabError

__all__ = ["DaskError", "Opener", "Pool", "on_dask", "on_this_machine"]


PATIENCE = 10  # seconds until a cluster must have answered


class Pool(NamedTuple):
    """An executor, and how many submissions it judges at once."""

    executor: Executor
    slots: int


Opener = Callable[[], AbstractContextManager[Pool]]


class DaskError(ConvlabError, RuntimeError):
    """A Dask cluster that is not there."""


def on_this_machine(jobs: int) -> Opener:
    """Judge in so many processes of this machine; when the block ends early, they are ended at once."""

    @contextmanager
    def opened() -> Iterator[Pool]:
        context = _context()
        before = {*multiprocessing.active_children()}
        executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare)
        try:
            yield Pool(executor, jobs)
        except BaseException:
            for process in {*multiprocessing.active_children()} - before:
                process.terminate()
            raise
        finally:
            executor.shutdown(cancel_futures=True)

    return opened


def _context() -> BaseContext:
    """How processes are started: the parent has threads, which a fork of it would break."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["convlab.grader.grade_one"])  # imported once, and not once for each process
    return context


def _prepare() -> None:
    """Leave Ctrl-C and the terminal to the parent, and end with it even where it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # bars of the emulator's; failures are marks
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def on_dask(address: str) -> Opener:
    """Judge on the workers of a Dask cluster, which need convlab, and an isolation of their own.

    Raises ``DaskError`` where Dask is not installed, or no cluster answers.
    """

    @contextmanager
    def opened() -> Iterator[Pool]:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise DaskError("Dask is not installed.\n  Fix: pip install 'convlab[dask]'.") from None
        try:
            client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            fix = "Give the address that the scheduler printed, such as tcp://10.0.0.1:8786."
            raise DaskError(f"no Dask cluster answers at {address}: {error}.\n  Fix: {fix}") from None
        with client, client.get_executor(pure=False) as executor:
            yield Pool(executor, max(1, sum(client.nthreads().values())))

    return opened
