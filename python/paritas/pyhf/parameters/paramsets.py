"""Sets of parameters: what a modifier brings into a model under one name."""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "constrained_by_normal",
    "constrained_by_poisson",
    "constrained_paramset",
    "paramset",
    "unconstrained",
]


def __dir__() -> list[str]:
    return __all__


class paramset:
    """`n_parameters` parameters called `name`, with their starts, bounds and fixed flags (one for all, or one
    each)."""

    constrained: bool

    def __init__(self, **kwargs: Any) -> None:
        self.name = kwargs["name"]
        self.n_parameters = kwargs["n_parameters"]
        self.suggested_init = kwargs["inits"]
        self.suggested_bounds = kwargs["bounds"]
        self._suggested_fixed = kwargs["fixed"]
        self.is_scalar = kwargs["is_scalar"]
        if self.is_scalar and self.n_parameters != 1:
            raise ValueError(f"misconfigured parameter set {self.name}. Scalar but N>1 parameters.")

    @property
    def suggested_fixed(self) -> list[bool]:
        if isinstance(self._suggested_fixed, bool):
            return [self._suggested_fixed] * self.n_parameters
        flags: list[bool] = self._suggested_fixed
        return flags

    @suggested_fixed.setter
    def suggested_fixed(self, value: Any) -> None:
        if not isinstance(value, bool):
            assert len(value) == self.n_parameters
        self._suggested_fixed = value

    @property
    def suggested_fixed_as_bool(self) -> bool:
        """The one flag of all; RuntimeError where they differ."""
        flags = self.suggested_fixed
        if any(flag != flags[0] for flag in flags):
            raise RuntimeError(f"{flags} is neither all-True nor all-False, so not compressible")
        return flags[0]


class unconstrained(paramset):
    """Free parameters."""

    constrained = False


class constrained_paramset(paramset):
    """Parameters that auxiliary measurements constrain."""

    constrained = True
    pdf_type: str
    auxdata: list[float]


class constrained_by_normal(constrained_paramset):
    """Each with a normal measurement `auxdata` of width `sigmas` (1 where there are none)."""

    pdf_type = "normal"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.auxdata = kwargs["auxdata"]
        if kwargs.get("sigmas"):
            self.sigmas = kwargs["sigmas"]

    def width(self) -> list[float]:
        return getattr(self, "sigmas", None) or [1.0] * self.n_parameters


class constrained_by_poisson(constrained_paramset):
    """Each with a count `auxdata` around parameter x factor."""

    pdf_type = "poisson"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.auxdata = kwargs["auxdata"]
        self.factors = kwargs["factors"]

    def width(self) -> list[float]:
        if not self.factors:
            raise RuntimeError(f"parameter set {self.name} has no factors")
        return [math.sqrt(1.0 / factor) for factor in self.factors]
