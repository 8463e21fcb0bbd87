#!/usr/bin/env python3
"""Files as this version writes them: make_files.py PROGRAM FOLDER

Stores of toys (compressed by gzip), saved toys and draws, and answers.json: what the program said to them.
Run once for a release; test_stable.py has later versions read them."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: the lines that write files, in a folder with two_bins.json
WRITING = [
    "toys two_bins.json --ntoys 20 --seed 3 --store toys.db --save toys.npz",
    "hypotest-toys two_bins.json --ntoys 20 --seed 3 --shard 1/2 --store half.db",
    "generate two_bins.json --ntoys 2 --seed 3 -o toys.json",
    "sample two_bins.json --chains 2 --draws 8 --warmup 8 --save draws.npz",
]
#: lines that read them; stores are whole, so that no toy is fitted again
READING = [
    "toys two_bins.json --ntoys 20 --seed 3 --store toys.db --resume",
    "hypotest-toys two_bins.json --ntoys 20 --seed 3 --shard 1/2 --store half.db --resume",
    "merge half.db other_half.db -o whole.db",
    "fit two_bins.json --data toys.npz",
    "fit two_bins.json --data toys.json",
]
#: what a later version writes to go on
OTHER_HALF = "hypotest-toys two_bins.json --ntoys 20 --seed 3 --shard 2/2 --store other_half.db"
TIMES = ("seconds", "toys_per_second")


def run(program, folder, line):
    command = [program, *line.split(), "--quiet", "--device", "cpu"]
    if line.startswith("merge"):
        command = command[:-2]
    if "generate" not in line:
        command.append("--json")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{line}: {done.stderr}"  # few draws do not converge
    return done.stdout


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def answers(program, folder):
    run(program, folder, OTHER_HALF)
    return {line: without_times(json.loads(run(program, folder, line))) for line in READING}


def main():
    program, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    workspace = folder / "two_bins.json"
    workspace.write_bytes((EXAMPLES / "two_bins.json").read_bytes())
    for line in WRITING:
        run(program, folder, line)
    (folder / "answers.json").write_text(json.dumps(answers(program, folder), indent=1) + "\n")
    for made in ("other_half.db", "whole.db"):
        (folder / made).unlink()
    for store in folder.glob("*.db"):
        Path(f"{store}.gz").write_bytes(gzip.compress(store.read_bytes(), mtime=0))
        store.unlink()


if __name__ == "__main__":
    main()
