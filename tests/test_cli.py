from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from convlab import cli, course, doctor
from convlab.commands import run
from convlab.errors import ConvlabError
from convlab.lab import server


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []
    monkeypatch.setattr(server, "start", lambda *arguments: calls.append(arguments) or 0)
    return calls


def fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def start(*_: object) -> int:
        raise error

    monkeypatch.setattr(server, "start", start)


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    output = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert command.example in output
        assert f"    {command.name} " in output


@pytest.mark.parametrize("name", cli._BY_NAME)
def test_each_command_helps_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])
    assert stop.value.code == 0
    assert f"example: convlab {name}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"convlab {version('convlab')}\n"


def test_an_unknown_command_gets_a_suggestion_or_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doktor"]) == 2
    assert capsys.readouterr().err == "convlab: there is no command 'doktor'. Did you mean convlab doctor?\n"
    assert cli.main(["xyzzy"]) == 2
    assert (
        "The commands are lab, doctor, run, profile, bench, export, check, grade, selftest, release."
        in capsys.readouterr().err
    )


def test_an_unknown_option_is_refused_where_nothing_can_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--jsno"]) == 2
    assert capsys.readouterr().err == "convlab: convlab doctor does not know --jsno. Try: convlab doctor --help\n"


def test_lab_opens_lesson_00_here_unless_told_otherwise(started: list[Any]) -> None:
    assert cli.main(["lab"]) == 0
    assert started == [(None, "00", [])]


def test_lab_takes_its_own_options_and_forwards_the_rest_in_order(started: list[Any]) -> None:
    options = ["lab", "--no-browser", "--lesson", "01", "--port", "9000", "--ip=0.0.0.0", "--folder"]
    assert cli.main([*options, "my work", "--ServerApp.token=a=b", "--", "--debug"]) == 0
    forwarded = ["--no-browser", "--port", "9000", "--ip=0.0.0.0", "--ServerApp.token=a=b", "--debug"]
    assert started == [("my work", "01", forwarded)]


def test_lab_does_not_take_an_abbreviation_for_its_own(started: list[Any]) -> None:
    cli.main(["lab", "--fold", "x"])
    assert started == [(None, "00", ["--fold", "x"])]


