"""Regularised unfolding: closed forms, limits, toys, refusals."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest

import paritas
from paritas import InvalidArgument, InvalidInput, Model, NotConverged, Workspace

EXAMPLE = Path(__file__).parents[2] / "examples" / "unfolding.json"
N = 8
NAMES = [f"mu_{i + 1}" for i in range(N)]


def spec():
    return json.loads(EXAMPLE.read_text())


def differences(by, n=N):
    if by == "size":
        return np.eye(n)
    return np.diff(np.eye(n), 1 if by == "derivative" else 2, axis=0)


def large(scale=1e9, n=5, bins=8, seed=3):
    """Counts so large that they are normal with known variance, without nuisances. Response, data."""
    random = np.random.default_rng(seed)
    response = scale * np.abs(
        random.normal(size=(bins, n)) * 0.1
        + np.exp(-(np.subtract.outer(np.arange(bins) * n / bins, np.arange(n)) ** 2))
    )
    truth = 1 + 0.1 * np.sin(np.arange(n))
    rate = response @ truth
    data = np.rint(rate + np.sqrt(rate) * random.normal(size=bins))
    samples = [
        {
            "name": f"t{i + 1}",
            "data": response[:, i].tolist(),
            "modifiers": [{"name": f"x{i + 1}", "type": "normfactor", "data": None}],
        }
        for i in range(n)
    ]
    document = {
        "channels": [{"name": "c", "samples": samples}],
        "observations": [{"name": "c", "data": data.tolist()}],
        "measurements": [{"name": "m", "config": {"poi": "", "parameters": []}}],
        "version": "1.0.0",
    }
    return document, response, data


def normal(response, data, ties, centres, tau):
    """The normal equations: estimate and covariance."""
    information = response.T @ (response / data[:, None])
    c = np.linalg.inv(information + tau * ties)
    x = c @ (response.T @ np.ones(len(data)) + tau * ties @ centres)
    return x, c @ information @ c


@pytest.mark.parametrize("by", ["size", "derivative", "curvature"])
def test_the_normal_equations(by):
    document, response, data = large()
    random = np.random.default_rng(1)
    weights, centres = random.uniform(0.5, 2.0, 5), random.uniform(0.9, 1.1, 5)
    rows = differences(by, 5) * weights
    ties = rows.T @ rows
    taus = np.array([0.0, 1e6, 1e8, 1e9, 1e11])
    truth = [1.0, 1.1, 0.9, 1.0, 1.05]
    found = paritas.unfold(document, "x*", taus, weights=weights, centres=centres, by=by, truth=truth)
    assert found.parameters == ["x1", "x2", "x3", "x4", "x5"] and (found.status == "converged").all()
    for k, tau in enumerate(taus):
        # exact: the information of counts at the estimate, where a large penalty has pulled rates by percents
        rate = response @ found.estimates[k]
        slope = response.T @ (1 - data / rate) + tau * ties @ (found.estimates[k] - centres)
        assert np.abs(slope * found.errors[k]).max() < 1e-5
        information = response.T @ (response * (data / rate**2)[:, None])
        inverse = np.linalg.inv(information + tau * ties)
        exact = inverse @ information @ inverse
        assert found.covariance[k] == pytest.approx(exact, rel=1e-6, abs=1e-9 * exact.max())
        assert found.errors[k] == pytest.approx(np.sqrt(np.diag(exact)), rel=1e-8)
        assert found.degrees[k] == pytest.approx(np.trace(inverse @ information), rel=1e-7)
        deviance = 2 * np.sum(rate - data + data * np.log(data / rate))
        assert found.chi2[k] == pytest.approx(deviance, rel=1e-6, abs=1e-3)
        offset = found.estimates[k] - centres
        assert found.penalty[k] == pytest.approx(offset @ ties @ offset, rel=1e-9)
        if tau > 1e8:
            continue
        x, covariance = normal(response, data, ties, centres, tau)
        assert found.estimates[k] == pytest.approx(x, rel=2e-5)
        assert found.covariance[k] == pytest.approx(covariance, rel=1e-2, abs=1e-3 * covariance.max())
        expected = np.linalg.inv(response.T @ (response / (response @ truth)[:, None]) + tau * ties)
        assert found.bias[k] == pytest.approx(-tau * expected @ ties @ (truth - centres), rel=1e-2, abs=1e-5)


def test_global_correlations():
    found = paritas.unfold(EXAMPLE, taus=[1.0, 30.0])
    for k in range(2):
        v = found.covariance[k]
        wanted = np.sqrt(1 - 1 / (np.diag(v) * np.diag(np.linalg.inv(v))))
        assert found.correlations[k] == pytest.approx(wanted, rel=1e-8)
        assert found.correlation[k] == pytest.approx(wanted.mean()) and found.correlation_most[
            k
        ] == pytest.approx(wanted.max())


def test_without_regularisation():
    plain = Model.from_workspace(EXAMPLE).fit(covariance=True)
    found = paritas.unfold(EXAMPLE, taus=[0.0])
    assert found.chosen == 0 and found.bias[0] == pytest.approx(np.zeros(N), abs=1e-7)
    assert found.estimates[0] == pytest.approx([plain[name][0] for name in NAMES], abs=1e-9)
    assert found.errors[0] == pytest.approx([plain[name][1] for name in NAMES], rel=1e-8)
    gof = Model.from_workspace(EXAMPLE).goodness_of_fit()
    assert found.chi2[0] == pytest.approx(gof.twice_nll - gof.saturated, abs=1e-8)


@pytest.mark.parametrize("by", ["size", "derivative", "curvature"])
def test_all_regularised(by):
    found = paritas.unfold(EXAMPLE, taus=[1e8], by=by)
    x = found.estimates[0]
    if by == "size":
        assert x == pytest.approx(np.ones(N), abs=1e-6)
    else:
        assert np.diff(x, 1 if by == "derivative" else 2) == pytest.approx(0.0, abs=1e-6)
    # what the penalty does not see is all that data fix
    assert found.degrees[0] == pytest.approx({"size": 0, "derivative": 1, "curvature": 2}[by], abs=1e-4)


@pytest.mark.parametrize("by", ["derivative", "curvature"])
@pytest.mark.parametrize("weights", [None, np.geomspace(2000.0, 20.0, N)])
def test_no_strength_converges_elsewhere(by, weights):
    """What the penalty does not see stays where the data want it, or the answer is none."""
    scale = 1.0 if weights is None else 1e-6
    (limit,) = paritas.unfold(EXAMPLE, taus=[1e9 * scale], by=by, weights=weights).estimates
    converged = refused = 0
    for power in range(10, 40, 2):
        try:
            found = paritas.unfold(EXAMPLE, taus=[10.0**power * scale], by=by, weights=weights)
        except paritas.NotConverged:
            continue
        except paritas.InvalidArgument as error:
            assert "lost in rounding" in str(error)
            refused += 1
            continue
        converged += 1
        assert found.estimates[0] == pytest.approx(limit, abs=1e-4)
    assert converged > 0 and refused > 5


def test_weights_are_truth_yields():
    """With weights w and centres 1 the rows are those of w mu - w: TUnfold's penalty of events."""
    w = np.array([2000, 1409, 993, 700, 493, 348, 245, 173.0])
    found = paritas.unfold(EXAMPLE, taus=[1e-4], weights=w)
    spectrum = w * (found.estimates[0] - 1)
    assert found.penalty[0] == pytest.approx(np.sum(np.diff(spectrum, 2) ** 2), rel=1e-10)


