"""Intervals of random models of an effective field theory, beside a fine grid of fits from many starts."""

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


def differences(document):
    """what the interval has otherwise than the grid: one line each"""
    model = paritas.Model.from_workspace(document)
    name, at = model.parameter_names[model.poi_index], model.poi_index
    bounds = {name: (model.lower_bounds[at], model.upper_bounds[at])}
    found = model.interval(confidence=list(QUANTILES), bounds=bounds)
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


if __name__ == "__main__":  # COEFFICIENTS FIRST END: tries models, prints what differs
    kind, first, end = (int(word) for word in sys.argv[1:])
    wrong = 0
    for number in range(first, end):
        lines = differences(several_coefficients(number, kind) if kind else effective_field(number))
        wrong += bool(lines)
        for line in lines:
            print(f"model {number}: {line}", flush=True)
    print(f"{end - first} models of {kind or 'one of the first kind'} coefficients: {wrong} differ")
