#!/usr/bin/env python3
"""Has a program the digests of docs/same-bits.md? record.py [--few] COMMAND...

Runs `paritas parity --record` with every instruction set and number of lanes, one and three threads, f64 and
f32. What this build or processor lacks is left out. COMMAND is a program, or for example
"qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm64/bin/paritas". Workspaces of the page are asked where they
are found. --few: instruction sets alone, on one thread, for emulators and archives. Python's standard library
only."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "same-bits.md")
FOLDERS = (os.path.join(ROOT, "examples"), os.path.join(os.path.dirname(ROOT), "shared", "workspaces"))
NO_DEVICE = 4
SHOWN = 16  # digits
SETS = [{"PARITAS_ISA": isa} for isa in ("portable", "scalar", "avx2", "avx512", "neon", "relaxed_simd")]
LANES = [{"PARITAS_LANES": lanes} for lanes in ("1", "2", "4", "8", "16")]
LANES += [{"PARITAS_ISA": "portable", "PARITAS_LANES": "8"}]


def digests_of_page():
    """{what was asked: (digest in f64, digest in f32)}"""
    with open(PAGE, encoding="utf-8") as file:
        rows = re.findall(r"^\| (.+?) \| `([0-9a-f]{16})` \| `([0-9a-f]{16})` \|$", file.read(), re.M)
    return {name.strip("`"): digests for name, *digests in rows}


def answer(command, words, environment):
    """{what was asked: its digest}; a text if it fails; None where the build is not there"""
    words = [*command, "parity", "--record", "--json", "--quiet", "--device", "cpu", *words]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode == NO_DEVICE:
        return None
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    document = json.loads(done.stdout)
    found = {one["workspace"]: one["digest"][:SHOWN] for one in document["workspaces"]}
    return {"the program itself": document["digest"][:SHOWN], **found}


def files(wanted):
    found = (os.path.join(folder, name) for name in wanted for folder in FOLDERS)
    return [path for path in found if os.path.exists(path)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--few", action="store_true")
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    arguments = parser.parse_args()
    wanted = digests_of_page()
    runs = [
        (command, [*words, "--precision", precision, "--threads", threads], way, place)
        for command in arguments.commands
        for place, precision in enumerate(("f64", "f32"))
        for words, ways in ([([], SETS)] if arguments.few else [([], SETS + LANES), (files(wanted), [{}])])
        for way in ways
        for threads in (["1"] if arguments.few else ["1", "3"])
    ]
    passed = failed = 0
    for command, words, way, place in runs:
        found = answer(shlex.split(command), words, way)
        if found is None:
            continue
        same = isinstance(found, dict) and all(wanted[name][place] == found[name] for name in found)
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"FAIL {command}, {way} {' '.join(words)}: {found}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
