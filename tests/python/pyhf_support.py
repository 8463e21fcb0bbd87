"""What the tests of paritas.pyhf beside pyhf share: both modules, models and documents for both, and how
answers are compared."""

import logging
import pathlib
import sys

import numpy as np
import pytest

theirs = pytest.importorskip("pyhf")
ours = pytest.importorskip("paritas.pyhf")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "pyhf"))
from generate import workspaces  # noqa: E402

for name in ("pyhf", "paritas.pyhf"):  # they warn of what is asked for here on purpose
    logging.getLogger(name).setLevel(logging.CRITICAL)


def both(call):
    """The results of a call of each, or the names of what they raised."""
    found = []
    for module in (ours, theirs):
        try:
            found.append(call(module))
        except Exception as error:
            found.append(("raised", type(error).__name__))
    return found


def plain(value):
    """Arrays as lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def shape(value):
    """Types and lengths without numbers."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shape(item) for item in value]
    if isinstance(value, np.ndarray):
        return "array", value.shape
    return type(value).__name__


def same(call, tolerance=1e-12):
    """Both answer the same: equal shapes and, up to a tolerance relative to 1 or more, equal numbers."""
    mine, other = both(call)
    assert shape(mine) == shape(other), (mine, other)
    compare(plain(mine), plain(other), tolerance)
    return mine


def compare(mine, other, tolerance):
    if isinstance(other, dict):
        assert mine.keys() == other.keys()
        mine, other = [mine[key] for key in other], list(other.values())
    if isinstance(other, list):
        assert len(mine) == len(other), (mine, other)
        for a, b in zip(mine, other):
            compare(a, b, tolerance)
    elif isinstance(other, float):
        assert (
            mine == other
            or abs(mine - other) <= tolerance * max(1, abs(other))
            or (np.isnan(mine) and np.isnan(other))
        ), (mine, other)
    else:
        assert mine == other


GENERATED = [document for _, document in workspaces(12, seed=7)]


def counting(module, signal=(12.0, 11.0), bkg=(50.0, 52.0), uncertainty=(3.0, 7.0), **options):
    return module.simplemodels.uncorrelated_background(list(signal), list(bkg), list(uncertainty), **options)


def observed(model):
    return [51.0, 48.0] + model.config.auxdata
