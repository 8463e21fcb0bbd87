"""`import pyhf` becomes `paritas.pyhf`, for programs that nobody may change."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Sequence

from .choices import ABSENT_BACKEND, CHOICES, MINIMIZERS

__all__ = ["install", "uninstall"]

_THEIRS = "pyhf"
_OURS = __name__.rpartition(".")[0]
_set_aside: dict[str, ModuleType] = {}


def _below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


class _Finder(MetaPathFinder, Loader):
    """Answers pyhf[.x.y] with the very module paritas.pyhf[.x.y]."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _below(fullname, _THEIRS):
            return None
        ours = _OURS + fullname[len(_THEIRS) :]
        if find_spec(ours) is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: {_OURS} stands for {_THEIRS} and does not have it",
                name=fullname,
            )
        return ModuleSpec(fullname, self, origin=ours)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(str(spec.origin))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Has run before. Puts back its own spec, which importlib has overwritten."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


_finder = _Finder()


def install(
    absent_backend: str | None = None, minimizers: str | None = None, *, minimisers: str | None = None
) -> None:
    """From now on `import pyhf` and its submodules give paritas.pyhf's, one copy of each.

    absent_backend: what `set_backend` and `pyhf.tensor` do for jax, pytorch and tensorflow. "error" raises
    ImportBackendError, "numpy" gives NumPy with one warning.

    minimizers: what fits. "engine" is Paritas. "original" is what pyhf calls, SciPy's SLSQP or iminuit, on
    the likelihood of Paritas.

    None: the environment variables PARITAS_PYHF_ABSENT_BACKEND and PARITAS_PYHF_MINIMIZERS, else "error" and
    "engine". Modules that have imported pyhf before keep it."""
    ABSENT_BACKEND.choose(absent_backend)
    MINIMIZERS.choose(minimisers if minimizers is None else minimizers)
    if _finder in sys.meta_path:
        return
    _set_aside.update({name: module for name, module in sys.modules.items() if _below(name, _THEIRS)})
    if _set_aside:
        warnings.warn(_said_of_holders(), stacklevel=2)
    for name in _set_aside:
        del sys.modules[name]
    sys.meta_path.insert(0, _finder)
    for name in [name for name in sys.modules if _below(name, _OURS)]:
        sys.modules[_THEIRS + name[len(_OURS) :]] = sys.modules[name]
    # levels and handlers that a program gives to "pyhf" hold for our messages
    _logger_above_ours()
    logging.getLogger(_OURS).parent = logging.getLogger(_THEIRS)


def uninstall() -> None:
    """`import pyhf` gives pyhf again. Modules that hold paritas.pyhf keep it."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if _below(name, _THEIRS)]:
        del sys.modules[name]
    sys.modules.update(_set_aside)
    _set_aside.clear()
    for choice in CHOICES:
        choice.choose(None)
    logging.getLogger(_OURS).parent = _logger_above_ours()


def _said_of_holders() -> str:
    """Names the packages that keep pyhf. They are slow, and nothing else shows it."""
    theirs = {id(module) for module in _set_aside.values()}
    holders = {
        name.partition(".")[0]
        for name, module in list(sys.modules.items())
        if not _below(name, _THEIRS)
        and any(id(held) in theirs for held in list(getattr(module, "__dict__", {}).values()))
    }
    return (
        "pyhf was imported before paritas.pyhf.install(). These modules keep pyhf and do not run on Paritas: "
        f"{', '.join(sorted(holders)) or 'those that hold a part of it'}. Call install() above their imports"
    )


def _logger_above_ours() -> logging.Logger:
    """Must exist before ours gets another parent: a logger made later would take its place."""
    return logging.getLogger(_OURS.rpartition(".")[0])
