"""A day prepared and fitted from Python has the bits of the program's tables."""

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from losscone_support import equal, run, synthesize
from paritas import losscone

DRAWN = ("--sweeps", 12, "--missing-cells", 0.01, "--missing-rows", 0.01, "--low-energies", "--seed", 5)
#: as options of the program, as keywords of `load`, as keywords of `fit`
WAYS = {
    "plasma": (("--geometry", "truth.csv"), {"geometry": "truth.csv"}, {}),
    "given": (
        ("--spacecraft-potential", "truth.csv", "--polarity", "truth.csv", "--response-weights", "equal"),
        {"spacecraft_potential": "truth.csv", "polarity": "truth.csv", "response_weights": "equal"},
        {},
    ),
    "options": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--normalisation", "max", "--least-counts", 0)
        + ("--subtract-background", "none", "--confidence", "none", "--response", "hard"),
        {
            "polarity": -1,
            "spacecraft_potential": 8.0,
            "normalisation": "max",
            "least_counts": 0.0,
            "subtract_background": False,
        },
        {"confidence": "none", "response": "hard"},
    ),
    "evolution": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--search", "de", "--population", 20),
        {"polarity": -1, "spacecraft_potential": 8.0},
        {"search": "de", "population": 20},
    ),
    "bootstrap": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--confidence", "bootstrap", "--draws", 5),
        {"polarity": -1, "spacecraft_potential": 8.0},
        {"confidence": "bootstrap", "draws": 5},
    ),
}


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    drawn = ("--plasma", "--counts", "--background-rate", 3, *DRAWN)
    folder, _ = synthesize(tmp_path_factory.mktemp("day"), *drawn)
    return folder


def hold(folder, files, out, options, load, fit):
    def place(value):
        return f"{folder}/{value}" if value == "truth.csv" else value

    run("losscone", "fit", *files, *map(place, options), "-o", out, "--quiet")
    program = losscone.read_tables(next(out.glob("*.csv"))).sweeps
    made = losscone.fit(losscone.load(files, **{key: place(value) for key, value in load.items()}), **fit)
    assert len(made) == len(program) > 0
    differ = [name for name in program.dtype.names if not equal(program[name], made.table[name])]
    assert differ == []
    return made


@pytest.mark.parametrize("way", WAYS)
def test_a_day_from_python_has_the_bits_of_the_programs_table(day, tmp_path, way):
    made = hold(day, [f"{day}/3D980116.TAB"], tmp_path / "out", *WAYS[way])
    assert np.sum(made.table["status"] == "fitted") > 0 or way == "evolution"


def test_files_of_one_date_become_the_programs_day(day, tmp_path):
    """A copy with other spectrum numbers repeats the sweeps by their times, a cut one by both."""
    lines = open(f"{day}/3D980116.TAB").read().splitlines()
    fields = [line.split() for line in lines]
    (tmp_path / "cut.TAB").write_text("\n".join(lines[: len(lines) // 2]) + "\n")
    (tmp_path / "numbered.TAB").write_text(
        "".join(
            f"{' '.join([*row[:3], str(int(row[3]) + 100), *row[4:]])}\n" for row in fields if int(row[3]) > 8
        )
    )
    files = [f"{day}/3D980116.TAB", str(tmp_path / "cut.TAB"), str(tmp_path / "numbered.TAB")]
    with pytest.warns(UserWarning, match="of its sweeps are in .* too and count once"):
        made = hold(day, files, tmp_path / "out", *WAYS["options"])
    assert len(made) == 12
