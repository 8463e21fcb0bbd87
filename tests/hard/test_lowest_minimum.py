"""Every command stands in the lowest minimum: models with a parameter of interest as a square, and published
analyses."""

import json
import os
import subprocess

import numpy as np
import pytest
from effective_field import effective_field

import paritas

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
SHARED = os.path.join(ROOT, "..", "shared", "workspaces")
MODELS = range(12)


def lowest_on_a_grid(model, held=None):
    """twice the NLL of the best of 401 values of k, each profiled and then freed"""
    k = np.linspace(-10.0, 10.0, 401) if held is None else np.array([held])
    start = np.tile(np.array(model.suggested_init), (len(k), 1))
    at = model.poi_index
    start[:, at] = k
    fixed = np.zeros_like(start, dtype=bool)
    fixed[:, at] = True
    profiled = model.fit_batch(init=start, fixed=fixed)
    if held is not None:
        return profiled.twice_nll[0]
    freed = model.fit_batch(init=np.array(profiled.values))
    return min(v for v, s in zip(freed.twice_nll, freed.status) if str(s) == "converged")


@pytest.mark.parametrize("seed", MODELS)
def test_a_squared_parameter_has_one_best_fit_by_every_command(seed):
    model = paritas.Model.from_workspace(effective_field(seed))
    lowest = lowest_on_a_grid(model)
    assert model.fit().twice_nll == pytest.approx(lowest, abs=1e-6)
    tested = model.hypotest(2.0, test_stat="q")
    assert tested.twice_nll_free == pytest.approx(lowest, abs=1e-6)
    assert tested.twice_nll_fixed == pytest.approx(lowest_on_a_grid(model, 2.0), abs=1e-6)
    scan = model.scan(("k", [-3.0, 0.0, 3.0]))
    assert scan.best_fit.twice_nll == pytest.approx(lowest, abs=1e-6)


def two_wells():
    """n = b + s k^2 with a small linear term: minima near +3 and -3, the lower at -3 though k starts at 1"""
    document = effective_field(0)
    samples = document["channels"][0]["samples"]
    samples[0]["data"], samples[1]["data"], samples[2]["data"] = [-3.0, 2.0], [10.0, 6.0], [50.0, 50.0]
    document["observations"][0]["data"] = [50.0 + 9.0 + 90.0, 50.0 - 6.0 + 54.0]
    return document


def test_the_lower_of_two_wells_is_the_answer_and_both_are_told(tmp_path):
    path = tmp_path / "wells.json"
    path.write_text(json.dumps(two_wells()))
    model = paritas.Model.from_workspace(two_wells())
    fit, usual = model.fit(), model.fit(starts=1)
    assert fit["k"][0] < 0.0 < usual["k"][0] and fit.twice_nll < usual.twice_nll - 0.5
    assert len(fit.starts.minima) == 2
    text = subprocess.run([PROGRAM, "fit", str(path)], capture_output=True, text=True).stdout
    assert "into 2 minima" in text


PUBLISHED = [
    ("more/1Lbb_400_150.json", ("hypotest", "--mu", "1"), "CLs_obs", 0.0684165, 1e-6),
    ("more/1Lbb_400_150.json", ("fit", "--fix", "mu_SIG=1"), "twice_nll", 222.9727888, 1e-6),
    ("more/1Lbb_400_150.json", ("limit",), "limit_obs", 1.0793024, 1e-6),
    ("SUSY-2018-04_staus.json", ("hypotest", "--poi", "mu_QCD", "--mu", "2.08162"), "q", 2.9084269, 1e-6),
    ("SUSY-2018-04_staus.json", ("hypotest", "--poi", "mu_QCD", "--mu", "6.62"), "q", 15.3374661, 1e-6),
]


@pytest.mark.parametrize("name, command, member, value, within", PUBLISHED)
def test_published_analyses_stand_in_the_minima_of_thousands_of_starts(name, command, member, value, within):
    path = os.path.join(SHARED, name)
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    done = subprocess.run([PROGRAM, command[0], path, *command[1:], "--json"], capture_output=True, text=True)
    answer = json.loads(done.stdout)
    assert answer[member] == pytest.approx(value, abs=within)


def test_asimov_data_are_those_of_the_test():
    path = os.path.join(SHARED, "more", "CMS_ttgamma_2l.json")
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    model = paritas.Model.from_workspace(path)
    data = model.asimov_data(0.0)
    at = model.poi_index
    fixed = np.zeros(len(model.parameter_names), dtype=bool)
    fixed[at] = True
    start = np.array(model.suggested_init)
    start[at] = 1.0
    q = (
        model.fit(data=data, init=start, fixed=fixed).twice_nll
        - model.fit(data=data, starts=1, init={"r_TTGamma": 0.0}).twice_nll
    )
    assert q == pytest.approx(model.hypotest(1.0).q_A, rel=1e-4)
