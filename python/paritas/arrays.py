"""Structured arrays, tabular results, integer arguments."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine

Floats = NDArray[np.float64]
#: structured, one row a sweep, a row or a spectrum
Table = NDArray[np.void]


def whole(value: Any, name: str, least: int = 0, bits: int = 64) -> int:
    """An integer below 2^bits. Floats are refused: C would truncate them."""
    try:
        found = operator.index(value)
    except TypeError:
        found = -1
    if not least <= found < 1 << bits:
        raise _engine.InvalidArgument(
            f"{name} {value!r}: a whole number from {least} is wanted, below 2^{bits}"
        )
    return found


def numbers(values: Any) -> Floats:
    """An array of float64; masked numbers are refused."""
    return np.asarray(_engine.unmasked(values), dtype=np.float64)


def words(codes: NDArray[Any], names: Sequence[str]) -> NDArray[np.str_]:
    found: NDArray[np.str_] = np.array(names)[codes]
    return found


def structured(columns: Mapping[str, ArrayLike]) -> Table:
    """Columns of equal length, in order, whose rows may have a shape."""
    arrays = {name: np.asarray(_engine.unmasked(values)) for name, values in columns.items()}
    n = {len(values) for values in arrays.values()}
    if len(n) != 1:
        raise _engine.InvalidArgument(
            f"columns of lengths {', '.join(map(str, sorted(n)))}: they must be equal"
        )
    table = np.empty(n.pop(), [(name, values.dtype, values.shape[1:]) for name, values in arrays.items()])
    for name, values in arrays.items():
        table[name] = values
    return table


def columns_by_name(table: Table) -> dict[str, NDArray[Any]]:
    return {name: table[name] for name in table.dtype.names or ()}


class Tabular:
    """A result with its numbers in `table`."""

    table: Table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, name: str) -> NDArray[Any]:
        found: NDArray[Any] = self.table[name]
        return found


def where(exists: NDArray[np.bool_], values: NDArray[Any]) -> Floats:
    """Values, NaN elsewhere."""
    return np.where(exists, values, np.nan)


def html_of(table: Table, title: str, rows: int = 10) -> str:
    """First rows, one-dimensional columns."""
    from .records import html_table

    names = [name for name in table.dtype.names or () if table[name].ndim == 1]
    body = [[row[name].item() for name in names] for row in table[:rows]]
    more = f", the first {rows} of {len(table)}" if len(table) > rows else ""
    return html_table(title + more, names, body)


def repeated(values: Iterable[float], times: int) -> Floats:
    return np.repeat(np.asarray(values, dtype=np.float64)[:, None], times, axis=1)
