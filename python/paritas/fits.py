"""Best fits, one and many, and MINOS errors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _engine
from .arrays import texts, whole
from .calls import Bounds, Call, FitKeywords, Fixed, Keywords, job_of
from .keywords import Where, check_keywords, takes
from .model import Model, ModelLike, model_of, several_names
from .results import FitBatch, FitResult, Minima, MinosErrors, Starts

if TYPE_CHECKING:
    from typing_extensions import Unpack


def check_of(model: Model, best: FitResult) -> None:
    """Refuses fits of other parameters."""
    if best.names != model.parameter_names:
        raise _engine.InvalidArgument(
            "best: the fit of another model, whose parameters have other names or another order"
        )


def _options(minimizer: str, max_iterations: int, population: int, seed: int) -> _engine.FitOptions | None:
    most = whole(max_iterations, "max_iterations", bits=32)
    of_de = {"population": whole(population, "population", bits=32), "seed": whole(seed, "seed")}
    for name, value in of_de.items():
        if value and minimizer != "de":
            raise _engine.InvalidArgument(f'{name} has no effect on {minimizer}: it needs minimizer="de"')
    return (
        None if minimizer == "newton" and not most else _engine.FitOptions(minimizer, most, *of_de.values())
    )


def _several(starts: int) -> dict[str, Any]:
    """Effort of a job; {}: one start."""
    return {} if starts == 1 else {"starts": whole(starts, "starts", 1, 32)}


def _starts_of(answers: Any) -> list[Starts] | None:
    """Of each fit. Warns of points below the answers."""
    if answers.starts is None:
        return None
    found = [Starts.of(row) for row in answers.starts]
    lower = [(i, one.lower_known) for i, one in enumerate(found) if one.lower_known]
    for i, (twice_nll, status) in lower[:1]:
        which = "" if len(found) == 1 else f" {i}" if len(lower) == 1 else f" {i} and {len(lower) - 1} more"
        warnings.warn(
            f"fit{which}: not the lowest point known; a fit that ended as {status} reached "
            f"{twice_nll:.10g}, {answers.results[i]['twice_nll'] - twice_nll:.3g} lower",
            RuntimeWarning,
            stacklevel=3,
        )
    return found


def fit(
    model: ModelLike,
    *,
    data: ArrayLike | None = None,
    covariance: bool = True,
    starts: int = 0,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    poi: str | Sequence[str] | None = None,
    **given: Unpack[FitKeywords],
) -> FitResult:
    """The best fit. A failed fit does not raise: see `status`.

    covariance: also errors, from the inverse exact Hessian. starts: number of fits, at most 100000; all but
        the first begin at random points, and the lowest minimum wins. 0: newton looks for the lowest minimum
        as tests do. A RuntimeWarning names a lower point that a failed fit reached. minimizer: "newton",
        "lbfgsb" or "de"; population, seed: of "de" alone. max_iterations: 0: the minimizer's default. data:
        main, then auxiliary (None: observed). init, bounds, fixed: by name or as arrays; the rest is the
        model's, its start moved into the bounds. device: a name that `devices` lists, or "auto". precision:
        "f64", "f32" (polished in f64) or "auto". poi: parameters of interest, by name. They change no fit:
        the result names them."""
    model = model_of(model)
    pois = model.poi_names[:1] if poi is None else several_names(poi)
    for name in pois:
        model.index(name)
    options = _options(minimizer, max_iterations, population, seed)
    call = Call(fit, model, {**given, "starts": whole(starts, "starts", 0, 32)}, "fit", data=data)
    with call:
        answers = _engine.fit(
            model, call.job, options, covariance, covariance, covariance, call.engine, call.tell
        )
    if data is not None and np.isnan(answers.results[0]["twice_nll"]):
        model.twice_nll(model.suggested_init, data)  # refuses data that no fit can have
    starts_of = _starts_of(answers)
    states = None if answers.states is None else [_STATES[state] for state in answers.states.tolist()]
    return FitResult(
        answers.results[0],
        names=model.parameter_names,
        values=answers.parameters,
        errors=answers.errors,
        covariance=answers.covariance,
        states=states,
        poi=pois[0] if pois else None,
        pois=pois,
        device=call.engine.device,
        precision=call.engine.precision,
        starts=starts_of[0] if starts_of and starts_of[0].n > 1 else None,
    )


def fit_batch(
    model: ModelLike,
    data: ArrayLike | None = None,
    *,
    init: Any | None = None,
    bounds: Any | None = None,
    fixed: Any | None = None,
    errors: bool = False,
    covariance: bool = False,
    starts: int = 1,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    **given: Unpack[Where],
) -> FitBatch:
    """N fits as one batch over lanes, threads and devices. Each result equals `fit(starts=1)`, bit for bit.

    data (N, main + aux), init (N, parameters), bounds (N, parameters, 2), fixed (N, parameters): one row a
    fit. Without the leading N, or by name, they hold for all. A row of data with NaN or a negative count has
    the status "non_finite", as in sessions. errors, covariance: also return those. starts:
    of each fit. minimizer: "newton", "lbfgsb" or "de", with population and seed: as in `fit`."""
    model = model_of(model)
    rows: list[tuple[Any, int]] = [(data, 2), (init, 2), (bounds, 3), (fixed, 2)]
    counts = [
        len(one)
        for one, dimensions in rows
        if one is not None and not isinstance(one, (Mapping, str)) and np.ndim(one) == dimensions
    ]
    n = max(counts, default=1)
    if not {1, n}.issuperset(counts):
        raise _engine.InvalidArgument(
            f"rows of data, init, bounds and fixed: {', '.join(map(str, counts))}; their numbers must agree"
        )
    options = _options(minimizer, max_iterations, population, seed)
    with Call(fit_batch, model, given, "fits") as call:
        job = job_of(model, data, init, bounds, fixed, rows=n, **_several(starts))
        answers = _engine.fit(model, job, options, errors, covariance, False, call.engine, call.tell)
    return FitBatch(
        answers.results,
        names=model.parameter_names,
        values=answers.parameters,
        errors=answers.errors,
        covariance=answers.covariance,
        device=call.engine.device,
        precision=call.engine.precision,
        starts=_starts_of(answers),
    )


def minos(
    model: ModelLike,
    parameters: str | Sequence[str] = "all",
    *,
    best: FitResult | None = None,
    **given: Unpack[Keywords],
) -> MinosErrors:
    """MINOS errors (down, up) by parameter: where the profile of twice the NLL rises by 1. NaN where a bound
    or the edge of the domain comes first: their `ends` say which, and `reach` how far away that is. Their
    `several_minima` and `minima` say what further starts met.
    parameters: names, one name, or "all" free ones. best: a converged fit with these data and settings (None:
    made here)."""
    model = model_of(model)
    check_keywords(minos, given)
    if best is None:
        quietly: Any = {**given, "progress": None}
        best = fit(model, **quietly)
    check_of(model, best)
    if not best.converged or best.errors is None or best.states is None:
        raise _engine.NotConverged(
            f"MINOS errors stand around a converged fit with errors; this one is {best.status}"
        )
    if parameters == "all":
        parameters = [name for name, state in zip(best.names, best.states) if state in _FREE]
    names = texts(parameters, "parameters")
    at = [model.index(name) for name in names]
    errors = [float(best.errors[i]) for i in at]
    with Call(minos, model, given, "MINOS") as call:
        offsets, ends, reach, met = _engine.minos(
            model, call.job, at, best.values, best.twice_nll, errors, call.engine, call.tell
        )
    words = [(_ENDS[down], _ENDS[up]) for down, up in ends]
    return MinosErrors(zip(names, offsets), Minima(met), zip(names, words), zip(names, reach))


takes(FitKeywords, fit)
takes(Where, fit_batch)
takes(Keywords, minos)

_STATES = list(_engine.enumeration("paritas_parameter_state"))
_ENDS = list(_engine.enumeration("paritas_minos_end"))
_FREE = ("free", "at_edge")

__all__ = ["Bounds", "Fixed", "fit", "fit_batch", "minos"]
