"""Schemas. `with schema(folder):` takes them from another folder."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from . import variables
from .loader import load_schema
from .validator import validate

__all__ = ["load_schema", "path", "validate", "version"]  # noqa: F822 (properties of the module's class)
__dir__ = __all__.copy


class Schema(sys.modules[__name__].__class__):  # type: ignore[misc]
    """A call changes the folder, for good or in a `with` statement."""

    def __call__(self, new_path: pathlib.Path) -> Schema:
        self.orig_path, variables.schemas = variables.schemas, new_path
        self.orig_cache = dict(variables.SCHEMA_CACHE)
        variables.SCHEMA_CACHE.clear()
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        variables.schemas = self.orig_path
        variables.SCHEMA_CACHE.clear()
        variables.SCHEMA_CACHE.update(self.orig_cache)

    @property
    def path(self) -> pathlib.Path:
        return variables.schemas

    @property
    def version(self) -> str:
        return variables.SCHEMA_VERSION


sys.modules[__name__].__class__ = Schema
