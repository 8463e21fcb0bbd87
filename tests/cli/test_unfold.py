"""The command unfold: its answers, and what it refuses."""

import json

from pathlib import Path

from test_cli import ROOT, run

EXAMPLE = Path(ROOT) / "examples" / "unfolding.json"


def test_json_and_text_agree():
    answer = json.loads(run("unfold", EXAMPLE, "--json").stdout)
    assert len(answer["points"]) == 40 and answer["device"] == "cpu"
    chosen = answer["points"][answer["chosen"]]
    assert len(chosen["covariance"]) == len(answer["parameters"]) == 8
    lines = run("unfold", EXAMPLE).stdout.splitlines()
    (starred,) = [line for line in lines if line.startswith("*")]
    assert f"{chosen['tau']:.4g}" == starred.split()[1]
    (first,) = [line for line in lines if line.startswith("mu_1 ")]
    assert first.split()[1:3] == [f"{chosen[key][0]:.5f}" for key in ("estimates", "errors")]


def test_the_penalised_workspace(tmp_path):
    file = tmp_path / "regularised.json"
    weights = [word for w in range(1, 9) for word in ("--weight", str(w))]
    assert run("unfold", EXAMPLE, "--tau", "3", *weights, "--penalised", "-o", file).returncode == 0
    (penalty,) = json.loads(file.read_text())["measurements"][0]["config"]["penalties"]
    assert penalty["strength"] == 3 and penalty["rows"][5] == [0, 0, 0, 0, 0, 6, -14, 8]
    answer = json.loads(run("unfold", EXAMPLE, "--tau", "3", *weights, "--json").stdout)
    fit = json.loads(run("fit", file, "--json").stdout)
    point = answer["points"][0]
    values = {one["name"]: one["value"] for one in fit["parameters"]}
    for name, value in zip(answer["parameters"], point["estimates"]):
        assert abs(values[name] - value) < 1e-9
    assert "Penalised (unfolding, 8 parameters): mu_1, mu_2" in run("inspect", file).stdout


def test_what_is_refused():
    for words, message in (
        (["--tau", "1", "--scan", "5"], "--scan is of a scan: give it without --tau"),
        (["--parameters", "nu*"], '--parameters: no parameter matches "nu*"'),
        (["--weight", "1"], "--weight: must have 8 numbers, one for each truth bin, found 1"),
        (["--centre", "1"], "--centre: must have 8 numbers"),
        (["--tau", "-1"], "--tau: number 0 must be at least 0"),
        (["--tau", "1e300"], "--tau: from about 5e+17 on the data are lost in rounding, found 1e+300"),
        (["--tau-max", "1e30"], "--tau-max: from about 5e+17 on the data are lost in rounding"),
    ):
        done = run("unfold", EXAMPLE, *words)
        assert done.returncode in (2, 3) and message in done.stderr, done.stderr


def test_a_fit_that_fails():
    done = run("unfold", EXAMPLE, "--tau", "1e10", "--tau", "1")
    assert done.returncode == 1 and "at_iteration_limit" in done.stdout


def test_a_strength_at_an_end_is_told():
    done = run("unfold", EXAMPLE, "--tau-min", "200", "--choose", "correlation", "--scan", "5")
    assert done.returncode == 0 and "so the smallest one, 200, is taken: scan further" in done.stderr
