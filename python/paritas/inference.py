"""Tests, limits, significance, scans, rankings, yields, goodness of fit (Cowan, Cranmer, Gross, Vitells,
arXiv:1007.1727).

All take the keywords of `paritas.fit`. Tests, limits, significances, scans and rankings make several fits:
`starts=N` makes each from N starts, of a ranking the free one, 1 from the usual start alone. 0, the default,
makes as many as the lowest minimum needs (docs/contract.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _engine
from .arrays import number, numbers, texts, whole
from .calls import (
    Bounds,
    Call,
    Fixed,
    Keywords,
    ProfileKeywords,
    StatisticKeywords,
    job_of,
    poi_of,
)
from .fits import check_of, fit
from .keywords import Place, check_keywords, default, engine_of, takes
from .model import FUNCTIONS, Model, ModelLike, Values, model_of, several_names
from .results import (
    BreakdownGroups,
    BreakdownResult,
    ChannelPrediction,
    CompatibilityGroups,
    CompatibilityResult,
    ContourResult,
    Crossings,
    FitResult,
    Floats,
    GlobalImpacts,
    GlobalImpactsResult,
    GoodnessOfFit,
    HypotestResult,
    IntervalResult,
    JointHypotestResult,
    LimitResult,
    Prediction,
    RankingResult,
    RegionEdges,
    RegionParts,
    ScanResult,
    SignificanceResult,
    _BestFit,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def hypotest(
    model: ModelLike,
    mu: float = 1.0,
    *,
    test_stat: str = "qtilde",
    poi: str | None = None,
    **given: Unpack[ProfileKeywords],
) -> HypotestResult: ...
@overload
def hypotest(
    model: ModelLike,
    mu: Sequence[float] | Floats,
    *,
    test_stat: str = "qtilde",
    poi: str | None = None,
    **given: Unpack[ProfileKeywords],
) -> list[HypotestResult]: ...
@overload
def hypotest(
    model: ModelLike,
    mu: Sequence[float] | Floats,
    *,
    poi: list[str] | tuple[str, ...],
    **given: Unpack[ProfileKeywords],
) -> JointHypotestResult: ...
@overload
def hypotest(
    model: ModelLike,
    mu: Mapping[str, float],
    **given: Unpack[ProfileKeywords],
) -> JointHypotestResult: ...


def hypotest(
    model: ModelLike,
    mu: Any = 1.0,
    *,
    test_stat: str = "qtilde",
    poi: Any = None,
    **given: Unpack[ProfileKeywords],
) -> Any:
    """Asymptotic CLs of a value of the parameter of interest. Several values give a list, with one free fit
    and Asimov set. test_stat: "qtilde", "q", "q0". poi: a name, others free; None: the model's.

    Several parameters are tested together, hypotest({"a": 1, "b": 0.5}) or hypotest([1, 0.5], poi=["a",
    "b"]): twice the NLL there, less its minimum, is `q`, which has the p-value `p`."""
    model = model_of(model)
    if isinstance(mu, Mapping):
        if poi is not None:
            raise _engine.InvalidArgument(f"hypotest: mu names its parameters, so poi is not wanted: {poi!r}")
        poi, mu = list(mu), list(mu.values())
    if poi is not None and not isinstance(poi, str):
        return _together(model, mu, several_names(poi), test_stat, given)
    named = {} if poi is None else {"poi": poi}
    several = not isinstance(mu, (float, int)) and np.ndim(mu) > 0
    with Call(hypotest, model, {**given, **named}, "tests") as call:
        rows = _engine.hypotest(model, call.job, test_stat, mu if several else (mu,), call.engine, call.tell)
    return [HypotestResult(row) for row in rows] if several else HypotestResult(rows[0])


def _together(model: Model, mu: Any, names: list[str], test_stat: str, given: Any) -> JointHypotestResult:
    check_keywords(hypotest, given)
    if test_stat != "qtilde":
        raise _engine.InvalidArgument(
            "hypotest: test_stat is for one parameter of interest; several are tested by their profile "
            "likelihood ratio"
        )
    values = numbers(mu, "mu")
    if values.shape != (len(names),):
        raise _engine.InvalidArgument(
            f"hypotest: mu: {len(names)} values are wanted, one for each of {', '.join(names)}, not {mu!r}"
        )
    which = [model.index(name) for name in names]
    call = Call(hypotest, model, given, "tests", pois=which)
    found = _scan(model, which, values[np.newaxis], call)
    beside = {name: value for name, value in found._beside().items() if name != "crossings"}
    return JointHypotestResult(found.row[0], **{**beside, "values": values})


def upper_limit(
    model: ModelLike,
    *,
    level: float = default("paritas_limit_request", "level"),
    test_stat: str = "qtilde",
    **given: Unpack[StatisticKeywords],
) -> LimitResult:
    """Upper limits: where CLs = level, observed and five expected, to 1e-7 relative.

    >>> import paritas
    >>> round(paritas.upper_limit("examples/two_bins.json").limit_obs, 4)
    1.0116"""
    model = model_of(model)
    with Call(upper_limit, model, given, "limit") as call:
        found = _engine.limit(model, call.job, test_stat, number(level, "level"), call.engine, call.tell)
    return LimitResult(found.result, level=level, scan=[HypotestResult(row) for row in found.scan])


def significance(model: ModelLike, **given: Unpack[StatisticKeywords]) -> SignificanceResult:
    """Discovery: p0 and Z, observed and expected for mu = 1.

    >>> import paritas
    >>> round(paritas.significance("examples/two_bins.json").Z_exp, 2)
    1.88"""
    model = model_of(model)
    with Call(significance, model, given, "significance") as call:
        return SignificanceResult(_engine.significance(model, call.job, call.engine, call.tell))


def scan(
    model: ModelLike,
    *parameters: Any,
    values: ArrayLike | None = None,
    points: int = 21,
    confidence: float | Sequence[float] = _engine.INTERVAL_CONFIDENCE,
    **given: Unpack[ProfileKeywords],
) -> ScanResult:
    """Profile likelihood over one to eight parameters.

    Arguments are (name, values): scan(model, ("mu", [0, 1, 2])) or scan(model, ("mu", mus), ("JES", alphas)),
    whose grid varies the second first. Or names (default: the parameter of interest), with points in `values`
    (points, parameters). One name alone is scanned at as many `points`, from 3 errors below its lowest known
    minimum to 3 above the highest.

    A scan of one parameter also has its `crossings`: where twice the NLL rises or falls by the quantile of
    each confidence, between its values. confidence=(): none."""
    model = model_of(model)
    check_keywords(scan, given)
    paired = bool(parameters) and all(
        isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in parameters
    )
    names = [name for name, _ in parameters] if paired else list(parameters) or [poi_of(model)]
    if not all(isinstance(name, str) for name in names) or (values is None and not paired and len(names) > 1):
        raise _engine.InvalidArgument(
            "scan: values are wanted: as pairs, scan((name, values)), or as scan(name, values=...)"
        )
    which = [model.index(name) for name in names]
    if paired:
        axes = np.meshgrid(*(numbers(axis) for _, axis in parameters), indexing="ij")
        at = np.stack([axis.ravel() for axis in axes], axis=1)
    elif values is not None:
        at = numbers(values, "values").reshape(-1, len(names))
    else:
        with Call(scan, model, given, "range") as call:
            low, high = _engine.scan_range(model, call.job, which[0], call.engine, call.tell)
        at = _spread(low, high, whole(points, "points", least=1))[:, np.newaxis]
    levels = confidence if len(which) == 1 else ()
    return _scan(model, which, at, Call(scan, model, given, "scan"), levels)


def _spread(low: float, high: float, n: int) -> Floats:
    """n values from end to end, with the program's bits"""
    at: Floats = low + (high - low) * (np.arange(n) / max(n - 1, 1))
    at[n - 1 :] = high if n > 1 else low
    return at


