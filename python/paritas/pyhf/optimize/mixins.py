"""What optimizers share."""

from __future__ import annotations

import logging
from collections import namedtuple
from typing import Any, Callable

import numpy as np

from ...results import correlations
from .. import bridge, exceptions
from ..choices import MINIMIZERS
from ..tensor.manager import as_tensor, get_backend
from .bound_errors import covariance_at_bounds
from .common import shim, twice_nll

log = logging.getLogger(__name__)

_MAXITER = 100000


#: arguments of `shim`; are errors needed?; other keywords
Problem = namedtuple(
    "Problem", "objective data pdf init_pars par_bounds fixed_vals do_grad do_stitch errors options"
)


class OptimizeResult(dict):  # type: ignore[type-arg]
    """A result by key or attribute. hess_inv is the covariance."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__

    def __dir__(self) -> list[str]:
        return list(self)


def _as_scipy_has_it(result: Any) -> Any:
    """SciPy's class, which scripts may check for, if installed."""
    try:
        from scipy.optimize import OptimizeResult as scipy_result
    except ImportError:
        return result
    return result if isinstance(result, scipy_result) else scipy_result(result)


class OptimizerMixin:
    """Subclasses may define `_get_minimizer` and `_minimize`, as in pyhf."""

    name = ""
    _get_minimizer: Callable[..., Any]
    _minimize: Callable[..., Any]

    def __init__(self, **kwargs: Any) -> None:
        self.maxiter = kwargs.pop("maxiter", _MAXITER)
        self.verbose = kwargs.pop("verbose", 0)
        exceptions.refuse_options(kwargs)

    def _fit(self, problem: Problem) -> Any:
        arguments, stitch_pars = shim(*problem[:8])
        names = getattr(problem.pdf.config, "par_names", None)
        if names and problem.do_stitch:
            fixed = {index for index, _ in problem.fixed_vals or []}
            names = [name for index, name in enumerate(names) if index not in fixed]
        result = self._internal_minimize(**arguments, options=problem.options, par_names=names)
        return self._internal_postprocess(result, stitch_pars, len(arguments["x0"]))

    def _internal_minimize(
        self, func: Any, x0: Any, bounds: Any, options: Any = None, par_names: Any = None, **arguments: Any
    ) -> Any:
        minimizer = self._get_minimizer(func, x0, bounds, par_names=par_names, **arguments)
        return self._minimize(minimizer, func, x0, bounds=bounds, options=options, **arguments)

    def _internal_postprocess(self, result: Any, stitch_pars: Any, varied: int) -> Any:
        """Puts the fixed parameters back between those that were varied."""
        result.x = stitch_pars(as_tensor(result.x))
        zeros = get_backend()[0].zeros(len(result.x) - varied)

        def with_zeros(values: Any) -> Any:
            return stitch_pars(as_tensor(values), stitch_with=zeros)

        widths, correlated = getattr(result, "unc", None), getattr(result, "corr", None)
        result.unc = None if widths is None else with_zeros(widths)
        if correlated is not None:
            for _ in ("rows", "columns"):
                correlated = np.array([with_zeros(row) for row in np.asarray(correlated)]).T
        result.corr = correlated
        result.fun = as_tensor(result.fun)
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
        """Parameters at the minimum: (parameters,), or (parameters, 2) with uncertainties. Then, if asked
        for: correlations, objective value, whole result."""
        errors = return_uncertainties or return_correlations or return_result_obj
        given = (objective, data, pdf, [*init_pars], par_bounds, fixed_vals, bool(do_grad), do_stitch)
        result = self._fit(Problem(*given, errors, kwargs))
        if not result.success:
            log.error("%s", result)
            raise exceptions.FailedMinimization(_as_scipy_has_it(result))
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


