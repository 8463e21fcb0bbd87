#!/usr/bin/env python3
"""Measures losscone fit on counted electrons of known truth, made by a generator of its own.

  tools/losscone_yardstick.py [--sweeps N] [--truth LIST] [--region LIST] [--json FILE] [-- OPTIONS OF FIT]

This file shares no code with the program: formats, edge and plasma follow docs/losscone.md and the papers
named there. Each row of the table is one day file of sweeps with random plasma, field and ratio r. The fit
knows the potential of the spacecraft. A row says how often sets hold the true U, and how wide they are.

  hard         the edge of the cone at the energy of the channel
  weighted     mean edge of --parts energies: medians of equal parts of response times true spectrum
  integral     edge integrated over the response, each energy by its true flux
  low-ratio    integral with r = 0.2, below the bound of the fit; no sweep should be good
  isotropic    no cone; no sweep should be good
  scattered    integral; the stored field of each row is off by --degrees in a direction of its own
  tilted       integral; the stored fields of all rows are off by --degrees in one direction
A sweep is falsely good if no sweep of its truth should be good, or if its U is off by more than 50 V.

`least` is the median width at which exactly 90 % of the sets would hold U if one factor scaled all sets of
a row about their centres; `ratio` is width over least. PARITAS_BIN names the program. Needs numpy."""

import argparse
import calendar
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATE = (1998, 1, 16)
CADENCE, ROW_SECONDS = 80, 5  # of sweeps and of the rows in a sweep
MOST_SWEEPS = 86400 // CADENCE
ENERGIES = np.geomspace(38.641, 16680.334, 15)
RINGS = ((11.25, 16), (33.75, 16), (56.25, 8), (78.75, 4))  # inclination, cells of a ring
TURN = 7.5  # degrees a row
GEOMETRIC_FACTOR, ACCUMULATION = 0.02, 2.5  # cm2 sr, s of a row
LARGEST_CORRECTION = 1.25  # of the dead time; cells above are marked as erroneous
RESPONSE_SIGMA = math.asinh(0.25) / math.sqrt(2 * math.log(2))  # in ln E
NODES = 161  # of the integral over +-4 sigma
CONE_LEVEL = 0.05
MASS = 5.685630e-12  # of the electron, eV s2/m2

TRUTHS = ("hard", "weighted", "integral", "low-ratio", "isotropic", "scattered", "tilted")
CONELESS = ("low-ratio", "isotropic")
MISLED = ("scattered", "tilted")
FAR = 50.0  # V: a potential that is off by more is false
REGIONS = {  # density in 1/cm3, temperature in eV
    "solar-wind": ((3, 10), (8, 15)),
    "magnetosheath": ((5, 20), (20, 50)),
    "lobe": ((0.02, 0.1), (50, 150)),
    "plasma-sheet": ((0.1, 0.5), (150, 500)),
}


def cells():
    """Inclination, azimuth and cells of the ring for each of the 88 cells, in the built-in order."""
    inclination, azimuth, ring = [], [], []
    for size, count in RINGS:
        for sign in (1, -1):
            inclination += [sign * size] * count
            azimuth += [k * 360 / count for k in range(count)]
            ring += [count] * count
    return np.array(inclination), np.array(azimuth), np.array(ring)


def draw_plasma(rng, region, sweeps):
    """Density (1/m3), kappa and thermal speed (m/s) of each sweep."""
    density, temperature = (np.exp(rng.uniform(*np.log(span), sweeps)) for span in REGIONS[region])
    kappa = rng.uniform(3, 6, sweeps)
    speed = np.sqrt(2 * (kappa - 1.5) / kappa * temperature / MASS)
    return density * 1e6, kappa, speed


def spectrum(plasma, spacecraft, energy):
    """Flux in 1/(cm2 s sr eV) at the spacecraft; the arguments have the sweep in their first axis.

    Flux over energy is constant along a path, so electrons that gain V have more flux by E / (E - V)."""
    shape = (-1,) + (1,) * (energy.ndim - 1)
    density, kappa, speed = (x.reshape(shape) for x in plasma)
    away = energy - spacecraft.reshape(shape)
    log_gamma = np.vectorize(math.lgamma)
    norm = np.exp(log_gamma(kappa + 1) - log_gamma(kappa - 0.5)) / (math.pi * kappa) ** 1.5 / speed**3
    far = np.maximum(away, 0)
    density_in_phase_space = density * norm * (1 + 2 * far / MASS / speed**2 / kappa) ** (-kappa - 1)
    return np.where(away > 0, 1e-4 * density_in_phase_space * 2 * energy / MASS**2, 0)


