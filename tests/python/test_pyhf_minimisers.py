"""What fits in paritas.pyhf: the engine, or by choice SciPy and iminuit themselves."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import OptimizeWarning, minimize

import paritas.pyhf as pyhf
from paritas.pyhf.choices import MINIMIZERS


@pytest.fixture
def original(monkeypatch):
    monkeypatch.setenv(MINIMIZERS.variable, "original")
    yield
    pyhf.set_backend("numpy")


def two_bins(**options):
    model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0], **options)
    return model, [70.0, 66.0] + model.config.auxdata


def objective(model, data):
    return lambda pars: -2 * model.logpdf(pars, data)[0]


def test_the_original_scipy_stops_where_slsqp_stops(original):
    """SLSQP called by hand on the same likelihood, bit for bit, with its options too."""
    model, data = two_bins()
    config = model.config
    for options in ({}, {"tolerance": 1e-2}, {"solver_options": {"eps": 1e-5}}):
        found = pyhf.infer.mle.fit(data, model, **options)
        more = {"maxiter": 100000, "disp": False, **options.get("solver_options", {})}
        asked = minimize(
            objective(model, data),
            config.suggested_init(),
            method="SLSQP",
            jac=False,
            bounds=config.suggested_bounds(),
            constraints=[],
            tol=options.get("tolerance"),
            options=more,
        )
        assert found.tolist() == asked.x.tolist()


def by_iminuit(model, data):
    found = pytest.importorskip("iminuit").Minuit(
        objective(model, data), model.config.suggested_init(), name=model.config.par_names
    )
    found.limits, found.strategy = model.config.suggested_bounds(), 1
    found.migrad()
    found.hesse()
    return found


def test_the_original_minuit_is_iminuit_itself(original):
    model, data = two_bins()
    asked = by_iminuit(model, data)
    pyhf.set_backend("numpy", "minuit")
    pars, result = pyhf.infer.mle.fit(data, model, return_uncertainties=True, return_result_obj=True)
    assert isinstance(result.minuit, type(asked))
    assert pars[:, 0].tolist() == list(asked.values) and pars[:, 1].tolist() == list(asked.errors)
    assert np.array_equal(result.corr, asked.covariance.correlation())
    with pytest.raises(pyhf.exceptions.FailedMinimization, match="Call limit was reached"):
        pyhf.infer.mle.fit(data, model, maxiter=1)


def test_a_test_by_the_original_minimisers_makes_five_of_their_fits(original):
    """The engine's own call ends in the minima, SLSQP beside them."""
    model, data = two_bins()
    calculator = pyhf.infer.calculators.AsymptoticCalculator(data, model)
    calculator.teststatistic(1.0)
    free = pyhf.infer.mle.fit(data, model)
    assert calculator.fitted_pars.free_fit_to_data.tolist() == free.tolist()


def test_minuit_fits_what_the_engine_does_not():
    model, data = two_bins(batch_size=1)
    pyhf.set_backend("numpy", "minuit")
    try:
        found = pyhf.optimizer.minimize(
            lambda pars, data, pdf: -2 * pdf.logpdf([pars], data),
            data,
            model,
            model.config.suggested_init(),
            model.config.suggested_bounds(),
            return_result_obj=True,
        )[1]
    finally:
        pyhf.set_backend("numpy")
    assert list(found.minuit.values) == list(by_iminuit(*two_bins()).values)


def test_how_to_choose(tmp_path):
    with pytest.raises(ValueError, match="minimizers is 'scipy': it can be engine or original"):
        pyhf.install(minimisers="scipy")
    program = tmp_path / "program.py"
    program.write_text(
        "import pyhf\n"
        "model = pyhf.simplemodels.uncorrelated_background([12.0], [50.0], [3.0])\n"
        "_, result = pyhf.infer.mle.fit([70.0] + model.config.auxdata, model, return_result_obj=True)\n"
        "print('nfev' in result)\n"
    )
    assert MINIMIZERS.options() == ["--minimizers", "--minimisers"]
    for option, minimisers in zip(MINIMIZERS.options(), MINIMIZERS.words[::-1]):
        command = [sys.executable, "-m", "paritas.pyhf", option, minimisers, program]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert told == f"{minimisers == 'original'}\n"


def test_either_spelling_of_the_variable(monkeypatch):
    monkeypatch.setenv("PARITAS_PYHF_MINIMISERS", "original")
    assert MINIMIZERS.chosen() == "original"
    monkeypatch.setenv("PARITAS_PYHF_MINIMIZERS", "engine")
    assert MINIMIZERS.chosen() == "engine"


def test_misspelt_options_of_slsqp_are_told():
    model, data = two_bins()
    with pytest.warns(OptimizeWarning, match="Unknown solver options: ftoll"):
        pyhf.infer.mle.fit(data, model, solver_options={"ftoll": 1e-9, "eps": 1e-8})


def test_programs_find_iminuit_beside_the_optimizer():
    if importlib.util.find_spec("iminuit") is None:
        pytest.skip("iminuit is not installed")
    from paritas.pyhf.optimize import opt_minuit

    assert opt_minuit.iminuit.Minuit
