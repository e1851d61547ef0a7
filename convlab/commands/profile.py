"""``convlab profile``: profiles a method or a network."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from contextlib import suppress

from convlab.commands.command import Command, count

__all__ = ["COMMAND"]

_MORE = """\
more examples:
  convlab profile 1,64,56,56 --filters 64,3,3 --padding 1 --method naive --method tiled
  convlab profile 32,32,112,112 --filters 32,3,3 --padding same --groups 32 --method depthwise --gpu T4
  convlab profile 1,3,224,224 --filters 64,7,7 --stride 2 --padding 3 --method tiled --plot roof.svg
  convlab profile 1,64,56,56 --filters 64,3,3 --method winograd --json | jq .methods[0].time
  convlab profile --net resnet50 --gpu A100 --csv layers.csv --plot layers.svg
  convlab profile --net mine.onnx --method implicit_gemm --method winograd

A time is measured where there is a GPU, else recorded, else modelled, and says which.
cl.methods() lists the methods; cl.profile(spec, method=…) takes those of other operations, too."""


def _options(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = f"{parser.epilog}\n\n{_MORE}"
    parser.add_argument("input", metavar="INPUT", nargs="?", help="the input's sizes N,C,H,W: 1,64,56,56")
    parser.add_argument("--filters", metavar="K,R,S", help="how many filters, their height and width")
    parser.add_argument("--stride", metavar="U", default="1", help="one number, or vertical,horizontal (default: 1)")
    parser.add_argument(
        "--padding", metavar="P", default="0", help="one, two or four numbers, same, or valid (default: 0)"
    )
    parser.add_argument("--dilation", metavar="D", default="1", help="one number, or two (default: 1)")
    parser.add_argument("--groups", metavar="G", type=count, default=1, help="default: 1")
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
    net.add_argument("--batch", metavar="N", type=count, default=1, help="how many images (default: 1)")
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


def _run(options: Namespace, rest: list[str]) -> int:
    from convlab import profiler

    text = profiler.run(options)
    with suppress(BrokenPipeError):
        print(text)
    return 0


COMMAND = Command(
    name="profile",
    summary="say what bounds a method of the course, and how long it takes",
    example="convlab profile 1,64,56,56 --filters 64,3,3 --padding 1 --method tiled",
    options=_options,
    run=_run,
)
