"""Interpolates between two histograms."""

from typing import Any

from .base import STANDARD_NORMAL, Builder, InterpolationApplier


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return dict(STANDARD_NORMAL)


class histosys_builder(Builder):
    fields = ("lo_data", "nom_data", "hi_data", "mask")
    requirement = staticmethod(required_parset)

    def details(self, thismod: Any, nom: Any) -> dict[str, Any]:
        data = thismod["data"] if thismod else {"lo_data": nom, "hi_data": nom}
        return {"lo_data": list(data["lo_data"]), "hi_data": list(data["hi_data"]), "nom_data": list(nom)}


class histosys_combined(InterpolationApplier):
    name = "histosys"
    codes = ("code0", "code2", "code4p")
    op_code = "addition"
    histograms = ("lo_data", "nom_data", "hi_data")
