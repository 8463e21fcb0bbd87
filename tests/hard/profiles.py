"""Holds rankings, MINOS errors, contours, significances, lists of tests, limits and scans against the lowest
points that many starts find. A number is wrong if a lower point changes it."""

import math

import numpy as np

from lowest import Known, cls_of_tails, observed_shift

WRONG = 1e-3  # in twice the NLL: smaller gaps change no printed digit


class Profiles:
    """Lowest points with any parameters held; each searched once."""

    def __init__(self, seen):
        self.reference = seen.known.reference
        self.names = list(self.reference.model.parameter_names)
        self._found = {}

    def lowest(self, held=()):
        """held: pairs of index and value."""
        held = tuple(sorted(held))
        if held not in self._found:
            hints = [
                point
                for key in ((), *self._found)
                if key in self._found
                for point in self._found[key].distinct(3)
            ][-24:]
            self._found[held] = self.reference.lowest_held(dict(held), hints=hints)
            free = self._found.get(())
            if free and self._found[held].value < free.value - free.tolerance:
                self._found[()] = self.reference.lowest_held({}, hints=self._found[held].distinct(3))
        return self._found[held]

    def surely(self, held):
        """The same by more starts, before an answer is called wrong: the program may know a lower point."""
        known = self.lowest(held)
        more = self.reference.thorough().lowest_held(dict(held), hints=known.distinct(3))
        return more if more.value < known.value else known

    def rise(self, held, expected, tolerance):
        """How far the lowest point rises above the free fit."""
        rise = self.lowest(held).value - self.lowest().value
        if abs(rise - expected) <= tolerance:
            return rise
        return self.surely(held).value - self.lowest().value


def profiles_of(seen):
    if not hasattr(seen, "profiles"):
        seen.profiles = Profiles(seen)
        seen.profiles.lowest()
    return seen.profiles


def said(answer):
    return answer.get("several_minima") is True


def wrong(seen, what, answer, command, words):
    """Counts a wrong answer, and whether it says that there are several minima."""
    seen.counts[what + " wrong, unsaid"] += not said(answer)
    seen.fell_short(what + " wrong", command, words + (", said" if said(answer) else ""))


def asked(seen, what, name, *more):
    """The answer, or None where there is none to hold against anything."""
    answer = seen.run(name, *more)
    seen.counts[what] += 1
    if answer is None:
        seen.counts[what + " refused"] += 1
        seen.short.append((what + " refused", " ".join(seen.run.command(name, *more)), seen.run.reason))
    elif answer.get("status", "converged") != "converged":
        seen.counts[what + " not converged"] += 1
        return None
    return answer


def ranking(seen):
    p, what = profiles_of(seen), "rankings"
    answer = asked(seen, what, "ranking")
    if answer is None or not answer["entries"]:
        return
    command, poi = seen.run.command("ranking"), p.reference.poi
    free = p.lowest()
    best = equal_point(p, free)
    if math.isnan(best.errors[poi]) and p.reference.lower[poi] < best.point[poi] < p.reference.upper[poi]:
        seen.counts["rankings of a flat parameter"] += 1  # it has no best value to move away from
        return
    for entry in answer["entries"]:
        index = p.names.index(entry["name"])
        width = p.reference.model.constraint_widths[index]
        for key in ("impact_up", "impact_down", "prefit_up", "prefit_down"):
            if entry[key] is None:
                continue
            sign = 1.0 if key.endswith("up") else -1.0
            shift = width if key.startswith("prefit") else best.errors[index]
            if not key.startswith("prefit") and entry["constraint"] is not None:
                shift = entry["constraint"] * width  # at a kink there may be others
            if not math.isfinite(shift):
                continue
            value = best.point[index] + sign * shift
            value = min(max(value, p.reference.lower[index]), p.reference.upper[index])
            known = p.lowest([(index, value)])
            mu = best.point[poi] + entry[key]
            near = [point[poi] for point in known.equals()]
            if not near or min(abs(mu - other) for other in near) <= 1e-3 * (1 + abs(mu)):
                continue
            held = [(index, value), (poi, min(max(mu, p.reference.lower[poi]), p.reference.upper[poi]))]
            at = p.lowest(held)
            if at.value - known.value > WRONG:
                at = p.surely(held)
            if at.value - known.value > WRONG:
                wrong(
                    seen,
                    what,
                    answer,
                    command,
                    f"{key} of {entry['name']} {entry[key]:.6g} for {near[0] - best.point[poi]:.6g}"
                    f", {at.value - known.value:.4g} above",
                )
                return


class Best:
    def __init__(self, point, errors):
        self.point, self.errors = point, errors


def equal_point(p, free):
    fit = p.reference.model.fit_batch(
        p.reference.data, init=free.equals()[:1], errors=True, device="cpu", threads=1
    )
    return Best(np.array(fit.values[0]), np.array(fit.errors[0]))


def minos(seen):
    p, what = profiles_of(seen), "MINOS errors"
    answer = asked(seen, what, "fit", "--starts", 30, "--minos", "all")
    if answer is None:
        return
    command, free = seen.run.command("fit", "--starts", 30, "--minos", "all"), p.lowest()
    if answer["twice_nll"] > free.value + WRONG:
        seen.counts["MINOS errors of a fit above the lowest"] += 1
        return
    for one in answer["parameters"]:
        for key in ("minos_down", "minos_up"):
            if one.get(key) is None:
                continue
            index = p.names.index(one["name"])
            rise = p.rise([(index, one["value"] + one[key])], 1.0, 2e-3)
            if abs(rise - 1.0) > 2e-3:
                words = f"{key} of {one['name']} {one[key]:.6g}: rise {rise:.5g}"
                wrong(seen, what, answer, command, words)
                return


