"""Test statistics with p-values, by asymptotic formulas (arXiv:1007.1727, section 3) or toys."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...progress import told
from .. import bridge
from ..exceptions import FailedMinimization, Unsupported
from ..optimize.mixins import EngineOptimizer, OptimizeResult
from ..tensor.manager import as_tensor, get_backend
from .mle import _at_poi, _given, _validate_fit_inputs, fixed_poi_fit
from .test_statistics import _check, _mu_of_q0, get_test_stat

log = logging.getLogger(__name__)

__all__ = [
    "AsymptoticCalculator",
    "AsymptoticTestStatDistribution",
    "EmpiricalDistribution",
    "ToyCalculator",
    "generate_asimov_data",
]
__dir__ = __all__.copy

_ROOT2 = math.sqrt(2.0)
_N_SIGMA = (2, 1, 0, -1, -2)


def generate_asimov_data(
    asimov_mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """Expected data at the best fit with the POI at `asimov_mu`; optionally the fit's parameters."""
    found = fixed_poi_fit(asimov_mu, data, pdf, init_pars, par_bounds, fixed_params)
    asimov_data = pdf.expected_data(found)
    return (asimov_data, found) if return_fitted_pars else asimov_data


@dataclass(eq=False, repr=False)
class AsymptoticTestStatDistribution:
    """Unit normal distribution around `shift` above `cutoff`, in units of -mu/sigma."""

    shift: Any
    cutoff: float = float("-inf")

    def cdf(self, value: Any) -> Any:
        return get_backend()[0].normal_cdf(value - self.shift)

    def pvalue(self, value: Any) -> Any:
        """NaN below the cutoff."""
        if isinstance(value, float) or np.ndim(value) == 0:  # 10 times as fast as arrays
            value = float(value)
            tail = 0.5 * math.erfc((value - float(self.shift)) / _ROOT2)
            return as_tensor(tail if value >= self.cutoff else math.nan)
        value = np.asarray(value)
        tail = get_backend()[0].normal_cdf(self.shift - value)
        return as_tensor(np.where(value >= self.cutoff, tail, math.nan))

    def expected_value(self, nsigma: Any) -> Any:
        if isinstance(nsigma, (int, float)):
            return as_tensor(max(float(self.shift) + nsigma, float(self.cutoff)))
        return as_tensor(np.maximum(self.shift + nsigma, self.cutoff))


@dataclass(frozen=True)
class HypoTestFitResults:
    asimov_pars: Any
    free_fit_to_data: Any
    free_fit_to_asimov: Any
    fixed_poi_fit_to_data: Any
    fixed_poi_fit_to_asimov: Any


def _failure(status: int, message: str) -> FailedMinimization:
    text = f"{message}: {bridge.STATUSES[status]}."
    return FailedMinimization(OptimizeResult(success=False, status=status, message=text))


@dataclass(eq=False, repr=False)
class _Calculator:
    data: Any
    pdf: Any
    init_pars: Any = None
    par_bounds: Any = None
    fixed_params: Any = None
    test_stat: str = "qtilde"

    def __post_init__(self) -> None:
        settings = (self.init_pars, self.par_bounds, self.fixed_params)
        self.init_pars, self.par_bounds, self.fixed_params = _given(self.pdf, *settings)

    @property
    def _problem(self) -> tuple[Any, Any, Any, Any, Any]:
        return self.data, self.pdf, self.init_pars, self.par_bounds, self.fixed_params

    @property
    def _other_mu(self) -> float:
        return 1.0 if self.test_stat == "q0" else 0.0

    def _engine(self) -> Any:
        """None if it cannot fit the model."""
        optimizer = get_backend()[1]
        by_engine = isinstance(optimizer, EngineOptimizer) and optimizer.handles(self.pdf)
        return self.pdf._engine_model() if by_engine else None

    def _checked_mu(self, poi_test: Any) -> float:
        name = get_test_stat(self.test_stat).__name__
        _check(name, self.pdf, self.par_bounds)
        return _mu_of_q0(poi_test) if name == "q0" else float(poi_test)

    def _arrays(self, mu: float) -> bridge.Settings:
        """Refuses a start or tested value outside its bounds."""
        self.pdf._check_lengths(len(self.init_pars), np.shape(self.data)[-1])
        start = np.array(self.init_pars, dtype=np.float64)
        lower, upper = np.array(self.par_bounds, dtype=np.float64).T.copy()
        poi = self.pdf.config.poi_index
        low, high = sorted((mu, self._other_mu))
        if ((start < lower) | (start > upper)).any() or not (lower[poi] <= low and high <= upper[poi]):
            for value in (start[poi], mu, self._other_mu):
                conditional, _ = _at_poi(value, self.pdf, self.init_pars, self.fixed_params)
                _validate_fit_inputs(conditional, self.par_bounds)
        return start, lower, upper, np.array(self.fixed_params, dtype=np.uint8)

    def pvalues(self, teststat: Any, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any) -> Any:
        above_signal = sig_plus_bkg_distribution.pvalue(teststat)
        above_background = bkg_only_distribution.pvalue(teststat)
        return above_signal, above_background, as_tensor(above_signal / above_background)


