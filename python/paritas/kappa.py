"""Electrons around a spacecraft: kappa distributions fitted to spectra, and the spacecraft's potential.

A distribution is a row of density (1/m^3), kappa and theta (thermal speed, m/s). Fluxes are omnidirectional,
1/(cm^2 s eV); energies and temperatures in eV, potentials in V, currents in A/m^2. A spectrum has up to 64
energies. Options: paritas_kappa_options and paritas_potential_options in paritas_kappa.h, which has all
formulas."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine, written_tables
from .arrays import Floats, Summarised, Table, Tabular, columns_by_name, html_of, numbers, structured, where
from .files import PathLike
from .keywords import Place, Where, engine_of, running, takes, takes_options
from .records import columns_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .fields import KappaOptions, PotentialOptions

    class KappaKeywords(KappaOptions, Where, total=False): ...

    class PotentialKeywords(PotentialOptions, Where, total=False): ...


_DEFAULTS = {name: option.default for name, option in _engine.options("paritas_kappa_options").items()}


def _kappa(options: Mapping[str, Any]) -> dict[str, Any]:
    return _engine.option_values("paritas_kappa_options", dict(options))


def _potential(options: Mapping[str, Any]) -> dict[str, Any]:
    return _engine.option_values("paritas_potential_options", dict(options))


def plasma(density: ArrayLike, kappa: ArrayLike, theta: ArrayLike) -> Floats:
    """Rows of (density in 1/m^3, kappa, theta in m/s), shape (n, 3); numbers or arrays, which broadcast."""
    rows = np.broadcast_arrays(*(np.atleast_1d(numbers(values)) for values in (density, kappa, theta)))
    return np.ascontiguousarray(np.stack(rows, axis=-1).reshape(-1, 3))


def flux(energy: ArrayLike, distribution: ArrayLike, **where: Unpack[Place]) -> Floats:
    """Omnidirectional fluxes, 1/(cm^2 s eV), of n distributions (see `plasma`) at m energies: (n, m)."""
    return _engine.kappa_flux(distribution, energy, engine_of(flux, where))


def temperature(kappa: ArrayLike, theta: ArrayLike) -> Floats:
    """Temperature (eV) of a thermal speed; NaN for kappa <= 1.5."""
    return _engine.kappa_temperature(kappa, theta)


def theta(kappa: ArrayLike, temperature: ArrayLike) -> Floats:
    """Thermal speed (m/s) of a temperature (eV); NaN for kappa <= 1.5."""
    return _engine.kappa_theta(kappa, temperature)


def response(energy: ArrayLike, width: float = 0.5) -> Floats:
    """The energy response of n energies: (n, n), rows of sum 1. width: relative FWHM, above 0."""
    return _engine.kappa_response(energy, width)


@dataclass(repr=False)
class Spectra(Summarised):
    """n spectra of up to 64 energies. Arrays are (n, rows); what all spectra have in common may be (rows,).

    energy: eV. flux: omnidirectional, 1/(cm^2 s eV), which is 4 pi times the mean flux per sr. sensitivity:
        counts of a flux of 1, for weights "counts". counts: for weights "original". coverage: measured part
        of the hemisphere. error: of flux. background: flux already subtracted from `flux`; fits of
        counts allow for its noise.
    A flux of NaN was not measured. With weights "none" a flux of 0 spoils the fit: give sensitivity."""

    energy: Floats
    flux: Floats
    sensitivity: Floats | None = None
    counts: Floats | None = None
    coverage: Floats | None = None
    error: Floats | None = None
    background: Floats | None = None

    def __post_init__(self) -> None:
        self.flux = np.atleast_2d(numbers(self.flux, "flux"))
        shape = self.flux.shape
        if len(shape) != 2:
            raise _engine.InvalidArgument(f"flux: {len(shape)} axes; spectra and their energies are wanted")
        for name in ("energy", "sensitivity", "counts", "coverage", "error", "background"):
            given = getattr(self, name)
            if given is None:
                continue
            given = numbers(given, name)
            if given.shape not in (shape, shape[1:]):
                raise _engine.InvalidArgument(
                    f"{name}: an array of shape {shape} or {shape[1:]} is wanted, as the flux has, the one "
                    f"given has shape {given.shape}"
                )
            setattr(self, name, np.ascontiguousarray(np.broadcast_to(given, shape)))

    def __len__(self) -> int:
        return len(self.energy)

    def shifted(self, potential: ArrayLike, liouville: bool = True) -> Spectra:
        """Spectra outside a spacecraft potential (V, one or n): energies less the potential. Fluxes keep
        their phase-space density, or, without liouville, their values."""
        energy = self.energy - numbers(potential).reshape(-1, 1)
        part = energy / self.energy if liouville else 1.0
        return replace(
            self,
            energy=energy,
            flux=self.flux * part,
            background=None if self.background is None else self.background * part,
        )

    def arrays(self) -> _engine.SpectrumArrays:
        return _engine.SpectrumArrays(self.energy, self.flux, self.sensitivity, self.counts, self.background)


def spectrum(
    energy: ArrayLike,
    flux: ArrayLike,
    cosine: ArrayLike,
    theta: ArrayLike | None = None,
    *,
    solid_angle: ArrayLike | None = None,
    geometric_factor: float | None = None,
    accumulation: float | None = None,
    exposure: ArrayLike | None = None,
    background_rate: ArrayLike | None = None,
) -> Spectra:
    """Omnidirectional spectra of the incident hemisphere of n sweeps.

    energy (n, rows), flux (n, rows, cells) in 1/(cm^2 s sr eV), cosine (n, rows, cells) of the pitch angle,
    above 0 incident; NaN is masked. Of Lunar Prospector's 15 rows of 88 cells: theta, inclinations of the
    cells in degrees (None: built-in); geometric_factor (cm^2 sr), accumulation (s a row): default the
    instrument's; background_rate (n): counts/s of a cell that no electron made, to be subtracted; None: none.
    Of another instrument: solid_angle (sr) and exposure (cm^2 sr s), (cells,) or (rows, cells); a cell where
    one of the two is not above 0 does not exist."""
    inclination = _engine.er_theta() if theta is None else theta
    energies = np.ascontiguousarray(numbers(energy))
    if exposure is not None:
        grid = np.shape(flux)[1:]
        exposure = np.broadcast_to(numbers(exposure), grid)
        solid_angle = None if solid_angle is None else np.broadcast_to(numbers(solid_angle), grid)
    found = _engine.kappa_spectrum(
        inclination,
        energies,
        flux,
        cosine,
        solid_angle,
        geometric_factor,
        accumulation,
        exposure,
        background_rate,
    )
    return Spectra(
        energies,
        found.omni,
        found.sensitivity,
        found.counts,
        found.coverage,
        found.error,
        found.background,
    )


@dataclass(repr=False)
class KappaFit(Tabular):
    """Fits of n spectra.

    table: one row a spectrum, program's columns; NaN unless `plasma_status` is "fitted". results: the
        library's rows (paritas_kappa_result). options: of the fits; None where `load` made them."""

    table: Table
    results: Table
    device: str
    precision: str
    options: dict[str, Any] | None = None

    @property
    def fitted(self) -> NDArray[np.bool_]:
        """Which spectra have a fit."""
        found: NDArray[np.bool_] = self.results["status"] == 0
        return found

    @property
    def plasma(self) -> Floats:
        """Rows of density, kappa, theta: (n, 3), NaN without a fit."""
        return np.ascontiguousarray(
            np.stack(
                [where(self.fitted, self.results[name]) for name in ("density", "kappa", "theta")], axis=1
            )
        )

    @property
    def covariance(self) -> Floats:
        """Covariance of ln density, kappa, ln theta: (n, 3, 3); 0 if fixed or at a bound."""
        return np.ascontiguousarray(self.results["covariance"])

    def write(self, path: PathLike) -> None:
        """The table as a .csv, columns and numbers as the program writes them, after the options.
        `losscone.read_tables` reads it. An existing file is replaced."""
        written_tables.write_table(path, self, "paritas.kappa.fit")

    def _repr_html_(self) -> str:
        return html_of(self.table, "Kappa distributions")


