"""Counts as the instrument stored them, from outside: day files of `losscone synthesize --as-stored` held to
formulas of the tests' own, and fits that take them."""

import json
import os

import dayfiles
import numpy as np
import pytest
import reference as ref
from test_losscone_program import run

GEOMETRIC, TIME = 0.02, 2.5 / ref.PER_BELT  # cm^2 sr, s of a cell
SUNLIGHT = 8  # reason of a cell
#: closed list of what a byte of 4 bits of exponent and 4 of mantissa means, and of 16 times that
CODES = np.array([m if e == 0 else (16 + m) * 2 ** (e - 1) for e in range(16) for m in range(16)])
STORED = np.union1d(CODES, 16 * CODES[CODES >= 2**15])
REGION = ("--region", "lobe", "--noise", 0, "--beams", 0, "--true-potential=-100", "--seed", 5)


def synthesize(folder, *options):
    """energy [n, 15], flux and azimuth [n, 15, 88] of a day, and its truth"""
    run("losscone", "synthesize", "-o", folder, "--exact", "--quiet", *options)
    day = dayfiles.read(next(folder.glob("3D*.TAB")))
    rows = np.array([day[number] for number in sorted(day)])
    truth = np.genfromtxt(folder / "truth.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    flux = np.where(np.abs(rows[..., 6:94]) < 1e-90, np.nan, rows[..., 6:94])
    return rows[..., 1], np.where(rows[..., 6:94] == 0, 0.0, flux), rows[..., 94:], truth


def counts_of(energy, flux, dead_time=1e-7, time=TIME):
    """what was counted: the correction for dead time is undone"""
    rate = flux * GEOMETRIC * energy[..., None]
    return rate * time / (1 + rate * dead_time)


def near_sun(azimuth, truth):
    """[n, 15, 88]: within 14 degrees of the Sun?"""
    theta, azimuth = np.radians(ref.THETA), np.radians(azimuth)
    sun, height = (np.radians(truth["sun_" + name])[:, None, None] for name in ("azimuth", "elevation"))
    cosine = np.cos(theta) * np.cos(height) * np.cos(azimuth - sun) + np.sin(theta) * np.sin(height)
    return cosine >= np.cos(np.radians(14.0))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    return folder, *synthesize(folder, "--sweeps", 30, "--as-stored", *REGION)


def test_stored_counts_are_of_the_closed_list_and_below_those_that_were_drawn(stored, tmp_path):
    _, energy, flux, _, _ = stored
    counts = counts_of(energy, flux)
    whole = np.round(counts)
    measured = ~np.isnan(counts)
    assert np.allclose(counts[measured], whole[measured], rtol=1e-9, atol=1e-9)
    assert np.isin(whole[measured], CODES).all()
    chain = ("--counts", "--background-rate", 10, "--sun-rate", 1000)
    drawn = np.round(counts_of(*synthesize(tmp_path, "--sweeps", 30, *chain, *REGION)[:2]))
    both = measured & ~np.isnan(drawn)
    ratio = whole[both & (drawn >= 32)] / drawn[both & (drawn >= 32)]
    assert (whole[both & (drawn < 32)] == drawn[both & (drawn < 32)]).all()
    # log-uniform counts lose half an interval of 1/16 to 1/32 on average: 1/64/ln 2 = 2.25 %
    assert ratio.max() == 1 and ratio.min() > 16 / 17 and ratio.mean() == pytest.approx(1 - 0.0225, abs=0.004)


def test_counts_beyond_the_last_code_are_prescaled(tmp_path):
    options = ("--counts", "--compression", "archive", "--accumulation", 2500, "--dead-time", 0)
    energy, flux, _, _ = synthesize(tmp_path, "--sweeps", 4, *options, *REGION)
    counts = np.round(counts_of(energy, flux, 0, 1000 * TIME))
    assert counts.max() > 2**19 and np.isin(counts, STORED).all()


def test_cells_whose_dead_time_correction_is_above_a_quarter_are_erroneous(tmp_path):
    dead_time = 3e-6
    options = ("--as-stored", "--dead-time", dead_time, "--region", "magnetosheath", "--noise", 0)
    energy, flux, _, _ = synthesize(tmp_path, "--sweeps", 10, *options)
    correction = 1 + flux * GEOMETRIC * energy[..., None] * dead_time
    lost = np.isnan(flux)
    assert 0.02 < lost.mean() < 0.5 and 1.2 < np.nanmax(correction) <= 1.25
    assert lost[:, energy[0] < 100].mean() > 0.5 and not lost[:, energy[0] > 2000].any()


def test_the_sun_lights_cells_within_14_degrees_and_the_truth_masks_them(stored, tmp_path):
    folder, energy, flux, azimuth, truth = stored
    near = near_sun(azimuth, truth)
    rate = flux * GEOMETRIC * energy[..., None]
    assert 0.005 < near.mean() < 0.05 and np.abs(truth["sun_elevation"]).max() <= 5.0
    # at the highest energy there is hardly anything else but the background
    lit, dark = (np.mean(rate[:, -1][cells]) for cells in (near[:, -1], ~near[:, -1]))
    assert 10 < dark < 15 and lit - dark == pytest.approx(1000, rel=0.05)
    fit = ("losscone", "fit", folder, "--geometry", folder / "truth.csv", "--least-counts", 0)
    for angle in (14, 0):
        at = tmp_path / str(angle)
        run(*fit, "--sunlight", angle, "--response", "hard", "--confidence", "none", "-o", at)
        with np.load(next(at.glob("*.npz"))) as found:
            masked = found["rows_reason"].reshape(near.shape) == SUNLIGHT
        assert (masked == (near & ~np.isnan(flux) & (angle > 0))).all()


def test_days_as_stored_are_fitted():
    stored = ("losscone", "inject", "--json", "--sweeps", 40, "--as-stored", *REGION)
    (counted,) = json.loads(run(*stored, "--truth", "integral", "--response", "folded").stdout)["fits"]
    assert counted["fitted"] == 40 and counted["set_coverage"] >= 0.9 and abs(counted["bias"]) < 1.5
    done = run(*stored, "--method", "halekas")  # whose edges the truths have
    answer = json.loads(done.stdout)
    options = [answer["options"][name] for name in ("background_rate", "sun_rate", "compression")]
    assert options == [10, 1000, "archive"]
    for entry in answer["fits"]:
        if entry["truth"] == entry["response"]:
            assert entry["fitted"] == 40 and entry["set_coverage"] >= 0.9 and abs(entry["bias"]) < 1.5


def test_days_of_the_archive_s_digits_are_known_as_stored(tmp_path):
    """four digits of a flux may put it below the lower end that it means: half of the cells of many counts"""
    scatter = {}
    for digits in ((), ("--exact",)):
        day, at = tmp_path / f"day{len(digits)}", tmp_path / f"tables{len(digits)}"
        region = ("--region", "magnetosheath", "--noise", 0, "--beams", 0, "--seed", 2)
        run("losscone", "synthesize", "-o", day, "--sweeps", 20, "--as-stored", "--quiet", *digits, *region)
        truth = day / "truth.csv"
        known = ("--geometry", truth, "--spacecraft-potential", truth, "--response", "folded")
        run("losscone", "fit", day, *known, "--confidence", "none", "-o", at)
        with np.load(next(at.glob("*.npz"))) as found:
            scatter[digits] = {name: found["spec_" + name] for name in ("noise", "potential", "deviance")}
    rounded, exact = scatter.values()
    assert (exact["noise"] >= 0.045 - 1e-12).all() and np.allclose(
        rounded["noise"], exact["noise"], rtol=0.02
    )
    assert np.allclose(rounded["potential"], exact["potential"], atol=0.5)
    assert np.allclose(rounded["deviance"], exact["deviance"], rtol=0.02)


def test_a_word_alone_changes_what_the_one_word_sets(tmp_path):
    run("losscone", "synthesize", "-o", tmp_path, "--sweeps", 1, "--as-stored", "--sun-rate", 0, "--quiet")
    with open(os.path.join(tmp_path, "truth.csv")) as file:
        assert "sun_azimuth" not in file.readline()
    refused = run("losscone", "inject", "--compression", "archive", code=2)
    assert "--compression needs --counts or --as-stored" in refused.stderr
