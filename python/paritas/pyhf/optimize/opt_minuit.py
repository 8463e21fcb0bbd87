"""The optimizer "minuit"."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bridge, exceptions
from ..choices import MINIMIZERS
from ..tensor.manager import as_tensor
from .minuit_surface import FittedMinuit, Minos
from .mixins import EngineFit, EngineOptimizer, OptimizeResult, Problem


def __getattr__(name: str) -> Any:
    """`iminuit`, which programs look for here. The engine's fits do not load it."""
    if name == "iminuit":
        import iminuit

        return iminuit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class minuit_optimizer(EngineOptimizer):
    """The engine, with the option `maxiter` alone. Results have a `minuit` with iminuit's names.

    iminuit itself fits what the engine does not: other objectives, and all with the choice MINIMIZERS
    "original". If it is not installed, SciPy fits other objectives."""

    own_options = ("strategy", "tolerance")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "minuit"
        self.errordef = kwargs.pop("errordef", 1)
        self.steps = kwargs.pop("steps", 1000)
        self.strategy = kwargs.pop("strategy", None)
        self.tolerance = kwargs.pop("tolerance", 0.1)
        super().__init__(*args, **kwargs)

    def _fit(self, problem: Problem) -> Any:
        result = super()._fit(problem)
        if not hasattr(result, "minuit"):
            result.minuit = self._surface(problem, result, None)
        return result

    def _get_minimizer(
        self,
        func: Any,
        x0: Any,
        bounds: Any,
        fixed_vals: Any = None,
        do_grad: bool = False,
        par_names: Any = None,
    ) -> Any:
        try:
            from iminuit import Minuit
        except ImportError:
            if MINIMIZERS.chosen() == "engine":
                return super()._get_minimizer()
            raise exceptions.Unsupported("minimizers='original': iminuit is not installed") from None
        fixed = dict(fixed_vals or [])
        for index, value in fixed.items():
            x0[index] = value
        minuit = Minuit(func, x0, name=par_names)
        minuit.limits, minuit.fixed = bounds, [index in fixed for index in range(len(x0))]
        minuit.print_level, minuit.errordef = self.verbose, self.errordef
        return minuit

    def _minimize(self, minimizer: Any, *arguments: Any, **named: Any) -> Any:
        if hasattr(minimizer, "migrad"):
            return self._migrad(minimizer, named.get("options") or {})
        result = super()._minimize(minimizer, *arguments, **named)
        if isinstance(minimizer, EngineFit):
            result.minuit = self._surface(
                minimizer.problem, result, self._minos_of(minimizer.problem, result)
            )
        return result

    def _migrad(self, minuit: Any, options: Any) -> OptimizeResult:
        """MIGRAD, then HESSE: Minuit's own errors."""
        maxiter = self._maxiter(options)
        minuit.strategy = self._strategy(options.get("strategy", self.strategy))
        minuit.tol = options.get("tolerance", self.tolerance)
        minuit.migrad(ncall=maxiter)
        result = OptimizeResult(
            x=np.array(minuit.values),
            fun=minuit.fval,
            success=minuit.valid,
            message=_minuit_message(minuit),
            nfev=minuit.nfcn,
            njev=minuit.ngrad,
            minuit=minuit,
            unc=None,
            corr=None,
            hess_inv=None,
        )
        if minuit.valid:
            minuit.hesse()
            result.update(
                unc=as_tensor(np.where(minuit.fixed, 0.0, minuit.errors)),
                corr=np.array(minuit.covariance.correlation()),
                hess_inv=minuit.covariance,
            )
        return result

    def _surface(self, problem: Problem, result: Any, minos: Minos | None) -> FittedMinuit:
        fixed = {index for index, _ in problem.fixed_vals or []}
        names = getattr(problem.pdf.config, "par_names", None)
        return FittedMinuit(
            names or [f"x{index}" for index in range(len(result.x))],
            result,
            problem.par_bounds,
            [index in fixed for index in range(len(result.x))],
            minos,
            strategy=self._strategy(problem.options.get("strategy", self.strategy)),
            tolerance=problem.options.get("tolerance", self.tolerance),
        )

    @staticmethod
    def _strategy(asked: int | None) -> int:
        """pyhf's default without gradients of the user is 1."""
        return 1 if asked is None else asked

    @staticmethod
    def _minos_of(problem: Problem, result: Any) -> Minos:
        model, settings = problem.pdf._engine_model(), bridge.settings_of(problem)
        best, fun = np.asarray(result.x, dtype=np.float64), float(result.fun)

        def sides(parameter: int, error: float) -> list[tuple[float, float]]:
            return bridge.minos(model, problem.data, settings, parameter, best, fun, error)

        return sides


def _minuit_message(minuit: Any) -> str:
    if minuit.valid:
        return "Optimization terminated successfully."
    causes = {
        "Call limit was reached.": minuit.fmin.has_reached_call_limit,
        "Estimated distance to minimum too large.": minuit.fmin.is_above_max_edm,
    }
    return " ".join(["Optimization failed.", *(cause for cause, met in causes.items() if met)])
