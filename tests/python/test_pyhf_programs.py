"""Programs from PyPI that import pyhf, unmodified: on pyhf and on Paritas, numbers within Minuit's precision.

Whole test suites: tests/suites/run_suites.py."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyhf")
PROGRAMS = Path(__file__).parent / "pyhf_programs"
#: absolute: a minimum is found to a hundredth of an error, twice the NLL to Minuit's EDM
TOLERANCES = {"twice_nll": 5e-4, "twice_nll_at_bound": 5e-4, "scan": 2e-3, "goodness_of_fit": 1e-3}
USUAL = {"rtol": 0.01, "atol": 0.01}


def answers(program, folder, *before):
    folder.mkdir()
    command = [sys.executable, *before, str(PROGRAMS / program), str(folder)]
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, "MPLBACKEND": "agg"}
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found, _ = json.JSONDecoder().raw_decode(run.stdout, run.stdout.index('{"'))  # spey writes more
    return found


def flat(value):
    return (
        np.concatenate([flat(one) for one in value]) if isinstance(value, list) else np.array([float(value)])
    )


@pytest.mark.parametrize(
    "program, needed",
    [
        ("cabinetry_workflow.py", ("cabinetry", "iminuit")),
        ("spey_limits.py", ("spey_pyhf",)),
        ("abcd_limits.py", ("abcd_pyhf",)),
    ],
)
def test_a_program_answers_as_on_pyhf(program, needed, tmp_path):
    for package in needed:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    theirs = answers(program, tmp_path / "theirs")
    ours = answers(program, tmp_path / "ours", "-m", "paritas.pyhf", "--absent-backend", "numpy")
    assert ours.keys() == theirs.keys()
    assert ours.pop("figures", None) == theirs.pop("figures", None)
    for name, asked in theirs.items():
        tolerance = {"rtol": 0, "atol": TOLERANCES[name]} if name in TOLERANCES else USUAL
        np.testing.assert_allclose(flat(ours[name]), flat(asked), err_msg=name, **tolerance)
    for name in ("twice_nll", "twice_nll_at_bound"):
        assert name not in ours or ours[name] <= theirs[name] + 1e-6
