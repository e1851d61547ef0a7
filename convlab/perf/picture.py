"""A drawn figure with words that say what it shows."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["Picture", "form_of"]

MIME = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A figure, and what it shows in full sentences; a notebook shows it as ``form``: photos are smaller as "png"."""

    figure: Figure
    alt: str
    form: str = "svg"

    def image(self, form: str = "svg") -> bytes:
        """The picture as "svg", "png" or "pdf"."""
        buffer = io.BytesIO()
        self.figure.savefig(
            buffer, format=form, dpi=110, bbox_inches="tight", metadata={"Date": None} if form == "svg" else None
        )
        return buffer.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the picture into a file, whose name ends in .svg, .png or .pdf; raises ``ValueError`` for others."""
        Path(path).write_bytes(self.image(form_of(path)))

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.image(self.form)).decode("ascii")
        return f'<img src="data:{MIME[self.form]};base64,{data}" alt="{escape(self.alt)}" style="max-width: 100%">'


def form_of(path: str | Path) -> str:
    """The kind of picture that a file's name asks for: "svg", "png" or "pdf"; raises ``ValueError`` for others."""
    form = Path(path).suffix[1:].lower()
    if form not in MIME:
        raise ValueError(f"{str(path)!r} names no kind of picture.\n  Fix: end the name in .svg, .png or .pdf.")
    return form
