"""Rankings, MINOS errors, contours and breakdowns of models with several minima use the lowest ones, and say
so; what they cost is bounded."""

import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import measure  # noqa: E402
import profiles  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("PARITAS_BIN", "build/release/bin/paritas"))

# models of several_models.py whose answers came from higher minima, and said nothing
WRONG = {"ranking": (100, 109, 121), "minos": (102, 121), "contour": (103, 107)}


MOST_FITS = {"ranking": 4000, "fit --minos all": 10500, "contour --par mu --par alpha0 --points 8": 3600}


def examined(seed, folder):
    made = measure.generate("several", seed)
    return measure.Examined(made, measure.hard_models.write(str(folder), made), PROGRAM, 60)


@pytest.mark.parametrize("what, seed", [(what, seed) for what, seeds in WRONG.items() for seed in seeds])
def test_answers_use_the_lowest_minima(what, seed, tmp_path):
    seen = examined(seed, tmp_path)
    profiles.MEASURE[what](seen)
    assert not [one for one in seen.short if "wrong" in one[0]]


def test_they_say_that_there_are_several(tmp_path):
    run = examined(121, tmp_path).run
    for command in (
        ["ranking"],
        ["ranking", "--groups", "all=alpha*"],
        ["contour", "--par", "mu", "--par", "alpha0", "--points", 8],
        ["scan", "--par", "mu=0:4:5"],
    ):
        answer = run(*command)
        assert answer["several_minima"] is True and answer["minima"]["met"] > 1, command
    found = run("ranking", "--groups", "all=alpha*")["breakdown"]
    assert found["several_minima"] is True


@pytest.mark.parametrize("command", MOST_FITS)
def test_their_searches_have_a_bounded_cost(command, tmp_path):
    run = examined(121, tmp_path).run
    name, *more = command.split()
    done = subprocess.run(
        [PROGRAM, *run.command(name, *more), "--counts", "--quiet", "--json"], capture_output=True, text=True
    )
    fits = int(re.findall(r"fits: (\d+)", done.stderr)[-1])
    assert fits <= MOST_FITS[command], fits
