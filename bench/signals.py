#!/usr/bin/env python3
"""Prints how many signals a second one core tests on the background of a workspace, by paritas.signals."""

import argparse
import time

import numpy as np
import paritas


def signals_of(model, count, least, most):
    """Rates of `count` signals: the workspace's own, scaled as a whole and bin by bin."""
    point = np.array(model.suggested_init)
    rates = []
    for mu in (0.0, 1.0):
        point[model.poi_index] = mu
        rates.append(model.expected_data(point, include_aux=False))
    random = np.random.default_rng(1)
    scales = random.uniform(least, most, (count, 1)) * random.uniform(0.7, 1.3, (count, model.main_count))
    return (rates[1] - rates[0]) * scales


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", help="its sample `signal` is replaced")
    parser.add_argument("-n", type=int, default=1000, help="signals; default: 1000")
    options = parser.parse_args()
    model = paritas.Model.from_workspace(options.workspace)
    rates = signals_of(model, options.n, 0.3, 3.0)
    for answer in ("q", "cls", "limit"):
        start = time.process_time()
        paritas.signals(model, rates, answer, threads=1)
        print(f"{answer:6}{options.n / (time.process_time() - start):10.0f} signals a second")


if __name__ == "__main__":
    main()
