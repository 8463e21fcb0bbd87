"""Loss cones: a sweep beside its model, the misfit over U, U over time and over the Moon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .. import losscone
from ..arrays import Floats, Table
from ..losscone import LossconeFit, Profile, Tables
from .style import BLUE, GREY, RED, finite_range, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SECONDS = 1.0 / 86400.0
#: a gap of more seconds than this begins another stretch of shade
_STRETCH = 400.0


# ---- a sweep and its model ----


def _edges(energy: Floats) -> Floats:
    """Bounds of channels, halfway between ascending energies by their logarithms."""
    at = np.log(energy)
    inner = 0.5 * (at[1:] + at[:-1])
    first, last = (at[0] - inner[0], at[-1] - inner[-1]) if len(at) > 1 else (-0.25, 0.25)
    bounds: Floats = np.exp(np.concatenate([[at[0] + first], inner, [at[-1] + last]]))
    return bounds


def _cells(energy: Floats, pitch: Floats, values: Floats) -> tuple[list[Any], Floats]:
    """Every cell with a value as a box in energy and pitch angle, halfway to its neighbours, with or without
    a value: (corners, values). energy ascends."""
    bounds = _edges(energy)
    boxes: list[Any] = []
    shown: list[float] = []
    for i in range(len(energy)):
        there = np.flatnonzero(np.isfinite(pitch[i]))
        order = there[np.argsort(pitch[i, there], kind="stable")]
        at = pitch[i, order]
        middle = 0.5 * (at[1:] + at[:-1])
        low, high = np.concatenate([[0.0], middle]), np.concatenate([middle, [180.0]])
        for below, above, value in zip(low, high, values[i, order]):
            if np.isnan(value):
                continue
            boxes.append(
                [(bounds[i], below), (bounds[i + 1], below), (bounds[i + 1], above), (bounds[i], above)]
            )
            shown.append(float(value))
    return boxes, np.array(shown)


def _draw_cells(
    axes: "Axes", energy: Floats, pitch: Floats, values: Floats, norm: Any, colours: str, label: str
) -> Any:
    from matplotlib.collections import PolyCollection

    boxes, shown = _cells(energy, pitch, values)
    drawn = PolyCollection(
        boxes, array=shown, cmap=colours, norm=norm, edgecolors="face", linewidths=0.1, rasterized=True
    )
    axes.add_collection(drawn, autolim=False)
    axes.set_facecolor("0.8")  # where there is no value
    axes.set_xscale("log")
    axes.set_xlim(*_edges(energy)[[0, -1]])
    axes.set_ylim(0.0, 180.0)
    axes.set_yticks([0, 45, 90, 135, 180])
    axes.axhline(90.0, color="0.4", linewidth=0.6, linestyle=":")
    axes.set_ylabel("pitch angle (deg)")
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.015, fraction=0.06, extend="both")
    bar.set_label(label)
    return drawn


def sweep(
    fit: LossconeFit,
    k: int,
    *,
    response: Optional[str] = None,
    point: Any = None,
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """A sweep in three panels over energy and pitch angle: the normalised flux as it was measured, the model,
    and the difference of their logarithms; each with the edge of the cone.

    k: which of the fit's sweeps. response: "hard" or "folded" (None: the first that was fitted); the line is
        the hard edge at the same U and r. point: (U, r, A) instead of the best. ax: three axes.
    """
    from matplotlib.colors import LogNorm, Normalize

    chosen = fit._response(response)
    if point is None and not fit.fitted(chosen)[k]:
        raise ValueError(f"sweep {k} has no fit: {fit['status'][k]}")
    at = fit.point(k, chosen) if point is None else np.asarray(point, dtype=np.float64)
    one = fit.sweeps[k]
    options = {
        name: fit.options[name] for name in ("beam_width", "beam_sigma", "background", "response_width")
    }
    values, _ = losscone.model(one, at, response=chosen, **options)
    _, edge = losscone.model(one, at, response="hard", **options)
    assert edge is not None
    arrays = one.arrays(fit.options["method"])
    energy, cosine, flux = arrays.energy[0], arrays.cosine[0], arrays.flux[0]
    rows = np.flatnonzero(np.isfinite(energy) & (energy > 0))
    rows = rows[np.argsort(energy[rows])]
    pitch = np.degrees(np.arccos(np.clip(cosine[rows], -1.0, 1.0)))
    measured = np.where(flux[rows] > 0, flux[rows], np.nan)
    model = values[0][rows]
    difference = np.log(measured) - np.log(model)
    background = fit.options["background"]
    norm = LogNorm(0.5 * background, max(2.0, float(np.nanmax(model, initial=1.0))))
    widest = (
        max(0.5, float(np.nanquantile(np.abs(difference), 0.98))) if np.isfinite(difference).any() else 1.0
    )
    with panels(ax, figure, (6.4, 7.4), style, (1.0, 1.0, 1.0)) as (drawn, given):
        shown = (
            (measured, norm, "viridis", "normalised flux"),
            (model, norm, "viridis", "model"),
            (difference, Normalize(-widest, widest), "RdBu_r", "ln(flux / model)"),
        )
        for axes, (numbers, scale, colours, label) in zip(given, shown):
            _draw_cells(axes, energy[rows], pitch, numbers, scale, colours, label)
            axes.stairs(
                180.0 - edge[0][rows],
                _edges(energy[rows]),
                baseline=None,
                color="black" if colours == "RdBu_r" else "white",
                linewidth=1.6,
                label="edge of the cone" if chosen == "hard" else "hard edge at this U and r",
            )
        given[-1].legend(loc="lower left", frameon=True, facecolor="white", edgecolor="none")
        given[-1].set_xlabel("energy (eV)")
        given[0].set_title(_title(fit, k, chosen, at), loc="left")
    return drawn


def _title(fit: LossconeFit, k: int, response: str, at: Floats) -> str:
    names = fit.table.dtype.names or ()
    head = f"spectrum {fit['spectrum'][k]}, {fit['utc'][k]}\n" if "spectrum" in names else ""
    beam = f", A {at[2]:.2g}" if response == "hard" and at[2] > 0 else ""
    return f"{head}{response}: U {at[0]:.1f} V, r {at[1]:.3f}{beam}, spacecraft {np.nanmax(fit.sweeps.potential[k]):.1f} V"


# ---- the misfit over U ----


def profile(
    profiles: Union[Profile, list[Profile]],
    k: int = 0,
    *,
    fit: Optional[LossconeFit] = None,
    sweep: Optional[int] = None,
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """The misfit of sweep k of a profile over U, one curve for each of `profiles`. fit: with it plateau,
    confidence set and its threshold are shown, of the fit's sweep `sweep` (None: k)."""
    listed = profiles if isinstance(profiles, list) else [profiles]
    which = k if sweep is None else sweep
    with panels(ax, figure, (6.0, 4.0), style) as (drawn, (axes, *_)):
        for i, one in enumerate(listed):
            colour = (BLUE, RED)[i % 2]
            axes.plot(one.potentials, one.misfit[k], color=colour, zorder=4, label=f"misfit, {one.response}")
            if fit is None or one.response not in fit.results or not fit.fitted(one.response)[which]:
                continue
            row = fit.results[one.response][which]
            for j, (low, high) in enumerate(fit.intervals(which, one.response)):
                axes.axvspan(
                    low,
                    high,
                    facecolor=colour,
                    alpha=0.15,
                    linewidth=0,
                    zorder=1,
                    label=f"confidence set, {one.response}" if j == 0 else None,
                )
            axes.axvspan(
                row["potential_lower"],
                row["potential_upper"],
                facecolor=colour,
                alpha=0.35,
                linewidth=0,
                zorder=2,
                label=f"plateau, {one.response}",
            )
            axes.axvline(row["potential_centre"], color=colour, linewidth=0.9, linestyle="--", zorder=3)
            if one.response in fit.sets:
                axes.axhline(
                    row["misfit"] + fit.sets[one.response][which]["threshold"],
                    color=colour,
                    linewidth=0.9,
                    linestyle=":",
                    zorder=3,
                )
        low, high = finite_range(*[one.misfit[k] for one in listed])
        axes.set_ylim(low - 0.06 * (high - low or 1.0), high + 0.08 * (high - low or 1.0))
        axes.set_xlim(*finite_range(*[one.potentials for one in listed]))
        axes.set_xlabel("surface potential U (V)")
        axes.set_ylabel("misfit, least over r and A")
        axes.legend(loc="best", frameon=True, facecolor="white", edgecolor="none")
    return drawn