class EngineFit:
    """The engine as a minimiser of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __call__(self, iteration_limit: int) -> OptimizeResult:
        data, pdf = self.problem.data, self.problem.pdf
        pdf._check_lengths(len(self.problem.init_pars), np.shape(data)[-1])
        engine = pdf._engine_model()
        settings = bridge.settings_of(self.problem)
        settings = bridge.lowest_start(engine, data, settings, pdf.config.kinked_parameters)
        answers = bridge.fit(engine, data, settings, self.problem.errors, iteration_limit)
        result, found, widths = answers.results[0], answers.parameters, answers.errors
        covariance, status = answers.covariance, int(result["status"])
        if widths is not None:
            at_bound = np.isin(answers.states, bridge.AT_BOUND)
            if at_bound.any():
                free = at_bound | (answers.states == bridge.FREE) & ~np.isnan(widths)
                covariance = covariance_at_bounds(engine, data, found, free, at_bound)
                widths = np.where(free, np.sqrt(np.diag(covariance)), widths)
            widths = np.where(settings[3], 0.0, widths)
        converged = status == bridge.CONVERGED
        outcome = "terminated successfully" if converged else f"failed: {bridge.STATUSES[status]}"
        return OptimizeResult(
            x=as_tensor(found),
            unc=None if widths is None else as_tensor(widths),
            corr=None if covariance is None else as_tensor(correlations(covariance)),
            fun=as_tensor(float(result["twice_nll"])),
            success=converged,
            message=f"Optimization {outcome}.",
            status=status,
            nit=int(result["iterations"]),
            edm=float(result["edm"]),
            hess_inv=covariance,
        )


class EngineOptimizer(OptimizerMixin):
    """Models by the engine, other objectives by SciPy's SLSQP. With the choice MINIMIZERS "original", SLSQP
    fits all."""

    own_options: tuple[str, ...] = ()

    def handles(self, pdf: Any) -> bool:
        if MINIMIZERS.chosen() != "engine":
            return False
        engine_model = getattr(pdf, "_engine_model", None)
        return engine_model is not None and not pdf.batch_size and engine_model() is not None

    def fits_by_engine(self, problem: Problem) -> bool:
        return problem.objective is twice_nll and self.handles(problem.pdf)

    def _maxiter(self, options: Any) -> Any:
        if options:
            own = ("maxiter", *self.own_options)
            exceptions.refuse_options([name for name in options if name not in own])
        return options.get("maxiter", self.maxiter)

    def _fit(self, problem: Problem) -> Any:
        if problem.do_grad:
            raise exceptions.Unsupported(
                "The numpy backend has no autodifferentiation. The engine's derivatives are exact without it."
            )
        if not self.fits_by_engine(problem):
            return super()._fit(problem)
        bounds, fixed_vals = problem.par_bounds, problem.fixed_vals
        minimizer = EngineFit(problem)
        return self._minimize(
            minimizer, None, problem.init_pars, False, bounds, fixed_vals, options=problem.options
        )

    def iteration_limit(self, options: Any = None) -> int:
        """Of the engine; 0 is its own."""
        maxiter = self._maxiter(options or {})
        return 0 if maxiter in (None, _MAXITER) else max(1, int(maxiter))

    def _get_minimizer(self, *args: Any, **kwargs: Any) -> Any:
        try:
            from scipy.optimize import minimize
        except ImportError:
            raise exceptions.Unsupported(
                "The engine does not fit this model, and SciPy, which could, is not installed."
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
        if isinstance(minimizer, EngineFit):
            return minimizer(self.iteration_limit(options))
        maxiter = self._maxiter(options)
        tolerance = options.get("tolerance", getattr(self, "tolerance", None))
        constraints = []
        for index, value in fixed_vals or []:
            x0[index] = value
            equality = {"type": "eq", "fun": lambda pars, index=index, value=value: pars[index] - value}
            constraints.append(equality)
        solver_options = options.get("solver_options", getattr(self, "solver_options", {}))
        return minimizer(
            func,
            x0,
            method=options.get("method", "SLSQP"),
            jac=do_grad,
            bounds=bounds,
            constraints=constraints,
            tol=tolerance if self.name == "scipy" else None,
            options={"maxiter": maxiter, "disp": bool(self.verbose), **solver_options},
        )
