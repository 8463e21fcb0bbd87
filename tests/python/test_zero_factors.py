"""A normsys whose factor is 0 at one side, beside the values of ROOT 6.40's FlexibleInterpVar."""

import copy
import json

import numpy as np
import pytest

import paritas

AT = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
ROOTS = {
    "code0": (0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
    "code4": (0.0, 0.0, 0.275753, 1.0, 1.489331, 2.0, 4.0),
}
EXPONENTIALS = ("code1", "lnN")


def workspace(hi, lo, code=None):
    data = {"hi": hi, "lo": lo, **({"interpcode": code} if code else {})}
    signal = {
        "name": "signal",
        "data": [5.0],
        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
    }
    fake = {"name": "fake", "data": [20.0], "modifiers": [{"name": "rate", "type": "normsys", "data": data}]}
    return {
        "channels": [{"name": "SR", "samples": [signal, fake]}],
        "observations": [{"name": "SR", "data": [25.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def factor(model, at):
    (rate,) = (name for name in model.parameter_names if name.endswith("rate"))  # HS3: alpha_rate
    return model.expected_data(model.point({"mu": 0.0, rate: at}))[0] / 20.0


@pytest.mark.parametrize("code", ROOTS)
def test_a_factor_of_0_has_the_values_of_root(code):
    model = paritas.Model.from_workspace(workspace(2.0, 0.0, code))
    assert [factor(model, a) for a in AT] == pytest.approx(ROOTS[code], abs=1e-6)
    mirrored = paritas.Model.from_workspace(workspace(0.0, 2.0, code))
    assert [factor(mirrored, -a) for a in AT] == pytest.approx(ROOTS[code], abs=1e-6)


@pytest.mark.parametrize("code", ("code0", "code2c", "code4", "code6"))
@pytest.mark.parametrize("sides", [(2.0, 0.0), (0.0, 0.5), (0.0, 0.0)])
def test_derivatives_of_a_factor_of_0_agree_with_differences(code, sides):
    model = paritas.Model.from_workspace(workspace(*sides, code))
    k = model.index("rate")
    for at in (-0.9, -0.5, -0.1, 0.3, 0.8):
        point = model.point({"mu": 1.0, "rate": at})
        step = np.zeros_like(point)
        step[k] = 1e-5
        slope = (model.twice_nll(point + step) - model.twice_nll(point - step)) / 2e-5
        bend = (model.gradient(point + step)[k] - model.gradient(point - step)[k]) / 2e-5
        assert model.gradient(point)[k] == pytest.approx(slope, abs=1e-6)
        assert model.hessian(point)[k, k] == pytest.approx(bend, abs=1e-5)
    for at in (-3.0, -1.0, 1.0, 3.0):
        assert np.isfinite(model.gradient(model.point({"mu": 1.0, "rate": at}))).all()
    fitted = paritas.fit(model)
    assert fitted.status == "converged" and fitted.twice_nll <= model.twice_nll()


def test_a_factor_near_0_is_that_of_0():
    """Nothing jumps where 0 begins."""
    for code in ("code0", "code2c", "code4", "code6"):
        zero, near = (paritas.Model.from_workspace(workspace(2.0, lo, code)) for lo in (0.0, 1e-12))
        for at in (-0.99, -0.5, 0.5, 2.0):
            assert factor(zero, at) == pytest.approx(factor(near, at), abs=1e-9), (code, at)


@pytest.mark.parametrize("code", EXPONENTIALS)
def test_an_exponential_through_0_is_refused_with_its_place(code):
    place = r"channels\[0\].samples\[1\].modifiers\[0\].data.lo: is 0"
    with pytest.raises(paritas.InvalidInput, match=place):
        paritas.Model.from_workspace(workspace(2.0, 0.0, code))
    with pytest.raises(paritas.InvalidInput, match=place):
        paritas.Model.from_workspace(workspace(2.0, 0.0), normsys_code=code.removeprefix("code"))
    with pytest.raises(paritas.InvalidInput, match="data.hi: must be a number of at least 0"):
        paritas.Model.from_workspace(workspace(-0.5, 1.0))


def read_back(tmp_path, command, document, target):
    """(exit code, standard error, the workspace that the written file gives)"""
    source = tmp_path / "in.json"
    source.write_text(json.dumps(document))
    there = tmp_path / f"there.{target}"
    code = command.main([str(source), "--to", target, "-o", str(there)])
    if code:
        return code, None
    written = there / "FitConfig.xml" if target == "xml" else there
    back = tmp_path / "back.json"
    rootdir = ["--rootdir", str(there)] if target == "xml" else []
    assert command.main([str(written), "-o", str(back), *rootdir]) == 0
    return 0, json.loads(back.read_text())


@pytest.mark.parametrize("target", ("hs3", "xml", "datacard"))
def test_a_converter_reads_what_it_wrote_or_refuses_with_the_reason(tmp_path, capsys, target):
    from paritas.convert import command

    if target != "hs3":
        pytest.importorskip("uproot")
    code, back = read_back(tmp_path, command, workspace(2.0, 0.0), target)
    if target == "datacard":  # a card has lnN and straight lines alone
        assert code == 3 and "a card has no interpolation code4 of 0 and 2" in capsys.readouterr().err
        return
    assert code == 0
    ours, theirs = paritas.Model.from_workspace(workspace(2.0, 0.0)), paritas.Model.from_workspace(back)
    for at in AT:
        assert factor(theirs, at) == pytest.approx(factor(ours, at), abs=1e-12)
    assert read_back(tmp_path, command, workspace(2.0, -0.5), target)[0] == 3
    assert "must be a number of at least 0" in capsys.readouterr().err


def test_other_factors_keep_their_values_beside_it():
    """The table of numbers is another one, and what it says of them is not."""
    document = workspace(2.0, 0.0)
    document["channels"].append(copy.deepcopy(document["channels"][0]))
    document["channels"][1]["name"] = "WR"
    other = {"name": "n", "type": "normsys", "data": {"hi": 1.2, "lo": 0.9}}
    document["channels"][1]["samples"][1]["modifiers"] = [other]
    document["observations"].append({"name": "WR", "data": [24.0]})
    model = paritas.Model.from_workspace(document)
    for at, expected in ((-2.0, 0.81), (-1.0, 0.9), (0.0, 1.0), (1.0, 1.2), (1.5, 1.2**1.5)):
        found = model.expected_data(model.point({"mu": 0.0, "n": at}))[1] / 20.0
        assert found == pytest.approx(expected, rel=1e-14)
