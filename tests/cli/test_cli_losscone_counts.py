"""Counted electrons from outside: synthetic counts, and fits that know them."""

import csv
import json

import pytest

from lossconefiles import answer, read_csv, run


def injected(*options):
    done = run("losscone", "inject", "--json", "--sweeps", 40, "--beams", 0, "--counts", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["fits"]


@pytest.mark.parametrize("truth", ["hard", "folded"])
def test_sets_of_counted_electrons_hold_the_truth(truth):
    wind = ["--region", "solar-wind", "--background-rate", 10, "--noise", 0, "--true-potential=-100"]
    (found,) = injected(*wind, "--truth", truth, "--response", truth)
    assert found["fitted"] == 40 and found["set_coverage"] >= 0.9 and abs(found["bias"]) < 1.5
    careless = ["--least-counts", 0, "--subtract-background", "none"]
    (without,) = injected(*wind, "--truth", truth, "--response", truth, *careless)
    assert without["set_coverage"] < 0.5


def found_potentials(folder, *options):
    out = folder / "kappa"
    done = run("kappa", "fit", folder, "--geometry", folder / "truth.csv", "-o", out, "--overwrite", *options)
    assert done.returncode == 0, done.stderr
    lines = (out / "kappa_1998-01-16.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    rates = [float(row["background_rate"]) for row in rows]
    return sum(row["spacecraft_potential_status"] == "found" for row in rows), rates


def test_a_background_costs_no_potential_of_the_spacecraft(tmp_path):
    wind = ["--region", "solar-wind", "--counts", "--background-rate", 10, "--sweeps", 40]
    made = run("losscone", "synthesize", "-o", tmp_path, *wind)
    assert made.returncode == 0 and made.stderr == ""  # these counts are no cost of fits
    found, rates = found_potentials(tmp_path)
    assert found >= 38 and sum(8.0 < rate < 12.5 for rate in rates) >= 37
    without, rates = found_potentials(tmp_path, "--subtract-background", "none")
    assert without < 10 and not any(rates)


def test_a_steep_spectrum_does_not_bias_the_folded_edge():
    integral = ["--truth", "integral", "--response", "folded"]
    (weighted,), (equal,) = (injected(*integral, "--response-weights", w) for w in ("spectrum", "equal"))
    assert abs(weighted["bias"]) < 3 and equal["bias"] < -20


def test_counts_depend_on_seed_and_sweep_alone(tmp_path):
    options = ["--counts", "--background-rate", 10, "--region", "lobe", "--exact", "--days", 1]
    for name, sweeps in (("few", 3), ("many", 6)):
        assert (
            run("losscone", "synthesize", "-o", tmp_path / name, "--sweeps", sweeps, *options).returncode == 0
        )
    few, many = ((tmp_path / name / "3D980116.TAB").read_text().splitlines() for name in ("few", "many"))
    # times alone tell how many sweeps a day has
    assert [row.split()[2:] for row in few] == [row.split()[2:] for row in many[: len(few)]]
    refused = run("losscone", "inject", "--background-rate", 10)
    assert refused.returncode == 2 and "--counts" in refused.stderr


def test_sets_of_profiles_allow_for_the_spacecrafts_potential_as_those_of_fits_do(tmp_path):
    er = tmp_path / "er"
    made = run("losscone", "synthesize", "-o", er, "--sweeps", 3, "--plasma", "--counts", "--truth", "folded")
    assert made.returncode == 0, made.stderr
    options = ("--polarity=-1", "--illumination", "sun")
    answer("losscone", "fit", er, "-o", tmp_path / "tables", *options)
    _, rows = read_csv(tmp_path / "tables" / "losscone_1998-01-16.csv")
    assert any(row["spacecraft_potential_status"] == "found" for row in rows)
    for number, row in enumerate(rows, 1):
        if row["spacecraft_potential_status"] != "found":
            continue
        got = answer(
            "losscone", "profile", er / "3D980116.TAB", "--spectrum", number, *options, "--points", 1
        )
        for model, suffix in zip(got["models"], ("", "_folded")):
            ends = [end for interval in model["confidence"]["intervals"] for end in interval]
            wanted = row["confidence_set" + suffix].replace(";", " ").split()
            assert ends == [float(end) for end in wanted], (number, model["response"])


CONES = ["--counts", "--truth", "integral", "--region", "lobe", "--noise", 0, "--beams", 0, "--sweeps", 30]


@pytest.mark.parametrize(
    "truth, right, words",
    [
        (["--background", 0.2], ["--background", 0.2], "the flux in the cones is 0.2 in the median"),
        (["--background", 0.03], ["--background", 0.03], "the flux in the cones is 0.03"),
        (["--response-width", 0.32], ["--response-width", 0.32], "the median of excess is "),
    ],
)
def test_cones_of_another_background_or_response_are_named(tmp_path, truth, right, words):
    data = tmp_path / "data"
    assert run("losscone", "synthesize", "-o", data, *CONES, *truth).returncode == 0
    known = ["--polarity=-1", "--spacecraft-potential", data / "truth.csv"]
    done = run("losscone", "fit", data, "-o", tmp_path / "wrong", *known)
    assert done.returncode == 0 and words in done.stderr
    again = run("losscone", "fit", data, "-o", tmp_path / "wrong", *known)
    assert "already there" in again.stdout and words in again.stderr
    done = run("losscone", "fit", data, "-o", tmp_path / "right", *known, *right)
    assert done.returncode == 0 and done.stderr == ""


def test_another_illumination_is_not_called_right(tmp_path):
    data = tmp_path / "data"
    stored = ["--as-stored", "--region", "solar-wind", "--noise", 0, "--beams", 0, "--sweeps", 40]
    assert run("losscone", "synthesize", "-o", data, *stored, "--truth", "integral").returncode == 0
    done = run("losscone", "fit", data, "-o", tmp_path / "t", "--polarity=-1", "--illumination", "sun")
    assert "illumination or spacecraft potential does not help" in done.stderr
