#!/usr/bin/env python3
"""Measures an accelerator and writes the tables of docs/benchmarks-gpu.md.

  tools/measure_gpu.py                                  all parts on `cuda`, at most 30 minutes
  tools/measure_gpu.py --device opencl:0 --minutes 10   another device, less time
  tools/measure_gpu.py --parts parity,rates             some parts
  tools/measure_gpu.py --parts '' --page FILE           only the tables, from results that are there

Needs a build with tests and benchmarks. The first line of a part is its answer; what it printed follows where
it failed. Each step leaves a JSON file in the folder of results. A second run goes on where the first ended,
and repeats what failed. Another program or device begins from the start. A tool that is missing
(compute-sanitizer, ncu, ptxas) leaves its part out.

Exit code 0: everything asked was done. 1: a step failed. 3: the time was up before the last step. Python's
standard library only."""

import argparse
import csv
import glob
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

import gpu_tables
from gpu_kernels import embedded, find_tool

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(ROOT, "examples")
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
PAGE = os.path.join(ROOT, "docs", "benchmarks-gpu.md")
PRECISIONS = (64, 32)
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
FOUND = 9  # the exit code of a sanitizer that found something
TAIL = 40  # lines that are kept of a failed step's output
# of ncu: names that gpu_tables shows
COUNTERS = {
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "arithmetic",
    "l1tex__t_sector_hit_rate.pct": "l1",
    "lts__t_sector_hit_rate.pct": "l2",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": "coalesced",
}


@dataclass
class Step:
    """One command whose standard output `understand` turns into an answer."""

    part: str
    name: str
    command: list
    understand: object = json.loads
    needs: object = None  # what is missing, in words; None: nothing
    good: object = None  # of the answer; None: any
    environment: dict = field(default_factory=dict)
    seconds: float = 600.0  # most


@dataclass
class Analysis:
    name: str
    path: str
    patch: str = None

    def arguments(self):
        return [self.path, *(["--patch", self.patch] if self.patch else [])]


