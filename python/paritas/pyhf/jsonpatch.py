"""JSON Patch (RFC 6902) with JSON Pointers (RFC 6901), on documents of dicts and lists."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, Iterator, Sequence


def copied(value: Any) -> Any:
    """A copy of a document that shares nothing which can change: what copy.deepcopy gives, in a fraction of
    its time."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value if value is None or isinstance(value, (str, float, int)) else copy.deepcopy(value)


class JsonPatchException(Exception):
    """A patch that cannot be applied, or is none."""


class JsonPatchConflict(JsonPatchException):
    """What an operation speaks of is not there."""


class JsonPatchTestFailed(JsonPatchException, AssertionError):
    """A "test" operation found another value."""


def _steps(pointer: str) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise JsonPatchException(f"{pointer!r} is no JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _index(container: list[Any], step: str, pointer: str, to_insert: bool) -> int:
    if to_insert and step == "-":
        return len(container)
    if not re.fullmatch("0|[1-9][0-9]*", step) or int(step) >= len(container) + to_insert:
        raise JsonPatchConflict(f"{pointer}: a list of {len(container)} has no place {step!r}")
    return int(step)


def _child(container: Any, step: str, pointer: str) -> Any:
    if isinstance(container, list):
        return container[_index(container, step, pointer, False)]
    if not isinstance(container, dict) or step not in container:
        raise JsonPatchConflict(f"{pointer}: there is no {step!r}")
    return container[step]


def _same(found: Any, wanted: Any) -> bool:
    """Equal as JSON: numbers by value, but true and false are none, as they are in Python."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(
            _same(value, wanted[key]) for key, value in found.items()
        )
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return isinstance(found, bool) == isinstance(wanted, bool) and bool(found == wanted)


class _Root:
    """A document behind one more step, so that it can itself be replaced."""

    def __init__(self, document: Any) -> None:
        self.holder = {"": document}

    def parent(self, pointer: str) -> tuple[Any, str]:
        container: Any = self.holder
        last = ""
        for step in _steps(pointer):
            container, last = _child(container, last, pointer), step
        return container, last

    def get(self, pointer: str) -> Any:
        return _child(*self.parent(pointer), pointer)

    def add(self, pointer: str, value: Any) -> None:
        container, last = self.parent(pointer)
        if isinstance(container, list):
            container.insert(_index(container, last, pointer, True), value)
        elif isinstance(container, dict):
            container[last] = value
        else:
            raise JsonPatchConflict(f"{pointer}: there is nothing that holds it")

    def remove(self, pointer: str) -> Any:
        container, last = self.parent(pointer)
        value = _child(container, last, pointer)
        del container[_index(container, last, pointer, False) if isinstance(container, list) else last]
        return value


def _apply(root: _Root, operation: Any) -> None:
    kind, path = operation["op"], operation["path"]
    if kind == "add":
        root.add(path, copied(operation["value"]))
    elif kind == "remove":
        root.remove(path)
    elif kind == "replace":
        container, last = root.parent(path)
        _child(container, last, path)
        container[int(last) if isinstance(container, list) else last] = copied(operation["value"])
    elif kind == "move":
        root.add(path, root.remove(operation["from"]))
    elif kind == "copy":
        root.add(path, copied(root.get(operation["from"])))
    elif kind == "test":
        found = root.get(path)
        if not _same(found, operation["value"]):
            raise JsonPatchTestFailed(f"{path}: {found!r} is not {operation['value']!r}")
    else:
        raise JsonPatchException(f"{kind!r} is no operation of a JSON Patch")


class JsonPatch:
    """A list of operations. Equal to another with the same ones; iterates over them."""

    def __init__(self, patch: Sequence[Any]) -> None:
        self.patch = list(patch)

    def apply(self, obj: Any, in_place: bool = False) -> Any:
        """The document with all operations done; a copy unless `in_place`."""
        root = _Root(obj if in_place else copied(obj))
        for operation in self.patch:
            try:
                _apply(root, operation)
            except KeyError as error:
                raise JsonPatchException(f"the operation {operation!r} has no {error}") from None
        return root.holder[""]

    def to_string(self) -> str:
        """As JSON."""
        return json.dumps(self.patch)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.patch)

    def __bool__(self) -> bool:
        return bool(self.patch)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonPatch) and self.patch == other.patch

    def __hash__(self) -> int:
        return hash(json.dumps(self.patch, sort_keys=True))

    def __str__(self) -> str:
        return self.to_string()
