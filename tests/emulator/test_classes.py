from __future__ import annotations

import pytest

from convlab.emulator.classes import CLASSES, class_of, flops
from convlab.emulator.instructions import HANDLERS
from convlab.emulator.program import Instruction, Place

# Class, and floating-point operations of a lane.
KNOWN = {
    "add.f32": ("fp32", 1),
    "sub.rn.ftz.f32": ("fp32", 1),
    "mul.rn.f64": ("fp64", 1),
    "fma.rn.f64": ("fp64", 2),
    "mad.rn.f32": ("fp32", 2),
    "fma.rn.relu.f16": ("fp16", 2),
    "fma.rn.bf16x2": ("fp16", 4),
    "add.f16x2": ("fp16", 2),
    "mul.bf16": ("fp16", 1),
    "div.rn.f32": ("fp32", 0),
    "sqrt.approx.f32": ("fp32", 0),
    "max.f32": ("fp32", 0),
    "tanh.approx.f16x2": ("fp16", 0),
    "setp.lt.f32": ("fp32", 0),
    "set.gt.u32.f64": ("fp64", 0),
    "add.s32": ("integer", 0),
    "mul.wide.u32": ("integer", 0),
    "mad.lo.s64": ("integer", 0),
    "and.b32": ("integer", 0),
    "shl.b16": ("integer", 0),
    "dp4a.s32.u32": ("integer", 0),
    "vadd2.s32.u32.s32.sat": ("integer", 0),
    "vabsdiff4.u32.u32.u32.add": ("integer", 0),
    "xor.pred": ("other", 0),
    "mov.f32": ("other", 0),
    "selp.f64": ("other", 0),
    "cvta.to.global.u64": ("other", 0),
    "prmt.b32": ("other", 0),
    "cvt.rn.f16.f32": ("conversion", 0),
    "ld.global.v4.f32": ("memory", 0),
    "st.shared.f64": ("memory", 0),
    "ld.param.u64": ("memory", 0),
    "atom.global.add.f32": ("memory", 0),
    "red.shared.add.f16x2": ("memory", 0),
    "cp.async.ca.shared.global": ("memory", 0),
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": ("memory", 0),
    "wmma.load.a.sync.aligned.row.m16n16k16.f16": ("memory", 0),
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32": ("tensor", 0),
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": ("tensor", 0),
    "bra.uni": ("control", 0),
    "bar.sync": ("control", 0),
    "bar.warp.sync": ("control", 0),
    "membar.gl": ("control", 0),
    "shfl.sync.bfly.b32": ("communication", 0),
    "redux.sync.add.s32": ("communication", 0),
    "vote.sync.ballot.b32": ("communication", 0),
    "match.any.sync.b32": ("communication", 0),
}


@pytest.mark.parametrize(("text", "expected"), KNOWN.items())
def test_class_and_operations(text, expected):
    instruction = Instruction(tuple(text.split(".")), (), None, Place("a.cu", 1))
    assert (class_of(instruction), flops(instruction)) == expected


def test_every_instruction_has_a_class_that_is_counted():
    assert {name for name, _ in KNOWN.values()} == set(CLASSES)
    for opcode in HANDLERS:
        for kind in ("f32", "u32", "f16", "pred"):
            assert class_of(Instruction((opcode, kind), (), None, Place("a.cu", 1))) in CLASSES


def test_only_what_has_no_type_of_its_own_is_other():
    typed = [Instruction((opcode, "s32"), (), None, Place("a.cu", 1)) for opcode in HANDLERS]
    others = {each.parts[0] for each in typed if class_of(each) == "other"}
    assert others == {"mov", "cvta", "isspacep", "selp", "slct", "prmt"}
