#!/usr/bin/env python3
"""Datacards beside Combine: datacards.py [--build FOLDER] [--runs N] TRUTH...

TRUTH: a file a card with Combine's times on its own machine, beside a folder `cards`: JSON, also packed as
xz. A run starts the program on the card itself: it reads the card and its histograms, then answers. Prints
the processor time (user and system) of the median run, and Combine's of text2workspace.py and of the method.
Python's standard library only."""

import argparse
import json
import lzma
import os
import resource
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
METHODS = {"fit": "MultiDimFit singles, default", "limit": "AsymptoticLimits, default"}


def truth_of(path):
    """The answers of Combine on a card."""
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path)
    with opened as file:
        found = json.load(file)
    return found[0] if isinstance(found, list) else found


def seconds(command, runs):
    """The processor time of the median run."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def card_of(path, truth):
    """The arguments of the program for the card of a file of answers."""
    card = os.path.join(os.path.dirname(path), "..", "cards", truth["card"])
    return [os.path.normpath(card), "--mass", truth.get("options", {}).get("mass", "120")]


def combine_seconds(truth, command):
    """What Combine's two programs took, None where one of them did not end."""
    spent = [truth["timing"].get(key, {}).get("cpu") for key in ("text2workspace", METHODS[command])]
    return None if None in spent else sum(spent)


def main():
    """Prints a row for each card."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("truth", nargs="+")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--runs", type=int, default=9)
    args = parser.parse_args()
    program = os.path.join(args.build, "bin", "paritas")
    print("| card | parameters | fit | Combine | limit | Combine |\n|---|---|---|---|---|---|")
    for path in args.truth:
        truth = truth_of(path)
        cells = []
        for command in METHODS:
            own = seconds([program, command, *card_of(path, truth)], args.runs)
            combine = combine_seconds(truth, command)
            cells += [f"{1000 * own:.1f} ms", f"{combine:.1f} s" if combine else "-"]
        print(f"| {truth['name']} | {len(truth['parameters'])} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
