"""Projections of the Moon, and the basemap under its maps: meridians, parallels, large maria.

Longitudes and latitudes are selenographic, in degrees. A projection maps them to the plane; `inside` is False
on the side that it does not show."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from ..arrays import Floats
from .style import Axes

#: name, longitude, latitude, diameter in km of round maria and basins (Gazetteer of Planetary Nomenclature,
#: IAU and USGS)
MARIA = (
    ("Imbrium", -15.6, 32.8, 1145.0),
    ("Serenitatis", 17.5, 28.0, 674.0),
    ("Tranquillitatis", 31.4, 8.5, 875.0),
    ("Crisium", 59.1, 17.0, 555.0),
    ("Fecunditatis", 51.3, -7.8, 840.0),
    ("Nectaris", 35.5, -15.2, 339.0),
    ("Nubium", -16.6, -21.3, 714.0),
    ("Humorum", -38.6, -24.4, 419.0),
    ("Orientale", -92.8, -19.4, 294.0),
    ("Moscoviense", 147.9, 27.3, 276.0),
    ("South Pole-Aitken", -169.0, -53.0, 2400.0),
)
#: degrees between points of a line
_STEP = 2.0


@dataclass(frozen=True)
class Mollweide:
    """Equal areas, the whole Moon in an ellipse. centre: longitude in the middle."""

    centre: float = 0.0

    def project(self, longitude: Any, latitude: Any) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """x in [-2, 2], y in [-1, 1]. A longitude may lie up to 180 degrees off the centre, ends included."""
        turned = np.asarray(longitude, dtype=np.float64) - self.centre
        turned = np.where(np.abs(turned) > 180.0 + 1e-9, (turned + 180.0) % 360.0 - 180.0, turned)
        at = np.radians(np.clip(latitude, -90.0, 90.0))
        wanted = np.pi * np.sin(at)
        # Newton's method for 2 t + sin 2 t = pi sin(latitude) from a start close to the root near the poles
        t = np.sign(at) * (0.5 * np.pi - (0.75 * np.pi * (1.0 - np.abs(np.sin(at)))) ** (1.0 / 3.0) * 0.9)
        for _ in range(12):
            slope = 2.0 + 2.0 * np.cos(2.0 * t)
            t = np.clip(
                t
                - np.where(
                    slope > 1e-12, (2.0 * t + np.sin(2.0 * t) - wanted) / np.maximum(slope, 1e-12), 0.0
                ),
                -0.5 * np.pi,
                0.5 * np.pi,
            )
        return turned / 90.0 * np.cos(t), np.sin(t), np.ones(np.shape(t), dtype=bool)

    def views(self) -> Sequence[tuple[Any, float, str]]:
        return ((self, 0.0, ""),)

    def outline(self) -> tuple[Floats, Floats]:
        t = np.linspace(0.0, 2.0 * np.pi, 361)
        return 2.0 * np.cos(t), np.sin(t)

    @property
    def limits(self) -> tuple[float, float]:
        return -2.12, 2.12


@dataclass(frozen=True)
class Disc:
    """The hemisphere around a place, as seen from far away. Points behind the limb are moved onto it."""

    longitude: float
    latitude: float

    def project(self, longitude: Any, latitude: Any) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        east, north = np.radians(np.asarray(longitude) - self.longitude), np.radians(latitude)
        tilt = np.radians(self.latitude)
        x = np.cos(north) * np.sin(east)
        y = np.cos(tilt) * np.sin(north) - np.sin(tilt) * np.cos(north) * np.cos(east)
        towards = np.sin(tilt) * np.sin(north) + np.cos(tilt) * np.cos(north) * np.cos(east)
        inside = towards >= -1e-12
        size = np.where(inside, 1.0, np.maximum(np.hypot(x, y), 1e-12))
        return x / size, y / size, inside

    def outline(self) -> tuple[Floats, Floats]:
        t = np.linspace(0.0, 2.0 * np.pi, 361)
        return np.cos(t), np.sin(t)


@dataclass(frozen=True)
class Sphere:
    """Two hemispheres side by side. centre: longitude and latitude in the middle of the first; the second is
    the other side."""

    centre: tuple[float, float] = (0.0, 0.0)

    def views(self) -> Sequence[tuple[Any, float, str]]:
        east, north = self.centre
        sides = ("near side", "far side") if self.centre == (0.0, 0.0) else ("", "")
        return (
            (Disc(east, north), -1.12, sides[0]),
            (Disc((east + 360.0) % 360.0 - 180.0, -north), 1.12, sides[1]),
        )

    @property
    def limits(self) -> tuple[float, float]:
        return -2.3, 2.16


def chosen(projection: Any) -> Any:
    """ "mollweide", "sphere", a Mollweide or a Sphere."""
    named = {"mollweide": Mollweide(), "sphere": Sphere()}
    if isinstance(projection, (Mollweide, Sphere)):
        return projection
    if projection not in named:
        raise ValueError(f"projection {projection!r}: must be mollweide or sphere")
    return named[projection]


def along(start: tuple[float, float], end: tuple[float, float]) -> Floats:
    """Points from one place to another at constant speed in longitude and latitude; (n, 2)."""
    n = 1 + max(1, int(np.ceil(max(abs(end[0] - start[0]), abs(end[1] - start[1])) / _STEP)))
    return np.stack([np.linspace(a, b, n) for a, b in zip(start, end)], axis=1)


@lru_cache(maxsize=1 << 14)  # a page draws the same grids many times
def outline_of_cell(west: float, east: float, south: float, north: float) -> Floats:
    """Outline of a cell, with points along its parallels; (n, 2), not to be written to."""
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    outline = np.concatenate([along(a, b) for a, b in zip(corners, corners[1:])])
    outline.setflags(write=False)
    return outline


def circle(longitude: float, latitude: float, radius: float) -> tuple[Floats, Floats]:
    """Places at an angular distance of `radius` degrees."""
    turn = np.linspace(0.0, 2.0 * np.pi, 121)
    here, r = np.radians(latitude), np.radians(radius)
    sine = np.sin(here) * np.cos(r) + np.cos(here) * np.sin(r) * np.cos(turn)
    east = np.arctan2(np.sin(turn) * np.sin(r) * np.cos(here), np.cos(r) - np.sin(here) * sine)
    return longitude + np.degrees(east), np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0)))


def _outlined(width: float) -> Any:
    """A white rim, which dark cells need."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=width, foreground="white", alpha=0.8), Normal()]


