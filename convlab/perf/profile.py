"""Profile methods: what they count, what bounds them, and how long they take, by whichever time there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from tqdm.auto import tqdm

from convlab.errors import LaunchError
from convlab.perf.candidate import Candidate, candidate, refusal
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.gpus import recognise
from convlab.perf.model import TENSOR_TYPES, predict
from convlab.perf.peers import Peer
from convlab.perf.profile_record import Profile
from convlab.perf.profile_table import Profiles, Refusal
from convlab.perf.time import check_spec, time
from convlab.perf.work import Sample, work

__all__ = ["profile"]


@overload
def profile(
    spec: Any,
    method: str = "naive",
    device: str = "auto",
    gpu: str = "A100",
    sample: Sample = "auto",
    dtype: str = "float32",
) -> Profile: ...


@overload
def profile(
    spec: Any,
    method: Sequence[str],
    device: str = "auto",
    gpu: str = "A100",
    sample: Sample = "auto",
    dtype: str = "float32",
) -> Profiles: ...


def profile(
    spec: Any,
    method: str | Sequence[str] = "naive",
    device: str = "auto",
    gpu: str = "A100",
    sample: Sample = "auto",
    dtype: str = "float32",
) -> Profile | Profiles:
    """Say what a method does for a spec and how long it takes; of several methods, as a table with a roofline.

    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
    >>> naive = profile(spec, "naive")
    >>> naive.traffic["compulsory"], naive.traffic["l1"] > 50 * naive.traffic["compulsory"]
    (140288, True)
    >>> [each.method for each in profile(spec, ["naive", "tiled"])]
    ['naive', 'tiled']

    Args:
        spec: the sizes, of the methods' op.
        method: a name of the ladder, of a peer, or "auto", as for `convlab.perf.time.time`; or several. Peers and
            reference methods have a time, and no counters.
        device: as for `convlab.perf.time.time`, which gives the time: measured where there is a GPU, else recorded,
            else modelled.
        gpu: a name of `convlab.perf.gpus.GPUS`, for which occupancy and bytes of DRAM are modelled, unless the time was
            measured on another one that is in the table.
        sample: "auto" (big grids are counted on some blocks), a number of blocks, or False for all.
        dtype: as for `convlab.perf.time.time`.

    Returns:
        A `Profile`, or `Profiles` for several methods, in which one that cannot do it is a `Refusal` with the reason.

    Raises:
        ValueError: an unknown method or GPU, or neither a name nor names; something else than a spec; a method
            that does not support the spec, where ``method`` is one name.
        LaunchError: a device that is not there, or that a method does not run on.
    """
    check_spec(spec)
    record = find_gpu(gpu)
    if isinstance(method, str):
        return _profile(spec, candidate(method, spec, device, record, dtype), device, record, sample, dtype)
    if not isinstance(method, Sequence):
        raise ValueError(f"method={method!r} names no method.\n  Fix: give a name of cl.methods(), or a list of them.")
    everybody = [candidate(name, spec, device, record, dtype) for name in method]  # before the first takes its time
    found = [_profile_or_refusal(spec, each, device, record, sample, dtype) for each in _with_a_bar(everybody)]
    return Profiles(spec, next(filter(None, map(_own_gpu, found)), record), found)


def _with_a_bar(everybody: Sequence[Candidate]) -> Iterator[Candidate]:
    """One after the other, under a bar that names who is at work."""
    with tqdm(total=len(everybody), leave=False, unit="method") as bar:
        for each in everybody:
            bar.set_description(each.name)
            yield each
            bar.update()


def _own_gpu(row: Profile | Refusal) -> Gpu | None:
    """The GPU that a time is of, if it is of one that the table has."""
    return recognise(row.time.on) if isinstance(row, Profile) else None


def _profile_or_refusal(
    spec: Any, who: Candidate, device: str, gpu: Gpu, sample: Sample, dtype: str
) -> Profile | Refusal:
    try:
        return _profile(spec, who, device, gpu, sample, dtype)
    except ValueError as error:
        if isinstance(error, LaunchError) and device != "auto":  # of the device, which concerns the whole call
            raise
        return Refusal(who.name, refusal(who, spec, dtype) or str(error).partition("\n")[0])


def _profile(spec: Any, who: Candidate, device: str, gpu: Gpu, sample: Sample, dtype: str) -> Profile:
    taken = time(spec, method=who.name, device=device, gpu=gpu.name, dtype=dtype, sample=sample)
    where = (recognise(taken.on) if taken.kind == "measured" else None) or gpu
    if isinstance(who, Peer):
        return Profile(spec, who.name, where, taken, dtype=who.products or dtype)
    if who.plan is None or len(who.plan(spec).launches) < len(who.plan(spec).steps):
        return Profile(spec, who.name, where, taken)
    counted = work(spec, who.name, sample)
    prediction = predict(counted, where)
    products = TENSOR_TYPES.get(who.dtype, who.dtype) if counted.counters.tensor_flop else "float32"
    return Profile(spec, who.name, where, taken, counted, prediction, products)
