"""Shuts a program in: run as a script, it makes the walls, starts the program inside of them, and ends with it.

It stays outside as the guard. When the program has ended, or whoever started the guard is gone, nothing of the program
is left: neither a process nor a file. It knows nothing of convlab and imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import shutil
import signal
import stat
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["main"]

_NEW_MOUNT, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_DEATH_SIGNAL, _FILTER_CALLS, _ADOPT, _NO_NEW_PRIVILEGES = 1, 22, 36, 38  # of prctl
_INSIDE = 65534  # the user id inside a user namespace
_OLD = "/old"

_libc = ctypes.CDLL(None, use_errno=True)

Walls = Mapping[str, Any]


def main() -> int:
    """Run the program that the first argument, JSON, tells of; gives its exit code, 128 + n for a signal."""
    walls: Walls = json.loads(sys.argv[1])
    _do(_libc.prctl(_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    if walls["namespaces"]:
        _part(walls)
    else:
        _do(_libc.prctl(_ADOPT, 1, 0, 0, 0))  # what the program leaves behind becomes the guard's to wait for
    child = os.fork()
    if child == 0:
        _inside(walls)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    for standard in (0, 1):
        os.close(standard)  # so that the program's end is the end of its pipes
    _, status = os.waitpid(child, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    if not walls["namespaces"]:
        _clear(walls)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _inside(walls: Walls) -> None:
    """Go behind the walls and become the program; never returns."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.closerange(3, 256)  # what the guard keeps is no business of the program's
        os.setsid()
        if walls["namespaces"]:
            _furnish(walls)
        else:
            os.chroot(walls["root"])
        os.chdir(walls["scratch"])
        _limit(walls["limits"])
        _become(walls)
        os.execve(walls["command"][0], walls["command"], walls["environment"])
    except BaseException as error:  # whatever it is, nothing of the guard may go on in here
        os.write(2, f"sandbox: {error!r}\n".encode())
    os._exit(125)


def _part(walls: Walls) -> None:
    """Leave the machine's mounts, network, processes and shared memory."""
    kinds = _NEW_MOUNT | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET
    user, group = os.getuid(), os.getgid()
    own = walls["user"] is None  # nobody may set a user id here: a namespace with one user of its own does it
    _do(_libc.unshare(kinds | (_NEW_USER if own else 0)))
    if own:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{_INSIDE} {user} 1"),
            ("gid_map", f"{_INSIDE} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def _furnish(walls: Walls) -> None:
    """Make a root of nothing but what is shown, read-only, and an empty scratch folder in memory."""
    _mount("none", "/", flags=_RECURSIVE | _PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _NO_SUID | _NO_DEV, "size=4m,mode=755")
    os.mkdir(f"/tmp{_OLD}")
    _do(_libc.pivot_root(b"/tmp", f"/tmp{_OLD}".encode()))
    os.chdir("/")
    emptied = set(walls["emptied"])
    for path in sorted([*walls["shown"], *emptied], key=lambda each: each.count("/")):  # what holds others first
        _empty(path) if path in emptied else _show(path)
    for path in ("/dev/null", "/dev/urandom"):
        _bind(path, path)
    scratch, size = walls["scratch"], walls["limits"]["scratch"]
    os.mkdir(scratch)
    _mount("tmpfs", scratch, "tmpfs", _NO_SUID | _NO_DEV | _NO_EXEC, f"size={size},nr_inodes=256,mode=700")
    if walls["user"] is not None:
        os.chown(scratch, walls["user"], walls["user"])
    _do(_libc.umount2(_OLD.encode(), _DETACH))
    os.rmdir(_OLD)
    for place in ("/", *emptied):
        _mount("none", place, flags=_REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEV)


def _show(path: str) -> None:
    """Let one file, folder or link of the machine be seen in its place."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    if os.path.islink(_OLD + path):
        with suppress(FileExistsError):
            os.symlink(os.readlink(_OLD + path), path)
    elif os.path.exists(_OLD + path):
        _bind(path, path)


def _empty(place: str) -> None:
    _mount("tmpfs", place, "tmpfs", _NO_SUID | _NO_DEV, "size=1m,mode=755")


def _bind(source: str, place: str) -> None:
    old = _OLD + source
    if os.path.isdir(old):
        os.makedirs(place, mode=0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o444))
    _mount(old, place, flags=_BIND)
    flags = os.statvfs(place).f_flag & _NO_EXEC  # which an outer wall may have set, and nobody may take away
    device = 0 if stat.S_ISCHR(os.stat(place).st_mode) else _NO_DEV
    _mount("none", place, flags=_REMOUNT | _BIND | _READ_ONLY | _NO_SUID | device | flags)


def _limit(limits: Mapping[str, int]) -> None:
    """Set limits that are inherited, and that nobody inside can raise."""
    for name, most in {
        "AS": limits["memory"],
        "FSIZE": limits["file"],
        "NPROC": limits["processes"],
        "CPU": limits["seconds"],
        "NOFILE": 256,
        "CORE": 0,
        "MSGQUEUE": 0,
        "MEMLOCK": 0,
    }.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))


def _become(walls: Walls) -> None:
    """Take on a user id that owns nothing, for good."""
    if (user := walls["user"]) is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _do(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _forbid()
    _do(_libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))  # after the user id: changing that forgets it


def _forbid() -> None:
    """Have the kernel refuse the system calls that no answer needs; in a folder, this is what keeps the network out.

    The filter is a program for the kernel's packet filter: it looks at the processor that the call is made for, then
    at the call's number. Numbers from 2^30 on are the same calls under other names.
    """
    processor, calls = _FORBIDDEN[platform.machine()]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    end = len(calls) + 5  # the step that refuses
    steps = [(load, 0, 0, 4), (equal, 0, end - 2, processor), (load, 0, 0, 0), (at_least, end - 4, 0, 1 << 30)]
    steps += [(equal, end - 1 - at, 0, number) for at, number in enumerate(calls, start=4)]
    steps += [(give, 0, 0, _ALLOW), (give, 0, 0, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    _do(_libc.prctl(_FILTER_CALLS, 2, struct.pack("HP", len(steps), ctypes.addressof(code)), 0, 0))


# By the processor: its number, and those of socket, ptrace, mount, unshare, setns, memfd_create, shmget, semget,
# msgget, keyctl, add_key, bpf, perf_event_open, userfaultfd, process_vm_readv, process_vm_writev, io_uring_setup.
_FORBIDDEN = {
    "x86_64": (0xC000003E, (41, 101, 165, 272, 308, 319, 29, 64, 68, 250, 248, 321, 298, 323, 310, 311, 425)),
    "aarch64": (0xC00000B7, (198, 117, 40, 97, 268, 279, 194, 190, 186, 219, 217, 280, 241, 282, 270, 271, 425)),
}
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


def _clear(walls: Walls) -> None:
    """End every process of the program's user at once, wait for the last of them, and empty the scratch folder."""
    killer = os.fork()
    if killer == 0:
        try:
            os.setresuid(walls["user"], walls["user"], walls["user"])
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    scratch = walls["root"] + walls["scratch"]
    for name in os.listdir(scratch):
        path = os.path.join(scratch, name)
        (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.remove)(path)


def _mount(source: str, place: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = (source, place, kind, options)
    source_, place_, kind_, options_ = (ctypes.c_char_p(text.encode() if text else None) for text in texts)
    _do(_libc.mount(source_, place_, kind_, ctypes.c_ulong(flags), options_), place)


def _do(result: int, about: str = "") -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about)


if __name__ == "__main__":
    sys.exit(main())
