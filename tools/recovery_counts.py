#!/usr/bin/env python3
"""Measures how well loss cones of counted electrons are fitted, in four plasmas around the Moon, with and
without background. Prints a part of docs/losscone-recovery.md.

  recovery_counts.py [--build FOLDER] [--sweeps N]

Takes a minute. Needs the program alone."""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REGIONS = ("solar-wind", "magnetosheath", "lobe", "plasma-sheet")
BACKGROUNDS, POTENTIALS = (0, 10), (-20, -100, -300)
COUNTED = {"hard": "hard", "folded": "integral"}  # fit and its truth
BEFORE = ["--least-counts", "0", "--subtract-background", "none"]
# counts of the same electrons; the last fit does not know where the Sun is
CHAINS = {
    "whole": ["--counts", "--background-rate", "10"],
    "stored": ["--counts", "--background-rate", "10", "--compression", "archive"],
    "Sun masked": ["--as-stored"],
    "Sun kept": ["--as-stored", "--sunlight", "0"],
}


def inject(program, region, potential, truth, fit, sweeps, *options):
    """The summary of `paritas losscone inject`, as a dictionary."""
    command = [program, "losscone", "inject", "--json", "--sweeps", str(sweeps), "--region", region]
    command += [f"--true-potential={potential}", "--noise", "0", "--beams", "0"]
    command += ["--truth", truth, "--response", fit, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["fits"][0]


def counts(background):
    return ["--counts", "--background-rate", str(background)]


def line(*cells):
    return "| " + " | ".join(cells) + " |"


def head(*cells):
    return [line(*cells), "|" + "---|" * len(cells)]


def numbers(found):
    return [
        f"{found['bias']:.2f}",
        f"{found['rmse']:.2f}",
        f"{found['set_width']:.1f}",
        f"{100 * found['set_coverage']:.0f} %",
    ]


def counted(program, sweeps, least):
    columns = [f"{model} {what}" for model in COUNTED for what in ("bias", "RMSE", "set", "holds")]
    out = head("plasma", "background, counts/s", "U, V", *columns)
    for region in REGIONS:
        for background in BACKGROUNDS:
            for potential in POTENTIALS:
                cells = []
                for model, truth in COUNTED.items():
                    found = inject(program, region, potential, truth, model, sweeps, *counts(background))
                    least[model] = min(least.get(model, 1.0), found["set_coverage"])
                    cells += numbers(found)
                out.append(line(region, str(background), str(potential), *cells))
    return [*out, ""]


def without(program, sweeps):
    """What the fits were without masks, subtraction and noise of counts."""
    out = head("U, V", "edge", "handling of counts", "bias", "RMSE", "set", "holds")
    cases = {
        "none": BEFORE,
        "3 counts a cell": ["--least-counts", "3"],
        "20 counts a cell, the default": [],
    }
    for potential in POTENTIALS[1:]:
        for model in COUNTED:
            for name, options in cases.items():
                given = [*counts(10), *options]
                found = inject(program, "solar-wind", potential, COUNTED[model], model, sweeps, *given)
                out.append(line(str(potential), model, name, *numbers(found)))
    return [*out, ""]


def methods(program, sweeps):
    """The same counts by their likelihood and by misfits of logarithms."""
    names = ("counts", "halekas")
    columns = [f"{name}: {what}" for name in names for what in ("bias", "RMSE", "set", "holds")]
    out = head("plasma", "U, V", *columns)
    for region in REGIONS:
        for potential in POTENTIALS:
            cells = []
            for name in names:
                options = [*counts(10), "--method", name]
                cells += numbers(inject(program, region, potential, "integral", "folded", sweeps, *options))
            out.append(line(region, str(potential), *cells))
    return [*out, ""]


def stored(program, sweeps):
    """What storing changes: the same electrons, counted in other ways."""
    columns = [f"{chain}: {what}" for chain in CHAINS for what in ("bias", "RMSE", "holds")]
    out = head("plasma", "U, V", *columns)
    for region in REGIONS:
        for potential in POTENTIALS:
            cells = []
            for chain in CHAINS.values():
                found = inject(program, region, potential, "integral", "folded", sweeps, *chain)
                bias, rmse, _, holds = numbers(found)
                cells += [bias, rmse, holds]
            out.append(line(region, str(potential), *cells))
    return [*out, ""]


def table(path):
    with open(path, encoding="utf-8") as lines:
        return list(csv.DictReader(one for one in lines if not one.startswith("#")))


def day(program, sweeps, folder, region, background):
    """Rows of the table of a day, each with its row of the truth; potentials come from the plasma."""
    for command in (
        ["synthesize", "-o", folder, "--region", region, "--noise", "0", "--beams", "0"]
        + ["--sweeps", str(sweeps), *counts(background)],
        ["fit", folder, "--geometry", f"{folder}/truth.csv", "--response", "hard", "-o", f"{folder}/tables"],
    ):
        done = subprocess.run([program, "losscone", *command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
    truth = {row["spectrum"]: row for row in table(f"{folder}/truth.csv")}
    rows = table(f"{folder}/tables/losscone_1998-01-16.csv")
    return [(row, truth[row["spectrum"]]) for row in rows]


def holds(sets, value):
    ends = [[float(end) for end in one.split()] for one in sets.split(";")]
    return any(one[0] <= value <= one[-1] for one in ends)


def rounded(value, digits):
    return f"{round(value, digits) + 0.0:.{digits}f}"


def plasmas(program, sweeps):
    """What a background costs the fits of the plasma and the potentials that follow."""
    out = head(
        *("plasma", "background, counts/s", "found", "bias, V", "RMS, V", "temperature", "density", "holds")
    )
    for region in REGIONS:
        for background in BACKGROUNDS:
            with tempfile.TemporaryDirectory() as folder:
                rows = day(program, sweeps, folder, region, background)
            found = [one for one in rows if one[0]["spacecraft_potential_status"] == "found"]

            def off(column, found=found):
                return [(float(row[column]), float(truth[column])) for row, truth in found]

            errors = [ours - true for ours, true in off("spacecraft_potential")]
            parts = [
                rounded(100 * statistics.median(ours / true - 1 for ours, true in off(column)), 1) + " %"
                for column in ("temperature", "density")
            ]
            sets = [one for one in found if one[0]["confidence_set"]]
            held = sum(holds(row["confidence_set"], float(truth["potential"])) for row, truth in sets)
            out.append(
                line(
                    *(region, str(background), str(len(found)), rounded(statistics.mean(errors), 2)),
                    rounded(statistics.mean(error * error for error in errors) ** 0.5, 2),
                    *parts,
                    f"{100 * held / len(sets):.1f} %",
                )
            )
    return [*out, ""]


def part(program, sweeps):
    """Lines of the page."""
    least = {}
    rows = counted(program, sweeps, least)
    parts = {model: f"{100 * value:.0f} %" for model, value in least.items()}
    return [
        "## Counted electrons",
        "",
        f"{sweeps} sweeps in each row. The program made and fitted them (`tools/recovery_counts.py`). Fluxes",
        "come from Poisson counts: 2.5 s a row, geometric factor 0.02 cm^2 sr, dead time 0.1 us. Other",
        "noise is left out. The spacecraft's potential is known. `losscone inject --region` has the plasmas.",
        "The hard edge is fitted to data with a hard edge. The folded edge is fitted by its counts to data",
        "of an integral over the channel. Set: median size of the default set. Numbers are in V.",
        "",
        f"In each row the sets hold the true U in {parts['hard']} (hard) and {parts['folded']} (folded)",
        "or more.",
        "",
        *rows,
        "The folded edge by `--method counts`, the default, and by `--method halekas`. The data have an",
        "integral over the channel and 10 counts/s of background:",
        "",
        *methods(program, sweeps),
        "Solar wind with 10 counts/s of background, and with fewer rows masked. 3 counts a cell mean 0.15",
        "inside the cone:",
        "",
        *without(program, sweeps),
        "### Plasma above a background",
        "",
        "300 sweeps in each row, with the hard edge. Spacecraft potentials come from the plasma. Found:",
        "sweeps that have one, with their errors in V. Temperature and density: medians of the relative",
        "error. Holds: sets that hold U. In the magnetosheath 198 sweeps have more electrons than",
        "photoelectrons, so no potential balances their currents (`below_zero`):",
        "",
        *plasmas(program, 300),
        "### Counts as stored",
        "",
        f"{sweeps} sweeps in each row, with an integral over the channel and 10 counts/s of background.",
        "Other noise is left out. The same electrons are counted in four ways, and fitted with the",
        "folded edge:",
        "",
        "| counts | meaning |",
        "|---|---|",
        "| whole | as above |",
        "| stored | truncated to 8-bit logarithms |",
        "| Sun masked | stored, with light of the Sun; its cells are masked, as by default |",
        "| Sun kept | the same without this mask |",
        "",
        *stored(program, sweeps),
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--sweeps", type=int, default=400)
    arguments = parser.parse_args()
    print("\n".join(part(os.path.join(arguments.build, "bin", "paritas"), arguments.sweeps)))


if __name__ == "__main__":
    main()
