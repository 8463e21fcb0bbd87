"""The optimizer "scipy"."""

import warnings
from typing import Any

from .mixins import EngineOptimizer, Problem

#: options of SciPy's SLSQP
_SLSQP = {"callback", "disp", "eps", "finite_diff_rel_step", "ftol", "iprint", "maxiter", "workers"}


class scipy_optimizer(EngineOptimizer):
    """The engine. `maxiter` limits iterations; other options apply to SciPy fits, where SciPy checks them."""

    own_options = ("verbose", "method", "tolerance", "solver_options")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = "scipy"
        self.tolerance = kwargs.pop("tolerance", None)
        self.solver_options = kwargs.pop("solver_options", {})
        super().__init__(*args, **kwargs)

    def _fit(self, problem: Problem) -> Any:
        if self.fits_by_engine(problem):
            self._tell_unknown_options(problem.options)
        return super()._fit(problem)

    def _tell_unknown_options(self, options: Any) -> None:
        """Of SLSQP, by SciPy's warning: a misspelt name is one here, too."""
        given = options.get("solver_options", self.solver_options) or {}
        unknown = sorted(set(given) - _SLSQP)
        if unknown and options.get("method", "SLSQP").upper() == "SLSQP":
            warnings.warn(f"Unknown solver options: {', '.join(unknown)}", _warning_class(), stacklevel=2)


def _warning_class() -> type[Warning]:
    """SciPy's, which programs may filter, if installed."""
    try:
        from scipy.optimize import OptimizeWarning
    except ImportError:
        return UserWarning
    return OptimizeWarning  # type: ignore[no-any-return]
