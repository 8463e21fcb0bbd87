"""Parameter sets and views of them."""

from .paramsets import constrained_by_normal, constrained_by_poisson, paramset, unconstrained
from .paramview import ParamViewer
from .utils import reduce_paramsets_requirements

__all__ = [
    "ParamViewer",
    "constrained_by_normal",
    "constrained_by_poisson",
    "paramset",
    "reduce_paramsets_requirements",
    "unconstrained",
]
__dir__ = __all__.copy
