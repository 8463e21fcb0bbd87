"""Each end of a MINOS error is where a fit with the parameter held has risen by 1."""

import math
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hard_models  # noqa: E402

import paritas  # noqa: E402

CLOSE = 1e-6  #: in twice the negative log-likelihood


def rises_at_the_ends(model, starts=4):
    """Name, side and rise of each end, the lowest that so many starts find."""
    best = model.fit()
    if not best.converged:
        return
    for name, state in zip(best.names, best.states):
        if state != "free":
            continue
        try:
            offsets = paritas.minos(model, name, best=best)[name]
        except paritas.NotConverged:
            continue  # it says that there is no answer
        for side, offset in zip(("down", "up"), offsets):
            if math.isnan(offset):
                continue
            start, at = np.array(best.values), model.index(name)
            start[at] += offset
            wide = {name: (-1e9, 1e9)}  # the best fit's bounds allow the end, as far as it rounds
            held = [model.fit(init=start, fixed=[name], starts=1)]
            held += [model.fit(fixed={name: start[at]}, starts=n, bounds=wide) for n in (1, starts)]
            yield name, side, min(one.twice_nll for one in held) - best.twice_nll


@pytest.mark.parametrize("family, seeds", [("ordinary", range(8)), ("hard", range(8))])
def test_a_fit_at_the_end_has_risen_by_one(family, seeds, tmp_path):
    ends = 0
    for seed in seeds:
        made = hard_models.generate(family, seed)
        model = paritas.Model.from_workspace(hard_models.write(str(tmp_path), made), **made.codes)
        rounding = 1e-15 * abs(float(model.fit(starts=1).twice_nll))
        for name, side, rise in rises_at_the_ends(model):
            assert rise == pytest.approx(1.0, abs=CLOSE + rounding), (made.name, name, side)
            ends += 1
    assert ends > 20


def two_wells():
    """Where the signal is 1.7 lower and a factor of the background higher, the data fit nearly as well: both
    minima are 0.05 apart, and no fit of a few iterations tells."""
    normal, shift, varied = hard_models.normsys, hard_models.histosys, hard_models.modifier
    mu, norm, signal = varied("normfactor", "mu"), varied("normfactor", "k"), [0.676, 1.029, 1.977]

    def stat(name, *data):
        return varied("staterror", name, list(data))

    first = [
        hard_models.sample(
            "signal",
            signal,
            mu,
            normal("a", 1.136, 0.883),
            shift("c", [0.72, 1.178, 1.476], [0.623, 0.893, 2.575]),
        ),
        hard_models.sample(
            "back",
            [3.5, 3.958, 1.201],
            normal("a", 1.277, 0.633),
            shift("b", [2.683, 3.3, 1.167], [4.487, 4.381, 1.239]),
            shift("c", [2.623, 3.19, 0.926], [4.202, 4.636, 1.513]),
            stat("s", 0.879, 0.566, 0.041),
        ),
        hard_models.sample(
            "other",
            [1.367, 1.615, 0.569],
            normal("a", 1.242, 0.798),
            shift("c", [1.415, 1.663, 0.477], [1.334, 1.561, 0.676]),
            stat("s", 0.122, 0.344, 0.136),
        ),
    ]
    second = [
        hard_models.sample(
            "signal",
            [1.749, 1.831],
            mu,
            shift("b", [1.747, 1.807], [1.75, 1.849]),
            shift("c", [1.887, 1.323], [1.624, 2.249]),
        ),
        hard_models.sample(
            "back",
            [0.866, 3.632],
            normal("a", 1.063, 0.963),
            shift("b", [0.855, 2.562], [0.874, 4.218]),
            stat("t", 0.216, 0.913),
            norm,
        ),
        hard_models.sample("other", [1.016, 1.366], normal("a", 1.262, 0.85), stat("t", 0.195, 0.331)),
    ]
    parameters = [{"name": "mu", "bounds": [[-5.0, 10.0]], "inits": [1.0]}]
    return {
        "version": "1.0.0",
        "channels": [{"name": "c0", "samples": first}, {"name": "c1", "samples": second}],
        "observations": [{"name": "c0", "data": [3.0, 6.0, 1.0]}, {"name": "c1", "data": [9.0, 7.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": parameters}}],
    }


def test_an_end_has_risen_by_one_in_the_other_minimum_too():
    ends = list(rises_at_the_ends(paritas.Model.from_workspace(two_wells()), starts=60))
    assert len(ends) == 20
    for name, side, rise in ends:
        assert rise == pytest.approx(1.0, abs=CLOSE), (name, side)
