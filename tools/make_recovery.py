#!/usr/bin/env python3
"""Makes docs/losscone-recovery.md: how well potentials, cones, kappa distributions and spacecraft potentials
come back from synthetic data.

  make_recovery.py [--build FOLDER] [--sweeps N] [--only counts|yardstick]

The data are made by tests/losscone/dayfiles.py (NumPy, fixed seeds), so the numbers are the same wherever the
library is. --only makes one section again and keeps the others. Takes minutes. Needs the packages of
tests/requirements.txt."""

import argparse
import os
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import recovery_counts
import recovery_yardstick

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "losscone"))
RANGES = [(-400, -250), (-250, -100), (-100, -40), (-40, -10)]
LEVELS, STEPS = (0.68, 0.95), (1.0, 0.1)  # of confidence sets, V
TRUTHS = ("hard", "folded", "integral")
FITS = [
    ("Halekas", "halekas", "hard"),
    ("Lillis", "lillis", "hard"),
    ("folded", "halekas", "folded"),
    ("weighted", "halekas", "folded"),
]

BEGIN = """\
# Recovery: how well fits of loss cones find the truth

<!-- made by tools/make_recovery.py -->

Look up how well potentials, kappa distributions and spacecraft potentials are recovered from synthetic data.
Make such a table for your own ranges:

```console
$ paritas losscone inject --true-potential -200:-20 --noise 0.2:0.4 --beams 0
```
"""


def digits(value, n=3):
    """n significant digits without an exponent."""
    if not np.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, n - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{min(places, 6)}f}"


def percent(part):
    return f"{100 * np.mean(part):.0f} %" if len(part) else "-"


def paragraph(*parts, bullet=False):
    """A wrapped paragraph with a blank line behind it, or a wrapped item of a list."""
    text = textwrap.wrap(
        " ".join(parts),
        110,
        break_on_hyphens=False,
        initial_indent="- " if bullet else "",
        subsequent_indent="  " if bullet else "",
    )
    return text if bullet else [*text, ""]


def table(head, rows):
    return (
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        + ["| " + " | ".join(map(str, row)) + " |" for row in rows]
        + [""]
    )


def errors(difference):
    d = difference[np.isfinite(difference)]
    if not len(d):
        return ["-"] * 5
    a = np.abs(d)
    return [
        digits(x) for x in (d.mean(), np.sqrt((d**2).mean()), a.mean(), np.median(a), np.quantile(a, 0.9))
    ]


class Fits:
    """What a fit found, in arrays over the sweeps of a day."""

    def __init__(self, library, day, method, response, bootstrap, weighted=False, **options):
        from library import data_of

        n = len(day)
        chosen = dict(method=method, response=response, **options)
        data = data_of(
            [day.sweep(k, day.truth["Usc"][k], method=method, response=response) for k in range(n)]
        )
        if weighted:
            data = (*data, library.channels(data, day.flux, **chosen))
        results = library.fit(data, **chosen)
        for name in (
            "potential_centre",
            "ratio_centre",
            "misfit",
            "potential_lower",
            "potential_upper",
            "ratio_lower",
            "ratio_upper",
        ):
            setattr(
                self, name, np.array([getattr(r, name) if r.status in (0, 4) else np.nan for r in results])
            )
        self.fitted = np.isfinite(self.potential_centre)
        self.plain = self.covered(day, library.confidence(data, results, **chosen)) if bootstrap else None
        self.calibrated = {}
        for level in LEVELS if bootstrap else ():
            thresholds = library.bootstrap(data, results, 40, level, **chosen)
            for step in STEPS:
                self.calibrated[level, step] = self.covered(
                    day, library.confidence(data, results, thresholds, step, **chosen)
                )
        self.day = day

    def covered(self, day, sets):
        """(truth in the set, its size in V, open at a bound) of every sweep."""
        U = day.truth["U"]
        inside = np.array(
            [any(s.lower[i] <= u <= s.upper[i] for i in range(s.intervals)) for s, u in zip(sets, U)]
        )
        width = np.array([sum(s.upper[i] - s.lower[i] for i in range(s.intervals)) for s in sets])
        return inside, width, np.array([bool(s.at_lower_bound or s.at_upper_bound) for s in sets])

    def within(self, name, keep):
        truth = self.day.truth["U" if name == "potential" else "r"][keep]
        return (getattr(self, name + "_lower")[keep] <= truth) & (
            truth <= getattr(self, name + "_upper")[keep]
        )


