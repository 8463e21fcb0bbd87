"""Toys: distributions of test statistics and goodness of fit."""

from __future__ import annotations

from math import lgamma, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine import enumeration
from ..results import GoodnessOfFit, ToyFits, ToyHypotestResult
from .style import BLUE, RED, Axes, Figure, finite_range, panels

_SYMBOLS = {"qtilde": r"$\tilde{q}_\mu$", "q": r"$q_\mu$", "q0": r"$q_0$"}


def _finite(values: ArrayLike | None) -> Any:
    found = np.ravel(np.asarray([] if values is None else values, dtype=np.float64))
    return found[np.isfinite(found)]


def asymptotic_density(q: Any, root: float, true_root: float, test_stat: str) -> Any:
    """Density at q > 0 of q_mu, qtilde_mu or q_0 (arXiv:1007.1727, eqs. 49, 57, 64).

    root: sqrt(q_A), the tested mu over sigma. true_root: (tested mu, or 0 for q_0, - true mu) / sigma."""
    density = np.exp(-0.5 * (np.sqrt(q) - true_root) ** 2) / np.sqrt(8 * pi * q)
    if test_stat == "qtilde" and root > 0:
        tail = np.exp(-0.5 * ((q - root * root + 2 * root * (root - true_root)) / (2 * root)) ** 2)
        density = np.where(q <= root * root, density, tail / (sqrt(2 * pi) * 2 * root))
    return density


def toys(
    signal: ToyHypotestResult | ArrayLike | None,
    background: ArrayLike | None = None,
    observed: float | None = None,
    *,
    q_A: float | None = None,
    test_stat: str = "qtilde",
    bins: int = 50,
    log: bool = True,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Distributions of a test statistic in toys with signal and in toys of background alone, normalised to 1,
    and the observed value. Toys without an answer (NaN) are omitted.

    signal: values in toys with signal; or a test by toys with keep=True, which has both kinds and the
        observed value. background: values in toys without signal. q_A: the Asimov statistic; adds asymptotic
        curves. test_stat: "qtilde", "q" or "q0". log: logarithmic axis."""
    with_signal: Any = signal
    if isinstance(signal, ToyHypotestResult):
        if signal.toys is None:
            raise ValueError("the toys were not kept: keep=True")
        rows = signal.toys[signal.toys["status"] == enumeration("paritas_fit_status")["converged"]]
        observed = signal.q if observed is None else observed
        with_signal, background = rows["q"][rows["hypothesis"] != 0], rows["q"][rows["hypothesis"] == 0]
    root = sqrt(max(q_A or 0.0, 0.0))
    kinds = [
        (values, colour, name, root if (name == "background") != (test_stat == "q0") else 0.0)
        for values, colour, name in (
            (_finite(with_signal), BLUE, "signal + background"),
            (_finite(background), "C1", "background"),
        )
        if len(values)
    ]
    if not kinds:
        raise ValueError("there is no toy with an answer")
    low, high = finite_range(*(kind[0] for kind in kinds), [0.0, 0.0 if observed is None else observed])
    high = high * 1.02 if high > 0 else 1.0
    edges = np.linspace(min(low, 0.0), high, bins + 1)
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        floor, width = 1.0, edges[1] - edges[0]
        for values, colour, name, _ in kinds:
            heights = np.histogram(values, edges)[0] / (len(values) * width)
            floor = min(floor, finite_range(heights[heights > 0])[0])
            axes.stairs(heights, edges, color=colour, fill=True, alpha=0.25)
            axes.stairs(heights, edges, color=colour, label=name, linewidth=1.1)
        if q_A is not None and q_A >= 0:
            fine = np.linspace(edges[0], high, 40 * bins + 1)
            fine = fine[fine > 0.02 * width]
            for _, colour, name, true_root in kinds:
                density = asymptotic_density(fine, root, true_root, test_stat)
                axes.plot(fine, density, color=colour, linestyle="--", label=f"{name}, asymptotic")
        if observed is not None:
            axes.axvline(observed, color="black", label="observed")
        top = axes.get_ylim()[1]
        if log:
            axes.set_yscale("log")
            top = axes.get_ylim()[1]
            axes.set_ylim(0.5 * floor, top * (top / floor) ** 0.35)  # room for the legend
        else:
            axes.set_ylim(0, 1.35 * top)
        axes.set_xlim(edges[0], edges[-1])
        axes.legend(loc="upper right")
        axes.set(xlabel=_SYMBOLS.get(test_stat, test_stat), ylabel="probability density")
    return drawn


def goodness_of_fit(
    statistics: ToyFits | ArrayLike,
    observed: GoodnessOfFit | float,
    *,
    ndof: int | None = None,
    bins: int = 40,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """The goodness-of-fit statistic in toys, and the observed one with its p-value: the fraction of toys at
    or above it, with binomial error.

    statistics: values, or the result of `fit_toys` with keep=True. observed: a number, or the result of
        `goodness_of_fit`, which brings its ndof. ndof: degrees of freedom of the chi-squared curve."""
    if isinstance(statistics, ToyFits):
        if statistics.statistic is None:
            raise ValueError("the toys were not kept: keep=True")
        statistics = statistics.statistic[statistics.converged]
    if isinstance(observed, GoodnessOfFit):
        ndof = observed.ndof if ndof is None else ndof
        observed = observed.statistic
    values = _finite(statistics)
    if not len(values):
        raise ValueError("there is no toy with an answer")
    p = float(np.mean(values >= observed))
    error = sqrt(p * (1 - p) / len(values))
    low, high = finite_range(values, [observed])
    room = 0.03 * (high - low) or 0.5
    edges = np.linspace(max(0.0, low - room), high + room, bins + 1)
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        axes.hist(values, edges.tolist(), color=BLUE, alpha=0.35, label=f"toys ({len(values)})")
        if ndof is not None and ndof > 0:
            x, half = np.linspace(max(edges[0], 1e-9), edges[-1], 400), 0.5 * ndof
            density = np.exp((half - 1) * np.log(x) - 0.5 * x - half * log(2) - lgamma(half))
            expected = density * len(values) * (edges[1] - edges[0])
            text = rf"$\chi^2$, {ndof} degrees of freedom"
            axes.plot(x, expected, color="black", linestyle="--", label=text)
        axes.axvline(observed, color=RED, label=rf"observed, $p = {p:.3f} \pm {error:.3f}$")
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # room for the legend
        axes.legend(loc="upper right")
        axes.set(xlabel=r"$-2\ln(L / L_\mathrm{saturated})$", ylabel="toys")
    return drawn
