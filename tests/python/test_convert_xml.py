"""HistFactory XML with ROOT files to pyhf workspaces and back: number by number against pyhf's own reader,
and what is refused."""

from __future__ import annotations

import json
import logging
import sys

import pytest
from convert_support import SHARED, TREE

from paritas import Model
from paritas.convert import ConversionError, histfactory_xml

numpy = pytest.importorskip("numpy")
uproot = pytest.importorskip("uproot")

SR = """<!DOCTYPE Channel SYSTEM '../HistFactorySchema.dtd'>
<Channel Name="SR" InputFile="data/input.root" HistoPath="/sr/">
  <Data HistoName="data"/>
  <StatErrorConfig RelErrorThreshold="{threshold}" ConstraintType="{law}"/>
  <Sample Name="signal" HistoName="signal" NormalizeByTheory="True">
    <NormFactor Name="mu" Val="1" Low="0" High="5" Const="{const}"/>
    <OverallSys Name="xs" High="1.1" Low="0.92"/>
    {extra}
  </Sample>
  <Sample Name="background" HistoName="background">
    <HistoSys Name="shape" HistoPathHigh="sr" HistoPathLow="sr" HistoNameHigh="up" HistoNameLow="down"/>
    <StatError Activate="True"/>
    <ShapeSys Name="uncorrelated" HistoPath="sr" HistoName="relative" ConstraintType="{shapesys}"/>
  </Sample>
  <Sample Name="other" HistoName="other" HistoPath="sr" InputFile="data/input.root">
    <StatError Activate="{second}" HistoName="other_errors" HistoPath="sr"/>
    <ShapeFactor Name="free"/>
  </Sample>
</Channel>
"""
CR = """<Channel Name="CR" InputFile="/mounted/input.root">
  <Data HistoName="cr_data"/>
  <Sample Name="background" HistoName="cr_background"><StatError Activate="False"/>
    <NormFactor Name="norm" Val="1.5" Low="0" High="4"/></Sample>
</Channel>
"""
TOP = """<!DOCTYPE Combination SYSTEM 'HistFactorySchema.dtd'>
<Combination OutputFilePrefix="results/example">
  <Input>config/sr.xml</Input>
  <Input>config/cr.xml</Input>
  <Measurement Name="fit" Lumi="1.2" LumiRelErr="0.05" ExportOnly="True">
    <POI>mu</POI>
    <ParamSetting Const="True">Lumi alpha_xs</ParamSetting>
    <ParamSetting Val="0.5">norm</ParamSetting>{extra}
  </Measurement>
  <Measurement Name="background_only" Lumi="1.0" LumiRelErr="0.1"><POI></POI></Measurement>
</Combination>
"""


@pytest.fixture()
def files(tmp_path):
    """Writes the configuration, with changes, and a ROOT file; answers the top-level file and the folder."""
    (tmp_path / "config").mkdir()
    (tmp_path / "data").mkdir()
    edges = numpy.array([0.0, 10.0, 25.0, 40.0])
    with uproot.recreate(tmp_path / "data" / "input.root") as file:
        for name, contents in {
            "data": [52.0, 40.0, 31.0],
            "signal": [5.0, 7.5, 2.25],
            "up": [52.5, 41.0, 29.0],
            "down": [47.0, 38.0, 30.5],
            "relative": [0.1, 0.0, 0.25],
            "other": [4.0, 2.0, 1.0],
            "other_errors": [0.1, 0.2, 0.3],
        }.items():
            file[f"sr/{name}"] = (numpy.array(contents), edges)
        weighted = numpy.array([1.5, 2.0, 0.7])
        file["sr/background"] = uproot.writing.identify.to_TH1x(
            "background",
            "",
            numpy.array([0.0, 50.0, 39.0, 30.0, 0.0]),
            3.0,
            0.0,
            0.0,
            0.0,
            0.0,
            numpy.concatenate([[0.0], weighted**2, [0.0]]),
            uproot.writing.identify.to_TAxis("xaxis", "", 3, 0.0, 3.0),
        )
        for name, content in (("cr_data", 101.0), ("cr_background", 99.0)):
            file[name] = (numpy.array([content]), numpy.array([0.0, 1.0]))
        file["cr_negative"] = (numpy.array([-3.0]), numpy.array([0.0, 1.0]))
        file["text"] = "no histogram"

    def build(sr=SR, cr=CR, top=TOP, top_extra="", **changes):
        values = {
            "threshold": "0.0",
            "law": "Gaussian",
            "shapesys": "Poisson",
            "const": "False",
            "second": "True",
            "extra": "",
            **changes,
        }
        for key, value in values.items():
            sr = sr.replace("{" + key + "}", value)
        (tmp_path / "config" / "sr.xml").write_text(sr)
        (tmp_path / "config" / "cr.xml").write_text(cr)
        (tmp_path / "top.xml").write_text(top.replace("{extra}", top_extra))
        return tmp_path / "top.xml", tmp_path, [(tmp_path / "data", "/mounted")]

    return build


