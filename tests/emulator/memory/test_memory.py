"""Asynchronous copies, and accesses to shared memory that are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from ..conftest import HEAD, kernel, launch

# thread t copies the SIZE bytes at element t from global to shared memory, from there to out
COPY = """
    .shared .align 16 .b8 tile[1024];
    mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd1, %rd10; mov.u32 %r5, tile; mul.lo.u32 %r6, %r0, {size};
    add.u32 %r5, %r5, %r6; {prepare}
    cp.async.{mode}.shared.global [%r5], [%rd11], {size}{wanted};
    cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
    add.s64 %rd12, %rd0, %rd10; {words}"""


def copied(size: int, threads: int = 40, wanted: str = "", prepare: str = "", words: int | None = None) -> tuple:
    x = np.arange(1, 1 + threads * size // 4, dtype="u4").reshape(threads, -1)
    out = np.zeros_like(x)
    moves = "".join(f"ld.shared.u32 %r7, [%r5+{4 * n}]; st.global.u32 [%rd12+{4 * n}], %r7;" for n in range(size // 4))
    text = COPY.format(size=size, mode="cg" if size == 16 else "ca", wanted=wanted, prepare=prepare, words=moves)
    return out, x, launch(kernel(text, 2), out, x, block=(threads, 1, 1)).faults


@pytest.mark.parametrize("size", [4, 8, 16])
def test_a_copy_arrives_whole(size):
    out, x, faults = copied(size)
    assert (out == x).all()
    assert not faults


@pytest.mark.parametrize("size", [8, 16])
def test_what_is_not_wanted_becomes_zero(size):
    # of element t, only the first t mod (size / 4 + 1) words
    words = size // 4
    prepare = f"rem.u32 %r8, %r0, {words + 1}; shl.b32 %r8, %r8, 2;"
    out, x, faults = copied(size, wanted=", %r8", prepare=prepare)
    number = np.arange(40)[:, None] % (words + 1)
    assert (out == np.where(np.arange(words) < number, x, 0)).all()
    assert not faults


def test_nothing_is_read_where_nothing_is_wanted():
    # the padding of a convolution: the pointer may be anything
    out, _, faults = copied(16, wanted=", %r8", prepare="mov.u32 %r8, 0; mov.u64 %rd11, 16;")
    assert not out.any()
    assert not faults


@pytest.mark.parametrize("negated", [False, True])
def test_where_a_predicate_holds_the_source_is_ignored(negated):
    prepare = "and.b32 %r8, %r0, 1; setp.eq.u32 %p1, %r8, 1;"
    out, x, faults = copied(16, wanted=", !%p1" if negated else ", %p1", prepare=prepare)
    odd = np.arange(40)[:, None] % 2 == 1
    assert (out == np.where(odd ^ negated, 0, x)).all()
    assert not faults


@pytest.mark.parametrize(
    ("prepare", "kind", "space"),
    [
        ("add.s64 %rd11, %rd11, 16;", "out_of_bounds", "global"),
        ("add.s64 %rd11, %rd11, 4;", "misaligned", "global"),
        ("add.u32 %r5, %r5, 8;", "misaligned", "shared"),
        ("add.u32 %r5, %r5, 2048;", "out_of_bounds", "shared"),
        ("mov.u64 %rd11, 0;", "out_of_bounds", "global"),
    ],
)
def test_a_bad_copy_is_said_of_the_space_that_it_is_bad_in(prepare, kind, space):
    _, _, faults = copied(16, prepare=prepare)
    assert (kind, space) in {(fault.kind, fault.space) for fault in faults}


@pytest.mark.parametrize(
    ("access", "kind", "words"),
    [
        ("ld.shared.u32 %r1, [%r5+64];", "out_of_bounds", "reads second"),
        ("st.shared.u32 [%r5+-4], %r0;", "out_of_bounds", "writes first"),
        ("st.shared.v4.u32 [%r5+40], {%r0, %r0, %r0, %r0};", "misaligned", "writes second"),
        ("st.shared.v4.u32 [%r5+64], {%r0, %r0, %r0, %r0};", "out_of_bounds", "writes second"),
        ("atom.shared.add.u32 %r1, [%r5+64], 1;", "out_of_bounds", "updates second"),
        ("ld.shared.u16 %h1, [%r5+1];", "misaligned", "reads first"),
    ],
)
def test_a_bad_access_names_the_shared_variable_next_to_it(access, kind, words):
    text = kernel(
        f".shared .align 16 .b8 first[16]; .shared .align 16 .b8 second[48];\n.loc 1 6 1\nmov.u32 %r5, first; {access}"
    )
    faults = launch(text + '.file 1 "s.cu"\n', np.zeros(1, "i4"), block=(1, 1, 1)).faults
    bad = [fault for fault in faults if fault.kind == kind]
    assert [(fault.space, fault.line, fault.severity) for fault in bad] == [("shared", 6, "error")]
    assert bad[0].message.startswith(words)


def test_each_block_has_its_own_end_of_shared_memory():
    text = kernel(".shared .align 4 .b8 tile[12]; mov.u32 %r1, tile; st.shared.u32 [%r1+12], %r0;")
    (fault,) = [f for f in launch(text, np.zeros(1, "i4"), grid=(5, 1, 1)).faults if f.kind == "out_of_bounds"]
    assert fault.count == 5


def test_what_a_kernel_takes_is_read_inside_of_it_only():
    head = HEAD.replace("8.0", "8.3")
    text = kernel("mov.b64 %rd1, p0; ld.param.u64 %rd2, [%rd1]; ld.param.u64 %rd3, [%rd1+8];", head=head)
    (fault,) = launch(text, np.zeros(1, "i4")).faults
    assert fault.kind == "out_of_bounds"
    assert "reads the parameters" in fault.message
