"""pyhf's program: `python -m paritas.pyhf.cli fit workspace.json`, with pyhf's commands and options."""

from __future__ import annotations

import argparse
from typing import Sequence

from . import contrib, infer, patchset, rootio, spec
from .command import Commands

__all__ = ["cli", "contrib", "infer", "patchset", "rootio", "spec"]
__dir__ = __all__.copy


class _Cite(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from .. import utils

        print(utils.citation())
        parser.exit()


def cli(arguments: Sequence[str] | None = None) -> None:
    """Runs one command (default: the program's arguments). Wrong ones end the program with status 2."""
    from ... import __version__ as own
    from .. import __version__

    parser = argparse.ArgumentParser(
        prog="pyhf", description="Statistical models of HistFactory, on Paritas."
    )
    said = f"pyhf, version {__version__} (Paritas {own})"
    parser.add_argument("--version", action="version", version=said)
    parser.add_argument(
        "--cite", "--citation", nargs=0, action=_Cite, default=argparse.SUPPRESS, help="print BibTeX and stop"
    )
    commands = Commands(parser)
    for module in (rootio, spec, infer):
        module.add_to(commands)
    for module in (patchset, contrib):
        module.add_to(Commands(commands.parser(module.__name__.rpartition(".")[2], module.__doc__ or "")))
    given = vars(parser.parse_args(arguments))
    given.pop("run")(**given)
