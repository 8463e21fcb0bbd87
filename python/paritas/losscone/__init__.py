"""Loss cones: surface potentials of the Moon from sweeps of Lunar Prospector's Electron Reflectometer.

    sweeps = paritas.losscone.load("3D980116.TAB", geometry="geometry.csv")
    fit = paritas.losscone.fit(sweeps)    # U, r, plateaus, confidence sets
    fit.table["potential"], fit.plateau(3), fit.intervals(3)

A sweep has 15 energies of 88 cells. Energies in eV, potentials in V, angles in degrees, fields in nT, times
in Unix seconds; NaN is masked or unknown. docs/losscone.md and paritas_losscone.h explain fits and plateaus.
"""

from .day import Attitude, Count, Day, Geometry, despun_axes, find, footpoint, solid_angles, theta, utc
from .fits import LossconeFit, Profile, bootstrap, confidence, fit, misfit, model, profile
from .sweeps import Sweeps, beam, channels, cosines, load, mask, normalise
from .tables import Tables, read_tables

__all__ = [
    "Attitude",
    "Count",
    "Day",
    "Geometry",
    "LossconeFit",
    "Profile",
    "Sweeps",
    "Tables",
    "beam",
    "bootstrap",
    "channels",
    "confidence",
    "cosines",
    "despun_axes",
    "find",
    "fit",
    "footpoint",
    "load",
    "mask",
    "misfit",
    "model",
    "normalise",
    "profile",
    "read_tables",
    "solid_angles",
    "theta",
    "utc",
]
