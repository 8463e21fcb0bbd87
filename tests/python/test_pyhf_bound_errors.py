"""Errors and correlations of fits that end at a bound, through paritas.pyhf."""

import numpy as np
import pytest
from pyhf_support import counting, ours


def fitted(model, main):
    found = ours.infer.mle.fit(
        [*main, *model.config.auxdata], model, return_uncertainties=True, return_correlations=True
    )
    return found[0][:, 0], found[0][:, 1], found[1]


def lone_strength(nominal, background=None):
    """mu alone scales `nominal` events, in [0, 10]."""
    signal = {
        "name": "signal",
        "data": [nominal],
        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
    }
    samples = [signal]
    if background:
        samples.append({"name": "background", "data": [background], "modifiers": []})
    return ours.Model({"channels": [{"name": "bin", "samples": samples}]}, poi_name="mu")


def test_a_linear_likelihood_has_the_error_of_one_over_its_slope():
    values, errors, correlations = fitted(lone_strength(5.0, background=1.0), [0.0])
    assert values[0] == 0 and errors[0] == pytest.approx(1 / (2 * 5.0), rel=1e-12)
    assert correlations[0, 0] == pytest.approx(1, rel=1e-12)


def test_an_error_at_a_bound_is_the_rise_by_one():
    """Against the quadratic's root, written out: 2 NLL = 2 (s mu + b - n ln(s mu + b))."""
    signal, background, count = 30.0, 100.0, 95.0
    slope, curvature = 2 * signal * (1 - count / background), 2 * count * (signal / background) ** 2
    distance = (np.sqrt(slope**2 + 2 * curvature) - slope) / curvature
    values, errors, _ = fitted(lone_strength(signal, background), [count])
    assert values[0] == 0 and errors[0] == pytest.approx(distance, rel=1e-9)


@pytest.mark.parametrize("main", [(45.0, 50.0), (20.0, 30.0), (49.0, 51.5)])
def test_an_error_at_a_bound_is_near_the_profile_rise(main):
    """Within the third order of the likelihood."""
    model = counting(ours)
    values, errors, correlations = fitted(model, main)
    data = [*main, *model.config.auxdata]
    least = ours.infer.mle.fit(data, model, return_fitted_val=True)[1]
    risen = ours.infer.mle.fixed_poi_fit(errors[0], data, model, return_fitted_val=True)[1]
    assert values[0] == 0 and risen - least == pytest.approx(1, abs=0.03)
    assert np.diag(correlations) == pytest.approx(1) and np.abs(correlations).max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(correlations)[0] > 0 and correlations[0, 1:].max() < -0.01


def test_errors_are_continuous_where_the_minimum_meets_the_bound():
    """Background exactly met: from both sides the same errors and correlations."""
    model = counting(ours)
    inside, beyond = (fitted(model, (50.0 + move, 52.0 + move)) for move in (1e-6, -1e-6))
    assert 0 < inside[0][0] < 1e-6 and beyond[0][0] == 0
    assert inside[1] == pytest.approx(beyond[1], rel=1e-5)
    assert inside[2] == pytest.approx(beyond[2], abs=1e-5)


def test_the_prediction_keeps_its_error_at_a_bound():
    """cabinetry's error of a bin: gradients, errors and correlations. What mu adds must not vanish."""
    model = counting(ours)
    values, errors, correlations = fitted(model, (45.0, 50.0))
    covariance = correlations * np.outer(errors, errors)
    along = np.array([12.0, 50.0, 0.0])  # d(first bin) / d(mu, gamma_1, gamma_2) at mu = 0
    alone = covariance[1:, 1:] - np.outer(covariance[1:, 0], covariance[0, 1:]) / covariance[0, 0]
    assert along @ covariance @ along > along[1:] @ alone @ along[1:]
