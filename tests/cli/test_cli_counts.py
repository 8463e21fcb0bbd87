"""What commands cost, in fits and iterations: the same on every machine."""

import json
import os
import re
import subprocess

import pytest
from test_cli import SHARED, TWO, run

STEPS = 7  # gradients of a quasi-Newton fit that cost as much as one of Newton's iterations, at least

# most fits and iterations of `hypotest`, `limit`, and of `scan` from 0 to 2 in 21 points
COSTS = {
    "tHu_FCNC": ((64, 340), (105, 450), (153, 680)),
    "ttZ_4l": ((73, 390), (131, 600), (158, 640)),
    "displaced_leptons_signal": ((1050, 4300), (4800, 20000), (4500, 20000)),
    os.path.join("more", "1Lbb_700_400_sabine"): ((153, 820), (450, 2360), (366, 1830)),
    os.path.join("more", "CMS_ttgamma_2l"): ((446, 2970), (665, 4150), (790, 4110)),
    os.path.join("more", "ttZ_3l"): ((490, 4500), (700, 5700), (836, 6150)),
    os.path.join("more", "ttbar_ljets"): ((673, 14200), (785, 15200), (1085, 14700)),
}


def cost(*arguments):
    """(fits, iterations) of a command"""
    done = run(*arguments, "--counts", "--quiet", "--json", "--device", "cpu", "--threads", 1)
    assert done.returncode in (0, 1), done.stderr
    fits, iterations, gradients, _ = map(int, re.findall(r": (\d+)", done.stderr.splitlines()[-1]))
    return fits, iterations + gradients / STEPS


def test_counts_are_told_on_standard_error():
    fits, iterations = cost("fit", TWO, "--quick")
    assert fits == 1 and 1 <= iterations <= 10
    assert "fits:" not in run("fit", TWO).stderr


def test_more_starts_are_more_fits():
    assert cost("fit", TWO, "--starts", 5)[0] >= 5


def shared_workspace(name):
    path = os.path.join(SHARED, name + ".json")
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    return path


def poi_of(path):
    return re.search(r'"poi": "([^"]*)"', run("fit", path, "--json").stdout)[1]


def check_costs(path, commands, most):
    """The fits and iterations of each command are at most these."""
    for command, (most_fits, most_iterations) in zip(commands, most):
        fits, iterations = cost(command[0], path, *command[1:])
        assert fits <= most_fits and iterations <= most_iterations, (command, fits, iterations)


@pytest.mark.parametrize("name", COSTS)
def test_statistics_cost_what_they_may(name):
    path = shared_workspace(name)
    poi = poi_of(path)
    commands = (("hypotest",), ("limit",), ("scan", "--par", f"{poi}=0:2:21"))
    check_costs(path, commands, COSTS[name])


@pytest.mark.parametrize("name", COSTS)
def test_a_limit_from_one_start_has_few_fits(name):
    path = shared_workspace(name)
    assert cost("limit", path, "--quick")[0] <= 65


def test_two_branches_that_cross_are_both_reached():
    """Between 0.9 and 1.2 the fit of the Asimov data has two minima. Continued from smaller values it keeps
    the one that is higher from 1.04 on, as do random starts around it."""
    path = shared_workspace(os.path.join("more", "ttbar_ljets"))
    for mu, q_asimov in ((1.0, 5841.60), (1.06, 6392.07), (1.067, 6451.21), (1.1, 6735.30)):
        answer = json.loads(run("hypotest", path, "--mu", mu, "--json", "--quiet").stdout)
        assert answer["q_A"] == pytest.approx(q_asimov, abs=0.01), mu


def test_toys_with_several_minima_have_few_fits():
    path = os.path.join(SHARED, "more", "CMS_ttgamma_2l.json")
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    fits = [cost("hypotest-toys", path, "--ntoys", n)[0] for n in (64, 128)]
    assert fits[1] - fits[0] <= 2 * 64 * 16  # random starts: 62 a toy


