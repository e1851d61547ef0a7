"""What all explorers are: controls above a view, which is made anew whenever a control changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets
import traitlets

from convlab.explore.controls import GRID, with_slider
from convlab.views.view import View
from convlab.views.widget import LinkedGrid

__all__ = ["Explorer"]


class Explorer(widgets.VBox):  # type: ignore[misc]
    """A number field with a slider for each number, further controls, and the view that belongs to them.

    The controls can be read and set from Python too: ``numbers`` by name. ``view`` is the picture shown.
    """

    view = traitlets.Instance(View)

    def __init__(self, numbers: Mapping[str, widgets.BoundedIntText], others: Sequence[Any] = ()) -> None:
        self.numbers = numbers
        self.view = self.look()
        self._grid = LinkedGrid(self.view)
        fields = [with_slider(number) for number in numbers.values()]
        super().__init__([widgets.GridBox([*fields, *others], layout=GRID), self._grid])
        for control in (*numbers.values(), *others):
            control.observe(self._redraw, names="value")

    def look(self) -> View:
        """Make the view that belongs to the controls as they stand."""
        raise NotImplementedError

    def _redraw(self, _change: object) -> None:
        # JupyterLab keeps a slider's next value back until the kernel is done with the one before, so a fast
        # hand skips values instead of queuing pictures.
        self.view = self.look()
        self._grid.show(self.view)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Offer the live explorer, and to pages that have no widget manager the picture alone."""
        live: dict[str, Any] = super()._repr_mimebundle_(**options)
        return live | self.view.still
