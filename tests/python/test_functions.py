"""Factors that are functions of parameters; pyhf and other formats refuse them by name."""

from __future__ import annotations

import copy

import pytest

numpy = pytest.importorskip("numpy")

from paritas import Error, Model, Workspace  # noqa: E402
from paritas.convert import ConversionError, conversion, histfactory_xml, hs3  # noqa: E402


def spec(factors, functions=()):
    config = {
        "poi": "mu",
        "parameters": [
            {"name": "k", "bounds": [[0, 5]]},
            {"name": "tilt", "constraint": {"type": "gaussian"}, "auxdata": [1], "sigmas": [0.2]},
        ],
    }
    if functions:
        config["functions"] = [{"name": name, "expression": text} for name, text in functions]
    plain = [{"name": name, "type": "normfactor", "data": None} for name in factors]
    signal = [{"name": "mu", "type": "normfactor", "data": None}]
    return {
        "channels": [
            {
                "name": "SR",
                "samples": [
                    {"name": "signal", "data": [5.0, 9.0], "modifiers": signal},
                    {"name": "background", "data": [50.0, 40.0], "modifiers": plain},
                ],
            },
            {"name": "CR", "samples": [{"name": "background", "data": [300.0], "modifiers": plain}]},
        ],
        "observations": [{"name": "SR", "data": [57.0, 46.0]}, {"name": "CR", "data": [310.0]}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


PRODUCT = spec(["rate"], [("rate", "k * tilt")])


def test_a_product_is_two_factors():
    one, two = (Model.from_workspace(document) for document in (PRODUCT, spec(["k", "tilt"])))
    assert sorted(one.parameter_names) == sorted(two.parameter_names)
    assert one.fit().twice_nll == pytest.approx(two.fit().twice_nll, abs=1e-10)
    assert one.upper_limit().limit_obs == pytest.approx(two.upper_limit().limit_obs, rel=1e-6)


def test_pyhf_refuses_them():
    pyhf = pytest.importorskip("paritas.pyhf")
    with pytest.raises(pyhf.exceptions.InvalidSpecification, match="functions"):
        pyhf.Workspace(copy.deepcopy(PRODUCT))


def test_xml_refuses_them_by_name(tmp_path):
    pytest.importorskip("uproot")
    with pytest.raises(ConversionError, match="functions.*'rate'"):
        histfactory_xml.write(copy.deepcopy(PRODUCT), tmp_path, tmp_path, "p")


def test_hs3_has_them():
    (function,) = hs3.from_pyhf(copy.deepcopy(PRODUCT)).spec["functions"]
    assert function["name"] == "rate" and function["type"] == "generic_function"


def test_notes_say_what_pyhf_lacks():
    assert any("functions of parameters" in note for note in conversion.beyond_pyhf(PRODUCT))


def test_operations_keep_them():
    renamed = Workspace(PRODUCT).rename(modifiers={"k": "two words"})
    (function,) = renamed.to_dict()["measurements"][0]["config"]["functions"]
    assert function == {"name": "rate", "expression": "'two words' * tilt"}
    assert renamed.inspect()["functions"] == [["m", "rate", "'two words' * tilt"]]
    assert renamed.inspect()["unused"]["parameters"] == []
    assert "functions" not in Workspace(spec(["k", "tilt"])).inspect()
    pruned = Workspace(PRODUCT).prune(modifiers=["rate"])
    assert pruned.to_dict()["measurements"][0]["config"]["functions"] == []


def test_a_wrong_expression_has_its_column():
    with pytest.raises(Error, match=r"functions\[0\].expression: column 5: .*nobody"):
        Model.from_workspace(spec(["rate"], [("rate", "k * nobody")]))
