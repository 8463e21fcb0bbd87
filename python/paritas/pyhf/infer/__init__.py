"""Tests of hypotheses."""

from __future__ import annotations

from typing import Any

from paritas.pyhf import exceptions
from paritas.pyhf.infer import calculators, mle, test_statistics, utils  # noqa: F401
from paritas.pyhf.infer.mle import _given
from paritas.pyhf.tensor.manager import get_backend

__all__ = ["calculators", "hypotest", "intervals", "mle", "test_statistics", "utils"]


def __dir__() -> list[str]:
    return __all__


def _check_hypotest_prerequisites(
    pdf: Any, data: Any, init_pars: Any, par_bounds: Any, fixed_params: Any
) -> None:
    if pdf.config.poi_index is None:
        raise exceptions.UnspecifiedPOI("No POI is defined. A POI is required to run a hypothesis test.")
    if not utils.all_pois_floating(pdf, fixed_params):
        raise exceptions.InvalidModel(
            f"POI at index [{pdf.config.poi_index}] is set as fixed, which makes profile likelihood ratio based inference impossible."
        )


def hypotest(
    poi_test: Any,
    data: Any,
    pdf: Any,
    init_pars: Any = None,
    par_bounds: Any = None,
    fixed_params: Any = None,
    calctype: str = "asymptotics",
    return_tail_probs: bool = False,
    return_expected: bool = False,
    return_expected_set: bool = False,
    return_calculator: bool = False,
    **kwargs: Any,
) -> Any:
    """CLs of a value of the parameter of interest (of test_stat="q0": p0). Asked for, behind it in this
    order: [CLs+b, CLb] (of q0: [CLb]), the expected value, the expected values at -2, -1, 0, 1, 2 sigma, the
    calculator. Further keywords are the calculator's."""
    init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
    _check_hypotest_prerequisites(pdf, data, init_pars, par_bounds, fixed_params)
    calculator = utils.create_calculator(calctype, data, pdf, init_pars, par_bounds, fixed_params, **kwargs)
    statistic = calculator.teststatistic(poi_test)
    with_signal, without = calculator.distributions(poi_test)
    tensorlib, _ = get_backend()
    discovery = kwargs.get("test_stat", "qtilde") == "q0"
    CLsb, CLb, CLs = (
        tensorlib.astensor(value) for value in calculator.pvalues(statistic, with_signal, without)
    )
    returned = [CLsb if discovery else CLs]
    if return_tail_probs:
        returned.append([CLb] if discovery else [CLsb, CLb])
    if return_expected or return_expected_set:
        CLsb_band, _, CLs_band = calculator.expected_pvalues(with_signal, without)
        band = [tensorlib.astensor(value) for value in (CLsb_band if discovery else CLs_band)]
        if return_expected:
            returned.append(band[2])
        if return_expected_set:
            returned.append(band)
    if return_calculator:
        returned.append(calculator)
    return tuple(returned) if len(returned) > 1 else returned[0]


from paritas.pyhf.infer import intervals  # noqa: E402, F401 (needs hypotest)
