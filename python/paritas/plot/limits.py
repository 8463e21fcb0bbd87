"""Upper limits: CLs over the parameter of interest, and limits over a mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ..results import HypotestResult, LimitResult
from .style import BLUE, GREEN, RED, YELLOW, finite_range, panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _bands(axes: "Axes", x: Any, expected: Any) -> list[Any]:
    """Expected at -2 ... 2 sigma, (points, 5), as yellow and green bands and a dashed line: their handles,
    line first, narrow band next."""
    wide = axes.fill_between(x, expected[:, 0], expected[:, 4], facecolor=YELLOW, linewidth=0, zorder=1)
    narrow = axes.fill_between(x, expected[:, 1], expected[:, 3], facecolor=GREEN, linewidth=0, zorder=2)
    (median,) = axes.plot(x, expected[:, 2], color="black", linestyle="--", zorder=3)
    return [median, narrow, wide]


_BAND_LABELS = ["expected", r"expected $\pm 1\sigma$", r"expected $\pm 2\sigma$"]


def brazil_band(
    result: Union[LimitResult, Sequence[HypotestResult]],
    *,
    level: Optional[float] = None,
    log: bool = False,
    components: bool = False,
    xlabel: str = r"$\mu$",
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """CLs over the parameter of interest, observed and expected with its bands. Tests that did not converge
    leave a gap.

    result: of `upper_limit` (its scan), or tests from `hypotest`. level: the red line (of a limit: its own,
        else 0.05). log: the CLs axis. components: also CLs+b and CLb.
    """
    tests = result.scan if isinstance(result, LimitResult) else list(result)
    tests = sorted(tests, key=lambda test: test.mu)
    if level is None:
        level = result.level if isinstance(result, LimitResult) else 0.05
    mu = np.array([test.mu for test in tests])
    good = np.array([test.converged for test in tests], dtype=bool)
    if not np.any(good):
        raise ValueError(f"of {len(tests)} tests none converged")
    expected = np.where(
        good[:, None], np.array([test.CLs_exp for test in tests]).reshape(len(tests), 5), np.nan
    )

    def curve(name: str) -> Any:
        return np.where(good, [getattr(test, name) for test in tests], np.nan)

    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        handles = _bands(axes, mu, expected)
        (observed,) = axes.plot(mu, curve("CLs_obs"), color="black", marker="o", zorder=4)
        alpha = axes.axhline(level, color=RED, zorder=3)
        handles, labels = [observed, *handles], [r"CL$_\mathrm{s}$ observed", *_BAND_LABELS]
        if components:
            (both,) = axes.plot(mu, curve("CLsb"), color="red", marker=".", linewidth=0.9, zorder=4)
            (background,) = axes.plot(mu, curve("CLb"), color=BLUE, marker=".", linewidth=0.9, zorder=4)
            handles, labels = (
                [*handles, both, background],
                [*labels, r"CL$_\mathrm{s+b}$", r"CL$_\mathrm{b}$"],
            )
        axes.legend(
            [*handles, alpha],
            [*labels, rf"$\alpha = {level:g}$"],
            loc="lower left" if log else "upper right",
            frameon=True,
            facecolor="white",
            edgecolor="none",
        )
        axes.set_xlim(*_padded(mu))
        if log:
            axes.set_yscale("log")
            axes.set_ylim(0.1 * level, 1.0)
        else:
            axes.set_ylim(0.0, 1.0)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(r"CL$_\mathrm{s}$")
    return drawn


def _padded(x: Any) -> tuple[float, float]:
    low, high = finite_range(x)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def mass_limits(
    masses: ArrayLike,
    limits: Sequence[LimitResult],
    *,
    theory: Optional[ArrayLike] = None,
    theory_label: str = "theory",
    scale: Optional[ArrayLike] = None,
    log: bool = True,
    xlabel: str = "mass [GeV]",
    ylabel: Optional[str] = None,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Upper limits over a mass: observed, expected with bands, a theory's curve. Limits that did not converge
    leave a gap.

    masses: (points,). limits: one a mass. scale: what a limit on mu is multiplied by, cross section times
        branching ratio of mu = 1 [pb], one number or one a mass.
    theory: (points,), in units of the y axis.
    """
    x = np.asarray(masses, dtype=np.float64)
    if len(limits) != len(x):
        raise ValueError(f"{len(x)} masses, {len(limits)} limits")
    order = np.argsort(x, kind="stable")
    factor = np.broadcast_to(np.asarray(1.0 if scale is None else scale, dtype=np.float64), x.shape)
    good = np.array([limit.converged for limit in limits], dtype=bool)
    if not any(
        limit.converged and np.any(np.isfinite([limit.limit_obs, *limit.limit_exp])) for limit in limits
    ):
        raise ValueError(f"of {len(x)} limits none was found")
    observed = np.where(good, [limit.limit_obs for limit in limits], np.nan) * factor
    expected = (
        np.where(
            good[:, None], np.array([limit.limit_exp for limit in limits]).reshape(len(limits), 5), np.nan
        )
        * factor[:, None]
    )
    if ylabel is None:
        ylabel = r"upper limit on $\mu$" if scale is None else r"$\sigma \times B$ [pb]"
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        handles = _bands(axes, x[order], expected[order])
        (line,) = axes.plot(x[order], observed[order], color="black", marker="o", zorder=4)
        handles, labels = [line, *handles], ["observed", *_BAND_LABELS]
        if theory is not None:
            (curve,) = axes.plot(x[order], np.asarray(theory, dtype=np.float64)[order], color=RED, zorder=3)
            handles, labels = [*handles, curve], [*labels, plain(theory_label)]
        axes.legend(handles, labels, loc="upper right")
        if log:
            axes.set_yscale("log")
        low, high = axes.get_ylim()
        # room for the legend
        axes.set_ylim(low, high * (high / low) ** 0.35 if log else high + 0.35 * (high - low))
        axes.set_xlim(*_padded(x))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
    return drawn
