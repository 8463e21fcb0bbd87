"""Loss cones: a sweep and its model, the misfit over U, U over time and over the Moon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import losscone
from ..arrays import Floats
from ..losscone import LossconeFit, Profile
from ..losscone.geography import wrapped
from ..losscone.selection import Source, has, quality_of, reals, response_of, rows_of, suffix_of, times_of
from .projections import chosen as chosen_projection
from .projections import draw_basemap
from .style import (
    BLUE,
    GREY,
    OPAQUE,
    RED,
    Axes,
    Figure,
    finite_range,
    matplotlib_found,
    panels,
    robust_limits,
)

_SECONDS = 1.0 / 86400.0
#: s; a longer gap between sweeps ends a stretch of shade
_STRETCH = 400.0
#: sweeps from which points are drawn as pixels in vector graphics
_MANY = 3000
_POTENTIAL = "surface potential U (V)"
#: of sweeps that are not good
_REASON_COLOURS = ("C1", "C3", "C4", "C2", "0.2")


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
    """A sweep over energy and pitch angle: measured flux (if the sweeps have it), normalised flux, model, and
    ln(flux / model). Lines: the cone's edge at U and at the ends of its confidence set.

    k: number of the sweep in the fit. response: "hard" or "folded" (None: the preferred one); lines are the
        hard edge at the same U and r. point: (U, r, A) instead of the best. ax: axes for the panels, from the
        top; without axes for all, the last panels are left out."""
    from matplotlib.colors import LogNorm, Normalize

    chosen = fit._response(response or _preferred(fit, k))
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
    used = np.where(flux > 0, flux, np.nan)
    difference = np.log(used) - np.log(model)
    norm = LogNorm(0.5 * options["background"], max(2.0, float(np.nanmax(model, initial=1.0))))
    known = np.isfinite(difference).any()
    widest = max(0.5, float(np.nanquantile(np.abs(difference), 0.98))) if known else 1.0
    shown: list[tuple[Floats, Any, str, str, str]] = [
        (used, norm, "viridis", "normalised flux", "white"),
        (model, norm, "viridis", f"model, {chosen}", "white"),
        (difference, Normalize(-widest, widest), "RdBu_r", "ln(flux / model)", "black"),
    ]
    if one.measured is not None and np.any(one.measured[0] > 0):
        raw = np.where(one.measured[0][rows] > 0, one.measured[0][rows], np.nan)
        label = "flux (cm$^{-2}$ s$^{-1}$ sr$^{-1}$ eV$^{-1}$)"
        shown.insert(0, (raw, LogNorm(*np.nanquantile(raw, (0.01, 0.99))), "viridis", label, "white"))
    ends = [] if point is not None else _edges_of_set(fit, k, chosen, options)
    with panels(ax, figure, (6.4, 2.4 * len(shown) + 0.2), style, (1.0,) * len(shown)) as (drawn, given):
        text = "edge of the cone" if chosen == "hard" else "hard edge at this U and r"
        for axes, (numbers, scale, colours, label, line) in zip(given, shown):
            _draw_cells(axes, bounds, _cells(bounds, pitch, numbers), scale, colours, label)
            height = 180.0 - edge[0][rows]
            axes.stairs(height, bounds, baseline=None, color=line, linewidth=1.2, label=text, zorder=3)
            for i, end in enumerate(ends):
                name = "at the ends of the confidence set" if i == 0 else None
                look: dict[str, Any] = {"color": "magenta", "linewidth": 0.9, "label": name}
                axes.stairs(180.0 - end[rows], bounds, baseline=None, **look)
        given[-1].legend(loc="lower left", **OPAQUE)
        given[-1].set_xlabel("energy (eV)")
        given[0].set_title(_title(fit, k, chosen, at, point is None), loc="left")
    return drawn


def _preferred(fit: LossconeFit, k: int) -> str | None:
    """The preferred response, if both are fitted."""
    chosen = fit["preferred"][k] if has(fit.table, "preferred") else ""
    return str(chosen) if chosen else None


def _edges_of_set(fit: LossconeFit, k: int, response: str, options: dict[str, Any]) -> list[Floats]:
    """The hard edge, degrees, at the outer ends of the confidence set and the best r there; (15,) each."""
    intervals = fit.intervals(k, response)
    if not len(intervals):
        return []
    ends = np.array([intervals.min(), intervals.max()])
    bounds = {
        name: fit.options[name]
        for name in fit.options
        if name == "method" or name.endswith(("_lower", "_upper"))
    }
    along = losscone.profile(fit.sweeps[k], ends, response=response, **bounds, **options)
    found = []
    for end, ratio in zip(ends, along.ratio[0]):
        edge = losscone.model(fit.sweeps[k], (end, ratio, 0.0), response="hard", **options)[1]
        assert edge is not None
        found.append(edge[0])
    return found


def _title(fit: LossconeFit, k: int, response: str, at: Floats, best: bool) -> str:
    head = f"spectrum {fit['spectrum'][k]}, {fit['utc'][k]}\n" if has(fit.table, "spectrum") else ""
    beam = f", A {at[2]:.2g}" if response == "hard" and at[2] > 0 else ""
    intervals = fit.intervals(k, response) if best else np.empty((0, 2))
    within = f" ({intervals.min():.1f} to {intervals.max():.1f})" if len(intervals) else ""
    spacecraft = f"spacecraft {np.nanmax(fit.sweeps.potential[k]):.1f} V"
    text = f"{head}{response}: U {at[0]:.1f} V{within}, r {at[1]:.3f}{beam}, {spacecraft}"
    row = fit.results[response][k]
    if best and row["cells"] > 0:
        per_cell = row["misfit"] / row["cells"] if fit.options["method"] != "lillis" else row["misfit"]
        text += f"\nmisfit {row['misfit']:.4g} of {row['cells']} cells, {per_cell:.2g} a cell"
        text += f", quality: {quality_of(fit.table, response)[k]}"
    return text


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
    """The misfit of sweep k over U, a curve for each of `profiles`; below, how far it lies above its minimum,
    on a logarithmic axis with the threshold of the confidence set.

    fit: adds plateau, confidence set and threshold of its sweep `sweep` (None: k). Without it there is no
        lower panel. ax: one axes leaves out the lower panel."""
    listed = profiles if isinstance(profiles, list) else [profiles]
    which = k if sweep is None else sweep
    rows = (1.0,) if fit is None else (1.2, 1.0)
    with panels(ax, figure, (6.4, 3.4 + 2.2 * (len(rows) - 1)), style, rows) as (drawn, given):
        for i, one in enumerate(listed):
            colour, response = (BLUE, RED)[i % 2], one.response
            name = f"misfit, {response}"
            given[0].plot(one.potentials, one.misfit[k], color=colour, zorder=4, label=name)
            if fit is None or response not in fit.results or not fit.fitted(response)[which]:
                continue
            _draw_sets(given, fit, which, response, colour)
            if len(given) > 1 and response in fit.sets:
                _draw_threshold(given[1], one.potentials, one.misfit[k], fit, which, response, colour, i)
        low, high = finite_range(*[one.misfit[k] for one in listed])
        room = high - low or 1.0
        given[0].set(
            ylim=(low - 0.06 * room, high + 0.08 * room),
            xlim=finite_range(*[one.potentials for one in listed]),
            ylabel="misfit, least over r and A",
        )
        given[0].legend(loc="best", **OPAQUE)
        if len(given) > 1:
            given[1].set(yscale="log", ylabel="misfit above its minimum")
            given[1].margins(y=0.0)
        given[-1].set_xlabel(_POTENTIAL)
    return drawn


def _draw_sets(given: list[Axes], fit: LossconeFit, k: int, response: str, colour: str) -> None:
    """Confidence set, plateau, its centre, and the threshold of the upper panel."""
    row = fit.results[response][k]
    line: dict[str, Any] = {"color": colour, "linewidth": 0.9}
    plateau = (row["potential_lower"], row["potential_upper"])
    spans = [(span, 0.15, 1, "confidence set") for span in fit.intervals(k, response)]
    spans.append((plateau, 0.35, 2, "plateau"))
    for axes in given:
        for j, ((low, high), alpha, order, what) in enumerate(spans):
            name = None if 0 < j < len(spans) - 1 or axes is not given[0] else f"{what}, {response}"
            look: dict[str, Any] = {"facecolor": colour, "alpha": alpha, "linewidth": 0}
            axes.axvspan(low, high, zorder=order, label=name, **look)
        axes.axvline(row["potential_centre"], linestyle="--", zorder=3, **line)
    if response in fit.sets:
        threshold = row["misfit"] + fit.sets[response][k]["threshold"]
        given[0].axhline(threshold, linestyle=":", zorder=3, **line)


def _draw_threshold(
    axes: Axes, U: Floats, misfit: Floats, fit: LossconeFit, k: int, response: str, colour: str, order: int
) -> None:
    """The misfit above its minimum, cut at a tenth of the threshold, and the labelled threshold. order: of
    the model, which keeps labels apart."""
    above = float(fit.sets[response][k]["threshold"])
    floor = 0.1 * above
    over = np.maximum(misfit - fit.results[response][k]["misfit"], floor)
    axes.plot(U, over, color=colour, linewidth=1.0, zorder=4)
    axes.axhline(above, color=colour, linewidth=0.9, linestyle=":", zorder=3)
    kind = fit.options["confidence"]
    of = f"bootstrap, {100.0 * fit.options['level']:g} %" if kind == "bootstrap" else "given"
    text = f"threshold {above:.3g} (4 s$^2$)" if kind == "residuals" else f"threshold {above:.3g} ({of})"
    look: dict[str, Any] = {"ha": "left" if order % 2 == 0 else "right", "color": colour, "fontsize": 7.5}
    axes.annotate(
        f"{text}, {response}",
        (0.01 if order % 2 == 0 else 0.99, above),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2 if order % 2 == 0 else -2),
        textcoords="offset points",
        va="bottom" if order % 2 == 0 else "top",
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
        **look,
    )


def _check(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} {value!r}: must be {' or '.join(filter(None, choices))}")


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
    limits: tuple[float, float] | None = None,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U over time with intervals, coloured by quality. Times in shade are grey; those of unknown illumination
    are not.

    source: a fit of day files, or the program's tables. response: "hard" or "folded" (None: the model that
        most sweeps prefer). intervals: "confidence", "plateau" or "none"; an arrow marks a bound of U. shade:
        the column that tells it, "spacecraft_in_sun" or "projection_in_sun". limits: of U, V. None: robust,
        so that a few far sweeps do not hide the others; triangles at the edge stand for these."""
    matplotlib_found()
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    table = rows_of(source)
    chosen = response_of(table, response)
    suffix = suffix_of(table, chosen)
    _check("intervals", intervals, ("confidence", "plateau", "none"))
    time, U = times_of(table) * _SECONDS, reals(table, f"potential{suffix}")
    stem = {"confidence": "confidence", "plateau": "potential"}.get(intervals, "")
    many: dict[str, Any] = {"rasterized": len(table) > _MANY}
    with panels(ax, figure, (8.0, 3.6), style) as (drawn, (axes, *_)):
        if has(table, shade):
            text: str | None = "in shade"
            for start, stop in _stretches(time, np.asarray(table[shade]) == 0.0):
                axes.axvspan(start, stop, facecolor="0.88", linewidth=0, zorder=0, label=text)
                text = None
        lower = upper = U
        if stem and has(table, f"{stem}_lower{suffix}"):
            lower, upper = (reals(table, f"{stem}_{side}{suffix}") for side in ("lower", "upper"))
            text = "confidence set" if intervals == "confidence" else "plateau"
            look: dict[str, Any] = {"color": BLUE, "alpha": 0.5, "linewidth": 0.9, "zorder": 2, **many}
            axes.vlines(time, lower, upper, label=text, **look)
            for side, ends, marker, text in (("lower", lower, "v", "below"), ("upper", upper, "^", "above")):
                name = f"confidence_at_{side}_bound{suffix}"
                if intervals == "confidence" and has(table, name) and np.any(table[name]):
                    there = np.asarray(table[name], dtype=bool)
                    look = {"color": GREY, "markersize": 4, "linestyle": "none", "zorder": 2}
                    axes.plot(time[there], ends[there], marker, label=f"open {text}", **look)
        _draw_by_quality(axes, time, U, quality_of(table, chosen), many)
        low, high = _robust_axis(U, lower, upper) if limits is None else limits
        _draw_beyond(axes, time, U, low, high)
        locator = AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        first, last = finite_range(time)
        room = 0.02 * (last - first) or 60.0 * _SECONDS
        axes.set(xlim=(first - room, last + room), ylim=(low, high))
        axes.set(xlabel="time (UTC)", ylabel=f"{_POTENTIAL}, {chosen}")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4)
    return drawn


