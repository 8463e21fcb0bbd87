"""`python -m paritas report`."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Sequence

from ..command_line import add_card_options, write_page
from ..devices import ACCELERATORS
from .document import report

_DEVICES = f"auto, cpu, {', '.join(ACCELERATORS)}; an accelerator may have an :INDEX"


def _device(name: str) -> str:
    if not re.fullmatch(rf"auto|cpu|({'|'.join(ACCELERATORS)})(:\d+)?", name):
        raise argparse.ArgumentTypeError(f"{name!r}: there are {_DEVICES}")
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas report",
        description="Fits a workspace and writes one HTML page that needs no other file: verdict, limits, "
        "figures, tables, quality of the fits.",
    )
    add = parser.add_argument
    add("workspace", help="pyhf JSON workspace or CMS datacard; - for standard input")
    add(
        "--patch",
        dest="patches",
        action="append",
        default=[],
        metavar="FILE",
        help="JSON Patch to apply (repeatable)",
    )
    add("--patchset", metavar="FILE", help="patch set that has the patch of --patch-name")
    add("--patch-name", metavar="NAME", help="patch of the patch set to apply")
    add("--measurement", metavar="NAME", help="measurement (default: the first)")
    add("--poi", metavar="NAME", help="parameter of interest (default: the measurement's)")
    add(
        "--blind",
        action="append",
        default=[],
        metavar="CHANNEL",
        help="leave a channel out of the likelihood, and hide its data (repeatable)",
    )
    add_card_options(parser.add_argument_group("Datacards").add_argument)
    add(
        "--device",
        type=_device,
        default="cpu",
        help=f"where fits run: {_DEVICES} (default: cpu)",
    )
    add(
        "--precision",
        choices=("f64", "f32", "auto"),
        default="f64",
        help="precision of the fits (default: f64)",
    )
    add(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="page to write; - for standard output (default: report.html)",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code. 0: all fits converged; 1: not all; 2: wrong command line; 3: wrong input; 4: no
    such device; 5: not written."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    try:
        given = vars(parser.parse_args(words))
        if (given["patchset"] is None) != (given["patch_name"] is None):
            parser.error("--patchset and --patch-name go together")
    except SystemExit as left:
        return int(left.code or 0)
    output = given.pop("output")
    command = ["python", "-m", "paritas", "report", *words]
    doubt = "not every fit converged; the page says which"
    inputs = [given["workspace"], given["patchset"], *given["patches"]]
    return write_page("paritas report", output, lambda: report(**given, command=command), doubt, inputs)
