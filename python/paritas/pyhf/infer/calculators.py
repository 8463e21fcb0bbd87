"""Calculators: a test statistic, its distributions under both hypotheses, and p-values; asymptotically
(arXiv:1007.1727, section 3) or by toys."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paritas.progress import told
from paritas.pyhf import bridge
from paritas.pyhf.exceptions import FailedMinimization, Unsupported
from paritas.pyhf.infer import test_statistics, utils
from paritas.pyhf.infer.mle import _at_poi, _given, _validate_fit_inputs, fixed_poi_fit
from paritas.pyhf.optimize.mixins import EngineOptimizer, OptimizeResult
from paritas.pyhf.tensor.manager import get_backend

log = logging.getLogger(__name__)

__all__ = [
    "AsymptoticCalculator",
    "AsymptoticTestStatDistribution",
    "EmpiricalDistribution",
    "ToyCalculator",
    "generate_asimov_data",
]

_ROOT2 = math.sqrt(2.0)
_N_SIGMA = (2, 1, 0, -1, -2)


def __dir__() -> list[str]:
    return __all__


def generate_asimov_data(
    asimov_mu: Any,
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_params: Any,
    return_fitted_pars: bool = False,
) -> Any:
    """What is expected, auxiliary data included, at the best fit with the parameter of interest at
    `asimov_mu`; with `return_fitted_pars` also that fit's parameters."""
    found = fixed_poi_fit(asimov_mu, data, pdf, init_pars, par_bounds, fixed_params)
    asimov_data = pdf.expected_data(found)
    return (asimov_data, found) if return_fitted_pars else asimov_data


class AsymptoticTestStatDistribution:
    """A normal distribution of unit width around `shift`, in units of -mu/sigma; values below `cutoff` do not
    occur."""

    def __init__(self, shift: Any, cutoff: float = float("-inf")) -> None:
        self.shift = shift
        self.cutoff = cutoff

    def cdf(self, value: Any) -> Any:
        """Probability of at most `value`."""
        return get_backend()[0].normal_cdf(value - self.shift)

    def pvalue(self, value: Any) -> Any:
        """Probability of at least `value`, from the tail itself; NaN below the cutoff."""
        tensorlib, _ = get_backend()
        if isinstance(value, float) or np.ndim(value) == 0:
            value, shift = float(value), float(self.shift)
            return tensorlib.astensor(
                0.5 * math.erfc((value - shift) / _ROOT2) if value >= self.cutoff else math.nan
            )
        value = np.asarray(value)
        return tensorlib.astensor(
            np.where(value >= self.cutoff, tensorlib.normal_cdf(self.shift - value), math.nan)
        )

    def expected_value(self, nsigma: Any) -> Any:
        """The value `nsigma` above the middle, at least the cutoff."""
        if isinstance(nsigma, (int, float)):
            return get_backend()[0].astensor(max(float(self.shift) + nsigma, float(self.cutoff)))
        return get_backend()[0].astensor(np.maximum(self.shift + nsigma, self.cutoff))


@dataclass(frozen=True)
class HypoTestFitResults:
    """Parameters of the five fits behind an asymptotic test."""

    asimov_pars: Any
    free_fit_to_data: Any
    free_fit_to_asimov: Any
    fixed_poi_fit_to_data: Any
    fixed_poi_fit_to_asimov: Any


