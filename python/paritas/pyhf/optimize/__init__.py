"""Optimizers by name: "scipy" and "minuit", which both stand for the engine's Newton."""

from __future__ import annotations

from typing import Any


class _OptimizerRetriever:
    def __getattr__(self, name: str) -> Any:
        if name == "scipy_optimizer":
            from paritas.pyhf.optimize.opt_scipy import scipy_optimizer

            return scipy_optimizer
        if name == "minuit_optimizer":
            from paritas.pyhf.optimize.opt_minuit import minuit_optimizer

            return minuit_optimizer
        if name.startswith("__"):
            raise AttributeError(name)
        return None


OptimizerRetriever = _OptimizerRetriever()
__all__ = ["OptimizerRetriever"]
