#!/usr/bin/env python3
"""Speed of the loss-cone system, with what is asked of it: losscone.py [--build FOLDER] [--rounds N] [--days
N] [--folder FOLDER] [--only sweeps,scipy,read,month]

  sweeps  microseconds a sweep of fits, confidence sets and bootstraps, in the library, one thread
  scipy   the exact fit beside the differential evolution of SciPy that the original runs (its 400 starting
          points, population 51), sweep by sweep in turns
  read    day files into memory, MB/s
  month   the program from a month's day files to tables on two threads; and its peak memory for a day and for
          the month

Medians over rounds; ratios are of times taken in turns in one run. The month's files (0.7 GB) are made in
--folder and kept there."""

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "losscone"))


def timed(function):
    """seconds of the processor, which a busy machine changes less than those of the clock, and the value"""
    started = time.process_time()
    value = function()
    return time.process_time() - started, value


def table(title, rows):
    print(f"\n{title}\n")
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for n, row in enumerate(rows):
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |")
        if n == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def synthetic_sweeps(n, seed=7, kind="hard", **options):
    import dayfiles

    day = dayfiles.synthetic(n, seed, kind=kind)
    return [day.sweep(k, day.truth["Usc"][k], **options) for k in range(n)]


def bench_sweeps(library, arguments):
    from library import data_of

    n = arguments.sweeps
    halekas, lillis, smeared = (
        data_of(synthetic_sweeps(n)),
        data_of(synthetic_sweeps(n, method="lillis")),
        data_of(synthetic_sweeps(n, kind="folded")),
    )
    few = [array[: n // 5] for array in halekas]
    found, found_few = library.fit(halekas), library.fit(few)
    work = [
        ("exact, Halekas", 60, n, lambda: library.fit(halekas)),
        ("exact, Halekas, no beam", None, n, lambda: library.fit(halekas, amplitude_upper=0.0)),
        ("exact, Lillis", 40, n, lambda: library.fit(lillis, method="lillis")),
        ("exact, folded, folded data", 150, n, lambda: library.fit(smeared, response="folded")),
        ("exact, folded, hard-edge data", None, n, lambda: library.fit(halekas, response="folded")),
        ("de, Halekas", None, n, lambda: library.fit(halekas, search="de")),
        ("de, Lillis", None, n, lambda: library.fit(lillis, method="lillis", search="de")),
        ("confidence sets, Halekas", None, n, lambda: library.confidence(halekas, found)),
        ("bootstrap of 40 draws, Halekas", None, n // 5, lambda: library.bootstrap(few, found_few, 40)),
    ]
    rows = [("a sweep, one thread", "asked, us", "measured, us", "sweeps/s")]
    for name, asked, count, function in work:
        try:
            seconds = statistics.median(timed(function)[0] for _ in range(arguments.rounds)) / count
        except (RuntimeError, AttributeError) as error:
            rows.append((name, asked or "", f"no: {error}", ""))
            continue
        rows.append((name, f"<= {asked}" if asked else "", f"{1e6 * seconds:.1f}", f"{1 / seconds:.0f}"))
    table(
        f"Fits ({n} synthetic sweeps: U -400 to -10 V, r 0.4 to 1.05, a beam in half of them, noise 10 to "
        f"30 %)",
        rows,
    )


def bench_scipy(library, arguments):
    import reference as ref
    from library import data_of

    cell = np.random.default_rng(42)
    hypercube = np.stack([cell.permutation(400) for _ in range(3)], axis=1)
    rows = [
        (
            "exact fit beside",
            "asked",
            "ratio",
            "ours, us",
            "SciPy, ms",
            "SciPy's misfit above ours: median, largest",
        )
    ]
    for method, name in (
        ("halekas", "formula"),
        ("halekas", "prepared"),
        ("lillis", "formula"),
        ("lillis", "prepared"),
    ):
        ratios, own, other, excess = [], [], [], []
        for sweep in synthetic_sweeps(arguments.evolutions, seed=8, method=method):
            data = data_of([sweep] * 50)
            ours, results = timed(lambda: library.fit(data, method=method))
            objective = sweep.misfit if name == "formula" else sweep.prepared()
            theirs, (misfit, _) = timed(lambda: ref.original(objective, hypercube))
            own.append(ours / 50)
            other.append(theirs)
            ratios.append(theirs / ours * 50)
            excess.append(misfit - results[0].misfit)
        asked = ">= 1000" if (method, name) == ("halekas", "formula") else ""
        ratio = f"{statistics.median(ratios):.0f} (means: {sum(other) / sum(own):.0f})"
        rows.append(
            (
                f"{method}, {name}",
                asked,
                ratio,
                f"{1e6 * statistics.mean(own):.1f}",
                f"{1e3 * statistics.mean(other):.1f}",
                f"{statistics.median(excess):.1e}, {max(excess):.1e}",
            )
        )
    table(
        f"Beside SciPy's differential evolution ({arguments.evolutions} sweeps, one thread). Formula: each "
        f"evaluation is all of it, in NumPy; prepared: what is the same in all is done once",
        rows,
    )


def month(folder, days):
    """the files of a month, made where they are not there"""
    import dayfiles

    paths = []
    os.makedirs(folder, exist_ok=True)
    for k in range(days):
        date = f"1998-04-{k + 1:02d}"
        path = os.path.join(folder, dayfiles.name(date))
        if not os.path.exists(path):
            dayfiles.write(path + ".part", dayfiles.plasma(1000, 100 + k, start=date))
            os.replace(path + ".part", path)
        paths.append(path)
    return paths


def bench_read(library, arguments):
    paths = month(arguments.folder, min(3, arguments.days))
    megabytes = os.path.getsize(paths[0]) / 1e6
    rows = [("reading a day file, one thread", "asked, MB/s", "measured, MB/s")]

    def read(path):
        day = ctypes.c_void_p()
        library.check(library.lib.paritas_er_read(library.context, path.encode(), None, ctypes.byref(day)))
        library.lib.paritas_er_day_free(day)

    for path in paths:
        read(path)
    seconds = statistics.median(
        timed(lambda: read(path))[0] for _ in range(arguments.rounds) for path in paths
    )
    rows.append((f"paritas_er_read, {megabytes:.1f} MB", ">= 300", f"{megabytes / seconds:.0f}"))
    table("Reading", rows)


def run(command):
    """(seconds, seconds of the processors, peak memory in MB) of a process"""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {process.returncode}\n{text[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def bench_month(library, arguments):
    program = os.path.join(arguments.build, "bin", "paritas")
    paths = month(arguments.folder, arguments.days)
    total = sum(map(os.path.getsize, paths)) / 1e6
    for path in paths:  # into the page cache
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
    rows = [
        (
            f"{len(paths)} days of 1000 sweeps, {total:.0f} MB",
            "asked, s",
            "measured, s",
            "processors, s",
            "sweeps/s",
            "peak of the run, MB",
            "of one day, MB",
        )
    ]
    given, automatic, plain = (
        ["--spacecraft-potential", "10"],
        ["--spacecraft-potential", "auto"],
        ["--response", "hard", "--confidence", "none"],
    )
    work = [
        ("one model, no confidence sets", 6, given + plain),
        ("both models, confidence sets", None, given),
        ("one model, no sets, spacecraft potential and kappa fits", 12, automatic + plain),
        ("both models, sets, spacecraft potential and kappa fits", None, automatic),
    ]
    for name, asked, options in work:
        runs, alone = [], 0
        for _ in range(arguments.rounds):
            out = tempfile.mkdtemp(dir=arguments.folder)
            try:
                runs.append(run([program, "losscone", "fit", *paths, *options, "--threads", "2", "-o", out]))
                alone = max(
                    alone,
                    run(
                        [
                            program,
                            "losscone",
                            "fit",
                            paths[0],
                            *options,
                            "--threads",
                            "2",
                            "-o",
                            os.path.join(out, "alone"),
                        ]
                    )[2],
                )
            finally:
                shutil.rmtree(out)
        seconds, processors, peak = (statistics.median(column) for column in zip(*runs))
        rows.append(
            (
                name,
                f"<= {asked * len(paths) / 30:.1f}" if asked else "",
                f"{seconds:.2f}",
                f"{processors:.2f}",
                f"{1000 * len(paths) / seconds:.0f}",
                f"{peak:.0f}",
                f"{alone:.0f}",
            )
        )
    table("A month from day files to tables, two threads, files in the page cache", rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=500)
    parser.add_argument("--evolutions", type=int, default=12)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "paritas_month"))
    parser.add_argument("--only", default="sweeps,scipy,read,month")
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    os.environ["PARITAS_BIN"] = os.path.join(arguments.build, "bin", "paritas")
    import library as binding

    opened = binding.Library(threads=1)
    parts = {"sweeps": bench_sweeps, "scipy": bench_scipy, "read": bench_read, "month": bench_month}
    for part in arguments.only.split(","):
        parts[part](opened, arguments)
    opened.close()


main()
