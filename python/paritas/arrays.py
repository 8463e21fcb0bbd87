"""Structured arrays, tabular results, integer arguments."""

import operator
from dataclasses import fields
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


def numbers(values: Any, name: str = "values") -> Floats:
    """An array of float64; masked numbers and what is no number are refused."""
    found: Floats = _engine.contiguous(values, name)
    return found


def number(value: Any, name: str) -> float:
    """One number."""
    found = numbers(value, name)
    if found.ndim:
        raise _engine.InvalidArgument(
            f"{name}: one number is wanted, not an array of shape {found.shape}; rows of values, one a fit, "
            "are arrays (fits, parameters)"
        )
    return float(found)


def texts(values: Any, name: str) -> list[str]:
    """A list of texts: one, or several."""
    found = [values] if isinstance(values, str) else list(values) if np.iterable(values) else [values]
    for one in found:
        if not isinstance(one, str):
            raise _engine.InvalidArgument(f"{name}: texts are wanted, not {one!r}")
    return found


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


#: columns of results that say most, by the order in which they are shown
_TELLING = (
    *("status", "good", "preferred", "potential", "potential_folded"),
    *("plasma_status", "density", "kappa", "temperature"),
)
_SMALL = 6  # elements


def summary(value: Any) -> str:
    """Short text of a value: of an array its shape and median, or how often each word stands there; of a
    table its size, and the same of what says most."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        told = [name for name in _TELLING if name in value.dtype.names and value[name].dtype.kind in "Ufu"][
            :5
        ]
        shown = "".join(f"; {name} {_contents(value[name])}" for name in told)
        return f"<{len(value)} rows, {len(value.dtype.names)} columns{shown}>"
    if isinstance(value, np.ndarray) and value.size > _SMALL:
        return f"<{value.shape}, {_contents(value)}>"
    if isinstance(value, Summarised):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict) and any(isinstance(one, np.ndarray) for one in value.values()):
        return "{" + ", ".join(f"{name!r}: {summary(one)}" for name, one in value.items()) + "}"
    is_long = isinstance(value, (list, dict)) and len(value) > 0
    return f"<{type(value).__name__} of {len(value)}>" if is_long else repr(value)


def _contents(values: NDArray[Any]) -> str:
    if values.dtype.kind == "f":
        known = values[np.isfinite(values)]
        return f"median {np.median(known):.6g}" if known.size else "all NaN"
    if values.dtype.kind == "u":
        return str(np.count_nonzero(values))
    found, counts = np.unique(values.astype(str), return_counts=True)
    largest = np.argsort(-counts, kind="stable")[:3]
    more = ", ..." if len(found) > len(largest) else ""
    return ", ".join(f"{found[i] or 'empty'}: {counts[i]}" for i in largest) + more


class Summarised:
    """A dataclass (repr=False) of arrays, shown by the summaries of its fields that are not None."""

    def __repr__(self) -> str:
        kept: Any = self
        values = ((one.name, getattr(self, one.name)) for one in fields(kept) if one.repr)
        shown = ", ".join(f"{name}={summary(value)}" for name, value in values if value is not None)
        return f"{type(self).__name__}({shown})"


class Tabular(Summarised):
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
