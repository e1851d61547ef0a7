from __future__ import annotations

import dataclasses
import itertools
import pickle
import re

import numpy as np
import pytest

from convlab.spec import ConvSpec, GemmShape, Traffic

BASE = {"n": 2, "c": 6, "h": 5, "w": 7, "k": 4, "r": 3, "s": 2}


def make(**changes):
    return ConvSpec(**{**BASE, **changes})


# Sizes, work and bytes


def test_the_first_layer_of_a_mobile_network():
    spec = ConvSpec(n=1, c=3, h=224, w=224, k=32, r=3, s=3, stride=2, padding=1)
    assert spec.output_shape == (1, 32, 112, 112)
    assert spec.macs == 112 * 112 * 32 * 27 == 10_838_016
    assert spec.flops == 21_676_032


@pytest.mark.parametrize(("channels", "macs"), [(3, 27), (64, 576), (256, 2304)])
def test_macs_of_one_output_of_a_3_by_3_filter(channels, macs):
    assert ConvSpec(n=1, c=channels, h=3, w=3, k=1, r=3, s=3).macs == macs


def test_im2col_of_128_channels_grows_ninefold():
    spec = ConvSpec(n=1, c=128, h=112, w=112, k=256, r=3, s=3, padding=1)
    assert spec.im2col_shape == (1152, 12544)
    assert 4 * 1152 * 12544 / 2**20 == 55.125
    assert spec.traffic("float32").input / 2**20 == 6.125


def test_shapes_use_every_dimension_in_its_place():
    spec = make(stride=(2, 3), padding=(1, 2, 3, 0), dilation=(2, 5), groups=2)
    assert spec.input_shape == (2, 6, 5, 7)
    assert spec.weight_shape == (4, 3, 3, 2)
    assert (spec.effective_r, spec.effective_s) == (5, 6)
    assert spec.output_shape == (2, 4, 2, 2) == (spec.n, spec.k, spec.p, spec.q)
    assert spec.gemm_shape == GemmShape(gemm_m=2, gemm_n=8, gemm_k=18)
    assert spec.im2col_shape == (18, 8)
    assert spec.macs == spec.groups * 2 * 8 * 18


def test_macs_equal_the_multiplications_counted_one_by_one():
    spec = make(stride=(2, 1), padding=(1, 0, 2, 1), groups=2)
    n, k, p, q = (range(size) for size in spec.output_shape)
    _, channels, r, s = (range(size) for size in spec.weight_shape)
    assert spec.macs == sum(1 for _ in itertools.product(n, k, p, q, channels, r, s))


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 4), (np.float16, 2), (np.dtype("f8"), 8), ("bfloat16", 2), ("int8", 1)]
)
def test_traffic_moves_each_tensor_once(dtype, size):
    spec = make(stride=4, groups=2)  # pixels that no window touches count as well
    x, w, y = (size * np.prod(shape) for shape in ((2, 6, 5, 7), (4, 3, 3, 2), (2, 4, 1, 2)))
    assert spec.traffic(dtype) == Traffic(input=x, weights=w, output=y, total=x + w + y)
    assert spec.intensity(dtype) == 2 * spec.macs / (x + w + y)


@pytest.mark.parametrize("dtype", ["float99", None, object(), "U"])
def test_a_type_without_a_size_is_refused(dtype):
    with pytest.raises(ValueError, match=r"dtype=.* has no size\.\n  In: ConvSpec\(n=2, .*\n  Fix: Use \"bfloat16\""):
        make().traffic(dtype)


# What may be given, and what is kept


@pytest.mark.parametrize(
    ("padding", "kept"),
    [
        (2, (2, 2, 2, 2)),
        ((1, 2), (1, 1, 2, 2)),
        ([1, 2, 3, 4], (1, 2, 3, 4)),
        ("valid", (0, 0, 0, 0)),
        ("same", (1, 1, 0, 1)),
        (np.int64(3), (3, 3, 3, 3)),
    ],
)
def test_padding_is_kept_as_top_bottom_left_right(padding, kept):
    assert make(padding=padding).padding == kept


@pytest.mark.parametrize("name", ["stride", "dilation"])
@pytest.mark.parametrize(("value", "kept"), [(2, (2, 2)), ((1, 3), (1, 3)), ([np.int8(2), 1], (2, 1))])
def test_stride_and_dilation_are_kept_as_pairs(name, value, kept):
    assert getattr(make(**{name: value}), name) == kept


@pytest.mark.parametrize(("stride", "shape"), [(1, (5, 7)), (2, (3, 4)), ((3, 5), (2, 2))])
def test_same_padding_divides_the_input_by_the_stride_rounded_up(stride, shape):
    spec = make(stride=stride, dilation=(2, 3), padding="same")
    assert (spec.p, spec.q) == shape


def test_numpy_integers_become_plain_ones():
    spec = ConvSpec(**{name: np.int32(value) for name, value in BASE.items()}, groups=np.uint8(2))
    assert spec == make(groups=2)
    values = itertools.chain(dataclasses.astuple(spec)[:7], spec.stride, spec.padding, spec.dilation, [spec.groups])
    assert {type(value) for value in values} == {int}


