"""What the tests of the commands on day files share: running the program, synthetic days, reading tables."""

import csv
import json
import os
import subprocess

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
GIVEN = ("--spacecraft-potential", 10, "--polarity=-1")


def run(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={"PARITAS_DEVICE": "cpu", **os.environ},
    )


def answer(*arguments):
    done = run(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def synthesize(folder, *arguments):
    done = run("losscone", "synthesize", "-o", folder, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder


def fit(files, tables, *arguments):
    return answer(
        "losscone",
        "fit",
        *([files] if isinstance(files, (str, os.PathLike)) else files),
        "-o",
        tables,
        *GIVEN,
        *arguments,
    )


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        lines = list(file)
    head = [line[2:] for line in lines if line.startswith("# ")]
    return (json.loads("".join(head)) if head else None), list(csv.DictReader(lines[len(head) :]))


def column(rows, name):
    return np.array([float(row[name]) if row[name] else np.nan for row in rows])


def arrays(path):
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def bytes_of(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Two days of eight sweeps without a beam, each spacecraft at 10 V."""
    return synthesize(
        tmp_path_factory.mktemp("days"),
        "--days",
        2,
        "--sweeps",
        8,
        "--true-spacecraft",
        10,
        "--noise",
        0.1,
        "--beams",
        0,
    )


@pytest.fixture(scope="module")
def tables(days, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    fit(days, folder)
    return folder


def misfits(path):
    return {row["spectrum"]: row["misfit"] for row in read_csv(path)[1]}


def spoil(days, path, change):
    rows = [line.split() for line in (days / "3D980116.TAB").read_text().splitlines()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(" ".join(row) for row in change(rows)) + "\n")
    return path
