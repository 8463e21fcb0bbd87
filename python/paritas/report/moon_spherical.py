"""Spherical harmonics on a page of the Moon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import losscone
from .._engine import Error
from ..arrays import Table, structured
from ..losscone import SphericalHarmonics, Tables
from ..losscone.selection import times_of
from ..plot import spherical as plot_spherical
from .figures import shown
from .html import Markup, beside, missing, table

if TYPE_CHECKING:
    from .moon import Products

#: what is expanded: name, illumination, frame
_PARTS = (("night", "night", "moon"), ("day", "day", "moon"), ("local time", "all", "sun"))
#: strength of the ridge where the sweeps do not determine all coefficients
RIDGE = 0.1

_NOTE = (
    "<p>Functions are real and 4 pi-normalised, without the Condon-Shortley phase. Errors and covariance "
    "come from the scatter between measurements of {block:g} h. They have no part for structure above degree "
    "{lmax}, which enters the largest degrees, and none for what a ridge takes away. Plasma that lasts for "
    "days makes them too small. Degrees in which both halves of the time agree are the Moon's.</p>\n"
)


def spherical_of(
    tables: Tables, lmax: int, missing: dict[str, str], **options: Any
) -> dict[str, SphericalHarmonics]:
    """Harmonics of each part. Over the Moon a ridge may help, over local time none does: a gap there is a
    season without data."""
    found = {}
    for name, illumination, frame in _PARTS:
        for ridge in (0.0, RIDGE) if frame == "moon" else (0.0,):
            what: dict[str, Any] = {"illumination": illumination, "frame": frame, "ridge": ridge}
            try:
                found[name] = losscone.spherical_harmonics(tables, lmax=lmax, **what, **options)
                missing.pop(f"spherical {name}", None)
                break
            except Error as reason:
                missing[f"spherical {name}"] = str(reason)
    return found


def halves_of(
    tables: Tables, found: dict[str, SphericalHarmonics], lmax: int, missing: dict[str, str], **options: Any
) -> dict[str, Table]:
    """Correlations of the first and the second half of the time, of parts over the Moon, with a ridge where
    it must be."""
    time = times_of(tables.sweeps)
    middle = 0.5 * (np.nanmin(time) + np.nanmax(time)) if found else np.nan
    made = {}
    for name, illumination, frame in _PARTS:
        for ridge in (0.0, RIDGE) if name in found and frame == "moon" else ():
            what: dict[str, Any] = {"lmax": lmax, "illumination": illumination, "ridge": ridge}
            try:
                halves = [
                    losscone.spherical_harmonics(tables.sweeps[part], **what, **options)
                    for part in (time < middle, time >= middle)
                ]
            except Error as reason:
                missing[f"spherical {name}, halves of the time"] = str(reason)
                continue
            made[name] = losscone.degree_correlation(*halves)
            missing.pop(f"spherical {name}, halves of the time", None)
            break
    return made


def numbers_of(made: Products) -> list[tuple[str, Table]]:
    """Coefficients, covariance and power of each part, for files."""
    named = []
    for name, found in made.spherical.items():
        stem, rows = f"spherical_{name.replace(' ', '_')}", found.table
        named += [(stem, rows), (f"{stem}_power", found.power())]
        columns = {"degree": rows["degree"], "order": rows["order"]}
        for k, (degree, order) in enumerate(zip(rows["degree"], rows["order"])):
            columns[f"{degree}_{order}"] = found.covariance[:, k]
        named.append((f"{stem}_covariance", structured(columns)))
    return named + [(f"spherical_{name}_halves", rows) for name, rows in made.halves.items()]


def spherical(made: Products) -> Markup:
    absent = [
        missing(f"{key.removeprefix('spherical ')}: {reason}.")
        for key, reason in made.missing.items()
        if key.startswith("spherical ")
    ]
    parts = made.spherical
    if not parts:
        return Markup("".join(absent))
    head = (
        "sweeps of",
        "sweeps",
        "measurements",
        "condition",
        "coverage",
        "ridge",
        "explained",
        "scatter (V)",
    )
    rows = [
        [
            name,
            one.sweeps,
            one.blocks,
            one.condition,
            f"{100.0 * one.coverage:.0f} %",
            one.ridge or "none",
            f"{100.0 * one.explained:.0f} %",
            one.deviation,
        ]
        for name, one in parts.items()
    ]
    first = next(iter(parts.values()))
    n = (first.lmax + 1) ** 2
    title = f"Fits of {n} coefficients up to degree {first.lmax}, model {first.response}"
    note = Markup(_NOTE.format(block=made.block, lmax=first.lmax))
    power = shown(
        "Power of each degree with its error; dotted: errors alone",
        "Power spectrum; numbers in the table.",
        plot_spherical.power,
        *parts.values(),
    )
    halves = Markup("")
    if made.halves:
        halves = shown(
            "Correlation of the first and the second half of the time "
            f"(ridge {RIDGE:g} where a half needs it); grey: of independent fields",
            "Correlation by degree; numbers in the files of --tables.",
            plot_spherical.correlation,
            made.halves,
        )
    maps = [beside(*(_map(name, one, value) for value in ("mean", "error"))) for name, one in parts.items()]
    return Markup(
        "".join(
            [*absent, table(title, head, rows), note, beside(power, _power(parts)), beside(halves), *maps]
        )
    )


def _power(parts: dict[str, SphericalHarmonics]) -> Markup:
    columns = [one.power() for one in parts.values()]
    rows = [
        [str(k), *(cell for one in columns for cell in (f"{one['power'][k]:.4g}", f"{one['error'][k]:.2g}"))]
        for k in range(len(columns[0]))
    ]
    head = ["degree", *(words for name in parts for words in (f"{name} (V^2)", "error"))]
    return table("Power by degree", head, rows)


def _map(name: str, found: SphericalHarmonics, value: str) -> Markup:
    ridge = f", ridge {found.ridge:g}" if found.ridge else ""
    what = "Sum of the harmonics" if value == "mean" else "Standard error of the sum"
    caption = f"{what}, {name}; {found.sweeps} sweeps, model {found.response}, degree {found.lmax}{ridge}"
    return shown(caption, f"{caption}.", plot_spherical.field, found, value=value)
