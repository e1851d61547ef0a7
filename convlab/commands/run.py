"""``convlab run``: runs a kernel of any file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from contextlib import suppress

from convlab.commands.command import Command, count, fail

__all__ = ["COMMAND"]

_MORE = """\
arguments, one --arg for each parameter, in order, or by name (--arg n=7):
  3, 2.5, true                  a number, typed by the kernel's signature (--arg=-2 if negative)
  null                          a null pointer
  rand:f32:1,3,32,32            an array of that dtype and shape: floats in [-1, 1), small integers
  zeros:DTYPE:SHAPE             ones: and arange: likewise
  full:f32:4,32:0.5             all elements 0.5
  empty:f32:1024                never written: the emulator reports reads, and what stays unwritten
  x.npy, data.npz:key           an array from a file
dtypes: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 (bf16: its bits, as u16)

exit code: 0; 1 where the kernel has faults (everything is still printed and written);
2 for a mistake in the command or a file that cannot be written; 130 after Ctrl-C.

more examples:
  convlab run add.cu --grid 4 --block 256 --arg rand:f32:1000 --arg rand:f32:1000 \\
      --arg zeros:f32:1000 --arg 1000
  convlab run conv.cu --grid 2,2,8 --block 16x16 --arg rand:f32:1,3,32,32 --arg rand:f32:8,3,3,3 \\
      --arg y=empty:f32:1,8,30,30 --out y=y.npy
  convlab run sum.cu --entry sum --grid 1 --block 64 --arg x.npy --arg null --json | jq .faults
  convlab run scale.cu -DTILE=16 --grid 4 --block 64 --shared 1024 --arg data.npz:x --arg 0.5"""


def _options(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_MORE}"
    parser.add_argument("file", metavar="FILE", help="CUDA C (.cu), PTX (.ptx), or - for CUDA C from standard input")
    parser.add_argument("--entry", metavar="NAME", help="the kernel; needed where the file has several")
    parser.add_argument("--grid", metavar="G", required=True, help="blocks: 7, 7,2 or 7x2x1")
    parser.add_argument("--block", metavar="B", required=True, help="threads of a block, in the same way")
    parser.add_argument("--arg", metavar="A", action="append", default=[], help="an argument, see below; repeat it")
    out = parser.add_argument_group("results")
    out.add_argument(
        "--out",
        metavar="Y=Y.npy",
        action="append",
        default=[],
        help="write an array argument, by name or number; repeat it",
    )
    out.add_argument("--out-npz", metavar="ALL.npz", help="write all array arguments into one file")
    out.add_argument("--json", action="store_true", help="print everything as one JSON document")
    how = parser.add_argument_group("compiling and launching")
    how.add_argument("--arch", metavar="A", default="compute_80", help="the virtual architecture (default: compute_80)")
    how.add_argument(
        "-D", metavar="NAME=VALUE", dest="define", action="append", default=[], help="define a macro; repeat it"
    )
    how.add_argument(
        "--option", metavar="O", action="append", default=[], help="an option of NVRTC: --option=-use_fast_math"
    )
    how.add_argument("--shared", metavar="BYTES", type=count, default=0, help="dynamic shared memory of a block")
    how.add_argument(
        "--device", default="auto", choices=("auto", "emulator", "cuda"), help="default: a GPU, if there is one"
    )
    how.add_argument("--no-observe", dest="observe", action="store_false", help="do not count: faster")
    how.add_argument("--budget", metavar="N", type=count, help="instructions after which a loop counts as endless")
    how.add_argument("--seed", metavar="N", type=count, default=0, help="of the random arrays (default: 0)")
    how.add_argument("--order-seed", metavar="N", type=count, help="vary the order of warps, to show a race's effect")
    how.add_argument("--caches", action="store_true", help="also model the traffic of L1, L2 and DRAM of an A100")
    how.add_argument("--sample", metavar="N", type=count, help="run only N blocks and scale the counters")


def _run(options: Namespace, rest: list[str]) -> int:
    try:
        from convlab import runner

        text, code = runner.run(options)
    except KeyboardInterrupt:
        print("convlab: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    except MemoryError as error:
        return fail(f"the memory is full. {error}\n  Fix: use smaller arrays, or a smaller grid.")
    with suppress(BrokenPipeError):
        print(text)
    return code


COMMAND = Command(
    name="run",
    summary="run a kernel of any CUDA C file, and say what it did",
    example="convlab run twice.cu --grid 4 --block 32 --arg ones:f32:128",
    options=_options,
    run=_run,
)
