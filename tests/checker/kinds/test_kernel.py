"""Answers that are kernels: what is no kernel, what the sanitizer says, what stays unwritten, what costs too much."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from convlab.checker import exercise
from convlab.checker.check import judge
from convlab.checker.exercises.e03_index import ANSWER
from convlab.checker.kinds import kernel
from convlab.checker.launched import launched
from convlab.checker.record import Budget
from convlab.executors.compile import compile
from convlab.executors.module import load_ptx
from convlab.magic import Uncompiled

RECORD = exercise("03-index")


def told(source: str, **changes: Any) -> Any:
    return judge(replace(RECORD, **changes), compile(source, name="mine.cu"), seed=1)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, "mine was expected, as %%cuda mine makes it, but the answer is of type NoneType."),
        ("text", "mine was expected, as %%cuda mine makes it, but the answer is of type str."),
        (Uncompiled("mine"), "mine did not compile; mend the %%cuda cell and run it again."),
    ],
)
def test_what_is_no_kernel_gets_a_sentence(answer: Any, sentence: str) -> None:
    verdict = judge(RECORD, answer, seed=1)
    assert (verdict.status, verdict.message) == ("error", sentence)


def test_another_kernels_name_and_other_parameters_are_said() -> None:
    assert told(ANSWER.replace("conv(", "other(")).message == "mine has no kernel conv; it has other."
    verdict = told('extern "C" __global__ void conv(const float* x, float* y) { y[0] = x[0]; }')
    assert verdict.status == "error"
    assert verdict.message.startswith("mine cannot be launched: conv takes 2 arguments, 11 were given")


def test_parameters_may_have_other_names() -> None:
    renamed = (
        ANSWER.replace("* x,", "* input,")
        .replace("x[((", "input[((")
        .replace("* y,", "* out,")
        .replace(" y[((", " out[((")
    )
    assert told(renamed).passed
    verdict = told(renamed.replace("float sum = 0.0f;", "float sum = 0.0f * input[n * C * H * W - 1];"))
    assert verdict.message.startswith("mine has a fault in line 8: reads input[n=0, c=0, h=-1, w=4]")
    assert judge(RECORD, load_ptx(compile(ANSWER).ptx), seed=1).passed  # where they have none


def test_a_fault_is_told_with_its_line_even_if_the_output_is_right() -> None:
    verdict = told(ANSWER.replace("float sum = 0.0f;", "float sum = 0.0f * x[n * C * H * W - 1];"))
    assert verdict.status == "wrong"
    assert verdict.message.startswith("mine has a fault in line 8: reads x[n=0, c=0, h=-1, w=4]")
    assert (verdict.where, verdict.diagnosis) == ("", "")


def test_what_is_never_written_is_said_and_nothing_at_all_is_no_attempt() -> None:
    partly = told(ANSWER.replace("    y[((n", "    if (q) y[((n"))
    assert partly.message.startswith("mine never writes y[n=0, k=0, p=0, q=0]: 8 of 40 elements are missing")
    assert partly.misconception == ""  # no word of NaN, which is only how it was found
    assert told(ANSWER.replace("    y[((n", "    if (n > 5) y[((n")).status == "not_attempted"


def test_the_block_from_which_on_all_is_wrong_is_told() -> None:
    verdict = told(ANSWER.replace("float sum = 0.0f", "float sum = blockIdx.x * (0.5f + pixel % 7)"))
    assert verdict.misconception == "All is right up to blockIdx.x = 0, and wrong from blockIdx.x = 1 on."
    assert verdict.status == "wrong"


RACES = {
    "in global memory": (
        "y[0] = pixel; sum += y[0];",
        "The result differs from run to run: it depends on which warp goes first.",
    ),
    "in shared memory": (
        "__shared__ float tile[96]; tile[threadIdx.x] = pixel; sum += tile[(threadIdx.x + 32) % 96];",
        "Two threads use the same word, one of them writes it, and nothing orders the two.",
    ),
}


@pytest.mark.parametrize(("line", "sentence"), RACES.values(), ids=RACES)
def test_a_result_that_depends_on_the_order_of_the_warps_is_told(line: str, sentence: str) -> None:
    """Two warps of a block: which one writes last is chance."""
    verdict = told(
        ANSWER.replace("    y[((n", f"    {line}\n    y[((n"),
        kernel=replace(RECORD.kernel, launch=lambda x, w, spec: ((-(-spec.p * spec.q // 96), spec.k, spec.n), 96, 0)),
    )
    assert verdict.status == "wrong"
    assert verdict.misconception == sentence


def test_a_wrong_result_that_stays_the_same_is_not_said_to_vary() -> None:
    assert "differs" not in told(ANSWER.replace("float sum = 0.0f", "float sum = 0.5f + pixel % 7")).misconception


def test_an_endless_loop_ends_by_its_instructions() -> None:
    verdict = told(ANSWER.replace("++c", "c += 0"))
    assert verdict.status == "wrong"
    assert verdict.message.startswith("mine has a fault in line 11: is still here after 50,000 instructions")


def test_a_launch_is_not_stopped_by_the_clock_while_the_emulator_itself_is_compiled() -> None:
    assert told(ANSWER, seconds=0.0).passed


def test_a_right_answer_that_is_over_its_budget_is_told_by_how_much() -> None:
    few = Budget("sectors_global_load", "sectors loaded", lambda x, w, spec: 3, "the most allowed here")
    verdict = told(ANSWER, budgets=(few,))
    assert verdict.status == "wrong"
    assert verdict.message.endswith(" sectors loaded; 3 are the most allowed here.")
    many = replace(few, most=lambda x, w, spec: 10**6)
    assert told(ANSWER, budgets=(many, Budget("registers", "registers", lambda *_: 64, "enough"))).passed
    assert "registers; 1 are" in told(ANSWER, budgets=(Budget("registers", "registers", lambda *_: 1, "x"),)).message


def test_the_answers_own_printing_is_kept_and_ours_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*what: Any) -> Any:
        print("emulating: 100%", file=sys.stderr)
        return launched(*what)

    monkeypatch.setattr(kernel, "launched", slow)
    source = ANSWER.replace("    float sum", '    if (!p && !q && !k && !n) printf("here\\n");\n    float sum')
    verdict = told(source.replace("float sum = 0.0f", "float sum = 1.0f"))
    assert verdict.printed == "here\n"
