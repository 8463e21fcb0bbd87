#!/usr/bin/env python3
"""How cost grows with parameters, bins, samples and patches: scaling.py [--build FOLDER] [--only PART]

Makes workspaces of a given size (channels of 20 bins, every systematic on a third of the samples), times one
thread on them by bench/analysis and prints a table for each dimension, then the two sizes that are often
asked for. Patch sets, a signal sample in each channel a patch, are tested by the program. Python's standard
library only."""

import argparse
import copy
import hashlib
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


def scaled(value, factor):
    """A sample with all its rates multiplied; hi and lo of a normsys stay."""
    if isinstance(value, dict):
        return {key: item if key in ("hi", "lo") else scaled(item, factor) for key, item in value.items()}
    if isinstance(value, list):
        return [scaled(item, factor) for item in value]
    return round(value * factor, 6) if isinstance(value, float) else value


def patch_set(background, n):
    """Takes the first sample of each channel out of a workspace; n patches put it back, each at its own
    scale."""
    signals = [channel["samples"].pop(0) for channel in background["channels"]]
    text = json.dumps(background, sort_keys=True, ensure_ascii=False)
    patches = [
        {
            "metadata": {"name": f"point_{k}", "values": [k]},
            "patch": [
                {"op": "add", "path": f"/channels/{c}/samples/0", "value": scaled(signal, 0.5 + k / n)}
                for c, signal in enumerate(signals)
            ],
        }
        for k in range(n)
    ]
    metadata = {
        "references": {"hepdata": "ins0000000"},
        "description": "made by bench/scaling.py",
        "labels": ["number"],
        "digests": {"sha256": hashlib.sha256(text.encode()).hexdigest()},
    }
    return {"metadata": metadata, "patches": patches, "version": "1.0.0"}


def test_patches(build, background, n):
    """Seconds of two processors, and the largest memory in MB, of `hypotest` on a set."""
    background = copy.deepcopy(background)
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("patchset.json", "background.json")]
        for path, content in zip(files, (patch_set(background, n), background)):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
        command = [os.path.join(build, "bin", "paritas"), "hypotest", files[1], "--patchset", files[0]]
        process = subprocess.Popen(
            [*command, "--device", "cpu", "--threads", "2", "--json"], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{n} patches: exit code {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def patches_table(build):
    background = workspace(105, 20, 40, 6)
    print("\npatch sets: 126 parameters, 40 bins, 6 samples; two threads")
    print("  patches   processor time (s)   a patch (ms)   memory (MB)")
    for n in (125, 250, 500, 1000, 2000, 4000):
        seconds, memory = test_patches(build, background, n)
        print(f"{n:9d}{seconds:21.3f}{seconds / n * 1e3:15.2f}{memory:14.0f}", flush=True)


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


def models_tables(build):
    table(build, "bins", [(40, 0, bins, 4) for bins in (20, 80, 320, 1280)])
    table(build, "staterror parameters, one a bin", [(40, bins, bins, 4) for bins in (20, 80, 320, 1280)])
    table(build, "correlated parameters", [(alphas, 40, 40, 4) for alphas in (10, 40, 160, 320)])
    table(build, "samples", [(40, 40, 40, samples) for samples in (2, 4, 8, 16)])


def often_asked(build):
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


def main():
    parts = {"models": models_tables, "asked": often_asked, "patches": patches_table}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--only", choices=parts, help="default: all")
    given = parser.parse_args()
    for name, part in parts.items():
        if given.only in (None, name):
            part(os.path.abspath(given.build))


main()
