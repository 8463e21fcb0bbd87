#!/usr/bin/env python3
"""How often a program's tests, limits, scans, fits and toys use a minimum that is not the lowest one known.

  tests/hard/measure.py build/release/bin/paritas --family hard --n 1000
  tests/hard/measure.py build/release/bin/paritas --family ordinary --n 100 --what hypotest,limit

Models come from hard_models.py, or are FILES. Each answer of the program is held against the lowest points
that --starts starts of the Python package find (lowest.py). Prints a table of counts beside what is asked.
Writes the models that fell short to FAILURES/FAMILY/CATEGORY, with the commands that show it. The package
is the one that Python imports, else python/ of this checkout."""

import argparse
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
try:
    import paritas  # noqa: F401
except ImportError:
    sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))

import paritas.toys  # noqa: E402

import hard_models  # noqa: E402
import profiles  # noqa: E402
import several_models  # noqa: E402
import toy_data  # noqa: E402
from lowest import Known, Reference  # noqa: E402

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
        if done.returncode not in (0, 1) or not done.stdout:
            self.reason = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            return None
        return {**json.loads(done.stdout), "exit": done.returncode}


class Examined:
    """What was found about one model: counts, and shortcomings (category, command, words)."""

    def __init__(self, made, path, program, starts):
        self.made, self.counts, self.short = made, Counter(), []
        self.run = Program(program, path, made.options())
        self.known = Known(Reference(path, made.codes, starts, made.poi))
        self.beyond = {}
        self.poi = self.known.reference.model.poi_name

    def known_at(self, mu):
        """What is known for a test of mu. A lower bound is widened to mu; to more gives the same q-tilde."""
        reference = self.known.reference
        if mu <= reference.upper_poi():
            return self.known
        if mu not in self.beyond:
            self.beyond[mu] = Known(reference.widened(mu))
        return self.beyond[mu]

    def fell_short(self, category, command, words):
        self.counts[category] += 1
        self.short.append((category, " ".join(command), words))


# ---- one thing that is measured --------------------------------------------------------------------------


def tested_values(seen):
    """0.5, 1 and 2 times the limit: of the program, observed or expected; else some values in the bounds."""
    found = seen.run("limit") or {}
    for limit in (found.get("limit_obs"), (found.get("limit_exp") or [None] * 5)[2]):
        if limit is not None and limit > 0:
            return [0.5 * limit, limit, 2.0 * limit]
    top = min(10.0, seen.known.reference.upper_poi())
    return [0.1 * top, 0.3 * top, top]


def hypotest(seen):
    unanswered = False
    for mu in tested_values(seen):
        if not all(len(seen.known_at(mu).lowest(at).values) for at in (None, 0.0, mu)):
            seen.counts["tests without a finite point"] += 1
            continue
        command = seen.run.command("hypotest", "--mu", repr(mu))
        seen.counts["tests"] += 1
        answer = seen.run("hypotest", "--mu", repr(mu))
        unanswered |= not judge_test(seen, mu, answer, command)
    seen.counts["models with a test not answered"] += unanswered


def judge_test(seen, mu, answer, command):
    """Whether the test is answered."""
    if answer is None:
        kind = "refused: beyond the bounds" if "bound" in seen.run.reason else "refused"
        seen.fell_short("test " + kind, command, seen.run.reason)
    elif answer["status"] != "converged":
        seen.fell_short("test " + answer["status"], command, f"CLs {answer['CLs_obs']}")
    elif answer["CLs_obs"] is None:
        seen.fell_short("test converged, CLs null", command, f"q {answer['q']}, q_A {answer['q_A']}")
    else:
        seen.counts["tests answered"] += 1
        judge_statistics(seen, mu, answer, command)
        return True
    return False


def judge_statistics(seen, mu, answer, command):
    """Holds q and q_A of an answer against the lowest minima. Those of ten times the starts decide where they
    differ: the program may know a lower one."""
    wrong, _, _ = differences(seen, seen.known_at(mu), mu, answer)
    if not wrong:
        return
    wrong, q, q_asimov = differences(seen, Known(seen.known_at(mu).reference.thorough()), mu, answer)
    if not wrong:
        seen.counts["tests right by ten times the starts alone"] += 1
        return
    said = answer.get("several_minima") is True
    seen.counts["tests with a fit undercut"] += 1
    seen.counts["tests with a fit undercut, unsaid"] += not said
    seen.counts["tests with a fit undercut by 0.01 or more"] += any(abs(gap) > 0.01 for _, gap in wrong)
    for kind, gap in wrong:
        words = (
            f"q {answer['q']:.8g} for {q}, q_A {answer['q_A']:.8g} for {q_asimov}{', said' if said else ''}"
        )
        seen.fell_short("test undercut: " + kind, command, words)


