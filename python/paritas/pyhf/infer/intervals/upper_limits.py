"""Upper limits on the POI."""

from typing import Any

import numpy as np

from ...tensor.manager import as_tensor
from .. import hypotest

__all__ = ["linear_grid_scan", "toms748_scan", "upper_limit"]
__dir__ = __all__.copy


def _root(function: Any, a: float, b: float, atol: float, rtol: float) -> float:
    """Chandrupatla, Advances in Engineering Software 28 (1997) 145: inverse quadratic interpolation if three
    points allow it, else bisection."""
    fa, fb = function(a), function(b)
    if not fa * fb <= 0:  # equal signs, or NaN
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
    """(observed limit, five expected) as roots, to atol or rtol. Bounds are halved and doubled to enclose
    all. `from_upper_limit_fn`: also (tested values, tests)."""
    tests: dict[float, Any] = {}

    def curves(poi: float) -> list[float]:
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
    limits = []
    for k in range(6):
        known = {poi: curves(poi)[k] for poi in list(tests)}
        low = max(poi for poi, value in known.items() if value >= 0)
        high = min((poi for poi, value in known.items() if value <= 0 and poi > low), default=bounds_up)
        if known[low] != 0:
            low = _root(lambda poi: curves(poi)[k], low, high, atol, rtol)
        limits.append(as_tensor(low))
    found = (limits[0], limits[1:])
    return (*found, (list(tests), list(tests.values()))) if from_upper_limit_fn else found


def linear_grid_scan(
    data: Any,
    model: Any,
    scan: Any,
    level: float = 0.05,
    return_results: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """(observed limit, five expected) from ascending `scan`, linearly; `return_results`: also
    (scan, tests)."""
    tests = [hypotest(mu, data, model, return_expected_set=True, **hypotest_kwargs) for mu in scan]
    rows = [[observed, *expected] for observed, expected in (test[:2] for test in tests)]
    falling = np.array(rows, dtype=np.float64)[::-1].T
    values = np.asarray(scan)[::-1]
    limits = [as_tensor(np.interp(level, curve, values)) for curve in falling]
    found = (limits[0], limits[1:])
    return (*found, (scan, tests)) if return_results else found


def upper_limit(
    data: Any,
    model: Any,
    scan: Any = None,
    level: float = 0.05,
    return_results: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """(observed limit, five expected), from `scan` or as roots; `return_results`: also (tested values,
    tests)."""
    if scan is not None:
        return linear_grid_scan(data, model, scan, level, return_results, **hypotest_kwargs)
    low, up = model.config.suggested_bounds()[model.config.poi_index]
    return toms748_scan(data, model, low, up, level, from_upper_limit_fn=return_results, **hypotest_kwargs)
