"""What commands share: their options, documents in and out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Callable

STDIN = "-"


class Commands:
    """The commands of a parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(required=True, metavar="COMMAND")

    def parser(self, name: str, help: str) -> argparse.ArgumentParser:
        return self._parsers.add_parser(name, help=help, description=help)

    def add(self, name: str, run: Callable[..., None]) -> argparse.ArgumentParser:
        """A command that calls `run` with its options as keywords; the help is `run`'s docstring."""
        parser = self.parser(name, run.__doc__ or "")
        parser.set_defaults(run=run)
        return parser


def add_document(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names or ("workspace",):
        parser.add_argument(name, nargs="?", default=STDIN, help="a JSON file (default: the standard input)")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output-file", help="default: the standard output")


def add_repeated(parser: argparse.ArgumentParser, *flags: str, **settings: Any) -> None:
    parser.add_argument(*flags, action="append", default=[], **settings)


def add_switch(parser: argparse.ArgumentParser, yes: str, no: str, default: bool) -> None:
    """`--yes/--no`, stored under the name of `yes`."""
    name = yes.strip("-").replace("-", "_")
    parser.add_argument(yes, dest=name, action="store_true", default=default)
    parser.add_argument(no, dest=name, action="store_false")


def read(path: str) -> Any:
    if path == STDIN:
        return json.load(sys.stdin)
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write(document: Any, output_file: str | None) -> None:
    text = json.dumps(document, indent=4, sort_keys=True)
    if output_file is None:
        print(text)
    else:
        Path(output_file).write_text(text, encoding="utf-8")
