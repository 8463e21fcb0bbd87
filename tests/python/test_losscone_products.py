"""Maps, profiles, regions and harmonics against closed forms and known truth."""

import numpy as np
import pytest

pytest.importorskip("paritas")

import paritas
from losscone_support import run, synthesize
from paritas import losscone

START = 888888888.0
DAY = 86400.0


def seconds(text):
    return np.datetime64(text).astype("datetime64[s]").astype(float)


def table(n=4000, seed=1, days=30.0, potential=None, **columns):
    """Sweeps at random places, evenly over time, U of mean -100 V and standard deviation 10 V."""
    random = np.random.default_rng(seed)
    made = {
        "time": START + days * DAY * (np.arange(n) + 0.5) / n,
        "status": np.full(n, "fitted"),
        "potential": random.normal(-100.0, 10.0, n) if potential is None else potential,
        "projection_longitude": random.uniform(0.0, 360.0, n),
        "projection_latitude": np.degrees(np.arcsin(random.uniform(-1.0, 1.0, n))),
        **columns,
    }
    rows = np.empty(n, [(name, np.asarray(values).dtype) for name, values in made.items()])
    for name, values in made.items():
        rows[name] = values
    return rows


def test_averages_over_time_are_those_of_their_stretches():
    rows = table(days=3.0)
    rows["potential"][np.floor(rows["time"] / 43200.0) % 2 == 0] = -20.0
    found = losscone.time_averages(rows, hours=12.0)
    assert found["count"].sum() == len(rows) and (found["time_end"] - found["time_start"] == 43200.0).all()
    assert (np.abs(found["mean"][found["time_start"] / 43200.0 % 2 == 0] + 20.0) < 1e-9).all()
    night = losscone.time_averages(rows, illumination="night")
    place = rows["time"], rows["projection_longitude"], rows["projection_latitude"]
    assert night["count"].sum() == (losscone.solar_position(*place)[0] > 10.0).sum()
    for options, words in (({"hours": 0.0}, "hours 0.0"), ({"illumination": "dusk"}, "illumination 'dusk'")):
        with pytest.raises(paritas.InvalidArgument, match=words):
            losscone.time_averages(rows, **options)