def test_a_spec_is_a_value():
    spec = make(padding="same")
    assert hash(spec) == hash(make(padding=(1, 1, 0, 1)))
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert eval(repr(spec)) == spec
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.h = 9


def test_replace_checks_again_and_keeps_the_rest():
    spec = make(padding="same", stride=(1, 2))
    assert dataclasses.replace(spec, h=9) == make(h=9, padding=(1, 1, 0, 1), stride=(1, 2))
    with pytest.raises(ValueError, match="c=6 is not divisible by groups=4"):
        dataclasses.replace(spec, groups=4)


# How it reads


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"padding": 1}, "2×6×5×7 → 4 filters 3×2, stride 1, padding 1"),
        ({"k": 1, "stride": (2, 1), "padding": (0, 1)}, "2×6×5×7 → 1 filter 3×2, stride 2×1, padding 0×1"),
        (
            {"padding": "same", "dilation": (1, 2), "groups": 2},
            "2×6×5×7 → 4 filters 3×2, stride 1, padding 1, dilation 1×2, groups 2",
        ),
        ({"padding": (0, 1, 2, 3)}, "2×6×5×7 → 4 filters 3×2, stride 1, padding (0, 1, 2, 3)"),
    ],
)
def test_str_is_compact(changes, text):
    assert str(make(**changes)) == text


def test_explain_gives_one_line_for_each_axis_with_its_numbers():
    rows, columns = make(stride=(2, 3), padding=(1, 0, 2, 4), dilation=(2, 5)).explain().split("\n")
    assert rows.endswith("= ⌊(5 + 1 + 0 − 2·(3 − 1) − 1) / 2⌋ + 1 = 1")
    assert columns.endswith("= ⌊(7 + 2 + 4 − 5·(2 − 1) − 1) / 3⌋ + 1 = 3")


# What is refused: the fact, the whole spec, the fix

HUGE = 10**6000  # more digits than Python prints

REFUSED = [
    ({"groups": 4}, "c=6 is not divisible by groups=4", "Choose groups that divide c=6 and k=4, at most 2"),
    ({"groups": 3}, "k=4 is not divisible by groups=3", "Choose groups that divide c=6 and k=4, at most 2"),
    ({"r": 7}, "The window spans 7 rows but the padded input has 5", "or 2 more rows of padding"),
    (
        {"dilation": (1, 9), "padding": (0, 0, 0, 1)},
        "The window spans 10 columns but the padded input has 8",
        "Use a smaller filter or dilation, or 2 more columns of padding",
    ),
    ({"n": True}, "n=True is a bool, not a number", "Give n a whole number, at least 1"),
    (
        {"stride": (1, np.bool_(True))},
        "stride[1]=True is a bool",
        "Give stride[1] a whole number, at least 1",
    ),
    ({"h": 5.0}, "h=5.0 is not an integer", "Give h a whole number, at least 1"),
    ({"stride": (2, 1.5)}, "stride[1]=1.5 is not an integer", "Give stride[1] a whole number, at least 1"),
    ({"dilation": "2"}, "dilation='2' is not an integer", "Give dilation a whole number, at least 1"),
    ({"padding": None}, "padding=None is not an integer", "Give padding a whole number, at least 0"),
    ({"padding": ((1, 1), (2, 2))}, "padding[0]=(1, 1) is not an integer", "Give padding[0] a whole number"),
    *[({name: 0}, f"{name}=0 is less than 1", f"Give {name} a whole number, at least 1") for name in BASE],
    *[({name: -3}, f"{name}=-3 is less than 1", "at least 1") for name in (*BASE, "stride", "dilation", "groups")],
    ({"stride": (1, 0)}, "stride[1]=0 is less than 1", "Give stride[1] a whole number, at least 1"),
    ({"groups": 0}, "groups=0 is less than 1", "Give groups a whole number, at least 1"),
    (
        {"padding": (0, 0, -1, 0)},
        "padding[2]=-1 is less than 0",
        "Give padding[2] a whole number, at least 0",
    ),
    ({"padding": (1, 2, 3)}, "padding=(1, 2, 3) has 3 numbers", "Give padding as one number, or as 2 or 4"),
    ({"stride": (1, 1, 1)}, "stride=(1, 1, 1) has 3 numbers", "Give stride as one number, or as 2"),
    ({"padding": "Same"}, "padding='Same' is not a known name", 'Use "same", "valid" or numbers'),
    ({"h": 2**63}, f"h={2**63} is beyond 2^63 − 1", "Give h a smaller number"),
    ({"h": HUGE}, "h=<integer of 19932 bits> is beyond 2^63 − 1", "Give h a smaller number"),
    ({"padding": (0, -HUGE)}, "padding[1]=<integer of 19932 bits> is less than 0", "at least 0"),
    (
        {"n": 2**60, "c": 2, "groups": 2},
        f"The padded input has {2**60 * 2 * 5 * 7} elements, beyond 2^63 − 1",
        "Use smaller sizes",
    ),
    (
        {"padding": (0, 2**62, 0, 0)},
        f"The padded input has {2 * 6 * (5 + 2**62) * 7} elements, beyond 2^63 − 1",
        "Use smaller sizes",
    ),
    ({"k": 2**60, "w": 2}, f"The weights have {2**60 * 36} elements, beyond 2^63 − 1", "Use smaller sizes"),
    (
        {"k": 2**59, "c": 1, "r": 1, "s": 1},
        f"The output has {2 * 2**59 * 35} elements, beyond 2^63 − 1",
        "Use smaller sizes",
    ),
    (
        {"k": 2**56, "h": 3, "w": 4},
        f"The work is {2 * 2**56 * 3 * 36} multiply-accumulates, beyond 2^63 − 1",
        "Use smaller sizes",
    ),
]


