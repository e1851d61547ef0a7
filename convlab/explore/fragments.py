"""Explore the fragments of Tensor Core instructions: which lane holds which element."""

from __future__ import annotations

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer
from convlab.views.fragments import TYPES, Instruction
from convlab.views.fragments import fragments as draw
from convlab.views.view import View

__all__ = ["fragments"]

# Those that fit a screen with a number in each cell, as far as wmma's smallest allow.
_PRODUCTS: tuple[tuple[Instruction, str, str], ...] = (
    ("mma", "m16n8k16", "float16"),
    ("mma", "m16n8k8", "float16"),
    ("mma", "m16n8k16", "bfloat16"),
    ("mma", "m16n8k8", "tf32"),
    ("mma", "m16n8k4", "tf32"),
    ("mma", "m16n8k16", "int8"),
    ("mma", "m8n8k16", "int8"),
    ("mma", "m8n8k4", "float64"),
    ("mma", "m8n8k4", "float16"),
    ("wmma", "m16n16k16", "float16"),
    ("wmma", "m16n16k16", "bfloat16"),
    ("wmma", "m16n16k8", "tf32"),
)
_WORDS = {" ".join(product): f"{product[0]} {product[1]}, {TYPES[product[2]][1]}" for product in _PRODUCTS}
_CONTROLS: dict[str, Control] = {"product": Choice("Instruction", _WORDS), "lane": Range("Lane", 0, 31)}


def fragments(product: str = "mma m16n8k16 float16", lane: int = 5) -> Explorer:
    """Explore who holds what in a product of Tensor Cores, with controls for the instruction and for a lane.

    >>> explorer = fragments(lane=7)
    >>> explorer.controls["product"].value = "mma m8n8k4 float64"
    >>> explorer.view.captions[0]
    'Lane 7: a0 = A[1, 3]; b0 = B[3, 1]; d0 = D[1, 6]; d1 = D[1, 7].'

    Parameters: where the controls stand at first; ``product`` is an instruction, its shape and its type. Raises
    ``ValueError`` for a value that its control does not reach.
    """
    instead = "views.fragments(…) draws every shape that the emulator executes."
    return Explorer("explore.fragments", _CONTROLS, {"product": product, "lane": lane}, _draw, instead=instead)


def _draw(product: str, lane: int) -> View:
    name, shape, dtype = product.split()
    instruction: Instruction = "wmma" if name == "wmma" else "mma"
    return draw(shape, dtype, instruction, lane)
