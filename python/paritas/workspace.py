"""Workspaces and patch sets: JSON documents."""
from __future__ import annotations

import json
import os
from typing import Any, Iterator, Mapping, Sequence, Union

import numpy as np

from ._engine import Document

#: what stands for a document: a file's path, its content, or the document itself
DocumentLike = Union[str, "os.PathLike[str]", Mapping[str, Any], Sequence[Any], "Workspace", Document]


def _plain(value: Any) -> Any:
    """NumPy's arrays and numbers as JSON knows them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a document holds dicts, lists, texts and numbers, not {type(value).__name__}: {value!r:.60}")


def document(given: DocumentLike, label: str = "document") -> Document:
    """The document behind a path, a dict (or list) or a Workspace."""
    if isinstance(given, Document):
        return given
    if isinstance(given, Workspace):
        return given.document
    if isinstance(given, (str, os.PathLike)):
        return Document.read(os.fspath(given))
    if isinstance(given, (Mapping, Sequence)) and not isinstance(given, (bytes, bytearray)):
        return Document.parse(json.dumps(given, default=_plain, ensure_ascii=False, allow_nan=True).encode(), label)
    raise TypeError(f"a path, a dict or a Workspace is wanted, not {type(given).__name__}; JSON text is read by Workspace.loads")


class Workspace:
    """A pyhf JSON workspace. Immutable: operations answer new ones."""

    def __init__(self, given: DocumentLike) -> None:
        """From a dict, or a file's path."""
        self.document = document(given, "workspace")

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Workspace":
        """From a file."""
        return cls(Document.read(os.fspath(path)))

    @classmethod
    def loads(cls, text: Union[str, bytes]) -> "Workspace":
        """From JSON text."""
        return cls(Document.parse(text.encode() if isinstance(text, str) else text, "workspace"))

    def patch(self, patch: DocumentLike) -> "Workspace":
        """A copy with a JSON Patch (RFC 6902) applied."""
        return Workspace(self.document.patch(document(patch, "patch")))

    def digest(self) -> str:
        """pyhf's digest: "sha256:" and 64 digits."""
        return self.document.digest()

    def to_json(self, indent: int = 0) -> str:
        """As JSON text; `indent` 0: one line."""
        return self.document.text(indent)

    def to_dict(self) -> dict[str, Any]:
        """As Python objects."""
        found: dict[str, Any] = json.loads(self.document.text())
        return found


class PatchSet:
    """A pyhf patch set: named patches of one workspace, told apart by the values of its labels. Iterates over the names."""

    def __init__(self, given: DocumentLike) -> None:
        self.document = document(given, "patch set")
        self.names: list[str] = self.document.patch_names()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def verify(self, workspace: DocumentLike) -> None:
        """Raises InvalidInput unless the digests of this patch set are the workspace's."""
        self.document.verify(document(workspace, "workspace"))

    def apply(self, workspace: DocumentLike, name: str) -> Workspace:
        """The workspace with the patch of that name, after the digests were checked."""
        return Workspace(self.document.apply(document(workspace, "workspace"), name))

    def to_dict(self) -> dict[str, Any]:
        """As Python objects: metadata, patches with their values."""
        found: dict[str, Any] = json.loads(self.document.text())
        return found
