"""Parameter sets and views of them."""

from paritas.pyhf.parameters.paramsets import (
    constrained_by_normal,
    constrained_by_poisson,
    paramset,
    unconstrained,
)
from paritas.pyhf.parameters.paramview import ParamViewer
from paritas.pyhf.parameters.utils import reduce_paramsets_requirements

__all__ = [
    "ParamViewer",
    "constrained_by_normal",
    "constrained_by_poisson",
    "paramset",
    "reduce_paramsets_requirements",
    "unconstrained",
]


def __dir__() -> list[str]:
    return __all__
