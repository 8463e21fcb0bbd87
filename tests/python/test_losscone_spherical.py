"""Spherical harmonics of U: closed forms, repetitions with noise, what is refused."""

import numpy as np
import pytest

pytest.importorskip("paritas")

import paritas
from paritas import losscone
from test_losscone_products import DAY, START, table

ROOT_5 = np.sqrt(5.0)


def places(n, seed=1):
    """Longitudes and latitudes, even over the sphere."""
    random = np.random.default_rng(seed)
    return random.uniform(-180.0, 180.0, n), np.degrees(np.arcsin(random.uniform(-1.0, 1.0, n)))


def passes(orbits, a_pass, seed=1):
    """Places of a polar orbit with random nodes, and the pass of each."""
    random = np.random.default_rng(seed)
    latitude = np.tile(np.linspace(-89.0, 89.0, a_pass), orbits)
    longitude = np.repeat(random.uniform(-180.0, 180.0, orbits), a_pass) + random.uniform(
        -2.0, 2.0, latitude.size
    )
    return longitude, latitude, np.repeat(np.arange(orbits), a_pass)


def y32(longitude, latitude):
    """Y_32 = sqrt(105) / 2 sin(latitude) cos^2(latitude) cos(2 longitude), of mean square 1."""
    east, north = np.radians(longitude), np.radians(latitude)
    return 0.5 * np.sqrt(105.0) * np.sin(north) * np.cos(north) ** 2 * np.cos(2.0 * east)


def test_functions_are_the_closed_forms_without_the_phase_of_condon_and_shortley():
    longitude, latitude = places(200)
    x, y = np.cos(np.radians(longitude)), np.sin(np.radians(longitude))
    sine, cosine = np.sin(np.radians(latitude)), np.cos(np.radians(latitude))
    found = losscone.spherical_functions(longitude, latitude, 3)
    root_3, root_15 = np.sqrt(3.0), np.sqrt(15.0)
    known = (1.0 + 0.0 * x, root_3 * cosine * y, root_3 * sine, root_3 * cosine * x)
    np.testing.assert_allclose(found[:, :4], np.stack(known, axis=1), atol=1e-14)
    np.testing.assert_allclose(found[:, 6], 0.5 * ROOT_5 * (3.0 * sine**2 - 1.0), atol=1e-14)
    np.testing.assert_allclose(found[:, 7], root_15 * sine * cosine * x, atol=1e-14)
    np.testing.assert_allclose(found[:, 4], root_15 * cosine**2 * x * y, atol=1e-14)
    np.testing.assert_allclose(found[:, 14], y32(longitude, latitude), atol=1e-13)


def test_functions_are_orthonormal_up_to_degree_40():
    """By Gauss and Legendre over the sine of the latitude, evenly over the longitude."""
    sine, weight = np.polynomial.legendre.leggauss(41)
    longitude = np.arange(82) * 360.0 / 82.0
    latitude = np.degrees(np.arcsin(sine))
    found = losscone.spherical_functions(np.tile(longitude, 41), np.repeat(latitude, 82), 40)
    means = found.T @ (found * np.repeat(weight / 164.0, 82)[:, None])
    np.testing.assert_allclose(means, np.eye(41**2), atol=1e-11)
    # the theorem of addition: squares of a degree sum to 2 l + 1 at every place
    sums = np.add.reduceat(found**2, np.arange(41) ** 2, axis=1)
    np.testing.assert_allclose(sums, np.broadcast_to(2.0 * np.arange(41) + 1.0, sums.shape), rtol=1e-11)