def differences(seen, known, mu, answer):
    """(what differs: kind, gap; q and q_A of the lowest minima)"""
    wrong = []
    tolerance = known.lowest().tolerance
    q, q_asimov = known.q(mu), known.q_asimov(mu)
    gap = gap_of(answer["q"], q)
    if abs(gap) > tolerance:
        wrong.append(("conditional" if gap > 0 else "free", gap))
    gap = gap_of(answer["q_A"], q_asimov)
    if abs(gap) > asimov_tolerance(tolerance, answer["q_A"]):
        own = seen.run("fit", "--fix", f"{seen.poi}=0") or {}
        elsewhere = (
            own.get("twice_nll") is not None and own["twice_nll"] > known.lowest(0.0).value + tolerance
        )
        wrong.append(
            ("Asimov data" if elsewhere else "Asimov conditional" if gap > 0 else "Asimov free", gap)
        )
    return wrong, q, q_asimov


def gap_of(value, allowed):
    """From the nearest allowed value; 0 where nothing is known."""
    return min((value - other for other in allowed), key=abs, default=0.0)


def asimov_tolerance(tolerance, q):
    """Asimov data stand where a fit ended, near its minimum; q_A is linear in the distance. Two fits of one
    minimum agree to 1e-7 on generated models."""
    return tolerance + 1e-6 * q**0.5


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
            seen.counts[SIX] += 1
            jump(seen, command, name, value, curve)
    if answer["limit_obs"] is None:
        missed(seen, command, answer)
    elif answer["status"] == "converged":
        known = seen.known_at(answer["limit_obs"]).cls(answer["limit_obs"])
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
    """No limit: is there a root of CLs = 0.05, by the lowest minima? A jump is none."""
    seen.counts["observed limits not found"] += 1
    points = sorted((p["mu"], p["CLs_obs"]) for p in answer["scan"] if p["CLs_obs"] is not None)
    pairs = [(a, b) for (a, x), (b, y) in zip(points, points[1:]) if x >= 0.05 > y]
    if not pairs:
        values = [answer["upper_bound"] * part for part in (1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)]
        levels = [seen.known_at(mu).cls(mu) for mu in values]
        pairs = [
            (a, b)
            for a, b, x, y in zip(values, values[1:], levels, levels[1:])
            if x is not None and y is not None and x >= 0.05 > y
        ]
    if not pairs:
        return
    root = root_between(seen, *pairs[-1])
    if root is None:
        seen.counts["observed limits not found, a jump"] += 1
    else:
        seen.fell_short("limit not found, CLs crosses", command, f"0.05 at {root:.8g} by the lowest minima")


def root_between(seen, low, high):
    """Where CLs of the lowest minima is 0.05; None where it is not."""
    for _ in range(16):
        mu = 0.5 * (low + high)
        level = seen.known_at(mu).cls(mu)
        if level is None:
            return None
        if abs(level - 0.05) < 1e-3:
            return mu
        low, high = (mu, high) if level > 0.05 else (low, mu)
    return None


def scan(seen):
    stop = min(10.0, seen.known.reference.upper_poi())
    command = seen.run.command("scan", "--par", f"{seen.poi}=0:{stop!r}:5")
    answer = seen.run("scan", *command[-2:])
    if answer is None:
        seen.fell_short("scan refused", command, seen.run.reason)
        return
    for k, point in enumerate(answer["points"]):
        mu = stop * k / 4
        seen.counts["scan points"] += 1
        known = seen.known.lowest(mu)
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
        known = seen.known.lowest(mu)
        met = seen.known.reference.met(20, mu)
        if answer["status"] != "converged" or answer["exit"] != 0:
            seen.counts["fits of 20 starts not converged"] += 1
        elif answer["twice_nll"] > met + known.tolerance:
            words = f"{answer['twice_nll']:.9g}, {met:.9g} met"
            seen.fell_short("fit --starts 20 above a point that it met", command, words)
        elif answer["twice_nll"] > known.value + known.tolerance:
            seen.counts["fits of 20 starts above a known point"] += 1