def test_a_limit_by_few_toys_ends():
    """Roots that too few toys leave open are not sought ever further out."""
    path = os.path.join(SHARED, "more", "1Lbb_700_400_sabine.json")
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    assert cost("limit", path, "--calc", "toys", "--ntoys", 20, "--quick")[0] <= 12000


# most fits and iterations of `ranking`, and of `fit` with MINOS errors of the parameter of interest
COSTS_OF_PROFILES = {
    "tHu_FCNC": ((800, 570), (54, 275)),
    "ttZ_4l": ((800, 480), (54, 266)),
    os.path.join("more", "1Lbb_700_400_sabine"): ((580, 1180), (317, 1680)),
    os.path.join("more", "CMS_ttgamma_2l"): ((870, 730), (108, 537)),
    os.path.join("more", "ttZ_3l"): ((1000, 2500), (225, 1370)),
}


@pytest.mark.parametrize("name", COSTS_OF_PROFILES)
def test_rankings_and_minos_errors_cost_what_they_may(name):
    path = shared_workspace(name)
    poi = poi_of(path)
    commands = (("ranking",), ("fit", "--minos", poi))
    check_costs(path, commands, COSTS_OF_PROFILES[name])


def many_gammas(path, channels, bins, edge=True):
    """A workspace with a gamma for each bin. `edge`: no fit with slide = -1 is in the domain."""
    document = {"version": "1.0.0", "channels": [], "observations": []}

    def add(name, data, samples):
        document["channels"].append({"name": name, "samples": samples})
        document["observations"].append({"name": name, "data": data})

    for c in range(channels):
        signal = [1.0 + (7 * b + c) % 5 for b in range(bins)]
        other = [20.0 + (11 * b + 3 * c) % 60 for b in range(bins)]
        stat = {"name": f"stat{c}", "type": "staterror", "data": [0.05 * x for x in other]}
        norm = {"name": "norm", "type": "normsys", "data": {"lo": 0.9, "hi": 1.1}}
        mu = {"name": "mu", "type": "normfactor", "data": None}
        observed = [float(round(s + o + (b * b % 7 - 3))) for b, (s, o) in enumerate(zip(signal, other))]
        samples = [
            {"name": "signal", "data": signal, "modifiers": [mu]},
            {"name": "other", "data": other, "modifiers": [norm, stat]},
        ]
        add(f"c{c}", observed, samples)
    if edge:
        slide = {"name": "slide", "type": "histosys", "data": {"lo_data": [-5.0], "hi_data": [25.0]}}
        add("edge", [10.0], [{"name": "only", "data": [10.0], "modifiers": [slide]}])
    document["measurements"] = [{"name": "m", "config": {"poi": "mu", "parameters": []}}]
    path.write_text(json.dumps(document))
    return path


def test_one_failed_fit_of_a_ranking_is_not_tried_from_all_the_others(tmp_path):
    """Four fits for each entry, and a bounded number for the one without a minimum."""
    for channels in (2, 8):
        path = many_gammas(tmp_path / "w.json", channels, 25)
        answer = run("ranking", path, "--json")
        entries = json.loads(answer.stdout)["entries"]
        assert [e["name"] for e in entries if e["status"] != "converged"] == ["slide"]
        assert "the fit with slide = -1 ended outside the domain" in answer.stderr
        slide = entries[[e["name"] for e in entries].index("slide")]
        assert slide["prefit_down"] is None and slide["prefit_up"] is not None
        assert cost("ranking", path)[0] <= 4 * len(entries) + 90, channels


def test_gammas_are_solved_for_one_by_one_in_conditional_fits_too(tmp_path):
    """Their whole covariance has 600^2 elements: Newton's method is cheaper, and no fit uses it."""
    path = many_gammas(tmp_path / "w.json", 6, 100, edge=False)
    done = run("scan", path, "--par", "mu=0:2:21", "--counts", "--json", "--device", "cpu")
    assert "gradients: 0," in done.stderr.splitlines()[-1], done.stderr


