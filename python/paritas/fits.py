"""Best fits, one and many, and MINOS errors."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import whole
from .devices import ProgressFunction, engine
from .model import Floats, Model, Values
from .progress import told
from .results import FitBatch, FitResult

#: (low, high) by name of parameter, or rows of them, one a parameter
Bounds = Union[Mapping[str, tuple[float, float]], ArrayLike]
#: names of fixed parameters, values by name (at which they are fixed), or a flag a parameter
Fixed = Union[Sequence[str], Mapping[str, float], ArrayLike]


class Job:
    """The common arguments of fits and statistics as arrays, or as rows of them, None where the model's own
    stand."""

    __slots__ = ("start", "lower", "upper", "fixed")
    start: Optional[Floats]
    lower: Optional[Floats]
    upper: Optional[Floats]
    fixed: Optional[NDArray[np.bool_]]

    def __init__(
        self,
        model: Model,
        init: Optional[Values] = None,
        bounds: Optional[Bounds] = None,
        fixed: Optional[Fixed] = None,
        at: Optional[Floats] = None,
    ) -> None:
        """at: where toys are drawn, which their fits start from where nothing else is said."""
        self.start = self.lower = self.upper = self.fixed = None
        if bounds is not None:
            self._bound(model, bounds)
        if fixed is not None:
            self._fix(model, fixed)
        named = [given for given in (init, fixed) if isinstance(given, Mapping)]
        if init is not None and not isinstance(init, Mapping):
            self.start = model.point(init)
        elif bounds is not None or named:
            self._suggest(model, at)
        if named:
            self._place(model, named)

    def _bound(self, model: Model, bounds: Bounds) -> None:
        if isinstance(bounds, Mapping):
            self.lower, self.upper = np.array(model.lower_bounds), np.array(model.upper_bounds)
            for name, (low, high) in bounds.items():
                i = model.index(name)
                self.lower[i], self.upper[i] = low, high
            return
        pairs = np.asarray(bounds, dtype=np.float64)
        if pairs.shape[-2:] != (model.parameter_count, 2):
            raise _engine.InvalidArgument(
                f"bounds: {model.parameter_count} pairs (low, high) are wanted, the array given has shape {pairs.shape}"
            )
        self.lower, self.upper = np.ascontiguousarray(pairs[..., 0]), np.ascontiguousarray(pairs[..., 1])

    def _fix(self, model: Model, fixed: Fixed) -> None:
        listed: list[Any] = [fixed] if isinstance(fixed, str) or not np.iterable(fixed) else list(fixed)
        if isinstance(fixed, Mapping) or not listed or isinstance(listed[0], str):
            self.fixed = np.array(model.suggested_fixed)
            for name in listed:
                self.fixed[model.index(name)] = True
        else:
            self.fixed = flags_of(listed)

    def _suggest(self, model: Model, at: Optional[Floats]) -> None:
        """A start that nobody gave: moved into the bounds, unless it holds a fixed parameter; None where that
        is the model's own."""
        lower, upper = (
            model.lower_bounds if self.lower is None else self.lower,
            model.upper_bounds if self.upper is None else self.upper,
        )
        suggested = model.suggested_init if at is None else at
        moved = np.where(
            model.suggested_fixed if self.fixed is None else self.fixed,
            suggested,
            np.fmin(np.fmax(suggested, lower), upper),
        )
        if at is not None or (moved != suggested).any():
            self.start = moved

    def _place(self, model: Model, named: Sequence[Mapping[str, float]]) -> None:
        """Starts by name, over those that hold else."""
        self.start = np.array(model.suggested_init if self.start is None else self.start)
        for given in named:
            for name, value in given.items():
                self.start[..., model.index(name)] = value


_NO_JOB = Job.__new__(Job)
_NO_JOB.start = _NO_JOB.lower = _NO_JOB.upper = _NO_JOB.fixed = None


def flags_of(given: ArrayLike) -> NDArray[np.bool_]:
    """Flags, or 0 and 1 that stand for them; numbers of parameters, which could be taken for flags, are
    refused."""
    found = np.asarray(given)
    if found.dtype != bool and not np.isin(found, (0, 1)).all():
        raise _engine.InvalidArgument("fixed: names, values by name or a flag a parameter are wanted")
    return found.astype(bool)


def job_of(model: Model, init: Optional[Values], bounds: Optional[Bounds], fixed: Optional[Fixed]) -> Job:
    """The arguments as a job: one for all calls that have none, which saves a microsecond of them."""
    return _NO_JOB if init is None and bounds is None and fixed is None else Job(model, init, bounds, fixed)


def check_of(model: Model, best: FitResult) -> None:
    """Refuses the fit of a model with other parameters."""
    if best.names != model.parameter_names:
        raise _engine.InvalidArgument(
            "best: the fit of another model, whose parameters have other names or another order"
        )


def _settings(max_iterations: int, population: int, seed: int) -> tuple[int, int, int]:
    return (
        whole(max_iterations, "max_iterations", bits=32),
        whole(population, "population", bits=32),
        whole(seed, "seed"),
    )


