"""Random HistFactory workspaces with every modifier and the edge cases of pyhf's semantics.

    for name, document in workspaces(300, seed=1): ...

pyhf 0.7.6 accepts every document, and (n, seed) gives the same documents on every machine. Near the
suggested start rates are positive, so that a likelihood exists there, except in bins that are dead in all
samples and for negative rates that a trait asks for. Needs the standard library only.
"""

import random

TRAITS = (
    "dead_bins",  # bins with zero rate or zero uncertainty
    "negative",  # negative rates in one sample
    "shared_shapefactor",  # one shapefactor in channels of different lengths
    "wide_staterror",  # one staterror set over several channels
    "lumi",
    "overrides",  # the measurement changes inits, bounds, fixed, auxdata, sigmas, factors
    "single_bin",  # channels of one bin
    "leftovers",  # an observation and a configuration of nothing
    "no_poi",
    "unsorted",  # names whose order in the file is not the order of the model
    "fractions",  # observed counts that are no integers, and zeros
)


class _Draw:
    """The random numbers of one workspace."""

    def __init__(self, rng, traits):
        self.rng = rng
        self.traits = traits
        self.parameters = {}

    def has(self, trait):
        return trait in self.traits

    def number(self, low, high, digits=4):
        return round(self.rng.uniform(low, high), digits)

    def rates(self, n_bins, low, high):
        data = [self.number(low, high) for _ in range(n_bins)]
        if self.has("dead_bins") and self.rng.random() < 0.4:
            data[self.rng.randrange(n_bins)] = 0.0
        return data

    def uncertainties(self, data):
        out = [round(abs(value) * self.rng.uniform(0.02, 0.3), 5) for value in data]
        if self.has("dead_bins") and self.rng.random() < 0.4:
            out[self.rng.randrange(len(out))] = 0.0
        return out

    def histosys(self, name, data):
        spread = self.rng.choice([0.0, 0.05, 0.2])
        hi = [round(value * (1 + self.rng.uniform(-spread, spread)), 5) for value in data]
        lo = [round(value * (1 + self.rng.uniform(-spread, spread)), 5) for value in data]
        if self.rng.random() < 0.15:
            hi, lo = list(data), list(data)
        return {"name": name, "type": "histosys", "data": {"hi_data": hi, "lo_data": lo}}

    def normsys(self, name):
        hi, lo = self.number(0.8, 1.3), self.number(0.75, 1.2)
        if self.rng.random() < 0.2:
            hi, lo = 1 + abs(hi - 1), 1 - abs(hi - 1) if hi != 1 else 1.0
        return {"name": name, "type": "normsys", "data": {"hi": round(hi, 4), "lo": round(lo, 4)}}


def _modifiers(draw, channel, sample_index, sample, data, alphas):
    rng, out = draw.rng, []
    if sample_index == 0:
        out.append({"name": "mu", "type": "normfactor", "data": None})
    for name, kinds in alphas:
        if rng.random() < 0.55:
            if "n" in kinds:
                out.append(draw.normsys(name))
            if "h" in kinds:
                out.append(draw.histosys(name, data))
    if sample_index > 0 and rng.random() < 0.25:
        out.append({"name": "norm_" + sample, "type": "normfactor", "data": None})
    if draw.has("lumi") and rng.random() < 0.6:
        out.append({"name": "lumi", "type": "lumi", "data": None})
    if rng.random() < 0.3:
        out.append(
            {"name": f"gamma_{channel}_{sample}", "type": "shapesys", "data": draw.uncertainties(data)}
        )
    if rng.random() < 0.08:
        out.append({"name": f"free_{channel}_{sample}", "type": "shapefactor", "data": None})
    rng.shuffle(out)
    return out


