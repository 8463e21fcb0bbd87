"""Rankings, MINOS errors, contours and breakdowns of models with several minima use the lowest ones, and say
so; what they cost is bounded."""

import json
import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lowest  # noqa: E402
import measure  # noqa: E402
import profiles  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("PARITAS_BIN", "build/release/bin/paritas"))

# models of several_models.py whose answers came from higher minima, and said nothing
WRONG = {
    "ranking": (100, 109, 121, 2211),
    "minos": (102, 121, 2014, 2035, 2167, 2215),
    "contour": (103, 107, 2261),
}

# q_A of a test in a list, of models whose interpolation has kinks: the lists had 7.84, 0.532 and 1.775
LISTS = [(26, 0.75, 1.685118), (33, 1.0, 0.498929), (47, 0.25, 0.103201)]

MOST_FITS = {"ranking": 4000, "fit --minos all": 18000, "contour --par mu --par alpha0 --points 8": 100000}


def examined(seed, folder):
    made = measure.generate("several", seed)
    return measure.Examined(made, measure.hard_models.write(str(folder), made), PROGRAM, 60)


@pytest.mark.parametrize("what, seed", [(what, seed) for what, seeds in WRONG.items() for seed in seeds])
def test_answers_use_the_lowest_minima(what, seed, tmp_path):
    seen = examined(seed, tmp_path)
    profiles.MEASURE[what](seen)
    assert not [one for one in seen.short if "wrong" in one[0]]


def test_a_crossing_where_rates_are_zero_is_followed_to_the_end(tmp_path):
    """Two rates are 0, where slopes mislead: the interpolation ended at a rise of 1.0024."""
    seen = examined(2250, tmp_path)
    answer = seen.run("fit", "--starts", 30, "--minos", "alpha0")
    one = next(one for one in answer["parameters"] if one["name"] == "alpha0")
    at = one["value"] + one["minos_down"]
    assert seen.run("fit", "--fix", f"alpha0={at!r}")["twice_nll"] == pytest.approx(
        answer["twice_nll"] + 1.0, abs=2e-4
    )


def test_a_repeated_ranking_does_not_tell_of_fits_that_are_no_part_of_it(tmp_path):
    run = examined(2211, tmp_path).run
    done = subprocess.run([PROGRAM, *run.command("ranking"), "--json"], capture_output=True, text=True)
    assert json.loads(done.stdout)["status"] == "converged"
    others = ("the upper bound of mu was widened", "ended with", "a fit met")
    assert all(any(words in line for words in others) for line in done.stderr.splitlines())


def test_limits_are_compared_where_both_tails_of_cls_are_tiny(tmp_path):
    seen = examined(2179, tmp_path)
    profiles.limits(seen)
    assert seen.counts["six limits"] == 1 and not seen.short


def test_tails_agree_with_their_known_logarithms():
    for t, known in ((0.0, -0.6931471805599453), (10.0, -53.23128515051247), (40.0, -804.6084420137538)):
        assert lowest.log_tail(t) == pytest.approx(known, rel=1e-8)
    assert lowest.log_tail(30.0 - 1e-9) == pytest.approx(lowest.log_tail(30.0), rel=1e-8)


@pytest.mark.parametrize("seed, mu, q_asimov", LISTS)
def test_a_test_in_a_list_is_searched_as_one_alone(seed, mu, q_asimov, tmp_path):
    model = examined(seed, tmp_path).known.reference.model
    tests = model.hypotest([0.25 * (k + 1) for k in range(16)], device="cpu", threads=1)
    one = next(one for one in tests if one.mu == mu)
    assert one.q_A == pytest.approx(q_asimov, abs=1e-3)
    assert one.several_minima


@pytest.mark.parametrize("seed", [0, 5, 102, 121])
def test_another_order_of_the_workspace_has_the_same_minima(seed, tmp_path):
    seen = examined(seed, tmp_path)
    document = json.loads(json.dumps(seen.made.workspace))
    for channel in document["channels"]:
        channel["samples"].reverse()
        for sample in channel["samples"]:
            sample["modifiers"].reverse()
    document["channels"].reverse()
    other = tmp_path / "other.json"
    other.write_text(re.sub(r'"alpha(\d)"', lambda found: f'"beta{9 - int(found[1])}"', json.dumps(document)))
    for command, key in ((["fit"], "twice_nll"), (["hypotest", "--mu", 1], "q")):
        ours, run = seen.run(*command), measure.Program(PROGRAM, str(other), seen.made.options())
        assert run(*command)[key] == pytest.approx(ours[key], abs=1e-4), command


def test_minos_errors_say_that_there_are_several(tmp_path):
    seen = examined(102, tmp_path)
    answer = seen.run("fit", "--starts", 30, "--minos", "mu")
    assert answer["several_minima"] is True and answer["minima"]["met"] > 1
    assert "several_minima" not in seen.run("fit", "--starts", 30)
    model, cpu = seen.known.reference.model, {"device": "cpu", "threads": 1}
    found = model.minos("mu", best=model.fit(starts=30, **cpu), **cpu)
    assert found.several_minima and found.minima.met == answer["minima"]["met"]


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
