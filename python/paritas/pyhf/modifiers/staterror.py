"""A factor each bin for the limited statistics of several samples."""

from typing import Any

import numpy as np

from ..exceptions import InvalidModel
from .base import BinApplier, UncertainBinsBuilder, parset


def required_parset(sigmas: Any, fixed: Any) -> dict[str, Any]:
    bins = len(sigmas)
    return parset(
        "constrained_by_normal",
        bins,
        1.0,
        (1e-10, 10.0),
        fixed=tuple(fixed),
        auxdata=(1.0,) * bins,
        sigmas=tuple(sigmas),
    )


class staterror_builder(UncertainBinsBuilder):
    def complete(self) -> None:
        for key in sorted(self._parts):
            name = key.split("/", 1)[1]
            parts = [sample["data"] for sample in self._dense(key).values()]
            carriers = [part for part in parts if part["mask"].any()]
            if any((carrier["mask"] != carriers[0]["mask"]).any() for carrier in carriers):
                raise InvalidModel(f"staterror '{name}': its samples do not have it in the same channels")
            mask = carriers[0]["mask"].astype(bool)
            total = np.sum([carrier["nom_data"] for carrier in carriers], axis=0)[mask]
            squares = [np.square(carrier["uncrt"], dtype=np.float64) for carrier in carriers]
            uncertainty = np.sqrt(np.sum(squares, axis=0))[mask]
            sigmas = np.divide(uncertainty, total, out=np.zeros(len(total)), where=total > 0)
            fixed = sigmas == 0
            sigmas[fixed] = 1.0
            self.required_parsets[name] = [required_parset(sigmas.tolist(), fixed.tolist())]


class staterror_combined(BinApplier):
    name = "staterror"
