"""Sweeps of other instruments: distributions as the readers of SPEDAS hand them over."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine, kappa
from ..arrays import Floats, Table, columns_by_name, numbers, structured
from ..keywords import Where, check_keywords, takes
from .sweeps import _DEFAULTS, _METHOD, _RESPONSE_WIDTH, Sweeps, channels, cosines, normalise

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: a distribution, or those of several sensors at one time
Distribution = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]
MOST_CELLS = 512
#: most that energies of one row may differ, each from their mean
ENERGY_SPREAD = 0.2
#: km from the Moon's centre
LEAST_AWAY = 1700.0
#: degrees, of rounding
THETA_ROOM = 0.01
#: eV s^2/cm^2
_MASS = 5.685630103565723e-16
#: factors of an exposure; the first group that a distribution has
_EXPOSURES = (("exposure",), ("geom_factor", "gf", "eff", "integ_t", "dt_arr"), ("gfactor", "eff", "integ_t"))
_UNITS = ("flux", "eflux", "df", "df_cm", "counts")


@dataclass
class _Sensor:
    """Arrays (n, rows, cells) of distributions; NaN where there is nothing. exposure: cm^2 sr s, or None."""

    energy: Floats
    flux: Floats
    theta: Floats
    phi: Floats
    solid_angle: Floats
    exposure: Floats | None


_ARRAYS = ("energy", "flux", "theta", "phi", "solid_angle")


def _member(given: Mapping[str, Any], name: str, place: str) -> Floats:
    if name not in given:
        raise _engine.InvalidArgument(f"{place}: has no {name!r}; it has {', '.join(map(str, given))}")
    return numbers(given[name])


def _cells_of(given: Mapping[str, Any], name: str, shape: tuple[int, ...], place: str) -> Floats:
    """(rows, cells): a number, a number a row, or as many as the data."""
    array = _member(given, name, place)
    if array.shape == shape[:1]:
        array = array.reshape(-1, *[1] * (len(shape) - 1))
    if array.ndim and array.shape != shape and array.size != array.shape[0]:
        raise _engine.InvalidArgument(
            f"{place}: {name} has shape {array.shape}, data have {shape}: rows of energies, then directions"
        )
    try:
        return np.broadcast_to(array, shape).reshape(shape[0], -1)
    except ValueError:
        raise _engine.InvalidArgument(
            f"{place}: {name} has shape {array.shape}, data have {shape}: rows of energies, then directions"
        ) from None


def _exposure_of(given: Mapping[str, Any], shape: tuple[int, ...], place: str) -> Floats | None:
    for names in _EXPOSURES:
        factors = [name for name in names if name in given]
        if names[0] in given and (len(factors) == len(names) or names[-1] == "dt_arr"):
            product = np.ones((shape[0], int(np.prod(shape[1:]))))
            for name in factors:
                product = product * _cells_of(given, name, shape, place)
            return np.where(product > 0.0, product, np.nan)
    return None


def _flux_of(data: Floats, energy: Floats, exposure: Floats | None, units: str, place: str) -> Floats:
    """1/(cm^2 s sr eV)."""
    if units == "flux":
        return data
    if units == "eflux":
        return data / energy
    if units in ("df", "df_cm"):  # s^3/(km^3 cm^3), s^3/cm^6
        return data * (2.0 * energy / _MASS**2) * (1e-15 if units == "df" else 1.0)
    if units != "counts":
        raise _engine.InvalidArgument(f"{place}: units {units!r}: there are {', '.join(_UNITS)}")
    if exposure is None:
        raise _engine.InvalidArgument(f"{place}: counts need 'exposure' (cm^2 sr s), which it has not")
    return data / (exposure * energy)


def _solid_angle_of(given: Mapping[str, Any], theta: Floats, shape: tuple[int, ...], place: str) -> Floats:
    """sr, from domega, or from the widths dphi and dtheta."""
    if "domega" in given:
        return _cells_of(given, "domega", shape, place)
    dphi, dtheta = (np.radians(_cells_of(given, name, shape, place)) for name in ("dphi", "dtheta"))
    return 2.0 * dphi * np.cos(np.radians(theta)) * np.sin(0.5 * dtheta)


def _elevation(theta: Floats, place: str) -> Floats:
    """Elevations from -90 to 90; single precision may round a little beyond."""
    beyond = theta[np.abs(theta) > 90.0 + THETA_ROOM]
    if len(beyond):
        raise _engine.InvalidArgument(
            f"{place}: theta is {beyond[0]:g}; elevations from -90 to 90 degrees are wanted "
            "(of angles from the pole, 90 less them)"
        )
    return np.clip(theta, -90.0, 90.0)


def _sensor_of(given: Mapping[str, Any], units: str | None, place: str) -> _Sensor:
    """One sweep, arrays (rows, cells)."""
    data = _member(given, "data", place)
    if data.ndim < 2:
        raise _engine.InvalidArgument(
            f"{place}: data have shape {data.shape}; (energies, directions) is wanted"
        )
    shape = data.shape
    energy, theta, phi = (_cells_of(given, name, shape, place) for name in ("energy", "theta", "phi"))
    exposure = _exposure_of(given, shape, place)
    unit = str(given.get("units_name", "flux") if units is None else units).lower()
    there = (energy > 0.0) & np.isfinite(theta) & np.isfinite(phi)
    if "bins" in given:
        there &= _cells_of(given, "bins", shape, place) > 0.0
    if exposure is not None:
        there &= exposure > 0.0
    if not bool(given.get("valid", True)):
        there &= False
    with np.errstate(divide="ignore", invalid="ignore"):
        flux = _flux_of(data.reshape(shape[0], -1), energy, exposure, unit, place)
    return _Sensor(
        np.where(there, energy, np.nan),
        np.where(there, flux, np.nan),
        _elevation(np.where(there, theta, 0.0), place),
        np.where(there, phi % 360.0, 0.0),
        np.where(there, _solid_angle_of(given, theta, shape, place), 0.0),
        None if exposure is None else np.where(there, exposure, 0.0),
    )


def _side_by_side(sensors: list[_Sensor], place: str) -> _Sensor:
    if len({one.flux.shape[0] for one in sensors}) > 1:
        raise _engine.InvalidArgument(f"{place}: its sensors have different numbers of energies")

    def joined(name: str) -> Floats:
        return np.concatenate([getattr(one, name) for one in sensors], axis=1)

    exposure = None if any(one.exposure is None for one in sensors) else joined("exposure")
    return _Sensor(exposure=exposure, **{name: joined(name) for name in _ARRAYS})


def _stacked(sweeps: list[_Sensor]) -> _Sensor:
    shapes = {one.flux.shape for one in sweeps}
    if len(shapes) > 1:
        raise _engine.InvalidArgument(
            f"distributions: have different shapes, {', '.join(map(str, sorted(shapes)))}: "
            "energies and directions of one mode are wanted"
        )
    arrays = {name: np.stack([getattr(one, name) for one in sweeps]) for name in _ARRAYS}
    known = all(one.exposure is not None for one in sweeps)
    exposure = np.stack([numbers(one.exposure) for one in sweeps]) if known else None
    return _Sensor(exposure=exposure, **arrays)


def _read(
    distributions: Sequence[Distribution], units: str | None
) -> tuple[list[Mapping[str, Any]], _Sensor]:
    """The first sensor's distribution of each sweep, and the arrays of all."""
    if isinstance(distributions, (Mapping, str)) or not isinstance(distributions, Iterable):
        raise _engine.InvalidArgument("distributions: a list of dictionaries is wanted, one a sweep")
    groups = [[one] if isinstance(one, Mapping) else list(one) for one in distributions]
    if not groups or not all(groups):
        raise _engine.InvalidArgument("distributions: there are none")
    sweeps = []
    for k, group in enumerate(groups):
        place = f"distributions[{k}]"
        sweeps.append(_side_by_side([_sensor_of(one, units, place) for one in group], place))
    return [group[0] for group in groups], _stacked(sweeps)


