"""What people would use instead: other libraries, each optional and found at run time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from convlab.perf.peers.adapter import Peer, Prepared
from convlab.perf.peers.cublas import CUBLAS
from convlab.perf.peers.cudnn import CUDNN
from convlab.perf.peers.numpy_blas import NUMPY
from convlab.perf.peers.onnx_runtime import ONNX_RUNTIME
from convlab.perf.peers.torch_cpu import TORCH_CPU

__all__ = ["Peer", "Peers", "Prepared", "peer", "peers"]


class Peers(Sequence[Peer]):
    """Peers, and for those that cannot be used here the reason why; a notebook shows them as a table."""

    def __init__(self, records: Sequence[Peer]) -> None:
        self._records = tuple(records)

    def __getitem__(self, index: Any) -> Any:
        return Peers(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Peer]:
        return iter(self._records)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (each.name, each.what, "GPU" if each.device == "cuda" else "CPU", each.available() or "here")
            for each in self
        ]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        return "\n".join(
            " ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
        )

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        head = "".join(f"<th {left}>{name}</th>" for name in ("name", "what", "runs on", "available"))
        rows = "".join(
            "<tr>" + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


_PEERS = Peers((*CUDNN, CUBLAS, TORCH_CPU, ONNX_RUNTIME, NUMPY))


def peers() -> Peers:
    """All peers, those that are not installed too, with the reason why they cannot be used.

    >>> [each.name for each in peers() if each.device == "cpu"]
    ['torch_cpu', 'onnxruntime', 'numpy']
    """
    return _PEERS


def peer(name: str) -> Peer:
    """Look a peer up by its name.

    >>> peer("numpy").what
    "im2col and NumPy's matmul"

    Raises ``ValueError``, with the nearest name, when there is none.
    """
    for record in _PEERS:
        if record.name == name:
            return record
    near = difflib.get_close_matches(str(name), [each.name for each in _PEERS], n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"There is no peer {name!r}.{guess} The peers are: {', '.join(each.name for each in _PEERS)}.")
