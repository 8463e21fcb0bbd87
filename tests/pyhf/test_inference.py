"""Fits and test statistics compared with pyhf's, and the numbers of pyhf's documentation.

pyhf's minimiser stops a little above a minimum. How far above says how well its test statistic is known.
If a likelihood has two minima, pyhf may find the lower one; then a fit from several starts must find it."""

import json
import os

import pyhf
import pytest
from comparison import EXAMPLES, answer
from generate import workspaces

pytestmark = pytest.mark.many

STATISTICS = {"qtilde": pyhf.infer.test_statistics.qmu_tilde, "q0": pyhf.infer.test_statistics.q0}
EXACT = 1e-7  # in twice the NLL: our minimum may be so far above the true one


def fittable(count):
    """Generated workspaces with a free POI, and with a likelihood also without the signal."""
    for name, workspace in workspaces(8 * count, 77):
        if workspace["measurements"][0]["config"]["poi"] != "mu":
            continue
        model = pyhf.Workspace(workspace).model()
        poi, start = model.config.poi_index, model.config.suggested_init()
        low, high = model.config.suggested_bounds()[poi]
        start[poi] = 0.0
        background = model.expected_data(start, include_auxdata=False)
        if not model.config.suggested_fixed()[poi] and low <= 0 and high >= 1.5 and min(background) > 0:
            yield name, workspace
            count -= 1
        if count == 0:
            return


@pytest.fixture(autouse=True)
def tight_minimiser():
    pyhf.set_backend("numpy", pyhf.optimize.scipy_optimizer(tolerance=1e-10, maxiter=20000))
    yield
    pyhf.set_backend("numpy", pyhf.optimize.scipy_optimizer())


@pytest.mark.parametrize(
    "statistic, mu, workspace",
    [
        pytest.param(*(("q0", 0.0) if i % 3 == 2 else ("qtilde", 1.3)), workspace, id=name)
        for i, (name, workspace) in enumerate(fittable(54))
    ],
)
def test_fits_and_test_statistics_are_pyhfs(statistic, mu, workspace, saved):
    model = pyhf.Workspace(workspace).model()
    data = pyhf.Workspace(workspace).data(model)
    settings = model.config.suggested_init(), model.config.suggested_bounds(), model.config.suggested_fixed()
    path = saved(workspace)
    best = answer("fit", path)
    assert best["status"] == "converged"
    try:
        theirs, points = STATISTICS[statistic](mu, data, model, *settings, return_fitted_pars=True)
    except pyhf.exceptions.FailedMinimization:
        pytest.skip("pyhf finds no minimum")
    conditional = answer("fit", path, "--fix", f"mu={mu}")
    assert conditional["status"] == "converged"
    short_fixed, short_free = (
        float(pyhf.infer.mle.twice_nll(point, data, model)[0]) - ours["twice_nll"]
        for point, ours in zip(points, (conditional, best))
    )
    # two minima, and pyhf found the lower one: more starts must find it
    if min(short_fixed, short_free) < -EXACT:
        several = answer(
            "fit", path, "--starts", 20, *(["--fix", f"mu={mu}"] if short_fixed < short_free else [])
        )
        assert (
            several["twice_nll"]
            <= float(pyhf.infer.mle.twice_nll(points[0 if short_fixed < short_free else 1], data, model)[0])
            + EXACT
        )
        return
    ours = answer("hypotest", path, "--mu", mu, "--test-stat", statistic)["q"]
    mu_hat = points[1][model.config.poi_index]
    if abs(mu_hat - mu) < 1e-3:  # tiny errors decide whether the best fit is above mu, where q is 0
        assert 0 <= ours <= abs(float(theirs)) + 1e-4
    else:
        assert abs(ours - float(theirs)) <= abs(short_fixed) + abs(short_free) + EXACT
    if statistic == "qtilde":
        assert answer("hypotest", path, "--mu", mu, "--test-stat", "q")["q"] == ours


def test_the_first_example_of_pyhfs_documentation():
    """hypotest(1.0, ...) of the two-bin model, to the digits that pyhf prints"""
    path = os.path.join(EXAMPLES, "two_bins.json")
    ours = answer("hypotest", path, "--mu", 1)
    assert ours["CLs_obs"] == pytest.approx(0.05251497, abs=2e-6)
    assert ours["CLs_exp"] == pytest.approx(
        [0.00260626, 0.01382005, 0.06445321, 0.23525644, 0.57303621], abs=1e-5
    )


def test_the_two_bin_fit_of_pyhfs_documentation():
    with open(os.path.join(EXAMPLES, "two_bins.json"), encoding="utf-8") as file:
        workspace = json.load(file)
    model = pyhf.Workspace(workspace).model()
    data = pyhf.Workspace(workspace).data(model)
    parameters, twice_nll = pyhf.infer.mle.fit(data, model, return_fitted_val=True)
    ours = answer("fit", os.path.join(EXAMPLES, "two_bins.json"))
    assert ours["twice_nll"] == pytest.approx(float(twice_nll), abs=1e-6)
    assert [p["value"] for p in ours["parameters"]] == pytest.approx(list(parameters), abs=2e-3)
    assert ours["parameters"][0]["value"] == 0.0 and ours["parameters"][0]["state"] == "at_lower_bound"


def test_the_upper_limits_of_pyhfs_documentation():
    """The example of upper_limit, whose root finder stops at 1e-4."""
    model = pyhf.simplemodels.uncorrelated_background(
        signal=[12.0, 11.0], bkg=[50.0, 52.0], bkg_uncertainty=[3.0, 7.0]
    )
    observations = [51, 48]
    data = pyhf.tensorlib.astensor(observations + model.config.auxdata)
    observed, expected = pyhf.infer.intervals.upper_limits.upper_limit(data, model)
    ours = answer("limit", os.path.join(EXAMPLES, "two_bins.json"))
    assert float(observed) == pytest.approx(1.01156939, rel=1e-4)
    assert ours["limit_obs"] == pytest.approx(float(observed), rel=1e-4)
    assert ours["limit_exp"] == pytest.approx([float(value) for value in expected], rel=1e-4)


def test_the_correlated_background_of_pyhfs_documentation(saved):
    model = pyhf.simplemodels.correlated_background(
        signal=[12.0, 11.0], bkg=[50.0, 52.0], bkg_up=[45.0, 57.0], bkg_down=[55.0, 47.0]
    )
    data = [62.0, 63.0] + model.config.auxdata
    path = saved(pyhf.Workspace.build(model, data))
    ours = answer("nll", path, "--expected", "--point", saved({"mu": 0.0, "correlated_bkg_uncertainty": 1.0}))
    assert ours["expected_main"] == pytest.approx([45.0, 57.0], rel=1e-15) and ours["expected_aux"] == [1.0]
    cls = float(pyhf.infer.hypotest(1.0, data, model))
    assert cls == pytest.approx(0.50849170, abs=1e-6)
    assert answer("hypotest", path, "--mu", 1)["CLs_obs"] == pytest.approx(cls, abs=1e-6)
