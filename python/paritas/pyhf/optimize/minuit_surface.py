"""What scripts read from iminuit's Minuit after a fit: values, errors, limits, covariance, MINOS errors.

Surface: iminuit 2. Fixed parameters have no error; the covariance is that of the exact Hessian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from ...results import correlations
from ..exceptions import Unsupported

#: (parameter, error) to its MINOS offsets (down, up), NaN where a bound comes first
#: (offset, edge of the domain) down and up, of a parameter and its error; NaN: none
Minos = Callable[[int, float], "list[tuple[float, float]]"]


class ByName:
    """Numbers of parameters, by name, index or slice."""

    def __init__(self, names: Sequence[str], numbers: Any) -> None:
        self._names = names
        self._numbers = list(numbers)

    def __getitem__(self, key: Any) -> Any:
        return self._numbers[position(self._names, key)]

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._numbers)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._numbers, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (ByName, Sequence)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = " ".join(f"{name}={number}" for name, number in zip(self._names, self._numbers))
        return f"<{type(self).__name__} {told}>"

    def to_dict(self) -> dict[str, Any]:
        return dict(zip(self._names, self._numbers))


def position(names: Sequence[str], key: Any) -> Any:
    """An index or slice. Raises KeyError for a name that is not there."""
    if not isinstance(key, str):
        return key
    if key not in names:
        raise KeyError(key)
    return names.index(key)


class Matrix(np.ndarray):
    """(parameters, parameters), by names and indices: matrix["mu", "alpha"], matrix["mu"]."""

    _names: tuple[str, ...]

    def __new__(cls, numbers: Any, names: Sequence[str]) -> Matrix:
        made = np.array(numbers, dtype=np.float64).view(cls)
        made._names = tuple(names)
        return made

    def __array_finalize__(self, source: Any) -> None:
        self._names = getattr(source, "_names", ())

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        return np.asarray(self)[tuple(position(self._names, one) for one in keys)]

    def correlation(self) -> Matrix:
        """0 beside parameters without variance."""
        return Matrix(correlations(np.asarray(self)), self._names)

    def to_dict(self) -> dict[tuple[str, str], float]:
        """By pairs of names, each pair once."""
        return {(a, b): float(self[a, b]) for i, a in enumerate(self._names) for b in self._names[i:]}


@dataclass(frozen=True)
class MinosError:
    """`lower` <= 0 <= `upper`. As in Minuit, a side that meets a bound ends there, and is valid. The outer
    side of a parameter that stands at its bound is 0."""

    number: int
    name: str
    lower: float
    upper: float
    lower_valid: bool
    upper_valid: bool
    at_lower_limit: bool
    at_upper_limit: bool
    min: float

    @property
    def is_valid(self) -> bool:
        return self.lower_valid and self.upper_valid


def _minos_side(offset: float, edge: float, to_bound: float, error: float) -> tuple[float, bool, bool]:
    """Offset, valid?, at the bound? The edge of the domain is no crossing, and is not valid."""
    if not math.isnan(offset):
        return offset, True, False
    if not math.isnan(edge):
        return edge, False, False
    return (to_bound, True, True) if math.isfinite(to_bound) else (error, False, False)


@dataclass(frozen=True)
class Param:
    number: int
    name: str
    value: float
    error: float
    merror: tuple[float, float] | None
    is_const: bool
    is_fixed: bool
    lower_limit: float | None
    upper_limit: float | None

    @property
    def has_limits(self) -> bool:
        return self.has_lower_limit or self.has_upper_limit

    @property
    def has_lower_limit(self) -> bool:
        return self.lower_limit is not None

    @property
    def has_upper_limit(self) -> bool:
        return self.upper_limit is not None


class Params(tuple):  # type: ignore[type-arg]
    """By name, index or slice."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(position([param.name for param in self], key))


@dataclass(frozen=True)
class FunctionMinimum:
    """The state of the minimum: iminuit's FMin."""

    fval: float
    edm: float
    nfcn: int
    is_valid: bool
    has_covariance: bool
    has_parameters_at_limit: bool
    algorithm: str = "Newton"
    errordef: float = 1.0
    has_reached_call_limit: bool = False
    hesse_failed: bool = False
    is_above_max_edm: bool = False

    @property
    def has_accurate_covar(self) -> bool:
        return self.has_covariance

    @property
    def has_posdef_covar(self) -> bool:
        return self.has_covariance

    @property
    def has_made_posdef_covar(self) -> bool:
        return False

    @property
    def has_valid_parameters(self) -> bool:
        return self.is_valid


