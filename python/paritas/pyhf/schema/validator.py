"""Documents against JSON schemas (draft 6), as far as schemas of workspaces use it."""

from __future__ import annotations

import numbers
import re
from pathlib import Path
from typing import Any, Callable, Iterator
from urllib.parse import urljoin

import numpy as np

from paritas.pyhf import exceptions
from paritas.pyhf.schema import variables
from paritas.pyhf.schema.loader import load_schema


class ValidationError(Exception):
    """What is wrong, and where: `path` are the steps to `instance`."""

    def __init__(self, message: str, path: list[Any], instance: Any) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.instance = instance


def _is_number(value: Any) -> bool:
    kind = type(value)
    if kind is float or kind is int:  # what nearly all are: an abstract class takes ten times as long to ask
        return True
    return isinstance(value, numbers.Number) and not isinstance(value, (bool, np.bool_))


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_TYPES_WITH_TENSORS = {
    **_TYPES,
    "array": lambda value: isinstance(value, (list, np.ndarray)),
    "number": _is_number,
}


class _Validator:
    """One document: `allow_tensors` lets NumPy's arrays and numbers stand for lists and numbers."""

    def __init__(self, allow_tensors: bool) -> None:
        self.types = _TYPES_WITH_TENSORS if allow_tensors else _TYPES
        self.resolved: dict[tuple[str, str], tuple[Any, str]] = {}

    def _resolve(self, reference: str, base: str) -> tuple[Any, str]:
        found = self.resolved.get((reference, base))
        if found is None:
            target, _, fragment = urljoin(base, reference).partition("#")
            schema = load_schema(target.removeprefix(variables.SCHEMA_BASE))
            for step in fragment.split("/"):
                schema = schema[step] if step else schema
            found = self.resolved[reference, base] = (schema, target)
        return found

    def errors(self, value: Any, schema: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        """All errors of a value, the nearest first."""
        if "$ref" in schema:
            resolved, base = self._resolve(schema["$ref"], base)
            yield from self.errors(value, resolved, base, path)
            return
        kind = schema.get("type")
        if kind is not None and not self.types[kind](value):
            yield ValidationError(f"{value!r} is not of type '{kind}'", path, value)
            return
        if "const" in schema and value != schema["const"]:
            yield ValidationError(f"{schema['const']!r} was expected", path, value)
        if "enum" in schema and value not in schema["enum"]:
            yield ValidationError(f"{value!r} is not one of {schema['enum']!r}", path, value)
        if isinstance(value, dict):
            yield from self._object(value, schema, base, path)
        elif self.types["array"](value):
            yield from self._array(value, schema, base, path)
        elif isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            yield ValidationError(f"{value!r} does not match '{schema['pattern']}'", path, value)
        yield from self._combinations(value, schema, base, path)

    def _object(self, value: Any, schema: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is False:
            for name in value:
                if name not in properties:
                    yield ValidationError(
                        f"Additional properties are not allowed ('{name}' was unexpected)", path, value
                    )
        for name in schema.get("required", ()):
            if name not in value:
                yield ValidationError(f"'{name}' is a required property", path, value)
        if len(value) < schema.get("minProperties", 0):
            yield ValidationError(f"{value!r} does not have enough properties", path, value)
        for name, part in properties.items():
            if name in value:
                yield from self.errors(value[name], part, base, [*path, name])

    def _array(self, value: Any, schema: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        if len(value) < schema.get("minItems", 0):
            yield ValidationError(f"{value!r} is too short", path, value)
        if "maxItems" in schema and len(value) > schema["maxItems"]:
            yield ValidationError(f"{value!r} is too long", path, value)
        items = schema.get("items")
        if items is None:
            return
        if items == {"type": "number"} and all(map(self.types["number"], value)):
            return
        for index, item in enumerate(value):
            yield from self.errors(item, items, base, [*path, index])

    def _combinations(self, value: Any, schema: Any, base: str, path: list[Any]) -> Iterator[ValidationError]:
        for part in schema.get("allOf", ()):
            yield from self.errors(value, part, base, path)
        if "anyOf" in schema and not any(self._fits(value, part, base) for part in schema["anyOf"]):
            yield ValidationError(f"{value!r} is not valid under any of the given schemas", path, value)
        if "oneOf" in schema and sum(self._fits(value, part, base) for part in schema["oneOf"]) != 1:
            yield ValidationError(f"{value!r} is not valid under one of the given schemas alone", path, value)

    def _fits(self, value: Any, schema: Any, base: str) -> bool:
        return next(self.errors(value, schema, base, []), None) is None


def validate(spec: Any, schema_name: str, *, version: str | None = None, allow_tensors: bool = True) -> None:
    """Checks a document against a schema ("workspace.json"). InvalidSpecification: it is wrong;
    SchemaNotFound: there is no such schema."""
    schema = load_schema(str(Path(version or variables.SCHEMA_VERSION) / schema_name))
    error = next(_Validator(allow_tensors).errors(spec, schema, schema["$id"], []), None)
    if error is not None:
        raise exceptions.InvalidSpecification(error, schema_name)
