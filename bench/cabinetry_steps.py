#!/usr/bin/env python3
"""cabinetry's steps on pyhf and on Paritas, in turns: seconds and ratios.

    bench/cabinetry_steps.py ttZ_4l.json tHu_FCNC.json --turns 3

Each turn is one process on pyhf and one on Paritas (`python -m paritas.pyhf`), with the same steps. A ranking
and a limit of such a model take pyhf an hour or more. There, both time a part that repeats: the four fits of
one parameter of the ranking, one test of the limit."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python"
PARITAS = ("-m", "paritas.pyhf")


def timed(call):
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def steps(workspace):
    """Seconds of each step of one workspace, as JSON on the standard output."""
    import cabinetry
    import pyhf

    model, data = cabinetry.model_utils.model_and_data(json.loads(Path(workspace).read_text()))
    poi = model.config.poi_name
    seconds = {}
    seconds["fit"], best = timed(lambda: cabinetry.fit.fit(model, data))
    around = best.bestfit[model.config.poi_index]
    width = best.uncertainty[model.config.poi_index]
    seconds["scan, 4 points"], _ = timed(
        lambda: cabinetry.fit.scan(model, data, poi, par_range=(around, around + width), n_steps=4)
    )
    names = [name for name, kind in model.config.modifiers if kind == "normsys"]
    ranked = model.config.par_slice(names[0]).start

    def impacts():
        for shift in (-1.0, 1.0, -best.uncertainty[ranked], best.uncertainty[ranked]):
            start, fixed = model.config.suggested_init(), model.config.suggested_fixed()
            start[ranked], fixed[ranked] = best.bestfit[ranked] + shift, True
            cabinetry.fit.fit(model, data, init_pars=start, fix_pars=fixed)

    seconds["ranking, one parameter"], _ = timed(impacts)
    tested = float(max(around, 0.0) + 2 * width)
    seconds["limit, one test"], _ = timed(
        lambda: pyhf.infer.hypotest(tested, data, model, return_expected_set=True)
    )
    json.dump(seconds, sys.stdout)


def one_turn(workspace, *before):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, *before, __file__, "--steps", str(workspace)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout[run.stdout.index("{") :])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspaces", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.steps:
        return steps(given.workspaces[0])
    for workspace in given.workspaces:
        turns = [(one_turn(workspace), one_turn(workspace, *PARITAS)) for _ in range(given.turns)]
        print(f"\n{workspace.name}, medians of {given.turns} turns\n{'':26} pyhf, s  Paritas, s   ratio")
        for step in turns[0][0]:
            theirs, ours = (statistics.median(turn[who][step] for turn in turns) for who in (0, 1))
            ratio = statistics.median(turn[0][step] / turn[1][step] for turn in turns)
            print(f"{step:26} {theirs:7.2f}  {ours:10.5f}  {ratio:6.0f}", flush=True)


if __name__ == "__main__":
    main()
