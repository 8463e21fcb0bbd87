"""A free factor of a sample."""

from typing import Any

from .base import FREE_FACTOR, Builder, FactorApplier


def required_parset(sample_data, modifier_data) -> dict[str, Any]:
    return dict(FREE_FACTOR)


class normfactor_builder(Builder):
    requirement = staticmethod(required_parset)


class normfactor_combined(FactorApplier):
    name = "normfactor"