def _scan(
    model: Model, which: list[int], points: Floats, call: Call, confidence: float | Sequence[float] = ()
) -> ScanResult:
    levels = np.atleast_1d(numbers(confidence, "confidence"))
    with call:
        found = _engine.scan(model, call.job, which, points, levels, call.engine, call.tell)
    return ScanResult(
        found.points,
        parameters=[model.parameter_names[i] for i in which],
        values=points,
        best_fit=_BestFit(found.best),
        best_values=found.best_parameters,
        best=found.best_parameters[which],
        point_values=found.point_parameters,
        crossings=Crossings(found.crossings),
    )


def interval(
    model: ModelLike,
    parameter: str | None = None,
    *,
    confidence: float | Sequence[float] = _engine.INTERVAL_CONFIDENCE,
    **given: Unpack[ProfileKeywords],
) -> IntervalResult:
    """Likelihood intervals of one parameter, with all parts. None: the parameter of interest. An interval
    has all values at which twice the NLL, minimised over the other parameters, is at most a quantile above
    its minimum: 1 for 68.27 %, 4 for 95.45 %. Edges have 1e-6 relative. A bound that cuts a part is named.

    >>> import paritas
    >>> found = paritas.interval("examples/two_bins.json", confidence=0.95)
    >>> round(float(found.upper[0]), 3), str(found.lower_end[0])
    (0.986, 'at_bound')"""
    check_keywords(interval, given)
    model = model_of(model)
    which = model.index(poi_of(model) if parameter is None else parameter)
    levels = np.atleast_1d(numbers(confidence, "confidence"))
    with Call(interval, model, given, "interval") as call:
        found = _engine.interval(model, call.job, which, levels, call.engine, call.tell)
    return IntervalResult(
        found.parts,
        parameters=[model.parameter_names[which]],
        best_fit=_BestFit(found.best),
        best_values=found.best_parameters,
        best=found.best_parameters[[which]],
    )


