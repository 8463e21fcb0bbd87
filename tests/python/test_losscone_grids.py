"""Loss cones on grids of other instruments: truths, an independent formula, shapes that are broadcast."""

import numpy as np
import pytest
from losscone_support import equal

import paritas
from paritas import losscone

GRIDS = [(32, 88), (9, 16), (16, 300)]
N = 12
BACKGROUND, FLOOR = 0.05, 1e-6


def formula(energy, cosine, points):
    """The hard cone without a beam (Halekas et al. 2008, par. 37); the spacecraft is at 0 V."""
    potential, ratio = points[:, 0, None, None], points[:, 1, None, None]
    edge = ratio * (1.0 + potential / energy[..., None])
    return np.where((cosine < -1e-8) & (1.0 - cosine**2 < edge), BACKGROUND, 1.0)


def drawn(rows, cells, noise=0.3, seed=1):
    """energy, cosine, flux and true points of N sweeps in random directions."""
    random = np.random.default_rng(seed)
    energy = np.broadcast_to(np.geomspace(20.0, 16000.0, rows), (N, rows)) * random.uniform(0.9, 1.1, (N, 1))
    cosine = random.uniform(-1.0, 1.0, (N, rows, cells))
    points = np.column_stack([random.uniform(-300.0, -20.0, N), random.uniform(0.5, 0.95, N), np.zeros(N)])
    flux = formula(energy, cosine, points) * np.exp(noise * random.normal(size=cosine.shape))
    return energy, cosine, flux, points


@pytest.mark.parametrize("grid", GRIDS)
def test_fits_hold_the_truth(grid):
    energy, cosine, flux, points = drawn(*grid)
    sweeps = losscone.Sweeps.of(energy, 0.0, cosine, flux)
    fit = losscone.fit(sweeps, response="hard", amplitude_upper=0.0)
    assert np.all(fit["status"] == "fitted") and np.all(fit["gap"] == 0.0)
    inside = [
        any(lower <= U <= upper for lower, upper in fit.intervals(k)) for k, U in enumerate(points[:, 0])
    ]
    assert np.mean(inside) >= 0.75
    if grid[1] >= 88:  # of 16 directions the edge is known to 13 V
        assert np.median(np.abs(fit["potential"] - points[:, 0])) < 3.0
        assert np.all(fit["quality"] == "good")


@pytest.mark.parametrize("grid", GRIDS)
def test_without_noise_the_plateau_holds_the_truth(grid):
    energy, cosine, flux, points = drawn(*grid, noise=0.0)
    fit = losscone.fit((energy, 0.0, cosine, flux), response="hard", amplitude_upper=0.0, confidence="none")
    U, r = points[:, 0], points[:, 1]
    assert np.all((fit["potential_lower"] <= U) & (U <= fit["potential_upper"]))
    assert np.all((fit["ratio_lower"] <= r) & (r <= fit["ratio_upper"]))
    assert np.all(fit["misfit"] < 1e-20)


@pytest.mark.parametrize("grid", GRIDS)
def test_misfits_and_models_follow_the_formula(grid):
    energy, cosine, flux, points = drawn(*grid)
    flux[:, 0, :3] = np.nan
    sweeps = losscone.Sweeps.of(energy, 0.0, cosine, flux)
    model, edge = losscone.model(sweeps, points)
    np.testing.assert_array_equal(model, formula(energy, cosine, points))
    np.testing.assert_allclose(
        np.sin(np.radians(edge)) ** 2,
        np.clip(points[:, 1, None] * (1.0 + points[:, 0, None] / energy), 0.0, 1.0),
        atol=1e-12,
    )
    misfit, cells = losscone.misfit(sweeps, points)
    for k, one in enumerate(points):
        wanted = formula(energy, cosine, np.tile(one, (N, 1)))
        square = (np.log(flux + FLOOR) - np.log(wanted + FLOOR)) ** 2
        np.testing.assert_allclose(misfit[:, k], np.nansum(square, axis=(1, 2)), rtol=1e-12)
    assert np.all(cells == grid[0] * grid[1] - 3)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("response", ["hard", "folded"])
def test_evolution_finds_no_less_and_as_much(grid, response):
    energy, cosine, flux, _ = drawn(*grid)
    given = losscone.Sweeps.of(energy, 0.0, cosine, flux)
    exact = losscone.fit(given, response=response, confidence="none")["misfit"]
    found = losscone.fit(given, response=response, search="de", population=100)["misfit"]
    assert np.all(found >= exact * (1.0 - 1e-6))
    assert np.median(found / exact) < 1.001


@pytest.mark.parametrize("grid", GRIDS)
def test_the_order_of_directions_leaves_the_plateau(grid):
    energy, cosine, flux, _ = drawn(*grid)
    order = np.random.default_rng(2).permutation(grid[1])
    fits = [
        losscone.fit((energy, 0.0, cosine[..., of], flux[..., of]), response="hard", amplitude_upper=0.0)
        for of in (slice(None), order)
    ]
    for name in ("potential_lower", "potential_upper", "ratio_lower", "ratio_upper", "potential", "cells"):
        assert equal(fits[0][name], fits[1][name])
    np.testing.assert_allclose(fits[0]["misfit"], fits[1]["misfit"], rtol=1e-12)


