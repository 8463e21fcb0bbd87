"""Statistics: tests, limits, significance, scans, rankings, yields, goodness of fit (Cowan, Cranmer, Gross,
Vitells, arXiv:1007.1727).

All take the keywords of `paritas.fit`: data, init, bounds, fixed, device, precision, threads, progress.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _engine
from .devices import ProgressFunction, engine
from .fits import _STATUS_ARRAY, _STATUSES, Bounds, Fixed, Job, check_of, fit, job_of
from .model import Channel, Model, Values
from .progress import told
from .results import (
    ChannelPrediction,
    FitResult,
    Floats,
    GoodnessOfFit,
    HypotestResult,
    LimitResult,
    Prediction,
    RankingResult,
    ScanResult,
    SignificanceResult,
)

Progress = Union[bool, ProgressFunction, None]


def _test(found: Any) -> HypotestResult:
    fields: list[Any] = [*found[:11], _STATUSES[found[11]]]
    return HypotestResult(*fields)


@overload
def hypotest(
    model: Model,
    mu: float = 1.0,
    *,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> HypotestResult: ...
@overload
def hypotest(
    model: Model,
    mu: Sequence[float],
    *,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> list[HypotestResult]: ...


def hypotest(
    model: Model,
    mu: Any = 1.0,
    *,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Any:
    """CLs of a value of the parameter of interest, asymptotically; of several values a list, for which free
    fit and Asimov data are made once. test_stat: "qtilde", "q", "q0"."""
    job = job_of(model, init, bounds, fixed)
    several = not isinstance(mu, (float, int)) and np.ndim(mu) > 0
    with told(progress, "tests") as tell:
        found = _engine.hypotest(
            model,
            mu if several else (mu,),
            test_stat,
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    return [_test(one) for one in found] if several else _test(found[0])


def upper_limit(
    model: Model,
    *,
    level: float = 0.05,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> LimitResult:
    """Upper limits: the roots of CLs = level of the observed and the five expected curves, to 1e-7
    relative."""
    job = job_of(model, init, bounds, fixed)
    with told(progress, "limit") as tell:
        obs, exp, bound, widened, status, scanned = _engine.limit(
            model,
            level,
            test_stat,
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    return LimitResult(obs, exp, level, bound, widened, _STATUSES[status], [_test(one) for one in scanned])


def significance(
    model: Model,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> SignificanceResult:
    """Discovery: p0 and Z, observed and expected for mu = 1."""
    job = job_of(model, init, bounds, fixed)
    with told(progress, "significance") as tell:
        p0, z, p0_exp, z_exp, q0, mu_hat, status = _engine.significance(
            model, data, job.start, job.lower, job.upper, job.fixed, engine(device, precision, threads), tell
        )
    return SignificanceResult(p0, z, p0_exp, z_exp, q0, mu_hat, _STATUSES[status])


def scan(
    model: Model,
    *parameters: Any,
    values: Optional[ArrayLike] = None,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> ScanResult:
    """Profile likelihood over one or two parameters. Each argument is (name, values): scan(model, ("mu", [0,
    1, 2])) or scan(model, ("mu", mus), ("JES", alphas)), whose grid runs through the second parameter first.
    Or names alone, none for the parameter of interest, with `values` (points, parameters)."""
    job = job_of(model, init, bounds, fixed)
    if values is not None:
        names = list(parameters) or [_poi(model)]
        points = np.asarray(values, dtype=np.float64).reshape(-1, len(names))
    else:
        if not parameters or any(
            not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in parameters
        ):
            raise _engine.InvalidArgument(
                "scan: values are wanted: as pairs, scan((name, values)), or as scan(name, values=...)"
            )
        names = [name for name, _ in parameters]
        axes = np.meshgrid(*(np.asarray(axis, dtype=np.float64) for _, axis in parameters), indexing="ij")
        points = np.stack([axis.ravel() for axis in axes], axis=1)
    which = [model.index(name) for name in names]
    with told(progress, "scan") as tell:
        best, best_values, q, twice_nll, codes = _engine.scan(
            model,
            which,
            points,
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    return ScanResult(
        [model.parameter_names[i] for i in which],
        points,
        q,
        twice_nll,
        _STATUS_ARRAY[codes],
        _STATUSES[best[0]],
        best[2],
        best_values,
        best_values[which],
    )


def ranking(
    model: Model,
    *,
    top: Optional[int] = None,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> RankingResult:
    """Impacts of all free parameters on the parameter of interest, largest first; `top`: so many of them."""
    if top is not None and top < 0:
        raise _engine.InvalidArgument(f"top {top}: must not be negative")
    job = job_of(model, init, bounds, fixed)
    with told(progress, "ranking") as tell:
        found = _engine.ranking(
            model, data, job.start, job.lower, job.upper, job.fixed, engine(device, precision, threads), tell
        )[:top]
    pull, constraint, up, down, prefit_up, prefit_down = (
        np.array([entry[1:7] for entry in found], dtype=np.float64).reshape(-1, 6).T.copy()
    )
    return RankingResult(
        _poi(model),
        [model.parameter_names[entry[0]] for entry in found],
        pull,
        constraint,
        up,
        down,
        prefit_up,
        prefit_down,
        [_STATUSES[entry[7]] for entry in found],
    )


def predict(
    model: Model,
    *,
    best: Optional[FitResult] = None,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    **options: Any,
) -> Prediction:
    """Yields before and after a fit (made here, with `options`, unless `best` is given), with the errors of
    the yields that its covariance implies: J C J^T. Those before the fit take the constraints' widths,
    without correlations; parameters without constraint add nothing there."""
    if best is None:
        best = fit(model, data=data, init=init, bounds=bounds, fixed=fixed, **options)
    check_of(model, best)
    job = job_of(model, init, bounds, fixed)
    start, held = (
        model.suggested_init if job.start is None else job.start,
        model.suggested_fixed if job.fixed is None else job.fixed,
    )
    channels = model.channels
    error, total_error = np.full(model.main_count, np.nan), np.full(len(channels), np.nan)
    if best.covariance is not None and best.converged:
        error, total_error = _yield_errors(channels, model.expected_jacobian(best.values), best.covariance)
    widths = np.where(held, 0.0, np.nan_to_num(model.constraint_widths))
    prefit_error, prefit_total_error = _yield_errors(
        channels, model.expected_jacobian(start), np.diag(widths * widths)
    )
    prefit, postfit = (
        model.expected_data(start, include_aux=False),
        model.expected_data(best.values, include_aux=False),
    )
    observed = model.data if data is None else np.asarray(data, dtype=np.float64)
    before, after = model.expected_by_sample(start), model.expected_by_sample(best.values)
    return Prediction(
        [
            ChannelPrediction(
                channel.name,
                prefit[channel.slice],
                postfit[channel.slice],
                error[channel.slice],
                np.array(observed[channel.slice]),
                after[channel.name],
                before[channel.name],
                prefit_error[channel.slice],
                float(total_error[i]),
                float(prefit_total_error[i]),
            )
            for i, channel in enumerate(channels)
        ],
        best,
    )


def _yield_errors(channels: Sequence[Channel], jacobian: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Errors of bins and of the channels' sums, added one by one (cumsum) in the program's order, for its
    bits."""

    def error(row: Floats) -> float:
        inner = np.cumsum(covariance * row, axis=1)[:, -1]
        return float(np.sqrt(max(np.cumsum(row * inner)[-1], 0.0)))

    bins = np.array([error(row) for row in jacobian])
    return bins, np.array([error(np.cumsum(jacobian[channel.slice], axis=0)[-1]) for channel in channels])


