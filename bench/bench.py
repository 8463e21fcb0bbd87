#!/usr/bin/env python3
"""Speed beside pyhf, nextstat and RooFit, as ratios measured in one run:

    bench.py [--build FOLDER] [--pairs N] [--only PROGRAM]... [--operation NAME]... [WORKSPACE...]

For each analysis and operation the programs take turns. A ratio is the median over pairs of (theirs / ours),
of processor time with one thread each. Ours is timed in process by bench/analysis; pyhf (numpy, scipy),
nextstat and RooFit (bench/roofit.py) from Python, where they are installed. The model is read beforehand, but
for "cold", a whole process that reads, fits and prints. In brackets stands how far the minimum of a fit lies
above ours, in twice the NLL. A program that needs longer than 20 s is asked once.

Prints a Markdown table, a row for each analysis and operation with the command that measures it.

Without workspaces: the shipped example, and the analyses of ../shared/workspaces where that folder is. A
workspace is a path, or the name of a file in that folder."""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # nextstat's
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
BOTTOM_SQUARKS = [
    os.path.join(ROOT, "examples", "sbottom_A", name)
    for name in ("BkgOnly.json", "patch.sbottom_900_250_60.json")
]
OPERATIONS = ("nll", "gradient", "fit", "hypotest", "limit", "scan", "ranking", "toys", "cold")
SCAN = [0.1 * i for i in range(21)]
PYHF_TOYS, NEXTSTAT_TOYS = 5, 20  # of each hypothesis
LARGE = 150  # parameters above which pyhf and RooFit are not asked for tests and toys: that takes minutes
PATIENCE = 20.0  # s

try:
    import jsonpatch
    import pyhf
except ImportError:
    pyhf = None
try:
    import nextstat
except ImportError:
    nextstat = None
try:
    import roofit
except ImportError:
    roofit = None


def timed(function):
    started = time.process_time()
    value = function()
    return time.process_time() - started, value


def repeated(function, least=0.05):
    """Seconds a call, for functions that may be too quick for the clock, and the last value."""
    count, started = 0, time.process_time()
    while True:
        value = function()
        count += 1
        spent = time.process_time() - started
        if spent >= least:
            return spent / count, value


def process(command, **options):
    """Processor time of a whole process."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run(command, capture_output=True, **options)
    return spent() - before


class Ours:
    name = "Paritas"

    def __init__(self, build, path, patch):
        self.program = os.path.join(build, "bench", "analysis")
        self.cli = os.path.join(build, "bin", "paritas")
        self.path, self.patch = path, ["--patch", patch] if patch else []
        self.parameters = self.ask("nll")["parameters"]

    def ask(self, operation):
        done = subprocess.run(
            [self.program, operation, self.path, *self.patch], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    def run(self, operation, _):
        if operation == "cold":
            options = ["--quiet", "--json", "--threads", "1"]
            return process([self.cli, "fit", self.path, *self.patch, *options], check=True), None
        answer = self.ask(operation)
        return (answer["processor"], answer.get("twice_nll")) if answer["seconds"] is not None else None


class Pyhf:
    name = "pyhf"

    def __init__(self, document):
        self.workspace = pyhf.Workspace(document)
        self.model = self.workspace.model(
            modifier_settings={"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}
        )
        self.data = self.workspace.data(self.model)
        self.start = self.model.config.suggested_init()

    def calls(self, mu=1.0):
        """Functions that answer, with tests of mu."""
        model, data, infer = self.model, self.data, pyhf.infer
        return {
            "nll": lambda: infer.mle.twice_nll(self.start, data, model),
            "fit": lambda: float(infer.mle.fit(data, model, return_fitted_val=True)[1]),
            "hypotest": lambda: infer.hypotest(mu, data, model, return_expected_set=True)[0],
            "limit": lambda: infer.intervals.upper_limits.upper_limit(data, model)[0],
        }

    def run(self, operation, _):
        calls = self.calls()
        if operation == "nll":
            return repeated(calls["nll"])[0], None
        if operation == "fit":
            return timed(calls["fit"])
        if operation == "hypotest" and len(self.start) <= LARGE:
            return timed(calls["hypotest"])[0], None
        if operation == "toys" and len(self.start) <= LARGE:
            calculator = pyhf.infer.calculators.ToyCalculator(
                self.data, self.model, ntoys=PYHF_TOYS, track_progress=False
            )
            return timed(lambda: calculator.distributions(1.0))[0] / (2 * PYHF_TOYS), None
        return None


class Nextstat:
    name = "nextstat"

    def __init__(self, document):
        self.text = json.dumps(document)
        self.model = nextstat.HistFactoryModel.from_workspace(self.text)
        self.start = self.model.suggested_init()

    def calls(self, mu=1.0):
        """Functions that answer, with tests of mu."""
        model = self.model
        return {
            "nll": lambda: model.nll(self.start),
            "gradient": lambda: (model.nll(self.start), model.grad_nll(self.start)),
            "fit": lambda: nextstat.fit(model).twice_nll,
            "hypotest": lambda: nextstat.hypotest(mu, model),
            "limit": lambda: nextstat.upper_limit(model),
            "scan": lambda: nextstat.profile_scan(model, SCAN),
            "ranking": lambda: nextstat.ranking(model),
        }

    def run(self, operation, path):
        model, calls = self.model, self.calls()
        if operation in calls:
            seconds, value = repeated(calls[operation])
            return seconds, value if operation == "fit" else None
        if operation == "toys":
            seconds, _ = timed(lambda: nextstat.hypotest_toys(1.0, model, n_toys=NEXTSTAT_TOYS))
            return seconds / (2 * NEXTSTAT_TOYS), None
        program = os.path.join(os.path.dirname(sys.executable), "nextstat")
        program = program if os.path.exists(program) else shutil.which("nextstat")
        if not program:
            return None
        return process([program, "fit", "--input", path, "--interp-defaults", "root"]), None


class RooFit:
    name = "RooFit"

    def __init__(self, document):
        self.roofit = roofit.RooFit(document)

    def calls(self, _=1.0):
        return {"fit": self.roofit.fit}

    def run(self, operation, _):
        if operation == "fit":
            return timed(self.calls()["fit"])
        if operation == "scan":  # of some of the values
            some = SCAN[:: (len(SCAN) - 1) // (roofit.SCAN_POINTS - 1)]
            return timed(lambda: self.roofit.scan(some))[0] * len(SCAN) / len(some), None
        if operation == "toys" and self.roofit.size <= LARGE:
            return timed(lambda: self.roofit.toys(roofit.TOYS))[0] / roofit.TOYS, None
        return None


#: in the table's order
OTHERS = [(pyhf, Pyhf), (nextstat, Nextstat), (roofit, RooFit)]


def human(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


class Turns:
    """One program's ratios to ours."""

    def __init__(self, program):
        self.program, self.ratios, self.above, self.over = program, [], None, False

    def take(self, operation, path, seconds, minimum):
        if self.over:
            return
        try:
            answer = self.program.run(operation, path)
        except Exception as error:
            print(f"{operation}: {self.program.name} fails: {str(error)[:100]}", file=sys.stderr)
            answer = None
        self.over = answer is None or answer[0] > PATIENCE
        if answer is None:
            return
        self.ratios.append(answer[0] / seconds)
        if minimum is not None and answer[1] is not None:
            self.above = answer[1] - minimum

    def cell(self):
        if not self.ratios:
            return ""
        above = "" if self.above is None else f" ({self.above:.0e})"
        return f"{float(f'{statistics.median(self.ratios):.2g}'):g}{above}"


