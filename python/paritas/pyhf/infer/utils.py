"""Calculators and test statistics by name."""

from typing import Any

from .calculators import AsymptoticCalculator, ToyCalculator
from .test_statistics import get_test_stat

__all__ = ["create_calculator", "get_test_stat"]
__dir__ = __all__.copy


def all_pois_floating(pdf: Any, fixed_params: Any) -> bool:
    return not fixed_params[pdf.config.poi_index]


def create_calculator(calctype: str, *args: Any, **kwargs: Any) -> Any:
    """ "asymptotics" or "toybased"."""
    kinds: Any = {"asymptotics": AsymptoticCalculator, "toybased": ToyCalculator}
    return kinds[calctype](*args, **kwargs)
