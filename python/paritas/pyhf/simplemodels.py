"""One channel with signal and background."""

from __future__ import annotations

from typing import Any

from .pdf import Model

__all__ = ["correlated_background", "uncorrelated_background"]
__dir__ = __all__.copy


def _model(
    channel: str, signal: Any, bkg: Any, modifier: Any, batch_size: Any, validate: bool, poi_name: str
) -> Model:
    strength = {"name": poi_name, "type": "normfactor", "data": None}
    samples = [
        {"name": "signal", "data": signal, "modifiers": [strength]},
        {"name": "background", "data": bkg, "modifiers": [modifier]},
    ]
    spec = {"channels": [{"name": channel, "samples": samples}]}
    return Model(spec, batch_size=batch_size, validate=validate, poi_name=poi_name)


def correlated_background(
    signal: Any,
    bkg: Any,
    bkg_up: Any,
    bkg_down: Any,
    batch_size: int | None = None,
    validate: bool = True,
    poi_name: str = "mu",
) -> Model:
    """Background bins vary together."""
    data = {"hi_data": bkg_up, "lo_data": bkg_down}
    modifier = {"name": "correlated_bkg_uncertainty", "type": "histosys", "data": data}
    return _model("single_channel", signal, bkg, modifier, batch_size, validate, poi_name)


def uncorrelated_background(
    signal: Any,
    bkg: Any,
    bkg_uncertainty: Any,
    batch_size: int | None = None,
    validate: bool = True,
    poi_name: str = "mu",
) -> Model:
    """Background bins vary one by one."""
    modifier = {"name": "uncorr_bkguncrt", "type": "shapesys", "data": bkg_uncertainty}
    return _model("singlechannel", signal, bkg, modifier, batch_size, validate, poi_name)
