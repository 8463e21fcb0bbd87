"""`python -m paritas moon`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Sequence

from .._engine import InvalidArgument
from ..command_line import DONE, NOT_WRITTEN, WRONG_COMMAND_LINE, fail, write_page
from ..losscone.averages import ORBIT, blocks_of
from ..losscone.geography import EqualAreaGrid
from ..losscone.spherical import spherical_functions
from ..losscone.tables import table_names
from .moon import PLASMAS, MoonPage, moon_report, summary_of


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas moon",
        description="Makes one HTML page from the tables of `paritas losscone fit`. It shows surface "
        "potentials as maps and spherical harmonics, over the terminator, by plasma region and over time.",
    )
    add = parser.add_argument
    add("folder", metavar="DIR", help="folder of tables losscone_YYYY-MM-DD.csv, or one table")
    add(
        "-o",
        "--output",
        default="moon.html",
        metavar="FILE",
        help="page to write; - for standard output (default: moon.html)",
    )
    add("--tables", metavar="FOLDER", help="write the page's numbers into this folder, as CSV files")
    add(
        "--response",
        choices=("hard", "folded"),
        help="model of the instrument (default: the one that most sweeps prefer)",
    )
    add("--all", action="store_true", help="use every sweep with a potential (default: good sweeps)")
    add(
        "--degrees",
        type=float,
        default=10.0,
        metavar="D",
        help="size of a map's cells in degrees (default: 10)",
    )
    add(
        "--at",
        choices=("projection", "spacecraft"),
        default="projection",
        help="place of a sweep: projection, the foot of its field line, or spacecraft (default: projection)",
    )
    add(
        "--block",
        type=float,
        default=ORBIT,
        metavar="HOURS",
        help=f"errors count the sweeps of so many hours as one measurement (default: {ORBIT:g})",
    )
    add(
        "--lmax",
        type=int,
        default=10,
        metavar="L",
        help="largest degree of the spherical harmonics (default: 10)",
    )
    add(
        "--region",
        choices=PLASMAS,
        help="use only sweeps in this plasma, as its temperature tells (default: all)",
    )
    return parser


def _tables(folder: str) -> list[str]:
    """Files that the command reads."""
    return [os.path.join(folder, name) for name in table_names(folder)] if os.path.isdir(folder) else [folder]


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code. 0: made; 1: no sweep is used; 2: wrong command line; 3: wrong input; 5: not
    written."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        given = vars(_parser().parse_args(words))
    except SystemExit as left:
        return int(left.code or 0)
    output, numbers, folder = given.pop("output"), given.pop("tables"), given.pop("folder")
    options: dict[str, Any] = {"good": not given.pop("all"), **given}
    try:
        EqualAreaGrid.of(options["degrees"])
        blocks_of([], options["block"])
        spherical_functions([], [], options["lmax"])
    except InvalidArgument as reason:
        return fail("paritas moon", str(reason), WRONG_COMMAND_LINE)
    made: list[MoonPage] = []

    def make() -> MoonPage:
        made.append(moon_report(folder, command=["python", "-m", "paritas", "moon", *words], **options))
        return made[0]

    code = write_page("paritas moon", output, make, "no sweep is used; the page says why", _tables(folder))
    if code == DONE and made[0].products.surface_map is None:
        print(
            "paritas moon: no used sweep has a place, so there are no maps; the page says why",
            file=sys.stderr,
        )
    if numbers is not None and made:
        try:
            made[0].write_tables(numbers)
        except OSError as reason:
            return fail("paritas moon", f"{numbers}: cannot be written: {reason.strerror}", NOT_WRITTEN)
    if code == DONE and output != "-":
        print(summary_of(made[0], output, numbers))
    return code
