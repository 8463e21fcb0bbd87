"""Several starts: the program's answers, and a lower point where no fit converged."""

import json
import subprocess
import sys

import numpy as np
import pytest
from package_support import PROGRAM, SHARED, TREE, assert_same, model_of, program

import paritas

sys.path.insert(0, str(TREE / "tests" / "hard"))
import hard_models  # noqa: E402

HARD = SHARED.parent / "hard"


@pytest.mark.parametrize("starts", [0, 1, 3])
def test_statistics_take_the_program_s_starts(starts):
    model = model_of("displaced_leptons")
    for ours, command in ((model.hypotest, "hypotest"), (model.significance, "significance")):
        theirs = program(command, "displaced_leptons", *(("--starts", starts) if starts else ()))
        found = ours(starts=starts)
        assert found.status == theirs["status"]
        assert_same(found.mu_hat, theirs["mu_hat"])


def test_a_limit_of_iterations_holds_for_every_fit():
    model = model_of("displaced_leptons")
    assert model.hypotest(max_iterations=1).status == "at_iteration_limit"
    assert model.goodness_of_fit(max_iterations=1).status == "at_iteration_limit"
    with pytest.raises(paritas.InvalidArgument, match="starts"):
        model.hypotest(starts=-1)
    with pytest.raises(TypeError, match="starts"):
        model.goodness_of_fit(starts=2)


@pytest.mark.parametrize("name", ["model_26", "model_119"])
@pytest.mark.filterwarnings("ignore:fit. not the lowest:RuntimeWarning")
def test_nothing_lower_is_hidden(name):
    path = HARD / f"{name}.json"
    if not path.exists():
        pytest.skip("the models are not here")
    model = paritas.Model.from_workspace(path)
    one, many = model.fit(), model.fit(starts=20)
    known = min(many.twice_nll, many.starts.lower_known[0] if many.starts.lower_known else np.inf)
    assert np.isnan(one.twice_nll) or known <= one.twice_nll + 1e-6


def hard_model(seed, folder):
    """A generated model, and the program's answer of a fit."""
    made = hard_models.generate("hard", seed)
    path = hard_models.write(str(folder), made)

    def fit(*options):
        given = [PROGRAM, "fit", path, *made.options(), *map(str, options), "--json", "--quiet"]
        done = subprocess.run([*given, "--device", "cpu"], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return paritas.Model.from_workspace(path, poi=made.poi, **made.codes), fit


def assert_starts(found, theirs):
    keys = ("n", "converged", "best_start", "spread")
    assert_same([getattr(found, key) for key in keys], [theirs[key] for key in keys])
    assert found.minima == [(one["twice_nll"], one["count"]) for one in theirs["minima"]]
    lower = theirs["lower_known"]
    assert found.lower_known == (tuple(lower.values()) if lower else None)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore:fit.*not the lowest:RuntimeWarning")
def test_the_program_and_python_answer_with_the_same_bits(seed, tmp_path):
    model, fit = hard_model(seed, tmp_path)
    theirs = fit("--starts", 12, "--covariance")
    ours = model.fit(starts=12)
    batch = model.fit_batch(np.tile(model.data, (3, 1)), starts=12, errors=True, covariance=True)
    for name in ("status", "twice_nll", "edm", "projected_gradient", "iterations"):
        assert_same(getattr(ours, name), theirs[name], name)
        assert_same(getattr(batch, name).tolist(), [theirs[name]] * 3, name)
    for key, values, several in (("value", ours.values, batch.values), ("error", ours.errors, batch.errors)):
        assert_same(values, [one[key] for one in theirs["parameters"]], key)
        assert_same(several[2], [one[key] for one in theirs["parameters"]], key)
    assert_same(ours.covariance, theirs["covariance"], "covariance")
    assert_same(batch.covariance[1], theirs["covariance"], "covariance")
    for found in (ours.starts, *batch.starts):
        assert_starts(found, theirs["starts"])


def test_a_lower_point_without_a_minimum_is_said(tmp_path):
    model, fit = hard_model(23, tmp_path)
    theirs = fit("--starts", 12, "--max-iterations", 9)
    with pytest.warns(
        RuntimeWarning, match="not the lowest point known; .* ended as at_iteration_limit reached"
    ):
        ours = model.fit(starts=12, max_iterations=9)
    with pytest.warns(RuntimeWarning, match="^fit 0 and 1 more: not the lowest point known"):
        batch = model.fit_batch(np.tile(model.data, (2, 1)), starts=12, max_iterations=9)
    assert ours.starts.lower_known[0] < ours.twice_nll == theirs["twice_nll"]
    for found in (ours.starts, batch.starts[1]):
        assert_starts(found, theirs["starts"])
