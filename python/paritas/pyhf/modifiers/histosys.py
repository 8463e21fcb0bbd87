"""A constrained parameter that interpolates between two histograms."""

from __future__ import annotations

from typing import Any, Sequence

from paritas.pyhf.modifiers.base import STANDARD_NORMAL, Builder, InterpolationApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(STANDARD_NORMAL)


class histosys_builder(Builder):
    fields = ("lo_data", "nom_data", "hi_data", "mask")

    def collect(self, thismod: Any, nom: Sequence[float]) -> dict[str, list[Any]]:
        low, high = (thismod["data"]["lo_data"], thismod["data"]["hi_data"]) if thismod else (nom, nom)
        return {
            "lo_data": list(low),
            "hi_data": list(high),
            "mask": [bool(thismod)] * len(nom),
            "nom_data": list(nom),
        }

    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class histosys_combined(InterpolationApplier):
    name = "histosys"
    codes = ("code0", "code2", "code4p")
    op_code = "addition"
    histograms = ("lo_data", "nom_data", "hi_data")

    def __init__(
        self,
        modifiers: Any,
        pdfconfig: Any,
        builder_data: Any,
        interpcode: str = "code0",
        batch_size: int | None = None,
    ) -> None:
        super().__init__(modifiers, pdfconfig, builder_data, interpcode, batch_size)