def goodness_of_fit(
    model: Model,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> GoodnessOfFit:
    """Of the best fit against the saturated model."""
    job = job_of(model, init, bounds, fixed)
    with told(progress, "goodness of fit") as tell:
        twice_nll, saturated, statistic, p, ndof, status = _engine.goodness_of_fit(
            model, data, job.start, job.lower, job.upper, job.fixed, engine(device, precision, threads), tell
        )
    return GoodnessOfFit(twice_nll, saturated, statistic, ndof, p, _STATUSES[status])


def asimov_data(
    model: Model,
    mu: float,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
) -> Floats:
    """Data without fluctuations, main then auxiliary: expected at the fit to the data with the parameter of
    interest held at mu. Raises NotConverged where that fit fails."""
    job, poi = Job(model, init, bounds, fixed), model.index(_poi(model))
    start, flags = (
        model.point(job.start).copy(),
        np.array(model.suggested_fixed if job.fixed is None else job.fixed),
    )
    start[poi], flags[poi] = mu, True
    held = fit(
        model,
        data=data,
        init=start,
        bounds=bounds,
        fixed=flags,
        covariance=False,
        device=device,
        precision=precision,
        threads=threads,
    )
    if not held.converged:
        raise _engine.NotConverged(
            f"the fit with {_poi(model)} = {mu:g}, which Asimov data are expected at, ended as {held.status}"
        )
    return model.expected_data(held.values)


def _poi(model: Model) -> str:
    if model.poi_name is None:
        raise _engine.InvalidArgument("the model has no parameter of interest")
    return model.poi_name


__all__ = [
    "asimov_data",
    "goodness_of_fit",
    "hypotest",
    "predict",
    "ranking",
    "scan",
    "significance",
    "upper_limit",
]