def one_bin(path, observed, *samples):
    document = {
        "version": "1.0.0",
        "channels": [
            {"name": "c", "samples": [dict(zip(("name", "data", "modifiers"), s)) for s in samples]}
        ],
        "observations": [{"name": "c", "data": [observed]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
    }
    path.write_text(json.dumps(document))
    return path


def factor(name):
    return {"name": name, "type": "normfactor", "data": None}


def absorbing(path):
    """The line of `jes` below -1 goes on below zero, `n` scales that without end: any signal is cancelled."""
    norm = {"name": "n", "type": "normsys", "data": {"hi": 23.4, "lo": 0.05}}
    jes = {"name": "jes", "type": "histosys", "data": {"hi_data": [2.02], "lo_data": [0.001]}}
    return one_bin(path, 0, ("sig", [2.6], [factor("mu")]), ("bkg", [0.1], [norm, jes]))


def test_a_sample_that_cancels_the_signal_is_named(tmp_path):
    path = absorbing(tmp_path / "w.json")
    for command, most in (("limit", 1500), ("hypotest", 3300)):
        done = run(command, path, "--json")
        assert "sample bkg has the rate -" in done.stderr and "cancels the others" in done.stderr, done.stderr
        assert cost(command, path)[0] <= most, command
    done = run("hypotest", path, "--clip-sample", "0", "--json")
    assert "cancels" not in done.stderr


def test_a_negative_signal_cancels_nothing(tmp_path):
    """A best fit below 0 is an answer of its own: no word, and the search for lower minima stays."""
    data = (("sig", [2.6], [factor("mu")]), ("bkg", [1.5], []))
    path = one_bin(tmp_path / "w.json", 0, *data)
    done = run("hypotest", path, "--range", "mu=-5:5", "--test-stat", "q", "--json")
    assert "cancels" not in done.stderr and json.loads(done.stdout)["status"] == "converged"


def test_no_test_of_a_limit_is_far_beyond_what_was_not_excluded(tmp_path):
    """Near the best fit a second signal takes the first one's place, so the curvature there says nothing."""
    norm = {"name": "u", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    samples = (("s1", [30.0], [factor("mu")]), ("s2", [60.0], [factor("mu2")]), ("b", [20.0], [norm]))
    path = one_bin(tmp_path / "w.json", 25.0, *samples)
    answer = json.loads(run("limit", path, "--json").stdout)
    assert answer["limit_obs"] == pytest.approx(0.558074, rel=1e-5) and not answer["bound_widened"]
    assert max(test["mu"] for test in answer["scan"]) <= 10.0
    assert cost("limit", path, "--quick")[0] <= 50
    scaled = (("s1", [0.3], [factor("mu")]), ("s2", [60.0], [factor("mu2")]), ("b", [20.0], [norm]))
    answer = json.loads(run("limit", one_bin(tmp_path / "v.json", 25.0, *scaled), "--json").stdout)
    assert answer["limit_obs"] == pytest.approx(55.8074, rel=1e-5)
    assert max(test["mu"] for test in answer["scan"]) <= 8.0 * answer["limit_exp"][4]


def test_a_model_without_room_for_its_second_derivatives_is_refused_in_words(tmp_path):
    """Before any table grows with the square of its parameters: within 32 times the file and a floor."""
    resource = pytest.importorskip("resource")
    systs = [{"name": f"n{i}", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}} for i in range(50_000)]
    path = one_bin(tmp_path / "w.json", 55.0, ("s", [5.0], [factor("mu")]), ("b", [50.0], systs))
    room = 32 * path.stat().st_size + (400 << 20)
    done = subprocess.run(
        [os.environ.get("PARITAS_BIN", "build/release/bin/paritas"), "nll", str(path), "--device", "cpu"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)),
    )
    assert done.returncode == 3
    assert "second derivatives by its 50001 parameters need 40 GB" in done.stderr, done.stderr
