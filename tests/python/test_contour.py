"""Confidence regions of two parameters: closed forms, scans at the same points, bounds, bad requests."""

import json
import os
import subprocess

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")


def strengths(observed, bounds=(0, 20)):
    """Each channel has a signal strength of its own: 2 NLL is a sum of closed forms."""
    channels = [
        {
            "name": name,
            "samples": [
                {
                    "name": "events",
                    "data": [10.0],
                    "modifiers": [{"name": f"mu_{name}", "type": "normfactor", "data": None}],
                }
            ],
        }
        for name in ("a", "b")
    ]
    config = {"poi": "mu_a", "parameters": [{"name": "mu_a", "inits": [2.2], "bounds": [list(bounds)]}]}
    return {
        "channels": channels,
        "observations": [{"name": name, "data": [n]} for name, n in zip(("a", "b"), observed)],
        "measurements": [{"name": "both", "config": config}],
        "version": "1.0.0",
    }


def rise(values, observed):
    rates, n = 10.0 * np.asarray(values), np.asarray(observed, dtype=float)
    return np.sum(2 * (rates - n - n * np.log(rates / n)), axis=-1)


def test_a_region_of_counts_is_the_closed_form():
    observed = (25, 40)
    model = paritas.Model.from_workspace(strengths(observed))
    found = model.contour("mu_a", "mu_b", confidence=[0.5, 0.9], points=24)
    assert found.converged and found.best == pytest.approx([2.5, 4.0])
    for confidence, points in found.regions().items():
        quantile = -2 * np.log(1 - confidence)
        assert len(points) == 24 and rise(points, observed) == pytest.approx(quantile, rel=2e-6)
    # counterclockwise, once around
    angles = np.unwrap(np.angle((found.regions()[0.9] - found.best) @ [1, 1j]))
    assert (np.diff(angles) > 0).all() and angles[-1] - angles[0] < 2 * np.pi


def test_points_have_the_scans_rise():
    model = paritas.Model.from_workspace("examples/two_bins.json")
    found = model.contour("mu", "uncorr_bkguncrt[1]", points=9)
    scanned = model.scan("mu", "uncorr_bkguncrt[1]", values=found.values)
    assert found.q == pytest.approx(scanned.q, abs=1e-9)
    assert set(found.regions()) == {0.68268949213708585, 0.95}


def test_a_best_fit_at_a_bound_has_its_rays_inside():
    model = paritas.Model.from_workspace("examples/two_bins.json")
    found = model.contour("mu", "uncorr_bkguncrt[0]", confidence=0.9, points=7)
    assert found.best[0] == 0 and found.values[0, 0] == found.values[-1, 0] == 0
    assert not found.at_bound.any() and (found.values[1:-1, 0] > 0).all()
    assert found.q == pytest.approx(-2 * np.log(0.1), rel=2e-6)


def test_a_bound_cuts_a_region():
    model = paritas.Model.from_workspace(strengths((25, 40), bounds=(2.0, 3.0)))
    found = model.contour("mu_b", confidence=0.99, points=16)  # with the parameter of interest
    assert found.parameters == ["mu_a", "mu_b"] and found.converged
    on_bound = np.isin(found.values[:, 0], (2.0, 3.0))
    assert found.at_bound.any() and (on_bound == found.at_bound).all()
    assert (found.q[found.at_bound] < -2 * np.log(0.01)).all()
    assert found.q[~found.at_bound] == pytest.approx(-2 * np.log(0.01), rel=2e-6)


def test_a_bound_outside_the_domain_does_not_lose_the_edge():
    """Signal alone: 3 events have no probability at mu = 0, where the rays of small mu end."""
    document = strengths((3, 40))
    document["measurements"][0]["config"]["parameters"] = [{"name": "mu_a", "bounds": [[0, 10]]}]
    found = paritas.Model.from_workspace(document).contour("mu_b", confidence=0.95, points=16)
    assert found.converged and not found.at_bound.any()
    assert rise(found.values, (3, 40)) == pytest.approx(-2 * np.log(0.05), rel=2e-6)


@pytest.mark.parametrize(
    "names, more, message",
    [
        ((), {}, "two parameters, not 0"),
        (("mu_a", "mu_b", "mu_a"), {}, "two parameters, not 3"),
        (("mu_a", "mu_a"), {}, "different parameters, not"),
        (("mu_a", "nothing"), {}, "nothing"),
        (("mu_a", "mu_b"), {"confidence": 1.0}, "1 is not between 0 and 1"),
        (("mu_a", "mu_b"), {"confidence": [0.5, float("nan")]}, "not between 0 and 1"),
        (("mu_a", "mu_b"), {"points": 3}, "points 3: a whole number from 4 is wanted"),
        (("mu_a", "mu_b"), {"fixed": {"mu_b": 4.0}}, "'mu_b' is fixed"),
    ],
)
def test_what_is_no_region_is_refused(names, more, message):
    model = paritas.Model.from_workspace(strengths((25, 40)))
    with pytest.raises((paritas.Error, ValueError), match=message):
        model.contour(*names, **more)


def test_the_program_has_the_same_numbers(tmp_path):
    program = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
    if not os.path.exists(program):
        pytest.skip("no program was built")
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps(strengths((25, 40))))
    command = [program, "contour", path, "--par", "mu_b", "--points", "5", "--confidence", "0.9"]
    told = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    found = paritas.Model.from_workspace(path).contour("mu_b", confidence=0.9, points=5)
    assert told["parameters"] == found.parameters and told["contours"][0]["confidence"] == 0.9
    points = told["contours"][0]["points"]
    assert [point["values"] for point in points] == found.values.tolist()
    assert [point["q"] for point in points] == found.q.tolist()
    refused = subprocess.run([program, "contour", path], capture_output=True, text=True)
    assert refused.returncode == 2 and "--par NAME --par NAME" in refused.stderr


def test_regions_are_drawn():
    pytest.importorskip("matplotlib")
    from paritas import plot

    found = paritas.Model.from_workspace(strengths((25, 40))).contour("mu_a", "mu_b", points=12)
    axes = plot.contours(found, expected=(1, 1)).axes[0]
    assert len(axes.patches) == 2 and axes.get_xlabel() == "mu_a"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "68.3 %",
        "95 %",
        "best fit",
        "expected",
    ]
