"""f32 kernels keep the contract's bound of the NLL, on all workspaces there are."""

import glob
import os

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
FILES = [
    os.path.join(ROOT, "examples", "two_bins.json"),
    *sorted(glob.glob(os.path.join(SHARED, "*.json")) + glob.glob(os.path.join(SHARED, "more", "*.json"))),
    *sorted(glob.glob(os.path.join(ROOT, "tests", "datacard", "[a-z]*.txt"))),
]


def tolerances():
    with open(os.path.join(ROOT, "kernels", "minimise", "fit_tolerances.h")) as file:
        words = [line.split() for line in file if line.startswith("#define RAW_")]
    return {word[1]: float(word[2]) for word in words}


def sizes_of_rates(model, point):
    """The rates of samples without their signs, of the bins in the order of main data."""
    parts = model.expected_by_sample(point)
    return np.concatenate([np.abs(np.asarray(list(parts[name].values()))).sum(axis=0) for name in parts])


def room(model, point):
    """The sum of |rate - datum| over all data; where samples cancel, by their sizes."""
    rates, data = model.expected_data(point), np.asarray(model.data)
    n = model.main_count
    more = np.maximum(sizes_of_rates(model, point) / np.where(rates[:n] > 0, rates[:n], np.inf), 1.0)
    return np.sum(more * np.abs(rates[:n] - data[:n])) + np.sum(np.abs(rates[n:] - data[n:]))


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_the_nll_in_f32_is_that_of_rounded_rates(path):
    model, allowed = paritas.Model.from_workspace(path), tolerances()
    random = np.random.default_rng(5)
    start, widths = np.asarray(model.suggested_init), np.nan_to_num(np.asarray(model.constraint_widths))
    widths = np.where(widths > 0, widths, 0.1)
    points = [start]
    for size in (0.01, 0.1, 0.3, 0.5, 1.0):
        moved = start + size * widths * random.normal(size=len(start))
        points.append(np.clip(moved, model.lower_bounds, model.upper_bounds))
    exact, single = (np.ravel(model.twice_nll_batch(points, precision=one)) for one in ("f64", "f32"))
    saturated = model.goodness_of_fit(max_iterations=1).saturated
    known = np.isfinite(exact)
    assert known[0]
    deviance = 0.5 * np.abs(exact - saturated)
    rates = np.array([room(model, point) if ok else 0.0 for point, ok in zip(points, known)])
    off = 0.5 * np.abs(single - exact) / (1.0 + deviance + allowed["RAW_RATES"] * rates)
    assert np.max(off[known]) <= allowed["RAW_NLL"]
