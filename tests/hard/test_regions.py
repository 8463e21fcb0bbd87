"""Intervals and regions of models of an effective field theory, beside a fine grid of fits from many starts:
random models, and the example of the documentation."""

import math
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import paritas  # noqa: E402

import fine_grid  # noqa: E402
from effective_field import effective_field, several_coefficients  # noqa: E402

QUANTILES = {0.68268949213708585: 1.0, 0.95449973610364158: 4.0}
MODELS = [(0, seed) for seed in (1, 4, 6, 8)] + [(1, seed) for seed in (1, 5, 6)]
MODELS += [(2, seed) for seed in (0, 2, 9)] + [(3, seed) for seed in (0, 1)]


def bounds_of(model):
    """as given by the caller: they stay"""
    places = {name: model.index(name) for name in fine_grid.coefficients(model)}
    return {name: (model.lower_bounds[at], model.upper_bounds[at]) for name, at in places.items()}


def differences(document, name=None):
    """what the interval has otherwise than the grid: one line each"""
    model = paritas.Model.from_workspace(document)
    name = name or model.poi_name
    found = model.interval(name, confidence=list(QUANTILES), bounds=bounds_of(model))
    x, y = fine_grid.curve(model, name)
    least = min(fine_grid.least(model), y.min())
    lines = [] if found.converged else ["an end was not found"]
    if abs(found.best_twice_nll - least) > 1e-6:
        lines.append(f"the best fit is {found.best_twice_nll - least} above the grid's")
    for confidence, edges in found.parts().items():
        expected = fine_grid.parts(model, name, x, y, least + QUANTILES[confidence])
        if edges.shape != expected.shape:
            lines.append(f"{confidence}: parts {edges.tolist()}, of the grid {expected.tolist()}")
        elif not (np.abs(edges - expected) <= 1e-6 * np.maximum(1.0, np.abs(expected))).all():
            lines.append(f"{confidence}: edges differ by {np.abs(edges - expected).max()}")
    return lines


@pytest.mark.many
@pytest.mark.parametrize("coefficients, seed", MODELS)
def test_all_parts_are_found_with_their_edges(coefficients, seed):
    document = several_coefficients(seed, coefficients) if coefficients else effective_field(seed)
    assert differences(document) == []


def differences_in_the_plane(document):
    """the same of the region of two coefficients: parts, holes, and q at the edges"""
    model = paritas.Model.from_workspace(document)
    names = fine_grid.coefficients(model)[:2]
    points = 201 if len(fine_grid.coefficients(model)) == 2 else 91  # a third one has many starts
    found = model.contour(*names, confidence=[0.68268949213708585, 0.95], points=4, bounds=bounds_of(model))
    _, grid = fine_grid.plane(model, names, points)
    least = min(fine_grid.least(model), grid.min())
    lines = [] if found.converged and (found.edges.status == "converged").all() else ["not converged"]
    for confidence, curves in found.curves().items():
        level, own = -2.0 * np.log(1.0 - confidence), found.parts.confidence == confidence
        holes = int(found.parts.hole[own].sum())
        counts, expected = (len(curves) - holes, holes), fine_grid.count(grid - least <= level)
        if counts != expected:
            lines.append(f"{confidence}: parts and holes {counts}, of the grid {expected}")
        edges = np.concatenate(curves)
        q = fine_grid.profile(model, names, edges) - least
        cut = np.isin(edges, [end for ends in bounds_of(model).values() for end in ends]).any(axis=1)
        if not (np.abs(q - level)[~cut] <= 2e-6 * level).all() or not (q[cut] <= level * (1.0 + 2e-6)).all():
            lines.append(f"{confidence}: q at the edges is off by {np.abs(q - level)[~cut].max()}")
    return lines


PLANES = [(2, seed) for seed in (0, 6, 7, 11)] + [(3, 8)]


@pytest.mark.many
@pytest.mark.parametrize("coefficients, seed", PLANES)
def test_all_parts_of_regions_are_found_with_their_edges(coefficients, seed):
    pytest.importorskip("scipy")
    assert differences_in_the_plane(several_coefficients(seed, coefficients)) == []


EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "wilson.json")


@pytest.mark.parametrize("name, parts", [("cW", (2, 2)), ("cB", (2, 1))])
def test_intervals_of_the_example_are_those_of_the_grid(name, parts):
    assert differences(EXAMPLE, name) == []
    found = paritas.Model.from_workspace(EXAMPLE).interval(name)
    assert tuple(len(edges) for edges in found.parts().values()) == parts


def test_regions_of_the_example_are_those_of_the_grid():
    pytest.importorskip("scipy")
    assert differences_in_the_plane(EXAMPLE) == []
    found = paritas.Model.from_workspace(EXAMPLE).contour("cW", "cB", points=4)
    assert [len(curves) for curves in found.curves().values()] == [4, 3]
    # the shadow of a region is the interval of the same q
    for k, name in enumerate(("cW", "cB")):
        level = float(-2.0 * np.log(1.0 - 0.68268949213708585))
        one = paritas.Model.from_workspace(EXAMPLE).interval(name, confidence=chi2_of_one(level))
        edges = np.concatenate(found.curves()[0.68268949213708585])[:, k]
        assert (edges.min(), edges.max()) == pytest.approx((one.lower.min(), one.upper.max()), abs=2e-3)


def chi2_of_one(q):
    """probability of chi-squared below q, of one degree of freedom"""
    return math.erf(math.sqrt(0.5 * q))


if __name__ == "__main__":  # COEFFICIENTS FIRST END [plane]: tries models, prints what differs
    kind, first, end = (int(word) for word in sys.argv[1:4])
    compare = differences_in_the_plane if sys.argv[4:] == ["plane"] else differences
    wrong = 0
    for number in range(first, end):
        lines = compare(several_coefficients(number, kind) if kind else effective_field(number))
        wrong += bool(lines)
        for line in lines:
            print(f"model {number}: {line}", flush=True)
    print(f"{end - first} models of {kind or 'one of the first kind'} coefficients: {wrong} differ")