def contour(seen):
    p, what = profiles_of(seen), "contours"
    others = [k for k in range(len(p.names)) if k != p.reference.poi and not p.reference.fixed[k]]
    if not others:
        return
    other = others[0]
    command = ("--par", seen.poi, "--par", p.names[other], "--points", 8)
    answer = seen.run("contour", *command)
    seen.counts[what] += 1
    if answer is None:
        seen.counts[what + " refused"] += 1
        return
    points = [point for one in answer["contours"] for point in one["points"]]
    seen.counts["contour points"] += len(points)
    failed = [point for point in points if point["status"] != "converged"]
    seen.counts["contour points not converged"] += len(failed)
    if len(failed) > len(points) / 2:
        seen.short.append(
            (
                "contours mostly not converged",
                " ".join(seen.run.command("contour", *command)),
                f"{len(failed)} of {len(points)}",
            )
        )
    for point in points:
        if point["status"] != "converged":
            continue
        if point["q"] is None:
            wrong(seen, what, answer, seen.run.command("contour", *command), "converged without q")
            return
        held = [(p.reference.poi, point["values"][0]), (other, point["values"][1])]
        rise = p.rise(held, point["q"], WRONG)
        if abs(rise - point["q"]) > WRONG:
            wrong(
                seen,
                what,
                answer,
                seen.run.command("contour", *command),
                f"q {point['q']:.6g} for {rise:.6g} at {point['values']}",
            )
            return


def significance(seen):
    p, what = profiles_of(seen), "significances"
    answer = asked(seen, what, "significance")
    if answer is None:
        return
    known, free = p.lowest([(p.reference.poi, 0.0)]), p.lowest()
    allowed = [0.0 if point[p.reference.poi] < 0 else known.value - free.value for point in free.equals()]
    if min(abs(answer["q0"] - max(0.0, q)) for q in allowed) > WRONG:
        wrong(seen, what, answer, seen.run.command("significance"), f"q0 {answer['q0']:.6g} for {allowed}")


def tests(seen):
    """A list of tests, by Python."""
    what = "lists of tests"
    top = min(4.0, seen.known.reference.upper_poi())
    values = [top * (k + 1) / 16 for k in range(16)]
    command = ["hypotest", seen.run.file, *seen.run.options, f"--mu of {values}"]
    seen.counts[what] += 1
    for one in seen.known.reference.model.hypotest(values, device="cpu", threads=1):
        if one.status != "converged" or not math.isfinite(one.CLs_obs):
            seen.counts["lists of tests: not converged"] += 1
            continue
        answer = {"mu": one.mu, "q": one.q, "q_A": one.q_A, "several_minima": one.several_minima}
        gaps = [gap for gap in gaps_of(seen, answer) if abs(gap) > WRONG]
        if gaps:
            wrong(seen, what, answer, command, f"mu {one.mu:.6g}: {gaps}")
            return


def gaps_of(seen, one):
    """How far q and q_A are from those of the lowest minima."""
    known = seen.known_at(one["mu"])
    for value, allowed in ((one["q"], known.q(one["mu"])), (one["q_A"], known.q_asimov(one["mu"]))):
        yield min((value - other for other in allowed), key=abs, default=0.0)


def limits(seen):
    what = "six limits"
    answer = asked(seen, what, "limit")
    if answer is None:
        return
    command = seen.run.command("limit")
    for k, value in enumerate([*answer["limit_exp"], answer["limit_obs"]]):
        if value is None:
            continue
        known = seen.known_at(value)
        if is_level(levels_of(known, k, value)):
            continue
        levels = levels_of(Known(known.reference.thorough()), k, value)  # the program may know a lower one
        if is_level(levels):
            seen.counts["six limits right by ten times the starts alone"] += 1
            continue
        wrong(seen, what, answer, command, f"curve {k}: {value:.6g} has CLs {levels}")
        return


def levels_of(known, k, mu):
    """CLs of curve k at mu: expected at k - 2 sigma, or the observed one. One for each pair of equal
    minima."""
    return [
        cls_of_tails(2.0 - k if k < 5 else observed_shift(q, q_asimov), q_asimov)
        for q in known.q(mu)
        for q_asimov in known.q_asimov(mu)
    ]


def is_level(levels):
    return not levels or min(abs(level - 0.05) for level in levels) <= 1e-3


def scans(seen):
    """In f64, and in f32 with polish."""
    stop = min(10.0, seen.known.reference.upper_poi())
    for precision in ("f64", "f32"):
        what = "scans in " + precision
        more = ("--par", f"{seen.poi}=0:{stop!r}:9", "--precision", precision)
        answer = seen.run("scan", *more)
        seen.counts[what] += 1
        if answer is None:
            seen.counts[what + " refused"] += 1
            continue
        for point in answer["points"]:
            if point["status"] != "converged":
                seen.counts[what + ": points not converged"] += 1
                continue
            known = seen.known_at(point["mu"]).lowest(point["mu"])
            if point["twice_nll"] > known.value + WRONG:
                wrong(
                    seen,
                    what,
                    answer,
                    seen.run.command("scan", *more),
                    f"{point['mu']:.6g}: {point['twice_nll']:.9g}, {known.value:.9g} known",
                )
                break


MEASURE = {one.__name__: one for one in (ranking, minos, contour, significance, tests, limits, scans)}

TOTALS = (
    "rankings",
    "MINOS errors",
    "contour points",
    "contours",
    "significances",
    "lists of tests",
    "six limits",
)
TOTALS += ("scans in f64", "scans in f32")
