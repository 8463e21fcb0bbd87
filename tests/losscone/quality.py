#!/usr/bin/env python3
"""How often a sweep without a loss cone is called good, and a true cone is not.

  tests/losscone/quality.py                       970 sweeps a day
  tests/losscone/quality.py --sweeps 100 --days 1 faster
  tests/losscone/quality.py --sets                how often sets hold the truth, by spacecraft potential

Synthetic days of known truth are fitted by the program (PARITAS_BIN, else build/release). A day is of one
kind: true cones, no cone at all, the wrong polarity, or a ratio r below its bound. The exit code is 1 if more
than 1 % of the false sweeps of a day are good, or more than 3 % of the true cones of a day are not. Python's
standard library only."""

import argparse
import collections
import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
FALSE_MOST, LOST_MOST = 0.01, 0.03
POLARITY = ("--polarity=-1",)
OUT_OF_RANGE = ("--true-ratio", "0.2")


def days_of_cones():
    """name, options of the truth, options of the fit"""
    yield "hard edge", (), POLARITY
    yield "folded edge", ("--truth", "folded"), POLARITY
    yield "hard edge, plasma", ("--plasma",), POLARITY
    yield "folded edge, plasma", ("--plasma", "--truth", "folded"), POLARITY
    damage = ("--low-energies", "--missing-cells", "0.03", "--missing-rows", "0.03")
    yield (
        "hard edge, damaged, either polarity",
        (*damage, "--true-polarity", "drawn"),
        ("--polarity", "TRUTH"),
    )
    yield "hard edge, noise 40 %", ("--noise", "0.4"), POLARITY
    yield "hard edge, -10 V", ("--true-potential=-10",), POLARITY
    yield "hard edge, -900 to -400 V", ("--true-potential=-900:-400",), POLARITY


def days_without():
    """the same, of sweeps that no fit can describe"""
    yield "no cone", ("--background", "1", "--beams", "0"), POLARITY
    yield "no cone, beams", ("--background", "1"), POLARITY
    yield "no cone, plasma", ("--background", "1", "--plasma"), POLARITY
    yield "wrong polarity, hard edge", (), ("--polarity=+1",)
    yield "wrong polarity, folded edge", ("--truth", "folded"), ("--polarity=+1",)
    yield "wrong polarity, plasma", ("--plasma",), ("--polarity=+1",)
    for truth in ("hard", "folded"):
        for volts in (-20, -100, -300):
            options = (*OUT_OF_RANGE, f"--true-potential={volts}", "--truth", truth)
            yield f"r = 0.2, {volts} V, {truth} edge", options, POLARITY
    yield "r = 0.2, -300 to -20 V, plasma", (*OUT_OF_RANGE, "--true-potential=-300:-20", "--plasma"), POLARITY


def run(*arguments):
    done = subprocess.run(
        [PROGRAM, *arguments, "--quiet"],
        capture_output=True,
        text=True,
        env={"PARITAS_DEVICE": "cpu", **os.environ},
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")


def qualities(sweeps, seed, truth, fit):
    """the words of each fitted sweep of a day, of its preferred model"""
    with tempfile.TemporaryDirectory() as folder:
        er, tables = os.path.join(folder, "er"), os.path.join(folder, "tables")
        known = os.path.join(er, "truth.csv")
        run("losscone", "synthesize", "-o", er, "--sweeps", str(sweeps), "--seed", str(seed), *truth)
        given = [known if word == "TRUTH" else word for word in fit]
        run(
            "losscone",
            "fit",
            er,
            "-o",
            tables,
            "--spacecraft-potential",
            known,
            "--confidence",
            "none",
            *given,
        )
        (name,) = [file for file in os.listdir(tables) if file.endswith(".csv")]
        with open(os.path.join(tables, name), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    words = [row["quality_folded" if row["preferred"] == "folded" else "quality"] for row in rows]
    assert [word == "good" for word in words] == [row["good"] == "1" for row in rows]
    return words


def rates(sweeps, days, cones, others):
    """(name, is a cone, sweeps, part that is judged wrongly, reasons) of each kind of day"""
    for is_cone, kinds in ((True, cones), (False, others)):
        for name, truth, fit in kinds:
            words = [word for day in range(days) for word in qualities(sweeps, 100 + day, truth, fit)]
            wrong = sum((word == "good") != is_cone for word in words) / len(words)
            yield name, is_cone, len(words), wrong, collections.Counter("+".join(words).split("+"))


def potentials_and_sets(sweeps, seed, truth, suffix):
    """(true spacecraft potential, does the set hold the true U?) of each sweep whose spacecraft potential is
    found from the plasma"""
    with tempfile.TemporaryDirectory() as folder:
        er, tables = os.path.join(folder, "er"), os.path.join(folder, "tables")
        words = ("--plasma", "--sweeps", str(sweeps), "--seed", str(seed), *truth)
        run("losscone", "synthesize", "-o", er, *words)
        run("losscone", "fit", er, "-o", tables, "--illumination", "sun", *POLARITY)
        (name,) = [file for file in os.listdir(tables) if file.endswith(".csv")]
        rows = []
        for path in (os.path.join(tables, name), os.path.join(er, "truth.csv")):
            with open(path, encoding="utf-8") as file:
                rows.append(list(csv.DictReader(line for line in file if not line.startswith("#"))))
    for fit, true in zip(*rows):
        pairs = [pair.split() for pair in fit["confidence_set" + suffix].split(";") if pair]
        if pairs:
            U = float(true["potential"])
            yield float(true["spacecraft_potential"]), any(float(a) <= U <= float(b) for a, b in pairs)


def print_sets(sweeps, days):
    bins = ((0, 5), (5, 10), (10, 20), (20, 40))
    print(f"{'sets hold the truth, spacecraft at':38s}" + "".join(f"{a:6d} to {b:2d} V" for a, b in bins))
    for name, truth, suffix in (("hard edge", (), ""), ("folded edge", ("--truth", "folded"), "_folded")):
        found = [one for day in range(days) for one in potentials_and_sets(sweeps, 1 + day, truth, suffix)]
        shares = [[holds for volts, holds in found if a <= volts < b] for a, b in bins]
        print(f"{name:38s}" + "".join(f"{sum(share) / max(len(share), 1):13.3f}" for share in shares))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sweeps", type=int, default=970, help="a day")
    parser.add_argument("--days", type=int, default=2, help="of each kind")
    parser.add_argument("--sets", action="store_true", help="the other table")
    chosen = parser.parse_args()
    if chosen.sets:
        print_sets(chosen.sweeps, chosen.days)
        return 0
    failed = False
    print(f"{'day':38s} {'sweeps':>6s} {'wrong':>7s} {'asked':>6s}  reasons")
    for name, is_cone, n, wrong, reasons in rates(
        chosen.sweeps, chosen.days, days_of_cones(), days_without()
    ):
        most = LOST_MOST if is_cone else FALSE_MOST
        failed = failed or wrong > most
        listed = ", ".join(f"{word} {times}" for word, times in reasons.most_common())
        print(f"{name:38s} {n:6d} {100 * wrong:6.2f}% {100 * most:5.0f}%  {listed}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
