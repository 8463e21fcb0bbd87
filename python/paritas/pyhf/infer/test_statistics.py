"""Test statistics (arXiv:1007.1727, section 2)."""

import logging
from typing import Any, Callable

from ..exceptions import InvalidTestStatistic
from ..tensor.manager import as_tensor
from .mle import _poi_of, fit, fixed_poi_fit

log = logging.getLogger(__name__)

__all__ = ["q0", "qmu", "qmu_tilde", "tmu", "tmu_tilde"]
__dir__ = __all__.copy


def _check(name: str, pdf: Any, par_bounds: Any) -> None:
    """Raises UnspecifiedPOI. Warns if tilde and POI bound at 0 disagree."""
    poi = _poi_of(pdf, "for profile likelihood based test statistics")
    if name == "q0":
        return
    tilde = name.endswith("_tilde")
    at_zero = par_bounds[poi][0] == 0
    if at_zero == tilde:
        return
    other = name.removesuffix("_tilde") if tilde else f"{name}_tilde"
    hint = f', in hypotest with test_stat="{"q" if tilde else "qtilde"}"' if name.startswith("qmu") else ""
    bounded = "bounded" if at_zero else "not bounded"
    log.warning(
        "%s test statistic used for fit configuration with POI %s at zero. Use %s instead%s.",
        *(name, bounded, other, hint),
    )


def _mu_of_q0(mu: Any) -> float:
    if mu != 0.0:
        log.warning("q0 test statistic only used for fit configuration with POI set to zero. Setting mu=0.")
    return 0.0


def _test_statistic(name: str, doc: str, vanishes: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Twice the NLL at mu minus the minimum, at least 0; 0 if `vanishes(best value, mu)`."""

    def statistic(
        mu: Any,
        data: Any,
        pdf: Any,
        init_pars: Any,
        par_bounds: Any,
        fixed_params: Any,
        return_fitted_pars: bool = False,
    ) -> Any:
        _check(name, pdf, par_bounds)
        if name == "q0":
            mu = _mu_of_q0(mu)
        settings = (data, pdf, init_pars, par_bounds, fixed_params)
        conditional, value_conditional = fixed_poi_fit(mu, *settings, return_fitted_val=True)
        free, value_free = fit(*settings, return_fitted_val=True)
        zero = vanishes(free[pdf.config.poi_index], mu)
        value = as_tensor(0.0 if zero else max(0.0, float(value_conditional) - float(value_free)))
        return (value, (conditional, free)) if return_fitted_pars else value

    statistic.__name__ = statistic.__qualname__ = name
    statistic.__doc__ = f"{doc} With `return_fitted_pars`: (value, (parameters at mu, best parameters))."
    return statistic


qmu = _test_statistic(
    "qmu", "q_mu, eq. 14, for upper limits: 0 if the best value is above mu.", lambda best, mu: best > mu
)
qmu_tilde = _test_statistic(
    "qmu_tilde", "q~_mu, eq. 16: q_mu with a POI that is bounded at 0.", lambda best, mu: best > mu
)
tmu = _test_statistic("tmu", "t_mu, eq. 8, for two-sided intervals.", lambda best, mu: False)
tmu_tilde = _test_statistic(
    "tmu_tilde", "t~_mu, eq. 11: t_mu with a POI that is bounded at 0.", lambda best, mu: False
)
q0 = _test_statistic(
    "q0", "q_0, eq. 12, for discovery: mu is 0; 0 if the best value is negative.", lambda best, mu: best < 0
)

_NAMED = {"q0": q0, "q": qmu, "qtilde": qmu_tilde}


def get_test_stat(name: str) -> Any:
    """ "q0", "q" or "qtilde"."""
    if name not in _NAMED:
        raise InvalidTestStatistic(f"{name!r} is none of {list(_NAMED)}")
    return _NAMED[name]