def curvature(model_of, taus):
    """Along log tau, by differences of plain fits."""
    points = []
    for tau in taus:
        found = model_of(tau)
        points.append((math.log10(found.chi2[0]), math.log10(found.penalty[0])))
    (x0, y0), (x1, y1), (x2, y2) = points
    h = math.log(taus[1] / taus[0])
    x, y, xx, yy = (
        (x2 - x0) / (2 * h),
        (y2 - y0) / (2 * h),
        (x2 - 2 * x1 + x0) / h**2,
        (y2 - 2 * y1 + y0) / h**2,
    )
    return (x * yy - xx * y) / (x * x + y * y) ** 1.5


@pytest.mark.parametrize("tau", [3.0, 25.0, 200.0])
def test_curvature_is_that_of_differences(tau):
    taus = [tau / 1.01, tau, tau * 1.01]
    wanted = curvature(lambda one: paritas.unfold(EXAMPLE, taus=[one]), taus)
    # derivatives along tau take chi2 as quadratic
    assert paritas.unfold(EXAMPLE, taus=[tau]).curvature[0] == pytest.approx(wanted, rel=0.1, abs=0.02)


def test_curvature_of_normal_counts():
    document = large(n=6, bins=12)[0]
    for tau in (1e7, 1e8, 1e9):
        wanted = curvature(lambda one: paritas.unfold(document, "x*", [one]), [tau / 1.02, tau, tau * 1.02])
        found = paritas.unfold(document, "x*", [tau]).curvature[0]
        assert found == pytest.approx(wanted, rel=5e-3, abs=1e-4)


