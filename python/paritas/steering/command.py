"""`python -m paritas workspace`."""

import argparse
import sys
from typing import Optional, Sequence

from ..command_line import (
    DONE,
    NOT_WRITTEN,
    WRONG_COMMAND_LINE,
    WRONG_INPUT,
    fail,
    reads_output,
    write_output,
)
from ..convert.json_nodes import json_text
from .configured import INPUTS, read
from .places import SteeringError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas workspace",
        description="Builds a pyhf workspace from cabinetry's configuration file and the files it names.",
        epilog="Notes on what looks wrong go to standard error. Exit codes: 0 built; 2 wrong command line; "
        "3 wrong input; 5 output not written.",
    )
    add = parser.add_argument
    add("config", metavar="CONFIG", help="configuration file, YAML or JSON")
    add(
        "-o",
        "--output-file",
        metavar="FILE",
        default="-",
        help="file to write, whole or not at all (default: -, standard output)",
    )
    add(
        "--inputs",
        choices=INPUTS,
        default="auto",
        help="where templates come from: filled from ntuples, histograms in ROOT files, or saved in "
        "HistogramFolder (default: auto, which is ntuples if every sample has a Tree, else histograms)",
    )
    add(
        "--folder",
        metavar="DIR",
        default=".",
        help="folder where relative paths in CONFIG start (default: the current folder)",
    )
    add(
        "--save-templates",
        action="store_true",
        help="also write all templates into HistogramFolder, as cabinetry does",
    )
    add("--quiet", action="store_true", help="no notes on standard error")
    return parser


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Default: the process's arguments. Returns the exit code; a wrong command line ends in SystemExit(2)."""
    options = _parser().parse_args(argv)
    wrong = reads_output(options.output_file, options.config)
    if wrong:
        return fail("workspace", wrong, WRONG_COMMAND_LINE)
    try:
        made = read(options.config, inputs=options.inputs, folder=options.folder)
    except (SteeringError, ImportError, OSError) as error:
        text = str(error)
        named = options.config in text
        return fail("workspace", text if named else f"{options.config}: {text}", WRONG_INPUT)
    written = "the templates"
    try:
        if options.save_templates:
            made.save_templates()
        written = options.output_file
        write_output(json_text(made.spec), options.output_file)
    except SteeringError as error:
        return fail("workspace", str(error), WRONG_INPUT)
    except OSError as error:
        return fail("workspace", f"{written} cannot be written: {error}", NOT_WRITTEN)
    if not options.quiet:
        for note in made.notes:
            print(f"workspace: note: {note}", file=sys.stderr)
    return DONE
