"""Templates in a folder, one npz file each, in cabinetry's form: yields, stdev, bins (edges)."""

import os
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from ..archives import read_npz
from .histograms import Floats, Histogram, floats, histogram
from .requests import TemplateRequest


def save_histogram(found: Histogram, path: str) -> None:
    """path: without suffix."""
    edges = np.arange(len(found.values) + 1.0) if found.edges is None else found.edges
    stdev = np.zeros(len(found.values)) if found.variances is None else found.stdev
    np.savez(path + ".npz", yields=found.values, stdev=stdev, bins=edges)


def _squares(stdev: NDArray[Any]) -> Floats:
    given = floats(stdev)
    if (given < 0).any():
        bad = np.flatnonzero(given < 0)[0]
        raise ValueError(f"bin {bad} has a standard deviation of {given.flat[bad]}")
    with np.errstate(over="ignore"):  # an infinite one is refused where it counts
        return given**2


def read_saved(requests: Iterable[TemplateRequest], folder: str, notes: list[str]) -> list[Histogram]:
    """Templates before post-processing, in the order of the requests. folder: where HistogramFolder is."""
    found = []
    for request in requests:
        setting, place = request.general.setting["HistogramFolder"], request.general.place / "HistogramFolder"
        path = os.path.join(folder, setting, request.name + ".npz")
        try:
            arrays = read_npz(path)
            found.append(histogram(arrays["yields"], _squares(arrays["stdev"])))
        except FileNotFoundError:
            raise place.refuse(f"there is no template {path}") from None
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise place.refuse(f"{path} is not a template: {error}") from None
    return found
