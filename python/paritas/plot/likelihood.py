"""Profile likelihoods over one and two parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

import numpy as np

from ..results import FitResult, ScanResult
from .style import GREY, RED, finite_range, panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: rise of twice the NLL at 68.3 % and 95.4 %: of one parameter, of two
ONE_SIGMA, TWO_SIGMA = 1.0, 4.0
TWO_PARAMETERS = (2.30, 5.99)


def scan(
    result: ScanResult,
    *,
    best: Optional[FitResult] = None,
    minos: Optional[Mapping[str, tuple[float, float]]] = None,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Twice the NLL above its minimum over one parameter. Points that did not converge leave a gap.

    best: the fit, whose error gives the dashed Gaussian approximation. minos: errors (down, up) by parameter,
        drawn as lines from the minimum.
    """
    if len(result.parameters) != 1:
        raise ValueError(
            f"a scan over one parameter is wanted, this one is over {len(result.parameters)}: see contours"
        )
    name = result.parameters[0]
    order = np.argsort(result.values[:, 0], kind="stable")
    x = result.values[order, 0]
    if not np.any(result.status == "converged"):
        raise ValueError(f"of {len(x)} points none converged")
    y = np.where(result.status[order] == "converged", result.twice_nll[order] - result.best_twice_nll, np.nan)
    with panels(ax, figure, (6.0, 4.2), style) as (drawn, (axes, *_)):
        (points,) = axes.plot(x, y, color="black", marker="x", zorder=3)
        handles, labels = [points], ["profile likelihood"]
        error = best[name][1] if best is not None else float("nan")
        if np.isfinite(error) and error > 0:
            fine = np.linspace(*finite_range(x), 201)
            (curve,) = axes.plot(
                fine, ((fine - result.best[0]) / error) ** 2, color=GREY, linestyle="--", zorder=2
            )
            handles, labels = [*handles, curve], [*labels, "Gaussian approximation"]
        top = 1.08 * max(finite_range(y)[1], TWO_SIGMA + 0.5)
        for height, share in ((ONE_SIGMA, "68.3 %"), (TWO_SIGMA, "95.4 %")):
            axes.axhline(height, color=GREY, linestyle=":", zorder=1)
            axes.annotate(
                share,
                (1, height),
                xytext=(-3, 2),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="bottom",
                color=GREY,
                size="small",
            )
        if minos is not None and name in minos:
            ends = [result.best[0] + offset for offset in minos[name] if np.isfinite(offset)]
            lines = [
                axes.plot([end, end], [0, ONE_SIGMA], color=RED, linewidth=1.0, zorder=2)[0] for end in ends
            ]
            if lines:
                handles, labels = [*handles, lines[0]], [*labels, "MINOS errors"]
        axes.legend(handles, labels, loc="upper center")
        axes.set_xlim(*finite_range(x))
        axes.set_ylim(0, 1.25 * top)  # room for the legend
        axes.set_xlabel(plain(name))
        axes.set_ylabel(r"$-2\,\Delta\ln L$")
    return drawn


def contours(
    result: ScanResult,
    *,
    expected: Optional[tuple[float, float]] = None,
    ax: Optional["Axes"] = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """Twice the NLL above its minimum over two parameters: contours at 2.30 (68.3 %) and 5.99 (95 %), best
    fit as a cross. The points must be a full grid; points that did not converge are left white. expected: a
    point to mark by a star, the Standard Model's for instance."""
    if len(result.parameters) != 2:
        raise ValueError(f"a scan over two parameters is wanted, this one is over {len(result.parameters)}")
    x, y = np.unique(result.values[:, 0]), np.unique(result.values[:, 1])
    if len(x) * len(y) != len(result.values) or min(len(x), len(y)) < 2:
        counts = f"{len(result.values)} points, {len(x)} values of {result.parameters[0]}, {len(y)} of {result.parameters[1]}"
        raise ValueError(f"contours need a full grid: {counts}")
    if not np.any(result.status == "converged"):
        raise ValueError(f"of {len(result.values)} points none converged")
    z = np.full((len(y), len(x)), np.nan)
    rise = np.where(result.status == "converged", result.twice_nll - result.best_twice_nll, np.nan)
    z[np.searchsorted(y, result.values[:, 1]), np.searchsorted(x, result.values[:, 0])] = rise
    from matplotlib.lines import Line2D

    with panels(ax, figure, (6.0, 4.6), style) as (drawn, (axes, *_)):
        image = axes.pcolormesh(
            x,
            y,
            np.ma.masked_invalid(z),
            cmap="Blues_r",
            vmin=0,
            vmax=max(10.0, min(finite_range(z)[1], 25.0)),
            shading="nearest",
            rasterized=True,
        )
        shown = [
            (height, kind)
            for height, kind in zip(TWO_PARAMETERS, ("-", "--"))
            if np.nanmin(z) < height < np.nanmax(z)
        ]
        if shown:
            axes.contour(
                x,
                y,
                np.ma.masked_invalid(z),
                levels=[height for height, _ in shown],
                colors="black",
                linestyles=[kind for _, kind in shown],
            )
        handles: list[Any] = [Line2D([], [], color="black", linestyle=kind) for kind in ("-", "--")]
        labels = ["68.3 %", "95 %"]
        handles += axes.plot(
            result.best[0],
            result.best[1],
            color="black",
            marker="P",
            linestyle="none",
            markeredgecolor="white",
            markersize=9,
        )
        labels.append("best fit")
        if expected is not None:
            handles += axes.plot(
                *expected, color=RED, marker="*", linestyle="none", markeredgecolor="white", markersize=11
            )
            labels.append("expected")
        axes.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, borderaxespad=0.4)
        drawn.colorbar(image, ax=axes, label=r"$-2\,\Delta\ln L$", pad=0.02)
        axes.set_xlabel(plain(result.parameters[0]))
        axes.set_ylabel(plain(result.parameters[1]))
    return drawn
