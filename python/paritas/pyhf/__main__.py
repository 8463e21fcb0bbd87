"""Runs a program for pyhf on Paritas: python -m paritas.pyhf [--absent-backend X] [--minimizers X]
script.py ARGS, or -m module ARGS."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from typing import Sequence

from . import import_hook
from .choices import ABSENT_BACKEND, CHOICES, MINIMIZERS

#: modules that come with pyhf or one of its extras, and the packages that have them
BROUGHT_BY_PYHF = {
    name: name for name in ("click", "iminuit", "jsonpatch", "jsonpointer", "jsonschema", "matplotlib")
} | {"scipy": "scipy", "tqdm": "tqdm", "uproot": "uproot", "yaml": "pyyaml"}


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m paritas.pyhf", description="Runs a program with paritas.pyhf in place of pyhf."
    )
    said = {
        ABSENT_BACKEND: "what jax, pytorch and tensorflow give",
        MINIMIZERS: "what fits: the engine, or SciPy and iminuit as pyhf calls them",
    }
    for choice in CHOICES:
        parser.add_argument(
            *choice.options(),
            choices=choice.words,
            help=f"{said[choice]} (default: {choice.variable}, else {choice.words[0]})",
        )
    parser.add_argument("-m", action="store_true", dest="is_module", help="the program is a module")
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    given = parser.parse_args(arguments)
    if not given.is_module and not os.path.exists(given.program):
        parser.error(f"there is no file {given.program}")
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    """The program's exit status is Python's, as if Python had run it."""
    given = _parsed(arguments)
    import_hook.install(given.absent_backend, given.minimizers)
    sys.argv = [given.program, *given.arguments]
    try:
        _run(given)
    except ModuleNotFoundError as error:
        package = BROUGHT_BY_PYHF.get(error.name or "")
        if package and "pip install" not in error.msg:
            error.msg += f". It comes with pyhf, not with Paritas: python -m pip install {package}"
        raise


def _run(given: argparse.Namespace) -> None:
    if given.is_module:
        runpy.run_module(given.program, run_name="__main__", alter_sys=True)
        return
    if not getattr(sys.flags, "safe_path", False):  # else Python sets no folder either
        sys.path[0] = os.path.dirname(os.path.realpath(given.program))
    runpy.run_path(given.program, run_name="__main__")


if __name__ == "__main__":
    main()
