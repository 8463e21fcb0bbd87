"""Tests of hypotheses."""

from typing import Any

from .. import exceptions
from ..tensor.manager import as_tensor
from . import calculators, mle, test_statistics, utils  # noqa: F401
from .mle import _given, _poi_of

__all__ = ["calculators", "hypotest", "intervals", "mle", "test_statistics", "utils"]
__dir__ = __all__.copy


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
    """CLs of a POI value; with test_stat="q0" p0. Then, if asked for: [CLs+b, CLb] (q0: [CLb]), the expected
    value, those at -2, -1, 0, 1, 2 sigma, the calculator, which takes the other keywords."""
    settings = _given(pdf, init_pars, par_bounds, fixed_params)
    poi = _poi_of(pdf, "for hypothesis testing")
    if not utils.all_pois_floating(pdf, settings[2]):
        raise exceptions.InvalidModel(f"The POI, at index [{poi}], is fixed: no test is possible.")
    calculator = utils.create_calculator(calctype, data, pdf, *settings, **kwargs)
    statistic = calculator.teststatistic(poi_test)
    with_signal, without = calculator.distributions(poi_test)
    discovery = kwargs.get("test_stat", "qtilde") == "q0"
    CLsb, CLb, CLs = map(as_tensor, calculator.pvalues(statistic, with_signal, without))
    returned = [CLsb if discovery else CLs]
    if return_tail_probs:
        returned.append([CLb] if discovery else [CLsb, CLb])
    if return_expected or return_expected_set:
        CLsb_band, _, CLs_band = calculator.expected_pvalues(with_signal, without)
        band = [*map(as_tensor, CLsb_band if discovery else CLs_band)]
        if return_expected:
            returned.append(band[2])
        if return_expected_set:
            returned.append(band)
    if return_calculator:
        returned.append(calculator)
    return tuple(returned) if len(returned) > 1 else returned[0]


from . import intervals  # noqa: E402, F401 (needs hypotest)
