"""Toys: distributions of test statistics and of the goodness of fit."""

from __future__ import annotations

from math import lgamma, log, pi, sqrt
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from .._engine import enumeration
from ..results import GoodnessOfFit, ToyFits, ToyHypotestResult
from .style import BLUE, RED, finite_range, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _finite(values: Optional[ArrayLike]) -> Any:
    found = np.ravel(np.asarray([] if values is None else values, dtype=np.float64))
    return found[np.isfinite(found)]


def asymptotic_density(q: Any, root: float, true_root: float, test_stat: str) -> Any:
    """Density at q > 0 of q_mu, qtilde_mu or q_0 (arXiv:1007.1727, eqs. 49, 57, 64), without the part that
    sits at 0.

    root: sqrt(q_A), the tested mu over sigma; true_root: the same for the difference between the tested mu
        (for q_0: 0) and the true one."""
    density = np.exp(-0.5 * (np.sqrt(q) - true_root) ** 2) / np.sqrt(8 * pi * q)
    if test_stat == "qtilde" and root > 0:
        tail = np.exp(-0.5 * ((q - root * root + 2 * root * (root - true_root)) / (2 * root)) ** 2) / (
            sqrt(2 * pi) * 2 * root
        )
        density = np.where(q <= root * root, density, tail)
    return density


def toys(
    signal: Union[ToyHypotestResult, ArrayLike, None],
    background: Optional[ArrayLike] = None,
    observed: Optional[float] = None,
    *,
    q_A: Optional[float] = None,
    test_stat: str = "qtilde",
    bins: int = 50,
    log: bool = True,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Distributions of a test statistic in toys with signal and of background alone, each normed to 1, with
    the observed value. Toys without an answer (NaN) are left out.

    signal: of the toys with signal; or the result of a test by toys that kept them, which has both kinds and
        the observed value. q_A: the statistic of the Asimov data, for the asymptotic curves. test_stat:
        "qtilde", "q" or "q0".
    """
    with_signal: Any = signal
    if isinstance(signal, ToyHypotestResult):
        if signal.toys is None:
            raise ValueError("the toys were not kept: keep=True")
        rows = signal.toys[signal.toys["status"] == enumeration("paritas_fit_status")["converged"]]
        observed = signal.q if observed is None else observed
        with_signal, background = rows["q"][rows["hypothesis"] != 0], rows["q"][rows["hypothesis"] == 0]
    kinds = [
        (values, colour, name)
        for values, colour, name in (
            (_finite(with_signal), BLUE, "signal + background"),
            (_finite(background), "C1", "background"),
        )
        if len(values)
    ]
    if not kinds:
        raise ValueError("there is no toy with an answer")
    low, high = finite_range(
        *(values for values, _, _ in kinds), [0.0, 0.0 if observed is None else observed]
    )
    high = high * 1.02 if high > 0 else 1.0
    edges = np.linspace(min(low, 0.0), high, bins + 1)
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        floor = 1.0
        for values, colour, name in kinds:
            heights = np.histogram(values, edges)[0] / (len(values) * (edges[1] - edges[0]))
            floor = min(floor, finite_range(heights[heights > 0])[0])
            axes.stairs(heights, edges, color=colour, fill=True, alpha=0.25)
            axes.stairs(heights, edges, color=colour, label=name, linewidth=1.1)
        if q_A is not None and q_A >= 0:
            fine = np.linspace(edges[0], high, 40 * bins + 1)
            fine, root = fine[fine > 0.02 * (edges[1] - edges[0])], sqrt(q_A)
            true = {
                "signal + background": root if test_stat == "q0" else 0.0,
                "background": 0.0 if test_stat == "q0" else root,
            }
            for _, colour, name in kinds:
                axes.plot(
                    fine,
                    asymptotic_density(fine, root, true[name], test_stat),
                    color=colour,
                    linestyle="--",
                    label=f"{name}, asymptotic",
                )
        if observed is not None:
            axes.axvline(observed, color="black", label="observed")
        if log:
            axes.set_yscale("log")
            top = axes.get_ylim()[1]
            axes.set_ylim(0.5 * floor, top * (top / floor) ** 0.35)  # room for the legend
        else:
            axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
        axes.set_xlim(edges[0], edges[-1])
        axes.legend(loc="upper right")
        axes.set_xlabel(
            {"qtilde": r"$\tilde{q}_\mu$", "q": r"$q_\mu$", "q0": r"$q_0$"}.get(test_stat, test_stat)
        )
        axes.set_ylabel("probability density")
    return drawn


def goodness_of_fit(
    statistics: Union[ToyFits, ArrayLike],
    observed: Union[GoodnessOfFit, float],
    *,
    ndof: Optional[int] = None,
    bins: int = 40,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """The goodness-of-fit statistic in toys, the observed one with its p-value (the share of toys at or above
    it, with its binomial error).

    statistics: of toys, or the result of `fit_toys`. observed: a number, or the result of `goodness_of_fit`,
        which has ndof too. ndof: for the chi-squared curve."""
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
            fine = np.linspace(max(edges[0], 1e-9), edges[-1], 400)
            density = np.exp(
                (0.5 * ndof - 1) * np.log(fine) - 0.5 * fine - 0.5 * ndof * log(2) - lgamma(0.5 * ndof)
            )
            axes.plot(
                fine,
                density * len(values) * (edges[1] - edges[0]),
                color="black",
                linestyle="--",
                label=rf"$\chi^2$, {ndof} degrees of freedom",
            )
        axes.axvline(observed, color=RED, label=rf"observed, $p = {p:.3f} \pm {error:.3f}$")
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # room for the legend
        axes.legend(loc="upper right")
        axes.set_xlabel(r"$-2\ln(L / L_\mathrm{saturated})$")
        axes.set_ylabel("toys")
    return drawn
