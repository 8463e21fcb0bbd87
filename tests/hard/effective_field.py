"""Models of an effective field theory: rates b + sum k_i l_i + sum k_i k_j q_ij. Twice the NLL has several
minima in the coefficients k, and regions of them have several parts."""

import math
import random


def document(samples, observed, parameters, functions):
    """one channel; samples: (name, rates, modifiers)"""
    config = {"poi": parameters[0]["name"], "parameters": parameters, "functions": functions}
    return {
        "channels": [
            {"name": "SR", "samples": [{"name": n, "data": d, "modifiers": m} for n, d, m in samples]}
        ],
        "observations": [{"name": "SR", "data": observed}],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


def factor(name):
    return {"name": name, "type": "normfactor", "data": None}


def uncertainty():
    return {"name": "u", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}


def effective_field(seed):
    """one coefficient k in a few bins; its squares add events"""
    draw = random.Random(seed)
    bins = draw.randint(1, 4)
    background = [draw.uniform(20.0, 150.0) for _ in range(bins)]
    quadratic = [draw.uniform(0.5, 12.0) for _ in range(bins)]
    linear = [draw.choice([-1.0, 1.0]) * draw.uniform(0.0, 0.6) * q * 2.0 for q in quadratic]
    k = draw.uniform(-4.0, 4.0)
    observed = [
        float(round(b + k * n + k * k * q + draw.gauss(0.0, math.sqrt(b))))
        for b, n, q in zip(background, linear, quadratic)
    ]
    observed = [max(n, 0.0) for n in observed]
    samples = [
        ("lin", linear, [factor("klin")]),
        ("quad", quadratic, [factor("kq")]),
        ("b", background, [uncertainty()]),
    ]
    parameters = [{"name": "k", "inits": [1.0], "bounds": [[-10.0, 10.0]]}]
    functions = [{"name": "klin", "expression": "k"}, {"name": "kq", "expression": "k*k"}]
    return document(samples, observed, parameters, functions)


def several_coefficients(seed, coefficients):
    """terms of either sign, linear and quadratic; some models have a falling square, whose rates end at 0"""
    draw = random.Random(1000 * coefficients + seed)
    bins = draw.randint(coefficients, coefficients + 3)
    names = [f"k{i}" for i in range(coefficients)]
    at = [draw.uniform(-3.0, 3.0) for _ in names]
    background = [draw.uniform(20.0, 150.0) for _ in range(bins)]
    expected = list(background)
    samples, functions = [("b", background, [uncertainty()])], []
    for i, name in enumerate(names):
        for j in range(-1, i + 1):
            scale = 3.0 if j < 0 else 6.0 if i == j else 1.5
            falling = j == i and draw.random() < 0.15
            rates = [
                draw.uniform(-0.8, -0.1) if falling
                else draw.uniform(0.3, scale) if i == j
                else draw.uniform(-scale, scale)
                for _ in range(bins)
            ]  # fmt: skip
            term = name if j < 0 else f"{name}*{names[j]}"
            functions.append({"name": f"f{len(functions)}", "expression": term})
            samples.append((f"s{i}{j}", rates, [factor(functions[-1]["name"])]))
            value = at[i] if j < 0 else at[i] * at[j]
            expected = [n + value * r for n, r in zip(expected, rates)]
    observed = [float(max(round(draw.gauss(n, math.sqrt(max(n, 1.0)))), 0)) for n in expected]
    parameters = [{"name": name, "inits": [0.5], "bounds": [[-8.0, 8.0]]} for name in names]
    return document(samples, observed, parameters, functions)
