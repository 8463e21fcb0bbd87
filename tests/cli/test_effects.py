"""An option that would have no effect, or no answer, is refused with the option that it needs."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ["PARITAS_BIN"]
TREE = Path(__file__).resolve().parents[2]

CASES = [
    ("losscone fit", "--population 9", "--population needs --search de"),
    ("losscone fit", "--search exact --generations 9", "--generations needs --search de"),
    ("losscone fit", "--search de --box-limit 9", "--box-limit needs --search exact"),
    ("losscone fit", "--level 0.5", "--level needs --confidence bootstrap"),
    ("losscone fit", "--confidence none --step 2", "--step needs --threshold C or"),
    ("losscone fit", "--search de --step 2", "--step needs --search exact"),
    ("losscone fit", "--method counts", "--method counts needs --response folded"),
    ("losscone fit", "--method counts --response hard", "--method counts needs --response folded"),
    ("losscone fit", "--method counts --response folded --search de", "--method counts needs --search exact"),
    ("losscone synthesize", "--true-kappa 3:4", "--true-kappa needs --plasma or --region R"),
    ("losscone fit", "--seed 3", "--seed needs --search de or --confidence bootstrap"),
    (
        "losscone fit",
        "--response hard --response-weights equal",
        "--response-weights needs --response folded",
    ),
    ("losscone synthesize", "--response-weights equal", "--response-weights needs --truth folded"),
    ("losscone inject", "--plasma --true-spacecraft 3", "--true-spacecraft has no effect beside --plasma"),
    (
        "losscone inject",
        "--region lobe --true-spacecraft 3",
        "a plasma decides the potential by its currents",
    ),
    ("kappa fit", "--spacecraft-potential 3 --refits 2", "--refits needs --spacecraft-potential auto"),
    ("kappa fit", "--spacecraft-potential 3 --currents sums", "--currents needs --spacecraft-potential auto"),
    ("compatibility", "--ntoys 9 --minimizer newton", "compatibility has no option --minimizer"),
    ("fit", "--seed 3", "--seed needs --minimizer de"),
    ("fit", "--minimizer newton --population 30", "--population needs --minimizer de"),
]


def run(command, options):
    operands = (
        [] if command.endswith(("synthesize", "inject")) else [str(TREE / "examples" / "two_bins.json")]
    )
    words = [PROGRAM, *command.split(), *operands, *options.split()]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.parametrize("command, options, message", CASES)
def test_what_has_no_effect_is_refused(command, options, message):
    done = run(command, options)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, done


def test_what_has_an_effect_is_taken():
    for options in ("--minimizer de --seed 3 --population 30", "--minimizer de --seed 3", "--starts 3"):
        assert run("fit", options).returncode == 0, options
    assert run("toys", "--ntoys 10 --seed 3").returncode == 0
    for options in ("--seed 3 --response hard --response-weights equal", "--truth folded --response hard"):
        assert run("losscone inject", f"--sweeps 1 {options}").returncode == 0, options
    assert run("hypotest-toys", "--ntoys 10 --seed 3 --minimizer newton").returncode == 0
