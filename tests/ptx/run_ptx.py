#!/usr/bin/env python3
"""Runs the PTX of the kernels on this processor and compares the answers with the CPU's, bit by bit.

  run_ptx.py --build build/release                    every entry, on small models: CTest's test `ptx`
  run_ptx.py --build build/release --all              the medium and wide grids of loss cones as well
  run_ptx.py --build build/release --left-out histfactory_f32  without this module in this precision
  run_ptx.py --build build/release FILE... losscone   besides by `paritas parity`: workspaces, losscone, kappa

Programs find the driver of tests/ptx in place of NVIDIA's. It translates PTX to C and looks at every access
to memory. It writes which kernels ran; the entries of all modules must be among them. The PTX
is what the build embedded; what it left out, NVRTC makes for the same architecture. Exit 77: something is
missing here, which is said. Python's standard library only."""

import argparse
import ctypes
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from gpu_kernels import LONGER  # noqa: E402

EMBEDDED = ("conformance", "histfactory", "losscone", "kappa", "kappa_wide")
LIMIT = 1800  # seconds of one program

# module, precisions that have such cases, arguments of device_matrix, its cases
MATRIX_RUNS = (
    ("histfactory", (64, 32), ("histfactory", "cuda"), "*every_entry*"),
    ("losscone", (64, 32), ("losscone", "kappa", "cuda"), "*a few on*"),
    ("histfactory", (64,), ("toys", "cuda"), "*teams of 0"),
)
OTHER_RUNS = (("losscone_grids", ("cuda", "few"), "masked_rows*"),)


def skip(reason):
    print(f"SKIP PTX: {reason}")
    sys.exit(77)


def has_nvrtc():
    names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]
    for name in names + ["/usr/local/cuda/lib64/libnvrtc.so"]:
        try:
            return bool(ctypes.CDLL(name))
        except OSError:
            pass
    return False


def all_entries(modules, left_out=()):
    """{(entry, precision)} of modules"""
    found = set()
    for module in modules:
        with open(os.path.join(ROOT, "kernels", "modules", f"{module}_entries.h"), encoding="utf-8") as file:
            names = re.findall(r"\bX\((\w+)\)", file.read())
        found |= {(e, p) for e in names for p in (64, 32) if f"{module}_f{p}" not in left_out}
    # in f32, too, cosines and posterior draws are made in f64 on the CPU
    return {(e, p) for e, p in found if p == 64 or not e.endswith(("_cosines", "_sample"))}


def matrix_runs(left_out):
    """(program, arguments, cases), a precision each"""
    for module, precisions, arguments, cases in MATRIX_RUNS:
        for precision in precisions:
            if f"{module}_f{precision}" not in left_out:
                yield "device_matrix", (*arguments, str(precision)), cases


def check_modules():
    """all modules of the library are in one of the lists"""
    with open(os.path.join(ROOT, "kernels", "modules.h"), encoding="utf-8") as file:
        here = set(re.findall(r"\bMODULE\((\w+), (?:one|many)\)", file.read()))
    if here != set(EMBEDDED + LONGER):
        sys.exit(f"run_ptx.py does not run the modules {sorted(here ^ set(EMBEDDED + LONGER))}")


def cache_folder(build):
    """the folder of what this translator made; what others made is removed"""
    number = hashlib.sha256()
    for name in ("translate_ptx.py", "ptx_thread.h"):
        with open(os.path.join(HERE, name), "rb") as file:
            number.update(file.read())
    every = os.path.join(build, "ptx_cache")
    folder = os.path.join(every, number.hexdigest()[:16])
    for other in glob.glob(os.path.join(every, "*")):
        if other != folder:
            shutil.rmtree(other)
    os.makedirs(folder, exist_ok=True)
    return folder


