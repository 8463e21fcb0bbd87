"""HS3 to pyhf workspaces. Truth: closed forms for a document with every modifier."""

from __future__ import annotations

import math

import pytest
from convert_support import DELETED, every_modifier, set_at, twice_nll

from paritas.convert import ConversionError, hs3


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
    assert [m["config"].get("pois") for m in answer.spec["measurements"]] == [None, ["lumi", "mu"]]
    assert any("/measurements/1/config/pois: pyhf has one" in note for note in answer.notes)


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
        ("normsys", 0, "code0"),
        ("normsys", 2, "code2c"),
        ("normsys", "poly6", None),
        ("normsys", True, None),
        ("normsys", {"type": "add", "in": "poly1", "out": None}, "code0"),
        ("histosys", 2, "code2c"),
        ("histosys", "parabolic", "code2c"),
        ("histosys", 5, "code5"),
        ("histosys", 6, "code6"),
        ("histosys", 7, None),
        ("histosys", {"type": "add", "in": "poly2", "out": "poly1"}, "code2c"),
    ],
)
def test_interpolation_is_understood_in_each_form_or_refused(kind, given, code):
    document = every_modifier()
    for channel in document["distributions"][:2]:
        for sample in channel["samples"]:
            for modifier in sample["modifiers"]:
                if modifier["type"] == kind:
                    modifier["interpolation"] = given
    if code is None:
        with pytest.raises(ConversionError, match=f"/interpolation: .*the interpolation .* of a {kind}"):
            hs3.to_pyhf(document)
        return
    answer = hs3.to_pyhf(document)
    own = [
        one["data"].get("interpcode", answer.modifier_settings[kind]["interpcode"])
        for channel in answer.spec["channels"]
        for sample in channel["samples"]
        for one in sample["modifiers"]
        if one["type"] == kind
    ]
    assert set(own) == {code}
    pyhfs = ("code1", "code4", "code2", "code4p") + (("code0",) if kind == "histosys" else ())
    assert any("interpcode" in note for note in answer.notes) == (
        code not in pyhfs or (kind, code) == ("histosys", "code1")
    )


def test_two_codes_for_one_kind_stand_with_their_modifiers():
    document = every_modifier()
    document["distributions"][1]["samples"][0]["modifiers"][1]["interpolation"] = 1
    answer = hs3.to_pyhf(document)
    assert answer.modifier_settings == {
        "normsys": {"interpcode": "code4"},
        "histosys": {"interpcode": "code4p"},
    }

    def own(spec):
        data = [
            one["data"]
            for channel in spec["channels"]
            for sample in channel["samples"]
            for one in sample["modifiers"]
        ]
        return [one["interpcode"] for one in data if isinstance(one, dict) and "interpcode" in one]

    assert own(answer.spec) == ["code1"]
    spellings = [hs3.from_pyhf(answer.spec, normsys_code=code).spec for code in (1, "1", "code1")]
    assert spellings[0] == spellings[1] == spellings[2] != hs3.from_pyhf(answer.spec).spec
    assert own(hs3.to_pyhf(hs3.from_pyhf(answer.spec).spec).spec) == ["code1"]


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


def test_a_poisson_staterror_on_one_sample_is_a_shapesys_and_shared_it_keeps_its_law():
    document = _poisson_staterror()
    with pytest.raises(
        ConversionError,
        match="/modifiers/3: Poisson-constrained parameters are shared by samples signal, background",
    ):
        hs3.to_pyhf(document, poisson_staterror="refuse")
    kept = hs3.to_pyhf(document)
    found = twice_nll(kept, [{kept.names[name]: value for name, value in point.items()} for point in POINTS])
    widths = [math.hypot(0.3, 4.0) / 55, math.hypot(0.4, 3.0) / 43]
    swaps = [
        sum(
            poisson(w**-2, p[f"gamma_stat_SR_bin_{b}"] * w**-2) - gauss(1.0, p[f"gamma_stat_SR_bin_{b}"], w)
            for b, w in enumerate(widths)
        )
        for p in POINTS
    ]
    assert found == pytest.approx([closed_form(p) - 2 * s for p, s in zip(POINTS, swaps)], rel=1e-12)
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


SR, BKG = ("distributions", 0), ("distributions", 0, "samples", 1)
XS = ("distributions", 0, "samples", 0, "modifiers", 2)


