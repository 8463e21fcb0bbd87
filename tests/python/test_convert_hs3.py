"""HS3 to pyhf workspaces and back. Truth: closed forms for a document with every modifier, then likelihoods
that stay the same on the way there and back."""

from __future__ import annotations

import copy
import json
import math
import os

import pytest
from convert_support import SHARED, TREE, random_points, twice_nll

from paritas.convert import ConversionError, hs3

AXES_SR = [{"name": "x", "min": 0.0, "max": 1.0, "nbins": 1}, {"name": "y", "edges": [0.0, 1.0, 3.0]}]
AXES_CR = [{"name": "z", "min": 0.0, "max": 1.0, "nbins": 1}]


def every_modifier():
    """Two channels (one of them two-dimensional) with each kind of modifier and constraint that a workspace
    can express."""
    return {
        "metadata": {"hs3_version": "0.2"},
        "distributions": [
            {
                "name": "model_SR",
                "type": "histfactory_dist",
                "axes": AXES_SR,
                "staterror": {"constraint_type": "Gauss", "relThreshold": 0.0},
                "samples": [
                    {
                        "name": "signal",
                        "data": {"contents": [5.0, 3.0], "errors": [0.3, 0.4]},
                        "modifiers": [
                            {"name": "mu", "type": "normfactor", "parameter": "mu"},
                            {
                                "name": "Lumi",
                                "type": "normfactor",
                                "parameter": "Lumi",
                                "constraint_name": "lumiConstraint",
                            },
                            {
                                "name": "xs",
                                "type": "normsys",
                                "parameter": "alpha_xs",
                                "constraint": "Gauss",
                                "data": {"hi": 1.2, "lo": 0.9},
                            },
                            {
                                "name": "staterror",
                                "type": "staterror",
                                "parameters": ["gamma_stat_SR_bin_0", "gamma_stat_SR_bin_1"],
                                "constraint": "Gauss",
                            },
                        ],
                    },
                    {
                        "name": "background",
                        "data": {"contents": [50.0, 40.0], "errors": [4.0, 3.0]},
                        "modifiers": [
                            {
                                "name": "shape",
                                "type": "histosys",
                                "parameter": "alpha_shape",
                                "constraint": "shape_constraint",
                                "data": {"hi": {"contents": [54.0, 41.0]}, "lo": {"contents": [47.0, 38.0]}},
                            },
                            {
                                "name": "staterror",
                                "type": "staterror",
                                "parameters": ["gamma_stat_SR_bin_0", "gamma_stat_SR_bin_1"],
                                "constraint": "Gauss",
                            },
                        ],
                    },
                    {
                        "name": "fakes",
                        "data": {"contents": [10.0, 8.0]},
                        "modifiers": [
                            {
                                "name": "uncorrelated",
                                "type": "shapesys",
                                "parameters": ["gamma_u_bin_0", "gamma_u_bin_1"],
                                "constraint": "Poisson",
                                "data": {"vals": [0.2, 0.25]},
                            }
                        ],
                    },
                ],
            },
            {
                "name": "model_CR",
                "type": "histfactory_dist",
                "axes": AXES_CR,
                "samples": [
                    {
                        "name": "fakes",
                        "data": {"contents": [100.0]},
                        "modifiers": [
                            {"name": "free", "type": "shapefactor", "parameters": ["gamma_free_bin_0"]},
                            {
                                "name": "xs",
                                "type": "normsys",
                                "parameter": "alpha_xs",
                                "constraint": "Gauss",
                                "data": {"hi": 1.1, "lo": 0.8},
                            },
                        ],
                    }
                ],
            },
            {
                "name": "lumiConstraint",
                "type": "gaussian_dist",
                "x": "Lumi",
                "mean": "nominalLumi",
                "sigma": 0.02,
            },
            {
                "name": "shape_constraint",
                "type": "gaussian_dist",
                "x": 0.3,
                "mean": "alpha_shape",
                "sigma": 1.0,
            },
        ],
        "data": [
            {"name": "obsData_SR", "type": "binned", "axes": AXES_SR, "contents": [70.0, 50.0]},
            {"name": "obsData_CR", "type": "binned", "axes": AXES_CR, "contents": [95.0]},
            {"name": "asimovData_SR", "type": "binned", "axes": AXES_SR, "contents": [65.0, 51.0]},
            {"name": "asimovData_CR", "type": "binned", "axes": AXES_CR, "contents": [100.0]},
        ],
        "likelihoods": [
            {"name": "L", "distributions": ["model_SR", "model_CR"], "data": ["obsData_SR", "obsData_CR"]},
            {
                "name": "A",
                "distributions": ["model_SR", "model_CR"],
                "data": ["asimovData_SR", "asimovData_CR"],
            },
        ],
        "domains": [
            {
                "name": "default_domain",
                "type": "product_domain",
                "axes": [
                    {"name": "mu", "min": -1.0, "max": 8.0},
                    {"name": "Lumi", "min": 0.9, "max": 1.1},
                    {"name": "alpha_xs", "min": -4.0, "max": 4.0},
                    {"name": "gamma_u_bin_0", "min": 0.0, "max": 2.0},
                    {"name": "gamma_u_bin_1", "min": 0.0, "max": 2.25},
                ],
            }
        ],
        "parameter_points": [
            {
                "name": "default_values",
                "parameters": [
                    {"name": "mu", "value": 1.5},
                    {"name": "nominalLumi", "value": 1.0, "const": True},
                    {"name": "alpha_xs", "value": 0.0, "const": True},
                ],
            }
        ],
        "analyses": [
            {
                "name": "fit",
                "likelihood": "L",
                "parameters_of_interest": ["mu"],
                "domains": ["default_domain"],
                "init": "default_values",
            },
            {
                "name": "asimov",
                "likelihood": "A",
                "parameters_of_interest": ["mu"],
                "domains": "default_domain",
            },
            {"name": "other_poi", "likelihood": "L", "parameters_of_interest": ["Lumi", "mu"]},
        ],
    }


