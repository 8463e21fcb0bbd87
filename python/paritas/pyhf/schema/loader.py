"""Schemas, read from their folder when they are first asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paritas.pyhf import exceptions
from paritas.pyhf.schema import variables


def load_schema(schema_id: str) -> Any:
    """The schema document at `schema_id` ("1.0.0/workspace.json") of the schemas' folder. SchemaNotFound:
    there is none."""
    known = variables.SCHEMA_CACHE.get(variables.SCHEMA_BASE + Path(schema_id).as_posix())
    if known is not None:
        return known
    path = Path(variables.schemas) / schema_id
    if not path.exists():
        raise exceptions.SchemaNotFound(
            f"The schema {schema_id} was not found. Do you have the right version or the right path? {path}"
        )
    schema = json.loads(path.read_text(encoding="utf-8"))
    variables.SCHEMA_CACHE[schema["$id"]] = schema
    return schema
