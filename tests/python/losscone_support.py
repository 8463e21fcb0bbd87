"""What tests of loss cones share: the program, synthetic day files, sweeps of known truth, reference
numbers."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from package_support import PROGRAM

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(os.path.dirname(ROOT), "shared", "losscone", "cases.json")


def program():
    """The program (PARITAS_BIN, else that of the tree or of this installation); the test is skipped where
    there is none."""
    for found in (PROGRAM, os.path.join(os.path.dirname(sys.executable), "paritas"), shutil.which("paritas")):
        if found and os.path.exists(found):
            return found
    pytest.skip("there is no program: PARITAS_BIN, or paritas on the PATH")


def run(*arguments, allowed=(0,)):
    """What the program prints; allowed: exit codes."""
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode in allowed, done.stderr
    return done.stdout


def synthesize(folder, *options):
    """A folder of synthetic day files, and the table of their truth."""
    run("losscone", "synthesize", "-o", folder, "--quiet", *options)
    return str(folder), os.path.join(str(folder), "truth.csv")


def cases():
    if not os.path.exists(CASES):
        pytest.skip("no reference numbers here")
    with open(CASES) as file:
        return json.load(file)


def numbers(values):
    return np.array(values, dtype=np.float64)


def directions(n=1, seed=1):
    """energy (n, 15) and cosines (n, 15, 88) of fields in any direction; cells of a ring stand evenly around
    it, and it turns by 7.5 degrees a row."""
    from paritas import losscone

    random = np.random.default_rng(seed)
    energy = np.broadcast_to(np.geomspace(38.0, 16000.0, 15), (n, 15)).copy()
    field = np.repeat(random.normal(size=(n, 1, 3)), 15, axis=1)
    theta = losscone.theta()
    azimuth = np.empty(88)
    for ring in np.unique(theta):
        cells = np.flatnonzero(theta == ring)
        azimuth[cells] = 360.0 * np.arange(len(cells)) / len(cells)
    return energy, losscone.cosines(
        theta, field, (azimuth + 7.5 * np.arange(15)[:, None] + random.uniform(0.0, 360.0, (n, 1, 1))) % 360.0
    )


def equal(one, other):
    """Equal to the last bit, NaN to NaN; texts whatever room they have, structures field by field: what lies
    between fields is nobody's."""
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.names:
        return one.dtype.names == other.dtype.names and all(
            equal(one[name], other[name]) for name in one.dtype.names
        )
    return one.shape == other.shape and (
        one.tolist() == other.tolist()
        if one.dtype.kind == "U"
        else one.tobytes() == other.astype(one.dtype).tobytes()
    )