def test_the_corner_is_that_of_a_dense_scan():
    """Menger curvature of three points of a dense scan, which needs no derivatives."""
    found = paritas.unfold(EXAMPLE, scan=400)
    x, y = np.log10(found.chi2), np.log10(found.penalty)
    a = np.hypot(np.diff(x)[:-1], np.diff(y)[:-1])
    b = np.hypot(np.diff(x)[1:], np.diff(y)[1:])
    c = np.hypot(x[2:] - x[:-2], y[2:] - y[:-2])
    area = np.diff(x)[:-1] * (y[2:] - y[:-2]) - np.diff(y)[:-1] * (x[2:] - x[:-2])
    bend = 2 * area / (a * b * c)
    inside = np.where((bend[1:-1] > bend[:-2]) & (bend[1:-1] > bend[2:]))[0] + 1
    corner = found.tau[1:-1][inside[np.argmax(bend[inside])]]
    coarse = paritas.unfold(EXAMPLE)
    step = coarse.tau[1] / coarse.tau[0]
    assert abs(math.log(coarse.tau[coarse.chosen] / corner)) < 1.01 * math.log(step)
    assert abs(math.log(found.tau[found.chosen] / corner)) < 0.3


def test_the_smallest_correlation():
    found = paritas.unfold(EXAMPLE, choose="correlation")
    assert found.chosen == np.argmin(found.correlation)
    assert found.correlation[found.chosen] < 0.7 * found.correlation[0]


def test_toys_have_mean_and_covariance():
    """The mean of toys less truth is the bias, their covariance V: centres are not thrown."""
    tau, n = 20.0, 3000
    truth = 1 + 0.2 * np.sin(1.5 * np.arange(N))
    model = paritas.penalise(EXAMPLE, "mu_*", tau).model()
    at = np.array(model.suggested_init)
    places = [model.parameter_names.index(name) for name in NAMES]
    at[places] = truth
    document = spec()
    document["observations"][0]["data"] = model.expected_data(at)[:16].tolist()
    found = paritas.unfold(document, taus=[tau], truth=truth)
    rows = np.asarray(model.generate(at, n=n, seed=11).rows)
    estimates = np.asarray(model.fit_batch(rows).values)[:, places]
    mean, v = estimates.mean(axis=0), found.covariance[0]
    pull = (mean - truth - found.bias[0]) / np.sqrt(np.diag(v) / n)
    assert np.abs(pull).max() < 4.5  # higher orders of the bias are below an error of the mean
    assert np.abs(found.bias[0] / np.sqrt(np.diag(v) / n)).max() > 20
    sample = np.cov(estimates.T)
    errors = np.sqrt((np.multiply.outer(np.diag(v), np.diag(v)) + v**2) / n)
    assert np.abs((sample - v) / errors).max() < 5.0
    # the covariance of the fit itself is larger
    assert np.trace(model.fit(covariance=True).covariance[np.ix_(places, places)]) > 1.05 * np.trace(v)


def penalised(**penalty):
    document = spec()
    document["measurements"][0]["config"]["penalties"] = [{"name": "p", **penalty}]
    return document


