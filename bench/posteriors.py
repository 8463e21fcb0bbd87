#!/usr/bin/env python3
"""Posteriors beside PyMC: posteriors.py [--build FOLDER] [--runs N] [--sampler NAME]... WORKSPACE

Builds the workspace's posterior as a PyMC model, from its JSON alone: the interpolations and constraints of
pyhf, in a few operations on whole arrays. First their densities are compared at draws of ours. Then both
sample in turns, on one core each, and the rows say effective draws of the worst parameter (bulk, ArviZ) for
each second of processor time. Ours includes start, reading, warm-up and the file of draws. PyMC's includes
warm-up, and neither building nor compiling the model.

NAME: pymc or nutpie, PyMC's samplers on one model; both without --sampler. Needs pymc, arviz and nutpie in
this Python."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import arviz
import numpy as np
import pymc
import pytensor.tensor as pt

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Layout:
    """A workspace as tables: entries are the bins of all samples, one after the other."""

    def __init__(self, workspace):
        self.config = {p["name"]: p for p in workspace["measurements"][0]["config"]["parameters"]}
        observed = {o["name"]: o["data"] for o in workspace["observations"]}
        self.nominal, self.bin, self.observed = [], [], []
        self.normal, self.free, self.poisson = {}, {}, {}  # name: mean and width; bounds; counts
        self.factors, self.hilo, self.shifts = [], [], []  # (entry, name), the others with numbers
        for channel in workspace["channels"]:
            first, squares = len(self.observed), {}
            self.observed += observed[channel["name"]]
            for sample in channel["samples"]:
                start = len(self.nominal)
                self.nominal += sample["data"]
                self.bin += range(first, first + len(sample["data"]))
                for modifier in sample["modifiers"]:
                    self.add(modifier, sample["data"], start, squares)
            for name, (square, total) in squares.items():
                self.add_gammas(name, np.sqrt(square), total)

    def add(self, modifier, nominal, start, squares):
        """A modifier of the sample whose entries begin at start."""
        name, kind, data = modifier["name"], modifier["type"], modifier["data"]
        entries = range(start, start + len(nominal))
        if kind == "normfactor":
            self.free[name] = self.config.get(name, {}).get("bounds", [[0, 10]])[0]
            self.factors += [(e, name) for e in entries]
        elif kind == "lumi":
            given = self.config[name]
            self.normal[name] = (given["auxdata"][0], given["sigmas"][0])
            self.factors += [(e, name) for e in entries]
        elif kind == "normsys":
            self.normal[name] = (0.0, 1.0)
            self.hilo += [(e, name, data["hi"], data["lo"]) for e in entries]
        elif kind == "histosys":
            self.normal[name] = (0.0, 1.0)
            parts = zip(entries, nominal, data["hi_data"], data["lo_data"])
            self.shifts += [(e, name, up - n, n - down) for e, n, up, down in parts]
        elif kind == "staterror":
            square, total = squares.setdefault(name, (np.zeros(len(nominal)), np.zeros(len(nominal))))
            square += np.square(data)
            total += nominal
            self.factors += [(e, f"{name}[{i}]") for i, e in enumerate(entries)]
        elif kind == "shapesys":
            self.factors += [(e, f"{name}[{i}]") for i, e in enumerate(entries) if data[i] > 0]
            counts = ((n / s) ** 2 for n, s in zip(nominal, data) if s > 0)
            self.poisson.update(zip((f"{name}[{i}]" for i in range(len(data)) if data[i] > 0), counts))
        else:
            raise SystemExit(f"posteriors.py: no {kind}")

    def add_gammas(self, name, width, total):
        """The constraints of a staterror; a bin without an error has none and is 1."""
        for i, (w, t) in enumerate(zip(width, total)):
            if w > 0:
                self.normal[f"{name}[{i}]"] = (1.0, w / t)
        gone = {f"{name}[{i}]" for i, w in enumerate(width) if not w > 0}
        self.factors = [f for f in self.factors if f[1] not in gone]


def padded(rows, index, n, fill):
    """Rows (entry, name, numbers...) as tables with a line for each entry: parameters, then the numbers."""
    lines = [[] for _ in range(n)]
    for entry, name, *numbers in rows:
        lines[entry].append((index[name], *numbers))
    most = max(map(len, lines))
    lines = [line + [(0, *fill)] * (most - len(line)) for line in lines]
    tables = [np.array([[one[k] for one in line] for line in lines]) for k in range(1 + len(fill))]
    return tables[0].astype(int), *tables[1:]


def interpolated(alpha, high, low):
    """hi^alpha, lo^-alpha, and between -1 and 1 the polynomial with the same two derivatives: code 4."""
    up, down = np.log(high), np.log(low)
    # a1 .. a6 from values and two derivatives at both ends
    ends = np.array([[s**k for k in range(1, 7)] for s in (1, -1)])
    slopes = np.array([[k * s ** (k - 1) for k in range(1, 7)] for s in (1, -1)])
    bends = np.array([[k * (k - 1) * s ** max(k - 2, 0) for k in range(1, 7)] for s in (1, -1)])
    wanted = [high - 1, low - 1, high * up, -low * down, high * up**2, low * down**2]
    a = np.linalg.solve(np.vstack([ends, slopes, bends]), np.reshape(wanted, (6, -1)))
    a = a.reshape(6, *high.shape)
    inside = 1 + alpha * (
        a[0] + alpha * (a[1] + alpha * (a[2] + alpha * (a[3] + alpha * (a[4] + alpha * a[5]))))
    )
    outside = pt.exp(pt.switch(alpha > 0, alpha * up, -alpha * down))
    return pt.switch(pt.abs(alpha) < 1, inside, outside)


def shifted(alpha, up, down):
    """The histograms' differences: code 4p."""
    half, odd = 0.5 * (up + down), (up - down) / 16
    square = alpha * alpha
    inside = alpha * half + odd * square * (15 + square * (3 * square - 10))
    return pt.switch(pt.abs(alpha) < 1, inside, pt.switch(alpha > 0, alpha * up, alpha * down))


