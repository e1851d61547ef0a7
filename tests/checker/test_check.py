"""The check as a learner meets it: any answer, however absurd, gets one sentence."""

import functools
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from convlab.checker import EXERCISES, check, exercise
from convlab.checker.check import PUBLIC_SEED, CheckFailedError, judge

FIRST_CASE = exercise("01-loops").cases(np.random.default_rng(PUBLIC_SEED))[0]
RIGHT_SHAPE = exercise("01-loops").oracle(*FIRST_CASE.arguments.values()).shape
SIZE = np.prod(RIGHT_SHAPE)


class EqualToEverything:
    __class__ = np.ndarray
    shape = RIGHT_SHAPE
    dtype = np.dtype("f4")

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __array__(self, *arguments, **options):
        raise AssertionError("was asked")


class Liar(np.ndarray):
    @property
    def dtype(self):
        return np.dtype("f4")

    def __abs__(self):
        return np.zeros(self.shape)

    def __sub__(self, other):
        return np.zeros(self.shape)


class LyingFloat(float):
    def __sub__(self, other):
        return 0.0


def zeros(dtype, shape=RIGHT_SHAPE):
    return np.zeros(shape, dtype)


RETURNED = {
    "None": (None, "None: its return is missing, or still to be written"),
    "a string": ("x", "a str; return a NumPy array"),
    "a list": (zeros("f4").tolist(), "a list; return a NumPy array"),
    "a tuple": ((1, 2), "a tuple; return a NumPy array"),
    "a generator": ((i for i in range(3)), "a generator; return a NumPy array"),
    "a function": (len, "a builtin_function_or_method; return a NumPy array"),
    "a module": (types, "a module; return a NumPy array"),
    "a class": (dict, "a type; return a NumPy array"),
    "equal to everything": (EqualToEverything(), "an EqualToEverything; return a NumPy array"),
    "complex": (zeros("c16"), "complex128 values; make the result float32 or float64"),
    "objects": (zeros("O"), "object values; make the result float32 or float64"),
    "strings": (zeros("U3"), "<U3 values; make the result float32 or float64"),
    "dates": (zeros("M8[s]"), "datetime64[s] values; make the result float32 or float64"),
    "half": (zeros("f2"), "float16 values; make the result float32 or float64"),
    "integers": (zeros("i4"), "int32 values, which cannot hold fractions; make the result float32 or float64"),
    "bools": (zeros("?"), "bool values, which cannot hold fractions; make the result float32 or float64"),
    "records": (zeros([("a", "f4")]), "[('a', '<f4')] values; make the result float32 or float64"),
    "a liar": (zeros("O").view(Liar), "object values; make the result float32 or float64"),
    "a huge integer": (10**400, "object values; make the result float32 or float64"),
    "a number": (0.5, f"a single number, but an array of shape {RIGHT_SHAPE} was expected"),
    "one axis": (zeros("f4", 99), f"an array of shape (99,), but an array of shape {RIGHT_SHAPE} was expected"),
    "no axes": (zeros("f4", ()), f"a single number, but an array of shape {RIGHT_SHAPE} was expected"),
    "nothing": (zeros("f4", 0), f"an array of shape (0,), but an array of shape {RIGHT_SHAPE} was expected"),
    "a huge array": (
        np.broadcast_to(np.float32(1), (10**6, 10**6)),
        f"an array of shape (1000000, 1000000), but an array of shape {RIGHT_SHAPE} was expected",
    ),
}


def is_one_sentence(text):
    return "\n" not in text and text.endswith(".") and "Traceback" not in text and len(text) < 400


@pytest.mark.parametrize(("value", "message"), RETURNED.values(), ids=RETURNED)
def test_an_absurd_result_gets_one_sentence(value, message):
    verdict = check("01-loops", lambda *arguments: value)
    assert verdict.message == f"conv2d_loops returned {message}."
    assert is_one_sentence(verdict.message)
    assert verdict.status == ("not_attempted" if value is None else "wrong")
    assert not verdict
    assert str(verdict)
    assert verdict._repr_html_()


SINGLE = {
    "a list": ([0.5], "a list; return one number"),
    "an array": (np.zeros(1), "an array of shape (1,), but a single number was expected"),
    "an integer": (3, "int64 values, which cannot hold fractions; make the result a float"),
    "complex": (1j, "a complex; return one number"),
    "a liar": (LyingFloat(0.5), "a LyingFloat; return one number"),
}


@pytest.mark.parametrize(("value", "message"), SINGLE.values(), ids=SINGLE)
def test_an_absurd_number_gets_one_sentence(value, message):
    assert check("01-one-output", lambda *arguments: value).message == f"one_output returned {message}."


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_wrong(value):
    verdict = check("01-loops", lambda *arguments: np.full(RIGHT_SHAPE, value))
    name = "NaN" if np.isnan(value) else str(value)
    assert verdict.message.startswith(f"conv2d_loops gives y[n=0, k=0, p=0, q=0] = {name}, but ")
    assert check("01-one-output", lambda *arguments: value).status == "wrong"


