"""Loss cones: a sweep and its model, the misfit over U, U over time and over the Moon."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from .. import losscone
from ..arrays import Floats, Table
from ..losscone import LossconeFit, Profile, Tables
from .style import BLUE, GREY, OPAQUE, RED, Axes, Figure, finite_range, panels

Source = Union[LossconeFit, Tables, Table]

_SECONDS = 1.0 / 86400.0
#: s; a longer gap between sweeps ends a stretch of shade
_STRETCH = 400.0
_POTENTIAL = "surface potential U (V)"


def _edges(energy: Floats) -> Floats:
    """Halfway between ascending log energies."""
    at = np.log(energy)
    inner = 0.5 * (at[1:] + at[:-1])
    first, last = (at[0] - inner[0], at[-1] - inner[-1]) if len(at) > 1 else (-0.25, 0.25)
    bounds: Floats = np.exp(np.concatenate([[at[0] + first], inner, [at[-1] + last]]))
    return bounds


def _cells(bounds: Floats, pitch: Floats, values: Floats) -> tuple[list[Any], list[float]]:
    """Corners and values of valid cells as boxes in energy and pitch angle, up to halfway to neighbours.
    bounds: of the channels, ascending."""
    boxes: list[Any] = []
    shown: list[float] = []
    for left, right, angles, row in zip(bounds, bounds[1:], pitch, values):
        there = np.flatnonzero(np.isfinite(angles))
        order = there[np.argsort(angles[there], kind="stable")]
        at = angles[order]
        middle = [0.0, *(0.5 * (at[1:] + at[:-1])), 180.0]
        for below, above, value in zip(middle, middle[1:], row[order]):
            if not np.isnan(value):
                boxes.append([(left, below), (right, below), (right, above), (left, above)])
                shown.append(value)
    return boxes, shown


def _draw_cells(axes: Axes, bounds: Floats, cells: Any, norm: Any, colours: str, label: str) -> None:
    from matplotlib.collections import PolyCollection

    boxes, values = cells
    options: dict[str, Any] = {"edgecolors": "face", "linewidths": 0.1, "rasterized": True}
    drawn = PolyCollection(boxes, array=np.array(values), cmap=colours, norm=norm, **options)
    axes.add_collection(drawn, autolim=False)
    axes.set_facecolor("0.8")  # cells without a value
    axes.set(xscale="log", xlim=bounds[[0, -1]], ylim=(0.0, 180.0))
    axes.set_yticks([0, 45, 90, 135, 180])
    axes.axhline(90.0, color="0.4", linewidth=0.6, linestyle=":")
    axes.set_ylabel("pitch angle (deg)")
    axes.figure.colorbar(drawn, ax=axes, pad=0.015, fraction=0.06, extend="both").set_label(label)


def sweep(
    fit: LossconeFit,
    k: int,
    *,
    response: str | None = None,
    point: Any = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """Normalised flux, model, and the difference of their logarithms over energy and pitch angle, with the
    cone's edge.

    k: sweep of the fit. response: "hard" or "folded" (None: the first fitted); the line is the hard edge at
        the same U and r. point: (U, r, A) instead of the best. ax: three axes."""
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
    energy = arrays.energy[0]
    rows = np.flatnonzero(np.isfinite(energy) & (energy > 0))
    rows = rows[np.argsort(energy[rows])]
    flux, model, bounds = arrays.flux[0][rows], values[0][rows], _edges(energy[rows])
    pitch = np.degrees(np.arccos(np.clip(arrays.cosine[0][rows], -1.0, 1.0)))
    measured = np.where(flux > 0, flux, np.nan)
    difference = np.log(measured) - np.log(model)
    norm = LogNorm(0.5 * options["background"], max(2.0, float(np.nanmax(model, initial=1.0))))
    known = np.isfinite(difference).any()
    widest = max(0.5, float(np.nanquantile(np.abs(difference), 0.98))) if known else 1.0
    with panels(ax, figure, (6.4, 7.4), style, (1.0, 1.0, 1.0)) as (drawn, given):
        shown = (
            (measured, norm, "viridis", "normalised flux", "white"),
            (model, norm, "viridis", "model", "white"),
            (difference, Normalize(-widest, widest), "RdBu_r", "ln(flux / model)", "black"),
        )
        text = "edge of the cone" if chosen == "hard" else "hard edge at this U and r"
        for axes, (numbers, scale, colours, label, line) in zip(given, shown):
            _draw_cells(axes, bounds, _cells(bounds, pitch, numbers), scale, colours, label)
            height = 180.0 - edge[0][rows]
            axes.stairs(height, bounds, baseline=None, color=line, linewidth=1.6, label=text)
        given[-1].legend(loc="lower left", **OPAQUE)
        given[-1].set_xlabel("energy (eV)")
        given[0].set_title(_title(fit, k, chosen, at), loc="left")
    return drawn


def _title(fit: LossconeFit, k: int, response: str, at: Floats) -> str:
    names = fit.table.dtype.names or ()
    head = f"spectrum {fit['spectrum'][k]}, {fit['utc'][k]}\n" if "spectrum" in names else ""
    beam = f", A {at[2]:.2g}" if response == "hard" and at[2] > 0 else ""
    spacecraft = f"spacecraft {np.nanmax(fit.sweeps.potential[k]):.1f} V"
    return f"{head}{response}: U {at[0]:.1f} V, r {at[1]:.3f}{beam}, {spacecraft}"


def profile(
    profiles: Profile | list[Profile],
    k: int = 0,
    *,
    fit: LossconeFit | None = None,
    sweep: int | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """The misfit of sweep k over U, a curve for each of `profiles`. fit: adds plateau, confidence set and
    threshold of its sweep `sweep` (None: k)."""
    listed = profiles if isinstance(profiles, list) else [profiles]
    which = k if sweep is None else sweep
    with panels(ax, figure, (6.0, 4.0), style) as (drawn, (axes, *_)):
        for i, one in enumerate(listed):
            colour, response = (BLUE, RED)[i % 2], one.response
            axes.plot(one.potentials, one.misfit[k], color=colour, zorder=4, label=f"misfit, {response}")
            if fit is None or response not in fit.results or not fit.fitted(response)[which]:
                continue
            row = fit.results[response][which]
            line: dict[str, Any] = {"color": colour, "linewidth": 0.9}
            plateau = (row["potential_lower"], row["potential_upper"])
            spans = [(span, 0.15, 1, "confidence set") for span in fit.intervals(which, response)]
            spans.append((plateau, 0.35, 2, "plateau"))
            for j, ((low, high), alpha, order, what) in enumerate(spans):
                name = None if 0 < j < len(spans) - 1 else f"{what}, {response}"
                look: dict[str, Any] = {"facecolor": colour, "alpha": alpha, "linewidth": 0}
                axes.axvspan(low, high, zorder=order, label=name, **look)
            axes.axvline(row["potential_centre"], linestyle="--", zorder=3, **line)
            if response in fit.sets:
                threshold = row["misfit"] + fit.sets[response][which]["threshold"]
                axes.axhline(threshold, linestyle=":", zorder=3, **line)
        low, high = finite_range(*[one.misfit[k] for one in listed])
        room = high - low or 1.0
        axes.set(
            ylim=(low - 0.06 * room, high + 0.08 * room),
            xlim=finite_range(*[one.potentials for one in listed]),
            xlabel=_POTENTIAL,
            ylabel="misfit, least over r and A",
        )
        axes.legend(loc="best", **OPAQUE)
    return drawn


def _rows(source: Source) -> Table:
    if isinstance(source, LossconeFit):
        return source.table
    return source.sweeps if isinstance(source, Tables) else source


def _suffix(table: Table, response: str | None) -> str:
    _check("response", response, ("hard", "folded", None))
    folded = response == "folded" and "potential_folded" in (table.dtype.names or ())
    return "_folded" if folded else ""


def _check(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} {value!r}: must be {' or '.join(filter(None, choices))}")


def _column(table: Table, name: str) -> Floats:
    return np.asarray(table[name], dtype=np.float64)


def _times(table: Table) -> Floats:
    if "time" in (table.dtype.names or ()):
        return _column(table, "time") * _SECONDS
    stamps = np.array([text if text else "NaT" for text in table["utc"]], dtype="datetime64[ms]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.float64)) * (1e-3 * _SECONDS)


def _stretches(time: Floats, flag: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """First and last time of runs of flagged sweeps, half a cadence wider."""
    there = np.flatnonzero(np.isfinite(time))
    order = there[np.argsort(time[there], kind="stable")]
    at, on = time[order], flag[order]
    steps = np.diff(at)
    half = 0.5 * float(np.median(steps)) if len(steps) else 40.0 * _SECONDS
    found: list[tuple[float, float]] = []
    for i in np.flatnonzero(on):
        if i > 0 and on[i - 1] and steps[i - 1] < _STRETCH * _SECONDS:
            found[-1] = (found[-1][0], at[i] + half)
        else:
            found.append((at[i] - half, at[i] + half))
    return found


def time_series(
    source: Source,
    *,
    response: str | None = None,
    intervals: str = "confidence",
    shade: str = "spacecraft_in_sun",
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U over time with intervals. Shade is grey; unknown illumination is not.

    source: a fit of day files, or the program's tables. response: "hard" or "folded" (None: the first).
        intervals: "confidence", "plateau" or "none"; an arrow marks a bound of U. shade: by column
        "spacecraft_in_sun" or "projection_in_sun"."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    table = _rows(source)
    names, suffix = table.dtype.names or (), _suffix(table, response)
    _check("intervals", intervals, ("confidence", "plateau", "none"))
    time, U = _times(table), _column(table, f"potential{suffix}")
    stem = {"confidence": "confidence", "plateau": "potential"}.get(intervals, "")
    with panels(ax, figure, (8.0, 3.6), style) as (drawn, (axes, *_)):
        if shade in names:
            text: str | None = "in shade"
            for start, stop in _stretches(time, np.asarray(table[shade]) == 0.0):
                axes.axvspan(start, stop, facecolor="0.85", linewidth=0, zorder=0, label=text)
                text = None
        if stem and f"{stem}_lower{suffix}" in names:
            lower, upper = (np.asarray(table[f"{stem}_{side}{suffix}"]) for side in ("lower", "upper"))
            text = "confidence set" if intervals == "confidence" else "plateau"
            axes.vlines(time, lower, upper, color=GREY, linewidth=0.8, zorder=2, label=text)
            for side, ends, marker, text in (("lower", lower, "v", "below"), ("upper", upper, "^", "above")):
                name = f"confidence_at_{side}_bound{suffix}"
                if intervals == "confidence" and name in names and np.any(table[name]):
                    there = table[name]
                    look: dict[str, Any] = {"color": GREY, "markersize": 4, "linestyle": "none", "zorder": 2}
                    axes.plot(time[there], ends[there], marker, label=f"open {text}", **look)
        text = f"U, {response}" if response else "U"
        axes.plot(time, U, "o", color=BLUE, markersize=2.6, zorder=3, label=text)
        locator = AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        low, high = finite_range(time)
        room = 0.02 * (high - low) or 60.0 * _SECONDS
        axes.set(xlim=(low - room, high + room), xlabel="time (UTC)", ylabel=_POTENTIAL)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=5)
    return drawn


def map(
    source: Source,
    *,
    response: str | None = None,
    at: str = "projection",
    limits: tuple[float, float] | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U over selenographic longitude and latitude, without sweeps of unknown position.

    at: "projection" (where the field line meets the Moon) or "spacecraft". limits: of colours, V (None: 2 %
        to 98 % of U)."""
    table = _rows(source)
    _check("at", at, ("projection", "spacecraft"))
    longitude, latitude = _column(table, f"{at}_longitude"), _column(table, f"{at}_latitude")
    U = _column(table, "potential" + _suffix(table, response))
    known = np.isfinite(longitude) & np.isfinite(latitude) & np.isfinite(U)
    if not known.any():
        raise ValueError(
            f"no sweep has both U and {at}_longitude, {at}_latitude: give the fits a table of geometry"
        )
    low, high = np.quantile(U[known], (0.02, 0.98)).tolist() if limits is None else limits
    with panels(ax, figure, (7.2, 3.5), style) as (drawn, (axes, *_)):
        wrapped = (longitude[known] + 180.0) % 360.0 - 180.0
        colours: dict[str, Any] = {"c": U[known], "cmap": "plasma", "vmin": low, "vmax": high}
        points = axes.scatter(wrapped, latitude[known], s=9, linewidths=0, zorder=2, **colours)
        axes.set(xlim=(-180.0, 180.0), ylim=(-90.0, 90.0), aspect="equal")
        axes.set_xticks(range(-180, 181, 60))
        axes.set_yticks(range(-90, 91, 30))
        axes.grid(True, color="0.85", linewidth=0.6, zorder=0)
        axes.set(axisbelow=True, xlabel="longitude, east (deg)", ylabel="latitude (deg)")
        drawn.colorbar(points, ax=axes, shrink=0.85, pad=0.02, extend="both").set_label(_POTENTIAL)
    return drawn
