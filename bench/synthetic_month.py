#!/usr/bin/env python3
"""Makes day files of synthetic sweeps along an orbit of the Moon, with a known potential at each place.

    bench/synthetic_month.py FOLDER [--days 30] [--sweeps 970] [--start 1998-07-01]

FOLDER gets day files, and truth.csv with positions, illumination, polarity and the true U of each sweep. Fit
them by `paritas losscone fit FOLDER --geometry FOLDER/truth.csv -o tables`.

The edge of the cone is hard. The orbit is polar, 100 km high, and takes 118 minutes. Spectra are kappa
distributions: solar wind, for some days around full Moon magnetosheath, lobe and plasma sheet. U is -25 V by
day, falls within 10 degrees of the terminator, and is -60 V - 1.2 T / e at night, 15 % lower at dawn. A
region of 25 degrees around 165 W, 25 S is lower by 40 V. The spacecraft is in sunlight throughout. Needs
`paritas` as a package and as a program."""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from paritas import losscone

ORBIT, MONTH, DAY = 118.0 * 60.0, 27.321662 * 86400.0, 86400.0
#: temperature of the plasma, eV
TEMPERATURES = {"solar wind": (10, 28), "sheath": (32, 75), "lobe": (85, 140), "sheet": (155, 300)}


def program():
    """The program of this installation, else on the PATH."""
    found = Path(sys.executable).with_name("paritas")
    return str(found if found.exists() else "paritas")


def positions(time, start):
    """Selenographic longitude and latitude along the orbit, whose plane keeps its direction in space."""
    turn = 2.0 * np.pi * (time - start) / ORBIT
    node = losscone.subsolar_point(start)[0] + 25.0 - 360.0 * (time - start) / MONTH
    return (node + np.where(np.cos(turn) > 0.0, 0.0, 180.0)) % 360.0, np.degrees(np.arcsin(np.sin(turn)))


def plasma_of(time):
    """By the Sun's place over the Moon: below 0 degrees of longitude the Moon is full and in the tail."""
    east = abs(losscone.subsolar_point(time)[0])
    tail = ("lobe", "sheet")[int(time // (1.5 * DAY)) % 2]
    return tail if east < 30.0 else "sheath" if east < 45.0 else "solar wind"


def potential_of(angle, hour, temperature, longitude, latitude):
    """The true U, V."""
    night = 0.5 * (1.0 + np.tanh(angle / 5.0))
    dark = -(60.0 + 1.2 * temperature) * np.where(hour < 0.0, 1.15, 1.0)
    here, there = np.radians([latitude, np.full_like(latitude, -25.0)])
    cosine = np.sin(here) * np.sin(there) + np.cos(here) * np.cos(there) * np.cos(
        np.radians(longitude + 165.0)
    )
    return -25.0 * (1.0 - night) + dark * night - np.where(cosine > np.cos(np.radians(25.0)), 40.0, 0.0)


def make_day(folder, date, sweeps, start, seed):
    """One day file; returns its rows of truth.csv."""
    begin = np.datetime64(date).astype("datetime64[s]").astype(float)
    warm = "{}:{}".format(*TEMPERATURES[plasma_of(begin + 0.5 * DAY)])
    with tempfile.TemporaryDirectory() as scratch:
        options = f"--plasma --beams 0 --true-ratio 0.5:0.95 --true-temperature {warm}"
        made = ["--sweeps", sweeps, "--start", date, "--seed", seed, *options.split()]
        command = [program(), "losscone", "synthesize", "-o", scratch, "--quiet", *made]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        day = losscone.Day.read(next(Path(scratch).glob("*.TAB")))
        with open(Path(scratch) / "truth.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    time = day.time[:, 0]
    longitude, latitude = positions(time, start)
    angle, hour = losscone.solar_position(time, longitude, latitude)
    old = np.array([[float(row[name]) for name in ("potential", "ratio", "amplitude")] for row in rows])
    new = old.copy()
    temperature = np.array([float(row["temperature"]) for row in rows])
    new[:, 0] = potential_of(angle, hour, temperature, longitude, latitude)
    cosine = losscone.cosines(losscone.theta(), day.field, day.azimuth, np.full(day.energy.shape, -1.0))
    spacecraft = np.array([float(row["spacecraft_potential"]) for row in rows])
    blank = losscone.Sweeps.of(day.energy, spacecraft, cosine, np.ones_like(cosine))
    before, after = (losscone.model(blank, points)[0] for points in (old, new))
    day.flux *= after / before  # the sweep's noise and spectrum stay
    day.write(Path(folder) / f"3D{date[2:4]}{date[5:7]}{date[8:]}.TAB")
    for k, row in enumerate(rows):
        row["potential"] = repr(float(new[k, 0]))
        row["projection_in_sun"] = int(angle[k] < 0.0)
        for place in ("spacecraft", "projection"):
            row[f"{place}_longitude"], row[f"{place}_latitude"] = f"{longitude[k]:.4f}", f"{latitude[k]:.4f}"
    return rows


def make_month(folder, days=30, sweeps=970, start="1998-07-01", seed=1):
    """The day files and their truth.csv."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    first = np.datetime64(start)
    begin = first.astype("datetime64[s]").astype(float)
    rows = []
    for k in range(days):
        rows += make_day(folder, str(first + k), sweeps, begin, seed + k)
    with open(Path(folder) / "truth.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--sweeps", type=int, default=970)
    parser.add_argument("--start", default="1998-07-01")
    given = parser.parse_args()
    make_month(given.folder, given.days, given.sweeps, given.start)
