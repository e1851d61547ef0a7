"""What all explorers are: controls above a picture, which is made anew whenever a control changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from zlib import crc32

import ipywidgets as widgets

from convlab.errors import ConvlabError
from convlab.explore.controls import GRID, Control, check, make, row
from convlab.views.grid import Panel
from convlab.views.view import View
from convlab.views.widget import LinkedGrid, Shown

__all__ = ["Explorer", "Limits"]

Limits = Mapping[str, tuple[int, int] | None]


class Explorer(widgets.VBox):  # type: ignore[misc]
    """Controls, and the picture that belongs to them.

    >>> from convlab.explore.controls import Range
    >>> from convlab.views.latency import latency
    >>> explorer = Explorer("explore.latency", {"warps": Range("Warps", 1, 16)}, {"warps": 2}, latency)
    >>> explorer.controls["warps"].value = 4
    >>> explorer.values, explorer.view.utilisation
    ({'warps': 4}, 1.0)

    Parameters: ``call`` is the function that makes this explorer; ``table`` describes each control, and ``initial`` is
    where it stands at first; ``draw`` takes the values by name and gives the picture, or raises ``ValueError`` with a
    sentence, which is then shown in its place; ``limits`` takes the values and gives, for controls that depend on
    others, the least and the most they reach now, None where they mean nothing; ``instead`` says what draws values out
    of the controls' reach; ``press`` takes the values and the number of the cell of a switch panel that was pressed,
    and gives the values that change by it.

    ``controls`` are the fields by name, ``values`` what they say, ``view`` is the picture shown. Raises ``ValueError``
    for a value that its control does not reach.
    """

    def __init__(
        self,
        call: str,
        table: Mapping[str, Control],
        initial: Mapping[str, Any],
        draw: Callable[..., Shown],
        limits: Callable[[Mapping[str, Any]], Limits] | None = None,
        instead: str = "",
        press: Callable[[Mapping[str, Any], int], Mapping[str, Any]] | None = None,
    ) -> None:
        check(call, initial, table, instead)
        self.table, self.initial, self._draw, self._limits = table, dict(initial), draw, limits
        self.controls = {name: make(table[name], value) for name, value in initial.items()}
        self._limit()
        self.view: Any = self._look()
        # A link is for the explorers that start where this one does: others of its kind may be in the same page.
        self._grid = LinkedGrid(self.view, call=f"{call}-{crc32(self.state.encode()):x}", state=self.state)
        reset = widgets.Button(description="Reset", tooltip="Back to where the controls stood at first")
        reset.on_click(lambda _: self.set(self.initial))
        fields = [row(field) for field in self.controls.values()]
        super().__init__([widgets.GridBox([*fields, reset], layout=GRID), self._grid])
        self._held = False
        for field in self.controls.values():
            field.observe(self._redraw, names="value")
        self._grid.observe(lambda change: self.restore(change["new"]), names="wish")
        if press is not None:
            self._grid.observe(lambda change: self.set(press(self.values, change["new"][0])), names="pressed")

    @property
    def values(self) -> dict[str, Any]:
        """What the controls say."""
        return {name: field.value for name, field in self.controls.items()}

    @property
    def state(self) -> str:
        """The values as the text that stands in a link."""
        return ",".join(f"{name}:{value}" for name, value in self.values.items())

    def set(self, values: Mapping[str, Any]) -> None:
        """Move several controls, and draw once."""
        self._held = True
        try:
            # Twice, since a control may reach its value only when another one has made room for it.
            for name, value in 2 * [*values.items()]:
                self.controls[name].value = value
                self._limit()
        finally:
            self._held = False
        self._redraw()

    def restore(self, state: str) -> None:
        """Move the controls to a state as a link has it; what is none of it, or out of reach, is left as it is."""
        wished: dict[str, Any] = {}
        for name, text in re.findall(r"(\w+):(.*?)(?=,\w+:|$)", state):  # a text may hold commas
            with suppress(ValueError, KeyError):
                value = self.table[name].read(text)
                wished |= {} if self.table[name].problem(value) else {name: value}
        self.set(wished)

    def _limit(self) -> None:
        """Let the controls reach what the others leave them."""
        for name, limit in (self._limits(self.values) if self._limits else {}).items():
            field = self.controls[name]
            field.disabled = limit is None
            if limit is not None:
                least, most = limit
                field.min, field.max = min(least, field.max), most  # never crossed in between
                field.min = least

    def _look(self) -> Shown:
        try:
            return self._draw(**self.values)
        except (ValueError, ConvlabError) as problem:
            return _message(str(problem))

    def _redraw(self, _change: object = None) -> None:
        # JupyterLab keeps a slider's next value back until the kernel is done with the one before, so a fast
        # hand skips values instead of queuing pictures.
        if self._held:
            return
        self._held = True  # limits may move further controls
        try:
            self._limit()
        finally:
            self._held = False
        self.view = self._look()
        with self._grid.hold_sync():
            self._grid.picture, self._grid.state = self.view.live, self.state

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Offer the live explorer, and to pages that have no widget manager the picture alone."""
        live: dict[str, Any] = super()._repr_mimebundle_(**options)
        still: dict[str, str] = self.view.still
        return live | still


def _message(words: str) -> View:
    """Say in words why there is no picture, and what to do."""
    fact, *rest = words.split("\n")
    fixes = [line.partition("Fix: ")[2] for line in rest if "Fix: " in line]
    fact = " ".join([fact, *(fix[:1].upper() + fix[1:] for fix in fixes)])
    panel = Panel(name="message", title="", rows=0, cols=0, labels=(), message=fact)
    return View(title="There is no picture of this", alt=fact, panels=[panel])
