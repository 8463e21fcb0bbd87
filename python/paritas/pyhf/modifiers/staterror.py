"""A factor of each bin for the limited statistics of all samples that have it together."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from paritas.pyhf.exceptions import InvalidModel
from paritas.pyhf.modifiers.base import BinApplier, Builder


def required_parset(sigmas: Sequence[float], fixed: Sequence[bool]) -> dict[str, Any]:
    bins = len(sigmas)
    return {
        "paramset_type": "constrained_by_normal",
        "n_parameters": bins,
        "is_scalar": False,
        "inits": (1.0,) * bins,
        "bounds": ((1e-10, 10.0),) * bins,
        "fixed": tuple(fixed),
        "auxdata": (1.0,) * bins,
        "sigmas": tuple(sigmas),
    }


class staterror_builder(Builder):
    fields = ("mask", "nom_data", "uncrt")

    def collect(self, thismod: Any, nom: Sequence[float]) -> dict[str, list[Any]]:
        return {
            "mask": [bool(thismod)] * len(nom),
            "nom_data": list(nom),
            "uncrt": list(thismod["data"]) if thismod else [0.0] * len(nom),
        }

    def requirement(self, modifier_data: Any, sample_data: Any) -> None:
        return None

    def complete(self) -> None:
        for key in sorted(self._parts):
            name = key.split("/", 1)[1]
            carriers = [
                sample["data"] for sample in self._dense(key).values() if sample["data"]["mask"].any()
            ]
            if any((carrier["mask"] != carriers[0]["mask"]).any() for carrier in carriers):
                raise InvalidModel(f"staterror '{name}' is in other channels for one sample than for another")
            mask = carriers[0]["mask"].astype(bool)
            total = np.sum([carrier["nom_data"] for carrier in carriers], axis=0)[mask]
            uncertainty = np.sqrt(
                np.sum([np.square(carrier["uncrt"], dtype=np.float64) for carrier in carriers], axis=0)
            )[mask]
            sigmas = np.divide(uncertainty, total, out=np.zeros(len(total)), where=total > 0)
            fixed = sigmas == 0
            sigmas[fixed] = 1.0
            self.required_parsets[name] = [required_parset(sigmas.tolist(), fixed.tolist())]


class staterror_combined(BinApplier):
    name = "staterror"