def test_one_nan_among_right_values_is_wrong_and_named(answers):
    def answer(*arguments):
        y = answers["01-loops"](*arguments)
        y[1, 0, 2, 3] = np.nan
        return y

    verdict = check("01-loops", answer)
    assert verdict.where == "y[n=1, k=0, p=2, q=3]"
    assert f"(wrong elements: 1 of {SIZE})" in verdict.message
    assert verdict.misconception == "Some elements are NaN."


@pytest.mark.parametrize("liar", [zeros("f4").view(Liar), np.ma.masked_array(zeros("f4"), mask=True)])
def test_subclasses_are_judged_by_their_numbers(liar):
    verdict = check("01-loops", lambda *arguments: liar)
    assert verdict.status == "wrong"
    assert verdict.found == 0


ANSWERS = {
    "a number": (
        3.0,
        "was expected, the function itself, but the answer is of type float; pass conv2d_loops, not conv2d_loops(…)",
    ),
    "None": (
        None,
        "was expected, the function itself, but the answer is of type NoneType; pass conv2d_loops, not conv2d_loops(…)",
    ),
    "too few": (
        lambda x, w: 0,
        "takes (x, w), but is called with (x, w, bias, stride, padding)",
    ),
    "too many": (
        lambda x, w, bias, stride, padding, dilation: 0,
        "takes (x, w, bias, stride, padding, dilation), but is called with (x, w, bias, stride, padding)",
    ),
}


@pytest.mark.parametrize(("answer", "message"), ANSWERS.values(), ids=ANSWERS)
def test_what_cannot_be_called_is_explained(answer, message):
    verdict = check("01-loops", answer)
    assert verdict.status == "error"
    assert verdict.message == f"conv2d_loops {message}."


def test_optional_parameters_and_catch_alls_can_be_called(answers):
    right = answers["01-loops"]
    assert check("01-loops", functools.partial(right))
    assert check("01-loops", lambda x, w, bias, stride, padding, dilation=1: right(x, w, bias, stride, padding))


def test_a_broken_signature_is_not_our_problem():
    class Odd:
        @property
        def __signature__(self):
            raise OSError

        def __call__(self, *arguments):
            return "odd"

    assert check("01-loops", Odd()).message == "conv2d_loops returned a str; return a NumPy array."


def test_an_error_is_told_with_its_line_and_the_call():
    def conv2d_loops(x, w, bias, stride, padding):
        return x[0, 0, 100]

    verdict = check("01-loops", conv2d_loops)
    assert verdict.status == "error"
    assert verdict.message == (
        "conv2d_loops raised IndexError: index 100 is out of bounds for axis 2 with size "
        f"{FIRST_CASE.arguments['x'].shape[2]} "
        f"in line {conv2d_loops.__code__.co_firstlineno + 1}, `return x[0, 0, 100]`."
    )
    assert verdict.case == str(FIRST_CASE)
    assert verdict.misconception == "An index goes past the end of an array."


def test_an_endless_answer_is_stopped_and_not_called_again():
    calls = []

    def conv2d_loops(x, w, bias, stride, padding):
        calls.append(stride)
        while True:
            pass

    verdict = judge(replace(exercise("01-loops"), seconds=0.2), conv2d_loops, seed=1)
    assert verdict.status == "timeout"
    assert verdict.message.startswith("conv2d_loops was stopped after 0.2 seconds in line ")
    assert is_one_sentence(verdict.message)
    assert verdict.total == 5
    assert len(calls) == 1


@pytest.mark.parametrize("name", ["x", "w", "bias"])
def test_changing_an_input_is_noticed(name, answers):
    def answer(*arguments):
        y = answers["01-loops"](*arguments)
        arguments[["x", "w", "bias"].index(name)][...] *= 2
        return y

    verdict = check("01-loops", answer)
    assert verdict.status == "wrong"
    assert verdict.message == f"conv2d_loops changed its input {name}; leave the inputs as they are."


def test_reshaping_an_input_in_place_is_noticed(answers):
    def answer(x, *others):
        y = answers["01-loops"](x, *others)
        x.shape = (-1,)
        return y

    assert "changed its input x" in check("01-loops", answer).message


def test_keeping_references_changes_nothing(answers):
    kept = []

    def answer(*arguments):
        for array in kept:
            array[...] = 7.0
        kept[:] = [*arguments[:3], answers["01-loops"](*arguments)]
        return kept[-1]

    assert check("01-loops", answer).passed


def test_a_function_that_remembers_is_told(answers):
    calls = []

    def answer(*arguments):
        calls.append(1)
        return answers["01-loops"](*arguments) + np.arange(SIZE)[0] + len(calls) ** 2

    verdict = check("01-loops", answer)
    assert verdict.misconception == "The same call gives another result the second time."
    assert verdict.diagnosis == ""


