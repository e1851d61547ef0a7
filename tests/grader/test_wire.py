"""Frames come through whole, and whatever is none is refused before anything is made of it."""

import json
from io import BytesIO

import numpy as np
import numpy.lib.format as npy
import pytest

from convlab.grader import wire


def framed(header, *files):
    return BytesIO(json.dumps(header).encode() + b"\n" + b"".join(files))


def saved(array):
    file = BytesIO()
    npy.write_array(file, array, allow_pickle=True)
    return file.getvalue()


def read_one(data):
    return wire.read(framed({"sizes": [len(data)]}, data), 1000)[1][0]


def test_a_frame_comes_through():
    arrays = [np.arange(6, dtype=np.float16).reshape(2, 3).T, np.array(True), np.zeros((0, 4), np.int64)]
    stream = BytesIO()
    wire.write(stream, {"a": [1, "b"]}, arrays)
    header, found = wire.read(BytesIO(stream.getvalue()), 1000)
    assert header == {"a": [1, "b"]}
    assert [(each.dtype, each.shape) for each in found] == [(each.dtype, each.shape) for each in arrays]
    assert all(np.array_equal(one, other) for one, other in zip(arrays, found, strict=True))
    assert found[0].flags.writeable


def test_the_end_is_the_end():
    with pytest.raises(EOFError):
        wire.read(BytesIO(b""), 1000)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",  # cut off
        b"{}\n",  # no sizes
        b"no JSON\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'"sizes"\n',
        b'{"sizes": 3}\n',
        b'{"sizes": [1e3]}\n',
        b'{"sizes": [true]}\n',
        b'{"sizes": [-1]}\n',
        b'{"sizes": [1001]}\n',
        b'{"sizes": [' + b",".join([b"0"] * 65) + b"]}\n",
        b"[" * 200_000 + b"\n",
        b'{"n": ' + b"9" * 5000 + b"}\n",
        b'{"sizes": [], "a": "' + b"a" * (2 << 20) + b'"}\n',
    ],
)
def test_what_is_no_frame_is_refused(line):
    with pytest.raises(wire.WireError):
        wire.read(BytesIO(line), 1000)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        saved(np.zeros(3))[:-1],
        saved(np.zeros(3)) + b"0",
        saved(np.array("words")),
        saved(np.array(1j)),
        saved(np.zeros(2, [("a", "f4")])),
        saved(np.array([object], dtype=object)),  # a pickle
        saved(np.zeros(3)).replace(b"(3,)", b"(-3,)").replace(b" \n", b"\n", 1),
        saved(np.zeros(3)).replace(b"(3,), ", b"(9e9,)"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(data):
    with pytest.raises(wire.WireError):
        read_one(data)


def test_a_header_that_promises_too_much_makes_no_array():
    data = saved(np.zeros(3)).replace(b"(3,), }" + b" " * 10, b"(10000000000,), }")
    assert b"10000000000" in data
    with pytest.raises(wire.WireError, match="not what its header says"):
        read_one(data)


def test_the_bytes_of_the_machine_s_other_order_are_read_right():
    assert np.array_equal(read_one(saved(np.array([1.5, 2.5], ">f4"))), [1.5, 2.5])


def test_arguments_come_through_with_their_types():
    given = [np.ones((2, 3), np.float32), (1, (2.5, "same")), np.int32(5), np.float32(0.1), True, None, 7]
    found = wire.unpack(*wire.pack(given))
    assert np.array_equal(found[0], given[0])
    assert found[1:] == given[1:]
    assert [type(each) for each in found] == [type(each) for each in given]
