"""The optimizer "minuit"."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bridge
from .minuit_surface import FittedMinuit, Minos
from .mixins import EngineFit, EngineOptimizer, Problem


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
        if not hasattr(result, "minuit"):
            result.minuit = self._surface(problem, result, None)
        return result

    def _minimize(self, minimizer: Any, *arguments: Any, **named: Any) -> Any:
        result = super()._minimize(minimizer, *arguments, **named)
        if isinstance(minimizer, EngineFit):
            result.minuit = self._surface(
                minimizer.problem, result, self._minos_of(minimizer.problem, result)
            )
        return result

    def _surface(self, problem: Problem, result: Any, minos: Minos | None) -> FittedMinuit:
        held = {index for index, _ in problem.fixed_vals or []}
        names = getattr(problem.pdf.config, "par_names", None)
        return FittedMinuit(
            names or [f"x{index}" for index in range(len(result.x))],
            result,
            problem.par_bounds,
            [index in held for index in range(len(result.x))],
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

        def offsets(parameter: int, error: float) -> tuple[float, float]:
            return bridge.minos(model, problem.data, settings, parameter, best, fun, error)

        return offsets
