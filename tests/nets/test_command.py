"""``convlab profile --net``: the same as `cl.nets.profile`, from a shell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from convlab import cli, profiler
from convlab.nets import from_specs
from convlab.nets.networks import NETWORKS
from convlab.spec import ConvSpec

SPECS = [ConvSpec(1, 16, 24, 20, 16, 3, 3, padding=1), ConvSpec(1, 16, 24, 20, 24, 1, 1)]


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NETWORKS, "tiny", lambda n: from_specs([replace(spec, n=n) for spec in SPECS]))


def test_it_prints_the_table_and_writes_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "layers.csv", tmp_path / "layers.svg"]
    assert cli.main(["profile", "--net=tiny", "--batch=2", "--csv", str(files[0]), "--plot", str(files[1])]) == 0
    assert capsys.readouterr().out.startswith("layers, N=2, float32, for the A100\nlayer ")
    assert len(files[0].read_text(encoding="utf-8").splitlines()) == 3
    assert files[1].read_text(encoding="utf-8").startswith("<?xml")


def test_it_prints_json_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", "--net=tiny", "--json", "--gpu=T4", "--method=naive"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["gpu"], document["macs"]) == ("T4", sum(spec.macs for spec in SPECS))
    assert [layer["method"] for layer in document["layers"]] == ["naive", "naive"]


def test_options_reach_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def profile(*given: Any, **how: Any) -> None:
        asked.append((given, how))
        raise ValueError("not now")

    monkeypatch.setattr(profiler, "profile_network", profile)
    assert cli.main(["profile", "--net=tiny"]) == 2
    assert cli.main(["profile", "--net=a.onnx", "--method=naive", "--method=tiled", "--sample=all", "--batch=3"]) == 2
    usual = {"device": "auto", "gpu": "A100", "dtype": "float32"}
    assert asked == [
        (("tiny", 1, "auto"), usual),
        (("a.onnx", 3, ["naive", "tiled"]), {**usual, "sample": False}),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "INPUT with --filters, or --net, must say what to profile.\n  Fix: convlab profile 1,64,56,56"),
        (["1,2,3,4"], "INPUT with --filters, or --net, must say what to profile."),
        (["1,2,3,4", "--net=tiny"], "--net takes the place of INPUT and --filters.\n  Fix: convlab profile 1,64"),
        (["1,2,9,9", "--filters=1,3,3", "--csv=a.csv"], "--csv has a row for each layer of a network.\n  Fix: add --n"),
        (["--net=tinny"], "There is no network 'tinny'. Did you mean 'tiny'?"),
        (["--net=none.onnx"], "none.onnx cannot be read: No such file or directory.\n  Fix: name a file of ONNX."),
        (
            ["--net=resnet50", "--csv=no/such/a.csv"],
            "no/such/a.csv cannot be written: No such file or directory.\n  Fix:",
        ),
        (["--net=resnet50", "--batch=0"], "n=0 is less than 1.\n  In: ConvSpec(n=0, c=3, h=224"),
        (["--net=tiny", "--plot=a.gif"], "'a.gif' names no kind of picture."),
    ],
)
def test_mistakes_are_told_with_what_to_do(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"convlab: {message}")


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(profiler, "profile_network", stopped)
    assert cli.main(["profile", "--net=tiny"]) == 130
    assert capsys.readouterr() == ("", "")