def poisson(n, rate):
    return n * math.log(rate) - rate - math.lgamma(n + 1)


def gauss(x, mean, width):
    return -0.5 * ((x - mean) / width) ** 2 - math.log(width * math.sqrt(2 * math.pi))


def closed_form(p, factor=None):
    """-2 ln L of `every_modifier`, written out. `factor(alpha, hi, lo)`: the normsys; default: its form
    outside +-1 (and 1 at 0)."""
    factor = factor or (lambda a, hi, lo: hi**a if a >= 0 else lo**-a)

    def variation(a, hi, lo):  # of a histosys, code4p
        up, down = hi, -lo
        if abs(a) > 1:
            return a * (up if a > 0 else down)
        return a * (up + down) / 2 + a * a * (up - down) / 16 * (15 + a * a * (3 * a * a - 10))

    a, s = p["alpha_xs"], p["alpha_shape"]
    total = 0.0
    for b, (n, sig, bkg, hi, lo, fake, rel) in enumerate(
        [(70, 5, 50, 4, -3, 10, 0.2), (50, 3, 40, 1, -2, 8, 0.25)]
    ):
        stat, u = p[f"gamma_stat_SR_bin_{b}"], p[f"gamma_u_bin_{b}"]
        rate = (
            sig * p["mu"] * p["Lumi"] * factor(a, 1.2, 0.9) * stat
            + (bkg + variation(s, hi, lo)) * stat
            + fake * u
        )
        width = math.hypot(*[(0.3, 4.0), (0.4, 3.0)][b]) / (sig + bkg)
        total += poisson(n, rate) + gauss(1.0, stat, width) + poisson(rel**-2, u * rel**-2)
    total += poisson(95, 100 * p["gamma_free_bin_0"] * factor(a, 1.1, 0.8))
    total += gauss(0.0, a, 1.0) + gauss(0.3, s, 1.0) + gauss(1.0, p["Lumi"], 0.02)
    return -2 * total


NAMES = (
    "mu",
    "Lumi",
    "alpha_xs",
    "alpha_shape",
    "gamma_stat_SR_bin_0",
    "gamma_stat_SR_bin_1",
    "gamma_u_bin_0",
    "gamma_u_bin_1",
    "gamma_free_bin_0",
)
POINTS = [
    dict(zip(NAMES, values))
    for values in (
        (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        (2.2, 1.03, 1.5, 0.4, 0.96, 1.05, 1.2, 0.8, 0.93),
        (0.3, 0.99, -2.0, -1.7, 1.1, 0.9, 0.7, 1.4, 1.3),
    )
]


@pytest.mark.parametrize("names", ["keep", "pyhf"])
def test_a_document_with_every_modifier_has_the_likelihood_of_its_closed_form(names):
    answer = hs3.to_pyhf(every_modifier(), names=names)
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    assert found == pytest.approx([closed_form(point) for point in POINTS], rel=1e-12)


def test_an_exponential_normsys_is_exponential_between_its_variations():
    document = every_modifier()
    document["distributions"][0]["default_interpolation"] = {"type": "mult", "in": "exp", "out": None}
    document["distributions"][1]["samples"][0]["modifiers"][1]["interpolation"] = 1
    shape = document["distributions"][0]["samples"][1]["modifiers"][0]
    shape["interpolation"] = {"type": "add", "in": "poly6", "out": "poly1"}
    answer = hs3.to_pyhf(document)
    assert answer.modifier_settings == {
        "normsys": {"interpcode": "code1"},
        "histosys": {"interpcode": "code4p"},
    }
    points = [{**POINTS[1], "alpha_xs": 0.5}, {**POINTS[2], "alpha_xs": -0.25}]
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in points]
    )
    assert found == pytest.approx([closed_form(point) for point in points], rel=1e-12)


