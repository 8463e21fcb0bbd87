"""The optimizer called "minuit"."""

from __future__ import annotations

from typing import Any

from paritas.pyhf.optimize.mixins import EngineOptimizer


class minuit_optimizer(EngineOptimizer):
    """Takes the options of pyhf's; of them `maxiter` is the engine's limit of iterations. Minuit itself is not used."""

    own_options = ("strategy", "tolerance")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "minuit"
        self.errordef = kwargs.pop("errordef", 1)
        self.steps = kwargs.pop("steps", 1000)
        self.strategy = kwargs.pop("strategy", None)
        self.tolerance = kwargs.pop("tolerance", 0.1)
        super().__init__(*args, **kwargs)
