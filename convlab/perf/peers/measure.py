"""Time a peer as our own methods are timed: checked first, cold in L2 on a GPU, the median of repeats."""

from __future__ import annotations

from typing import Any

from convlab.errors import ConvlabError, LaunchError
from convlab.perf.cpu_timing import sample_cpu
from convlab.perf.peers.adapter import Peer
from convlab.perf.stopwatch import REPEATS, Samples, sample
from convlab.perf.times import Time
from convlab.perf.trial import check, op_of

__all__ = ["measure_peer"]


def measure_peer(peer: Peer, spec: Any, dtype: str = "float32", repeats: int = REPEATS) -> tuple[Time, str]:
    """The time of a peer, and the name of the kernel that it chose, empty where that cannot be read; its note says it.

    >>> from convlab.perf.peers import peer
    >>> from convlab.spec import GemmSpec
    >>> time, kernel = measure_peer(peer("numpy"), GemmSpec(30, 20, 10))
    >>> time.kind, kernel
    ('measured', '')

    Raises ``LaunchError`` where the peer cannot be used here, or fails; ``ValueError`` for what it does not compute;
    ``ConvlabError`` where its output is wrong.
    """
    why = peer.available()
    if why:
        raise LaunchError(
            f"{peer.what} cannot be timed here. {why}\n  Fix: install what is missing, or leave {peer.name!r} out."
        )
    reason = peer.supports(spec, dtype)
    if reason:
        raise ValueError(f"{reason}\n  In: {spec!r}\n  Fix: choose another of convlab.perf.peers.peers().")
    try:
        return _measured(peer, spec, dtype, repeats)
    except ConvlabError:
        raise
    except Exception as error:  # every library has errors of its own
        said = str(error).partition("\n")[0]
        raise LaunchError(
            f"{peer.what} fails in {dtype}: {said}\n  In: {spec!r}\n  Fix: use smaller sizes, or leave it out."
        ) from error
    finally:
        peer.free()


def _measured(peer: Peer, spec: Any, dtype: str, repeats: int) -> tuple[Time, str]:
    prepared = peer.prepare(spec, dtype)
    check(peer.what, op_of(spec), spec, prepared.inputs, prepared(), products=peer.products)
    if prepared.watch is None:
        samples: Samples = sample_cpu(lambda: prepared.work(0), peer.name)
    else:
        samples = sample(prepared.work, prepared.sets, prepared.watch, repeats, prepared.during, peer.name)
    kernel = prepared.kernel()
    said = f"; by {kernel}" if kernel else f"; {prepared.unread}" * bool(prepared.unread)
    return samples.time(prepared.on, said), kernel