@dataclass(eq=False, repr=False)
class AsymptoticCalculator(_Calculator):
    """`test_stat`: "qtilde", "q" or "q0". `calc_base_dist`: "normal", or "clipped_normal" (from
    -sqrt(q_mu,A))."""

    calc_base_dist: str = "normal"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sqrtqmuA_v: Any = None
        self._mu: Any = None
        self._fitted_pars: Any = None

    @property
    def fitted_pars(self) -> Any:
        """Refitted on request."""
        if self._fitted_pars is None and self._mu is not None:
            self._fitted_pars = self._five_fits(self._mu)[2]
        return self._fitted_pars

    def distributions(self, poi_test: Any) -> Any:
        """Distributions with and without signal, after `teststatistic`."""
        if self.sqrtqmuA_v is None:
            raise RuntimeError("need to call .teststatistic(poi_test) first")
        if self.calc_base_dist not in ("normal", "clipped_normal"):
            raise ValueError(f"unknown base distribution for asymptotics {self.calc_base_dist}")
        cutoff = float("-inf") if self.calc_base_dist == "normal" else -self.sqrtqmuA_v
        with_signal = AsymptoticTestStatDistribution(-self.sqrtqmuA_v, cutoff)
        return with_signal, AsymptoticTestStatDistribution(0.0, cutoff)

    def _five_fits(self, mu: Any) -> Any:
        statistic = get_test_stat(self.test_stat)
        q, (conditional, free) = statistic(mu, *self._problem, return_fitted_pars=True)
        asimov, asimov_pars = generate_asimov_data(self._other_mu, *self._problem, return_fitted_pars=True)
        q_asimov, (conditional_asimov, free_asimov) = statistic(
            mu, asimov, *self._problem[1:], return_fitted_pars=True
        )
        fits = HypoTestFitResults(asimov_pars, free, free_asimov, conditional, conditional_asimov)
        return float(q), float(q_asimov), fits

    def _by_engine(self, engine: Any, poi_test: Any) -> tuple[float, float]:
        mu = self._checked_mu(poi_test)
        limit = get_backend()[1].iteration_limit()
        q, q_asimov, status = bridge.hypotest(engine, mu, self.test_stat, self.data, self._arrays(mu), limit)
        if status != bridge.CONVERGED:
            raise _failure(status, "A fit of the test failed")
        return q, q_asimov

    def teststatistic(self, poi_test: Any) -> Any:
        """The statistic in units of -mu/sigma."""
        engine = self._engine()
        self._mu, self._fitted_pars = poi_test, None
        if engine is not None:
            q, q_asimov = self._by_engine(engine, poi_test)
        else:
            q, q_asimov, self._fitted_pars = self._five_fits(poi_test)
        self.sqrtqmuA_v = as_tensor(math.sqrt(q_asimov))
        return as_tensor(bridge.asymptotic_shift(self.test_stat, q, q_asimov))

    def expected_pvalues(self, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any) -> Any:
        """CLs+b, CLb and CLs, each at -2, -1, 0, 1, 2 sigma without signal."""
        both = (sig_plus_bkg_distribution, bkg_only_distribution)
        values = (bkg_only_distribution.expected_value(n_sigma) for n_sigma in _N_SIGMA)
        return [list(band) for band in zip(*(self.pvalues(value, *both) for value in values))]