def test_a_penalty_is_a_quadratic_form():
    rows = np.random.default_rng(2).normal(size=(3, 4))
    names, centre = ["mu_2", "bkg", "mu_7", "mu_1"], np.array([1.0, 0.3, 0.0, 2.0])
    plain = Model.from_workspace(EXAMPLE)
    model = Model.from_workspace(
        penalised(parameters=names, rows=rows.tolist(), centre=centre.tolist(), strength=7.0)
    )
    assert list(model.data) == list(plain.data)
    at = [plain.parameter_names.index(name) for name in names]
    point = np.array(plain.suggested_init) + 0.1 * np.arange(len(plain.suggested_init))
    ties, offset = np.zeros((len(point),) * 2), np.zeros(len(point))
    ties[np.ix_(at, at)] = 7.0 * rows.T @ rows
    offset[at] = point[at] - centre
    assert model.twice_nll(point) == pytest.approx(plain.twice_nll(point) + offset @ ties @ offset, rel=1e-13)
    assert model.gradient(point) == pytest.approx(plain.gradient(point) + 2 * ties @ offset, rel=1e-11)
    assert model.hessian(point) == pytest.approx(plain.hessian(point) + 2 * ties, rel=1e-11, abs=1e-9)
    step = 1e-5
    for i in range(len(point)):
        up, down = point.copy(), point.copy()
        up[i] += step
        down[i] -= step
        slope = (model.twice_nll(up) - model.twice_nll(down)) / (2 * step)
        assert model.gradient(point)[i] == pytest.approx(slope, rel=1e-5, abs=1e-4)
    # data do not know of it
    assert list(model.expected_data(point)) == list(plain.expected_data(point))
    drawn = [np.asarray(one.generate(point, n=5, seed=2).rows) for one in (model, plain)]
    assert (drawn[0] == drawn[1]).all()
    single = model.fit(precision="f32")
    assert single.values == pytest.approx(model.fit().values, abs=1e-6)


def test_strength_zero_changes_nothing():
    model, plain = (
        Model.from_workspace(penalised(parameters=["mu_1"], rows=[[1]], strength=0)),
        Model.from_workspace(EXAMPLE),
    )
    assert list(model.fit().values) == pytest.approx(list(plain.fit().values), abs=1e-9)


def test_statistics_take_a_penalised_workspace():
    model = paritas.penalise(EXAMPLE, "mu_*", 20.0).model()
    fit = model.fit(covariance=True)
    (low, high), error = model.minos("mu_3")["mu_3"], fit["mu_3"][1]
    assert [-low, high] == pytest.approx([error, error], rel=0.02)
    assert Workspace(EXAMPLE).model().fit()["mu_3"][1] > 2 * error
    assert model.upper_limit().limit_obs > fit["mu_1"][0]


def test_operations_keep_penalties():
    workspace = paritas.penalise(EXAMPLE, "mu_*", 20.0)
    assert workspace.inspect()["penalties"] == [["unfolding", "unfolding", NAMES]]
    renamed = workspace.rename(modifiers={"mu_3": "third"})
    (one,) = renamed.to_dict()["measurements"][0]["config"]["penalties"]
    assert one["parameters"][2] == "third"
    assert renamed.model().fit().twice_nll == pytest.approx(workspace.model().fit().twice_nll, abs=1e-9)
    (one,) = workspace.prune(samples=["truth_8"], modifiers=["mu_8"]).to_dict()["measurements"][0]["config"][
        "penalties"
    ]
    assert (
        one["parameters"] == NAMES[:-1]
        and len(one["centre"]) == 7
        and {len(row) for row in one["rows"]} == {7}
    )
    assert workspace.sort().model().fit().twice_nll == pytest.approx(
        workspace.model().fit().twice_nll, abs=1e-9
    )


def test_order_of_names():
    document = spec()
    text = json.dumps(document).replace("mu_3", "mu_10").replace("mu_8", "mu_33")
    found = paritas.unfold(json.loads(text), taus=[1.0])
    assert found.parameters == ["mu_1", "mu_2", "mu_4", "mu_5", "mu_6", "mu_7", "mu_10", "mu_33"]
    listed = paritas.unfold(EXAMPLE, ["mu_2", "mu_1", "mu_*"], [1.0])
    assert listed.parameters == ["mu_2", "mu_1", *NAMES[2:]]