def summary(fits, keep):
    keep = keep & fits.fitted
    width = (fits.potential_upper - fits.potential_lower)[keep]
    return errors((fits.potential_centre - fits.day.truth["U"])[keep]) + [
        digits(np.median(width)) if len(width) else "-",
        percent(fits.within("potential", keep)),
    ]


def set_row(found, keep):
    inside, width, bound = found
    return [percent(inside[keep]), digits(np.median(width[keep])), percent(bound[keep])]


def losscone_part(library, n):
    import dayfiles

    days = {truth: dayfiles.synthetic(n, 101 + k, truth) for k, truth in enumerate(TRUTHS)}
    all_ = {
        (truth, name): Fits(
            library, day, method, response, bootstrap=name != "Lillis", weighted=name == "weighted"
        )
        for truth, day in days.items()
        for name, method, response in FITS
    }
    everything = np.ones(n, bool)
    out = ["## Potentials", ""]
    out += paragraph(f"{n} sweeps of each truth, drawn from these ranges:")
    out += table(
        ["quantity", "range"],
        [
            ["U", "-400 to -10 V"],
            ["r", "0.4 to 1.05"],
            ["spacecraft potential", "5 to 15 V, known to the fit"],
            ["energies", "15, from 39 eV to 16.7 keV"],
            ["field", "any direction; azimuths turn by 7.5 degrees a row"],
            ["noise", "log-normal, 10 to 30 %, one value a sweep"],
            ["beam", "amplitude up to 2, in half of the sweeps with a hard edge"],
        ],
    )
    out += table(
        ["truth", "edge of the cone in the data"],
        [
            ["hard", "at the energy of the channel"],
            ["folded", "mean over five energies, exactly as in the folded model"],
            [
                "integral",
                "averaged over a Gaussian response of the same width in ln E. Energies are weighted by their"
                " flux in a spectrum that falls as E^-2.5. Neither model describes it",
            ],
        ],
    )
    out += paragraph(
        "The fit `weighted` is the folded edge weighted by the measured spectrum, as the program fits it.",
        "The fit `folded` has five energies of equal weight, as the data `folded`.",
        "These data have no counts: `halekas` fits both edges.",
        "The estimate is the centre of the plateau. Errors are in V. Width is the median width of the",
        "plateau. Inside says how often the plateau contains the true U.",
    )
    out += table(
        ["truth", "fit", "bias", "RMSE", "MAE", "median", "90 %", "width", "inside"],
        [[truth, name, *summary(fits, everything)] for (truth, name), fits in all_.items()],
    )
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
        rows.append(
            [
                truth,
                name,
                *errors((fits.ratio_centre - fits.day.truth["r"])[fits.fitted]),
                digits(np.median(width)),
                percent(fits.within("ratio", fits.fitted)),
            ]
        )
    out += table(["truth", "fit", "bias", "RMSE", "MAE", "median", "90 %", "width", "inside"], rows)
    out += ["## Confidence sets", ""]
    out += paragraph(
        "How often does the set contain the true U? The size is the median in V, summed over the intervals",
        "of a set. The default set goes up to the minimum + 4 s^2 with s^2 = misfit / (cells - 3). It",
        "is 6 s^2 for `weighted`. Its ends lie every 1 V, in the folded model every 0.05 V. Bootstrap: the",
        "threshold of each sweep comes from 40 draws.",
    )
    rows = []
    for (truth, name), fits in all_.items():
        if fits.plain is None:
            continue
        rows.append(
            [
                truth,
                name,
                "plateau",
                percent(fits.within("potential", fits.fitted)),
                digits(np.median((fits.potential_upper - fits.potential_lower)[fits.fitted])),
                "-",
            ]
        )
        rows.append([truth, name, "default", *set_row(fits.plain, fits.fitted)])
        rows += [
            [truth, name, f"bootstrap, {100 * level:.0f} %, every {step:g} V", *set_row(found, fits.fitted)]
            for (level, step), found in fits.calibrated.items()
        ]
    out += table(["truth", "fit", "set", "contains the truth", "size", "at a bound"], rows)
    return out + choice(library, days, all_), all_


