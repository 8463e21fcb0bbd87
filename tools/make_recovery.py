#!/usr/bin/env python3
"""Makes docs/losscone-recovery.md: how well potentials, cones, kappa distributions and spacecraft potentials come back from synthetic data.

  make_recovery.py [--build FOLDER] [--sweeps N]

The data are made by tests/losscone/dayfiles.py (NumPy, fixed seeds), so the numbers are the same wherever the library is. Takes minutes. Needs the packages of tests/requirements.txt."""
import argparse
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "losscone"))
RANGES = [(-400, -250), (-250, -100), (-100, -40), (-40, -10)]
FITS = [("Halekas", "halekas", "hard"), ("Lillis", "lillis", "hard"), ("folded", "halekas", "folded")]


def digits(value, n=3):
    """n significant digits without an exponent"""
    if not np.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, n - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{min(places, 6)}f}"


def percent(part):
    return f"{100 * np.mean(part):.0f} %" if len(part) else "-"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def errors(difference):
    d = difference[np.isfinite(difference)]
    if not len(d):
        return ["-"] * 5
    a = np.abs(d)
    return [digits(x) for x in (d.mean(), np.sqrt((d**2).mean()), a.mean(), np.median(a), np.quantile(a, 0.9))]


class Fits:
    """what a fit found, in arrays over the sweeps of a day"""

    def __init__(self, library, day, method, response, bootstrap, **options):
        from library import data_of

        n = len(day)
        chosen = dict(method=method, response=response, **options)
        data = data_of([day.sweep(k, day.truth["Usc"][k], method=method, response=response) for k in range(n)])
        results = library.fit(data, **chosen)
        for name in ("potential_centre", "ratio_centre", "misfit", "potential_lower", "potential_upper", "ratio_lower", "ratio_upper"):
            setattr(self, name, np.array([getattr(r, name) if r.status in (0, 4) else np.nan for r in results]))
        self.fitted = np.isfinite(self.potential_centre)
        self.plain = self.covered(day, library.confidence(data, results, **chosen)) if bootstrap else None
        self.calibrated = {level: self.covered(day, library.confidence(data, results, library.bootstrap(data, results, 40, level, **chosen), **chosen)) for level in (0.68, 0.95)} if bootstrap else {}
        self.day = day

    def covered(self, day, sets):
        """(truth in the set, its size in V, open at a bound) of every sweep"""
        U = day.truth["U"]
        inside = np.array([any(s.lower[i] <= u <= s.upper[i] for i in range(s.intervals)) for s, u in zip(sets, U)])
        width = np.array([sum(s.upper[i] - s.lower[i] for i in range(s.intervals)) for s in sets])
        return inside, width, np.array([bool(s.at_lower_bound or s.at_upper_bound) for s in sets])

    def within(self, name, keep):
        truth = self.day.truth["U" if name == "potential" else "r"][keep]
        return (getattr(self, name + "_lower")[keep] <= truth) & (truth <= getattr(self, name + "_upper")[keep])


def summary(fits, keep):
    keep = keep & fits.fitted
    width = (fits.potential_upper - fits.potential_lower)[keep]
    return errors((fits.potential_centre - fits.day.truth["U"])[keep]) + [digits(np.median(width)) if len(width) else "-", percent(fits.within("potential", keep))]


def set_row(found, keep):
    inside, width, bound = found
    return [percent(inside[keep]), digits(np.median(width[keep])), percent(bound[keep])]