def _staterrors(draw, channels):
    """Adds staterror sets: one for each channel, or one over several. A set is on the same samples in all its
    channels."""
    rng = draw.rng
    if draw.has("wide_staterror"):
        touched = rng.sample(channels, rng.randint(1, len(channels)))
        everywhere = set.intersection(*({s["name"] for s in c["samples"]} for c in touched))
        everywhere = sorted(everywhere)  # sets have another order in every run
        carriers = [name for name in everywhere if rng.random() < 0.7] or everywhere[:1]
        groups = [("stat_all", touched, carriers)] if carriers else []
        groups += [
            ("stat_" + c["name"], [c], [s["name"] for s in c["samples"]])
            for c in channels
            if c not in touched
        ]
    else:
        groups = [
            ("stat_" + c["name"], [c], [s["name"] for s in c["samples"] if rng.random() < 0.8])
            for c in channels
            if rng.random() < 0.7
        ]
    for name, touched, carriers in groups:
        for channel in touched:
            for sample in channel["samples"]:
                if sample["name"] in carriers:
                    modifier = {"name": name, "type": "staterror", "data": draw.uncertainties(sample["data"])}
                    sample["modifiers"].insert(rng.randint(0, len(sample["modifiers"])), modifier)


def _sizes(channels):
    """name -> (type, number of parameters) of every set, as pyhf counts."""
    sets, seen = {}, set()
    for channel in sorted(channels, key=lambda c: c["name"]):
        for sample in channel["samples"]:
            for modifier in sample["modifiers"]:
                name, kind, n = modifier["name"], modifier["type"], len(sample["data"])
                if kind == "staterror":
                    if (name, channel["name"]) not in seen:
                        seen.add((name, channel["name"]))
                        sets[name] = (kind, sets.get(name, (kind, 0))[1] + n)
                elif name not in sets:
                    sets[name] = (kind, n if kind in ("shapesys", "shapefactor") else 1)
    return sets


def _overrides(draw, channels):
    rng, configs = draw.rng, []
    for name, (kind, size) in sorted(_sizes(channels).items()):
        if kind == "lumi" or rng.random() > 0.35:
            continue
        config, alpha = {"name": name}, kind in ("normsys", "histosys")
        if rng.random() < 0.6:
            config["inits"] = [
                draw.number(-0.5, 0.5) if alpha else draw.number(0.7, 1.3) for _ in range(size)
            ]
        if rng.random() < 0.6:
            config["bounds"] = [
                [-3.0, 4.0] if alpha else [0.05 if kind != "normfactor" else 0, draw.number(5, 20, 1)]
                for _ in range(size)
            ]
        if rng.random() < 0.25 and name != "mu":
            config["fixed"] = rng.random() < 0.7
        if rng.random() < 0.4:
            if alpha:
                config["auxdata"] = [draw.number(-0.5, 0.5)]
            elif kind == "staterror":
                config["auxdata"] = [draw.number(0.9, 1.1) for _ in range(size)]
                config["sigmas"] = [draw.number(0.02, 0.2) for _ in range(size)]
            elif kind == "shapesys":
                config["auxdata"] = [draw.number(5, 200) for _ in range(size)]
                if rng.random() < 0.5:
                    config["factors"] = [draw.number(5, 200) for _ in range(size)]
        configs.append(config)
    return configs


def _shared_shapefactor(draw, channels):
    """Adds one shapefactor over channels of different lengths. pyhf needs the longest first in the model's
    order."""
    first = min(channels, key=lambda c: c["name"])
    length = len(first["samples"][0]["data"])
    for channel in channels:
        if channel is first or (len(channel["samples"][0]["data"]) <= length and draw.rng.random() < 0.7):
            draw.rng.choice(channel["samples"])["modifiers"].append(
                {"name": "shape_shared", "type": "shapefactor", "data": None}
            )


