"""The plug-in for spey against spey's own backends and our limits."""

from __future__ import annotations

import numpy as np
import pytest

spey = pytest.importorskip("spey")

from package_support import TWO  # noqa: E402

import paritas  # noqa: E402
from paritas.spey import CorrelatedBackground, Full, ThirdMomentExpansion  # noqa: E402

YIELDS = {
    "signal_yields": np.array([12.0, 15.0]),
    "background_yields": np.array([50.0, 48.0]),
    "data": np.array([36.0, 33.0]),
    "covariance_matrix": np.array([[144.0, 19.0], [19.0, 256.0]]),
}
THIRD = {**YIELDS, "third_moment": np.array([400.0, -300.0])}
PAIRS = [
    (CorrelatedBackground, "default.correlated_background", YIELDS),
    (ThirdMomentExpansion, "default.third_moment_expansion", THIRD),
]


def model_of(backend):
    return spey.StatisticalModel(backend=backend, analysis="test")


@pytest.mark.parametrize("kind, name, given", PAIRS)
def test_likelihoods_are_speys(kind, name, given):
    ours, theirs = model_of(kind(**given)), spey.get_backend(name)(**given)
    for point in ([1.0, 1.0, 1.0], [0.3, -0.5, 0.8]):
        first, second = (one.backend.get_logpdf_func()(np.array(point)) for one in (ours, theirs))
        assert first == pytest.approx(second, rel=1e-7)
        first, second = (one.backend.get_hessian_logpdf_func()(np.array(point)) for one in (ours, theirs))
        assert first == pytest.approx(np.asarray(second), rel=1e-5, abs=1e-6)
        value, slope = ours.backend.get_objective_function()(np.array(point))
        assert slope == pytest.approx(theirs.backend.get_objective_function()(np.array(point))[1], rel=1e-5)


@pytest.mark.parametrize("kind, name, given", PAIRS)
def test_answers_are_speys(kind, name, given):
    """As exactly as its minimiser."""
    ours, theirs = model_of(kind(**given)), spey.get_backend(name)(**given)
    assert ours.poi_upper_limit() == pytest.approx(theirs.poi_upper_limit(), rel=1e-4)
    for expected in spey.ExpectationType:
        first, second = (one.exclusion_confidence_level(expected=expected) for one in (ours, theirs))
        assert first == pytest.approx(second, rel=1e-3)
    assert ours.sigma_mu(1.0) == pytest.approx(theirs.sigma_mu(1.0), rel=1e-3)


@pytest.mark.parametrize("kind, name, given", PAIRS)
def test_other_matrices_are_taken_as_spey_takes_them(kind, name, given):
    lopsided = {**given, "covariance_matrix": np.array([[144.0, 13.0], [25.0, 256.0]])}
    ours, theirs = model_of(kind(**lopsided)), spey.get_backend(name)(**lopsided)
    assert ours.exclusion_confidence_level()[0] == pytest.approx(
        theirs.exclusion_confidence_level()[0], rel=1e-5
    )
    assert ours.poi_upper_limit() == pytest.approx(theirs.poi_upper_limit(), rel=1e-5)


def test_a_full_likelihood_has_our_limit():
    ours = model_of(Full(TWO))
    limit = paritas.upper_limit(TWO)
    assert ours.poi_upper_limit() == pytest.approx(limit.limit_obs, rel=1e-3)
    median = ours.poi_upper_limit(expected=spey.ExpectationType.aposteriori)
    assert median == pytest.approx(limit.limit_exp[2], rel=1e-3)
    assert ours.backend.is_alive and ours.backend.config().poi_index == 0


def test_toys_are_drawn():
    backend = CorrelatedBackground(**YIELDS)
    rows = backend.get_sampler(np.array([1.0, 0.0, 0.0]))(2000)
    assert rows.shape == (2000, 2)
    assert rows.mean(axis=0) == pytest.approx([62.0, 63.0], abs=1.5)