def test_all_functions_take_any_grid():
    """With less noise than usual each of them is right; channels tell of every row."""
    energy, cosine, flux, points = drawn(32, 40, noise=0.1)
    measured = flux * energy[..., None] ** -2.0
    normalised = losscone.normalise(cosine, measured)
    sweeps = losscone.Sweeps.of(
        energy,
        0.0,
        cosine,
        losscone.mask(cosine, measured, normalised),
        counts=np.full(flux.shape, 100.0),
        background=np.zeros(energy.shape),
    )
    channel = losscone.channels(sweeps, measured)
    assert channel.shape == (N, 32, 5) and np.all(np.diff(channel) < 0.0)
    weighted = losscone.Sweeps.of(energy, 0.0, cosine, flux, channel=channel, counts=np.full(flux.shape, 9.0))
    folded = losscone.fit(weighted, response="folded")
    assert np.all(folded["status"] == "fitted") and np.all(folded["confidence_threshold"] > 0.0)
    assert not losscone.beam(sweeps)["beam_found"].any()
    fit = losscone.fit(sweeps, response="hard", confidence="bootstrap", draws=10)
    profile = losscone.profile(sweeps[0], [fit["potential"][0]], response="hard")
    assert np.isclose(profile.misfit[0, 0], fit["misfit"][0], rtol=1e-3)
    assert np.all(fit["confidence_threshold"] >= 0.0)
    assert np.median(np.abs(fit["potential"] - points[:, 0])) < 3.0


def test_directions_are_broadcast():
    random = np.random.default_rng(3)
    azimuth, theta = random.uniform(0.0, 360.0, (2, 5, 7)), random.uniform(-90.0, 90.0, 7)
    field = np.array([1.0, -2.0, 0.5])
    wanted = losscone.cosines(theta, np.broadcast_to(field, (2, 5, 3)), azimuth, np.ones((2, 5)))
    turned, inclined = np.radians(azimuth), np.radians(theta)
    unit = field / np.linalg.norm(field)
    along = unit[0] * np.cos(turned) * np.cos(inclined) + unit[1] * np.sin(turned) * np.cos(inclined)
    np.testing.assert_allclose(wanted, along + unit[2] * np.sin(inclined), atol=1e-13)
    for fields in (field, np.tile(field, (2, 1))):
        for signs in (1, np.ones(2), np.ones((2, 5))):
            for inclinations in (theta, np.tile(theta, (5, 1)), np.tile(theta, (2, 5, 1))):
                assert equal(losscone.cosines(inclinations, fields, azimuth, signs), wanted)
    assert equal(losscone.cosines(theta, field, azimuth), -wanted)
    flux = np.ones((2, 5, 7))
    made = losscone.Sweeps.of(
        np.arange(1.0, 6.0), 0.0, None, flux, theta=theta, field=field, azimuth=azimuth[0], polarity=1
    )
    assert equal(made.cosine[1], wanted[0]) and made.energy.shape == (2, 5)
    steps = theta + np.arange(10.0).reshape(2, 5, 1) / 10.0  # inclinations of each sweep and row
    one_by_one = losscone.cosines(np.clip(steps, -90, 90), field, azimuth)
    for k in range(2):
        for i in range(5):
            own = losscone.cosines(np.clip(steps[k, i], -90, 90), field, azimuth[k : k + 1, i : i + 1])
            assert equal(one_by_one[k, i], own[0, 0])


@pytest.mark.parametrize(
    "shape, words",
    [
        ((1, 33, 88), "sweeps.rows: 33 energies; at most 32"),
        ((1, 15, 513), "sweeps.cells: 513 directions; at most 512"),
        ((1, 0, 88), r"flux: an array of shape \(n, rows, cells\) is wanted"),
    ],
)
def test_other_grids_are_refused_by_name(shape, words):
    with pytest.raises(paritas.InvalidArgument, match=words):
        losscone.fit((np.arange(1.0, shape[1] + 1), 0.0, np.zeros(shape), np.ones(shape)))


def test_arrays_that_do_not_fit_are_refused_by_name():
    flux = np.ones((2, 5, 7))
    with pytest.raises(paritas.InvalidArgument, match=r"cosine: an array of shape \(2, 5, 7\) is wanted"):
        losscone.Sweeps.of(np.arange(1.0, 6.0), 0.0, np.zeros((2, 5, 8)), flux)
    with pytest.raises(paritas.InvalidArgument, match=r"energy: an array of shape \(2, 5\) is wanted"):
        losscone.Sweeps.of(np.arange(1.0, 8.0), 0.0, np.zeros((2, 5, 7)), flux)
    with pytest.raises(paritas.InvalidArgument, match="cosine: it is None, and azimuth is not given either"):
        losscone.Sweeps.of(np.arange(1.0, 6.0), 0.0, None, flux, theta=np.zeros(7), field=np.ones(3))
    with pytest.raises(paritas.InvalidArgument, match="cosine and theta: only one of them is wanted"):
        losscone.Sweeps.of(np.arange(1.0, 6.0), 0.0, np.zeros((2, 5, 7)), flux, theta=np.zeros(7))
