"""Number formats: a number's bits as switches, its neighbours, and what it becomes in each format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from convlab.views.formats import FORMATS, Format, read
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["NumberView", "code_of", "decimal", "number_formats", "written"]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FIELDS = {"shared": "sign", "filter": "exponent", "input": "fraction"}
_COLUMNS = ("becomes", "off by", "spacing", "largest", "smallest normal", "smallest")


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberView(View):
    """The picture of a number's bits: its ``code``, the bits as a whole number, and the ``value`` they stand for.

    ``spacing`` is the distance to the next number of larger magnitude, NaN where there is no number.
    """

    code: int
    value: float
    spacing: float


def number_formats(number: float | str = "0.1", dtype: str = "float16") -> NumberView:
    """Show the bits of a number in a format, its neighbours, and what becomes of the number in every format.

    >>> view = number_formats("0.1", "float16")
    >>> view.value, hex(view.code), "".join(view.panels[0].values)
    (0.0999755859375, '0x2e66', '0010111001100110')

    Parameters: ``number``, a decimal number, which is rounded to the format, ``"inf"``, ``"nan"``, or bits such as
    ``"0x2e66"``; ``dtype``, one of ``FORMATS``. Raises ``ValueError`` for what is no number, for more bits than the
    format has, and for NaN where the format has none.
    """
    call = f"views.number_formats({number!r}, {dtype!r})"
    if dtype not in FORMATS:
        raise ValueError(f"{dtype!r} is no format here.\n  In: {call}\n  Fix: choose one of {', '.join(FORMATS)}.")
    form, text = FORMATS[dtype], str(number)
    code = code_of(text, form)
    value = form.value(code)
    exact = value if _is_bits(text) else read(text)
    panels = [
        _bits_panel(form, code),
        _parts_panel(form, code),
        _neighbours_panel(form, code),
        _formats_panel(exact, dtype),
    ]
    finite = math.isfinite(value)
    title = f"{text.strip().replace('-', '−')} in {form.words}: {decimal(value)}"
    captions = [*_value_words(form, code, exact), *_format_words(form)]
    bits = "Bits " + " ".join(filter(None, _fields(form, code)))
    return NumberView(
        title=title,
        alt=f"{title}. {bits}. {' '.join(captions)}",
        panels=panels,
        links=_links(form, cell_ids(panels), list(FORMATS).index(dtype)),
        captions=captions,
        legend=_FIELDS if form.exponent else {"shared": "sign", "input": "whole number"},
        code=code,
        value=value,
        spacing=form.spacing(code) if finite else math.nan,
    )


def code_of(text: str, form: Format) -> int:
    """Read bits as they are, and a number as the nearest bits.

    >>> hex(code_of("0.1", FORMATS["float16"])), hex(code_of("0x7c08", FORMATS["float16"]))
    ('0x2e66', '0x7c08')

    Raises ``ValueError`` for what is neither, and for more bits than the format has.
    """
    if not _is_bits(text):
        return form.nearest(read(text))
    try:
        code = int(text, 16)
    except ValueError:
        raise ValueError(f"{text!r} are no bits.\n  Fix: write them as 0x and hexadecimal digits.") from None
    if code >= 1 << form.bits:
        raise ValueError(f"{text} are more than the {form.bits} bits of {form.words}.\n  Fix: write fewer.")
    return code


def written(form: Format, code: int) -> str:
    """Write bits so that they are read back as they are: as a decimal number, except for NaN.

    >>> half = FORMATS["float16"]
    >>> written(half, 0x2E66), written(half, 0x8000), written(half, 0x7C08)
    ('0.0999755859375', '-0.0', '0x7c08')
    """
    value = form.value(code)
    if math.isnan(value):
        return f"0x{code:x}"
    return repr(value) if form.exponent else str(int(value))


def decimal(value: float) -> str:
    """Write a number with up to nine digits, and powers of ten as print has them.

    >>> decimal(0.0999755859375), decimal(2.0**-24), decimal(-math.inf)
    ('0.0999755859', '5.96046448·10⁻⁸', '−∞')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return _powers(f"{value:.9g}")


def _is_bits(text: str) -> bool:
    return text.strip().lower().startswith("0x")


