#!/usr/bin/env python3
"""Draws the pictures of the pages into docs/pictures: make_pictures.py [NAME ...]

brazil, pulls, toys: examples/sbottom_A with one signal point. losscone: a synthetic sweep and its fit;
losscone_...: its misfit, and a day. moon_...: products of a month by bench/synthetic_month.py.
speed: the first tables of docs/numbers.md and docs/benchmarks.md. training: examples/training (needs jax).
Needs `paritas` as a package and as a program, and matplotlib."""

import io
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import paritas
from paritas import losscone, plot
from paritas.plot import losscone as plot_losscone
from paritas.plot import moon as plot_moon
from paritas.plot import spherical as plot_spherical

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from synthetic_month import make_month, program  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
ANALYSIS = ROOT / "examples" / "sbottom_A"
SYNTHESIZE = "losscone synthesize --sweeps 40 --seed 3 --quiet -o"
SWEEP = 12


def signal_model():
    return paritas.Model.from_workspace(ANALYSIS / "BkgOnly.json", ANALYSIS / "patch.sbottom_900_250_60.json")


def brazil():
    """CLs of a signal point with its expected bands."""
    model = signal_model()
    return plot.brazil_band([model.hypotest(mu) for mu in np.linspace(0.0, 0.8, 41)])


def pulls():
    """The pulls of the 12 parameters that the fit moves most."""
    model = signal_model()
    return plot.pulls(model.fit(), model, top=12)


def toys():
    """The test statistic in toys with the signal and without it."""
    model = signal_model()
    test = model.hypotest_toys(0.2, n=20000, seed=1)
    return plot.toys(test, q_A=model.hypotest(0.2).q_A)


@cache
def sweeps_fitted():
    """Forty synthetic sweeps and their fits."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program(), *SYNTHESIZE.split(), folder], check=True)
        day = next(Path(folder).glob("*.TAB"))
        sweeps = losscone.load(str(day), geometry=f"{folder}/truth.csv", spacecraft_potential=10.0)
        return losscone.fit(sweeps)


def losscone_sweep():
    """One sweep, the fitted model, and their difference."""
    return plot_losscone.sweep(sweeps_fitted(), SWEEP)


def losscone_profile():
    """The misfit of this sweep over U."""
    fit = sweeps_fitted()
    centre = fit.point(SWEEP)[0]
    over = np.linspace(centre - 150.0, min(centre + 150.0, 20.0), 601)
    profiles = [losscone.profile(fit.sweeps[SWEEP], over, response=one) for one in ("hard", "folded")]
    return plot_losscone.profile(profiles, fit=fit, sweep=SWEEP)


@cache
def month():
    """The tables of a synthetic month."""
    with tempfile.TemporaryDirectory() as folder:
        make_month(f"{folder}/er")
        command = f"losscone fit {folder}/er --geometry {folder}/er/truth.csv -o {folder}/tables --quiet"
        subprocess.run([program(), *command.split()], check=True, stdout=subprocess.DEVNULL)
        return losscone.read_tables(f"{folder}/tables")


def losscone_series():
    """U over seven hours, with the Moon in the Earth's tail."""
    rows = month().sweeps
    day = rows[np.char.startswith(rows["utc"], "1998-07-07")]
    return plot_losscone.time_series(day[:320], shade="projection_in_sun")


def moon_night():
    return plot_moon.surface_map(losscone.surface_map(month()), "night")


def moon_sphere():
    return plot_moon.surface_map(losscone.surface_map(month()), projection="sphere")


def moon_power():
    parts = (losscone.spherical_harmonics(month(), illumination=one) for one in ("night", "day"))
    return plot_spherical.power(*parts)


def moon_terminator():
    return plot_moon.terminator_profile(losscone.terminator_profile(month()))


def moon_periods():
    return plot_moon.periodogram(losscone.periodogram(month()))


def moon_regions():
    statistics = losscone.region_statistics(month(), illumination="night")
    return plot_moon.regions(statistics, response=losscone.select(month()).response)


def table_rows(page):
    """The rows of the first table of a page, as dictionaries by its headings."""
    lines = [line for line in page.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head, body = cells[0], []
    for row in cells[2:]:
        if len(row) != len(head):
            break
        body.append(dict(zip(head, row)))
    return body


def number(cell):
    """The number that a cell begins with; None where it has none."""
    found = re.match(r"[\d.]+", cell)
    return float(found.group()) if found else None


def speed():
    """Times of fits by other programs over ours, a bar for each analysis and program."""
    from matplotlib.figure import Figure

    rows = [row for row in table_rows(ROOT / "docs" / "benchmarks.md") if row["operation"] == "fit"]
    columns = [name for name in rows[0] if " / ours" in name]
    one_page = [row for row in table_rows(ROOT / "docs" / "numbers.md") if row["feature"] == "fit"]
    analysis, parameters = "bottom squarks", "64"
    of_squarks = {
        row["program"].split()[0].strip(","): row for row in one_page if analysis in row["analysis"]
    }
    ratios = {name: of_squarks[name.split()[0]]["other / ours"] for name in columns}
    rows.insert(1, {"analysis": analysis, "parameters": parameters, **ratios})
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.add_subplot()
    height = 0.8 / len(columns)
    for i, column in enumerate(columns):
        drawn = [(k, number(row[column])) for k, row in enumerate(rows) if number(row[column])]
        places = [k + (i - (len(columns) - 1) / 2) * height for k, _ in drawn]
        bars = axes.barh(places, [ratio for _, ratio in drawn], height, label=column.replace(" / ours", ""))
        axes.bar_label(bars, [f"{ratio:g}" for _, ratio in drawn], padding=2, fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{row['analysis']} ({row['parameters']} parameters)" for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(1, 2e6)
    axes.set_xlabel("time of a fit, theirs / ours")
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.3, 1.17), ncols=len(columns), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def training():
    """A network trained on the likelihood, and one on cross-entropy."""
    sys.path.insert(0, str(ROOT / "examples" / "training"))
    import train_on_likelihood

    return train_on_likelihood.draw(train_on_likelihood.compare())


PICTURE_OF = {
    "brazil": brazil,
    "pulls": pulls,
    "toys": toys,
    "losscone": losscone_sweep,
    "speed": speed,
    "training": training,
}
#: many cells and points: pixels are smaller
PIXELS_OF = {
    one.__name__: one
    for one in (
        losscone_profile,
        losscone_series,
        moon_night,
        moon_sphere,
        moon_power,
        moon_terminator,
        moon_periods,
        moon_regions,
    )
}


def save_pixels(figure, path):
    """A PNG of 100 dots an inch and 96 colours."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    whole = Image.open(drawn).convert("RGB")
    whole.quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)


def main(names):
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "paritas"  # the same file from the same picture
    PICTURES.mkdir(exist_ok=True)
    for name in names or (*PICTURE_OF, *PIXELS_OF):
        if name in PIXELS_OF:
            save_pixels(PIXELS_OF[name](), PICTURES / f"{name}.png")
            continue
        figure = PICTURE_OF[name]()
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1:])
