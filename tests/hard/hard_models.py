#!/usr/bin/env python3
"""Writes workspaces that no analysis has published: the same seed, the same workspace.

  tests/hard/hard_models.py ordinary -o FOLDER --n 100     what a usual analysis looks like
  tests/hard/hard_models.py hard -o FOLDER --seed 7 --n 1  what breaks fits, one trait or several at once

`generate(family, seed)` does the same in memory. Both families are legal in paritas and in pyhf, and small: a
fit takes less than 10 ms. Numbers have six digits: no rounding of a mathematical library shows.
FOLDER/index.json lists each file with its seed, its options for the command line, and its traits. Python's
standard library only."""

import argparse
import json
import math
import os
import random
from typing import NamedTuple, Optional

FAMILIES = ("ordinary", "hard")


class Generated(NamedTuple):
    """A workspace, the interpolation codes to read it with, and words on what is hard in it."""

    name: str
    workspace: dict
    codes: dict  # normsys_code, histosys_code; empty: the usual ones
    traits: list
    poi: Optional[str] = None  # None: the measurement's

    def options(self):
        """The codes and the parameter of interest as options of the program."""
        poi = ["--poi", self.poi] if self.poi else []
        return poi + [
            part for key, value in self.codes.items() for part in ("--" + key.replace("_", "-"), str(value))
        ]