def contour(
    model: ModelLike,
    *parameters: str,
    confidence: float | Sequence[float] = _engine.CONTOUR_CONFIDENCE,
    points: int = default("paritas_contour_request", "n_points"),
    **given: Unpack[ProfileKeywords],
) -> ContourResult:
    """Edges of confidence regions of two parameters, with `points` of each around the best fit, and all
    `parts` of the regions. One parameter alone is paired with the parameter of interest. At an edge twice
    the NLL is -2 ln(1 - confidence) above its minimum: 2.30, 5.99."""
    check_keywords(contour, given)
    model = model_of(model)
    names = [poi_of(model), *parameters] if len(parameters) == 1 else list(parameters)
    if not all(isinstance(name, str) for name in names):
        raise _engine.InvalidArgument(f"contour: names of parameters are wanted, not {parameters!r}")
    if len(names) != 2:
        raise _engine.InvalidArgument(f"contour: a region has two parameters, not {len(names)}")
    points = whole(points, "points", least=4)
    which, levels = [model.index(name) for name in names], np.atleast_1d(numbers(confidence, "confidence"))
    with Call(contour, model, given, "contour") as call:
        found = _engine.contour(model, call.job, which, levels, points, call.engine, call.tell)
    return ContourResult(
        found.points,
        parameters=[model.parameter_names[i] for i in which],
        confidence=np.repeat(levels, points),
        parts=RegionParts(found.parts),
        edges=RegionEdges(found.edges),
        best_fit=_BestFit(found.best),
        best_values=found.best_parameters,
        best=found.best_parameters[which],
    )


def ranking(model: ModelLike, *, top: int | None = None, **given: Unpack[StatisticKeywords]) -> RankingResult:
    """Impacts of free parameters on the parameter of interest, largest first. top: how many."""
    model = model_of(model)
    if top is not None:
        top = whole(top, "top")
    with Call(ranking, model, given, "ranking") as call:
        rows = _engine.ranking(model, call.job, call.engine, call.tell)[:top]
    poi = given.get("poi") or poi_of(model)
    return RankingResult(rows, poi=poi, names=[model.parameter_names[i] for i in rows["parameter"]])


