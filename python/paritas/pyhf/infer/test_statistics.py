"""Test statistics (Cowan, Cranmer, Gross, Vitells, arXiv:1007.1727, section 2)."""

from __future__ import annotations

import logging
from typing import Any

from paritas.pyhf.exceptions import UnspecifiedPOI
from paritas.pyhf.infer.mle import fit, fixed_poi_fit
from paritas.pyhf.tensor.manager import get_backend

log = logging.getLogger(__name__)

__all__ = ["q0", "qmu", "qmu_tilde", "tmu", "tmu_tilde"]


def __dir__() -> list[str]:
    return __all__


def _check(name: str, pdf: Any, par_bounds: Any) -> None:
    """UnspecifiedPOI: there is no parameter of interest. Warns where its lower bound asks for the other
    statistic, with a tilde or without."""
    if pdf.config.poi_index is None:
        raise UnspecifiedPOI(
            "No POI is defined. A POI is required for profile likelihood based test statistics."
        )
    if name == "q0":
        return
    tilde = name.endswith("_tilde")
    at_zero = par_bounds[pdf.config.poi_index][0] == 0
    if at_zero == tilde:
        return
    other = name.removesuffix("_tilde") if tilde else f"{name}_tilde"
    hint = (
        f'\nIf you called this from pyhf.infer.mle or pyhf.infer.hypotest, set test_stat="{"q" if tilde else "qtilde"}".'
        if name.startswith("qmu")
        else ""
    )
    log.warning(
        "%s test statistic used for fit configuration with POI %s at zero.\nUse the %s test statistic (pyhf.infer.test_statistics.%s) instead.%s",
        *(name, "bounded" if at_zero else "not bounded", other, other, hint),
    )


def _mu_of_q0(mu: Any) -> float:
    if mu != 0.0:
        log.warning("q0 test statistic only used for fit configuration with POI set to zero. Setting mu=0.")
    return 0.0


def _statistic(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool,
    vanishes: Any,
) -> Any:
    """Twice the NLL with mu held less that of the free fit, at least 0; 0 where `vanishes` says so of the
    free fit's value."""
    tensorlib, _ = get_backend()
    held, value_held = fixed_poi_fit(
        mu, data, pdf, init_pars, par_bounds, fixed_params, return_fitted_val=True
    )
    free, value_free = fit(data, pdf, init_pars, par_bounds, fixed_params, return_fitted_val=True)
    value = 0.0 if vanishes(free[pdf.config.poi_index]) else max(0.0, float(value_held) - float(value_free))
    statistic = tensorlib.astensor(value)
    return (statistic, (held, free)) if return_fitted_pars else statistic


def qmu(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """q_mu, eq. 14: for upper limits, 0 where the best value lies above mu. With `return_fitted_pars`: (q,
    (parameters at mu, best ones))."""
    _check("qmu", pdf, par_bounds)
    return _statistic(
        mu, data, pdf, init_pars, par_bounds, fixed_params, return_fitted_pars, lambda best: best > mu
    )


def qmu_tilde(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """q~_mu, eq. 16: q_mu where the best value may not be negative, which its bounds see to."""
    _check("qmu_tilde", pdf, par_bounds)
    return _statistic(
        mu, data, pdf, init_pars, par_bounds, fixed_params, return_fitted_pars, lambda best: best > mu
    )


def tmu(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """t_mu, eq. 8: for intervals with two ends."""
    _check("tmu", pdf, par_bounds)
    return _statistic(
        mu, data, pdf, init_pars, par_bounds, fixed_params, return_fitted_pars, lambda best: False
    )


def tmu_tilde(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """t~_mu, eq. 11: t_mu where the best value may not be negative."""
    _check("tmu_tilde", pdf, par_bounds)
    return _statistic(
        mu, data, pdf, init_pars, par_bounds, fixed_params, return_fitted_pars, lambda best: False
    )


def q0(
    mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """q_0, eq. 12: for discovery, 0 where the best value is negative. mu is taken as 0."""
    _check("q0", pdf, par_bounds)
    return _statistic(
        _mu_of_q0(mu),
        data,
        pdf,
        init_pars,
        par_bounds,
        fixed_params,
        return_fitted_pars,
        lambda best: best < 0,
    )