def _short(value: float) -> str:
    """A number with three digits, and a whole one that is not longer than its power of ten as it is."""
    if value.is_integer() and abs(value) < 1e5:
        return _powers(f"{value:.0f}")
    return _powers(f"{value:.3g}") if math.isfinite(value) else decimal(value)


def _powers(text: str) -> str:
    digits, _, power = text.partition("e")
    return digits.replace("-", "−") + (f"·10{str(int(power)).translate(_RAISED)}" if power else "")


def _power_of_two(exponent: int) -> str:
    return f"2{str(exponent).translate(_RAISED)}"


def _fields(form: Format, code: int) -> tuple[str, str, str]:
    """The bits of sign, exponent and fraction."""
    text = f"{code:0{form.bits}b}"
    return text[0], text[1 : 1 + form.exponent], text[1 + form.exponent :]


def _kinds(form: Format) -> list[str]:
    return ["shared", *["filter"] * form.exponent, *["input"] * form.fraction]


def _bits_panel(form: Format, code: int) -> Panel:
    values = list(f"{code:0{form.bits}b}")
    return Panel(
        name="bits",
        title=f"{form.words}: {form.bits} bits",
        subtitle="press one to flip it",
        rows=1,
        cols=form.bits,
        labels=[f"{_bit_words(form, form.bits - 1 - i)}: {value}" for i, value in enumerate(values)],
        values=values,
        kinds=_kinds(form),
        col_index=[str(form.bits - 1 - i) for i in range(form.bits)],
        col_lines=[1, 1 + form.exponent] if form.exponent else [1],
        switch=True,
    )


def _bit_words(form: Format, bit: int) -> str:
    """What a bit is worth, bits counted from the right."""
    if bit == form.bits - 1:
        return "sign" if form.exponent else f"sign, worth −{2**bit}"
    if bit >= form.fraction:
        return f"exponent bit worth {2 ** (bit - form.fraction)}"
    worth = _power_of_two(bit - form.fraction) if form.exponent else str(2**bit)
    return f"fraction bit worth {worth}" if form.exponent else f"bit worth {worth}"


def _parts_panel(form: Format, code: int) -> Panel:
    """Show what the fields stand for; their product is the value, of whole numbers their sum."""
    values = _parts(form, code)
    words = ["sign", "power of two", "significand"] if form.exponent else ["sign", "the other bits"]
    title = f"= sign · 2^(exponent − {form.bias}) · significand" if form.exponent else "= sign + the other bits"
    return Panel(
        name="parts",
        title=title,
        rows=1,
        cols=len(values),
        labels=[f"{word}: {value}" for word, value in zip(words, values, strict=True)],
        values=values,
        kinds=[kind for kind in _FIELDS if form.exponent or kind != "filter"],
        col_index=words,
        cell_width=4,
        line=1,
    )


def _parts(form: Format, code: int) -> list[str]:
    sign, exponent, fraction = (int(bits or "0", 2) for bits in _fields(form, code))
    if not form.exponent:
        return [f"−{2**form.fraction}" if sign else "0", str(fraction)]
    value = form.value(code)
    if not math.isfinite(value):
        return ["−1" if sign else "+1", "all ones", "NaN" if math.isnan(value) else "0: infinite"]
    significand = fraction / 2**form.fraction + (exponent > 0)
    power = _power_of_two(max(exponent, 1) - form.bias)
    return ["−1" if sign else "+1", power, decimal(significand)]


def _neighbours_panel(form: Format, code: int) -> Panel:
    below, above = form.neighbours(code)
    values = [decimal(each) if each is not None else "none" for each in (below, form.value(code), above)]
    names = ["next below", "this number", "next above"]
    return Panel(
        name="neighbours",
        title="The number and its neighbours",
        rows=1,
        cols=3,
        labels=[f"{name}: {value}" for name, value in zip(names, values, strict=True)],
        values=values,
        kinds=["plain", "output", "plain"],
        col_index=names,
        cell_width=5,
        line=1,
    )


