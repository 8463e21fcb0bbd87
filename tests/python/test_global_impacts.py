"""Global impacts: closed form, closure, refits with moved data, the covariance, and the program."""

import json
import math
import subprocess

import numpy as np
import pytest
from package_support import PROGRAM, TREE, TWO
from test_breakdown import BACKGROUND, GROUPS, SIGNAL, WIDTHS, linear_workspace
from test_constraints import LAWS, STAT, spec

import paritas


def sbottom():
    folder = TREE / "examples" / "sbottom_A"
    patches = paritas.PatchSet(folder / "patchset.json")
    return patches.apply(folder / "BkgOnly.json", patches.names[0]).model()


def aux_places(model):
    """Places of auxiliary data in a row, by parameter: where the expected datum moves with it."""
    start, n = model.suggested_init, len(model.data)
    places = {}
    for i, name in enumerate(model.parameter_names):
        moved = start.copy()
        moved[i] += 0.01
        change = model.expected_data(moved) - model.expected_data(start)
        at = [k for k in range(model.main_count, n) if change[k] != 0.0]
        if at:
            places[name] = at[0]
    return places


def check_closure(found, rel):
    assert found.converged and found.sum == pytest.approx(found.total, rel=rel)
    squares = float(np.sum(found.entries.impact**2))
    assert found.systematic == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert found.sum == pytest.approx(math.sqrt(found.statistical**2 + squares), rel=1e-12)


def check_refits(model, data, found, names, rel):
    """Each impact is the difference of two refits, whose datum has moved by a hundredth of its sigma."""
    places, poi = aux_places(model), model.poi_index
    for name in names:
        at = found.entries.names.index(name)
        step = 0.01 * found.entries.sigma[at]
        ends = []
        for sign in (1.0, -1.0):
            row = np.array(data)
            row[places[name]] += sign * step
            ends.append(model.fit(data=row).values[poi])
        assert (ends[0] - ends[1]) / 0.02 == pytest.approx(found[name], rel=rel, abs=1e-5 * found.total), name


def test_a_linear_model_has_its_closed_form():
    found = paritas.global_impacts(linear_workspace(), GROUPS)
    for name, width in WIDTHS.items():
        assert found[name] == pytest.approx(-BACKGROUND * width / SIGNAL, rel=1e-10)
    assert found.entries.names == ["detector_a", "theory_b", "theory_a"]
    assert found.entries.sigma.tolist() == [1.0] * 3 and found.best == pytest.approx(1.0, abs=1e-9)
    assert found.statistical == pytest.approx(math.sqrt(SIGNAL + BACKGROUND) / SIGNAL, rel=1e-10)
    check_closure(found, 1e-10)
    wanted = {"theory": math.hypot(0.2, 0.4), "detector": 0.8, "both b": 0.4}
    assert found.groups == pytest.approx(wanted, rel=1e-10)
    assert found.groups["theory"] ** 2 + found.groups["detector"] ** 2 == pytest.approx(found.systematic**2)


def test_squares_add_up_to_the_total_for_expected_data():
    """sbottom: normsys, histosys, lumi, and gammas of staterror; the other one has Poisson gammas."""
    model = sbottom()
    check_closure(model.global_impacts(data=model.asimov_data(1.0)), 1e-10)
    model = paritas.Model.from_workspace(TWO)
    check_closure(model.global_impacts(data=model.asimov_data(1.0)), 1e-10)


def test_squares_add_up_for_any_data_if_rates_are_linear():
    model = paritas.Model.from_workspace(TWO)
    row = np.array(model.data)
    row[: model.main_count] = [75.0, 62.0]
    found = model.global_impacts(data=row)
    check_closure(found, 1e-10)
    assert 1.0 < found.best < 5.0
    check_refits(model, row, found, found.entries.names, 1e-4)


def test_impacts_are_differences_of_refits():
    model = sbottom()
    data = model.asimov_data(1.0)
    found = model.global_impacts(data=data)
    check_refits(model, data, found, found.entries.names[:6], 1e-3)
    row, poi = np.array(data), model.poi_index
    row[0] *= 1.001
    slope = (model.fit(data=row).values[poi] - found.best) / (row[0] - data[0])
    variance = 0.0
    for i in range(model.main_count):
        row = np.array(data)
        row[i] += 0.01 * math.sqrt(data[i])
        variance += ((model.fit(data=row).values[poi] - found.best) / 0.01) ** 2
    assert math.isfinite(slope)
    assert found.statistical == pytest.approx(math.sqrt(variance), rel=1e-2)


