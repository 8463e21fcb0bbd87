"""Loss cones: surface potentials of the Moon from sweeps of Lunar Prospector's Electron Reflectometer.

    sweeps = paritas.losscone.load("3D980116.TAB", geometry="geometry.csv")
    fit = paritas.losscone.fit(sweeps)    # U, r, plateaus, confidence sets
    fit.table["potential"], fit.plateau(3), fit.intervals(3)

    tables = paritas.losscone.read_tables("tables/")
    paritas.losscone.surface_map(tables)["night"]["mean"]    # and profiles, harmonics, regions

A sweep of Lunar Prospector has 15 energies of 88 cells; `Sweeps.of` takes up to 32 of up to 512. Energies in
eV, potentials in V, angles in degrees, fields in nT, times in Unix seconds; NaN is masked or unknown.
docs/losscone.md and paritas_losscone.h explain fits and plateaus.
"""

from .day import (
    Attitude,
    Count,
    Day,
    Geometry,
    Magnetometer,
    despun_axes,
    find,
    footpoint,
    solid_angles,
    theta,
    utc,
)
from .fits import LossconeFit, Profile, bootstrap, confidence, fit, misfit, model, profile
from .averages import averages
from .geography import EqualAreaGrid, solar_position, subsolar_point
from .instruments import from_distributions
from .harmonics import PERIODS, Periodogram, harmonic_fit, harmonics, lomb_scargle, periodogram
from .products import (
    REGIONS,
    SurfaceMap,
    TerminatorProfile,
    region_statistics,
    surface_map,
    terminator_profile,
    time_averages,
)
from .selection import Selection, select
from .spherical import (
    SphericalHarmonics,
    degree_correlation,
    spherical_fit,
    spherical_functions,
    spherical_harmonics,
)
from .sweeps import Sweeps, beam, channels, cosines, load, mask, normalise
from .tables import Tables, read_tables

__all__ = [
    "Attitude",
    "Count",
    "Day",
    "EqualAreaGrid",
    "Geometry",
    "LossconeFit",
    "Magnetometer",
    "PERIODS",
    "Periodogram",
    "Profile",
    "REGIONS",
    "Selection",
    "SphericalHarmonics",
    "SurfaceMap",
    "Sweeps",
    "Tables",
    "TerminatorProfile",
    "averages",
    "beam",
    "bootstrap",
    "channels",
    "confidence",
    "cosines",
    "degree_correlation",
    "despun_axes",
    "find",
    "fit",
    "footpoint",
    "from_distributions",
    "harmonic_fit",
    "harmonics",
    "load",
    "lomb_scargle",
    "mask",
    "misfit",
    "model",
    "normalise",
    "periodogram",
    "profile",
    "read_tables",
    "region_statistics",
    "select",
    "solar_position",
    "solid_angles",
    "spherical_fit",
    "spherical_functions",
    "spherical_harmonics",
    "subsolar_point",
    "surface_map",
    "terminator_profile",
    "theta",
    "time_averages",
    "utc",
]
