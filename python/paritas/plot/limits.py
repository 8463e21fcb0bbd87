"""CLs over the parameter of interest, and upper limits over a mass."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..keywords import default
from ..results import HypotestResult, LimitResult
from .style import BLUE, GREEN, OPAQUE, RED, YELLOW, Axes, Figure, finite_range, legend, panels, plain


def _curves(axes: Axes, x: Any, observed: Any, expected: Any, what: str) -> list[tuple[Any, str]]:
    """Observed curve, expected one (points, 5) with green and yellow bands; returns legend entries."""
    bands = [
        axes.fill_between(x, expected[:, k], expected[:, 4 - k], facecolor=colour, linewidth=0, zorder=k + 1)
        for k, colour in enumerate((YELLOW, GREEN))
    ]
    (median,) = axes.plot(x, expected[:, 2], color="black", linestyle="--", zorder=3)
    (line,) = axes.plot(x, observed, color="black", marker="o", zorder=4)
    labels = (what, "expected", r"expected $\pm 1\sigma$", r"expected $\pm 2\sigma$")
    return list(zip((line, median, *bands[::-1]), labels))


def _padded(x: Any) -> tuple[float, float]:
    low, high = finite_range(x)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


_CURVE = 200  # points of a curve between tests


def _slopes(x: Any, y: Any) -> Any:
    """Slopes with which a cubic through the points rises and falls as the points do (Fritsch, Butland, SIAM
    J. Sci. Stat. Comput. 5 (1984) 300)."""
    steps, secants = np.diff(x), np.diff(y) / np.diff(x)
    if len(secants) < 2:
        return np.full_like(y, secants[0])
    before, after = secants[:-1], secants[1:]
    w = (2 * steps[1:] + steps[:-1], steps[1:] + 2 * steps[:-1])
    same = before * after > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(same, (w[0] + w[1]) / (w[0] / before + w[1] / after), 0.0)
    return np.concatenate(([secants[0]], inner, [secants[-1]]))


def _smooth(x: Any, y: Any, at: Any) -> Any:
    """A monotone curve through points, NaN beyond them."""
    good = np.isfinite(y)
    x, y = x[good], y[good]
    if len(x) < 2:
        return np.full_like(at, np.nan)
    slopes = _slopes(x, y)
    k = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
    step = x[k + 1] - x[k]
    t = (at - x[k]) / step
    cubic = (1 - t) ** 2 * (1 + 2 * t) * y[k] + t**2 * (3 - 2 * t) * y[k + 1]
    cubic += step * t * (1 - t) * ((1 - t) * slopes[k] - t * slopes[k + 1])
    return np.where((at < x[0]) | (at > x[-1]), np.nan, cubic)


def _deviations(cls: float) -> float:
    return -NormalDist().inv_cdf(0.5 * cls) if 0.0 < cls < 2.0 else float("nan")


def _from_zero(mu: Any, values: Any) -> tuple[Any, Any]:
    """CLs between tests, and down to its 1 at mu = 0; (x, values). The curve is smooth in the number of
    standard deviations of CLs, in which the median of a Gaussian measurement is straight."""
    at = np.union1d(np.linspace(min(0.0, mu[0]), mu[-1], _CURVE), mu)
    deviations = np.array([_deviations(one) for one in values.flat]).reshape(values.shape)
    once = np.concatenate(([True], np.diff(mu) > 0))
    x, deviations = mu[once], deviations[once]
    if x[0] > 0:
        x = np.concatenate(([0.0], x))
        deviations = np.concatenate((np.zeros((1, *values.shape[1:])), deviations))
    columns = np.array([_smooth(x, column, at) for column in deviations.reshape(len(x), -1).T]).T
    found = np.array([math.erfc(one / math.sqrt(2.0)) for one in columns.flat])
    return at, found.reshape(len(at), *values.shape[1:])


def brazil_band(
    result: LimitResult | HypotestResult | Sequence[HypotestResult],
    *,
    level: float | None = None,
    log: bool = False,
    components: bool = False,
    xlabel: str = r"$\mu$",
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """CLs over the parameter of interest, with expected bands. Tests that did not converge leave a gap.

    result: of `upper_limit`, or tests from `hypotest`, one or several. A limit tests few values. The figure
        then has smooth curves through them, from CLs = 1 at mu = 0 on, and dots at the tests. level: of the
        red line (default: the limit's, else 0.05). log: logarithmic CLs axis. components: add CLs+b and
        CLb."""
    given = [result] if isinstance(result, HypotestResult) else result
    tests: Sequence[HypotestResult] = given.scan if isinstance(given, LimitResult) else given
    tests = sorted(tests, key=lambda test: test.mu)
    if level is None:
        level = result.level if isinstance(result, LimitResult) else default("paritas_limit_request", "level")
    mu = np.array([test.mu for test in tests])
    good = np.array([test.converged for test in tests], dtype=bool)
    if not np.any(good):
        raise ValueError(f"of {len(tests)} tests none converged")

    def curve(name: str) -> Any:
        values = np.array([getattr(test, name) for test in tests], dtype=np.float64)
        values[~good] = np.nan
        return values

    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        observed, expected, x = curve("CLs_obs"), curve("CLs_exp"), mu
        smooth = isinstance(result, LimitResult) and bool(np.all(good)) and len(mu) > 1
        if smooth:
            (x, expected), (_, between) = _from_zero(mu, expected), _from_zero(mu, observed)
            axes.plot(x, between, color="black", zorder=4)
            observed = np.where(np.isin(x, mu), np.interp(x, mu, observed), np.nan)
        entries = _curves(axes, x, observed, expected, r"CL$_\mathrm{s}$ observed")
        alpha = axes.axhline(level, color=RED, zorder=3)
        if components:
            for name, colour, text in (("CLsb", "red", "s+b"), ("CLb", BLUE, "b")):
                (line,) = axes.plot(mu, curve(name), color=colour, marker=".", linewidth=0.9, zorder=4)
                entries.append((line, rf"CL$_\mathrm{{{text}}}$"))
        entries.append((alpha, rf"$\alpha = {level:g}$"))
        legend(axes, entries, loc="lower left" if log else "upper right", **OPAQUE)
        axes.set_xlim(*_padded(x))
        if log:
            axes.set_yscale("log")
        axes.set(ylim=(0.1 * level if log else 0.0, 1.0), xlabel=xlabel, ylabel=r"CL$_\mathrm{s}$")
    return drawn


def mass_limits(
    masses: ArrayLike,
    limits: Sequence[LimitResult],
    *,
    theory: ArrayLike | None = None,
    theory_label: str = "theory",
    scale: ArrayLike | None = None,
    log: bool = True,
    xlabel: str = "mass [GeV]",
    ylabel: str | None = None,
    ax: Axes | None = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Upper limits over a mass: observed, expected with bands, theory. Limits that did not converge leave a
    gap.

    masses: (points,). limits: one a mass. scale: value of mu = 1 on the y axis, for example its cross section
        times branching ratio in pb; one number, or one a mass. theory: (points,), in units of the y axis."""
    x = np.asarray(masses, dtype=np.float64)
    if len(limits) != len(x):
        raise ValueError(f"{len(x)} masses, {len(limits)} limits")
    # observed, then expected limits
    rows = np.array([[one.limit_obs, *one.limit_exp] for one in limits], dtype=np.float64).reshape(-1, 6)
    rows[[not one.converged for one in limits]] = np.nan
    if not np.any(np.isfinite(rows)):
        raise ValueError(f"of {len(x)} limits none was found")
    factor = np.broadcast_to(np.asarray(1.0 if scale is None else scale, dtype=np.float64), x.shape)
    order = np.argsort(x, kind="stable")
    rows, ascending = (rows * factor[:, None])[order], x[order]
    if ylabel is None:
        ylabel = r"upper limit on $\mu$" if scale is None else r"$\sigma \times B$ [pb]"
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        entries = _curves(axes, ascending, rows[:, 0], rows[:, 1:], "observed")
        if theory is not None:
            predicted = np.asarray(theory, dtype=np.float64)[order]
            (line,) = axes.plot(ascending, predicted, color=RED, zorder=3)
            entries.append((line, plain(theory_label)))
        legend(axes, entries, loc="upper right")
        if log:
            axes.set_yscale("log")
        low, high = axes.get_ylim()
        # room for the legend
        axes.set(
            ylim=(low, high * (high / low) ** 0.35 if log else high + 0.35 * (high - low)),
            xlim=_padded(x),
            xlabel=xlabel,
            ylabel=ylabel,
        )
    return drawn
