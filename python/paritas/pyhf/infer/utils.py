"""Calculators and test statistics by name."""

from typing import Any

from ..exceptions import InvalidTestStatistic
from .test_statistics import q0, qmu, qmu_tilde

__all__ = ["create_calculator", "get_test_stat"]
__dir__ = __all__.copy

_TEST_STATISTICS = {"q0": q0, "q": qmu, "qtilde": qmu_tilde}


def all_pois_floating(pdf: Any, fixed_params: Any) -> bool:
    return not fixed_params[pdf.config.poi_index]


def create_calculator(calctype: str, *args: Any, **kwargs: Any) -> Any:
    """ "asymptotics" or "toybased"."""
    from . import calculators

    kinds: Any = {"asymptotics": calculators.AsymptoticCalculator, "toybased": calculators.ToyCalculator}
    return kinds[calctype](*args, **kwargs)


def get_test_stat(name: str) -> Any:
    """ "q0", "q" or "qtilde"."""
    if name not in _TEST_STATISTICS:
        raise InvalidTestStatistic(f"{name!r} is none of {list(_TEST_STATISTICS)}")
    return _TEST_STATISTICS[name]
