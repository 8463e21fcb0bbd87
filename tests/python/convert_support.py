"""What tests of conversions share: -2 ln L of a workspace at a point, by the program (PARITAS_BIN) or by
pyhf, and likelihoods compared before and after."""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
SHARED = TREE.parent / "shared" / "workspaces"


def _by_program(program, spec, points, settings, measurement):
    codes = {kind: settings[kind]["interpcode"][len("code") :] for kind in settings}
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        workspace, at = Path(folder) / "workspace.json", Path(folder) / "point.json"
        workspace.write_text(json.dumps(spec))
        for point in points:
            at.write_text(json.dumps(point))
            command = [
                program,
                "nll",
                str(workspace),
                "--json",
                "--point",
                str(at),
                "--measurement",
                measurement,
                "--poi",
                "",
                "--normsys-code",
                codes["normsys"],
                "--histosys-code",
                codes["histosys"],
            ]
            answers.append(
                json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)[
                    "twice_nll"
                ]
            )
    return answers


def _by_pyhf(spec, points, settings, measurement):
    pyhf = pytest.importorskip("pyhf")
    workspace = pyhf.Workspace(spec)
    model = workspace.model(measurement_name=measurement, poi_name=None, modifier_settings=settings)
    answers = []
    for point in points:
        values = model.config.suggested_init()
        for name, value in point.items():
            values[model.config.par_names.index(name)] = value
        answers.append(float(-2 * model.logpdf(values, workspace.data(model))[0]))
    return answers


def twice_nll(conversion, points, measurement=None):
    """-2 ln L of the converted workspace at points (element name -> value; others at their start)."""
    spec = conversion.spec
    measurement = measurement or spec["measurements"][0]["name"]
    program = os.environ.get("PARITAS_BIN")
    by = _by_program if program else _by_pyhf
    return by(*([program] if program else []), spec, points, conversion.modifier_settings, measurement)


def random_points(document, count=3, seed=1):
    """Points inside the bounds of an HS3 document's default domain, near its starting values."""
    draw = random.Random(seed)
    bounds = {
        axis["name"]: (axis["min"], axis["max"])
        for domain in document["domains"]
        if domain["name"] == "default_domain"
        for axis in domain["axes"]
    }
    point = next(item for item in document["parameter_points"] if item["name"] == "default_values")
    start = {item["name"]: item["value"] for item in point["parameters"] if not item.get("const")}
    points = []
    for _ in range(count):
        moved = {}
        for name, value in start.items():
            low, high = bounds[name]
            width = 1.0 if name.startswith("alpha_") else 0.1
            moved[name] = min(max(value + draw.uniform(-width, width), low + 1e-3 * (high - low)), high)
        points.append(moved)
    return points
