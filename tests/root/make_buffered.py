"""Writes tests/root/buffered.root, which test_root.c and test_root_buffers.py read. Needs PyROOT 6.38.

Each histogram has entries in its buffer. Beside it stands `NAME_binned`, what ROOT makes of it."""

import array
import os
import pathlib

import ROOT

ZLIB, ROOM = 101, 100  # entries: ROOT takes no fewer
NAN, INFINITY = float("nan"), float("inf")
PLACES = (0.5, 1.5, 2.5)

ROOT.TH1.AddDirectory(False)
os.chdir(pathlib.Path(__file__).parent)  # a ROOT file holds its path
file = ROOT.TFile("buffered.root", "RECREATE", "", ZLIB)


def filled(kind, name, axes, entries, prepare=lambda histogram: None):
    """entries: weight, then the place on each axis."""
    histogram = getattr(ROOT, kind)(name, "", *axes)
    prepare(histogram)
    histogram.SetBuffer(ROOM)
    for weight, *place in entries:
        histogram.Fill(*place, weight)
    return histogram


def write(histogram):
    """And what ROOT makes of it."""
    file.WriteTObject(histogram)
    if not histogram.GetName().endswith("_binned"):
        binned = histogram.Clone(histogram.GetName() + "_binned")
        binned.BufferEmpty(1)
        file.WriteTObject(binned)


def damaged(name, place, value):
    histogram = filled("TH1D", name, (3, 0.0, 3.0), [(2.0, x) for x in PLACES])
    histogram.GetBuffer()[place] = value
    file.WriteTObject(histogram)


AXIS = (3, 0.0, 3.0)
FLANKS = [(1.0, x) for x in (-1.0, 0.0, 1.0, 2.9999, 3.0, 1e300, -INFINITY, NAN)]
write(filled("TH1D", "once", AXIS, [(11.5, 0.5), (12.25, 1.5), (6.5, 2.5)]))
write(filled("TH1F", "counts", AXIS, FLANKS))
write(filled("TH1D", "squares", AXIS, [(1.0, 0.5)] * 4, lambda h: h.Sumw2()))
write(filled("TH1F", "weights", AXIS, [(0.1 * k - 1.0, k % 5 - 0.5) for k in range(25)]))
write(
    filled("TH1D", "unweighted", AXIS, [(2.5, 0.5)], lambda h: h.Sumw2(False) or h.SetBit(ROOT.TH1.kIsNotW))
)
write(
    filled(
        "TH1D",
        "edges",
        (4, array.array("d", [0.0, 0.5, 2.0, 2.25, 8.0])),
        [(2.0, 0.1 * k) for k in range(29)],
    )
)
write(filled("TH1D", "rounded", (30, 3.0, 6.0), [(1.0, 3.0 + k * ((6.0 - 3.0) / 30)) for k in range(29)]))
for kind in ("TH1C", "TH1S", "TH1I", "TH1L"):
    write(
        filled(
            kind, kind, AXIS, [(90.7, 0.5), (-2.5, 0.5), (70.0, 1.5), (70.0, 1.5), (-3e4, 2.5), (-3e4, 2.5)]
        )
    )
write(filled("TH1D", "inside", AXIS, [(2.0, x) for x in PLACES], lambda h: h.SetCanExtend(ROOT.TH1.kXaxis)))
write(
    filled("TH2D", "two", (2, 0.0, 1.0, 3, 0.0, 3.0), [(k, 0.1 * k - 0.2, 0.3 * k - 0.1) for k in range(16)])
)
write(
    filled(
        "TH3F",
        "three",
        (2, 0.0, 1.0, 2, 0.0, 1.0, 2, 0.0, 2.0),
        [(k, 0.1 * k, 0.9 - 0.05 * k, 0.2 * k) for k in range(12)],
    )
)

already = filled("TH1D", "already", AXIS, [(2.0, x) for x in PLACES])
already.BufferEmpty()
write(already)

file.WriteTObject(filled("TH1D", "chosen", (3, 0.0, 0.0), [(2.0, x) for x in PLACES]))
file.WriteTObject(filled("TH1D", "grows", AXIS, [(2.0, 7.0)], lambda h: h.SetCanExtend(ROOT.TH1.kXaxis)))
file.WriteTObject(
    filled("TH2D", "two_grows", AXIS * 2, [(2.0, 1.0, 7.0)], lambda h: h.SetCanExtend(ROOT.TH1.kAllAxes))
)
damaged("long", 0, 101.0)
damaged("half", 0, 1.5)
damaged("nan", 0, NAN)
damaged("weight", 3, INFINITY)
file.SetCompressionSettings(0)
file.WriteTObject(filled("TH1D", "plain", AXIS, [(2.0, x) for x in PLACES]))
file.SetCompressionSettings(ZLIB)
file.Close()
