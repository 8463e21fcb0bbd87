"""Small workspaces whose likelihoods often have several minima: variations that are large, to one side, or
take bins to nearly nothing; few or no counts; signals below zero; all interpolation codes."""

import hard_models as hm


def variation(draw):
    """Relative changes up and down; the same sign for one in three."""
    up = draw.sign() * draw.pick(0.3, 0.6, 0.95, 1.5, 3.0) * draw.uniform(0.5, 1.0)
    down = draw.pick(-1.0, -1.0, 1.0) * up * draw.uniform(0.3, 1.2)
    return max(up, -0.98), max(down, -0.98)


def systematics(draw, names, data):
    found = []
    for name in names:
        kind = draw.pick("none", "normsys", "histosys", "histosys", "both")
        if kind in ("normsys", "both"):
            up, down = variation(draw)
            found.append(hm.normsys(name, 1.0 + up, 1.0 + down))
        if kind in ("histosys", "both"):
            pairs = [variation(draw) for _ in data]
            up, down = ([n * (1.0 + pair[side]) for n, pair in zip(data, pairs)] for side in (0, 1))
            found.append(hm.histosys(name, up, down))
    return found


def statistics(draw, name, samples):
    kind = draw.pick("none", "none", "staterror", "shapesys", "shapefactor")
    for one in samples if kind == "staterror" else samples[-1:]:
        size = draw.uniform(0.05, 0.6)
        widths = hm.shorten(abs(n) * size for n in one["data"])
        if kind in ("staterror", "shapesys"):
            one["modifiers"].append(hm.modifier(kind, f"{kind}_{name}", widths))
    if kind == "shapefactor" and draw.chance(0.3):
        samples[-1]["modifiers"].append(hm.modifier(kind, f"free_{name}"))


def channel(draw, name, names, factor):
    bins, scale = draw.pick(1, 2, 3, 4), draw.powers(0.0, 2.3)
    samples = []
    for k in range(draw.pick(1, 2, 2)):
        data = [scale * draw.powers(-0.5, 0.5) for _ in range(bins)]
        one = hm.sample(f"background{k}", data, *systematics(draw, names, data))
        if factor and draw.chance(0.4):
            one["modifiers"].append(hm.modifier("normfactor", factor))
        samples.append(one)
    total = [sum(column) for column in zip(*(one["data"] for one in samples))]
    negative = draw.chance(0.15)
    data = [(-0.5 if negative and draw.chance(0.5) else 1.0) * n * draw.powers(-1.2, 0.2) for n in total]
    signal = hm.sample("signal", data, *systematics(draw, names, data))
    signal["modifiers"].append(hm.modifier("normfactor", "mu"))
    samples.insert(0, signal)
    statistics(draw, name, samples)
    return {"name": name, "samples": samples}


def several(seed):
    draw = hm.Draw("several", seed)
    names = [f"alpha{k}" for k in range(draw.whole(1, 3))]
    factor = draw.pick(None, None, "k0")
    channels = [channel(draw, f"c{c}", names, factor) for c in range(draw.pick(1, 1, 2))]
    truth = hm.truths(
        draw, draw.pick(0.5, 1.0, 1.5), {"mu": draw.pick(0.0, 1.0, draw.uniform(0, 3)), "k0": 1.0}
    )
    far = draw.pick(0.0, 0.0, 0.3, 0.6)
    means = [
        [max(0.0, rate) * draw.powers(-far, far) for rate in hm.rates(c["samples"], truth)] for c in channels
    ]
    if draw.chance(0.05):
        means = [[0.0 for _ in row] for row in means]
    observed = [hm.shorten(map(draw.poisson, row)) for row in means]
    bounds = draw.pick([0.0, 10.0], [0.0, 10.0], [-5.0, 10.0], [0.0, 50.0])
    parameters = [{"name": "mu", "bounds": [bounds], "inits": [1.0]}]
    used = {change["name"] for c in channels for one in c["samples"] for change in one["modifiers"]}
    if factor in used:
        parameters.append({"name": factor, "bounds": [draw.pick([0.0, 10.0], [0.0, 3.0])], "inits": [1.0]})
    codes = {}
    if draw.chance(0.2):
        codes = {"normsys_code": draw.pick(0, 1, 4), "histosys_code": draw.pick("0", "2", "4p")}
    document = hm.workspace(channels, observed, parameters)
    return hm.Generated(f"several_{seed}", document, codes, [f"{key} {code}" for key, code in codes.items()])
