"""What a first run of `losscone fit` says, and synthetic sweeps with places: from outside."""

import numpy as np

from lossconefiles import GIVEN, column, read_csv, run, synthesize


def test_sweeps_on_an_orbit_have_places_that_fits_take_from_the_truth(tmp_path):
    asked = ("--sweeps", 30, "--truth", "integral", "--counts", "--region", "lobe", "--noise", 0)
    data = synthesize(tmp_path / "d", *asked, "--orbit")
    plain = synthesize(tmp_path / "plain", *asked)
    day = "3D980116.TAB"
    assert (data / day).read_bytes() == (plain / day).read_bytes()
    _, truth = read_csv(data / "truth.csv")
    latitude, longitude = column(truth, "projection_latitude"), column(truth, "projection_longitude")
    period = 118 * 60 / 80  # sweeps a turn
    assert np.isclose(np.median(np.abs(np.diff(latitude))), 360 / period, atol=1e-9)
    assert np.all(np.abs(latitude) <= 90) and np.all(np.abs(longitude) <= 180)
    assert np.array_equal(latitude, column(truth, "spacecraft_latitude"))
    assert "latitude" not in (plain / "truth.csv").read_text()
    done = run("losscone", "fit", data, "--geometry", data / "truth.csv", "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    _, rows = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")
    assert np.array_equal(column(rows, "projection_longitude"), longitude)
    assert "\nquote: potential_folded, with confidence_lower_folded" in done.stdout


def test_the_summary_names_the_column_that_most_sweeps_prefer(tmp_path):
    hard = synthesize(tmp_path / "d", "--sweeps", 8)
    done = run("losscone", "fit", hard, *GIVEN, "-o", tmp_path / "both")
    assert "\nquote: potential, with confidence_lower and" in done.stdout
    one = run("losscone", "fit", hard, *GIVEN, "-o", tmp_path / "one", "--response", "hard")
    assert "quote: " not in one.stdout  # one model, no choice


def test_wrong_input_is_told_without_notes_of_what_is_assumed(tmp_path):
    for given in (["losscone", "fit"], ["kappa", "fit"]):
        done = run(*given, tmp_path / "none", "-o", tmp_path / "t")
        assert done.returncode == 3 and "No such file" in done.stderr and "polarity" not in done.stderr
