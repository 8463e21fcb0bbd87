"""Sweeps for fits: pitch angles, normalised and masked fluxes, spacecraft potentials."""

from __future__ import annotations

import operator
import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from .. import _engine, kappa
from ..arrays import Floats, Summarised, Table, columns_by_name, numbers, structured
from ..files import PathLike as Path
from ..keywords import Where, check_keywords, running, takes
from ..records import columns_of
from .day import Attitude, Day, Geometry, Magnetometer
from .day import theta as theta_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DEFAULTS = {name: one.default for name, one in _engine.options("paritas_day_options").items()}
_RESPONSE_WIDTH: float = _engine.options("paritas_losscone_options")["response_width"].default
_METHOD: str = _engine.options("paritas_losscone_options")["method"].default
#: what a file shares with those before it of its date, as the program tells it
_SHARES = {
    "repeated": "are in {} too and count once",
    "other": "have other data in {}; the sweep with more rows counts, else the first",
    "strays": "are of other days",
}


class Directions(TypedDict, total=False):
    """Where cells look, for `cosines`."""

    theta: ArrayLike
    field: ArrayLike
    azimuth: ArrayLike
    polarity: ArrayLike | None


class Part(NamedTuple):
    """Sweeps start to stop of one day; first: number of the first, which keys random numbers."""

    start: int
    stop: int
    first: int


