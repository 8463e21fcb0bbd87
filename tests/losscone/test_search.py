"""What the exact search promises, held to formulas of its own: misfits, minima that no evolution of SciPy
beats, plateaus. PARITAS_LONG_TESTS=1: twenty evolutions of each of many sweeps."""

import os

import dayfiles
import numpy as np
import pytest
import reference as ref
from library import Library, data_of

LONG = os.environ.get("PARITAS_LONG_TESTS", "0") not in ("", "0")
KINDS = [("halekas", "hard"), ("lillis", "hard"), ("halekas", "folded")]
FITTED, AT_LIMIT = 0, 4


@pytest.fixture(scope="module")
def library():
    opened = Library()
    yield opened
    opened.close()


def made(n, seed, method, response, truth=None, **options):
    day = dayfiles.synthetic(n, seed, kind=truth or response, tables=(0, 1), **options)
    return day, [day.sweep(k, day.truth["Usc"][k], method=method, response=response) for k in range(n)]


def points_inside(result, random, n, shrink):
    """points (U, r) of the plateau, and its corners, moved towards its centre or away from it: it is a
    polygon in (r, r U)"""
    U, r = np.array(result.vertex[: result.vertices]).T
    corners = np.stack([r, r * U], axis=1)
    centre = corners.mean(0)
    moved = np.vstack([random.dirichlet(np.ones(len(corners)), n) @ corners, corners])
    moved = centre + (moved - centre) * shrink
    return np.stack([moved[:, 1] / moved[:, 0], moved[:, 0]], axis=1)