def make_model(layout):
    """The PyMC model and the names of its parameters, in the order of its vectors."""
    groups = [list(layout.normal), list(layout.free), list(layout.poisson)]
    index = {name: i for i, name in enumerate(sum(groups, []))}
    n = len(layout.nominal)
    with pymc.Model() as model:
        parts = []
        if groups[0]:
            means, widths = np.array(list(layout.normal.values())).T
            parts.append(pymc.Normal("normal", means, widths, shape=len(means), initval=means))
        if groups[1]:
            low, high = np.array(list(layout.free.values()), dtype=float).T
            ones = np.clip(1.0, low + 1e-3 * (high - low), high - 1e-3 * (high - low))
            parts.append(pymc.Uniform("free", low, high, shape=len(low), initval=ones))
        if groups[2]:
            counts = np.array(list(layout.poisson.values()))
            parts.append(
                pymc.Gamma("poisson", counts + 1, counts, shape=len(counts), initval=counts / counts)
            )
        theta = pt.concatenate(parts)
        rates = np.array(layout.nominal, dtype=float)
        if layout.shifts:
            at, up, down = padded(layout.shifts, index, n, (0.0, 0.0))
            rates = rates + shifted(theta[at], up, down).sum(axis=1)
        if layout.hilo:
            at, high, low = padded(layout.hilo, index, n, (1.0, 1.0))
            rates = rates * pt.exp(pt.log(interpolated(theta[at], high, low)).sum(axis=1))
        longer = pt.concatenate([theta, [1.0]])
        at = padded([(e, name, 0) for e, name in layout.factors], index, n, (1,))
        factors = longer[np.where(at[1] == 1, len(index), at[0])]
        for k in range(factors.type.shape[1]):
            rates = rates * factors[:, k]
        bins = np.zeros((len(layout.observed), n))
        bins[layout.bin, np.arange(n)] = 1.0
        pymc.Poisson("data", pt.dot(bins, rates), observed=np.array(layout.observed))
    return model, groups


