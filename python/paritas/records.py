"""Results as views of the library's rows. Its record descriptions (paritas_records.h) make the attributes."""

from __future__ import annotations

from html import escape
from math import isfinite
from dataclasses import is_dataclass
from typing import Any, Callable, ClassVar, Iterable, Mapping, Sequence, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _engine

Self = TypeVar("Self", bound="Record")


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The first column is flush left, the others right; NaN is "-"."""
    cells = [list(columns)] + [["-" if one != one else _text(one) for one in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(one.rjust(n) for one, n in zip(row[1:], widths[1:]))]).rstrip()
        for row in cells
    )


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cell(value: object) -> str:
    if isinstance(value, (np.ndarray, list, tuple)):
        return " ".join(map(_cell, value))
    return escape(_text(value))


class Record:
    """A record's `row`, and what stands beside it. Read-only: `replace` makes a changed copy."""

    #: of a base class in `fields`
    record: ClassVar[_engine.RecordType]
    #: for nested records
    _classes: ClassVar[dict[str, type[Record]]] = {}
    row: Any

    def __init__(self, row: Any, **beside: Any) -> None:
        self.__dict__.update(beside, row=row)

    def __setattr__(self, name: str, value: object) -> None:
        kind = type(self).__name__
        if not hasattr(self, name):
            raise AttributeError(f"{kind} has no attribute {name!r}")
        raise AttributeError(f"{kind}.{name} is read-only; replace() makes a changed copy")

    def _column(self, field: _engine.Field) -> NDArray[Any]:
        """An array of the row. What is not a view of it is read-only, and made once."""
        made = self.__dict__.setdefault("_columns", {})
        found: NDArray[Any] | None = made.get(field.name)
        if found is None:
            raw = self.row[field.name]
            found = column(field, raw)
            if found is not raw:
                found.flags.writeable = False
            made[field.name] = found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_columns"}

    def _beside(self) -> dict[str, Any]:
        state = self.__getstate__()
        del state["row"]
        return state

    def __init_subclass__(cls) -> None:
        if "record" in cls.__dict__ or not hasattr(cls, "record"):
            return
        cls._classes[cls.record.name] = cls
        for field in cls.record.fields:
            if not hasattr(cls, field.key):
                unit = f" ({field.unit})" if field.unit else ""
                setattr(cls, field.key, property(cls._reader(field), doc=f"{field.doc}{unit}"))
        if not hasattr(cls, "converged") and hasattr(cls, "status"):
            cls.converged = property(_converged)  # type: ignore[attr-defined]

    @classmethod
    def _reader(cls, field: _engine.Field) -> Callable[[Any], Any]:
        name, kind = field.name, field.kind
        if kind == "record":
            nested = field.nested.name
            return lambda self: cls._classes[nested](self.row[name])
        if field.is_array and kind != "text":
            return lambda self: self._column(field)
        if kind == "word":
            words = list(_engine.enumeration(field.enumeration))
            return lambda self: words[self.row[name]]
        convert = _CONVERSIONS[kind]
        return lambda self: convert(self.row[name])

    def _items(self) -> dict[str, Any]:
        return {**{field.key: getattr(self, field.key) for field in self.record.fields}, **self._beside()}

    def to_dict(self) -> dict[str, Any]:
        """Python numbers, lists and dicts by name, ready for JSON: missing numbers are None."""
        return {name: _plain(value) for name, value in self._items().items()}

    def replace(self: Self, **changes: Any) -> Self:
        """A copy with changed attributes."""
        row: Any = None if self.row is None else self.row.copy()
        beside = self._beside()
        fields = {field.key: field for field in self.record.fields}
        for name, value in changes.items():
            if name in fields:
                row[fields[name].name] = _raw(fields[name], value)
            elif name in beside:
                beside[name] = value
            else:
                raise TypeError(f"replace: {type(self).__name__} has no field {name!r}")
        return type(self)(row, **beside)

    __replace__ = replace

    def __eq__(self, other: object) -> bool:
        """NaN equals NaN."""
        return type(self) is type(other) and same(self.__getstate__(), other.__getstate__())

    __hash__ = None  # type: ignore[assignment]

    #: what a short repr shows; empty: everything
    _shown: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        if self._shown:
            shown = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self._shown)
            return f"<{type(self).__name__}: {shown}>"
        items = ", ".join(f"{name}={_listed(value)}" for name, value in self._items().items())
        return f"{type(self).__name__}({items})"

    def _title(self) -> str:
        return self.record.doc

    def _repr_html_(self) -> str:
        return html_table(self._title(), ("", "value", ""), self._html_rows())

    def _html_rows(self) -> list[tuple[str, Any, str]]:
        rows: list[tuple[str, Any, str]] = []
        for field in self.record.fields:
            value = getattr(self, field.key)
            rows += value._html_rows() if field.kind == "record" else [(field.key, value, field.doc)]
        for value in self._beside().values():
            if isinstance(value, Record) and not isinstance(value, Rows):
                rows += value._html_rows()
        return rows