@pytest.mark.parametrize("error", [ConvlabError("no lesson 42"), ValueError("c=6 is not divisible by groups=4")])
def test_an_error_is_one_clean_message(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, error)
    assert cli.main(["lab"]) == 2
    assert capsys.readouterr() == ("", f"convlab: {error}\n")


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fails_with(monkeypatch, KeyboardInterrupt())
    assert cli.main(["lab"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("state", "code"), [("note", 0), ("problem", 1)])
def test_doctor_fails_only_for_a_problem(
    state: doctor.State, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: [doctor.Finding("gpu", state, "A fact.", "A fix.")])
    assert cli.main(["doctor"]) == code
    assert "To do: A fix." in capsys.readouterr().out
    assert cli.main(["doctor", "--json"]) == code
    assert f'"can_run": {str(code == 0).lower()}' in capsys.readouterr().out


def test_the_help_of_run_lists_every_maker_and_dtype(capsys: pytest.CaptureFixture[str]) -> None:
    from convlab.argument_text import ELEMENTS, MAKERS

    with pytest.raises(SystemExit):
        cli.main(["run", "--help"])
    words = capsys.readouterr().out.replace(":", " ").split()
    assert {*ELEMENTS, *MAKERS, "empty", "full", "null", "x.npy,", "true"} <= set(words)
    assert all(len(line) <= 100 for line in run._MORE.splitlines())


def test_run_prints_what_the_runner_says_and_returns_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from convlab import runner

    given: list[Any] = []
    monkeypatch.setattr(runner, "run", lambda options: given.append(options) or ("All of it.", 1))
    words = ["a.cu", "--grid", "4", "--block=32,8", "--arg", "-2", "--arg=-1e-3", "-DN=3", "--option=-use_fast_math"]
    assert cli.main(["run", *words]) == 1
    assert capsys.readouterr() == ("All of it.\n", "")
    assert vars(given[0]) == {
        "command": "run",
        "file": "a.cu",
        "entry": None,
        "grid": "4",
        "block": "32,8",
        "arg": ["-2", "-1e-3"],
        "out": [],
        "out_npz": None,
        "json": False,
        "arch": "compute_80",
        "define": ["N=3"],
        "option": ["-use_fast_math"],
        "shared": 0,
        "device": "auto",
        "observe": True,
        "budget": None,
        "seed": 0,
        "order_seed": None,
        "caches": False,
        "sample": None,
    }


@pytest.mark.parametrize("option", ["--shared", "--budget", "--seed", "--order-seed", "--sample"])
@pytest.mark.parametrize("text", ["-5", "1.5", "many", "9" * 5000])
def test_run_refuses_a_number_that_is_none(option: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["run", "a.cu", "--grid=1", "--block=1", f"{option}={text}"])
    assert stop.value.code == 2
    assert f"argument {option}: {text!r} is not a whole number from 0 on" in capsys.readouterr().err


def test_ctrl_c_in_run_says_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from convlab import runner

    def run(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", run)
    assert cli.main(["run", "a.cu", "--grid=1", "--block=1"]) == 130
    assert capsys.readouterr() == ("", "convlab: stopped by Ctrl-C.\n")


LAYER = ["profile", "2,5,13,11", "--filters", "7,3,2"]


def profiled(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the command asks `convlab.perf.profile.profile` for; it is told that this cannot be done."""
    from convlab import profiler

    asked: list[Any] = []

    def profile(*given: Any, **how: Any) -> None:
        asked.append((given, how))
        raise ValueError("not now")

    monkeypatch.setattr(profiler, "profile", profile)
    assert cli.main([*LAYER, *words]) == 2
    return asked[0]


def test_profile_reads_sizes_and_methods(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from convlab.spec import ConvSpec

    assert profiled(monkeypatch) == (
        (ConvSpec(2, 5, 13, 11, 7, 3, 2), "naive"),
        {"device": "auto", "gpu": "A100", "sample": "auto", "dtype": "float32"},
    )
    assert capsys.readouterr().err == "convlab: not now\n"
    words = ["--stride=2,1", "--padding", "1,0,2,1", "--dilation", "1,2", "--method=tiled", "--method=naive"]
    given, how = profiled(
        monkeypatch, *words, "--method=tiled", "--gpu=T4", "--device=cuda", "--sample=3", "--dtype=float16"
    )
    assert given == (ConvSpec(2, 5, 13, 11, 7, 3, 2, (2, 1), (1, 0, 2, 1), (1, 2)), ["tiled", "naive"])
    assert how == {"device": "cuda", "gpu": "T4", "sample": 3, "dtype": "float16"}
    (spec, _), how = profiled(monkeypatch, "--padding=same", "--sample=all")
    assert (spec.output_shape, how["sample"]) == ((2, 7, 13, 11), False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["2,5,13", "--filters=7,3,2"],
            "INPUT is '2,5,13', not N,C,H,W.\n  Fix: give the sizes with commas, such as 1,",
        ),
        (["2,5,13,x", "--filters=7,3,2"], "INPUT is '2,5,13,x', not N,C,H,W."),
        (["2,5,13,11", "--filters=7,3"], "--filters is '7,3', not K,R,S."),
        (
            [*LAYER[1:], "--padding=full"],
            "--padding is 'full'.\n  Fix: give a number, or several with commas, such as 1 or",
        ),
        ([*LAYER[1:], "--stride=fast"], "--stride is 'fast'.\n  Fix: give a number"),
        ([*LAYER[1:], "--groups=2"], "c=5 is not divisible by groups=2."),
        ([*LAYER[1:], "--sample=most"], "--sample is 'most'.\n  Fix: give a number of blocks, or all, or auto."),
        ([*LAYER[1:], "--method=naiv"], "There is no method 'naiv'. Did you mean 'naive'?"),
        ([*LAYER[1:], "--gpu=A10"], "There is no GPU 'A10' in the table. Did you mean 'A100'?"),
        (
            [*LAYER[1:], "--plot=roof.gif"],
            "'roof.gif' names no kind of picture.\n  Fix: end the name in .svg, .png or .pdf.",
        ),
        (
            [*LAYER[1:], "--plot=no/such/roof.svg"],
            "no/such/roof.svg cannot be written: No such file or directory.\n  Fix:",
        ),
        ([*LAYER[1:], "--level=l2", "--gpu=T4", "--plot=roof.svg"], "Nobody published the bandwidth of the T4's L2"),
        ([*LAYER[1:], "--method=depthwise"], "Method 'depthwise' does not do this: It computes depthwise convolutions"),
    ],
)
def test_profile_says_what_is_wrong_and_how_to_mend_it(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["profile", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"convlab: {message}")


def test_profile_prints_a_method_or_a_table_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*LAYER, "--plot", str(tmp_path / "roof.svg")]) == 0
    assert capsys.readouterr().out.startswith("naive on 2×5×13×11 → 7 filters 3×2, stride 1, padding 0\n  time")
    assert (tmp_path / "roof.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert cli.main([*LAYER, "--method=naive", "--method=tiled", "--method=depthwise"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = [line.split()[0] for line in lines[1:] if line]
    assert first == [*2 * ["method", "naive", "tiled"], "depthwise:", "Modelled"]


def test_profile_prints_json_for_a_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from convlab.executors import cuda

    monkeypatch.setattr(cuda, "available", lambda: False)
    assert cli.main([*LAYER, "--method=naive", "--method=depthwise", "--method=direct", "--json", "--sample=all"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["spec"]["padding"], document["gpu"]) == ([0, 0, 0, 0], "A100")
    naive, depthwise, direct = document["methods"]
    assert (naive["method"], naive["time"]["kind"], naive["time"]["on"]) == ("naive", "modelled", "A100")
    assert naive["counters"]["flop"] == naive["flop"] == naive["executed_flop"] == 92_400
    assert {*naive["bytes"]} == {"compulsory", "dram", "l2", "l1"}
    assert naive["arrays"]["y"].keys() >= {"sectors_global_store"}
    assert "sectors_global_load" not in naive["arrays"]["y"]
    assert naive["occupancy"]["conv_naive"]["of"] == 64
    assert naive["model"][0]["kernel"] == "conv_naive"
    assert sum(launch["milliseconds"] for launch in naive["model"]) == naive["time"]["milliseconds"]
    assert depthwise["reason"].startswith("It computes depthwise convolutions")
    assert direct["time"]["kind"] == "measured"
    assert "counters" not in direct


def test_check_reports_on_a_notebook_and_fails_until_it_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    root = course.root()
    assert cli.main(["check", str(root / "exercises" / "01_loops.ipynb")]) == 1
    assert "0 of 10 points" in capsys.readouterr().out
    assert cli.main(["check", str(root / "solutions" / "01_loops.ipynb")]) == 0
    assert "10 of 10 points" in capsys.readouterr().out
    assert cli.main(["check", "nothing.ipynb"]) == 2
    assert "nothing.ipynb" in capsys.readouterr().err


def test_release_writes_the_exercises_or_only_names_the_stale_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(course.root() / "solutions", tmp_path / "solutions")
    monkeypatch.setattr(course, "root", lambda: tmp_path)
    exercise = tmp_path / "exercises" / "01_loops.ipynb"
    assert cli.main(["release", "--check"]) == 1
    assert str(exercise) in capsys.readouterr().out.splitlines()
    assert not exercise.exists()
    assert cli.main(["release"]) == 0
    assert exercise.exists()
    assert cli.main(["release", "--check"]) == 0


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from convlab import cli; cli.main([]); "
        "print(sorted({'IPython', 'jupyterlab', 'matplotlib', 'numba', 'ipywidgets'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert output.splitlines()[-1] == "[]"


def test_help_that_nobody_reads_to_the_end_is_no_error() -> None:
    code = "import sys; from convlab.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},  # without a buffer there is nothing left to print at the end
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_a_console_without_the_letters_of_a_path_shows_stand_ins() -> None:
    code = "from convlab import cli; cli._print_any_path(); print('卷积')"
    command = [sys.executable, "-X", "utf8=0", "-c", code]
    done = subprocess.run(command, env={"PYTHONIOENCODING": "cp1252"}, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "??\n"


def test_grade_says_where_to_look_and_exits_with_what_is_left_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from convlab.grader import grading

    given: list[Any] = []
    left = iter([0, 3])
    monkeypatch.setattr(grading, "run", lambda wanted: given.append(wanted) or next(left))
    assert cli.main(["grade", "in.zip", "--out", "out", "--jobs", "0"]) == 0
    assert (
        capsys.readouterr().out
        == f"{Path('out', 'summary.html')} says how it went; submissions that need a human: none.\n"
    )
    words = ["--seed-file=s", "--course", "c.toml", "--dask", "tcp://a:1", "--jobs=3", "--no-isolation"]
    assert cli.main(["grade", "in.zip", "--out", "out", *words]) == 1
    assert "need a human: 3." in capsys.readouterr().out
    usual, all_given = given
    assert usual == grading.Grading(Path("in.zip"), Path("out"), jobs=1)
    assert all_given == grading.Grading(
        Path("in.zip"), Path("out"), Path("s"), jobs=3, course=Path("c.toml"), dask="tcp://a:1", allow_plain=True
    )


def test_ctrl_c_in_grade_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from convlab.grader import grading

    def run(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "run", run)
    assert cli.main(["grade", "in.zip", "--out", "out"]) == 130
    assert capsys.readouterr().err == "\nStopped. What is graded is kept: the same command goes on from there.\n"