def choice(library, days, all_):
    """Can the data tell the models apart?"""
    out = [
        "## Which model",
        "",
        "Both models are fitted without a beam. The model with the lower misfit is taken.",
        "",
    ]
    rows = []
    for truth, day in days.items():
        hard = Fits(library, day, "halekas", "hard", bootstrap=False, amplitude_upper=0.0)
        smeared = all_[truth, "folded"]
        right = (hard.misfit < smeared.misfit) == (truth == "hard")
        taken = np.where(hard.misfit < smeared.misfit, hard.potential_centre, smeared.potential_centre)
        for low, high in [(0.1, 0.15), (0.15, 0.2), (0.2, 0.25), (0.25, 0.3)]:
            keep = (day.truth["noise"] >= low) & (day.truth["noise"] < high)
            misfits = [digits(fits.misfit[keep].mean()) for fits in (hard, smeared)]
            rows.append(
                [
                    truth,
                    f"{100 * low:.0f} to {100 * high:.0f} %",
                    *misfits,
                    percent(right[keep]),
                    *errors((taken - day.truth["U"])[keep])[:2],
                ]
            )
    return out + table(
        [
            "truth",
            "noise",
            "mean misfit, hard",
            "mean misfit, folded",
            "right (or nearer) model taken",
            "bias, V",
            "RMSE, V",
        ],
        rows,
    )


# ---- plasma -----------------------------------------------------------------------------------------


def answers(program, day, *options):
    """Columns of `paritas kappa fit` for a day, through its file."""
    import dayfiles

    with tempfile.TemporaryDirectory() as folder:
        path = dayfiles.write(os.path.join(folder, dayfiles.name("1998-04-01")), day)
        done = subprocess.run(
            [program, "kappa", "fit", path, "-o", os.path.join(folder, "out"), "--quiet", *map(str, options)],
            capture_output=True,
            text=True,
        )
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        with np.load(os.path.join(folder, "out", "kappa_1998-04-01.npz")) as file:
            return {key[5:]: file[key] for key in file.files if key.startswith("spec_")}


def plasma_rows(label, found, truth):
    rows = []
    fitted = found["plasma_status"] == "fitted"
    for name, key, true, relative in (
        ("kappa", "kappa", "kappa", False),
        ("T", "temperature", "T", True),
        ("density", "density", "density", True),
    ):
        d, error = found[key] - truth[true], found[key + "_error"]
        scaled = (100 * d / truth[true] if relative else d)[fitted]
        known = fitted & np.isfinite(error)
        part = np.abs(d[known] / error[known])
        rows.append(
            [
                label,
                name + (", %" if relative else ""),
                *(digits(x) for x in (np.median(scaled), *np.quantile(scaled, (0.05, 0.95)))),
                percent(known),
                percent(part < 1),
                percent(part < 2),
            ]
        )
    return rows