class Runner:
    def __init__(self, build, compiler, options):
        self.build, self.ran, self.failed = build, set(), 0
        folder = cache_folder(build)
        self.report = os.path.join(folder, f"report.{os.getpid()}")
        self.environment = dict(
            os.environ,
            CC=compiler,
            CMOCKA_MESSAGE_OUTPUT="STDOUT",
            LD_LIBRARY_PATH=os.path.join(build, "tests", "ptx_driver"),
            PARITAS_CACHE=os.path.join(build, "kernel_cache"),
            PTX_CACHE=folder,
            PTX_LOOKS="1",
            PTX_OPTIONS=options,
            PTX_REPORT=self.report,
        )

    def run(self, label, command, embedded, cases="*"):
        """one program; its last lines where it fails"""
        environment = dict(
            self.environment, PARITAS_TEST_CASE=cases, **({"PTX_EMBEDDED": "1"} if embedded else {})
        )
        open(self.report, "w").close()
        started = time.monotonic()
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
        )
        output = done.stdout + done.stderr
        with open(self.report, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        os.remove(self.report)
        kernels = {(entry, int(precision)) for entry, precision, _, _ in lines}
        launches = sum(int(line[3]) for line in lines)
        ok = done.returncode == 0 and "SKIPPED" not in output and kernels
        print(
            f"{'ok  ' if ok else 'FAIL'} {label}: {len(kernels)} kernels, {launches} launches, "
            f"{time.monotonic() - started:.1f} s",
            flush=True,
        )
        if not ok:
            print(output[-4000:])
        self.ran |= kernels
        self.failed += not ok

    def tests(self, runs, embedded):
        for program, arguments, cases in runs:
            path = os.path.join(self.build, "tests", program)
            self.run(" ".join((program, *arguments)), [path, *arguments], embedded, cases)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True, help="folder of a build with tests")
    parser.add_argument("--options", default="-O0", help="of the C compiler")
    parser.add_argument("--all", action="store_true", help="medium and wide grids as well")
    parser.add_argument("--left-out", nargs="*", default=[], help="modules as MODULE_fPRECISION")
    parser.add_argument("what", nargs="*", help="for `paritas parity`: workspaces, losscone, kappa")
    arguments = parser.parse_args()
    check_modules()
    build = os.path.abspath(arguments.build)
    program = os.path.join(build, "bin", "paritas")
    compiler = next(filter(shutil.which, ("clang", "gcc", "cc")), None)
    if not compiler:
        skip("there is neither clang nor gcc")
    if not os.path.exists(os.path.join(build, "tests", "ptx_driver", "libcuda.so.1")):
        skip("the driver is not built")
    devices = subprocess.run([program, "devices", "--json"], capture_output=True, text=True, check=True)
    embedded, nvrtc = json.loads(devices.stdout)["build"]["cuda_kernels"] > 0, has_nvrtc()
    if not embedded and not nvrtc:
        skip("the build has no embedded kernels, and there is no NVRTC")
    runner = Runner(build, compiler, arguments.options)
    if arguments.all and not nvrtc:
        skip(f"{', '.join(LONGER)} are not embedded, and there is no NVRTC")
    wanted = all_entries(EMBEDDED + LONGER if arguments.all else EMBEDDED, arguments.left_out)
    runner.tests(matrix_runs(arguments.left_out), embedded)
    if arguments.all:
        runner.tests(OTHER_RUNS, False)
    for what in arguments.what:
        for precision in ("f64", "f32"):
            command = [program, "parity", what, "--device", "cuda", "--precision", precision]
            runner.run(f"parity {os.path.basename(what)}, {precision}", command, embedded)
    missing = sorted(wanted - runner.ran)
    print(
        f"{len(wanted & runner.ran)} of {len(wanted)} kernels ran, "
        f"{'as embedded' if embedded else 'as NVRTC makes them'}"
        + (f", without {', '.join(arguments.left_out)}" if arguments.left_out else "")
        + "".join(f"\nnot run: {entry} in f{precision}" for entry, precision in missing)
    )
    sys.exit(bool(missing or runner.failed))


if __name__ == "__main__":
    main()
