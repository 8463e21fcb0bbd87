"""Datacards in Python: where a path is taken, a card is."""

import json
from pathlib import Path

import pytest

import paritas
from paritas import Model, Workspace

CARDS = Path(__file__).parents[1] / "datacard"


def test_a_path_may_be_a_cards():
    model = Model.from_workspace(CARDS / "counting.txt")
    assert model.poi_name == "r"
    fit = model.fit()
    assert fit.values[model.poi_index] == pytest.approx(
        1.5, abs=1e-6
    )  # 11 events, 6.5 without signal, 3 of it


def test_a_card_with_histograms_has_its_yields():
    model = Workspace.read(CARDS / "shapes.txt").model()
    point = {name: value for name, value in zip(model.parameter_names, model.suggested_init)}
    assert point["r"] == 1.0 and point["tilt"] == 0.0
    expected = model.expected_data(model.suggested_init)[: model.main_count]
    control, signal_region = expected[:2], expected[2:]
    assert control == pytest.approx([55.0, 46.0])  # of whole histograms
    assert signal_region == pytest.approx([1 + 6 + 4, 3 + 9 + 5, 2 + 3], rel=1e-8)


def test_masks_and_mass_are_given_to_the_reader():
    workspace = Workspace.read(CARDS / "counting.txt", mass=125, masks=["cr"])
    assert [channel["name"] for channel in workspace.to_dict()["channels"] if "masked" in channel] == ["cr"]
    assert "free" in dict(workspace.inspect()["parameters"])
    with pytest.raises(paritas.NotFound, match="there is no channel"):
        Workspace.read(CARDS / "counting.txt", masks=["xr"])
    with pytest.raises(TypeError):
        Workspace.read(CARDS / "counting.txt", masks="cr")


def test_a_bad_card_has_its_place(tmp_path):
    card = tmp_path / "card.txt"
    card.write_text((CARDS / "counting.txt").read_text().replace("imax 2", "imax 3"))
    with pytest.raises(paritas.InvalidInput, match=r"card\.txt:2:6: `imax` is 3"):
        Model.from_workspace(card)


def test_json_is_read_as_before(tmp_path):
    text = json.dumps(json.loads((CARDS.parents[1] / "examples" / "two_bins.json").read_text()))
    path = tmp_path / "two_bins.txt"
    path.write_text("\n " + text)
    assert Workspace.read(path) == Workspace.loads(text)


def test_exact_leaves_combines_roundings_out(tmp_path):
    card = tmp_path / "card.txt"
    card.write_text(
        (CARDS / "counting.txt").read_text().replace("free   rateParam", "# ").replace("12.0", "12.3456789")
    )
    samples = [
        Workspace.read(card, exact=exact).to_dict()["channels"][1]["samples"][1] for exact in (False, True)
    ]
    assert [sample["data"] for sample in samples] == [[12.3457], [12.3456789]]


def test_maps_name_parameters_of_interest():
    maps = ["sr/signal:mu[1,0,5]", "cr/top:t[1,0.2,4]"]
    model = paritas.Model.from_workspace(CARDS / "counting.txt", maps=maps)
    assert model.poi_names == ["mu", "t"]
    read = Workspace.read(CARDS / "counting.txt", maps=maps)
    assert read.model().parameter_names == model.parameter_names
    alone = paritas.Model.from_workspace(CARDS / "counting.txt")
    strengths = {"mu": 1.7, "t": 1.0}
    assert model.expected_data(model.point(strengths)) == pytest.approx(
        alone.expected_data(alone.point({"r": 1.7})), rel=1e-14
    )
    with pytest.raises(TypeError, match="maps and exact go with the path of a datacard"):
        paritas.Model.from_workspace(read, maps=maps)
    with pytest.raises(TypeError, match="a sequence of names"):
        Workspace.read(CARDS / "counting.txt", maps=maps[0])
