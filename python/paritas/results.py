"""Results of fits and statistics. Missing numbers are NaN, such as a fixed parameter's error.

Attributes are the fields of a library record and the class's own. Results can be compared, copied and
pickled; notebooks show a table. `to_dict()`: Python's types, None for NaN. `replace(name=value)`: a changed
copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from . import _engine, fields
from .documents import names_of
from .records import html_table, text_table

Floats = NDArray[np.float64]


def correlations(covariance: Floats) -> Floats:
    """Exactly 1 on the diagonal; 0 for parameters without variance."""
    widths = np.sqrt(np.diagonal(covariance))
    scale = np.outer(widths, widths)
    found: Floats = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(found, widths > 0)
    return found


class Device(fields.device_info):
    """A device, as its driver describes it."""

    @property
    def usable(self) -> bool:
        """It passed its self-test in f64 or f32."""
        return self.f64 or self.f32


class _ByParameter:
    names: list[str]
    values: Any

    def __getitem__(self, name: str) -> Floats:
        """Fitted values of a parameter."""
        if self.values is None:
            raise ValueError("the toys were not kept: keep=True")
        if name not in self.names:
            raise KeyError(name)
        found: Floats = self.values[:, self.names.index(name)]
        return found

    def _ipython_key_completions_(self) -> list[str]:
        return self.names


@dataclass
class Starts:
    """A fit from several starts: how many converged, which start won (0: the suggested), the spread of minima
    of twice the NLL, and the fits at each of at most 8 minima, lowest first.

    lower_known: twice the NLL and status of the lowest point below the answer, where no fit converged.
    None: the answer is the lowest point known."""

    n: int
    converged: int
    best_start: int
    spread: float
    minima: list[tuple[float, int]]
    lower_known: tuple[float, str] | None = None

    @classmethod
    def of(cls, row: Any) -> Starts:
        """Makes one of a row of paritas_fit_starts."""
        minima, (lower, status) = row["minima"][: row["n_minima"]], row["lower_known"].tolist()
        n, converged, best_start = (int(row[name]) for name in ("n", "converged", "best_start"))
        return cls(
            n,
            converged,
            best_start,
            float(row["spread"]),
            minima.tolist(),
            None if np.isnan(lower) else (lower, list(_engine.enumeration("paritas_fit_status"))[status]),
        )


def _with_error(value: float, error: float) -> str:
    return f"{value:.6g}" if np.isnan(error) else f"{value:.6g} +- {error:.2g}"


class FitResult(fields.fit_result):
    """A best fit. `values`, `errors` and `states` are in the order of `names`. `covariance` is 0 for fixed
    parameters. pois: the parameters of interest; poi: the first.

    `status` is "converged" only if the conditions were checked at `values`."""

    names: list[str]
    values: Floats
    errors: Floats | None
    covariance: Floats | None
    states: list[str] | None
    poi: str | None
    pois: list[str]
    device: str
    precision: str
    starts: Starts | None

    @property
    def nll(self) -> float:
        """The negative log-likelihood at `values`."""
        return 0.5 * self.twice_nll

    @property
    def correlation(self) -> Floats | None:
        """Correlations; 0 for parameters that are not free."""
        return None if self.covariance is None else correlations(self.covariance)

    def __getitem__(self, name: str) -> tuple[float, float]:
        """(value, error) of a parameter."""
        if name not in self.names:
            raise KeyError(name)
        i = self.names.index(name)
        return float(self.values[i]), float("nan") if self.errors is None else float(self.errors[i])

    def _ipython_key_completions_(self) -> list[str]:
        return self.names

    def to_dict(self) -> dict[str, Any]:
        """All fields, and `parameters`: values by name."""
        found = super().to_dict()
        return {**found, "parameters": dict(zip(self.names, found["values"]))}

    def __repr__(self) -> str:
        of_interest = "".join(f", {name} = {_with_error(*self[name])}" for name in self.pois)
        return (
            f"<paritas.FitResult: {self.status}, twice NLL {self.twice_nll:.10g}, "
            f"{len(self.names)} parameters{of_interest}>"
        )

    def __str__(self) -> str:
        interest = f"\nParameter of interest: {', '.join(self.pois)}" if self.pois else ""
        return f"Fit: {self._title()}{interest}\n\n" + text_table(self._heads, self._rows())

    _heads = "parameter", "value", "error", "state"

    def _rows(self) -> Any:
        errors = [float("nan")] * len(self.names) if self.errors is None else self.errors.tolist()
        return zip(self.names, self.values.tolist(), errors, self.states or [""] * len(self.names))

    def _title(self) -> str:
        return (
            f"{self.status}, twice NLL {self.twice_nll:.10g}, EDM {self.edm:.2g}, "
            f"{self.iterations} iterations, {self.device}, {self.precision}"
        )

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._heads, self._rows())


class FitBatch(_ByParameter, fields.fit_result_rows):
    """Many fits: row i of every array is fit i. A failed fit does not fail the batch."""

    names: list[str]
    values: Floats
    errors: Floats | None
    covariance: Floats | None
    device: str
    precision: str
    starts: list[Starts] | None

    @property
    def converged(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which fits converged."""
        found: NDArray[np.bool_] = self.status == "converged"
        return found

    def _title(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        told = ", ".join(f"{count} {word}" for word, count in zip(words, counts))
        return f"{len(self)} fits ({told}), {self.device}, {self.precision}."


class Minima(fields.minima):
    """Different minima that the fits of a statistic met."""


class MinosErrors(dict[str, tuple[float, float]]):
    """MINOS errors (down, up) by parameter.

    minima: what further starts met, of all errors; each stands at the lowest minimum that is known. ends: how
    both sides end, by parameter: "crossing", "at_bound" or "at_edge", where the domain ends and a rate would
    be negative. reach: the offsets (down, up) of these ends."""

    def __init__(
        self,
        errors: Iterable[tuple[str, tuple[float, float]]],
        minima: Minima,
        ends: Iterable[tuple[str, tuple[str, str]]] = (),
        reach: Iterable[tuple[str, tuple[float, float]]] = (),
    ) -> None:
        super().__init__(errors)
        self.minima = minima
        self.ends = dict(ends)
        self.reach = dict(reach)

    @property
    def several_minima(self) -> bool:
        """Whether fits met different minima."""
        return self.minima.met > 1


class HypotestResult(fields.hypotest_result):
    """Test of one value of the parameter of interest."""

    _shown = ("mu", "CLs_obs", "CLs_exp", "mu_hat", "status")


def _found(numbers: Floats) -> Floats:
    """Numbers before the first NaN."""
    found: Floats = numbers[: np.isnan(numbers).argmax()] if np.isnan(numbers).any() else numbers
    return found


class LimitResult(fields.limit_result):
    """Upper limits, where CLs is `level`. scan: the tests made, ascending in mu.

    crossings_obs, crossings_exp: where else the observed and the five expected CLs cross the level."""

    level: float
    scan: list[HypotestResult]

    _shown = ("level", "limit_obs", "limit_exp", "mu_hat", "status")

    @property
    def crossings_obs(self) -> Floats:  # type: ignore[override]
        """where else the observed CLs crosses the level, ascending"""
        return _found(self.row["crossings_obs"])

    @property
    def crossings_exp(self) -> list[Floats]:  # type: ignore[override]
        """the same of the expected CLs"""
        return [_found(one) for one in self.row["crossings_exp"]]

    def _title(self) -> str:
        return f"upper limit at CLs = {self.level:g}, {self.status}"


class SignificanceResult(fields.significance_result):
    """Discovery: p0 and Z, observed, and expected for mu = 1."""


class _BestFit(fields.fit_result):
    """The free fit of a scan, or the fit behind Asimov data."""


class _Profiled:
    """What scans and contours have of their free fit."""

    parameters: list[str]
    best_fit: fields.fit_result
    best_values: Floats
    best: Floats
    status: Any

    @property
    def best_status(self) -> str:
        """Outcome of the free fit."""
        return self.best_fit.status

    @property
    def best_twice_nll(self) -> float:
        """Twice the NLL at the best fit."""
        return self.best_fit.twice_nll

    @property
    def converged(self) -> bool:
        """All fits converged."""
        return self.best_status == "converged" and bool(np.all(self.status == "converged"))


class Crossings(fields.crossing_rows):
    """Where the profile of one parameter crosses levels, level by level, ascending."""


class ScanResult(_Profiled, fields.scan_point_rows):
    """Profile likelihood over one or more `parameters`. Row i of `values` (points, parameters) is a point.
    best_fit: status and numbers of the free fit; best_values: its parameters; best: the scanned ones.
    point_values (points, all parameters): where the fit of each point ended. crossings: of one parameter,
    all crossings of the asked confidences between the least and the largest value."""

    values: Floats
    point_values: Floats
    crossings: Crossings

    def _labels(self) -> list[tuple[str, Any]]:
        return list(zip(self.parameters, self.values.T))


class IntervalResult(_Profiled, fields.interval_part_rows):
    """Likelihood intervals of one parameter: a row for each part, by confidence, then ascending. best_fit:
    status and numbers of the free fit; best_values: its parameters; best: of the one.

    lower_end, upper_end: "crossing", or what cuts the part: "at_bound", or "at_edge" of the domain."""

    def parts(self) -> dict[float, Floats]:
        """Edges (n, 2) of the parts of each interval by its confidence."""
        edges = np.stack([self.lower, self.upper], axis=1)
        return {float(c): edges[self.confidence == c] for c in dict.fromkeys(self.confidence)}


class JointHypotestResult(_Profiled, fields.scan_point):
    """Test of several `parameters` together at `values`. best_fit: status and numbers of the free fit;
    best_values: its parameters; best: the tested ones; point_values: where the fit at `values` ended."""

    values: Floats
    point_values: Floats

    #: the profile likelihood ratio t_mu, as the program calls it
    test_stat = "t"

    @property
    def mu(self) -> dict[str, float]:
        """The tested values, by name."""
        return dict(zip(self.parameters, self.values.tolist()))

    @property
    def mu_hat(self) -> dict[str, float]:
        """Their best values, by name."""
        return dict(zip(self.parameters, self.best.tolist()))

    @property
    def ndof(self) -> int:
        """Degrees of freedom of the chi-squared distribution of q: the number of parameters."""
        return len(self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """All fields, and the program's lists mu, mu_hat and pois."""
        lists = {"mu": list(self.mu.values()), "mu_hat": list(self.mu_hat.values()), "pois": self.parameters}
        return {**super().to_dict(), **lists, "ndof": self.ndof, "test_stat": self.test_stat}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(q={self.q:.10g}, p={self.p:.6g}, ndof={self.ndof}, mu={self.mu}, "
            f"mu_hat={self.mu_hat}, status={self.status!r})"
        )


class RegionParts(fields.contour_part_rows):
    """Closed curves around the parts of regions of two parameters, and around holes, level by level."""


class RegionEdges(fields.contour_point_rows):
    """Points on the curves of RegionParts, one curve after the other."""

    values: Floats


class ContourResult(_Profiled, fields.contour_point_rows):
    """Edges of confidence regions of two `parameters`. Row i of `values` (points, 2) lies on the region of
    confidence[i], around the best fit. best_fit: status and numbers of the free fit; best_values: its
    parameters; best: of the two. parts: closed curves around all parts; edges: their points."""

    confidence: Floats
    parts: RegionParts
    edges: RegionEdges

    def regions(self) -> dict[float, Floats]:
        """Points (n, 2) of each region by its confidence, counterclockwise around the best fit. Unconverged
        ones are left out."""
        good = self.status == "converged"
        return {float(c): self.values[good & (self.confidence == c)] for c in dict.fromkeys(self.confidence)}

    def curves(self) -> dict[float, list[Floats]]:
        """Points (n, 2) of all closed curves of each region by its confidence: of its parts
        counterclockwise, of holes in them clockwise."""
        found: dict[float, list[Floats]] = {float(c): [] for c in dict.fromkeys(self.confidence)}
        for c, first, n in zip(self.parts.confidence, self.parts.first, self.parts.n_points):
            found[float(c)].append(self.edges.values[first : first + n])
        return found

    def _labels(self) -> list[tuple[str, Any]]:
        return [("confidence", self.confidence)]


class RankingResult(fields.ranking_entry_rows):
    """Impacts of `names` on the parameter of interest `poi`, largest first."""

    poi: str
    names: list[str]

    def _labels(self) -> list[tuple[str, Any]]:
        return [(f"impacts on {self.poi}", self.names)]


class BreakdownResult(fields.breakdown_result):
    """Parts of the error of the parameter of interest `poi`. groups: what each group of parameters adds."""

    poi: str
    groups: BreakdownGroups


class BreakdownGroups(fields.breakdown_group_rows):
    """Rows of groups `names`. impact: sqrt(total^2 - without^2)."""

    names: list[str]

    def __getitem__(self, name: str) -> float:
        """The impact of a group."""
        if name not in self.names:
            raise KeyError(name)
        return float(self.impact[self.names.index(name)])

    def _labels(self) -> list[tuple[str, Any]]:
        return [("group", self.names)]


class GlobalImpactsResult(fields.global_result):
    """Parts of the error of the parameter of interest `poi`, by the data that fluctuate. entries: of
    auxiliary data. groups: impacts by name."""

    poi: str
    entries: GlobalImpacts
    groups: dict[str, float]

    def __getitem__(self, name: str) -> float:
        """The impact of a group, or of a parameter."""
        if name in self.groups:
            return self.groups[name]
        if name not in self.entries.names:
            raise KeyError(name)
        return float(self.entries.impact[self.entries.names.index(name)])


class GlobalImpacts(fields.global_impact_rows):
    """Impacts of the auxiliary data of `names`, largest first."""

    names: list[str]

    def _labels(self) -> list[tuple[str, Any]]:
        return [("auxiliary datum of", self.names)]


class CompatibilityResult(fields.compatibility_result):
    """Do groups of channels agree on the parameter of interest `poi`? groups: each with its own."""

    poi: str
    groups: CompatibilityGroups


class CompatibilityGroups(fields.compatibility_group_rows):
    """Rows of groups, by the names of their parameters."""

    names: list[str]

    def _labels(self) -> list[tuple[str, Any]]:
        return [("parameter", self.names)]


@dataclass
class ChannelPrediction:
    """A channel before and after the fit. error: postfit, from the covariance. prefit_error: from constraint
    widths alone. total_error, prefit_total_error: of sums over bins. samples, prefit_samples: yields. masked:
    the likelihood leaves the channel out."""

    name: str
    prefit: Floats
    postfit: Floats
    error: Floats
    data: Floats
    samples: dict[str, Floats]
    prefit_samples: dict[str, Floats]
    prefit_error: Floats
    total_error: float
    prefit_total_error: float
    masked: bool = False


@dataclass
class Prediction:
    """Yields before and after a fit."""

    channels: list[ChannelPrediction]
    fit: FitResult

    def __getitem__(self, name: str) -> ChannelPrediction:
        for channel in self.channels:
            if channel.name == name:
                return channel
        raise KeyError(name)

    def without_data(self, channels: Iterable[str]) -> Prediction:
        """The same with NaN as data of these channels, which figures and tables do not show."""
        hidden = names_of(channels)
        known = [c.name for c in self.channels]
        for name in hidden:
            if name not in known:
                raise _engine.InvalidArgument(f"channels: there is no {name!r} among {', '.join(known)}")
        shown = (
            replace(c, data=np.full(len(c.data), np.nan)) if c.name in hidden else c for c in self.channels
        )
        return Prediction(list(shown), self.fit)

    def _repr_html_(self) -> str:
        rows = [
            (c.name, i, *(float(values[i]) for values in (c.data, c.prefit, c.postfit, c.error)))
            for c in self.channels
            for i in range(len(c.data))
        ]
        columns = "channel", "bin", "data", "prefit", "postfit", "error"
        return html_table(f"yields, fit {self.fit.status}", columns, rows)


class GoodnessOfFit(fields.gof_result):
    """Goodness of fit: against the saturated model, and KS and AD."""


class Tally(fields.toys_tally):
    """Outcomes of the toys of a run."""

    @property
    def counts(self) -> dict[str, int]:  # type: ignore[override]
        """Toys by status."""
        return dict(zip(_engine.enumeration("paritas_fit_status"), self.row["counts"].tolist()))

    @property
    def methods(self) -> dict[str, int]:
        """Toys fitted now, by method."""
        others = ("counts", "fitted", "iterations")
        return {one.key: getattr(self, one.key) for one in self.record.fields if one.key not in others}

    @property
    def failed(self) -> int:
        """Toys without an answer."""
        return sum(count for status, count in self.counts.items() if status != "converged")

    def __str__(self) -> str:
        return ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)


class ToySummary(fields.toys_parameter_rows):
    """Parameters over all answered toys."""


class _ToyRun(fields.toys_result):
    """What runs of toys share."""


class ToyFits(_ByParameter, fields.fit_result_rows):
    """Toys with best fits. Row i of every array is toy toy[i]; None with keep=False. statistic: twice the NLL
    minus the saturated model's. run: all toys together. summary: by parameter."""

    names: list[str]
    n: int
    seed: int
    run: _ToyRun
    summary: ToySummary
    toy: NDArray[np.uint64] | None
    statistic: Floats | None
    values: Floats | None
    errors: Floats | None

    @property
    def tally(self) -> Tally:
        """Outcomes of the toys."""
        return Tally(self.run.row["tally"])

    @property
    def status_observed(self) -> str:
        """Status of the fit that toys were drawn from."""
        return self.run.status

    def __len__(self) -> int:
        return sum(self.tally.counts.values())

    @property
    def converged(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which toys' fits converged."""
        if self.row is None:
            raise ValueError("the toys were not kept: keep=True")
        found: NDArray[np.bool_] = self.status == "converged"
        return found

    @property
    def pulls(self) -> Floats:
        """(values - generated) / errors, by toy."""
        if self.values is None or self.errors is None:
            raise ValueError("pulls need the errors of every toy: keep=True, errors=True")
        found: Floats = (self.values - self.summary.generated) / self.errors
        return found

    def _repr_html_(self) -> str:
        columns = {one.key: getattr(self.summary, one.key).tolist() for one in self.summary.record.fields}
        title = f"toys: {self.tally}; seed {self.seed}"
        return html_table(title, ["parameter", *columns], zip(self.names, *columns.values()))


class ToyHypotestResult(fields.hypotest_toys_result):
    """Toy-based test of one value of the parameter of interest, with statistical errors. toys: rows of
    paritas_toy, by hypothesis and number; None with keep=False."""

    tally: Tally
    toys: NDArray[Any] | None

    @property
    def q_tested(self) -> Floats:
        """Statistics of answered toys at the tested value."""
        return self._q(True)

    @property
    def q_other(self) -> Floats:
        """The same for the other hypothesis."""
        return self._q(False)

    @property
    def strengths(self) -> Floats:  # type: ignore[override]
        """Importance sampling: values where toys were drawn, the tested one first, then the other hypothesis.
        Empty without it."""
        found: Floats = self.row["strengths"][: self.n_strengths]
        return found

    def _q(self, at_tested: bool) -> Floats:
        if self.toys is None:
            raise ValueError("the toys were not kept: keep=True")
        place = self.toys["hypothesis"]
        if self.n_strengths > 0:
            drawn = place == self.strengths[0 if at_tested else 1]
        else:
            drawn = (place == self.mu) == at_tested
        found: Floats = self.toys["q"][drawn & (self.toys["status"] == 0)]
        return found

    def _title(self) -> str:
        return f"mu = {self.mu:g}, {self.status}; toys: {self.tally}"


class SignificanceToysResult(fields.significance_toys_result):
    """Discovery by toys. test: the test of mu = 0."""

    test: ToyHypotestResult

    @property
    def converged(self) -> bool:
        """The observed fits converged."""
        return self.test.converged

    def _title(self) -> str:
        return f"discovery, {self.test.status}; toys: {self.test.tally}"


class LookElsewherePoints(fields.look_elsewhere_point_rows):
    """The signals of a LookElsewhereResult, by their `names`."""

    names: list[str]

    def _labels(self) -> list[tuple[str, Any]]:
        return [("signal", self.names)]


class LookElsewhereResult(fields.look_elsewhere_result):
    """Global significance of the largest excess among the signals of `points`."""

    tally: Tally
    points: LookElsewherePoints

    @property
    def largest(self) -> str:
        """Name of the signal with the largest excess."""
        return self.points.names[self.point]

    @property
    def converged(self) -> bool:
        """The fits to the observed data converged."""
        return self.status == "converged"


class LimitToysResult(fields.limit_toys_result):
    """Upper limits by toys, where CLs is `level`, to a relative error of `rtol`. scan: tested values. toys:
    as in ToyHypotestResult."""

    tally: Tally
    level: float
    rtol: float
    scan: list[ToyHypotestResult]
    toys: NDArray[Any] | None

    @property
    def converged(self) -> bool:
        """The observed fits converged; every limit reached its error."""
        return self.status == "converged" and self.reached_obs and bool(np.all(self.reached_exp))

    def _title(self) -> str:
        return f"upper limit at CLs = {self.level:g}, {self.status}; toys: {self.tally}"


class IntervalToysResult(fields.interval_toys_result):
    """Feldman-Cousins interval by toys at 1 - `level` confidence. scan: tested values, whose CLsb is the
    p-value. toys: as in ToyHypotestResult."""

    tally: Tally
    level: float
    rtol: float
    scan: list[ToyHypotestResult]
    toys: NDArray[Any] | None

    def _title(self) -> str:
        return f"interval at {1.0 - self.level:g} confidence, {self.status}; toys: {self.tally}"


class _PValueByToys(fields.gof_toys_result):
    tally: Tally
    asymptotic: Any

    @property
    def p(self) -> float:
        """The same as `p_toys`."""
        return self.p_toys

    @property
    def p_error(self) -> float:
        """The same as `p_toys_error`."""
        return self.p_toys_error

    @property
    def converged(self) -> bool:
        """The observed fit converged."""
        return bool(self.asymptotic.converged)


class GoodnessOfFitToys(_PValueByToys):
    """Goodness of fit by toys. asymptotic: from a chi-squared distribution."""

    asymptotic: GoodnessOfFit

    def _title(self) -> str:
        return f"goodness of fit, {self.asymptotic.status}; toys: {self.tally}"


class CompatibilityToys(_PValueByToys):
    """Compatibility of channels by toys. asymptotic: from a chi-squared distribution."""

    asymptotic: CompatibilityResult

    def _title(self) -> str:
        return f"compatibility of channels, {self.asymptotic.status}; toys: {self.tally}"
