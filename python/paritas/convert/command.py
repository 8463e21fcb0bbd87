"""`python -m paritas convert`: HS3 or HistFactory XML to a pyhf workspace, a pyhf workspace to HS3 or XML.

Exit codes are the program's: 0 converted; 2 wrong command line; 3 wrong input, or input that the target
cannot express; 5 output not written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from ..files import write_text
from . import histfactory_xml, hs3
from .conversion import Conversion, ConversionError, read_json, write_json

_INPUT, _OUTPUT = 3, 5


def _mount(text: str) -> tuple[str, str]:
    host, colon, mounted = text.rpartition(":")
    if not colon or not host or not mounted:
        raise argparse.ArgumentTypeError(f"'{text}' is not HOST:MOUNT")
    return host, mounted


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paritas convert",
        description="convert models: HS3, HistFactory XML with ROOT files, pyhf workspaces",
        epilog="Notes on what was left out go to standard error. Exit codes: 0 converted; 2 wrong command line; 3 wrong input, or input that the target cannot "
        "express; 5 output not written.",
    )
    parser.add_argument("input", metavar="INPUT", help="document; of XML the top-level file")
    parser.add_argument(
        "-o",
        "--output-file",
        metavar="FILE",
        default="-",
        help="write there, whole or not at all; a folder where the target is xml; -: standard output, the default",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("hs3", "xml", "pyhf"),
        help="format of the input; default: by its content",
    )
    parser.add_argument(
        "--to", dest="target", choices=("pyhf", "hs3", "xml"), default="pyhf", help="default: pyhf"
    )
    parser.add_argument("--quiet", action="store_true", help="no notes on standard error")
    group = parser.add_argument_group("HS3")
    group.add_argument(
        "--names",
        choices=("keep", "pyhf"),
        default="keep",
        help="parameter names: as they are, or as pyhf would call them; default: keep",
    )
    group.add_argument(
        "--analysis",
        metavar="NAME",
        help="analysis whose data are wanted; default: the one that is not asimovData",
    )
    group.add_argument(
        "--shapesys-vals",
        choices=("relative", "absolute", "tau", "inverse"),
        help="what vals of a shapesys are; default: what the document shows",
    )
    group.add_argument(
        "--poisson-staterror",
        choices=("refuse", "gauss"),
        default="refuse",
        help="Poisson constraints that samples share; default: refuse",
    )
    group.add_argument(
        "--normsys-code",
        choices=("1", "4"),
        default="4",
        help="interpolation of the workspace that is written as HS3; default: 4",
    )
    group.add_argument("--histosys-code", choices=("0", "4p"), default="4p", help="default: 4p")
    group = parser.add_argument_group("XML")
    group.add_argument(
        "--rootdir",
        metavar="DIR",
        default=".",
        help="where relative paths in the XML start; default: the current folder",
    )
    group.add_argument(
        "-v",
        "--mount",
        metavar="HOST:MOUNT",
        type=_mount,
        action="append",
        default=[],
        help="files that the XML says to be below MOUNT are below HOST (repeatable)",
    )
    group.add_argument(
        "--constraints",
        choices=("file", "pyhf"),
        default="file",
        help="laws and thresholds of constraints: as the files say, or as pyhf takes them; default: file",
    )
    return parser


def _guess(path: str) -> str:
    with open(path, "rb") as file:
        start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return "xml"
    document = read_json(path)
    if isinstance(document, dict) and "distributions" in document:
        return "hs3"
    if isinstance(document, dict) and "channels" in document:
        return "pyhf"
    raise ConversionError(
        path, "neither XML, nor HS3 (distributions), nor a pyhf workspace (channels); say which with --from"
    )


def _workspace(options: argparse.Namespace, source: str) -> Conversion:
    """The input as a pyhf workspace."""
    if source == "hs3":
        return hs3.read(
            options.input,
            names=options.names,
            analysis=options.analysis,
            shapesys_vals=options.shapesys_vals,
            poisson_staterror=options.poisson_staterror,
        )
    if source == "xml":
        return histfactory_xml.read(
            options.input, options.rootdir, options.mount, constraints=options.constraints
        )
    return Conversion(read_json(options.input))


def _write_xml(spec: Any, folder: str) -> None:
    """The layout of pyhf's json2xml: FitConfig.xml, config/, data/."""
    base = Path(folder)
    for part in ("config", "data"):
        (base / part).mkdir(parents=True, exist_ok=True)
    top = histfactory_xml.write(spec, base / "config", base / "data", "FitConfig")
    write_text(top.decode(), base / "FitConfig.xml")


def _failed(path: str, error: Exception, code: int) -> int:
    text = str(error)
    print("convert: " + (text if path in text else f"{path}: {text}"), file=sys.stderr)
    return code


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command with these arguments (default: the process's) and answers the exit code; a wrong
    command line ends by SystemExit(2)."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.target == "xml" and options.output_file == "-":
        parser.error("--to xml wants a folder: -o DIR")
    try:
        source = options.source or _guess(options.input)
        if source == options.target:
            parser.error(f"the input is {source} already")
        answer = _workspace(options, source)
        codes = {kind: setting["interpcode"] for kind, setting in answer.modifier_settings.items()}
        if options.target == "hs3":
            if source == "pyhf":
                codes = {"normsys": f"code{options.normsys_code}", "histosys": f"code{options.histosys_code}"}
            written = hs3.from_pyhf(
                answer.spec, normsys_code=codes["normsys"], histosys_code=codes["histosys"]
            )
            answer = Conversion(written.spec, answer.notes + written.notes, written.names)
        elif codes != {"normsys": "code4", "histosys": "code4p"}:
            answer.notes.append(
                "its model is to be built with "
                + " ".join(f"--{kind}-code {code[len('code') :]}" for kind, code in codes.items())
            )
    except (ConversionError, ImportError, OSError, UnicodeDecodeError) as error:
        return _failed(options.input, error, _INPUT)
    try:
        if options.target == "xml":
            _write_xml(answer.spec, options.output_file)
        elif options.output_file == "-":
            json.dump(answer.spec, sys.stdout, indent=4, ensure_ascii=False, allow_nan=False)
            print(flush=True)
        else:
            write_json(answer.spec, options.output_file)
    except (ConversionError, ImportError) as error:
        return _failed(options.input, error, _INPUT)
    except OSError as error:
        return _failed(options.output_file, error, _OUTPUT)
    if not options.quiet:
        for note in answer.notes:
            print(f"convert: note: {note}", file=sys.stderr)
    return 0