def ours(program, workspace, draws, seed, folder):
    """Draws (chains, draws, p), names, twice the NLL and processor seconds of a run of the program."""
    path = os.path.join(folder, "draws.npz")
    command = [
        program,
        "sample",
        workspace,
        f"--draws={draws}",
        f"--seed={seed}",
        f"--save={path}",
        "--threads=1",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = np.load(path)
    values = kept["values"].reshape(int(kept["chain"].max()) + 1, -1, len(kept["parameters"]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return values, list(kept["parameters"]), kept["twice_nll"].reshape(values.shape[:2]), cpu


def compare_densities(model, groups, values, names, twice_nll):
    """The largest difference of the log-likelihoods at some draws, beyond a constant."""
    log_density = model.compile_fn(
        model.logp(jacobian=False), inputs=model.value_vars, on_unused_input="ignore"
    )
    theirs, own = [], []
    for c in range(values.shape[0]):
        x = dict(zip(names, values[c, -1]))
        point = {}
        for variable, group in zip(model.free_RVs, [g for g in groups if g]):
            numbers, value = np.array([x[name] for name in group]), model.rvs_to_values[variable]
            transform = model.rvs_to_transforms[variable]
            if transform is not None:
                numbers = transform.forward(pt.as_tensor(numbers), *variable.owner.inputs).eval()
            point[value.name] = numbers
        theirs.append(float(log_density(point)))
        own.append(-0.5 * twice_nll[c, -1])
    apart = np.array(theirs) - np.array(own)
    return float(np.abs(apart - apart.mean()).max()), len(apart)


def worst(draws):
    """The least effective size, of the bulk, of draws (chains, draws) by parameter."""
    return min(float(arviz.ess(np.ascontiguousarray(one), method="bulk")) for one in draws)


def theirs(sampler, model, compiled, chains, draws, tune, seed):
    """Draws by parameter, and processor seconds."""
    if sampler == "nutpie":
        import nutpie

        start = time.process_time()
        found = nutpie.sample(
            compiled, draws=draws, tune=tune, chains=chains, cores=1, seed=seed, progress_bar=False
        )
        cpu = time.process_time() - start
    else:
        with model:
            found = pymc.sample(
                draws,
                tune=tune,
                chains=chains,
                cores=1,
                random_seed=seed,
                progressbar=False,
                discard_tuned_samples=False,
                compute_convergence_checks=False,
            )
        cpu = float(
            found.sample_stats["process_time_diff"].sum()
            + found.warmup_sample_stats["process_time_diff"].sum()
        )
    columns = []
    for variable in model.free_RVs:
        values = found.posterior[variable.name].values
        columns += [values[:, :, k] for k in range(values.shape[2])]
    return columns, cpu


def main():
    """Prints the comparison of densities and a row for each sampler."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("workspace")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=4, help="of PyMC")
    parser.add_argument("--sampler", action="append", choices=["pymc", "nutpie"])
    args = parser.parse_args()
    program = os.path.join(args.build, "bin", "paritas")
    with open(args.workspace) as file:
        model, groups = make_model(Layout(json.load(file)))
    samplers, rates, compiled = args.sampler or ["pymc", "nutpie"], {}, None
    if "nutpie" in samplers:
        import nutpie

        compiled = nutpie.compile_pymc_model(model)
    with tempfile.TemporaryDirectory() as folder:
        values, names, twice_nll, _ = ours(program, args.workspace, args.draws, 0, folder)
        apart, n = compare_densities(model, groups, values, names, twice_nll)
        print(f"{len(names)} parameters; log-likelihoods differ by {apart:.1e} at {n} draws", flush=True)
        for run in range(args.runs):
            values, names, _, cpu = ours(program, args.workspace, args.draws, run, folder)
            moving = [values[:, :, k] for k in range(len(names)) if np.ptp(values[:, :, k]) > 0]
            results = {"paritas": (moving, cpu)}
            for name in samplers:
                results[name] = theirs(name, model, compiled, args.chains, args.draws, 1000, run)
            for name, (columns, cpu) in results.items():
                size = worst(columns)
                rates.setdefault(name, []).append(size / cpu)
                print(
                    f"{name}: {size:.0f} effective draws in {cpu:.2f} s, {size / cpu:.1f} a second",
                    flush=True,
                )
    own = statistics.median(rates["paritas"])
    print("| sampler | effective draws a second, median | ours over it |\n|---|---|---|")
    for name, each in rates.items():
        print(f"| {name} | {statistics.median(each):.3g} | {own / statistics.median(each):.3g} |")


if __name__ == "__main__":
    main()
