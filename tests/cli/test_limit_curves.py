"""Limits of curves that are not monotone, tests beyond the bound, and what is said where no number exists."""

import json
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
HARD = os.path.join(os.path.dirname(ROOT), "shared", "hard")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def answer(*arguments, codes=(0,)):
    done = run(*arguments, "--json")
    assert done.returncode in codes, done.stderr
    return json.loads(done.stdout)


def workspace(path, samples, observed, bounds=(0, 1.5)):
    channels = [{"name": "c", "samples": samples}]
    poi = {"name": "mu", "bounds": [list(bounds)], "inits": [1]}
    measurement = {"name": "m", "config": {"poi": "mu", "parameters": [poi]}}
    path.write_text(
        json.dumps(
            {
                "version": "1.0.0",
                "channels": channels,
                "observations": [{"name": "c", "data": observed}],
                "measurements": [measurement],
            }
        )
    )
    return path


def sample(name, data, *modifiers):
    keys = ("name", "type", "data")
    return {"name": name, "data": data, "modifiers": [dict(zip(keys, each)) for each in modifiers]}


MU = ("mu", "normfactor", None)


@pytest.fixture
def returning(tmp_path):
    """CLs expected at +2 sigma crosses 0.05 three times: the signal's templates change their signs."""
    signal = {
        "hi_data": [0.784611, 5.63179, 0.598069, 18.9191],
        "lo_data": [8.51589, -0.752632, 5.12983, -9.41976],
    }
    background = {
        "hi_data": [6.55992, 14.0713, 5.87533, 14.8243],
        "lo_data": [2.2927, 7.87168, 2.66337, 9.59937],
    }
    samples = [
        sample("s", [3.26248, 3.37438, 2.38013, 10.0991], ("alpha", "histosys", signal), MU),
        sample(
            "b",
            [3.89108, 9.38115, 3.49842, 11.683],
            ("alpha", "normsys", {"hi": 1.03794, "lo": 0.961886}),
            ("alpha", "histosys", background),
        ),
    ]
    return workspace(tmp_path / "returning.json", samples, [9, 24, 7, 41])


def test_the_last_crossing_is_the_limit_and_the_others_are_listed(returning):
    found = answer("limit", returning)
    assert found["crossings_obs"] == [] and found["crossings_exp"][:4] == [[]] * 4
    first, second = found["crossings_exp"][4]
    limit = found["limit_exp"][4]
    assert 1.2 < first < 1.4 < second < 2 < limit
    for mu in (first, second, limit):
        assert answer("hypotest", returning, "--mu", repr(mu))["CLs_exp"][4] == pytest.approx(0.05, abs=1e-6)
    levels = [answer("hypotest", returning, "--mu", mu)["CLs_exp"][4] < 0.05 for mu in (1.2, 1.4, 2, 3, 4)]
    assert levels == [False, True, False, True, True]
    assert f"+2s: CLs also crosses the level at {first:.6g}, {second:.6g}\n" in run("limit", returning).stdout


def test_a_limit_has_a_reason():
    found = answer("limit", TWO)
    assert (found["reason_obs"], found["reason_exp"]) == ("found", ["found"] * 5)
    assert (found["crossings_obs"], found["crossings_exp"]) == ([], [[]] * 5)


def test_a_missing_limit_has_a_reason(tmp_path):
    path = workspace(tmp_path / "flat.json", [sample("s", [0.0], MU), sample("b", [9.0])], [12])
    found = answer("limit", path)
    assert (found["limit_obs"], found["limit_exp"]) == (None, [None] * 5)
    assert (found["reason_obs"], found["reason_exp"]) == ("none_below_bound", ["none_below_bound"] * 5)
    assert "observed: no limit, none_below_bound: CLs stays above the level" in run("limit", path).stdout


def test_a_tested_value_beyond_the_bound_widens_it():
    inside, beyond = answer("hypotest", TWO, "--mu", 1), answer("hypotest", TWO, "--mu", 12.5)
    assert (inside["bound_widened"], inside["upper_bound"]) == (False, 10)
    assert (beyond["bound_widened"], beyond["upper_bound"], beyond["status"]) == (True, 20, "converged")
    assert 0 < beyond["CLs_obs"] < inside["CLs_obs"]
    assert (
        "The upper bound of mu was widened from 10 to 20, as a tested"
        in run("hypotest", TWO, "--mu", 12.5).stdout
    )
    for mu in ("-1", "1e300"):
        done = run("hypotest", TWO, "--mu", mu)
        assert done.returncode == 3 and "lies outside its bounds [0, 10]" in done.stderr


