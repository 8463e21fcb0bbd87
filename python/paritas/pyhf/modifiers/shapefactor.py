"""A free factor each bin: parameter i for bin i of every channel."""

from typing import Any

import numpy as np

from .base import BinApplier, Builder, parset


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    return parset("unconstrained", len(sample_data), 1.0, (0.0, 10.0))


class shapefactor_builder(Builder):
    requirement = staticmethod(required_parset)


class shapefactor_combined(BinApplier):
    name = "shapefactor"

    def _places(self, mask: Any, pdfconfig: Any) -> Any:
        return np.concatenate([np.arange(bins) for bins in pdfconfig.channel_nbins.values()])
