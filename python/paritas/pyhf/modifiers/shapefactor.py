"""A free factor of each bin: bin i of every channel has parameter i."""

from __future__ import annotations

from typing import Any

import numpy as np

from paritas.pyhf.modifiers.base import BinApplier, Builder


def required_parset(sample_data: Any, modifier_data: Any) -> dict[str, Any]:
    bins = len(sample_data)
    return {
        "paramset_type": "unconstrained",
        "n_parameters": bins,
        "is_scalar": False,
        "inits": (1.0,) * bins,
        "bounds": ((0.0, 10.0),) * bins,
        "fixed": False,
    }


class shapefactor_builder(Builder):
    def requirement(self, modifier_data: Any, sample_data: Any) -> dict[str, Any]:
        return required_parset(sample_data, modifier_data)


class shapefactor_combined(BinApplier):
    name = "shapefactor"

    def _places(self, mask: Any, pdfconfig: Any) -> Any:
        return np.concatenate([np.arange(pdfconfig.channel_nbins[channel]) for channel in pdfconfig.channels])
