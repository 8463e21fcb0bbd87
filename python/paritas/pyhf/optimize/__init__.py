""" "scipy" and "minuit" both are the engine's Newton."""

from importlib import import_module
from typing import Any

_MODULES = {"scipy_optimizer": "opt_scipy", "minuit_optimizer": "opt_minuit"}


class _OptimizerRetriever:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = _MODULES.get(name)
        return None if module is None else getattr(import_module(f"{__name__}.{module}"), name)


OptimizerRetriever = _OptimizerRetriever()
__all__ = ["OptimizerRetriever"]
