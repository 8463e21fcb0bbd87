"""Several parameters of interest: closed forms, the answers of each alone, what is refused."""

import json
import os
import subprocess

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

NAMES = ("a", "b", "c")
OBSERVED = (25, 40, 12)


def strengths(names=NAMES, observed=OBSERVED, **config):
    """A channel for each strength, 10 events at 1, and a background with an uncertainty of its own."""
    channels = [
        {
            "name": f"bin_{name}",
            "samples": [
                {
                    "name": "signal",
                    "data": [10.0],
                    "modifiers": [{"name": name, "type": "normfactor", "data": None}],
                }
            ],
        }
        for name in names
    ]
    return {
        "channels": channels,
        "observations": [{"name": f"bin_{name}", "data": [n]} for name, n in zip(names, observed)],
        "measurements": [
            {"name": "m", "config": {"poi": names[0], "pois": list(names), "parameters": [], **config}}
        ],
        "version": "1.0.0",
    }


def with_background():
    spec = strengths(("a", "b"), (31, 24))
    for channel in spec["channels"]:
        channel["samples"].append(
            {
                "name": "background",
                "data": [18.0],
                "modifiers": [{"name": "xs", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}],
            }
        )
    return spec


def rise(values):
    rates, n = 10.0 * np.asarray(values), np.asarray(OBSERVED[: len(values)], dtype=float)
    return float(np.sum(2 * (rates - n - n * np.log(rates / n))))


def program(*arguments, code=0):
    path = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("pois") / "two.json"
    path.write_text(json.dumps(with_background()))
    return path


def test_a_joint_test_is_the_closed_form():
    model = paritas.Model.from_workspace(strengths())
    two = model.hypotest((2.0, 4.4), poi=["a", "b"])
    assert two.q == pytest.approx(rise((2.0, 4.4)), rel=1e-9)
    assert two.p == pytest.approx(np.exp(-two.q / 2), rel=1e-12)
    assert two.best == pytest.approx([2.5, 4.0])
    three = model.hypotest((2.0, 4.4, 1.5), poi=NAMES)
    q = rise((2.0, 4.4, 1.5))
    tail = np.sqrt(2 * q / np.pi) * np.exp(-q / 2)  # chi-squared, 3 degrees of freedom
    assert three.q == pytest.approx(q, rel=1e-9)
    assert three.p == pytest.approx(tail + 2 * normal_tail(np.sqrt(q)), rel=1e-10)


def test_a_joint_test_takes_names_and_has_the_program_s_numbers(tmp_path):
    model = paritas.Model.from_workspace(strengths())
    found = model.hypotest({"a": 2.0, "b": 4.4})
    assert found == model.hypotest((2.0, 4.4), poi=["a", "b"])
    assert found.mu == {"a": 2.0, "b": 4.4} and found.mu_hat == pytest.approx({"a": 2.5, "b": 4.0})
    assert found.converged and repr(found).startswith("JointHypotestResult(q=") and len(repr(found)) < 160
    path = tmp_path / "w.json"
    path.write_text(json.dumps(strengths()))
    ours = found.to_dict()
    theirs = program("hypotest", path, "--json", "--poi", "a", "--poi", "b", "--mu", 2, "--mu", 4.4)
    for key in ("mu", "mu_hat", "q", "p", "ndof", "test_stat", "status", "pois"):
        assert ours[key] == theirs[key], key


def test_parameters_of_interest_of_a_model_may_be_a_list():
    spec = strengths(pois=["a"])
    model = paritas.Model.from_workspace(spec, poi=["c", "a"])
    assert model.poi_names == ["c", "a"] and model.fit().pois == ["c"]
    assert model.upper_limit() == paritas.Model.from_workspace(spec, poi="c").upper_limit()
    with pytest.raises(paritas.Error, match="no parameter 'z'"):
        paritas.Model.from_workspace(spec, poi=["a", "z"])
    for wrong in ({"a", "b"}, ["a", 3], 3, [], ["a", "a"]):
        for call in (
            lambda: model.fit(poi=wrong),
            lambda: model.hypotest([1, 1], poi=wrong),
            lambda: paritas.Model.from_workspace(spec, poi=wrong),
        ):
            with pytest.raises(paritas.Error, match="a name or a list of different names is wanted"):
                call()


def test_without_a_parameter_of_interest_the_wanted_one_is_named():
    spec = strengths()
    spec["measurements"][0]["config"] = {"poi": "mu", "parameters": []}
    model = paritas.Model.from_workspace(spec)
    for call in (model.upper_limit, model.hypotest, model.ranking, lambda: model.significance_toys(10)):
        with pytest.raises(
            paritas.Error,
            match="names 'mu', which no modifier has; a patch adds the signal to a background, poi=NAME",
        ):
            call()
    alone = paritas.Model.from_workspace(spec, poi="a")
    assert model.hypotest(3.0, poi="a") == alone.hypotest(3.0)


def normal_tail(x):
    from math import erfc, sqrt

    return 0.5 * erfc(x / sqrt(2))


def test_a_name_makes_the_model_of_that_parameter():
    spec = with_background()
    both, alone = (paritas.Model.from_workspace(spec, poi=poi) for poi in (None, "b"))
    assert both.poi_names == ["a", "b"] and alone.poi_names == ["b"]
    assert both.upper_limit(poi="b").to_dict() == alone.upper_limit().to_dict()
    assert both.significance(poi="b").to_dict() == alone.significance().to_dict()
    assert both.hypotest(2.0, poi="b").to_dict() == alone.hypotest(2.0).to_dict()
    assert both.ranking(poi="b").to_dict() == alone.ranking().to_dict()
    ours, theirs = (model.significance_toys(50, poi="b") for model in (both, alone))
    assert ours.p0 == theirs.p0 and (ours.test.toys == theirs.test.toys).all()
    # values beyond the bounds widen them, for each parameter of interest
    assert both.hypotest((1.0, 12.0), poi=["a", "b"]).converged


