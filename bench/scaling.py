#!/usr/bin/env python3
"""How cost grows with parameters, bins and samples: scaling.py [--build FOLDER]

Makes workspaces of a given size (channels of 20 bins, every systematic on a third of the samples), times one
thread on them by bench/analysis and prints a table for each dimension, then the two sizes that are often
asked for. Python's standard library only."""

import argparse
import json
import os
import random
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def document(channels, observations):
    return {
        "channels": channels,
        "observations": observations,
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def workspace(alphas, gammas, bins, samples, seed=1):
    """`alphas` correlated systematics (half normsys, half histosys, each on a third of the samples) and
    `gammas` staterror parameters, the first bins having one each."""
    rng = random.Random(seed)
    channels, done, made = [], 0, 0
    while done < bins:
        n = min(20, bins - done)
        with_gammas = made + n <= gammas
        channel = {"name": f"channel_{done:05d}", "samples": []}
        for s in range(samples):
            data = [round(rng.uniform(20, 200) / samples * (0.1 if s == 0 else 1), 4) for _ in range(n)]
            modifiers = [{"name": "mu", "type": "normfactor", "data": None}] if s == 0 else []
            for a in range(alphas):
                if (a + s) % 3:
                    continue
                if a % 2:
                    modifiers.append(
                        {
                            "name": f"alpha_{a}",
                            "type": "normsys",
                            "data": {
                                "hi": round(1 + rng.uniform(0.01, 0.1), 4),
                                "lo": round(1 - rng.uniform(0.01, 0.1), 4),
                            },
                        }
                    )
                else:
                    spread = [rng.uniform(-0.05, 0.05) for _ in data]
                    hi, lo = (
                        [round(x * (1 + sign * e), 5) for x, e in zip(data, spread)] for sign in (1, -1)
                    )
                    modifiers.append(
                        {"name": f"alpha_{a}", "type": "histosys", "data": {"hi_data": hi, "lo_data": lo}}
                    )
            if with_gammas:
                modifiers.append(
                    {
                        "name": "stat_" + channel["name"],
                        "type": "staterror",
                        "data": [round(0.03 * x, 5) for x in data],
                    }
                )
            channel["samples"].append({"name": f"sample_{s}", "data": data, "modifiers": modifiers})
        channels.append(channel)
        done, made = done + n, made + (n if with_gammas else 0)
    observations = [
        {
            "name": c["name"],
            "data": [
                float(round(sum(v) + rng.gauss(0, sum(v) ** 0.5)))
                for v in zip(*(s["data"] for s in c["samples"]))
            ],
        }
        for c in channels
    ]
    return document(channels, observations)


def correlated_background(bins):
    up, down = [51.0 + b % 3 for b in range(bins)], [49.0 - b % 2 for b in range(bins)]
    samples = [
        {
            "name": "signal",
            "data": [5.0] * bins,
            "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
        },
        {
            "name": "background",
            "data": [50.0] * bins,
            "modifiers": [{"name": "shape", "type": "histosys", "data": {"hi_data": up, "lo_data": down}}],
        },
    ]
    return document([{"name": "c", "samples": samples}], [{"name": "c", "data": [52.0] * bins}])


def measure(build, content, operation, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(content, file)
        file.flush()
        done = subprocess.run(
            [os.path.join(build, "bench", "analysis"), operation, file.name, *more],
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def table(build, title, sizes):
    print(
        f"\n{title}\n  alphas  gammas    bins samples   nll+gradient (us)   Hessian (us)   fit, covariance "
        f"(ms)"
    )
    for size in sizes:
        content = workspace(*size)
        gradient, hessian, fit = (
            measure(build, content, operation)["seconds"] for operation in ("gradient", "hessian", "fit")
        )
        print(
            "".join(f"{number:8d}" for number in size)
            + f"{gradient * 1e6:20.2f}{hessian * 1e6:15.1f}{fit * 1e3:23.3f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    build = os.path.abspath(parser.parse_args().build)
    table(build, "bins", [(40, 0, bins, 4) for bins in (20, 80, 320, 1280)])
    table(build, "staterror parameters, one a bin", [(40, bins, bins, 4) for bins in (20, 80, 320, 1280)])
    table(build, "correlated parameters", [(alphas, 40, 40, 4) for alphas in (10, 40, 160, 320)])
    table(build, "samples", [(40, 40, 40, samples) for samples in (2, 4, 8, 16)])

    print("\noften asked for")
    seconds = measure(build, correlated_background(100), "batch_nll")["seconds"]
    print(f"  correlated background, 100 bins: {seconds * 1e6:.3f} us an NLL in a batch of 1000")
    batch = measure(build, workspace(249, 0, 1000, 3), "fits", "--threads", "2")
    print(
        f"  {batch['parameters']} parameters, 1000 bins: {1 / batch['seconds']:.0f} fits a second, two "
        f"threads"
    )
    fit = measure(build, workspace(300, 1200, 2000, 10), "fit")
    print(
        f"  {fit['parameters']} parameters (300 correlated, 1200 staterror), 2000 bins, 10 samples: fit "
        f"with covariance in {fit['seconds']:.3f} s"
    )


main()
