"""A free factor of a sample."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.modifiers.base import NAMED_ONCE, Builder, FactorApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(NAMED_ONCE)


class normfactor_builder(Builder):
    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class normfactor_combined(FactorApplier):
    name = "normfactor"
