"""What tests of conversions share: -2 ln L of a workspace at a point, by the program (PARITAS_BIN) or by
pyhf; an HS3 document with every modifier, and changes of it."""

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


def set_at(path, value):
    """A change that sets (DELETED: deletes) what stands at a path of a document."""

    def change(document):
        target = document
        for key in path[:-1]:
            target = target[key]
        if value is DELETED:
            del target[path[-1]]
        else:
            target[path[-1]] = value

    return change


DELETED = object()


AXES_SR = [{"name": "x", "min": 0.0, "max": 1.0, "nbins": 1}, {"name": "y", "edges": [0.0, 1.0, 3.0]}]
AXES_CR = [{"name": "z", "min": 0.0, "max": 1.0, "nbins": 1}]


def every_modifier():
    """Two channels (one of them two-dimensional) with each kind of modifier and constraint that a workspace
    can express."""
    return {
        "metadata": {"hs3_version": "0.2"},
        "distributions": [
            {
                "name": "model_SR",
                "type": "histfactory_dist",
                "axes": AXES_SR,
                "staterror": {"constraint_type": "Gauss", "relThreshold": 0.0},
                "samples": [
                    {
                        "name": "signal",
                        "data": {"contents": [5.0, 3.0], "errors": [0.3, 0.4]},
                        "modifiers": [
                            {"name": "mu", "type": "normfactor", "parameter": "mu"},
                            {
                                "name": "Lumi",
                                "type": "normfactor",
                                "parameter": "Lumi",
                                "constraint_name": "lumiConstraint",
                            },
                            {
                                "name": "xs",
                                "type": "normsys",
                                "parameter": "alpha_xs",
                                "constraint": "Gauss",
                                "data": {"hi": 1.2, "lo": 0.9},
                            },
                            {
                                "name": "staterror",
                                "type": "staterror",
                                "parameters": ["gamma_stat_SR_bin_0", "gamma_stat_SR_bin_1"],
                                "constraint": "Gauss",
                            },
                        ],
                    },
                    {
                        "name": "background",
                        "data": {"contents": [50.0, 40.0], "errors": [4.0, 3.0]},
                        "modifiers": [
                            {
                                "name": "shape",
                                "type": "histosys",
                                "parameter": "alpha_shape",
                                "constraint": "shape_constraint",
                                "data": {"hi": {"contents": [54.0, 41.0]}, "lo": {"contents": [47.0, 38.0]}},
                            },
                            {
                                "name": "staterror",
                                "type": "staterror",
                                "parameters": ["gamma_stat_SR_bin_0", "gamma_stat_SR_bin_1"],
                                "constraint": "Gauss",
                            },
                        ],
                    },
                    {
                        "name": "fakes",
                        "data": {"contents": [10.0, 8.0]},
                        "modifiers": [
                            {
                                "name": "uncorrelated",
                                "type": "shapesys",
                                "parameters": ["gamma_u_bin_0", "gamma_u_bin_1"],
                                "constraint": "Poisson",
                                "data": {"vals": [0.2, 0.25]},
                            }
                        ],
                    },
                ],
            },
            {
                "name": "model_CR",
                "type": "histfactory_dist",
                "axes": AXES_CR,
                "samples": [
                    {
                        "name": "fakes",
                        "data": {"contents": [100.0]},
                        "modifiers": [
                            {"name": "free", "type": "shapefactor", "parameters": ["gamma_free_bin_0"]},
                            {
                                "name": "xs",
                                "type": "normsys",
                                "parameter": "alpha_xs",
                                "constraint": "Gauss",
                                "data": {"hi": 1.1, "lo": 0.8},
                            },
                        ],
                    }
                ],
            },
            {
                "name": "lumiConstraint",
                "type": "gaussian_dist",
                "x": "Lumi",
                "mean": "nominalLumi",
                "sigma": 0.02,
            },
            {
                "name": "shape_constraint",
                "type": "gaussian_dist",
                "x": 0.3,
                "mean": "alpha_shape",
                "sigma": 1.0,
            },
        ],
        "data": [
            {"name": "obsData_SR", "type": "binned", "axes": AXES_SR, "contents": [70.0, 50.0]},
            {"name": "obsData_CR", "type": "binned", "axes": AXES_CR, "contents": [95.0]},
            {"name": "asimovData_SR", "type": "binned", "axes": AXES_SR, "contents": [65.0, 51.0]},
            {"name": "asimovData_CR", "type": "binned", "axes": AXES_CR, "contents": [100.0]},
        ],
        "likelihoods": [
            {"name": "L", "distributions": ["model_SR", "model_CR"], "data": ["obsData_SR", "obsData_CR"]},
            {
                "name": "A",
                "distributions": ["model_SR", "model_CR"],
                "data": ["asimovData_SR", "asimovData_CR"],
            },
        ],
        "domains": [
            {
                "name": "default_domain",
                "type": "product_domain",
                "axes": [
                    {"name": "mu", "min": -1.0, "max": 8.0},
                    {"name": "Lumi", "min": 0.9, "max": 1.1},
                    {"name": "alpha_xs", "min": -4.0, "max": 4.0},
                    {"name": "gamma_u_bin_0", "min": 0.0, "max": 2.0},
                    {"name": "gamma_u_bin_1", "min": 0.0, "max": 2.25},
                ],
            }
        ],
        "parameter_points": [
            {
                "name": "default_values",
                "parameters": [
                    {"name": "mu", "value": 1.5},
                    {"name": "nominalLumi", "value": 1.0, "const": True},
                    {"name": "alpha_xs", "value": 0.0, "const": True},
                ],
            }
        ],
        "analyses": [
            {
                "name": "fit",
                "likelihood": "L",
                "parameters_of_interest": ["mu"],
                "domains": ["default_domain"],
                "init": "default_values",
            },
            {
                "name": "asimov",
                "likelihood": "A",
                "parameters_of_interest": ["mu"],
                "domains": "default_domain",
            },
            {"name": "other_poi", "likelihood": "L", "parameters_of_interest": ["Lumi", "mu"]},
        ],
    }
