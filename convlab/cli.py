"""The ``convlab`` command: a table of sub-commands, each with its options, an example and what it runs."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from convlab.errors import ConvlabError

__all__ = ["main"]


@dataclass(frozen=True)
class Command:
    """One sub-command; ``run`` gets the parsed options and the arguments that the parser does not know."""

    name: str
    summary: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, list[str]], int]
    forwards: bool = False  # whether unknown options go on to another program


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["doktor"])
    2
    """
    _print_any_path()
    try:
        return _obey(list(sys.argv[1:] if argv is None else argv))
    finally:
        _let_the_reader_leave()


def _obey(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-") and arguments[0] not in _BY_NAME:
        return _fail(_unknown(arguments[0]))
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = _BY_NAME[options.command]
    if rest and not command.forwards:
        return _fail(f"convlab {command.name} does not know {rest[0]}. Try: convlab {command.name} --help")
    try:
        return command.run(options, rest)
    except (ConvlabError, ValueError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130


def _fail(message: str) -> int:
    print(f"convlab: {message}", file=sys.stderr)
    return 2


def _let_the_reader_leave() -> None:
    """Print what is left; where nobody reads it any more, as after ``| head``, that is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_any_path() -> None:
    """Let a console that lacks a path's letters show a stand-in for them instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, _BY_NAME, n=1)
    hint = f"Did you mean convlab {close[0]}?" if close else f"The commands are {', '.join(_BY_NAME)}."
    return f"there is no command {name!r}. {hint}"


def _parser() -> argparse.ArgumentParser:
    width = max(len(command.example) for command in _COMMANDS) + 4
    examples = "\n".join(f"  {command.example:{width}}{command.summary}" for command in _COMMANDS)
    parser = argparse.ArgumentParser(
        prog="convlab",
        description="An interactive course on how a GPU executes neural-network convolution.",
        epilog=f"examples:\n{examples}\n\nconvlab COMMAND --help says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"convlab {version('convlab')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in _COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"example: {command.example}",
            allow_abbrev=False,
        )
        command.options(sub)
    return parser


def _lab_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "convlab lab [-h] [--folder DIR] [--lesson NN] [JupyterLab's options, such as --port 9000]"
    parser.add_argument("--folder", metavar="DIR", help="your working copy (default: my-convlab, here)")
    parser.add_argument("--lesson", metavar="NN", default="00", help="the lesson to open (default: 00)")


def _lab(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.lab import server

    return server.start(options.folder, options.lesson, [part for part in rest if part != "--"])


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings for a program to read")


def _doctor(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import doctor

    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # as convlab lab has it: the same kernel is found
    findings = doctor.examine()
    print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings) else 1


_ARRAYS = """\
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


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_ARRAYS}"
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
    how.add_argument("--shared", metavar="BYTES", type=_count, default=0, help="dynamic shared memory of a block")
    how.add_argument(
        "--device", default="auto", choices=("auto", "emulator", "cuda"), help="default: a GPU, if there is one"
    )
    how.add_argument("--no-observe", dest="observe", action="store_false", help="do not count: faster")
    how.add_argument("--budget", metavar="N", type=_count, help="instructions after which a loop counts as endless")
    how.add_argument("--seed", metavar="N", type=_count, default=0, help="of the random arrays (default: 0)")
    how.add_argument("--order-seed", metavar="N", type=_count, help="vary the order of warps, to show a race's effect")
    how.add_argument("--caches", action="store_true", help="also model the traffic of L1, L2 and DRAM of an A100")
    how.add_argument("--sample", metavar="N", type=_count, help="run only N blocks and scale the counters")


def _count(text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def _run(options: argparse.Namespace, rest: list[str]) -> int:
    try:
        from convlab import runner

        text, code = runner.run(options)
    except KeyboardInterrupt:
        print("convlab: stopped by Ctrl-C.", file=sys.stderr)
        return 130
    except MemoryError as error:
        return _fail(f"the memory is full. {error}\n  Fix: use smaller arrays, or a smaller grid.")
    with suppress(BrokenPipeError):
        print(text)
    return code


_PROFILES = """\
more examples:
  convlab profile 1,64,56,56 --filters 64,3,3 --padding 1 --method naive --method tiled
  convlab profile 32,32,112,112 --filters 32,3,3 --padding same --groups 32 --method depthwise --gpu T4
  convlab profile 1,3,224,224 --filters 64,7,7 --stride 2 --padding 3 --method tiled --plot roof.svg
  convlab profile 1,64,56,56 --filters 64,3,3 --method winograd --json | jq .methods[0].time
  convlab profile --net resnet50 --gpu A100 --csv layers.csv --plot layers.svg
  convlab profile --net mine.onnx --method implicit_gemm --method winograd

A time is measured where there is a GPU, else recorded, else modelled, and says which.
cl.methods() lists the methods; cl.profile(spec, method=…) takes those of other operations, too."""


def _profile_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_PROFILES}"
    parser.add_argument("input", metavar="INPUT", nargs="?", help="the input's sizes N,C,H,W: 1,64,56,56")
    parser.add_argument("--filters", metavar="K,R,S", help="how many filters, their height and width")
    parser.add_argument("--stride", metavar="U", default="1", help="one number, or vertical,horizontal (default: 1)")
    parser.add_argument(
        "--padding", metavar="P", default="0", help="one, two or four numbers, same, or valid (default: 0)"
    )
    parser.add_argument("--dilation", metavar="D", default="1", help="one number, or two (default: 1)")
    parser.add_argument("--groups", metavar="G", type=_count, default=1, help="default: 1")
    parser.add_argument(
        "--method",
        metavar="NAME",
        action="append",
        default=[],
        help="of the ladder, of a peer such as cudnn, or auto (default: naive; of a network auto); repeat to compare",
    )
    parser.add_argument(
        "--dtype",
        default="float32",
        choices=("float32", "float16", "bfloat16", "float64"),
        help="of the inputs, for auto, peers and references; a kernel has its own (default: float32)",
    )
    parser.add_argument(
        "--gpu", metavar="NAME", default="A100", help="whose limits hold, such as H100 or T4 (default: A100)"
    )
    parser.add_argument(
        "--device", default="auto", choices=("auto", "cuda", "cpu"), help="cuda to insist on a time measured on a GPU"
    )
    parser.add_argument(
        "--sample", metavar="N", help="blocks to count on: a number, all, or auto (default: auto, 4 of a network)"
    )
    net = parser.add_argument_group("a whole network, layer by layer, in place of INPUT")
    net.add_argument("--net", metavar="NAME", help="resnet50, mobilenet_v2 …, or a file of ONNX")
    net.add_argument("--batch", metavar="N", type=_count, default=1, help="how many images (default: 1)")
    net.add_argument("--csv", metavar="FILE", help="write a row for each layer")
    out = parser.add_argument_group("results")
    out.add_argument("--json", action="store_true", help="print everything as one JSON document")
    out.add_argument(
        "--plot", metavar="FILE", help="draw the roofline, or bars of layers, into a .svg, .png or .pdf file"
    )
    out.add_argument(
        "--level",
        default="dram",
        choices=("compulsory", "dram", "l2", "l1"),
        help="whose bytes the roofline is about (default: dram)",
    )


def _profile(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import profiler

    text = profiler.run(options)
    with suppress(BrokenPipeError):
        print(text)
    return 0


_RESULTS = """\
more examples:
  convlab bench --gpu H200 --layer "3×3 64→64"
  convlab bench --layer 112² --plot layer.svg
  convlab bench --folder results --json

Results are recorded by benchmarks/gpu.py, in a clone of convlab, on a machine with an NVIDIA GPU."""


def _bench_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_RESULTS}"
    parser.add_argument("--gpu", metavar="NAME", help="only GPUs whose name has this part")
    parser.add_argument("--layer", metavar="NAME", help="only layers whose name has this part")
    parser.add_argument("--folder", metavar="DIR", help="where the results are (default: those that come with convlab)")
    parser.add_argument("--plot", metavar="FILE", help="draw the first of the layers into a .svg, .png or .pdf file")
    parser.add_argument("--json", action="store_true", help="print the results for a program to read")


def _bench(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import bench

    text = bench.run(options)
    with suppress(BrokenPipeError):
        print(text)
    return 0


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", type=Path, help="a notebook that has been run")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the page (default: the notebook's name with .html)")


def _export(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.lab.export import export

    print(export(options.notebook, options.out))
    return 0


def _check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", help="an exercise notebook, filled in")


def _check(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.checker import notebook

    report = notebook.check_notebook(options.notebook)
    print(report)
    return 0 if report.passed else 1


def _selftest_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds", metavar="N", type=_count, default=1, help="on the data of so many seeds (default: 1)"
    )


def _selftest(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.checker import EXERCISES
    from convlab.checker.selftest import selftest
    from convlab.grader import cheats

    problems = selftest(range(1, max(1, options.seeds) + 1))
    walls, found = cheats.tried()
    for problem in [*problems, *found]:
        print(problem)
    mutants = sum(len(record.mutants) for record in EXERCISES.values())
    count = len(problems) + len(found)
    print(f"{len(EXERCISES)} exercises, {mutants} mutants, {walls}: {count or 'no'} problems")
    return 1 if count else 0


_GRADING = """\
SUBMISSIONS is a notebook, a folder of them (loose, in folders of students, or as nbgrader collects them),
or the zip that Canvas or Moodle gives. It is only read; nothing is unpacked.

DIR gets summary.html, marks.csv, canvas.csv, moodle/, gradescope/, feedback/ (a page for each student),
similarity.csv, results/, seed (keep it secret), and overrides.csv, where you set points by hand.

The same command again goes on where a run was stopped, and only writes the reports anew where all is graded.

exit code: 0; 1 where a submission needs a human (summary.html lists them); 2 where it cannot begin; 130 after Ctrl-C.

more examples:
  convlab grade submissions.zip --out graded --course course.toml --jobs 8
  convlab grade submitted/ --out graded --seed-file ~/seeds/spring --dask tcp://10.0.0.1:8786"""


def _grade_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_GRADING}"
    parser.add_argument("submissions", metavar="SUBMISSIONS", type=Path, help="what was handed in")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder of results and reports")
    parser.add_argument("--course", metavar="FILE", type=Path, help="a TOML file: exercises, points, due dates")
    parser.add_argument(
        "--seed-file", metavar="FILE", type=Path, help="the hidden seed; made if missing (default: DIR/seed)"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=_count, default=os.cpu_count() or 1, help="how many at once (default: %(default)s)"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="judge on a Dask cluster instead (needs convlab[dask])")
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="run answers unprotected where no isolation works; only for your own",
    )


def _grade(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab.grader import grading

    wanted = grading.Grading(
        options.submissions,
        options.out,
        options.seed_file,
        max(1, options.jobs),
        options.course,
        options.dask,
        options.no_isolation,
    )
    try:
        asked = grading.run(wanted)
    except KeyboardInterrupt:
        print("\nStopped. What is graded is kept: the same command goes on from there.", file=sys.stderr)
        return 130
    print(f"{options.out / 'summary.html'} says how it went; submissions that need a human: {asked or 'none'}.")
    return 1 if asked else 0


def _release_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is stale")


def _release(options: argparse.Namespace, rest: list[str]) -> int:
    from convlab import course
    from convlab.checker import release

    base = course.root()
    stale = release.release(base / "solutions", base / "exercises", check=options.check)
    for path in stale:
        print(path)
    return 1 if options.check and stale else 0


_COMMANDS = (
    Command(
        name="lab",
        summary="open the notebooks in JupyterLab",
        example="convlab lab --lesson 01",
        options=_lab_options,
        run=_lab,
        forwards=True,
    ),
    Command(
        name="doctor",
        summary="say what this machine has, and what it lacks",
        example="convlab doctor",
        options=_doctor_options,
        run=_doctor,
    ),
    Command(
        name="run",
        summary="run a kernel of any CUDA C file, and say what it did",
        example="convlab run twice.cu --grid 4 --block 32 --arg ones:f32:128",
        options=_run_options,
        run=_run,
    ),
    Command(
        name="profile",
        summary="say what bounds a method of the course, and how long it takes",
        example="convlab profile 1,64,56,56 --filters 64,3,3 --padding 1 --method tiled",
        options=_profile_options,
        run=_profile,
    ),
    Command(
        name="bench",
        summary="show the times that were recorded on GPUs",
        example="convlab bench --layer depthwise",
        options=_bench_options,
        run=_bench,
    ),
    Command(
        name="export",
        summary="make a page of a notebook whose pictures answer to the mouse without Jupyter",
        example="convlab export my-convlab/notebooks/01_inner_product_to_convolution.ipynb",
        options=_export_options,
        run=_export,
    ),
    Command(
        name="check",
        summary="check an exercise that you have filled in",
        example="convlab check my-convlab/exercises/01_loops.ipynb",
        options=_check_options,
        run=_check,
    ),
    Command(
        name="grade",
        summary="grade what students handed in, isolated, on hidden data, and write marks for an LMS",
        example="convlab grade submissions.zip --out graded",
        options=_grade_options,
        run=_grade,
    ),
    Command(
        name="selftest",
        summary="check the checks: answers pass, known mistakes are named, cheats earn nothing",
        example="convlab selftest --seeds 3",
        options=_selftest_options,
        run=_selftest,
    ),
    Command(
        name="release",
        summary="make the exercises from the solutions",
        example="convlab release --check",
        options=_release_options,
        run=_release,
    ),
)
_BY_NAME = {command.name: command for command in _COMMANDS}
