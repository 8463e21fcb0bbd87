"""Scans of generated models end at minima, and the tool that looks for others finds one."""

import os
import sys
from collections import Counter

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hard_models  # noqa: E402
import lowest  # noqa: E402
import scans  # noqa: E402

import paritas  # noqa: E402


def test_points_that_say_converged_are_at_minima(tmp_path):
    counts = Counter()
    assert [one for seed in range(12) for one in scans.examine(seed, str(tmp_path), counts)] == []
    assert counts["scans"] == 12 and counts["points"] >= 12 * 15
    assert counts["points not converged"] <= counts["points"] / 10


@pytest.mark.parametrize("family", hard_models.FAMILIES)
def test_a_point_has_the_parameters_where_its_fit_ended(family, tmp_path):
    made = hard_models.generate(family, 1)
    model = paritas.Model.from_workspace(hard_models.write(str(tmp_path), made), **made.codes)
    scan = paritas.scan(model, (model.poi_name, np.linspace(0.0, 2.0, 17)))
    assert scan.converged and scan.point_values.shape == (17, len(model.parameter_names))
    assert np.array_equal(scan.point_values[:, model.poi_index], scan.values[:, 0])
    for point, value in zip(scan.point_values, scan.twice_nll):
        assert model.twice_nll(point) == pytest.approx(value, abs=1e-9)


def test_a_point_above_its_minimum_is_found(tmp_path):
    made = hard_models.generate("ordinary", 2)
    reference = lowest.Reference(hard_models.write(str(tmp_path), made), made.codes, 1)
    scan = paritas.scan(reference.model, (reference.model.poi_name, scans.values_of(reference, 2)))
    moved = scan.twice_nll.copy()
    moved[[3, 7]] += 1e-5
    above = scans.judge(made.name, reference, Moved(scan, moved), Counter())
    assert [one.mu for one in above] == list(scan.values[[3, 7], 0])
    assert [one.gap for one in above] == pytest.approx([1e-5, 1e-5], rel=1e-2)


class Moved:
    """A scan with other values."""

    def __init__(self, scan, twice_nll):
        self.values, self.status, self.point_values = scan.values, scan.status, scan.point_values
        self.twice_nll = twice_nll
