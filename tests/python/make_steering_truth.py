#!/usr/bin/env python3
"""Asks cabinetry for the workspaces of the cases of steering_cases.py, or compares with it live.

  make_steering_truth.py --store                  writes steering_truth.json, which test_steering.py reads
  make_steering_truth.py --random COUNT           compares as many further cases
  make_steering_truth.py --weights COUNT [TURNS]  compares three regions with COUNT weights as systematics
  make_steering_truth.py CONFIG INPUTS [TURNS]    compares one configuration, and measures the ratio of times

INPUTS: ntuples or histograms. Needs cabinetry[contrib]==0.6.0, and paritas to compare. cabinetry's own
example is made by its utils/create_ntuples.py and utils/create_histograms.py. Relative paths in CONFIG start
in the current folder."""

import json
import logging
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import cabinetry
import numpy as np
import uproot
import yaml
from steering_cases import SEEDS, inputs_of, write_case

STORE = Path(__file__).with_name("steering_truth.json")


def by_cabinetry(path: Path, inputs: str) -> dict:
    config = cabinetry.configuration.load(path)
    make = cabinetry.templates.build if inputs == "ntuples" else cabinetry.templates.collect
    make(config)
    cabinetry.templates.postprocess(config)
    return cabinetry.workspace.build(config)


def store() -> None:
    found = {}
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            found[seed] = by_cabinetry(write_case(seed, Path(folder)), inputs_of(seed))
    lines = [f'"{seed}": {json.dumps(spec, sort_keys=True)}' for seed, spec in found.items()]
    STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def random_cases(count: int) -> bool:
    """A case that paritas refuses is right if cabinetry's workspace is no JSON (NaN) or makes no model."""
    from paritas import Model, steering

    equal, refused, different = 0, 0, []
    for seed in range(1000, 1000 + count):
        with tempfile.TemporaryDirectory() as folder:
            path = write_case(seed, Path(folder))
            theirs = by_cabinetry(path, inputs_of(seed))
            try:
                ours = steering.read(path).spec
            except steering.SteeringError as reason:
                try:
                    Model.from_workspace(theirs)
                    different.append(f"case {seed} is refused: {reason}")
                except ValueError:
                    refused += 1
                continue
        if ours == theirs:
            equal += 1
        else:
            different.append(f"case {seed} differs")
    print("\n".join([f"{equal} equal, {refused} refused by both, {len(different)} different", *different]))
    return not different


def seconds(function, *arguments) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def compare(config: str, inputs: str, turns: int) -> bool:
    from paritas import steering

    same = by_cabinetry(Path(config), inputs) == steering.read(config, inputs=inputs).spec
    print(f"{config}: the workspaces are {'equal' if same else 'different'}")
    pairs = [
        (seconds(by_cabinetry, Path(config), inputs), seconds(lambda: steering.read(config, inputs=inputs)))
        for _ in range(turns)
    ]
    theirs, ours = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"cabinetry {1e3 * theirs:.1f} ms, paritas {1e3 * ours:.1f} ms, ratio {ratio:.1f}")
    return same


def write_weights(count: int, folder: Path) -> Path:
    """A signal and a background of 200 000 events in three regions, each with `count` weights up and down."""
    rng = np.random.RandomState(0)
    with uproot.recreate(folder / "events.root") as file:
        for tree in ("signal", "background"):
            arrays = {name: rng.random_sample(200000) for name in ("x", "region", "w")}
            file.mktree(tree, {key: value.dtype for key, value in arrays.items()})
            file[tree].extend(arrays)
    samples = [{"Name": name, "Tree": name, "Weight": "w"} for name in ("signal", "background")]
    systematics = [
        {
            "Name": f"weight {i}",
            "Type": "NormPlusShape",
            "Up": {"Weight": f"w*(1 + 0.{i + 1:03}*x)"},
            "Down": {"Weight": f"w*(1 - 0.{i + 1:03}*x)"},
        }
        for i in range(count)
    ]
    config = {
        "General": {
            "Measurement": "weights",
            "POI": "mu",
            "InputPath": str(folder / "events.root"),
            "HistogramFolder": str(folder / "templates"),
        },
        "Regions": [
            {"Name": f"R{i}", "Variable": "x", "Filter": f"region > 0.{i}", "Binning": [0, 0.2, 0.5, 0.7, 1]}
            for i in (1, 4, 7)
        ],
        "Samples": [{"Name": "data", "Data": True, "Tree": "background"}, *samples],
        "Systematics": systematics,
        "NormFactors": [{"Name": "mu", "Samples": "signal"}],
    }
    path = folder / "config.yml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--store"]:
        store()
    elif sys.argv[1:2] == ["--random"]:
        sys.exit(not random_cases(int(sys.argv[2])))
    elif sys.argv[1:2] == ["--weights"]:
        with tempfile.TemporaryDirectory() as made:
            path = write_weights(int(sys.argv[2]), Path(made))
            sys.exit(not compare(str(path), "ntuples", int(sys.argv[3]) if sys.argv[3:] else 3))
    else:
        sys.exit(not compare(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 20))