def test_the_workspace_is_pyhfs_number_by_number(files):
    readxml = pytest.importorskip("pyhf.readxml")
    from pathlib import Path

    for changes in (
        {},
        {"law": "Poisson", "threshold": "0.05", "shapesys": "Gaussian", "const": "True", "second": "False"},
    ):
        top, folder, mounts = files(**changes)
        readxml.clear_filecache()
        expected = readxml.parse(top, folder, [(Path(host), Path(mount)) for host, mount in mounts])
        found = histfactory_xml.parse(top, folder, mounts)
        if not changes:  # pyhf scales an external error histogram by NumPy, the same product
            assert found["channels"][0]["samples"][1]["modifiers"][1]["data"] == [1.5, 2.0, 0.7]
        assert found == expected


def test_configurations_come_from_open_files_too(files):
    top, folder, mounts = files()
    with open(top, "rb") as file:
        assert histfactory_xml.parse(file, str(folder), mounts) == histfactory_xml.parse(
            str(top), folder, mounts, track_progress=True
        )


def test_what_pyhf_leaves_out_is_logged_and_what_the_files_say_is_kept(files, caplog):
    top, folder, mounts = files(
        law="Poisson",
        threshold="0.05",
        shapesys="Gaussian",
        top_extra='<ConstraintTerm Type="LogNormal">xs</ConstraintTerm>',
    )
    with caplog.at_level(logging.WARNING):
        histfactory_xml.parse(top, folder, mounts)
    for left_out in (
        'ConstraintType="Poisson"',
        'RelErrorThreshold="0.05"',
        'ConstraintType="Gaussian"',
        'Type="LogNormal"',
    ):
        assert left_out in caplog.text
    kept = histfactory_xml.read(top, folder, mounts)
    parameters = {one["name"]: one for one in kept.spec["measurements"][0]["config"]["parameters"]}
    assert parameters["staterror_SR"]["constraint"] == {"type": "poisson"}
    assert "constraint" not in parameters["xs"]
    assert any("'xs' has no RelativeUncertainty" in note for note in kept.notes)


def test_laws_and_thresholds_that_a_workspace_can_express_are_followed(files):
    top, folder, mounts = files(law="Poisson", shapesys="Gaussian", second="False")
    background = histfactory_xml.read(top, folder, mounts).spec["channels"][0]["samples"][1]
    assert {m["name"]: (m["type"], m["data"]) for m in background["modifiers"] if m["name"] != "shape"} == {
        "lumi": ("lumi", None),  # ROOT's default
        "staterror_SR": ("shapesys", [1.5, 2.0, 0.7]),
        "uncorrelated": ("staterror", [5.0, 0.0, 7.5]),
    }
    # relative errors of both samples together: 0.0287, 0.0499, 0.0246
    top, folder, mounts = files(threshold="0.04")
    samples = histfactory_xml.read(top, folder, mounts).spec["channels"][0]["samples"]
    assert [m["data"] for s in samples for m in s["modifiers"] if m["type"] == "staterror"] == [
        [0.0, 2.0, 0.0],
        [0.0, 0.4, 0.0],
    ]


