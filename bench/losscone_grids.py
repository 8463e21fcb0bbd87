"""Processor time of loss-cone fits a cell, and how often they hold the truth, on grids of other instruments.

    PYTHONPATH=python python bench/losscone_grids.py [SWEEPS]

Sweeps are drawn from the model: random fields, isotropic directions, lognormal noise of 0.3. 15 x 88 runs in
its own kernels. 16 x 88 has a masked row more and runs in those of other grids up to 32 x 128."""

import sys
import time

import numpy as np
from paritas import losscone

GRIDS = [(15, 88), (16, 88), (9, 16), (32, 16), (32, 88), (16, 300), (16, 512), (32, 512)]
NOISE = 0.3


def drawn(n, rows, cells, response, seed=1):
    """Sweeps and their true U."""
    random = np.random.default_rng(seed)
    real = 15 if (rows, cells) == (16, 88) else rows
    energy = np.geomspace(20.0, 16000.0, real)
    cosine = random.uniform(-1.0, 1.0, size=(n, real, cells))
    truth = random.uniform(-300.0, -20.0, size=n)
    points = np.column_stack([truth, random.uniform(0.5, 0.95, size=n), np.zeros(n)])
    blank = losscone.Sweeps.of(energy, 0.0, cosine, np.ones((n, real, cells)))
    flux = losscone.model(blank, points, response=response)[0] * np.exp(
        NOISE * random.normal(size=(n, real, cells))
    )
    if real < rows:
        energy = np.append(energy, np.nan)
        cosine, flux = (
            np.pad(one, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan) for one in (cosine, flux)
        )
    return losscone.Sweeps.of(energy, 0.0, cosine, flux), truth


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    keywords = {"threads": 1, "confidence": "none", "progress": False}
    first = {}
    print("grid      response  ms a sweep  us a cell  ratio  boxes  at limit  median |U - truth|, V")
    for rows, cells in GRIDS:
        for response, options in (("hard", {}), ("hard", {"amplitude_upper": 0.0}), ("folded", {})):
            sweeps, truth = drawn(n, rows, cells, response)
            count = np.isfinite(sweeps.flux[0]).sum()
            times = []
            for _ in range(3):
                started = time.process_time()
                fit = losscone.fit(sweeps, response=response, **options, **keywords)
                times.append((time.process_time() - started) / n)
            word = "no beam" if options else response
            per_cell = 1e6 * min(times) / count
            ratio = per_cell / first.setdefault(word, per_cell)
            print(
                f"{rows:2d} x {cells:3d}  {word:8s}  {1e3 * min(times):10.3f}  {per_cell:9.4f}  "
                f"{ratio:5.2f}  "
                f"{np.median(fit['boxes']):5.0f}  {np.mean(fit['status'] == 'at_limit'):8.2f}  "
                f"{np.median(np.abs(fit['potential'] - truth)):8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
