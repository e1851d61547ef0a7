"""What a Python answer's process says is read as something that may be a lie."""

import inspect

import numpy as np
import pytest

from convlab.grader import replies
from convlab.grader.replies import NonsenseError, called, outcome, stand_in

CALLED = {
    **{"ended": "returned", "sentence": "", "error": "", "changed": [], "memory": 3, "printed": "", "omitted": 0},
    "result": {"type": "NoneType"},
}


def returned(about, *arrays):
    return called((CALLED | {"result": about}, list(arrays))).outcome.value


def test_numbers_are_what_they_were():
    about = {"type": "float", "dtype": "float64", "shape": [], "array": False}
    assert type(returned(about, np.array(2.5))) is float
    assert type(returned(about | {"type": "float32"}, np.array(2.5, np.float32))) is np.float32
    assert type(returned(about | {"type": "int"}, np.array(2))) is int
    assert returned({"type": "NoneType"}) is None


def test_arrays_are_numpy_s_own():
    about = {"type": "Liar", "dtype": "float64", "shape": [2], "array": True}
    assert type(returned(about, np.ones(2))) is np.ndarray


def test_what_is_no_number_is_a_thing_of_that_name():
    thing = returned({"type": "Equal"})
    assert type(thing).__name__ == "Equal"
    assert thing != 1.0


def test_what_was_too_much_has_its_shape_and_takes_no_memory():
    array = returned({"type": "ndarray", "dtype": "float32", "shape": [1 << 30, 1 << 30], "array": True})
    assert (array.shape, array.dtype, array.strides) == ((1 << 30, 1 << 30), np.float32, (0, 0))


def test_values_are_numbers_words_or_nothing():
    values = {
        "a": {"type": "int", "number": 3.0},
        "b": {"type": "float", "number": 2.5},
        "c": {"type": "str", "word": "me\x1b[31mmory"},
        "d": {"type": "NoneType"},
        "e": {"type": "ellipsis"},
    }
    assert stand_in({"answer": {"values": values}}) == {"a": 3, "b": 2.5, "c": "memory", "d": None, "e": ...}
    huge = {"type": "int", "number": float("inf")}
    assert stand_in({"answer": {"values": {"a": huge}}}) == {"a": float("inf")}


def test_a_function_has_its_parameters():
    parameters = [["x", 1, False], ["y", 1, True], ["rest", 2, False]]
    function = stand_in({"answer": {"callable": True, "type": "function", "parameters": parameters}})
    assert str(inspect.signature(function)) == "(x, y=None, *rest)"
    assert callable(stand_in({"answer": {"callable": True, "type": "Broken", "parameters": None}}))
    assert not callable(stand_in({"answer": {"callable": False, "type": "int", "parameters": []}}))


def test_sentences_are_plain_and_short():
    told = outcome({"ended": "raised", "sentence": "raised \x1b[31mA\ud800\n" + "b" * 9000, "error": "\x07A"})
    assert told.sentence.startswith("raised A bbb")
    assert len(told.sentence) <= 300
    assert told.error == "A"


@pytest.mark.parametrize(
    "change",
    [
        {"ended": "ok"},
        {"ended": ["returned"]},
        {"sentence": 3},
        {"changed": "x"},
        {"memory": "much"},
        {"memory": None},
        {"printed": []},
        {"omitted": float("nan")},
        {"result": None},
        {"result": {}},
        {"result": {"type": "ndarray", "dtype": "float64", "shape": [-1], "array": True}},
        {"result": {"type": "ndarray", "dtype": "float64", "shape": [2] * 40, "array": True}},
        {"result": {"type": "ndarray", "dtype": "float64", "shape": [1 << 62, 4], "array": True}},
    ],
)
def test_nonsense_is_nonsense(change):
    with pytest.raises(NonsenseError):
        called((CALLED | change, []))


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"callable": True, "type": "f", "parameters": [["no name", 1, False]]},
        {"callable": True, "type": "f", "parameters": [["x", 9, False]]},
        {"callable": True, "type": "f", "parameters": [["x", 1, True], ["y", 1, False]]},
        {"callable": True, "type": "f", "parameters": 3},
        {"values": {"a": {"type": "int", "number": "3"}, "b": {"type": "int", "number": "three"}}},
        {"values": [1]},
        {"values": {"a": 3}},
    ],
)
def test_an_answer_that_is_nonsense(answer):
    with pytest.raises(NonsenseError):
        stand_in({"answer": answer})


def test_every_type_of_numpy_has_a_name():
    assert {"float64", "int32", "bool", "float"} <= replies._NUMBERS.keys()
