"""Schemas, read at first use."""

import json
from pathlib import Path
from typing import Any

from .. import exceptions
from . import variables


def load_schema(schema_id: str) -> Any:
    """By path, e.g. "1.0.0/workspace.json"."""
    known = variables.SCHEMA_CACHE.get(variables.SCHEMA_BASE + Path(schema_id).as_posix())
    if known is not None:
        return known
    path = Path(variables.schemas) / schema_id
    if not path.exists():
        raise exceptions.SchemaNotFound(f"There is no schema {schema_id} (version, or path?): {path}")
    schema = json.loads(path.read_text(encoding="utf-8"))
    variables.SCHEMA_CACHE[schema["$id"]] = schema
    return schema
