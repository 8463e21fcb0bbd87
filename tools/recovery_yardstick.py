#!/usr/bin/env python3
"""Measures loss cones of an independent generator (losscone_yardstick.py), fitted by counts and by halekas.
Prints a part of docs/losscone-recovery.md.

  recovery_yardstick.py [--build FOLDER] [--sweeps N]

Takes minutes. Needs numpy."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRUTHS = {  # name: options
    "integral": ["--truth", "integral"],
    "31 energies": ["--truth", "weighted", "--parts", "31"],
    "5 energies": ["--truth", "weighted"],
    "hard": ["--truth", "hard"],
    "no cone": ["--truth", "isotropic"],
    "r = 0.2": ["--truth", "low-ratio"],
}
METHODS = {"counts": [], "halekas": ["--", "--method", "halekas"]}
COMPARED = ("integral", "no cone", "r = 0.2")  # fitted by both methods


def measured(program, sweeps, options):
    """The yardstick's rows, as dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        command = [sys.executable, os.path.join(ROOT, "tools", "losscone_yardstick.py")]
        command += ["--sweeps", str(sweeps), "--json", path, *options]
        environment = {**os.environ, "PARITAS_BIN": os.path.abspath(program)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit(done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def line(*cells):
    return "| " + " | ".join(cells) + " |"


def head(*cells):
    return [line(*cells), "|" + "---|" * len(cells)]


def span(rows, name, form):
    known = [row[name] for row in rows if row.get(name) is not None]
    return f"{min(known):{form}} to {max(known):{form}}" if known else "-"


def of_integral(found):
    columns = [f"{name}: {what}" for name in METHODS for what in ("RMSE", "set", "holds", "width / least")]
    out = head("plasma", "background, counts/s", "U, V", *columns)
    for rows in zip(*(found["integral", method] for method in METHODS)):
        cells = [rows[0]["region"], f"{rows[0]['background']:g}", f"{rows[0]['potential']:g}"]
        for row in rows:
            cells += [f"{row['rms']:.2f}", f"{row['width']:.1f}", f"{100 * row['holds']:.0f} %"]
            cells.append("-" if row["ratio"] is None else f"{row['ratio']:.2f}")
        out.append(line(*cells))
    return [*out, ""]


def of_truths(found):
    columns = [f"{name}: {what}" for name in METHODS for what in ("holds", "width / least", "good")]
    out = head("truth", *columns)
    for truth in TRUTHS:
        cells = []
        for method in METHODS:
            rows = found.get((truth, method), [])
            cells += [span(rows, "holds", ".2f"), span(rows, "ratio", ".2f"), span(rows, "good", ".3f")]
        out.append(line(truth, *cells))
    return [*out, ""]


def part(program, sweeps):
    """Lines of the page."""
    found = {
        (truth, method): measured(program, sweeps, [*options, *others])
        for truth, options in TRUTHS.items()
        for method, others in METHODS.items()
        if method == "counts" or truth in COMPARED
    }
    return [
        "## By someone else's generator",
        "",
        "`tools/losscone_yardstick.py` makes day files, too. It was written from these pages alone and",
        f"shares no code with the program or the tests. `losscone fit` fitted {sweeps} sweeps in each row.",
        "They have Poisson counts of four plasmas, and the spacecraft's potential is known.",
        "",
        "Are sets wider than they need be? All sets of a row are scaled about their centres by one factor,",
        "so that they hold the true U in exactly 90 %. `width / least` is the width over this width. Below 1",
        "the sets hold U too rarely. Data of an integral over the channel, folded edge:",
        "",
        *of_integral(found),
        "All truths, each with its own edge. The ranges are over all plasmas, backgrounds of 0 and 10",
        "counts/s, and U of -20, -100 and -300 V. `good` is the part of the sweeps with `good` = 1:",
        "",
        *of_truths(found),
        "- `31 energies`, `5 energies`: the edge in the data has so many steps, of equal flux. An integral",
        "  has none. Five single energies are no real response: the fit's response is wrong there.",
        "- `no cone`, `r = 0.2`: no sweep should be good. The bound of r is 0.3.",
        "",
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--sweeps", type=int, default=120)
    arguments = parser.parse_args()
    print("\n".join(part(os.path.join(arguments.build, "bin", "paritas"), arguments.sweeps)))


if __name__ == "__main__":
    main()