def test_held_and_scanned_values_widen_the_bound_as_tested_ones():
    free = answer("fit", TWO)["twice_nll"]
    tested, scanned = answer("hypotest", TWO, "--mu", 20), run("scan", TWO, "--par", "mu=0:20:2", "--json")
    q = [point["q"] for point in json.loads(scanned.stdout)["points"]]
    assert q == [pytest.approx(0.0, abs=1e-9), pytest.approx(tested["q"])]
    assert "the upper bound of mu was widened from 10 to 20, as a tested" in scanned.stderr
    held = run("fit", TWO, "--fix", "mu=20", "--json")
    assert json.loads(held.stdout)["twice_nll"] - free == pytest.approx(tested["q"])
    assert "the upper bound of mu was widened from 10 to 20, where --fix" in held.stderr
    toys = run("hypotest-toys", TWO, "--mu", 20, "--ntoys", 5, "--json")
    assert json.loads(toys.stdout)["q"] == pytest.approx(tested["q"])
    assert "widened from 10 to 20" in toys.stderr
    for command in (("scan", TWO, "--par", "mu=-1:20:2"), ("hypotest-toys", TWO, "--mu", -1)):
        assert "mu = -1 lies outside its bounds [0, 10]" in run(*command).stderr
    for command in (("scan", TWO, "--par", "mu=0:1e8:2"), ("hypotest", TWO, "--mu", "1e8")):
        assert "[0, 10], which are widened up to 10485760 at most" in run(*command).stderr


@pytest.mark.parametrize("name", ["model_205", "model_256", "model_262", "model_336", "model_355"])
def test_a_jump_is_no_limit(name):
    path = os.path.join(HARD, name + ".json")
    if not os.path.exists(path):
        pytest.skip("no hard models beside the checkout")
    found = answer("limit", path, codes=(0, 1))
    limits = [found["limit_obs"], *found["limit_exp"]]
    reasons = [found["reason_obs"], *found["reason_exp"]]
    assert [limit is not None for limit in limits] == [reason == "found" for reason in reasons]
    for curve, limit in enumerate(limits):
        if limit is None:
            continue
        nearest = min(found["scan"], key=lambda test: abs(test["mu"] - limit))
        assert abs(nearest["mu"] / limit - 1) < 3e-5
        assert [*nearest["CLs_exp"], nearest["CLs_obs"]][curve - 1] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("name", ["model_256", "model_336", "model_355"])
def test_on_both_sides_of_a_limit_cls_is_the_level(name):
    path = os.path.join(HARD, name + ".json")
    if not os.path.exists(path):
        pytest.skip("no hard models beside the checkout")
    limit = answer("limit", path, codes=(0, 1))["limit_obs"]
    for side in [] if limit is None else (1 - 1e-5, 1 + 1e-5):
        test = answer("hypotest", path, "--mu", repr(limit * side), codes=(0, 1))
        assert test["CLs_obs"] == pytest.approx(0.05, abs=1e-3)


def test_a_quotient_of_underflows_has_its_value():
    path = os.path.join(HARD, "model_341.json")
    if not os.path.exists(path):
        pytest.skip("no hard models beside the checkout")
    found = answer("hypotest", path, "--mu", 1)
    assert (found["CLb"], found["CLs_obs"], found["reason"], found["status"]) == (0, 0, "found", "converged")


def test_a_grid_as_wide_as_numbers_go_has_no_nan():
    done = run("scan", TWO, "--range", "mu=-1e308:1e308", "--par", "mu=-1e308:1e308:5")
    assert done.returncode == 1 and "nan" not in done.stdout + done.stderr
    found = answer("scan", TWO, "--range", "mu=-1e308:1e308", "--par", "mu=-1e308:1e308:5", codes=(1,))
    assert [point["values"] for point in found["points"]] == [[-1e308], [-5e307], [0.0], [5e307], [1e308]]
