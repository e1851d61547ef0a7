"""Hostile answers in Python to 01-one-output: what they try, their texts, and the status that each must get."""

from __future__ import annotations

import textwrap

__all__ = ["PYTHON"]

HEAD = "def one_output(x, w, bias, k, p, q):\n"

# Marks that answers leave where they can; nobody else uses the name.
MARK = "convlab_was_here"

_INSIDE = {  # the body of the function
    "loops for ever": ("timeout", "while True: pass"),
    "catches what would stop it": (
        "timeout",
        """
        while True:
            try:
                while True: pass
            except BaseException:
                pass
        """,
    ),
    "sleeps": ("timeout", "import time; time.sleep(1e6)"),
    "hangs inside of C": ("timeout", "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')"),
    "computes a number that is too long": ("timeout", "return len(str(7 ** (10 ** 8)))"),
    "prints for ever": ("timeout", "while True: print('x' * 1000)"),
    "ignores signals": (
        "timeout",
        """
        import signal
        for each in range(1, 32):
            try:
                signal.signal(each, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True: pass
        """,
    ),
    "forks for ever": ("forbidden", "import os\nwhile True: os.fork()"),
    "forks unseen": (
        "error",
        """
        import _posixsubprocess, os
        a, b = os.pipe()
        while True:
            _posixsubprocess.fork_exec(
                [b"sleep", b"1000"], [b"/bin/sleep", b"/usr/bin/sleep"], True, (), None, None,
                -1, -1, -1, -1, -1, -1, a, b, True, True, 0, None, None, None, -1, None, True,
            )
        """,
    ),
    "starts threads for ever": (
        "error",
        """
        import threading, time
        while True: threading.Thread(target=time.sleep, args=(1000,)).start()
        """,
    ),
    "leaves a thread": (
        "error",
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); return 0.0",
    ),
    "leaves a child": (
        "forbidden",
        "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True); return 0.0",
    ),
    "runs a shell": ("forbidden", f"import os; os.system('touch /tmp/{MARK}'); return 0.0"),
    "becomes another program": ("forbidden", "import os; os.execv('/bin/true', ['true'])"),
    "fills the memory": ("out_of_memory", "rows = []\nwhile True: rows.append(bytearray(1 << 24))"),
    "asks for a huge array": ("out_of_memory", "return np.ones((1 << 37,))"),
    "fills the disk with one file": (
        "error",
        """
        with open("big", "wb") as file:
            while True: file.write(bytes(1 << 24))
        """,
    ),
    "fills the disk with many files": (
        "error",
        """
        number = 0
        while True:
            number += 1
            with open(str(number), "w") as file: file.write("x" * 1000)
        """,
    ),
    "fills memory that has no name": (
        "error",
        """
        import os
        while True:
            file = os.memfd_create("big")
            for _ in range(16): os.write(file, bytes(1 << 20))
        """,
    ),
    "leaves memory to others": (
        "error",
        "from multiprocessing import shared_memory as m; m.SharedMemory('mine', True, 1 << 20)",
    ),
    "exits well": ("crashed", "import os; os._exit(0)"),
    "exits by an exception": ("error", "import sys; sys.exit(0)"),
    "aborts": ("crashed", "import os; os.abort()"),
    "crashes": ("crashed", "return np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 20,), (1 << 30,)).sum()"),
    "kills itself": ("forbidden", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
    "kills everybody": ("forbidden", "import os, signal; os.kill(-1, signal.SIGKILL)"),
    "hangs at its end": ("wrong", "import atexit, time; atexit.register(time.sleep, 1000); return 0.0"),
    "patches numpy.testing": (
        "wrong",
        "np.testing.assert_allclose = np.testing.assert_array_equal = lambda *a, **k: None; return 0.0",
    ),
    "patches comparisons": ("wrong", "np.allclose = np.isclose = np.array_equal = lambda *a, **k: True; return 0.0"),
    "patches builtins": (
        "wrong",
        "import builtins; builtins.abs = lambda x: 0; builtins.all = lambda x: True; return 0.0",
    ),
    "patches the type of things": ("crashed", "import builtins; builtins.isinstance = lambda *a: True; return 'right'"),
    "patches the guard": (
        "wrong",
        """
        from convlab.checker import guard
        guard.call_here = lambda *a: guard.Outcome("returned", 0.0)
        return 0.0
        """,
    ),
    "patches sys.modules": (
        "wrong",
        """
        import sys, types
        fake = types.ModuleType("convlab.checker.compare")
        fake.compare = lambda *a: None
        sys.modules["convlab.checker.compare"] = sys.modules["numpy.testing"] = fake
        return 0.0
        """,
    ),
    "hooks imports": (
        "wrong",
        """
        import sys
        class Finder:
            def find_spec(self, *a, **k): return None
        sys.meta_path.insert(0, Finder()); sys.path.insert(0, "/tmp"); sys.path_hooks.clear()
        return 0.0
        """,
    ),
    "is equal to everything": (
        "wrong",
        """
        class Equal(float):
            def __eq__(self, other): return True
            def __sub__(self, other): return self
            def __rsub__(self, other): return self
            def __abs__(self): return 0.0
            def __float__(self): return 0.0
            def __le__(self, other): return True
            def __array__(self, *a, **k): return np.float64(0)
        return Equal()
        """,
    ),
    "has a class that lies about its name": (
        "wrong",
        """
        class Meta(type):
            __name__ = property(lambda self: "float")
            def __instancecheck__(self, other): return True
        class Lie(metaclass=Meta):
            __class__ = float
        return Lie()
        """,
    ),
    "returns a subclass of ndarray": (
        "wrong",
        """
        class Liar(np.ndarray):
            def __array_ufunc__(self, *a, **k): return np.True_
            def __array_function__(self, *a, **k): return np.True_
            def astype(self, *a, **k): return self
        return np.zeros(()).view(Liar)
        """,
    ),
    "returns an array of objects": ("wrong", "return np.array(object(), dtype=object)"),
    "returns words": ("wrong", "return np.array('1.0')"),
    "returns not a number": ("wrong", "return float('nan')"),
    "returns infinity": ("wrong", "return float('inf')"),
    "returns too much": ("wrong", "return np.zeros(5_000_000)"),
    "returns what pretends to be too much": ("wrong", "return np.broadcast_to(np.zeros(()), (1 << 20, 1 << 20))"),
    "returns what breaks when pickled": (
        "wrong",
        f"""
        import os
        class Pickled:
            def __reduce__(self): return os.system, ("touch /tmp/{MARK}",)
        return Pickled()
        """,
    ),
    "reads a pickle": (
        "forbidden",
        f"import pickle; return pickle.loads(b\"cposix\\nsystem\\n(S'touch /tmp/{MARK}'\\ntR.\")",
    ),
    "leaves files with results": (
        "wrong",
        """
        for name in "result.json", "mark.json", "reply.npy", "results.csv":
            try:
                with open(name, "w") as file: file.write('{"status": "ok", "share": 1.0, "ready": true, "sizes": []}')
            except OSError:
                pass
        return 0.0
        """,
    ),
    "prints a forged result": (
        "wrong",
        """print('{"ended": "returned", "status": "ok", "share": 1.0, "sizes": []}'); return 0.0""",
    ),
    "writes a forged result to standard output": (
        "wrong",
        """
        import os
        for each in 0, 1, 2:
            os.write(each, b'{"ended": "returned", "status": "ok", "share": 1.0, "sizes": []}\\n')
        return 0.0
        """,
    ),
    "writes a forged result to all that is open": (
        "crashed",
        """
        import json, os
        about = {"ended": "returned", "sentence": "", "error": "", "changed": [], "memory": 0}
        about |= {"printed": "", "omitted": 0, "result": {"type": "Forged"}, "status": "ok", "share": 1.0, "sizes": []}
        for each in range(3, 64):
            try:
                os.write(each, json.dumps(about).encode() + b"\\n")
            except OSError:
                pass
        return 0.0
        """,
    ),
    "writes nonsense to all that is open": (
        "crashed",
        """
        import os
        for each in range(3, 64):
            try:
                os.write(each, b'\\xff' * 100_000 + b'\\n')
            except OSError:
                pass
        return 0.0
        """,
    ),
    "closes all that is open": ("crashed", "import os; os.closerange(0, 256); return 0.0"),
    "reads the solutions": (
        "forbidden",
        """
        import pathlib, convlab
        return pathlib.Path(convlab.__file__).parents[1].joinpath("solutions", "01_loops.ipynb").read_text()
        """,
    ),
    "reads the tests": (
        "forbidden",
        """
        import os, convlab
        return os.listdir(os.path.join(os.path.dirname(convlab.__file__), "..", "tests"))
        """,
    ),
    "looks for solutions, tests and exercises unseen": (
        "wrong",
        """
        import os, convlab
        root = os.path.dirname(os.path.dirname(convlab.__file__))
        places = "solutions", "exercises", "tests", "notebooks", ".git", "convlab/checker/exercises", "convlab/kernels"
        if any(os.path.exists(os.path.join(root, each)) for each in places): os._exit(0)
        return 0.0
        """,
    ),
    "looks for the machine unseen": (
        "wrong",
        """
        import os
        places = "/proc/self", "/proc/1", "/etc/passwd", "/home", "/sys", "/dev/mem", "/var", "/bin/sh", "/usr/bin"
        if any(os.path.exists(each) for each in places): os._exit(0)
        return 0.0
        """,
    ),
    "reads the password file": ("forbidden", "return open('/etc/passwd').read()"),
    "reads the grader's memory": ("forbidden", "import os; return open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
    "reads the grader's command": ("forbidden", "return open('/proc/1/cmdline').read()"),
    "looks for the grader's objects": ("forbidden", "import gc; return len(gc.get_objects())"),
    "looks for other students' files": ("forbidden", "import os; return os.scandir('/tmp')"),
    "looks into the environment": (
        "wrong",
        "import os; return float(any('SEED' in name or 'TOKEN' in name for name in os.environ))",
    ),
    "writes outside of the scratch folder": ("forbidden", f"open('/tmp/{MARK}', 'w').write('x')"),
    "writes above the scratch folder": ("forbidden", f"open('../{MARK}', 'w').write('x')"),
    "writes unseen": ("error", f"import os; os.mkfifo('/{MARK}')"),
    "writes unseen to shared memory": ("error", f"import os; os.mkfifo('/dev/shm/{MARK}')"),
    "writes into the package": (
        "error",
        "import os, convlab; os.mkfifo(os.path.join(os.path.dirname(convlab.__file__), 'mine'))",
    ),
    "makes a link": ("forbidden", "import os; os.symlink('/etc/passwd', 'mine'); return open('mine').read()"),
    "uses the network": ("forbidden", "import socket; socket.create_connection(('127.0.0.1', 80), timeout=1)"),
    "uses the network at a lower level": (
        "forbidden",
        "import _socket; _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)",
    ),
    "asks for a name": ("forbidden", "import socket; socket.gethostbyname('localhost')"),
    "calls machine code": ("forbidden", "import ctypes; ctypes.CDLL(None).getpid()"),
    "traces the grader": ("forbidden", "import sys; sys.settrace(lambda *a: None)"),
    "watches the grader": ("forbidden", "import sys; sys.addaudithook(lambda *a: None)"),
    "uses the package's own convolution": (
        "forbidden",
        "import convlab; return convlab.conv2d(x[None], w)[0, k, p, q]",
    ),
    "uses the package's reference": ("forbidden", "from convlab.reference.direct import oracle; return 0.0"),
    "uses the oracle": (
        "forbidden",
        "from convlab.checker.exercises import EXERCISES; return EXERCISES['01-one-output'].oracle(x)",
    ),
    "uses another library's convolution": ("forbidden", "import scipy.signal; return 0.0"),
    "uses another library by a back door": (
        "forbidden",
        "import importlib; importlib.import_module('torch'); return 0.0",
    ),
    "raises a text with escapes": (
        "error",
        r"raise ValueError('\x1b[31m\x07\x1b]0;owned\x07<script>alert(1)</script>')",
    ),
    "raises an error that cannot be told": (
        "error",
        """
        class Untold(Exception):
            def __str__(self): raise Untold
            __repr__ = __str__
        raise Untold
        """,
    ),
    "returns a formula": ("wrong", """return type("=cmd|' /C calc'!A0", (), {})()"""),
    "finds the token of its request": (
        "crashed",
        """
        import json, os, sys
        frame, token = sys._getframe(), ""
        while frame is not None:
            request = frame.f_locals.get("request")
            token = request["token"] if isinstance(request, dict) else token
            frame = frame.f_back
        about = {"ended": "returned", "sentence": "", "error": "", "changed": [], "memory": 0}
        about |= {"printed": "", "omitted": 0}
        about |= {"result": {"type": "float"}, "status": "ok", "share": 1.0, "token": token, "sizes": []}
        forged = json.dumps(about)
        for each in range(3, 64):
            try:
                os.write(each, forged.encode() + b"\\n")
            except OSError:
                pass
        os._exit(0)
        """,
    ),
}

_WHOLE = {  # the whole cell
    "loops for ever when it is defined": ("timeout", "while True: pass"),
    "exits when it is defined": ("crashed", "import os; os._exit(0)"),
    "defines nothing": ("error", "x = 1"),
    "defines something else": ("error", "one_output = 3"),
    "has a signature that breaks": (
        "error",
        """
        class Broken:
            __signature__ = property(lambda self: 1 / 0)
            def __call__(self, *a): raise ValueError
        one_output = Broken()
        """,
    ),
    "is no Python": ("error", "def one_output(:"),
    "is too deep to be read": ("error", "one_output = " + "(" * 10_000 + ")" * 10_000),
    "has zero bytes": ("error", "one_output = '\0'"),
    "is too long": ("malformed", "#" * 300_000),
    "patches numpy before it is asked": (
        "crashed",
        "np.asarray = np.array = lambda *a, **k: None\ndef one_output(*a): return 0.0",
    ),
    "is called by other names": ("error", "def one_output(): return 0.0"),
}

PYTHON = {
    name: (status, HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    "))
    for name, (status, body) in _INSIDE.items()
} | {name: (status, textwrap.dedent(text).strip()) for name, (status, text) in _WHOLE.items()}
