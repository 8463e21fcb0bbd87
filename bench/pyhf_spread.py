#!/usr/bin/env python3
"""How far do pyhf's answers move with the machine, the backend, the optimiser and the version?

    bench/pyhf_spread.py [--python OTHER]... [WORKSPACE ...]

Answers of pyhf with numpy and scipy, in this Python, are the reference. Each row changes one thing and prints
the largest difference: of parameters and CLs as they are, of twice the NLL and the limit relative. OTHER is a
Python with another pyhf. What is not installed is left out. Without WORKSPACE the examples are used. Needs
pyhf, iminuit and jax in this Python."""

import argparse
import json
import os
import subprocess
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A", "BkgOnly.json")
PATCH = os.path.join(ROOT, "examples", "sbottom_A", "patch.sbottom_900_250_60.json")
NO_AVX512 = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
}
SETTINGS = {"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}  # as pyhf cls
# what is changed: backend, optimiser, environment
ROWS = {
    "scipy": ("numpy", "scipy", {}),
    "OpenBLAS for Haswell": ("numpy", "scipy", {"OPENBLAS_CORETYPE": "Haswell"}),
    "OpenBLAS for Prescott": ("numpy", "scipy", {"OPENBLAS_CORETYPE": "Prescott"}),
    "no AVX-512": ("numpy", "scipy", NO_AVX512),
    "minuit": ("numpy", "minuit", {}),
    "jax": ("jax", "scipy", {}),
    "jax, minuit": ("jax", "minuit", {}),
    "torch": ("pytorch", "scipy", {}),
}


def measure(path, backend, optimiser):
    """answers of this process: parameters by name, twice the NLL, CLs at 1, limit by a scan of 6 points"""
    import numpy
    import pyhf

    pyhf.set_backend(backend, optimiser, precision="64b")
    with open(path) as file:
        document = json.load(file)
    patches = []
    if path == SBOTTOM:
        with open(PATCH) as file:
            patches = [json.load(file)]
    workspace = pyhf.Workspace(document)
    model = workspace.model(patches=patches, modifier_settings=SETTINGS)
    data = workspace.data(model)
    fitted, value = pyhf.infer.mle.fit(data, model, return_fitted_val=True)
    names = model.config.par_names
    values = dict(zip(names() if callable(names) else names, pyhf.tensorlib.tolist(fitted)))
    bounds = model.config.suggested_bounds()[model.config.poi_index]
    cls = pyhf.infer.hypotest(1.0, data, model, test_stat="qtilde" if bounds[0] == 0 else "q")
    scan = numpy.linspace(0.1, 2.1, 6)  # not from 0, where 0.6.3 has no CLs
    limits = pyhf.infer.intervals
    find = limits.upper_limits.upper_limit if hasattr(limits, "upper_limits") else limits.upperlimit
    limit, _ = find(data, model, scan)
    numbers = {"nll": float(value), "cls": float(cls), "limit": float(limit)}
    return {"version": pyhf.__version__, "parameters": values, **numbers}


def ask(python, path, backend, optimiser, environment):
    """the same from a process of its own; None if it fails"""
    done = subprocess.run(
        [python, os.path.abspath(__file__), "--measure", path, backend, optimiser],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"{backend}, {optimiser}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def differences(found, wanted):
    parameters = max(abs(value - wanted["parameters"][name]) for name, value in found["parameters"].items())
    relative = {name: abs(found[name] / wanted[name] - 1.0) for name in ("nll", "limit")}
    return parameters, relative["nll"], abs(found["cls"] - wanted["cls"]), relative["limit"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", action="append", default=[], metavar="OTHER")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("workspaces", nargs="*", metavar="WORKSPACE")
    arguments = parser.parse_args()
    if arguments.measure:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(*arguments.measure)))
        return
    rows = [(sys.executable, name, *how) for name, how in ROWS.items()]
    for python in arguments.python:
        rows += [(python, name, *ROWS[name]) for name in ("scipy", "minuit")]
    print("| analysis | changed | parameters | 2 NLL | CLs | limit |\n|---|---|---|---|---|---|")
    for path in arguments.workspaces or [os.path.join(ROOT, "examples", "two_bins.json"), SBOTTOM]:
        wanted = ask(sys.executable, path, "numpy", "scipy", {})
        for python, name, *how in rows:
            found = ask(python, path, *how)
            if found and wanted:
                changed = name if python == sys.executable else f"pyhf {found['version']}, {name}"
                numbers = " | ".join(f"{x:.1e}" for x in differences(found, wanted))
                print(f"| {os.path.basename(path)} | {changed} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