def _rows_of(energy: Floats) -> Floats:
    """Energies of rows, (n, rows), from those of cells; NaN in rows without any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # empty rows
        rows = np.exp(np.nanmean(np.log(energy), axis=2))
    off = np.abs(energy / rows[..., None] - 1.0) > ENERGY_SPREAD
    if off.any():
        k, i, c = np.unravel_index(int(off.argmax()), off.shape)
        raise _engine.InvalidArgument(
            f"distributions: energies of sweep {k}, row {i} differ by more than {ENERGY_SPREAD:.0%}: "
            f"{energy[k, i, c]:g} eV beside a mean of {rows[k, i]:g} eV; a row has one energy"
        )
    return np.ascontiguousarray(rows)


def _wide(value: Any, name: str, width: int, place: int) -> Floats:
    """(width,): a member of one distribution."""
    try:
        return np.broadcast_to(numbers(value), (width,))
    except (TypeError, ValueError):
        wanted = "a number is" if width == 1 else f"{width} numbers are"
        raise _engine.InvalidArgument(
            f"distributions[{place}]: {name}: {wanted} wanted, not {value!r:.80}"
        ) from None


def _of_each(given: ArrayLike | None, sources: list[Mapping[str, Any]], name: str, width: int) -> Floats:
    """(n, width): given, or the distributions' member; NaN where neither is known."""
    n = len(sources)
    if given is None:
        given = np.stack([_wide(one.get(name, np.nan), name, width, k) for k, one in enumerate(sources)])
    array = numbers(given)
    if width == 1:
        array = array.reshape(-1, 1)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, (n, width)))
    except ValueError:
        wanted = f"{n} numbers" if width == 1 else f"shape ({n}, {width})"
        raise _engine.InvalidArgument(
            f"{name}: {wanted} or one of them are wanted, the array given has shape {array.shape}"
        ) from None