@dataclass(repr=False)
class Sweeps(Summarised):
    """n sweeps of up to 32 energies (rows) of up to 512 directions (cells). energy, potential (of the
    spacecraft) (n, rows); cosine (of the pitch angle, above 0 incident), flux (normalised) (n, rows, cells).

    measured: fluxes as measured, shaped like flux, for masks. None: `flux` is masked. days, parts: the
        sweeps' source; potentials: how the spacecraft's were found, one a day. counted_days: the days after
        backgrounds and rows of few counts, with the reasons of the program's archive.
    channel (n, rows, 5): energies of the folded edge over the row's, from `channels`; None: of equal weight.
        counts (like flux): counts of a normalised flux of 1; None: unknown. background (n, rows): normalised
        flux that was subtracted. background_rate (n): the same in counts/s, also of the plasma's fits.
        counted (like flux): `measured` without it and without rows of few counts; None: `measured`.
        measured_counts (like flux): counts, background included; with them the folded edge has a likelihood
        of counts; None: unknown. scatter (n): of cells beside counting, at least; None: 0.015. complete
        (like flux): normalised fluxes before that, for beams; None: `flux`.
    potential_error (n): of the spacecraft's potential, V, for which confidence sets allow; None: exact.
    mag (n, 3): field of the magnetometer, nT, selenographic; None: unknown.
    known: columns of the table, one row a sweep, of sweeps that are of no day."""

    energy: Floats
    potential: Floats
    cosine: Floats
    flux: Floats
    measured: Floats | None = None
    days: list[Day] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    potentials: list[kappa.SpacecraftPotentials] = field(default_factory=list)
    channel: Floats | None = None
    counts: Floats | None = None
    background: Floats | None = None
    background_rate: Floats | None = None
    counted: Floats | None = None
    complete: Floats | None = None
    potential_error: Floats | None = None
    mag: Floats | None = None
    known: Table | None = None
    counted_days: list[Day] = field(default_factory=list)
    measured_counts: Floats | None = None
    scatter: Floats | None = None
    _masked: dict[str, _engine.SweepArrays] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.parts:
            self.parts = [Part(0, len(self.energy), 0)]

    @classmethod
    def of(
        cls,
        energy: ArrayLike,
        potential: ArrayLike,
        cosine: ArrayLike | None,
        flux: ArrayLike,
        *,
        measured: ArrayLike | None = None,
        channel: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        background: ArrayLike | None = None,
        measured_counts: ArrayLike | None = None,
        scatter: ArrayLike | None = None,
        first: int = 0,
        **directions: Unpack[Directions],
    ) -> Sweeps:
        """Sweeps of arrays, borrowed if contiguous float64.

        flux: (n, rows, cells), or (rows, cells) of one sweep, of up to 32 energies and 512 directions.
            energy: (n, rows) or (rows,); potential: (n, rows), (n,) or one number; cosine: like flux, or None
            for those of `directions`: field, azimuth, theta, polarity, as `cosines` takes them. channel,
            counts, background, measured_counts, scatter: see Sweeps. first: number of the first sweep.
            Cosines outside [-1, 1] are an error."""
        fluxes = _sweeps_of(flux, "flux")
        n, rows = fluxes.shape[:2]
        angles = _angles_of(cosine, fluxes.shape, directions)
        volts = numbers(potential)
        if volts.ndim == 1:
            volts = volts[:, None]
        raw = None if measured is None else _sweeps_of(measured, "measured", fluxes.shape)
        made = cls(
            _broadcast(energy, (n, rows), "energy"),
            _broadcast(volts, (n, rows), "potential"),
            angles,
            fluxes,
            raw,
            parts=[Part(0, n, first)],
            channel=None if channel is None else numbers(channel),
            counts=None if counts is None else numbers(counts),
            background=None if background is None else numbers(background),
            measured_counts=None if measured_counts is None else numbers(measured_counts),
            scatter=None if scatter is None else numbers(scatter),
        )
        made.arrays("halekas")
        return made

    def __len__(self) -> int:
        return len(self.energy)

    def __getitem__(self, which: SupportsIndex | slice) -> Sweeps:
        """Some sweeps, by number or slice of step 1, without days. They keep their random numbers."""
        start, stop, step = _slice_of(which).indices(len(self))
        if step != 1:
            raise _engine.InvalidArgument("sweeps: a slice of step 1 is wanted")
        if not isinstance(which, slice) and stop <= start:
            raise IndexError(f"sweep {which} of {len(self)}")
        rows = slice(start, stop)
        parts = [
            Part(
                max(part.start - start, 0),
                min(part.stop, stop) - start,
                part.first + max(start - part.start, 0),
            )
            for part in self.parts
            if part.start < stop and part.stop > start
        ]
        further: Any = {
            name: None if values is None else values[rows] for name, values in self._further().items()
        }
        return Sweeps(
            self.energy[rows],
            self.potential[rows],
            self.cosine[rows],
            self.flux[rows],
            None if self.measured is None else self.measured[rows],
            parts=parts,
            known=None if self.known is None else self.known[rows],
            **further,
        )

    def _further(self) -> dict[str, Floats | None]:
        """The arrays that may be absent, but `measured`."""
        names = (
            "channel",
            "counts",
            "background",
            "background_rate",
            "counted",
            "complete",
            "potential_error",
            "mag",
            "measured_counts",
            "scatter",
        )
        return {name: getattr(self, name) for name in names}

    def arrays(self, method: str) -> _engine.SweepArrays:
        """The arrays for a method's misfit. With `measured`, a copy masks fluxes that the method ignores. It
        is made once: change arrays before."""
        found = self._masked.get(method)
        if found is None:
            raw = self.measured if self.counted is None else self.counted
            flux = self.flux if raw is None else mask(self.cosine, raw, self.flux, method)
            found = self._masked[method] = _engine.SweepArrays(
                self.energy,
                self.potential,
                self.cosine,
                flux,
                self.channel,
                self.counts,
                self.background,
                self.potential_error,
                self.measured_counts,
                self.scatter,
            )
        return found

    def table(self) -> Table | None:
        """What is known of the sweeps, one row each; None for plain arrays."""
        if not self.days:
            return self.known
        columns: list[Table] = []
        at = 0
        for k, day in enumerate(self.days):
            names = columns_by_name(day.sweeps)
            if self.mag is not None:
                names.update({f"mag_{axis}": self.mag[at : at + len(day), i] for i, axis in enumerate("xyz")})
            at += len(day)
            if self.potentials:
                found = columns_by_name(self.potentials[k].table)
                del found["spacecraft_potential"]
                names.update(found)
            if self.background_rate is not None:
                names["background_rate"] = self.background_rate[self.parts[k].start : self.parts[k].stop]
            columns.append(structured(names))
        return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _sweeps_of(given: ArrayLike, what: str, like: tuple[int, ...] | None = None) -> Floats:
    """(n, rows, cells), of the shape `like`; None: any."""
    array = np.ascontiguousarray(numbers(given))
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or 0 in array.shape[1:] or like not in (None, array.shape):
        wanted = "(n, rows, cells)" if like is None else like
        raise _engine.InvalidArgument(
            f"{what}: an array of shape {wanted} is wanted, the one given has shape {np.shape(given)}"
        )
    return array