def is_workspace(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    return isinstance(document, dict) and "channels" in document


def analyses(given):
    """the analyses named, or all of the shared folder and the examples"""
    if given:
        return [Analysis(os.path.splitext(os.path.basename(path))[0], path) for path in given]
    shared = [path for path in sorted(glob.glob(os.path.join(SHARED, "*.json"))) if is_workspace(path)]
    sbottom = os.path.join(EXAMPLES, "sbottom_A")
    return [
        *(Analysis(os.path.splitext(os.path.basename(path))[0], path) for path in shared),
        Analysis(
            "sbottom_900_250_60",
            os.path.join(sbottom, "BkgOnly.json"),
            os.path.join(sbottom, "patch.sbottom_900_250_60.json"),
        ),
        Analysis("two_bins", os.path.join(EXAMPLES, "two_bins.json")),
    ]


class Plan:
    """What is measured with what."""

    def __init__(self, options):
        self.options, self.device = options, options.device
        self.kind = options.device.partition(":")[0]
        self.build = os.path.abspath(options.build)
        self.program = os.path.join(self.build, "bin", "paritas")
        self.bench = os.path.join(self.build, "bench", "device")
        self.analyses = analyses(options.workspaces)

    def missing(self, *path):
        """in words, or None"""
        whole = os.path.join(self.build, *path)
        return None if os.path.exists(whole) else f"{os.path.join(*path)} is not built"

    def asked(self, *words):
        """a question for bench/device"""
        seconds = str(self.options.seconds)
        return [self.bench, *words, "--device", self.device, "--seconds", seconds]

    # ---- the parts: each yields its steps ----

    def machine(self):
        fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit,compute_cap"
        query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
        yield Step("machine", "devices", [self.program, "devices", "--json", "--quiet"])
        if self.kind == "cuda":
            tool = None if find_tool("nvidia-smi") else "nvidia-smi is not installed"
            yield Step("machine", "nvidia-smi", query, lambda text: {"lines": text.splitlines()}, tool)
        commit = ["git", "-C", ROOT, "describe", "--always", "--dirty"]
        yield Step("machine", "commit", commit, lambda text: {"commit": text.strip()})

    def parity(self):
        questions = [(a.name, a.arguments(), ["--ntoys", str(self.options.ntoys)]) for a in self.analyses]
        questions += [(f, [f], ["--sweeps", str(self.options.sweeps)]) for f in ("losscone", "kappa")]
        for name, operands, more in questions:
            for precision in self.precisions():
                command = [self.program, "parity", *operands, "--device", self.device, *more, "--quiet"]
                command += ["--precision", f"f{precision}", "--json"]
                yield Step("parity", f"{name} f{precision}", command, good=lambda a: a["verdict"] == "passed")

    def rates(self):
        """Toys, fits and sweeps a second as their number grows. The largest analysis comes first."""
        jobs = ["--jobs", ",".join(map(str, self.options.jobs))]
        ordered = sorted(self.analyses, key=lambda a: not a.name.startswith("tHu"))
        for precision in self.precisions():
            bits = ["--precision", str(precision)]
            for analysis in ordered:
                for question in ("toys", "fits"):
                    command = self.asked(question, *analysis.arguments(), *bits, *jobs)
                    yield self.bench_step("rates", f"{question} {analysis.name} f{precision}", command)
            command = self.asked("losscones", *bits, *jobs)
            yield self.bench_step("rates", f"losscones f{precision}", command)

    def shares(self):
        """Peaks of the device, and evaluations a second."""
        jobs = ["--jobs", ",".join(str(n) for n in self.options.jobs if n <= 100000)]
        for precision in self.precisions():
            bits = ["--precision", str(precision)]
            yield self.bench_step("shares", f"peak f{precision}", self.asked("peak", *bits))
            for analysis in self.analyses:
                for question in ("nll", "gradient", "hessian"):
                    command = self.asked(question, *analysis.arguments(), *bits, *jobs)
                    yield self.bench_step("shares", f"{question} {analysis.name} f{precision}", command)

    def kernels(self):
        """Registers and spills of the embedded kernels, the shortest entry first: the longest take minutes.
        Those of loaded kernels come with the other parts."""
        architecture = self.options.architecture or architecture_of(self.device_description())
        texts = embedded(self.program)
        entries = sorted(
            {entry for entry, _ in texts}, key=lambda e: max(len(texts.get((e, p), "")) for p in PRECISIONS)
        )
        lacks = None if find_tool("ptxas") else "ptxas is not installed"
        if not entries:
            lacks = "the program has no embedded kernels"
        if not architecture:
            lacks = "this device has no architecture of NVIDIA's; --architecture names one"
        command = [sys.executable, os.path.join(ROOT, "tools", "gpu_kernels.py"), self.program]
        for entry in entries or ["all"]:
            words = ["--architecture", architecture or "none", "--match", f"^{entry}$"]
            yield Step("kernels", entry, [*command, *words], needs=lacks)

    def tests(self):
        runner = [sys.executable, os.path.join(ROOT, "tests", "run"), "--build", self.build, "--only"]
        claims = ["--match", "^matrix", "--case", f"* on {self.kind}, *"]
        steps = [
            ("claims", ["c", *claims, *(["--also", "opencl"] if self.kind == "opencl" else [])]),
            ("driver", ["c", "--match", f"^(test_)?{self.kind}_?(device|nvrtc)?$"]),
            ("program and package", ["python", "--match", "tests/(cli|python)$", "--case", "device"]),
            ("the program's toys", ["python", "--match", "tests/cli$", "--case", "test_cli_toys"]),
        ]
        if self.kind == "opencl":
            steps[1] = ("driver", ["c", "--match", "^(test_opencl|opencl_division)$", "--also", "opencl"])
        for name, words in steps:
            yield Step(
                "tests",
                name,
                [*runner, *words],
                count_tests,
                self.missing("tests", "device_matrix"),
                environment={"PARITAS_DEVICE": self.device},
            )

    def sanitizer(self):
        """NVIDIA's checks of memory, races, unwritten reads and barriers: a short run of each family."""
        tool = find_tool("compute-sanitizer")
        parity = [self.program, "parity", "--device", self.device, "--quiet", "--json"]
        families = [
            ("histfactory", [*parity, os.path.join(EXAMPLES, "two_bins.json"), "--ntoys", "4"], None),
            ("losscone", [*parity, "losscone", "--sweeps", "2"], None),
            ("kappa", [*parity, "kappa", "--sweeps", "2"], None),
        ]
        matrix = [os.path.join(self.build, "tests", "device_matrix"), "custom", self.kind, "64"]
        families.append(("custom", matrix, self.missing("tests", "device_matrix")))
        lacks = None if tool else "compute-sanitizer is not installed"
        if self.kind != "cuda":
            lacks = "compute-sanitizer looks at CUDA devices only"
        for name, command, missing in families:
            for check in SANITIZERS:
                whole = [tool or "compute-sanitizer", "--tool", check, "--error-exitcode", str(FOUND)]
                step = Step("sanitizer", f"{check} {name}", [*whole, *command], str, lacks or missing)
                step.understand = lambda text: {"summary": re.findall(r"ERROR SUMMARY: .*", text)}
                yield step

    def counters(self):
        """NVIDIA's counters a kernel: warps at work, memory, caches, whole sectors."""
        tool = find_tool("ncu")
        lacks = None if tool else "ncu is not installed"
        if self.kind != "cuda":
            lacks = "ncu looks at CUDA devices only"
        for analysis in self.analyses:
            log = os.path.join(self.options.folder, f"ncu_{analysis.name}.csv")
            command = [tool or "ncu", "--csv", "--log-file", log, "--force-overwrite", "--launch-count", "40"]
            command += ["--metrics", ",".join(COUNTERS)]
            jobs = str(min(self.options.jobs[-1], 10000))
            command += [*self.asked("toys", *analysis.arguments()), "--jobs", jobs]
            yield Step("counters", analysis.name, command, lambda _, log=log: read_counters(log), lacks)

    # ---- what they share ----

    def precisions(self):
        return [p for p in PRECISIONS if self.described().get(f"f{p}")]

    def described(self):
        """the device's row of `paritas devices`; empty: it is not listed"""
        wanted = self.device if ":" in self.device else f"{self.device}:0"
        rows = self.listed.get("devices", [])
        return next((row for row in rows if row["name"] in (self.device, wanted)), {})

    def device_description(self):
        return self.described().get("description") or ""

    def bench_step(self, part, name, command):
        sizes = len(self.options.jobs)
        return Step(
            part,
            name,
            command,
            needs=self.missing("bench", "device"),
            good=has_the_cpus_bits,
            seconds=300.0 + 60.0 * sizes * self.options.seconds,  # the first call compiles
        )

    def look(self):
        """asks the program for its devices"""
        try:
            done = run([self.program, "devices", "--json", "--quiet"], {}, 120.0)
            self.listed = json.loads(done[1]) if done[0] == 0 else {}
        except ValueError:
            self.listed = {}

    def key(self):
        """what results hold for"""
        digest = hashlib.sha256(self.device_description().encode())
        for path in (self.program, self.bench):
            if os.path.exists(path):
                with open(path, "rb") as file:
                    digest.update(file.read())
        return digest.hexdigest()


PARTS = ("machine", "parity", "rates", "shares", "tests", "sanitizer", "counters", "kernels")


def has_the_cpus_bits(answer):
    return all(size.get("same_bits", True) for size in answer.get("sizes", []))


def architecture_of(description):
    """sm_90 of "..., compute capability 9.0", or None"""
    found = re.search(r"compute capability (\d+)\.(\d+)", description)
    return f"sm_{found[1]}{found[2]}" if found else None


def count_tests(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.M)
    return dict(zip(("passed", "failed", "skipped"), map(int, found[-1])))


def read_counters(path):
    """{entry: {name: mean}} of ncu's table, one line a kernel and counter"""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith('"')]
    sums = {}
    for row in csv.DictReader(lines):
        name = COUNTERS.get(row.get("Metric Name", ""))
        if name:
            entry = re.sub(r"\(.*", "", row["Kernel Name"])
            sums.setdefault(entry, {}).setdefault(name, []).append(
                float(row["Metric Value"].replace(",", ""))
            )
    return {entry: {k: sum(v) / len(v) for k, v in of.items()} for entry, of in sums.items()}


