"""Answers that are alike are flagged; what everybody writes is not."""

from __future__ import annotations

import csv
import io
import random
import re

from convlab.grader.similarity import Pair, similar, table

from .papers import right_answers

LOOPS = right_answers()["01-loops"]
KERNEL = right_answers()["05-halo"]
OWN = """\
def conv2d_loops(x, w, bias, stride, padding):
    batch, channels, rows, columns = x.shape
    result = np.stack([np.full(window_counts(rows, columns, w, stride, padding), each) for each in bias])
    frame = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    for position in np.ndindex(*result.shape[1:]):
        begin = tuple(step * place for step, place in zip(stride, position))
        piece = frame[:, :, begin[0]:begin[0] + w.shape[2], begin[1]:begin[1] + w.shape[3]]
        result[(slice(None), *position)] += np.tensordot(w, piece, axes=3)
    return result
"""


def renamed(text, seed):
    """The same text with other names, comments and blank lines."""
    draw = random.Random(seed)
    names = {
        name: f"v{draw.randrange(10**6)}"
        for name in set(re.findall(r"\b[a-z_]{3,}\b", text))
        - {"for", "def", "return", "range", "int", "float", "const"}
    }
    new = re.sub(r"\b[a-z_]{3,}\b", lambda match: names.get(match[0], match[0]), text)
    return new.replace("\n", "  # my own\n\n", 3)


def test_a_copy_with_other_names_is_found():
    (pair,) = similar({"01-loops": [("ada", LOOPS), ("bob", OWN), ("eve", renamed(OWN, 1))]})
    assert (pair.one, pair.other) == ("bob", "eve")
    assert pair.share > 0.9


def test_a_part_that_was_copied_is_found():
    (pair,) = similar(
        {"01-loops": [("ada", OWN), ("bob", OWN + "\n".join(f"a{i} = {i} * {i + 1} ** {i}" for i in range(60)))]}
    )
    assert pair.share == 1.0


def test_a_kernel_that_was_copied_is_found():
    own = KERNEL.replace(
        "}", "  if (threadIdx.x * 7 + 3 > blockDim.y - 2) { y[threadIdx.x * 31 + 5] = 4.0f * x[blockIdx.x]; }\n}"
    )
    pairs = similar({"05-halo": [("ada", own), ("bob", own.replace("=", " = /* so */ "))]})
    assert [(pair.one, pair.other) for pair in pairs] == [("ada", "bob")]


def test_different_answers_are_no_pair():
    assert similar({"01-loops": [("ada", LOOPS), ("bob", OWN)]}) == []


def test_what_much_of_a_class_wrote_is_no_pair():
    assert similar({"01-loops": [(f"s{i}", LOOPS) for i in range(20)]}) == []


def test_what_was_given_is_no_pair():
    from convlab.grader.released import stub

    assert similar({"05-halo": [("ada", stub("05-halo")), ("bob", stub("05-halo"))]}) == []


def test_300_answers_are_compared_in_time():
    import time

    answers = [
        (f"s{i}", renamed(OWN, i) + "".join(f"a{j} = {(i * 7919 + j * j) % 1000} + {j}\n" for j in range(40)))
        for i in range(300)
    ]
    began = time.process_time()
    similar({"01-loops": answers})
    assert time.process_time() - began < 20


def test_the_table_is_guarded():
    rows = list(csv.reader(io.StringIO(table([Pair("01-loops", "=ada", "b,o\nb", 0.91234)]))))
    assert rows == [["exercise", "one", "other", "alike"], ["01-loops", "'=ada", "b,o\nb", "0.912"]]
