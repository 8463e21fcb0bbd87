"""Parameters that share a name."""

import math
from typing import Any

__all__ = [
    "constrained_by_normal",
    "constrained_by_poisson",
    "constrained_paramset",
    "paramset",
    "unconstrained",
]
__dir__ = __all__.copy


class paramset:
    constrained: bool

    def __init__(self, **kwargs: Any) -> None:
        self.name = kwargs["name"]
        self.n_parameters = kwargs["n_parameters"]
        self.suggested_init = kwargs["inits"]
        self.suggested_bounds = kwargs["bounds"]
        self._suggested_fixed = kwargs["fixed"]
        self.is_scalar = kwargs.get("is_scalar", self.n_parameters == 1)  # custom modifiers may leave it out
        if self.is_scalar and self.n_parameters != 1:
            raise ValueError(f"parameter set {self.name}: scalar, but not one parameter")

    @property
    def suggested_fixed(self) -> Any:
        if isinstance(self._suggested_fixed, bool):
            return [self._suggested_fixed] * self.n_parameters
        return self._suggested_fixed

    @suggested_fixed.setter
    def suggested_fixed(self, value: Any) -> None:
        if not isinstance(value, bool):
            assert len(value) == self.n_parameters
        self._suggested_fixed = value

    @property
    def suggested_fixed_as_bool(self) -> bool:
        flags = self.suggested_fixed
        if any(flag != flags[0] for flag in flags):
            raise RuntimeError(f"{flags} is neither all-True nor all-False")
        return bool(flags[0])


class unconstrained(paramset):
    constrained = False


class constrained_paramset(paramset):
    constrained = True
    pdf_type: str

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.auxdata = kwargs["auxdata"]


class constrained_by_normal(constrained_paramset):
    """`sigmas` are 1 by default."""

    pdf_type = "normal"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if kwargs.get("sigmas"):
            self.sigmas = kwargs["sigmas"]

    def width(self) -> list[float]:
        return getattr(self, "sigmas", None) or [1.0] * self.n_parameters


class constrained_by_poisson(constrained_paramset):
    """Expected counts: parameter x factor."""

    pdf_type = "poisson"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factors = kwargs["factors"]

    def width(self) -> list[float]:
        if not self.factors:
            raise RuntimeError(f"parameter set {self.name} has no factors")
        return [math.sqrt(1.0 / factor) for factor in self.factors]
