"""Shared by the comparisons with pyhf: running the program, drawing points."""

import json
import os
import subprocess

import numpy as np
import pyhf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
EXAMPLES = os.path.join(ROOT, "examples")


def run(*arguments, stdin=None, status=0):
    """The program's standard output. It must exit with `status`."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == status, (
        f"paritas {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}"
    )
    return done.stdout


def answer(*arguments, **options):
    """The program's answer as JSON."""
    return json.loads(run(*arguments, "--json", "--quiet", **options))


def pyhf_model(workspace, normsys="4", histosys="4p", **options):
    settings = {"normsys": {"interpcode": "code" + normsys}, "histosys": {"interpcode": "code" + histosys}}
    return pyhf.Workspace(workspace).model(modifier_settings=settings, **options)


def random_point(model, generator):
    """A point around the suggested start and within the bounds; a few parameters are far away, fixed ones
    stay."""
    point = []
    for start, (low, high), fixed in zip(
        model.config.suggested_init(), model.config.suggested_bounds(), model.config.suggested_fixed()
    ):
        width = 0.2 if start else 1.0
        value = start + width * generator.standard_normal() * (4 if generator.random() < 0.2 else 1)
        point.append(start if fixed else float(np.clip(value, low, high)))
    return point
