"""JSON values with their places."""

import json
import os
import sys
from typing import Any, Iterator, Optional

from .._engine import InvalidInput
from ..files import PathLike
from ..workspace import Workspace
from .conversion import ConversionError, Place


class Node(Place):
    """A JSON value and its JSON pointer. Methods return the value or refuse its type.

    `get` returns an absent node, false and empty, for a missing or null key."""

    def __init__(self, value: Any, path: str = "", present: bool = True) -> None:
        self.value, self.path, self.place, self.present = value, path, path or "/", present

    def __bool__(self) -> bool:
        return self.present

    def object(self, required: str, optional: str = "") -> "Node":
        """Refuses all but these keys (separated by blanks)."""
        for key in required.split():
            self[key]
        for key in self._keys():
            if key not in f"{required} {optional}".split():
                raise self.get(key).refuse("this key is not known here")
        return self

    def _keys(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.refuse("must be an object")
        return self.value

    def get(self, key: str) -> "Node":
        value = self._keys().get(key) if self else None
        return Node(value, f"{self.path}/{key}", value is not None)

    def __getitem__(self, key: str) -> "Node":
        node = self.get(key)
        if key not in self._keys():
            raise self.refuse(f"'{key}' is missing")
        node.present = True
        return node

    def __iter__(self) -> Iterator["Node"]:
        if self and not isinstance(self.value, list):
            raise self.refuse("must be an array")
        return (Node(item, f"{self.path}/{i}") for i, item in enumerate(self.value or ()))

    def string(self, default: Optional[str] = None) -> str:
        value = self.value if self else default
        if not isinstance(value, str):
            raise self.refuse("must be a string")
        return value

    def strings(self) -> list[str]:
        return [item.string() for item in self]

    def number(self, default: Optional[float] = None) -> float:
        value = self.value if self else default
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if abs(value) <= sys.float_info.max:
                return value
        raise self.refuse("must be a finite number")

    def truth(self) -> bool:
        """False if absent. 0 and 1 are truths, too."""
        if self and (isinstance(self.value, float) or self.value not in (False, True)):
            raise self.refuse("must be true or false")
        return bool(self.value)

    def numbers(self, count: Optional[int] = None) -> list[float]:
        found = [item.number() for item in self]
        if count is not None and len(found) != count:
            raise self.refuse(f"must have {count} numbers, not {len(found)}")
        return found


ABSENT = Node(None, present=False)


def read_json(path: PathLike) -> Any:
    """Raises ConversionError unless strict JSON, OSError if unreadable."""
    name = os.fspath(path)
    try:
        return Workspace.read(name).to_dict()
    except InvalidInput as error:
        raise ConversionError(name, f"not a JSON document: {str(error)[len(name) + 2 :]}") from None


def json_text(document: Any) -> str:
    """Indented by 4, as pyhf."""
    return json.dumps(document, indent=4, ensure_ascii=False, allow_nan=False) + "\n"