@pytest.mark.parametrize(
    "command",
    ["limit", "significance", "ranking", "scan --points 3", "significance --calc toys --ntoys 60"],
)
def test_the_program_answers_for_each_in_turn(file, command):
    name, *options = command.split()
    found = program(name, file, "--json", *options, "--poi", "a", "--poi", "b")
    assert found["pois"] == ["a", "b"] and [one["poi"] for one in found["answers"]] == ["a", "b"]
    if name != "scan":
        assert found == program(name, file, "--json", *options, "--poi", "all") or "toys" in command
    for answer in found["answers"]:
        alone = program(name, file, "--json", *options, "--poi", answer["poi"])
        for key in ("device", "precision", "polish"):
            assert found[key] == alone.pop(key)
        for timed in ("seconds", "toys_per_second"):
            assert (timed in answer) == (timed in alone)
            answer.pop(timed, None), alone.pop(timed, None)
        assert answer == alone


def test_a_fit_and_a_joint_test_of_the_program(file):
    model = paritas.Model.from_workspace(file)
    fit = program("fit", file, "--json", "--poi", "a", "--poi", "b")
    assert fit["pois"] == ["a", "b"]
    assert fit["pois_covariance"] == model.fit().covariance[:2, :2].tolist()
    held = model.fit(fixed={"a": 1.0, "b": 0.5}, poi=["a", "b"])
    assert held.pois == ["a", "b"] and held.states[:2] == ["fixed", "fixed"]
    test = program("hypotest", file, "--json", "--poi", "a", "--poi", "b", "--mu", 1, "--mu", 0.5)
    expected = model.hypotest((1.0, 0.5), poi=["a", "b"])
    assert (test["q"], test["p"], test["ndof"]) == (expected.q, expected.p, 2)
    assert test["q"] == pytest.approx(held.twice_nll - model.fit().twice_nll, abs=1e-9)
    assert test["mu_hat"] == expected.best.tolist()
    # the edge of a contour has the p-value that its confidence leaves
    contour = program(
        "contour", file, "--json", "--poi", "a", "--poi", "b", "--confidence", 0.9, "--points", 6
    )
    values = contour["contours"][0]["points"][0]["values"]
    assert model.hypotest(values, poi=["a", "b"]).p == pytest.approx(0.1, rel=1e-5)


@pytest.mark.parametrize(
    "command, message",
    [
        ("nll", "nll takes one --poi"),
        ("hypotest-toys --ntoys 10", "hypotest-toys takes one --poi"),
        ("hypotest --mu 1", "once for each of 2"),
        ("hypotest --test-stat q0", "--test-stat is for one"),
        ("significance --calc toys --store x.db", "--store keeps the toys of one"),
        ("scan --par a=0:1:3", "--par names what is scanned"),
        ("fit --asimov 1", "--asimov holds one"),
        ("limit --poi a", "--poi a is given twice"),
        ("limit --poi all", "cannot be combined"),
    ],
)
def test_what_makes_no_sense_for_several_is_refused(file, command, message):
    name, *options = command.split()
    assert message in program(name, file, "--poi", "a", "--poi", "b", *options, code=2)


def test_one_name_is_wanted_where_each_is_answered():
    model = paritas.Model.from_workspace(with_background())
    with pytest.raises(paritas.Error, match="one name is wanted"):
        model.upper_limit(poi=["a", "b"])
    for mu in ((1.0,), 1, np.array(1.0), [[1, 1], [2, 2]]):
        with pytest.raises(paritas.Error, match="2 values are wanted, one for each of a, b"):
            model.hypotest(mu, poi=["a", "b"])
    with pytest.raises(paritas.Error, match="no parameter 'z'"):
        model.fit(poi=["a", "z"])


def test_a_measurements_list_is_checked_and_renamed():
    for wrong, message in (
        (["b", "a"], r"pois\[0\]: must be \"a\""),
        (["a", "a"], r"pois\[1\]: \"a\" is already pois\[0\]"),
        ([], "pois"),
        ([1], "pois"),
    ):
        with pytest.raises(paritas.Error, match=message):
            paritas.Model.from_workspace(strengths(pois=wrong))
    assert paritas.Model.from_workspace(strengths(pois=["a", "gone", "c"])).poi_names == ["a", "c"]
    renamed = paritas.Workspace(strengths()).rename(modifiers={"b": "beta"})
    assert renamed.to_dict()["measurements"][0]["config"]["pois"] == ["a", "beta", "c"]


def test_other_formats_keep_the_list(tmp_path):
    from paritas.convert import histfactory_xml, hs3

    written = hs3.from_pyhf(strengths())
    assert written.spec["analyses"][0]["parameters_of_interest"] == ["a", "b", "c"]
    back = hs3.to_pyhf(written.spec).spec["measurements"][0]["config"]
    assert back["poi"] == "a" and back["pois"] == ["a", "b", "c"]
    pytest.importorskip("uproot")
    for part in ("config", "data"):
        (tmp_path / part).mkdir()
    top = histfactory_xml.write(strengths(), tmp_path / "config", tmp_path / "data", "top")
    assert b"<POI>a b c</POI>" in top
