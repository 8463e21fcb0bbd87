#!/usr/bin/env python3
"""Does the program in WebAssembly answer the native program's bytes?

  same_bytes.py [--some] PROGRAM.wasm PROGRAM

Runs the command lines of tests/parity/versions.py with both: standard output, standard error, exit code and
all files that they write must be equal. Times are left out; so are lines for devices, which WASI lacks.
Stores of toys have another form there; what is read from them is compared. A program without f32 skips
its lines; with it they take hours, since fma in f32 is libm's. --some: a part of the lines, half
a minute. Needs wasmtime (tools/setup web)."""

import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "parity"))
import versions  # noqa: E402
from wasi_program import WasiProgram  # noqa: E402

NO_DEVICE = 4
WORDS = {"passed": "ok  ", "failed": "FAIL", "skipped": "SKIP"}
SOME = ("nll", "fit", "hypotest", "limit", "ranking", "gof", "toys", "hypotoys")
SOME_CHAINED = ("shard1", "shard2", "merge", "synth", "lc.default", "profile", "inject", "kappa")


def groups(some):
    """lists of (label, words) that must run in order, in one folder"""
    for label, words in versions.all_lines():
        analysis, *way = label.split(".")
        if some and (analysis.startswith("hard_") or way[:1] != ["f64"] or way[-1] not in SOME):
            continue
        if "pocl" not in label and "shard" not in label:
            yield [(label, words)]
    shards = [line for line in versions.all_lines() if "shard" in line[0]]
    chains = list(versions.chained())
    for group in [[*shards, *chains[0]], *chains[1:]]:
        lines = [(label, words) for label, words in group if "pocl" not in label]
        if some:
            lines = [line for line in lines if line[0] in SOME_CHAINED]
        if lines:
            yield lines


def as_json(words):
    # wasmtime follows no absolute link
    words = [os.path.realpath(word) if os.path.isabs(word) else word for word in words]
    return [*words, "--json", "--quiet"] if words[0] != "sort" else words


def without_times(output):
    text = versions.TIMED.sub(r"\1T", output.decode())
    return versions.TIMED_TEXT.sub("T", text)


def files_in(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if re.search(r"\.db.?$", name):
                continue
            with open(os.path.join(path, name), "rb") as file:
                found[os.path.relpath(os.path.join(path, name), folder)] = file.read()
    return found


def difference(ours, theirs):
    """None if equal: (exit code, output, error, files)"""
    for what, a, b in zip(("exit code", "output", "error"), ours, theirs):
        if a != b:
            return f"{what}: {str(a)[:300]!r}, natively {str(b)[:300]!r}; it says {ours[2][:300]!r}"
    a, b = ours[3], theirs[3]
    unequal = sorted(name for name in set(a) | set(b) if a.get(name) != b.get(name))
    return f"files {unequal}" if unequal else None


def run_group(program, native, lines):
    """yields (label, words, difference; "" if the program cannot run it)"""
    environment = {"PARITAS_DEVICE": "cpu", "PARITAS_CACHE": ""}
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.join(folder, name) for name in ("wasm", "native")]
        for name in folders:
            os.mkdir(name)
        for label, words in lines:
            words = as_json(words)
            code, out, error = program.run(words, folders[0], environment)
            if code == NO_DEVICE:
                yield label, words, ""
                continue
            done = subprocess.run(
                [native, *words], capture_output=True, cwd=folders[1], env={**os.environ, **environment}
            )
            ours = (code, without_times(out), error.decode(), files_in(folders[0]))
            theirs = (done.returncode, without_times(done.stdout), done.stderr.decode(), files_in(folders[1]))
            yield label, words, difference(ours, theirs)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--some", action="store_true")
    parser.add_argument("program")
    parser.add_argument("native")
    arguments = parser.parse_args()
    program, native = WasiProgram(arguments.program), os.path.abspath(arguments.native)
    counts = collections.Counter()
    names = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        run = lambda lines: list(run_group(program, native, lines))  # noqa: E731
        for results in pool.map(run, groups(arguments.some)):
            for label, words, wrong in results:
                outcome = "skipped" if wrong == "" else "failed" if wrong else "passed"
                counts[outcome] += 1
                names.add(label.split(".")[0])
                shown = " ".join(map(os.path.basename, words))
                print(f"{WORDS[outcome]} {label}: {shown}" + (f"\n    {wrong}" if wrong else ""), flush=True)
    print(f"{len(names)} analyses and synthetic data sets")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not counts["passed"] else 0)


main()
