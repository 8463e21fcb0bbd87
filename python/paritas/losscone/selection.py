"""Which sweeps and which model a product uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from ..arrays import Floats, Summarised, Table
from .fits import LossconeFit
from .tables import Tables

#: fits, the program's tables, or the rows of either
Source = Union[LossconeFit, Tables, Table]


def rows_of(source: Source) -> Table:
    """One row a sweep."""
    if isinstance(source, LossconeFit):
        return source.table
    return source.sweeps if isinstance(source, Tables) else source


def has(table: Table, name: str) -> bool:
    return name in (table.dtype.names or ())


def reals(table: Table, name: str) -> Floats:
    """A column as float64; NaN everywhere if there is none."""
    return np.asarray(table[name], dtype=np.float64) if has(table, name) else np.full(len(table), np.nan)


def times_of(table: Table) -> Floats:
    """Unix seconds of each sweep, NaN if unknown."""
    if has(table, "time") or not has(table, "utc"):
        return reals(table, "time")
    stamps = np.array([text if text else "NaT" for text in table["utc"]], dtype="datetime64[ms]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.float64)) * 1e-3


def response_of(table: Table, response: str | None) -> str:
    """The model to quote: "hard" or "folded". None: the model that most sweeps prefer, if both are fitted."""
    if response not in (None, "hard", "folded"):
        raise _engine.InvalidArgument(f"response {response!r}: must be hard or folded")
    if not has(table, "potential_folded"):
        return response or "hard"
    if response is None:
        preferred = table["preferred"] if has(table, "preferred") else np.array([])
        response = "folded" if np.sum(preferred == "folded") > np.sum(preferred == "hard") else "hard"
    return response


def suffix_of(table: Table, response: str) -> str:
    """Suffix of the model's columns. Tables of one model have no suffix."""
    return "_folded" if response == "folded" and has(table, "potential_folded") else ""


def quality_of(table: Table, response: str) -> NDArray[np.str_]:
    """A word a sweep: its quality ("good" or reasons) if the table says, else its status."""
    suffix = suffix_of(table, response)
    for name in ("quality", "status"):
        if has(table, name + suffix):
            return np.asarray(table[name + suffix], dtype=str)
    return np.full(len(table), "fitted")


@dataclass(repr=False)
class Selection(Summarised):
    """The sweeps of a product. table: all sweeps; potential: U of the chosen model, V; time: Unix seconds;
    used: which sweeps count; good: whether only good sweeps do."""

    table: Table
    response: str
    potential: Floats
    time: Floats
    used: NDArray[np.bool_]
    good: bool


def select(source: Source, *, response: str | None = None, good: bool = True) -> Selection:
    """The sweeps that a product uses, and their potentials.

    source: fits or the program's tables. response: "hard" or "folded"; None: the model that most sweeps
        prefer. good: only sweeps whose quality is good. Tables without a quality count every sweep whose
        status is `fitted`. good=False counts every sweep that has a potential."""
    table = rows_of(source)
    chosen = response_of(table, response)
    suffix = suffix_of(table, chosen)
    potential = reals(table, "potential" + suffix)
    used = np.isfinite(potential)
    if good:
        used &= np.isin(quality_of(table, chosen), ("good", "fitted"))
        if has(table, "good"):
            used &= np.asarray(table["good"]).astype(float) == 1.0
    return Selection(table, chosen, potential, times_of(table), used, good)
