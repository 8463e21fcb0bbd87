"""Models of one channel, a signal and a background."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.pdf import Model

__all__ = ["correlated_background", "uncorrelated_background"]


def __dir__() -> list[str]:
    return __all__


def _model(
    channel: str, signal: Any, bkg: Any, modifier: Any, batch_size: Any, validate: bool, poi_name: str
) -> Model:
    samples = [
        {
            "name": "signal",
            "data": signal,
            "modifiers": [{"name": poi_name, "type": "normfactor", "data": None}],
        },
        {"name": "background", "data": bkg, "modifiers": [modifier]},
    ]
    return Model(
        {"channels": [{"name": channel, "samples": samples}]},
        batch_size=batch_size,
        validate=validate,
        poi_name=poi_name,
    )


def correlated_background(
    signal: Any,
    bkg: Any,
    bkg_up: Any,
    bkg_down: Any,
    batch_size: int | None = None,
    validate: bool = True,
    poi_name: str = "mu",
) -> Model:
    """A background whose bins move together, between `bkg_down` and `bkg_up`."""
    modifier = {
        "name": "correlated_bkg_uncertainty",
        "type": "histosys",
        "data": {"hi_data": bkg_up, "lo_data": bkg_down},
    }
    return _model("single_channel", signal, bkg, modifier, batch_size, validate, poi_name)


def uncorrelated_background(
    signal: Any,
    bkg: Any,
    bkg_uncertainty: Any,
    batch_size: int | None = None,
    validate: bool = True,
    poi_name: str = "mu",
) -> Model:
    """A background with an uncertainty of each bin by itself."""
    modifier = {"name": "uncorr_bkguncrt", "type": "shapesys", "data": bkg_uncertainty}
    return _model("singlechannel", signal, bkg, modifier, batch_size, validate, poi_name)
