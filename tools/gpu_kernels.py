#!/usr/bin/env python3
"""What the kernels of a build need on a multiprocessor.

  gpu_kernels.py PROGRAM --architecture sm_90 [--match REGEX] [--ptxas FILE]

Finds the PTX that the build embedded in the program, compiles each entry by ptxas, and prints one JSON list:
registers, stack, spills, shared memory, and how many warps run at once. No graphics card is needed. Exit 77:
there is no ptxas, or no PTX in the program. Python's standard library only."""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

GZIP = b"\x1f\x8b\x08"
WARP, WARP_REGISTERS = 32, 256  # registers are given out in so many a warp
# modules with the text of losscone and longer rows, whose PTX is not embedded (cmake/EmbedPtx.cmake)
LONGER = ("losscone_medium", "losscone_wide")
WORKERS = 32  # of an embedded kernel's team (src/device/cuda/cuda.h)
# NVIDIA's table of technical data a compute capability: registers, threads and blocks of a multiprocessor
UNITS = {
    "sm_75": (65536, 1024, 16),
    "sm_80": (65536, 2048, 32),
    "sm_86": (65536, 1536, 16),
    "sm_89": (65536, 1536, 24),
    "sm_90": (65536, 2048, 32),
    "sm_100": (65536, 2048, 32),
}


def occupancy(registers, workers, unit):
    """(teams at once, part of the warps that a multiprocessor can hold), by registers and its limits"""
    all_registers, threads, teams = unit
    warps = -(-workers // WARP)
    a_warp = -(-registers * WARP // WARP_REGISTERS) * WARP_REGISTERS
    most = min(teams, threads // (warps * WARP), all_registers // max(1, warps * a_warp))
    return most, most * warps / (threads // WARP)


def unpacked(data):
    """the gzip files in some bytes, unpacked"""
    at = data.find(GZIP)
    while at >= 0:
        try:
            yield zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data[at:])
        except zlib.error:
            pass  # other bytes that begin like one
        at = data.find(GZIP, at + 1)


def embedded(program):
    """{(entry, precision): PTX} of the texts in a program, where the build stores them compressed"""
    with open(program, "rb") as file:
        texts = [raw.rstrip(b"\0").decode() for raw in unpacked(file.read()) if raw.startswith(b".version ")]
    return {
        (re.search(r"\.entry (\w+)", t)[1], 64 if ".f64" in t else 32): t for t in texts if ".entry " in t
    }


def understand(report):
    """numbers of what `ptxas -v` prints about one entry and the functions that it calls"""
    number = {
        name: sum(map(int, re.findall(pattern, report)))
        for name, pattern in (
            ("spill_stores", r"(\d+) bytes spill stores"),
            ("spill_loads", r"(\d+) bytes spill loads"),
            ("shared", r"(\d+) bytes smem"),
        )
    }
    registers = re.search(r"Used (\d+) registers", report)
    number["stack"] = max(map(int, re.findall(r"(\d+) bytes (?:cumulative )?stack", report)), default=0)
    return dict(number, registers=int(registers[1]) if registers else None)


def compiled(ptxas, architecture, entry, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "entry.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [ptxas, "-v", "--gpu-name", architecture, path, "-o", os.path.join(folder, "entry.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{entry[0]} in f{entry[1]}: {done.stderr}")
    row = {"entry": entry[0], "precision": entry[1], "workers": WORKERS, **understand(done.stderr)}
    if architecture in UNITS and row["registers"]:
        row["teams"], row["occupancy"] = occupancy(row["registers"], WORKERS, UNITS[architecture])
    return row


def find_tool(name):
    """the path of one of the toolkit's programs, or None"""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--architecture", default="sm_90", help="of ptxas; default: sm_90")
    parser.add_argument("--ptxas", default=find_tool("ptxas"))
    parser.add_argument("--match", default="", help="regular expression of entries; default: all")
    arguments = parser.parse_args()
    texts = {e: t for e, t in embedded(arguments.program).items() if re.search(arguments.match, e[0])}
    if not arguments.ptxas or not texts:
        print("there is no ptxas" if texts else "the program has no PTX", file=sys.stderr)
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        rows = pool.map(lambda e: compiled(arguments.ptxas, arguments.architecture, e, texts[e]), texts)
        print(json.dumps({"architecture": arguments.architecture, "kernels": list(rows)}))


if __name__ == "__main__":
    main()