def losscone_part(library, n):
    import dayfiles

    days = {"hard": dayfiles.synthetic(n, 101, "hard"), "folded": dayfiles.synthetic(n, 102, "folded")}
    all_ = {(truth, name): Fits(library, day, method, response, bootstrap=name != "Lillis") for truth, day in days.items() for name, method, response in FITS}
    everything = np.ones(n, bool)
    out = ["## Potentials", "", f"{n} sweeps of each truth: U from -400 to -10 V, r from 0.4 to 1.05, spacecraft potential 5 to 15 V (known to the fit), 15 energies from 39 eV to 16.7 keV, a field of any",
           "direction, azimuths that turn by 7.5 degrees a row, noise log-normal of 10 to 30 % (a sweep has one value). The hard truth has a beam (amplitude up to 2) in half of the sweeps. Estimates are",
           "centres of plateaus. Errors in V; width: median of the plateau's; inside: how often the true U lies in the plateau.", ""]
    out += table(["truth", "fit", "bias", "RMSE", "MAE", "median", "90 %", "width", "inside"], [[truth, name, *summary(fits, everything)] for (truth, name), fits in all_.items()])
    out += ["By ranges of the true U:", ""]
    rows = []
    for (truth, name), fits in all_.items():
        for low, high in RANGES:
            keep = (fits.day.truth["U"] >= low) & (fits.day.truth["U"] < high)
            rows.append([truth, name, f"{low} to {high}", *summary(fits, keep)])
    out += table(["truth", "fit", "U", "bias", "RMSE", "MAE", "median", "90 %", "width", "inside"], rows)
    out += ["The ratio r of the same fits:", ""]
    rows = []
    for (truth, name), fits in all_.items():
        width = (fits.ratio_upper - fits.ratio_lower)[fits.fitted]
        rows.append([truth, name, *errors((fits.ratio_centre - fits.day.truth["r"])[fits.fitted]), digits(np.median(width)), percent(fits.within("ratio", fits.fitted))])
    out += table(["truth", "fit", "bias", "RMSE", "MAE", "median", "90 %", "width", "inside"], rows)
    out += ["## Confidence sets", "", "How often the set of U contains the truth, its median size (V; of several intervals, their sum) and how often it reaches a bound of U. Default: misfit up to the minimum + 4 s^2 with",
            "s^2 = misfit / (cells - 3). Bootstrap: the threshold of each sweep from 40 draws.", ""]
    rows = []
    for (truth, name), fits in all_.items():
        if fits.plain is None:
            continue
        rows.append([truth, name, "plateau", percent(fits.within("potential", fits.fitted)), digits(np.median((fits.potential_upper - fits.potential_lower)[fits.fitted])), "-"])
        rows.append([truth, name, "default", *set_row(fits.plain, fits.fitted)])
        rows += [[truth, name, f"bootstrap, {100 * level:.0f} %", *set_row(found, fits.fitted)] for level, found in fits.calibrated.items()]
    out += table(["truth", "fit", "set", "contains the truth", "size", "at a bound"], rows)
    return out, choice(library, days, all_)


def choice(library, days, all_):
    """can the data tell the models apart?"""
    out = ["## Which model", "", "Both models are fitted without a beam, and the one of less misfit is taken.", ""]
    rows = []
    for truth, day in days.items():
        hard = Fits(library, day, "halekas", "hard", bootstrap=False, amplitude_upper=0.0)
        smeared = all_[truth, "folded"]
        right = (hard.misfit < smeared.misfit) == (truth == "hard")
        taken = np.where(hard.misfit < smeared.misfit, hard.potential_centre, smeared.potential_centre)
        for low, high in [(0.1, 0.15), (0.15, 0.2), (0.2, 0.25), (0.25, 0.3)]:
            keep = (day.truth["noise"] >= low) & (day.truth["noise"] < high)
            rows.append([truth, f"{100 * low:.0f} to {100 * high:.0f} %", digits(hard.misfit[keep].mean()), digits(smeared.misfit[keep].mean()), percent(right[keep]), *errors((taken - day.truth["U"])[keep])[:2]])
    return out + table(["truth", "noise", "mean misfit, hard", "mean misfit, folded", "right model taken", "bias, V", "RMSE, V"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--sweeps", type=int, default=2000)
    arguments = parser.parse_args()
    os.environ["PARITAS_BIN"] = os.path.join(os.path.abspath(arguments.build), "bin", "paritas")
    from library import Library

    library = Library()
    losscone, models = losscone_part(library, arguments.sweeps)
    library.close()
    with open(os.path.join(ROOT, "docs", "losscone-recovery.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(losscone + models))


main()
