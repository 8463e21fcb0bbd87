"""Maximum likelihood fits."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.exceptions import UnspecifiedPOI
from paritas.pyhf.tensor.manager import get_backend

__all__ = ["fit", "fixed_poi_fit", "twice_nll"]


def __dir__() -> list[str]:
    return __all__


def twice_nll(pars: Any, data: Any, pdf: Any) -> Any:
    """Twice the negative log-likelihood, all constants included: (1,)."""
    return -2 * pdf.logpdf(pars, data)


def _validate_fit_inputs(init_pars: Any, par_bounds: Any, fixed_params: Any) -> None:
    for index, (value, (low, high)) in enumerate(zip(init_pars, par_bounds)):
        if not low <= value <= high:
            raise ValueError(
                f"fit initialization parameter (index: {index}, value: {value}) lies outside of its bounds: {(low, high)}\n"
                "Give another start, in the model's specification or as an argument, or other bounds."
            )


def _given(pdf: Any, init_pars: Any, par_bounds: Any, fixed_params: Any) -> tuple[Any, Any, Any]:
    """Start, bounds and fixed flags: the model's where none are given."""
    config = pdf.config
    return (
        config.suggested_init() if init_pars is None or len(init_pars) == 0 else init_pars,
        config.suggested_bounds() if par_bounds is None or len(par_bounds) == 0 else par_bounds,
        config.suggested_fixed() if fixed_params is None or len(fixed_params) == 0 else fixed_params,
    )


def _at_poi(poi_val: Any, pdf: Any, init_pars: Any, fixed_params: Any) -> tuple[list[Any], list[Any]]:
    """Start and fixed flags with the parameter of interest held at a value."""
    if pdf.config.poi_index is None:
        raise UnspecifiedPOI("No POI is defined. A POI is required to fit with a fixed POI.")
    start, fixed = [*init_pars], [*fixed_params]
    start[pdf.config.poi_index] = poi_val
    fixed[pdf.config.poi_index] = True
    return start, fixed


def fit(
    data: Any,
    pdf: Any,
    init_pars: Any = None,
    par_bounds: Any = None,
    fixed_params: Any = None,
    **kwargs: Any,
) -> Any:
    """The best fit. Further keywords, and what is returned, are `minimize`'s of the optimizer. ValueError: a
    start outside its bounds; FailedMinimization: the fit did not converge."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    _validate_fit_inputs(init_pars, par_bounds, fixed_params)
    fixed_vals = [
        (index, value) for index, (value, fixed) in enumerate(zip(init_pars, fixed_params)) if fixed
    ]
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
    """The best fit with the parameter of interest held at `poi_val`; else as `fit`."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    start, fixed = _at_poi(poi_val, pdf, init_pars, fixed_params)
    return fit(data, pdf, start, par_bounds, fixed, **kwargs)