def _fit_of(results: Table, used: _engine.Engine, options: Mapping[str, Any] | None = None) -> KappaFit:
    table = structured(columns_of("paritas_kappa_result", results, results["status"] == 0))
    chosen = None if options is None else {**_DEFAULTS, **options}
    return KappaFit(table, results, used.device, used.precision, chosen)


def _tell_zeros(spectra: Spectra, options: Mapping[str, Any]) -> None:
    """Warns of fluxes whose logarithm would decide a fit."""
    if options.get("weights") != "none":
        return
    zeros = np.sum((spectra.flux <= 0.0) & np.isfinite(spectra.flux) & (spectra.energy > 0.0), axis=1)
    of = np.flatnonzero(zeros)
    if not len(of):
        return
    more = f" and in {len(of) - 1} more spectra" if len(of) > 1 else ""
    warnings.warn(
        f"spectrum {of[0]}: the flux is 0 in {zeros[of[0]]} of {spectra.flux.shape[1]} "
        f"energies{more}. With weights 'none' that spoils the fit: give spectra a sensitivity, "
        "distributions an exposure. NaN: not measured",
        stacklevel=3,
    )


def fit(
    spectra: Spectra,
    **options: Unpack[KappaKeywords],
) -> KappaFit:
    """Fits every spectrum. Failed fits do not raise: see `plasma_status`. Warns of fluxes of 0 with weights
    "none"."""
    _tell_zeros(spectra, options)
    with running(options, "kappa fits") as (used, tell):
        found = _engine.kappa_fit(spectra.arrays(), _kappa(options), used, tell)
        return _fit_of(found, used, options)


def misfit(
    spectra: Spectra,
    points: ArrayLike,
    **options: Unpack[KappaKeywords],
) -> Floats:
    """A fit's objective at m points (rows of density, kappa, theta) for n spectra: (n, m); NaN
    without rows."""
    with running(options, "kappa misfits") as (used, tell):
        return _engine.kappa_misfit(spectra.arrays(), _kappa(options), points, used, tell)