def kappa_part(program, n):
    import dayfiles

    V = 8.0
    known = ("--spacecraft-potential", V)
    head = ["data", "quantity", "median error", "5 %", "95 %", "with an error", "truth within 1", "within 2"]
    day = dayfiles.plasma(n, 201, Usc=(V, V))
    uneven = dayfiles.plasma(n, 201, Usc=(V, V), systematic=0.11)
    rows = plasma_rows("counts alone", answers(program, day, *known), day.truth) + plasma_rows(
        "rows uneven by 11 %", answers(program, uneven, *known), uneven.truth
    )
    out = ["## Kappa distributions", ""]
    out += paragraph(
        f"{n} sweeps with Poisson counts of 88 cells and a loss cone in the reflected half. Density is 0.1",
        f"to 5 cm^-3, kappa 2.6 to 5.5, T 12 to 120 eV. The spacecraft is at {V:.0f} V, which the fit knows.",
        "In the data each channel averages over its response by an integral; the fit uses a sum over the",
        "sweep's energies.",
    )
    out += paragraph(
        "The fit allows for rows that are uneven by 11 %, so its errors are too large for data without this.",
        'Errors of T and density are in %. "With an error": neither kappa nor theta is at a bound, where no',
        "error exists.",
    )
    out += table(head, rows)
    cold = dayfiles.plasma(
        n, 203, density=(1e5, 1e6), kappa=(3.0, 5.5), T=(8.0, 25.0), Usc=(V, V), tables=(0,)
    )
    empty = (cold.flux.sum(2) == 0).any(1)
    rows = []
    corner = {}
    for weights in ("counts", "original"):
        found = answers(
            program,
            cold,
            *known,
            "--weights",
            weights,
            *(("--density", "estimate") if weights == "original" else ()),
        )
        keep = empty & (found["plasma_status"] == "fitted")
        corner[weights] = (found["kappa"] > 5.99) & (found["theta"] < 1.001e6)
        T = 100 * (found["temperature"] / cold.truth["T"] - 1)[keep]
        shown = (
            np.median(T),
            *np.quantile(T, (0.05, 0.95)),
            np.median((found["kappa"] - cold.truth["kappa"])[keep]),
        )
        rows.append([weights, percent(keep[empty]), percent(corner[weights][keep]), *map(digits, shown)])
    out += paragraph(
        f"**Rows without a count.** In {percent(empty)} of {n} sweeps of cold plasma (T 8 to 25 eV, 0.1 to 1",
        "cm^-3) one row has no count in any cell. The weights of earlier fits (`original`) give such a row",
        "5e5 times the weight of another. The likelihood of counts gives it the right weight.",
    )
    out += table(
        [
            "weights",
            "fitted",
            "in the corner kappa = 6, theta = 1e6 m/s",
            "T, median error, %",
            "5 %",
            "95 %",
            "kappa, median error",
        ],
        rows,
    )
    return out, {weights: np.mean(value[empty]) for weights, value in corner.items()}


def charging_part(program, n):
    import dayfiles
    import reference as ref

    out = ["## Spacecraft potentials", ""]
    out += paragraph(
        "**Sunlight.** Photoelectrons balance the electrons of the plasma from 10 eV on. The sensor sees the",
        "distribution shifted by this potential. The fit knows only the spectrum. With `energies alone` the",
        "energies are shifted but the fluxes are not, as in earlier fits.",
    )
    day = dayfiles.plasma(2 * n, 204, density=(1e5, 5e6))
    truth = day.truth["Usc"]
    rows = []
    for label, options in (("as it is", ()), ("energies alone", ("--shift", "energies", "--refits", 1))):
        found = answers(program, day, "--spacecraft-potential", "auto", *options)
        d = found["spacecraft_potential"] - truth
        for low, high in ((0, 5), (5, 10), (10, 20), (20, 40)):
            here = (truth >= low) & (truth < high)
            keep = here & np.isfinite(d)
            known = keep & np.isfinite(found["spacecraft_potential_error"])
            part = np.abs(d / found["spacecraft_potential_error"])[known]
            if keep.sum() > 10:
                rows.append(
                    [
                        label,
                        f"{low} to {high}",
                        keep.sum(),
                        percent(keep[here]),
                        *errors(d[keep]),
                        percent(part < 1),
                        percent(part < 2),
                    ]
                )
    out += table(
        [
            "shift",
            "potential, V",
            "sweeps",
            "found",
            "bias",
            "RMSE",
            "MAE",
            "median",
            "90 %",
            "truth within 1 error",
            "within 2",
        ],
        rows,
    )
    day = dayfiles.plasma(n, 205, density=(1e5, 5e6), T=(10.0, 200.0), Usc=(0.0, 0.0), at_spacecraft=True)
    truth = np.array(
        [
            ref.shade_potential(*plasma)
            for plasma in zip(day.truth["density"], day.truth["kappa"], day.truth["T"])
        ]
    )
    found = answers(program, day, "--spacecraft-potential", "auto", "--illumination", "shade")
    negative = np.isfinite(truth)
    d = (found["spacecraft_potential"] - truth)[negative]
    part = np.abs(d / found["spacecraft_potential_error"][negative])
    part = part[np.isfinite(part)]
    near = np.abs(d) < 0.2 * np.abs(truth[negative])
    positive = percent(found["spacecraft_potential"][~negative] >= 0)
    out += paragraph(
        f"**Shade.** {n} spectra as the sensor sees them, T 10 to 200 eV. In {percent(~negative)} of them",
        "secondaries and ions prevail at 0 V, so the potential is positive; the fit finds it positive in",
        f"{positive} of these. In {percent(np.isfinite(d))} of the others there is an answer. It is within",
        f"20 % of the truth in {percent(near)}. Errors are in V.",
    )
    out += table(
        ["bias", "RMSE", "MAE", "median", "90 %", "truth within 1 error", "within 2"],
        [[*errors(d), percent(part < 1), percent(part < 2)]],
    )
    return out


