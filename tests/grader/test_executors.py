"""Pools end with who opened them; Dask's is one like the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import distributed
import psutil
import pytest

from convlab.grader.executors import DaskError, on_dask, on_this_machine
from convlab.grader.extract import Answer
from convlab.grader.grade_one import Job, grade

ANSWER = Answer("01-loops", status="not_attempted", sentence="Nothing yet.")


def job(number):
    return Job(f"key-{number}", (ANSWER,), ("01-loops",), seed=1, allow_plain=True)


def marks(outcome):
    return [(mark["exercise"], mark["status"], mark["sentence"]) for mark in outcome["marks"]]


def test_processes_of_this_machine_grade():
    with on_this_machine(2)() as pool:
        assert pool.slots == 2
        outcomes = [future.result() for future in [pool.executor.submit(grade, job(i)) for i in range(4)]]
    assert [marks(each) for each in outcomes] == [[("01-loops", "not_attempted", "Nothing yet.")]] * 4


SLEEPERS = """
import os, time
from convlab.grader.executors import on_this_machine
if __name__ == "__main__":
    with on_this_machine(2)() as pool:
        for _ in range(2):
            pool.executor.submit(time.sleep, 600)
        print("running", flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_one_that_opened_the_pool(end, tmp_path):
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout.readline() == "running\n"
    children = []
    while len(children) < 3:  # two workers, and multiprocessing's tracker
        time.sleep(0.2)
        children = psutil.Process(process.pid).children(recursive=True)
    time.sleep(3)  # until they sleep
    os.kill(process.pid, end)
    process.wait(30)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers_grades():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, on_dask(cluster.scheduler_address)() as pool:
        assert pool.slots == 2
        outcomes = [future.result() for future in [pool.executor.submit(grade, job(i)) for i in range(4)]]
    assert [marks(each) for each in outcomes] == [[("01-loops", "not_attempted", "Nothing yet.")]] * 4


def test_no_cluster_and_no_dask_are_told(monkeypatch):
    monkeypatch.setattr("convlab.grader.executors.PATIENCE", 1)
    with (
        pytest.raises(DaskError, match=r"no Dask cluster answers at tcp://127.0.0.1:9: .*\n  Fix: Give the address"),
        on_dask("tcp://127.0.0.1:9")(),
    ):
        pass
    with pytest.raises(DaskError, match=r"no Dask cluster answers at nonsense"), on_dask("nonsense")():
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(DaskError, match=r"Dask is not installed\.\n  Fix: pip install 'convlab\[dask\]'\."),
        on_dask("tcp://127.0.0.1:9")(),
    ):
        pass
