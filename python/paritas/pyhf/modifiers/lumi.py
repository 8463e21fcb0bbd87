"""The luminosity, a factor configured by the measurement."""

from typing import Any

from .base import STANDARD_NORMAL, Builder, FactorApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return {**STANDARD_NORMAL, "inits": None, "bounds": None, "auxdata": None, "sigmas": None}


class lumi_builder(Builder):
    requirement = staticmethod(required_parset)


class lumi_combined(FactorApplier):
    name = "lumi"
