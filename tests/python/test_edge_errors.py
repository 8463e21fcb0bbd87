"""Errors where a rate is 0: whatever asks for them has the fit's own judgement, and derivatives follow the
edge."""

import math

import numpy as np
import pytest

import paritas

MU = {"name": "mu", "type": "normfactor", "data": None}


def workspace(samples, observed, parameters=()):
    """One channel. samples: (name, rates, modifiers)"""
    listed = [{"name": name, "data": rates, "modifiers": modifiers} for name, rates, modifiers in samples]
    config = {"poi": "mu", "parameters": list(parameters)}
    return {
        "channels": [{"name": "c", "samples": listed}],
        "observations": [{"name": "c", "data": observed}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


def along_the_edge(width):
    """Rates mu + 3 l without events and mu + 20 with 5: along the edge mu = -3 l, l = 1 +- width."""
    lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [width], "inits": [1.0], "bounds": [[0.5, 1.5]]}
    strength = {"name": "mu", "inits": [1.0], "bounds": [[-50.0, 50.0]]}
    scaled = [{"name": "lumi", "type": "lumi", "data": None}]
    samples = [("s", [1.0, 1.0], [MU]), ("b", [3.0, 0.0], scaled), ("other", [0.0, 20.0], [])]
    return workspace(samples, [0.0, 5.0], [strength, lumi])


def held_shape(observed=(0.0, 11.0, 9.0)):
    """The first bin has no signal: `shape` lowers its rate to 0."""
    shape = {"hi_data": [3.0, 7.0, 6.4], "lo_data": [-1.5, 5.1, 5.7]}
    tail = {"hi_data": [0.1, 0.5, 0.2], "lo_data": [0.5, 0.2, 0.4]}
    rate = {"name": "rate", "type": "normsys", "data": {"hi": 1.2, "lo": 0.85}}
    background = [{"name": "shape", "type": "histosys", "data": shape}, rate]
    tails = [{"name": "tail", "type": "histosys", "data": tail}]
    samples = [
        ("s", [0.0, 3.0, 1.5], [MU]),
        ("b", [0.8, 6.0, 6.0], background),
        ("f", [0.25, 0.3, 0.3], tails),
    ]
    return workspace(samples, list(observed))


@pytest.mark.parametrize("width", [0.1, 0.03])
def test_parts_of_an_error_are_those_of_an_error_that_the_fit_has(width):
    model = paritas.Model.from_workspace(along_the_edge(width))
    fit = model.fit()
    state = fit.states[model.poi_index]
    assert state == ("free" if width == 0.1 else "at_edge")
    total = fit.errors[model.poi_index]
    assert math.isnan(total) == (state == "at_edge")
    for found in (model.breakdown({"all": "lumi"}), model.global_impacts({"all": "lumi"})):
        assert found.state == state
        assert found.total == pytest.approx(total, rel=1e-6, nan_ok=True)
        assert math.isnan(found.groups["all"] if width == 0.03 else 0.0) == (width == 0.03)


def test_a_ranking_shifts_by_errors_that_the_fit_has():
    model = paritas.Model.from_workspace(held_shape())
    fit, found = model.fit(), model.ranking()
    assert fit.states[model.index("shape")] == "at_edge"
    for name, constraint, up, down in zip(found.names, found.constraint, found.impact_up, found.impact_down):
        error = fit.errors[model.index(name)]
        assert constraint == pytest.approx(error, rel=1e-6, nan_ok=True), name
        assert math.isnan(up) == math.isnan(down) == math.isnan(error), name


def test_global_impacts_at_an_edge_are_differences_of_refits():
    model = paritas.Model.from_workspace(held_shape())
    assert model.fit().states[model.index("shape")] == "at_edge"
    found, step = model.global_impacts(), 1e-3
    constrained = [name for name in model.parameter_names if name != "mu"]
    assert len(found.entries.names) == 3 and abs(found.entries.impact).min() > 1e-4
    for name, impact in zip(found.entries.names, found.entries.impact):
        ends = []
        for sign in (1.0, -1.0):
            row = np.array(model.data)
            row[model.main_count + constrained.index(name)] += sign * step
            ends.append(model.fit(data=row).values[model.poi_index])
        assert impact == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4), name


def test_errors_of_toys_are_those_of_their_fits():
    model = paritas.Model.from_workspace(held_shape((1.0, 11.0, 9.0)))
    point = {"mu": 1.0}
    toys = model.fit_toys(point, n=60, seed=5, errors=True)
    held = 0
    for i, row in enumerate(model.generate(point, n=60, seed=5).rows):
        fit = model.fit(data=row, init=point)
        if toys.status[i] != "converged" or fit.twice_nll != pytest.approx(toys.twice_nll[i], abs=1e-6):
            continue
        held += "at_edge" in fit.states
        assert np.isnan(toys.errors[i]).tolist() == np.isnan(fit.errors).tolist(), i
    assert held >= 5
