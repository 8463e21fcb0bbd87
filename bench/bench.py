#!/usr/bin/env python3
"""Speed beside pyhf and nextstat, as ratios measured in one run: bench.py [--build FOLDER] [--pairs N]
[WORKSPACE...]

For each analysis and operation the programs take turns; a ratio is the median over pairs of (theirs / ours).
Ours is timed in process by bench/analysis (with one thread, as the others), pyhf (numpy, scipy) and nextstat
from Python, where they are installed. The model is read beforehand, but for "cold", a whole process that
reads, fits and prints. Beside each fit stands how far its minimum lies above ours, in twice the NLL.

Without arguments: the shipped example, and the analyses of ../shared/workspaces where that folder is."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A")
SCAN = [0.1 * i for i in range(21)]
PYHF_TOYS, NEXTSTAT_TOYS = 5, 20  # of each hypothesis
LARGE = 150  # parameters above which pyhf is asked for fits only: the rest takes it minutes

try:
    import jsonpatch
    import pyhf
except ImportError:
    pyhf = None
try:
    import nextstat
except ImportError:
    nextstat = None


def timed(function):
    started = time.perf_counter()
    value = function()
    return time.perf_counter() - started, value


def repeated(function, least=0.05):
    """seconds a call, for functions that may be too quick for the clock, and the last value"""
    count, started = 0, time.perf_counter()
    while True:
        value = function()
        count += 1
        spent = time.perf_counter() - started
        if spent >= least:
            return spent / count, value


class Ours:
    def __init__(self, build, path, patch):
        self.program, self.cli = (
            os.path.join(build, "bench", "analysis"),
            os.path.join(build, "bin", "paritas"),
        )
        self.path, self.patch = path, ["--patch", patch] if patch else []

    def __call__(self, operation, *more):
        done = subprocess.run(
            [self.program, operation, self.path, *self.patch, *more],
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        return answer["seconds"], answer.get("twice_nll")

    def cold(self):
        return timed(
            lambda: subprocess.run(
                [self.cli, "fit", self.path, *self.patch, "--quiet", "--json", "--threads", "1"],
                capture_output=True,
                check=True,
            )
        )[0]


class Pyhf:
    name = "pyhf"

    def __init__(self, document):
        self.workspace = pyhf.Workspace(document)
        self.model = self.workspace.model(
            modifier_settings={"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}
        )
        self.data = self.workspace.data(self.model)
        self.start = self.model.config.suggested_init()

    def run(self, operation):
        model, data = self.model, self.data
        if operation == "nll":
            return repeated(lambda: pyhf.infer.mle.twice_nll(self.start, data, model))[0], None
        if operation == "fit":
            seconds, (_, value) = timed(lambda: pyhf.infer.mle.fit(data, model, return_fitted_val=True))
            return seconds, float(value)
        if operation == "hypotest" and len(self.start) <= LARGE:
            return timed(lambda: pyhf.infer.hypotest(1.0, data, model, return_expected_set=True))[0], None
        if operation == "toys" and len(self.start) <= LARGE:
            calculator = pyhf.infer.calculators.ToyCalculator(
                data, model, ntoys=PYHF_TOYS, track_progress=False
            )
            return timed(lambda: calculator.distributions(1.0))[0] / (2 * PYHF_TOYS), None
        return None


class Nextstat:
    name = "nextstat"

    def __init__(self, document):
        self.text = json.dumps(document)
        self.model = nextstat.HistFactoryModel.from_workspace(self.text)
        self.start = self.model.suggested_init()

    def run(self, operation):
        model = self.model
        if operation == "nll":
            return repeated(lambda: model.nll(self.start))[0], None
        if operation == "gradient":
            return repeated(lambda: (model.nll(self.start), model.grad_nll(self.start)))[0], None
        if operation == "fit":
            seconds, result = repeated(lambda: nextstat.fit(model))
            return seconds, result.twice_nll
        if operation == "hypotest":
            return repeated(lambda: nextstat.hypotest(1.0, model))[0], None
        if operation == "limit":
            return repeated(lambda: nextstat.upper_limit(model))[0], None
        if operation == "scan":
            return repeated(lambda: nextstat.profile_scan(model, SCAN))[0], None
        if operation == "ranking":
            return repeated(lambda: nextstat.ranking(model))[0], None
        if operation == "toys":
            return timed(lambda: nextstat.hypotest_toys(1.0, model, n_toys=NEXTSTAT_TOYS))[0] / (
                2 * NEXTSTAT_TOYS
            ), None
        return None

    def cold(self, path):
        program = os.path.join(os.path.dirname(sys.executable), "nextstat")
        program = program if os.path.exists(program) else shutil.which("nextstat")
        if not program:
            return None
        return timed(
            lambda: subprocess.run(
                [program, "fit", "--input", path, "--interp-defaults", "root"], capture_output=True
            )
        )[0]


def human(seconds):
    for unit, scale in (("s ", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:8.3g} {unit}"
    return f"{seconds * 1e9:8.3g} ns"


def compare(build, name, path, patch, pairs, only):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if patch:
        with open(patch, encoding="utf-8") as file:
            document = jsonpatch.apply_patch(document, json.load(file))
    ours, others = Ours(build, path, patch), []
    for module, kind in ((pyhf, Pyhf), (nextstat, Nextstat)):
        if module is not None and (not only or kind.name in only):
            try:
                others.append(kind(document))
            except Exception as error:  # another program's refusal is a line in the table, not the end of it
                print(f"{name}: {kind.name} cannot read it: {str(error)[:100]}")
    parameters = json.loads(
        subprocess.run(
            [ours.program, "nll", ours.path, *ours.patch], capture_output=True, text=True, check=True
        ).stdout
    )["parameters"]
    print(f"\n{name}, {parameters} parameters")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as whole:
        json.dump(document, whole)
        whole.flush()
        for operation in (
            "nll",
            "gradient",
            "hessian",
            "fit",
            "hypotest",
            "limit",
            "scan",
            "ranking",
            "toys",
            "cold",
        ):
            pairs_of, mine, above = {}, [], {}
            for _ in range(pairs):
                seconds, minimum = (ours.cold(), None) if operation == "cold" else ours(operation)
                if seconds is None:
                    break
                mine.append(seconds)
                for other in others:
                    if pairs_of.get(other.name) is False:
                        continue
                    try:
                        if operation == "cold":
                            answer = (other.cold(whole.name), None) if isinstance(other, Nextstat) else None
                        else:
                            answer = other.run(operation)
                    except Exception as error:
                        print(f"    {operation}: {other.name} fails: {str(error)[:100]}")
                        answer = None
                    if answer is None or answer[0] is None:
                        pairs_of[other.name] = False
                        continue
                    pairs_of.setdefault(other.name, []).append(answer[0] / seconds)
                    if minimum is not None and answer[1] is not None:
                        above[other.name] = answer[1] - minimum
            if not mine:
                continue
            line = f"    {operation:9} {human(statistics.median(mine))}"
            for other, ratios in pairs_of.items():
                if ratios:
                    line += f"   {other} / ours = {statistics.median(ratios):9.4g}" + (
                        f" (minimum {above[other]:+.1e})" if other in above else ""
                    )
            print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument(
        "--only",
        action="append",
        choices=["pyhf", "nextstat"],
        help="compare with this one alone (repeatable)",
    )
    parser.add_argument("workspaces", nargs="*")
    arguments = parser.parse_args()
    cases = [(os.path.basename(path), path, None) for path in arguments.workspaces]
    if not cases:
        cases = [
            (
                "sbottom_900_250_60",
                os.path.join(SBOTTOM, "BkgOnly.json"),
                os.path.join(SBOTTOM, "patch.sbottom_900_250_60.json"),
            )
        ]
        for name in ("displaced_leptons_signal", "SUSY-2018-04_staus", "ttZ_4l", "tHu_FCNC"):
            if os.path.exists(os.path.join(SHARED, name + ".json")):
                cases.append((name, os.path.join(SHARED, name + ".json"), None))
    for module, name in ((pyhf, "pyhf"), (nextstat, "nextstat")):
        installed = getattr(module, "__version__", "is installed")
        print(name, installed if module else "is not installed: left out")
    for case in cases:
        compare(os.path.abspath(arguments.build), *case, arguments.pairs, arguments.only)


main()
