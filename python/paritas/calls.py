"""Keywords of model functions, and the engine's arguments for them."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Mapping, Optional, Sequence, TypedDict, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import whole
from .devices import ProgressFunction, engine
from .model import Floats, Model, Values
from .progress import told

#: by parameter name, or rows of (low, high)
Bounds = Union[Mapping[str, tuple[float, float]], ArrayLike]
#: names, values by name, or a flag a parameter
Fixed = Union[Sequence[str], Mapping[str, float], ArrayLike]
Path = Union[str, "os.PathLike[str]"]
#: a bar, a function of (finished, all jobs), or none
Progress = Union[bool, ProgressFunction, None]


class Where(TypedDict, total=False):
    device: Optional[str]  #: "cpu", "opencl", "cuda", "metal", one of several ("cuda:1"), or "auto"
    precision: Optional[str]  #: "f64", "f32" (polished in f64) or "auto"
    threads: Optional[int]  #: CPU threads; 0: all
    progress: Progress


class FitKeywords(Where, total=False):
    """Defaults are the model's."""

    init: Optional[Values]  #: starts, by name or all; moved into the bounds unless all are given
    bounds: Optional[Bounds]
    fixed: Optional[Fixed]


class Keywords(FitKeywords, total=False):
    data: Optional[ArrayLike]  #: main, then auxiliary; None: observed
    max_iterations: int  #: of each fit; 0: the default, 200


class StatisticKeywords(Keywords, total=False):
    #: fits behind each number; 1: the usual start alone; 0: more where there are signs of several minima
    starts: int


class RunKeywords(Keywords, total=False):
    fix_aux: bool  #: do not draw auxiliary data
    minimizer: str  #: "auto" (quasi-Newton if faster) or "newton"
    store: Optional[Path]  #: an SQLite file for every toy
    resume: bool  #: continue an existing store


class ToyKeywords(RunKeywords, total=False):
    keep: bool  #: return every toy
    shard: Optional[tuple[int, int]]  #: (i, n): part i, from 1, of n


class StatisticRunKeywords(RunKeywords, StatisticKeywords, total=False):
    pass


class StatisticToyKeywords(ToyKeywords, StatisticKeywords, total=False):
    pass


_DEFAULTS = {
    "max_iterations": 0,
    "starts": 0,
    "fix_aux": False,
    "minimizer": "auto",
    "resume": False,
    "keep": True,
}


def takes(keywords: Any, *functions: Callable[..., Any]) -> None:
    """Shows these keywords in the signatures of functions with `**given`, which refuse others."""
    for function in functions:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        names = [name for name in keywords.__annotations__ if name not in signature.parameters]
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_DEFAULTS.get(name),
                annotation=keywords.__annotations__[name].__forward_arg__,
            )
            for name in names
        ]
        function.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
        _KNOWN[function.__name__] = frozenset(names)


_KNOWN: dict[str, frozenset[str]] = {}


class Call:
    __slots__ = ("engine", "job", "tell", "_told")

    def __init__(
        self,
        function: str,
        model: Model,
        given: Mapping[str, Any],
        what: str = "",
        at: Optional[Floats] = None,
        data: Optional[ArrayLike] = None,
    ) -> None:
        """what: the jobs of a bar. at: where toys are drawn and, by default, fits start."""
        if not given and at is None:
            self.engine, self._told = engine(), None
            self.job = None if data is None else _engine.Job(model, data)
            return
        if not given.keys() <= _KNOWN[function]:
            unknown = min(given.keys() - _KNOWN[function])
            raise TypeError(f"{function}() got an unexpected keyword argument {unknown!r}")
        get = given.get
        effort = {
            name: whole(given[name], name, bits=32) for name in ("starts", "max_iterations") if name in given
        }
        self.job = job_of(model, get("data", data), get("init"), get("bounds"), get("fixed"), at, **effort)
        self.engine = engine(get("device"), get("precision"), get("threads"))
        progress = get("progress")
        self._told = told(progress, what) if progress else None

    def __enter__(self) -> Call:
        self.tell = None if self._told is None else self._told.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._told is not None:
            self._told.__exit__(*raised)


def job_of(
    model: Model,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    at: Optional[Floats] = None,
    rows: Optional[int] = None,
    **effort: int,
) -> Optional[_engine.Job]:
    """None: the model's own. rows: number of fits. effort: starts, max_iterations."""
    if init is None and bounds is None and fixed is None and at is None:
        if data is None and rows is None and not effort:
            return None
        return _engine.Job(model, data, None, None, None, None, rows, **effort)
    lower, upper = (None, None) if bounds is None else _bounds_of(model, bounds)
    flags = None if fixed is None else _fixed_of(model, fixed)
    start = _start_of(model, init, fixed, at, (lower, upper, flags))
    return _engine.Job(model, data, start, lower, upper, flags, rows, **effort)


def _bounds_of(model: Model, bounds: Bounds) -> tuple[Floats, Floats]:
    if isinstance(bounds, Mapping):
        lower, upper = np.array(model.lower_bounds), np.array(model.upper_bounds)
        for name, (low, high) in bounds.items():
            lower[model.index(name)], upper[model.index(name)] = low, high
        return lower, upper
    pairs = np.asarray(bounds, dtype=np.float64)
    if pairs.shape[-2:] != (model.parameter_count, 2):
        raise _engine.InvalidArgument(
            f"bounds: {model.parameter_count} pairs (low, high) are wanted, "
            f"the array given has shape {pairs.shape}"
        )
    return pairs[..., 0], pairs[..., 1]


def _fixed_of(model: Model, fixed: Fixed) -> NDArray[np.bool_]:
    listed: list[Any] = [fixed] if isinstance(fixed, str) or not np.iterable(fixed) else list(fixed)
    if isinstance(fixed, Mapping) or not listed or isinstance(listed[0], str):
        flags = np.array(model.suggested_fixed)
        for name in listed:
            flags[model.index(name)] = True
        return flags
    found = np.asarray(listed)
    if found.dtype != bool and not np.isin(found, (0, 1)).all():  # indices are no flags
        raise _engine.InvalidArgument("fixed: names, values by name or a flag a parameter are wanted")
    return found.astype(bool)


def _start_of(model: Model, init: Any, fixed: Any, at: Optional[Floats], others: Any) -> Optional[Floats]:
    """Moves a default start into the bounds, except for fixed parameters; values by name override. None: the
    model's own."""
    lower, upper, flags = others
    named = [given for given in (init, fixed) if isinstance(given, Mapping)]
    start: Optional[Floats] = None
    if init is not None and not isinstance(init, Mapping):
        start = model.point(init)
    elif at is not None or lower is not None or named:
        suggested = model.suggested_init if at is None else at
        low = model.lower_bounds if lower is None else lower
        high = model.upper_bounds if upper is None else upper
        held = model.suggested_fixed if flags is None else flags
        moved = np.where(held, suggested, np.fmin(np.fmax(suggested, low), high))
        start = moved if at is not None or (moved != suggested).any() else None
    if named:
        start = np.array(model.suggested_init if start is None else start)
        for given in named:
            for name, value in given.items():
                start[..., model.index(name)] = value
    return start


def start_of(model: Model, job: Optional[_engine.Job]) -> Floats:
    """A copy of a job's start."""
    return np.array(model.suggested_init if job is None or job.start is None else job.start)


def fixed_of(model: Model, job: Optional[_engine.Job]) -> NDArray[np.bool_]:
    """A copy of a job's fixed flags."""
    return np.array(model.suggested_fixed if job is None or job.fixed is None else job.fixed, dtype=bool)