def test_more_truth_than_data():
    """The data alone leave directions free; the penalty fixes them."""
    document = spec()
    channel = document["channels"][0]
    for sample in channel["samples"]:
        sample["data"] = sample["data"][:6]
    document["observations"][0]["data"] = document["observations"][0]["data"][:6]
    with pytest.raises(InvalidArgument, match="the data alone do not fix .*give `t"):
        paritas.unfold(document)
    found = paritas.unfold(document, taus=[10.0, 100.0], truth=np.ones(N))
    assert (found.status == "converged").all() and np.isfinite(found.errors).all()
    assert (found.degrees < 6).all()


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"parameters": "nu_*"}, 'no parameter matches "nu_'),
        ({"parameters": []}, "name the normfactors"),
        ({"parameters": ["mu_1", "mu_2"]}, "by curvature needs 3 truth bins, found 2"),
        ({"weights": [1.0, 2.0]}, "`weights`: must have 8 numbers, one for each truth bin, found 2"),
        ({"centres": np.ones(9)}, "`centres`: must have 8 numbers, one for each truth bin, found 9"),
        ({"truth": [math.nan] * 8}, "`truth`: number 0 is not finite"),
        ({"truth": [99.0] * 8}, "`truth`: 'mu_1' is 99, outside its bounds -10 and 20"),
        ({"truth": [-5.0] * 8}, "`truth`: expected data have -"),
        ({"taus": [1.0, -1.0]}, "`taus`: number 1 must be at least 0, found -1"),
        ({"tau_min": 2.0, "tau_max": 1.0}, "a scan goes up"),
        ({"scan": 1}, "scan"),
        ({"by": "third"}, "by"),
    ],
)
def test_what_is_refused(keywords, message):
    with pytest.raises(InvalidArgument, match=message):
        paritas.unfold(EXAMPLE, **keywords)


def test_what_is_printed():
    found = paritas.unfold(EXAMPLE)
    lines = str(found).splitlines()
    assert repr(found).startswith("<paritas.Unfolding: 8 truth bins, tau 24.12 of 40, chi2 13.78")
    assert "end of the scan" not in repr(found) and len(lines) == 3 + N
    assert float(lines[-1].split()[1]) == pytest.approx(found.estimates[found.chosen][-1], rel=1e-5)
    assert "an end of the scan" in repr(paritas.unfold(EXAMPLE, tau_min=200.0, choose="correlation"))


def test_twice_is_refused():
    once = paritas.penalise(EXAMPLE, "mu_*", 1.0)
    with pytest.raises(InvalidArgument, match='has a penalty "unfolding" already'):
        once.model().unfold()
    with pytest.raises(InvalidArgument, match="`tau` must be at least 0"):
        paritas.penalise(EXAMPLE, "mu_*", -1.0)


@pytest.mark.parametrize(
    "penalty, message",
    [
        ({"parameters": ["mu_9"], "rows": [[1]]}, r'parameters\[0\]: the model has no parameter "mu_9"'),
        ({"parameters": ["mu_1", "mu_1"], "rows": [[1, 1]]}, "is already parameters"),
        ({"parameters": ["mu_1"], "rows": [[1, 2]]}, r"rows\[0\]: must have 1 numbers"),
        ({"parameters": ["mu_1"], "rows": []}, "rows"),
        ({"parameters": ["mu_1"], "rows": [[1]], "centre": [1, 2]}, "centre: must have 1 numbers"),
        ({"parameters": ["mu_1"], "rows": [[1]], "strength": -1}, "strength: must be at least 0, found -1"),
        ({"parameters": ["mu_1"], "rows": [[1e200]]}, "is not finite"),
        ({"parameters": ["mu_1"], "rows": [["x"]]}, r"rows\[0\]\[0\]"),
    ],
)
def test_wrong_penalties(penalty, message):
    with pytest.raises(InvalidInput, match=message):
        Model.from_workspace(penalised(**penalty))
    document = penalised(parameters=["mu_1"], rows=[[1]])
    document["measurements"][0]["config"]["penalties"] *= 2
    with pytest.raises(InvalidInput, match="is also that of penalties"):
        Model.from_workspace(document)


def test_other_formats_refuse_them(tmp_path):
    pytest.importorskip("uproot")
    from paritas.convert import ConversionError, histfactory_xml, hs3

    document = penalised(parameters=["mu_1"], rows=[[1]])
    for write in (hs3.from_pyhf, lambda one: histfactory_xml.write(one, tmp_path, tmp_path, "p")):
        with pytest.raises(ConversionError, match="no penalties: 'p'"):
            write(copy.deepcopy(document))


def test_no_fit_converges():
    document = spec()
    document["observations"][0]["data"][3] = 1e300
    with pytest.raises((NotConverged, InvalidInput, InvalidArgument)):
        paritas.unfold(document, taus=[1.0])
