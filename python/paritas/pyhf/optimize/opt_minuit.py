"""The optimizer "minuit"."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bridge
from .minuit_surface import FittedMinuit, Minos
from .mixins import EngineOptimizer, Problem


class minuit_optimizer(EngineOptimizer):
    """The engine, with the option `maxiter` alone. Results have a `minuit` with iminuit's names."""

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
        held = {index for index, _ in problem.fixed_vals or []}
        names = getattr(problem.pdf.config, "par_names", None)
        result.minuit = FittedMinuit(
            names or [f"x{index}" for index in range(len(result.x))],
            result,
            problem.par_bounds,
            [index in held for index in range(len(result.x))],
            self._minos_of(problem, result),
            strategy=problem.options.get("strategy", self.strategy),
            tolerance=problem.options.get("tolerance", self.tolerance),
        )
        return result

    def _minos_of(self, problem: Problem, result: Any) -> Minos | None:
        if not self.fits_by_engine(problem):
            return None
        model, settings = problem.pdf._engine_model(), bridge.settings_of(problem)
        best, fun = np.asarray(result.x, dtype=np.float64), float(result.fun)

        def offsets(parameter: int, error: float) -> tuple[float, float]:
            return bridge.minos(model, problem.data, settings, parameter, best, fun, error)

        return offsets