def test_const_of_a_factor_is_ignored_as_root_does(files):
    """HistoToWorkspaceFactoryFast warns of it and leaves the factor free. pyhf holds it."""
    held = {"pyhf": True, "file": None}
    for constraints, fixed in held.items():
        top, folder, mounts = files(const="True")
        found = histfactory_xml.read(top, folder, mounts, constraints=constraints)
        (mu,) = [c for c in found.spec["measurements"][0]["config"]["parameters"] if c["name"] == "mu"]
        assert mu.get("fixed") is fixed
        noted = [note for note in found.notes if "Const is ignored" in note]
        assert len(noted) == (fixed is None) and all("sr.xml:6" in note for note in noted), found.notes
    top, folder, mounts = files(top=TOP.replace("Lumi alpha_xs", "Lumi alpha_xs mu"))
    found = histfactory_xml.read(top, folder, mounts)
    (mu,) = [c for c in found.spec["measurements"][0]["config"]["parameters"] if c["name"] == "mu"]
    assert mu["fixed"] is True


ENTITIES = '<!DOCTYPE Combination [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "top, why",
    [
        (
            ENTITIES + '<Combination OutputFilePrefix="&b;"><Input>x</Input></Combination>',
            "top.xml:1: it declares the entity 'a'",
        ),
        (
            '<!DOCTYPE Combination [<!ENTITY x SYSTEM "file:///etc/passwd">]><Combination '
            'OutputFilePrefix="">&x;</Combination>',
            "declares the entity 'x'",
        ),
        (
            '<!DOCTYPE Combination [<!ENTITY % x SYSTEM "other.dtd"> %x;]><Combination OutputFilePrefix=""/>',
            "declares the entity 'x'",
        ),
        (
            "<!DOCTYPE Combination SYSTEM 'HistFactorySchema.dtd'><Combination "
            "OutputFilePrefix=''><Input>&x;</Input></Combination>",
            "the entity 'x' is not declared",
        ),
        ("<Combination OutputFilePrefix=''><Input>", "not XML: no element found"),
        ("", "not XML: no element found"),
        ("<Channel Name='x'/>", "the element <Channel> is not known where <Combination> is expected"),
        (
            "<Combination OutputFilePrefix=''><Asimov/></Combination>",
            "the element <Asimov> is not known in <Combination>",
        ),
        ("<Combination/>", "the attribute OutputFilePrefix is missing"),
        ("<Combination OutputFilePrefix='' surprise=''/>", "the attribute surprise is not known here"),
        ("<Combination OutputFilePrefix=''>text</Combination>", "there must be no text here"),
        (
            "<Combination OutputFilePrefix=''><Input>none.xml</Input></Combination>",
            "there is no file .*none.xml",
        ),
        ("<Combination OutputFilePrefix=''/>", "channels: must not be empty"),
        (
            "<Combination OutputFilePrefix=''><Function Name='f' Expression='abs(x)' "
            "Dependents='x,y'/></Combination>",
            "cannot express the function 'abs\\(x\\)'",
        ),
    ],
)
def test_top_level_files_that_are_wrong_are_refused(files, top, why):
    path, folder, mounts = files(top=top)
    with pytest.raises(ConversionError, match=why):
        histfactory_xml.read(path, folder, mounts)