def run(command, environment, seconds):
    """(exit code, standard output, everything printed); 124: it took too long, 127: it cannot start"""
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=ROOT,
            env=dict(os.environ, **environment),
            start_new_session=True,  # it ends with all that it started
        )
    except OSError as error:
        return 127, "", str(error)
    try:
        out, printed = process.communicate(timeout=seconds)
        return process.returncode, out, printed + out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, printed = process.communicate()
        return 124, "", f"{printed}{out}\nno end after {seconds:.0f} s"
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def perform(step, seconds):
    """the record of a step"""
    record = {"part": step.part, "name": step.name, "command": step.command}
    if step.needs:
        return dict(record, status="missing", why=step.needs)
    started = time.monotonic()
    code, out, printed = run(step.command, step.environment, min(seconds, step.seconds))
    record.update(code=code, seconds=time.monotonic() - started, status="done")
    if code == 77:
        return dict(record, status="missing", why=printed.strip().splitlines()[-1] if printed.strip() else "")
    try:
        record["answer"] = step.understand(out)
    except (ValueError, KeyError, IndexError, OSError) as error:
        record["tail"] = [f"its output is not understood: {error}"]
    if code != 0 or "answer" not in record or (step.good and not step.good(record["answer"])):
        late = code == 124 and seconds < step.seconds
        record["status"] = "late" if late else "failed"
        record["tail"] = record.get("tail", []) + printed.splitlines()[-TAIL:]
    return record


