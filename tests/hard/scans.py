#!/usr/bin/env python3
"""Scans of generated models: did each point that says converged end at a minimum?

  tests/hard/scans.py --n 500 --seed 0        every other model is an ordinary one, the others are hard

Each scan has 15 to 30 points. A fit with the parameter held starts where the point ended. If it goes down by
more than 1e-6, the point was at no minimum. A lower minimum elsewhere is no fault here. Prints each such
point, and counts. Exit code 1 if there is one."""

import argparse
import math
import os
import sys
import tempfile
from collections import Counter
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure  # noqa: E402  (it knows where the package is)
import hard_models  # noqa: E402
from lowest import Reference  # noqa: E402

import paritas  # noqa: E402


TOLD = (
    "scans",
    "points",
    "points not converged",
    "points whose fits end outside the domain",
    "scans refused",
)


class Above(NamedTuple):
    """A point above the end of a fit that started there."""

    model: str
    mu: float
    twice_nll: float
    gap: float

    def __str__(self):
        return f"{self.model}: {self.mu!r}: {self.twice_nll:.12g}, {self.gap:.3g} above"


def family_of(seed):
    return hard_models.FAMILIES[seed % 2]


def values_of(reference, seed):
    """15 to 30 values of the parameter of interest, within its bounds."""
    draw = hard_models.Draw("scan", seed)
    low = max(float(reference.lower[reference.poi]), draw.pick(0.0, -2.0))
    high = min(reference.upper_poi(), draw.pick(1.0, 4.0, 10.0))
    n = draw.whole(15, 30)
    return [low + (high - low) * k / (n - 1) for k in range(n)]


def judge(name, reference, scan, counts):
    """The points that are at no minimum."""
    above, tolerance = [], reference.noise(reference.data)
    for k, (mu, value, status) in enumerate(zip(scan.values[:, 0], scan.twice_nll, scan.status)):
        counts["points"] += 1
        if status != "converged":
            counts["points not converged"] += 1
            continue
        end = reference.ends(scan.point_values[k : k + 1], {reference.poi: float(mu)}).value
        counts["points whose fits end outside the domain"] += math.isinf(end)
        gap = float(value) - end
        if gap > tolerance:
            above.append(Above(name, float(mu), float(value), gap))
    return above


def examine(seed, folder, counts):
    made = measure.generate(family_of(seed), seed)
    path = hard_models.write(folder, made)
    reference = Reference(path, made.codes, 1, made.poi)
    os.remove(path)
    try:
        scan = paritas.scan(
            reference.model,
            (reference.model.poi_name, values_of(reference, seed)),
            device="cpu",
            threads=1,
        )
    except paritas.Error as reason:
        counts["scans refused"] += 1
        print(f"{made.name}: refused: {reason}", flush=True)
        return []
    counts["scans"] += 1
    return judge(made.name, reference, scan, counts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first model; the others count on")
    given = parser.parse_args()
    counts, above = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.n):
            for one in examine(seed, folder, counts):
                above.append(one)
                print(one, flush=True)
    words = [f"{counts[name]} {name}" for name in TOLD]
    print(f"{', '.join(words)}; {len(above)} points above, of {len({one.model for one in above})} scans")
    return len(above) > 0


if __name__ == "__main__":
    sys.exit(main())
