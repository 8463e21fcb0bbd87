"""A constrained parameter that interpolates between two factors."""

from __future__ import annotations

from typing import Any, Sequence

from paritas.pyhf.modifiers.base import STANDARD_NORMAL, Builder, InterpolationApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(STANDARD_NORMAL)


class normsys_builder(Builder):
    fields = ("lo", "nom_data", "hi", "mask")

    def collect(self, thismod: Any, nom: Sequence[float]) -> dict[str, list[Any]]:
        bins = len(nom)
        low, high = (thismod["data"]["lo"], thismod["data"]["hi"]) if thismod else (1.0, 1.0)
        return {
            "lo": [low] * bins,
            "hi": [high] * bins,
            "mask": [bool(thismod)] * bins,
            "nom_data": [1.0] * bins,
        }

    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class normsys_combined(InterpolationApplier):
    name = "normsys"
    codes = ("code1", "code4")
    op_code = "multiplication"
    histograms = ("lo", "nom_data", "hi")

    def __init__(
        self,
        modifiers: Any,
        pdfconfig: Any,
        builder_data: Any,
        interpcode: str = "code1",
        batch_size: int | None = None,
    ) -> None:
        super().__init__(modifiers, pdfconfig, builder_data, interpcode, batch_size)