def breakdown(
    model: ModelLike,
    groups: Mapping[str, str | Sequence[str]],
    **given: Unpack[StatisticKeywords],
) -> BreakdownResult:
    """Parts of the error of the parameter of interest, by groups of parameters. Each group is fixed at the
    best fit, and the rest is fitted again. The impact is the part of the error that this removes, in
    quadrature.

    groups: patterns of parameter names by group; * is any text, ? one character."""
    model, patterns = model_of(model), _patterns(groups)
    with Call(breakdown, model, given, "breakdown") as call:
        found = _engine.breakdown(model, call.job, patterns, call.engine, call.tell)
    parts = BreakdownGroups(found.groups, names=list(groups))
    return BreakdownResult(found.result, poi=given.get("poi") or poi_of(model), groups=parts)


def _patterns(groups: Mapping[str, str | Sequence[str]]) -> list[list[str]]:
    if not isinstance(groups, Mapping):
        raise _engine.InvalidArgument("groups: a dict of names and patterns is wanted")
    return [texts(one, f"group {name}") for name, one in groups.items()]


def global_impacts(
    model: ModelLike,
    groups: Mapping[str, str | Sequence[str]] | None = None,
    **given: Unpack[StatisticKeywords],
) -> GlobalImpactsResult:
    """Parts of the error of the parameter of interest, by the data that fluctuate (global observables,
    arXiv:2307.04007). Each auxiliary datum moves by its standard deviation, each count by its root. `impact`
    is the shift of the best fit, from exact second derivatives at one fit. Parts add up in quadrature.

    groups: patterns of parameter names by group; * is any text, ? one character.

    >>> import paritas
    >>> model = paritas.Model.from_workspace("examples/two_bins.json")
    >>> found = model.global_impacts(data=model.asimov_data(1.0))
    >>> found.entries.names, found.entries.impact.round(3).tolist()
    (['uncorr_bkguncrt[1]', 'uncorr_bkguncrt[0]'], [-0.22, -0.155])
    >>> round(found.statistical, 3), round(found.systematic, 3), round(found.sum, 3), round(found.total, 3)
    (0.481, 0.269, 0.551, 0.551)
    """
    model, wanted = model_of(model), groups if groups is not None else {}
    patterns = _patterns(wanted)
    with Call(global_impacts, model, given, "global impacts") as call:
        found = _engine.global_impacts(model, call.job, patterns, call.engine, call.tell)
    return GlobalImpactsResult(
        found.result,
        poi=given.get("poi") or poi_of(model),
        entries=GlobalImpacts(
            found.entries, names=[model.parameter_names[i] for i in found.entries["parameter"]]
        ),
        groups=dict(zip(wanted, found.groups.tolist())),
    )


def separate_model(model: Model, poi: str, groups: Mapping[str, str] | None) -> Model:
    """The same model with a parameter in place of `poi` for each group of channels."""
    pairs = [text for pair in (groups or {}).items() for text in pair]
    options: dict[str, Any] = {name: value for name, value in model.options.items() if name != "poi"}
    return Model(model.document.split(poi, None, pairs), **options)


def compatibility_result(separate: Model, poi: str, result: Any, groups: Any) -> CompatibilityResult:
    """Rows as a result, with names of the separate model."""
    names = [separate.parameter_names[i] for i in separate.poi_indices]
    return CompatibilityResult(result, poi=poi, groups=CompatibilityGroups(groups, names=names))


def compatibility(
    model: ModelLike, groups: Mapping[str, str] | None = None, **given: Unpack[StatisticKeywords]
) -> CompatibilityResult:
    """Do channels agree on the parameter of interest? Compares a fit with one common parameter and a fit with
    one for each group of channels. All other parameters stay common.

    groups: patterns of channels by name; * is any text, ? one character. Other channels have a group each.
    `compatibility_toys` finds the p-value by toys."""
    model = model_of(model)
    poi = given.get("poi") or poi_of(model)
    separate = separate_model(model, poi, groups)
    with Call(compatibility, model, given, "compatibility") as call:
        found = _engine.compatibility(model, call.job, separate, call.engine, call.tell)
    return compatibility_result(separate, poi, found.result, found.groups)


