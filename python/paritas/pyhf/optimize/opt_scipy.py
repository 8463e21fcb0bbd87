"""The optimizer "scipy"."""

from typing import Any

from .mixins import EngineOptimizer


class scipy_optimizer(EngineOptimizer):
    """The engine. `maxiter` limits iterations; other options apply to SciPy fits."""

    own_options = ("verbose", "method", "tolerance", "solver_options")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "scipy"
        self.tolerance = kwargs.pop("tolerance", None)
        self.solver_options = kwargs.pop("solver_options", {})
        super().__init__(*args, **kwargs)
