#!/usr/bin/env python3
"""Numbers on one page: answers and times beside six programs, measured in one run.

    peers.py [--build FOLDER] [--pairs N] [--truth FILE]

pyhf, nextstat, RooFit, cabinetry and spey take turns with Paritas, both from Python in one process. Times are
medians of processor time with one thread. A program that needs longer than 20 s is asked once. One that is
not installed has a row that says so: see bench/requirements.txt and bench/requirements-features.txt.

Combine is not on PyPI. Its answers and its processor time come from another machine, in --truth. There,
Paritas is the whole process, from the card to the answer.

Prints a Markdown table."""

import argparse
import json
import os
import platform
import subprocess

import bench
import datacards
import features
import numpy as np
import paritas

ROOT = bench.ROOT
TRUTH = os.path.join(os.path.dirname(bench.SHARED), "datacards", "truth", "combine_template_shape.json.xz")
MU = 0.2  # near the limit of the bottom squarks
ASKED = {"fit": "twice the NLL", "hypotest": f"CLs at {MU}", "limit": "observed limit"}


def ours_of(model):
    return {
        "fit": lambda: model.fit().twice_nll,
        "hypotest": lambda: model.hypotest(MU).CLs_obs,
        "limit": lambda: model.upper_limit().limit_obs,
    }


def histfactory(options):
    """A row for each operation of pyhf, nextstat and RooFit that answers it."""
    document = bench.document_of(*bench.BOTTOM_SQUARKS)
    model = paritas.Model.from_workspace(document)
    analysis, ours = f"bottom squarks, {model.parameter_count} parameters", ours_of(model)
    for module, kind in bench.OTHERS:
        if not module:
            absent(options, kind.name)
            continue
        theirs, peer = kind(document).calls(MU), f"{kind.name} {module.__version__}"
        for operation in [one for one in ours if one in theirs]:
            functions = ours[operation], theirs[operation]
            features.row(options, operation, analysis, ASKED[operation], peer, *functions)


def absent(options, name):
    options.put([name, "not installed: no numbers", *[""] * (len(features.HEADS) - 2)])


def others(options):
    """cabinetry, spey: cases of features.py."""
    for function in (features.impacts, features.simplified):
        missing = features.missing(dict(features.CASES)[function])
        for name in missing:
            absent(options, name)
        if not missing:
            function(options)


def combine(options):
    if not os.path.exists(options.truth):
        return options.put(["Combine", f"no file {options.truth}: no numbers", *[""] * 8])
    truth = datacards.truth_of(options.truth)
    program = os.path.join(options.build, "bin", "paritas")
    analysis = f"a datacard, {len(truth['parameters'])} parameters"
    poi = next(one["name"] for one in truth["parameters"] if one.get("poi"))
    for command, key in (("fit", poi), ("limit", "observed")):
        asked = [program, command, *datacards.card_of(options.truth, truth)]
        answer = json.loads(subprocess.check_output([*asked, "--json", "--quiet"]))
        mine = answer["limit_obs"] if command == "limit" else value_of(answer, poi)
        other = truth["results"][command + "_default"][key]
        own, theirs = datacards.seconds(asked, 3 * options.pairs), datacards.combine_seconds(truth, command)
        cells = [command, analysis, ASKED["limit"] if command == "limit" else poi, f"{mine:.6g}"]
        cells += [f"{other:.6g}", f"{abs(mine - other) / abs(other):.0e}", features.shown(own)]
        cells += [features.shown(theirs), features.ratio(theirs, own), "Combine 10.6.0, another machine"]
        options.put(cells)


def value_of(answer, name):
    return next(one["value"] for one in answer["parameters"] if one["name"] == name)


def processor():
    """The processor's name, where the system tells."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--truth", default=TRUTH)
    options = parser.parse_args()
    table = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other programs print

    def put(cells):
        print(f"| {' | '.join(cells)} |", file=table, flush=True)

    options.put, options.smodels = put, None
    where = f"{processor()}, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    print(f"Paritas {paritas.__version__}, NumPy {np.__version__}, {where}\n", file=table)
    options.put(features.HEADS)
    options.put(["---"] * len(features.HEADS))
    for ask in (combine, others, histfactory):
        ask(options)


if __name__ == "__main__":
    main()
    os._exit(0)  # ROOT may fail when Python ends