class _Calculator:
    """Data, model and settings of a test; p-values from distributions."""

    def __init__(
        self, data: Any, pdf: Any, init_pars: Any, par_bounds: Any, fixed_params: Any, test_stat: str
    ) -> None:
        self.data = data
        self.pdf = pdf
        if init_pars is None or par_bounds is None or fixed_params is None:
            init_pars, par_bounds, fixed_params = _given(pdf, init_pars, par_bounds, fixed_params)
        self.init_pars, self.par_bounds, self.fixed_params = init_pars, par_bounds, fixed_params
        self.test_stat = test_stat

    @property
    def _settings(self) -> tuple[Any, Any, Any]:
        return self.init_pars, self.par_bounds, self.fixed_params

    def _engine(self) -> Any:
        """The engine's model; None where fits are not the engine's, or not of such a model."""
        optimizer = get_backend()[1]
        return (
            self.pdf._engine_model()
            if isinstance(optimizer, EngineOptimizer) and optimizer.handles(self.pdf)
            else None
        )

    def _other_mu(self) -> float:
        """Where the other hypothesis has the parameter of interest."""
        return 1.0 if self.test_stat == "q0" else 0.0

    def _arrays(self, mu: float) -> tuple[Any, Any, Any, Any]:
        """Start, lower and upper bounds and fixed flags as arrays. ValueError: a start, or mu, outside its
        bounds; InvalidPdfParameters, InvalidPdfData: another number of them is expected."""
        self.pdf._check_lengths(len(self.init_pars), np.shape(self.data)[-1])
        start, bounds = (
            np.array(self.init_pars, dtype=np.float64),
            np.array(self.par_bounds, dtype=np.float64),
        )
        lower, upper = bounds[:, 0], bounds[:, 1]
        poi = self.pdf.config.poi_index
        if ((start < lower) | (start > upper)).any() or not (
            lower[poi] <= min(mu, self._other_mu()) and max(mu, self._other_mu()) <= upper[poi]
        ):
            for value in (start[poi], mu, self._other_mu()):
                _validate_fit_inputs(
                    _at_poi(value, self.pdf, self.init_pars, self.fixed_params)[0],
                    self.par_bounds,
                    self.fixed_params,
                )
        return start, lower, upper, np.array(self.fixed_params, dtype=np.uint8)

    def pvalues(
        self, teststat: Any, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any
    ) -> tuple[Any, Any, Any]:
        """CLs+b, CLb and CLs of a value of the statistic."""
        above_signal, above_background = (
            sig_plus_bkg_distribution.pvalue(teststat),
            bkg_only_distribution.pvalue(teststat),
        )
        return above_signal, above_background, get_backend()[0].astensor(above_signal / above_background)


