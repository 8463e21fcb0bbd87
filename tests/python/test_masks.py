"""Masked channels: out of the likelihood, with their rates."""

import copy
import json

import numpy as np
import pytest

import paritas

POINT = {"mu": 1.3, "shape": 0.4, "norm": -0.7, "bkg": 1.2}


def modifier(kind, name, data=None):
    return {"type": kind, "name": name, "data": data}


def workspace():
    """Two channels that share parameters; the second one has each kind of modifier."""
    signal = {"name": "signal", "data": [3.0, 8.0, 2.0], "modifiers": [modifier("normfactor", "mu")]}
    background = {
        "name": "background",
        "data": [40.0, 55.0, 30.0],
        "modifiers": [
            modifier("normfactor", "bkg"),
            modifier("normsys", "norm", {"hi": 1.1, "lo": 0.92}),
            modifier("histosys", "shape", {"hi_data": [44, 50, 31], "lo_data": [37, 58, 28]}),
            modifier("staterror", "errors_region", [2.0, 3.0, 1.5]),
        ],
    }
    control = [
        {
            "name": "background",
            "data": [120.0, 0.0, 90.0, 10.0],
            "modifiers": [
                modifier("normfactor", "bkg"),
                modifier("normsys", "norm", {"hi": 1.2, "lo": 0.9}),
                modifier("normsys", "control_only", {"hi": 1.05, "lo": 0.9}),
                modifier("histosys", "shape", {"hi_data": [130, 1, 85, 12], "lo_data": [110, 0, 92, 9]}),
                modifier("mcstat", "errors_control", [4.0, 0.5, 3.0, 1.0]),
            ],
        },
        {
            "name": "scaled",
            "data": [5.0, 0.5, 3.0, 2.0],
            "shape": {"minimum": 1e-9, "total": 11.0},
            "modifiers": [
                modifier("normfactor", "free_in_control"),
                modifier("shapesys", "counts", [1.0, 0.2, 0.5, 0.4]),
                modifier("histosys", "shape", {"hi_data": [6, 0, 3, 1], "lo_data": [4, 0, 3, 3]}),
            ],
        },
    ]
    return {
        "channels": [
            {"name": "region", "samples": [signal, background]},
            {"name": "control", "samples": control},
        ],
        "observations": [
            {"name": "region", "data": [45.0, 70.0, 31.0]},
            {"name": "control", "data": [900.0, 0.0, 70.0, 25.0]},
        ],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


@pytest.fixture
def models():
    given = workspace()
    return (
        paritas.Model.from_workspace(given),
        paritas.Model.from_workspace(given, masks=["control"]),
        paritas.Workspace(given).prune(channels=["control"]).model(),
    )


def bins_of(model, channel):
    first = 0
    for one in model.channels:
        if one.name == channel:
            return slice(first, first + one.bins)
        first += one.bins
    raise KeyError(channel)


def pulled(model):
    """A point away from the start, of parameters by name."""
    return model.point(
        {name: POINT.get(name, v + 0.1) for name, v in zip(model.parameter_names, model.suggested_init)}
    )


def test_parameters_data_and_rates_stay(models):
    whole, masked, _ = models
    assert masked.parameter_names == whole.parameter_names
    assert masked.main_count == whole.main_count and masked.aux_count == whole.aux_count
    point = pulled(whole)
    assert np.array_equal(masked.expected_data(point), whole.expected_data(point))
    assert np.array_equal(masked.expected_jacobian(point), whole.expected_jacobian(point))
    for one, other in zip(masked.expected_by_sample(point), whole.expected_by_sample(point)):
        assert repr(one) == repr(other)


def test_the_likelihood_is_that_of_the_other_channels(models):
    whole, masked, pruned = models
    point = pulled(whole)
    own = dict(zip(whole.parameter_names, point))
    left = [own[name] for name in pruned.parameter_names]
    rest = [i for i, name in enumerate(whole.parameter_names) if name not in pruned.parameter_names]
    steps = []
    for at in (point, masked.point()):
        own = dict(zip(whole.parameter_names, at))
        steps.append(masked.twice_nll(at) - pruned.twice_nll([own[name] for name in pruned.parameter_names]))
    # what is left are the constraints of the others: 8 pulls of 0.1 widths or so, of counts and measurements
    widths = np.array(whole.constraint_widths)[rest]
    assert 0.0 < steps[0] - steps[1] < 1.5 * np.nansum((0.1 / widths) ** 2)
    gradient = dict(zip(masked.parameter_names, masked.gradient(point)))
    for name, wanted in zip(pruned.parameter_names, pruned.gradient(left)):
        assert gradient[name] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert gradient["free_in_control"] == 0.0
    hessian = np.array(masked.hessian(point))
    at = [masked.index(name) for name in pruned.parameter_names]
    np.testing.assert_allclose(hessian[np.ix_(at, at)], pruned.hessian(left), rtol=1e-12, atol=1e-10)


def test_observed_counts_of_masked_bins_do_not_matter(models):
    _, masked, _ = models
    other = workspace()
    other["observations"][1]["data"] = [1e6, 3.0, 0.0, 7.0]
    twin = paritas.Model.from_workspace(other, masks=["control"])
    point = pulled(masked)
    assert twin.twice_nll(point) == masked.twice_nll(point)
    fits = [model.fit() for model in (masked, twin)]
    assert fits[0].twice_nll == fits[1].twice_nll
    assert np.array_equal(fits[0].values, fits[1].values)


def test_fits_tests_and_goodness_of_fit(models):
    _, masked, pruned = models
    a, b = masked.fit(fixed={"free_in_control": 1.0}), pruned.fit()
    for name in pruned.parameter_names:
        assert a[name] == pytest.approx(b[name], abs=1e-5)
    assert masked.fit()["mu"] == pytest.approx(b["mu"], abs=1e-5)
    assert masked.upper_limit().limit_obs == pytest.approx(pruned.upper_limit().limit_obs, rel=1e-5)
    assert masked.significance().Z == pytest.approx(pruned.significance().Z, rel=1e-5)
    found, wanted = masked.goodness_of_fit(fixed={"free_in_control": 1.0}), pruned.goodness_of_fit()
    assert found.ndof == wanted.ndof
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-6)


