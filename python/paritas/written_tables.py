"""Writes tables of fits as the program does."""

from __future__ import annotations

import csv
import json
import os
from typing import Any, cast

import numpy as np

from . import _engine
from .arrays import Tabular
from .files import PathLike


def _cell(value: Any) -> str:
    """As the program writes it: nothing for NaN, the shortest decimals that read back, "LOWER UPPER;..."."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.ndarray):
        return ";".join(f"{_cell(lower)} {_cell(upper)}" for lower, upper in value if lower == lower)
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if value == value else ""
    return str(value)


def write_table(path: PathLike, made: Tabular, command: str) -> None:
    """A .csv that `losscone.read_tables` reads: provenance, names, a line a row. made: a result with options,
    device and precision. command: what made it. An existing file is replaced."""
    name, columns, result = os.fspath(path), made.table.dtype.names or (), cast(Any, made)
    document = {
        "paritas": _engine.VERSION,
        "command": command,
        "options": result.options,
        "run": {"device": result.device, "precision": result.precision},
        "columns": list(columns),
    }
    head = json.dumps(document, indent=2, default=str)
    try:
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in head.splitlines())
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(columns)
            rows.writerows([_cell(value) for value in row] for row in made.table)
    except OSError as error:
        raise _engine.Unwritable(f"{name}: cannot be written: {error.strerror}") from None


__all__ = ["write_table"]
