"""HistFactory's XML and ROOT files to a workspace and back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import command


def add_to(commands: command.Commands) -> None:
    parser = commands.add("xml2json", xml2json)
    parser.add_argument("entrypoint_xml", type=_existing, help="the top-level XML file")
    parser.add_argument("--basedir", type=_existing, default=Path.cwd(), help="base of relative paths")
    command.add_repeated(
        parser, "-v", "--mount", type=_mount, help="folder here:folder in the XML", metavar="HERE:THERE"
    )
    command.add_output(parser)
    command.add_switch(parser, "--track-progress", "--hide-progress", True)
    command.add_switch(parser, "--validation-as-error", "--validation-as-warning", True)
    parser = commands.add("json2xml", json2xml)
    command.add_document(parser)
    parser.add_argument("--output-dir", type=_existing, default=Path())
    parser.add_argument("--specroot", default="config")
    parser.add_argument("--dataroot", default="data")
    parser.add_argument("--resultprefix", default="FitConfig")
    command.add_repeated(parser, "-p", "--patch", metavar="FILE")


def _existing(text: str) -> Path:
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return Path(text)


def _mount(text: str) -> tuple[Path, Path]:
    parts = text.split(":")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid colon-separated option")
    return _existing(parts[0]).resolve(), Path(parts[1])


def xml2json(
    *,
    entrypoint_xml: Path,
    basedir: Path,
    mount: list[Any],
    output_file: str | None,
    track_progress: bool,
    validation_as_error: bool,
) -> None:
    """HistFactory's XML with ROOT files to a workspace."""
    from ..readxml import parse

    found = parse(entrypoint_xml, basedir, mount or None, track_progress, validation_as_error)
    command.write(found, output_file)


def json2xml(
    *, workspace: str, output_dir: Path, specroot: str, dataroot: str, resultprefix: str, patch: list[str]
) -> None:
    """A workspace to HistFactory's XML with a ROOT file."""
    from ..jsonpatch import JsonPatch
    from ..writexml import writexml

    spec = command.read(workspace)
    for path in patch:
        spec = JsonPatch(command.read(path)).apply(spec)
    folders = output_dir / specroot, output_dir / dataroot
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    (output_dir / f"{resultprefix}.xml").write_bytes(writexml(spec, *folders, resultprefix))