@pytest.mark.parametrize(
    "part, old, new, why",
    [
        ("sr", '<Data HistoName="data"/>', "", r'sr.xml:2: <Channel Name="SR">: it has no <Data>'),
        (
            "sr",
            'HistoName="data"',
            'HistoName="nothing"',
            "input.root has neither 'sr/nothing' nor 'nothing'",
        ),
        ("sr", 'HistoName="data"', 'HistoName=""', "<Data>: HistoName is missing"),
        ("sr", 'InputFile="data/input.root" HistoPath', "HistoPath", "<Data>: InputFile is missing"),
        (
            "sr",
            'InputFile="data/input.root" HistoPath',
            'InputFile="config/sr.xml" HistoPath',
            "as a ROOT file",
        ),
        ("sr", 'High="1.1"', 'High="much"', r'<OverallSys Name="xs">: High="much" is not a number'),
        ("sr", 'High="1.1"', 'High="inf"', "is not finite"),
        ("sr", ' High="1.1"', "", "the attribute High is missing"),
        ("sr", 'NormalizeByTheory="True"', 'NormalizeByTheory="yes"', "neither True nor False"),
        (
            "sr",
            '<ShapeFactor Name="free"/>',
            '<HistoFactor Name="free"/>',
            "the element <HistoFactor> is not known in <Sample>",
        ),
        ("sr", 'HistoNameLow="down"', "", r'<HistoSys Name="shape">: HistoNameLow is missing'),
        ("sr", 'HistoName="other"', 'HistoName="other" x="1"', "the attribute x is not known"),
        ("cr", 'HistoName="cr_background"', 'HistoName="text"', "not a histogram"),
        (
            "cr",
            'Name="norm" Val="1.5"',
            'Name="mu" Val="1.5"',
            r'<NormFactor Name="mu">: Val, Low, High or Const differ from those at .*sr.xml:6',
        ),
        (
            "cr",
            'HistoName="cr_background"><StatError Activate="False"/>',
            'HistoName="cr_negative"><StatError Activate="True"/>',
            "negative contents and no errors",
        ),
        ("cr", 'Name="CR"', 'Name="SR"', 'the name "SR" is also that of channels'),
        (
            "cr",
            'HistoName="cr_data"',
            'HistoPath="sr" HistoName="data"',
            r"histograms of \[1\] bins, but the data have 3",
        ),
        ("top", "Lumi alpha_xs", "gamma_stat_SR_bin_0", "held constant, but not in every measurement"),
        ("top", "<POI>mu</POI>", "", "it has no <POI>"),
        ("top", 'Lumi="1.2"', 'Lumi="x"', "is not a number"),
    ],
)
def test_channels_and_measurements_that_are_wrong_are_refused_by_file_and_element(files, part, old, new, why):
    texts = {"sr": SR, "cr": CR, "top": TOP}
    assert old in texts[part]
    top, folder, mounts = files(**{part: texts[part].replace(old, new)})
    with pytest.raises(ConversionError, match=why):
        histfactory_xml.read(top, folder, mounts)


def test_single_factors_of_bins_can_be_set_and_held(files):
    held = '<ParamSetting Const="True">gamma_stat_SR_bin_1</ParamSetting>'
    both = '<ParamSetting Const="True">gamma_uncorrelated_bin_0 gamma_uncorrelated_bin_1</ParamSetting>'
    third = '<ParamSetting Const="True">gamma_uncorrelated_bin_2</ParamSetting>'
    value = '<ParamSetting Val="1.5">gamma_free_bin_2</ParamSetting>'
    one_measurement = TOP[: TOP.index('  <Measurement Name="background_only"')] + "</Combination>"
    top, folder, mounts = files(top=one_measurement, top_extra=held + both + third + value)
    model = Model.from_workspace(histfactory_xml.read(top, folder, mounts).spec)
    point = dict(zip(model.parameter_names, zip(model.suggested_init, model.suggested_fixed)))
    assert [point[f"staterror_SR[{i}]"] for i in range(3)] == [(1.0, False), (1.0, True), (1.0, False)]
    assert [point[f"uncorrelated[{i}]"] for i in range(3)] == [(1.0, True)] * 3
    assert [point[f"free[{i}]"] for i in range(3)] == [(1.0, False), (1.0, False), (1.5, False)]
    for setting in (
        '<ParamSetting Const="True">gamma_free_bin_0</ParamSetting>',
        '<ParamSetting Const="True" Val="1.1">gamma_stat_SR_bin_0</ParamSetting>',
    ):
        top, folder, mounts = files(top=one_measurement, top_extra=setting)
        with pytest.raises(ConversionError, match="cannot express some factors of"):
            histfactory_xml.read(top, folder, mounts)


def test_what_no_model_can_be_made_of_can_be_a_note(files):
    top, folder, mounts = files(cr=CR.replace('Name="CR"', 'Name="SR"'))
    assert any(
        'the name "SR" is also that of channels[0]' in note
        for note in histfactory_xml.read(top, folder, mounts, validation_as_error=False).notes
    )


