"""Constraints beyond pyhf's: XML and HS3 keep their likelihood, operations carry them, pyhf refuses them."""

from __future__ import annotations

import copy
import math

import pytest

numpy = pytest.importorskip("numpy")

from paritas import Error, Model, Workspace  # noqa: E402
from paritas.convert import ConversionError, histfactory_xml, hs3, xml_constraints  # noqa: E402

STAT = {"name": "staterror_SR", "constraint": {"type": "poisson"}}


def spec(*configs):
    return {
        "channels": [
            {
                "name": "SR",
                "samples": [
                    {
                        "name": "signal",
                        "data": [20.0, 10.0],
                        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                    },
                    {
                        "name": "background",
                        "data": [100.0, 90.0],
                        "modifiers": [
                            {"name": "theory", "type": "normsys", "data": {"hi": 1.12, "lo": 0.9}},
                            {"name": "model", "type": "normsys", "data": {"hi": 1.05, "lo": 0.97}},
                            {"name": "staterror_SR", "type": "staterror", "data": [8.0, 9.0]},
                        ],
                    },
                    {
                        "name": "other",
                        "data": [10.0, 12.0],
                        "modifiers": [
                            {"name": "staterror_SR", "type": "staterror", "data": [4.0, 5.0]},
                            {"name": "fake", "type": "shapesys", "data": [1.0, 2.4]},
                        ],
                    },
                ],
            }
        ],
        "observations": [{"name": "SR", "data": [122.0, 112.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": [*configs]}}],
        "version": "1.0.0",
    }


def config(name, term):
    return {"name": name, **copy.deepcopy(term.config)}


def likelihood_differences(document, rename=lambda name: name):
    """2 NLL at points of the same values by name, relative to the first."""
    model = Model.from_workspace(document)
    draw = numpy.random.default_rng(3)
    points = {name: draw.uniform(0.8, 1.2, 8) for name in ("mu", "staterror_SR[0]", "staterror_SR[1]")}
    points.update({name: draw.uniform(-1.5, 2.0, 8) for name in ("theory", "model")})
    points.update({name: draw.uniform(0.9, 1.1, 8) for name in ("fake[0]", "fake[1]")})
    at = numpy.tile(model.suggested_init, (8, 1))
    for name, values in points.items():
        at[:, model.parameter_names.index(rename(name))] = values
    values = numpy.array([model.twice_nll(point) for point in at])
    return values[1:] - values[0]


LAWS = {
    "gamma": config("theory", xml_constraints.gamma(0.35)),
    "lognormal": config("theory", xml_constraints.log_normal(0.3)),
    "uniform": {"name": "theory", "constraint": {"type": "gaussian"}, "auxdata": [0.0], "sigmas": [100.0]},
}


@pytest.mark.parametrize("law", LAWS)
def test_laws_come_back_from_xml(law, tmp_path):
    pytest.importorskip("uproot")
    given = spec(LAWS[law], STAT, {"name": "fake", "constraint": {"type": "gaussian"}})
    for folder in ("config", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "top.xml").write_bytes(
        histfactory_xml.write(given, tmp_path / "config", tmp_path / "data", "p")
    )
    back = histfactory_xml.read(tmp_path / "top.xml", tmp_path)
    assert likelihood_differences(back.spec) == pytest.approx(likelihood_differences(given), rel=1e-12)
    assert any("pyhf lacks these laws" in note for note in back.notes)


TWO_WIDTHS = {
    "name": "theory",
    "constraint": {"type": "bifurcated", "ratio": 2.0},
    "auxdata": [0.5],
    "sigmas": [0.4],
}


def test_two_widths_have_their_likelihood_centre_and_width():
    model = Model.from_workspace(spec(TWO_WIDTHS))
    plain = Model.from_workspace(spec({**TWO_WIDTHS, "constraint": {"type": "gaussian"}}))
    at = model.parameter_names.index("theory")
    point = [float(value) for value in model.suggested_init]
    for value, pull in ((0.5, 0.0), (0.1, -1.0), (1.3, 1.0)):
        point[at] = value
        offset = plain.twice_nll(point) - ((value - 0.5) / 0.4) ** 2
        norm = 2.0 * math.log(0.5 * (1.0 + 2.0))  # both halves together
        assert model.twice_nll(point) == pytest.approx(offset + pull**2 + norm, rel=1e-12)
    assert model.constraint_centres[at] == 0.5
    assert model.constraint_widths[at] == pytest.approx(0.4 * math.sqrt(2.0), rel=1e-14)


@pytest.mark.parametrize(
    "law, reason",
    [
        ({"type": "bifurcated"}, r"constraint: its ratio is missing: the width above over the width below"),
        ({"type": "bifurcated", "ratio": 0}, r"constraint\.ratio: must be greater than 0, found 0"),
        ({"type": "gaussian", "ratio": 2}, r'constraint\.ratio: only "bifurcated" has a ratio, found 2'),
        ({"type": "bifurcated", "ratio": "2"}, r"constraint\.ratio: must be a number"),
    ],
)
def test_a_wrong_ratio_is_refused(law, reason):
    with pytest.raises(Error, match=reason):
        Model.from_workspace(spec({**TWO_WIDTHS, "constraint": law}))


def test_two_widths_are_refused_by_other_formats(tmp_path):
    pytest.importorskip("uproot")
    with pytest.raises(ConversionError, match="theory"):
        hs3.from_pyhf(spec(TWO_WIDTHS))
    with pytest.raises(ConversionError, match="theory"):
        histfactory_xml.write(spec(TWO_WIDTHS), tmp_path, tmp_path, "p")


def test_what_xml_lacks_is_refused_by_name(tmp_path):
    pytest.importorskip("uproot")
    for folder in ("config", "data"):
        (tmp_path / folder).mkdir()
    for name, law in (("theory", {"type": "none"}), ("mu", {"type": "none"}), ("fake", {"type": "none"})):
        with pytest.raises(ConversionError, match=f"{name}.*(constraint)|constraint.*{name}"):
            document = spec({"name": name, "constraint": law})
            histfactory_xml.write(document, tmp_path / "config", tmp_path / "data", "p")


SCALARS = {
    "gaussian": {
        "name": "theory",
        "constraint": {"type": "gaussian"},
        "auxdata": [0.2],
        "sigmas": [1.7],
    },
    "lognormal": {"name": "mu", "constraint": {"type": "lognormal"}, "auxdata": [0.1], "sigmas": [0.4]},
    "poisson": {
        "name": "mu",
        "constraint": {"type": "poisson", "offset": 0.3},
        "auxdata": [9.0],
        "factors": [8.0],
    },
}


@pytest.mark.parametrize("law", SCALARS)
def test_laws_come_back_from_hs3(law):
    given = spec(SCALARS[law], STAT, {"name": "fake", "constraint": {"type": "gaussian"}})
    written = hs3.from_pyhf(given)
    back = hs3.to_pyhf(written.spec, names="pyhf")
    assert likelihood_differences(back.spec) == pytest.approx(likelihood_differences(given), rel=1e-11)


def test_what_hs3_lacks_is_refused_by_name():
    with pytest.raises(ConversionError, match="the slope and offset of the lognormal constraint of"):
        hs3.from_pyhf(spec(LAWS["lognormal"]))


def laws_of(workspace):
    configs = workspace.to_dict()["measurements"][0]["config"]["parameters"]
    return {one["name"]: one["constraint"] for one in configs if "constraint" in one}


def test_workspace_operations_carry_constraints():
    whole = Workspace(spec(LAWS["gamma"], STAT))
    law = LAWS["gamma"]["constraint"]
    assert laws_of(whole.sort()) == {"theory": law, "staterror_SR": STAT["constraint"]}
    assert laws_of(whole.rename(modifiers={"theory": "scale"}))["scale"] == law
    assert "theory" not in laws_of(whole.prune(modifiers=["theory"]))
    assert whole.digest() != Workspace(spec(STAT)).digest()
    other = spec(LAWS["gamma"])
    other["channels"][0]["name"] = other["observations"][0]["name"] = "CR"
    for name in ("staterror_SR", "fake"):
        for sample in other["channels"][0]["samples"]:
            sample["modifiers"] = [one for one in sample["modifiers"] if one["name"] != name]
    alone = Workspace(spec(LAWS["gamma"]))
    assert laws_of(alone.combine(Workspace(other), join="outer"))["theory"] == law


def test_pyhfs_schema_refuses_them():
    pyhf = pytest.importorskip("paritas.pyhf")
    with pytest.raises(pyhf.exceptions.InvalidSpecification, match="constraint"):
        pyhf.Workspace(spec(STAT))


def test_centres_and_widths_are_those_of_the_laws():
    model = Model.from_workspace(spec(LAWS["lognormal"], STAT))
    at = model.parameter_names.index("theory")
    assert model.constraint_centres[at] == pytest.approx(0.0, abs=1e-15)
    assert model.constraint_widths[at] == pytest.approx(math.log(1.3) / 0.3, rel=1e-14)
    model = Model.from_workspace(spec(LAWS["gamma"]))
    assert model.constraint_centres[at] == pytest.approx(0.0, abs=1e-14)
    assert model.constraint_widths[at] == pytest.approx(1.0, rel=1e-14)
    # Asimov data at the start hold the auxiliary data of the measurement
    asimov = model.expected_data(model.suggested_init)[model.main_count :]
    assert asimov == pytest.approx(model.data[model.main_count :], rel=1e-13)


@pytest.mark.parametrize(
    "law, auxdata, more, centre",
    [
        ({"type": "poisson", "offset": 1.0, "slope": 1.0}, 300.0, {"factors": [100.0]}, 2.0),
        ({"type": "poisson", "offset": 2.0, "slope": 0.5}, 150.0, {"factors": [100.0]}, -1.0),
        ({"type": "lognormal", "offset": 1.0, "slope": 0.3}, math.log(1.6), {"sigmas": [0.2]}, 2.0),
        ({"type": "lognormal", "offset": 0.0, "slope": 1.0}, math.log(0.8), {"sigmas": [0.1]}, 0.8),
    ],
)
def test_a_pull_is_measured_from_where_the_law_expects_its_datum(law, auxdata, more, centre):
    """The mean of a Poisson is tau (offset + slope x), of a log-normal's datum ln(offset + slope x)."""
    lower = 1e-3 if law["offset"] == 0 else max(-law["offset"] / law["slope"] + 0.1, -5.0)
    free = {"name": "mu", "constraint": law, "auxdata": [auxdata], "inits": [1.0], "bounds": [[lower, 10.0]]}
    model = Model.from_workspace(spec({**free, **more}))
    at = model.parameter_names.index("mu")
    assert model.constraint_centres[at] == pytest.approx(centre, rel=1e-13)
    fit = model.fit()
    assert fit.converged and abs(fit.values[at] - centre) < 5 * model.constraint_widths[at]


def test_lumi_without_a_law_still_needs_its_start_and_bounds():
    document = spec({"name": "lumi", "constraint": {"type": "none"}, "inits": [1.0]})
    document["channels"][0]["samples"][0]["modifiers"].append({"name": "lumi", "type": "lumi", "data": None})
    with pytest.raises(Error, match='"lumi" has no defaults, and its bounds are missing'):
        Model.from_workspace(document)
