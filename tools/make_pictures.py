#!/usr/bin/env python3
"""Draws the README's pictures into docs/pictures: make_pictures.py [NAME ...]

brazil, pulls: examples/sbottom_A with one signal point. losscone: a synthetic sweep and its fit.
speed: the first table of docs/benchmarks.md.
Needs `paritas` as a package and as a program, and matplotlib."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import paritas
from paritas import losscone, plot
from paritas.plot import losscone as plot_losscone

ROOT = Path(__file__).resolve().parent.parent
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


def losscone_sweep():
    """One sweep, the fitted model, and their difference."""
    program = Path(sys.executable).with_name("paritas")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program if program.exists() else "paritas"), *SYNTHESIZE.split(), folder]
        subprocess.run(command, check=True)
        day = next(Path(folder).glob("*.TAB"))
        sweeps = losscone.load(str(day), geometry=f"{folder}/truth.csv", spacecraft_potential=10.0)
        return plot_losscone.sweep(losscone.fit(sweeps), SWEEP)


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
    """Times of pyhf and nextstat over ours, a bar for each analysis and task."""
    from matplotlib.figure import Figure

    rows = table_rows(ROOT / "docs" / "benchmarks.md")
    columns = [name for name in rows[0] if " / ours" in name]
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
    axes.set_xlim(1, 2e5)
    axes.set_xlabel("their time / ours")
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.3, 1.17), ncols=len(columns), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


PICTURE_OF = {"brazil": brazil, "pulls": pulls, "losscone": losscone_sweep, "speed": speed}


def main(names):
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "paritas"  # the same file from the same picture
    PICTURES.mkdir(exist_ok=True)
    for name in names or PICTURE_OF:
        figure = PICTURE_OF[name]()
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1:])
