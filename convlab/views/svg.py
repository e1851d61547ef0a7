"""Draws a picture as SVG: the one drawing, shown by notebooks with and without a widget manager alike."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Container, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from convlab.views.arrows import Paths
from convlab.views.grid import Frame, Ids, Panel
from convlab.views.layout import LEFT, MARGIN, Place, arrange, wrapped
from convlab.views.palette import KINDS, STYLE

if TYPE_CHECKING:
    from convlab.views.view import View

__all__ = ["draw"]

_LINE = 18  # height of a line of small print
_FONTS = ((30, 13.0), (26, 12.0), (22, 10.5), (17, 9.0))  # the least cell size that each type size asks for
_LETTER = 0.64  # mean width of a digit, in type sizes
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in any XML text


def draw(view: View, frame: Frame | None = None) -> str:
    """Draw a view as one self-contained SVG element; a frame adds what it marks and writes.

    Each cell is a ``g.cl-cell``, in the order of the cells' numbers, inside the ``g.cl-panel`` of its panel. Links and
    frames travel in ``metadata``, so that the picture alone is all that the front end needs.
    """
    layout = arrange(view.panels, top=MARGIN + _LINE + 4)
    paths = Paths(layout.places)
    legend, bottom = _legend(view, layout.bottom, layout.width - MARGIN)
    captions = [line for text in view.captions for line in wrapped(text, layout.width - LEFT - MARGIN)]
    width, height = layout.width, bottom + _LINE * len(captions) + MARGIN
    active = " cl-active" if frame and (frame.lit or frame.here is not None) else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cl-view{active}" role="img"'
        f' aria-label="{_safe(view.alt)}"'
        f' width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<style>{escape(STYLE, quote=False)}</style>"
        f"<metadata>{_metadata(view, paths)}</metadata>"
        f'<rect class="cl-page" width="{width}" height="{height}" rx="6"/>',
        _text(LEFT, MARGIN + 12, "cl-title", view.title),
    ]
    first, words, lengths = 0, _words(view), _lengths(view)
    for place in layout.places:
        last = first + place.panel.rows * place.panel.cols
        parts += _panel(place, first, frame, words.keys(), max(lengths[first:last], default=0))
        first = last
    if any(each.arrows for each in view.frames):
        parts.append(paths.layer(frame.arrows if frame else ()))
    lines = (_text(LEFT, bottom + _LINE * (i + 1) - 4, "cl-small", line) for i, line in enumerate(captions))
    return "".join([*parts, *legend, *lines, "</svg>"])


def _metadata(view: View, paths: Paths) -> str:
    """Write links and frames for the front end, as JSON."""
    frames = [_step(frame, paths) for frame in view.frames]
    data = {"title": view.title, "links": _encoded(view.links), "frames": frames}
    text = json.dumps(data, default=int, separators=(",", ":"), ensure_ascii=False)
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=False)  # half of it were escaped quotes


def _step(frame: Frame, paths: Paths) -> dict[str, Any]:
    """What the front end needs of a frame; the rare things only where there are some."""
    data = {name: getattr(frame, name) for name in ("caption", "here", "lit", "values", "kinds")}
    if frame.links.size:
        data["links"] = _encoded(frame.links)
    if frame.arrows:
        data["arrows"] = paths.drawn(frame.arrows)
    return data


def _encoded(links: Ids) -> str:
    """Write links as pairs of 16-bit numbers in base64."""
    return base64.b64encode(links.astype("<u2").tobytes()).decode("ascii")


def _safe(text: str) -> str:
    """Escape a text for XML, without the control characters that no XML may hold."""
    return escape(_FORBIDDEN.sub("\ufffd", text))


def _text(x: float, y: float, classes: str, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{classes}">{_safe(text)}</text>' if text else ""


def _lengths(view: View) -> list[int]:
    """The length of the longest text that each cell shows, now or in a step."""
    lengths = [
        len(panel.values[i]) if panel.values else 0 for panel in view.panels for i in range(panel.rows * panel.cols)
    ]
    for frame in view.frames:
        for cell, text in frame.values.items():
            lengths[cell] = max(lengths[cell], len(text))
    return lengths


def _panel(place: Place, first: int, frame: Frame | None, explained: Container[str], longest: int) -> list[str]:
    panel, x, y = place.panel, place.x, place.y
    across, down = place.operator
    head = [
        _text(across, down + 9, "cl-operator cl-middle cl-quiet", panel.operator),
        _text(x, y - 34, "cl-name", panel.title),
        _text(x, y - 19, "cl-small cl-quiet", panel.subtitle),
    ]
    if panel.message:
        return [*head, *_message(place)]
    name, title = _safe(panel.name), _safe(f"{panel.title}, {panel.rows} × {panel.cols}")
    marks = (" cl-switch" if panel.switch else "") + (" cl-spoken" if panel.spoken else "")
    return [
        *head,
        *_edges(place),
        f'<g class="cl-panel{marks}" role="grid" aria-label="{title}" data-name="{name}" data-cols="{panel.cols}"'
        f' transform="translate({x},{y})">'
        f'<rect class="cl-board" width="{place.width}" height="{place.height}"/>',
        *_cells(place, first, frame, explained, longest),
        _hatch(panel, place.pitch),
        _lines(place),
        "</g>",
    ]


def _message(place: Place) -> list[str]:
    x, y, lines = place.x, place.y, wrapped(place.panel.message, place.width - 28)
    start = y + (place.height - _LINE * len(lines)) / 2 + 13
    return [
        f'<g class="cl-message"><rect x="{x}" y="{y}" width="{place.width}" height="{place.height}" rx="6"/>',
        *(_text(x + 14, start + _LINE * i, "cl-small", line) for i, line in enumerate(lines)),
        "</g>",
    ]


def _edges(place: Place) -> list[str]:
    """Write the index along the top and the left edge, and each axis letter at the end of its axis."""
    panel, pitch, x, y, middle = place.panel, place.pitch, place.x, place.y, place.pitch / 2
    wide = pitch * panel.cell_width
    return [
        *(
            _text(x + wide * (i + 0.5), y - 5, "cl-index cl-middle cl-quiet", panel.col_index[i])
            for i in _labelled(panel.col_index, wide)
        ),
        *(
            _text(x - 6, y + pitch * i + middle + 3.5, "cl-index cl-end cl-quiet", panel.row_index[i])
            for i in _labelled(panel.row_index, pitch + 4)  # upright, numbers need less room
        ),
        _text(x + place.width + 4, y - 4, "cl-axis cl-quiet", panel.col_axis),
        _text(x - 6, y + place.height + 13, "cl-axis cl-end cl-quiet", panel.row_axis),
    ]


def _labelled(index: Sequence[str], pitch: int) -> range:
    """Choose the places whose index is written: all, or each second or fifth from 0 where cells are small."""
    step = 1 if pitch >= 17 else 2 if pitch >= 13 else 5
    zero = index.index("0") if "0" in index else 0
    return range(zero % step, len(index), step)


def _cells(place: Place, first: int, frame: Frame | None, explained: Container[str], longest: int) -> list[str]:
    """Draw the cells row by row; the time goes here, so each cell is one formatted string."""
    panel, pitch, wide = place.panel, place.pitch, place.pitch * place.panel.cell_width
    values, classes, asides = _values(panel, first, frame), _classes(panel, first, frame), _asides(panel, explained)
    labels = [_safe(label) for label in panel.labels]
    font = _font(longest, pitch, wide)
    inset = 1 if pitch >= 13 else 0.5
    boxes = _boxes(panel, pitch, wide, inset)
    middle, base = wide / 2, pitch / 2 + font * 0.36
    parts = [f'<g font-size="{font:g}">']
    for i, (label, classes_, aside) in enumerate(zip(labels, classes, asides, strict=True)):
        row, col = divmod(i, panel.cols)
        if not col:
            parts.append(f'{"</g>" if row else ""}<g role="row" transform="translate(0,{row * pitch})">')
        text = f'<text x="{col * wide + middle:g}" y="{base:g}">{values[i]}</text>' if font else ""
        parts.append(
            f'<g class="cl-cell {classes_}" role="gridcell" aria-label="{label}"{aside}>'
            f'<rect x="{col * wide + inset}" {boxes[i % len(boxes)]}/>{text}</g>'
        )
    return [*parts, "</g></g>"]


def _boxes(panel: Panel, pitch: int, wide: int, inset: float) -> list[str]:
    """Write the rectangle of each cell as far as it does not depend on the column: one for all, or a bar for each."""
    tall = f'y="{inset}" height="{pitch - 2 * inset}" rx="{pitch // 10}"'
    whole = f'width="{wide - 2 * inset}" {tall}'
    if not panel.bars:
        return [whole]
    troughs = [f'class="cl-trough" {whole}/><rect x="{i % panel.cols * wide + inset}"' for i in range(len(panel.bars))]
    parts = [max(0.0, min(1.0, bar)) * (wide - 2 * inset) for bar in panel.bars]
    return [f'{trough} width="{part:.1f}" {tall}' for trough, part in zip(troughs, parts, strict=True)]


def _lines(place: Place) -> str:
    """Draw the heavy lines between blocks of cells."""
    panel, pitch, wide = place.panel, place.pitch, place.pitch * place.panel.cell_width
    across = "".join(f"M0 {row * pitch}h{place.width}" for row in panel.row_lines)
    down = "".join(f"M{col * wide} 0v{place.height}" for col in panel.col_lines)
    if panel.regions:
        regions = np.pad(np.reshape(panel.regions, (panel.rows, panel.cols)), 1)  # outside lies region 0
        below, beside = (np.argwhere(np.diff(regions, axis=axis)).tolist() for axis in (0, 1))
        across += "".join(f"M{(col - 1) * wide} {row * pitch}h{wide}" for row, col in below)
        down += "".join(f"M{col * wide} {(row - 1) * pitch}v{pitch}" for row, col in beside)
    return f'<path class="cl-line" d="{across}{down}"/>' if across or down else ""


def _classes(panel: Panel, first: int, frame: Frame | None) -> list[str]:
    changed = frame.kinds if frame else {}
    shades = [f"cl-s{shade}" for shade in panel.cell_shades]
    classes = shades or [f"cl-{kind}" for kind in panel.cell_kinds]
    classes = [f"cl-{changed[first + i]}" if first + i in changed else each for i, each in enumerate(classes)]
    marks = [*((cell, " cl-lit") for cell in frame.lit), (frame.here, " cl-here")] if frame else []
    for cell, mark in marks:
        if cell is not None and first <= cell < first + len(classes):
            classes[cell - first] += mark
    return classes


def _values(panel: Panel, first: int, frame: Frame | None) -> list[str]:
    changed = frame.values if frame else {}
    values = panel.values or [""] * (panel.rows * panel.cols)
    return [_safe(changed.get(first + i, value)) for i, value in enumerate(values)]


def _asides(panel: Panel, explained: Container[str]) -> list[str]:
    """Mark the cells of kinds that the legend explains, so that sentences can count them apart."""
    marks = {name: f' data-aside="{name}"' if name in explained else "" for name in {*panel.cell_kinds}}
    return [marks[kind] for kind in panel.cell_kinds]


def _font(longest: int, pitch: int, wide: int) -> float:
    """Choose the largest type in which so many letters fit a cell; 0 where none is legible."""
    fitting = (size for least, size in _FONTS if pitch >= least and longest * size * _LETTER <= wide - 4)
    return next(fitting, 0) if longest else 0


def _hatch(panel: Panel, pitch: int) -> str:
    """Hatch the cells of hatched kinds with one path; a pattern would need a name unique in the whole page."""
    hatched = (divmod(i, panel.cols) for i, kind in enumerate(panel.cell_kinds) if KINDS[kind].hatched)
    places = [(i, j * panel.cell_width + part) for i, j in hatched for part in range(panel.cell_width)]
    side, half = pitch - 4, (pitch - 4) // 2
    rest = side - half
    strokes = f"m0 {side}l{side} -{side}"
    if pitch >= 17:
        strokes += f"m-{side} {half}l{half} -{half}m-{half} {side}m{half} 0l{rest} -{rest}"
    path = "".join(f"M{j * pitch + 2} {i * pitch + 2}{strokes}" for i, j in places)
    return f'<path class="cl-hatch" d="{path}"/>' if path else ""


def _legend(view: View, y: int, width: int) -> tuple[list[str], int]:
    """Explain the kinds that need it, each with a sample cell; gives the drawing, and where it ends."""
    used = {kind for panel in view.panels for kind in panel.cell_kinds}
    used.update(kind for frame in view.frames for kind in frame.kinds.values())
    parts: list[str] = []
    x, y = LEFT, y + 14
    for name, words in _words(view).items():
        if name not in used:
            continue
        space = 24 + round(len(words) * 6.3) + 20
        if x > LEFT and x + space > width:
            x, y = LEFT, y + _LINE + 4
        sample = Panel(name=name, title="", rows=1, cols=1, labels=("",), kinds=name)
        parts.append(
            f'<g transform="translate({x},{y - 13})"><g class="cl-{name}">'
            f'<rect width="15" height="15" x="1" y="1" rx="1"/></g>{_hatch(sample, 17)}</g>'
            + _text(x + 24, y, "cl-small cl-quiet", words)
        )
        x += space
    return parts, y + _LINE - 6 if parts else y - 14


def _words(view: View) -> dict[str, str]:
    """The words of the legend by kind: the view's own, and those that a kind always has."""
    always = {name: kind.legend for name, kind in KINDS.items() if kind.legend}
    return {name: words for name, words in (always | dict(view.legend)).items() if words}