def test_points_domains_and_analyses_become_measurements():
    answer = hs3.to_pyhf(every_modifier(), names="pyhf")
    assert [m["name"] for m in answer.spec["measurements"]] == ["fit", "other_poi"]
    assert [m["config"]["poi"] for m in answer.spec["measurements"]] == ["mu", "lumi"]
    parameters = {item["name"]: item for item in answer.spec["measurements"][0]["config"]["parameters"]}
    assert parameters["mu"] == {"name": "mu", "bounds": [[-1.0, 8.0]], "inits": [1.5]}
    assert parameters["xs"] == {"name": "xs", "bounds": [[-4.0, 4.0]], "inits": [0.0], "fixed": True}
    assert parameters["lumi"] == {
        "name": "lumi",
        "auxdata": [1.0],
        "sigmas": [0.02],
        "inits": [1.0],
        "bounds": [[0.9, 1.1]],
    }
    assert parameters["shape"] == {"name": "shape", "auxdata": [0.3]}
    assert parameters["u"]["bounds"] == [[0.0, 2.0], [0.0, 2.25]]
    assert any("'asimov' has other channels or data" in note for note in answer.notes)
    assert any("of 2 parameters of interest the first, 'lumi'" in note for note in answer.notes)


def test_names_are_kept_or_made_pyhfs():
    kept, mapped = (hs3.to_pyhf(every_modifier(), names=names).names for names in ("keep", "pyhf"))
    assert (
        kept["alpha_xs"] == "alpha_xs"
        and kept["gamma_stat_SR_bin_1"] == "gamma_stat_SR_bin[1]"
        and kept["Lumi"] == "lumi"
    )
    assert (
        mapped["alpha_xs"] == "xs"
        and mapped["gamma_stat_SR_bin_1"] == "staterror_SR[1]"
        and mapped["gamma_u_bin_0"] == "u[0]"
    )


def test_an_analysis_is_chosen_by_name():
    answer = hs3.to_pyhf(every_modifier(), analysis="asimov")
    assert [m["name"] for m in answer.spec["measurements"]] == ["asimov"]
    assert answer.spec["observations"][0]["data"] == [65.0, 51.0]
    with pytest.raises(ConversionError, match="no analysis 'other'.*fit, asimov, other_poi"):
        hs3.to_pyhf(every_modifier(), analysis="other")
    document = every_modifier()
    document["likelihoods"][1]["data"] = ["obsData_SR", "asimovData_CR"]
    document["data"][3]["name"] = "secondData_CR"
    document["likelihoods"][1]["data"] = ["obsData_SR", "secondData_CR"]
    with pytest.raises(ConversionError, match="choose one: fit, asimov"):
        hs3.to_pyhf(document)


@pytest.mark.parametrize(
    "kind, given, code",
    [
        ("normsys", 1, "code1"),
        ("normsys", "4", "code4"),
        ("normsys", 5, "code4"),
        ("normsys", "log", "code1"),
        ("normsys", "code4", "code4"),
        ("normsys", {"type": "mult", "in": "poly6", "out": "exp"}, "code4"),
        ("normsys", {"type": "mult", "in": "exp", "out": None}, "code1"),
        ("histosys", 0, "code0"),
        ("histosys", 4, "code4p"),
        ("histosys", "lin", "code0"),
        ("histosys", "poly6", "code4p"),
        ("histosys", "code2", "code2"),
        ("histosys", {"type": "add", "in": "poly1", "out": None}, "code0"),
        ("normsys", 0, None),
        ("normsys", 2, None),
        ("normsys", "poly6", None),
        ("normsys", True, None),
        ("normsys", {"type": "add", "in": "poly1", "out": None}, None),
        ("histosys", 2, None),
        ("histosys", "parabolic", None),
        ("histosys", 5, None),
        ("histosys", {"type": "add", "in": "poly2", "out": "poly1"}, None),
    ],
)
def test_interpolation_is_understood_in_each_form_or_refused(kind, given, code):
    document = every_modifier()
    for channel in document["distributions"][:2]:
        for sample in channel["samples"]:
            for modifier in sample["modifiers"]:
                if modifier["type"] == kind:
                    modifier["interpolation"] = given
    if code is not None:
        assert hs3.to_pyhf(document).modifier_settings[kind] == {"interpcode": code}
    else:
        with pytest.raises(ConversionError, match=f"/interpolation: .*the interpolation .* of a {kind}"):
            hs3.to_pyhf(document)


def test_two_codes_for_one_kind_are_refused_with_both_places():
    document = every_modifier()
    document["distributions"][1]["samples"][0]["modifiers"][1]["interpolation"] = 1
    with pytest.raises(
        ConversionError,
        match="/distributions/1/samples/0/modifiers/1: .* code1, /distributions/0/samples/0/modifiers/2 with code4",
    ):
        hs3.to_pyhf(document)


