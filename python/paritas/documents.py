"""JSON documents: what functions accept where they want one."""

import json
import os
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from ._engine import Document
from .files import PathLike as Path


class Documented:
    """The base of objects that stand for their document."""

    document: Document


#: a file's path, its content, or the document itself
DocumentLike = Union[Path, Mapping[str, Any], Sequence[Any], Documented, Document]


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(
        f"a document holds dicts, lists, texts and numbers, not {type(value).__name__}: {value!r:.60}"
    )


def names_of(given: Iterable[str]) -> list[str]:
    """A list of names; one text is one name."""
    found = [] if isinstance(given, (str, bytes)) else list(given)
    if isinstance(given, (str, bytes)) or not all(isinstance(name, str) for name in found):
        raise TypeError(f"a sequence of names is wanted, not {given!r}")
    return found


def document(given: DocumentLike, label: str = "document") -> Document:
    if isinstance(given, Document):
        return given
    if isinstance(given, Documented):
        return given.document
    if isinstance(given, (str, os.PathLike)):
        return Document.read(os.fspath(given))
    if isinstance(given, (Mapping, Sequence)) and not isinstance(given, (bytes, bytearray)):
        return Document.parse(
            json.dumps(given, default=_plain, ensure_ascii=False, allow_nan=True).encode(), label
        )
    raise TypeError(
        f"a path, a dict or a Workspace is wanted, not {type(given).__name__}; "
        "JSON text is read by Workspace.loads"
    )
