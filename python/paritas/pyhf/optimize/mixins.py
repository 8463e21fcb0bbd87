"""What optimizers share: the fit by the engine, and the fit of any other function by a minimiser that a class
brings along."""

from __future__ import annotations

import logging
from typing import Any, Callable

import numpy as np

from paritas.pyhf import bridge, exceptions
from paritas.pyhf.optimize.common import shim
from paritas.pyhf.tensor.manager import get_backend

log = logging.getLogger(__name__)

_MAXITER = 100000


class OptimizeResult(dict):  # type: ignore[type-arg]
    """The outcome of a fit, by key or attribute: x, unc and corr (None where not asked for), fun, success, message, nit, edm, hess_inv."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__

    def __dir__(self) -> list[str]:
        return list(self)


def _as_scipy_has_it(result: Any) -> Any:
    """The result as SciPy's class where SciPy is installed, so that scripts that ask for the class find
    it."""
    try:
        from scipy.optimize import OptimizeResult as scipy_result
    except ImportError:
        return result
    return result if isinstance(result, scipy_result) else scipy_result(result)


def _correlations(covariance: Any) -> Any:
    widths = np.sqrt(np.diag(covariance))
    scale = np.outer(widths, widths)
    return np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)


class OptimizerMixin:
    """Base of optimizers. A class with a minimiser of its own has `_get_minimizer` and `_minimize`, as pyhf's
    have."""

    name = ""

    def __init__(self, **kwargs: Any) -> None:
        self.maxiter = kwargs.pop("maxiter", _MAXITER)
        self.verbose = kwargs.pop("verbose", 0)
        if kwargs:
            raise exceptions.Unsupported(f"Unsupported kwargs were passed in: {list(kwargs)}.")

    def _get_minimizer(
        self,
        objective_and_grad: Any,
        init_pars: Any,
        init_bounds: Any,
        fixed_vals: Any = None,
        do_grad: bool = False,
        par_names: Any = None,
    ) -> Any:
        raise NotImplementedError

    def _minimize(
        self,
        minimizer: Any,
        func: Any,
        x0: Any,
        do_grad: bool = False,
        bounds: Any = None,
        fixed_vals: Any = None,
        options: Any = None,
    ) -> Any:
        raise NotImplementedError

    def _fit(
        self,
        objective: Any,
        data: Any,
        pdf: Any,
        init_pars: Any,
        par_bounds: Any,
        fixed_vals: Any,
        do_grad: bool,
        do_stitch: bool,
        errors: bool,
        options: Any,
    ) -> Any:
        arguments, stitch_pars = shim(
            objective, data, pdf, [*init_pars], par_bounds, fixed_vals, do_grad=do_grad, do_stitch=do_stitch
        )
        names = getattr(pdf.config, "par_names", None)
        if names and do_stitch:
            fixed = {index for index, _ in fixed_vals or []}
            names = [name for index, name in enumerate(names) if index not in fixed]
        func, x0, bounds, fixed_vals = (
            arguments["func"],
            arguments["x0"],
            arguments["bounds"],
            arguments["fixed_vals"],
        )
        minimizer = self._get_minimizer(
            func, x0, bounds, fixed_vals=fixed_vals, do_grad=do_grad, par_names=names
        )
        result = self._minimize(
            minimizer, func, x0, do_grad=do_grad, bounds=bounds, fixed_vals=fixed_vals, options=options
        )
        tensorlib, _ = get_backend()
        result.x = stitch_pars(tensorlib.astensor(result.x))
        zeros = tensorlib.zeros(len(result.x) - len(x0))
        uncertainties, correlations = getattr(result, "unc", None), getattr(result, "corr", None)
        result.unc = (
            None
            if uncertainties is None
            else stitch_pars(tensorlib.astensor(uncertainties), stitch_with=zeros)
        )
        if correlations is not None:
            rows = np.array(
                [stitch_pars(tensorlib.astensor(row), stitch_with=zeros) for row in np.asarray(correlations)]
            )
            correlations = np.array([stitch_pars(column, stitch_with=zeros) for column in rows.T]).T
        result.corr = correlations
        result.fun = tensorlib.astensor(result.fun)
        return result

    def minimize(
        self,
        objective: Callable[..., Any],
        data: Any,
        pdf: Any,
        init_pars: Any,
        par_bounds: Any,
        fixed_vals: Any = None,
        return_fitted_val: bool = False,
        return_result_obj: bool = False,
        return_uncertainties: bool = False,
        return_correlations: bool = False,
        do_grad: bool | None = None,
        do_stitch: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The parameters at the minimum, (parameters,), with `return_uncertainties` (parameters, 2); asked
        for, behind them in this order: correlations, the objective's value, the result with all there is.
        FailedMinimization: the fit did not converge."""
        errors = return_uncertainties or return_correlations or return_result_obj
        result = self._fit(
            objective, data, pdf, init_pars, par_bounds, fixed_vals, bool(do_grad), do_stitch, errors, kwargs
        )
        if not result.success:
            log.error("%s", result)
            raise exceptions.FailedMinimization(result)
        if return_uncertainties and result.unc is not None:
            result.x = np.stack([result.x, result.unc], axis=1)
        returned = [result.x]
        if return_correlations:
            returned.append(result.corr)
        if return_fitted_val:
            returned.append(result.fun)
        if return_result_obj:
            returned.append(_as_scipy_has_it(result))
        return tuple(returned) if len(returned) > 1 else returned[0]


