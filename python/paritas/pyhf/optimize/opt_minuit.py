"""The optimizer "minuit"."""

from types import SimpleNamespace
from typing import Any

from .mixins import EngineOptimizer, Problem


class minuit_optimizer(EngineOptimizer):
    """The engine, with the option `maxiter` alone. Results have a `minuit` for scripts."""

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
        fval, valid = float(result.fun), bool(result.success)
        held = {index for index, _ in problem.fixed_vals or []}
        result.minuit = SimpleNamespace(
            values=result.x,
            errors=getattr(result, "unc", None),
            covariance=getattr(result, "hess_inv", None),
            fixed=[index in held for index in range(len(result.x))],
            valid=valid,
            fval=fval,
            fmin=SimpleNamespace(edm=getattr(result, "edm", None), fval=fval, is_valid=valid),
        )
        return result
