"""Sets of counts hold the true potential where an independent generator integrates over the response."""

import importlib.util
import sys
from argparse import Namespace
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
if not sys.platform.startswith("linux"):
    pytest.skip("the yardstick is tried on Linux alone", allow_module_level=True)

YARDSTICK = Path(__file__).resolve().parents[2] / "tools" / "losscone_yardstick.py"
SWEEPS = 60


@pytest.fixture(scope="module")
def yardstick():
    spec = importlib.util.spec_from_file_location("losscone_yardstick", YARDSTICK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(yardstick, row, *options):
    asked = Namespace(seed=7, sweeps=SWEEPS, parts=5, dead_time=0.0, degrees=30.0, fit=list(options))
    return yardstick.measure((row, asked))


@pytest.mark.parametrize(
    "row", [("integral", "magnetosheath", 0.0, -100.0), ("integral", "plasma-sheet", 10.0, -300.0)]
)
def test_sets_hold_the_truth_of_an_integrated_edge(yardstick, row):
    found = measured(yardstick, row)
    assert found["fitted"] == SWEEPS and found["several"] == 0
    assert found["holds"] >= 0.88, found
    assert abs(found["bias"]) <= 0.02 * abs(row[3]), found


def test_counts_are_the_default_and_nearer_than_logarithms(yardstick):
    row = ("integral", "magnetosheath", 0.0, -100.0)
    usual, halekas = measured(yardstick, row), measured(yardstick, row, "--method", "halekas")
    assert usual["holds"] >= 0.88 and usual["rms"] < halekas["rms"], (usual, halekas)


def test_no_sweep_without_a_cone_is_good(yardstick):
    found = measured(yardstick, ("isotropic", "magnetosheath", 0.0, None))
    assert found["fitted"] == SWEEPS and found["good"] == 0.0, found


@pytest.mark.parametrize("truth", ["scattered", "tilted"])
def test_fields_of_a_wrong_direction_smear_the_edge(yardstick, truth):
    found = measured(yardstick, (truth, "magnetosheath", 10.0, -100.0))
    assert found["good"] <= 0.05 and found["false"] <= 0.02, found
    reasons = sum(n for words, n in found["quality"].items() if "smeared_edge" in words.split("+"))
    assert reasons >= 0.8 * SWEEPS, found
    assert measured(yardstick, ("integral", "magnetosheath", 10.0, -100.0))["good"] == 1.0


def test_python_takes_counts():
    pytest.importorskip("paritas")
    from paritas import losscone

    rng = np.random.default_rng(3)
    n, energy, width = 4, np.geomspace(38.6, 16680.0, 15)[:, None], 0.21
    cosine = rng.uniform(-1.0, 1.0, (n, 15, 88))
    unit = rng.uniform(10.0, 60.0, cosine.shape)
    level = np.zeros_like(cosine)
    for step in np.linspace(-3.0, 3.0, 61):
        above = np.maximum(energy * np.exp(width * step) - 8.0, 1e-3)
        inside = (cosine < 0.0) & (1.0 - cosine**2 < 0.8 * (1.0 - 60.0 / above))
        level += np.exp(-0.5 * step**2) * np.where(inside, 0.05, 1.0)
    level /= np.exp(-0.5 * np.linspace(-3.0, 3.0, 61) ** 2).sum()
    counts = rng.poisson(unit * level).astype(float)
    given = energy[:, 0], 8.0, cosine, np.maximum(counts / unit, 1e-3)
    sweeps = losscone.Sweeps.of(*given, counts=unit, measured_counts=counts)
    found = losscone.fit(sweeps, response="folded")
    assert np.all(found["excess"] >= 1.0) and np.all(found["deviance"] == found["misfit"])
    assert np.all(np.abs(found["potential"] + 60.0) < 5.0)
    assert np.array_equal(losscone.fit(sweeps[2], response="folded")["potential"], found["potential"][2:3])
    without = losscone.fit(losscone.Sweeps.of(*given, counts=unit), response="folded")
    assert np.all(np.isnan(without["excess"])) and np.all(without["potential"] != found["potential"])