class AsymptoticCalculator(_Calculator):
    """test_stat: "qtilde", "q" or "q0"; calc_base_dist: "normal", or "clipped_normal", which caps expected
    statistics at 0."""

    def __init__(
        self,
        data: Any,
        pdf: Any,
        init_pars: Any = None,
        par_bounds: Any = None,
        fixed_params: Any = None,
        test_stat: str = "qtilde",
        calc_base_dist: str = "normal",
    ) -> None:
        super().__init__(data, pdf, init_pars, par_bounds, fixed_params, test_stat)
        self.calc_base_dist = calc_base_dist
        self.sqrtqmuA_v: Any = None
        self._mu: Any = None
        self._fitted_pars: HypoTestFitResults | None = None

    @property
    def fitted_pars(self) -> HypoTestFitResults | None:
        """The fits behind the last test statistic; None before there was one. Made when asked for: the engine
        needs them not one by one."""
        if self._fitted_pars is None and self._mu is not None:
            self._fitted_pars = self._five_fits(self._mu)[2]
        return self._fitted_pars

    def distributions(
        self, poi_test: Any
    ) -> tuple[AsymptoticTestStatDistribution, AsymptoticTestStatDistribution]:
        """Of the statistic with signal and without. RuntimeError: `teststatistic` was not called before;
        ValueError: unknown calc_base_dist."""
        if self.sqrtqmuA_v is None:
            raise RuntimeError("need to call .teststatistic(poi_test) first")
        if self.calc_base_dist not in ("normal", "clipped_normal"):
            raise ValueError(f"unknown base distribution for asymptotics {self.calc_base_dist}")
        cutoff = float("-inf") if self.calc_base_dist == "normal" else -self.sqrtqmuA_v
        return AsymptoticTestStatDistribution(-self.sqrtqmuA_v, cutoff), AsymptoticTestStatDistribution(
            0.0, cutoff
        )

    def _five_fits(self, mu: Any) -> tuple[float, float, HypoTestFitResults]:
        """The statistic on the data and on Asimov data, and all parameters."""
        statistic = utils.get_test_stat(self.test_stat)
        q, (held, free) = statistic(mu, self.data, self.pdf, *self._settings, return_fitted_pars=True)
        asimov_data, asimov_pars = generate_asimov_data(
            self._other_mu(), self.data, self.pdf, *self._settings, return_fitted_pars=True
        )
        q_asimov, (held_asimov, free_asimov) = statistic(
            mu, asimov_data, self.pdf, *self._settings, return_fitted_pars=True
        )
        fits = HypoTestFitResults(
            asimov_pars=asimov_pars,
            free_fit_to_data=free,
            free_fit_to_asimov=free_asimov,
            fixed_poi_fit_to_data=held,
            fixed_poi_fit_to_asimov=held_asimov,
        )
        return float(q), float(q_asimov), fits

    def _by_engine(self, engine: Any, mu: Any) -> tuple[float, float]:
        test_statistics._check(utils.get_test_stat(self.test_stat).__name__, self.pdf, self.par_bounds)
        if self.test_stat == "q0":
            mu = test_statistics._mu_of_q0(mu)
        q, q_asimov, status = bridge.hypotest(
            engine, float(mu), self.test_stat, self.data, *self._arrays(float(mu))
        )
        if status != bridge.CONVERGED:
            raise FailedMinimization(
                OptimizeResult(
                    success=False,
                    status=status,
                    message=f"A fit of the test failed: {bridge.STATUSES[status]}.",
                )
            )
        return q, q_asimov

    def teststatistic(self, poi_test: Any) -> Any:
        """The statistic in units of -mu/sigma: as its distributions have it."""
        engine = self._engine()
        self._mu, self._fitted_pars = poi_test, None
        if engine is not None:
            q, q_asimov = self._by_engine(engine, poi_test)
        else:
            q, q_asimov, self._fitted_pars = self._five_fits(poi_test)
        root, root_asimov = math.sqrt(q), math.sqrt(q_asimov)
        tensorlib, _ = get_backend()
        self.sqrtqmuA_v = tensorlib.astensor(root_asimov)
        if self.test_stat == "qtilde" and root > root_asimov > 0:
            return tensorlib.astensor((q - q_asimov) / (2 * root_asimov))
        return tensorlib.astensor(root - root_asimov)

    def expected_pvalues(self, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any) -> list[list[Any]]:
        """CLs+b, CLb and CLs, each at -2, -1, 0, 1, 2 sigma of what is expected without signal."""
        values = (bkg_only_distribution.expected_value(n_sigma) for n_sigma in _N_SIGMA)
        return [
            list(band)
            for band in zip(
                *(self.pvalues(value, sig_plus_bkg_distribution, bkg_only_distribution) for value in values)
            )
        ]


class EmpiricalDistribution:
    """The distribution that `samples` of the statistic show."""

    def __init__(self, samples: Any) -> None:
        self.samples = get_backend()[0].ravel(samples)

    def pvalue(self, value: Any) -> Any:
        """Fraction of samples that are at least `value`."""
        return get_backend()[0].astensor(np.count_nonzero(self.samples >= value) / len(self.samples))

    def expected_value(self, nsigma: Any) -> Any:
        """The percentile that a normal distribution has at `nsigma`."""
        tensorlib, _ = get_backend()
        return tensorlib.percentile(self.samples, tensorlib.normal_cdf(nsigma) * 100)


