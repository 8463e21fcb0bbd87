"""Day files of the Electron Reflectometer, and their geometry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _engine
from ..arrays import Floats, Table, structured, words
from ..files import PathLike as Path

if TYPE_CHECKING:
    from ..fields import er_attitude_arrays, er_day_arrays, er_mag_arrays
else:  # the library's arrays become attributes in __init__
    er_attitude_arrays = er_day_arrays = er_mag_arrays = object

_REASONS = list(_engine.er_reasons())
_OPTIONS = _engine.options("paritas_day_options")
_READING = _engine.options("paritas_er_options")
_FIELD_LIMITS = _READING["field_lower"].default, _READING["field_upper"].default


class Count(NamedTuple):
    """How often (`times`) a reason occurred. unit: "cell", "row" or "sweep"; line, column: of the first, from
    1; column 0: the whole row."""

    times: int
    unit: str
    line: int
    column: int


class Geometry:
    """A geometry table: CSV with a header (columns: docs/losscone.md)."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._table = _engine.Geometry.read(self.path)

    def has(self, column: str) -> bool:
        """Does the table have this column?"""
        return self._table.has(column)


class Attitude(er_attitude_arrays):
    """The spin axis over time, from attitude.tab: arrays time (Unix seconds), right_ascension, declination
    (ECLIPJ2000)."""

    def __init__(self, path: Path) -> None:
        self._table = _engine.Attitude.read(os.fspath(path))
        for name, values in self._table.arrays().items():
            setattr(self, name, values)

    def at(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """(right ascension, declination) at n times; NaN outside the table."""
        return self._table.at(np.atleast_1d(times))


class Magnetometer(er_mag_arrays):
    """Records of a file of the magnetometer, MAYYMMDD.TAB, means over 5 s: arrays time (n, Unix seconds),
    field (n, 3, nT) and position (n, 3, km) in the selenographic frame, field_sse and position_sse in the
    selenocentric solar ecliptic one, rms (n, nT). skipped: rows that are no such record."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._records = _engine.Magnetometer.read(self.path)
        self.skipped = self._records.skipped
        for name, values in self._records.arrays().items():
            setattr(self, name, values)


class Day(er_day_arrays):
    """The sweeps of a day file, in order of first appearance.

    Writable views of the library's memory: number, utc (of the first row), sweep_reason,
    spacecraft_potential, spacecraft_in_sun, projection_in_sun, spacecraft_latitude, spacecraft_longitude,
    projection_latitude, projection_longitude, sun_azimuth, sun_elevation (n); time, energy, polarity,
    row_reason, line (n, 15); field (n, 15, 3); flux, azimuth, cell_reason (n, 15, 88). Geometry is NaN until
    given. Masked cells have no flux. Reasons are codes here, words in `sweeps`, `rows` and `counts`."""

    def __init__(self, memory: _engine.Day, path: str = "", date: int | None = None) -> None:
        self._memory = memory
        self.path = path
        self._date = date
        for name, values in memory.arrays().items():
            setattr(self, name, values)

    @classmethod
    def read(
        cls,
        path: Path,
        *,
        strict: bool = False,
        digest: bool = False,
        field_limits: tuple[float, float] = _FIELD_LIMITS,
    ) -> Day:
        """Reads a day file. Damaged rows are dropped and counted, or refused with `strict`. field_limits:
        mask sweeps with a field outside."""
        name = os.fspath(path)
        return cls(_engine.Day.read(name, None, field_limits, digest, strict), name)

    @classmethod
    def parse(
        cls,
        text: str | bytes,
        label: str = "day",
        *,
        strict: bool = False,
        digest: bool = False,
        field_limits: tuple[float, float] = _FIELD_LIMITS,
    ) -> Day:
        """As `read`, from text; `label` names it in messages."""
        content = text.encode() if isinstance(text, str) else text
        return cls(_engine.Day.read(label, content, field_limits, digest, strict), label)

    @classmethod
    def empty(cls, n: int) -> Day:
        """n sweeps to fill, numbered from 1: NaN, rows missing."""
        return cls(_engine.Day.create(n))

    def write(self, path: Path, *, exact: bool = False) -> None:
        """Writes the archive's format, whole or not at all; `exact`: numbers read back bit for bit. Skips
        rows without an energy."""
        self._memory.write(os.fspath(path), exact)

    def __len__(self) -> int:
        return len(self.number)

    @property
    def date(self) -> int:
        """YYYYMMDD of the first sweep; of the file's name if as many sweeps are of that date; without sweeps
        of the name, else 0."""
        if self._date is not None:
            return self._date
        dates = [int(stamp[:10].replace(b"-", b"")) for stamp in self.utc if stamp and stamp[:4] != b"1970"]
        name = _engine.er_file_date(self.path)
        return dates[0] if dates and dates.count(name) < dates.count(dates[0]) else name

    @property
    def digest(self) -> str:
        """The file's "sha256:..."; "" if not requested."""
        return self._memory.digest

    @property
    def counts(self) -> dict[str, Count]:
        """How often each reason occurred. Cells of masked rows and sweeps, and rows of masked sweeps, do not
        count."""
        units = _engine.er_reasons()
        return {
            word: Count(times, units[word], line, column)
            for word, (times, line, column) in self._memory.counts().items()
        }

    @property
    def sweeps(self) -> Table:
        """One row a sweep: spectrum, utc, time (of its first row), rows (in the file), reason ("": kept),
        polarity, geometry. A copy."""
        time = _first_of(self.time)
        columns: dict[str, Any] = {
            "spectrum": self.number,
            "utc": np.array(["" if np.isnan(at) else utc(at) for at in time], dtype="U24"),
            "time": time,
            "rows": (self.line != 0).sum(axis=1),
            "reason": np.where(self.sweep_reason != 0, words(self.sweep_reason, _REASONS), ""),
            "polarity": _first_of(self.polarity),
        }
        for name in (
            "spacecraft_potential",
            "spacecraft_latitude",
            "spacecraft_longitude",
            "projection_latitude",
            "projection_longitude",
            "spacecraft_in_sun",
            "projection_in_sun",
        ):
            columns[name] = getattr(self, name)
        return structured(columns)

    @property
    def rows(self) -> Table:
        """(n, 15) rows: spectrum, line (0: missing), time, energy, field (3), polarity, reason ("kept", or
        why masked). A copy."""
        n = len(self)
        table = structured(
            {
                "spectrum": np.repeat(self.number, 15),
                "line": self.line.reshape(-1),
                "time": self.time.reshape(-1),
                "energy": self.energy.reshape(-1),
                "field": self.field.reshape(-1, 3),
                "polarity": self.polarity.reshape(-1),
                "reason": words(self.row_reason.reshape(-1), _REASONS),
            }
        )
        return table.reshape(n, 15)

    def apply(self, geometry: Geometry | Path) -> int:
        """Applies a table; returns the number of sweeps that it has."""
        table = geometry if isinstance(geometry, Geometry) else Geometry(geometry)
        return table._table.apply(self._memory)

    def apply_mag(self, records: Magnetometer | Path) -> Floats:
        """Polarity, positions and illumination from the magnetometer's records. Returns the mean field during
        each sweep, (n, 3), nT, selenographic; NaN without a record."""
        given = records if isinstance(records, Magnetometer) else Magnetometer(records)
        return given._records.apply(self._memory)[0]

    def apply_spice(self, folder: Path, attitude: Attitude | Path, library: str | None = None) -> int:
        """Geometry from a folder of SPICE kernels (DeviceUnavailable without libcspice). Returns the number
        of sweeps they miss."""
        spin = attitude if isinstance(attitude, Attitude) else Attitude(attitude)
        return _engine.er_apply_spice(os.fspath(folder), library, spin._table, self._memory)

    def mask_sunlight(
        self, angle: float = _OPTIONS["sunlight"].default, theta: ArrayLike | None = None
    ) -> None:
        """Masks cells within `angle` degrees of the Sun, if known. theta: inclinations of the 88 cells (None:
        built-in)."""
        self._memory.mask_sunlight(_engine.er_theta() if theta is None else theta, angle)

    def mask_polarity(self) -> None:
        """Masks rows without polarity +1 or -1."""
        self._memory.mask_polarity()

    def subtract_background(self, theta: ArrayLike | None = None) -> Floats:
        """Subtracts the background of each sweep, as `find_background` finds it, and returns it."""
        rate = self.find_background(theta)
        self._memory.subtract_background(rate)
        return rate

    def find_background(self, theta: ArrayLike | None = None) -> Floats:
        """The background of each sweep, in counts/s of a cell (n): a rate common to all energies, seen at the
        highest ones; 0: none is seen. `kappa.spectrum` takes it."""
        return self._memory.find_background(_engine.er_theta() if theta is None else theta)

    def mask_counts(
        self, least: float = _OPTIONS["least_counts"].default, theta: ArrayLike | None = None
    ) -> None:
        """Masks rows with fewer than `least` counts a cell, made from fluxes, and saturated rows. Fluxes
        below half a count become half a count. Spectra need the fluxes before."""
        self._memory.mask_counts(_engine.er_theta() if theta is None else theta, least)


def _first_of(values: Floats) -> Floats:
    exists = ~np.isnan(values)
    return np.where(exists.any(axis=1), values[np.arange(len(values)), exists.argmax(axis=1)], np.nan)


def find(folder: Path, *, year: int = 0, month: int = 0, day: int = 0) -> list[tuple[str, int]]:
    """Sorted (path, date as YYYYMMDD) of day files in a folder tree; 0: any."""
    return _engine.er_find(os.fspath(folder), year, month, day)


def theta(path: Path | None = None) -> Floats:
    """Inclinations of the 88 cells, degrees, from theta.tab; None: built-in, whose order may differ from the
    archive's."""
    return _engine.er_theta(None if path is None else os.fspath(path))


def solid_angles(theta: ArrayLike) -> Floats:
    """Solid angles (sr) of the 88 cells; NaN for inclinations that the instrument lacks."""
    return _engine.er_solid_angles(theta)


def utc(time: float) -> str:
    """UTC text of Unix seconds, rounded down."""
    return _engine.er_utc(time)


def despun_axes(right_ascension: float, declination: float, sun: ArrayLike) -> Floats:
    """Axes x, y, z (columns) of the despun frame (SCD), from the spin axis (degrees) and the Sun's direction
    (3): (3, 3). NaN if x is undefined."""
    return _engine.er_despun_axes(right_ascension, declination, sun)


def footpoint(position: ArrayLike, field: ArrayLike) -> tuple[Floats, int, float, float]:
    """Where the field line through `position` (km) meets the Moon: (point, polarity, latitude, longitude).
    Polarity +1: along the field, -1: against, 0: both or none."""
    return _engine.er_footpoint(position, field)