@pytest.mark.parametrize(
    "how, vals",
    [("relative", [0.2, 0.25]), ("absolute", [2.0, 2.0]), ("tau", [25.0, 16.0]), ("inverse", [5.0, 4.0])],
)
def test_vals_of_a_shapesys_are_what_the_domains_or_the_caller_say(how, vals):
    document = every_modifier()
    document["distributions"][0]["samples"][2]["modifiers"][0]["data"]["vals"] = vals
    by_domain = hs3.to_pyhf(document).spec
    assert by_domain["channels"][0]["samples"][2]["modifiers"][0]["data"] == pytest.approx(
        [2.0, 2.0], rel=1e-15
    )
    document["domains"] = []
    for analysis in document["analyses"]:
        analysis.pop("domains", None)
    with pytest.raises(ConversionError, match="/data/vals: nothing says whether"):
        hs3.to_pyhf(document)
    said = hs3.to_pyhf(document, shapesys_vals=how).spec
    assert said["channels"] == by_domain["channels"]


def test_gammas_constrained_by_named_distributions_say_their_widths_themselves():
    document = every_modifier()
    document["domains"] = []
    for analysis in document["analyses"]:
        analysis.pop("domains", None)
    modifier = document["distributions"][0]["samples"][2]["modifiers"][0]
    del modifier["constraint"]
    modifier["constraints"] = ["c0", "c1"]
    document["functions"] = [
        {"name": f"m{i}", "type": "product", "factors": [f"gamma_u_bin_{i}", tau]}
        for i, tau in enumerate([25.0, 16.0])
    ]
    document["distributions"] += [
        {"name": f"c{i}", "type": "poisson_dist", "x": tau, "mean": f"m{i}"}
        for i, tau in enumerate([25.0, 16.0])
    ]
    answer = hs3.to_pyhf(document)
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    assert found == pytest.approx([closed_form(point) for point in POINTS], rel=1e-12)
    for i, width in enumerate([0.2, 0.25]):
        document["distributions"][-2 + i] = {
            "name": f"c{i}",
            "type": "gaussian_dist",
            "x": f"gamma_u_bin_{i}",
            "mean": 1.0,
            "sigma": width,
        }
    gaussian = hs3.to_pyhf(document)
    found = twice_nll(
        gaussian, [{gaussian.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    swap = [
        sum(
            gauss(1.0, p[f"gamma_u_bin_{i}"], w) - poisson(w**-2, p[f"gamma_u_bin_{i}"] * w**-2)
            for i, w in enumerate([0.2, 0.25])
        )
        for p in POINTS
    ]
    assert found == pytest.approx([closed_form(p) - 2 * s for p, s in zip(POINTS, swap)], rel=1e-12)


def _poisson_staterror():
    document = every_modifier()
    document["distributions"][0]["staterror"] = {"constraint_type": "Poisson"}
    for sample in document["distributions"][0]["samples"][:2]:
        del sample["modifiers"][-1]["constraint"]
    return document


def test_a_poisson_staterror_on_one_sample_is_a_shapesys_and_shared_it_is_refused():
    document = _poisson_staterror()
    with pytest.raises(
        ConversionError,
        match="/modifiers/3: Poisson-constrained parameters are shared by samples signal, background",
    ):
        hs3.to_pyhf(document)
    answer = hs3.to_pyhf(document, poisson_staterror="gauss")
    assert answer.spec["channels"] == hs3.to_pyhf(every_modifier()).spec["channels"]
    assert any("became Gaussian" in note for note in answer.notes)
    del document["distributions"][0]["samples"][0]["modifiers"][-1]
    modifier = hs3.to_pyhf(document).spec["channels"][0]["samples"][1]["modifiers"][0]
    assert (modifier["type"], modifier["data"]) == ("shapesys", [4.0, 3.0])


def test_what_is_held_constant_of_a_set_gets_no_width():
    document = every_modifier()
    document["parameter_points"][0]["parameters"] += [
        {"name": "gamma_stat_SR_bin_1", "value": 1.0, "const": True}
    ]
    document["analyses"] = document["analyses"][:2]
    assert [s["modifiers"][0]["data"] for s in hs3.to_pyhf(document).spec["channels"][0]["samples"][:2]] == [
        [0.3, 0.0],
        [4.0, 0.0],
    ]
    document["parameter_points"][0]["parameters"][-1]["value"] = 1.1
    with pytest.raises(ConversionError, match="held constant, but are .* away from 1"):
        hs3.to_pyhf(document)
    document["parameter_points"][0]["parameters"] += [
        {"name": "gamma_stat_SR_bin_0", "value": 0.9, "const": True}
    ]
    parameters = {p["name"]: p for p in hs3.to_pyhf(document).spec["measurements"][0]["config"]["parameters"]}
    assert parameters["gamma_stat_SR_bin"] == {
        "name": "gamma_stat_SR_bin",
        "inits": [0.9, 1.1],
        "fixed": True,
    }


def test_a_threshold_of_statistical_errors_fixes_the_bins_below():
    document = every_modifier()
    document["distributions"][0]["staterror"]["relThreshold"] = 0.072  # widths: 0.0729, 0.0704
    answer = hs3.to_pyhf(document)
    assert [s["modifiers"][0]["data"] for s in answer.spec["channels"][0]["samples"][:2]] == [
        [0.3, 0.0],
        [4.0, 0.0],
    ]
    assert any("below the threshold" in note for note in answer.notes)


def _set(path, value):
    def change(document):
        target = document
        for key in path[:-1]:
            target = target[key]
        if value is _DELETED:
            del target[path[-1]]
        else:
            target[path[-1]] = value

    return change


_DELETED = object()
SR, BKG = ("distributions", 0), ("distributions", 0, "samples", 1)
XS = ("distributions", 0, "samples", 0, "modifiers", 2)


@pytest.mark.parametrize(
    "change, where, why",
    [
        (_set(["metadata", "hs3_version"], "0.3"), "/metadata/hs3_version", "version 0.2 is read"),
        (_set(["likelihoods"], []), "/analyses/0/likelihood", "'L' is not in likelihoods"),
        (_set([*XS, "type"], "custom"), "/distributions/0/samples/0/modifiers/2", "type 'custom'"),
        (
            _set([*XS, "constraint"], "LogNormal"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "cannot express a LogNormal constraint",
        ),
        (
            _set([*XS, "constraint"], "Poisson"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "Poisson constraint of a normsys",
        ),
        (
            _set([*XS, "constraint"], "missing"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "neither a distribution nor a kind",
        ),
        (
            _set([*XS, "constraint"], "lumiConstraint"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "constrains 'Lumi', not 'alpha_xs'",
        ),
        (_set([*XS, "surprise"], 1), "/distributions/0/samples/0/modifiers/2/surprise", "not known here"),
        (_set([*XS, "data", "lo"], 0.0), "/distributions/0/samples/0/modifiers/2/data", "above 0"),
        (
            _set([*XS, "data", "lo"], "0.9"),
            "/distributions/0/samples/0/modifiers/2/data/lo",
            "a finite number",
        ),
        (
            _set([*XS, "parameter"], "mu"),
            "/distributions/0/samples/0/modifiers/2",
            "'mu' is a parameter of type alpha here",
        ),
        (
            _set([*BKG, "modifiers", 0, "data", "hi", "contents"], [1.0]),
            "/distributions/0/samples/1/modifiers/0/data/hi/contents",
            "must have 2 numbers, not 1",
        ),
        (_set([*BKG, "data", "errors"], _DELETED), "/distributions/0/samples/1/data", "'errors' are missing"),
        (_set([*BKG, "name"], "signal"), "/distributions/0/samples/1", "second sample 'signal'"),
        (
            _set(["distributions", 1, "samples", 0, "modifiers", 0, "parameters"], ["mu"]),
            "/distributions/1/samples/0/modifiers/0",
            "'mu' is also a parameter of another modifier",
        ),
        (_set(["distributions", 2, "type"], "lognormal_dist"), "/distributions/2", "type 'lognormal_dist'"),
        (_set(["distributions", 3, "sigma"], 2.0), "/distributions/0/samples/1/modifiers/0", "width 2.0"),
        (_set(["distributions", 2, "mean"], "nowhere"), "/distributions/2", "a parameter on one side"),
        (_set(["data", 0, "type"], "unbinned"), "/data/0", "only binned data"),
        (_set(["data", 0, "contents"], [1.0, 2.0, 3.0]), "/data/0/contents", "2 numbers"),
        (
            _set(["likelihoods", 0, "data"], ["obsData_SR"]),
            "/likelihoods/0/data",
            "2 distributions have 1 data",
        ),
        (_set(["domains", 0, "type"], "simplex"), "/domains/0/type", "domain type 'simplex'"),
        (
            _set(["analyses", 0, "domains"], ["nowhere"]),
            "/analyses/0/domains/0",
            "'nowhere' is not in domains",
        ),
        (
            _set(["analyses", 0, "parameters_of_interest"], ["gamma_u_bin_0"]),
            "/analyses/0/parameters_of_interest",
            "not a parameter of a whole sample",
        ),
        (
            _set([*SR, "samples", 0, "modifiers", 3, "parameters"], ["a", "a"]),
            "/distributions/0/samples/0/modifiers/3",
            "2 different parameters",
        ),
        (
            _set([*SR, "samples", 0, "modifiers", 3, "constraint"], "Poisson"),
            "/distributions/0/samples/0/modifiers/3",
            "its constraint is of two kinds",
        ),
        (_set(["surprise"], []), "/surprise", "not known"),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_place_and_reason(change, where, why):
    document = every_modifier()
    change(document)
    with pytest.raises(ConversionError) as caught:
        hs3.to_pyhf(document)
    assert caught.value.where == where
    assert why in caught.value.why
    assert isinstance(caught.value, ValueError)


def test_free_gammas_of_two_channels_are_shared_as_pyhf_shares_them():
    document = every_modifier()
    extra = {"name": "free", "type": "shapefactor", "parameters": ["gamma_free_bin_0", "gamma_free_bin_1"]}
    document["distributions"][0]["samples"][2]["modifiers"].append(extra)
    with pytest.raises(ConversionError, match="channel 'CR' has 1 of the 2 parameters.*comes first"):
        hs3.to_pyhf(document)
    document["distributions"][1]["name"] = "model_ZR"
    for likelihood in document["likelihoods"]:
        likelihood["distributions"] = ["model_SR", "model_ZR"]
    answer = hs3.to_pyhf(document)
    assert (
        answer.names["gamma_free_bin_0"] == "gamma_free_bin[0]"
        and answer.names["gamma_free_bin_1"] == "gamma_free_bin[1]"
    )
    assert twice_nll(answer, [{}]) == pytest.approx(twice_nll(hs3.to_pyhf(every_modifier()), [{}]), rel=1e-13)


def test_two_constrained_factors_are_refused():
    document = every_modifier()
    document["distributions"].append(
        {"name": "muConstraint", "type": "gaussian_dist", "x": "mu", "mean": 1.0, "sigma": 0.5}
    )
    document["likelihoods"][0]["aux_distributions"] = ["muConstraint"]
    with pytest.raises(ConversionError, match="'Lumi' and 'mu' are factors with a constraint"):
        hs3.to_pyhf(document)


def test_a_constraint_in_the_likelihood_counts_like_one_on_the_modifier():
    document, other = every_modifier(), every_modifier()
    lumi = other["distributions"][0]["samples"][0]["modifiers"][1]
    del lumi["constraint_name"]
    other["distributions"][2] = {
        "name": "lumiConstraint",
        "type": "gaussian_dist",
        "x": "lumi_obs",
        "mean": "Lumi",
        "sigma": 0.02,
    }
    for likelihood in other["likelihoods"]:
        likelihood["distributions"] = likelihood["distributions"] + ["lumiConstraint"]
        likelihood["data"] = likelihood["data"] + [1.0]
    assert hs3.to_pyhf(other).spec == hs3.to_pyhf(document).spec


def test_documents_as_root_writes_them_are_read():
    """Global observables named like parameters, bounds beside the values of a point, half-open domains, 5 for
    the code of a normsys, constraint_type."""
    document = every_modifier()
    channel = document["distributions"][0]
    xs, stat = channel["samples"][0]["modifiers"][2:]
    other = channel["samples"][1]["modifiers"][1]
    del xs["constraint"], stat["constraint"], other["constraint"], channel["staterror"]
    xs.update(constraint_name="alpha_xsConstraint", interpolation=5)
    stat["constraint_type"] = other["constraint_type"] = "Gauss"
    document["distributions"].append(
        {
            "name": "alpha_xsConstraint",
            "type": "gaussian_dist",
            "x": "alpha_xs_observed",
            "mean": "alpha_xs",
            "sigma": 1.0,
        }
    )
    document["parameter_points"][0]["parameters"] += [
        {"name": "alpha_xs_observed", "value": 0.0, "const": True},
        {"name": "alpha_shape", "value": 0.5, "min": -3.0, "max": 3.0},
    ]
    document["domains"][0]["axes"] += [
        {"name": "gamma_free_bin_0", "min": 0.0},
        {"name": "alpha_xs_observed", "min": -10.0},
    ]
    answer = hs3.to_pyhf(document)
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    assert found == pytest.approx([closed_form(point) for point in POINTS], rel=1e-12)
    shape = next(
        p for p in answer.spec["measurements"][0]["config"]["parameters"] if p["name"] == "alpha_shape"
    )
    assert shape == {"name": "alpha_shape", "auxdata": [0.3], "inits": [0.5], "bounds": [[-3.0, 3.0]]}
    assert [note for note in answer.notes if "one side alone" in note] == [
        "/domains/0/axes/5: 'gamma_free_bin_0' has a bound on one side alone; pyhf's default bounds were taken"
    ]


def test_what_nothing_uses_is_noted():
    document = every_modifier()
    document["distributions"].append(
        {"name": "lost", "type": "gaussian_dist", "x": "mu", "mean": 1.0, "sigma": 0.5}
    )
    assert "/distributions/4: 'fit' does not use 'lost', which was left out" in hs3.to_pyhf(document).notes


def test_a_file_that_is_no_json_is_refused(tmp_path):
    for text in ('{"a": 1, "a": 2}', '{"a": NaN}', '{"a": ', "[" * 100000):
        path = tmp_path / "file.json"
        path.write_text(text)
        with pytest.raises(ConversionError, match="file.json: not a JSON document"):
            hs3.read(path)


# To HS3


def odd_workspace():
    """What the writer must take apart: several staterrors in a channel, one that spans channels, a shared
    shapefactor, measurements that differ, auxiliary data away from 0."""

    def sample(name, data, *modifiers):
        return {
            "name": name,
            "data": data,
            "modifiers": [{"name": n, "type": t, "data": d} for n, t, d in modifiers],
        }

    return {
        "channels": [
            {
                "name": "A",
                "samples": [
                    sample(
                        "s",
                        [5.0, 6.0],
                        ("mu", "normfactor", None),
                        ("lumi", "lumi", None),
                        ("st_s", "staterror", [0.5, 0.6]),
                        ("xs", "normsys", {"hi": 1.1, "lo": 0.95}),
                    ),
                    sample(
                        "b",
                        [50.0, 60.0],
                        ("st_b", "staterror", [2.0, 0.0]),
                        ("shape", "histosys", {"hi_data": [55.0, 61.0], "lo_data": [48.0, 57.0]}),
                    ),
                ],
            },
            {
                "name": "B",
                "samples": [
                    sample(
                        "b",
                        [30.0, 20.0, 10.0],
                        ("span", "staterror", [1.0, 2.0, 1.5]),
                        ("free", "shapefactor", None),
                    ),
                    sample(
                        "c",
                        [3.0, 0.0, 1.0],
                        ("span", "staterror", [0.3, 0.1, 0.2]),
                        ("sys", "shapesys", [1.0, 0.5, 0.0]),
                    ),
                ],
            },
            {
                "name": "C",
                "samples": [
                    sample("b", [9.0], ("span", "staterror", [1.1]), ("free", "shapefactor", None)),
                    sample("c", [1.0], ("span", "staterror", [0.2])),
                ],
            },
        ],
        "observations": [
            {"name": "A", "data": [60, 66]},
            {"name": "B", "data": [34.0, 19.0, 12.0]},
            {"name": "C", "data": [8]},
        ],
        "measurements": [
            {
                "name": "one",
                "config": {
                    "poi": "mu",
                    "parameters": [
                        {
                            "name": "lumi",
                            "inits": [1.0],
                            "bounds": [[0.9, 1.1]],
                            "auxdata": [1.0],
                            "sigmas": [0.017],
                        },
                        {"name": "xs", "auxdata": [0.25]},
                        {
                            "name": "span",
                            "inits": [1.0, 1.1, 1.2, 0.9],
                            "bounds": [[0.5, 2.0], [0.5, 2.0], [0.5, 2.0], [0.4, 1.6]],
                        },
                    ],
                },
            },
            {
                "name": "two",
                "config": {
                    "poi": "",
                    "parameters": [
                        {
                            "name": "lumi",
                            "inits": [1.0],
                            "bounds": [[0.9, 1.1]],
                            "auxdata": [1.0],
                            "sigmas": [0.017],
                            "fixed": True,
                        },
                        {"name": "xs", "auxdata": [0.25]},
                        {"name": "mu", "inits": [0.0], "bounds": [[-5.0, 5.0]], "fixed": True},
                    ],
                },
            },
        ],
        "version": "1.0.0",
    }


def same_likelihood(spec, settings=None):
    """pyhf -> HS3 -> pyhf: the likelihood is the same at random points, whichever names."""
    codes = settings or {}
    forth = hs3.from_pyhf(spec, **codes)
    document = json.loads(json.dumps(forth.spec))
    points = random_points(document)
    before = copy.copy(forth)
    before.spec = spec
    for names in ("keep", "pyhf"):
        back = hs3.to_pyhf(document, names=names)
        assert back.modifier_settings == forth.modifier_settings
        assert [m["name"] for m in back.spec["measurements"]] == [m["name"] for m in spec["measurements"]]
        for measurement in (m["name"] for m in spec["measurements"]):
            expected = twice_nll(
                before,
                [{forth.names[name]: value for name, value in point.items()} for point in points],
                measurement,
            )
            found = twice_nll(
                back,
                [{back.names[name]: value for name, value in point.items()} for point in points],
                measurement,
            )
            assert found == pytest.approx(expected, rel=1e-12)
    return back


def test_a_workspace_with_oddities_has_the_same_likelihood_after_a_round_trip():
    back = same_likelihood(odd_workspace())
    one, two = ({p["name"]: p for p in m["config"]["parameters"]} for m in back.spec["measurements"])
    assert one["span_B"]["inits"] + one["span_C"]["inits"] == [1.0, 1.1, 1.2, 0.9]
    assert two["mu"] == {"name": "mu", "inits": [0.0], "bounds": [[-5.0, 5.0]], "fixed": True}
    assert two["lumi"]["fixed"] and "fixed" not in one["lumi"]


def test_other_interpolation_survives_a_round_trip():
    same_likelihood(odd_workspace(), {"normsys_code": "code1", "histosys_code": "code0"})
    assert any(
        "ROOT up to 6.40 reads all with its code 4" in note
        for note in hs3.from_pyhf(odd_workspace(), histosys_code="code0").notes
    )
    with pytest.raises(ConversionError, match="readers do not have pyhf's code2 for histosys"):
        hs3.from_pyhf(odd_workspace(), histosys_code="code2")


def test_asimov_data_are_the_prediction_at_the_start():
    data = {item["name"]: item["contents"] for item in hs3.from_pyhf(odd_workspace()).spec["data"]}
    assert data["asimovData_A"] == [55.0, 66.0]
    assert data["asimovData_B"] == pytest.approx([33.0, 22.0, 13.2])
    assert data["asimovData_C"] == pytest.approx([9.0])


@pytest.mark.parametrize(
    "change, why",
    [
        (
            _set(["channels", 0, "samples", 0, "modifiers", 0, "name"], "alpha_xs"),
            "would both have a parameter called 'alpha_xs'",
        ),
        (
            _set(["measurements", 1, "config", "parameters", 0, "sigmas"], [0.02]),
            "the sigmas of 'lumi' differ among measurements",
        ),
        (
            _set(["measurements", 0, "config", "parameters", 0, "sigmas"], _DELETED),
            "lumi must have inits, bounds, auxdata and sigmas",
        ),
        (
            _set(["measurements", 0, "config", "parameters", 2, "auxdata"], [1.0] * 4),
            "auxdata of parameters with one a bin",
        ),
        (_set(["observations", 2, "name"], "D"), "it has no observation"),
        (_set(["measurements", 0, "config", "poi"], "span"), "'span' has one parameter a bin"),
        (_set(["measurements", 1, "name"], "one"), r'the name "one" is also that of measurements\[0\]'),
    ],
)
def test_what_hs3_cannot_say_is_refused(change, why):
    spec = odd_workspace()
    change(spec)
    with pytest.raises(ConversionError, match=why):
        hs3.from_pyhf(spec)


def _places(value, path=()):
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _places(value[key], (*path, key))


@pytest.mark.parametrize(
    "make, convert",
    [(every_modifier, hs3.to_pyhf), (odd_workspace, hs3.from_pyhf)],
    ids=["to_pyhf", "from_pyhf"],
)
def test_whatever_stands_anywhere_is_converted_or_refused_by_place(make, convert):
    text = json.dumps(make())
    refused = 0
    for path in _places(make()):
        for value in (_DELETED, None, [], {}, -1, 10**400, "mu", ["a"]):
            document = json.loads(text)
            _set(path, value)(document)
            try:
                convert(document)
            except ConversionError as error:
                assert error.where and error.why
                refused += 1
    assert refused > 1000


def _published():
    paths = sorted(SHARED.glob("*.json")) if SHARED.is_dir() else []
    return [TREE / "examples" / "two_bins.json", TREE / "examples" / "sbottom_A" / "BkgOnly.json", *paths]


@pytest.mark.parametrize("path", _published(), ids=lambda path: path.stem)
def test_published_workspaces_come_back_as_they_were(path):
    """Channels, samples and modifiers to the last bit, which makes the likelihood the same; an observation of
    no channel is the one thing that is left out."""
    spec = json.loads(path.read_text())
    back = hs3.to_pyhf(json.loads(json.dumps(hs3.from_pyhf(spec).spec)), names="pyhf").spec

    def canonical(channels):
        def ordered(sample):
            return {
                **sample,
                "modifiers": sorted(
                    sample["modifiers"], key=lambda modifier: (modifier["type"], modifier["name"])
                ),
            }

        return [
            {"name": channel["name"], "samples": [ordered(sample) for sample in channel["samples"]]}
            for channel in channels
        ]

    assert canonical(back["channels"]) == canonical(spec["channels"])
    names = {channel["name"] for channel in spec["channels"]}
    assert {o["name"]: o["data"] for o in back["observations"]} == {
        o["name"]: o["data"] for o in spec["observations"] if o["name"] in names
    }


@pytest.mark.parametrize("name", ["ttZ_4l", "displaced_leptons_signal", "sbottom_A"])
def test_published_workspaces_have_the_same_likelihood_after_a_round_trip(name):
    if name == "sbottom_A":
        jsonpatch = pytest.importorskip("jsonpatch")
        folder = TREE / "examples" / "sbottom_A"
        spec = jsonpatch.apply_patch(
            json.loads((folder / "BkgOnly.json").read_text()),
            json.loads((folder / "patch.sbottom_1300_205_60.json").read_text()),
        )
    elif not SHARED.is_dir():
        pytest.skip("no published workspaces here")
    elif name == "ttZ_4l" and not os.environ.get("PARITAS_BIN"):
        pytest.skip("pyhf takes half a minute for this one; set PARITAS_BIN to the program")
    else:
        spec = json.loads((SHARED / f"{name}.json").read_text())
    same_likelihood(spec)
