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


def rises_at_the_ends(model):
    """Name, side and rise of each end, the lowest that a few starts find."""
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
            held = [model.fit(init=start, fixed=[name])]
            held += [model.fit(fixed={name: start[at]}, starts=n, bounds=wide) for n in (1, 4)]
            yield name, side, min(one.twice_nll for one in held) - best.twice_nll


@pytest.mark.parametrize("family, seeds", [("ordinary", range(8)), ("hard", range(8))])
def test_a_fit_at_the_end_has_risen_by_one(family, seeds, tmp_path):
    ends = 0
    for seed in seeds:
        made = hard_models.generate(family, seed)
        model = paritas.Model.from_workspace(hard_models.write(str(tmp_path), made), **made.codes)
        for name, side, rise in rises_at_the_ends(model):
            rounding = 1e-15 * abs(float(model.fit().twice_nll))
            assert rise == pytest.approx(1.0, abs=CLOSE + rounding), (made.name, name, side)
            ends += 1
    assert ends > 20