@pytest.mark.parametrize("degrees", [1.0, 5.0, 10.0, 37.0, 90.0])
def test_cells_have_equal_areas_cover_the_moon_once_and_are_almost_square(degrees):
    grid = losscone.EqualAreaGrid.of(degrees)
    west, east, south, north = grid.bounds().T
    areas = (east - west) * np.degrees(np.sin(np.radians(north)) - np.sin(np.radians(south)))
    np.testing.assert_allclose(areas, grid.area, rtol=1e-9)
    assert areas.sum() == pytest.approx(4.0 * np.pi * np.degrees(1.0) ** 2, rel=1e-12)
    assert south[0] == -90.0 and north[-1] == 90.0 and grid.area == pytest.approx(degrees**2, rel=0.25)
    middle = slice(len(grid) // 4, 3 * len(grid) // 4)
    shape = (east - west) * np.cos(np.radians(0.5 * (north + south))) / (north - south)
    assert (np.abs(np.log(shape[middle])) < np.log(1.5)).all()


def test_every_place_is_in_the_cell_whose_bounds_hold_it():
    grid, rows = losscone.EqualAreaGrid.of(7.0), table(3000)
    cell = grid.cell(rows["projection_longitude"], rows["projection_latitude"])
    west, east, south, north = grid.bounds()[cell].T
    east_of = (rows["projection_longitude"] + 180.0) % 360.0 - 180.0
    assert ((west <= east_of) & (east_of <= east)).all()
    assert ((south <= rows["projection_latitude"]) & (rows["projection_latitude"] <= north)).all()
    assert (grid.cell(*grid.centres().T) == np.arange(len(grid))).all()
    assert grid.cell([0.0, np.nan, 180.0], [np.nan, 0.0, 90.0]).tolist() == [-1, -1, len(grid) - 3]
    with pytest.raises(paritas.InvalidArgument, match="degrees 0.1: a cell's size from 0.5 to 90"):
        losscone.EqualAreaGrid.of(0.1)


@pytest.mark.parametrize(
    "when, longitude, latitude, elevation",
    [
        ("1969-07-20T20:17:39", 23.4333, 0.6875, 10.65),
        ("1969-07-21T17:54:00", 23.4333, 0.6875, 21.65),
        ("1969-11-19T06:54:36", -23.3856, -3.1975, 5.19),
        ("1969-11-20T14:25:47", -23.3856, -3.1975, 21.11),
    ],
)
def test_the_sun_stood_where_the_astronauts_of_apollo_saw_it(when, longitude, latitude, elevation):
    """Apollo Lunar Surface Journal, Altitudes and Azimuths of Sun and Earth (2009): landings and liftoffs of
    Apollo 11 and 12, all in the morning."""
    angle, hour = losscone.solar_position(seconds(when), longitude, latitude)
    assert -angle == pytest.approx(elevation, abs=0.1) and -90.0 < hour < -60.0


def test_the_point_below_the_sun_is_meeus():
    """Meeus, Astronomical Algorithms, example 53.b: 67.89 and 1.46 degrees."""
    longitude, latitude = losscone.subsolar_point(seconds("1992-04-12"))
    assert (longitude, latitude) == (pytest.approx(67.89, abs=0.05), pytest.approx(1.46, abs=0.03))
    assert losscone.solar_position(seconds("1992-04-12"), longitude, latitude)[0] == pytest.approx(-90.0)


def test_averages_are_numpys_and_passes_widen_their_errors():
    random = np.random.default_rng(3)
    group, values = random.integers(-1, 5, 500), random.normal(size=500)
    values[7], group[group == 3] = np.nan, 2
    found = losscone.averages(group, values, 5)
    for k in (0, 1, 2, 4):
        mine = values[(group == k) & np.isfinite(values)]
        error = mine.std(ddof=1) / np.sqrt(len(mine))
        expected = [len(mine), len(mine), mine.mean(), error, mine.std(ddof=1)]
        np.testing.assert_allclose(
            list(found[k]), [*expected, *np.quantile(mine, (0.16, 0.5, 0.84))], rtol=1e-12
        )
    assert found["count"][3] == 0 and np.isnan(found["mean"][3]) and np.isnan(found["median"][3])
    # four copies of each value are one measurement: the error of the originals
    copies = losscone.averages(
        np.zeros(400, int), np.repeat(values[100:200], 4), 1, np.repeat(np.arange(100), 4)
    )
    alone = losscone.averages(np.zeros(100, int), values[100:200], 1)
    assert copies["error"] == pytest.approx(alone["error"], rel=1e-12)
    assert (copies["count"][0], copies["blocks"][0]) == (400, 100)


def test_a_map_finds_the_potential_of_each_cell_and_its_error_holds_the_truth():
    rows = table(40000)
    truth = -100.0 + 40.0 * np.sin(np.radians(rows["projection_latitude"]))
    rows["potential"] += truth + 100.0
    found = losscone.surface_map(rows, degrees=20.0, block=0.0)
    whole = found["all"]
    assert (
        whole["count"].sum()
        == len(rows)
        == sum(found[k]["count"].sum() for k in ("day", "terminator", "night"))
    )
    bounds = np.radians(found.grid.bounds())
    mean_truth = -100.0 + 40.0 * 0.5 * (np.sin(bounds[:, 2]) + np.sin(bounds[:, 3]))
    pulls = (whole["mean"] - mean_truth) / whole["error"]
    assert 0.8 < pulls.std() < 1.25 and abs(pulls.mean()) < 0.3
    np.testing.assert_allclose(whole["error"], whole["deviation"] / np.sqrt(whole["count"]), rtol=1e-12)


def test_a_map_tells_day_from_night_by_the_sun():
    rows = table(4000)
    angle, _ = losscone.solar_position(
        rows["time"], rows["projection_longitude"], rows["projection_latitude"]
    )
    rows["potential"] = np.where(angle > 10.0, -300.0, np.where(angle < -10.0, -30.0, -100.0))
    found = losscone.surface_map(rows)
    for name, value in (("day", -30.0), ("terminator", -100.0), ("night", -300.0)):
        part = found[name]
        assert (part["mean"][part["count"] > 0] == value).all() and part["count"].sum() > 300


def test_a_profile_finds_a_step_at_the_terminator_and_the_side_of_another():
    rows = table(20000)
    place = (rows["time"], rows["projection_longitude"], rows["projection_latitude"])
    angle, hour = losscone.solar_position(*place)
    rows["potential"] = np.where(angle < 0.0, -20.0, np.where(hour < 0.0, -120.0, -220.0))
    found = losscone.terminator_profile(rows, width=10.0)
    day = found["both"]["angle_upper"] <= 0.0
    for side, night in (("dawn", -120.0), ("dusk", -220.0)):
        assert found[side]["mean"] == pytest.approx(np.where(day, -20.0, night), abs=1e-9)
    both = found["both"]
    assert both["count"].sum() == len(rows) and (both["mean"][~day] > -220.0).all()
    assert both["count"].tolist() == (found["dawn"]["count"] + found["dusk"]["count"]).tolist()
    expected = 0.5 * np.diff(np.sin(np.radians(np.linspace(-90.0, 90.0, 19)))) * len(rows)
    assert (np.abs(both["count"] - expected) < 5.0 * np.sqrt(expected)).all()  # as many as the ring's area


def test_a_harmonic_of_known_amplitude_and_phase_is_recovered_with_its_error():
    random, time = (
        np.random.default_rng(5),
        START + 59.0 * DAY * np.sort(np.random.default_rng(4).random(900)),
    )
    period, truth = losscone.PERIODS["lunar day"], [(30.0, 40.0), (12.0, -100.0)]
    turns = 2.0 * np.pi * (time - 946728000.0) / (DAY * period)
    signal = -100.0 + sum(a * np.cos(k * turns - np.radians(p)) for k, (a, p) in enumerate(truth, 1))
    exact = losscone.harmonic_fit(time, signal, period, orders=2)
    np.testing.assert_allclose(np.stack([exact["amplitude"], exact["phase"]], axis=1), truth, rtol=1e-9)
    for block in (0.0, 24.0):
        fits = [
            losscone.harmonic_fit(time, signal + random.normal(0.0, 8.0, 900), period, orders=2, block=block)
            for _ in range(100)
        ]
        for i, (amplitude, phase) in enumerate(truth):
            assert np.mean([fit["amplitude_error"][i] for fit in fits]) == pytest.approx(
                8.0 * np.sqrt(2.0 / 900.0), rel=0.1
            )
            for name, true in (("amplitude", amplitude), ("phase", phase)):
                pulls = [(fit[name][i] - true) / fit[f"{name}_error"][i] for fit in fits]
                assert 0.8 < np.std(pulls) < 1.25 and abs(np.mean(pulls)) < 0.35
    chances = [losscone.harmonic_fit(time, random.normal(size=900), period)["chance"][0] for _ in range(300)]
    assert np.mean(chances) == pytest.approx(0.5, abs=0.07) and np.mean(np.array(chances) < 0.1) < 0.16


def test_errors_of_harmonics_know_that_sweeps_of_a_day_go_together():
    random, n = np.random.default_rng(6), 60
    time = START - START % DAY + DAY * (np.repeat(np.arange(n), 24) + np.tile(np.arange(24) / 24.0, n))
    errors, amplitudes = {0.0: [], 24.0: []}, []
    for _ in range(100):
        values = np.repeat(random.normal(size=n), 24)
        for block, kept in errors.items():
            fit = losscone.harmonic_fit(time, values, 29.53, block=block)
            kept.append(fit["amplitude_error"][0])
        amplitudes.append(fit["amplitude"][0])
    true = np.sqrt(np.mean(np.square(amplitudes)) / 2.0)  # of the cosine's and of the sine's coefficient
    assert np.mean(errors[24.0]) == pytest.approx(true, rel=0.15) and np.mean(errors[0.0]) < 0.3 * true


def test_what_the_data_cannot_tell_is_nan():
    rows = losscone.harmonics(table(500, days=29.6), orders=2)
    assert rows["name"].tolist()[::2] == ["lunar day", "lunar month", "year"]
    assert np.isfinite(rows["amplitude"]).tolist() == [True] * 4 + [False] * 2
    assert np.isnan(losscone.harmonics(table(500, days=3.0))["chance"]).all()


def test_the_periodogram_is_the_share_of_the_variance_that_least_squares_explain():
    random = np.random.default_rng(8)
    time, weights = START + DAY * np.sort(random.uniform(0.0, 50.0, 200)), random.uniform(0.5, 2.0, 200)
    values = 3.0 * np.sin(2.0 * np.pi * 0.11 * time / DAY) + random.normal(size=200)
    at = np.array([0.03, 0.11, 0.5])
    power = losscone.lomb_scargle(time, values, weights, at)
    for f, found in zip(at, power):
        turns = 2.0 * np.pi * f * (time - START) / DAY
        design = np.sqrt(weights)[:, None] * np.stack([np.ones(200), np.cos(turns), np.sin(turns)], axis=1)
        _, rest, *_ = np.linalg.lstsq(design, np.sqrt(weights) * values, rcond=None)
        mean = np.average(values, weights=weights)
        assert found == pytest.approx(1.0 - rest[0] / (weights @ (values - mean) ** 2), rel=1e-9)


def test_a_periodogram_finds_the_lunar_day_and_its_level_holds_noise():
    rows = table(3000, days=90.0)
    signal = rows.copy()
    signal["potential"] += 20.0 * np.cos(2.0 * np.pi * rows["time"] / DAY / 29.53)
    found = losscone.periodogram(signal)
    assert 1.0 / found.frequency[np.argmax(found.power)] == pytest.approx(29.53, rel=0.03)
    assert found.power.max() > found.level and found.blocks == 1081
    noise = [losscone.periodogram(table(600, seed=k, days=40.0)) for k in range(20)]
    assert sum(one.power.max() > one.level for one in noise) <= 2


def test_regions_are_the_programs_and_are_counted(tmp_path):
    folder, truth = synthesize(
        tmp_path / "er", "--sweeps", 60, "--plasma", "--true-temperature", "8:250", "--seed", 2
    )
    lines = open(truth).read().splitlines()
    lit = ["projection_in_sun", *("" if k % 5 == 0 else str(int(k % 3 != 0)) for k in range(60))]
    (tmp_path / "geometry.csv").write_text("\n".join(f"{line},{at}" for line, at in zip(lines, lit)) + "\n")
    run("losscone", "fit", folder, "--geometry", tmp_path / "geometry.csv", "-o", tmp_path, "--quiet")
    arrays = losscone.read_tables(tmp_path / "losscone_1998-01-16.npz")
    text = losscone.read_tables(tmp_path / "losscone_1998-01-16.csv")
    found = losscone.region_statistics(text, response="hard", good=False)
    again = losscone.region_statistics(arrays, response="hard", good=False)
    for name in found.dtype.names:
        np.testing.assert_array_equal(found[name], again[name])
    assert (found["sweeps"] > 0).sum() >= 4 and found["sweeps"].sum() == 60
    classes = arrays["environment_class"]
    for k, row in enumerate(found):
        mine = text["potential"][(classes == k) & np.isfinite(text["potential"])]
        assert row["count"] == len(mine) and (not len(mine) or row["mean"] == pytest.approx(mine.mean()))
    warm, dark = text["temperature"], text["projection_in_sun"] == 0.0
    night = losscone.region_statistics(text, illumination="night", response="hard", good=False)
    assert night["sweeps"].sum() == dark.sum() == found["sweeps"][5]
    sheath = text["potential"][dark & (warm >= 30.0) & (warm < 80.0) & np.isfinite(text["potential"])]
    assert night["count"][2] == len(sheath) > 0 and night["mean"][2] == pytest.approx(sheath.mean())
    with pytest.raises(paritas.InvalidArgument, match="illumination 'dusk': must be day or night"):
        losscone.region_statistics(text, illumination="dusk")
    text.sweeps["projection_in_sun"] = np.nan
    with pytest.raises(paritas.InvalidInput, match="no sweep has projection_in_sun, .* --mag or --spice"):
        losscone.region_statistics(text, illumination="night")
    assert losscone.region_statistics(text)["sweeps"].tolist() == [60, 0, 0, 0, 0, 0]
    with pytest.raises(paritas.InvalidArgument, match="regions: 60 indices are wanted"):
        losscone.region_statistics(text, regions=[1, 2])


def test_only_good_sweeps_count_unless_all_are_asked_for():
    status = np.array(["fitted"] * 6 + ["misfit"] * 2 + ["no_cells"] * 2)
    rows = table(10, status=status)
    rows["potential"][8:] = np.nan
    assert losscone.select(rows).used.tolist() == [True] * 6 + [False] * 4
    assert losscone.select(rows, good=False).used.sum() == 8
    quality = np.array(["good"] * 4 + ["no_edge"] * 6)
    judged = table(10, status=status, quality=quality, good=np.arange(10) < 3)
    assert losscone.select(judged).used.tolist() == [True] * 3 + [False] * 7
    assert losscone.select(judged, good=False).used.all()


def test_the_model_is_the_one_that_most_sweeps_prefer():
    preferred = np.array(["folded"] * 6 + ["hard"] * 4)
    rows = table(
        10, potential_folded=np.arange(10.0), status_folded=np.full(10, "fitted"), preferred=preferred
    )
    assert losscone.select(rows).response == "folded" and losscone.select(rows).potential[3] == 3.0
    assert (losscone.select(rows, response="hard").potential == rows["potential"]).all()
    with pytest.raises(paritas.InvalidArgument, match="response 'soft': must be hard or folded"):
        losscone.select(rows, response="soft")


def test_products_that_need_positions_say_so():
    rows = table(10)
    rows["projection_latitude"] = np.nan
    for product in (losscone.surface_map, losscone.terminator_profile):
        with pytest.raises(paritas.InvalidInput, match="give the fits a table of geometry"):
            product(rows)
