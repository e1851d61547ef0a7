"""Large outputs are scanned past, in bounded memory."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tracemalloc

import pytest

from convlab.grader.slim import TooLargeError, read_slim, slimmed


def cut(text, size):
    return iter([text[at : at + size] for at in range(0, len(text), size)])


def emptied(value):
    """What a slim copy must hold, by a way of its own: JSON parsed whole."""
    if isinstance(value, dict):
        return {key: [] if key in ("outputs", "attachments") else emptied(each) for key, each in value.items()}
    return [emptied(each) for each in value] if isinstance(value, list) else value


def anything(draw, depth=0):
    kinds = [lambda: draw.choice([1, -2.5e3, None, True, "", "a", 'q"\\u', "[{,:}]", "outputs", "\\", '\\"', "é\n"])]
    if depth < 4:
        keys = ["outputs", "source", "a:b", 'o"utputs', "attachments", "x", "\\", "outputs\\"]
        kinds += [lambda: {draw.choice(keys): anything(draw, depth + 1) for _ in range(draw.randrange(4))}] * 3
        kinds += [lambda: [anything(draw, depth + 1) for _ in range(draw.randrange(4))]] * 2
    return draw.choice(kinds)()


@pytest.mark.parametrize("seed", range(60))
def test_a_slim_copy_is_the_json_without_outputs_wherever_the_chunks_end(seed):
    draw = random.Random(seed)
    value = {"cells": [anything(draw) for _ in range(3)], "x": anything(draw)}
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        for size in (1, 2, 3, 7, 10_000):
            assert json.loads("".join(slimmed(cut(text, size)))) == emptied(value)


def test_an_output_cell_of_200_mb_takes_no_memory():
    class Stream:
        """A notebook with 200 MB of output in many lines and one of 100 MB in one, made while it is read."""

        def __init__(self):
            line = b'"' + b"x" * 998 + b'",'
            self.parts = iter(
                [
                    b'{"cells": [{"outputs": ["',
                    *[b"A" * 1_000_000] * 100,
                    b'", ',
                    *[line * 1000] * 100,
                    b'"e"], "source": "s"}]}',
                ]
            )
            self.digest = hashlib.sha256()

        def read(self, size):
            part = next(self.parts, b"")
            self.digest.update(part)
            return part

    tracemalloc.start()
    slim = read_slim(stream := Stream())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert json.loads(slim.text) == {"cells": [{"outputs": [], "source": "s"}]}
    assert slim.size > 200_000_000
    assert slim.digest == stream.digest.hexdigest()
    assert peak < 12 << 20


def test_what_is_no_output_has_a_limit(monkeypatch):
    with pytest.raises(TooLargeError, match="holds more than 8 MiB beside its outputs"):
        read_slim(io.BytesIO(b'{"source": "' + b"x" * (9 << 20)))
    monkeypatch.setattr("convlab.grader.slim._MOST_READ", 1 << 20)
    with pytest.raises(TooLargeError, match="is larger than 1 MiB"):
        read_slim(io.BytesIO(b'{"outputs": "' + b"x" * (2 << 20)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_are_read(encoding):
    text = json.dumps({"source": "卷积"}, ensure_ascii=False)
    data = text.encode(encoding)
    assert read_slim(io.BytesIO(data)) == (text, hashlib.sha256(data).hexdigest(), len(data))


def test_letters_across_two_reads_stay_whole():
    class Stream(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    assert read_slim(Stream('{"s": "卷积"}'.encode())).text == '{"s": "卷积"}'


@pytest.mark.parametrize(
    "text", ["", "no JSON", '{"outputs": [', '{"outputs": "a', '{"a": "\\', "]]]}}}", '"outputs":']
)
def test_what_is_no_json_does_no_harm(text):
    assert isinstance(read_slim(io.BytesIO(text.encode())).text, str)
