"""Interpolates between two factors."""

from typing import Any

from .base import STANDARD_NORMAL, Builder, InterpolationApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(STANDARD_NORMAL)


class normsys_builder(Builder):
    fields = ("lo", "nom_data", "hi", "mask")
    requirement = staticmethod(required_parset)

    def details(self, thismod: Any, nom: Any) -> dict[str, Any]:
        data, bins = thismod["data"] if thismod else {"lo": 1.0, "hi": 1.0}, len(nom)
        return {"lo": [data["lo"]] * bins, "hi": [data["hi"]] * bins, "nom_data": [1.0] * bins}


class normsys_combined(InterpolationApplier):
    name = "normsys"
    codes = ("code1", "code4")
    histograms = ("lo", "nom_data", "hi")
