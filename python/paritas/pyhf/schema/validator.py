"""JSON schemas: the part of draft 6 for workspaces."""

from __future__ import annotations

import numbers
import re
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import urljoin

import numpy as np

from .. import exceptions
from . import variables
from .loader import load_reference, load_schema


class ValidationError(Exception):
    """`path`: the steps to `instance`."""

    def __init__(self, message: str, path: list[Any], instance: Any) -> None:
        super().__init__(message)
        self.message, self.path, self.instance = message, path, instance


_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_TYPES_WITH_TENSORS = {**_TYPES, "array": (list, np.ndarray), "number": (int, float, numbers.Number)}


class _Validator:
    """`allow_tensors`: accept NumPy's types."""

    def __init__(self, allow_tensors: bool) -> None:
        self.types = _TYPES_WITH_TENSORS if allow_tensors else _TYPES
        self.resolved: dict[Any, tuple[Any, str]] = {}

    def _is(self, value: Any, kind: str) -> bool:
        """Unlike in Python, true and false are no numbers."""
        return isinstance(value, self.types[kind]) and (kind == "boolean" or not isinstance(value, bool))

    def _resolve(self, reference: str, base: str) -> tuple[Any, str]:
        found = self.resolved.get((reference, base))
        if found is None:
            target, _, fragment = urljoin(base, reference).partition("#")
            schema = load_reference(target.removeprefix(variables.SCHEMA_BASE))
            for step in fragment.split("/"):
                schema = schema[step] if step else schema
            found = self.resolved[reference, base] = (schema, target)
        return found

    def errors(self, value: Any, schema: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        """Nearest first."""
        if "$ref" in schema:
            resolved, base = self._resolve(schema["$ref"], base)
            yield from self.errors(value, resolved, base, path)
            return
        kind = schema.get("type")
        if kind is not None and not self._is(value, kind):
            yield ValidationError(f"{value!r} is not of type '{kind}'", path, value)
            return
        for message in self._messages(value, schema):
            yield ValidationError(message, path, value)
        if isinstance(value, dict):
            for name, part in schema.get("properties", {}).items():
                if name in value:
                    yield from self.errors(value[name], part, base, [*path, name])
        elif self._is(value, "array") and "items" in schema:
            yield from self._items(value, schema["items"], base, path)
        for part in schema.get("allOf", ()):
            yield from self.errors(value, part, base, path)
        if "anyOf" in schema and not any(self._fits(value, part, base) for part in schema["anyOf"]):
            message = f"{value!r} is not valid under any of the given schemas"
            yield ValidationError(message, path, value)
        if "oneOf" in schema and sum(self._fits(value, part, base) for part in schema["oneOf"]) != 1:
            message = f"{value!r} is not valid under one of the given schemas alone"
            yield ValidationError(message, path, value)

    def _messages(self, value: Any, schema: Any) -> Iterator[str]:
        """Errors of the value itself, not its parts."""
        if "const" in schema and value != schema["const"]:
            yield f"{schema['const']!r} was expected"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{value!r} is not one of {schema['enum']!r}"
        if isinstance(value, dict):
            if schema.get("additionalProperties") is False:
                for name in value:
                    if name not in schema.get("properties", {}):
                        yield f"Additional properties are not allowed ('{name}' was unexpected)"
            for name in schema.get("required", ()):
                if name not in value:
                    yield f"'{name}' is a required property"
            if len(value) < schema.get("minProperties", 0):
                yield f"{value!r} does not have enough properties"
        elif self._is(value, "array"):
            if len(value) < schema.get("minItems", 0):
                yield f"{value!r} is too short"
            if "maxItems" in schema and len(value) > schema["maxItems"]:
                yield f"{value!r} is too long"
        elif isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{value!r} does not match '{schema['pattern']}'"

    def _items(self, value: Any, items: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        if items == {"type": "number"} and {float, int}.issuperset(map(type, value)):
            return  # usual, and much faster
        for index, item in enumerate(value):
            yield from self.errors(item, items, base, [*path, index])

    def _fits(self, value: Any, schema: Any, base: str) -> bool:
        return next(self.errors(value, schema, base, []), None) is None


def validate(spec: Any, schema_name: str, *, version: str | None = None, allow_tensors: bool = True) -> None:
    """Raises InvalidSpecification. Schemas: "workspace.json", ..."""
    version = version or variables.SCHEMA_VERSION
    if not (isinstance(version, str) and re.fullmatch(r"\w+(\.\w+)*", version)):  # a folder of schemas
        raise exceptions.SchemaNotFound(f"There is no schema of version {version!r}")
    schema = load_schema(str(Path(version) / schema_name))
    error = next(_Validator(allow_tensors).errors(spec, schema, schema["$id"], []), None)
    if error is not None:
        raise exceptions.InvalidSpecification(error, schema_name)
