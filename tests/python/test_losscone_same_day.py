"""A day prepared and fitted from Python has the bits of the program's tables."""

import os
import re
import subprocess

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from losscone_support import equal, program, run, synthesize
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
        {"polarity": -1, "spacecraft_potential": 8.0, "method": "halekas"},
        {"search": "de", "population": 20},
    ),
    "bootstrap": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--confidence", "bootstrap", "--draws", 5)
        + ("--method", "halekas"),
        {"polarity": -1, "spacecraft_potential": 8.0, "method": "halekas"},
        {"confidence": "bootstrap", "draws": 5, "method": "halekas"},
    ),
    "shade": (
        ("--polarity", "-1", "--illumination", "shade", "--weights", "original", "--density", "estimate")
        + ("--kappa-lower", 2.2, "--kappa-upper", 9, "--speed-lower", 5e5, "--speed-upper", 5e7)
        + ("--channel-width", 0.3, "--currents", "sums", "--response", "folded", "--response-width", 0.2)
        + ("--confidence", "residuals", "--step", 2, "--potential-errors", 1),
        {
            "polarity": -1,
            "illumination": "shade",
            "kappa_options": {
                "weights": "original",
                "density": "estimate",
                "kappa_lower": 2.2,
                "kappa_upper": 9.0,
                "theta_lower": 5e5,
                "theta_upper": 5e7,
                "response": 0.3,
            },
            "potential_options": {"currents": "sums"},
            "response_width": 0.2,
        },
        {"response": "folded", "response_width": 0.2, "step": 2.0, "potential_errors": 1.0},
    ),
    "sun": (
        ("--geometry", "sun.csv", "--sunlight", 25, "--systematic", 0.2, "--dead", 0.1, "--refits", 3)
        + ("--shift", "energies", "--normalisation", "pairs", "--theta", "theta.tab", "--threshold", 0.4),
        {
            "geometry": "sun.csv",
            "sunlight": 25.0,
            "kappa_options": {"systematic": 0.2, "dead": 0.1},
            "potential_options": {"refits": 3, "liouville": False},
            "normalisation": "pairs",
            "theta": "theta.tab",
        },
        {"confidence": 0.4},
    ),
    "mag": (
        ("--mag", "mags/MA980116.TAB", "--response", "hard"),
        {"mag": "mags/MA980116.TAB"},
        {"response": "hard"},
    ),
    "mags": (("--mag", "mags", "--response", "hard"), {"mag": "mags"}, {"response": "hard"}),
    "lillis": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--method", "lillis", "--potential-lower", -900)
        + ("--potential-upper", 10, "--ratio-lower", 0.35, "--ratio-upper", 1.05, "--amplitude-lower", 0.1)
        + ("--amplitude-upper", 3, "--beam-width", 20, "--beam-sigma", 10, "--background", 0.1)
        + ("--box-limit", 900),
        {"polarity": -1, "spacecraft_potential": 8.0, "method": "lillis"},
        {
            "method": "lillis",
            "potential_lower": -900.0,
            "potential_upper": 10.0,
            "ratio_lower": 0.35,
            "ratio_upper": 1.05,
            "amplitude_lower": 0.1,
            "amplitude_upper": 3.0,
            "beam_width": 20.0,
            "beam_sigma": 10.0,
            "background": 0.1,
            "box_limit": 900,
        },
    ),
    "draws": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--confidence", "bootstrap", "--draws", 4)
        + ("--level", 0.9, "--seed", 9, "--precision", "f32", "--threads", 1, "--method", "halekas"),
        {"polarity": -1, "spacecraft_potential": 8.0, "precision": "f32", "method": "halekas"},
        {
            "method": "halekas",
            "confidence": "bootstrap",
            "draws": 4,
            "level": 0.9,
            "seed": 9,
            "precision": "f32",
            "threads": 1,
        },
    ),
    "generations": (
        ("--polarity", "-1", "--spacecraft-potential", 8, "--search", "de", "--generations", 30),
        {"polarity": -1, "spacecraft_potential": 8.0, "method": "halekas"},
        {"search": "de", "generations": 30},
    ),
}


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    drawn = ("--plasma", "--counts", "--background-rate", 3, *DRAWN)
    folder, truth = synthesize(tmp_path_factory.mktemp("day"), *drawn)
    lines = open(truth).read().splitlines()
    sun = [f"{line},{30 * k},{4 * k - 20}" for k, line in enumerate(lines[1:])]
    with open(f"{folder}/sun.csv", "w") as file:
        file.write("\n".join([f"{lines[0]},sun_azimuth,sun_elevation", *sun]) + "\n")
    with open(f"{folder}/theta.tab", "w") as file:
        file.write("\n".join(f"{angle:.2f}" for angle in losscone.theta()) + "\n")
    os.mkdir(f"{folder}/mags")
    with open(f"{folder}/mags/MA980116.TAB", "w") as file:  # the field turns after 8 minutes
        for k in range(240):
            field = f"{5.0 if 5 * k < 480 else -5.0:9.3f}   1.000   2.000"
            position = f"{-1838.0:10.2f}     0.00     0.00"
            time = f" 1998-01-16T00:{k // 12:02}:{5 * k % 60:02} 16.0"
            file.write(f"{time}{field}{field}    0.100{position}{position}  1\n")
    return folder


