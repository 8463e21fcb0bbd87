#!/usr/bin/env python3
"""Costs of differentiable statistics in PyTorch and JAX: differentiable.py [WORKSPACE, by default that of tHu
in ../shared/workspaces]

Of each the least and the median time of the processor over rounds, on one thread, so that a busy machine
matters little; with what PyTorch itself needs for a function that does nothing. Beside it what was published
elsewhere, where there is such a number. Models: one of 8 parameters, made here, and a real analysis of
184."""

import json
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
BATCH = 64

import numpy as np

import paritas

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None


def small():
    """Eight parameters: signal strength, two normalisations, a shape, an efficiency, three statistical
    errors."""
    mu = {"name": "mu", "type": "normfactor", "data": None}
    return {
        "channels": [
            {
                "name": "search",
                "samples": [
                    {
                        "name": "signal",
                        "data": [4.0, 9.0, 6.0],
                        "modifiers": [
                            mu,
                            {"name": "efficiency", "type": "normsys", "data": {"hi": 1.1, "lo": 0.92}},
                        ],
                    },
                    {
                        "name": "background",
                        "data": [50.0, 61.0, 40.0],
                        "modifiers": [
                            {"name": "scale", "type": "normsys", "data": {"hi": 1.07, "lo": 0.94}},
                            {"name": "theory", "type": "normsys", "data": {"hi": 1.03, "lo": 0.98}},
                            {
                                "name": "shape",
                                "type": "histosys",
                                "data": {"hi_data": [55.0, 62.0, 38.0], "lo_data": [46.0, 60.5, 42.5]},
                            },
                            {"name": "mc", "type": "staterror", "data": [2.0, 2.5, 1.5]},
                        ],
                    },
                ],
            }
        ],
        "observations": [{"name": "search", "data": [55.0, 75.0, 48.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def timed(function, rounds=60, least=0.005):
    """Least and median seconds a call."""
    function()
    started = time.process_time()
    function()
    count = max(1, int(least / (time.process_time() - started + 1e-9)))
    found = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(count):
            function()
        found.append((time.process_time() - started) / count)
    return min(found), statistics.median(found)


def line(what, seconds, rows=1, elsewhere=""):
    least, median = (1e3 * value / rows for value in seconds)
    print(f"{what:62} {least:9.4f} {median:9.4f}   {elsewhere}", flush=True)
    return least


def in_torch(analysis):
    torch.set_num_threads(1)

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, weight):
            return weight.expand(8)

    def pulled(function, *tensors):
        def step():
            for tensor in tensors:
                tensor.grad = None
            function().backward()

        return step

    nothing = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    line(
        "torch: forward and backward of a function that does nothing",
        timed(pulled(lambda: Nothing.apply(nothing), nothing)),
    )
    session = paritas.torch.Session(small(), signal="signal", background="background", threads=1)
    point = torch.tensor(session.model.suggested_init, requires_grad=True)
    line(
        "torch: NLL and gradient, 8 parameters",
        timed(pulled(lambda: session.nll(point), point)),
        elsewhere="0.12",
    )
    signal = torch.tensor([4.0, 9.0, 6.0], dtype=torch.float64, requires_grad=True)
    line(
        "torch: q0 and gradient by 3 bins, 8 parameters",
        timed(pulled(lambda: session.q0(signal=signal), signal)),
    )
    line(
        "torch: training step with profiled q0, 8 parameters", timed(training_step(session)), elsewhere="2.4"
    )
    if analysis is None:
        return
    large = paritas.torch.Session(analysis, signal=["utH_dec", "utH_prod"], threads=1)
    point = torch.tensor(large.model.suggested_init, requires_grad=True)
    line(f"torch: NLL and gradient, {len(point)} parameters", timed(pulled(lambda: large.nll(point), point)))
    signal, data = excess(large)
    signal, data = torch.tensor(signal, requires_grad=True), torch.tensor(data)
    one = line(
        f"torch: q0 and gradient by {len(signal)} bins, {len(point)} parameters",
        timed(pulled(lambda: large.q0(signal=signal, data=data), signal)),
        elsewhere="3.66, NLL alone, on a GPU",
    )
    line(
        f"torch: expected significance and gradient, {len(point)} parameters",
        timed(pulled(lambda: large.expected_significance(signal=signal, data=data), signal)),
    )
    many = (signal.detach() * torch.linspace(0.8, 1.25, BATCH, dtype=torch.float64)[:, None]).requires_grad_()
    each = line(
        f"torch: q0 and gradient, one of a batch of {BATCH}",
        timed(pulled(lambda: large.q0(signal=many, data=data).sum(), many), 15),
        BATCH,
    )
    print(f"{'':62} {one / each:9.2f} times as fast each as alone")
    apart = paritas.torch.Session(analysis, signal=["utH_dec", "utH_prod"], shared=False, threads=1)
    each = line(
        "torch: the same where each row has its own curvature",
        timed(pulled(lambda: apart.q0(signal=many, data=data).sum(), many), 15),
        BATCH,
    )
    print(f"{'':62} {one / each:9.2f} times as fast each as alone")


def excess(session):
    """The signal's templates, and data with a fifth of them on top of what was observed."""
    model = session.model
    signal = np.array(model.data[model.main_count + model.aux_count :])
    return signal, np.round(model.data[: model.main_count] + 0.2 * signal.reshape(2, -1).sum(0))


def training_step(session):
    """A small network on 256 events, histograms of its output, profiled q0, backward, a step of the
    optimizer."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(256, 2, generator=generator, dtype=torch.float64)
    x[:64] += 1.0
    network = torch.nn.Linear(2, 3).double()
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    background, data = (
        torch.tensor([50.0, 61.0, 40.0], dtype=torch.float64),
        torch.tensor([55.0, 75.0, 48.0], dtype=torch.float64),
    )

    def step():
        optimizer.zero_grad()
        parts = torch.softmax(network(x), dim=1)
        loss = -session.q0(signal=parts[:64].sum(0) * (19.0 / 64), background=background, data=data)
        loss.backward()
        optimizer.step()

    return step


def in_jax(analysis):
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def line_of(what, function, *arguments, rows=1, rounds=60):
        compiled = jax.jit(jax.value_and_grad(function))
        return line(what, timed(lambda: compiled(*arguments)[1].block_until_ready(), rounds), rows)

    line_of("jax: value and gradient of a sum", lambda x: x.sum(), jnp.zeros(8))
    session = paritas.jax.Session(small(), signal="signal", background="background", threads=1)
    line_of("jax: NLL and gradient, 8 parameters", session.nll, jnp.asarray(session.model.suggested_init))
    line_of(
        "jax: q0 and gradient by 3 bins, 8 parameters",
        lambda signal: session.q0(signal=signal),
        jnp.array([4.0, 9.0, 6.0]),
    )
    paritas.jax.session.FOREIGN_FUNCTIONS = False
    line_of(
        "jax: NLL and gradient, 8 parameters, over a callback",
        paritas.jax.Session(small(), threads=1).nll,
        jnp.asarray(session.model.suggested_init),
    )
    paritas.jax.session.FOREIGN_FUNCTIONS = True
    if analysis is None:
        return
    large = paritas.jax.Session(analysis, signal=["utH_dec", "utH_prod"], threads=1)
    signal, data = map(jnp.asarray, excess(large))
    one = line_of(
        "jax: q0 and gradient, 184 parameters", lambda signal: large.q0(signal=signal, data=data), signal
    )
    many = signal * jnp.linspace(0.8, 1.25, BATCH)[:, None]
    each = line_of(
        f"jax: q0 and gradient, one of a batch of {BATCH}",
        lambda signal: large.q0(signal=signal, data=data).sum(),
        many,
        rows=BATCH,
        rounds=15,
    )
    print(f"{'':62} {one / each:9.2f} times as fast each as alone")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SHARED, "tHu_FCNC.json")
    analysis = None
    if os.path.exists(path):
        with open(path) as file:
            analysis = json.load(file)
    print(f"{'ms':62} {'least':>9} {'median':>9}   elsewhere")
    if torch is not None:
        import paritas.torch

        in_torch(analysis)
    if jax is not None:
        import paritas.jax

        in_jax(analysis)


if __name__ == "__main__":
    main()
