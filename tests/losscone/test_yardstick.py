"""The independent yardstick of loss cones runs, and sets of the hard edge hold the true potential."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
if not sys.platform.startswith("linux"):
    pytest.skip("the yardstick is tried on Linux alone", allow_module_level=True)

YARDSTICK = Path(__file__).resolve().parents[2] / "tools" / "losscone_yardstick.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(YARDSTICK), *arguments], capture_output=True, text=True, timeout=300
    )


def test_hard_sets_hold_the_truth(tmp_path):
    numbers = tmp_path / "rows.json"
    done = run(
        *("--sweeps", "40", "--truth", "hard", "--region", "magnetosheath", "--background", "0"),
        *("--json", str(numbers)),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(numbers.read_text())
    assert [row["potential"] for row in rows] == [-20, -100, -300]
    assert all(row["fitted"] == 40 and row["holds"] >= 0.9 for row in rows), rows
    assert "least holds, hard" in done.stdout


def test_unknown_region():
    done = run("--region", "sea")
    assert done.returncode == 2
    assert "'sea' is unknown: choose from solar-wind" in done.stderr
