"""A pytest plugin: paritas.pyhf's likelihoods, minimised as pyhf does it, by SLSQP and by Minuit.

A test that fails on Paritas and passes so compares where a minimiser stops, not likelihoods. Loaded after
paritas.pyhf.pytest_plugin."""

import iminuit
import numpy as np
import pytest


def _minuit(self, func, x0, bounds, fixed_vals=None, do_grad=False, par_names=None):
    found = iminuit.Minuit(func, x0, name=par_names)
    found.limits, found.errordef = bounds, self.errordef
    for index, value in fixed_vals or []:
        found.values[index], found.fixed[index] = value, True
    return found


def _migrad_and_hesse(self, minimizer, func, x0, do_grad=False, bounds=None, fixed_vals=None, options=None):
    from scipy.optimize import OptimizeResult

    options = options or {}
    strategy, tolerance = options.get("strategy", self.strategy), options.get("tolerance", self.tolerance)
    minimizer.strategy = 1 if strategy is None else strategy
    minimizer.tol = 0.1 if tolerance is None else tolerance
    minimizer.migrad(ncall=options.get("maxiter", self.maxiter))
    minimizer.hesse()
    return OptimizeResult(
        x=np.array(minimizer.values),
        unc=np.where(minimizer.fixed, 0.0, minimizer.errors),
        corr=np.array(minimizer.covariance.correlation()),
        fun=minimizer.fval,
        success=minimizer.valid,
        message="Optimization terminated successfully." if minimizer.valid else "Optimization failed.",
        minuit=minimizer,
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config):
    from paritas.pyhf.optimize.mixins import EngineOptimizer
    from paritas.pyhf.optimize.opt_minuit import minuit_optimizer

    EngineOptimizer.handles = lambda self, pdf: False
    minuit_optimizer._get_minimizer, minuit_optimizer._minimize = _minuit, _migrad_and_hesse
    yield
