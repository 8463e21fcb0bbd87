"""Paritas: statistical models fitted one at a time or by the million, with the same bits on every device.

    import paritas

    paritas.fit("workspace.json")    # best fit, errors, covariance
    model = paritas.Model.from_workspace("workspace.json")    # read once for several questions
    model.hypotest(1.0)              # CLs, observed and expected
    model.upper_limit()              # mu where CLs = 0.05

Modules, imported at first use: `paritas.pyhf` (pyhf's names over this engine), `paritas.torch` and
`paritas.jax` (differentiable statistics), `paritas.losscone` and `paritas.kappa` (electrons at the Moon),
`paritas.plot`, `paritas.report`, `paritas.convert`, `paritas.steering` (templates to workspaces),
`paritas.dask`."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ._engine import (
    VERSION as __version__,
    DeviceUnavailable,
    Error,
    InvalidArgument,
    InvalidInput,
    NotConverged,
    NotFound,
    OutOfMemory,
    Unreadable,
    Unwritable,
)
from .devices import devices, has_cuda, has_metal, has_opencl, set_defaults
from .model import FUNCTIONS as _FUNCTIONS, Channel, Model
from .other_programs import name_hint
from .workspace import PatchSet, Workspace

if TYPE_CHECKING:
    from .fits import fit, fit_batch, minos
    from .inference import (
        asimov_data,
        breakdown,
        compatibility,
        contour,
        global_impacts,
        goodness_of_fit,
        hypotest,
        interval,
        predict,
        ranking,
        scan,
        significance,
        upper_limit,
    )
    from .results import Device
    from .sampling import sample
    from .simplified import moments, signals, simplify
    from .toys import (
        compatibility_toys,
        fit_toys,
        generate,
        goodness_of_fit_toys,
        hypotest_of_store,
        hypotest_toys,
        interval_toys,
        look_elsewhere,
        merge,
        read_data,
        read_store,
        significance_toys,
        upper_limit_toys,
    )
    from .unfolding import penalise, unfold

#: imported at first use, so that `import paritas` costs little more than NumPy
_LAZY = {name: module for module, names in _FUNCTIONS.items() for name in names}
_LAZY.update(
    hypotest_of_store="toys", look_elsewhere="toys", merge="toys", read_store="toys", Device="results"
)
_MODULES = (
    "convert",
    "dask",
    "fits",
    "inference",
    "jax",
    "kappa",
    "losscone",
    "plot",
    "pyhf",
    "report",
    "results",
    "sampling",
    "simplified",
    "spey",
    "steering",
    "torch",
    "toys",
    "unfolding",
)

#: modules that cannot be imported without the package of their name
_NEEDED = ("jax", "spey", "torch")

__all__ = [
    "Channel",
    "Device",
    "DeviceUnavailable",
    "Error",
    "InvalidArgument",
    "InvalidInput",
    "Model",
    "NotConverged",
    "NotFound",
    "OutOfMemory",
    "PatchSet",
    "Unreadable",
    "Unwritable",
    "Workspace",
    "__version__",
    "asimov_data",
    "breakdown",
    "compatibility",
    "compatibility_toys",
    "contour",
    "devices",
    "fit",
    "fit_batch",
    "fit_toys",
    "generate",
    "global_impacts",
    "goodness_of_fit",
    "goodness_of_fit_toys",
    "has_cuda",
    "has_metal",
    "has_opencl",
    "hypotest",
    "hypotest_of_store",
    "hypotest_toys",
    "interval",
    "interval_toys",
    "look_elsewhere",
    "merge",
    "minos",
    "moments",
    "penalise",
    "predict",
    "ranking",
    "read_data",
    "read_store",
    "sample",
    "scan",
    "set_defaults",
    "signals",
    "significance",
    "significance_toys",
    "simplify",
    "unfold",
    "upper_limit",
    "upper_limit_toys",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'paritas' has no attribute {name!r}{name_hint(name)}")


def __dir__() -> list[str]:
    """The public names, without what cannot be imported here: help() and tab completion ask for every one."""
    missing = {name for name in _NEEDED if find_spec(name) is None}
    own = {name for name in globals() if name.startswith("__")}
    return sorted({*own, *__all__, *_MODULES} - missing)