def _line(axes: Axes, view: Any, shift: float, longitude: Floats, latitude: Floats, **look: Any) -> None:
    """A line without its hidden parts, and without the jump at the edge of the map."""
    x, y, inside = view.project(longitude, latitude)
    x = np.where(inside, x, np.nan)
    jump = np.flatnonzero(np.abs(np.diff(x)) > 1.0)
    x, y = np.insert(x, jump + 1, np.nan), np.insert(y, jump + 1, np.nan)
    axes.plot(x + shift, y, **look)


def draw_basemap(axes: Axes, projection: Any, *, maria: bool = True, step: float = 30.0) -> None:
    """Meridians and parallels every `step` degrees with their labels, the outlines of large maria, the limb;
    over what is drawn below order 3."""
    grid: dict[str, Any] = {"color": "0.55", "linewidth": 0.5, "alpha": 0.7, "zorder": 3}
    shore: dict[str, Any] = {"color": "black", "linewidth": 0.7, "linestyle": (0, (4, 2)), "zorder": 4}
    shore["path_effects"] = _outlined(1.4)
    for view, shift, side in projection.views():
        for longitude in np.arange(-180.0 + step, 180.0, step):
            latitude = np.arange(-90.0, 90.0 + _STEP, _STEP)
            _line(axes, view, shift, np.full(len(latitude), longitude), latitude, **grid)
        for latitude_of in np.arange(-90.0 + step, 90.0, step):
            longitudes = np.linspace(-180.0, 180.0, 361)
            _line(axes, view, shift, longitudes, np.full(361, latitude_of), **grid)
        if maria:
            for _, east, north, diameter in MARIA:
                ring = circle(east, north, np.degrees(0.5 * diameter / _engine.MOON_RADIUS))
                _line(axes, view, shift, *ring, **shore)
        x, y = view.outline()
        axes.plot(x + shift, y, color="black", linewidth=0.9, zorder=5)
        _label(axes, view, shift, step)
        if side:
            axes.annotate(side, (shift, 1.08), ha="center", va="bottom", annotation_clip=False)
    axes.set(xlim=projection.limits, ylim=(-1.1, 1.1), aspect="equal")
    axes.set_axis_off()


def _label(axes: Axes, view: Any, shift: float, step: float) -> None:
    small: dict[str, Any] = {"fontsize": 7, "color": "0.1", "zorder": 6, "annotation_clip": False}
    small["path_effects"] = _outlined(1.5)
    x, _ = view.outline()
    west = view.centre - 180.0 if isinstance(view, Mollweide) else view.longitude - 90.0
    if isinstance(view, Mollweide) or view.latitude == 0.0:
        for latitude in np.arange(-90.0 + step, 90.0, step):
            at = view.project(west, latitude)
            place = (at[0] + shift - 0.03, at[1])
            axes.annotate(_degrees(latitude, "S", "N"), place, ha="right", va="center", **small)
    for longitude in np.arange(-180.0 + 2 * step, 181.0, 2 * step):
        px, py, inside = view.project(longitude, 0.0)
        if inside and abs(px) < 0.97 * np.max(x):
            place = (px + shift + 0.012, py - 0.015)
            axes.annotate(_degrees(longitude, "W", "E"), place, ha="left", va="top", **small)


def _degrees(angle: float, below: str, above: str) -> str:
    side = "" if angle in (0.0, 180.0) else below if angle < 0.0 else above
    return f"{abs(angle):.0f}\N{DEGREE SIGN}{side}"
