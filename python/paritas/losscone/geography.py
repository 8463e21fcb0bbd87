"""Places on the Moon: cells of equal area, the point below the Sun, angles from the terminator.

Longitudes and latitudes are selenographic, east positive, in degrees; times in Unix seconds (UTC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine
from ..arrays import Floats, number, numbers

#: inclination of the Moon's equator to the ecliptic, degrees (Meeus, ch. 53)
_INCLINATION = 1.54242
#: Unix time of J2000.0, and a Julian century in seconds; the minute between UTC and TDT moves the Sun by 0.01
#: degrees
J2000, _CENTURY = 946728000.0, 36525.0 * 86400.0
#: within which the main terms below are good to 0.1 degrees
_SPAN = 4.0 * _CENTURY
_DEGREES_OF_SPHERE = 4.0 * np.pi * np.degrees(1.0) ** 2


def wrapped(angle: Any) -> Any:
    """The angle in [-180, 180)."""
    return (angle + 180.0) % 360.0 - 180.0


def _within(values: ArrayLike, name: str, least: float, most: float, what: str) -> Floats:
    """Numbers, NaN where they are unknown."""
    found = numbers(values, name)
    wrong = found[(found < least) | (found > most)]
    if wrong.size:
        raise _engine.InvalidArgument(f"{name} {wrong.flat[0]:g}: {what}")
    return found


def _check_shapes(*arrays: Floats) -> None:
    try:
        np.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError:
        shapes = ", ".join(str(one.shape) for one in arrays)
        raise _engine.InvalidArgument(f"places: arrays of shapes {shapes} do not fit together") from None


def latitudes(values: ArrayLike) -> Floats:
    """Numbers from -90 to 90; NaN is an unknown place."""
    return _within(values, "latitude", -90.0, 90.0, "a number from -90 to 90 is wanted")


@dataclass(frozen=True)
class EqualAreaGrid:
    """Cells of equal area in rings of latitude, almost square (Malkin, Astron. J. 158 (2019) 158).

    degrees: wanted side of a cell. cells: in each ring, from the south. edges: sines of the rings' ends, one
    more. Within a ring the first cell begins at longitude -180. Cells are numbered from the south-west."""

    degrees: float
    cells: NDArray[np.int64]
    edges: Floats

    @classmethod
    def of(cls, degrees: float) -> EqualAreaGrid:
        """The grid of this cell size, 0.5 to 90 degrees."""
        degrees = number(degrees, "degrees")
        if not 0.5 <= degrees <= 90.0:
            raise _engine.InvalidArgument(f"degrees {degrees!r}: a cell's size from 0.5 to 90 is wanted")
        rings = max(2, round(180.0 / degrees))
        middle = (np.arange(rings) + 0.5) * np.pi / rings  # from the south pole
        cells = np.maximum(3, np.round(360.0 / degrees * np.sin(middle))).astype(np.int64)
        edges = -1.0 + 2.0 * np.concatenate([[0], np.cumsum(cells)]) / cells.sum()
        return cls(float(degrees), cells, edges)

    def __len__(self) -> int:
        return int(self.cells.sum())

    @property
    def area(self) -> float:
        """Area of a cell, in square degrees."""
        return float(_DEGREES_OF_SPHERE / len(self))

    @property
    def ring(self) -> NDArray[np.int64]:
        """The ring of each cell."""
        return np.repeat(np.arange(len(self.cells)), self.cells)

    def bounds(self) -> Floats:
        """Bounds of each cell: west, east, south, north, degrees; (cells, 4)."""
        ring = self.ring
        first = np.concatenate([[0], np.cumsum(self.cells)])[ring]
        width = 360.0 / self.cells[ring]
        west = -180.0 + width * (np.arange(len(self)) - first)
        latitudes = np.degrees(np.arcsin(np.clip(self.edges, -1.0, 1.0)))
        return np.stack([west, west + width, latitudes[ring], latitudes[ring + 1]], axis=1)

    def centres(self) -> Floats:
        """Longitude and latitude of each cell's middle, half its area on either side; (cells, 2)."""
        bounds, ring = self.bounds(), self.ring
        latitude = np.degrees(np.arcsin(0.5 * (self.edges[ring] + self.edges[ring + 1])))
        return np.stack([0.5 * (bounds[:, 0] + bounds[:, 1]), latitude], axis=1)

    def cell(self, longitude: ArrayLike, latitude: ArrayLike) -> NDArray[np.int64]:
        """The cells of n places; -1 of an unknown place."""
        east, above = numbers(longitude, "longitude"), latitudes(latitude)
        _check_shapes(east, above)
        at, north = np.broadcast_arrays(east, above)
        known = np.isfinite(at) & np.isfinite(north)
        sine = np.sin(np.radians(np.where(known, north, 0.0)))
        last = len(self.cells) - 1
        ring = np.clip(np.searchsorted(self.edges, sine, side="right") - 1, 0, last)
        n = self.cells[ring]
        part = (wrapped(np.where(known, at, 0.0)) + 180.0) / 360.0
        first = np.concatenate([[0], np.cumsum(self.cells)])[ring]
        return np.where(known, first + np.minimum((part * n).astype(np.int64), n - 1), -1)