def test_a_field_that_is_y32_returns_it_and_its_power():
    longitude, latitude = places(3000)
    found = losscone.spherical_fit(longitude, latitude, 7.0 * y32(longitude, latitude), lmax=5)
    rows = found.table
    there = (rows["degree"] == 3) & (rows["order"] == 2)
    np.testing.assert_allclose(rows["coefficient"], np.where(there, 7.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(found.power()["power"], [0.0, 0.0, 0.0, 49.0, 0.0, 0.0], atol=1e-11)
    assert found.explained == pytest.approx(1.0) and found.deviation < 1e-12 and (rows["error"] < 1e-12).all()
    np.testing.assert_allclose(rows["resolution"], 1.0, rtol=1e-12)
    value, error = found.field([10.0, -50.0], [30.0, -70.0])
    np.testing.assert_allclose(value, 7.0 * y32(np.array([10.0, -50.0]), np.array([30.0, -70.0])), atol=1e-12)
    assert found.coverage == 1.0 and 1.0 < found.condition < 2.0 and found.blocks == found.sweeps == 3000


def test_weights_are_those_of_repeated_values():
    longitude, latitude = places(400)
    values = np.random.default_rng(2).normal(size=400)
    times = np.random.default_rng(3).integers(1, 4, 400)
    weighted = losscone.spherical_fit(longitude, latitude, values, lmax=3, weights=times)
    repeated = losscone.spherical_fit(
        *(np.repeat(one, times) for one in (longitude, latitude, values)), lmax=3
    )
    np.testing.assert_allclose(weighted.table["coefficient"], repeated.table["coefficient"], atol=1e-13)


def test_without_blocks_the_covariance_is_that_of_least_squares():
    longitude, latitude = places(20000)
    values = np.random.default_rng(2).normal(0.0, 3.0, 20000)
    found = losscone.spherical_fit(longitude, latitude, values, lmax=2)
    functions = losscone.spherical_functions(longitude, latitude, 2)
    known = 9.0 * np.linalg.inv(functions.T @ functions)
    np.testing.assert_allclose(found.covariance, known, atol=0.05 * known.max())


@pytest.mark.parametrize("weights", [None, "area"])
def test_the_covariance_is_that_of_300_repetitions_with_noise_of_passes(weights):
    """Each sweep has noise of its own, each pass an offset and a slope: errors are three times those of
    independent sweeps."""
    longitude, latitude, block = passes(100, 20)
    n, random = len(longitude), np.random.default_rng(5)
    w = None if weights is None else np.cos(np.radians(latitude))
    coefficients, variances, chi = [], [], []
    for _ in range(300):
        offset, slope = random.normal(0.0, (4.0, 3.0), (100, 2)).T
        noise = random.normal(0.0, 5.0, n) + offset[block] + slope[block] * latitude / 90.0
        found = losscone.spherical_fit(longitude, latitude, -80.0 + noise, lmax=3, block=block, weights=w)
        coefficients.append(found.table["coefficient"])
        variances.append(np.diag(found.covariance))
        chi.append((found.table["coefficient"][0] + 80.0) / found.table["error"][0])
    true, told = np.cov(np.array(coefficients).T), np.mean(variances, axis=0)
    ratio = told / np.diag(true)
    assert abs(ratio.mean() - 1.0) < 0.07 and (np.abs(ratio - 1.0) < 0.35).all()
    assert np.std(chi) == pytest.approx(1.0, abs=0.12) and abs(np.mean(coefficients, axis=0)[0] + 80.0) < 0.1


def test_the_power_has_the_error_of_repetitions_and_noise_adds_what_the_column_says():
    longitude, latitude = places(800)
    signal, random, made = 2.0 * y32(longitude, latitude), np.random.default_rng(6), []
    for _ in range(300):
        values = signal + random.normal(0.0, 6.0, 800)
        made.append(losscone.spherical_fit(longitude, latitude, values, lmax=4).power())
    power = np.array([one["power"] for one in made])
    noise = np.mean([one["noise"] for one in made], axis=0)
    error = np.sqrt(np.mean([one["error"] ** 2 for one in made], axis=0))
    np.testing.assert_allclose(power.mean(axis=0), noise + np.array([0.0, 0.0, 0.0, 4.0, 0.0]), rtol=0.12)
    # at least that of noise alone, so that degrees of noise have up to 1.5 times theirs
    ratio = error / power.std(axis=0)
    assert ratio[3] == pytest.approx(1.0, abs=0.15) and (ratio > 0.9).all() and (ratio < 1.5).all()


def test_power_does_not_change_with_the_origin_of_longitude():
    longitude, latitude = places(2000)
    values = np.random.default_rng(7).normal(-50.0, 20.0, 2000) + 9.0 * y32(longitude, latitude)
    block = np.arange(2000) // 4
    one, other = (
        losscone.spherical_fit(longitude + turn, latitude, values, lmax=6, block=block, ridge=0.1)
        for turn in (0.0, 73.0)
    )
    for name in ("power", "noise", "error", "resolution"):
        np.testing.assert_allclose(one.power()[name], other.power()[name], rtol=1e-9)
    assert abs(one.table["coefficient"][14] - other.table["coefficient"][14]) > 1.0
    here, there = one.field(longitude[:50], latitude[:50]), other.field(longitude[:50] + 73.0, latitude[:50])
    np.testing.assert_allclose(here, there, rtol=1e-9)


def test_the_correlation_of_degrees_tells_a_common_field_from_noise():
    longitude, latitude = places(4000)
    random, made = np.random.default_rng(11), []
    for _ in range(2):
        values = 4.0 * y32(longitude, latitude) + random.normal(0.0, 5.0, 4000)
        made.append(losscone.spherical_fit(longitude, latitude, values, lmax=8))
    found = losscone.degree_correlation(*made)
    assert found["correlation"][3] > 0.98 and found["cross_power"][3] == pytest.approx(16.0, abs=1.5)
    others = np.delete(found["correlation"] / found["spread"], [0, 3])
    assert (np.abs(others) < 3.0).all() and np.abs(others).mean() > 0.2
    itself = losscone.degree_correlation(made[0], made[0])
    np.testing.assert_allclose(itself["correlation"], 1.0)
    np.testing.assert_allclose(itself["cross_power"], made[0].power()["power"])
    with pytest.raises(paritas.InvalidArgument, match="lmax 8 and 2: they must be equal"):
        losscone.degree_correlation(made[0], losscone.spherical_fit(longitude, latitude, latitude, lmax=2))


def test_results_do_not_depend_on_the_order_of_sweeps_or_on_chunks(monkeypatch):
    longitude, latitude, block = passes(60, 50)
    values = np.random.default_rng(8).normal(size=3000)
    whole = losscone.spherical_fit(longitude, latitude, values, lmax=3, block=block)
    monkeypatch.setattr(losscone.spherical, "_CHUNK", 170)
    order = np.random.default_rng(9).permutation(3000)
    again = losscone.spherical_fit(
        *(one[order] for one in (longitude, latitude, values)), lmax=3, block=block[order]
    )
    np.testing.assert_allclose(again.table["coefficient"], whole.table["coefficient"], atol=1e-12)
    np.testing.assert_allclose(again.covariance, whole.covariance, atol=1e-12)


def test_a_ridge_of_1_halves_the_largest_degree_and_leaves_the_mean():
    longitude, latitude = places(20000)
    functions = losscone.spherical_functions(longitude, latitude, 3)
    values = -60.0 + 8.0 * functions[:, 2] + 8.0 * functions[:, 14]
    found = losscone.spherical_fit(
        longitude, latitude, values, lmax=3, ridge=1.0, block=np.arange(20000) % 500
    )
    assert found.ridge == 1.0
    np.testing.assert_allclose(found.table["coefficient"][[0, 2, 14]], [-60.0, 48.0 / 7.0, 4.0], rtol=0.05)
    np.testing.assert_allclose(found.power()["resolution"], [1.0, 6.0 / 7.0, 2.0 / 3.0, 0.5], rtol=0.05)


def test_too_little_coverage_is_refused_and_a_ridge_must_be_asked_for():
    longitude, latitude = places(4000)
    half = longitude > 0.0
    near = longitude[half], latitude[half], -40.0 + longitude[half]
    with pytest.raises(
        paritas.InvalidInput, match=r"the condition number up to degree 10 is .* \(at most 1000"
    ):
        losscone.spherical_fit(*near)
    found = losscone.spherical_fit(*near, ridge=0.3)
    assert found.condition > 1000.0 and found.coverage < 0.6 and found.ridge == 0.3
    inside, outside = (found.field([east], [0.0])[1][0] for east in (90.0, -90.0))
    assert found.table["resolution"].sum() < 110.0 and outside > 3.0 * inside
    with pytest.raises(
        paritas.InvalidInput, match="16 of 16 coefficients .* needs 32 blocks of time, not 20"
    ):
        losscone.spherical_fit(longitude, latitude, latitude, lmax=3, block=np.arange(4000) % 20)
    for bad, words in (
        ({"lmax": 41}, "lmax 41: a degree from 0 to 40"),
        ({"lmax": 2.5}, "lmax 2.5: a whole number"),
        ({"ridge": -1.0}, "ridge -1.0: a strength from 0"),
        ({"weights": np.zeros(4000)}, "weights: all must be finite and above 0"),
        ({"block": [1, 2]}, "lengths must be equal"),
    ):
        with pytest.raises(paritas.InvalidArgument, match=words):
            losscone.spherical_fit(longitude, latitude, latitude, **bad)


def test_harmonics_of_sweeps_of_one_illumination_in_the_frame_of_the_moon_or_of_the_sun():
    rows = table(20000, days=90.0)
    place = rows["time"], rows["projection_longitude"], rows["projection_latitude"]
    angle, hour = losscone.solar_position(*place)
    rows["potential"] = np.where(angle > 0.0, -90.0, -20.0) + 5.0 * y32(place[1], place[2])
    rows["status"][:100] = "misfit"
    night = losscone.spherical_harmonics(rows, lmax=6, illumination="night")
    rows["potential"] += 1e-9
    np.testing.assert_allclose(night.table["coefficient"][[0, 14]], [-90.0, 5.0], atol=1e-6)
    used = (angle > 10.0) & (rows["status"] == "fitted")
    assert (
        night.sweeps == used.sum()
        and night.blocks == len(np.unique(rows["time"][used] // 7200.0))
        and night.illumination == "night"
    )
    sun = losscone.spherical_harmonics(rows, lmax=3, frame="sun", weights="area")
    # below the Sun U is higher: along cos(latitude) cos(hour angle), the order 1 of degree 1
    largest = np.argmax(np.abs(sun.table["coefficient"][1:])) + 1
    assert (sun.table["degree"][largest], sun.table["order"][largest]) == (1, 1)
    noon, midnight = sun.field([0.0, 180.0], [0.0, 0.0])[0]
    assert noon > -40.0 and midnight < -70.0 and sun.frame == "sun"
    with pytest.raises(paritas.InvalidArgument, match="frame 'earth', weights 'equal': there are moon, sun"):
        losscone.spherical_harmonics(rows, frame="earth")
    with pytest.raises(paritas.InvalidArgument, match="illumination 'dusk': there are all, day"):
        losscone.spherical_harmonics(rows, illumination="dusk")


def test_harmonics_of_the_cells_of_a_map_are_those_of_its_sweeps():
    rows = table(20000, days=90.0)
    place = rows["projection_longitude"], rows["projection_latitude"]
    rows["potential"] = -50.0 + 6.0 * y32(*place) + np.random.default_rng(4).normal(0.0, 1.0, 20000)
    found = losscone.surface_map(rows, degrees=10.0)
    cells = losscone.spherical_harmonics(found, lmax=6)
    sweeps = losscone.spherical_harmonics(rows, lmax=6)
    np.testing.assert_allclose(cells.table["coefficient"], sweeps.table["coefficient"], atol=0.15)
    assert cells.blocks == cells.sweeps == len(found.grid) and cells.response == "hard"
    assert cells.table["coefficient"][14] == pytest.approx(6.0, abs=0.1)
    with pytest.raises(paritas.InvalidArgument, match="illumination 'dusk'"):
        losscone.spherical_harmonics(found, illumination="dusk")
