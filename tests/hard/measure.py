#!/usr/bin/env python3
"""How often a program's tests, limits, scans, fits and toys use a minimum that is not the lowest one known.

  tests/hard/measure.py build/release/bin/paritas --family hard --n 1000
  tests/hard/measure.py build/release/bin/paritas --family ordinary --n 100 --what hypotest,limit

Models come from generate.py. Each answer of the program is held against the lowest points that `--starts` starts of
the Python package find (lowest.py). Prints a table of counts beside what is asked, and writes the models that fell
short to FOLDER/CATEGORY, with the command that shows it. The package is the one that Python imports, else python/ of
this checkout."""

import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from statistics import NormalDist

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
try:
    import paritas  # noqa: F401
except ImportError:
    sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))

import generate  # noqa: E402
from lowest import Reference  # noqa: E402

WHAT = ("hypotest", "limit", "scan", "starts", "nonfinite", "toys")
TIMEOUT = 30


class Program:
    """A program under test, on one workspace. All answers are JSON documents, or None with the reason."""

    def __init__(self, path, file, options):
        self.path, self.file, self.options = path, file, options
        self.reason = ""

    def command(self, name, *more):
        return [name, self.file, *self.options, *map(str, more)]

    def __call__(self, name, *more):
        self.reason = ""
        command = [
            self.path,
            *self.command(name, *more),
            "--json",
            "--quiet",
            "--threads",
            "1",
            "--device",
            "cpu",
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            self.reason = f"no answer in {TIMEOUT} s"
            return None
        if done.returncode not in (0, 1):
            self.reason = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            return None
        return {**json.loads(done.stdout), "exit": done.returncode}


class Examined:
    """What was found about one model: counts, and shortcomings (category, command, words)."""

    def __init__(self, made, path, program, starts):
        self.made, self.counts, self.short = made, Counter(), []
        self.run = Program(program, path, made.options())
        self.reference = Reference(path, made.codes, starts)
        self.poi = self.reference.model.poi_name
        self._data = {}
        self._asimov = {}
        self._sets = None

    def fell_short(self, category, command, words):
        self.counts[category] += 1
        self.short.append((category, " ".join(command), words))

    # ---- what is known ---------------------------------------------------------------------------------------

    def lowest(self, mu=None):
        """Of the observed data. Conditional fits also start where the free one ended."""
        if mu not in self._data:
            hints = () if mu is None else self.lowest().distinct()
            self._data[mu] = self.reference.lowest(mu, hints=hints)
        return self._data[mu]

    def asimov_sets(self):
        """Expected data of background alone: one set for each conditional minimum as low as the lowest."""
        if self._sets is None:
            self._sets = []
            for point in self.lowest(0.0).equals():
                data = self.reference.expected(point)
                scale = abs(data) + 1e-9
                if all((abs(data - other) > 1e-3 * scale).any() for other, _ in self._sets):
                    self._sets.append((data, point))
            self._sets = self._sets[:4]
        return self._sets

    def asimov(self, k, mu=None):
        if (k, mu) not in self._asimov:
            data, point = self.asimov_sets()[k]
            hints = [point] if mu is None else [point, *self.asimov(k).distinct()]
            self._asimov[k, mu] = self.reference.lowest(mu, data, hints)
        return self._asimov[k, mu]

    def statistics(self, mu, free, fixed):
        """Values of q-tilde that the lowest minima allow; several where equal minima lie on both sides of mu."""
        found = set()
        for point in free.equals():
            found.add(0.0 if point[self.reference.poi] > mu else max(0.0, fixed.value - free.value))
        return sorted(found)

    def q(self, mu):
        return self.statistics(mu, self.lowest(), self.lowest(mu))

    def q_asimov(self, mu):
        sets = range(len(self.asimov_sets()))
        return sorted({q for k in sets for q in self.statistics(mu, self.asimov(k), self.asimov(k, mu))})

    def cls(self, mu):
        """CLs of the lowest minima; None where it does not exist."""
        q, q_asimov = self.q(mu), self.q_asimov(mu)
        return cls(q[0], q_asimov[0]) if q and q_asimov else None


def cls(q, q_asimov):
    """Eqs. 59 and 67 of arXiv:1007.1727; None for 0/0."""
    u, a = q**0.5, q_asimov**0.5
    t = (q - q_asimov) / (2 * a) if u > a > 0 else u - a
    clb = NormalDist().cdf(-t)
    return NormalDist().cdf(-(t + a)) / clb if clb else None


# ---- one thing that is measured --------------------------------------------------------------------------


def tested_values(seen):
    """0.5, 1 and 2 times the limit: of the program, observed or expected; else some values in the bounds."""
    found = seen.run("limit") or {}
    for limit in (found.get("limit_obs"), (found.get("limit_exp") or [None] * 5)[2]):
        if limit is not None and limit > 0:
            return [0.5 * limit, limit, 2.0 * limit]
    top = min(10.0, float(seen.reference.upper[seen.reference.poi]))
    return [0.1 * top, 0.3 * top, top]


def hypotest(seen):
    unanswered = False
    for mu in tested_values(seen):
        command = seen.run.command("hypotest", "--mu", repr(mu))
        seen.counts["tests"] += 1
        answer = seen.run("hypotest", "--mu", repr(mu))
        if answer is None:
            kind = "refused: beyond the bounds" if "bound" in seen.run.reason else "refused"
            seen.fell_short("test " + kind, command, seen.run.reason)
        elif answer["status"] != "converged":
            seen.fell_short("test " + answer["status"], command, f"CLs {answer['CLs_obs']}")
        elif answer["CLs_obs"] is None:
            seen.fell_short("test converged, CLs null", command, f"q {answer['q']}, q_A {answer['q_A']}")
        else:
            seen.counts["tests answered"] += 1
            judge_test(seen, mu, answer, command)
            continue
        unanswered = True
    seen.counts["models with a test not answered"] += unanswered


def judge_test(seen, mu, answer, command):
    """Holds q and q_A of an answer against the lowest minima."""
    wrong = []
    tolerance = seen.lowest().tolerance
    q, q_asimov = seen.q(mu), seen.q_asimov(mu)
    if q and all(abs(answer["q"] - other) > tolerance for other in q):
        wrong.append("conditional" if answer["q"] > q[-1] else "free")
        gap = min((answer["q"] - other for other in q), key=abs)
    elif q_asimov and all(
        abs(answer["q_A"] - other) > asimov_tolerance(tolerance, other) for other in q_asimov
    ):
        gap = min((answer["q_A"] - other for other in q_asimov), key=abs)
        own = seen.run("fit", "--fix", f"{seen.poi}=0") or {}
        elsewhere = own.get("twice_nll") is not None and own["twice_nll"] > seen.lowest(0.0).value + tolerance
        wrong.append("Asimov data" if elsewhere else "Asimov conditional" if gap > 0 else "Asimov free")
    for kind in wrong:
        words = f"q {answer['q']:.8g} for {q}, q_A {answer['q_A']:.8g} for {q_asimov}"
        said = answer.get("several_minima") is True
        seen.counts["tests with a fit undercut"] += 1
        seen.counts["of them unsaid"] += not said
        seen.counts["large (0.01 in q)"] += abs(gap) > 0.01
        seen.fell_short("undercut: " + kind, command, words)


def asimov_tolerance(tolerance, q):
    """Asimov data stand where a fit ended, within its tolerance of the minimum; q_A is linear in that."""
    return tolerance + 2e-6 * (q + q**0.5)


def limit(seen):
    command = seen.run.command("limit")
    answer = seen.run("limit")
    seen.counts["limits"] += 1
    if answer is None:
        return seen.fell_short("limit refused", command, seen.run.reason)
    if answer["status"] != "converged":
        seen.counts["limits not converged"] += 1
    curves = [("observed", answer["limit_obs"], lambda found: found["CLs_obs"])]
    for k, value in enumerate(answer["limit_exp"]):
        curves.append((f"expected {k - 2:+d}", value, lambda found, k=k: found["CLs_exp"][k]))
    for name, value, curve in curves:
        if value is not None:
            seen.counts["limits given (6 a model)"] += 1
            jump(seen, command, name, value, curve)
    if answer["limit_obs"] is None:
        missed(seen, command, answer)
    elif answer["status"] == "converged":
        known = seen.cls(answer["limit_obs"])
        if known is not None and abs(known - 0.05) > 1e-3:
            words = f"CLs of the lowest minima at {answer['limit_obs']:.8g} is {known:.6g}"
            seen.fell_short("observed limit from other minima", command, words)


def jump(seen, command, name, value, curve):
    """CLs at both sides of a limit."""
    near = []
    for factor in (1 - 1e-5, 1 + 1e-5):
        at = repr(value * factor)
        found = seen.run("hypotest", "--mu", at)
        if found is None and "bound" in seen.run.reason:
            return
        near.append(found and curve(found))
    if any(one is None or abs(one - 0.05) > 1e-3 for one in near):
        kind = "observed" if name == "observed" else "expected"
        seen.fell_short(f"{kind} limit at a jump", command, f"{name} limit {value:.8g}: CLs {near} around it")


def missed(seen, command, answer):
    """No limit: does CLs cross the level where the program looked, and by the lowest minima?"""
    seen.counts["observed limits not found"] += 1
    points = [(p["mu"], p["CLs_obs"]) for p in answer["scan"] if p["CLs_obs"] is not None]
    points.sort()
    last = max((k for k, (_, level) in enumerate(points) if level >= 0.05), default=None)
    below = [mu for mu, level in points if level < 0.05]
    if last is not None and below and last + 1 < len(points) or below and last is None:
        seen.fell_short("limit not found, its scan crosses", command, f"CLs below 0.05 at {below[0]:.8g}")
        return
    top = answer["upper_bound"]
    for mu in (top * x for x in (0.01, 0.03, 0.1, 0.3, 1.0)):
        level = seen.cls(mu)
        if level is not None and level < 0.05:
            seen.fell_short(
                "limit not found, CLs crosses", command, f"CLs of the lowest minima at {mu:.8g}: {level:.4g}"
            )
            return


def scan(seen):
    lower, upper = (
        float(bound[seen.reference.poi]) for bound in (seen.reference.lower, seen.reference.upper)
    )
    stop = min(upper, 10.0)
    command = seen.run.command("scan", "--par", f"{seen.poi}={max(lower, 0.0)!r}:{stop!r}:5")
    answer = seen.run(*command[:1], *command[-2:])
    if answer is None:
        return seen.fell_short("scan refused", command, seen.run.reason)
    values = [max(lower, 0.0) + k * (stop - max(lower, 0.0)) / 4 for k in range(5)]
    for mu, point in zip(values, answer["points"]):
        seen.counts["scan points"] += 1
        known = seen.lowest(mu)
        if point["status"] != "converged":
            seen.counts["scan points not converged"] += 1
        elif point["twice_nll"] > known.value + known.tolerance:
            seen.fell_short(
                "scan point undercut", command, f"{mu:.8g}: {point['twice_nll']:.9g}, {known.value:.9g} known"
            )


def starts(seen):
    for mu in (None, 1.0):
        held = [] if mu is None else ["--fix", f"{seen.poi}={mu}"]
        command = seen.run.command("fit", "--starts", 20, *held)
        answer = seen.run("fit", "--starts", 20, *held)
        if answer is None:
            seen.fell_short("fit --starts refused", command, seen.run.reason)
            continue
        seen.counts["fits of 20 starts"] += 1
        known = seen.lowest(mu)
        low = min([known.value] + [one["twice_nll"] for one in answer["starts"]["minima"]])
        if answer["status"] != "converged":
            seen.counts["fits of 20 starts not converged"] += 1
        elif answer["twice_nll"] > low + known.tolerance:
            words = f"{answer['twice_nll']:.9g}, {low:.9g} known"
            seen.fell_short("fit --starts 20 above a known point", command, words)


def nonfinite(seen):
    for mu in (None, 0.0, 1.0):
        held = [] if mu is None else ["--fix", f"{seen.poi}={mu}"]
        command = seen.run.command("fit", *held)
        answer = seen.run("fit", *held)
        if answer is None:
            seen.fell_short("fit refused", command, seen.run.reason)
            continue
        seen.counts["fits"] += 1
        known, status = seen.lowest(mu), answer["status"]
        if status == "non_finite" and not len(known.values):
            seen.counts["fits non_finite, no finite point known"] += 1
        elif status != "converged":
            seen.fell_short("fit " + status, command, f"{answer['twice_nll']}, {known.value:.9g} known")
        elif answer["twice_nll"] > known.value + known.tolerance:
            seen.fell_short("fit undercut", command, f"{answer['twice_nll']:.9g}, {known.value:.9g} known")


def toys(seen):
    mu = tested_values(seen)[1]
    command = seen.run.command("hypotest-toys", "--mu", repr(mu), "--ntoys", 50)
    answer = seen.run("hypotest-toys", "--mu", repr(mu), "--ntoys", 50)
    if answer is None:
        return seen.fell_short("toys refused", command, seen.run.reason)
    seen.counts["toy runs"] += 1
    if answer["status_observed"] != "converged":
        seen.counts["toy runs, observed fit not converged"] += 1


# ---- all models ------------------------------------------------------------------------------------------

MEASURE = {function.__name__: function for function in (hypotest, limit, scan, starts, nonfinite, toys)}


def examine(task):
    """(name, counts, shortcomings, seconds) of one model."""
    program, family, seed, what, n_starts, folder = task
    began = time.perf_counter()
    made = generate.generate(family, seed)
    path = generate.write(folder, made)
    seen = Examined(made, path, program, n_starts)
    for name in what:
        MEASURE[name](seen)
    os.remove(path)
    seen.counts["models"] = 1
    return made, seen.counts, seen.short, time.perf_counter() - began


ASKED = {  # share of what, in per cent: ordinary, hard
    "tests answered": ("tests", None, ">= 85"),
    "tests with a fit undercut": ("tests", "<= 0.1", "<= 3"),
    "of them unsaid": ("tests", "<= 0.02", "<= 0.5"),
    "observed limit at a jump": ("limits", "0", "0"),
    "limit not found, its scan crosses": ("limits", "0", "0"),
    "limit not found, CLs crosses": ("limits", "0", "0"),
    "test converged, CLs null": ("tests", "0", "0"),
    "test refused: beyond the bounds": ("tests", "0", "0"),
    "fit --starts 20 above a known point": ("fits of 20 starts", "0", "0"),
    "fit non_finite": ("fits", "0", "0"),
}
TOTALS = (
    "models",
    "tests",
    "limits",
    "limits given (6 a model)",
    "scan points",
    "fits of 20 starts",
    "fits",
    "toy runs",
)


def total_of(category):
    """What a count is a share of."""
    if category in ASKED:
        return ASKED[category][0]
    for word, total in (
        ("models", "models"),
        ("scan", "scan points"),
        ("fits of 20", "fits of 20 starts"),
        ("limit", "limits"),
        ("fit", "fits"),
        ("toy", "toy runs"),
        ("expected", "limits given (6 a model)"),
        ("observed", "limits"),
    ):
        if category.startswith(word):
            return total
    return "tests"


def table(family, counts):
    """Lines: each count, its share, what is asked."""
    column = generate.FAMILIES.index(family) + 1
    lines = [", ".join(f"{counts[name]} {name}" for name in TOTALS if counts[name])]
    names = [name for name in [*ASKED, *sorted(counts)] if name not in TOTALS]
    for name in dict.fromkeys(names):
        total = counts[total_of(name)]
        if total and (counts[name] or name in ASKED):
            asked = ASKED[name][column] if name in ASKED else None
            share = f"{100 * counts[name] / total:.2f} %"
            lines.append(
                f"{name:44s} {counts[name]:7d} {share:>9s} of {total_of(name):24s} {'asked: ' + asked + ' %' if asked else ''}".rstrip()
            )
    return lines


def keep(folder, made, short):
    """The model in the folder of each of its shortcomings, with the command and the numbers."""
    for category, found in itertools.groupby(sorted(short), key=lambda one: one[0]):
        place = os.path.join(
            folder, category.replace(":", "").replace(",", "").replace(" ", "_").replace("--", "")
        )
        path = generate.write(place, made)
        with open(os.path.join(place, made.name + ".txt"), "w", encoding="utf-8") as out:
            out.write(f"traits: {', '.join(made.traits)}\n")
            for _, command, words in found:
                name, _, rest = command.partition(" ")
                out.write(f"paritas {name} {path} {rest.partition(' ')[2]}\n  {words}\n")


def smallest(folder, n=3):
    """Paths of the smallest models of each category."""
    found = defaultdict(list)
    for category in sorted(os.listdir(folder)):
        place = os.path.join(folder, category)
        files = [os.path.join(place, name) for name in os.listdir(place) if name.endswith(".json")]
        found[category] = sorted(files, key=lambda path: (os.path.getsize(path), path))[:n]
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--family", choices=generate.FAMILIES, default="hard")
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first model; the others count on")
    parser.add_argument("--what", default="hypotest,limit,scan,starts,nonfinite", help=f"of {','.join(WHAT)}")
    parser.add_argument("--starts", type=int, default=100, help="of the reference fits")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--failures", default="hard-failures", help="folder for models that fell short")
    parser.add_argument("--json", help="also write the counts to this file")
    arguments = parser.parse_args()
    what = arguments.what.split(",")
    if not set(what) <= set(WHAT):
        parser.error(f"--what: any of {','.join(WHAT)}")
    counts, slow, began = Counter(), [], time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool,
    ):
        seeds = range(arguments.seed, arguments.seed + arguments.n)
        program = os.path.abspath(arguments.program)
        tasks = [(program, arguments.family, seed, what, arguments.starts, folder) for seed in seeds]
        for made, found, short, seconds in pool.map(examine, tasks):
            counts.update(found)
            slow.append((seconds, made.name))
            keep(os.path.join(arguments.failures, arguments.family), made, short)
    print("\n".join(table(arguments.family, counts)))
    print(
        f"{time.perf_counter() - began:.1f} s; slowest: "
        + ", ".join(f"{n} {s:.1f} s" for s, n in sorted(slow)[-3:])
    )
    place = os.path.join(arguments.failures, arguments.family)
    if os.path.isdir(place):
        for category, paths in smallest(place).items():
            print(f"  {category}: {' '.join(paths)}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            json.dump(dict(sorted(counts.items())), out, indent=1)


if __name__ == "__main__":
    main()
