"""What keeps answers apart from this machine, seen from the inside by answers that are the tests' own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from convlab.grader import isolation, jail
from convlab.grader.isolation import LEVELS, IsolationError, Limits, best, why_not
from convlab.grader.slots import FIRST, SLOTS, slot

WALLED = [level for level in LEVELS if level.walled and not why_not(level)]
PLAIN = LEVELS[-1]


@pytest.fixture(params=WALLED, ids=lambda level: level.name.replace(" ", "_"))
def level(request):
    return request.param


LIMITS = Limits()


def seen(level, expression, limits=LIMITS, allowed=("numpy",), given=""):
    """What an expression gives in a worker, before any answer is watched: as a text."""
    answer = f"{given}\nSEEN = repr({expression})\ndef f(): return np.frombuffer(SEEN.encode(), np.uint8)"
    request = {"verb": "define", "setup": ["import os, sys\nimport numpy as np", answer], "earlier": [], "answer": ""}
    request |= {"allowed": list(allowed), "name": "cell", "function": "f"}
    with level.start("python", limits, 60, tuple(allowed)) as worker:
        worker.greet()
        worker.ask(request, [], 30)
        reply, arrays = worker.ask({"verb": "call", "function": "f", "arguments": [], "memory": False}, [], 30)
        assert reply["ended"] == "returned", reply
        return bytes(arrays[0]).decode()


def test_the_first_level_that_works_is_the_best(monkeypatch):
    assert best() is WALLED[0]
    best.cache_clear()
    monkeypatch.setattr(isolation, "why_not", lambda level: "" if level.name == "user id" else "it is Tuesday.")
    assert best().name == "user id"
    best.cache_clear()


def test_without_isolation_there_is_no_grading_unless_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(isolation, "why_not", lambda level: "it is Tuesday.")
    best.cache_clear()
    with pytest.raises(
        IsolationError, match=r"(?s)user id: it is Tuesday.*Fix: grade on Linux, as root.*--no-isolation"
    ):
        best()
    assert best(allow_plain=True) is PLAIN
    best.cache_clear()


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_other_systems_have_no_walls(monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    assert {why_not(level) for level in LEVELS} == {"it needs Linux.", ""}


def test_levels_that_do_not_fit_are_not_tried(monkeypatch):
    monkeypatch.setattr(isolation, "_is_root", lambda: False)
    assert why_not(LEVELS[0]) == why_not(LEVELS[2]) == "it needs root."
    monkeypatch.setattr(isolation, "_is_real_root", lambda: True)
    assert why_not(LEVELS[1]) == "it is for those who are not root, whose processes nothing limits."


def test_walls_that_do_not_stand_say_why(monkeypatch):
    monkeypatch.setattr(isolation, "_command", lambda kind: ["/no/such/program"])
    assert "No such file or directory" in why_not(WALLED[0])


def test_every_level_says_in_a_sentence_what_it_is():
    assert all(level.sentence.endswith(".") for level in LEVELS)
    assert len({level.name for level in LEVELS}) == len(LEVELS)
    assert "without isolation" in PLAIN.sentence


def test_nothing_of_the_environment_gets_in(level, monkeypatch):
    monkeypatch.setenv("CONVLAB_SECRET", "1")
    names = set(eval(seen(level, "sorted(os.environ)")))
    assert "CONVLAB_SECRET" not in names
    assert names <= {"HOME", "TMPDIR", "PATH", "PYTHONPATH", "PYTHONUTF8", "PYTHONHASHSEED", "LC_CTYPE"} | {
        f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")
    }


def test_a_worker_is_nobody(level):
    user, effective, groups = eval(seen(level, "(os.getuid(), os.geteuid(), os.getgroups())"))
    assert user == effective >= FIRST
    assert groups in ([], [65534])


def test_the_root_has_only_what_is_shown(level):
    root = set(eval(seen(level, "os.listdir('/')")))
    tops = {path.split("/")[1] for path in jail.view("python", ("numpy",)).shown}
    assert root - {"dev", "scratch"} <= tops
    assert "proc" not in root
    assert eval(seen(level, "os.listdir('/dev')")) in (["null"], ["null", "urandom"], ["urandom", "null"])


def test_only_the_scratch_folder_can_be_written_to(level):
    given = """
def writable():
    found = []
    for folder, names, files in os.walk("/"):
        found += [folder] if os.access(folder, os.W_OK) else []
        found += [os.path.join(folder, name) for name in files if os.access(os.path.join(folder, name), os.W_OK)]
    return [each for each in found if not each.startswith("/dev/")]