def fit(
    model: Model,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    covariance: bool = True,
    starts: int = 1,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Union[bool, ProgressFunction, None] = None,
) -> FitResult:
    """The best fit.

    data: main, then auxiliary (None: the observed). init, bounds, fixed: by name or as arrays; what they
        leave out is the model's own, its start moved into the bounds where need be. covariance: with errors,
        from the inverse of the exact Hessian. starts: fits from so many starts, all but the first drawn at
        random; the lowest minimum answers. minimizer: "newton", "lbfgsb" or "de" (with population and seed);
        max_iterations 0: the method's own. device: "cpu", "opencl", "cuda", "metal" or "auto"; precision:
        "f64", "f32" (polished in f64) or "auto". A fit that fails is no error: see `status`.
    """
    job = job_of(model, init, bounds, fixed)
    used = engine(device, precision, threads)
    start, several = job.start, None
    if max_iterations or population or seed:
        max_iterations, population, seed = _settings(max_iterations, population, seed)
    if starts != 1:
        starts = whole(starts, "starts", 1, 32)
        from .starts import best_start

        start, several = best_start(
            model,
            starts,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            lambda rows: fit_batch(
                model,
                data,
                init=rows,
                bounds=bounds,
                fixed=job.fixed,
                minimizer=minimizer,
                max_iterations=max_iterations,
                population=population,
                seed=seed,
                device=device,
                precision=precision,
                threads=threads,
                progress=progress,
            ),
        )
    with told(progress, "fit") as tell:
        status, iterations, twice_nll, edm, pull, values, errors, matrix, states = _engine.fit(
            model,
            data,
            start,
            job.lower,
            job.upper,
            job.fixed,
            covariance,
            minimizer,
            max_iterations,
            population,
            seed,
            used,
            tell,
        )
    words = None if states is None else [_STATES[state] for state in states.tolist()]
    return FitResult(
        _STATUSES[status],
        twice_nll,
        edm,
        iterations,
        pull,
        model.parameter_names,
        values,
        errors,
        matrix,
        words,
        model.poi_name,
        used.device,
        used.precision,
        several,
    )


def fit_batch(
    model: Model,
    data: Optional[ArrayLike] = None,
    *,
    init: Optional[Any] = None,
    bounds: Optional[Any] = None,
    fixed: Optional[Any] = None,
    errors: bool = False,
    covariance: bool = False,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Union[bool, ProgressFunction, None] = None,
) -> FitBatch:
    """N fits as one batch: vector lanes, threads and devices are filled, and every fit has the bits that it
    has alone.

    data (N, main + aux), init (N, parameters), bounds (N, parameters, 2), fixed (N, parameters): rows of
    fits; what is given once (without the leading N, or by name) holds for all. errors, covariance: also
    those.
    """
    rows: list[tuple[Any, int]] = [(data, 2), (init, 2), (bounds, 3), (fixed, 2)]
    counts = [
        len(given)
        for given, dimensions in rows
        if given is not None and not isinstance(given, (Mapping, str)) and np.ndim(given) == dimensions
    ]
    n = max(counts, default=1)
    if not {1, n}.issuperset(counts):
        raise _engine.InvalidArgument(
            f"rows of data, init, bounds and fixed: {', '.join(map(str, counts))}; their numbers must agree"
        )
    job = Job(model, init, bounds, fixed)
    max_iterations, population, seed = _settings(max_iterations, population, seed)
    used = engine(device, precision, threads)
    with told(progress, "fits") as tell:
        codes, iterations, twice_nll, edm, pull, values, widths, matrices = _engine.fit_batch(
            model,
            n,
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            errors,
            covariance,
            minimizer,
            max_iterations,
            population,
            seed,
            used,
            tell,
        )
    return FitBatch(
        _STATUS_ARRAY[codes],
        twice_nll,
        edm,
        iterations,
        pull,
        model.parameter_names,
        values,
        widths,
        matrices,
        used.device,
        used.precision,
    )


def minos(
    model: Model,
    parameters: Union[str, Sequence[str]] = "all",
    *,
    best: Optional[FitResult] = None,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Union[bool, ProgressFunction, None] = None,
) -> dict[str, tuple[float, float]]:
    """MINOS errors (down, up) by parameter: where the profile of twice the NLL rises by 1; NaN where a bound
    comes first. parameters: names, one name, or "all" (that are free). best: the converged fit to the same
    data and settings, made here where it is not given."""
    if best is None:
        best = fit(
            model,
            data=data,
            init=init,
            bounds=bounds,
            fixed=fixed,
            device=device,
            precision=precision,
            threads=threads,
        )
    check_of(model, best)
    if not best.converged or best.errors is None or best.states is None:
        raise _engine.NotConverged(
            f"MINOS errors stand around a converged fit with errors; this one is {best.status}"
        )
    if parameters == "all":
        parameters = [name for name, state in zip(best.names, best.states) if state == "free"]
    elif isinstance(parameters, str):
        parameters = [parameters]
    job = Job(model, init, bounds, fixed)
    used = engine(device, precision, threads)
    found: dict[str, tuple[float, float]] = {}
    with told(progress, "MINOS") as tell:
        for name in parameters:
            i = model.index(name)
            found[name] = _engine.minos(
                model,
                best.values,
                best.twice_nll,
                float(best.errors[i]),
                i,
                data,
                job.start,
                job.lower,
                job.upper,
                job.fixed,
                used,
                tell,
            )
    return found


_STATUSES = _engine.FIT_STATUSES
_STATES = _engine.PARAMETER_STATES
_STATUS_ARRAY = np.array(_STATUSES)
