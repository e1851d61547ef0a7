"""Who does the work: a method of the ladder, the one that "auto" picks, or a peer."""

from __future__ import annotations

import difflib
from typing import Any

from convlab.executors import cuda
from convlab.kernels.choose import choose
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.perf.datasheet import Gpu
from convlab.perf.peers import Peer, peers
from convlab.perf.trial import op_of

__all__ = ["Candidate", "candidate", "refusal"]

Candidate = Method | Peer


def candidate(name: str, spec: Any, device: str, gpu: Gpu, dtype: str) -> Candidate:
    """Find a method or a peer by its name; "auto" is what the rules of `convlab.kernels.choose` pick for the spec.

    >>> from convlab.perf.gpus import gpu
    >>> from convlab.spec import GemmSpec
    >>> product, a100 = GemmSpec(64, 48, 32), gpu("A100")
    >>> [candidate(name, product, "auto", a100, "float32").name for name in ("gemm_tiled", "cublas", "auto")]
    ['gemm_tiled', 'cublas', 'gemm_warp']

    Parameters: ``gpu`` stands in where no GPU is at hand: "auto" picks nothing whose instructions it lacks; ``dtype``
    is the type that "auto" is asked for. Raises ``ValueError``, with the nearest name, when there is none.
    """
    if name == "auto":
        major, minor = gpu.compute_capability
        capability = cuda.capability() if cuda.available() else 10 * major + minor
        return choose(op_of(spec), spec, dtype, device, capability)
    known: dict[str, Candidate] = {each.name: each for each in (*methods(), *peers())}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"There is no method {name!r}.{guess}\n"
        "  Fix: give a name of cl.methods() or of convlab.perf.peers.peers(), or 'auto'."
    )


def refusal(who: Candidate, spec: Any, dtype: str) -> str | None:
    """``None`` where it does this, or the reason why not, as a sentence; a peer is asked for a type, too."""
    return who.supports(spec, dtype) if isinstance(who, Peer) else who.supports(spec)
