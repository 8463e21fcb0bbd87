"""Keywords of model functions, and the engine's arguments for them."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import number, numbers, whole
from .devices import engine
from .files import PathLike as Path
from .keywords import Where, check_keywords
from .model import Floats, Model, Values
from .progress import told

#: by parameter name, or rows of (low, high)
Bounds = Union[Mapping[str, tuple[float, float]], ArrayLike]
#: names, values by name, or a flag a parameter
Fixed = Union[Sequence[str], Mapping[str, float], ArrayLike]


class FitKeywords(Where, total=False):
    """Defaults are the model's."""

    init: Values | None  #: starts, by name or all; moved into the bounds unless all are given
    bounds: Bounds | None
    fixed: Fixed | None


class Keywords(FitKeywords, total=False):
    data: ArrayLike | None  #: main, then auxiliary; None: observed
    max_iterations: int  #: of each fit; 0: the default, 200


class ProfileKeywords(Keywords, total=False):
    #: fits behind each number; 1: the usual start alone; 0: as many as the lowest minimum needs
    starts: int


class StatisticKeywords(ProfileKeywords, total=False):
    poi: str | None  #: the parameter of interest, others free; None: the model's


class StatisticDrawKeywords(StatisticKeywords, total=False):
    fix_aux: bool  #: do not draw auxiliary data


class RunKeywords(Keywords, total=False):
    fix_aux: bool  #: do not draw auxiliary data
    minimizer: str  #: "auto" (quasi-Newton if faster) or "newton"
    store: Path | None  #: an SQLite file for every toy
    resume: bool  #: continue an existing store


class UnkeptToyKeywords(Where, total=False):
    fix_aux: bool  #: do not draw auxiliary data
    minimizer: str  #: "auto" (quasi-Newton if faster) or "newton"
    starts: int  #: of the fits to the data, as without toys
    max_iterations: int  #: of each fit; 0: the default, 200


class DataKeywords(Keywords, total=False):
    fix_aux: bool  #: do not draw auxiliary data
    shard: tuple[int, int] | None  #: (i, n): part i, from 1, of n


class ToyKeywords(RunKeywords, total=False):
    keep: bool  #: return every toy
    shard: tuple[int, int] | None  #: (i, n): part i, from 1, of n


class StatisticRunKeywords(RunKeywords, StatisticKeywords, total=False):
    pass


class StatisticToyKeywords(ToyKeywords, StatisticKeywords, total=False):
    #: importance sampling, for small p-values: n toys of each of several strengths, with weights. Values of
    #: the parameter of interest: draw there and at both hypotheses; True: at chosen ones
    importance: bool | Sequence[float]


class Call:
    __slots__ = ("engine", "job", "tell", "_told")

    def __init__(
        self,
        function: Any,
        model: Model,
        given: Mapping[str, Any],
        what: str = "",
        at: Floats | None = None,
        data: ArrayLike | None = None,
        pois: Sequence[int] | None = None,
    ) -> None:
        """what: the jobs of a bar. at: where toys are drawn and, by default, fits start. pois: by index."""
        if model.poi_index is None and function.needs_poi and pois is None and given.get("poi") is None:
            check_keywords(function, given)
            poi_of(model)
        if not given and at is None and pois is None:
            self.engine, self._told = engine(), None
            self.job = None if data is None else _engine.Job(model, data)
            return
        check_keywords(function, given)
        get = given.get
        effort: dict[str, Any] = {
            name: whole(given[name], name, bits=32) for name in ("starts", "max_iterations") if name in given
        }
        if pois is not None:
            effort["pois"] = pois
        elif given.get("poi") is not None:
            effort["pois"] = [of_interest(function, model, given["poi"])]
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


