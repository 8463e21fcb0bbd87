"""The optimizer called "scipy"."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.optimize.mixins import EngineOptimizer


class scipy_optimizer(EngineOptimizer):
    """Takes the options of pyhf's; of them `maxiter` is the engine's limit of iterations, the others matter
    only to models that are not the engine's."""

    own_options = ("verbose", "method", "tolerance", "solver_options")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "scipy"
        self.tolerance = kwargs.pop("tolerance", None)
        self.solver_options = kwargs.pop("solver_options", {})
        super().__init__(*args, **kwargs)
