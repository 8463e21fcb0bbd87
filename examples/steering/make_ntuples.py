"""Writes the ntuples of config.yml: python examples/steering/make_ntuples.py FOLDER (needs uproot)."""

import os
import sys

import numpy as np
import uproot


def draw(rng, count, kind):
    """Masses: a bump of width 35 at 225, or a falling background. Uniform deviates alone make them."""
    uniform = rng.random_sample((6, count))
    mass = 85 + 90 * (uniform[0] + uniform[1] + uniform[2])
    if kind == "background":
        mass = 100 + 320 * uniform[0] * uniform[1]
    return {
        "mass": mass,
        "leptons": 1 + (uniform[3] < 0.6).astype(np.int32),
        "weight": (0.5 + uniform[4]) * (0.004 if kind == "signal" else 0.05),
        "generator": 0.8 + mass / 1000 + 0.2 * (uniform[5] - 0.5),
    }


def write(path, trees):
    with uproot.recreate(path) as file:
        for name, arrays in trees.items():
            file.mktree(name, {key: array.dtype for key, array in arrays.items()})
            file[name].extend(arrays)


def make_ntuples(folder):
    os.makedirs(folder, exist_ok=True)
    rng = np.random.RandomState(6)
    simulated = {kind: draw(rng, 20000, kind) for kind in ("signal", "background")}
    write(os.path.join(folder, "simulation.root"), simulated)
    parts = draw(rng, 90, "signal"), draw(rng, 1010, "background")
    observed = {key: np.concatenate([part[key] for part in parts]) for key in ("mass", "leptons")}
    write(os.path.join(folder, "data.root"), {"events": observed})


if __name__ == "__main__":
    make_ntuples(sys.argv[1])
