"""What fits and statistics answer: dataclasses with NumPy arrays. Numbers that do not exist (the error of a
fixed parameter) are NaN."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _html_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass
class Starts:
    """What became of a fit from several starts: how many converged, which of them answers (0: the suggested
    one), the spread of their minima of twice the NLL, and how many found each minimum, lowest first."""

    n: int
    converged: int
    best_start: int
    spread: float
    minima: list[tuple[float, int]]


@dataclass
class FitResult:
    """A best fit. `values`, `errors`, `states` stand in the order of `names`; covariance: rows of fixed
    parameters are 0.

    converged is said only where the conditions were checked at `values`; edm: estimated distance to the
    minimum, in units of twice the NLL.
    """

    status: str
    twice_nll: float
    edm: float
    iterations: int
    projected_gradient: float
    names: list[str]
    values: Floats
    errors: Optional[Floats]
    covariance: Optional[Floats]
    states: Optional[list[str]]
    poi: Optional[str]
    device: str
    precision: str
    starts: Optional[Starts] = None

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def nll(self) -> float:
        return 0.5 * self.twice_nll

    @property
    def correlation(self) -> Optional[Floats]:
        """Correlations; 0 where a parameter is not free."""
        if self.covariance is None:
            return None
        width = np.sqrt(np.diagonal(self.covariance))
        width = np.where(width > 0, width, np.inf)
        found: Floats = self.covariance / np.outer(width, width)
        return found

    def __getitem__(self, name: str) -> tuple[float, float]:
        """(value, error) of a parameter."""
        try:
            i = self.names.index(name)
        except ValueError:
            raise KeyError(name) from None
        return float(self.values[i]), float("nan") if self.errors is None else float(self.errors[i])

    def to_dict(self) -> dict[str, float]:
        """Values by name."""
        return dict(zip(self.names, self.values.tolist()))

    def _repr_html_(self) -> str:
        errors = np.full(len(self.values), np.nan) if self.errors is None else self.errors
        states = self.states or [""] * len(self.names)
        title = f"{self.status}, twice NLL {self.twice_nll:.10g}, EDM {self.edm:.2g}, {self.iterations} iterations, {self.device}, {self.precision}"
        return _html_table(
            title,
            ("parameter", "value", "error", "state"),
            list(zip(self.names, self.values.tolist(), errors.tolist(), states)),
        )


@dataclass
class FitBatch:
    """Many fits: row i of every array belongs to fit i. A batch never fails because one fit did."""

    status: NDArray[np.str_]
    twice_nll: Floats
    edm: Floats
    iterations: NDArray[np.int64]
    projected_gradient: Floats
    names: list[str]
    values: Floats
    errors: Optional[Floats]
    covariance: Optional[Floats]
    device: str
    precision: str

    def __len__(self) -> int:
        return len(self.twice_nll)

    @property
    def converged(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.status == "converged"
        return found

    def __getitem__(self, name: str) -> Floats:
        """Fitted values of a parameter."""
        try:
            return self.values[:, self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def _repr_html_(self) -> str:
        kinds, counts = np.unique(self.status, return_counts=True)
        return _html_table(
            f"{len(self)} fits, {self.device}, {self.precision}",
            ("status", "fits"),
            list(zip(kinds.tolist(), counts.tolist())),
        )


@dataclass
class HypotestResult:
    """Test of one value of the parameter of interest. CLs_exp at -2, -1, 0, 1, 2 sigma, ascending in CLs; p0
    for q0 only, else NaN."""

    mu: float
    CLs_obs: float
    CLs_exp: Floats
    CLsb: float
    CLb: float
    p0: float
    q: float
    q_A: float
    mu_hat: float
    twice_nll_free: float
    twice_nll_fixed: float
    status: str

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def _repr_html_(self) -> str:
        exp = self.CLs_exp.tolist()
        return _html_table(
            f"mu = {self.mu:g}, {self.status}",
            ("CLs observed", "-2 sigma", "-1 sigma", "median", "+1 sigma", "+2 sigma", "mu_hat"),
            [[self.CLs_obs, *exp, self.mu_hat]],
        )


@dataclass
class LimitResult:
    """Upper limits: where CLs is `level`. limit_exp at -2, -1, 0, 1, 2 sigma; NaN where there is no root.
    scan: all tests made on the way, ascending in mu."""

    limit_obs: float
    limit_exp: Floats
    level: float
    upper_bound: float
    bound_widened: bool
    status: str
    scan: list[HypotestResult]

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def _repr_html_(self) -> str:
        return _html_table(
            f"upper limit at CLs = {self.level:g}, {self.status}",
            ("observed", "-2 sigma", "-1 sigma", "median", "+1 sigma", "+2 sigma"),
            [[self.limit_obs, *self.limit_exp.tolist()]],
        )


@dataclass
class SignificanceResult:
    """Discovery: p0 and Z, observed, and expected for mu = 1."""

    p0: float
    Z: float
    p0_exp: float
    Z_exp: float
    q0: float
    mu_hat: float
    status: str

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def _repr_html_(self) -> str:
        return _html_table(
            f"discovery, {self.status}",
            ("p0", "Z", "p0 expected", "Z expected", "mu_hat"),
            [[self.p0, self.Z, self.p0_exp, self.Z_exp, self.mu_hat]],
        )


@dataclass
class ScanResult:
    """Profile likelihood over one or two parameters: row i of `values` (points, parameters) has q[i] = max(0,
    twice_nll[i] - best_twice_nll). best: the scanned parameters at the best fit, best_values: all parameters
    there."""

    parameters: list[str]
    values: Floats
    q: Floats
    twice_nll: Floats
    status: NDArray[np.str_]
    best_status: str
    best_twice_nll: float
    best_values: Floats
    best: Floats

    @property
    def converged(self) -> bool:
        return self.best_status == "converged" and bool(np.all(self.status == "converged"))

    def _repr_html_(self) -> str:
        rows = [
            [*map(float, at), float(q), str(status)]
            for at, q, status in zip(self.values, self.q, self.status)
        ]
        return _html_table("profile likelihood", (*self.parameters, "q", "status"), rows)


@dataclass
class RankingResult:
    """Impacts on the parameter of interest, largest first: of parameters at best fit +- error (impact) and +-
    constraint width (prefit)."""

    poi: str
    names: list[str]
    pull: Floats
    constraint: Floats
    impact_up: Floats
    impact_down: Floats
    prefit_up: Floats
    prefit_down: Floats
    status: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def _repr_html_(self) -> str:
        columns = (
            self.pull,
            self.constraint,
            self.impact_up,
            self.impact_down,
            self.prefit_up,
            self.prefit_down,
        )
        rows = [[name, *(float(column[i]) for column in columns)] for i, name in enumerate(self.names)]
        return _html_table(
            f"impacts on {self.poi}",
            ("parameter", "pull", "constraint", "impact up", "impact down", "prefit up", "prefit down"),
            rows,
        )


@dataclass
class ChannelPrediction:
    """A channel before and after the fit. error: of the postfit yields, from the covariance; prefit_error: of
    the prefit yields, from the widths of the constraints alone; total_error, prefit_total_error: of their
    sums over bins. samples: postfit yields by sample."""

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

    def _repr_html_(self) -> str:
        rows: list[Sequence[Any]] = [
            (c.name, i, float(c.data[i]), float(c.prefit[i]), float(c.postfit[i]), float(c.error[i]))
            for c in self.channels
            for i in range(len(c.data))
        ]
        return _html_table(
            f"yields, fit {self.fit.status}", ("channel", "bin", "data", "prefit", "postfit", "error"), rows
        )


@dataclass
class GoodnessOfFit:
    """Against the saturated model: statistic = twice_nll - saturated, p from a chi-squared distribution."""

    twice_nll: float
    saturated: float
    statistic: float
    ndof: int
    p: float
    status: str

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def _repr_html_(self) -> str:
        return _html_table(
            f"goodness of fit, {self.status}",
            ("statistic", "degrees of freedom", "p"),
            [[self.statistic, self.ndof, self.p]],
        )


@dataclass
class Tally:
    """What became of toys: by status; of those that were fitted now, their iterations and the methods that
    answered."""

    counts: dict[str, int]
    fitted: int
    iterations: int
    methods: dict[str, int]

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.counts.items() if status != "converged")

    def __str__(self) -> str:
        return ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)


@dataclass
class ToySummary:
    """Over all toys with an answer, in the order of the parameters. generated: where they were drawn, NaN
    where that is not known; pull: (fitted - generated) / error."""

    generated: Floats
    n: Floats
    mean: Floats
    rms: Floats
    n_pulls: Floats
    pull_mean: Floats
    pull_rms: Floats


@dataclass
class ToyFits:
    """Toys with their best fits: row i of every array belongs to toy number toy[i]. statistic: twice the NLL
    less that of the saturated model. The arrays are None where keep=False. status_observed: of the fit that
    the toys were drawn at."""

    names: list[str]
    status_observed: str
    n: int
    seed: int
    summary: ToySummary
    tally: Tally
    toy: Optional[NDArray[np.uint64]]
    status: Optional[NDArray[np.str_]]
    twice_nll: Optional[Floats]
    statistic: Optional[Floats]
    edm: Optional[Floats]
    iterations: Optional[NDArray[np.uint32]]
    values: Optional[Floats]
    errors: Optional[Floats]

    def __len__(self) -> int:
        return sum(self.tally.counts.values())

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Toy by toy."""
        if self.status is None:
            raise ValueError("the toys were not kept: keep=True")
        found: NDArray[np.bool_] = self.status == "converged"
        return found

    @property
    def pulls(self) -> Floats:
        """(values - generated) / errors, toy by toy."""
        if self.values is None or self.errors is None:
            raise ValueError("pulls need the errors of every toy: keep=True, errors=True")
        found: Floats = (self.values - self.summary.generated) / self.errors
        return found

    def __getitem__(self, name: str) -> Floats:
        """Fitted values of a parameter."""
        if self.values is None:
            raise ValueError("the toys were not kept: keep=True")
        try:
            return self.values[:, self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def _repr_html_(self) -> str:
        columns = (
            self.summary.generated,
            self.summary.mean,
            self.summary.rms,
            self.summary.pull_mean,
            self.summary.pull_rms,
        )
        rows = [[name, *(float(column[i]) for column in columns)] for i, name in enumerate(self.names)]
        return _html_table(
            f"toys: {self.tally}; seed {self.seed}",
            ("parameter", "generated", "mean", "rms", "pull mean", "pull rms"),
            rows,
        )


@dataclass
class ToyHypotestResult:
    """Test by toys of one value of the parameter of interest, with standard errors from the number of toys.
    toys: every one, as rows of `toy, mu, hypothesis, q, mu_hat, twice_nll_free, twice_nll_fixed, status,
    iterations`, in the order of hypothesis and number; None where they were not kept. n_tested, n_other: toys
    with an answer, of the tested value and of the other."""

    mu: float
    CLs_obs: float
    CLs_obs_error: float
    CLs_exp: Floats
    CLs_exp_error: Floats
    CLsb: float
    CLsb_error: float
    CLb: float
    CLb_error: float
    p0: float
    p0_error: float
    q: float
    mu_hat: float
    twice_nll_free: float
    twice_nll_fixed: float
    status: str
    n_tested: int
    n_other: int
    tally: Tally
    toys: Optional[NDArray[Any]]

    @property
    def converged(self) -> bool:
        """Of the fits to the observed data."""
        return self.status == "converged"

    @property
    def q_tested(self) -> Floats:
        """Statistics of the toys with an answer that were drawn at the tested value."""
        return self._q(self._kept["hypothesis"] == self.mu)

    @property
    def q_other(self) -> Floats:
        """The same of the other hypothesis."""
        return self._q(self._kept["hypothesis"] != self.mu)

    @property
    def _kept(self) -> NDArray[Any]:
        if self.toys is None:
            raise ValueError("the toys were not kept: keep=True")
        return self.toys

    def _q(self, drawn: NDArray[np.bool_]) -> Floats:
        found: Floats = self._kept["q"][drawn & (self._kept["status"] == 0)]
        return found

    def _repr_html_(self) -> str:
        rows = [
            ["CLs", self.CLs_obs, self.CLs_obs_error],
            ["CLs+b", self.CLsb, self.CLsb_error],
            ["CLb", self.CLb, self.CLb_error],
            ["p0", self.p0, self.p0_error],
            *(
                [f"CLs expected, {s:+d} sigma", float(e), float(d)]
                for s, e, d in zip(range(-2, 3), self.CLs_exp, self.CLs_exp_error)
            ),
        ]
        return _html_table(
            f"mu = {self.mu:g}, {self.status}; toys: {self.tally}", ("", "value", "error"), rows
        )


@dataclass
class SignificanceToysResult:
    """Discovery by toys. Z_at_least: where no toy reaches q0, Z of the limit on p0 at 95 % confidence, else
    NaN. test: q0 and all else."""

    p0: float
    p0_error: float
    Z: float
    Z_error: float
    Z_at_least: float
    p0_exp: float
    p0_exp_error: float
    Z_exp: float
    Z_exp_error: float
    Z_exp_at_least: float
    test: ToyHypotestResult

    @property
    def converged(self) -> bool:
        return self.test.converged

    def _repr_html_(self) -> str:
        rows = [
            ["observed", self.Z, self.Z_error, self.Z_at_least, self.p0, self.p0_error],
            ["expected", self.Z_exp, self.Z_exp_error, self.Z_exp_at_least, self.p0_exp, self.p0_exp_error],
        ]
        return _html_table(
            f"discovery, {self.test.status}; toys: {self.test.tally}",
            ("", "Z", "error", "Z at least", "p0", "error"),
            rows,
        )


@dataclass
class LimitToysResult:
    """Upper limits by toys, with standard errors. reached: the error is at most rtol, or there is no limit.
    asymptotic: where the search began. scan: the tested values."""

    level: float
    rtol: float
    limit_obs: float
    limit_obs_error: float
    reached_obs: bool
    limit_exp: Floats
    limit_exp_error: Floats
    reached_exp: NDArray[np.bool_]
    asymptotic_obs: float
    asymptotic_exp: Floats
    mu_hat: float
    twice_nll_free: float
    upper_bound: float
    bound_widened: bool
    status: str
    tally: Tally
    scan: list[ToyHypotestResult]
    toys: Optional[NDArray[Any]]

    @property
    def converged(self) -> bool:
        """The observed fits converged and every limit reached its error."""
        return self.status == "converged" and self.reached_obs and bool(np.all(self.reached_exp))

    def _repr_html_(self) -> str:
        rows = [
            ["observed", self.limit_obs, self.limit_obs_error, self.asymptotic_obs],
            *(
                [f"expected, {s:+d} sigma", float(v), float(e), float(a)]
                for s, v, e, a in zip(range(-2, 3), self.limit_exp, self.limit_exp_error, self.asymptotic_exp)
            ),
        ]
        return _html_table(
            f"upper limit at CLs = {self.level:g}, {self.status}; toys: {self.tally}",
            ("", "limit", "error", "asymptotic"),
            rows,
        )


@dataclass
class GoodnessOfFitToys:
    """Goodness of fit by toys; asymptotic: against a chi-squared distribution. n: toys with an answer."""

    asymptotic: GoodnessOfFit
    p: float
    p_error: float
    n: int
    tally: Tally

    @property
    def converged(self) -> bool:
        return self.asymptotic.converged

    def _repr_html_(self) -> str:
        return _html_table(
            f"goodness of fit, {self.asymptotic.status}; toys: {self.tally}",
            ("statistic", "p by toys", "error", "p asymptotic"),
            [[self.asymptotic.statistic, self.p, self.p_error, self.asymptotic.p]],
        )