def test_notes_say_what_was_decided(files):
    changes = {"shapesys": "", "top_extra": '<ParamSetting Const="True">alpha_nowhere</ParamSetting>'}
    elsewhere = 'HistoPathHigh="elsewhere" HistoPathLow="sr" HistoNameHigh="cr_data"'
    top, folder, mounts = files(
        sr=SR.replace('HistoPathHigh="sr" HistoPathLow="sr" HistoNameHigh="up"', elsewhere),
        top=TOP.replace("<POI>mu</POI>", "<POI>mu norm</POI>"),
        **changes,
    )
    found = histfactory_xml.read(top, folder, mounts, validation_as_error=False)
    assert found.spec["measurements"][0]["config"]["pois"] == ["mu", "norm"]
    notes = "\n".join(found.notes)
    for what in (
        "'alpha_nowhere' is no parameter",
        "/measurements/0/config/pois: pyhf has one parameter of interest",
        "has no 'elsewhere/cr_data'; 'cr_data' was taken",
    ):
        assert what in notes


def test_without_uproot_the_error_says_what_to_install(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "uproot", None)
    with pytest.raises(ImportError, match=r"pip install 'paritas\[root\]'"):
        histfactory_xml.read(*files())


# Back


def _write(spec, folder):
    for part in ("config", "data"):
        (folder / part).mkdir()
    top = histfactory_xml.write(spec, folder / "config", folder / "data", "FitConfig")
    (folder / "FitConfig.xml").write_bytes(top)
    return folder / "FitConfig.xml"


PUBLISHED = [
    TREE / "examples" / "two_bins.json",
    SHARED / "displaced_leptons_signal.json",
    SHARED / "ttZ_4l.json",
]


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_workspaces_come_back_from_xml_as_they_were_in_both_readers(path, tmp_path):
    if not path.is_file():
        pytest.skip("no published workspaces here")
    spec = json.loads(path.read_text())
    top = _write(spec, tmp_path)
    back = histfactory_xml.read(top, tmp_path)
    assert (tmp_path / "HistFactorySchema.dtd").is_file()

    def templates(channels):
        return {
            channel["name"]: {sample["name"]: sample["data"] for sample in channel["samples"]}
            for channel in channels
        }

    assert templates(back.spec["channels"]) == templates(spec["channels"])
    for channel, again in zip(spec["channels"], back.spec["channels"]):
        for sample, same in zip(channel["samples"], again["samples"]):
            expected, found = (
                {(m["type"], m["name"]): m["data"] for m in s["modifiers"]} for s in (sample, same)
            )
            assert found.keys() == expected.keys()
            for key, data in expected.items():
                if key[0] == "shapesys":  # relative in the file: the quotient is rounded
                    assert found[key] == pytest.approx(data, rel=1e-15)
                else:
                    assert found[key] == data
    readxml = pytest.importorskip("pyhf.readxml")
    if path.stem != "ttZ_4l":
        assert readxml.parse(top, tmp_path) == back.spec