@pytest.mark.parametrize(("changes", "fact", "fix"), REFUSED, ids=[fact for _, fact, _ in REFUSED])
def test_bad_values_are_refused_with_fact_whole_spec_and_fix(changes, fact, fix):
    with pytest.raises(ValueError, match="In: ConvSpec") as caught:
        make(**changes)
    first, context, last = str(caught.value).split("\n")
    assert first.startswith(fact)
    assert last.startswith("  Fix: ")
    assert fix in last
    assert re.findall(r"(\w+)=", context) == [*BASE, "stride", "padding", "dilation", "groups"]
    for name in BASE.keys() - changes.keys():
        assert f"{name}={BASE[name]}, " in context


def test_the_spec_in_a_message_can_be_pasted_back():
    with pytest.raises(ValueError, match="groups=4") as caught:
        make(padding=(1, 0, 2, 1), stride=(1, 2), groups=4)
    pasted = re.search(r"In: (.*)", str(caught.value)).group(1)
    assert pasted == (
        "ConvSpec(n=2, c=6, h=5, w=7, k=4, r=3, s=2, stride=(1, 2), padding=(1, 0, 2, 1), dilation=1, groups=4)"
    )


def test_the_largest_numbers_that_fit_are_taken():
    assert ConvSpec(n=2**63 - 1, c=1, h=1, w=1, k=1, r=1, s=1).macs == 2**63 - 1


# From the shapes of x and w


def test_from_shapes_reads_every_axis():
    spec = ConvSpec.from_shapes((2, 6, 5, 7), (4, 3, 3, 2), (2, 1), "same", (1, 2), groups=2)
    assert spec == make(stride=(2, 1), padding="same", dilation=(1, 2), groups=2)


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "groups", "fact", "fix"),
    [
        (
            (2, 6, 5, 7),
            (4, 5, 3, 2),
            2,
            "w has 5 input channels per filter, but x has c=6 with groups=2, so it needs 3",
            "Give w the shape (K, 3, R, S).",
        ),
        ((2, 6, 5, 7), (4, 6, 3, 2), 2, "w has 6 input channels", "(K, 3, R, S), or use groups=1."),
        ((2, 6, 5, 7), (4, 1, 3, 2), 2, "w has 1 input channels", "Give w the shape (K, 3, R, S)."),
        ((2, 6, 5, 7), (12, 1, 3, 2), 1, "w has 1 input channels", "(K, 6, R, S), or use groups=6."),
        ((6, 5, 7), (4, 6, 3, 2), 1, "x has shape (6, 5, 7), but it needs (N, C, H, W)", "Give x four axes."),
        (
            (2, 6, 5, 7),
            (4, 6, 3),
            1,
            "w has shape (4, 6, 3), but it needs (K, C/G, R, S)",
            "Give w four axes.",
        ),
        (5, (4, 6, 3, 2), 1, "x has shape 5, but it needs (N, C, H, W)", "Give x four axes."),
        (
            (2, 6, 0, 7),
            (4, 6, 3, 2),
            1,
            "x.shape[2] (H)=0 is less than 1",
            "Give x.shape[2] (H) a whole number",
        ),
        (
            (2, 6, 5, 7),
            (4, 6, 3, 2.0),
            1,
            "w.shape[3] (S)=2.0 is not an integer",
            "Give w.shape[3] (S) a whole",
        ),
        ((2, 6, 5, 7), (4, 3, 3, 2), True, "groups=True is a bool", "Give groups a whole number, at least 1"),
    ],
)
def test_from_shapes_names_the_array_that_does_not_fit(x_shape, w_shape, groups, fact, fix):
    with pytest.raises(ValueError, match="In: ConvSpec") as caught:
        ConvSpec.from_shapes(x_shape, w_shape, padding=1, groups=groups)
    first, context, last = str(caught.value).split("\n")
    assert first.startswith(fact)
    assert context == (
        f"  In: ConvSpec.from_shapes(x_shape={x_shape}, w_shape={w_shape}, "
        f"stride=1, padding=1, dilation=1, groups={groups})"
    )
    assert fix in last


def test_from_shapes_leaves_the_rest_to_the_constructor():
    with pytest.raises(ValueError, match=r"c=6 is not divisible by groups=4\.\n  In: ConvSpec\(n=2, c=6"):
        ConvSpec.from_shapes((2, 6, 5, 7), (4, 3, 3, 2), groups=4)
