#!/usr/bin/env python3
"""Times from day files to the Moon: fits of a synthetic month, its products, its page.

    bench/moon.py FOLDER [--days 30] [--sweeps 970] [--threads 2]

FOLDER keeps the month between runs (700 MB; bench/synthetic_month.py makes it). Prints seconds of wall time
and of CPU time. Needs `paritas` as a package and as a program, and matplotlib."""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from paritas import losscone
from synthetic_month import make_month, program


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(name, work, total):
    """Runs `work`, prints and adds its times."""
    wall, cpu = perf_counter(), cpu_seconds()
    result = work()
    spent = perf_counter() - wall, cpu_seconds() - cpu
    print(f"{name:36}{spent[0]:8.2f}{spent[1]:8.2f}")
    total[0] += spent[0]
    total[1] += spent[1]
    return result


def measure(folder, tables, threads):
    total = [0.0, 0.0]
    fit = ["losscone", "fit", folder, "--geometry", f"{folder}/truth.csv", "-o", tables, "--quiet"]
    fit += ["--threads", threads]
    page = [sys.executable, "-m", "paritas", "moon", tables, "-o", f"{tables}/moon.html"]
    print(f"{'':36}{'wall s':>8}{'CPU s':>8}")
    timed("losscone fit", lambda: run([program(), *fit]), total)
    timed("page: products and all figures", lambda: run(page), total)
    print(f"{'fits and page':36}{total[0]:8.2f}{total[1]:8.2f}\n")
    alone = [0.0, 0.0]
    read = timed("read_tables", lambda: losscone.read_tables(tables), alone)
    for product in (
        losscone.surface_map,
        losscone.terminator_profile,
        losscone.region_statistics,
        losscone.harmonics,
        losscone.periodogram,
        losscone.time_averages,
        losscone.spherical_harmonics,
    ):
        timed(product.__name__, lambda made=product: made(read), alone)
    print(f"{'products without figures':36}{alone[0]:8.2f}{alone[1]:8.2f}")


def run(command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--sweeps", type=int, default=970)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if not Path(given.folder, "truth.csv").exists():
        make_month(given.folder, given.days, given.sweeps)
    with tempfile.TemporaryDirectory() as scratch:
        measure(given.folder, scratch, given.threads)