def _spec(**parameters):
    modifiers = [
        {"name": "mu", "type": "normfactor", "data": None},
        {"name": "xs", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}},
        {"name": "lumi", "type": "lumi", "data": None},
        {"name": "staterror_c", "type": "staterror", "data": [0.5, 0.1]},
    ]
    lumi = {
        "name": "lumi",
        "inits": [2.0],
        "bounds": [[1.0, 3.0]],
        "auxdata": [2.0],
        "sigmas": [0.2],
        **parameters.pop("lumi", {}),
    }
    lumi = {key: value for key, value in lumi.items() if value is not None}
    configs = [lumi, *({"name": name, **config} for name, config in parameters.items())]
    return {
        "channels": [{"name": "c", "samples": [{"name": "s", "data": [10.0, 0.0], "modifiers": modifiers}]}],
        "observations": [{"name": "c", "data": [12.0, 1.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": configs}}],
        "version": "1.0.0",
    }


def test_configurations_of_parameters_come_back(tmp_path):
    spec = _spec(
        mu={"inits": [0.5], "bounds": [[-1.0, 4.0]], "fixed": True},
        xs={"inits": [0.3], "fixed": True},
        lumi={"inits": [2.1]},
    )
    second = json.loads(json.dumps(spec["measurements"][0]))
    second["name"] = "n"
    second["config"]["parameters"][1].update(inits=[0.7], fixed=False)
    spec["measurements"].append(second)
    back = histfactory_xml.read(_write(spec, tmp_path), tmp_path)
    one, two = ({p["name"]: p for p in m["config"]["parameters"]} for m in back.spec["measurements"])
    assert one["mu"] == {"name": "mu", "inits": [0.5], "bounds": [[-1.0, 4.0]], "fixed": True}
    assert two["mu"] == {"name": "mu", "inits": [0.7], "bounds": [[-1.0, 4.0]]}
    assert one["xs"] == {"name": "xs", "inits": [0.3], "fixed": True}
    assert one["lumi"] == {
        "name": "lumi",
        "inits": [2.1],
        "bounds": [[1.0, 3.0]],
        "auxdata": [2.0],
        "sigmas": [0.2],
    }
    # also where nothing is expected
    assert back.spec["channels"][0]["samples"][0]["modifiers"][-1]["data"] == [0.5, 0.1]


@pytest.mark.parametrize(
    "parameters, why",
    [
        (
            {"staterror_c": {"fixed": True}},
            "'staterror_c' has one parameter a bin, which XML can neither set nor hold",
        ),
        ({"staterror_c": {"inits": [1.0, 1.1]}}, "can neither set nor hold"),
        ({"xs": {"auxdata": [0.5]}}, "XML cannot express auxdata and sigmas of 'xs'"),
        ({"lumi": {"sigmas": None}}, "lumi must have auxdata and sigmas"),
        ({"lumi": {"auxdata": [0.0]}}, "relative to its value, which is 0"),
    ],
)
def test_what_xml_cannot_say_is_refused(tmp_path, parameters, why):
    with pytest.raises(ConversionError, match=why):
        _write(_spec(**parameters), tmp_path)


def test_bounds_that_differ_and_second_staterrors_are_refused(tmp_path):
    spec = _spec(mu={"bounds": [[0.0, 4.0]]})
    spec["measurements"].append(
        {
            "name": "n",
            "config": {"poi": "mu", "parameters": [spec["measurements"][0]["config"]["parameters"][0]]},
        }
    )
    with pytest.raises(ConversionError, match="its bounds differ among measurements"):
        histfactory_xml.write(spec, tmp_path, tmp_path, "x")
    spec = _spec()
    spec["channels"][0]["samples"][0]["modifiers"].append(
        {"name": "more", "type": "staterror", "data": [0.1, 0.1]}
    )
    with pytest.raises(ConversionError, match=r"several staterrors \(more, staterror_c\)"):
        histfactory_xml.write(spec, tmp_path, tmp_path, "x")


@pytest.mark.parametrize("name", ["../outside", "a/b", "a\\b", ""])
def test_a_channel_cannot_name_a_file_elsewhere(tmp_path, name):
    spec = _spec()
    spec["channels"][0]["name"] = spec["observations"][0]["name"] = name
    with pytest.raises(ConversionError, match="/channels/0/name: .* cannot be empty or have slashes"):
        _write(spec, tmp_path)


def test_names_are_escaped_and_histograms_never_overwrite_each_other(tmp_path):
    spec = _spec()
    sample = spec["channels"][0]["samples"][0]
    sample["name"] = 'a<b & "c"/d'
    second = {"name": 'a_b & "c"/d', "data": [1.0, 2.0], "modifiers": []}
    spec["channels"][0]["samples"].append(second)
    back = histfactory_xml.read(_write(spec, tmp_path), tmp_path).spec
    assert {s["name"]: s["data"] for s in back["channels"][0]["samples"]} == {
        sample["name"]: [10.0, 0.0],
        second["name"]: [1.0, 2.0],
    }


def test_the_functions_of_pyhfs_names_are_these(tmp_path):
    readxml, writexml = (
        pytest.importorskip("paritas.pyhf.readxml"),
        pytest.importorskip("paritas.pyhf.writexml"),
    )
    spec = json.loads((TREE / "examples" / "two_bins.json").read_text())
    for part in ("config", "data"):
        (tmp_path / part).mkdir()
    top = tmp_path / "FitConfig.xml"
    top.write_bytes(writexml.writexml(spec, tmp_path / "config", tmp_path / "data", "FitConfig"))
    assert readxml.parse(top, tmp_path) == histfactory_xml.parse(top, tmp_path)