def test_toys_leave_masked_bins_out(models):
    _, masked, pruned = models
    fixed = {"free_in_control": 1.0}
    found = masked.goodness_of_fit_toys(n=400, seed=3, fixed=fixed)
    wanted = pruned.goodness_of_fit_toys(n=400, seed=3)
    assert abs(found.p_toys - wanted.p_toys) < 5 * (found.p_toys_error + wanted.p_toys_error)


def test_masks_of_files_and_documents(tmp_path):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(workspace()))
    marked = copy.deepcopy(workspace())
    marked["channels"][1]["masked"] = True
    read = paritas.Workspace.read(path, masks=["control"])
    assert read.to_dict() == marked == paritas.Workspace(workspace()).mask(["control"]).to_dict()
    assert paritas.Model.from_workspace(path, masks=["control"]).twice_nll() == read.model().twice_nll()
    assert paritas.Workspace(marked).model().twice_nll() == read.model().twice_nll()


def test_refusals():
    with pytest.raises(paritas.NotFound, match='there is no channel "signal"'):
        paritas.Model.from_workspace(workspace(), masks=["signal"])
    with pytest.raises(paritas.InvalidInput, match="all are masked, so nothing is left to fit"):
        paritas.Model.from_workspace(workspace(), masks=["region", "control"])
    with pytest.raises(TypeError, match="a sequence of names"):
        paritas.Model.from_workspace(workspace(), masks="control")
    wrong = workspace()
    wrong["channels"][0]["masked"] = 1
    with pytest.raises(paritas.InvalidInput, match=r"channels\[0\].masked: must be true or false, found 1"):
        paritas.Model.from_workspace(wrong)


def test_masked_channels_are_told(models):
    _, masked, _ = models
    assert [(one.name, one.masked) for one in masked.channels] == [("control", True), ("region", False)]
    assert not any(one.masked for one in models[0].channels)
    prediction = masked.predict()
    assert prediction["control"].masked and not prediction["region"].masked


def test_data_that_are_not_shown(models):
    from paritas.plot import yields

    whole = models[1].predict()
    hidden = whole.without_data(["control"])
    assert np.isnan(hidden["control"].data).all() and np.array_equal(
        hidden["region"].data, [45.0, 70.0, 31.0]
    )
    assert not np.isnan(whole["control"].data).any()
    (line,) = [line for line in yields(hidden).splitlines() if line.startswith("control")]
    assert line.split()[-1] == "-"
    with pytest.raises(paritas.InvalidArgument, match="there is no 'signal' among control, region"):
        whole.without_data(["signal"])
