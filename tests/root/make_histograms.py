"""Writes tests/root/histograms.root, which test_root.c reads. Needs PyROOT."""

import array
import os
import pathlib

import ROOT

ZLIB, OLD, PLAIN, LZMA, LZ4, ZSTD = 101, 301, 0, 207, 404, 505

ROOT.TH1.AddDirectory(False)
os.chdir(pathlib.Path(__file__).parent)  # a ROOT file holds its path
file = ROOT.TFile("histograms.root", "RECREATE", "", ZLIB)


def filled(kind, name, axis, squares):
    """Cell i has 3 i - 4, its squared error (i + 1)^2 where there are squares."""
    histogram = getattr(ROOT, kind)(name, "", *axis)
    if squares:
        histogram.Sumw2()
    for i in range(histogram.GetNcells()):
        histogram.SetBinContent(i, 3 * i - 4)
        if squares:
            histogram.SetBinError(i, i + 1)
    return histogram


FIXED = (30, -1.0, 0.5)
file.WriteTObject(filled("TH1D", "packed", FIXED, True))
for kind in ("TH1C", "TH1S", "TH1I", "TH1L", "TH1F"):
    file.WriteTObject(filled(kind, kind, FIXED, False))

labels = filled("TH1F", "labels", (4, array.array("d", [0.0, 0.5, 2.0, 2.25, 8.0])), True)
for i in range(4):
    labels.GetXaxis().SetBinLabel(i + 1, f"label {i}")
labels.SetContour(3, array.array("d", [1.0, 2.0, 3.0]))
thing = ROOT.TNamed("thing", "in the list of functions")
ROOT.SetOwnership(thing, False)
labels.GetListOfFunctions().Add(thing)
file.WriteTObject(labels)

inner = file.mkdir("outer").mkdir("inner")
for value in range(12):  # the cycle of the last has two digits
    cycled = ROOT.TH1D("cycled", "", 1, 0.0, 1.0)
    cycled.SetBinContent(1, value)
    inner.WriteTObject(cycled)
file.mkdir("empty")

for name, compression in (("plain", PLAIN), ("old", OLD), ("lzma", LZMA), ("lz4", LZ4), ("zstd", ZSTD)):
    file.SetCompressionSettings(compression)
    file.WriteTObject(filled("TH1D", name, FIXED, False))
file.SetCompressionSettings(ZLIB)
file.WriteTObject(ROOT.TH2F("two", "", 2, 0.0, 1.0, 2, 0.0, 1.0))
file.Close()
