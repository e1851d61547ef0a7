"""A stand-in for PyTorch: tensors are NumPy's arrays, a GPU is a clock that convolutions move on."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

from convlab.reference.direct import oracle
from convlab.spec import ConvSpec

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}


class Tensor:
    def __init__(self, array, device="cpu", dtype="float32", form="rows"):
        self.array, self.device, self.dtype, self.form = array, device, dtype, form

    def to(self, device, dtype):
        return Tensor(self.array, device, dtype, self.form)

    def contiguous(self, memory_format="rows"):
        return Tensor(self.array, self.device, self.dtype, memory_format)

    def clone(self):
        return Tensor(self.array.copy(), self.device, self.dtype, self.form)

    def float(self):
        return Tensor(self.array, self.device, "float32", self.form)

    def cpu(self):
        return Tensor(self.array, "cpu", self.dtype, self.form)

    def numpy(self):
        assert (self.device, self.form) == ("cpu", "rows")
        return self.array

    def element_size(self):
        return SIZES[self.dtype]

    def numel(self):
        return self.array.size


class Torch:
    float32, float16, bfloat16 = SIZES
    channels_last, contiguous_format = "channels last", "rows"

    def __init__(self, milliseconds=1.0, found=True):
        self.milliseconds, self.now, self.calls, self.noise, self.emptied = milliseconds, 0.0, [], 0.0, 0
        self.backends = SimpleNamespace(
            cudnn=SimpleNamespace(is_available=lambda: True, benchmark="the user's", allow_tf32="the user's")
        )
        self.cuda = SimpleNamespace(
            is_available=lambda: found,
            Event=self.event,
            CUDAGraph=self.graph,
            graph=nullcontext,
            synchronize=lambda: None,
            empty_cache=self.empty,
        )
        self.nn = SimpleNamespace(functional=SimpleNamespace(conv2d=self.conv2d))
        self.profiler = SimpleNamespace(ProfilerActivity=SimpleNamespace(CPU="cpu", CUDA="cuda"), profile=self.profile)
        self.inference_mode = nullcontext

    def empty(self):
        self.emptied += 1

    def from_numpy(self, array):
        return Tensor(array)

    def matmul(self, a, b):
        return Tensor(a.array @ b.array)

    def conv2d(self, x, w, bias, stride, padding, dilation, groups):
        (n, c, h, width), (k, _, r, s) = x.array.shape, w.array.shape
        spec = ConvSpec(n, c, h, width, k, r, s, stride, padding, dilation, groups)
        settings = self.backends.cudnn
        self.calls.append((id(x.array), x.device, x.dtype, x.form, w.form, settings.benchmark, settings.allow_tf32))
        self.now += self.milliseconds
        y = oracle(x.array, w.array, bias, spec) + self.noise
        return Tensor(y.astype("f4"), x.device, x.dtype, x.form)

    def event(self, enable_timing):
        assert enable_timing
        event = SimpleNamespace(at=None, query=lambda: True)
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda end: end.at - event.at
        return event

    def graph(self):
        return SimpleNamespace(replay=lambda: setattr(self, "now", self.now + 1.0))

    @contextmanager
    def profile(self, activities):
        assert activities == ["cpu", "cuda"]
        before = len(self.calls)

        def event(name, device, microseconds):
            time_range = SimpleNamespace(elapsed_us=lambda: microseconds)
            return SimpleNamespace(name=name, device_type=f"DeviceType.{device}", time_range=time_range)

        events = [
            event("aten::conv2d", "CPU", 900),
            event("transform", "CUDA", 5),
            event("Memset (Device)", "CUDA", 7),
            event("implicit_convolve_sgemm", "CUDA", 50),
            event("transform", "CUDA", 5),
        ]
        yield SimpleNamespace(events=lambda: events if len(self.calls) > before else [])