def channel(plasma, spacecraft):
    """Energies and weights of the fine integral over each channel, and the flux of the channel."""
    step = np.linspace(-4, 4, NODES) * RESPONSE_SIGMA
    response = np.exp(-0.5 * (step / RESPONSE_SIGMA) ** 2)
    energy = np.broadcast_to(ENERGIES[:, None] * np.exp(step), (len(spacecraft), len(ENERGIES), NODES))
    flux = response / response.sum() * spectrum(plasma, spacecraft, energy)
    total = flux.sum(axis=2)
    return energy, flux / total[..., None], total


def medians(energy, weight, parts):
    """The median energies of parts of equal weight, sweeps x rows x parts."""
    middles = (np.arange(parts) + 0.5) / parts
    share = np.cumsum(weight, axis=2) - weight / 2
    flat = zip(share.reshape(-1, NODES), np.log(energy).reshape(-1, NODES))
    found = np.array([np.interp(middles, s, e) for s, e in flat])
    return np.exp(found).reshape(*energy.shape[:2], parts)


def levels(sine2, incident, energy, weight, spacecraft, potential, ratio):
    """The mean level of each cell: 1 outside the cone, CONE_LEVEL inside, over the last axis of energy."""
    level = np.zeros(sine2.shape)
    for k in range(energy.shape[2]):
        above = np.maximum(energy[:, :, k] - spacecraft[:, None], 1e-12)
        edge = np.clip(ratio[:, None] * (1 + potential / above), 0, 1)
        outside = incident | (edge[:, :, None] <= sine2)
        level += weight[:, :, k, None] * np.where(outside, 1, CONE_LEVEL)
    return level


def directions(rng, sweeps):
    """Field (nT), azimuths of the cells, cosine of the pitch angle for polarity -1; incident is above 0."""
    inclination, start, _ = cells()
    field = rng.normal(size=(sweeps, 3))
    field *= (rng.uniform(5, 20, sweeps) / np.linalg.norm(field, axis=1))[:, None]
    rows = np.arange(len(ENERGIES))
    offset = rng.uniform(0, 360, sweeps)
    azimuth = (start + TURN * rows[:, None] + offset[:, None, None]) % 360
    phi, theta = np.radians(azimuth), np.radians(inclination)
    towards = -field / np.linalg.norm(field, axis=1)[:, None]
    x, y, z = (towards[:, k, None, None] for k in range(3))
    cosine = np.cos(theta) * (x * np.cos(phi) + y * np.sin(phi)) + z * np.sin(theta)
    return field, azimuth, cosine


def counted(rng, flux, background, dead_time):
    """Flux from Poisson counts; the background stays in it, and -9.99E-99 marks saturated cells."""
    seconds = ACCUMULATION / cells()[2]
    factor = GEOMETRIC_FACTOR * ENERGIES[:, None] * seconds
    rate = (flux * factor + background * seconds) / seconds
    counts = rng.poisson(rate / (1 + rate * dead_time) * seconds)
    correction = 1 / np.maximum(1 - counts * dead_time / seconds, 1e-3)
    return np.where(correction > LARGEST_CORRECTION, -9.99e-99, counts * correction / factor)


def turned(rng, field, degrees, each):
    """Fields of the rows of sweeps: off by an angle about a random axis, `each` of its own or all alike."""
    field = np.repeat(field[:, None], len(ENERGIES), axis=1)
    size = np.linalg.norm(field, axis=2, keepdims=True)
    axis = rng.normal(size=field.shape if each else (len(field), 1, 3)) * np.ones(field.shape)
    axis -= (axis * field).sum(axis=2, keepdims=True) / size**2 * field
    axis *= size / np.linalg.norm(axis, axis=2, keepdims=True)
    return math.cos(math.radians(degrees)) * field + math.sin(math.radians(degrees)) * axis


def make_sweeps(rng, row, sweeps, parts, dead_time, degrees=30.0):
    """Sweeps of a row's truth: fields, azimuths, fluxes and the potential of the spacecraft."""
    truth, region, background, potential = row
    plasma = draw_plasma(rng, region, sweeps)
    spacecraft = rng.uniform(5, 15, sweeps)
    ratio = rng.uniform(0.4, 1.05, sweeps) if truth != "low-ratio" else np.full(sweeps, 0.2)
    field, azimuth, cosine = directions(rng, sweeps)
    energy, weight, total = channel(plasma, spacecraft)
    if truth == "hard":
        energy = np.broadcast_to(ENERGIES[:, None], (*total.shape, 1))
        weight = np.ones(energy.shape)
    elif truth == "weighted":
        energy = medians(energy, weight, parts)
        weight = np.full(energy.shape, 1 / parts)
    if truth == "isotropic":
        level = np.ones(azimuth.shape)
    else:
        level = levels(1 - cosine**2, cosine >= 0, energy, weight, spacecraft, potential, ratio)
    flux = counted(rng, total[:, :, None] * level, background, dead_time)
    field = turned(rng, field, degrees if truth in MISLED else 0.0, truth == "scattered")
    return field, azimuth, flux, spacecraft


