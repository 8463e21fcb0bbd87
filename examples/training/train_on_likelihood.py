"""Trains a small network on the full likelihood of an analysis, and compares it with cross-entropy.

    python train_on_likelihood.py [--seed 1] [--figure training.svg]

Everything is made here: simulated events with four observables, a workspace of some seventy parameters, and
both trainings. It needs jax, and matplotlib for the figure.

    events ─► network ─► histogram of its output ─► templates, variations, MC uncertainties ─► expected Z
                                                                                          ◄─ gradient

Cross-entropy separates signal from background. It knows neither the uncertainties, nor the bins, nor how few
simulated events a bin may have; the likelihood knows them all. The observable that separates best is also the
one whose scale is known worst. Both networks have the same layers and events; the second training starts
where the first ended. Z is from independent events, in usual histograms."""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import paritas.jax

jax.config.update("jax_enable_x64", True)

BINS = 8
EQUAL = jnp.linspace(0.0, 1.0, BINS + 1)[1:-1]
#: expected events of each sample in the search region
YIELDS = {"signal": 60.0, "diboson": 500.0, "fakes": 250.0, "top": 1200.0}
BACKGROUNDS = [name for name in YIELDS if name != "signal"]
MEANS = {
    "signal": [1.4, 0.9, 0.6, 0.4],
    "diboson": [-0.1, 0.2, -0.2, 0.2],
    "fakes": [-0.4, 0.3, 0.2, -0.4],
    "top": [0.0, 0.0, 0.0, 0.0],
}
#: what one standard deviation of a shape uncertainty adds to the observables of an event of a background
SHIFTS = {
    "scale": [0.5, 0.0, 0.0, 0.0],
    "calibration": [0.0, 0.06, 0.0, 0.0],
    "tagging": [0.0, 0.0, 0.05, 0.05],
}
#: rate uncertainties a sample has: theory, luminosity, efficiencies
RATE_UNCERTAINTIES = 14


def simulate(seed, events):
    """Observables (events, 4) of each sample."""
    draw = np.random.default_rng(seed)
    return {name: jnp.asarray(draw.normal(mean, 1.0, (events, 4))) for name, mean in MEANS.items()}


def workspace():
    """The analysis. Its shapes are placeholders: the training brings its own with each step."""
    draw = np.random.default_rng(5)

    def rates(sample):
        effects = draw.uniform(0.01, 0.06, (RATE_UNCERTAINTIES, 2))
        return [
            {"name": f"{sample}_{i}", "type": "normsys", "data": {"hi": 1.0 + up, "lo": 1.0 - down}}
            for i, (up, down) in enumerate(effects)
        ]

    def search(sample, number):
        flat = [number / BINS] * BINS
        shapes = [
            {"name": f"{name}_{sample}", "type": "histosys", "data": {"hi_data": flat, "lo_data": flat}}
            for name in SHIFTS
        ]
        free = {"signal": ["mu"], "top": ["top_norm"]}.get(sample, [])
        return {
            "name": sample,
            "data": flat,
            "modifiers": [
                *[{"name": name, "type": "normfactor", "data": None} for name in free],
                *rates(sample),
                *(shapes if sample != "signal" else []),
                {"name": "mc", "type": "staterror", "data": [0.05 * x for x in flat]},
            ],
        }

    control = {
        "name": "top",
        "data": [900.0],
        "modifiers": [
            {"name": "top_norm", "type": "normfactor", "data": None},
            {"name": "control_efficiency", "type": "normsys", "data": {"hi": 1.04, "lo": 0.96}},
        ],
    }
    total = sum(YIELDS.values())
    return {
        "channels": [
            {"name": "control", "samples": [control]},
            {"name": "search", "samples": [search(*one) for one in YIELDS.items()]},
        ],
        "observations": [
            {"name": "control", "data": [900.0]},
            {"name": "search", "data": [total / BINS] * BINS},
        ],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def new_network(seed, hidden=16):
    draw = np.random.default_rng(seed)
    sizes = [(4, hidden), (hidden, hidden), (hidden, 1)]
    return [(jnp.asarray(draw.normal(0.0, n**-0.5, (n, m))), jnp.zeros(m)) for n, m in sizes]


def logit(network, x):
    *hidden, (weights, bias) = network
    for w, b in hidden:
        x = jnp.tanh(x @ w + b)
    return (x @ weights + bias)[..., 0]


def histogram(network, events, number, inner, bandwidth):
    """Contents of the output's bins and their MC uncertainties. inner: edges without the outermost. bandwidth
    None: a usual histogram."""
    output, weight = jax.nn.sigmoid(logit(network, events)), number / len(events)
    edges = jnp.concatenate([jnp.array([-jnp.inf]), inner, jnp.array([jnp.inf])])
    if bandwidth is None:
        counts = jnp.histogram(output, edges)[0]
        values, variances = weight * counts, weight**2 * counts
    else:
        values, variances = paritas.jax.soft_histogram(
            output, edges, bandwidth, jnp.full(len(events), weight)
        )
    # an empty bin would have no uncertainty: a thousandth of an event stands in it
    return values + 1e-3, jnp.sqrt(variances + weight**2)


def arguments(session, network, events, inner=EQUAL, bandwidth=None):
    """What the session takes: all templates of this network."""
    made = {
        name: histogram(network, events[name], number, inner, bandwidth) for name, number in YIELDS.items()
    }
    moved = {
        (sign, name, sample): histogram(
            network, events[sample] + sign * jnp.array(shift), YIELDS[sample], inner, bandwidth
        )[0]
        for name, shift in SHIFTS.items()
        for sample in BACKGROUNDS
        for sign in (1.0, -1.0)
    }

    def variations(sign):
        places = session.arguments["variations_up"]
        return jnp.concatenate([moved[sign, name.rsplit("_", 1)[0], sample] for _, sample, name in places])

    return {
        "signal": made["signal"][0],
        "background": jnp.concatenate([made[sample][0] for _, sample in session.arguments["background"]]),
        "variations": (variations(1.0), variations(-1.0)),
        "uncertainties": jnp.concatenate(
            [made[sample][1] for _, sample, _ in session.arguments["uncertainties"]]
        ),
        "data": jnp.concatenate([jnp.array([900.0]), sum(values for values, _ in made.values())]),
    }


def make_session():
    return paritas.jax.Session(
        workspace(),
        signal=("search", "signal"),
        background=[("search", name) for name in BACKGROUNDS],
        variations=[f"{name}_{sample}" for name in SHIFTS for sample in BACKGROUNDS],
        uncertainties="mc",
        threads=1,
    )


def cross_entropy(network, events):
    """Signal against backgrounds in their expected mixture."""
    total = sum(YIELDS[name] for name in BACKGROUNDS)
    loss = jnp.mean(jax.nn.softplus(-logit(network, events["signal"])))
    for name in BACKGROUNDS:
        loss += YIELDS[name] / total * jnp.mean(jax.nn.softplus(logit(network, events[name])))
    return loss


def equal_signal(network, events):
    """Edges between which the signal is flat: the other usual binning."""
    output = jax.nn.sigmoid(logit(network, events["signal"]))
    return jnp.quantile(output, jnp.linspace(0.0, 1.0, BINS + 1)[1:-1])


def trained(network, loss, steps, rate, z):
    """Adam. Returns the network of the largest z(network) met, and (step, z) every ten steps."""
    step_of = jax.jit(jax.value_and_grad(loss))
    first = second = jax.tree.map(jnp.zeros_like, network)
    best, seen = network, [(0, float(z(network)))]
    for step in range(1, steps + 1):
        _, slopes = step_of(network)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, slopes)
        a, b = rate / (1.0 - 0.9**step), 1.0 - 0.99**step
        network = jax.tree.map(lambda w, m, v: w - a * m / (jnp.sqrt(v / b) + 1e-8), network, first, second)
        if step % 10 == 0:
            seen.append((step, float(z(network))))
            if seen[-1][1] == max(found for _, found in seen):
                best = network
    return best, seen