class EngineOptimizer(OptimizerMixin):
    """Fits twice the NLL of a model by the engine's Newton, with exact derivatives; every other objective by
    SciPy's SLSQP."""

    own_options: tuple[str, ...] = ()

    def handles(self, pdf: Any) -> bool:
        """Whether the engine fits this model."""
        engine_model = getattr(pdf, "_engine_model", None)
        return engine_model is not None and not pdf.batch_size and engine_model() is not None

    def _options(self, options: Any) -> Any:
        unknown = [name for name in options if name not in ("maxiter", *self.own_options)]
        if unknown:
            raise exceptions.Unsupported(f"Unsupported options were passed in: {unknown}.")
        return options.get("maxiter", self.maxiter)

    def _fit(
        self,
        objective: Any,
        data: Any,
        pdf: Any,
        init_pars: Any,
        par_bounds: Any,
        fixed_vals: Any,
        do_grad: bool,
        do_stitch: bool,
        errors: bool,
        options: Any,
    ) -> Any:
        from paritas.pyhf.infer.mle import twice_nll

        if do_grad:
            raise exceptions.Unsupported(
                "Numpy does not support autodifferentiation: the engine's derivatives are exact without it."
            )
        if objective is not twice_nll or not self.handles(pdf):
            return super()._fit(
                objective, data, pdf, init_pars, par_bounds, fixed_vals, do_grad, do_stitch, errors, options
            )
        maxiter = self._options(options)
        pdf._check_lengths(len(init_pars), np.shape(data)[-1])
        start = np.array(init_pars, dtype=np.float64)
        lower, upper = np.array(par_bounds, dtype=np.float64).T
        fixed = np.zeros(len(start), dtype=np.uint8)
        for index, value in fixed_vals or []:
            start[index], fixed[index] = value, 1
        limit = 0 if maxiter in (None, _MAXITER) else max(1, int(maxiter))
        status, iterations, value, edm, _, found, widths, covariance, _ = bridge.fit(
            pdf._engine_model(), data, start, lower, upper, fixed, errors, limit
        )
        if widths is not None:
            at_bound = np.isnan(widths) & (fixed == 0)
            if at_bound.any():
                widths = np.where(
                    at_bound, bridge.errors_without_bounds(pdf._engine_model(), data, found, fixed), widths
                )
        converged = status == bridge.CONVERGED
        tensorlib, _ = get_backend()
        return OptimizeResult(
            x=tensorlib.astensor(found),
            unc=None if widths is None else tensorlib.astensor(np.where(fixed, 0.0, widths)),
            corr=None if covariance is None else tensorlib.astensor(_correlations(covariance)),
            fun=tensorlib.astensor(value),
            success=converged,
            message="Optimization terminated successfully."
            if converged
            else f"Optimization failed: {bridge.STATUSES[status]}.",
            status=status,
            nit=iterations,
            edm=edm,
            hess_inv=covariance,
        )

    def _get_minimizer(
        self,
        objective_and_grad: Any,
        init_pars: Any,
        init_bounds: Any,
        fixed_vals: Any = None,
        do_grad: bool = False,
        par_names: Any = None,
    ) -> Any:
        try:
            from scipy.optimize import minimize
        except ImportError:
            raise exceptions.Unsupported(
                "This model is not the engine's: to fit it, SciPy is needed, which is not installed."
            ) from None
        return minimize

    def _minimize(
        self,
        minimizer: Any,
        func: Any,
        x0: Any,
        do_grad: bool = False,
        bounds: Any = None,
        fixed_vals: Any = None,
        options: Any = None,
    ) -> Any:
        options = options or {}
        maxiter = self._options(options)
        tolerance = (
            options.get("tolerance", getattr(self, "tolerance", None)) if self.name == "scipy" else None
        )
        solver_options = options.get("solver_options", getattr(self, "solver_options", {}))
        constraints = []
        for index, value in fixed_vals or []:
            x0[index] = value
            constraints.append(
                {"type": "eq", "fun": lambda pars, index=index, value=value: pars[index] - value}
            )
        solver = {"maxiter": maxiter, "disp": bool(self.verbose), **solver_options}
        return minimizer(
            func,
            x0,
            method=options.get("method", "SLSQP"),
            jac=do_grad,
            bounds=bounds,
            constraints=constraints,
            tol=tolerance,
            options=solver,
        )