def write_day(folder, field, azimuth, flux, spacecraft):
    """The day file and the table of spacecraft potentials, whose path is returned."""
    midnight = calendar.timegm((*DATE, 0, 0, 0))
    lines = []
    for sweep in range(len(flux)):
        for k, energy in enumerate(ENERGIES):
            vector = " ".join(f"{b:.4f}" for b in field[sweep, k])
            now = midnight + sweep * CADENCE + k * ROW_SECONDS
            utc = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
            fluxes = " ".join(f"{f:.4E}" for f in flux[sweep, k])
            azimuths = " ".join(f"{a:.3f}" for a in azimuth[sweep, k])
            lines.append(f"{utc} {now:.3f} {energy:.3f} {sweep + 1} {vector} {fluxes} {azimuths}\n")
    (folder / "3D{:02d}{:02d}{:02d}.TAB".format(DATE[0] % 100, *DATE[1:])).write_text("".join(lines))
    table = folder / "spacecraft.csv"
    date = "{}-{:02d}-{:02d}".format(*DATE)
    known = "".join(f"{date},{k},{v:.17g}\n" for k, v in enumerate(spacecraft, 1))
    table.write_text("date,spectrum,spacecraft_potential\n" + known)
    return table


def fit_day(folder, table, options):
    """The program's table of the day, one dictionary a sweep."""
    program = os.environ.get("PARITAS_BIN", str(ROOT / "build" / "release" / "bin" / "paritas"))
    command = [program, "losscone", "fit", str(folder), "--polarity=-1", "--spacecraft-potential", str(table)]
    command += ["--threads", "1", "--quiet", "-o", str(folder / "tables"), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):  # 1: some sweeps ended at a limit
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    name = "losscone_{}-{:02d}-{:02d}.csv".format(*DATE)
    with open(folder / "tables" / name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read_set(text):
    """The intervals of a confidence set."""
    return [tuple(float(x) for x in interval.split()) for interval in text.split(";") if interval.strip()]


def scale_to_hold(distance, half_width, part=0.9):
    """The factor by which exactly this part of the sets hold the truth, all scaled about their centres."""
    needed = np.divide(distance, half_width, out=np.full(len(distance), np.inf), where=half_width > 0)
    return float(np.sort(needed)[math.ceil(part * len(needed) - 1e-9) - 1])


def is_false(line, truth, potential):
    """Is a sweep good that should not be?"""
    if line["good"] != "1":
        return False
    found = line["potential_folded" if line["preferred"] == "folded" else "potential"]
    return truth in CONELESS or abs(float(found) - potential) > FAR


def judge(row, lines, sweeps):
    """The numbers of a row from the fits of its sweeps."""
    truth, region, background, potential = row
    suffix = "" if truth == "hard" else "_folded"
    good = sum(line["good"] == "1" for line in lines)
    answer = {"truth": truth, "region": region, "background": background, "potential": potential}
    answer |= {"sweeps": sweeps, "good": good / sweeps}
    answer["quality"] = Counter(line["quality" + suffix] for line in lines)
    answer["preferred"] = Counter(line["preferred"] for line in lines)
    answer["fitted"] = sum(line["potential" + suffix] != "" for line in lines)
    answer["false"] = sum(is_false(line, truth, potential) for line in lines) / sweeps
    with_set = [line for line in lines if line.get("confidence_set" + suffix)]
    if truth in CONELESS or not with_set:
        return answer
    error = np.array([float(line["potential" + suffix]) for line in with_set]) - potential
    sets = [read_set(line["confidence_set" + suffix]) for line in with_set]
    holds = np.array([any(low <= potential <= high for low, high in s) for s in sets])
    believed = np.array([line["good"] == "1" for line in with_set])
    ends = np.array([(s[0][0], s[-1][1]) for s in sets])
    width = float(np.median(ends[:, 1] - ends[:, 0]))
    factor = scale_to_hold(np.abs(ends.mean(axis=1) - potential), (ends[:, 1] - ends[:, 0]) / 2)
    answer |= {"bias": float(error.mean()), "rms": float(np.sqrt((error**2).mean())), "width": width}
    answer |= {"holds": float(holds.mean()), "lost": 1 - good / sweeps, "least_width": width * factor}
    answer["good_holds"] = float(holds[believed].mean()) if believed.any() else None
    answer |= {"ratio": 1 / factor if factor > 0 else None, "several": sum(len(s) > 1 for s in sets)}
    return answer


def measure(task):
    """Makes and fits the sweeps of one row."""
    row, arguments = task
    key = zlib.crc32(" ".join(str(x) for x in row).encode())
    rng = np.random.default_rng([arguments.seed, key])
    with tempfile.TemporaryDirectory(prefix="yardstick") as name:
        made = make_sweeps(
            rng, row, arguments.sweeps, arguments.parts, arguments.dead_time, arguments.degrees
        )
        table = write_day(Path(name), *made)
        return judge(row, fit_day(Path(name), table, arguments.fit), arguments.sweeps)


COLUMNS = (  # name, width, format
    ("truth", 9, "s"),
    ("region", 13, "s"),
    ("background", 10, "g"),
    ("potential", 9, "g"),
    ("sweeps", 6, "d"),
    ("fitted", 6, "d"),
    ("bias", 7, ".2f"),
    ("rms", 7, ".2f"),
    ("width", 7, ".2f"),
    ("holds", 6, ".3f"),
    ("good_holds", 10, ".3f"),
    ("lost", 6, ".3f"),
    ("good", 6, ".3f"),
    ("false", 6, ".3f"),
    ("least_width", 11, ".2f"),
    ("ratio", 6, ".2f"),
)


def line_of(row):
    """A line of the table; what a row does not have is a dash."""
    fields = []
    for name, width, form in COLUMNS:
        value = row.get(name)
        text = "-" if value is None else format(value, form)
        fields.append(text.ljust(width) if form == "s" else text.rjust(width))
    return "  ".join(fields).rstrip()


def worst(rows):
    """Lines that name the worst rows of each truth."""
    for truth in dict.fromkeys(row["truth"] for row in rows):
        among = [row for row in rows if row["truth"] == truth]
        for text, name, pick in (("least", "holds", min), ("most", "lost", max), ("most", "false", max)):
            known = [row for row in among if name in row]
            if known:
                row = pick(known, key=lambda one: one[name])
                where = "" if row["potential"] is None else f", {row['potential']:g} V"
                where = f"{row['region']}, {row['background']:g} counts/s{where}"
                yield f"{text} {name}, {truth}: {row[name]:.3f} ({where})"


def parse():
    """The arguments; everything behind -- goes to the fit."""
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sweeps", type=int, default=120, help="of each row; default: 120")
    parser.add_argument("--seed", type=int, default=1, help="of all random numbers; default: 1")
    parser.add_argument("--dead-time", type=float, default=0.0, help="seconds after a count; default: 0")
    parser.add_argument("--degrees", type=float, default=30.0, help="of the field's error; default: 30")
    parser.add_argument("--parts", type=int, default=5, help="energies of the weighted edge; default: 5")
    parser.add_argument("--truth", default=",".join(TRUTHS), help="default: %(default)s")
    parser.add_argument("--region", default=",".join(REGIONS), help="default: %(default)s")
    parser.add_argument("--background", default="0,10", help="counts/s of a cell; default: 0,10")
    parser.add_argument("--potential", default="-20,-100,-300", help="U in V; default: -20,-100,-300")
    parser.add_argument("--processes", type=int, default=2, help="default: 2")
    parser.add_argument("--json", help="a file for the numbers of all rows")
    arguments = parser.parse_args(words[:split])
    arguments.fit = words[split + 1 :]
    arguments.truth, arguments.region = arguments.truth.split(","), arguments.region.split(",")
    for given, known in ((arguments.truth, TRUTHS), (arguments.region, REGIONS)):
        for name in given:
            if name not in known:
                parser.error(f"{name!r} is unknown: choose from {', '.join(known)}")
    if arguments.parts < 1:
        parser.error(f"--parts {arguments.parts}: at least 1")
    if not 1 <= arguments.sweeps <= MOST_SWEEPS:
        parser.error(f"--sweeps {arguments.sweeps}: a day has 1 to {MOST_SWEEPS}")
    return arguments


def main():
    arguments = parse()
    rows = [
        (truth, region, float(background), potential)
        for truth in arguments.truth
        for region in arguments.region
        for background in arguments.background.split(",")
        for potential in ([None] if truth == "isotropic" else map(float, arguments.potential.split(",")))
    ]
    heads = (name.ljust(width) if form == "s" else name.rjust(width) for name, width, form in COLUMNS)
    print("  ".join(heads), flush=True)
    done = []
    with Pool(arguments.processes) as pool:
        for row in pool.imap(measure, [(row, arguments) for row in rows]):
            done.append(row)
            print(line_of(row), flush=True)
    print("", *worst(done), sep="\n")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(done, indent=1) + "\n")


if __name__ == "__main__":
    main()