def test_normal_and_poisson_impacts_are_those_of_the_covariance():
    """Of a constraint with the curvature h: sqrt(h) times the covariance with the parameter of interest."""
    model = sbottom()
    data = model.asimov_data(1.0)
    data[: model.main_count] = np.round(1.05 * data[: model.main_count])
    fit, found = model.fit(data=data), model.global_impacts(data=data)
    assert found.best > 0.0 and abs(found.sum / found.total - 1.0) < 0.1
    row = fit.covariance[model.poi_index]
    for name, impact, sigma in zip(found.entries.names, found.entries.impact, found.entries.sigma):
        assert impact == pytest.approx(row[model.index(name)] / sigma, rel=1e-6, abs=1e-6 * found.total), name
    model = paritas.Model.from_workspace(TWO)
    data = np.array(model.data)
    data[: model.main_count] = [75.0, 62.0]
    fit, found = model.fit(data=data), model.global_impacts(data=data)
    row, places = fit.covariance[model.poi_index], aux_places(model)
    for name, impact, sigma in zip(found.entries.names, found.entries.impact, found.entries.sigma):
        assert sigma == math.sqrt(data[places[name]])
        at = model.index(name)
        assert impact == pytest.approx(row[at] * sigma / fit.values[at], rel=1e-6), name


TWO_WIDTHS = {
    "name": "theory",
    "constraint": {"type": "bifurcated", "ratio": 0.5, "offset": 0.0, "slope": 1.0},
    "auxdata": [0.3],
    "sigmas": [1.0],
}


@pytest.mark.parametrize("law", [LAWS["gamma"], LAWS["lognormal"], TWO_WIDTHS], ids=["gamma", "log", "two"])
def test_other_laws_move_by_the_deviation_of_their_data(law):
    model = paritas.Model.from_workspace(spec(law, STAT))
    found = model.global_impacts()
    assert found.entries.names == sorted(found.entries.names, key=lambda name: -abs(found[name]))
    assert len(found.entries) == 6 and found.sum == pytest.approx(found.total, rel=0.1)
    check_refits(model, model.data, found, found.entries.names, 1e-3)


def test_what_has_no_error_has_no_parts():
    found = paritas.global_impacts(TWO, {"all": "uncorr*"})
    assert found.best == 0.0 and found.status == "converged"  # mu is at its bound
    assert math.isnan(found.total) and math.isnan(found.sum) and math.isnan(found.statistical)
    assert np.isnan(found.entries.impact).all() and math.isnan(found["all"])
    held = paritas.global_impacts(linear_workspace(), fixed=["theory_a"])
    assert "theory_a" not in held.entries.names
    with pytest.raises(KeyError):
        held["theory_a"]


def test_the_parameter_of_interest_may_have_a_datum():
    """theory_a alone has a datum that says more of it than the counts."""
    found = paritas.global_impacts(linear_workspace(), poi="theory_a")
    assert found.entries.names[0] == "theory_a" and found["theory_a"] == pytest.approx(1.0, abs=1e-9)
    check_closure(found, 1e-10)


def test_what_cannot_be_a_group_is_refused():
    with pytest.raises(
        paritas.InvalidArgument, match="group 1: the parameter of interest 'mu' cannot be held"
    ):
        paritas.global_impacts(TWO, {"one": "uncorr*", "all": "*"})
    with pytest.raises(paritas.InvalidArgument, match="groups: a dict of names"):
        paritas.global_impacts(TWO, ["uncorr*"])


def test_the_program_gives_the_same_numbers(tmp_path):
    path = tmp_path / "linear.json"
    path.write_text(json.dumps(linear_workspace()))
    call = [PROGRAM, "ranking", path, "--impacts", "global", "--groups", "theory=theory_*", "--top", "2"]
    said = subprocess.run([*call, "--json"], capture_output=True, text=True, check=True).stdout
    answer, found = json.loads(said), paritas.global_impacts(path, {"theory": "theory_*"})
    for name in ("best", "total", "statistical", "systematic", "sum", "sources", "status"):
        assert answer[name] == getattr(found, name), name
    assert answer["impacts"] == "global" and answer["groups"] == [
        {"name": "theory", "impact": found["theory"]}
    ]
    assert [one["name"] for one in answer["entries"]] == found.entries.names[:2]
    assert [one["impact"] for one in answer["entries"]] == found.entries.impact[:2].tolist()
    table = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert "Global impacts on mu: the 2 largest of 3" in table and "statistical     0.5" in table
    bound = subprocess.run([*call[:2], TWO, *call[3:5]], capture_output=True, text=True, check=True).stdout
    assert "mu = 0 has no error to break down: at_lower_bound, the slope holds it" in bound


def test_what_has_no_error_says_why():
    found = paritas.global_impacts(TWO)
    assert found.status == "converged" and found.state == "at_lower_bound"
    assert all(math.isnan(part) for part in (found.total, found.statistical, found.systematic))
    data = paritas.Model.from_workspace(TWO).asimov_data(1.0)
    assert paritas.global_impacts(TWO, data=data).state == "free"