@pytest.mark.parametrize("method, response", KINDS)
def test_the_misfit_of_a_result_is_that_of_the_formula_at_its_point(library, method, response):
    _, sweeps = made(60, 11, method, response)
    for sweep, result in zip(sweeps, library.fit(data_of(sweeps), method=method, response=response)):
        assert result.status == FITTED and result.cells == sweep.cells and result.gap == 0
        assert result.misfit == pytest.approx(
            sweep.misfit((result.potential, result.ratio, result.amplitude)), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("method, response", KINDS)
def test_misfits_at_any_point_are_those_of_the_formula(library, method, response):
    _, sweeps = made(20, 12, method, response)
    random = np.random.default_rng(0)
    points = np.array(
        [
            [random.uniform(-400, 20), random.uniform(0.3, 1.1), random.uniform(0, 5) * (response == "hard")]
            for _ in range(20)
        ]
    )
    np.testing.assert_allclose(
        library.misfit(data_of(sweeps), points, method=method, response=response),
        [[s.misfit(p) for p in points] for s in sweeps],
        rtol=1e-10,
    )


def not_beaten(library, sweeps, runs, method, response, **options):
    """how far below the exact minimum the best of `runs` evolutions comes, in units of 1 + misfit, and how
    many of the evolutions missed it by that"""
    bounds = ref.BOUNDS if response == "hard" else ref.BOUNDS[:2]
    worst, missed = -np.inf, 0
    for sweep, result in zip(
        sweeps, library.fit(data_of(sweeps), method=method, response=response, **options)
    ):
        objective = sweep.prepared()
        found = [ref.evolve(objective, seed, bounds=bounds)[0] for seed in range(runs)]
        worst = max(worst, (result.misfit - min(found)) / (1 + result.misfit))
        missed += sum(f > result.misfit + 1e-6 * (1 + result.misfit) for f in found)
    return worst, missed / (runs * len(sweeps))


@pytest.mark.parametrize("method, response", KINDS)
def test_no_evolution_finds_less(library, method, response):
    _, sweeps = made(6, 13, method, response)
    worst, _ = not_beaten(library, sweeps, 3, method, response)
    assert worst <= 1e-6


def below_a_grid(library, sweeps, step, method, response):
    """(result - least of the exact profiles over a grid of U) / (1 + result), the largest over the sweeps"""
    results = library.fit(data_of(sweeps), method=method, response=response, amplitude_upper=0.0)
    return max(
        (result.misfit - min(ref.profile(sweep, U)[0] for U in np.arange(-2000, 20.001, step)))
        / (1 + result.misfit)
        for sweep, result in zip(sweeps, results)
    )


@pytest.mark.parametrize("method, response", KINDS + [("lillis", "folded")])
def test_no_profile_over_a_grid_goes_below(library, method, response):
    _, sweeps = made(3, 19, method, response, noise=(0.3, 0.4))
    assert below_a_grid(library, sweeps, 4.0, method, response) <= 1e-6


@pytest.mark.skipif(not LONG, reason="PARITAS_LONG_TESTS")
@pytest.mark.parametrize("method, response", KINDS + [("lillis", "folded")])
@pytest.mark.parametrize("truth", ["hard", "folded"])
def test_no_profile_over_a_fine_grid_goes_below(library, truth, method, response):
    _, sweeps = made(60, 20, method, response, truth, noise=(0.1, 0.5))
    worst = below_a_grid(library, sweeps, 0.5, method, response)
    print(
        f"{method} {response}, truth {truth}: above the least of the profiles at every 0.5 V by at most "
        f"{worst:.2e} (1 + misfit)"
    )
    assert worst <= 1e-6


def hard_ones(method):
    """sweeps that a search may stumble over: strong beams, no noise, one field along x and the same azimuths
    in every row, no cone at all, nothing but a cone, missing cells"""
    random = np.random.default_rng(3)
    E, flat, turned = dayfiles.TABLES[0], np.tile(ref.PHI, (15, 1)), ref.PHI + 7.5 * np.arange(15)[:, None]
    spectrum = 1e6 * (E[:, None] / 100) ** -2.5
    sweeps = []
    for azimuth, field in ((flat, [1, 0, 0]), (flat, [0, 0, 1]), (turned, [1.0, 2.0, 3.0])):
        pitch = ref.pitch_angles(np.tile(np.array(field, float), (15, 1)), azimuth % 360)
        # in no cone: on which side of it rounding puts a cell must not matter
        pitch[np.abs(pitch - 90) < 1e-9] = 90.0

        def noise(s):
            return np.exp(s * random.normal(size=(15, 88)))

        gaps = np.where(random.random((15, 88)) < 0.3, np.nan, 1.0)
        for flux in (
            ref.model(E, pitch, -160, 0.95, 0, 10.0),
            ref.model(E, pitch, -60, 0.8, 4.0, 10.0) * noise(0.2),
            ref.model(E, pitch, -300, 0.5, 5.0, 10.0) * noise(0.3) * gaps,
            noise(0.4),
            np.where(pitch > 90, 0.05, 1.0) * noise(0.2),
        ):
            sweeps.append(ref.Sweep(E, pitch, flux * spectrum, 10.0, method))
    pitch = np.tile(np.linspace(0, 180, 88), (15, 1))  # a cell at 180 degrees in each row
    E = np.geomspace(20, 20000, 15)
    sweeps.append(
        ref.Sweep(
            E, pitch, ref.model(E, pitch, -50, 0.5, 2.0) * np.geomspace(1e3, 1e4, 15)[:, None], 0.0, method
        )
    )
    return [s for s in sweeps if s.cells >= 5]


@pytest.mark.parametrize("method", ["halekas", "lillis"])
def test_no_evolution_finds_less_in_sweeps_made_to_be_hard(library, method):
    worst, _ = not_beaten(library, hard_ones(method), 20 if LONG else 2, method, "hard")
    assert worst <= 1e-6


@pytest.mark.skipif(not LONG, reason="PARITAS_LONG_TESTS")
@pytest.mark.parametrize("method, response", KINDS)
@pytest.mark.parametrize(
    "truth, options",
    [
        ("hard", {}),
        ("hard", {"A": (2, 5), "U": (-150, -10)}),
        ("folded", {}),
        ("hard", {"U": (-1800, 15), "noise": (0.3, 0.5)}),
        ("hard", {"r": (1.5, 3.0)}),
    ],
)
def test_twenty_evolutions_find_no_less(library, method, response, truth, options):
    _, sweeps = made(25, 14, method, response, truth, **options)
    worst, missed = not_beaten(library, sweeps, 20, method, response)
    print(
        f"{method} {response}, truth {truth} {options}: best of 20 above the exact minimum by at least "
        f"{-worst:.2e} (1 + misfit); {100 * missed:.0f} % of the evolutions miss it"
    )
    assert worst <= 1e-6


@pytest.mark.parametrize("method, response", [("halekas", "hard"), ("halekas", "folded"), ("lillis", "hard")])
def test_the_plateau_is_where_the_model_of_the_data_does_not_change(library, method, response):
    _, sweeps = made(60, 15, method, response)
    random = np.random.default_rng(1)
    tried = 0
    for sweep, result in zip(
        sweeps, library.fit(data_of(sweeps), method=method, response=response, amplitude_upper=0.0)
    ):
        inside = points_inside(result, random, 20, 1 - 1e-6)
        np.testing.assert_allclose(
            [sweep.misfit((U, r, 0.0)) for U, r in inside], result.misfit, rtol=1e-9, atol=1e-12
        )
        there = sweep.values(result.potential, result.ratio)[sweep.mask]
        # past the corners: another model, and none that is better
        for U, r in points_inside(result, random, 0, 1 + 1e-4):
            if -2000 < U < 20 and 0.3 < r < 1.1:
                tried += 1
                assert (sweep.values(U, r)[sweep.mask] != there).any()
                assert sweep.misfit((U, r, 0.0)) >= result.misfit * (1 - 1e-9)
    assert tried > 100


def test_the_interval_of_a_result_is_the_extent_of_its_plateau(library):
    _, sweeps = made(60, 16, "halekas", "hard")
    for result in library.fit(data_of(sweeps)):
        corners = np.array(result.vertex[: result.vertices])
        if result.vertices < 16:
            assert (result.potential_lower, result.potential_upper) == pytest.approx(
                (corners[:, 0].min(), corners[:, 0].max()), abs=1e-9
            )
            assert (result.ratio_lower, result.ratio_upper) == pytest.approx(
                (corners[:, 1].min(), corners[:, 1].max()), abs=1e-12
            )
        assert (
            result.potential_lower <= result.potential <= result.potential_upper
            and result.ratio_lower <= result.ratio <= result.ratio_upper
        )


def test_the_beam_may_not_lift_the_misfit_above_that_without(library):
    _, sweeps = made(60, 17, "halekas", "hard")
    data = data_of(sweeps)
    for free, without in zip(library.fit(data), library.fit(data, amplitude_upper=0.0)):
        assert free.misfit <= without.misfit * (1 + 1e-9)


def test_the_profile_meets_the_minimum_on_the_plateau_and_nowhere_less(library):
    _, sweeps = made(20, 18, "halekas", "hard")
    data = data_of(sweeps)
    results = library.fit(data, amplitude_upper=0.0)
    grid = np.linspace(-600, 20, 125)
    for k, (row, result) in enumerate(zip(library.profile(data, grid, amplitude_upper=0.0), results)):
        assert row.min() >= result.misfit * (1 - 1e-9)
        within = (grid > result.potential_lower) & (grid < result.potential_upper)
        np.testing.assert_allclose(row[within], result.misfit, rtol=1e-9)
        coarse = [min(sweeps[k].misfit((U, r, 0.0)) for r in np.linspace(0.3, 1.1, 81)) for U in grid[::25]]
        assert (row[::25] <= np.array(coarse) * (1 + 1e-9)).all()


@pytest.mark.parametrize("method, response", KINDS)
def test_an_evolution_ends_at_or_above_the_exact_minimum_and_does_not_know_its_batch(
    library, method, response
):
    _, sweeps = made(24, 23, method, response)
    options = dict(
        method=method, response=response, **({"amplitude_upper": 0.0} if response == "folded" else {})
    )
    exact, found = (
        library.fit(data_of(sweeps), **options),
        library.fit(data_of(sweeps), search="de", **options),
    )
    for sweep, least, result in zip(sweeps, exact, found):
        assert result.misfit >= least.misfit - 1e-6 * (1 + least.misfit)
        assert result.misfit == pytest.approx(
            sweep.misfit((result.potential, result.ratio, result.amplitude)), rel=1e-9, abs=1e-12
        )
        assert (result.potential_lower, result.potential_upper) == (result.potential, result.potential)
    parts = [
        library.fit(data_of(sweeps[k : k + 5]), search="de", first=k, **options) for k in range(0, 24, 5)
    ]
    assert b"".join(bytes(part) for part in parts) == bytes(found)


def test_de_lands_near_the_exact_minimum_in_most_sweeps(library):
    _, sweeps = made(60, 24, "halekas", "hard")
    data = data_of(sweeps)
    excess = np.array(
        [a.misfit - b.misfit for a, b in zip(library.fit(data, search="de"), library.fit(data))]
    )
    assert (excess < 0.1).mean() > 0.7


@pytest.mark.parametrize("method, response", KINDS)
def test_a_fit_does_not_know_its_batch_nor_its_threads(method, response):
    _, sweeps = made(30, 25, method, response)
    found = []
    for threads, step in ((1, 30), (2, 30), (3, 7), (1, 1)):
        opened = Library(threads=threads)
        found.append(
            b"".join(
                bytes(opened.fit(data_of(sweeps[k : k + step]), method=method, response=response))
                for k in range(0, 30, step)
            )
        )
        opened.close()
    assert len(set(found)) == 1
