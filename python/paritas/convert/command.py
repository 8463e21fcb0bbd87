"""`python -m paritas convert`."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from .._engine import Error
from ..command_line import (
    DONE,
    NOT_WRITTEN,
    WRONG_COMMAND_LINE,
    WRONG_INPUT,
    add_card_options,
    fail,
    reads_output,
    write_output,
)
from . import datacard, histfactory_xml, hs3
from .conversion import DEFAULT_CODES, Conversion, ConversionError, settings
from .hs3_codes import WRITTEN
from .json_nodes import json_text, read_json


def _numbers(kind: str) -> tuple[str, ...]:
    return tuple(code.removeprefix("code") for code in WRITTEN[kind])


def _mount(text: str) -> tuple[str, str]:
    host, _, mounted = text.rpartition(":")
    if not host or not mounted:
        raise argparse.ArgumentTypeError(f"'{text}' is not HOST:MOUNT")
    return host, mounted


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas convert",
        description="Converts models between pyhf workspaces, HS3, HistFactory XML with ROOT files, and CMS "
        "datacards.",
        epilog="Notes on what was left out go to standard error. Exit codes: 0 converted; 2 wrong command "
        "line; 3 wrong input, or the target cannot express it; 5 output not written.",
    )
    add = parser.add_argument
    add("input", metavar="INPUT", help="document to convert; for XML the top-level file")
    add(
        "-o",
        "--output-file",
        metavar="FILE",
        default="-",
        help="file to write, whole or not at all; a folder for xml (default: -, standard output). The "
        "histograms of a datacard go beside it, into NAME.root",
    )
    formats = ("hs3", "xml", "pyhf", "datacard")
    add("--from", dest="source", choices=formats, help="format of the input (default: as its content tells)")
    add("--to", dest="target", choices=formats, default="pyhf", help="format of the output (default: pyhf)")
    add("--quiet", action="store_true", help="no notes on standard error")
    _add_options(parser)
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("HS3").add_argument
    add(
        "--names",
        choices=hs3.CHOICES["names"],
        default="keep",
        help="names of the parameters: keep HS3's, or change them to pyhf's (default: keep)",
    )
    add(
        "--analysis",
        metavar="NAME",
        help="take the data of this analysis (default: the data not called asimovData)",
    )
    add(
        "--shapesys-vals",
        choices=hs3.CHOICES["shapesys_vals"],
        help="meaning of `vals` of a shapesys (default: as the document tells)",
    )
    add(
        "--poisson-staterror",
        choices=hs3.CHOICES["poisson_staterror"],
        default="keep",
        help="what to do with Poisson constraints that samples share (default: keep; pyhf refuses such a "
        "workspace)",
    )
    add = parser.add_argument_group("Interpolation of HS3 and datacards").add_argument
    add(
        "--normsys-code",
        choices=(*_numbers("normsys"), "lnN"),
        default="4",
        help="interpolation of normsys, for a workspace that becomes HS3 or a datacard; lnN: datacards only "
        "(default: 4)",
    )
    add(
        "--histosys-code",
        choices=_numbers("histosys"),
        default="4p",
        help="the same of histosys (default: 4p)",
    )
    add = parser.add_argument_group("Datacards").add_argument
    add_card_options(add)
    add = parser.add_argument_group("XML").add_argument
    add(
        "--rootdir",
        metavar="DIR",
        default=".",
        help="folder where relative paths in the XML start (default: the current folder)",
    )
    add(
        "-v",
        "--mount",
        metavar="HOST:MOUNT",
        type=_mount,
        action="append",
        default=[],
        help="look in folder HOST for files that the XML has in folder MOUNT (repeatable)",
    )
    add(
        "--constraints",
        choices=("file", "pyhf"),
        default="file",
        help="take laws and thresholds of constraints as the files say, or as pyhf does (default: file)",
    )


def _guess(path: str) -> str:
    with open(path, "rb") as file:
        start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return "xml"
    if start and not start.startswith((b"{", b"[", b'"')):
        return "datacard"
    document = read_json(path)
    for name, key in (("hs3", "distributions"), ("pyhf", "channels")):
        if isinstance(document, dict) and key in document:
            return name
    raise ConversionError(
        path, "neither XML nor HS3 (distributions) nor a pyhf workspace (channels); choose with --from"
    )


def _read(options: argparse.Namespace, source: str) -> Conversion:
    """The input as a workspace."""
    if source == "hs3":
        choices = {name: getattr(options, name) for name in hs3.CHOICES}
        return hs3.read(options.input, analysis=options.analysis, **choices)
    if source == "xml":
        return histfactory_xml.read(
            options.input, options.rootdir, options.mount, constraints=options.constraints
        )
    if source == "datacard":
        return datacard.read(
            options.input, mass=options.mass, masks=options.masks, maps=options.maps, exact=options.exact
        )
    codes = {kind: f"code{getattr(options, f'{kind}_code')}" for kind in DEFAULT_CODES}
    return Conversion(read_json(options.input), modifier_settings=settings(codes))


def _check(workspace: Conversion) -> None:
    """Raises Error where the package's own reader refuses the workspace: no command could use what is
    written."""
    from ..model import Model

    Model.from_workspace(workspace.spec, modifier_settings=workspace.modifier_settings)


def _convert(options: argparse.Namespace, source: str) -> Conversion:
    """The input in the target format; for xml and datacards as a workspace."""
    answer = _read(options, source)
    _check(answer)
    codes = {kind: setting["interpcode"] for kind, setting in answer.modifier_settings.items()}
    if options.target == "hs3":
        written = hs3.from_pyhf(answer.spec, **{f"{kind}_code": code for kind, code in codes.items()})
        return Conversion(written.spec, answer.notes + written.notes)
    if codes != DEFAULT_CODES and options.target != "datacard":
        needed = " ".join(f"--{kind}-code {code.removeprefix('code')}" for kind, code in codes.items())
        answer.notes.append(f"build its model with {needed}")
    return answer


def _write_xml(spec: Any, folder: str) -> None:
    """Writes what pyhf's json2xml does: FitConfig.xml, config/, data/."""
    base = Path(folder)
    for part in ("config", "data"):
        (base / part).mkdir(parents=True, exist_ok=True)
    top = histfactory_xml.write(spec, base / "config", base / "data", "FitConfig")
    write_output(top.decode(), str(base / "FitConfig.xml"))


