from __future__ import annotations

import pytest
from IPython.testing.globalipapp import start_ipython

from convlab.errors import CompileError
from convlab.executors.module import Module

KERNEL = 'extern "C" __global__ void twice(float* x) {\n    x[threadIdx.x] *= 2.0f;\n}\n'


@pytest.fixture(scope="module")
def shell():
    shell = start_ipython() or get_ipython()  # noqa: F821 - IPython puts it there
    shell.run_line_magic("load_ext", "convlab")
    return shell


def test_a_cell_becomes_a_module_under_its_name(shell, capsys):
    shell.run_cell_magic("cuda", "mine", KERNEL)
    assert isinstance(shell.user_ns["mine"], Module)
    assert shell.user_ns["mine"].kernels["twice"].signature == "twice(float* x)"
    assert "twice(float* x)" in capsys.readouterr().out


def test_a_mistake_is_shown_at_the_line_that_the_cell_shows_and_the_old_module_is_gone(shell, capsys):
    shell.run_cell_magic("cuda", "mine", KERNEL)
    capsys.readouterr()
    shell.run_cell_magic("cuda", "mine", KERNEL.replace("2.0f;", "2.0f"))
    error = capsys.readouterr().err
    assert 'mine.cu:4:1: expected a ";"' in error  # %%cuda is line 1, the closing brace line 4
    assert "Traceback" not in error
    assert repr(shell.user_ns["mine"]) == "mine, which did not compile"
    with pytest.raises(CompileError, match=r"mine did not compile. Fix: mend the %%cuda cell and run it again\."):
        _ = shell.user_ns["mine"].kernels


def test_lines_of_a_run_are_those_of_the_cell(shell):
    shell.run_cell_magic("cuda", "mine", KERNEL)
    lines = shell.user_ns["mine"].program.entries["twice"].instructions
    assert {instruction.place.line for instruction in lines if "global" in instruction.parts} == {3}


@pytest.mark.parametrize("line", ["", "two words", "two-words", "1st", "class"])
def test_a_name_is_asked_for(shell, capsys, line):
    shell.run_cell_magic("cuda", line, KERNEL)
    assert "Write one name after %%cuda, such as `%%cuda mine`" in capsys.readouterr().err
