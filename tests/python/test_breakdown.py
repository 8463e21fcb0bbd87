"""Parts of the error by groups of parameters: closed form, refits, and the program."""

import json
import math
import subprocess

import pytest
from package_support import PROGRAM, TREE, TWO

import paritas

SIGNAL, BACKGROUND = 20.0, 80.0
WIDTHS = {"theory_a": 0.05, "theory_b": 0.1, "detector_a": 0.2}


def linear_workspace():
    """One bin, whose rate is linear in all parameters, observed as expected at mu = 1: the covariance is
    exactly that of a linear model with a normal distribution of variance SIGNAL + BACKGROUND."""
    effects = [
        {
            "name": name,
            "type": "histosys",
            "data": {"hi_data": [BACKGROUND * (1 + width)], "lo_data": [BACKGROUND * (1 - width)]},
        }
        for name, width in WIDTHS.items()
    ]
    samples = [
        {
            "name": "signal",
            "data": [SIGNAL],
            "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
        },
        {"name": "background", "data": [BACKGROUND], "modifiers": effects},
    ]
    return {
        "channels": [{"name": "one", "samples": samples}],
        "observations": [{"name": "one", "data": [SIGNAL + BACKGROUND]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


GROUPS = {"theory": "theory_*", "detector": ["detector_?"], "both b": ["*_b", "theory_b"]}


def test_a_linear_model_has_its_closed_form():
    found = paritas.breakdown(linear_workspace(), GROUPS)
    statistical = math.sqrt(SIGNAL + BACKGROUND) / SIGNAL
    part = {name: BACKGROUND * width / SIGNAL for name, width in WIDTHS.items()}
    total = math.hypot(statistical, *part.values())
    assert found.converged and found.best == pytest.approx(1.0, abs=1e-9)
    assert found.total == pytest.approx(total, rel=1e-9)
    assert found.statistical == pytest.approx(statistical, rel=1e-9)
    assert found.systematic == pytest.approx(math.hypot(*part.values()), rel=1e-9)
    wanted = {
        "theory": math.hypot(part["theory_a"], part["theory_b"]),
        "detector": part["detector_a"],
        "both b": part["theory_b"],
    }
    for name, impact in wanted.items():
        assert found.groups[name] == pytest.approx(impact, rel=1e-8), name
    assert found.groups.names == list(GROUPS) and found.groups.held.tolist() == [2, 1, 1]
    assert found.groups.without == pytest.approx([math.sqrt(total**2 - i**2) for i in wanted.values()])


def test_what_has_no_error_says_why():
    found = paritas.breakdown(TWO, {"all": "uncorr*"})
    assert found.status == "converged" and found.state == "at_lower_bound"
    assert math.isnan(found.total) and math.isnan(found.statistical)
    call = [PROGRAM, "ranking", TWO]
    said = subprocess.run([*call, "--groups", "all=uncorr*", "--json"], capture_output=True, text=True).stdout
    answer = json.loads(said)["breakdown"]
    assert answer["statistical"] is None and answer["state"] == "at_lower_bound"
    for more, why in (
        ([], "at_lower_bound, the slope holds it at its lower bound"),
        (["--max-iterations", "1"], "at_iteration_limit, more iterations are needed"),
    ):
        table = subprocess.run([*call, *more], capture_output=True, text=True).stdout
        assert f"mu = 0 has no error to break down: {why}" in table


def test_an_edge_that_fixes_the_parameter_leaves_no_parts(tmp_path):
    """The first bin is empty, and its rate 0: mu moves along this edge with a, and not where a is held."""
    mu = {"name": "mu", "type": "normfactor", "data": None}
    a = {"name": "a", "type": "histosys", "data": {"hi_data": [5.0, 100.0], "lo_data": [1.0, 100.0]}}
    samples = [
        {"name": "signal", "data": [0.5, 1.0], "modifiers": [mu]},
        {"name": "background", "data": [3.0, 100.0], "modifiers": [a]},
    ]
    config = {"poi": "mu", "parameters": [{"name": "mu", "bounds": [[-50, 50]], "inits": [1.0]}]}
    workspace = {
        "channels": [{"name": "one", "samples": samples}],
        "observations": [{"name": "one", "data": [0.0, 90.0]}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }
    found = paritas.breakdown(workspace, {"all": "a"})
    assert found.total > 1 and math.isnan(found.statistical) and math.isnan(found.systematic)
    path = tmp_path / "edge.json"
    path.write_text(json.dumps(workspace))
    done = subprocess.run([PROGRAM, "ranking", path, "--groups", "all=a"], capture_output=True, text=True)
    said = f"mu = {found.best:.6g} +- {found.total:.4g}, without parts: with all constrained parameters held"
    assert done.returncode == 0 and said in done.stdout and "nan" not in done.stdout


def test_groups_are_refits_with_the_group_held_at_the_best_fit():
    sbottom = TREE / "examples" / "sbottom_A"
    patches = paritas.PatchSet(sbottom / "patchset.json")
    model = patches.apply(sbottom / "BkgOnly.json", patches.names[0]).model()
    data = model.asimov_data(1.0)
    best = model.fit(data=data)
    names = [name for name in model.parameter_names if name != model.poi_name]
    groups = {"first": names[:1], "half": names[::2], "all": names}
    found = model.breakdown(groups, data=data)
    poi = model.poi_index
    assert found.total == pytest.approx(best.errors[poi], rel=1e-9)
    for name, members in groups.items():
        without = model.fit(data=data, init=best.values, fixed=members).errors[poi]
        assert found.groups[name] == pytest.approx(
            math.sqrt(max(best.errors[poi] ** 2 - without**2, 0.0)), abs=1e-7
        ), name


def test_what_cannot_be_a_group_is_refused():
    with pytest.raises(
        paritas.InvalidArgument, match="group 1: the parameter of interest 'mu' cannot be held"
    ):
        paritas.breakdown(TWO, {"one": "uncorr*", "all": "*"})
    with pytest.raises(paritas.NotFound, match="no parameter has a name like 'nobody\\*'"):
        paritas.breakdown(TWO, {"none": "nobody*"})
    assert paritas.breakdown(TWO, {}).groups.names == []
    assert math.isnan(paritas.breakdown(TWO, {"one": "*[0]"}).groups["one"])  # mu is at its bound


def test_the_program_gives_the_same_numbers(tmp_path):
    path, groups = tmp_path / "linear.json", tmp_path / "groups.json"
    path.write_text(json.dumps(linear_workspace()))
    groups.write_text(json.dumps(GROUPS))
    by_file = [PROGRAM, "ranking", path, "--json", "--groups", groups]
    by_name = [PROGRAM, "ranking", path, "--json", "--groups", "theory=theory_*"]
    by_name += ["--groups", "detector=detector_?", "--groups", "both b=*_b,theory_b"]
    first, second = (
        json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)["breakdown"]
        for call in (by_file, by_name)
    )
    found = paritas.breakdown(path, GROUPS)
    assert first == second
    assert first["total"] == found.total and first["statistical"] == found.statistical
    assert {one["name"]: one["impact"] for one in first["groups"]} == {
        name: found.groups[name] for name in GROUPS
    }
    assert "breakdown" not in json.loads(subprocess.run(by_file[:4], capture_output=True, text=True).stdout)
    groups.rename(tmp_path / "a=b.json")
    again = subprocess.run([*by_file[:-1], tmp_path / "a=b.json"], capture_output=True, text=True)
    assert json.loads(again.stdout)["breakdown"] == first
    absent = subprocess.run([*by_file[:-1], "a=c.json"], capture_output=True, text=True)
    assert "--groups, which names no file: group a: no parameter has a name like 'c.json'" in absent.stderr
    by_file[-1] = tmp_path / "a=b.json"
    twice = subprocess.run([*by_file, "--groups", "theory=*a"], capture_output=True, text=True)
    assert twice.returncode == 2 and "--groups: two groups are named theory" in twice.stderr
