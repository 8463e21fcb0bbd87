"""The luminosity, a factor of all samples that have it; value, width and bounds are the measurement's."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.modifiers.base import STANDARD_NORMAL, Builder, FactorApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return {**STANDARD_NORMAL, "inits": None, "bounds": None, "auxdata": None, "sigmas": None}


class lumi_builder(Builder):
    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class lumi_combined(FactorApplier):
    name = "lumi"
