"""Schemas of documents. `with schema(folder):` uses those of another folder."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from paritas.pyhf.schema import variables
from paritas.pyhf.schema.loader import load_schema
from paritas.pyhf.schema.validator import validate

__all__ = ["load_schema", "path", "validate", "version"]  # noqa: F822 (properties of the module's class)


def __dir__() -> list[str]:
    return __all__


class Schema(sys.modules[__name__].__class__):  # type: ignore[misc]
    """This module: called with a folder it takes schemas from there, until the end of a `with` if it is called in one."""

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
        """The folder of the schemas."""
        return variables.schemas

    @property
    def version(self) -> str:
        """Of the schemas, unless another is asked for."""
        return variables.SCHEMA_VERSION


sys.modules[__name__].__class__ = Schema
