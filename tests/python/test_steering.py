"""cabinetry's configuration to a workspace: its numbers, errors with their places, the command."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uproot")
yaml = pytest.importorskip("yaml")

import uproot
from steering_cases import SEEDS, write_case

from paritas import Model, steering
from paritas.__main__ import main as paritas_main
from paritas.steering import ntuples
from paritas.steering.command import main
from paritas.steering.smoothing import smooth_353qh_twice, smoothed_variation

TRUTH = json.loads(Path(__file__).with_name("steering_truth.json").read_text())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_workspace_is_cabinetrys_to_the_last_bit(seed, tmp_path):
    made = steering.read(write_case(seed, tmp_path))
    assert made.spec == TRUTH[str(seed)]
    assert Model.from_workspace(made.spec).parameter_count == made.model().parameter_count


def test_chunks_of_any_size_give_the_same_bits(tmp_path, monkeypatch):
    path = write_case(0, tmp_path)
    monkeypatch.setattr(ntuples, "CHUNK", 97)
    assert steering.read(path).spec == TRUTH["0"]


@pytest.mark.parametrize("seed", [5, 6])
def test_saved_templates_give_the_same_workspace(seed, tmp_path):
    path = write_case(seed, tmp_path)
    made = steering.read(path)
    made.save_templates()
    assert steering.read(path, inputs="saved").spec == made.spec
    one = next(one for one in made.templates if one.direction == "Up")
    with np.load(tmp_path / "templates" / f"{one.name}_modified.npz") as saved:
        assert sorted(saved) == ["bins", "stdev", "yields"]
        assert (saved["yields"] == one.processed.values).all()


def test_a_configuration_can_be_json_or_a_dict(tmp_path):
    path = write_case(1, tmp_path)
    config = yaml.safe_load(path.read_text())
    assert steering.read(config).spec == TRUTH["1"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert steering.read(tmp_path / "config.json").spec == TRUTH["1"]
    (tmp_path / "config.json").write_text('{"General": {}, "General": {}}')
    with pytest.raises(steering.SteeringError, match="config.json: not a JSON document: .*General"):
        steering.read(tmp_path / "config.json")


def test_relative_paths_start_in_the_folder_that_is_given(tmp_path):
    path = write_case(1, tmp_path)
    path.write_text(path.read_text().replace(f"{tmp_path}/", ""))
    assert steering.read(path, folder=tmp_path).spec == TRUTH["1"]
    with pytest.raises(steering.SteeringError, match="there is no file"):
        steering.read(path)


#: two regions of two bins; every template is made by hand
BY_HAND = {
    "General": {"Measurement": "by hand", "POI": "mu", "InputPath": "none", "HistogramFolder": "none"},
    "Regions": [{"Name": "A"}, {"Name": "B"}],
    "Samples": [{"Name": "data", "Data": True}, {"Name": "s"}, {"Name": "b", "DisableStaterror": True}],
    "Systematics": [
        {"Name": "up", "Type": "NormPlusShape", "Samples": "b", "Up": {}, "Down": {"Symmetrize": True}},
        {"Name": "down", "Type": "NormPlusShape", "Samples": "b", "Up": {"Symmetrize": True}, "Down": {}},
        {
            "Name": "size",
            "Type": "Normalization",
            "Up": {"Normalization": 0.1},
            "Down": {"Normalization": -0.2},
        },
    ],
    "NormFactors": [{"Name": "mu", "Samples": "s", "Bounds": [0, 9]}],
}


def by_hand(region, sample, systematic, direction):
    """One quarter more in all, moved to the second bin."""
    base = {"data": [12.0, 20.0], "s": [1.0, 3.0], "b": [8.0, 16.0]}[sample["Name"]]
    values = [8.0, 22.0] if direction else base
    return Values(values, [4.0, 9.0])


class Values:
    """A histogram as PlottableHistogram says."""

    kind = "COUNT"
    axes = ()

    def __init__(self, values, variances):
        self._values, self._variances = values, variances

    def values(self):
        return np.array(self._values)

    def variances(self):
        return self._variances


def test_templates_made_by_hand_give_the_closed_form():
    spec = steering.read(BY_HAND, make_template=by_hand).spec
    signal, background = spec["channels"][1]["samples"]
    staterror, factor, size = signal["modifiers"]
    assert staterror == {"name": "staterror_B", "type": "staterror", "data": [2.0, 3.0]}
    assert factor == {"name": "mu", "type": "normfactor", "data": None}
    assert size["data"] == {"hi": 1.1, "lo": 0.8}
    up, up_shape, down, down_shape, _ = background["modifiers"]
    assert up["data"] == {"hi": 1.25, "lo": 0.75} and down["data"] == {"hi": 0.75, "lo": 1.25}
    assert up_shape["data"] == {"hi_data": [6.4, 17.6], "lo_data": [9.6, 14.399999999999999]}
    assert down_shape["data"] == {"hi_data": [9.6, 14.399999999999999], "lo_data": [6.4, 17.6]}
    assert spec["measurements"][0]["config"] == {
        "poi": "mu",
        "parameters": [{"name": "mu", "bounds": [[0, 9]]}],
    }


def changed(path, value):
    config = copy.deepcopy(BY_HAND)
    target = config
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return config


@pytest.mark.parametrize(
    "path, value, message",
    [
        (["Regions", 1, "Bining"], [1, 2], r"Regions\[1\].Bining: .* not known here; did you mean 'Binning'"),
        (
            ["Regions", 1, "Binning"],
            [1, 3, 2],
            r"Regions\[1\].Binning: edges must ascend, but 2 comes after 3",
        ),
        (["Regions", 0, "Name"], True, r"Regions\[0\].Name: must be a text, not True; write \"True\" in quo"),
        (["Regions", 1, "Name"], "A", r"Regions\[1\]: 'A' stands in Regions\[0\] too"),
        (["Regions"], [], r"Regions: must have at least 1 entry"),
        (["General", "Fixed"], 2 * [{"Name": "mu", "Value": 1}], r"General.Fixed\[1\]: 'mu' stands in Gen"),
        (["General", "Fixed"], [{"Name": "mu"}], r"General.Fixed\[0\]: 'Value' is missing"),
        (["Samples", 0, "Data"], False, r"Samples: one sample must have 'Data: True'"),
        (["Samples", 1, "Data"], True, r"Samples: one .*, not 2 \(data, s\)"),
        (["Samples", 0, "Regions"], "A", r"Samples\[0\]: the data must be in all regions; 'B' has none"),
        (
            ["Systematics", 0, "Type"],
            "Normplusshape",
            r"Systematics\[0\].Type: .* did you mean 'NormPlusShape'",
        ),
        (["Systematics", 0, "Up", "Symmetrize"], True, r"Systematics\[0\].Down.Symmetrize: Up and Down can"),
        (["Systematics", 2, "Down"], {}, r"Systematics\[2\].Down: 'Normalization' is missing"),
        (["Systematics", 2, "Down", "Normalization"], -1.5, r"Systematics\[2\]: .* must be greater than 0"),
        (
            ["Systematics", 2, "Down", "Normalization"],
            float("nan"),
            r"Systematics\[2\].Down.Normalization: must be a finite number, not nan",
        ),
        (["Systematics", 1, "ModifierName"], "up", r"Systematics\[1\]: .* has a normsys 'up' already"),
        (["NormFactors", 0, "Bounds"], [2, 2], r"NormFactors\[0\].Bounds: must be a lower and a higher"),
        (["NormFactors", 0, "Nominal"], "1", r"NormFactors\[0\].Nominal: must be a finite number"),
        (["General", "POI"], "mus", r"General.POI: no modifier is called 'mus'; did you mean 'mu'"),
        (["Extra"], {}, r"Extra: this key is not known here; known here: General"),
    ],
)
def test_a_wrong_setting_is_named_with_its_place(path, value, message):
    with pytest.raises(
        steering.SteeringError, match=r"^configuration: " + r".*" * (path == ["Extra"]) + message
    ):
        steering.read(changed(path, value), make_template=by_hand)


@pytest.mark.parametrize(
    "seed, old, new, message",
    [
        (
            0,
            "Variable: ",
            "Variable: 2*",
            r"config.yml:\d+: Regions\[0\].Variable: tree 'events' in .* no branch",
        ),
        (
            0,
            "Tree: events",
            "Tree: event",
            r"config.yml:\d+: .*Tree: .* has no 'event'; did you mean 'events'",
        ),
        (0, "Data.root", "Date.root", r"config.yml:\d+: .*SamplePath: there is no file .*Date.root"),
        (0, "Weight: w\n", "Weight: w +\n", r"config.yml:\d+: .*Weight: 'w \+' cannot be evaluated"),
        (1, "/{VariationPath}", "", r"config.yml:\d+: Samples\[0\].SamplePath: .* is a .*, not a histogram"),
        (1, "all.root:", "all.root/", r"config.yml:\d+: .* names no histogram"),
        (1, "RegionPath: r0", "RegionPath: r9", r"config.yml:\d+: .*all.root has no 'r9/Data/nominal'"),
        (1, "POI: mu", "POI: mu\n  POI: nu", r"config.yml:\d+: General.POI: this key stands here twice"),
        (1, "Regions:", "Regions: [", r"config.yml:\d+: this is not YAML"),
        (1, "Regions:", "Deep: " + 60 * "[" + 60 * "]" + "\nRegions:", "is nested over 50 levels"),
    ],
)
def test_a_wrong_input_is_named_with_file_and_line(seed, old, new, message, tmp_path):
    path = write_case(seed, tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new.replace("2*", "nothing*"), 1))
    with pytest.raises(steering.SteeringError, match=message):
        steering.read(path)


def test_a_list_of_paths_needs_a_place_in_input_path(tmp_path):
    path = write_case(0, tmp_path)
    config = yaml.safe_load(path.read_text())
    config["General"]["InputPath"] = str(tmp_path / "A" / "Data.root")
    config["Samples"][1]["SamplePath"] = ["one.root", "other.root"]
    with pytest.raises(steering.SteeringError, match=r"Samples\[1\].SamplePath: .* would be read 2 times"):
        steering.read(config)


def test_the_line_is_the_settings_line(tmp_path):
    path = write_case(2, tmp_path)
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if "Measurement" in line)
    lines[at] = "  Measurement: 7"
    path.write_text("\n".join(lines))
    with pytest.raises(
        steering.SteeringError, match=f"config.yml:{at + 1}: General.Measurement: must be a text"
    ):
        steering.read(path)


def test_a_template_without_variances_is_refused_with_the_remedy():
    def array_of(name):
        def made(region, sample, systematic, direction):
            found = by_hand(region, sample, systematic, direction)
            return found.values() if sample["Name"] == name else found

        return made

    spec = steering.read(BY_HAND, make_template=by_hand).spec
    for name in ("data", "b"):  # without statistical uncertainties
        assert steering.read(BY_HAND, make_template=array_of(name)).spec == spec
    with pytest.raises(steering.SteeringError, match=r"Samples\[1\].*or set DisableStaterror: True"):
        steering.read(BY_HAND, make_template=array_of("s"))


def test_notes_name_what_cabinetry_ignores():
    config = changed(["Systematics", 0, "Samples"], ["b", "c"])
    config["General"]["Fixed"] = [{"Name": "siz", "Value": 1}]
    config["Samples"][1]["SamplePath"] = "unused"

    def odd(region, sample, systematic, direction):
        return (
            by_hand(region, sample, systematic, direction) if "Data" in sample else Values([-1, 0], [1, -1])
        )

    notes = steering.read(config, make_template=odd).notes
    for text in (
        "no sample is called 'c'",
        "did you mean 'size'",
        "has empty bins: 1",
        "negative yields",
        "bins: 1",
    ):
        assert any(text in note for note in notes), (text, notes)


def test_smoothing_keeps_sums_and_straight_lines():
    nominal = np.array([10.0, 20.0, 15.0, 12.0, 9.0, 5.0])
    line = np.linspace(0.5, 1.5, 6)
    assert np.allclose(smooth_353qh_twice(line), line, rtol=1e-15)
    rough = line * nominal * (1 + 0.2 * np.array([1, -1, 1, -1, 1, -1]))
    smooth = smoothed_variation(rough, nominal)
    assert np.isclose(smooth.sum(), rough.sum(), rtol=1e-14)
    assert np.abs(np.diff(smooth / nominal, 2)).max() < np.abs(np.diff(rough / nominal, 2)).max() / 3
    with pytest.raises(ValueError, match="nominal template is 0 in bin 2"):
        smoothed_variation(rough, np.where(np.arange(6) == 2, 0.0, nominal))


def test_jagged_variables_are_refused_and_their_first_entries_taken(tmp_path):
    import awkward

    with uproot.recreate(tmp_path / "events.root") as file:
        file.mktree("events", {"pt": "var * float64"})
        file["events"].extend({"pt": awkward.Array([[30.0, 20.0], [10.0, 5.0, 1.0], [12.0]])})
    config = copy.deepcopy(BY_HAND)
    config["General"]["InputPath"] = str(tmp_path / "*.root")
    config["Regions"] = [{"Name": "A", "Variable": "pt[:,0]", "Binning": [0, 20, 40]}]
    config["Samples"] = [{**one, "Tree": "events"} for one in config["Samples"]]
    config["Systematics"] = []
    assert steering.read(config).spec["observations"] == [{"name": "A", "data": [2.0, 1.0]}]
    config["Regions"][0]["Variable"] = "pt"
    with pytest.raises(steering.SteeringError, match=r"Regions\[0\].Variable: 'pt' has not one number"):
        steering.read(config)


def test_the_command_writes_the_workspace_or_nothing(tmp_path, capsys):
    path, out = write_case(3, tmp_path), tmp_path / "ws.json"
    assert paritas_main(["workspace", str(path), "-o", str(out), "--save-templates"]) == 0
    assert json.loads(out.read_text()) == TRUTH["3"]
    assert main([str(path), "--inputs", "saved"]) == 0
    assert json.loads(capsys.readouterr().out) == TRUTH["3"]
    out.unlink()
    assert main([str(tmp_path / "no.yml"), "-o", str(out)]) == 3
    assert "workspace: " in capsys.readouterr().err
    path.write_text(path.read_text().replace("POI: mu", "POI: mus"))
    assert main([str(path), "-o", str(out)]) == 3 and not out.exists()
    assert f"workspace: {path}:3: General.POI: no modifier is called 'mus'" in capsys.readouterr().err
    path.write_text(path.read_text().replace("POI: mus", "POI: mu"))
    assert main([str(path), "-o", str(tmp_path / "no" / "ws.json")]) == 5
    with pytest.raises(SystemExit) as end:
        main([str(path), "--inputs", "trees"])
    assert end.value.code == 2


def test_the_command_says_whether_templates_or_the_workspace_cannot_be_written(tmp_path, capsys):
    path = write_case(3, tmp_path)
    folder = tmp_path / "occupied"
    folder.write_text("a file")
    text = yaml.safe_load(path.read_text())
    text["General"]["HistogramFolder"] = str(folder)
    path.write_text(yaml.safe_dump(text))
    assert main([str(path), "--save-templates"]) == 5
    out, err = capsys.readouterr()
    assert out == "" and "workspace: the templates cannot be written: " in err and str(folder) in err
    assert main([str(path), "-o", str(tmp_path / "no" / "ws.json")]) == 5
    assert f"workspace: {tmp_path / 'no' / 'ws.json'} cannot be written: " in capsys.readouterr().err


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, capsys):
    path = write_case(1, tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    assert main([str(path)]) == 3
    assert "pip install 'paritas[steering]'" in capsys.readouterr().err
