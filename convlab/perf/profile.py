"""Profile methods: what they count, what bounds them, and how long they take, by whichever time there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from tqdm.auto import tqdm

from convlab.errors import LaunchError
from convlab.kernels.ladder import method as find_method
from convlab.kernels.method import Method
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.gpus import recognise
from convlab.perf.model import predict
from convlab.perf.profile_record import Profile
from convlab.perf.profile_table import Profiles, Refusal
from convlab.perf.stopwatch import PATIENCE
from convlab.perf.time import check_spec, time
from convlab.perf.work import Sample, work

__all__ = ["profile"]

Row = TypeVar("Row", Profile, Profile | Refusal)


@overload
def profile(
    spec: Any, method: str = "naive", device: str = "auto", gpu: str = "A100", sample: Sample = "auto"
) -> Profile: ...


@overload
def profile(
    spec: Any, method: Sequence[str], device: str = "auto", gpu: str = "A100", sample: Sample = "auto"
) -> Profiles: ...


def profile(
    spec: Any,
    method: str | Sequence[str] = "naive",
    device: str = "auto",
    gpu: str = "A100",
    sample: Sample = "auto",
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
        method: a name of the ladder, or several.
        device: as for `convlab.perf.time.time`, which gives the time: measured where there is a GPU, else recorded,
            else modelled. Reference methods are timed on this CPU, and have no counters.
        gpu: a name of `convlab.perf.gpus.GPUS`, for which occupancy and bytes of DRAM are modelled, unless the time was
            measured on another one that is in the table.
        sample: "auto" (big grids are counted on some blocks), a number of blocks, or False for all.

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
        return _all(spec, [method], _profile, device, record, sample)[0]
    if not isinstance(method, Sequence):
        raise ValueError(f"method={method!r} names no method.\n  Fix: give a name of cl.methods(), or a list of them.")
    found = _all(spec, method, _profile_or_refusal, device, record, sample)
    return Profiles(spec, next((each.gpu for each in found if isinstance(each, Profile) and each.work), record), found)


def _all(spec: Any, names: Sequence[str], one: Callable[..., Row], *how: Any) -> list[Row]:
    """One after the other, with a bar where that takes long."""
    methods = [find_method(name) for name in names]  # all of them, before the first takes its time
    return [
        one(spec, each, *how) for each in tqdm(methods, delay=PATIENCE, leave=False, unit="method", desc="profiling")
    ]


def _profile_or_refusal(spec: Any, record: Method, device: str, gpu: Gpu, sample: Sample) -> Profile | Refusal:
    try:
        return _profile(spec, record, device, gpu, sample)
    except LaunchError:  # of a device, which concerns the whole call
        raise
    except ValueError as error:
        return Refusal(record.name, record.supports(spec) or str(error).partition("\n")[0])


def _profile(spec: Any, record: Method, device: str, gpu: Gpu, sample: Sample) -> Profile:
    taken = time(spec, method=record.name, device=device, gpu=gpu.name)
    if record.plan is None or len(record.plan(spec).launches) < len(record.plan(spec).steps):
        return Profile(spec, record.name, gpu, taken)
    where = (recognise(taken.on) if taken.kind == "measured" else None) or gpu
    counted = work(spec, record.name, sample)
    prediction = predict(counted, where)
    known = prediction.time() if taken.kind == "modelled" else taken  # of the same sample as the counters
    return Profile(spec, record.name, where, known, counted, prediction)
