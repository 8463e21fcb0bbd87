"""What 1.0 promises for all 1.x: the interface only grows, and files of 1.0 are read (docs/stability.md)."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("paritas")
import interface  # noqa: E402
import make_files  # noqa: E402

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("PARITAS_BIN", str(HERE.parents[1] / "build" / "release" / "bin" / "paritas"))
FILES = HERE / "1.0"


@pytest.fixture(scope="module")
def now():
    return interface.interface(os.path.abspath(PROGRAM))


def lost(before, after):
    return [(thing, part) for thing in before for part in before[thing] if part not in after.get(thing, {})]


def test_nothing_of_1_0_is_lost(now):
    promised = interface.read((HERE / "1.0.txt").read_text())
    assert sum(map(len, promised.values())) > 4000
    assert lost(promised, now) == []


def test_the_record_has_what_the_interface_has(now):
    """until 1.0.0 is released: interface.py PROGRAM --write tests/stable/1.0.txt"""
    promised = interface.read((HERE / "1.0.txt").read_text())
    assert lost(now, promised) == []


def test_what_is_lost_is_found(now):
    for thing, part in [
        ("C struct paritas_fit_result", "edm at "),
        ("program fit", "--covariance"),
        ("JSON limit two_bins.json", "limit_obs number"),
        ("Python paritas.fit", "covariance = True"),
    ]:
        whole = next((one for one in now.get(thing, {}) if one.startswith(part)), None)
        assert whole, f"{thing} has no {part}, but {list(now.get(thing, {}))}"
        less = {**now, thing: {one: None for one in now[thing] if one != whole}}
        assert lost(now, less) == [(thing, whole)]


def as_before(now, then):
    """The keys that an answer of 1.0 has, since later ones may have more."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: as_before(now[key], value) for key, value in then.items() if key in now}
    return now


def test_files_of_1_0_are_read(tmp_path):
    for file in FILES.iterdir():
        if file.suffix == ".gz":
            (tmp_path / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, tmp_path)
    expected = json.loads((FILES / "answers.json").read_text())
    assert as_before(make_files.answers(os.path.abspath(PROGRAM), tmp_path), expected) == expected
