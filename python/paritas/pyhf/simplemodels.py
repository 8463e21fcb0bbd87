"""One channel with signal and background."""

from __future__ import annotations


from .pdf import Model

__all__ = ["correlated_background", "uncorrelated_background"]


def _model(channel: str, signal, bkg, modifier, batch_size, validate: bool, poi_name: str) -> Model:
    strength = {"name": poi_name, "type": "normfactor", "data": None}
    samples = [
        {"name": "signal", "data": signal, "modifiers": [strength]},
        {"name": "background", "data": bkg, "modifiers": [modifier]},
    ]
    spec = {"channels": [{"name": channel, "samples": samples}]}
    return Model(spec, batch_size=batch_size, validate=validate, poi_name=poi_name)


def correlated_background(
    signal, bkg, bkg_up, bkg_down, batch_size: int | None = None, validate: bool = True, poi_name: str = "mu"
) -> Model:
    """Background bins vary together."""
    data = {"hi_data": bkg_up, "lo_data": bkg_down}
    modifier = {"name": "correlated_bkg_uncertainty", "type": "histosys", "data": data}
    return _model("single_channel", signal, bkg, modifier, batch_size, validate, poi_name)


def uncorrelated_background(
    signal, bkg, bkg_uncertainty, batch_size: int | None = None, validate: bool = True, poi_name: str = "mu"
) -> Model:
    """Background bins vary one by one."""
    modifier = {"name": "uncorr_bkguncrt", "type": "shapesys", "data": bkg_uncertainty}
    return _model("singlechannel", signal, bkg, modifier, batch_size, validate, poi_name)
