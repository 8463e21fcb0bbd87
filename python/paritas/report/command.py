"""`python -m paritas report`: reads the command line, writes the page. Exit codes as the program's."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Optional, Sequence

from .._engine import DeviceUnavailable, Error
from .document import report

ANSWERED, NOT_CONVERGED, WRONG_COMMAND_LINE, WRONG_INPUT, NO_DEVICE, NOT_WRITTEN = range(6)


def _device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|(cuda|opencl|metal)(:\d+)?", name):
        raise argparse.ArgumentTypeError(
            f"{name!r}: there are auto, cpu, cuda, opencl, metal, the last three also with :INDEX"
        )
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas report",
        description="Fits a workspace and writes one HTML page that needs nothing else: verdict, limits, "
        "figures, tables, quality of the fits.",
    )
    parser.add_argument("workspace", help="pyhf JSON workspace; - for standard input")
    parser.add_argument(
        "--patch", action="append", default=[], metavar="FILE", help="JSON Patch to apply; may be repeated"
    )
    parser.add_argument("--patchset", metavar="FILE", help="patch set to take --patch-name from")
    parser.add_argument("--patch-name", metavar="NAME", help="patch of the patch set")
    parser.add_argument("--measurement", metavar="NAME", help="measurement (default: the first)")
    parser.add_argument("--poi", metavar="NAME", help="parameter of interest (default: the measurement's)")
    parser.add_argument(
        "--device",
        type=_device,
        default="cpu",
        help="auto, cpu, cuda, opencl or metal, the last three also with :INDEX (default: cpu)",
    )
    parser.add_argument("--precision", choices=("f64", "f32", "auto"), default="f64", help="default: f64")
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="page to write; - for standard output (default: report.html)",
    )
    return parser


def main(argv: Optional[Sequence[str]] = None) -> int:
    """0: written, every fit converged; 1: written, not every fit converged; 2: the command line is wrong; 3:
    the input is; 4: no such device; 5: not written."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    try:
        given = parser.parse_args(words)
        if (given.patchset is None) != (given.patch_name is None):
            parser.error("--patchset and --patch-name go together")
    except SystemExit as left:
        return int(left.code or 0)
    folder = os.path.dirname(os.path.abspath(given.output))
    if given.output != "-" and (os.path.isdir(given.output) or not os.access(folder, os.W_OK)):
        return _failed(f"{given.output} cannot be written", NOT_WRITTEN)
    try:
        page = report(
            given.workspace,
            given.patch,
            patchset=given.patchset,
            patch_name=given.patch_name,
            measurement=given.measurement,
            poi=given.poi,
            command=["python", "-m", "paritas", "report", *words],
            device=given.device,
            precision=given.precision,
        )
    except DeviceUnavailable as reason:
        return _failed(str(reason), NO_DEVICE)
    except Error as reason:
        return _failed(str(reason), WRONG_INPUT)
    except ImportError as reason:
        return _failed(str(reason), WRONG_COMMAND_LINE)
    try:
        if given.output == "-":
            sys.stdout.write(page.html)
            sys.stdout.flush()
        else:
            page.write(given.output)
    except OSError as reason:
        return _failed(f"{given.output} cannot be written: {reason.strerror}", NOT_WRITTEN)
    if not page.converged:
        return _failed("not every fit converged; the page says which", NOT_CONVERGED)
    return ANSWERED


def _failed(message: str, code: int) -> int:
    print(f"paritas report: {message}", file=sys.stderr)
    return code