def photoelectron_current(potential: ArrayLike) -> Floats:
    """Photoelectron current (A/m^2) leaving a sunlit spacecraft of this potential."""
    return _engine.photoelectron_current(potential)


def photoelectron_potential(current: ArrayLike) -> Floats:
    """The potential for this photoelectron current; NaN outside 0 to 150 V."""
    return _engine.photoelectron_potential(current)


def secondary_yield(energy: ArrayLike) -> Floats:
    """Secondary electrons per electron of this energy (Sternglass)."""
    return _engine.secondary_yield(energy)


def electron_current(distribution: ArrayLike, lower: float = 0.0, upper: float = np.inf) -> Floats:
    """Electron currents onto a plane between two energies, A/m^2, of n distributions."""
    return _engine.electron_current(distribution, lower, upper)


def shade_currents(
    distribution: ArrayLike,
    potentials: ArrayLike,
    **options: Unpack[PotentialKeywords],
) -> Floats:
    """Currents of electrons, secondaries and ions in shade: (n, m, 3) for m potentials and n spectra."""
    with running(options, "currents") as (used, tell):
        return _engine.shade_currents(distribution, _potential(options), potentials, used, tell)


@dataclass(repr=False)
class SpacecraftPotentials(Tabular):
    """Potentials of n spacecraft.

    table: one row each, program's columns, after those of a fit; NaN unless `spacecraft_potential_status` is
        "found". results: the library's rows (paritas_potential), with currents. fits: of the spectra; None
        for given distributions."""

    table: Table
    results: Table
    fits: KappaFit | None
    device: str
    precision: str

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which spacecraft have a potential."""
        exists: NDArray[np.bool_] = self.results["status"] == 0
        return exists

    def _repr_html_(self) -> str:
        return html_of(self.table, "Spacecraft potentials")


def potentials_of(
    results: Table, fits: Table, used: _engine.Engine, options: Mapping[str, Any] | None = None
) -> SpacecraftPotentials:
    """Potentials of the library's rows. options: of the fits, if they are known."""
    return _potentials(results, _fit_of(fits, used, options), used)


def _potentials(results: Table, fits: KappaFit | None, used: _engine.Engine) -> SpacecraftPotentials:
    found = results["status"] == 0
    of_fits = {} if fits is None else columns_by_name(fits.table)
    columns: dict[str, NDArray[Any]] = {"spacecraft_potential": where(found, results["potential"])}
    if of_fits:
        columns["plasma_status"] = of_fits.pop("plasma_status")
    columns.update(sunlit=results["sunlit"] != 0, **of_fits)
    columns.update(columns_of("paritas_potential", results, found))
    return SpacecraftPotentials(structured(columns), results, fits, used.device, used.precision)


def _sun(sunlit: ArrayLike, n: int) -> NDArray[np.bool_]:
    flags = np.asarray(sunlit, dtype=bool)
    if flags.shape not in ((), (n,)):
        raise _engine.InvalidArgument(
            f"sunlit: one flag or {n} are wanted, the array given has shape {flags.shape}"
        )
    return np.broadcast_to(flags, (n,))


def spacecraft_potential(
    source: Spectra | KappaFit | ArrayLike,
    sunlit: ArrayLike,
    *,
    covariance: ArrayLike | None = None,
    kappa: Mapping[str, Any] | None = None,
    **options: Unpack[PotentialKeywords],
) -> SpacecraftPotentials:
    """The potentials at which the currents of spacecraft balance.

    source: Spectra to fit (`kappa`: options; in sunlight repeated with energies less the potential), a
        KappaFit, or rows of density, kappa, theta (n, 3), with errors from `covariance` (n, 3, 3) of ln
        density, kappa, ln theta. sunlit: one flag, or n."""
    if isinstance(source, Spectra):
        _tell_zeros(source, kappa or {})
    with running(options, "spacecraft potentials") as (used, tell):
        if isinstance(source, Spectra):
            sun, spectra = _sun(sunlit, len(source)), source.arrays()
            found = _engine.spacecraft_potential_of_spectra(
                spectra, sun, _kappa(kappa or {}), _potential(options), used, tell
            )
            return potentials_of(found.potentials, found.fits, used, kappa or {})
        fits: KappaFit | None = None
        distribution: Any = source
        if isinstance(source, KappaFit):
            fits, distribution = source, source.plasma
            covariance = source.covariance if covariance is None else covariance
        distribution = np.atleast_2d(numbers(distribution))
        sun = _sun(sunlit, len(distribution))
        results = _engine.spacecraft_potential(distribution, covariance, sun, _potential(options), used, tell)
        return _potentials(results, fits, used)


takes(Place, flux)
takes(Where, fit, misfit, shade_currents, spacecraft_potential)
takes_options("paritas_kappa_options", fit, misfit)
takes_options("paritas_potential_options", shade_currents, spacecraft_potential)
