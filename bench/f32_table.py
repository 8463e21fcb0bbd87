#!/usr/bin/env python3
"""What f32 does to likelihoods, gradients, fits and toys, beside f64: f32_table.py [--build FOLDER] [--device
NAME] [--ntoys N] [WORKSPACE...]

Prints the tables of docs/precision.md. Without workspaces: the shipped examples, and the analyses of
../shared/workspaces where that folder is. A point is the suggested start, or that start with every free
parameter moved by up to 0.3 of its error. Standard library only."""

import argparse
import glob
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A")


def analyses(given):
    if given:
        return [(os.path.basename(path), path, []) for path in given]
    found = [("two_bins", os.path.join(ROOT, "examples", "two_bins.json"), [])]
    for name in ("displaced_leptons_signal", "tHu_FCNC", "ttZ_4l", "SUSY-2018-04_staus"):
        path = os.path.join(SHARED, name + ".json")
        found += [(name, path, [])] if os.path.exists(path) else []
    background = os.path.join(SBOTTOM, "BkgOnly.json")
    found.append(("sbottom_A background", background, []))
    return found + [
        ("sbottom_A " + path.split("sbottom_")[-1][:-5], background, ["--patch", path])
        for path in sorted(glob.glob(os.path.join(SBOTTOM, "patch.*.json")))
    ]


class Program:
    def __init__(self, options):
        self.path, self.more = (
            os.path.join(options.build, "bin", "paritas"),
            ["--device", options.device, "--quiet"],
        )

    def __call__(self, command, analysis, *arguments, f32=False):
        done = subprocess.run(
            [
                self.path,
                command,
                analysis[1],
                *analysis[2],
                *map(str, arguments),
                *self.more,
                "--json",
                *(["--precision", "f32"] if f32 else []),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        return json.loads(done.stdout)


def moved(start, fit):
    errors = {p["name"]: p["error"] for p in fit["parameters"]}
    return [
        p["value"] + math.sin(i + 1) * min(0.3, 0.3 * (errors[p["name"]] or 0.0))
        for i, p in enumerate(start["parameters"])
    ]


def likelihood(paritas, analysis, *point):
    a, b = (paritas("nll", analysis, "--gradient", *point, f32=f32) for f32 in (False, True))
    relative = sorted(abs(y - x) / abs(x) for x, y in zip(a["gradient"], b["gradient"]) if x != 0.0)
    wrong = sum(x * y < 0 for x, y in zip(a["gradient"], b["gradient"]))
    error = 0.5 * abs(a["twice_nll"] - b["twice_nll"])
    return [
        error,
        error / (0.5 * abs(a["twice_nll"])),
        relative[-1],
        relative[math.ceil(0.99 * len(relative)) - 1],
        relative[len(relative) // 2],
        wrong,
    ]


def shift(fit, other):
    return max(
        (
            abs(p["value"] - q["value"]) / p["error"]
            for p, q in zip(fit["parameters"], other["parameters"])
            if p["error"]
        ),
        default=0.0,
    )


def print_table(titles, rows):
    print("| " + " | ".join(titles) + " |\n|---|" + "---:|" * (len(titles) - 1))
    for row in rows:
        print(
            "| "
            + " | ".join(
                x if isinstance(x, str) else str(x) if isinstance(x, int) else f"{x:.1e}" for x in row
            )
            + " |"
        )
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ntoys", type=int, default=1000, help="of each hypothesis; 0: none")
    parser.add_argument("workspaces", nargs="*")
    options = parser.parse_args()
    paritas, points, fits, toys = Program(options), [], [], []
    for analysis in analyses(options.workspaces):
        exact, raw, polished = (
            paritas("fit", analysis),
            paritas("fit", analysis, "--no-polish", f32=True),
            paritas("fit", analysis, f32=True),
        )
        start = paritas("nll", analysis)
        points.append([analysis[0], "start", *likelihood(paritas, analysis)])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(moved(start, exact), file)
            file.flush()
            points.append(["", "moved", *likelihood(paritas, analysis, "--point", file.name)])
        checked = paritas("parity", analysis, "--ntoys", 0, f32=True)
        after = {(r["quantity"], r["unit"]): r["after"] for r in checked["against_f64"]}
        fits.append(
            [
                analysis[0],
                len(exact["parameters"]),
                0.5 * abs(raw["twice_nll"] - exact["twice_nll"]),
                shift(exact, raw),
                raw["status"],
                raw["iterations"],
                polished["iterations"] - raw["iterations"],
                exact["iterations"],
                after["minimum", "NLL"],
                after["best fit", "errors"],
                shift(exact, polished),
            ]
        )
        if not options.ntoys or exact["poi"] is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            runs, rates = [], []
            for f32 in (False, True):
                store = os.path.join(folder, str(f32))
                rates.append(
                    round(
                        paritas(
                            "hypotest-toys", analysis, "--ntoys", options.ntoys, "--store", store, f32=f32
                        )["toys_per_second"]
                    )
                )
                with sqlite3.connect(store) as database:
                    runs.append(
                        dict(
                            ((h, t), (q, s))
                            for h, t, q, s in database.execute("select hypothesis, toy, q, status from toys")
                        )
                    )
            others = [
                k for k, (q, s) in runs[0].items() if s != runs[1][k][1] or not abs(q - runs[1][k][0]) <= 1e-6
            ]
            worst = max(
                abs(q - runs[1][k][0])
                for k, (q, s) in runs[0].items()
                if k not in others and s == "converged"
            )
            toys.append([analysis[0], len(runs[0]), len(others), worst, *rates])
    print_table(
        ["likelihood", "point", "NLL", "relative", "gradient: largest", "99 %", "median", "wrong signs"],
        points,
    )
    print_table(
        [
            "fit",
            "parameters",
            "raw: NLL",
            "raw: errors away",
            "raw: status",
            "steps in f32",
            "then in f64",
            "steps of an f64 fit",
            "polished: NLL",
            "errors from the minimum",
            "errors from the f64 fit",
        ],
        fits,
    )
    if toys:
        print_table(
            [
                "toys",
                "compared",
                "another q",
                "largest difference of the others",
                "f64 a second",
                "f32 a second",
            ],
            toys,
        )


main()
