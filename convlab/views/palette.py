"""The colours of all pictures: the kinds of cells, and the style sheet made from them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KINDS", "SHADES", "STYLE", "Kind"]


class Kind(NamedTuple):
    """A kind of cell: its hue, the words of the legend that explain it, and how it is set apart in grey."""

    hue: str
    legend: str = ""
    dashes: str = ""
    hatched: bool = False


# Hues of Okabe and Ito (2008), which stay apart for colour-blind eyes. Where a picture is printed in grey,
# hatching, dashes and the heavy strokes of lit cells speak instead.
KINDS = {
    "plain": Kind("#7a8793"),
    "input": Kind("#0072b2"),
    "filter": Kind("#e69f00"),
    "output": Kind("#009e73"),
    "padding": Kind("#7a8793", legend="padding: counts as 0", dashes="3 2", hatched=True),
    "gap": Kind("#7a8793", legend="gap of the dilation: no weight", dashes="1 3"),
    "copy": Kind("#0072b2", legend="a copy: this value is there already", hatched=True),
    "shared": Kind("#cc79a7"),
    "register": Kind("#56b4e9"),
    "waste": Kind("#d55e00", legend="wasted: paid for, and not used", hatched=True),
    "idle": Kind("#7a8793", legend="idle", dashes="3 2"),
    # Members of a group that need no more than to be told apart: warps, blocks, wavefronts.
    "group0": Kind("#0072b2"),
    "group1": Kind("#e69f00"),
    "group2": Kind("#009e73"),
    "group3": Kind("#cc79a7"),
    "group4": Kind("#56b4e9"),
    "group5": Kind("#d55e00"),
}

SHADES = 10  # steps of the ramp that colours cells by value
_RAMP = "#0072b2"


class _Theme(NamedTuple):
    scope: str  # the selector that the theme's rules stand under
    ink: str
    paper: str
    tint: float  # how much paper is in the fill of a cell at rest, and of a lit one
    lit: float
    rest: float  # the opacity of all other cells while some are lit


_LIGHT = _Theme("", "#1c2733", "#ffffff", tint=0.84, lit=0.45, rest=0.55)
_DARK = _Theme('[data-jp-theme-light="false"] ', "#e6ebf0", "#14181d", tint=0.7, lit=0.45, rest=0.8)


def _mix(colour: str, other: str, share: float) -> str:
    """Mix a share (0 to 1) of another colour into a colour."""
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a * (1 - share) + b * share) for a, b in channels).hex()


def _kind_rules(theme: _Theme, name: str) -> str:
    kind = KINDS[name]
    tint, lit = (0.95, 0.7) if kind.dashes else (theme.tint, theme.lit)
    cell = f"{theme.scope}.cl-{name}"
    dashes = f";stroke-dasharray:{kind.dashes}" if kind.dashes else ""
    return (
        f"{cell} rect{{fill:{_mix(kind.hue, theme.paper, tint)}"
        f";stroke:{_mix(kind.hue, theme.paper, 0.4)}{dashes}}}"
        f"{cell}.cl-lit rect{{fill:{_mix(kind.hue, theme.paper, lit)}}}"
        f"{cell}.cl-here rect{{fill:{_mix(kind.hue, theme.ink, 0.42)}}}"
        f"{cell}.cl-here text{{fill:{theme.paper}}}"
    )


def _shade_rules(theme: _Theme, step: int) -> str:
    cell, share = f"{theme.scope}.cl-s{step}", step / (SHADES - 1)
    fill, edge = _mix(theme.paper, _RAMP, share), _mix(theme.paper, _RAMP, min(1, share + 0.3))
    text = theme.ink if share < 0.8 else "#ffffff"
    return f"{cell} rect{{fill:{fill};stroke:{edge}}}{cell} text{{fill:{text}}}"


def _theme_rules(theme: _Theme) -> str:
    scope, ink, paper = theme.scope, theme.ink, theme.paper
    return "".join(
        (
            f"{scope}.cl-view{{fill:{ink}}}",
            f"{scope}.cl-quiet{{fill:{_mix(ink, paper, 0.36)}}}",
            f"{scope}.cl-hatch{{stroke:{_mix(ink, paper, 0.6)}}}",
            *(_kind_rules(theme, name) for name in KINDS),
            *(_shade_rules(theme, step) for step in range(SHADES)),
            f"{scope}.cl-cell:is(.cl-lit,.cl-here) rect{{stroke:{ink}}}",
            f"{scope}.cl-message rect{{stroke:{_mix(ink, paper, 0.6)}}}",
            f"{scope}.cl-line{{stroke:{_mix(ink, paper, 0.25)}}}",
            f"{scope}.cl-cell rect.cl-trough{{fill:{_mix(ink, paper, 0.94)}}}",
            f"{scope}.cl-cell.cl-here .cl-trough~text{{fill:{ink}}}",
            f"{scope}.cl-active .cl-cell:not(.cl-lit,.cl-here){{opacity:{theme.rest}}}",
        )
    )


_SHAPES = """
.cl-view { max-width: 100%; height: auto; }
.cl-view text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.cl-page { fill: #ffffff; }
[data-jp-theme-light] .cl-page { fill: none; }
.cl-title { font-size: 14px; font-weight: 600; }
.cl-name { font-size: 13px; font-weight: 600; }
.cl-small { font-size: 11.5px; }
.cl-index { font-size: 10px; font-variant-numeric: tabular-nums; }
.cl-axis { font-size: 12px; font-style: italic; font-weight: 600; }
.cl-operator { font-size: 26px; }
.cl-middle { text-anchor: middle; }
.cl-end { text-anchor: end; }
.cl-board { fill: none; pointer-events: all; }
.cl-hatch, .cl-line { fill: none; pointer-events: none; }
.cl-line { stroke-width: 2.5; }
.cl-switch .cl-cell { cursor: pointer; }
.cl-here .cl-trough + rect { fill-opacity: 0.45; }
.cl-message rect { fill: none; stroke-dasharray: 5 4; }
.cl-cell text { text-anchor: middle; font-variant-numeric: tabular-nums; pointer-events: none; }
.cl-cell:focus { outline: none; }
.cl-cell:is(.cl-lit, .cl-here) rect { stroke-width: 2.2; }
.cl-cell:is(.cl-lit, .cl-here) text { font-weight: 700; }
"""

# Plain colours come first, so that programs which know neither JupyterLab's themes nor CSS variables show them.
STYLE = _SHAPES + _theme_rules(_LIGHT) + _theme_rules(_DARK)
