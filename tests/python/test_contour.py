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


def coefficients(observed, terms, bounds=(-10.0, 10.0)):
    """Bins of 100 events and terms in two coefficients a and b: (expression, events of each bin)."""

    def sample(name, events, factor):
        modifiers = [{"name": factor, "type": "normfactor", "data": None}] if factor else []
        return {"name": name, "data": events, "modifiers": modifiers}

    samples = [sample("rest", [100.0] * len(observed), None)]
    samples += [sample(f"s{i}", events, f"f{i}") for i, (_, events) in enumerate(terms)]
    config = {
        "poi": "a",
        "parameters": [{"name": n, "inits": [1.0], "bounds": [list(bounds)]} for n in ("a", "b")],
        "functions": [{"name": f"f{i}", "expression": term} for i, (term, _) in enumerate(terms)],
    }
    return {
        "channels": [{"name": "c", "samples": samples}],
        "observations": [{"name": "c", "data": [float(n) for n in observed]}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


def q_of(rates, observed):
    n = np.asarray(observed, dtype=float)
    return np.sum(2.0 * (rates - n - n * np.log(rates / n)), axis=-1)


@pytest.mark.parametrize("starts", [0, 1])
def test_a_region_of_squares_has_four_parts(starts):
    """One bin has a^2, the other b^2: the region is the same around all four minima."""
    observed, terms = (190, 190), [("a*a", [10.0, 0.0]), ("b*b", [0.0, 10.0])]
    model = paritas.Model.from_workspace(coefficients(observed, terms))
    found = model.contour("a", "b", confidence=0.95, starts=starts)
    (curves,) = found.curves().values()
    assert len(curves) == 4 and not found.parts.hole.any() and found.converged
    assert sorted(map(tuple, np.sign(found.parts.minimum).tolist())) == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert np.abs(found.parts.minimum) == pytest.approx(3.0, abs=1e-3)
    at = found.edges.values
    assert q_of(100.0 + 10.0 * at**2, observed) == pytest.approx(-2 * np.log(0.05), rel=2e-6)
    widest = [np.abs(curve).max() for curve in curves]
    assert widest == pytest.approx([max(widest)] * 4, rel=0.01)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_a_ring_has_a_hole(shift):
    """Events grow with the distance from (shift, 0): the region is the ring around it."""
    terms = [("a*a", [5.0]), ("b*b", [5.0]), ("a", [-10.0 * shift])]
    observed, rest = (220,), 100.0
    found = paritas.Model.from_workspace(coefficients(observed, terms)).contour("a", "b", confidence=0.9)
    assert found.parts.hole.tolist() == [False, True] or found.parts.hole.tolist() == [True, False]
    at = found.edges.values
    rates = rest + 5.0 * (at[:, 0] ** 2 + at[:, 1] ** 2) - 10.0 * shift * at[:, 0]
    assert q_of(rates[:, np.newaxis], observed) == pytest.approx(-2 * np.log(0.1), rel=2e-6)
    for curve, hole in zip(found.curves()[0.9], found.parts.hole):
        distance = np.hypot(curve[:, 0] - shift, curve[:, 1])
        assert np.ptp(distance) < 1e-4  # a circle
        turn = np.unwrap(np.angle((curve - [shift, 0.0]) @ [1, 1j]))
        assert (np.diff(turn) > -1e-9).all() != hole  # holes are clockwise


def test_strong_correlations_do_not_tear_a_region():
    """Shapes that differ by a hundredth: the correlation is -0.99999."""
    terms = [("a", [50.0, 50.5]), ("b", [500.0, 500.0])]
    document = coefficients((650.0, 650.5), terms, bounds=(-1000.0, 1000.0))
    found = paritas.Model.from_workspace(document).contour("a", "b")
    assert len(found.parts) == 2 and not found.parts.hole.any()


def test_bounds_cut_parts():
    observed, terms = (190, 190), [("a*a", [10.0, 0.0]), ("b*b", [0.0, 10.0])]
    model = paritas.Model.from_workspace(coefficients(observed, terms))
    found = model.contour("a", "b", confidence=0.95, bounds={"a": (-3.0, 3.0), "b": (0.0, 10.0)})
    assert len(found.parts) == 2 and found.converged
    cut = found.edges.at_bound
    assert (np.abs(found.edges.values[cut, 0]) == 3.0).all() and cut.sum() > 4
    assert (found.edges.q[cut] < -2 * np.log(0.05)).all()
    at = found.edges.values[~cut]
    assert q_of(100.0 + 10.0 * at**2, observed) == pytest.approx(-2 * np.log(0.05), rel=2e-6)


def test_the_program_has_the_same_parts(tmp_path):
    program = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
    if not os.path.exists(program):
        pytest.skip("no program was built")
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps(coefficients((190, 190), [("a*a", [10.0, 0.0]), ("b*b", [0.0, 10.0])])))
    command = [program, "contour", path, "--par", "a", "--par", "b", "--confidence", "0.9", "--points", "4"]
    told = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    found = paritas.Model.from_workspace(path).contour("a", "b", confidence=0.9, points=4)
    parts = told["contours"][0]["parts"]
    assert [[p["values"] for p in part["points"]] for part in parts] == [
        curve.tolist() for curve in found.curves()[0.9]
    ]
    assert [part["minimum"] for part in parts] == found.parts.minimum.tolist()
