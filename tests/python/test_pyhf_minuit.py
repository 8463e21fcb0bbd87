"""Fits of paritas.pyhf: result.minuit with iminuit's names, MINOS by closed forms, errors at a bound, and
kinks."""

import numpy as np
import pytest
from scipy.optimize import brentq

import paritas.pyhf as pyhf

SIGNAL, BACKGROUND = 5.0, 2.0
#: 30 and 35 signal events in two bins; both backgrounds move with one histosys
COUPLED = {
    "signal": ([30.0, 35.0], [[100.0, 100.0], [50.0, 120.0]], [[110, 110], [55, 55]], [[90, 90], [45, 45]]),
    "control": (None, [[105.0, 100.0]], [[110, 115]], [[95, 90]]),
}


def counting(**options):
    """mu x 5 + 2 events expected, without uncertainties."""
    samples = [
        {"name": "s", "data": [SIGNAL], "modifiers": [{"name": "mu", "type": "normfactor", "data": None}]},
        {"name": "b", "data": [BACKGROUND], "modifiers": []},
    ]
    return pyhf.Model({"channels": [{"name": "c", "samples": samples}]}, **options)


def fit(model, data, **options):
    pyhf.set_backend("numpy", "minuit")
    try:
        return pyhf.infer.mle.fit(data, model, return_uncertainties=True, return_result_obj=True, **options)
    finally:
        pyhf.set_backend("numpy")


def twice_nll(mu, observed):
    rate = SIGNAL * mu + BACKGROUND
    return 2 * (rate - observed * np.log(rate))


def test_minos_of_a_counting_experiment():
    observed = 30.0
    _, result = fit(counting(), [observed])
    found = result.minuit.minos("mu").merrors["mu"]
    best = (observed - BACKGROUND) / SIGNAL
    rise = [lambda d: twice_nll(best + d, observed) - twice_nll(best, observed) - 1.0]
    assert found.lower == pytest.approx(brentq(rise[0], -3, 0), rel=1e-6)
    assert found.upper == pytest.approx(brentq(rise[0], 0, 3), rel=1e-6)
    assert found.is_valid and result.minuit.params[0].merror == (found.lower, found.upper)
    assert result.minuit.errors["mu"] == pytest.approx(np.sqrt(observed) / SIGNAL)


def test_a_minos_error_ends_at_the_bound():
    _, result = fit(counting(), [3.0])  # mu is 0.2, its lower error would be 0.3
    found = result.minuit.minos().merrors["mu"]
    assert found.at_lower_limit and found.lower_valid and not found.at_upper_limit
    assert found.lower == -result.minuit.values["mu"] == pytest.approx(-0.2)
    _, result = fit(counting(), [1.0])  # at the bound
    found = result.minuit.minos().merrors["mu"]
    assert found.is_valid and found.at_lower_limit and found.lower == 0 < found.upper


def test_the_error_without_curvature_is_that_of_the_slope():
    """With nothing observed twice the NLL is 2 (5 mu + 2): it rises by 1 over 0.1."""
    pars, _ = fit(counting(), [0.0])
    assert pars[0].tolist() == [0.0, pytest.approx(1 / (2 * SIGNAL))]


def test_names_indices_and_slices():
    model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])
    names, data = model.config.par_names, [65.0, 60.0] + model.config.auxdata
    pars, result = fit(model, data, fixed_params=[False, False, True], strategy=0, tolerance=0.01)
    found = result.minuit
    assert found.parameters == tuple(names) and (found.npar, found.nfit) == (3, 2)
    assert found.values["mu"] == found.values[0] == found.params["mu"].value == pars[0, 0]
    assert found.values[1:] == pars[1:, 0].tolist() and list(found.fixed) == [False, False, True]
    assert np.asarray(found.errors) == pytest.approx(pars[:, 1]) and found.errors[names[2]] == 0
    assert found.limits["mu"] == (0.0, 10.0) and found.params[0].has_limits
    assert found.valid and found.accurate and found.fval == float(result.fun) and found.nfcn > 0
    assert (found.strategy, found.tol) == (0, 0.01)
    covariance = found.covariance
    assert covariance["mu", names[1]] == covariance[0, 1] == covariance["mu"][1]
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert covariance.correlation()["mu", names[1]] == pytest.approx(correlation)
    assert covariance.to_dict()["mu", "mu"] == covariance[0, 0]
    with pytest.raises(RuntimeError, match="fixed"):
        found.minos(names[2])
    with pytest.raises(pyhf.exceptions.Unsupported, match="cl"):
        found.minos("mu", cl=0.95)
    assert sorted(found.minos(cl=0.6827).merrors) == sorted(names[:2])
    with pytest.raises(KeyError):
        found.values["absent"]


def test_numbers_agree_with_iminuit():
    iminuit = pytest.importorskip("iminuit")
    model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])
    data = [70.0, 66.0] + model.config.auxdata
    theirs = iminuit.Minuit(
        lambda pars: -2 * model.logpdf(pars, data)[0],
        model.config.suggested_init(),
        name=model.config.par_names,
    )
    theirs.limits, theirs.tol = model.config.suggested_bounds(), 1e-4
    theirs.migrad()
    theirs.hesse()
    theirs.minos()
    ours = fit(model, data)[1].minuit.minos()
    for name in theirs.parameters:
        assert ours.values[name] == pytest.approx(theirs.values[name], abs=1e-4)
        # Minuit's error is the mean of two sides of its bounded variable
        assert ours.errors[name] == pytest.approx(theirs.errors[name], rel=1e-2)
        for side in ("lower", "upper", "is_valid", "at_lower_limit", "at_upper_limit"):
            assert getattr(ours.merrors[name], side) == pytest.approx(
                getattr(theirs.merrors[name], side), rel=3e-3
            )
    np.testing.assert_allclose(ours.covariance.correlation(), theirs.covariance.correlation(), atol=1e-2)


def test_a_fit_looks_on_both_sides_of_a_kink():
    channels = []
    for name, (signal, backgrounds, ups, downs) in COUPLED.items():
        samples = [
            {"name": "s", "data": signal, "modifiers": [{"name": "mu", "type": "normfactor", "data": None}]}
        ]
        for index, (data, up, down) in enumerate(zip(backgrounds, ups, downs)):
            moved = {"name": "shape", "type": "histosys", "data": {"hi_data": up, "lo_data": down}}
            samples.append({"name": f"b{index}", "data": data, "modifiers": [moved]})
        channels.append({"name": name, "samples": samples if signal else samples[1:]})
    codes = {"histosys": {"interpcode": "code0"}, "normsys": {"interpcode": "code1"}}
    model = pyhf.Model({"channels": channels}, modifier_settings=codes)
    data = [110.0, 105.0, 170.0, 220.0] + model.config.auxdata  # channels by name
    pars, value = pyhf.infer.mle.fit(data, model, return_fitted_val=True)
    lowest = min(  # 30.285 on one side of 0, 29.287 on the other
        float(-2 * model.logpdf([mu, alpha], data)[0])
        for mu in np.linspace(0.2, 1.0, 41)
        for alpha in np.linspace(-1, 1, 41)
    )
    assert value <= lowest and value == pytest.approx(29.28741, abs=1e-5)
    held = [model.config.suggested_init()[0], 0.0]
    fixed = pyhf.infer.mle.fit(data, model, held, fixed_params=[False, True])
    assert fixed[1] == 0.0
