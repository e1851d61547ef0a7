"""A notebook as one HTML page whose pictures still answer to the mouse, with no kernel and no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from convlab.errors import ConvlabError
from convlab.views.widget import SCRIPT, STYLES

__all__ = ["PREPROCESSOR", "LivePictures", "export"]

PREPROCESSOR = f"{__name__}.LivePictures"  # as nbconvert's configuration names it
_WIDGET = "application/vnd.jupyter.widget-view+json"
_STATE = "application/vnd.jupyter.widget-state+json"
_PICTURE = 'class="cl-view'  # what every picture of ours has in its first tag


def export(notebook: Path, page: Path | None = None) -> Path:
    """Write a notebook that has been run as an HTML page, and give the page's path.

    Parameters: ``notebook``, an .ipynb file with its outputs; ``page``, where to write, beside it where None. Raises
    ``ConvlabError`` for a file that is not there or no notebook, and for a page that cannot be written.
    """
    target = page or notebook.with_suffix(".html")
    try:
        content = nbformat.read(notebook, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise ConvlabError(f"Cannot read {notebook} as a notebook: {error}.\n  Fix: name an .ipynb file.") from error
    name = {"metadata": {"name": notebook.stem}}
    body, _ = HTMLExporter(preprocessors=[LivePictures]).from_notebook_node(content, name)
    try:
        target.write_text(body, encoding="utf-8")
    except OSError as error:
        raise ConvlabError(f"Cannot write {target}: {error}.\n  Fix: name another file with --out.") from error
    return target


class LivePictures(Preprocessor):
    """Puts the pictures themselves in place of widgets, which need a widget manager from the network.

    A picture is the last that its widget showed, as far as the notebook has saved it, or else the one that was there
    when its cell ran.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change a notebook on its way to a page."""
        state = nb.metadata.get("widgets", {}).get(_STATE, {}).get("state", {})
        last = None
        for output in (output for cell in nb.cells for output in cell.get("outputs", []) if "data" in output):
            data, picture = output.data, _picture(output.data, state)
            if picture:
                output.data = nbformat.from_dict({"text/html": f'<div class="cl-export">{picture}</div>'})
                last = output
            elif len(data) > 1:
                data.pop(_WIDGET, None)  # it brings words along for pages without widgets
        if last is not None:
            last.data["text/html"] += _front_end()
        nb.metadata.pop("widgets", None)  # or the page would ask the network for the widget manager
        return nb, resources


def _picture(data: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """The SVG of an output, empty where it has none."""
    shown = _shown(data.get(_WIDGET, {}).get("model_id", ""), state) or data.get("image/svg+xml", "")
    svg = "".join(shown)  # nbformat keeps long texts as lists of lines
    return svg if _PICTURE in svg[:200] else ""


def _shown(model: str, state: Mapping[str, Any]) -> str:
    """The picture that a widget showed last, or one of those that it holds."""
    found = state.get(model, {}).get("state", {})
    inner = (_shown(child.removeprefix("IPY_MODEL_"), state) for child in found.get("children", []))
    return found.get("picture", "") or next(filter(None, inner), "")


def _front_end() -> str:
    start = 'for (const svg of document.querySelectorAll(".cl-export > svg")) enliven(svg);'
    style, script = (file.read_text(encoding="utf-8") for file in (STYLES, SCRIPT))
    return f'<style>{style}</style><script type="module">{script}{start}</script>'
