"""Workspaces become datacards, and come back with the same yields and likelihood. What a card cannot say is
refused with its place."""

from __future__ import annotations

import copy
import json
import lzma
import random

import numpy as np
import pytest
from convert_support import DELETED, TREE, set_at

from paritas import InvalidInput, Model, Workspace
from paritas.convert import ConversionError, datacard, hs3
from paritas.convert.formulas import numbered
from paritas.convert.command import main

pytest.importorskip("uproot")
CARDS = TREE / "tests" / "datacard"
SHARED = TREE.parent / "shared" / "datacards"


def points_of(model, count=4):
    """The start, and points around it."""
    draw = random.Random(7)
    ends = zip(
        model.parameter_names,
        model.suggested_init,
        model.lower_bounds,
        model.upper_bounds,
        model.suggested_fixed,
    )
    sides = {
        name: (max(low, value - max(abs(value), 1.0) * 0.7), min(high, value + max(abs(value), 1.0) * 0.7))
        for name, value, low, high, fixed in ends
        if not fixed
    }
    moved = [{name: draw.uniform(*side) for name, side in sides.items()} for _ in range(count)]
    return [{}, *moved]


def answers(model, points):
    """Yields by channel, and differences of the likelihood to the start."""
    names, start = model.parameter_names, model.suggested_init
    rows = [np.array([point.get(name, value) for name, value in zip(names, start)]) for point in points]
    expected = [model.expected_data(row) for row in rows]
    yields = {one.name: np.array([row[one.slice] for row in expected]) for one in model.channels}
    nll = [model.nll(row) for row in rows]
    return yields, np.array(nll) - nll[0]


def check_same(first, second):
    """Parameters that act on nothing may be missing in the second."""
    lost = set(first.parameter_names) - set(second.parameter_names)
    points = [
        {name: value for name, value in point.items() if name not in lost} for point in points_of(first)
    ]
    (yields, nll), (others, other_nll) = answers(first, points), answers(second, points)
    assert list(yields) == list(others)
    for name in yields:
        assert np.abs(others[name] - yields[name]).max() <= 1e-12 * max(1e-3, np.abs(yields[name]).max())
    assert np.abs(other_nll - nll).max() <= 1e-9 * max(1.0, np.abs(nll).max())
    return lost


def there_and_back(spec, folder, **options):
    """The card, and the workspace that it becomes."""
    card = datacard.write(spec, folder / "card.txt", **options)
    return card, Workspace.read(folder / "card.txt", exact=True).to_dict()


