"""Likelihood intervals with several parts, and crossings of scans: closed forms, bounds, domains."""

import json
import math
import os
import subprocess

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
ONE, TWO = 0.68268949213708585, 0.95449973610364158
BACKGROUND, LINEAR, SQUARE = 50.0, 4.0, 6.0


def squared(observed, linear=LINEAR, square=SQUARE, background=BACKGROUND, bounds=(-10.0, 10.0)):
    """One bin with background + linear k + square k^2 events."""

    def sample(name, events, factor):
        modifiers = [{"name": factor, "type": "normfactor", "data": None}] if factor else []
        return {"name": name, "data": [events], "modifiers": modifiers}

    samples = [sample("b", background, None), sample("l", linear, "f1"), sample("s", square, "f2")]
    config = {
        "poi": "k",
        "parameters": [{"name": "k", "inits": [1.0], "bounds": [list(bounds)]}],
        "functions": [{"name": "f1", "expression": "k"}, {"name": "f2", "expression": "k*k"}],
    }
    return {
        "channels": [{"name": "SR", "samples": samples}],
        "observations": [{"name": "SR", "data": [float(observed)]}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


def rise(rate, n):
    return 2.0 * (rate - n - n * math.log(rate / n))


def rates_at(n, q):
    """The two rates at which twice the NLL of n events is q above its minimum."""
    edges = []
    for low, high in ((1e-9 * n, n), (n, 50.0 * n + 50.0)):
        for _ in range(200):
            middle = 0.5 * (low + high)
            if (rise(middle, n) > q) == (middle < n):
                low = middle
            else:
                high = middle
        edges.append(0.5 * (low + high))
    return edges


def values_at(rate, linear=LINEAR, square=SQUARE, background=BACKGROUND):
    """The two k of a rate; none below the least rate."""
    under = linear * linear - 4.0 * square * (background - rate)
    if under < 0.0:
        return []
    return [(-linear + sign * math.sqrt(under)) / (2.0 * square) for sign in (-1.0, 1.0)]


def closed_form(n, q, **terms):
    """Parts of the interval: between the values of both rates, around both values of n."""
    low, high = (values_at(rate, **terms) for rate in rates_at(n, q))
    return [(high[0], low[0]), (low[1], high[1])] if low else [(high[0], high[1])]


@pytest.mark.parametrize("observed", [90, 120, 60])
@pytest.mark.parametrize("linear", [LINEAR, -LINEAR, 0.0])
def test_the_parts_of_a_squared_parameter_are_those_of_the_closed_form(observed, linear):
    model = paritas.Model.from_workspace(squared(observed, linear=linear))
    found = model.interval(confidence=[ONE, TWO])
    assert found.converged and (found.lower_end == "crossing").all() and (found.upper_end == "crossing").all()
    for confidence, q in ((ONE, 1.0), (TWO, 4.0)):
        expected = closed_form(observed, q, linear=linear)
        assert found.parts()[confidence] == pytest.approx(np.array(expected), rel=1e-6, abs=1e-6)
    minima = values_at(observed, linear=linear)
    assert all(np.abs(np.array(minima) - at).min() < 1e-4 for at in found.minimum)
    assert found.q == pytest.approx(0.0, abs=1e-8)  # both minima have the rate that was observed


def test_crossings_of_a_scan_are_the_edges_and_its_range_reaches_both_minima():
    model = paritas.Model.from_workspace(squared(90))
    found, parts = model.scan(), model.interval()
    low, high = values_at(90.0)
    assert len(found) == 21 and found.values[0, 0] < low < high < found.values[-1, 0]
    assert np.sort(found.crossings.value) == pytest.approx(
        np.sort(np.concatenate([parts.lower, parts.upper])), rel=1e-6
    )
    assert found.crossings.rises.sum() == len(parts) and set(found.crossings.q.round(9)) == {1.0, 4.0}
    few = model.scan(("k", [low, high]))  # what lies between is found all the same
    assert [round(value, 6) for value in few.crossings.value] == [
        round(value, 6) for value in found.crossings.value if low < value < high
    ]
    assert len(model.scan(("k", [low, high]), confidence=()).crossings) == 0
    assert len(model.scan(("k", [1.0])).crossings) == 0


def test_a_bound_that_cuts_a_part_is_named():
    low, high = values_at(90.0)
    bounds = (low + 0.01, high - 0.01)
    given = paritas.Model.from_workspace(squared(90)).interval(confidence=ONE, bounds={"k": bounds})
    assert list(given.lower_end) == ["at_bound", "crossing"]
    assert list(given.upper_end) == ["crossing", "at_bound"]
    assert (given.lower[0], given.upper[1]) == bounds


def test_an_upper_bound_gives_way_to_the_best_fit_unless_it_is_given():
    """Rates that grow with k alone: one part, which ends above the bound."""
    low, high = rates_at(90, 1.0)
    document = squared(90, linear=10.0, square=0.0, bounds=(-4.0, 4.1))
    found = paritas.Model.from_workspace(document).interval(confidence=ONE)
    assert (found.lower[0], found.upper[0]) == pytest.approx(
        ((low - 50.0) / 10.0, (high - 50.0) / 10.0), rel=1e-6
    )
    kept = paritas.Model.from_workspace(document).interval(confidence=ONE, bounds={"k": (-4.0, 4.1)})
    assert kept.upper[0] == 4.1 and kept.upper_end[0] == "at_bound"
    other = squared(90, bounds=(-10.0, values_at(90.0)[1] + 0.01))  # best fits are below the bound
    cut = paritas.Model.from_workspace(other).interval(confidence=ONE)
    assert cut.parts()[ONE][0] == pytest.approx(np.array(closed_form(90, 1.0)[0]), rel=1e-6)


def test_the_domain_may_end_a_part():
    """No events, 3 + k expected: the domain ends at -3. Twice the NLL is twice the rate."""
    model = paritas.Model.from_workspace(squared(0, linear=1.0, square=0.0, background=3.0))
    found = model.interval(confidence=ONE)
    assert found.lower == pytest.approx([-3.0], abs=1e-8) and list(found.lower_end) == ["at_edge"]
    assert found.upper == pytest.approx([-2.5], rel=1e-6) and list(found.upper_end) == ["crossing"]


def test_one_part_has_the_edges_of_minos():
    model = paritas.Model.from_workspace(os.path.join(ROOT, "examples", "unfolding.json"))
    name = model.parameter_names[model.poi_index]
    down, up = model.minos(name)[name]
    found = model.interval(name, confidence=ONE)
    value = model.fit()[name][0]
    assert (found.lower[0], found.upper[0]) == pytest.approx((value + down, value + up), rel=1e-6)


def test_the_program_gives_the_same_bits(tmp_path):
    path = tmp_path / "squared.json"
    path.write_text(json.dumps(squared(90)))
    call = [PROGRAM, "interval", path, "--calc", "asymptotic", "--json"]
    answer = json.loads(subprocess.run(call, capture_output=True, check=True).stdout)
    found = paritas.interval(path)
    assert [(part["lower"], part["upper"]) for part in answer["parts"]] == list(zip(found.lower, found.upper))
    scan = json.loads(subprocess.run([PROGRAM, "scan", path, "--json"], capture_output=True).stdout)
    assert [one["value"] for one in scan["crossings"]] == paritas.scan(path).crossings.value.tolist()
    for more, confidences in ((["--level", "0.1"], [0.9]), (["--confidence", "0.5"], [0.5])):
        answer = json.loads(subprocess.run([*call, *more], capture_output=True, check=True).stdout)
        assert {part["confidence"] for part in answer["parts"]} == set(confidences)


def test_what_cannot_be_asked_is_refused():
    model = paritas.Model.from_workspace(squared(90))
    with pytest.raises(paritas.InvalidArgument, match="levels\\[1\\]: 1 is not between 0 and 1"):
        model.interval(confidence=[0.5, 1.0])
    with pytest.raises(paritas.InvalidArgument, match="'k' is fixed"):
        model.interval(fixed={"k": 1.0})
    with pytest.raises(paritas.NotFound):
        model.interval("nothing")
