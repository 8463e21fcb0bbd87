"""Correlated constraints: closed forms, models rotated by hand, pyhf's likelihood with scipy, operations."""

from __future__ import annotations

import copy
import math

import pytest

np = pytest.importorskip("numpy")

import paritas  # noqa: E402
from paritas import InvalidInput, Model, Workspace  # noqa: E402

R = np.array([[1.0, 0.6, -0.2], [0.6, 1.0, 0.1], [-0.2, 0.1, 1.0]])
NAMES = ["jes", "theory", "lumi"]


def modifier(kind, name, data=None):
    return {"name": name, "type": kind, "data": data}


def spec(correlations=(), **config):
    """Two channels; jes and theory have sigma 1, lumi 0.03, staterrors their own."""
    background = [
        modifier("histosys", "jes", {"hi_data": [55.0, 42.0, 31.0], "lo_data": [44.0, 38.5, 29.0]}),
        modifier("normsys", "theory", {"hi": 1.1, "lo": 0.92}),
        modifier("lumi", "lumi"),
        modifier("staterror", "st", [3.0, 3.0, 2.0]),
    ]
    control = [
        modifier("normsys", "theory", {"hi": 0.95, "lo": 1.08}),
        modifier("shapesys", "counts", [9.0, 4.0]),
        modifier("staterror", "st", [5.0, 4.0]),
    ]
    signal = [modifier("normfactor", "mu"), modifier("lumi", "lumi")]
    lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.03], "inits": [1.0], "bounds": [[0.5, 1.5]]}
    config = {"poi": "mu", "parameters": [lumi], **config}
    if correlations:
        config["correlations"] = [
            {
                "name": f"group {k}",
                "parameters": list(names),
                key: matrix if isinstance(matrix, list) else matrix.tolist(),
            }
            for k, (names, key, matrix) in enumerate(correlations)
        ]
    return {
        "channels": [
            {
                "name": "SR",
                "samples": [
                    {"name": "signal", "data": [5.0, 9.0, 3.0], "modifiers": signal},
                    {"name": "background", "data": [50.0, 40.0, 30.0], "modifiers": background},
                ],
            },
            {
                "name": "CR",
                "samples": [{"name": "background", "data": [90.0, 70.0], "modifiers": control}],
            },
        ],
        "observations": [{"name": "SR", "data": [62.0, 45.0, 36.0]}, {"name": "CR", "data": [81.0, 75.0]}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


def model_of(*correlations, **config):
    return Model.from_workspace(spec(correlations, **config))


PLAIN = model_of()
CORRELATED = model_of((NAMES, "correlation", R))


def places(model, names=NAMES):
    return [model.parameter_names.index(name) for name in names]


def extra(model, names, matrix):
    """What the joint law adds to the precision of 2 NLL, by parameter."""
    at = places(model, names)
    widths = np.asarray(model.constraint_widths)[at]
    ties = np.linalg.inv(matrix * np.outer(widths, widths)) - np.diag(widths**-2)
    whole = np.zeros((len(model.parameter_names),) * 2)
    whole[np.ix_(at, at)] = ties
    return whole


def a_point(model):
    point = np.array(model.suggested_init)
    point += np.linspace(-0.8, 0.7, len(point)) * np.nan_to_num(model.constraint_widths, nan=0.3)
    return point


def test_values_and_derivatives_are_those_of_the_joint_law():
    point, ties = a_point(PLAIN), extra(PLAIN, NAMES, R)
    offset = point - np.nan_to_num(PLAIN.constraint_centres)
    wanted = PLAIN.twice_nll(point) + offset @ ties @ offset + math.log(np.linalg.det(R))
    assert CORRELATED.twice_nll(point) == pytest.approx(wanted, rel=1e-13)
    assert CORRELATED.gradient(point) == pytest.approx(PLAIN.gradient(point) + 2 * ties @ offset, rel=1e-11)
    assert CORRELATED.hessian(point) == pytest.approx(PLAIN.hessian(point) + 2 * ties, rel=1e-11, abs=1e-9)


def test_the_identity_changes_nothing():
    same = model_of((NAMES, "correlation", np.eye(3)))
    point = a_point(PLAIN)
    assert same.twice_nll(point) == PLAIN.twice_nll(point)
    assert list(same.gradient(point)) == list(PLAIN.gradient(point))
    assert list(same.fit().values) == list(PLAIN.fit().values)
    limits = same.upper_limit().limit_obs, PLAIN.upper_limit().limit_obs
    assert limits[0] == limits[1]


def test_a_covariance_says_the_same():
    widths = np.array([1.0, 1.0, 0.03])
    other = model_of((NAMES, "covariance", R * np.outer(widths, widths)))
    assert other.twice_nll(a_point(PLAIN)) == pytest.approx(CORRELATED.twice_nll(a_point(PLAIN)), rel=1e-14)
    turned = model_of((NAMES[::-1], "correlation", R[::-1, ::-1]))
    assert turned.fit().values == pytest.approx(CORRELATED.fit().values, abs=1e-7)


@pytest.mark.parametrize("device, precision", [("cpu", "f32")])
def test_f32_is_near(device, precision):
    fit = CORRELATED.fit(precision=precision)
    assert fit.converged and fit.values == pytest.approx(CORRELATED.fit().values, abs=1e-6)


def straight(shifts, correlations=()):
    """Rates linear in all parameters, so that rotations are exact."""
    nominal = np.array([50.0, 40.0, 30.0])
    data = {
        name: {
            "hi_data": (nominal + shift).tolist(),
            "lo_data": (nominal - shift).tolist(),
            "interpcode": "code0",
        }
        for name, shift in shifts.items()
    }
    document = spec()
    document["channels"] = document["channels"][:1]
    document["observations"] = document["observations"][:1]
    document["channels"][0]["samples"] = [
        {"name": "s", "data": [5.0, 9.0, 3.0], "modifiers": [modifier("normfactor", "mu")]},
        {
            "name": "b",
            "data": nominal.tolist(),
            "modifiers": [modifier("histosys", name, one) for name, one in data.items()],
        },
    ]
    config = {"poi": "mu", "parameters": []}
    if correlations:
        config["correlations"] = correlations
    document["measurements"][0]["config"] = config
    return Model.from_workspace(document)


@pytest.mark.parametrize("rho", [0.7, -0.95])
def test_a_model_rotated_by_hand(rho):
    a, b, rest = np.array([4.0, 2.0, 1.0]), np.array([-1.0, 3.0, 2.0]), math.sqrt(1 - rho * rho)
    matrix = [[1, rho], [rho, 1]]
    joint = straight({"a": a, "b": b}, [{"name": "ab", "parameters": ["a", "b"], "correlation": matrix}])
    rotated = straight({"y": a + rho * b, "z": rest * b})
    one, two = joint.fit(), rotated.fit()
    assert one.twice_nll == pytest.approx(two.twice_nll + math.log(1 - rho * rho), abs=1e-9)
    assert one["mu"] == pytest.approx(two["mu"], abs=1e-5)
    assert joint.upper_limit().limit_obs == pytest.approx(rotated.upper_limit().limit_obs, rel=1e-6)
    y, z = two["y"][0], two["z"][0]
    assert [one["a"][0], one["b"][0]] == pytest.approx([y, rho * y + rest * z], abs=1e-5)
    before = [model.predict()["SR"].prefit_error for model in (joint, rotated)]
    assert before[0] == pytest.approx(before[1], rel=1e-12)


def test_the_minimum_of_normal_data():
    """A million counts are normal: the minimum is that of a quadratic form."""
    scale, rho = 1e8, 0.5
    nominal, shift = np.array([1.0, 2.0]) * scale, np.array([[3.0, 1.0], [-1.0, 2.0]]) * math.sqrt(scale)
    observed = nominal + np.array([2.0, -3.0]) * math.sqrt(scale)
    data = [
        {"hi_data": (nominal + one).tolist(), "lo_data": (nominal - one).tolist(), "interpcode": "code0"}
        for one in shift
    ]
    document = {
        "channels": [
            {
                "name": "c",
                "samples": [
                    {
                        "name": "b",
                        "data": nominal.tolist(),
                        "modifiers": [modifier("histosys", name, one) for name, one in zip("ab", data)],
                    }
                ],
            }
        ],
        "observations": [{"name": "c", "data": observed.tolist()}],
        "measurements": [{"name": "m", "config": {"poi": "", "parameters": [], "correlations": []}}],
        "version": "1.0.0",
    }
    matrix = np.array([[1, rho], [rho, 1]])
    document["measurements"][0]["config"]["correlations"] = [
        {"name": "ab", "parameters": ["a", "b"], "correlation": matrix.tolist()}
    ]
    fit = Model.from_workspace(document).fit()
    precision = shift @ np.diag(1 / observed) @ shift.T + np.linalg.inv(matrix)
    covariance = np.linalg.inv(precision)
    best = covariance @ shift @ ((observed - nominal) / observed)
    assert fit.values == pytest.approx(best, abs=2e-3)
    assert fit.covariance == pytest.approx(covariance, rel=2e-3)


def test_pyhf_and_scipy_find_the_same_minimum():
    pyhf, optimize = pytest.importorskip("pyhf"), pytest.importorskip("scipy.optimize")
    workspace = pyhf.Workspace(spec())
    theirs = workspace.model()
    data = workspace.data(theirs)
    ours = CORRELATED.fit()
    order = places(CORRELATED, [str(name) for name in theirs.config.par_names])
    ties = extra(CORRELATED, NAMES, R)[np.ix_(order, order)]
    centres = np.nan_to_num(np.asarray(CORRELATED.constraint_centres)[order])
    determinant = math.log(np.linalg.det(R))

    def value(point):
        offset = point - centres
        return -2 * float(theirs.logpdf(point, data)[0]) + offset @ ties @ offset + determinant

    assert value(ours.values[order]) == pytest.approx(ours.twice_nll, rel=1e-12)
    bounds = theirs.config.suggested_bounds()
    found = optimize.minimize(
        value, theirs.config.suggested_init(), bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15}
    )
    found = optimize.minimize(value, found.x, bounds=bounds, method="SLSQP", options={"ftol": 1e-14})
    assert ours.twice_nll == pytest.approx(found.fun, abs=1e-6)
    assert ours.twice_nll <= found.fun + 1e-9


def test_factors_of_bins():
    names = ["st[0]", "st[2]", "st[4]", "theory"]
    matrix = np.array([[1, 0.5, 0.3, 0], [0.5, 1, -0.4, 0.2], [0.3, -0.4, 1, 0], [0, 0.2, 0, 1.0]])
    model = model_of((names, "correlation", matrix), ([*NAMES[:1], "lumi"], "correlation", R[::2, ::2]))
    point = a_point(PLAIN)
    ties = extra(PLAIN, names, matrix) + extra(PLAIN, ["jes", "lumi"], R[::2, ::2])
    offset = point - np.nan_to_num(PLAIN.constraint_centres)
    determinant = np.linalg.det(matrix) * np.linalg.det(R[::2, ::2])
    wanted = PLAIN.twice_nll(point) + offset @ ties @ offset + math.log(determinant)
    assert model.twice_nll(point) == pytest.approx(wanted, rel=1e-13)
    assert model.gradient(point) == pytest.approx(PLAIN.gradient(point) + 2 * ties @ offset, rel=1e-10)
    assert model.hessian(point) == pytest.approx(PLAIN.hessian(point) + 2 * ties, rel=1e-10, abs=1e-8)
    fit = model.fit()
    assert fit.converged and np.isfinite(fit.errors).all()


def test_toys_have_the_covariance():
    toys = CORRELATED.generate(CORRELATED.suggested_init, n=20000, seed=5)
    rows = np.asarray(toys.data if hasattr(toys, "data") else toys.rows)
    centre = CORRELATED.data
    constrained = [i for i, w in enumerate(CORRELATED.constraint_widths) if w == w]
    aux = rows[:, len(centre) - len(constrained) :]
    at = [constrained.index(i) for i in places(CORRELATED)]
    sample, widths = aux[:, at], np.array([1.0, 1.0, 0.03])
    assert sample.mean(axis=0) == pytest.approx([0.0, 0.0, 1.0], abs=0.03)
    assert np.cov(sample.T) / np.outer(widths, widths) == pytest.approx(R, abs=0.03)
    others = np.delete(aux, at, axis=1)
    mixed = np.corrcoef(np.hstack([sample, others]).T)[:3, 3:]
    assert np.abs(mixed).max() < 0.03


def test_fixed_parameters_condition_the_others():
    """With lumi held away from its datum, jes and theory follow the conditional law."""
    model = straight(
        {"a": np.zeros(3) + 1e-9, "b": np.zeros(3) + 1e-9},
        [{"name": "ab", "parameters": ["a", "b"], "correlation": [[1, 0.6], [0.6, 1]]}],
    )
    fit = model.fit(fixed={"a": 2.0})
    assert fit["b"] == pytest.approx((1.2, 0.8), abs=1e-6)


def test_toy_tests_agree_with_each_other():
    """Weighted draws of the tail and plain toys estimate the same p-values."""
    joint = straight(
        {"a": np.array([4.0, 2.0, 1.0]), "b": np.array([3.0, 3.0, 2.0])},
        [{"name": "ab", "parameters": ["a", "b"], "correlation": [[1, 0.8], [0.8, 1]]}],
    )
    rotated = straight({"y": np.array([6.4, 4.4, 2.6]), "z": 0.6 * np.array([3.0, 3.0, 2.0])})
    found = [model.hypotest_toys(2.0, n=4000, seed=3) for model in (joint, rotated)]
    error = math.hypot(*(one.CLs_obs_error for one in found))
    assert found[0].CLs_obs == pytest.approx(found[1].CLs_obs, abs=4 * error)
    assert error < 0.1 * found[0].CLs_obs


def test_operations_keep_them():
    whole = spec([(NAMES, "correlation", R), (["st[0]", "st[3]"], "correlation", [[1, 0.3], [0.3, 1]])])
    workspace = Workspace(whole)
    assert workspace.inspect()["correlations"] == [
        ["m", "group 0", NAMES],
        ["m", "group 1", ["st[0]", "st[3]"]],
    ]
    renamed = workspace.rename(modifiers={"jes": "scale", "st": "errors"})
    lists = [one["parameters"] for one in renamed.to_dict()["measurements"][0]["config"]["correlations"]]
    assert lists == [["scale", "theory", "lumi"], ["errors[0]", "errors[3]"]]
    assert renamed.model().fit().twice_nll == pytest.approx(workspace.model().fit().twice_nll, abs=1e-9)
    assert workspace.sort().to_dict()["measurements"][0]["config"]["correlations"][0]["parameters"] == NAMES
    pruned = workspace.prune(modifiers=["theory"])
    (first, _) = pruned.to_dict()["measurements"][0]["config"]["correlations"]
    assert first["parameters"] == ["jes", "lumi"] and first["correlation"] == [[1.0, -0.2], [-0.2, 1.0]]
    assert pruned.model().fit().converged
    (only,) = workspace.prune(modifier_types=["staterror"]).to_dict()["measurements"][0]["config"][
        "correlations"
    ]
    assert only["name"] == "group 0"
    with pytest.raises(InvalidInput, match='configures "group 0" differently'):
        other = copy.deepcopy(whole)
        other["measurements"][0]["config"]["correlations"][0]["correlation"] = np.eye(3).tolist()
        Workspace.combine(workspace, Workspace(other), join="outer")


@pytest.mark.parametrize(
    "correlation, message",
    [
        ((["jes", "mu"], "correlation", np.eye(2)), r"parameters\[1\]: \"mu\" is unconstrained"),
        ((["jes", "counts[0]"], "correlation", np.eye(2)), r"\"counts\[0\]\" is constrained_by_poisson"),
        ((["jes", "nothing"], "correlation", np.eye(2)), 'no parameter "nothing"'),
        ((["jes", "st"], "correlation", np.eye(2)), r"named as \"st\[0\]\""),
        ((["jes", "jes"], "correlation", np.eye(2)), "correlated twice"),
        ((["jes", "lumi"], "correlation", [[1, 1], [1, 1]]), 'not positive definite.*"lumi" has 0'),
        ((["jes", "lumi"], "correlation", [[1, 0.1], [0.2, 1]]), r"correlation\[1\]\[0\]: .*symmetric"),
        ((["jes", "lumi"], "correlation", [[1, 0.1], [0.1, 2]]), r"correlation\[1\]\[1\]: the diagonal"),
        ((["jes", "lumi"], "correlation", [[1, 0.1]]), "must have 2 rows"),
        ((["jes", "lumi"], "correlation", [[1, 0.1], [0.1]]), r"correlation\[1\]: must have 2 numbers"),
        (
            (["jes", "lumi"], "covariance", np.eye(2)),
            r"covariance\[1\]\[1\]: the variance of \"lumi\" is 0.0009",
        ),
    ],
)
def test_what_is_refused(correlation, message):
    with pytest.raises(InvalidInput, match=message):
        model_of(correlation)


def test_masks_and_data_of_the_callers():
    whole = Workspace(spec([(NAMES, "correlation", R)]))
    masked, pruned = (one.model().fit() for one in (whole.mask(["CR"]), whole.prune(channels=["CR"])))
    for name in ("mu", *NAMES):
        assert masked[name] == pytest.approx(pruned[name], abs=1e-6)
    data = np.array(CORRELATED.data)
    data[-len([w for w in CORRELATED.constraint_widths if w == w]) :] += 0.01
    assert CORRELATED.fit(data=data).converged
    assert paritas.fit(spec([(NAMES, "correlation", R)])).values == pytest.approx(CORRELATED.fit().values)


def test_hs3_carries_them_and_xml_refuses_them(tmp_path):
    pytest.importorskip("uproot")
    from paritas.convert import ConversionError, histfactory_xml, hs3

    document = spec([(NAMES, "correlation", R)])
    written = hs3.from_pyhf(copy.deepcopy(document)).spec
    (joint,) = [one for one in written["distributions"] if one["type"] == "multivariate_normal_dist"]
    assert joint["x"] == ["alpha_jes", "alpha_theory", "Lumi"] and joint["mean"] == [0.0, 0.0, 1.0]
    widths = np.array([1.0, 1.0, 0.03])
    assert np.array(joint["covariances"]) == pytest.approx(R * np.outer(widths, widths), rel=1e-15)
    read = hs3.to_pyhf(written, names="pyhf")
    (one,) = read.spec["measurements"][0]["config"]["correlations"]
    assert one["parameters"] == NAMES and np.array(one["correlation"]) == pytest.approx(R, rel=1e-14)
    assert any("no correlated constraints" in note for note in read.notes)
    fit = Model.from_workspace(read.spec).fit()
    assert fit.twice_nll == pytest.approx(CORRELATED.fit().twice_nll, abs=1e-9)
    with pytest.raises(ConversionError, match="no correlated constraints: 'group 0'"):
        histfactory_xml.write(document, tmp_path, tmp_path, "p")
    bins = spec([(["st[0]", "st[1]"], "correlation", R[:2, :2])])
    with pytest.raises(ConversionError, match=r"joint law of 'st\[0\]'"):
        hs3.from_pyhf(bins)


def test_the_builder():
    from paritas.steering import SteeringError, WorkspaceBuilder

    builder = WorkspaceBuilder("m", poi="mu")
    region = builder.channel("SR", data=[52, 61])
    region.sample("signal", [5.0, 10.0], factors=["mu"])
    background = region.sample("background", [50.0, 52.0])
    background.systematic("a", 1.1, 0.9).systematic("b", 1.05, 0.96)
    plain = builder.model().fit()
    builder.correlate(["a", "b"], R[:2, :2])
    assert builder.model().fit().twice_nll < plain.twice_nll
    builder.correlate(["mu"], [[1]])
    with pytest.raises(SteeringError, match=r"correlations\[1\].parameters\[0\]: \"mu\" is unconstrained"):
        builder.workspace()


def test_pyhf_refuses_them():
    shim = pytest.importorskip("paritas.pyhf")
    with pytest.raises(shim.exceptions.InvalidSpecification, match="correlations"):
        shim.Workspace(spec([(NAMES, "correlation", R)]))


def test_global_impacts_add_up_with_products():
    """Correlated auxiliary data add products to squares: the sum is the error at expected data."""
    model = model_of((NAMES, "correlation", R), (["st[0]", "st[3]"], "correlation", [[1.0, 0.5], [0.5, 1.0]]))
    found = model.global_impacts({"first": ["jes", "lumi"]}, data=model.asimov_data(1.0))
    assert found.sum == pytest.approx(found.total, rel=1e-10)
    squares = float(np.sum(found.entries.impact**2))
    assert abs(found.systematic**2 / squares - 1.0) > 1e-3
    jes, lumi = found["jes"], found["lumi"]
    assert found.groups["first"] ** 2 == pytest.approx(jes**2 + lumi**2 + 2 * R[0, 2] * jes * lumi, rel=1e-10)