# ---- the page ---------------------------------------------------------------------------------------


def words(all_, corner, models):
    """The page's beginning: what the tables say, with their numbers."""

    def of(truth, name):
        fits = all_[truth, name]
        d = (fits.potential_centre - fits.day.truth["U"])[fits.fitted]
        return d.mean(), np.sqrt((d**2).mean()), np.mean(fits.within("potential", fits.fitted))

    def set_of(level=None, step=0.1):
        fits = all_["folded", "folded"]
        return f"{100 * np.mean((fits.calibrated[level, step] if level else fits.plain)[0][fits.fitted]):.0f}"

    same, wrong, other = of("hard", "Halekas"), of("folded", "Halekas"), of("hard", "folded")
    integral, integral_hard = of("integral", "folded"), of("integral", "Halekas")
    weighted = of("integral", "weighted")
    folded, lillis, lillis_folded = of("folded", "folded"), of("hard", "Lillis"), of("folded", "Lillis")
    out = [BEGIN]
    out += paragraph(
        "A second implementation of the formulas (NumPy, in `tests/losscone`) made the data of this page;",
        "the library and the program fitted them. Nothing here was measured on data of the mission. The",
        "columns of the tables are explained in [loss cones](losscone.md).",
    )
    out += ["## Summary", ""]
    items = [
        (
            "**The model of the instrument matters most.** The right model finds U with an RMS error of",
            f"{same[1]:.1f} V (hard edge) or {folded[1]:.1f} V (folded). A hard edge fitted to folded data",
            f"is on average {abs(wrong[0]):.0f} V too negative (RMS {wrong[1]:.0f} V). A folded edge fitted",
            f"to hard data is {other[0]:.0f} V too positive ({other[1]:.0f} V). Both errors grow with U. The",
            f"intervals do not show them: they contain the truth in {100 * wrong[2]:.0f} % and",
            f"{100 * other[2]:.0f} % of the sweeps.",
        ),
        (
            "**The misfit tells the models apart.** The right model had the lower misfit in",
            f"{100 * models:.1f} % of these sweeps, where only the edge differs. `losscone fit` therefore",
            "fits both and names the better one. The sensor averages over its response, so expect `folded`.",
            "If the hard edge fits better, find out why first.",
        ),
        (
            "**The spectrum weights the response.** A real response is an integral weighted by the spectrum",
            "(`integral` below). A steep spectrum lowers the effective energy of a channel. Weighted by the",
            f"measured spectrum, the folded edge has a bias of {weighted[0]:.1f} V there (RMS",
            f"{weighted[1]:.1f} V). With equal weights it is {integral[0]:.0f} V ({integral[1]:.0f} V). The",
            f"hard edge has {integral_hard[0]:.0f} V ({integral_hard[1]:.0f} V).",
        ),
        (
            f"**A plateau is not an error.** With a hard edge it contains the truth in {100 * same[2]:.0f} %",
            "of the sweeps. Geometry limits U there, noise hardly matters, and a threshold adds little. The",
            f"folded model has plateaus of about 1 V, which contain the truth in {100 * folded[2]:.0f} %.",
            "Noise limits U there, and you need a confidence set. The default set contained the truth in",
            f"{set_of()} %.",
        ),
        (
            f"**Bootstrap sets** of the folded model at 68 and 95 % contained the truth in {set_of(0.68)}",
            f"and {set_of(0.95)} % (ends every 0.1 V). Ends every 1 V are coarse for such plateaus:",
            f"{set_of(0.68, 1.0)} and {set_of(0.95, 1.0)} %.",
        ),
        (
            "**Counts.** Real sweeps are counts, and the folded edge is fitted by their likelihood. See",
            "[counted electrons](#counted-electrons), and the same",
            "[by someone else's generator](#by-someone-elses-generator).",
        ),
        (
            f"**Lillis's misfit does not determine U of a hard edge** (RMS {lillis[1]:.0f} V, plateaus over",
            "most of the range). It drops the cells near 1 and near the background, which are nearly all",
            "cells. It works on folded data, because a smeared edge has cells in between:",
            f"{lillis_folded[1]:.0f} V, where the folded model has {folded[1]:.1f} V.",
        ),
        (
            "**Spacecraft potentials in sunlight** are right to a few tenths of a volt up to 20 V. They are",
            "slightly too low, because the fit uses a sum over 15 energies and these data an integral.",
            "Beyond 20 V they are off by volts, and the error is too small. If only energies are shifted,",
            "they are volts too low everywhere.",
        ),
        (
            "**Rows without a count break kappa fits with the weights of earlier fits.**",
            f"{100 * corner['original']:.0f} % of such sweeps end in the corner kappa = 6, theta = 1e6 m/s,",
            f"T = 3.8 eV. With the likelihood of counts it is {100 * corner['counts']:.0f} %.",
        ),
    ]
    return out + [line for item in items for line in paragraph(*item, bullet=True)] + [""]


