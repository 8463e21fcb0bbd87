"""What all conversions share: their answer, their error, and JSON that is read strictly, with the place of
each value at hand."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

from .._engine import InvalidInput
from ..files import PathLike, write_text


class ConversionError(InvalidInput):
    """A document that is wrong, or says what the target cannot express: `where` (file, JSON pointer or
    element) and `why`."""

    status = "INVALID_INPUT"

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


@dataclass
class Conversion:
    """A converted document.

    spec: the workspace (or HS3 document), plain lists and dicts.
    notes: what was left out or decided on the way, one sentence each; empty where both formats say the same.
    names: parameter names of the other format -> names here; `name[i]` is element i of a set with one
        parameter a bin.
    modifier_settings: the interpolation codes that the model is to be built with (pyhf's
        `modifier_settings`); a workspace cannot carry them.
    """

    spec: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    modifier_settings: dict[str, dict[str, str]] = field(default_factory=lambda: settings("code4", "code4p"))


def settings(normsys: str, histosys: str) -> dict[str, dict[str, str]]:
    """pyhf's `modifier_settings` for two interpolation codes."""
    return {"normsys": {"interpcode": normsys}, "histosys": {"interpcode": histosys}}


class Node:
    """A JSON value with its place (a JSON pointer); readers that refuse what is not what they want."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def refuse(self, why: str) -> ConversionError:
        return ConversionError(self.path or "/", why)

    def object(self, required: str = "", optional: str = "") -> "Node":
        """This node, an object with these keys (names parted by blanks) and no others."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object is wanted")
        must = required.split()
        for key in must:
            if key not in self.value:
                raise self.refuse(f"'{key}' is missing")
        known = {*must, *optional.split()}
        for key in self.value:
            if key not in known:
                raise ConversionError(f"{self.path}/{key}", "this key is not known here")
        return self

    def __getitem__(self, key: str) -> "Node":
        if not isinstance(self.value, dict) or key not in self.value:
            raise self.refuse(f"an object with '{key}' is wanted")
        return Node(self.value[key], f"{self.path}/{key}")

    def get(self, key: str) -> Optional["Node"]:
        """The value of a key that may be absent; null counts as absent."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object is wanted")
        return self[key] if self.value.get(key) is not None else None

    def __iter__(self) -> Iterator["Node"]:
        if not isinstance(self.value, list):
            raise self.refuse("an array is wanted")
        return (Node(item, f"{self.path}/{i}") for i, item in enumerate(self.value))

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.refuse("a string is wanted")
        return self.value

    def strings(self) -> list[str]:
        return [item.string() for item in self]

    def number(self) -> float:
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, (int, float))
            or not abs(self.value) <= sys.float_info.max
        ):
            raise self.refuse("a finite number is wanted")
        return self.value

    def numbers(self, count: Optional[int] = None) -> list[float]:
        found = [item.number() for item in self]
        if count is not None and len(found) != count:
            raise self.refuse(f"{count} numbers are wanted, one a bin, not {len(found)}")
        return found


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError("key given twice: " + next(key for key in keys if keys.count(key) > 1))
    return found


def _not_a_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")


def read_json(path: PathLike) -> Any:
    """The JSON document in a file; ConversionError where it is none (keys given twice and NaN are not JSON),
    OSError where it cannot be read."""
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file, object_pairs_hook=_no_duplicates, parse_constant=_not_a_number)
        except (ValueError, RecursionError) as error:
            raise ConversionError(os.fspath(path), f"no JSON document: {error}") from error


def write_json(document: Any, path: PathLike) -> None:
    """Writes a JSON document (indent 4, as pyhf writes) whole or not at all."""
    write_text(json.dumps(document, indent=4, ensure_ascii=False, allow_nan=False) + "\n", path)
