#!/usr/bin/env python3
"""What quality says of polar sweeps whose fits end at a bound of U.

    bench/polar_month.py [--sweeps 970] [--days 4]

A month of polar passes is a mixture of kinds of synthetic sweeps, all with counts and a background of 10
counts/s. KINDS has the kinds and their parts. They are chosen so that 22 % of the plain fits (differential
evolution, no counting noise) end at a bound of U. Prints for each kind how many do, how many the default fit
names `potential_at_bound`, and how many it calls good, rightly or falsely. A sweep is falsely good if it has
no cone that the fit may find, or if its U is off by more than 50 V. The second table tells what the default
fit says of the sweeps whose plain fit ends at a bound. Needs `paritas` as a package and as a program."""

import argparse
import collections
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from paritas import losscone
from synthetic_month import program

COUNTS = "--counts --background-rate 10 --beams 0 --noise 0.1:0.3"
WIND, LOBE = "--region solar-wind", "--region lobe"
#: density of the wake, m^-3: a hundredth of the solar wind's
WAKE = "--plasma --true-density 1000:50000 --true-temperature 30:100"
CONE = "--true-potential=-300:-20 --true-ratio 0.4:0.9"
#: part of the month; options of the truth; polarity of the fit; error of the field's direction in each row,
#: degrees; has a cone that the fit may find
KINDS = {
    "cone, solar wind": (0.16, f"{WIND} {CONE}", "-1", 0, True),
    "cone, lobe": (0.09, f"{LOBE} {CONE}", "-1", 0, True),
    "r 0.95 to 1.09": (0.12, f"{WIND} --true-potential=-300:-20 --true-ratio 0.95:1.09", "-1", 0, True),
    "r 0.1 to 0.25, below its bound": (
        0.05,
        f"{WIND} --true-potential=-300:-20 --true-ratio 0.1:0.25",
        "-1",
        0,
        False,
    ),
    "wrong polarity": (0.08, f"{WIND} {CONE}", "+1", 0, False),
    "unknown polarity": (0.06, f"{WIND} {CONE} --true-polarity drawn", "-1", 0, True),
    "weak field, off by 30 degrees": (0.12, f"{WIND} {CONE}", "-1", 30, True),
    "no cone": (0.15, f"{WIND} --background 1", "-1", 0, False),
    "cone, wake": (0.06, f"{WAKE} {CONE}", "-1", 0, True),
    "no cone, wake": (0.11, f"{WAKE} --background 1", "-1", 0, False),
}
#: V; fits this near a bound end there
NEAR, OFF = 1.0, 50.0
#: as a fit that knows no counting noise and no proof of the minimum
PLAIN = "--search de --response hard --least-counts 0 --subtract-background none --confidence none"


def turned(field, degrees, random):
    """Vectors (n, 15, 3), each turned by a normal angle about any axis."""
    noise = random.normal(0.0, np.tan(np.radians(degrees)), field.shape)
    return field + noise * np.linalg.norm(field, axis=2, keepdims=True) / np.sqrt(2.0)


def run(*words):
    subprocess.run(
        [str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def fitted(folder, truth, polarity, degrees, sweeps, seed):
    """Tables of the default and the plain fit of a synthetic day, and its truth."""
    made = ["--sweeps", sweeps, "--seed", seed, *COUNTS.split(), *truth.split()]
    run(program(), "losscone", "synthesize", "-o", folder / "er", "--quiet", *made)
    path = next((folder / "er").glob("*.TAB"))
    if degrees:
        day = losscone.Day.read(path)
        day.field[:] = turned(day.field, degrees, np.random.default_rng(seed))
        day.write(path)
    known = folder / "er" / "truth.csv"
    fit = ["losscone", "fit", path, f"--polarity={polarity}", "--spacecraft-potential", known, "--quiet"]
    run(program(), *fit, "-o", folder / "default")
    run(program(), *fit, "-o", folder / "plain", *PLAIN.split())
    true = np.genfromtxt(known, delimiter=",", names=True, dtype=None, encoding=None)
    return (losscone.read_tables(folder / name).sweeps for name in ("default", "plain")), true


def preferred(table, name):
    """A column of each sweep's preferred model."""
    return np.where(table["preferred"] == "folded", table[f"{name}_folded"], table[name])


def at_bound(potential):
    return (potential <= -2000.0 + NEAR) | (potential >= 20.0 - NEAR)


def measured(kind, sweeps, days):
    """A row for each sweep of a kind: fitted, plain (this fit ends at a bound), named (`potential_at_bound`),
    good, falsely (good), quality."""
    _, truth, polarity, degrees, has_cone = KINDS[kind]
    found = []
    for seed in range(days):
        with tempfile.TemporaryDirectory() as scratch:
            (table, plain), true = fitted(Path(scratch), truth, polarity, degrees, sweeps, 7 + seed)
        U, quality, good = preferred(table, "potential"), preferred(table, "quality"), table["good"] == 1
        wrong = np.full(len(table), True)
        if has_cone:
            wrong = np.abs(U - true["potential"]) > OFF
            wrong |= true["polarity"] != float(polarity)
        found += zip(
            np.isfinite(U),
            at_bound(plain["potential_at_minimum"]),
            ["potential_at_bound" in words.split("+") for words in quality],
            good,
            good & wrong,
            quality,
        )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sweeps", type=int, default=970, help="a day")
    parser.add_argument("--days", type=int, default=4, help="of each kind")
    given = parser.parse_args()
    names = ("fitted", "plain fit at a bound", "`potential_at_bound`", "good", "falsely good")
    print("| kind | part | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 2) + "|")
    whole, ends = np.zeros(len(names)), collections.Counter()
    for kind, (share, *_) in KINDS.items():
        rows = measured(kind, given.sweeps, given.days)
        part = np.mean([row[:5] for row in rows], axis=0)
        whole += share * part
        print(f"| {kind} | {percent(share)} | {' | '.join(map(percent, part))} |", flush=True)
        for _, plain, _, good, wrong, quality in rows:
            words = ["good, falsely" if wrong else "good, within 50 V"] if good else quality.split("+")
            ends.update({word: share / len(rows) for word in words if plain})
    print(f"| the month | {percent(1.0)} | {' | '.join(map(percent, whole))} |\n")
    print("| of the plain fits at a bound | part |\n|---|---|")
    for word, part in ends.most_common():
        print(f"| {word} | {percent(part / whole[1])} |")


def percent(part):
    return f"{100.0 * part:.1f} %"


if __name__ == "__main__":
    main()