def right_part(all_, library):
    """The part of the sweeps in which the true model has the lower misfit, both without a beam."""
    parts = []
    for truth in ("hard", "folded"):
        day = all_[truth, "folded"].day
        hard = Fits(library, day, "halekas", "hard", bootstrap=False, amplitude_upper=0.0)
        parts.append((hard.misfit < all_[truth, "folded"].misfit) == (truth == "hard"))
    return np.mean(parts)


def replaced(page, section):
    """The page with a section in the place of the one of this heading."""
    start = page.index(section[0] + "\n")
    end = page.index("\n## ", start) + 1
    return page[:start] + "\n".join(section) + "\n" + page[end:]


def whole_page(program, sweeps, counted):
    from library import Library

    library = Library()
    losscone, all_ = losscone_part(library, sweeps)
    right = right_part(all_, library)
    library.close()
    kappa, corner = kappa_part(program, sweeps // 2)
    page = words(all_, corner, right) + losscone
    for tool, part in counted:
        page += tool.part(program, sweeps // part)
    return page + kappa + charging_part(program, sweeps // 2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--only", choices=("counts", "yardstick"))
    arguments = parser.parse_args()
    program = os.environ["PARITAS_BIN"] = os.path.join(os.path.abspath(arguments.build), "bin", "paritas")
    path = os.path.join(ROOT, "docs", "losscone-recovery.md")
    counted = {"counts": (recovery_counts, 5), "yardstick": (recovery_yardstick, 16)}
    if arguments.only:
        tool, part = counted[arguments.only]
        with open(path, encoding="utf-8") as file:
            page = file.read()
        page = replaced(page, tool.part(program, arguments.sweeps // part))
    else:
        page = "\n".join(whole_page(program, arguments.sweeps, counted.values())).rstrip() + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


main()