def predict(
    model: ModelLike,
    *,
    best: FitResult | None = None,
    data: ArrayLike | None = None,
    init: Values | None = None,
    bounds: Bounds | None = None,
    fixed: Fixed | None = None,
    **options: Any,
) -> Prediction:
    """Yields before and after a fit, with errors from its covariance: J C J^T. `best`: the fit, else made
    here with `options`. Prefit errors: from the widths and correlations of the constraints; unconstrained
    parameters add nothing."""
    model = model_of(model)
    job = job_of(model, data, init, bounds, fixed)
    if best is None:
        best = fit(model, data=data, init=init, bounds=bounds, fixed=fixed, **options)
        upper = model.upper_bounds if job is None or job.upper is None else job.upper
        pois = [model.index(name) for name in model.poi_names]
        if (best.values[pois] >= upper[pois]).any():  # a wider bound, as for statistics
            lower = model.lower_bounds if job is None or job.lower is None else job.lower
            within = np.stack([lower, _engine.best_fit_bounds(model, job)], axis=-1)
            best = fit(model, data=data, init=init, bounds=within, fixed=fixed, **options)
    check_of(model, best)
    covariance = best.covariance if best.converged else None
    before, after = _engine.predict(model, job, best.values, covariance)
    observed = model.data if data is None else numbers(data, "data")
    channels = [
        ChannelPrediction(
            name=channel.name,
            prefit=before.bins[channel.slice],
            postfit=after.bins[channel.slice],
            error=after.errors[channel.slice],
            data=np.array(observed[channel.slice]),
            samples=dict(zip(channel.samples, after.samples[i])),
            prefit_samples=dict(zip(channel.samples, before.samples[i])),
            prefit_error=before.errors[channel.slice],
            total_error=float(after.total_errors[i]),
            prefit_total_error=float(before.total_errors[i]),
            masked=channel.masked,
        )
        for i, channel in enumerate(model.channels)
    ]
    return Prediction(channels, best)


def goodness_of_fit(model: ModelLike, **given: Unpack[Keywords]) -> GoodnessOfFit:
    """Goodness of the best fit against the saturated model. Also gives the Kolmogorov-Smirnov and
    Anderson-Darling statistics; `goodness_of_fit_toys` finds their p-values."""
    model = model_of(model)
    with Call(goodness_of_fit, model, given, "goodness of fit") as call:
        return GoodnessOfFit(_engine.goodness_of_fit(model, call.job, call.engine, call.tell))


def asimov_data(
    model: ModelLike,
    mu: float,
    *,
    data: ArrayLike | None = None,
    init: Values | None = None,
    bounds: Bounds | None = None,
    fixed: Fixed | None = None,
    **where: Unpack[Place],
) -> Floats:
    """Asimov data, main then auxiliary, from the fit with the parameter of interest at mu. Raises
    NotConverged."""
    model = model_of(model)
    poi, used = poi_of(model), engine_of(asimov_data, where)
    job = job_of(model, data, init, bounds, fixed)
    row: Floats
    row, found = _engine.asimov_data(model, job, number(mu, "mu"), used)
    status = _BestFit(found).status
    if status != "converged":
        raise _engine.NotConverged(
            f"the fit with {poi} = {mu:g}, where Asimov data are expected, ended as {status}"
        )
    return row


takes(
    StatisticKeywords, hypotest, upper_limit, significance, ranking, breakdown, global_impacts, compatibility
)
takes(ProfileKeywords, scan, interval, contour)
takes(Keywords, goodness_of_fit)
takes(Place, asimov_data)

__all__ = list(FUNCTIONS["inference"])