def test_a_megabyte_of_printing_is_cut():
    def answer(*arguments):
        for _ in range(1000):
            print("x" * 999)

    verdict = check("01-loops", answer)
    assert len(verdict.printed) + verdict.omitted == 1_000_000
    assert verdict.printed.startswith("xxx")
    assert len(str(verdict)) < 4000
    assert f"… and {verdict.omitted} more characters" in str(verdict)


def test_an_answer_for_some_cases_only_is_wrong_not_unwritten(answers):
    def answer(x, w, bias, stride, padding):
        if padding != (0, 0):
            return None
        return answers["01-loops"](x, w, bias, stride, padding)

    verdict = check("01-loops", answer)
    assert verdict.status == "wrong"
    assert (verdict.right, verdict.total) == (2, 5)

    def unfinished(x, w, bias, stride, padding):
        if padding != (0, 0):
            raise NotImplementedError("later")
        return answers["01-loops"](x, w, bias, stride, padding)

    verdict = check("01-loops", unfinished)
    assert verdict.status == "wrong"
    assert "raised NotImplementedError: later in line" in verdict.message


def test_a_wrong_answer_is_told_in_tensor_terms(answers):
    def answer(x, w, bias, stride, padding):
        y = answers["01-loops"](x, w, bias, stride, padding)
        if stride == (2, 1):
            y[1:, 0, 2, 3] += 1
        return y

    verdict = check("01-loops", answer)
    assert verdict.where == "y[n=1, k=0, p=2, q=3]"
    assert verdict.found == pytest.approx(verdict.expected + 1)
    assert verdict.message == (
        f"conv2d_loops gives y[n=1, k=0, p=2, q=3] = {verdict.found:.6g}, "
        f"but {verdict.expected:.6g} was expected (wrong elements: 1 of {verdict.errors.wrong.size})."
    )
    assert (verdict.right, verdict.total) == (4, 5)
    assert verdict.diagnosis == ""


@pytest.mark.parametrize("bound", [0.5, 3.0])
def test_errors_count_from_the_stated_bound_on(bound, answers):
    """Noise below the bound passes, three times the bound does not."""
    record = exercise("01-loops")

    def answer(*arguments):
        return answers["01-loops"](*(a.astype(float) if hasattr(a, "astype") else a for a in arguments)) + (
            bound * record.tolerance(*arguments)
        )

    assert check("01-loops", answer).passed == (bound < 1)


@pytest.mark.parametrize("record", EXERCISES.values(), ids=lambda record: record.id)
def test_nbgrader_gets_an_exception_since_it_marks_nothing_else(record, answers, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert check(record.id, answers[record.id]).passed
    with pytest.raises(CheckFailedError, match=f"{record.id}, {record.title}"):
        check(record.id, lambda *arguments: None)


def test_only_what_the_failing_call_printed_is_shown(answers):
    def answer(x, w, bias, stride, padding):
        print(padding)
        return answers["01-loops"](x, w, bias, stride, padding) * (1 if padding == (0, 0) else 2)

    assert check("01-loops", answer).printed == "(1, 2)\n"


def test_printing_in_place_of_returning_is_an_attempt_and_is_named():
    def one_output(x, w, bias, k, p, q):
        print((x[:, :3, :3] * w[k]).sum())

    verdict = check("01-one-output", one_output)
    assert verdict.status == "wrong"
    assert verdict.message == ("one_output printed something but returned None; end it with return instead of print.")


@pytest.mark.parametrize(
    ("window", "name"),
    [
        ("x[:, 2*p : 2*p+3, 2*q : 2*q+3]", "padding left out of the index"),
        ("x[:, p : p+3, q : q+3]", "stride and padding left out"),
        ("np.pad(x, ((0, 0), (1, 1), (1, 1)))[:, 2*p-1 : 2*p+2, 2*q-1 : 2*q+2]", "padding counted twice"),
        ("np.pad(x, ((0, 0), (1, 1), (1, 1)))[:, p : p+3, q : q+3]", "stride ignored"),
        ("x[:, [[2*p-1], [2*p], [2*p+1]], [2*q-1, 2*q, 2*q+1]]", "negative indices wrap around"),
    ],
)
def test_windows_cut_out_with_a_slice_are_understood(window, name):
    answer = eval(f"lambda x, w, bias, k, p, q: ({window} * w[k]).sum() + bias[k]", {"np": np})
    assert check("01-one-output", answer).diagnosis == name


@pytest.mark.parametrize(
    "record", [each for each in EXERCISES.values() if each.kind == "values"], ids=lambda each: each.id
)
def test_the_right_values_are_never_shown(record, answers):
    wrong = {name: "none of them" if isinstance(value, str) else -1 for name, value in answers[record.id].items()}
    said = str(check(record.id, wrong))
    assert "not right yet" in said
    assert "The call" not in said


def test_checking_loads_nothing_that_it_does_not_need():
    """Matplotlib alone would make the first check of a notebook wait for a second."""
    code = "import sys, convlab.checker, convlab.views; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