def subsolar_point(time: ArrayLike) -> tuple[Floats, Floats]:
    """Longitude and latitude of the point below the Sun, within 0.1 degrees.

    Source: Meeus, Astronomical Algorithms (1998): the Sun (ch. 25), main terms of the Moon (ch. 47), optical
    librations (ch. 53). Physical librations (0.04 degrees) are left out."""
    seconds = _within(
        time, "time", J2000 - _SPAN, J2000 + _SPAN, "Unix seconds of the years 1600 to 2400 are wanted"
    )
    t = (seconds - J2000) / _CENTURY

    def angle(start: float, rate: float) -> Any:
        return np.radians((start + rate * t) % 360.0)

    sun, moon = angle(280.46646, 36000.76983), angle(218.3164477, 481267.88123421)
    m, m1 = angle(357.52911, 35999.05029), angle(134.9633964, 477198.8675055)
    d, f = angle(297.8501921, 445267.1114034), angle(93.272095, 483202.0175233)
    node = angle(125.0445479, -1934.1362891)
    of_sun = sun + np.radians(
        (1.914602 - 0.004817 * t) * np.sin(m) + 0.019993 * np.sin(2 * m) + 0.000289 * np.sin(3 * m) - 0.00569
    )
    of_moon = moon + np.radians(
        6.288774 * np.sin(m1)
        + 1.274027 * np.sin(2 * d - m1)
        + 0.658314 * np.sin(2 * d)
        + 0.213618 * np.sin(2 * m1)
        - 0.185116 * np.sin(m)
        - 0.114332 * np.sin(2 * f)
    )
    north = np.radians(
        5.128122 * np.sin(f)
        + 0.280602 * np.sin(m1 + f)
        + 0.277693 * np.sin(m1 - f)
        + 0.173237 * np.sin(2 * d - f)
    )
    kilometres = (
        385000.56
        - 20905.355 * np.cos(m1)
        - 3699.111 * np.cos(2 * d - m1)
        - 2955.968 * np.cos(2 * d)
        - 569.925 * np.cos(2 * m1)
    )
    share = kilometres / (149597870.7 * (1.00014 - 0.01671 * np.cos(m) - 0.00014 * np.cos(2 * m)))
    # the Moon as seen from the Sun
    longitude = of_sun + np.pi + share * np.cos(north) * np.sin(of_sun - of_moon)
    latitude = share * north
    tilt, w = np.radians(_INCLINATION), longitude - node
    across = np.sin(w) * np.cos(latitude)
    a = np.arctan2(across * np.cos(tilt) - np.sin(latitude) * np.sin(tilt), np.cos(w) * np.cos(latitude))
    below = np.arcsin(-across * np.sin(tilt) - np.sin(latitude) * np.cos(tilt))
    return wrapped(np.degrees(a - f)), np.degrees(below)


def solar_position(time: ArrayLike, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Floats, Floats]:
    """Where places stand to the Sun: (terminator angle, hour angle), degrees.

    terminator angle: minus the Sun's elevation; -90 at the subsolar point, 0 at the terminator, above 0 in
        the night. hour angle: local time after noon, 15 degrees an hour; -90 at dawn, 90 at dusk. The Moon
        is a sphere. The Sun's radius (0.27 degrees), relief and eclipses are left out."""
    east, north = subsolar_point(time)
    at, here = numbers(longitude, "longitude"), np.radians(latitudes(latitude))
    _check_shapes(east, at, here)
    hour, there = wrapped(at - east), np.radians(north)
    sine = np.sin(here) * np.sin(there) + np.cos(here) * np.cos(there) * np.cos(np.radians(hour))
    return -np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0))), hour
