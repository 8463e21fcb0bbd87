#!/usr/bin/env python3
"""Does a program built for another system answer the native program's bytes? same_bytes.py PROGRAM NATIVE

Runs the command lines of versions.py with both. Standard output, standard error, exit code and all files that
they write must be equal, byte for byte; of stores of toys the rows. Times are left out. So are lines for
devices that PROGRAM lacks. PROGRAM is a command, for example "qemu-aarch64 build/arm64/bin/paritas", or a
program for WASI, NAME.wasm. Its stores have another form: what is read from them is compared. Its f32 takes
hours (fma is libm's). --some: a part of the lines, in some 30 s. --match: only lines, and chains with a line,
whose label has this regular expression, for example '^(two_bins|sbottom)' where an emulator is slow. Needs
Python's standard library only, for WASI wasmtime (tools/setup web)."""

import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

import versions

NO_DEVICE = 4
SOME = ("nll", "fit", "hypotest", "limit", "ranking", "gof", "toys", "hypotoys")
SOME_CHAINED = ("shard1", "shard2", "merge", "synth", "lc.default", "profile", "inject", "kappa")
STORE = re.compile(r"\.db.?$")
ENVIRONMENT = {"PARITAS_DEVICE": "cpu", "PARITAS_CACHE": "", "WINEDEBUG": "-all"}


def groups(some):
    """lists of (label, words) that must run in order, in one folder"""
    for label, words in versions.all_lines():
        analysis, *way = label.split(".")
        if some and (analysis.startswith(("hard_", "A_")) or way[:1] != ["f64"] or way[-1] not in SOME):
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


class SystemProgram:
    """A command that the system starts."""

    stores_are_databases = True

    def __init__(self, command):
        self.command = [
            os.path.abspath(word) if os.path.exists(word) else word for word in shlex.split(command)
        ]

    def run(self, words, folder, environment):
        """(exit code, standard output, standard error) as bytes"""
        done = subprocess.run(
            [*self.command, *words], capture_output=True, cwd=folder, env={**os.environ, **environment}
        )
        return done.returncode, done.stdout, done.stderr


def program_of(command):
    if not command.endswith(".wasm"):
        return SystemProgram(command)
    sys.path.insert(0, os.path.join(versions.ROOT, "packaging", "wasi"))
    from paritas_wasi import WasiProgram

    return WasiProgram(command)


def content(path):
    if STORE.search(path):
        return versions.store_rows(path)
    with open(path, "rb") as file:
        return file.read()


def files_in(folder, with_stores):
    paths = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]
    return {
        os.path.relpath(path, folder): content(path)
        for path in paths
        if with_stores or not STORE.search(path)
    }


def run(program, words, folder):
    """(exit code, output, error)"""
    # a WASI program sees no links to absolute paths
    words = [os.path.realpath(word) if os.path.isabs(word) else word for word in words]
    words = [*words, "--json", "--quiet"] if words[0] != "sort" else words
    code, output, error = program.run(words, folder, ENVIRONMENT)
    text = versions.TIMED.sub(r"\1T", output.decode())
    return code, versions.TIMED_TEXT.sub("T", text), error.decode()


def run_group(programs, lines):
    """[(label, words, what differs; None: nothing, "": the first program cannot run the line)]"""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.join(folder, name) for name in ("first", "native")]
        for name in folders:
            os.mkdir(name)
        for label, words in lines:
            answers = [run(program, words, name) for program, name in zip(programs, folders)]
            if answers[0][0] == NO_DEVICE:
                found.append((label, words, ""))
                continue
            wrong = None
            for what, ours, natives in zip(("exit code", "output", "error"), *answers):
                if ours != natives and not wrong:
                    wrong = (
                        f"{what}: {str(ours)[:300]!r}, natively {str(natives)[:300]!r}; {answers[0][2][:300]}"
                    )
            with_stores = all(program.stores_are_databases for program in programs)
            ours, natives = (files_in(name, with_stores) for name in folders)
            unequal = sorted(name for name in set(ours) | set(natives) if ours.get(name) != natives.get(name))
            found.append((label, words, wrong or (f"files {unequal}" if unequal else None)))
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--some", action="store_true")
    parser.add_argument("--match", default="", metavar="REGEX")
    parser.add_argument("program")
    parser.add_argument("native")
    arguments = parser.parse_args()
    programs = [program_of(command) for command in (arguments.program, arguments.native)]
    counts = collections.Counter()
    analyses = set()
    chosen = [
        lines for lines in groups(arguments.some) if any(re.search(arguments.match, one[0]) for one in lines)
    ]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(lambda lines: run_group(programs, lines), chosen):
            for label, words, wrong in results:
                counts["skipped" if wrong == "" else "failed" if wrong else "passed"] += 1
                analyses.add(label.split(".")[0])
                if wrong:
                    shown = " ".join(map(os.path.basename, words))
                    print(f"FAIL {label}: {shown}\n    {wrong}", flush=True)
    print(f"{len(analyses)} analyses and synthetic data sets")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not counts["passed"] else 0)


main()
