"""Recorded times, from files as the GPU benchmark writes them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from convlab.perf.recorded import RESULTS, recorded, records, spec_fields
from convlab.perf.times import Time
from convlab.spec import BlockSpec, ConvSpec, GemmSpec

SPEC = ConvSpec(n=16, c=64, h=56, w=28, k=64, r=3, s=1, stride=(2, 1), padding=1)


def entry(spec=SPEC, op="conv2d", milliseconds=0.5, dtype="float32", **named):
    times = {"milliseconds": milliseconds, "low": milliseconds - 0.1, "high": milliseconds + 0.1}
    return {**named, "op": op, "spec": spec_fields(spec), "dtype": dtype, **times, "note": "cold", "kernel": ""}


def write(folder, name, day, gpu, *entries):
    record = {"benchmark": "gpu", "day": day, "machine": {"gpu": gpu, "driver": "580"}, "entries": entries}
    (folder / name).write_text(json.dumps(record), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    tiled = entry(method="tiled", milliseconds=0.7)
    write(tmp_path, "gpu_b.json", "2026-10-01", "NVIDIA H200", entry(method="naive", milliseconds=2.0), tiled)
    write(
        tmp_path,
        "gpu_a.json",
        "2026-11-30",
        "NVIDIA A100-SXM4-40GB",
        entry(method="naive", milliseconds=3.0),
        entry(peer="cudnn", milliseconds=0.4),
        entry(peer="cudnn", milliseconds=0.2, dtype="float16"),
        entry(GemmSpec(4, 5, 6), op="gemm", method="naive", milliseconds=9.0),
    )
    (tmp_path / "cpu_layers.json").write_text('{"benchmark": "cpu_layers"}')
    return tmp_path


def test_a_time_comes_with_its_gpu_day_and_spread(folder):
    assert recorded(SPEC, "tiled", folder=folder) == Time(
        0.7, "recorded", "NVIDIA H200", "2026-10-01", 0.7 - 0.1, 0.7 + 0.1, "cold"
    )


def test_a_dry_run_is_no_record(folder):
    dry = {"benchmark": "gpu dry run", "day": "2026-12-24", "machine": {"gpu": "NVIDIA H200"}, "entries": []}
    (folder / "gpu_dry.json").write_text(json.dumps(dry), encoding="utf-8")
    assert [record["day"] for record in records(folder)] == ["2026-11-30", "2026-10-01"]


def test_the_newest_counts_unless_a_gpu_is_named(folder):
    assert recorded(SPEC, "naive", folder=folder).milliseconds == 3.0
    assert recorded(SPEC, "naive", "H200", folder=folder).milliseconds == 2.0
    assert recorded(SPEC, "tiled", "A100", folder=folder) is None


def test_peers_are_told_apart_by_their_type(folder):
    assert recorded(SPEC, "cudnn", dtype="float16", folder=folder).milliseconds == 0.2
    assert recorded(SPEC, "cudnn", dtype="float32", folder=folder).milliseconds == 0.4
    assert recorded(SPEC, "cudnn", dtype="bfloat16", folder=folder) is None


def test_other_sizes_ops_and_names_have_no_time(folder):
    assert (
        recorded(ConvSpec(n=16, c=64, h=28, w=56, k=64, r=3, s=1, stride=(2, 1), padding=1), "naive", folder=folder)
        is None
    )
    assert recorded(GemmSpec(4, 5, 6), "naive", folder=folder).milliseconds == 9.0
    assert recorded(GemmSpec(4, 6, 5), "naive", folder=folder) is None
    assert recorded(SPEC, "winograd", folder=folder) is None


def test_a_spec_within_a_spec_is_compared_too(tmp_path):
    block = BlockSpec(SPEC, relu=True, pool=False)
    write(tmp_path, "gpu_x.json", "2026-11-30", "NVIDIA T4", entry(block, op="block", method="fused_epilogue"))
    assert recorded(block, "fused_epilogue", folder=tmp_path).milliseconds == 0.5
    assert recorded(BlockSpec(SPEC, relu=False), "fused_epilogue", folder=tmp_path) is None


@pytest.mark.parametrize(
    ("full", "asked", "same"),
    [
        ("NVIDIA H200", "H200", True),
        ("NVIDIA H100 80GB HBM3", "H100", True),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", True),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090", False),
        ("NVIDIA GeForce RTX 3060 Ti", "RTX 3060", False),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti", True),
        ("NVIDIA L40S", "L4", False),
        ("NVIDIA L4", "L4", True),
        ("Tesla T4", "T4", True),
    ],
)
def test_a_gpu_is_known_by_its_model(tmp_path, full, asked, same):
    write(tmp_path, "gpu_x.json", "2026-11-30", full, entry(method="naive"))
    assert (recorded(SPEC, "naive", asked, folder=tmp_path) is not None) == same


def test_an_unknown_gpu_is_refused(folder):
    with pytest.raises(ValueError, match=r"There is no GPU 'H2000' in the table\. Did you mean 'H200'\?"):
        recorded(SPEC, "naive", "H2000", folder=folder)


def test_the_files_come_newest_first_and_with_the_package(folder):
    assert [record["day"] for record in records(folder)] == ["2026-11-30", "2026-10-01"]
    project = Path(__file__).parents[2]
    included = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert included["targets"]["wheel"]["force-include"][RESULTS] == f"convlab/course_data/{RESULTS}"
    assert (project / RESULTS).is_dir()
