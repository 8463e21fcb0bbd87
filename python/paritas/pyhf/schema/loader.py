"""Schemas, read at first use."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import exceptions
from . import variables


def load_schema(schema_id: str) -> Any:
    """Loads a schema by path, e.g. "1.0.0/workspace.json"."""
    known = variables.SCHEMA_CACHE.get(variables.SCHEMA_BASE + Path(schema_id).as_posix())
    if known is not None:
        return known
    schema = _read(Path(variables.schemas) / schema_id)
    variables.SCHEMA_CACHE[schema["$id"]] = schema
    return schema


def load_reference(schema_id: str) -> Any:
    """What a schema refers to, by path. SCHEMA_CACHE holds only what was asked for."""
    return _read_once(Path(variables.schemas) / schema_id)


def _read(path: Path) -> Any:
    if not path.exists():
        raise exceptions.SchemaNotFound(f"There is no schema {path} (version, or path?)")
    return json.loads(path.read_text(encoding="utf-8"))


_read_once = lru_cache(maxsize=64)(_read)