# ---- U over time and over the Moon ----


def _rows(source: Union[LossconeFit, Tables, Table]) -> Table:
    return (
        source.table
        if isinstance(source, LossconeFit)
        else source.sweeps
        if isinstance(source, Tables)
        else source
    )


def _suffix(table: Table, response: Optional[str]) -> str:
    names = table.dtype.names or ()
    if response not in (None, "hard", "folded"):
        raise ValueError(f"response {response!r}: there are hard, folded")
    if response == "folded" and "potential_folded" in names:
        return "_folded"
    return ""


def _times(table: Table) -> Floats:
    """Days since 1970, as matplotlib counts them."""
    names = table.dtype.names or ()
    if "time" in names:
        return np.asarray(table["time"], dtype=np.float64) * _SECONDS
    stamps = np.array([text if text else "NaT" for text in table["utc"]], dtype="datetime64[ms]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.float64)) * (1e-3 * _SECONDS)


def _stretches(time: Floats, flag: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """First and last time of each run of flagged sweeps, half a cadence wider on either side."""
    there = np.flatnonzero(np.isfinite(time))
    order = there[np.argsort(time[there], kind="stable")]
    at, on = time[order], flag[order]
    steps = np.diff(at)
    half = 0.5 * float(np.median(steps)) if len(steps) else 40.0 * _SECONDS
    found: list[tuple[float, float]] = []
    for i in range(len(at)):
        if not on[i]:
            continue
        if i > 0 and on[i - 1] and at[i] - at[i - 1] < _STRETCH * _SECONDS:
            found[-1] = (found[-1][0], at[i] + half)
        else:
            found.append((at[i] - half, at[i] + half))
    return found


def time_series(
    source: Union[LossconeFit, Tables, Table],
    *,
    response: Optional[str] = None,
    intervals: str = "confidence",
    shade: str = "spacecraft_in_sun",
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """U over time with its intervals; stretches in shade are grey, sweeps whose illumination is not known are
    not.

    source: a fit of day files, or tables of the program. response: "hard" or "folded" (None: the table's
        first). intervals: "confidence", "plateau" or "none"; those that reach a bound of U end in an arrow.
        shade: by the column "spacecraft_in_sun" or "projection_in_sun".
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    table = _rows(source)
    names, suffix = table.dtype.names or (), _suffix(table, response)
    if intervals not in ("confidence", "plateau", "none"):
        raise ValueError(f"intervals {intervals!r}: there are confidence, plateau, none")
    time, U = _times(table), np.asarray(table["potential" + suffix], dtype=np.float64)
    stem = {"confidence": "confidence", "plateau": "potential"}.get(intervals, "")
    with panels(ax, figure, (8.0, 3.6), style) as (drawn, (axes, *_)):
        if shade in names:
            for k, (start, stop) in enumerate(_stretches(time, np.asarray(table[shade]) == 0.0)):
                axes.axvspan(
                    start, stop, facecolor="0.85", linewidth=0, zorder=0, label="in shade" if k == 0 else None
                )
        if stem and f"{stem}_lower{suffix}" in names:
            lower, upper = (
                np.asarray(table[f"{stem}_lower{suffix}"]),
                np.asarray(table[f"{stem}_upper{suffix}"]),
            )
            axes.vlines(
                time,
                lower,
                upper,
                color=GREY,
                linewidth=0.8,
                zorder=2,
                label="confidence set" if intervals == "confidence" else "plateau",
            )
            for side, ends, marker in (("lower", lower, "v"), ("upper", upper, "^")):
                name = f"confidence_at_{side}_bound{suffix}"
                if intervals == "confidence" and name in names and np.any(table[name]):
                    axes.plot(
                        time[table[name]],
                        ends[table[name]],
                        marker,
                        color=GREY,
                        markersize=4,
                        linestyle="none",
                        zorder=2,
                        label=f"open {'below' if side == 'lower' else 'above'}",
                    )
        axes.plot(
            time,
            U,
            "o",
            color=BLUE,
            markersize=2.6,
            zorder=3,
            label="U" + (f", {response}" if response else ""),
        )
        locator = AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        axes.set_xlim(*_widened(*finite_range(time)))
        axes.set_xlabel("time (UTC)")
        axes.set_ylabel("surface potential U (V)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=5)
    return drawn


def _widened(low: float, high: float) -> tuple[float, float]:
    room = 0.02 * (high - low) or 60.0 * _SECONDS
    return low - room, high + room


def map(
    source: Union[LossconeFit, Tables, Table],
    *,
    response: Optional[str] = None,
    at: str = "projection",
    limits: Optional[tuple[float, float]] = None,
    ax: Any = None,
    figure: Any = None,
    style: Optional[str] = None,
) -> "Figure":
    """U over selenographic longitude and latitude. at: "projection", where the field line meets the Moon, or
    "spacecraft". limits: of the colours, V (None: 2 % to 98 % of U). Sweeps whose position is not known are
    left out; there must be one."""
    table = _rows(source)
    if at not in ("projection", "spacecraft"):
        raise ValueError(f"at {at!r}: there are projection, spacecraft")
    longitude, latitude = (
        np.asarray(table[f"{at}_longitude"], dtype=np.float64),
        np.asarray(table[f"{at}_latitude"], dtype=np.float64),
    )
    U = np.asarray(table["potential" + _suffix(table, response)], dtype=np.float64)
    known = np.isfinite(longitude) & np.isfinite(latitude) & np.isfinite(U)
    if not known.any():
        raise ValueError(
            f"no sweep has both U and {at}_longitude, {at}_latitude: give the fits a table of geometry"
        )
    low, high = (
        limits
        if limits is not None
        else (float(np.quantile(U[known], 0.02)), float(np.quantile(U[known], 0.98)))
    )
    with panels(ax, figure, (7.2, 3.5), style) as (drawn, (axes, *_)):
        wrapped = (longitude[known] + 180.0) % 360.0 - 180.0
        points = axes.scatter(
            wrapped,
            latitude[known],
            c=U[known],
            s=9,
            cmap="plasma",
            vmin=low,
            vmax=high,
            linewidths=0,
            zorder=2,
        )
        axes.set_xlim(-180.0, 180.0)
        axes.set_ylim(-90.0, 90.0)
        axes.set_aspect("equal")
        axes.set_xticks(range(-180, 181, 60))
        axes.set_yticks(range(-90, 91, 30))
        axes.grid(True, color="0.85", linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)
        axes.set_xlabel("longitude, east (deg)")
        axes.set_ylabel("latitude (deg)")
        drawn.colorbar(points, ax=axes, shrink=0.85, pad=0.02, extend="both").set_label(
            "surface potential U (V)"
        )
    return drawn