def compare(steps=(200, 100), events=4000, seed=1):
    """Both trainings. Networks are chosen by Z of one independent set of events, and compared by another. Z
    has the better of two binnings."""
    session = make_session()
    training = simulate(seed, events)
    chosen_by, test = (simulate(seed + i, 4 * events) for i in (1, 2))

    @jax.jit
    def of_binning(network, events, inner):
        return session.expected_significance(**arguments(session, network, events, inner))

    def significance(network, events):
        return max(
            float(of_binning(network, events, inner)) for inner in (EQUAL, equal_signal(network, training))
        )

    def entropy(network):
        return cross_entropy(network, training)

    def minus_z(network):
        return -session.expected_significance(**arguments(session, network, training, EQUAL, 0.03))

    def z(network):
        return significance(network, chosen_by)

    separated, history = trained(new_network(seed), entropy, steps[0], 0.01, z)
    profiled, learnt = trained(separated, minus_z, steps[1], 0.004, z)
    networks = {"cross-entropy": separated, "likelihood": profiled}
    return {
        "session": session,
        "test": test,
        "networks": networks,
        "history": {"cross-entropy": history, "likelihood": learnt},
        "Z": {name: significance(network, test) for name, network in networks.items()},
    }


def draw(found):
    """Z while training; signal and background in the bins of both networks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    first, edges = 0, np.linspace(0.0, 1.0, BINS + 1)
    for name, colour in (("cross-entropy", "tab:gray"), ("likelihood", "tab:blue")):
        steps, z = zip(*found["history"][name])
        left.plot([first + step for step in steps], z, color=colour, label=f"trained on {name}")
        first += steps[-1]
        made = {
            sample: histogram(found["networks"][name], found["test"][sample], number, EQUAL, None)[0]
            for sample, number in YIELDS.items()
        }
        right.stairs(sum(made[sample] for sample in BACKGROUNDS), edges, color=colour, baseline=None, lw=2)
        right.stairs(made["signal"], edges, color=colour, baseline=None, lw=2, ls="--")
    left.set_xlabel("step")
    left.set_ylabel("expected Z")
    left.legend(frameon=False)
    for label, style in (("background", "-"), ("signal", "--")):
        right.plot([], [], color="black", ls=style, label=label)
    right.set_yscale("log")
    right.set_xlabel("output of the network")
    right.set_ylabel("events in a bin")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", metavar="FILE")
    given = parser.parse_args()
    found = compare(seed=given.seed)
    print(f"{found['session'].model.parameter_count} parameters")
    for name, z in found["Z"].items():
        print(f"trained on {name:13} expected Z = {z:.2f}")
    if given.figure:
        draw(found).savefig(given.figure)


if __name__ == "__main__":
    main()
