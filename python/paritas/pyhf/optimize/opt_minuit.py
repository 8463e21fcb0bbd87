"""The optimizer called "minuit"."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from paritas.pyhf.optimize.mixins import EngineOptimizer


class minuit_optimizer(EngineOptimizer):
    """Takes the options of pyhf's; of them `maxiter` is the engine's limit of iterations. Minuit itself is
    not used. Results have an attribute `minuit` with what scripts read of it: values, errors, covariance,
    fixed, valid, fval, and fmin with edm, fval and is_valid."""

    own_options = ("strategy", "tolerance")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "minuit"
        self.errordef = kwargs.pop("errordef", 1)
        self.steps = kwargs.pop("steps", 1000)
        self.strategy = kwargs.pop("strategy", None)
        self.tolerance = kwargs.pop("tolerance", 0.1)
        super().__init__(*args, **kwargs)

    def _fit(
        self,
        objective: Any,
        data: Any,
        pdf: Any,
        init_pars: Any,
        par_bounds: Any,
        fixed_vals: Any,
        *settings: Any,
    ) -> Any:
        result = super()._fit(objective, data, pdf, init_pars, par_bounds, fixed_vals, *settings)
        fval, edm = float(result.fun), getattr(result, "edm", None)
        held = {index for index, _ in fixed_vals or []}
        result.minuit = SimpleNamespace(
            values=result.x,
            errors=getattr(result, "unc", None),
            covariance=getattr(result, "hess_inv", None),
            fixed=[index in held for index in range(len(result.x))],
            valid=bool(result.success),
            fval=fval,
            fmin=SimpleNamespace(edm=edm, fval=fval, is_valid=bool(result.success)),
        )
        return result