class Draw:
    """Random numbers of a seed. Only random() of Python's generator, which never changes between versions."""

    def __init__(self, family, seed):
        self.random = random.Random(f"{family} {seed}").random

    def chance(self, probability):
        return self.random() < probability

    def uniform(self, low, high):
        return low + (high - low) * self.random()

    def powers(self, low, high):
        """Uniform in the logarithm, with exponents of ten."""
        return 10.0 ** self.uniform(low, high)

    def whole(self, low, high):
        """low ... high, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, *choices):
        return choices[int(self.random() * len(choices))]

    def sign(self):
        return self.pick(-1.0, 1.0)

    def normal(self):
        return math.sqrt(-2.0 * math.log(1.0 - self.random())) * math.cos(2.0 * math.pi * self.random())

    def poisson(self, mean):
        if mean > 50.0:
            return float(max(0, round(mean + math.sqrt(mean) * self.normal())))
        limit, product, n = math.exp(-max(mean, 0.0)), self.random(), 0
        while product > limit:
            product *= self.random()
            n += 1
        return float(n)


def short(value):
    return float(f"{value:.6g}") + 0.0  # -0.0 becomes 0.0


def shorten(values):
    return [short(value) for value in values]


def modifier(kind, name, data=None):
    return {"name": name, "type": kind, "data": data}


def normsys(name, up, down):
    return modifier("normsys", name, {"hi": short(up), "lo": short(down)})


def histosys(name, up, down):
    return modifier("histosys", name, {"hi_data": shorten(up), "lo_data": shorten(down)})


def sample(name, data, *modifiers):
    return {"name": name, "data": shorten(data), "modifiers": list(modifiers)}


def lumi_parameter(width):
    return {
        "name": "lumi",
        "auxdata": [1.0],
        "sigmas": [short(width)],
        "inits": [1.0],
        "bounds": [[short(1.0 - 5.0 * width), short(1.0 + 5.0 * width)]],
    }


def rates(samples, truth):
    """Expected rates of a channel. truth(kind, name): the value of a parameter, by bin for shapes.
    Interpolation is piecewise: data that are drawn need not follow the polynomials between."""
    total = [0.0] * len(samples[0]["data"])
    for one in samples:
        rate, factor = list(one["data"]), [1.0] * len(total)
        for change in one["modifiers"]:
            value, data = truth(change["type"], change["name"]), change["data"]
            for b, nominal in enumerate(one["data"]):
                if change["type"] == "histosys":
                    up = data["hi_data"][b] - nominal
                    rate[b] += value * (up if value > 0 else nominal - data["lo_data"][b])
                elif change["type"] == "normsys":
                    factor[b] *= data["hi"] ** value if value > 0 else data["lo"] ** -value
                elif change["type"] in ("normfactor", "lumi"):
                    factor[b] *= value
                elif nominal > 0:
                    width = data[b] / nominal if data else 0.3
                    factor[b] *= max(0.0, 1.0 + min(width, 1.0) * value[b])
        for b in range(len(total)):
            total[b] += rate[b] * factor[b]
    return total


def truths(draw, spread, factors):
    """truth() of rates(): standard normal deviates times `spread`, drawn when first asked for; normalisation
    factors by name, else 1."""
    known = {}

    def truth(kind, name):
        if kind == "normfactor":
            return factors.get(name, 1.0)
        if name not in known:
            one = kind in ("normsys", "histosys", "lumi")
            known[name] = draw.normal() if one else [spread * draw.normal() for _ in range(50)]
        if kind == "lumi":
            return 1.0 + 0.02 * spread * known[name]
        return spread * known[name] if kind in ("normsys", "histosys") else known[name]

    return truth


def workspace(channels, observed, parameters):
    return {
        "version": "1.0.0",
        "channels": channels,
        "observations": [{"name": c["name"], "data": n} for c, n in zip(channels, observed)],
        "measurements": [{"name": "measurement", "config": {"poi": "mu", "parameters": parameters}}],
    }


# ---- ordinary --------------------------------------------------------------------------------------------


def falling(draw, bins, total):
    """A background: flat to steeply falling."""
    slope = draw.uniform(0.0, 3.0)
    shape = [math.exp(-slope * b / bins) * (1.0 + 0.1 * draw.uniform(-1, 1)) for b in range(bins)]
    return [total * part / sum(shape) for part in shape]


def bump(draw, bins, total):
    """A signal: a peak, wide or narrow."""
    centre, width = draw.uniform(0, bins), draw.uniform(0.5, 0.5 + bins / 2)
    shape = [math.exp(-0.5 * ((b + 0.5 - centre) / width) ** 2) + 0.01 for b in range(bins)]
    return [total * part / sum(shape) for part in shape]


def ordinary_systematics(draw, data, names):
    """Some of the shared nuisance parameters, each as normsys, histosys or both."""
    found = []
    for name in names:
        if draw.chance(0.4):
            continue
        kind = draw.pick("normsys", "normsys", "histosys", "both")
        if kind != "histosys":
            size = draw.sign() * draw.uniform(0.01, 0.3)
            found.append(normsys(name, 1.0 + size, 1.0 / (1.0 + size) if draw.chance(0.5) else 1.0 - size))
        if kind != "normsys":
            size, skew = draw.uniform(0.01, 0.12), draw.uniform(0.8, 1.2)
            tilt = [
                size * math.cos(math.pi * b / max(1, len(data) - 1) + draw.uniform(-0.3, 0.3))
                for b in range(len(data))
            ]
            up = [n * (1.0 + t) for n, t in zip(data, tilt)]
            found.append(histosys(name, up, [n * (1.0 - skew * t) for n, t in zip(data, tilt)]))
    return found


def ordinary_channel(draw, number, bins, names, control):
    """Signal (in search regions) and backgrounds; control: the background that this region controls."""
    total = draw.powers(0.5, 4.0)
    samples = []
    for k in range(draw.whole(1, 4) if control is None else 2):
        part = draw.uniform(0.1, 1.0) if control is None else (0.9 if k == 0 else 0.1)
        data = falling(draw, bins, total * part)
        one = sample(f"background{k}", data, *ordinary_systematics(draw, data, names))
        if k == 0:
            one["modifiers"].append(
                modifier("normfactor", "k0") if control is not None else modifier("lumi", "lumi")
            )
        samples.append(one)
    background = sum(sum(one["data"]) for one in samples)
    if control is None:
        strength = draw.uniform(0.5, 4.0) * math.sqrt(background + 1.0)
        data = bump(draw, bins, strength)
        signal = sample(
            "signal", data, modifier("normfactor", "mu"), *ordinary_systematics(draw, data, names)
        )
        signal["modifiers"].append(modifier("lumi", "lumi"))
        samples.insert(0, signal)
    ordinary_statistics(draw, number, samples)
    return {"name": f"channel{number}", "samples": samples}


def ordinary_statistics(draw, number, samples):
    """Uncertainties of simulated samples: of all by staterror, or of one by shapesys, or none."""
    kind = draw.pick("staterror", "staterror", "shapesys", "none")
    for one in samples if kind == "staterror" else samples[-1:] if kind == "shapesys" else []:
        size = draw.powers(-2.3, -0.7) if kind == "staterror" else draw.uniform(0.05, 0.3)
        name = f"staterror_{number}" if kind == "staterror" else f"shape_{number}"
        widths = shorten(n * size * draw.uniform(0.7, 1.3) for n in one["data"])
        one["modifiers"].append(modifier(kind, name, widths))


def ordinary(seed):
    draw = Draw("ordinary", seed)
    names = [f"alpha{k}" for k in range(draw.whole(1, 6))]
    controlled = draw.chance(0.4)
    channels = [
        ordinary_channel(draw, c, draw.pick(1, 1, 2, 3, 5, 8, 12, 20), names, None)
        for c in range(draw.whole(1, 2))
    ]
    if controlled:
        channels.append(ordinary_channel(draw, len(channels), draw.whole(1, 5), names, 0))
        channels[0]["samples"][1]["modifiers"].append(modifier("normfactor", "k0"))
    factors = {"mu": draw.pick(0.0, 0.0, 0.0, 1.0, draw.uniform(0, 3)), "k0": draw.uniform(0.7, 1.4)}
    truth = truths(draw, 1.0, factors)
    observed = [[draw.poisson(rate) for rate in rates(c["samples"], truth)] for c in channels]
    bounds = draw.pick([0.0, 10.0], [0.0, 10.0], [-5.0, 10.0], [0.0, 100.0])
    parameters = [lumi_parameter(draw.uniform(0.01, 0.03)), {"name": "mu", "bounds": [bounds]}]
    return Generated(f"ordinary_{seed}", workspace(channels, observed, parameters), {}, [])


# ---- hard ------------------------------------------------------------------------------------------------


def has(one, name):
    return any(change["name"] == name for change in one["modifiers"])


class Hard:
    """One hard workspace in the making."""

    def __init__(self, seed):
        self.draw, self.traits = Draw("hard", seed), set()
        draw = self.draw
        self.names = [f"alpha{k}" for k in range(draw.whole(1, 4))]
        self.factors = [f"k{k}" for k in range(draw.pick(0, 0, 1, 2, 3))]
        self.size = draw.pick(0.3, 1.0, 3.0)  # most that a variation changes
        self.scale = draw.uniform(0, 3)  # of the rates, as exponent of ten
        if self.trait(0.1, "tiny rates"):
            self.scale = -4.0
        elif self.trait(0.1, "huge rates"):
            self.scale = 7.0
        self.one_side = draw.pick(
            0.0, 0.0, 0.3
        )  # part of the variations that go to the same side up and down
        self.empty = draw.pick(0.0, 0.0, 0.1, 0.4)  # part of the bins of a sample that are empty
        self.channels = [self.channel(c) for c in range(draw.pick(1, 1, 2, 3))]
        self.unusual_signal()

    def trait(self, probability, word):
        found = self.draw.chance(probability)
        if found:
            self.traits.add(word)
        return found

    def template(self, bins, may_be_empty):
        draw = self.draw
        scale = self.scale + draw.normal() * 0.7
        if self.trait(0.08, "rates of all sizes"):
            scale = draw.uniform(-6.0, 9.0)
        data = [10.0 ** min(9.0, max(-6.0, scale + 0.3 * draw.normal())) for _ in range(bins)]
        if may_be_empty and self.empty and draw.chance(0.5):
            self.traits.add("empty bins")
            data = [0.0 if draw.chance(self.empty) else n for n in data]
        return data

    def interference(self, templates):
        """A template below zero in some bins, down to minus twice the sum of the others."""
        draw = self.draw
        part, deep = draw.pick(0.3, 1.0), draw.pick(0.5, 1.0, 1.5, 2.0)
        return [
            sum(column) * (-deep * draw.random() if draw.chance(part) else 0.1 * draw.random())
            for column in zip(*templates)
        ]

    def variation(self):
        """Relative changes up and down."""
        draw = self.draw
        up = draw.sign() * self.size * draw.random()
        down = -up * draw.powers(-0.5, 0.5)
        if draw.chance(self.one_side):
            self.traits.add("variations to one side")
            down = -down
        most = max(3.0, abs(up))
        return up, max(-most, min(most, down))

    def systematics(self, data):
        found = []
        for name in self.names:
            kind = self.draw.pick("none", "normsys", "histosys", "both")
            if kind in ("normsys", "both"):
                up, down = (1.0 + x if x > 0 else 1.0 / (1.0 - x) for x in self.variation())
                found.append(normsys(name, up, down))
            if kind in ("histosys", "both"):
                pairs = [self.variation() for _ in data]
                up, down = ([n * (1.0 + pair[side]) for n, pair in zip(data, pairs)] for side in (0, 1))
                if 0.0 in data and self.trait(0.15, "variations of empty bins"):
                    up = [u if n else abs(self.draw.normal()) * max(data) for u, n in zip(up, data)]
                found.append(histosys(name, up, down))
        return found

    def shapesys(self, name, data):
        draw = self.draw
        low, high, word = draw.pick(
            (-1.5, -0.3, ""), (-6.0, -3.0, "tiny shapesys"), (0.0, 1.3, "huge shapesys")
        )
        self.traits.update([word] if word else [])
        return modifier("shapesys", name, shorten(abs(n) * draw.powers(low, high) for n in data))

    def channel(self, number):
        """The last sample but interference is a background: mu does not scale it, and it is seldom empty."""
        draw = self.draw
        bins, n = draw.pick(1, 2, 2, 3, 4, 6), draw.pick(1, 2, 2, 3) + (number == 0)
        templates = [self.template(bins, k < n - 1 or draw.chance(0.2)) for k in range(n)]
        if self.trait(0.12, "negative templates"):
            templates.append(self.interference(templates))
        samples = []
        for k, data in enumerate(templates):
            one = sample(f"s{k}", data, *self.systematics(data))
            if draw.chance(0.25):
                one["modifiers"].append(self.shapesys(f"shape_{number}_{k}", data))
            if draw.chance(0.2):
                one["modifiers"].append(modifier("lumi", "lumi"))
            if self.factors and draw.chance(0.5):
                one["modifiers"].append(modifier("normfactor", draw.pick(*self.factors)))
            if number == k == 0 or (k != n - 1 and draw.chance(0.3)):
                one["modifiers"].append(modifier("normfactor", "mu"))
            samples.append(one)
        if draw.chance(0.3):
            self.staterror(f"staterror_{number}", samples)
        if self.trait(0.03, "shapefactor"):
            samples[0]["modifiers"].append(modifier("shapefactor", f"free_{number}"))
        return {"name": f"c{number}", "samples": samples}

    def staterror(self, name, samples):
        size = self.draw.powers(-3.0, 0.3)
        for one in samples:
            widths = shorten(abs(n) * size * self.draw.uniform(0.5, 1.5) for n in one["data"])
            one["modifiers"].append(modifier("staterror", name, widths))

    def unusual_signal(self):
        """mu is degenerate with another factor, does nothing, or scales all there is."""
        everything = [one for channel in self.channels for one in channel["samples"]]
        scaled = [one for one in everything if has(one, "mu")]
        if self.trait(0.05, "degenerate factors"):
            self.factors = self.factors or ["k0"]
            for one in scaled:
                if not has(one, self.factors[0]):
                    one["modifiers"].append(modifier("normfactor", self.factors[0]))
        elif self.trait(0.03, "a parameter of interest that does nothing"):
            for one in scaled:
                zero = [0.0] * len(one["data"])
                stays = [modifier("normfactor", "mu")]
                for change in one["modifiers"]:
                    if change["type"] == "staterror":  # all samples of a channel have it, or the same ones
                        stays.append(modifier("staterror", change["name"], zero))
                one.update(data=zero, modifiers=stays)
        elif self.trait(0.02, "all is signal"):
            for one in everything:
                if one not in scaled:
                    one["modifiers"].append(modifier("normfactor", "mu"))

    def observed(self):
        draw = self.draw
        factors = {name: draw.uniform(0.3, 3.0) for name in self.factors}
        truth = truths(
            draw, draw.pick(0.0, 0.3, 1.0), {**factors, "mu": draw.pick(0.0, 1.0, draw.uniform(0, 3))}
        )
        kind = draw.pick("drawn", "drawn", "drawn", "drawn", "expected", "far", "far by bin", "zero")
        if kind != "drawn":
            self.traits.add("data: " + kind)
        found = []
        for channel in self.channels:
            means = [max(0.0, rate) for rate in rates(channel["samples"], truth)]
            if kind == "far":
                factor = draw.powers(-1.5, 1.5)
                means = [mean * factor for mean in means]
            elif kind == "far by bin":
                means = [mean * draw.powers(-1.0, 1.0) for mean in means]
            elif kind == "zero":
                means = [0.0] * len(means)
            found.append(shorten(means if kind == "expected" else map(draw.poisson, means)))
        return found

    def parameters(self):
        draw = self.draw
        found = [lumi_parameter(draw.pick(0.01, 0.05, 0.19))]
        for name in ["mu", *self.factors]:
            bounds = draw.pick([0.0, 10.0], [0.0, 10.0], [0.0, 1.5], [-5.0, 10.0], [0.0, 1000.0])
            found.append({"name": name, "bounds": [bounds], "inits": [draw.pick(1.0, 1.0, 0.5)]})
        used = {change["name"] for c in self.channels for one in c["samples"] for change in one["modifiers"]}
        if self.names[-1] in used and self.trait(0.05, "fixed nuisance parameter"):
            found.append({"name": self.names[-1], "fixed": True})
        return [one for one in found if one["name"] in used]

    def codes(self):
        """Interpolation codes other than pyhf's default ones, in one model of ten."""
        if not self.draw.chance(0.1):
            return {}
        found = {"normsys_code": self.draw.pick(1, 4), "histosys_code": self.draw.pick("0", "0", "2", "4p")}
        self.traits.add(f"codes {found['normsys_code']} and {found['histosys_code']}")
        return found


def hard(seed):
    made = Hard(seed)
    document = workspace(made.channels, made.observed(), made.parameters())
    return Generated(f"hard_{seed}", document, made.codes(), sorted(made.traits))


def generate(family, seed):
    """The workspace of a seed."""
    return {"ordinary": ordinary, "hard": hard}[family](seed)


def write(folder, made):
    """Path of the file."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, made.name + ".json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(made.workspace, out)
        out.write("\n")
    return path


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others count on")
    parser.add_argument("--n", type=int, default=1, help="how many")
    parser.add_argument("-o", "--folder", required=True)
    arguments = parser.parse_args()
    index = []
    for seed in range(arguments.seed, arguments.seed + arguments.n):
        made = generate(arguments.family, seed)
        path = write(arguments.folder, made)
        entry = {
            "file": os.path.basename(path),
            "seed": seed,
            "options": made.options(),
            "traits": made.traits,
        }
        index.append(entry)
    with open(os.path.join(arguments.folder, "index.json"), "w", encoding="utf-8") as out:
        json.dump(index, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
