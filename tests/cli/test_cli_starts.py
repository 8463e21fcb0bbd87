"""Several starts, and why a likelihood has no value: bins, fits, exit codes."""

import json
import math
import os

import pytest
from test_cli import ROOT, SHARED, TWO, run

HARD = os.path.join(os.path.dirname(ROOT), "shared", "hard")
STAUS = os.path.join(SHARED, "SUSY-2018-04_staus.json")
STATISTICS = ["hypotest", "limit", "significance", "scan", "ranking", "hypotest-toys"]
needs_staus = pytest.mark.skipif(not os.path.exists(STAUS), reason="the workspace is not here")


def impossible(tmp_path, bins=1):
    """The rates of the first bins are -2 for any parameters, with 3 events each."""
    workspace = {
        "channels": [
            {
                "name": "SR",
                "samples": [
                    {
                        "name": "signal",
                        "data": [0.0] * bins + [4.0],
                        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                    },
                    {"name": "background", "data": [-2.0] * bins + [10.0], "modifiers": []},
                ],
            }
        ],
        "observations": [{"name": "SR", "data": [3.0] * bins + [14.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }
    path = tmp_path / "impossible.json"
    path.write_text(json.dumps(workspace))
    return path


REASON = "channel SR, bin 0 has the rate -2 where 3 were observed"


@pytest.mark.parametrize("command", ["nll", "fit"])
def test_a_likelihood_without_a_value_names_its_bins(command, tmp_path):
    path = impossible(tmp_path)
    document, text = run(command, path, "--json"), run(command, path)
    answer = json.loads(document.stdout)
    assert answer["twice_nll"] is None
    assert answer["outside"] == [{"channel": "SR", "bin": 0, "rate": -2.0, "observed": 3.0}]
    assert REASON in text.stdout.splitlines()
    if command == "fit":
        assert (answer["status"], document.returncode) == ("non_finite", 1)


def test_ten_bins_are_named_in_the_text_and_all_in_json(tmp_path):
    path = impossible(tmp_path, 13)
    lines = run("nll", path).stdout.splitlines()
    assert sum("has the rate -2" in line for line in lines) == 10 and "and 3 more bins" in lines
    assert len(json.loads(run("nll", path, "--json").stdout)["outside"]) == 13


def test_a_finite_likelihood_names_no_bins():
    assert "outside" not in json.loads(run("nll", TWO, "--json").stdout)


@pytest.mark.parametrize("command", ["hypotest", "limit", "significance", "scan", "gof"])
def test_statistics_of_such_a_fit_name_fit_and_bin(command, tmp_path):
    done = run(command, impossible(tmp_path))
    assert done.returncode == 1 and "data[" not in done.stderr
    assert f"paritas: the free fit ended outside the domain: {REASON}" in done.stderr


@pytest.mark.parametrize("command", ["toys", "hypotest-toys"])
def test_toys_of_such_a_fit_name_fit_and_bin(command, tmp_path):
    done = run(command, impossible(tmp_path), "--ntoys", "5")
    assert done.returncode == 1 and "where toys are drawn" in done.stderr and REASON in done.stderr


@pytest.mark.parametrize(
    "command",
    ["toys", "hypotest-toys", "gof", "limit --calc toys", "significance --calc toys"],
)
def test_json_without_toys_has_a_status_and_no_numbers(command, tmp_path):
    done = run(*command.split(), impossible(tmp_path), "--ntoys", "5", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["status"], answer["fitted"]) == (1, "non_finite", 0)
    for key in ("CLs_obs", "q", "limit_obs", "Z", "p_toys", "p0"):
        assert answer.get(key) is None


def test_a_model_without_background_has_one_exit_code_and_a_reason(tmp_path):
    """Signal alone, with events: they are impossible at mu = 0. What reads that likelihood has no answer.
    What is drawn there is nothing, so CLb is 1, and CLs is the chance of at most 17 events of 7 mu."""
    path = impossible(tmp_path)
    workspace = json.loads(path.read_text())
    workspace["channels"][0]["samples"][0]["data"] = [3.0, 4.0]
    workspace["channels"][0]["samples"][1]["data"] = [0.0, 0.0]
    path.write_text(json.dumps(workspace))
    assert run("fit", path).returncode == 0
    done = run("significance", path, "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (1, "non_finite")
    assert "the fit with mu = 0 ended outside the domain: channel SR, bin 0 has the rate 0" in done.stderr
    for command in ("hypotest", "limit"):
        done = run(command, path, "--json")
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "converged"), done.stderr
    toys = json.loads(run("hypotest-toys", path, "--mu", "4", "--ntoys", "4000", "--json").stdout)
    exact = sum(math.exp(-28.0 + n * math.log(28.0) - math.lgamma(n + 1)) for n in range(18))
    assert toys["CLb"] == 1 and toys["CLs_obs"] == pytest.approx(exact, abs=4 * toys["CLs_obs_error"])


def test_a_ranking_of_nothing_has_the_fits_status(tmp_path):
    done = run("ranking", impossible(tmp_path), "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (1, "non_finite")


def test_starts_have_a_maximum():
    for command in ("fit", "hypotest", "hypotest-toys"):
        done = run(command, TWO, "--starts", "100001")
        assert done.returncode == 2 and "--starts takes a number at most 100000" in done.stderr


def test_asimov_data_of_such_a_fit_name_fit_and_bin(tmp_path):
    done = run("scan", impossible(tmp_path), "--asimov", "1")
    assert done.returncode == 1 and f"the fit with mu = 1 ended outside the domain: {REASON}" in done.stderr


@needs_staus
def test_quick_is_one_start_and_further_starts_find_lower_minima():
    def q(*options):
        done = run("hypotest", STAUS, "--poi", "mu_QCD", "--mu", "3.3101", "--json", *options)
        return json.loads(done.stdout)["q"]

    quick = q("--quick")
    assert quick == pytest.approx(16.5075, abs=1e-3) and q("--starts", "1") == quick
    assert q() == pytest.approx(5.405, abs=1e-2)


def without_times(done):
    return {key: value for key, value in json.loads(done.stdout).items() if "second" not in key}


@pytest.mark.parametrize("command", STATISTICS)
def test_statistics_take_starts(command):
    arguments = [command, TWO, "--json", *(["--ntoys", "20"] if command == "hypotest-toys" else [])]
    plain, quick, three = (run(*arguments, *options) for options in ([], ["--quick"], ["--starts", "3"]))
    assert (plain.returncode, quick.returncode, three.returncode) == (0, 0, 0)
    assert without_times(plain) == without_times(quick)
    both = run(*arguments, "--quick", "--starts", "3")
    assert both.returncode == 2 and "--quick is --starts 1" in both.stderr


@needs_staus
@pytest.mark.parametrize("command", ["fit", "hypotest", "significance", "gof", "predict"])
def test_a_limit_of_iterations_holds_for_every_fit(command):
    done = run(command, STAUS, "--poi", "mu_QCD", "--max-iterations", "1", "--json")
    assert done.returncode == 1 and "at_iteration_limit" in done.stdout


@pytest.mark.parametrize("name", ["model_26", "model_119"])
def test_nothing_lower_is_hidden(name):
    path = os.path.join(HARD, f"{name}.json")
    if not os.path.exists(path):
        pytest.skip("the models are not here")
    one, done = json.loads(run("fit", path, "--json").stdout), run("fit", path, "--starts", "20", "--json")
    answer = json.loads(done.stdout)
    lower = answer["starts"]["lower_known"]
    if done.returncode == 0:
        assert lower is None and (one["twice_nll"] is None or answer["twice_nll"] <= one["twice_nll"] + 1e-6)
    elif answer["status"] == "converged":
        assert lower["twice_nll"] < answer["twice_nll"] and lower["status"] != "converged"
        assert "Not the lowest point known" in run("fit", path, "--starts", "20").stdout
