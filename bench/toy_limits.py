#!/usr/bin/env python3
"""Bias and errors of limits by toys, over many seeds, on counting experiments whose limits are Poisson sums.

  PYTHONPATH=python bench/toy_limits.py                  all experiments, 500 seeds each
  PYTHONPATH=python bench/toy_limits.py --seeds 50 --only 20,5,10

An experiment is n observed, the signal s and the background b. At 10050, 100, 10000 the count is as good as
continuous. For each limit: the exact one, the mean of the limits less it, their scatter and their mean quoted
error, in parts of it, and the bias in quoted errors with its own error."""

import argparse
import math

import paritas

EXPERIMENTS = [(20, 5, 10), (0, 5, 3), (3, 5, 3), (10050, 100, 10000)]
NAMES = ["-2 sigma", "-1 sigma", "median", "+1 sigma", "+2 sigma", "observed"]
QUANTILES = [0.5 * math.erfc(-k / math.sqrt(2.0)) for k in (-2, -1, 0, 1, 2)]
LEVEL = 0.05


def poisson_cdf(n, rate):
    """P(N <= n), by terms from the largest down: they do not overflow"""
    top = min(n, int(rate))
    largest = top * math.log(rate) - rate - math.lgamma(top + 1) if rate > 0 else 0.0
    total, term = 1.0, 1.0
    for k in range(top, 0, -1):
        term *= k / rate
        total += term
        if term < 1e-18 * total:
            break
    term = 1.0
    for k in range(top + 1, n + 1):
        term *= rate / k
        total += term
        if term < 1e-18 * total:
            break
    return math.exp(largest) * total


def exact_limit(n, s, b):
    """Where CLs = P(N <= n; mu s + b) / P(N <= n; b) is LEVEL; q falls as N rises"""
    low, high = 0.0, 1.0
    clb = poisson_cdf(n, b)
    while poisson_cdf(n, high * s + b) > LEVEL * clb:
        high *= 2.0
    for _ in range(100):
        mu = 0.5 * (low + high)
        low, high = (mu, high) if poisson_cdf(n, mu * s + b) > LEVEL * clb else (low, mu)
    return 0.5 * (low + high)


def exact_limits(n, s, b):
    """The expected ones, then the observed one"""
    limits, count = [], 0
    for quantile in QUANTILES:
        while poisson_cdf(count, b) < quantile:
            count += 1
        limits.append(exact_limit(count, s, b))
    return [*limits, exact_limit(n, s, b)]


def experiment(n, s, b):
    mu = {"name": "mu", "type": "normfactor", "data": None}
    samples = [{"name": "s", "data": [s], "modifiers": [mu]}, {"name": "b", "data": [b], "modifiers": []}]
    return paritas.Model.from_workspace(
        {
            "channels": [{"name": "c", "samples": samples}],
            "observations": [{"name": "c", "data": [n]}],
            "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
            "version": "1.0.0",
        }
    )


def moments(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))


def study(n, s, b, seeds, rtol):
    model, exact, toys = experiment(n, s, b), exact_limits(n, s, b), 0
    limits, errors = [[] for _ in NAMES], [[] for _ in NAMES]
    for seed in range(seeds):
        found = paritas.upper_limit_toys(model, seed=seed, rtol=rtol)
        toys += found.tally.fitted
        values = zip([*found.limit_exp, found.limit_obs], [*found.limit_exp_error, found.limit_obs_error])
        for k, (limit, error) in enumerate(values):
            if math.isfinite(limit):
                limits[k].append(limit / exact[k] - 1.0)
                errors[k].append(error / exact[k])
    print(f"\nn = {n}, s = {s}, b = {b}: {seeds} seeds, {toys / seeds:.0f} toys each")
    titles = f"{'limit':9}{'exact':>10}{'bias %':>9}{'scatter %':>11}{'quoted %':>10}"
    print(f"{titles}{'bias / quoted':>22}{'none':>6}")
    for k, name in enumerate(NAMES):
        bias, scatter = moments(limits[k])
        quoted = moments(errors[k])[0]
        own = scatter / math.sqrt(len(limits[k]))
        print(
            f"{name:9}{exact[k]:10.5f}{100 * bias:9.3f}{100 * scatter:11.2f}{100 * quoted:10.2f}"
            f"{bias / quoted:12.3f} +- {own / quoted:.3f}{seeds - len(limits[k]):6}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--rtol", type=float, default=0.05)
    parser.add_argument("--only", help="one experiment: N,S,B")
    given = parser.parse_args()
    only = [tuple(int(number) for number in given.only.split(","))] if given.only else EXPERIMENTS
    for n, s, b in only:
        study(n, s, b, given.seeds, given.rtol)


if __name__ == "__main__":
    main()