def nonfinite(seen):
    for mu in (None, 0.0, 1.0):
        held = [] if mu is None else ["--fix", f"{seen.poi}={mu}"]
        command = seen.run.command("fit", *held)
        answer = seen.run("fit", *held)
        if answer is None:
            seen.fell_short("fit refused", command, seen.run.reason)
            continue
        seen.counts["fits"] += 1
        known, status = seen.known.lowest(mu), answer["status"]
        if status == "non_finite" and not len(known.values):
            seen.counts["fits non_finite, no finite point known"] += 1
        elif status != "converged":
            seen.fell_short("fit " + status, command, f"{answer['twice_nll']}, {known.value:.9g} known")
        elif answer["twice_nll"] > known.value + known.tolerance:
            seen.fell_short("fit undercut", command, f"{answer['twice_nll']:.9g}, {known.value:.9g} known")


def toys(seen, n=100, seed=42):
    """Toys that are lost, and toys whose fits other starts undercut."""
    mu = tested_values(seen)[1]
    store = seen.run.file + ".toys"
    options = ("--mu", repr(mu), "--ntoys", n, "--seed", seed)
    command = seen.run.command("hypotest-toys", *options)
    answer = seen.run("hypotest-toys", *options, "--store", store)
    rows = paritas.toys.read_store(store) if answer else []
    if os.path.exists(store):
        os.remove(store)
    if answer is None:
        seen.fell_short("toys refused", command, seen.run.reason)
        return
    answered = rows[rows["status"] == paritas.toys.STATUSES.index("converged")]
    seen.counts["toys"] += len(rows)
    seen.counts["toys lost"] += len(rows) - len(answered)
    if len(answered) < len(rows):
        seen.short.append(("toys lost", " ".join(command), f"{len(rows) - len(answered)} of {len(rows)}"))
    found = above_lowest(seen, mu, answered[:: max(1, n // 20)], seed)
    if found is None:
        seen.counts["toy runs not drawn anew"] += 1
        return
    seen.counts["toys examined"] += len(found)
    for kind, k in (("free", 1), ("conditional", 2)):
        short = [f"toy {one[0]} by {one[k]:.4g}" for one in found if one[k] > 1e-6]
        seen.counts[f"toys examined, {kind} fit undercut"] += len(short)
        if short:
            seen.short.append((f"toys undercut: {kind}", " ".join(command), ", ".join(short[:5])))


def above_lowest(seen, mu, rows, seed):
    """For each toy: its number, how far its free and its conditional fit end above the lowest points known.
    None where the data cannot be drawn anew: the fit that they are drawn around is not the lowest one."""
    reference, found = seen.known.reference, []
    widths = toy_data.widths(reference.model, seen.made.workspace)
    for row in rows:
        point = seen.known.lowest(float(row["hypothesis"])).equals()[:1]
        if not len(point):
            return None
        purpose = 0 if row["hypothesis"] == mu else 1
        expected = reference.expected(point[0])
        data = toy_data.draw(expected, widths, seed, purpose, int(row["toy"]))
        free = reference.lowest(None, data, point)
        fixed = reference.lowest(mu, data, [*point, *free.distinct()])
        found.append(
            (int(row["toy"]), row["twice_nll_free"] - free.value, row["twice_nll_fixed"] - fixed.value)
        )
    return None if any(min(one[1:]) < -1e-5 for one in found) else found


# ---- all models ------------------------------------------------------------------------------------------

MEASURE = {function.__name__: function for function in (hypotest, limit, scan, starts, nonfinite, toys)}
MEASURE.update(profiles.MEASURE)
FAMILIES = (*hard_models.FAMILIES, "several")


def generate(family, seed):
    return several_models.several(seed) if family == "several" else hard_models.generate(family, seed)


def examine(task):
    """(model, counts, shortcomings, seconds)"""
    program, made, what, n_starts, folder = task
    began = time.perf_counter()
    path = hard_models.write(folder, made)
    seen = Examined(made, path, program, n_starts)
    for name in what:
        MEASURE[name](seen)
    os.remove(path)
    seen.counts["models"] = 1
    return made, seen.counts, seen.short, time.perf_counter() - began


ASKED = {  # most in per cent (answered: least), of ordinary and of hard models
    "tests answered": ("tests", None, ">= 85"),
    "tests with a fit undercut": ("tests", "<= 0.1", "<= 3"),
    "tests with a fit undercut, unsaid": ("tests", "<= 0.02", "<= 0.5"),
    "observed limit at a jump": ("limits", "0", "0"),
    "limit not found, CLs crosses": ("limits", "0", "0"),
    "test converged, CLs null": ("tests", "0", "0"),
    "test refused: beyond the bounds": ("tests", "0", "0"),
    "fit --starts 20 above a point that it met": ("fits of 20 starts", "0", "0"),
    "fit non_finite": ("fits", "0", "0"),
    "toys lost": ("toys", "0", None),
    "toys examined, conditional fit undercut": ("toys examined", "<= 0.1", None),
}
SIX = "limits given, of 6 each"
TOTALS = (
    "models",
    "tests",
    "limits",
    SIX,
    "scan points",
    "fits of 20 starts",
    "fits",
    "toys",
    "toys examined",
    *profiles.TOTALS,
)
SHARE_OF = {
    **{name: name for name in profiles.TOTALS},
    "models": "models",
    "scan": "scan points",
    "fits of 20": "fits of 20 starts",
    "fit --starts": "fits of 20 starts",
}
SHARE_OF.update({"fit": "fits", "toys examined": "toys examined", "toy": "toys", "expected limit": SIX})
SHARE_OF.update({"limit": "limits", "observed": "limits", "test": "tests"})


def share_of(category):
    """The total that a count is a part of."""
    return next(total for word, total in SHARE_OF.items() if category.startswith(word))


def table(family, counts):
    """Lines: each count, its share, what is asked."""
    column = hard_models.FAMILIES.index(family) + 1 if family in hard_models.FAMILIES else 1
    lines = [", ".join(f"{counts[name]} {name}" for name in TOTALS if counts[name])]
    for name in dict.fromkeys([*ASKED, *sorted(counts)]):
        total = share_of(name)
        if name not in TOTALS and counts[total] and (counts[name] or name in ASKED):
            asked = ASKED[name][column] if name in ASKED else None
            line = f"{name:42s} {counts[name]:6d} {100 * counts[name] / counts[total]:7.2f} % of {total:23s}"
            lines.append(f"{line} {'asked ' + asked + ' %' if asked else ''}".rstrip())
    return lines


def keep(folder, made, short):
    """The model in the folder of each of its shortcomings, with the command and the numbers."""
    for category, found in itertools.groupby(sorted(short), key=lambda one: one[0]):
        place = os.path.join(folder, "_".join(re.findall("[A-Za-z0-9_]+", category)))
        path = hard_models.write(place, made)
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


def published(files, every_factor):
    """Workspaces as they are. every_factor: once with each normalisation factor as parameter of interest."""
    for path in files:
        with open(path, encoding="utf-8") as source:
            document = json.load(source)
        name = os.path.splitext(os.path.basename(path))[0]
        modifiers = [m for c in document["channels"] for one in c["samples"] for m in one["modifiers"]]
        factors = sorted({m["name"] for m in modifiers if m["type"] == "normfactor"})
        for poi in factors if every_factor else [None]:
            yield hard_models.Generated(f"{name}-{poi}" if poi else name, document, {}, [], poi)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--family", choices=FAMILIES, default="hard")
    parser.add_argument("--files", nargs="+", help="these workspaces instead")
    parser.add_argument(
        "--every-factor", action="store_true", help="each normfactor of FILES as parameter of interest"
    )
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first model; the others count on")
    parser.add_argument(
        "--what", default="hypotest,limit,scan,starts,nonfinite", help=f"of {','.join(MEASURE)}"
    )
    parser.add_argument("--starts", type=int, default=100, help="of the reference fits")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--failures", default="hard-failures", help="folder for models that fell short")
    parser.add_argument("--json", help="also write the counts to this file")
    found = parser.parse_args()
    found.what = found.what.split(",")
    if not set(found.what) <= set(MEASURE):
        parser.error(f"--what: any of {','.join(MEASURE)}")
    return found


def main():
    given = arguments()
    family = "files" if given.files else given.family
    seeds = range(given.seed, given.seed + given.n)
    models = (
        published(given.files, given.every_factor) if given.files else (generate(family, s) for s in seeds)
    )
    place = os.path.join(given.failures, family)
    counts, slow, began = Counter(), [], time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        program = os.path.abspath(given.program)
        tasks = ((program, made, given.what, given.starts, folder) for made in models)
        for made, found, short, seconds in pool.map(examine, tasks):
            counts.update(found)
            slow.append((seconds, made.name))
            keep(place, made, short)
    print("\n".join(table(family, counts)))
    print(
        f"{time.perf_counter() - began:.1f} s; slowest: "
        + ", ".join(f"{n} {s:.1f} s" for s, n in sorted(slow)[-3:])
    )
    for category, paths in smallest(place).items() if os.path.isdir(place) else ():
        print(f"  {category}: {' '.join(paths)}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump(dict(sorted(counts.items())), out, indent=1)


if __name__ == "__main__":
    main()
