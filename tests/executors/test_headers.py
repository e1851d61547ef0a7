from __future__ import annotations

import pytest

from convlab.errors import CompileError
from convlab.executors import headers
from convlab.executors.compile import compile
from convlab.executors.headers import KERNELS, collect, course_headers, flatten, toolkit


@pytest.fixture
def tree(tmp_path):
    """A header folder in which the same name means two files, and a path as a learner may have it."""
    folder = tmp_path / "我的 project" / "include"
    texts = {
        "outer.h": '#pragma once\n#include "part.h"\n#include "deep/inner.h"\n',
        "part.h": "#define PART 1\n",
        "deep/inner.h": '#pragma once\n# include "part.h"\n#include "../outer.h"\n#include <part.h>\n',
        "deep/part.h": "#define DEEP_PART 2\n",
        "asked.h": "#define ASKED 3\n",
        "asks.h": "#if __has_include(<asked.h>)\n#define HAS 1\n#endif\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_each_file_has_one_full_name_and_its_includes_are_respelled(tree):
    found = collect("#include <outer.h>", (tree,))
    assert sorted(found) == ["deep/inner.h", "deep/part.h", "outer.h", "part.h"]
    assert found["deep/inner.h"].splitlines()[1:] == [
        '# include "deep/part.h"',
        '#include "outer.h"',
        '#include "part.h"',
    ]


def test_the_compiler_agrees_about_which_file_is_meant(tree, monkeypatch):
    monkeypatch.setattr(headers, "folders", lambda: (tree,))
    source = '#include "outer.h"\n#include "asks.h"\n#if PART + DEEP_PART + HAS != 4\n#error wrong file\n#endif\n'
    assert compile(source + 'extern "C" __global__ void f() { }').kernels["f"]
    with pytest.raises(CompileError, match="wrong file"):
        compile(source.replace("4", "5"))


def test_a_toolkit_below_a_path_with_spaces_and_chinese_letters(tmp_path, monkeypatch):
    where = [KERNELS]
    for number, folder in enumerate(toolkit()):
        where.append(tmp_path / f"我的 文件夹 {number}")
        where[-1].symlink_to(folder, target_is_directory=True)
    monkeypatch.setattr(headers, "folders", lambda: tuple(where))
    source = "#include <mma.h>\n#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n#include <common.cuh>\n"
    assert compile(source + 'extern "C" __global__ void f(half* x) { }').kernels["f"]


def test_a_header_that_no_wheel_has_is_taken_from_the_toolkit_of_nvcc(tmp_path, monkeypatch):
    for file in ("bin/nvcc", "include/crt/only_here.h"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    toolkit.cache_clear()
    assert sorted(collect('#include "crt/only_here.h"')) == ["crt/only_here.h"]
    monkeypatch.setenv("PATH", "")
    toolkit.cache_clear()
    assert collect('#include "crt/only_here.h"') == {}


def test_what_is_asked_for_is_collected_too(tree):
    assert sorted(collect('#include "asks.h"', (tree,))) == ["asked.h", "asks.h"]
    assert sorted(collect("#if __has_include( <asked.h> )", (tree,))) == ["asked.h"]


def test_a_changed_header_is_read_again(tree):
    before = collect("#include <part.h>", (tree,))
    (tree / "part.h").write_text("#define PART 10\n")
    assert before != collect("#include <part.h>", (tree,)) == {"part.h": "#define PART 10\n"}


@pytest.mark.parametrize("name", ["/etc/hostname", "../secret.h", "deep/../../secret.h", "none.h", "C:/secret.h"])
def test_nothing_outside_of_the_folders_is_found(tree, name):
    (tree.parent / "secret.h").write_text("secret")
    assert collect(f'#include "{name}"', (tree,)) == {}


def test_commented_includes_do_not_count(tree):
    assert collect('// #include "part.h"', (tree,)) == {}


def test_course_headers_are_those_that_exist_on_every_machine():
    assert list(course_headers("#include <mma.h>\n#include <common.cuh>")) == ["common.cuh"]


def test_flattening_keeps_every_line_number():
    source = '#include "common.cuh"  // sizes\n#include <cuda_fp16.h>\n#include <common.cuh>\nint here;\n'
    lines = flatten(source, "mine.cu").splitlines()
    assert sum("struct Conv : ConvSizes {" in line for line in lines) == 1
    assert "#include <cuda_fp16.h>" in lines
    assert not any("#pragma once" in line for line in lines)
    number, file = 0, ""
    for line in lines:
        if line.startswith("#line"):
            number, file = int(line.split()[1]) - 1, line.split()[2]
        else:
            number += 1
        if line == "int here;":
            assert (number, file) == (4, '"mine.cu"')


def test_flattening_for_cupy_pastes_what_its_wheels_lack():
    source = "#include <mma.h>\n"
    assert flatten(source, "mine.cu") == source
    pasted = flatten(source, "mine.cu", for_cupy=True)
    assert "namespace wmma" in pasted
    assert "mma.h" not in "".join(line for line in pasted.splitlines() if "include" in line)
    assert "cuda_fp16.h" in pasted
