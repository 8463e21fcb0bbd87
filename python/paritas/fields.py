"""Base classes of results: `limit_result` is a row of paritas_limit_result, `limit_result_rows` are many. The
build makes fields.pyi from the headers, for type checkers."""

from typing import Any

from . import _engine
from .records import Record, Rows


def __getattr__(name: str) -> Any:
    several = name.endswith("_rows")
    try:
        record = _engine.record("paritas_" + (name[: -len("_rows")] if several else name))
    except KeyError:
        raise AttributeError(f"the library has no record of {name!r}") from None
    made = globals()[name] = type(name, (Rows if several else Record,), {"record": record})
    return made
