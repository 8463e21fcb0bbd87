"""The modifiers of HistFactory, in the order in which their parameters stand in a model."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.modifiers.histosys import histosys_builder, histosys_combined
from paritas.pyhf.modifiers.lumi import lumi_builder, lumi_combined
from paritas.pyhf.modifiers.normfactor import normfactor_builder, normfactor_combined
from paritas.pyhf.modifiers.normsys import normsys_builder, normsys_combined
from paritas.pyhf.modifiers.shapefactor import shapefactor_builder, shapefactor_combined
from paritas.pyhf.modifiers.shapesys import shapesys_builder, shapesys_combined
from paritas.pyhf.modifiers.staterror import staterror_builder, staterror_combined

__all__ = [
    "histfactory_set",
    "histosys",
    "histosys_builder",
    "histosys_combined",
    "lumi",
    "lumi_builder",
    "lumi_combined",
    "normfactor",
    "normfactor_builder",
    "normfactor_combined",
    "normsys",
    "normsys_builder",
    "normsys_combined",
    "shapefactor",
    "shapefactor_builder",
    "shapefactor_combined",
    "shapesys",
    "shapesys_builder",
    "shapesys_combined",
    "staterror",
    "staterror_builder",
    "staterror_combined",
]


def __dir__() -> list[str]:
    return __all__


histfactory_set: dict[str, tuple[Any, Any]] = {
    "histosys": (histosys_builder, histosys_combined),
    "lumi": (lumi_builder, lumi_combined),
    "normfactor": (normfactor_builder, normfactor_combined),
    "normsys": (normsys_builder, normsys_combined),
    "shapefactor": (shapefactor_builder, shapefactor_combined),
    "shapesys": (shapesys_builder, shapesys_combined),
    "staterror": (staterror_builder, staterror_combined),
}
