"""Hostile answers earn nothing, leave nothing behind and stop nothing, at each level of isolation that works here."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from convlab import course
from convlab.checker.cells import cells_by_id, read_notebook
from convlab.grader import isolation
from convlab.grader.isolation import LEVELS, Limits, why_not
from convlab.grader.judge import judge

from .cuda_answers import CUDA
from .python_answers import MARK, PYTHON

SEED = 20261130
LIMITS = Limits(slowness=0.5)
PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/root", "/scratch", os.getcwd())
WALLED = [level for level in LEVELS if level.walled and not why_not(level)]


def test_there_is_a_level_to_try():
    assert WALLED


WEAKER = [pytest.param(level, marks=pytest.mark.slow) for level in WALLED[1:]]


@pytest.fixture(params=[*WALLED[:1], *WEAKER], ids=lambda level: level.name.replace(" ", "_"))
def level(request):
    return request.param


@pytest.fixture
def tag(monkeypatch):
    """A variable in the environment of everything that an answer starts."""
    name = f"CONVLAB_TEST_{os.getpid()}_{time.monotonic_ns()}"
    environment = isolation._environment
    monkeypatch.setattr(isolation, "_environment", lambda walls: environment(walls) | {name: "1"})
    return name


def processes(tag):
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if tag.encode() in (each / "environ").read_bytes():
                found.append((each / "cmdline").read_bytes()[:200])
    return found


def earns_nothing(mark, status):
    assert mark.status in (status if isinstance(status, tuple) else (status,)), mark
    assert mark.share == 0.0
    told = repr(mark.to_dict())
    assert "/site-packages" not in told
    assert "root:" not in told
    assert "\x1b" not in mark.sentence


def leaves_nothing(tag):
    assert processes(tag) == []
    assert [place for place in PLACES if Path(place, MARK).exists()] == []
    assert list(Path(tempfile.gettempdir()).glob(f"convlab-jail-{os.getpid()}-*/scratch/*/*")) == []


@pytest.mark.parametrize("name", PYTHON)
def test_python(name, level, tag):
    status, text = PYTHON[name]
    earns_nothing(judge("01-one-output", text, SEED, LIMITS, level), status)
    leaves_nothing(tag)


@pytest.mark.parametrize("name", CUDA)
def test_cuda(name, level, tag):
    status, text = CUDA[name]
    earns_nothing(judge("03-index", text, SEED, LIMITS, level), status)
    leaves_nothing(tag)


def test_a_budget_of_memory_cannot_be_hidden(level):
    text = "import tracemalloc\ndef convolve(image, weights, stride, padding, mode): tracemalloc.stop()\n"
    earns_nothing(judge("02-no-copy", text, SEED, LIMITS, level), "forbidden")


@pytest.mark.parametrize("exercise", ["01-one-output", "03-index"])
def test_honest_answers_pass_beside_hostile_ones(exercise, level):
    """A hostile answer runs at the same time, as another user of the same machine."""
    paths = [path for name, path in course.shipped("solutions").items() if name.endswith(".ipynb")]
    cells = {each: found[0].source for path in paths for each, found in cells_by_id(read_notebook(path)).items()}
    beside = subprocess.Popen([sys.executable, "-c", HOSTILE, level.name, PYTHON["ignores signals"][1]])
    try:
        mark = judge(exercise, cells[exercise], SEED, Limits(slowness=10), level)
        assert (mark.status, mark.share) == ("ok", 1.0), mark
    finally:
        beside.wait(120)


HOSTILE = """
import sys
from convlab.grader.isolation import LEVELS, Limits
from convlab.grader.judge import judge
level = next(level for level in LEVELS if level.name == sys.argv[1])
print(judge("01-one-output", sys.argv[2], 1, Limits(slowness=float(sys.argv[3]) if sys.argv[3:] else 1.0), level))
"""


def test_nothing_survives_a_grader_that_is_killed(level):
    tag = f"CONVLAB_TEST_{os.getpid()}_{time.monotonic_ns()}"
    tagged = (
        "from convlab.grader import isolation\nenvironment = isolation._environment\n"
        f"isolation._environment = lambda walls: environment(walls) | {{{tag!r}: '1'}}\n"
    )
    answer = PYTHON["ignores signals"][1]
    grader = subprocess.Popen([sys.executable, "-c", tagged + HOSTILE, level.name, answer, "60"])
    deadline = time.monotonic() + 60
    while not processes(tag) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes(tag)
    time.sleep(1)
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    deadline = time.monotonic() + 10
    while processes(tag) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes(tag) == []