# cards, and lines to add to them
VARIANTS = {
    "counting": ("counting.txt", ""),
    "fractions": ("shapes.txt", "sr autoMCStats -1\n"),
    "one parameter a bin": ("shapes.txt", ""),
    "whole histograms": ("shapes.txt", "* autoMCStats -1\n"),
    "variations that keep their integrals": ("shapes.txt", "* autoMCStats 0 0 2\n"),
    "parameters of processes": ("shapes.txt", "sr autoMCStats 30\n"),
    "signals count": ("shapes.txt", "* autoMCStats 100 1\n"),
    "factors": (
        "shapes.txt",
        "k rateParam sr top 1.5 [0,4]\nslope param 0.5 0.1\nfixed extArg 2 [const]\nfree extArg 1 [0,3]\n"
        "f rateParam * fakes @0^2/2+@1*@2*@3 k,slope,fixed,free\n",
    ),
    "straight lines": (
        "counting.txt",
        "t trG 0.2 -0.1 - - -\nu unif -0.5 1.5 - 0.3 - - -\nfree2 lnU - 1.3 - 0.8/1.3 -\nm gmM - - - 0.2 -\n",
    ),
    "frozen": ("shapes.txt", "nuisance edit freeze lumi\n"),
    "a free morph": ("shapes.txt", "nuisance edit changepdf tilt shapeU\n"),
    "morphs of logarithms": ("shapes.txt", "nuisance edit changepdf tilt shapeN\n"),
    "morphs of logarithms, whole": (
        "shapes.txt",
        "* autoMCStats 0 0 2\nnuisance edit changepdf tilt shapeN\ntilt lnN 1.1 - - - -\n",
    ),
    "two widths": (
        "counting.txt",
        "slope param 1 -0.1/+0.2 [0.5,2]\nf rateParam * fakes @0*@0 slope\n",
    ),
    "a morph or a lognormal": ("shapes.txt", "nuisance edit changepdf tilt shape?\n"),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_card_comes_back(variant, tmp_path):
    name, lines = VARIANTS[variant]
    (tmp_path / "shapes.root").write_bytes((CARDS / "shapes.root").read_bytes())
    text = (CARDS / name).read_text()
    if variant == "fractions":
        text, lines = text.replace("cr autoMCStats 0", ""), ""
    given = tmp_path / "given.txt"
    given.write_text(text + lines)
    first = Workspace.read(given, exact=True)
    card = datacard.write(first.to_dict(), tmp_path / "card.txt")
    assert check_same(first.model(), Workspace.read(tmp_path / "card.txt", exact=True).model()) == set()
    rounded = Workspace.read(tmp_path / "card.txt").model()
    fixed = [
        {name for name, is_fixed in zip(one.parameter_names, one.suggested_fixed) if is_fixed}
        for one in (first.model(), rounded)
    ]
    assert fixed[0] == fixed[1]
    assert rounded.nll() == pytest.approx(first.model().nll(), rel=1e-6)
    again, _ = there_and_back(Workspace.read(tmp_path / "card.txt", exact=True).to_dict(), tmp_path)
    assert again.text.split("\n")[:8] == card.text.split("\n")[:8]


def shared_cards():
    files = sorted(SHARED.glob("truth/**/*.json.xz"))
    return [(path.name.removesuffix(".json.xz"), path) for path in files]


def test_cards_of_the_check_come_back(tmp_path):
    if not SHARED.is_dir():
        pytest.skip("SKIP: ../shared/datacards is not here")
    compared = 0
    for name, path in shared_cards():
        truth = json.loads(lzma.open(path).read())
        mass = truth.get("options", {}).get("mass")
        try:
            first = Workspace.read(SHARED / "cards" / truth["card"], mass=mass, exact=True)
        except InvalidInput as reason:
            assert "not read" in str(reason), (name, reason)
            continue
        _, back = there_and_back(first.to_dict(), tmp_path)
        assert check_same(first.model(), Workspace(back).model()) == set(), name
        compared += 1
    assert compared >= 72


def workspace():
    """Of two channels, in pyhf's words and ours."""
    return {
        "channels": [
            {
                "name": "sr",
                "samples": [
                    {
                        "name": "signal",
                        "data": [2.0, 6.0],
                        "modifiers": [
                            {"name": "mu", "type": "normfactor", "data": None},
                            {"name": "lumi", "type": "lumi", "data": None},
                        ],
                    },
                    {
                        "name": "top",
                        "data": [30.0, 20.0],
                        "modifiers": [
                            {
                                "name": "xs",
                                "type": "normsys",
                                "data": {"hi": 1.2, "lo": 0.9, "interpcode": "lnN"},
                            },
                            {
                                "name": "JES",
                                "type": "histosys",
                                "data": {"hi_data": [33.0, 19.0], "lo_data": [28.0, 22.0]},
                            },
                            {"name": "lumi", "type": "lumi", "data": None},
                        ],
                    },
                ],
            },
            {
                "name": "cr",
                "samples": [
                    {
                        "name": "top",
                        "data": [120.0],
                        "modifiers": [
                            {
                                "name": "xs",
                                "type": "normsys",
                                "data": {"hi": 1.25, "lo": 0.8, "interpcode": "code1"},
                            },
                            {"name": "scale", "type": "normfactor", "data": None},
                        ],
                    }
                ],
            },
        ],
        "observations": [{"name": "sr", "data": [35.0, 24.0]}, {"name": "cr", "data": [117.0]}],
        "measurements": [
            {
                "name": "fit",
                "config": {
                    "poi": "mu",
                    "parameters": [
                        {
                            "name": "lumi",
                            "auxdata": [1.0],
                            "sigmas": [0.02],
                            "inits": [1.0],
                            "bounds": [[0.9, 1.1]],
                        },
                        {"name": "scale", "inits": [1.1], "bounds": [[0.0, 3.0]]},
                    ],
                },
            }
        ],
        "version": "1.0.0",
    }


def test_a_workspace_becomes_a_card(tmp_path):
    spec = workspace()
    card, back = there_and_back(spec, tmp_path)
    first, second = Model.from_workspace(spec), Model.from_workspace(back)
    assert card.names == {"r": "mu"}
    renamed = Workspace(spec).rename(modifiers={"mu": "r"}).model()
    assert check_same(renamed, second) == set()
    assert second.poi_name == "r" and first.poi_name == "mu"
    lines = card.text.split("\n")
    assert any(
        line.split()[:2] == ["xs", "lnN"] and line.split()[3:] == ["0.9/1.2", "1.25"] for line in lines
    )
    assert any(line.split()[:2] == ["JES", "shape?"] for line in lines)  # bounds of 5
    assert "sr autoMCStats -1 0 2" in lines and "shapes * cr FAKE" in lines
    assert "lumi param 1 0.02 [0.9,1.1]" in lines
    assert "scale rateParam cr top 1.1 [0,3]" in lines
    told = "; ".join(card.notes)
    assert "bounds of mu, xs, JES" in told and "a morph ends at 1e-9 events" in told


def test_a_norm_and_a_morph_of_one_parameter_are_one_line(tmp_path):
    spec = workspace()
    top = spec["channels"][0]["samples"][1]
    top["modifiers"][0]["name"] = "JES"
    top["modifiers"][1]["data"].update(hi_data=[31.0, 19.0], lo_data=[29.0, 21.0])
    card, back = there_and_back(spec, tmp_path)
    assert "sr autoMCStats -1 0 1" in card.text
    renamed = Workspace(spec).rename(modifiers={"mu": "r"}).model()
    assert check_same(renamed, Model.from_workspace(back)) == set()


def test_a_small_norm_is_kept_by_a_small_scale(tmp_path):
    """Combine drops norms below 1e-3: so the variation grows, and its scale shrinks."""
    spec = workspace()
    top = spec["channels"][0]["samples"][1]
    top["modifiers"][0].update(name="JES", data={"hi": 1.0003, "lo": 0.9998, "interpcode": "lnN"})
    top["modifiers"][1]["data"].update(hi_data=[31.0, 19.0], lo_data=[29.0, 21.0])
    card, back = there_and_back(spec, tmp_path)
    assert any(line.split()[:4] == ["JES", "shape?", "-", "0.2"] for line in card.text.split("\n"))
    renamed = Workspace(spec).rename(modifiers={"mu": "r"}).model()
    assert check_same(renamed, Model.from_workspace(back)) == set()


SR, TOP, CR = ("channels", 0, "samples", 0), ("channels", 0, "samples", 1), ("channels", 1, "samples", 0)
CONFIG = ("measurements", 0, "config")


def measured(**constraint):
    return {"name": "scale", "inits": [1.0], "bounds": [[0.1, 3.0]], **constraint}


REFUSED = {
    "code4 of a normsys": (
        [set_at((*TOP, "modifiers", 0, "data", "interpcode"), DELETED)],
        "/channels/0/samples/1/modifiers/0: the normsys 'xs' of 'top' in 'sr': a card has no interpolation "
        "code4 of 0.9 and 1.2",
    ),
    "code1 that is not symmetric": (
        [set_at((*TOP, "modifiers", 0, "data", "interpcode"), "code1")],
        "no interpolation code1 of 0.9 and 1.2",
    ),
    "code0 of a histosys": (
        [set_at((*TOP, "modifiers", 1, "data", "interpcode"), "code0")],
        "/channels/0/samples/1/modifiers/1: the histosys 'JES' of 'top' in 'sr': a card has no interpolation "
        "code0",
    ),
    "a staterror": (
        [set_at((*TOP, "modifiers", 2), {"name": "stat", "type": "staterror", "data": [1.0, 1.0]})],
        "/channels/0/samples/1/modifiers/2: the staterror 'stat' of 'top' in 'sr'",
    ),
    "a shapefactor": (
        [set_at((*TOP, "modifiers", 2), {"name": "free", "type": "shapefactor", "data": None})],
        "the shapefactor 'free' of 'top' in 'sr': a card has no free factor a bin",
    ),
    "a shapesys of no whole count": (
        [set_at((*TOP, "modifiers", 2), {"name": "count", "type": "shapesys", "data": [7.0, 1.0]})],
        "the shapesys 'count' of 'top' in 'sr': bin 0 is a count of 18.3673 events",
    ),
    "a negative bin": (
        [set_at((*SR, "data", 0), -1.0)],
        "/channels/0/samples/0/data/0: bin 0 of 'signal' in 'sr' is below 0",
    ),
    "a morph that changes the integral beside a norm": (
        [set_at((*TOP, "modifiers", 0, "name"), "JES")],
        "the histosys 'JES' of 'top' in 'sr': it changes the integral",
    ),
    "another minimum": (
        [set_at((*TOP, "shape"), {"minimum": 1e-3})],
        "/channels/0/samples/1/shape/minimum: bins of 'top' in 'sr' are at least 0.001",
    ),
    "a scale below 1": (
        [
            set_at((*TOP, "modifiers", 1, "data", "interpcode"), "code4p"),
            set_at((*TOP, "modifiers", 1, "data", "scale"), 0.5),
        ],
        "the histosys 'JES' of 'top' in 'sr': a card has no bend beyond 1",
    ),
    "a signal in one channel only": (
        [set_at((*CR, "name"), "signal")],
        "/channels/1/samples/0: 'signal' in 'cr' has no 'mu'",
    ),
    "a name with a blank": (
        [set_at((*TOP, "name"), "top quarks")],
        "'top quarks' cannot be a process of a card",
    ),
    "a log-normal factor": (
        [
            set_at(
                (*CONFIG, "parameters", 1),
                measured(constraint={"type": "lognormal"}, auxdata=[0.0], sigmas=[0.1]),
            )
        ],
        "/measurements/0/config/parameters/1: 'scale': a card has no such lognormal constraint",
    ),
    "a slope": (
        [
            set_at(
                (*CONFIG, "parameters", 1),
                measured(constraint={"type": "gaussian", "slope": 2.0}, auxdata=[2.0], sigmas=[0.1]),
            )
        ],
        "'scale': a card measures the parameter itself",
    ),
    "a free alpha in other bounds": (
        [set_at((*CONFIG, "parameters", 1), {"name": "xs", "constraint": {"type": "none"}})],
        "'xs': without constraint it has bounds of -1 and 1 in a card (`lnU`)",
    ),
    "a channel without events": (
        [set_at((*CR, "data"), [0.0]), set_at((*CR, "modifiers"), [])],
        "/channels/1: 'cr' has no events",
    ),
    "a shape with a total beside whole histograms": (
        [set_at((*SR, "shape"), {"minimum": 8e-9, "total": 8.0})],
        "/channels/0/samples/0/shape: a card has whole histograms in this channel",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_card_cannot_say_is_refused_with_its_place(what):
    changes, told = REFUSED[what]
    spec = copy.deepcopy(workspace())
    for change in changes:
        change(spec)
    with pytest.raises(ConversionError) as error:
        datacard.from_pyhf(spec, "card.root")
    assert told in str(error.value)


@pytest.mark.parametrize("name, good", [("4top", True), ("W+jets", True), ("17", False), ("a b", False)])
def test_names_of_processes_are_no_numbers(name, good, tmp_path):
    spec = workspace()
    spec["channels"][1]["samples"][0]["name"] = name
    if good:
        _, back = there_and_back(spec, tmp_path)
        assert back["channels"][1]["samples"][0]["name"] == name
        return
    with pytest.raises(ConversionError, match="cannot be a process of a card"):
        datacard.from_pyhf(spec, "card.root")


def test_normsys_without_a_code_may_be_taken_as_lognormals(tmp_path):
    spec = workspace()
    del spec["channels"][0]["samples"][1]["modifiers"][0]["data"]["interpcode"]
    _, back = there_and_back(spec, tmp_path, normsys_code="lnN")
    renamed = Workspace(spec).rename(modifiers={"mu": "r"})
    assert check_same(renamed.model(normsys_code="lnN"), Model.from_workspace(back)) == set()


def test_counts_of_a_shapesys_are_autoMCStats(tmp_path):
    spec = workspace()
    spec["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "counts", "type": "shapesys", "data": [30.0 / 4.0, 20.0 / 3.0]}
    )
    card, back = there_and_back(spec, tmp_path)
    assert "sr autoMCStats 16 0 2" in card.text  # the larger count
    assert card.names["prop_binsr_bin1_top"] == "counts[1]"
    names = {"mu": "r", "counts": "prop_binsr_top"}
    assert check_same(Workspace(spec).rename(modifiers=names).model(), Model.from_workspace(back)) == set()


def test_formulas_have_arguments_by_number():
    functions = {"g": "1/2 + 'a'", "f": "a^-2*exp(b.c) ** g"}
    assert numbered(functions["f"], functions, lambda name: {"a": "r"}.get(name, name)) == (
        "@0^-2.0*exp(@1)^(1.0/2.0+@0)",
        ["r", "b.c"],
    )


def check_hs3(spec):
    """HS3 and back: the same yields and likelihood; parameters by their names there."""
    written = hs3.from_pyhf(spec)
    back = hs3.to_pyhf(written.spec)
    first = Model.from_workspace(spec)
    second = Model.from_workspace(back.spec, modifier_settings=back.modifier_settings)
    names = {here: back.names[there] for there, here in written.names.items()}
    assert set(names) == set(first.parameter_names)
    points = points_of(first)
    moved = [{names[name]: value for name, value in point.items()} for point in points]
    (yields, nll), (others, other_nll) = answers(first, points), answers(second, moved)
    for name in yields:
        assert np.abs(others[name] - yields[name]).max() <= 1e-12 * np.abs(yields[name]).max()
    assert np.abs(other_nll - nll).max() <= 1e-9 * max(1.0, np.abs(nll).max())
    return written


def test_symmetric_lognormals_are_code1_in_hs3():
    spec = Workspace.read(CARDS / "counting.txt").to_dict()
    with pytest.raises(ConversionError, match="HS3 readers do not have lnN for normsys"):
        hs3.from_pyhf(spec)  # xsec is asymmetric
    spec = Workspace(spec).prune(modifiers=["xsec"]).to_dict()
    written = check_hs3(spec)  # a nuisance is called lumi, too
    lumi = written.spec["distributions"][0]["samples"][0]["modifiers"][1]
    assert (lumi["name"], lumi["interpolation"]) == ("lumi", 1)


def test_functions_are_generic_functions_in_hs3(tmp_path):
    text = (CARDS / "counting.txt").read_text().replace("xsec   lnN", "# ")
    card = tmp_path / "card.txt"
    card.write_text(
        text + "k rateParam sr top 1.5 [0.5,4]\nslope param 1 0.2\nfixed extArg 2\n"
        "f rateParam sr fakes exp(@0/4)+@1*@2 k,slope,fixed\ng rateParam cr * 1+0.1*@0^2 lumi\n"
    )
    written = check_hs3(Workspace.read(card).to_dict())
    assert [one["expression"] for one in written.spec["functions"]] == [
        "exp(k/4.0)+slope*fixed",
        "1.0+0.1*alpha_lumi^2.0",
    ]
    assert written.spec["likelihoods"][0]["aux_distributions"] == ["slope_constraint"]


def test_a_function_of_two_words_is_refused_in_hs3():
    spec = workspace()
    config = spec["measurements"][0]["config"]
    config["functions"] = [{"name": "scale", "expression": "'two words' * 2"}]
    config["parameters"][1] = {"name": "two words", "inits": [1.0], "bounds": [[0.0, 3.0]]}
    with pytest.raises(ConversionError, match="config/functions: HS3's functions cannot have the argument"):
        hs3.from_pyhf(spec)


def test_the_command_writes_a_card_beside_its_histograms(tmp_path, capsys):
    given, card = tmp_path / "workspace.json", tmp_path / "my.txt"
    given.write_text(json.dumps(workspace()))
    assert main([str(given), "--to", "datacard", "-o", str(card)]) == 0
    assert "note: Combine has its own start values" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my.root", "my.txt", "workspace.json"]
    assert main([str(card), "--exact"]) == 0
    assert json.loads(capsys.readouterr().out)["observations"] == workspace()["observations"]
    assert main([str(CARDS / "counting.txt"), "--to", "datacard", "-o", str(tmp_path / "c.txt")]) == 0
    assert not (tmp_path / "c.root").exists()


def test_the_command_reads_cards_with_mass_and_masks(tmp_path, capsys):
    assert main([str(CARDS / "counting.txt"), "--mask", "cr", "--mass", "125"]) == 0
    assert json.loads(capsys.readouterr().out)["channels"][0]["name"] == "sr"
    assert main([str(CARDS / "counting.txt"), "--mask", "xr"]) == 3
    assert "xr" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(CARDS / "counting.txt"), "--to", "datacard"])
    assert "needs a file" in capsys.readouterr().err


def test_names_of_bins_are_those_of_combine():
    answer = datacard.read(CARDS / "shapes.txt")
    assert answer.names["prop_bincr_bin1"] == "prop_bincr[1]"
