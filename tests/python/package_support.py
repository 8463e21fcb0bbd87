"""What tests of the package share: the analyses at hand, and what the program (PARITAS_BIN) says of them."""

from __future__ import annotations

import json
import math
import os
import subprocess
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import paritas

TREE = Path(__file__).resolve().parents[2]
SHARED = TREE.parent / "shared" / "workspaces"
PROGRAM = os.environ.get("PARITAS_BIN", str(TREE / "build" / "release" / "bin" / "paritas"))
TWO = TREE / "examples" / "two_bins.json"
SBOTTOM = TREE / "examples" / "sbottom_A"

#: name: workspace, patch or None, parameter of interest where the workspace names none
ANALYSES = {
    "two_bins": (TWO, None, None),
    "sbottom": (SBOTTOM / "BkgOnly.json", SBOTTOM / "patch.sbottom_900_250_60.json", None),
    "displaced_leptons": (SHARED / "displaced_leptons_signal.json", None, None),
    "ttZ": (SHARED / "ttZ_4l.json", None, None),
    "tHu": (SHARED / "tHu_FCNC.json", None, None),
    "staus": (SHARED / "SUSY-2018-04_staus.json", None, ""),
}
WITH_POI = [name for name in ANALYSES if name != "staus"]


@lru_cache(maxsize=None)
def model_of(name: str) -> paritas.Model:
    workspace, patch, poi = ANALYSES[name]
    if not workspace.exists():
        pytest.skip(f"{workspace.name} is not here")
    return paritas.Model.from_workspace(workspace, patch or (), poi=poi)


def program(command: str, name: str, *options: object) -> dict:
    """The program's JSON; a fit that does not converge is for the test to see."""
    workspace, patch, poi = ANALYSES[name]
    given = [
        PROGRAM,
        command,
        workspace,
        *(("--patch", patch) if patch else ()),
        *(("--poi", poi) if poi is not None else ()),
        "--quiet",
        "--json",
        "--device",
        "cpu",
        *options,
    ]
    done = subprocess.run([str(one) for one in given], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def same(ours: object, theirs: object) -> bool:
    """The same bits; null in JSON is NaN here."""
    if theirs is None:
        return ours is None or math.isnan(ours)  # type: ignore[arg-type]
    if isinstance(theirs, list):
        pairs = zip(ours, theirs)  # type: ignore[call-overload]
        return len(theirs) == len(ours) and all(same(a, b) for a, b in pairs)  # type: ignore[arg-type]
    return bool(ours == theirs)


def assert_same(ours: object, theirs: object, what: str = "") -> None:
    assert same(np.asarray(ours).tolist() if isinstance(ours, (np.ndarray, list)) else ours, theirs), (
        f"{what}: {ours} is not {theirs}"
    )
