"""ROOT files, each opened once."""

import os
from contextlib import ExitStack
from typing import Any

from ..convert.root_files import reading, uproot
from .places import Place, nearest


def kind_of(found: Any) -> str:
    """The class of an object in a ROOT file, for messages."""
    return str(getattr(found, "classname", type(found).__name__))


class OpenFiles:
    """A context manager that closes what it opened. folder: where relative paths start."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.stack = ExitStack()
        self.opened: dict[str, Any] = {}

    def __enter__(self) -> "OpenFiles":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def full(self, path: str) -> str:
        path = path if "://" in path else os.path.expanduser(path)
        return path if "://" in path or self.folder == os.curdir else os.path.join(self.folder, path)

    def open(self, path: str, place: Place) -> Any:
        """A file by its full path."""
        if path not in self.opened:
            if "://" not in path and not os.path.isfile(path):
                raise place.refuse(f"there is no file {path}")
            with reading(path, place.refuse):
                self.opened[path] = self.stack.enter_context(uproot().open(path))
        return self.opened[path]

    def object(self, path: str, name: str, place: Place) -> Any:
        """What a file has under a name."""
        file = self.open(path, place)
        with reading(path, place.refuse):
            if name in file:
                return file[name]
            known = file.keys(cycle=False)
        hint = nearest(name, known) or f"; it has {', '.join(known[:10])}{', ...' if known[10:] else ''}"
        raise place.refuse(f"{path} has no '{name}'{hint}")