@pytest.mark.parametrize(
    "change, where, why",
    [
        (set_at(["metadata", "hs3_version"], "0.3"), "/metadata/hs3_version", "version 0.2 is read"),
        (set_at(["likelihoods"], []), "/analyses/0/likelihood", "'L' is not in likelihoods"),
        (set_at([*XS, "type"], "gadget"), "/distributions/0/samples/0/modifiers/2", "type 'gadget'"),
        (
            set_at([*XS, "constraint"], "LogNormal"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "cannot express a LogNormal constraint",
        ),
        (
            set_at([*XS, "constraint"], "Poisson"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "Poisson constraint of a normsys",
        ),
        (
            set_at([*XS, "constraint"], "missing"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "neither a distribution nor a kind",
        ),
        (
            set_at([*XS, "constraint"], "lumiConstraint"),
            "/distributions/0/samples/0/modifiers/2/constraint",
            "constrains 'Lumi', not 'alpha_xs'",
        ),
        (set_at([*XS, "surprise"], 1), "/distributions/0/samples/0/modifiers/2/surprise", "not known here"),
        (set_at([*XS, "data", "lo"], -0.5), "/distributions/0/samples/0/modifiers/2/data", "at least 0"),
        (
            set_at([*XS, "data", "lo"], "0.9"),
            "/distributions/0/samples/0/modifiers/2/data/lo",
            "a finite number",
        ),
        (
            set_at([*XS, "parameter"], "mu"),
            "/distributions/0/samples/0/modifiers/2",
            "'mu' is a parameter of type alpha here",
        ),
        (
            set_at([*BKG, "modifiers", 0, "data", "hi", "contents"], [1.0]),
            "/distributions/0/samples/1/modifiers/0/data/hi/contents",
            "must have 2 numbers, not 1",
        ),
        (
            lambda d: set_at([*BKG, "data"], {"contents": [50.0, -1.0]})(d),
            "/distributions/0/samples/1/data",
            "'errors' are missing",
        ),
        (set_at([*BKG, "name"], "signal"), "/distributions/0/samples/1", "second sample 'signal'"),
        (
            set_at(["distributions", 1, "samples", 0, "modifiers", 0, "parameters"], ["mu"]),
            "/distributions/1/samples/0/modifiers/0",
            "'mu' is also a parameter of another modifier",
        ),
        (set_at(["distributions", 2, "type"], "cauchy_dist"), "/distributions/2", "type 'cauchy_dist'"),
        (set_at(["distributions", 2, "mean"], "nowhere"), "/distributions/2", "a parameter on one side"),
        (set_at(["data", 0, "type"], "photographs"), "/data/0", "data of type 'photographs'"),
        (set_at(["data", 0, "contents"], [1.0, 2.0, 3.0]), "/data/0/contents", "2 numbers"),
        (
            set_at(["likelihoods", 0, "data"], ["obsData_SR"]),
            "/likelihoods/0/data",
            "2 distributions have 1 data",
        ),
        (set_at(["domains", 0, "type"], "simplex"), "/domains/0/type", "domain type 'simplex'"),
        (
            set_at(["analyses", 0, "domains"], ["nowhere"]),
            "/analyses/0/domains/0",
            "'nowhere' is not in domains",
        ),
        (
            set_at(["analyses", 0, "parameters_of_interest"], ["gamma_u_bin_0"]),
            "/analyses/0/parameters_of_interest",
            "not a parameter of a whole sample",
        ),
        (
            set_at([*SR, "samples", 0, "modifiers", 3, "parameters"], ["a", "a"]),
            "/distributions/0/samples/0/modifiers/3",
            "2 different parameters",
        ),
        (
            set_at([*SR, "samples", 0, "modifiers", 3, "constraint"], "Poisson"),
            "/distributions/0/samples/0/modifiers/3",
            "its constraint is of two kinds",
        ),
        (set_at(["surprise"], []), "/surprise", "not known"),
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


LAWS = {
    "gaussian_dist": ({"x": "mu", "mean": 1.1, "sigma": 0.5}, lambda mu: gauss(1.1, mu, 0.5)),
    "lognormal_dist": (
        {"x": "mu", "mu": 0.2, "sigma": 0.4},
        lambda mu: gauss(0.2, math.log(mu), 0.4) - math.log(mu),
    ),
    "gamma_dist": (
        {"x": "mu", "gamma": 4.5, "beta": 0.25, "mu": -0.1},
        lambda mu: 3.5 * math.log(mu + 0.1) - (mu + 0.1) / 0.25,
    ),
    "poisson_dist": ({"x": 12.0, "mean": "counts"}, lambda mu: poisson(12.0, 9.0 * mu)),
}


@pytest.mark.parametrize("law", LAWS)
def test_any_factor_may_have_a_constraint(law):
    document = every_modifier()
    given, term = LAWS[law]
    document["distributions"].append({"name": "muConstraint", "type": law, **given})
    document["functions"] = [{"name": "counts", "type": "product", "factors": ["mu", 9.0]}]
    document["likelihoods"][0]["aux_distributions"] = ["muConstraint"]
    answer = hs3.to_pyhf(document)
    assert answer.names["Lumi"] == "lumi"
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    wanted = [closed_form(point) - 2 * term(point["mu"]) for point in POINTS]
    for one, other in zip(found[1:], wanted[1:]):  # up to a constant
        assert one - found[0] == pytest.approx(other - wanted[0], rel=1e-11)


def test_an_alpha_keeps_its_width():
    document = every_modifier()
    document["distributions"][3]["sigma"] = 2.0
    answer = hs3.to_pyhf(document)
    found = twice_nll(
        answer, [{answer.names[name]: value for name, value in point.items()} for point in POINTS]
    )
    shapes = [(gauss(0.3, p["alpha_shape"], 1.0), gauss(0.3, p["alpha_shape"], 2.0)) for p in POINTS]
    wanted = [closed_form(p) + 2 * one - 2 * other for p, (one, other) in zip(POINTS, shapes)]
    assert found == pytest.approx(wanted, rel=1e-12)


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
        "/domains/0/axes/5: 'gamma_free_bin_0' has a bound on one side alone; "
        "pyhf's default bounds were taken"
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
