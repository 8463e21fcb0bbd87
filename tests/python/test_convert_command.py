"""`python -m paritas convert`: what it writes where, and its exit codes."""

from __future__ import annotations

import json

import pytest
from convert_support import TREE

from paritas.convert.command import main

EXAMPLE = TREE / "examples" / "two_bins.json"


def test_a_workspace_goes_to_hs3_and_back(tmp_path, capsys):
    document, back = tmp_path / "model.hs3.json", tmp_path / "back.json"
    assert main([str(EXAMPLE), "--to", "hs3", "-o", str(document)]) == 0
    assert main([str(document), "--names", "pyhf", "-o", str(back)]) == 0
    assert json.loads(back.read_text())["channels"] == json.loads(EXAMPLE.read_text())["channels"]
    assert "note: /analyses/1" in capsys.readouterr().err
    assert main([str(document), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["version"] == "1.0.0" and err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back.json", "model.hs3.json"]


def test_other_interpolation_is_said(tmp_path, capsys):
    document = tmp_path / "model.hs3.json"
    spec = json.loads(EXAMPLE.read_text())
    spec["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "xs", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    workspace = tmp_path / "workspace.json"
    workspace.write_text(json.dumps(spec))
    assert main([str(workspace), "--to", "hs3", "--normsys-code", "1", "-o", str(document)]) == 0
    assert main([str(document)]) == 0
    assert "--normsys-code 1 --histosys-code 4p" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["no-such-file.json"], 3),
        ([str(EXAMPLE)], 2),
        ([str(EXAMPLE), "--to", "root"], 2),
        ([str(EXAMPLE), "--to", "xml"], 2),
        ([str(EXAMPLE), "--mount", "nothing"], 2),
        ([str(EXAMPLE), "--from", "hs3"], 3),
        ([str(EXAMPLE), "--from", "xml"], 3),
        ([str(TREE / "README.md")], 3),
        ([str(EXAMPLE), "--to", "hs3", "-o", "no/such/folder/out.json"], 5),
    ],
)
def test_exit_codes_are_the_programs(arguments, code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        assert main(arguments) == code
    except SystemExit as end:
        assert end.code == code
    assert "convert" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_missing_files_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["none.xml"]) == 3
    assert capsys.readouterr().err == "convert: none.xml: No such file or directory\n"
    (tmp_path / "top.xml").write_text('<Combination OutputFilePrefix="x"><Input>ch.xml</Input></Combination>')
    assert main(["top.xml"]) == 3
    told = capsys.readouterr().err
    assert f"there is no file ch.xml; relative paths start in {tmp_path} (--rootdir)" in told


def test_xml_is_written_and_read(tmp_path, capsys):
    pytest.importorskip("uproot")
    assert main([str(EXAMPLE), "--to", "xml", "-o", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "FitConfig.xml",
        "HistFactorySchema.dtd",
        "config",
        "data",
    ]
    moved = tmp_path / "moved"
    (tmp_path / "out").rename(moved)
    assert main([str(moved / "FitConfig.xml"), "--mount", f"{moved}:{tmp_path / 'out'}"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["observations"] == json.loads(EXAMPLE.read_text())["observations"]
    )
    assert main([str(moved / "FitConfig.xml")]) == 3
