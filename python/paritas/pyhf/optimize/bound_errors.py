"""Covariances of fits that end at a bound."""

from typing import Any

import numpy as np

from .. import bridge


def covariance_at_bounds(model: Any, data: Any, point: Any, free: Any, at_bound: Any) -> Any:
    """Covariance (p, p) of one fit, 0 in rows of fixed parameters; NaN if the curvature is not positive.

    `free`: flags of parameters that are not fixed; `at_bound`: of those at a bound, free ones, too. The error
    of a parameter at its bound is the distance into its range at which twice the NLL has risen by 1. The rise
    is of second order and minimised over what is off its bound: MINOS' error of that side. For slope 0 it is
    the usual error. If the NLL is linear it is 1 / slope, as Minuit has it. Other parameters follow along
    their conditional minima."""
    slopes, hessian = bridge.slopes_and_hessian(model, data, point)
    bounded, inside = np.flatnonzero(free & at_bound), np.flatnonzero(free & ~at_bound)
    covariance = np.zeros_like(hessian)
    try:
        off_bound = 2.0 * np.linalg.inv(hessian[np.ix_(inside, inside)])
        covariance[np.ix_(inside, inside)] = off_bound
        follow = -0.5 * off_bound @ hessian[np.ix_(inside, bounded)]  # d(minimum) / d(bounded)
        curvature = hessian[np.ix_(bounded, bounded)] + hessian[np.ix_(bounded, inside)] @ follow
        at = _at_bounds(np.abs(slopes[bounded]), curvature)
    except np.linalg.LinAlgError:
        return np.full_like(hessian, np.nan)
    covariance[np.ix_(bounded, bounded)] = at
    covariance[np.ix_(inside, bounded)] = follow @ at
    covariance[np.ix_(bounded, inside)] = (follow @ at).T
    covariance[np.ix_(inside, inside)] += follow @ at @ follow.T
    return covariance


def _at_bounds(slopes: Any, curvature: Any) -> Any:
    """Errors of the parameters at bounds alone. Raises LinAlgError if one has neither slope nor curvature."""
    own = np.maximum(np.diag(curvature), 0.0)
    sides = slopes + np.sqrt(slopes**2 + 2.0 * own)
    if not (sides > 0).all():
        raise np.linalg.LinAlgError
    stiff = np.array(curvature)
    np.fill_diagonal(stiff, 0.5 * sides**2)  # 2 / distance^2
    values, vectors = np.linalg.eigh(stiff)
    if values[0] > 0:
        return 2.0 * (vectors / values) @ vectors.T
    return np.diag(4.0 / sides**2)