"""
    found = eval(seen(level, "writable()", given=given))
    assert found == [eval(seen(level, "os.getcwd()"))] or len(found) == 1
    assert found[0].startswith("/scratch")


def test_packages_are_there_only_where_they_are_allowed(level):
    find = "[importlib.util.find_spec(name) is not None for name in ('numpy', 'numba', 'IPython', 'convlab.spec')]"
    given = "import importlib.util"
    assert eval(seen(level, find, given=given)) == [True, False, False, False]
    allowed = ("numpy", "convlab.spec")
    assert eval(seen(level, find, given=given, allowed=allowed)) == [True, False, False, True]


@pytest.mark.parametrize("kind", ["python", "cuda"])
def test_no_worker_sees_answers_oracles_or_tests(kind):
    paths = jail.view(kind, ("numpy", "convlab.spec")).shown
    package = str(jail.PACKAGE)
    own = {path.removeprefix(package) for path in paths if path.startswith(package)}
    assert not [path for path in own if "exercises" in path or "reference" in path]
    assert not own & {"", "/checker", "/kernels", "/grader"}
    assert not [path for path in paths if Path(path, "solutions").exists() or Path(path, "tests", "grader").exists()]


def test_limits_hold(level):
    given = "import resource\nlimit = lambda name: resource.getrlimit(getattr(resource, 'RLIMIT_' + name))"
    limits = Limits(memory=700 << 20, scratch=3 << 20)
    names = "AS", "NPROC", "CORE", "FSIZE", "NOFILE"
    found = eval(seen(level, f"[limit(name) for name in {names}]", limits, given=given))
    assert found == [(700 << 20,) * 2, (1, 1), (0, 0), ((3 << 20,) * 2 if level.namespaces else (0, 0)), (256, 256)]


def test_the_kernel_refuses_what_no_answer_needs(level):
    given = """
import errno
def refused(call):
    try:
        call()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
import socket
"""
    calls = "[refused(socket.socket), refused(lambda: os.memfd_create('a')), refused(lambda: os.fork())]"
    assert eval(seen(level, calls, given=given)) == ["EPERM", "EPERM", "EAGAIN"]


def test_no_two_workers_are_the_same_user():
    with slot() as (one, _), slot() as (two, _):
        assert FIRST <= one < two < FIRST + SLOTS
    with slot() as (again, _):
        assert again == one


def test_a_user_id_is_taken_as_long_as_anybody_holds_its_file():
    with slot() as (user, file):
        holder = subprocess.Popen(["sleep", "60"], pass_fds=[file])
    with slot() as (other, _):
        assert other != user
    holder.kill()
    holder.wait()
    with slot() as (again, _):
        assert again == user


def test_a_jail_of_a_grader_that_was_killed_is_swept(monkeypatch, tmp_path):
    monkeypatch.setattr(isolation.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(isolation.tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    old, mine = tmp_path / f"convlab-jail-{gone.pid}-a", tmp_path / f"convlab-jail-{os.getpid()}-a"
    old.mkdir()
    mine.mkdir()
    view = jail.View((__file__,), ())
    root = isolation._furnished(view)
    assert not old.exists()
    assert mine.exists()
    assert (root / __file__.lstrip("/")).read_text() == Path(__file__).read_text()


def test_a_link_is_shown_with_all_that_it_leads_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "link").symlink_to("folder/file")
    steps = [path.relative_to(tmp_path).as_posix() for path in jail._steps(tmp_path / "link")]
    assert steps == ["link", "folder", "real/file"]


def test_emptied_folders_are_not_copied(tmp_path):
    inside = tmp_path / "library" / "site-packages"
    inside.mkdir(parents=True)
    (inside / "scipy.py").write_text("")
    (inside.parent / "math.py").write_text("")
    jail.furnish(tmp_path / "jail", jail.View((str(inside.parent),), (str(inside),)))
    found = sorted(path.name for path in (tmp_path / "jail").rglob("*.py"))
    assert found == ["math.py"]


def test_the_plain_level_runs_an_answer_like_any_program():
    assert seen(PLAIN, "1 + 1") == "2"
    environment = isolation._environment({"scratch": "/tmp"})
    assert json.dumps(environment)
    assert np.array_equal(sorted(environment)[:1], ["HOME"])