def _draw_by_quality(axes: Axes, time: Floats, U: Floats, quality: NDArray[np.str_], look: Any) -> None:
    """Good sweeps on top, in blue; the commonest reasons in colours of their own."""
    words, counts = np.unique(quality[np.isfinite(U)], return_counts=True)
    order = words[np.argsort(-counts, kind="stable")]
    bad = [word for word in order if word not in ("good", "fitted")]
    named = bad[: len(_REASON_COLOURS) - 1] if len(bad) > len(_REASON_COLOURS) else bad
    groups = [(word, quality == word) for word in named]
    if len(named) < len(bad):
        groups.append(("other reasons", np.isin(quality, bad) & ~np.isin(quality, named)))
    drawn = [(word, inside, colour) for (word, inside), colour in zip(groups, _REASON_COLOURS)]
    drawn += [(word, quality == word, BLUE) for word in order if word in ("good", "fitted")]
    for word, inside, colour in drawn:
        text = f"{word.replace('_', ' ')}: {int(np.sum(inside & np.isfinite(U)))}"
        axes.plot(time[inside], U[inside], "o", color=colour, markersize=2.6, zorder=3, label=text, **look)


def _robust_axis(U: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """98 % of the potentials, with 90 % of their intervals."""
    if not np.isfinite(U).any():
        return -1.0, 1.0
    low, high = np.nanquantile(U, (0.01, 0.99))
    low, high = min(low, np.nanquantile(lower, 0.05)), max(high, np.nanquantile(upper, 0.95))
    room = 0.08 * (high - low) or 1.0
    return float(low - room), float(high + room)


def _draw_beyond(axes: Axes, time: Floats, U: Floats, low: float, high: float) -> None:
    """Triangles at the edge for sweeps outside."""
    for edge, outside, marker, text in ((low, U < low, "v", "below"), (high, U > high, "^", "above")):
        if outside.any():
            name = f"{int(outside.sum())} further {text}"
            look: dict[str, Any] = {"markersize": 4, "linestyle": "none", "clip_on": False, "zorder": 6}
            axes.plot(time[outside], np.full(outside.sum(), edge), marker, color=RED, label=name, **look)


def map(
    source: Source,
    *,
    response: str | None = None,
    at: str = "projection",
    good: bool = True,
    projection: Any = "mollweide",
    limits: tuple[float, float] | None = None,
    maria: bool = True,
    ax: Any = None,
    figure: Any = None,
    style: str | None = None,
) -> Figure:
    """U of each sweep at its place, without sweeps of unknown position. Means in cells:
    paritas.plot.moon.surface_map.

    at: "projection" (where the field line meets the Moon) or "spacecraft". response, good: as in
        `paritas.losscone.select`. projection: "mollweide", "sphere", or as in `surface_map`. limits: of
        colours, V (None: 2 % to 98 % of U)."""
    _check("at", at, ("projection", "spacecraft"))
    selected, onto = losscone.select(source, response=response, good=good), chosen_projection(projection)
    longitude, latitude = (reals(selected.table, f"{at}_{name}") for name in ("longitude", "latitude"))
    known = np.isfinite(longitude) & np.isfinite(latitude) & selected.used
    if not known.any():
        raise ValueError(
            f"no sweep has both U and {at}_longitude, {at}_latitude: give the fits a table of geometry"
        )
    U = selected.potential[known]
    low, high = robust_limits(U) if limits is None else limits
    colours: dict[str, Any] = {"cmap": "plasma", "vmin": low, "vmax": high, "linewidths": 0, "zorder": 2}
    with panels(ax, figure, (7.4, 3.9), style) as (drawn, (axes, *_)):
        for view, shift, _ in onto.views():
            x, y, inside = view.project(wrapped(longitude[known]), latitude[known])
            look = {**colours, "rasterized": len(U) > _MANY}
            points = axes.scatter(x[inside] + shift, y[inside], s=9, c=U[inside], **look)
        draw_basemap(axes, onto, maria=maria)
        bar = drawn.colorbar(points, ax=axes, shrink=0.75, pad=0.02, extend="both")
        bar.set_label(f"U (V), {selected.response}")
        axes.set_title(f"{len(U)} {'good ' if good else ''}sweeps", loc="left", pad=14)
    return drawn