def measure(operation, ours, others, path, pairs):
    """Median time of ours, a cell for each other program; None where there is no such operation."""
    turns, mine = [Turns(other) for other in others], []
    for _ in range(pairs):
        answer = ours.run(operation, path)
        if answer is None:
            return None
        mine.append(answer[0])
        for turn in turns:
            turn.take(operation, path, *answer)
    return human(statistics.median(mine)), {turn.program.name: turn.cell() for turn in turns}


def document_of(path, patch=None):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if patch:
        with open(patch, encoding="utf-8") as file:
            document = jsonpatch.apply_patch(document, json.load(file))
    return document


def compare(build, path, patch, chosen, operations, pairs):
    document = document_of(path, patch)
    ours, others = Ours(build, path, patch), []
    for kind in chosen:
        try:
            others.append(kind(document))
        except Exception as error:  # another program's refusal is a message, not the table's end
            print(f"{path}: {kind.name} cannot read it: {str(error)[:100]}", file=sys.stderr)
    name = os.path.basename(patch or path).removesuffix(".json").removeprefix("patch.")
    where = "" if patch else f" {os.path.basename(path)}"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as whole:
        json.dump(document, whole)
        whole.flush()
        for operation in operations:
            found = measure(operation, ours, others, whole.name, pairs)
            if found:
                cells = [found[1].get(kind.name, "") for _, kind in OTHERS]
                command = f"`bench/bench.py --operation {operation}{where}`"
                line = [name, str(ours.parameters), operation, found[0], *cells, command]
                print(f"| {' | '.join(line)} |", flush=True)


def path_of(parser, workspace):
    for path in (workspace, os.path.join(SHARED, workspace)):
        if os.path.isfile(path):
            return path
    parser.error(f"there is no workspace {workspace}, nor one of this name in {SHARED}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument(
        "--only",
        action="append",
        choices=[kind.name for _, kind in OTHERS],
        help="compare with this one alone (repeatable)",
    )
    parser.add_argument(
        "--operation", action="append", choices=OPERATIONS, help="this one alone (repeatable)"
    )
    parser.add_argument("workspaces", nargs="*")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error(f"--pairs takes a number from 1, not {arguments.pairs}")
    if not os.path.isfile(os.path.join(arguments.build, "bench", "analysis")):
        parser.error(f"there is no bench/analysis in {arguments.build}: build it, or name a --build")
    cases = [(path_of(parser, workspace), None) for workspace in arguments.workspaces]
    if not cases:
        for name in ("displaced_leptons_signal", "SUSY-2018-04_staus", "ttZ_4l", "tHu_FCNC"):
            if os.path.exists(os.path.join(SHARED, name + ".json")):
                cases.append((os.path.join(SHARED, name + ".json"), None))
        cases.insert(1, tuple(BOTTOM_SQUARKS))
    chosen = [
        kind for module, kind in OTHERS if module and (not arguments.only or kind.name in arguments.only)
    ]
    for module, kind in OTHERS:
        print(
            kind.name,
            getattr(module, "__version__", "is installed") if module else "is not installed: left out",
            file=sys.stderr,
        )
    columns = [f"{kind.name} / ours" for _, kind in OTHERS]
    print(f"| analysis | parameters | operation | Paritas | {' | '.join(columns)} | command |")
    print("|---" * (5 + len(columns)) + "|")
    for path, patch in cases:
        compare(
            os.path.abspath(arguments.build),
            path,
            patch,
            chosen,
            arguments.operation or OPERATIONS,
            arguments.pairs,
        )


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # ROOT may fail when Python ends
