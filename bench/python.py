#!/usr/bin/env python3
"""What a call costs in Python above the same call in C, and what importing the package costs above NumPy:
python.py [--build FOLDER] [--pairs N]

Of the shipped model of two bins, on one thread. C is timed by bench/analysis, Python in this process; both
take turns, each a median over many calls, of which the least of all turns counts: what else runs on the
machine only adds. Import times are medians of 20 new processes each, in turns, too."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
STARTS = 20


def in_c(build, operation):
    """Microseconds of a call."""
    line = subprocess.run(
        [os.path.join(build, "bench", "analysis"), operation, TWO, "--threads", "1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return 1e6 * json.loads(line)["seconds"]


def in_python(call):
    """The same here: the median of the calls of half a second."""
    times, end = [], time.perf_counter() + 0.5
    while time.perf_counter() < end:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1e6 * statistics.median(times)


def seconds_of(code):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()

    import numpy
    import paritas

    model = paritas.Model.from_workspace(TWO)
    point = numpy.array(model.suggested_init)
    paritas.set_defaults(threads=1)
    calls = {
        "nll": lambda: model.twice_nll(point),
        "fit": model.fit,
        "hypotest": lambda: model.hypotest(1.0),
        "limit": model.upper_limit,
    }
    print(f"{'call':10} {'C':>8} {'Python':>8} {'above':>8}   microseconds, two bins")
    for operation, call in calls.items():
        pairs = [(in_c(options.build, operation), in_python(call)) for _ in range(options.pairs)]
        c, python = (min(side) for side in zip(*pairs))
        print(f"{operation:10} {c:8.2f} {python:8.2f} {python - c:8.2f}")
    pairs = [(seconds_of("import numpy"), seconds_of("import numpy, paritas")) for _ in range(STARTS)]
    numpy_alone, both = (statistics.median(side) for side in zip(*pairs))
    print(
        f"import     NumPy {1e3 * numpy_alone:.0f} ms, paritas above it "
        f"{1e3 * statistics.median(b - a for a, b in pairs):.1f} ms"
    )


main()