class FittedMinuit:
    """A finished fit with iminuit's names. `minos` computes; nothing here fits again."""

    errordef = 1.0
    print_level = 0

    def __init__(
        self,
        names: Sequence[str],
        result: Mapping[str, Any],
        bounds: Any,
        fixed: Sequence[bool],
        minos: Minos | None,
        strategy: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        """result: the optimizer's. bounds (parameters, 2). minos: None if only the engine could."""
        values = np.asarray(result["x"], dtype=np.float64)
        errors, covariance = result.get("unc"), result.get("hess_inv")
        self.parameters = tuple(names)
        self.values = ByName(self.parameters, values.tolist())
        self.errors = ByName(self.parameters, np.zeros(len(values)) if errors is None else errors.tolist())
        self.fixed = ByName(self.parameters, fixed)
        self.limits = ByName(self.parameters, [(float(low), float(high)) for low, high in bounds])
        self.covariance = None if covariance is None else Matrix(covariance, self.parameters)
        self.merrors: dict[Any, MinosError] = {}
        self.tol, self.strategy = tolerance, strategy
        self.fmin = FunctionMinimum(
            fval=float(result["fun"]),
            edm=float(result.get("edm", math.nan)),
            nfcn=int(result.get("nfev", result.get("nit", 0))),
            is_valid=bool(result["success"]),
            has_covariance=self.covariance is not None,
            has_parameters_at_limit=any(
                value in limits
                for value, limits, is_fixed in zip(self.values, self.limits, fixed)
                if not is_fixed
            ),
        )
        self._minos = minos

    @property
    def npar(self) -> int:
        return len(self.parameters)

    @property
    def nfit(self) -> int:
        return self.npar - sum(self.fixed)

    @property
    def nfcn(self) -> int:
        """Newton's iterations, each with one likelihood and its derivatives."""
        return self.fmin.nfcn

    @property
    def fval(self) -> float:
        return self.fmin.fval

    @property
    def valid(self) -> bool:
        return self.fmin.is_valid

    @property
    def accurate(self) -> bool:
        return self.fmin.has_accurate_covar

    @property
    def var2pos(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.parameters)}

    @property
    def pos2var(self) -> tuple[str, ...]:
        return self.parameters

    @property
    def params(self) -> Params:
        return Params(self._param(index) for index in range(self.npar))

    def _param(self, index: int) -> Param:
        name, (low, high) = self.parameters[index], self.limits[index]
        found = self.merrors.get(name)
        return Param(
            number=index,
            name=name,
            value=self.values[index],
            error=self.errors[index],
            merror=None if found is None else (found.lower, found.upper),
            is_const=False,
            is_fixed=bool(self.fixed[index]),
            lower_limit=low if math.isfinite(low) else None,
            upper_limit=high if math.isfinite(high) else None,
        )

    def minos(self, *parameters: Any, cl: float | None = None, ncall: int | None = None) -> FittedMinuit:
        """MINOS errors into `merrors` and `params`, of names or indices (default: all free ones): where the
        profile of twice the NLL rises by 1. cl: only one standard deviation. ncall has no effect."""
        if self._minos is None:
            raise Unsupported("MINOS errors: only for models that the engine fits")
        if cl not in (None, 1) and abs(float(cl) - math.erf(math.sqrt(0.5))) > 1e-3:
            raise Unsupported(f"MINOS errors with cl={cl}: the engine has those of one standard deviation")
        for key in parameters or self.parameters:
            index = self.parameters.index(key) if isinstance(key, str) else int(key)
            name = self.parameters[index]
            if self.fixed[index]:
                if parameters:
                    raise RuntimeError(f"Cannot scan over fixed parameter {name}")
                continue
            self.merrors[name] = self._minos_error(self._minos, index)
        return self

    def _minos_error(self, minos: Minos, index: int) -> MinosError:
        value, error, limits = self.values[index], float(self.errors[index]), self.limits[index]
        (lower, lower_valid, at_lower), (upper, upper_valid, at_upper) = (
            _minos_side(offset, edge, limit - value, side * error)
            for (offset, edge), limit, side in zip(minos(index, error), limits, (-1, 1))
        )
        name = self.parameters[index]
        return MinosError(index, name, lower, upper, lower_valid, upper_valid, at_lower, at_upper, value)