def path_of(folder, step):
    return os.path.join(folder, re.sub(r"[^\w.-]+", "_", f"{step.part}_{step.name}") + ".json")


def kept(path, key):
    """the record of an earlier run that is as good as a new one, or None"""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    return record if record.get("key") == key and record["status"] == "done" else None


def write(path, record):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
    os.replace(path + ".new", path)


WORDS = {"done": "ok  ", "failed": "FAIL", "missing": "none", "late": "late"}


def say(record, again):
    after = f", {record['seconds']:.1f} s" if "seconds" in record else ""
    after += " (from an earlier run)" if again else ""
    after += f": {record['why']}" if record.get("why") else ""
    after += f": exit code {record['code']}" if record["status"] == "failed" else ""
    print(f"{WORDS[record['status']]} {record['part']}: {record['name']}{after}", flush=True)
    if record["status"] == "failed":
        print("".join(f"    {line}\n" for line in record["tail"]), end="", flush=True)


def measure(plan, options):
    """how many steps ended in which way"""
    end, counts, key = time.monotonic() + 60.0 * options.minutes, dict.fromkeys(WORDS, 0), plan.key()
    for part in options.parts:
        for step in getattr(plan, part)():
            path = path_of(options.folder, step)
            record = None if options.again else kept(path, key)
            again, left = record is not None, end - time.monotonic()
            if not again:
                record = (
                    perform(step, left)
                    if left > 0 or step.needs
                    else {"part": part, "name": step.name, "status": "late"}
                )
                write(path, dict(record, key=key))
            counts[record["status"]] += 1
            say(record, again)
    return counts


def whole_numbers(text):
    return sorted(int(word) for word in text.split(","))


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspaces", nargs="*", help="default: ../shared/workspaces, and the examples")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--device", default="cuda", help="as `paritas devices` lists it; default: cuda")
    parser.add_argument("--minutes", type=float, default=30.0, help="most; default: 30")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"default: {','.join(PARTS)}")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "gpu"), help="folder of results")
    parser.add_argument("--page", default=PAGE, help="the page with the tables; '': none")
    parser.add_argument("--again", action="store_true", help="repeat what was done before")
    parser.add_argument("--jobs", type=whole_numbers, default="10,100,1000,10000,100000,1000000")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each number of jobs; default: 1")
    parser.add_argument("--ntoys", type=int, default=1000, help="of parity; default: 1000")
    parser.add_argument("--sweeps", type=int, default=200, help="of parity; default: 200")
    parser.add_argument("--architecture", help="of ptxas, for example sm_90; default: the device's")
    options = parser.parse_args()
    options.parts = [part for part in options.parts.split(",") if part]
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    if options.page and not os.path.exists(options.page):
        parser.error(f"there is no page {options.page}")
    program = os.path.join(options.build, "bin", "paritas")
    if options.parts and not os.path.exists(program):
        parser.error(f"there is no {program}; build it, or name its folder: --build FOLDER")
    options.folder = os.path.join(options.out, options.device.replace(":", "_"))
    return options


def main():
    options = arguments()
    os.environ.setdefault("PARITAS_CACHE", os.path.join(os.path.abspath(options.build), "kernel_cache"))
    os.makedirs(options.folder, exist_ok=True)
    plan = Plan(options)
    plan.look()
    counts = dict.fromkeys(WORDS, 0)
    if options.parts and not plan.described().get("usable"):
        reason = plan.described().get("reason") or f"{plan.program} does not list it"
        print(f"FAIL {options.device} cannot run: {reason}")
        counts["failed"] = 1
    elif options.parts:
        counts = measure(plan, options)
    tables = gpu_tables.of_folder(options.out)
    if options.page:
        gpu_tables.into_page(options.page, tables)
    print(", ".join(f"{counts[status]} {status}" for status in WORDS))
    sys.exit(1 if counts["failed"] else 3 if counts["late"] else 0)


if __name__ == "__main__":
    main()
