"""From sweeps to the Moon: maps, profiles over the terminator, statistics of plasma regions.

Every product counts its sweeps and gives errors of the mean. Potentials in V, angles in degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine
from ..arrays import Floats, Summarised, Table, columns_by_name, structured
from .averages import ORBIT, averages, blocks_of
from .geography import EqualAreaGrid, solar_position
from .selection import Selection, Source, has, reals, select

#: degrees on either side of the terminator that are neither day nor night
TERMINATOR = 10.0
#: parts of a map, by their terminator angle
ILLUMINATIONS = ("all", "day", "terminator", "night")
SIDES = ("both", "dawn", "dusk")
#: by class, as in rows_environment_class (docs/losscone.md)
REGIONS = tuple(_engine.enumeration("paritas_environment"))


@dataclass(repr=False)
class Places(Summarised):
    """Where the selected sweeps are. longitude, latitude: degrees, NaN if unknown; angle: from the
    terminator, above 0 in the night; hour: local time after noon, degrees."""

    longitude: Floats
    latitude: Floats
    angle: Floats
    hour: Floats


def places_of(chosen: Selection, at: str) -> Places:
    """at: "projection" (where the field line meets the Moon) or "spacecraft"."""
    if at not in ("projection", "spacecraft"):
        raise _engine.InvalidArgument(f"at {at!r}: must be projection or spacecraft")
    longitude, latitude = (reals(chosen.table, f"{at}_{name}") for name in ("longitude", "latitude"))
    if not (np.isfinite(longitude) & np.isfinite(latitude) & chosen.used).any():
        raise _engine.InvalidInput(
            f"no used sweep has both U and {at}_longitude, {at}_latitude: give the fits a table of geometry"
        )
    return Places(longitude, latitude, *solar_position(chosen.time, longitude, latitude))


def lit(angle: Floats, terminator: float = TERMINATOR) -> dict[str, NDArray[np.bool_]]:
    """Which terminator angles belong to each of ILLUMINATIONS."""
    day, night = angle < -terminator, angle > terminator
    near = np.isfinite(angle) & ~day & ~night
    return {"all": np.ones(len(angle), dtype=bool), "day": day, "terminator": near, "night": night}


def timed(chosen: Selection, illumination: str, at: str, terminator: float) -> NDArray[np.bool_]:
    """Which sweeps are used, have a time and this illumination. "all" needs no places."""
    used = chosen.used & np.isfinite(chosen.time)
    if illumination == "all":
        return used
    parts = lit(places_of(chosen, at).angle, terminator)
    if illumination not in parts:
        raise _engine.InvalidArgument(f"illumination {illumination!r}: there are {', '.join(parts)}")
    return used & parts[illumination]


@dataclass(repr=False)
class SurfaceMap(Summarised):
    """U over the Moon. parts: by illumination ("all", "day", "terminator", "night") a table with a row for
    each cell of the grid: longitude, latitude (of its middle), west, east, south, north (its bounds), and the
    columns of `averages`. at, response, terminator: as asked; good: whether only good sweeps count."""

    grid: EqualAreaGrid
    parts: dict[str, Table]
    at: str
    response: str
    terminator: float
    good: bool

    def __getitem__(self, illumination: str) -> Table:
        return self.parts[illumination]


def surface_map(
    source: Source,
    *,
    degrees: float = 10.0,
    at: str = "projection",
    terminator: float = TERMINATOR,
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> SurfaceMap:
    """U in cells of equal area: all sweeps, day, terminator and night apart.

    degrees: size of a cell. at: "projection" (where the field line meets the Moon) or "spacecraft".
        terminator: degrees on either side of it that are neither day nor night. block: hours whose sweeps in
        a cell count as one measurement in the error. response, good: as in `select`. Raises InvalidInput if
        no used sweep has a position."""
    chosen, grid = select(source, response=response, good=good), EqualAreaGrid.of(degrees)
    places = places_of(chosen, at)
    cell, centres, bounds = grid.cell(places.longitude, places.latitude), grid.centres(), grid.bounds()
    blocks = blocks_of(chosen.time, block)
    parts = {}
    for name, inside in lit(places.angle, terminator).items():
        found = averages(np.where(inside & chosen.used, cell, -1), chosen.potential, len(grid), blocks)
        columns = {"longitude": centres[:, 0], "latitude": centres[:, 1]}
        columns.update(zip(("west", "east", "south", "north"), bounds.T))
        parts[name] = structured({**columns, **columns_by_name(found)})
    return SurfaceMap(grid, parts, at, chosen.response, terminator, good)


@dataclass(repr=False)
class TerminatorProfile(Summarised):
    """U over the terminator angle. sides: by side ("both", "dawn", "dusk") a table: angle_lower,
    angle_upper (degrees, above 0 in the night), and the columns of `averages`."""

    sides: dict[str, Table]
    at: str
    response: str
    good: bool

    def __getitem__(self, side: str) -> Table:
        return self.sides[side]


def terminator_profile(
    source: Source,
    *,
    width: float = 5.0,
    at: str = "projection",
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> TerminatorProfile:
    """U in bins of the terminator angle, from -90 (below the Sun) to 90 (midnight): on both sides, at dawn,
    at dusk.

    width: of a bin, degrees, 0.5 to 90. Other arguments, errors: as in `surface_map`."""
    if not 0.5 <= width <= 90.0:
        raise _engine.InvalidArgument(f"width {width!r}: degrees from 0.5 to 90 are wanted")
    chosen = select(source, response=response, good=good)
    places = places_of(chosen, at)
    edges = np.linspace(-90.0, 90.0, max(2, round(180.0 / width)) + 1)
    known = np.isfinite(places.angle)
    bins = np.searchsorted(edges, np.where(known, places.angle, 0.0), side="right") - 1
    bins = np.where(known & chosen.used, np.minimum(bins, len(edges) - 2), -1)
    blocks, sides = blocks_of(chosen.time, block), {}
    for side, inside in (("both", known), ("dawn", places.hour < 0.0), ("dusk", places.hour >= 0.0)):
        found = averages(np.where(inside, bins, -1), chosen.potential, len(edges) - 1, blocks)
        ends = {"angle_lower": edges[:-1], "angle_upper": edges[1:]}
        sides[side] = structured({**ends, **columns_by_name(found)})
    return TerminatorProfile(sides, at, chosen.response, good)


def regions_of(table: Table, illumination: str | None = None) -> NDArray[np.int64]:
    """The plasma region of each sweep, an index of REGIONS.

    illumination None: the table's `environment_class` (npz), else by the same rules from `projection_in_sun`
        and `temperature`; every dark foot is wake. "day" or "night": by temperature alone, if the foot of the
        field line is lit or dark, else -1. Raises InvalidInput if no sweep has `projection_in_sun`."""
    if illumination not in (None, "day", "night"):
        raise _engine.InvalidArgument(f"illumination {illumination!r}: must be day or night")
    if illumination is None and has(table, "environment_class"):
        return np.asarray(table["environment_class"], dtype=np.int64)
    lit = reals(table, "projection_in_sun")
    if illumination is None:
        return _engine.environments(lit, reals(table, "temperature"))
    if not np.isfinite(lit).any():
        raise _engine.InvalidInput(
            "no sweep has projection_in_sun, which tells a lit foot of the field line from a dark one: --mag "
            "or --spice give it to the tables"
        )
    asked = lit == (1.0 if illumination == "day" else 0.0)
    return np.where(asked, plasmas_of(table), -1).astype(np.int64)


def plasmas_of(table: Table) -> NDArray[np.int64]:
    """The plasma of each sweep by its temperature alone, an index of REGIONS."""
    return np.asarray(_engine.environments(np.ones(len(table)), reals(table, "temperature")), dtype=np.int64)


def region_statistics(
    source: Source,
    *,
    illumination: str | None = None,
    regions: ArrayLike | None = None,
    names: tuple[str, ...] = REGIONS,
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> Table:
    """U by plasma region: a row each with region, sweeps (used or not), and the columns of `averages`.

    illumination: "day" or "night" sorts sweeps whose foot of the field line is lit or dark by temperature,
        and raises InvalidInput if no sweep has `projection_in_sun`; None: a dark foot is wake, an unknown one
        unknown, as in docs/losscone.md. regions: own regions, an index of `names` for each
        sweep; below 0: none. block: hours whose sweeps count as one measurement. response, good: as in
        `select`."""
    chosen = select(source, response=response, good=good)
    found_regions = regions_of(chosen.table, illumination) if regions is None else regions
    region = np.asarray(found_regions, dtype=np.int64)
    if region.shape != (len(chosen.table),):
        raise _engine.InvalidArgument(f"regions: {len(chosen.table)} indices are wanted, one for each sweep")
    inside = np.where(chosen.used, region, -1)
    found = averages(inside, chosen.potential, len(names), blocks_of(chosen.time, block))
    sweeps = np.bincount(region[(region >= 0) & (region < len(names))], minlength=len(names))
    return structured({"region": np.array(names), "sweeps": sweeps, **columns_by_name(found)})


def time_averages(
    source: Source,
    *,
    hours: float = 24.0,
    illumination: str = "all",
    at: str = "projection",
    terminator: float = TERMINATOR,
    response: str | None = None,
    good: bool = True,
    block: float = ORBIT,
) -> Table:
    """U over time: a row for each stretch of time with a used sweep: time_start, time_end (Unix seconds), and
    the columns of `averages`.

    hours: length of a stretch; stretches begin at midnight of 1970. Other arguments, errors: as in
        `surface_map`."""
    if not 0.0 < hours < np.inf:
        raise _engine.InvalidArgument(f"hours {hours!r}: a number above 0 is wanted")
    chosen = select(source, response=response, good=good)
    used = timed(chosen, illumination, at, terminator)
    step = 3600.0 * hours
    number, stretch = np.unique(np.floor(chosen.time[used] / step), return_inverse=True)
    blocks = blocks_of(chosen.time[used], block)
    found = averages(stretch.reshape(-1), chosen.potential[used], len(number), blocks)
    ends = {"time_start": step * number, "time_end": step * (number + 1.0)}
    return structured({**ends, **columns_by_name(found)})
