"""Writes shapes.root, the histograms of shapes.txt: make_shapes.py (needs uproot)."""

from pathlib import Path

import numpy as np
import uproot
from uproot.writing.identify import to_TH1x, to_TAxis


def histogram(values, errors=None, edges=None, single=False):
    """Of bins 1..n; underflow and overflow are filled, and mean nothing to a card."""
    values = np.asarray(values, float)
    n = len(values)
    edges = np.linspace(0.0, n, n + 1) if edges is None else np.asarray(edges, float)
    squares = np.abs(values) if errors is None else np.square(np.asarray(errors, float))
    content = np.concatenate([[7.5], values, [3.25]]).astype(np.float32 if single else np.float64)
    axis = to_TAxis("xaxis", "", n, edges[0], edges[-1], fXbins=edges)
    return to_TH1x(
        None,
        "",
        content,
        float(n),
        values.sum(),
        squares.sum(),
        0.0,
        0.0,
        np.concatenate([[0.0], squares, [0.0]]),
        axis,
    )


HISTOGRAMS = {
    "sr/data_obs": histogram([12, 20, 9]),
    "sr/signal": histogram([1.0, 3.0, 2.0], [0.1, 0.2, 0.1]),
    "sr/top": histogram([6.0, 9.0, 3.0], [0.5, 0.6, 0.4]),
    "sr/top_tiltUp": histogram([7.0, 9.5, 2.5]),
    "sr/top_tiltDown": histogram([5.0, 8.5, 3.5]),
    "sr/fakes": histogram([4.0, 5.0, 0.0], [2.0, 1.0, 0.0]),
    "sr/fakes_tiltUp": histogram([4.2, 4.8, 0.0]),
    "sr/fakes_tiltDown": histogram([3.8, 5.2, 0.0]),
    "sr/empty": histogram([0.0, 0.0, 0.0]),
    "sr/unsure": histogram([1.0, 2.0, 3.0], [np.nan, 1.0, 1.0]),
    "sr/undefined": histogram([1.0, np.nan, 3.0]),
    "sr/negative": histogram([-1.0, -2.0, 0.5]),
    "sr/negative_tiltUp": histogram([1.0, 2.0, 0.5]),
    "sr/negative_tiltDown": histogram([1.0, 2.0, 0.5]),
    "sr/top_bendUp": histogram([6.0, 8.0, 4.0]),
    "sr/top_bendDown": histogram([6.0, 10.0, 2.0]),
    "sr/wide": histogram([1.0, 2.0, 3.0, 4.0]),
    "sr/none_tiltUp": histogram([0.0, 0.0, 0.0]),
    "sr/none_tiltDown": histogram([1.0, 1.0, 1.0]),
    "sr/none": histogram([1.0, 1.0, 1.0]),
    "cr/data_obs": histogram([60, 44]),
    "cr/signal": histogram([0.5, 0.25]),
    "cr/top": histogram([40.0, 30.0], [2.0, 1.5], single=True),
    "cr/top_tiltUp": histogram([42.0, 29.0]),
    "cr/top_tiltDown": histogram([38.0, 31.0]),
    "cr/fakes": histogram([15.0, 16.0], [3.0, 3.0]),
}

with uproot.recreate(Path(__file__).with_name("shapes.root"), compression=uproot.ZLIB(9)) as file:
    for name, one in HISTOGRAMS.items():
        file[name] = one
    file["sr/tree"] = {"x": np.arange(3)}
