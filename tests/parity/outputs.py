#!/usr/bin/env python3
"""The same bits from every program: outputs.py [--small] PROGRAM [PROGRAM...]

Each PROGRAM is a command (for example "qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm64/bin/paritas").
Every command line below is run by every program, on every instruction set that it has, with one and two
threads and with several lane counts, and all answers must be the same text; numbers in answers are written so
that they read back exactly. One line a command; the last line is "N passed, N failed, N skipped". Python's
standard library only."""

import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
INSTRUCTION_SETS = ["portable", "scalar", "avx2", "avx512", "neon"]
NO_DEVICE = 4
LEFT_OUT = {"device", "isa", "seconds", "version"}  # what may differ


def command_lines(small):
    two, sbottom = os.path.join(EXAMPLES, "two_bins.json"), os.path.join(EXAMPLES, "sbottom_A")
    patched = [
        os.path.join(sbottom, "BkgOnly.json"),
        "--patch",
        os.path.join(sbottom, "patch.sbottom_900_250_60.json"),
    ]
    yield ["fit", two, "--covariance"]
    yield ["limit", two]
    yield ["nll", *patched, "--gradient", "--expected"]
    yield ["fit", *patched, "--covariance"]
    yield ["fit", *patched, "--precision", "f32"]
    if small:
        return
    yield ["hypotest", *patched, "--mu", "1"]
    yield ["scan", *patched, "--start", "0", "--stop", "2", "--points", "11"]
    yield ["ranking", *patched]
    yield [
        "hypotest",
        os.path.join(sbottom, "BkgOnly.json"),
        "--patchset",
        os.path.join(sbottom, "patchset.json"),
    ]
    for name in ("displaced_leptons_signal", "tHu_FCNC", "ttZ_4l", "SUSY-2018-04_staus"):
        path = os.path.join(SHARED, name + ".json")
        yield ["nll", path, "--gradient", "--expected"]
        yield ["fit", path, "--covariance"]
    yield ["scan", os.path.join(SHARED, "tHu_FCNC.json"), "--start", "-1", "--stop", "1", "--points", "9"]


def without(answer):
    if isinstance(answer, dict):
        return {key: without(value) for key, value in answer.items() if key not in LEFT_OUT}
    return [without(value) for value in answer] if isinstance(answer, list) else answer


def builds_of(program, small):
    """yields (program, environment, threads): all ways to run one program"""
    for isa in INSTRUCTION_SETS:
        for threads in [1] if small else [1, 2]:
            yield program, {"PARITAS_ISA": isa}, threads
    for lanes in ("1", "2", "4", "8"):
        yield program, {"PARITAS_LANES": lanes}, 1


def answer(line, program, environment, threads):
    """(which build, canonical text), numbers stay the text they were; None where the build is not there"""
    # under an emulator the environment is the guest's too
    command = [*program, *line, "--json", "--quiet", "--threads", str(threads)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=dict(os.environ, **environment), timeout=900
    )
    if done.returncode == NO_DEVICE:
        return None
    which = f"{program[-1]}, {environment}, {threads} threads"
    if done.returncode not in (0, 1):
        return which, f"exit {done.returncode}: {done.stderr.strip()}"
    documents = [
        json.loads(text, parse_float=str, parse_int=str)
        for text in (done.stdout.splitlines() if "--patchset" in line else [done.stdout])
    ]
    return which, json.dumps(without(documents), sort_keys=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="few and short commands, for emulators")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    ways = [way for program in arguments.programs for way in builds_of(shlex.split(program), arguments.small)]
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
    passed = failed = skipped = 0
    for line in command_lines(arguments.small):
        shown = " ".join(os.path.basename(word) for word in line)
        if not all(os.path.exists(word) for word in line if word.endswith(".json")):
            print(f"SKIP {shown}: the workspace is not here")
            skipped += 1
            continue
        builds = [build for build in pool.map(lambda way: answer(line, *way), ways) if build]
        reference = builds[0][1] if builds else ""
        different = [which for which, text in builds if text != reference or text.startswith("exit")]
        good = len(builds) > 1 and not different
        passed, failed = passed + good, failed + (not good)
        print(
            f"{'ok  ' if good else 'FAIL'} {shown}: {len(builds)} builds"
            + ("" if good else f", not as {builds[0][0] if builds else 'nothing'}: {'; '.join(different)}"),
            flush=True,
        )
        if not good and builds:
            print("    " + next((text for which, text in builds if which in different), reference)[:400])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
