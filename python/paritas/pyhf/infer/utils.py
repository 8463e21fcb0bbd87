"""Calculators and test statistics by name."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.exceptions import InvalidTestStatistic

__all__ = ["create_calculator", "get_test_stat"]


def __dir__() -> list[str]:
    return __all__


def all_pois_floating(pdf: Any, fixed_params: Any) -> bool:
    """Whether fits move the parameter of interest."""
    return not fixed_params[pdf.config.poi_index]


def create_calculator(calctype: str, *args: Any, **kwargs: Any) -> Any:
    """A calculator: "asymptotics" or "toybased"; further arguments are its own."""
    from paritas.pyhf.infer.calculators import AsymptoticCalculator, ToyCalculator

    calculators: dict[str, Any] = {"asymptotics": AsymptoticCalculator, "toybased": ToyCalculator}
    return calculators[calctype](*args, **kwargs)


def get_test_stat(name: str) -> Any:
    """The function of "q0", "q" or "qtilde". InvalidTestStatistic: another name."""
    from paritas.pyhf.infer.test_statistics import q0, qmu, qmu_tilde

    functions = {"q0": q0, "q": qmu, "qtilde": qmu_tilde}
    if name not in functions:
        raise InvalidTestStatistic(f"{name!r} is none of {list(functions)}")
    return functions[name]
