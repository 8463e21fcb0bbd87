"""Runs pyhf scripts on Paritas: `import paritas.pyhf as pyhf`, or `paritas.pyhf.install()` before they start.

Names, arguments, results and exceptions are pyhf's; the engine computes likelihoods, fits and tests.
Differences: docs/python/pyhf.md."""

from typing import Any

from .optimize import OptimizerRetriever as optimize  # noqa: F401
from .tensor import BackendRetriever as tensor
from .tensor.manager import get_backend, set_backend
from .pdf import Model  # isort: skip
from .workspace import Workspace
from . import compat, infer, schema, simplemodels
from .patchset import PatchSet
from .import_hook import install, uninstall  # noqa: F401 (ours, so not among pyhf's names)

#: pyhf's version with these names and results: scripts compare it
__version__ = "0.7.6"

__all__ = [
    "Model",
    "PatchSet",
    "Workspace",
    "__version__",
    "compat",
    "default_backend",
    "exceptions",
    "get_backend",
    "infer",
    "interpolators",
    "modifiers",
    "optimizer",
    "parameters",
    "patchset",
    "pdf",
    "probability",
    "schema",
    "set_backend",
    "simplemodels",
    "tensor",
    "tensorlib",
    "utils",
    "workspace",
]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name == "tensorlib":
        return get_backend()[0]
    if name == "optimizer":
        return get_backend()[1]
    if name == "default_backend":
        return get_backend(default=True)[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
