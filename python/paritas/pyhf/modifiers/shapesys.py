"""A factor each bin, constrained by a count with the sample's uncertainty."""

from typing import Any

from .base import BinApplier, UncertainBinsBuilder, parset


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    pairs = list(zip(sample_data, modifier_data))
    valid = [nominal > 0 and uncertainty > 0 for nominal, uncertainty in pairs]
    factors = tuple((pair[0] / pair[1]) ** 2 if good else 1.0 for good, pair in zip(valid, pairs))
    return parset(
        "constrained_by_poisson",
        len(factors),
        1.0,
        (1e-10, 10.0),
        fixed=tuple(not good for good in valid),
        auxdata=factors,
        factors=factors,
    )


class shapesys_builder(UncertainBinsBuilder):
    is_shared = False
    requirement = staticmethod(required_parset)


class shapesys_combined(BinApplier):
    name = "shapesys"
