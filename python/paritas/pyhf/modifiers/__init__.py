"""HistFactory's modifiers, in the order of a model's parameters."""

from typing import Any

from .histosys import histosys_builder, histosys_combined
from .lumi import lumi_builder, lumi_combined
from .normfactor import normfactor_builder, normfactor_combined
from .normsys import normsys_builder, normsys_combined
from .shapefactor import shapefactor_builder, shapefactor_combined
from .shapesys import shapesys_builder, shapesys_combined
from .staterror import staterror_builder, staterror_combined

histfactory_set: dict[str, Any] = {
    "histosys": (histosys_builder, histosys_combined),
    "lumi": (lumi_builder, lumi_combined),
    "normfactor": (normfactor_builder, normfactor_combined),
    "normsys": (normsys_builder, normsys_combined),
    "shapefactor": (shapefactor_builder, shapefactor_combined),
    "shapesys": (shapesys_builder, shapesys_combined),
    "staterror": (staterror_builder, staterror_combined),
}

__all__ = ["histfactory_set"]
__all__ += [kind + part for kind in histfactory_set for part in ("", "_builder", "_combined")]
__dir__ = __all__.copy
