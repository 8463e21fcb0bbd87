"""A free factor of a sample."""

from typing import Any

from .base import FREE_FACTOR, Builder, FactorApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(FREE_FACTOR)


class normfactor_builder(Builder):
    requirement = staticmethod(required_parset)


class normfactor_combined(FactorApplier):
    name = "normfactor"
