"""What generated models ask of the program, thinned to seconds: `pytest tests/hard/claims.py`. The whole is
measure.py. Not collected by tests/run, for its name."""

import os
import sys
from collections import Counter
from functools import lru_cache

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import hard_models  # noqa: E402
import measure  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("PARITAS_BIN", "build/release/bin/paritas"))
SEEDS = {"ordinary": [*range(8), 23, 35, 98], "hard": range(20)}
WHAT = ("hypotest", "limit", "starts", "nonfinite")


@lru_cache(maxsize=None)
def counts(family, folder):
    """(counts of all models, lines on what fell short)"""
    total, words = Counter(), []
    for seed in SEEDS[family]:
        task = (PROGRAM, hard_models.generate(family, seed), WHAT, 30, folder)
        made, found, short, _ = measure.examine(task)
        total.update(found)
        words += [f"{made.name} {category}: {reason}" for category, _, reason in short]
    return total, "\n".join(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("family, most", [("ordinary", 0.0), ("hard", 0.03)])
def test_tests_use_the_lowest_minimum(family, most, folder):
    found, words = counts(family, folder)
    assert found["tests with a fit undercut"] <= most * found["tests"], words


@pytest.mark.parametrize("family, least", [("ordinary", 1.0), ("hard", 0.85)])
def test_tests_are_answered(family, least, folder):
    found, words = counts(family, folder)
    assert found["tests answered"] >= least * found["tests"], words


@pytest.mark.parametrize("family", hard_models.FAMILIES)
@pytest.mark.parametrize(
    "category", [name for name, asked in measure.ASKED.items() if asked[1] == asked[2] == "0"]
)
def test_nothing_of_this_kind_happens(category, family, folder):
    found, words = counts(family, folder)
    assert found[category] == 0, words
