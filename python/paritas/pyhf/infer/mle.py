"""Maximum likelihood fits."""

from __future__ import annotations

from typing import Any

from ..exceptions import UnspecifiedPOI
from ..optimize.common import twice_nll
from ..tensor.manager import get_backend

__all__ = ["fit", "fixed_poi_fit", "twice_nll"]
__dir__ = __all__.copy


def _validate_fit_inputs(init_pars: Any, par_bounds: Any) -> None:
    for index, (value, (low, high)) in enumerate(zip(init_pars, par_bounds)):
        if not low <= value <= high:
            raise ValueError(
                f"fit initialization parameter (index: {index}, value: {value}) "
                f"lies outside of its bounds: {(low, high)}. Give another start or other bounds."
            )


def _given(pdf: Any, *settings: Any) -> Any:
    """Start, bounds and fixed flags; the model's where there are none."""
    return tuple(
        getattr(pdf.config, f"suggested_{name}")() if given is None or len(given) == 0 else given
        for name, given in zip(("init", "bounds", "fixed"), settings)
    )


def _poi_of(pdf: Any, purpose: str) -> int:
    index: int | None = pdf.config.poi_index
    if index is None:
        raise UnspecifiedPOI(f"No POI is defined. A POI is required {purpose}.")
    return index


def _at_poi(poi_val: Any, pdf: Any, init_pars: Any, fixed_params: Any) -> tuple[Any, Any]:
    purpose = "to fit with a fixed POI"
    poi, start, fixed = _poi_of(pdf, purpose), [*init_pars], [*fixed_params]
    start[poi], fixed[poi] = poi_val, True
    return start, fixed


def fit(
    data: Any,
    pdf: Any,
    init_pars: Any = None,
    par_bounds: Any = None,
    fixed_params: Any = None,
    **kwargs: Any,
) -> Any:
    """Keywords and results: see the optimizer's `minimize`."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    _validate_fit_inputs(init_pars, par_bounds)
    flagged = enumerate(zip(init_pars, fixed_params))
    fixed_vals = [(index, value) for index, (value, fixed) in flagged if fixed]
    return get_backend()[1].minimize(twice_nll, data, pdf, init_pars, par_bounds, fixed_vals, **kwargs)


def fixed_poi_fit(
    poi_val: Any,
    data: Any,
    pdf: Any,
    init_pars: Any = None,
    par_bounds: Any = None,
    fixed_params: Any = None,
    **kwargs: Any,
) -> Any:
    """Fits with the POI fixed at `poi_val`."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    start, fixed = _at_poi(poi_val, pdf, init_pars, fixed_params)
    return fit(data, pdf, start, par_bounds, fixed, **kwargs)
