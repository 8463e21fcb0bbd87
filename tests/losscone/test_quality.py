"""Which fits are good: numbers by formulas of their own, and a thin part of tests/losscone/quality.py."""

import numpy as np
import pytest
import quality
from library import Library, data_of
from test_search import made

FLAGS = {"no_fit": 1, "ratio_at_bound": 8, "amplitude_at_bound": 16, "misfit": 32, "no_edge": 64}


@pytest.fixture(scope="module")
def library():
    opened = Library()
    yield opened
    opened.close()


def numbers_of(data, result, response, background=0.05):
    """noise, evidence, level at a result's U and r; beam rows do not count for the level"""
    energy, Usc, cosine, flux = data
    parts = np.array([1.0]) if response == "hard" else 1 + 0.25 * (1 - 0.5 * np.arange(5))
    steps, levels, inside = [], 0.0, []
    for i in range(len(energy)):
        valid = (flux[i] > 0) & (energy[i] >= Usc[i])
        datum = np.log(flux[i] + 1e-6)
        up = np.flatnonzero(valid & (cosine[i] < -1e-8))
        up = up[np.argsort(cosine[i][up], kind="stable")]
        down = valid & (cosine[i] >= -1e-8)
        x = result.ratio * (1 + result.potential / (energy[i] * parts - Usc[i]))
        held = (1 - cosine[i][up] ** 2)[:, None] < x
        level = held.sum(1)
        steps += [b - a for a, b, p, q in zip(datum[up], datum[up][1:], level, level[1:]) if p == q]
        steps += list((datum[1:] - datum[:-1])[down[1:] & down[:-1]])
        levels += sum(
            ((datum[side] - datum[side].mean()) ** 2).sum() for side in (up, down) if datum[side].size
        )
        fall = max(Usc[i] - result.potential, 15.0)
        beam = result.amplitude * np.exp(-0.5 * ((energy[i] - fall) / 15.0) ** 2)
        if not beam > background:
            inside += list(datum[up][held.all(1)])
    n, k = result.cells, 3 if response == "hard" else 2
    evidence = 0.5 * (n * np.log((levels + 1e-12 * n) / (result.misfit + 1e-12 * n)) - k * np.log(n))
    return np.sqrt(0.5 * np.mean(np.square(steps))), evidence, np.exp(np.mean(inside))


@pytest.mark.parametrize("response", ["hard", "folded"])
def test_noise_evidence_and_level_are_those_of_the_formulas(library, response):
    _, sweeps = made(20, 21, "halekas", response)
    data = data_of(sweeps)
    options = {"response": response} if response == "hard" else {"response": response, "amplitude_upper": 0.0}
    for k, result in enumerate(library.fit(data, **options)):
        wanted = numbers_of([values[k] for values in data], result, response)
        np.testing.assert_allclose([result.noise, result.edge_evidence, result.cone_level], wanted, rtol=1e-9)
        assert result.flags & ~FLAGS["amplitude_at_bound"] == 0


def test_noise_is_that_of_the_data(library):
    day, sweeps = made(20, 22, "halekas", "hard")
    for truth, result in zip(day.truth["noise"], library.fit(data_of(sweeps))):
        assert result.noise == pytest.approx(truth, rel=0.2)


def test_a_sweep_without_a_hole_has_no_edge_at_any_noise(library):
    _, sweeps = made(4, 23, "halekas", "hard")
    energy, Usc, cosine, flux = data_of(sweeps)
    random = np.random.default_rng(3)
    for size in (0.0, 1e-3, 0.2, 1.0):
        for reflected in (0.05, 0.3, 1.0, 2.0):
            level = np.where(cosine > 0, 1.0, reflected)
            flat = level * np.exp(size * random.normal(size=flux.shape))
            for result in library.fit((energy, Usc, cosine, flat)):
                assert result.flags & FLAGS["no_edge"], (size, reflected)


def test_evolution_is_judged_as_the_search_is(library):
    _, sweeps = made(6, 24, "halekas", "folded")
    data, options = data_of(sweeps), {"response": "folded", "amplitude_upper": 0.0}
    found = zip(library.fit(data, **options), library.fit(data, search="de", **options))
    for exact, evolved in found:
        assert evolved.noise == pytest.approx(exact.noise, rel=0.1)
        assert evolved.edge_evidence == pytest.approx(exact.edge_evidence, rel=0.1)


def test_a_ratio_at_its_bound_is_said(library):
    day, sweeps = made(12, 25, "halekas", "hard")
    data = data_of(sweeps)
    for side, bound in (
        ("ratio_lower", day.truth["r"].max() + 0.02),
        ("ratio_upper", day.truth["r"].min() - 0.02),
    ):
        flags = [result.flags for result in library.fit(data, **{side: bound})]
        assert sum(flag & FLAGS["ratio_at_bound"] != 0 for flag in flags) >= 10
    fixed = library.fit(data, ratio_lower=0.5, ratio_upper=0.5)
    assert not any(result.flags & FLAGS["ratio_at_bound"] for result in fixed)


CONES = [day for day in quality.days_of_cones() if day[0] in ("hard edge", "folded edge")]
WITHOUT = [
    day
    for day in quality.days_without()
    if day[0] in ("no cone", "wrong polarity, hard edge", "r = 0.2, -100 V, hard edge")
]


def test_false_sweeps_are_not_good_and_true_cones_are():
    for name, is_cone, _, wrong, reasons in quality.rates(60, 1, CONES, WITHOUT):
        assert wrong <= (quality.LOST_MOST if is_cone else quality.FALSE_MOST), (name, reasons)


@pytest.mark.parametrize("response", ["hard", "folded"])
def test_sets_hold_the_truth_where_the_spacecrafts_potential_is_off_by_its_error(library, response):
    """with spacecraft potentials that are off by 3 V at random"""
    day, sweeps = made(150, 26, "halekas", response)
    energy, Usc, cosine, flux = data_of(sweeps)
    size = 3.0
    off = Usc + size * np.random.default_rng(4).normal(size=(len(Usc), 1))
    data = energy, off, cosine, np.where(energy >= off, 1.0, 0.0)[..., None] * flux
    options = {"response": response} if response == "hard" else {"response": response, "amplitude_upper": 0.0}
    results = library.fit(data, **options)
    holds = []
    for errors in (None, np.full(len(Usc), size)):
        sets = library.confidence(data, results, potential_error=errors, **options)
        holds.append(
            np.mean(
                [
                    any(one.lower[i] <= U <= one.upper[i] for i in range(one.intervals))
                    for one, U in zip(sets, day.truth["U"])
                ]
            )
        )
    assert holds[0] < 0.9 and holds[1] >= 0.93, holds