def poi_of(model: Model) -> str:
    """Name of the model's parameter of interest. Raises InvalidArgument without one."""
    if model.poi_name is not None:
        return model.poi_name
    wanted, options = "", model.options
    if options.get("poi") is None:
        measurements = json.loads(model.document.text()).get("measurements", [])
        chosen = [one for one in measurements if options.get("measurement") in (None, one.get("name"))]
        wanted = chosen[0].get("config", {}).get("poi", "") if chosen else ""
    asked = f": the measurement names {wanted!r}, which no modifier has" if wanted else ""
    raise _engine.InvalidArgument(
        f"the model has no parameter of interest{asked}; a patch adds the signal to a background, poi=NAME "
        "names another parameter"
    )


def of_interest(function: Any, model: Model, poi: Any) -> int:
    """Index of the parameter of interest that a call names."""
    if isinstance(poi, str):
        return model.index(poi)
    what = getattr(function, "__name__", "the function")
    raise _engine.InvalidArgument(
        f"{what}: poi: one name is wanted, not {poi!r}; {{name: model.{what}(poi=name) for name in ...}} "
        "answers for each of several"
    )


def job_of(
    model: Model,
    data: ArrayLike | None = None,
    init: Values | None = None,
    bounds: Bounds | None = None,
    fixed: Fixed | None = None,
    at: Floats | None = None,
    rows: int | None = None,
    **effort: Any,
) -> _engine.Job | None:
    """None: the model's own. rows: number of fits. effort: starts, max_iterations, pois."""
    if init is None and bounds is None and fixed is None and at is None:
        if data is None and rows is None and not effort:
            return None
        return _engine.Job(model, data, None, None, None, None, rows, **effort)
    lower, upper = (None, None) if bounds is None else _bounds_of(model, bounds)
    flags = None if fixed is None else _fixed_of(model, fixed)
    start = _start_of(model, init, fixed, at, (lower, upper, flags))
    if isinstance(bounds, Mapping):  # bounds that are not named give way to a best fit beyond
        effort["kept"] = np.isin(np.arange(model.parameter_count), [model.index(name) for name in bounds])
    return _engine.Job(model, data, start, lower, upper, flags, rows, **effort)


def _bounds_of(model: Model, bounds: Bounds) -> tuple[Floats, Floats]:
    if isinstance(bounds, Mapping):
        lower, upper = np.array(model.lower_bounds), np.array(model.upper_bounds)
        for name, pair in bounds.items():
            given = numbers(pair, f"bounds of {name}")
            if given.shape != (2,):
                raise _engine.InvalidArgument(f"bounds of {name}: a pair (low, high) is wanted, not {pair!r}")
            lower[model.index(name)], upper[model.index(name)] = given
        return lower, upper
    pairs = numbers(bounds, "bounds")
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
    found = np.asarray(_engine.unmasked(listed))
    if found.dtype != bool and not np.isin(found, (0, 1)).all():  # indices are no flags
        raise _engine.InvalidArgument("fixed: names, values by name or a flag a parameter are wanted")
    return found.astype(bool)


def _start_of(model: Model, init: Any, fixed: Any, at: Floats | None, others: Any) -> Floats | None:
    """Moves a default start into the bounds, except for fixed parameters; values by name override. None: the
    model's own."""
    lower, upper, flags = others
    named = [given for given in (init, fixed) if isinstance(given, Mapping)]
    start: Floats | None = None
    if init is not None and not isinstance(init, Mapping):
        start = model.point(init)
    elif at is not None or lower is not None or named:
        suggested = model.suggested_init if at is None else at
        low = model.lower_bounds if lower is None else lower
        high = model.upper_bounds if upper is None else upper
        flags = model.suggested_fixed if flags is None else flags
        moved = np.where(flags, suggested, np.fmin(np.fmax(suggested, low), high))
        start = moved if at is not None or (moved != suggested).any() else None
    if named:
        start = np.array(model.suggested_init if start is None else start)
        for given in named:
            for name, value in given.items():
                start[..., model.index(name)] = number(value, name)
    return start
