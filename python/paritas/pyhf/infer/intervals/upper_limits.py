"""Upper limits on the parameter of interest: where CLs reaches a level."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from paritas.pyhf.infer import hypotest
from paritas.pyhf.tensor.manager import get_backend

__all__ = ["linear_grid_scan", "toms748_scan", "upper_limit"]


def __dir__() -> list[str]:
    return __all__


def _root(function: Callable[[float], float], a: float, b: float, atol: float, rtol: float) -> float:
    """The root of a function between a and b, where it has different signs: Chandrupatla, Advances in
    Engineering Software 28 (1997) 145, which takes inverse quadratic interpolation where three points allow
    it and else halves."""
    fa, fb = function(a), function(b)
    if math.isnan(fa) or math.isnan(fb) or (fa > 0) == (fb > 0) and fa != 0 and fb != 0:
        raise ValueError(f"no root between {a} and {b}: the function has {fa} and {fb}")
    c, fc = a, fa
    t = 0.5
    while True:
        x = a + t * (b - a)
        fx = function(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        best, value = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        tolerance = 0.5 * (atol + rtol * abs(best))
        width = abs(b - a)
        if value == 0 or width <= 2 * tolerance:
            return best
        limit = tolerance / width
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        else:
            t = 0.5
        t = min(max(t, limit), 1 - limit)


def toms748_scan(
    data: Any,
    model: Any,
    bounds_low: float,
    bounds_up: float,
    level: float = 0.05,
    atol: float = 2e-12,
    rtol: float = 1e-4,
    from_upper_limit_fn: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """(observed limit, the five expected ones) by root-finding, to atol or rtol; bounds that do not hold all
    six are halved and doubled until they do. With `from_upper_limit_fn` also (tested values, their tests)."""
    tests: dict[float, Any] = {}

    def curves(poi: float) -> list[float]:
        """All six less the level."""
        if poi not in tests:
            tests[poi] = hypotest(poi, data, model, return_expected_set=True, **hypotest_kwargs)
        observed, expected = tests[poi][:2]
        return [float(value) - level for value in (observed, *expected)]

    while any(value < 0 for value in curves(bounds_low)):
        if bounds_low == 0:
            raise ValueError(f"CLs is below {level} at {bounds_low} already")
        bounds_low /= 2
    while any(value > 0 for value in curves(bounds_up)):
        if bounds_up <= 0:
            raise ValueError(f"CLs is above {level} at {bounds_up}, which doubling does not raise")
        bounds_up *= 2
    tensorlib, _ = get_backend()
    limits = []
    for k in range(6):
        known = {poi: curves(poi)[k] for poi in list(tests)}
        low = max(poi for poi, value in known.items() if value >= 0)
        high = min((poi for poi, value in known.items() if value <= 0 and poi > low), default=bounds_up)
        limits.append(
            tensorlib.astensor(
                low if known[low] == 0 else _root(lambda poi, k=k: curves(poi)[k], low, high, atol, rtol)
            )
        )  # type: ignore[misc]
    if from_upper_limit_fn:
        return limits[0], limits[1:], (list(tests), list(tests.values()))
    return limits[0], limits[1:]


def linear_grid_scan(
    data: Any,
    model: Any,
    scan: Any,
    level: float = 0.05,
    return_results: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """(observed limit, the five expected ones) by linear interpolation between tests at the values of `scan`,
    ascending; with `return_results` also (scan, tests)."""
    tensorlib, _ = get_backend()
    tests = [hypotest(mu, data, model, return_expected_set=True, **hypotest_kwargs) for mu in scan]
    curves = np.array(
        [[observed, *expected] for observed, expected in (test[:2] for test in tests)], dtype=np.float64
    ).T
    limits = [tensorlib.astensor(np.interp(level, curve[::-1], np.asarray(scan)[::-1])) for curve in curves]
    if return_results:
        return limits[0], limits[1:], (scan, tests)
    return limits[0], limits[1:]


def upper_limit(
    data: Any,
    model: Any,
    scan: Any = None,
    level: float = 0.05,
    return_results: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """(observed limit, the five expected ones), over the values of `scan` or, without, by root-finding
    between the bounds of the parameter of interest; with `return_results` also (tested values, their
    tests)."""
    if scan is not None:
        return linear_grid_scan(data, model, scan, level, return_results, **hypotest_kwargs)
    low, up = model.config.suggested_bounds()[model.config.poi_index]
    observed, expected, results = toms748_scan(
        data, model, low, up, level, from_upper_limit_fn=True, **hypotest_kwargs
    )
    return (observed, expected, results) if return_results else (observed, expected)