def _polarity(polarity: ArrayLike | None, position: ArrayLike | None, field: Floats) -> Floats:
    """(n,): +1, -1, or NaN where the field line does not meet the Moon."""
    n = len(field)
    if (polarity is None) == (position is None):
        raise _engine.InvalidArgument(
            "polarity, position: one of the two is wanted. The polarity is +1 where the field points to the "
            "Moon, -1 where it points away; of positions (km, from the Moon's centre) it follows"
        )
    if position is not None:
        places = _of_each(position, [{}] * n, "position", 3)
        away = np.linalg.norm(places, axis=1)
        if (away < LEAST_AWAY).any():
            raise _engine.InvalidArgument(
                f"position: {away[away < LEAST_AWAY][0]:g} km from the Moon's centre is inside the Moon: "
                "kilometres from its centre are wanted"
            )
        signs = [_engine.er_footpoint(places[k], field[k])[1] for k in range(n)]
        return np.array([sign if sign else np.nan for sign in signs], dtype=np.float64)
    given = _of_each(polarity, [{}] * n, "polarity", 1)[:, 0]
    if not np.isin(given[np.isfinite(given)], (-1.0, 0.0, 1.0)).all():
        raise _engine.InvalidArgument("polarity: it is +1 or -1, and 0 or NaN where it is unknown")
    return given


def _cosines(made: _Sensor, field: Floats, polarity: Floats) -> Floats:
    """Of any number of directions."""
    parts = [slice(at, at + MOST_CELLS) for at in range(0, made.flux.shape[2], MOST_CELLS)]
    return np.concatenate(
        [cosines(made.theta[..., one], field, made.phi[..., one], polarity) for one in parts], axis=2
    )


def _mask_sun(made: _Sensor, sun: ArrayLike | None, angle: float) -> None:
    """Masks cells that look within `angle` degrees of the Sun."""
    if sun is None or not angle > 0.0:
        return
    to = _of_each(sun, [{}] * len(made.flux), "sun", 3)
    theta, phi = np.radians(made.theta), np.radians(made.phi)
    along = np.stack([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)], axis=-1)
    size = np.sqrt((to**2).sum(axis=1))[:, None, None]
    made.flux[-np.einsum("nrcx,nx->nrc", along, to) / size > np.cos(np.radians(angle))] = np.nan


def _counted(made: _Sensor, energy: Floats, least: float) -> Floats:
    """Fluxes without rows of fewer counts a cell; those below half a count are half a count."""
    exposure = numbers(made.exposure)
    one = np.where(exposure > 0.0, exposure, np.nan) * energy[..., None]
    counts, known = made.flux * one, np.isfinite(made.flux)
    few = np.nansum(counts, axis=2) < least * known.sum(axis=2)
    flux = np.where(known & (made.flux < 0.5 / one), 0.5 / one, made.flux)
    flux[few] = np.nan
    return flux