class ToyCalculator(_Calculator):
    """`ntoys` toys of each hypothesis.

    Without `seed` they are drawn by NumPy's global generator in pyhf's order, so that after numpy.random.seed
    they are pyhf's toys, and all of a hypothesis are fitted as one batch. With it they are the engine's own:
    toy t depends on the seed and t alone, whatever the number of toys, threads or devices.
    """

    def __init__(
        self,
        data: Any,
        pdf: Any,
        init_pars: Any = None,
        par_bounds: Any = None,
        fixed_params: Any = None,
        test_stat: str = "qtilde",
        ntoys: int = 2000,
        track_progress: bool = True,
        seed: int | None = None,
    ) -> None:
        super().__init__(data, pdf, init_pars, par_bounds, fixed_params, test_stat)
        self.ntoys = ntoys
        self.seed = seed
        self.track_progress = track_progress

    def distributions(
        self, poi_test: Any, track_progress: bool | None = None
    ) -> tuple[EmpiricalDistribution, EmpiricalDistribution]:
        """Of the statistic with signal and without. FailedMinimization: a toy's fit did not converge; with a
        seed such toys are left out with a warning. Unsupported: a seed for a model that is not the engine's,
        or for a test of the value that the other hypothesis has."""
        tensorlib, _ = get_backend()
        shown = self.track_progress if track_progress is None else track_progress
        if self.seed is not None:
            return self._by_engine(float(poi_test), self.seed, shown)
        samples = [
            self.pdf.make_pdf(fixed_poi_fit(mu, self.data, self.pdf, *self._settings)).sample((self.ntoys,))
            for mu in (poi_test, self._other_mu())
        ]
        with_signal, without = (
            EmpiricalDistribution(tensorlib.astensor(self._statistics(poi_test, rows, shown, name)))
            for rows, name in zip(samples, ("Signal-like", "Background-like"))
        )
        return with_signal, without

    def _by_engine(
        self, mu: float, seed: int, shown: bool
    ) -> tuple[EmpiricalDistribution, EmpiricalDistribution]:
        engine = self._engine()
        if engine is None or mu == self._other_mu():
            raise Unsupported(
                f"seed: only for the engine's models, and only where the tested value is not {self._other_mu()}"
            )
        test_statistics._check(utils.get_test_stat(self.test_stat).__name__, self.pdf, self.par_bounds)
        with told(shown, "toys") as tell:
            with_signal, without, failed = bridge.toys(
                engine, mu, self.test_stat, self.ntoys, seed, self.data, *self._arrays(mu), tell
            )
        if failed:
            log.warning("%d of %d toys had no answer and are left out", failed, 2 * self.ntoys)
        return EmpiricalDistribution(with_signal), EmpiricalDistribution(without)

    def _statistics(self, poi_test: Any, rows: Any, shown: bool, name: str) -> Any:
        """The statistic of each toy."""
        statistic = utils.get_test_stat(self.test_stat)
        engine = self._engine()
        if engine is None:
            return [statistic(poi_test, row, self.pdf, *self._settings) for row in rows]
        test_statistics._check(statistic.__name__, self.pdf, self.par_bounds)
        mu = test_statistics._mu_of_q0(poi_test) if self.test_stat == "q0" else float(poi_test)
        start, lower, upper, fixed = self._arrays(mu)
        poi = self.pdf.config.poi_index
        start_held, fixed_held = start.copy(), fixed.copy()
        start_held[poi], fixed_held[poi] = mu, 1
        with told(shown, name) as tell:
            status_held, value_held, _ = bridge.fit_rows(
                engine, rows, start_held, lower, upper, fixed_held, tell
            )
            status_free, value_free, free = bridge.fit_rows(engine, rows, start, lower, upper, fixed, tell)
        failed = [
            int(status) for status in np.concatenate([status_held, status_free]) if status != bridge.CONVERGED
        ]
        if failed:
            message = f"Fits of {len(failed)} toys failed, the first one: {bridge.STATUSES[failed[0]]}."
            raise FailedMinimization(OptimizeResult(success=False, status=failed[0], message=message))
        best = free[:, poi]
        vanishes = best < 0 if self.test_stat == "q0" else best > mu
        return np.where(vanishes, 0.0, np.maximum(0.0, value_held - value_free))

    def teststatistic(self, poi_test: Any) -> Any:
        """The statistic on the data."""
        return utils.get_test_stat(self.test_stat)(poi_test, self.data, self.pdf, *self._settings)

    def expected_pvalues(self, sig_plus_bkg_distribution: Any, bkg_only_distribution: Any) -> list[list[Any]]:
        """CLs+b, CLb and CLs, each at the percentiles of -2, -1, 0, 1, 2 sigma over the toys without
        signal."""
        tensorlib, _ = get_backend()
        toys = bkg_only_distribution.samples
        above_signal = np.array([sig_plus_bkg_distribution.pvalue(value) for value in toys], dtype=np.float64)
        above_background = np.array([bkg_only_distribution.pvalue(value) for value in toys], dtype=np.float64)
        percentiles = [100 * float(tensorlib.normal_cdf(-n_sigma)) for n_sigma in _N_SIGMA]
        return [
            [tensorlib.astensor(value) for value in np.percentile(curve, percentiles)]
            for curve in (above_signal, above_background, above_signal / above_background)
        ]
