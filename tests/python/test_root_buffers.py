"""Histograms whose entries ROOT has not put into bins yet. `tests/root/make_buffered.py` wrote them with
PyROOT, and beside each what ROOT makes of it."""

from __future__ import annotations

import pathlib

import pytest

import paritas
from paritas.convert import ConversionError, datacard, histfactory_xml
from paritas.steering.histograms import histogram

numpy = pytest.importorskip("numpy")
uproot = pytest.importorskip("uproot")

FILE = pathlib.Path(__file__).resolve().parents[1] / "root" / "buffered.root"
UNCHOSEN = "ROOT has not chosen its bins yet"
REFUSED = {
    "chosen": UNCHOSEN,
    "grows": UNCHOSEN,
    "two_grows": UNCHOSEN,
    "long": "its buffer is damaged",
    "half": "its buffer is damaged",
    "nan": "its buffer is damaged",
    "weight": "a weight that is no finite number",
}
CARD = """imax 1
jmax 1
kmax *
---
shapes * * {file} {name}
---
bin SR
observation -1
---
bin SR SR
process signal background
process 0 1
rate -1 -1
---
lumi lnN 1.1 1.1
SR autoMCStats 0
"""
CHANNEL = """<Channel Name="SR" InputFile="{file}" HistoPath="">
  <Data HistoName="{name}"/>
  <Sample Name="signal" HistoName="{name}"><NormFactor Name="mu" Val="1" Low="0" High="5"/>
    <StatError Activate="True"/></Sample>
</Channel>
"""
TOP = """<Combination OutputFilePrefix="results/example"><Input>channel.xml</Input>
<Measurement Name="fit" Lumi="1" LumiRelErr="0.1"><POI>mu</POI></Measurement></Combination>
"""


def names():
    with uproot.open(FILE) as file:
        return [name[: -len("_binned")] for name in file.keys(cycle=False) if name.endswith("_binned")]


def by_xml(name, folder):
    (folder / "channel.xml").write_text(CHANNEL.format(file=FILE, name=name))
    (folder / "top.xml").write_text(TOP)
    (channel,) = histfactory_xml.read(folder / "top.xml", folder).spec["channels"]
    return channel["samples"][0]["data"], channel["samples"][0]["modifiers"][-1]["data"]


def by_card(name, folder):
    (folder / "card.txt").write_text(CARD.format(file=FILE, name=name))
    return datacard.read(folder / "card.txt").spec["channels"]


def by_steering(name):
    with uproot.open(FILE) as file:
        found = histogram(file[name])
    return found.values.tolist(), found.variances.tolist()


def by_pyhf(name):
    from paritas.pyhf import readxml

    return readxml.import_root_histogram(lambda _: FILE, "buffered.root", "", name, {})


@pytest.mark.parametrize("name", names())
def test_each_reader_has_what_root_has(name, tmp_path):
    assert by_steering(name) == by_steering(f"{name}_binned")
    assert by_pyhf(name) == by_pyhf(f"{name}_binned")
    if min(by_steering(name)[0]) >= 0:
        assert by_xml(name, tmp_path) == by_xml(f"{name}_binned", tmp_path)
        if name not in ("two", "three"):
            assert by_card(name, tmp_path) == by_card(f"{name}_binned", tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_a_buffer_that_root_has_not_resolved_is_refused_by_name(name, tmp_path):
    with pytest.raises(ConversionError, match=f"'{name}' in .*buffered.root: .*{REFUSED[name]}"):
        by_xml(name, tmp_path)
    with pytest.raises(ValueError, match=REFUSED[name]):
        by_steering(name)
    if not name.startswith("two"):
        with pytest.raises(paritas.Error, match=f"buffered.root: {name}: "):
            by_card(name, tmp_path)


@pytest.mark.parametrize("square", [-1.0, numpy.nan, numpy.inf])
def test_an_error_that_is_no_number_is_refused(square, tmp_path):
    """uproot answers a variance of 0 for these, which would leave the bin without an uncertainty."""
    writing = uproot.writing.identify
    axis = writing.to_TAxis(fName="xaxis", fTitle="", fNbins=2, fXmin=0.0, fXmax=2.0)
    moments = dict(fEntries=2.0, fTsumw=3.0, fTsumw2=3.0, fTsumwx=1.0, fTsumwx2=1.0)
    squares = numpy.array([0.0, 1.0, square, 0.0])
    contents = numpy.array([0.0, 1.0, 2.0, 0.0])
    with uproot.recreate(tmp_path / "data.root") as file:
        file["odd"] = writing.to_TH1x(
            fName="odd", fTitle="", data=contents, fSumw2=squares, fXaxis=axis, **moments
        )
    (tmp_path / "channel.xml").write_text(CHANNEL.format(file="data.root", name="odd"))
    (tmp_path / "top.xml").write_text(TOP)
    with pytest.raises(ConversionError, match="channel.xml.*errors that are no"):
        histfactory_xml.read(tmp_path / "top.xml", tmp_path)
    (tmp_path / "card.txt").write_text(CARD.format(file="data.root", name="odd"))
    with pytest.raises(paritas.Error, match="card.txt.*error of bin 2 of .signal. is no finite number"):
        datacard.read(tmp_path / "card.txt")
