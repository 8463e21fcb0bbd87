"""Maximum likelihood fits."""

from __future__ import annotations

from typing import Any

from ..exceptions import UnspecifiedPOI
from ..optimize.common import twice_nll
from ..tensor.manager import get_backend

__all__ = ["fit", "fixed_poi_fit", "twice_nll"]


def _validate_fit_inputs(init_pars, par_bounds) -> None:
    for index, (value, (low, high)) in enumerate(zip(init_pars, par_bounds)):
        if not low <= value <= high:
            raise ValueError(
                f"fit initialization parameter (index: {index}, value: {value}) "
                f"lies outside of its bounds: {(low, high)}. Give another start or other bounds."
            )


def _given(pdf, init_pars, par_bounds, fixed_params) -> tuple[Any, Any, Any]:
    config = pdf.config
    return (
        config.suggested_init() if init_pars is None or len(init_pars) == 0 else init_pars,
        config.suggested_bounds() if par_bounds is None or len(par_bounds) == 0 else par_bounds,
        config.suggested_fixed() if fixed_params is None or len(fixed_params) == 0 else fixed_params,
    )


def _poi_of(pdf) -> int:
    index: int | None = pdf.config.poi_index
    if index is None:
        raise UnspecifiedPOI("No POI is defined. A POI is required for tests and for fits with a fixed POI.")
    return index


def _at_poi(poi_val, pdf, init_pars, fixed_params) -> tuple[Any, Any]:
    poi, start, fixed = _poi_of(pdf), [*init_pars], [*fixed_params]
    start[poi], fixed[poi] = poi_val, True
    return start, fixed


def fit(data, pdf, init_pars=None, par_bounds=None, fixed_params=None, **kwargs) -> Any:
    """Keywords and results: see the optimizer's `minimize`."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    _validate_fit_inputs(init_pars, par_bounds)
    flagged = enumerate(zip(init_pars, fixed_params))
    fixed_vals = [(index, value) for index, (value, fixed) in flagged if fixed]
    return get_backend()[1].minimize(twice_nll, data, pdf, init_pars, par_bounds, fixed_vals, **kwargs)


def fixed_poi_fit(poi_val, data, pdf, init_pars=None, par_bounds=None, fixed_params=None, **kwargs) -> Any:
    """With the POI held at `poi_val`."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    start, fixed = _at_poi(poi_val, pdf, init_pars, fixed_params)
    return fit(data, pdf, start, par_bounds, fixed, **kwargs)