def hold(folder, files, out, options, load, fit):
    def place(value):
        return f"{folder}/{value}" if str(value).endswith((".csv", ".tab", ".TAB", "mags")) else value

    run(
        "losscone", "fit", *files, *map(place, options), "-o", out, "--quiet", allowed=(0, 1)
    )  # 1: at a limit
    program = losscone.read_tables(next(out.glob("*.csv"))).sweeps
    made = losscone.fit(losscone.load(files, **{key: place(value) for key, value in load.items()}), **fit)
    assert len(made) == len(program) > 0
    differ = [name for name in program.dtype.names if not equal(program[name], made.table[name])]
    assert differ == []
    made.write(out / "python.txt")
    assert body(out / "python.txt") == body(next(out.glob("*.csv")))
    return made


def body(path):
    """Of a table: its columns and sweeps, without the provenance."""
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("way", WAYS)
def test_a_day_from_python_has_the_bits_of_the_programs_table(day, tmp_path, way):
    made = hold(day, [f"{day}/3D980116.TAB"], tmp_path / "out", *WAYS[way])
    assert np.sum(made.table["status"] == "fitted") > 0 or way == "evolution"


def test_every_option_of_the_program_is_one_of_python():
    """Each is tried above, but those that find days, write tables or say where to compute."""
    asked = set(re.findall(r"^  (?:-., )?(--[a-z-]+)", run("losscone", "fit", "--help"), re.M))
    tried = {word for words, _, _ in WAYS.values() for word in words if str(word).startswith("--")}
    of_days = {"--year", "--month", "--day", "--output-folder", "--overwrite", "--json", "--quiet", "--help"}
    elsewhere = {"--strict", "--spice", "--attitude", "--device", "--counts"}
    assert asked - tried - of_days - elsewhere == set()


def test_rows_of_the_programs_archive_are_the_days(day, tmp_path):
    made = hold(day, [f"{day}/3D980116.TAB"], tmp_path / "out", *WAYS["sun"])
    rows = losscone.read_tables(next((tmp_path / "out").glob("*.npz"))).rows
    own, reasons = made.sweeps.counted_days[0], list(paritas._engine.er_reasons())
    assert equal(rows["energy"], own.energy) and np.array_equal(rows["reason"], own.cell_reason)
    assert np.array_equal(rows["row_reason"], own.row_reason) and "sunlight" in reasons
    for reason in ("sunlight", "few_counts"):
        assert np.sum(rows["reason"] == reasons.index(reason)) > 0
    told = losscone.read_tables(next((tmp_path / "out").glob("*.npz"))).provenance[0]["answer"]["reasons"]
    assert {name: one["count"] for name, one in told.items()} == {
        name: one.times for name, one in own.counts.items()
    }


def test_damage_is_refused_in_the_same_words(day, tmp_path):
    file = f"{day}/3D980116.TAB"
    words = "line 1: a sweep begins that has fewer rows than 15"
    done = subprocess.run(
        [program(), "losscone", "fit", file, "--strict", "-o", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 3 and f"{file}: {words}" in done.stderr
    with pytest.raises(paritas.InvalidInput, match=words):
        losscone.load(file, strict=True, polarity=-1, spacecraft_potential=8.0)


def test_written_tables_are_read(day, tmp_path):
    made = losscone.fit(losscone.load(f"{day}/3D980116.TAB", polarity=-1, spacecraft_potential=8.0))
    made.write(tmp_path / "losscone_mine.csv")
    read = losscone.read_tables(tmp_path)
    assert [name for name in read.sweeps.dtype.names if not equal(read[name], made[name])] == []
    assert read.provenance[0]["options"]["method"] == "auto"
    with pytest.raises(paritas.Unwritable, match="nowhere/x.csv: cannot be written"):
        made.write(tmp_path / "nowhere" / "x.csv")


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