def _write(answer: Conversion, options: argparse.Namespace) -> None:
    if options.target == "xml":
        _write_xml(answer.spec, options.output_file)
    elif options.target == "datacard":
        codes = {f"{kind}_code": one["interpcode"] for kind, one in answer.modifier_settings.items()}
        if options.normsys_code == "lnN":
            codes["normsys_code"] = "lnN"
        answer.notes += datacard.write(answer.spec, options.output_file, **codes).notes
    else:
        write_output(json_text(answer.spec), options.output_file)


def _written(options: argparse.Namespace) -> str:
    xml = options.target == "xml"
    return os.path.join(options.output_file, "FitConfig.xml") if xml else str(options.output_file)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Default: the process's arguments. Returns the exit code; a wrong command line ends in SystemExit(2)."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.target == "xml" and options.output_file == "-":
        parser.error("--to xml needs a folder: -o DIR")
    if options.target == "datacard" and options.output_file == "-":
        parser.error("--to datacard needs a file, beside which histograms go: -o FILE")
    if options.normsys_code == "lnN" and options.target != "datacard":
        parser.error("--normsys-code lnN is for --to datacard")
    wrong = reads_output(_written(options), options.input)
    if wrong:
        return fail("convert", wrong, WRONG_COMMAND_LINE)
    writing = False
    try:
        source = options.source or _guess(options.input)
        if source == options.target != "datacard":
            parser.error(f"the input is {source} already")
        answer = _convert(options, source)
        writing = True
        _write(answer, options)
    except (Error, ImportError, OSError, UnicodeDecodeError) as error:
        not_written = writing and isinstance(error, OSError)
        path, text = options.output_file if not_written else options.input, str(error)
        if isinstance(error, OSError) and error.strerror:
            path, text = path if not_written else str(error.filename or path), error.strerror
        code = NOT_WRITTEN if not_written else WRONG_INPUT
        return fail("convert", text if path in text else f"{path}: {text}", code)
    if not options.quiet:
        for note in answer.notes:
            print(f"convert: note: {note}", file=sys.stderr)
    return DONE