def _formats_panel(exact: Fraction | float, dtype: str) -> Panel:
    """Put a number into every format, one a row, beside what is the same for all its numbers."""
    rows = {name: _row(form, exact) for name, form in FORMATS.items()}
    return Panel(
        name="formats",
        title=f"{decimal(float(exact))} in every format",
        rows=len(rows),
        cols=len(_COLUMNS),
        labels=[
            f"{FORMATS[name].words}, {column}: {text}"
            for name, row in rows.items()
            for column, text in zip(_COLUMNS, row, strict=True)
        ],
        values=[text for row in rows.values() for text in row],
        kinds=["output" if name == dtype else "plain" for name in rows for _ in _COLUMNS],
        row_index=[FORMATS[name].words for name in rows],
        col_index=_COLUMNS,
        cell_width=5,
        line=2,
    )


def _row(form: Format, exact: Fraction | float) -> list[str]:
    limits = [
        _short(form.largest),
        _short(form.smallest_normal) if form.smallest_normal else "–",
        _short(form.smallest),
    ]
    if isinstance(exact, float) and math.isnan(exact) and not form.nan:
        return ["none", "–", "–", *limits]
    code = form.nearest(exact)
    value = form.value(code)
    spacing = _short(form.spacing(code)) if math.isfinite(value) else "–"
    return [decimal(value), _error(value, exact), spacing, *limits]


def _error(value: float, exact: Fraction | float) -> str:
    """The relative error of a rounded number, in words."""
    if not (math.isfinite(value) and math.isfinite(exact)):
        return "exact" if value == exact else "–" if math.isnan(float(exact)) else "beyond it"
    if value == exact:
        return "exact"
    return f"{_short(float(abs(Fraction(value) / Fraction(exact) - 1) * 100))} %"


def _links(form: Format, ids: Mapping[str, Ids], row: int) -> Ids:
    """Link each bit with its part of the value, the parts with the value, and that with its row and the neighbours."""
    bits, parts, near, formats = (ids[name] for name in ("bits", "parts", "neighbours", "formats"))
    kinds = [kind for kind in _FIELDS if form.exponent or kind != "filter"]
    part = np.array([kinds.index(kind) for kind in _kinds(form)])
    return join(
        pairs(bits[0], parts[0, part]),
        pairs(parts[0], near[0, 1]),
        pairs(near[0, 1], formats[row]),
        pairs(near[0, 1], near[0, ::2]),
        pairs(formats[:, :1], formats[:, 1:]),
    )


def _value_words(form: Format, code: int, exact: Fraction | float) -> Iterator[str]:
    value = form.value(code)
    if math.isfinite(exact) and not math.isfinite(value):
        yield f"Beyond {_short(form.largest)}, the largest {form.words} number: it becomes {decimal(value)} (overflow)."
    elif math.isnan(value):
        yield "NaN, not a number: the result of 0/0 or ∞ − ∞, and of everything computed from it."
    elif math.isinf(value):
        yield f"Infinite: the result of 1/0, and of what is beyond {_short(form.largest)}, the largest number."
    elif math.isinf(exact):
        yield f"{form.words} has no infinity: it becomes {decimal(value)}, the nearest number."
    elif exact and not value:
        yield f"Too near to 0 for {form.words}: it becomes 0 (underflow); the next number is {_short(form.smallest)}."
    else:
        error = _error(value, exact)
        off = "exact" if error == "exact" else f"{error} off"
        kind = ", a subnormal with fewer digits" if 0 < abs(value) < (form.smallest_normal or 0) else ""
        yield f"{decimal(value)} is {off}{kind}; the numbers here are {_short(form.spacing(code))} apart."


def _format_words(form: Format) -> Iterator[str]:
    if not form.exponent:
        yield "INT8: 256 whole numbers, one apart; a scale, kept in float, stretches them over the range in use."
        yield "What lies beyond −128 and 127 becomes the nearest of the two. There is no NaN and no infinity."
        return
    steps = f"{form.fraction} fraction bit" + ("s make" if form.fraction > 1 else " makes")
    yield (
        f"{form.words}: {form.exponent} exponent bits reach from {_short(form.smallest)} to {_short(form.largest)}; "
        f"{steps} {2**form.fraction} numbers from each power of two to the next."
    )
    if form.bits == 8:
        beyond = "What" if form.infinities else "It has no infinities: what"
        becomes = decimal(form.value(form.nearest(math.inf)))
        yield f"{beyond} lies beyond becomes {becomes} here, {_short(form.largest)} in a GPU's saturating conversions."
    elif not form.infinities:
        yield f"It has no infinities: what lies beyond becomes {_short(form.largest)}; it has no NaN either."