def _merged(cosine: Floats, made: _Sensor) -> tuple[Floats, _Sensor]:
    """At most MOST_CELLS directions: means of neighbours in pitch angle, whose hemisphere is the same."""
    cells = cosine.shape[2]
    if cells <= MOST_CELLS:
        return cosine, made
    each = -(-cells // (MOST_CELLS - 2))
    angles = np.where(np.isnan(made.flux), np.nan, cosine)
    order = np.argsort(angles, axis=2, kind="stable")  # NaN last
    sorted_to = {
        "cosine": np.take_along_axis(angles, order, 2),
        "flux": np.take_along_axis(made.flux, order, 2),
    }
    weight = made.solid_angle if made.exposure is None else made.exposure
    weights = np.where(np.isnan(sorted_to["cosine"]), 0.0, np.take_along_axis(weight, order, 2))
    upward = (sorted_to["cosine"] <= 0.0).sum(axis=2, keepdims=True)
    place = np.arange(cells)
    shift = (-upward) % each  # the hemispheres' groups begin anew
    group = np.where(place < upward, place, place + shift) // each
    groups = int(group.max()) + 1
    shape = (*cosine.shape[:2], groups)
    at = np.ogrid[: shape[0], : shape[1]]

    def sums(values: Floats) -> Floats:
        found = np.zeros(shape)
        np.add.at(found, (at[0][..., None], at[1][..., None], group), values)
        return found

    total = sums(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        merged, flux = (
            sums(np.where(weights > 0.0, weights * sorted_to[name], 0.0)) / total
            for name in ("cosine", "flux")
        )
    exposure = None if made.exposure is None else total
    return merged, replace(made, flux=flux, exposure=exposure)


def _spectra(made: _Sensor, energy: Floats, cosine: Floats) -> kappa.Spectra:
    """Each sweep with its own solid angles and exposures."""
    exposure = np.ones_like(made.flux) if made.exposure is None else made.exposure
    each = [
        kappa.spectrum(
            energy[k : k + 1],
            made.flux[k : k + 1],
            cosine[k : k + 1],
            solid_angle=made.solid_angle[k],
            exposure=exposure[k],
        )
        for k in range(len(energy))
    ]
    names = ("energy", "flux", "sensitivity", "counts", "coverage", "error")
    return kappa.Spectra(*(np.concatenate([getattr(one, name) for one in each]) for name in names))


@dataclass
class _Plasma:
    """potential (n): of the spacecraft, V; error (n), or None; columns: of the table; found: or none."""

    potential: Floats
    error: Floats | None
    columns: dict[str, NDArray[Any]]
    found: list[kappa.SpacecraftPotentials]


def _plasma_of(
    spectra: kappa.Spectra,
    potential: Floats | None,
    sunlit: ArrayLike | None,
    of_fits: Any,
    of_potentials: Any,
    where: Any,
) -> _Plasma:
    """potential: None: that at which the currents balance. of_fits, of_potentials: options."""
    if potential is not None:
        fit = kappa.fit(spectra.shifted(potential), **of_fits, **where)
        return _Plasma(potential, None, columns_by_name(fit.table), [])
    if sunlit is None:
        warnings.warn(
            "the illumination of the spacecraft is not known and taken as sunlight (sunlit=)", stacklevel=3
        )
    sun = True if sunlit is None else sunlit
    found = kappa.spacecraft_potential(spectra, sun, kappa=of_fits, **of_potentials, **where)
    columns = columns_by_name(found.table)
    error, ambiguity = found.results["error"], found.results["ambiguity"]
    volts = columns.pop("spacecraft_potential")
    return _Plasma(volts, np.where(ambiguity > error, ambiguity, error), columns, [found])


def _potential_of(given: str | ArrayLike | None, sources: list[Mapping[str, Any]]) -> Floats | None:
    """(n,); None: to be found."""
    if isinstance(given, str):
        if given != "auto":
            raise _engine.InvalidArgument(f"spacecraft_potential {given!r}: it is auto, volts, or None")
        return None
    volts = _of_each(given, sources, "spacecraft_potential" if given is not None else "sc_pot", 1)[:, 0]
    return volts if given is not None or np.isfinite(volts).any() else None


def from_distributions(
    distributions: Sequence[Distribution],
    *,
    polarity: ArrayLike | None = None,
    position: ArrayLike | None = None,
    field: ArrayLike | None = None,
    spacecraft_potential: str | ArrayLike | None = None,
    sunlit: ArrayLike | None = None,
    sun: ArrayLike | None = None,
    sunlight: float = _DEFAULTS["sunlight"],
    units: str | None = None,
    look: bool = False,
    normalisation: str = _DEFAULTS["normalisation"],
    least_counts: float = _DEFAULTS["least_counts"],
    response_weights: str = "spectrum",
    response_width: float = _RESPONSE_WIDTH,
    method: str = _METHOD,
    kappa_options: Mapping[str, Any] | None = None,
    potential_options: Mapping[str, Any] | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
    **where: Unpack[Where],
) -> Sweeps:
    """Sweeps of another instrument, from distributions as readers of SPEDAS hand them over.

    distributions: one a sweep, or a tuple of those of several sensors. Each has arrays (energies,
        directions): data, energy (eV), theta and phi (degrees), and domega (sr) or dtheta and dphi. It may
        have units_name, bins (0: masked), valid, magf (nT), sc_pot (V), time, and factors of an exposure,
        cm^2 sr s: exposure; geom_factor, gf, eff, integ_t and dt_arr; or gfactor, eff and integ_t. More than
        512 directions become means of neighbours in pitch angle.
    polarity: +1 where the field points to the Moon, -1 where it points away, one or n; or position, km from
        the Moon's centre, (3,) or (n, 3). field: (3,) or (n, 3); None: magf. Field, position, sun and
        directions are in one frame.
    spacecraft_potential: "auto", of the plasma (sunlit: one flag or n; None: sunlight, with a warning), or
        volts, one or n. None: sc_pot, or "auto" where no distribution has it.
    sun: to the Sun, (3,) or (n, 3): cells that look within `sunlight` degrees of it are masked.
    units: flux, 1/(cm^2 s sr eV); eflux, eV/(cm^2 s sr eV); df, s^3/(km^3 cm^3); df_cm, s^3/cm^6; counts.
        None: units_name. look: theta and phi say where cells look, else how electrons travel.
    least_counts, response_weights, response_width, method: as `load`; counts need an exposure.
    columns: more columns of the table, for example projection_latitude."""
    check_keywords(from_distributions, where)
    if response_weights not in ("spectrum", "equal"):
        raise _engine.InvalidArgument(f"response_weights {response_weights!r}: there are spectrum, equal")
    if not least_counts >= 0.0:
        raise _engine.InvalidArgument(f"least_counts {least_counts!r}: it is a number from 0 on")
    sources, made = _read(distributions, units)
    if field is None and not any("magf" in one for one in sources):
        raise _engine.InvalidArgument("distributions: none has 'magf': give field=, nT")
    if look:
        made = replace(made, theta=-made.theta, phi=(made.phi + 180.0) % 360.0)
    along = _of_each(field, sources, "magf" if field is None else "field", 3)
    signs = _polarity(polarity, position, along)
    energy = _rows_of(made.energy)
    _mask_sun(made, sun, sunlight)
    cosine = _cosines(made, along, signs)
    plasma = _plasma_of(
        _spectra(made, energy, cosine),
        _potential_of(spacecraft_potential, sources),
        sunlit,
        {"weights": "none" if made.exposure is None else "counts", **(kappa_options or {})},
        {**(potential_options or {})},
        where,
    )
    cosine, made = _merged(cosine, made)
    flux = normalise(cosine, made.flux, normalisation)
    found = Sweeps.of(energy, plasma.potential, cosine, flux, measured=made.flux)
    found.complete, found.potential_error, found.potentials = flux, plasma.error, plasma.found
    _count(found, made, energy, normalisation, least_counts, method)
    if response_weights == "spectrum":
        found.channel = channels(found, made.flux, response_width)
    found.known = _known(sources, signs, plasma, columns)
    _tell_unusable(found, along, signs)
    return found


takes(Where, from_distributions)


def _tell_unusable(found: Sweeps, field: Floats, signs: Floats) -> None:
    """Warns if no sweep has a cell that a fit can take."""
    if np.isfinite(found.flux).any():
        return
    reason = (
        "the field is unknown: give field=, or magf"
        if not np.isfinite(field).all(axis=1).any()
        else "no polarity is known, or no field line meets the Moon: see polarity=, position="
        if not (np.isfinite(signs) & (signs != 0.0)).any()
        else "rows have too few counts, or none: see units=, energies in eV, exposures and least_counts="
    )
    warnings.warn(f"no sweep can be fitted; {reason}", stacklevel=3)


def _count(
    found: Sweeps, made: _Sensor, energy: Floats, normalisation: str, least: float, method: str
) -> None:
    """Fluxes without few counts, the counts of a normalised flux of 1, and for the likelihood all counts."""
    found._masked.clear()
    if made.exposure is None or not least > 0.0:
        return
    found.counted = _counted(made, energy, least)
    found.flux = normalise(found.cosine, found.counted, normalisation)
    one = made.exposure * energy[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        found.counts = found.counted / found.flux * one
    found.background = np.zeros_like(energy)
    if method in ("auto", "counts"):
        found.measured_counts = made.flux * one


def _known(
    sources: list[Mapping[str, Any]],
    polarity: Floats,
    plasma: _Plasma,
    columns: Mapping[str, ArrayLike] | None,
) -> Table:
    """Columns of the sweeps."""
    n = len(sources)
    made: dict[str, NDArray[Any]] = {"spectrum": np.arange(n)}
    if any("time" in one for one in sources):
        made["time"] = _of_each(None, sources, "time", 1)[:, 0]
    made["polarity"] = polarity
    made["spacecraft_potential"] = plasma.potential
    for name, values in (columns or {}).items():
        made[name] = np.array(np.broadcast_to(np.asarray(values), (n,)))
    return structured({**made, **plasma.columns})