def _observations(draw, channels):
    out = []
    for channel in channels:
        totals = [max(0.0, sum(values)) for values in zip(*(s["data"] for s in channel["samples"]))]
        data = [max(0.0, round(draw.rng.gauss(total, total**0.5))) for total in totals]
        if draw.has("fractions"):
            data = [
                round(value + draw.rng.random(), 3) if total > 0 and draw.rng.random() < 0.5 else value
                for value, total in zip(data, totals)
            ]
        out.append({"name": channel["name"], "data": [float(value) for value in data]})
    draw.rng.shuffle(out)
    return out


def _channel(draw, channel, sample_names, alphas):
    rng = draw.rng
    n_bins = 1 if draw.has("single_bin") else rng.randint(1, 6)
    present = [name for name in sample_names if rng.random() < 0.85] or sample_names[:1]
    if not draw.has("unsorted"):
        present.sort()
    samples = []
    for name in present:
        index = sample_names.index(name)
        signal = index == 0 and len(present) > 1
        data = draw.rates(n_bins, 1, 15) if signal else draw.rates(n_bins, 20, 120)
        modifiers = _modifiers(draw, channel, index, name, data, alphas)
        samples.append({"name": name, "data": data, "modifiers": modifiers})
    return {"name": channel, "samples": samples}


def _lumi(draw):
    """The configuration of the luminosity."""
    return {
        "name": "lumi",
        "inits": [1.0],
        "bounds": [[0.5, 1.5]],
        "auxdata": [1.0],
        "sigmas": [draw.number(0.01, 0.05)],
        "fixed": draw.rng.random() < 0.2,
    }


def _workspace(rng, traits):
    draw = _Draw(rng, traits)
    names = ["SR", "CR", "VR", "a_channel", "Z", "aa"]
    channel_names = (
        rng.sample(names, rng.randint(1, 3))
        if draw.has("unsorted")
        else sorted(rng.sample(names, rng.randint(1, 3)))
    )
    sample_names = rng.sample(["signal", "ttbar", "Wjets", "other", "fakes"], rng.randint(1, 4))
    kinds = ["n", "h", "nh"]
    alphas = [
        (f"{prefix}_{i}", rng.choice(kinds))
        for i, prefix in enumerate(rng.choices(["JES", "btag", "pdf", "A", "theory"], k=rng.randint(0, 6)))
    ]
    channels = [_channel(draw, name, sample_names, alphas) for name in channel_names]
    if not any(m["name"] == "mu" for c in channels for s in c["samples"] for m in s["modifiers"]):
        channels[0]["samples"][0]["modifiers"].append({"name": "mu", "type": "normfactor", "data": None})
    if draw.has("negative"):
        samples = rng.choice(channels)["samples"]
        if len(samples) > 1:
            data = rng.choice(samples[:-1])["data"]
            data[rng.randrange(len(data))] = -draw.number(0.01, 2.0)
    _staterrors(draw, channels)
    if draw.has("shared_shapefactor"):
        _shared_shapefactor(draw, channels)
    configs = _overrides(draw, channels) if draw.has("overrides") else []
    if any(m["type"] == "lumi" for c in channels for s in c["samples"] for m in s["modifiers"]):
        configs.append(_lumi(draw))
    rng.shuffle(configs)
    observations, poi = _observations(draw, channels), "mu"
    if draw.has("leftovers"):
        observations.append({"name": "dropped", "data": [1.0, 2.0]})
        configs.append({"name": "dropped", "inits": [1.0], "bounds": [[0.0, 5.0]]})
    if draw.has("no_poi"):
        poi = ""
    return {
        "channels": channels,
        "observations": observations,
        "measurements": [{"name": "fit", "config": {"poi": poi, "parameters": configs}}],
        "version": "1.0.0",
    }


def workspaces(n, seed=1):
    """n pairs (name, document). The name lists the traits."""
    for i in range(n):
        rng = random.Random(seed * 1_000_003 + i)
        traits = {trait for trait in TRAITS if rng.random() < 0.3}
        traits.add(TRAITS[i % len(TRAITS)])
        yield f"{i:04d}-" + "-".join(sorted(traits)), _workspace(rng, traits)