def _short(value: Any) -> str:
    if isinstance(value, (np.ndarray, list)):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(value: Any) -> str:
    """Lists of results by their number."""
    many = isinstance(value, list) and len(value) > 0 and isinstance(value[0], Record)
    return f"<{len(value)} {type(value[0]).__name__}>" if many else repr(value)


def _converged(record: Any) -> bool:
    """All fits converged."""
    return bool(np.all(record.status == "converged"))


class Rows(Record):
    """n rows of a record, `row` (None: not kept); attributes are arrays of n."""

    @classmethod
    def _reader(cls, field: _engine.Field) -> Callable[[Any], Any]:
        return lambda self: None if self.row is None else self._column(field)

    def __len__(self) -> int:
        return len(self.row)

    def _labels(self) -> list[tuple[str, Any]]:
        return []

    def _table(self) -> tuple[str, list[str], Any]:
        """Title, heads, rows."""
        columns = self._labels()
        columns += [(field.key, getattr(self, field.key)) for field in self.record.fields if field.word]
        most = 100
        title = self._title() + (f" The first {most} of {len(self)}." if len(self) > most else "")
        body = zip(*(np.asarray(values)[:most].tolist() for _, values in columns))
        return title, [name for name, _ in columns], body

    def __str__(self) -> str:
        if self.row is None:
            return repr(self)
        title, heads, body = self._table()
        return f"{title}\n\n" + text_table(heads, body)

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def column(field: _engine.Field, raw: NDArray[Any]) -> NDArray[Any]:
    """Words for codes, signed integers."""
    found: NDArray[Any] = raw
    if field.kind == "word":
        found = np.array(list(_engine.enumeration(field.enumeration)))[raw]
    elif field.kind == "truth":
        found = raw != 0
    elif field.kind in ("signed", "unsigned"):
        found = raw.astype(np.int64)
    return found


def columns_of(record: str, rows: NDArray[Any], exists: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """As the program writes them. Missing rows have NaN and empty words, but a status."""
    found = {}
    for field in _engine.record(record).fields:
        raw = rows[field.name]
        if not field.word:
            continue
        if field.kind == "real":
            found[field.word] = np.where(exists, raw, np.nan)
        elif field.kind == "word" and field.name != "status":
            found[field.word] = np.where(exists, column(field, np.where(exists, raw, 0)), "")
        else:
            found[field.word] = raw if field.kind == "unsigned" else column(field, raw)
    return found


def same(a: Any, b: Any) -> bool:
    """NaN equals NaN."""
    if isinstance(a, (np.ndarray, np.generic)) or isinstance(b, (np.ndarray, np.generic)):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.names is not None:
            return a.dtype.names == b.dtype.names and all(same(a[name], b[name]) for name in a.dtype.names)
        return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or (a != a and b != b))


#: to Python, by kind of field
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "real": float,
    "truth": bool,
    "signed": int,
    "unsigned": int,
    "text": lambda raw: raw.split(b"\0", 1)[0].decode(errors="replace"),  # C ends a text at its first 0
}


def _raw(field: _engine.Field, value: Any) -> Any:
    if field.kind == "record":
        return value.row
    if field.kind == "word":
        codes = _engine.enumeration(field.enumeration)
        return codes[value] if isinstance(value, str) else [codes[word] for word in value]
    return value.encode() if field.kind == "text" else value


def _plain(value: Any) -> Any:
    """Python's types. Numbers that are not finite become None, as the program writes null."""
    if isinstance(value, Record):
        return value.to_dict()
    if is_dataclass(value):
        return _plain(vars(value))
    if isinstance(value, np.void):
        return {name: _plain(value[name]) for name in value.dtype.names or ()}
    if isinstance(value, np.ndarray) and value.dtype.names:
        return [_plain(row) for row in value]
    if isinstance(value, np.bytes_):
        return _CONVERSIONS["text"](value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist()) if value.dtype.kind == "f" else value.tolist()
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