class EmpiricalDistribution:
    def __init__(self, samples: Any) -> None:
        self.samples = get_backend()[0].ravel(samples)

    def pvalue(self, value: Any) -> Any:
        return as_tensor(np.count_nonzero(self.samples >= value) / len(self.samples))

    def expected_value(self, nsigma: Any) -> Any:
        tensorlib, _ = get_backend()
        return tensorlib.percentile(self.samples, tensorlib.normal_cdf(nsigma) * 100)


@dataclass(eq=False, repr=False)
class ToyCalculator(_Calculator):
    """`ntoys` toys of each hypothesis in one batch. NumPy's global generator draws them in pyhf's order; with
    `seed` the engine does, and toy t depends on seed and t alone."""

    ntoys: int = 2000
    track_progress: bool = True
    seed: int | None = None

    def distributions(self, poi_test: Any, track_progress: bool | None = None) -> Any:
        """Distributions with and without signal. A failed fit raises FailedMinimization; with a seed its toy
        is dropped with a warning."""
        shown = self.track_progress if track_progress is None else track_progress
        if self.seed is not None:
            return self._by_engine(float(poi_test), self.seed, shown)
        samples = [
            self.pdf.make_pdf(fixed_poi_fit(mu, *self._problem)).sample((self.ntoys,))
            for mu in (poi_test, self._other_mu)
        ]
        return tuple(
            EmpiricalDistribution(as_tensor(self._statistics(poi_test, rows, shown, name)))
            for rows, name in zip(samples, ("Signal-like", "Background-like"))
        )

    def _by_engine(self, mu: float, seed: int, shown: bool) -> Any:
        engine = self._engine()
        if engine is None or mu == self._other_mu:
            raise Unsupported(
                f"seed: only for the engine's models, and only where the tested value is not {self._other_mu}"
            )
        _check(get_test_stat(self.test_stat).__name__, self.pdf, self.par_bounds)
        with told(shown, "toys") as tell:
            with_signal, without, failed = bridge.toys(
                engine, mu, self.test_stat, self.ntoys, seed, self.data, self._arrays(mu), tell
            )
        if failed:
            log.warning("%d of %d toys had no answer and are left out", failed, 2 * self.ntoys)
        return EmpiricalDistribution(with_signal), EmpiricalDistribution(without)

    def _statistics(self, poi_test: Any, rows: Any, shown: bool, name: str) -> Any:
        engine = self._engine()
        if engine is None:
            statistic = get_test_stat(self.test_stat)
            return [statistic(poi_test, row, *self._problem[1:]) for row in rows]
        mu = self._checked_mu(poi_test)
        start, lower, upper, fixed = self._arrays(mu)
        poi = self.pdf.config.poi_index
        start_at_mu, fixed_at_mu = start.copy(), fixed.copy()
        start_at_mu[poi], fixed_at_mu[poi] = mu, 1
        with told(shown, name) as tell:
            at_mu = (start_at_mu, lower, upper, fixed_at_mu)
            status_conditional, value_conditional, _ = bridge.fit_rows(engine, rows, at_mu, tell)
            status_free, value_free, free = bridge.fit_rows(engine, rows, (start, lower, upper, fixed), tell)
        statuses = np.concatenate([status_conditional, status_free])
        failed = statuses[statuses != bridge.CONVERGED]
        if len(failed):
            raise _failure(int(failed[0]), f"Fits of {len(failed)} toys failed, the first one")
        best = free[:, poi]
        vanishes = best < 0 if self.test_stat == "q0" else best > mu
        return np.where(vanishes, 0.0, np.maximum(0.0, value_conditional - value_free))

    def teststatistic(self, poi_test: Any) -> Any:
        return get_test_stat(self.test_stat)(poi_test, *self._problem)

    def expected_pvalues(self, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any) -> Any:
        """p-values from percentiles of the toys without signal."""
        above_signal, above_background = (
            np.array(
                [distribution.pvalue(value) for value in bkg_only_distribution.samples], dtype=np.float64
            )
            for distribution in (sig_plus_bkg_distribution, bkg_only_distribution)
        )
        percentiles = [100 * float(get_backend()[0].normal_cdf(-n_sigma)) for n_sigma in _N_SIGMA]
        return [
            [*map(as_tensor, np.percentile(curve, percentiles))]
            for curve in (above_signal, above_background, above_signal / above_background)
        ]
