"""Reads tables of `paritas losscone fit` and `paritas kappa fit`."""

from __future__ import annotations

import csv
import json
import os
import warnings
from dataclasses import dataclass
from typing import Any, Collection

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from ..archives import read_npz
from ..arrays import Summarised, Table, html_of, structured
from ..files import PathLike as Path

#: records and their column prefixes
_RECORDS = {
    "paritas_losscone_result": "",
    "paritas_confidence": "confidence_",
    "paritas_beam": "beam_",
    "paritas_kappa_result": "",
    "paritas_potential": "",
}
_TEXT = np.dtype("U24")


def _types() -> dict[str, np.dtype[Any]]:
    found = dict.fromkeys(("utc", "time_start", "time_end", "reason", "preferred"), _TEXT)
    found.update(spectrum=np.dtype(np.int64), rows=np.dtype(np.int64), sunlit=np.dtype(bool))
    found.update(quality=np.dtype(f"U{_engine.QUALITY_TEXT}"), good=np.dtype(np.uint8))
    for name, before in _RECORDS.items():
        record = _engine.record(name)
        known = {"word": _TEXT, "truth": np.dtype(bool)}
        for field in record.fields:
            if field.word and field.kind != "real":
                found[before + field.word] = known.get(field.kind, record.dtype[field.name])
    return found


_TYPES = _types()
_INTERVALS = 8
#: arrays that repeat a column under the name of earlier tables
_REPEATED = ("spec_spec_no", "spec_time_start", "spec_row_count")


@dataclass(repr=False)
class Tables(Summarised):
    """sweeps: one row a sweep, program's columns; confidence_set has shape (8, 2), NaN after the last
    interval. rows: of NPZ the 15 rows of each sweep, (n, 15), without the prefix rows_; None of text.
    provenance: a document each file."""

    sweeps: Table
    rows: Table | None
    provenance: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.sweeps)

    def __getitem__(self, name: str) -> NDArray[Any]:
        found: NDArray[Any] = self.sweeps[name]
        return found

    def _repr_html_(self) -> str:
        return html_of(self.sweeps, "Sweeps")


def read_tables(path: Path, *, columns: Collection[str] | None = None) -> Tables:
    """A .csv, an .npz, or a folder of .csv files, joined by name (date).

    columns: names without `_folded`; only `spectrum`, these and their `_folded` are kept, those that there
        are, and no rows. A sweep then takes less memory: 0.6 kB instead of 3 kB with those of the page
        of `python -m paritas moon`. None: all columns."""
    if columns is None:
        return _read(path, None)
    found = _read(path, frozenset(columns))
    return Tables(found.sweeps, None, found.provenance)


def _read(path: Path, columns: frozenset[str] | None) -> Tables:
    name = os.fspath(path)
    if os.path.isdir(name):
        files = table_names(name)
        if not files:
            raise _engine.Unreadable(f"{name}: there is no table, losscone_YYYY-MM-DD.csv, in this folder")
        read = [_read_one(os.path.join(name, file), columns) for file in files]
        others = [
            file for file, one in zip(files, read) if one.sweeps.dtype.names != read[0].sweeps.dtype.names
        ]
        if others:
            raise _engine.InvalidInput(
                f"{os.path.join(name, others[0])}: has other columns than {files[0]}; "
                "tables of other options cannot be joined"
            )
        documents = [one.provenance[0] for one in read]
        _check_days(name, files, documents)
        return Tables(_joined(read), None, documents)
    return _read_one(name, columns)


def _read_one(name: str, columns: frozenset[str] | None) -> Tables:
    try:
        return _read_npz(name, columns) if name.endswith(".npz") else _read_csv(name, columns)
    except _engine.Error:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise _engine.InvalidInput(f"{name}: its columns do not fit together: {error}") from None


def table_names(folder: str) -> list[str]:
    """Names of the tables that a folder has, by date."""
    return sorted(
        file
        for file in os.listdir(folder)
        if file.endswith(".csv") and file.startswith(("losscone_", "kappa_"))
    )


def _check_days(folder: str, files: list[str], documents: list[dict[str, Any]]) -> None:
    """Sweeps count once: refuses two tables of the same inputs. Warns if tables were made otherwise."""
    first: dict[tuple[str, ...], str] = {}
    for file, document in zip(files, documents):
        listed = document.get("inputs")
        named = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        inputs = tuple(str(one.get("sha256")) for one in named)
        other = first.setdefault(inputs, file) if inputs else file
        if other != file:
            raise _engine.InvalidInput(
                f"{os.path.join(folder, file)}: has the sweeps of {other} again; move one of the two away"
            )
    made = [(document.get("paritas"), document.get("options")) for document in documents]
    unlike = [file for file, one in zip(files, made) if one != made[0]]
    if unlike:
        warnings.warn(
            f"{folder}: {len(unlike)} of {len(files)} tables were made by another version or other options "
            f"than {files[0]}, first {unlike[0]}",
            stacklevel=4,
        )


