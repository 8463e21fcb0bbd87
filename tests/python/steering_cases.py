"""Random analyses in cabinetry's configuration: ROOT files and a config.yml, from a seed.

Numbers come from uniform deviates and basic arithmetic alone, so the files are the same everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import uproot
import yaml
from uproot.writing.identify import to_TAxis, to_TH1x

#: even ones fill ntuples, odd ones collect histograms
SEEDS = range(14)
SAMPLES = ("Signal", "ttbar", "W jets")


def inputs_of(seed: int) -> str:
    return "histograms" if seed % 2 else "ntuples"


def _names(draw: random.Random, names: list[str], key: str) -> dict:
    """A Samples or Regions setting: none, one name, or a list."""
    kind = draw.randrange(3)
    if kind == 0:
        return {}
    chosen = draw.sample(names, draw.randint(1, len(names)))
    return {key: chosen[0] if kind == 1 else chosen}


def _regions(draw: random.Random, seed: int) -> list[dict]:
    regions = []
    for i in range(draw.randint(1, 3)):
        region = {"Name": f"Region {i}" if draw.random() < 0.5 else f"R{i}"}
        if inputs_of(seed) == "ntuples":
            bins = draw.choice([1, 3, 4, 6, 9])
            region["Binning"] = [6 * (k + i + 4) for k in range(bins)] + [6 * (bins + i + 4) + 9.5]
            region["Variable"] = draw.choice(["x", "y", "0.5*x + y"])
            if draw.random() < 0.7:
                region["Filter"] = draw.choice(["charge > 0", "(x > 5) & (jets >= 2)", "jets"])
            region["RegionPath"] = draw.choice(["A", "B"])
        else:
            region["RegionPath"] = f"r{i}"
        regions.append(region)
    return regions


def _variation(draw: random.Random, seed: int, name: str) -> dict:
    if inputs_of(seed) == "histograms":
        return {"VariationPath": name}
    return draw.choice(
        [
            {"Weight": "w*up"},
            {"Weight": "0.5"},
            {"Tree": "varied"},
            {"Variable": "1.05*x"},
            {"Filter": "x > 12", "Weight": "w"},
            {"SamplePath": "ttb*.root"},
            {"RegionPath": "B"},
        ]
    )


def _systematics(draw: random.Random, seed: int, samples: list[str], regions: list[str]) -> list[dict]:
    found = []
    for i in range(draw.randint(1, 4)):
        one = {"Name": f"sys {i}", **_names(draw, samples, "Samples"), **_names(draw, regions, "Regions")}
        if draw.random() < 0.3:
            one["Type"] = "Normalization"
            one["Up"], one["Down"] = ({"Normalization": sign * draw.randint(1, 30) / 100} for sign in (1, -1))
        else:
            one["Type"] = "NormPlusShape"
            one["Up"] = _variation(draw, seed, "up")
            one["Down"] = {"Symmetrize": True} if draw.random() < 0.5 else _variation(draw, seed, "down")
            if draw.random() < 0.6:
                one["Smoothing"] = {"Algorithm": "353QH, twice", **_names(draw, regions, "Regions")}
        if draw.random() < 0.2:
            one["ModifierName"] = f"modifier {i}"
        found.append(one)
    return found


def configuration(seed: int) -> dict:
    """The configuration, with the folder of its files as {folder} in InputPath and HistogramFolder."""
    draw = random.Random(seed)
    ntuples = inputs_of(seed) == "ntuples"
    regions = _regions(draw, seed)
    samples = [{"Name": "Data", "Data": True, "SamplePath": "Data" + ".root" * ntuples}]
    for name in SAMPLES[: draw.randint(1, 3)]:
        sample = {"Name": name, "SamplePath": name.replace(" ", "") + ".root" * ntuples}
        if ntuples and draw.random() < 0.8:
            sample["Weight"] = draw.choice(["w", "2*w", "1.25", "0.1"])
        if ntuples and draw.random() < 0.3:
            sample["Filter"] = "x + y > 20"
        if ntuples and draw.random() < 0.3:
            sample["SamplePath"] = [sample["SamplePath"], "Data.root"]
        if draw.random() < 0.2:
            sample["DisableStaterror"] = True
        samples.append(sample)
    for sample in samples if ntuples else ():
        sample["Tree"] = "events"
    names, places = [one["Name"] for one in samples[1:]], [one["Name"] for one in regions]
    general = {
        "Measurement": f"case {seed}",
        "POI": "mu",
        "HistogramFolder": "{folder}/templates",
        "InputPath": "{folder}/{RegionPath}/{SamplePath}"
        if ntuples
        else "{folder}/all.root:{RegionPath}/{SamplePath}/{VariationPath}",
    }
    if not ntuples:
        general["VariationPath"] = "nominal"
    factors = [{"Name": "mu", "Samples": names[0], "Nominal": 1, "Bounds": [0, 5]}]
    if draw.random() < 0.5:
        factors.append({"Name": "free", **_names(draw, names, "Samples"), **_names(draw, places, "Regions")})
    config = {"General": general, "Regions": regions, "Samples": samples, "NormFactors": factors}
    config["Systematics"] = _systematics(draw, seed, names, places)
    if draw.random() < 0.5:
        general["Fixed"] = [{"Name": factors[-1]["Name"], "Value": 1}, {"Name": "sys 0", "Value": 0.5}]
    return config


def _write_ntuples(folder: Path, seed: int) -> None:
    rng = np.random.RandomState(seed)
    for region in ("A", "B"):
        (folder / region).mkdir()
        for name in ("Data", *SAMPLES):
            with uproot.recreate(folder / region / f"{name.replace(' ', '')}.root") as file:
                for tree in ("events", "varied"):
                    count = 700
                    uniform = rng.random_sample((7, count))
                    arrays = {
                        "x": 40 * (uniform[0] + uniform[1] + uniform[2]),
                        "y": (130 * uniform[3]).astype(np.float32),
                        "w": uniform[4] - 0.05,
                        "up": (1 + 0.4 * uniform[0]).astype(np.float32),
                        "jets": (5 * uniform[5]).astype(np.int32),
                        "charge": np.where(uniform[6] < 0.5, -1, 1),
                    }
                    file.mktree(tree, {key: value.dtype for key, value in arrays.items()})
                    for part in (slice(0, 300), slice(300, count)):  # two baskets
                        file[tree].extend({key: value[part] for key, value in arrays.items()})


def _histogram(values: np.ndarray, variances: np.ndarray | None) -> object:
    flow = np.zeros(1)
    return to_TH1x(
        "h",
        "",
        np.concatenate((flow, values, flow)),
        len(values),
        *np.zeros(4),
        np.array([]) if variances is None else np.concatenate((flow, variances, flow)),
        to_TAxis("xaxis", "", len(values), 0.0, float(len(values))),
    )


def _write_histograms(folder: Path, seed: int) -> None:
    rng = np.random.RandomState(seed)
    with uproot.recreate(folder / "all.root") as file:
        for region in range(3):
            bins = (1, 5, 8, 12)[int(rng.random_sample() * 4)]
            for name in ("Data", *SAMPLES):
                base = 5 + 100 * rng.random_sample(bins)
                for variation in ("nominal", "up", "down"):
                    values = base * (1 + 0.3 * (rng.random_sample(bins) - 0.4) * (variation != "nominal"))
                    variances = values * rng.random_sample(bins) - (0.5 if name == "ttbar" else 0.0)
                    if name == "Data":
                        values, variances = np.floor(values), None
                    path = f"r{region}/{name.replace(' ', '')}/{variation}"
                    file[path] = _histogram(values, variances)


def write_case(seed: int, folder: Path) -> Path:
    """Writes the files of a case; returns the path of its config.yml."""
    write = _write_ntuples if inputs_of(seed) == "ntuples" else _write_histograms
    write(folder, seed)
    path = folder / "config.yml"
    text = yaml.safe_dump(configuration(seed), sort_keys=False)
    path.write_text(text.replace("{folder}", str(folder)))
    return path