def _angles_of(cosine: ArrayLike | None, shape: tuple[int, ...], directions: Directions) -> Floats:
    if cosine is not None and directions:
        raise _engine.InvalidArgument(f"cosine and {next(iter(directions))}: only one of them is wanted")
    if cosine is not None:
        angles = _sweeps_of(cosine, "cosine", shape)
        _check_cosines(angles)
        return angles
    missing = [name for name in ("theta", "field", "azimuth") if name not in directions]
    if missing:
        raise _engine.InvalidArgument(f"cosine: it is None, and {missing[0]} is not given either")
    directions["azimuth"] = _broadcast(directions["azimuth"], shape, "azimuth")
    return cosines(**directions)


def _check_cosines(cosine: Floats) -> None:
    """Dot products of unit vectors may exceed 1 by rounding."""
    wrong = np.abs(cosine) > 1.0 + 1e-9
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        raise _engine.InvalidArgument(
            f"cosine: {cosine[at]:g} in sweep {at[0]}, row {at[1]}, cell {at[2]} is outside [-1, 1]; "
            "cosines of pitch angles are wanted, not degrees"
        )


def _broadcast(given: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    array = numbers(given)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    except ValueError:
        raise _engine.InvalidArgument(
            f"{what}: an array of shape {shape} is wanted, the one given has shape {array.shape}"
        ) from None


def _of_rows(given: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """A number a sweep, (n,), goes to all its rows."""
    array = numbers(given)
    return _broadcast(array[:, None] if array.ndim == 1 else array, shape, what)


def cosines(
    theta: ArrayLike, field: ArrayLike, azimuth: ArrayLike, polarity: ArrayLike | None = None
) -> Floats:
    """Cosines of pitch angles, (n, rows, cells), from directions and the field in one frame.

    azimuth: (n, rows, cells), or (rows, cells) of one sweep, degrees. theta: inclinations, degrees, (cells,),
        (rows, cells) or (n, rows, cells). field: (3,), (n, 3) or (n, rows, 3). polarity: +1 where the field
        points to the surface, -1 where it points away, else NaN: one number, (n,) or (n, rows); None: -1."""
    angles = _sweeps_of(azimuth, "azimuth")
    shape, inclination, along = angles.shape, numbers(theta), numbers(field)
    n, rows, cells = shape
    along = _broadcast(along[:, None] if along.ndim == 2 else along, (n, rows, 3), "field")
    sign = None if polarity is None else _of_rows(polarity, (n, rows), "polarity")
    if inclination.ndim < 2:
        return _engine.losscone_cosines(_broadcast(inclination, (cells,), "theta"), along, sign, angles)
    found, of_rows = np.empty(shape), _broadcast(inclination, shape, "theta")
    for i in range(rows):
        row = slice(i, i + 1)
        steps = np.flatnonzero(np.any(of_rows[1:, i] != of_rows[:-1, i], axis=1)) + 1
        for start, stop in zip([0, *steps], [*steps, n]):  # sweeps of equal inclinations
            part = slice(start, stop)
            found[part, row] = _engine.losscone_cosines(
                of_rows[start, i],
                along[part, row],
                None if sign is None else sign[part, row],
                angles[part, row],
            )
    return found


def normalise(cosine: ArrayLike, flux: ArrayLike, how: str = "ratio", *, out: Floats | None = None) -> Floats:
    """Fluxes (n, rows, cells) made comparable between energies: divided by the mean ("ratio") or largest
    ("max") of the row's valid incident cells, or each reflected cell by the mirrored one ("pairs"). out: may
    be `flux`."""
    return _engine.losscone_normalise(cosine, flux, how, out)


def mask(
    cosine: ArrayLike,
    measured: ArrayLike,
    normalised: ArrayLike,
    method: str = "halekas",
    *,
    out: Floats | None = None,
) -> Floats:
    """Normalised fluxes (n, rows, cells), NaN in cells that the method ignores. measured: fluxes before. out:
    may be `normalised`."""
    if out is None:
        out = np.array(normalised, dtype=np.float64, order="C")
    elif out is not normalised:
        out[...] = normalised
    _engine.losscone_mask(cosine, measured, out, method)
    return out


def channels(sweeps: Sweeps, measured: ArrayLike, response_width: float = _RESPONSE_WIDTH) -> Floats:
    """Energies of each row's channel for the folded edge, weighted by the measured spectrum: (n, rows, 5),
    over the row's energy. measured: fluxes (n, rows, cells)."""
    arrays = _engine.SweepArrays(
        sweeps.energy,
        sweeps.potential,
        sweeps.cosine,
        sweeps.flux,
        counts=sweeps.counts,
        measured=sweeps.measured_counts,
        scatter=sweeps.scatter,
    )
    return _engine.losscone_channels(arrays, response_width, measured)


def beam(sweeps: Sweeps) -> Table:
    """Electron beams coming up along the field: beam_found, beam_energy (eV), beam_ratio (mean normalised
    flux), beam_potential (V: of the surface, if electrons started at rest); NaN without a beam."""
    found = _engine.losscone_beam(
        _engine.SweepArrays(
            sweeps.energy,
            sweeps.potential,
            sweeps.cosine,
            sweeps.flux if sweeps.complete is None else sweeps.complete,
        )
    )
    columns = columns_of("paritas_beam", found, found["found"] != 0)
    return structured({f"beam_{name}": values for name, values in columns.items() if name != "row"})


def load(
    files: Path | Day | Sequence[Path | Day],
    *,
    theta: Path | ArrayLike | None = None,
    geometry: Path | None = None,
    mag: Path | Magnetometer | None = None,
    polarity: float | Path | None = None,
    spacecraft_potential: str | float | Path = "auto",
    sunlight: float = _DEFAULTS["sunlight"],
    normalisation: str = _DEFAULTS["normalisation"],
    strict: bool = False,
    illumination: str | None = None,
    least_counts: float = _DEFAULTS["least_counts"],
    subtract_background: bool = _DEFAULTS["subtract_background"],
    response_weights: str = "spectrum",
    response_width: float = _RESPONSE_WIDTH,
    method: str = _METHOD,
    spice: Path | None = None,
    attitude: Path | None = None,
    kappa_options: Mapping[str, Any] | None = None,
    potential_options: Mapping[str, Any] | None = None,
    **where: Unpack[Where],
) -> Sweeps:
    """Reads day files and prepares their sweeps, as `paritas losscone fit` does.

    files: day files and folders of them, or days already read, which are changed. Files of one date become
        one day, in which each sweep counts once; a warning tells of sweeps in several files. theta: theta.tab
        or 88 inclinations. geometry: a CSV table; mag: a file of the magnetometer, or a folder with those of
        the days, MAYYMMDD.TAB; spice: a folder of kernels, with attitude. polarity: +1, -1 or a table; None:
        the geometry's, else -1 with a warning.
    spacecraft_potential: "auto", from the plasma's currents (kappa_options, potential_options; illumination
        "sun" or "shade" if the geometry does not tell; None: "sun" with a warning); volts; or a table.
        sunlight: mask cells within so many degrees of the Sun, if known; 0: none.
    least_counts: mask rows with fewer counts a cell; 0: no counting noise. subtract_background: a rate of
        counts common to all energies, also in fits of the plasma. response_weights: "spectrum" or
        "equal", of the folded edge; response_width, method: as those of the fit; method="halekas" for
        search="de" too. None of these changes the days.

    A day takes about 80 MB of memory; for whole months use the program."""
    check_keywords(load, where)
    if (spice is None) != (attitude is None):
        raise _engine.InvalidArgument("spice and attitude: one needs the other")
    if response_weights not in ("spectrum", "equal"):
        raise _engine.InvalidArgument(f"response_weights {response_weights!r}: there are spectrum, equal")
    if illumination not in ("sun", "shade", None):
        raise _engine.InvalidArgument(f"illumination {illumination!r}: there are sun, shade")
    inclination = (
        theta_of(theta) if theta is None or isinstance(theta, (str, os.PathLike)) else numbers(theta)
    )
    automatic = isinstance(spacecraft_potential, str) and spacecraft_potential == "auto"
    table = _table(geometry, None)
    polarities = _table(polarity, "polarity")
    potentials = None if automatic else _table(spacecraft_potential, "spacecraft_potential")
    records = _mags_of(mag)
    located = spice is not None or mag is not None
    sign = _sign(polarity, located or (table is not None and table.has("polarity")))
    told = located or (table is not None and table.has("spacecraft_in_sun"))
    if automatic and illumination is None and not told:
        warnings.warn("the illumination of the spacecraft is not known and taken as sunlight", stacklevel=2)
    options = _engine.DayOptions(
        inclination,
        "auto" if automatic else "day" if potentials is not None else spacecraft_potential,
        0.0 if sign is None else sign,
        sunlight,
        normalisation,
        illumination != "shade",
        least_counts,
        subtract_background,
        response_weights == "spectrum",
        response_width,
        method,
        _engine.option_values("paritas_kappa_options", dict(kappa_options or {})),
        _engine.option_values("paritas_potential_options", dict(potential_options or {})),
    )
    options.set_sources(
        *(None if one is None else one._table for one in (table, polarities, potentials)),
    )
    spin = None if attitude is None else Attitude(attitude)._table
    kernels = None if spice is None else os.fspath(spice)
    made = []
    for day in _days_of([files] if isinstance(files, (str, os.PathLike, Day)) else list(files), strict):
        options.set_mags([_records_of(one) for one, date in records if date in (0, day.date)])
        prepared = options.prepare(day._memory, kernels, spin)
        made.append(_prepared(day, prepared, options, automatic, where))
    return made[0] if len(made) == 1 else _joined(made)


takes(Where, load)


def _mags_of(mag: Path | Magnetometer | None) -> list[tuple[Path | Magnetometer, int]]:
    """Records and their date, 0: of any day. Those of a folder are read when their day is prepared."""
    if mag is None or isinstance(mag, Magnetometer):
        return [] if mag is None else [(mag, 0)]
    if not os.path.isdir(mag):
        return [(Magnetometer(mag), 0)]
    found: list[tuple[Path | Magnetometer, int]] = [*_engine.er_find_mags(os.fspath(mag))]
    if not found:
        raise _engine.InvalidInput(f"{os.fspath(mag)}: there is no file of the magnetometer (MAYYMMDD.TAB)")
    return found


def _records_of(given: Path | Magnetometer) -> _engine.Magnetometer:
    return (given if isinstance(given, Magnetometer) else Magnetometer(given))._records


def _days_of(given: list[Path | Day], strict: bool) -> list[Day]:
    """One day a date, in the order of dates; days in memory come last."""
    paths = [os.fspath(one) for one in given if not isinstance(one, Day)]
    if not given:
        raise _engine.InvalidArgument("files: there are none")
    days = _read_days(paths, strict) if paths else []
    by_date: dict[Any, list[Day]] = {}
    for day in [*days, *(one for one in given if isinstance(one, Day))]:
        of_date = by_date.setdefault(day.date or id(day), [])
        if all(day is not one for one in of_date):
            of_date.append(day)
    return [_one_of(of_date) for of_date in by_date.values()]


def _read_days(paths: list[str], strict: bool) -> list[Day]:
    days: list[Day] = []
    found = _engine.Days.find(paths)
    for k in range(len(found)):
        memory, shares = found.read(k, strict)
        names = found.paths(k)
        _tell_shares(names, shares)
        days.append(Day(memory, names[0], found.date(k)))
    return days


def _one_of(days: list[Day]) -> Day:
    if len(days) == 1:
        return days[0]
    memory, shares = _engine.day_join([day._memory for day in days])
    _tell_shares([day.path for day in days], shares)
    return Day(memory, days[0].path, days[0].date)


def _tell_shares(paths: list[str], shares: list[dict[str, int]]) -> None:
    for k, (path, share) in enumerate(zip(paths, shares)):
        before = paths[0] if k == 1 else "files before it"
        for what, text in _SHARES.items():
            if share[what] > 0:
                warnings.warn(f"{path}: {share[what]} of its sweeps {text.format(before)}", stacklevel=5)
        if share["shift"] != 0:
            warnings.warn(
                f"{path}: {share['shift']} is added to its spectrum numbers; "
                f"other sweeps have them in {before}",
                stacklevel=5,
            )


def _prepared(
    day: Day, made: _engine.DaySweeps, options: _engine.DayOptions, automatic: bool, where: Any
) -> Sweeps:
    found: list[kappa.SpacecraftPotentials] = []
    if automatic:
        with running(where, "spacecraft potentials") as (used, tell):
            fits = made.plasma(options, day._memory, used, tell)
        found = [kappa.potentials_of(fits.potentials, fits.fits, used)]
    complete = made.arrays()["flux"].copy()
    counted = Day(day._memory.copy())
    made.count(options, counted._memory)
    arrays = made.arrays()
    return Sweeps(
        day.energy,
        arrays["potential"],
        arrays["cosine"],
        arrays["flux"],
        day.flux,
        [day],
        [Part(0, len(day), day.date << 24)],
        found,
        channel=arrays["channel"],
        counts=arrays["counts"],
        background=arrays["background"],
        background_rate=arrays["rate"],
        counted=counted.flux,
        complete=complete,
        potential_error=arrays["potential_error"],
        mag=arrays["mag"],
        counted_days=[counted],
        measured_counts=arrays["measured"],
        scatter=arrays["scatter"],
    )


def _table(path: Path | float | None, column: str | None) -> Geometry | None:
    if not isinstance(path, (str, os.PathLike)):
        return None
    table = Geometry(path)
    if column is not None and not table.has(column):
        raise _engine.InvalidInput(f"{table.path}: has no column {column}")
    return table


def _slice_of(which: SupportsIndex | slice) -> slice:
    if isinstance(which, slice):
        return which
    try:
        number = operator.index(which)
    except TypeError:
        raise TypeError("sweeps: a number or a slice of step 1 is wanted, not an array of numbers") from None
    return slice(number, number + 1 or None)


def _sign(polarity: float | Path | None, known: bool) -> float | None:
    """The polarity of all rows; None if sweeps differ."""
    if isinstance(polarity, (str, os.PathLike)) or (polarity is None and known):
        return None
    if polarity is None:
        warnings.warn(
            "the polarity of the field is not known and taken as -1 (polarity=, geometry=, mag=)",
            stacklevel=3,
        )
        return -1.0
    if polarity not in (1.0, -1.0):
        raise _engine.InvalidArgument(f"polarity {polarity!r}: it is +1, -1 or a table")
    return float(polarity)


def _concatenated(arrays: list[Floats | None]) -> Floats | None:
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def _joined(made: list[Sweeps]) -> Sweeps:
    if any(one.mag is not None for one in made):  # days without records
        for one in made:
            one.mag = np.full((len(one), 3), np.nan) if one.mag is None else one.mag
    parts: list[Part] = []
    for one in made:
        at = parts[-1].stop if parts else 0
        parts += [Part(at + part.start, at + part.stop, part.first) for part in one.parts]
    measured = [one.measured for one in made if one.measured is not None]
    further: Any = {
        name: _concatenated([one._further()[name] for one in made]) for name in made[0]._further()
    }
    return Sweeps(
        np.concatenate([one.energy for one in made]),
        np.concatenate([one.potential for one in made]),
        np.concatenate([one.cosine for one in made]),
        np.concatenate([one.flux for one in made]),
        np.concatenate(measured),
        [one.days[0] for one in made],
        parts,
        [found for one in made for found in one.potentials],
        counted_days=[day for one in made for day in one.counted_days],
        **further,
    )