def _joined(read: list[Tables]) -> Table:
    """Texts become as wide as the widest."""
    names = read[0].sweeps.dtype.names or ()
    return structured({name: np.concatenate([one.sweeps[name] for one in read]) for name in names})


def _plain(name: str) -> str:
    return name[: -len("_folded")] if name.endswith("_folded") else name


def _set_of(text: str) -> NDArray[np.float64]:
    """ "LOWER UPPER;LOWER UPPER" as (8, 2)."""
    found = np.full((_INTERVALS, 2), np.nan)
    for i, pair in enumerate(text.split(";") if text else []):
        found[i] = [float(number) for number in pair.split()]
    return found


def _wanted(name: str, columns: frozenset[str] | None) -> bool:
    return columns is None or name == "spectrum" or _plain(name) in columns


def _column(name: str, texts: list[str]) -> NDArray[Any]:
    plain = _plain(name)
    if plain == "confidence_set":
        return np.array([_set_of(text) for text in texts]).reshape(len(texts), _INTERVALS, 2)
    dtype = _TYPES.get(plain, np.dtype(np.float64))
    if dtype.kind == "f":
        return np.array([float(text) if text else np.nan for text in texts], dtype)
    if dtype.kind == "b":
        return np.array([text == "true" for text in texts], dtype)
    return np.array(texts if dtype.kind == "U" else [int(text) for text in texts], dtype)


def _read_csv(path: str, columns: frozenset[str] | None = None) -> Tables:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise _engine.Unreadable(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise _engine.InvalidInput(f"{path}: is no text in UTF-8: {error.reason}") from None
    head = [line[2:] for line in lines if line.startswith("# ")]
    try:
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    except csv.Error as error:
        raise _engine.InvalidInput(f"{path}: is no table: {error}") from None
    if not rows or not head:
        raise _engine.InvalidInput(f"{path}: is no table of the program: its first lines are no provenance")
    names, body = rows[0], rows[1:]
    for line, row in enumerate(body, len(lines) - len(body) + 1):
        if len(row) != len(names):
            raise _engine.InvalidInput(
                f"{path}: line {line} has {len(row)} fields, the first has {len(names)}"
            )
    read = {}
    for k, name in enumerate(names):
        if not _wanted(name, columns):
            continue
        try:
            values = _column(name, [row[k] for row in body])
        except ValueError as error:
            raise _engine.InvalidInput(f"{path}: column {name}: {error}") from None
        read[name] = values if columns is None or values.dtype.kind != "U" else _narrow(values)
    return Tables(structured(read), None, [_document(path, "\n".join(head))])


def _narrow(texts: NDArray[Any]) -> NDArray[Any]:
    """Texts in an array as wide as the longest."""
    return texts.astype(f"U{max(1, int(np.char.str_len(texts).max(initial=1)))}")


def _document(path: str, text: str) -> dict[str, Any]:
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _engine.InvalidInput(f"{path}: its provenance is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise _engine.InvalidInput(f"{path}: its provenance is no JSON object")
    return document


def _read_npz(path: str, columns: frozenset[str] | None = None) -> Tables:
    try:
        arrays = read_npz(path)
    except OSError as error:
        raise _engine.Unreadable(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise _engine.InvalidInput(str(error)) from None
    if "provenance" not in arrays or "spec_spectrum" not in arrays:
        raise _engine.InvalidInput(f"{path}: is no table of the program: it has no provenance or no sweeps")
    sweeps = {
        name[5:]: values
        for name, values in arrays.items()
        if name.startswith("spec_") and name not in _REPEATED and _wanted(name[5:], columns)
    }
    rows = {name[5:]: values for name, values in arrays.items() if name.startswith("rows_")}
    n = len(arrays["spec_spectrum"])
    for suffix in ("", "_folded"):
        if f"confidence_lower{suffix}" in sweeps:
            pairs = np.stack(
                [sweeps[f"confidence_lower{suffix}"], sweeps[f"confidence_upper{suffix}"]], axis=2
            )
            sweeps[f"confidence_set{suffix}"] = pairs
            sweeps[f"confidence_lower{suffix}"] = pairs[:, 0, 0]
            sweeps[f"confidence_upper{suffix}"] = np.fmax.reduce(pairs[:, :, 1], axis=1)
    return Tables(
        structured(sweeps), structured(rows).reshape(n, 15), [_document(path, str(arrays["provenance"]))]
    )
