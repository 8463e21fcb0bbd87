"""A factor of each bin, constrained by a count: what an auxiliary measurement with the sample's relative
uncertainty would see."""

from __future__ import annotations

from typing import Any, Sequence

from paritas.pyhf.modifiers.base import BinApplier, Builder


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    valid = [nominal > 0 and uncertainty > 0 for nominal, uncertainty in zip(sample_data, modifier_data)]
    factors = tuple(
        (nominal / uncertainty) ** 2 if good else 1.0
        for good, nominal, uncertainty in zip(valid, sample_data, modifier_data)
    )
    return {
        "paramset_type": "constrained_by_poisson",
        "n_parameters": len(factors),
        "is_scalar": False,
        "inits": (1.0,) * len(factors),
        "bounds": ((1e-10, 10.0),) * len(factors),
        "fixed": tuple(not good for good in valid),
        "auxdata": factors,
        "factors": factors,
    }


class shapesys_builder(Builder):
    is_shared = False
    fields = ("mask", "nom_data", "uncrt")

    def collect(self, thismod: Any, nom: Sequence[float]) -> dict[str, list[Any]]:
        return {
            "mask": [bool(thismod)] * len(nom),
            "nom_data": list(nom),
            "uncrt": list(thismod["data"]) if thismod else [0.0] * len(nom),
        }

    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class shapesys_combined(BinApplier):
    name = "shapesys"
