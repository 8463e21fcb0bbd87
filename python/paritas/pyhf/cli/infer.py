"""Fits and tests of a workspace."""

from __future__ import annotations

import argparse
from typing import Any

from . import command

_BACKENDS = {"np": "numpy", "torch": "pytorch", "tf": "tensorflow"}


def add_to(commands: command.Commands) -> None:
    parser = commands.add("fit", fit)
    _add_shared(parser)
    parser.add_argument("--value", action="store_true", help="also twice the NLL")
    parser = commands.add("cls", cls)
    _add_shared(parser)
    parser.add_argument("--test-poi", type=float, default=1.0)
    parser.add_argument("--test-stat", choices=("q", "qtilde"), default="qtilde")
    parser.add_argument("--calctype", choices=("asymptotics", "toybased"), default="asymptotics")


def _add_shared(parser: argparse.ArgumentParser) -> None:
    command.add_document(parser)
    command.add_output(parser)
    parser.add_argument("--measurement")
    command.add_repeated(parser, "-p", "--patch", metavar="FILE")
    parser.add_argument(
        "--backend", choices=("numpy", "pytorch", "tensorflow", "jax", *_BACKENDS), default="numpy"
    )
    parser.add_argument("--optimizer", choices=("scipy", "minuit"), default="scipy")
    command.add_repeated(parser, "--optconf", metavar="KEY=VALUE")


def _problem(workspace: str, measurement: str | None, patch: list[str]) -> tuple[Any, Any]:
    """Data, model."""
    from ..workspace import Workspace

    whole = Workspace(command.read(workspace))
    model = whole.model(measurement_name=measurement, patches=[command.read(path) for path in patch])
    return whole.data(model), model


def _choose(backend: str, optimizer: str, optconf: list[str]) -> None:
    from ..optimize import OptimizerRetriever
    from ..tensor.manager import set_backend
    from ..utils import options_from_eqdelimstring

    made = getattr(OptimizerRetriever, f"{optimizer}_optimizer")(**options_from_eqdelimstring(optconf))
    set_backend(_BACKENDS.get(backend, backend), made)


def fit(
    *,
    workspace: str,
    output_file: str | None,
    measurement: str | None,
    patch: list[str],
    backend: str,
    optimizer: str,
    optconf: list[str],
    value: bool,
) -> None:
    """Maximum likelihood fit."""
    from ..infer import mle

    _choose(backend, optimizer, optconf)
    data, model = _problem(workspace, measurement, patch)
    pars, twice_nll = mle.fit(data, model, return_fitted_val=True)
    places = {name: entry["slice"] for name, entry in model.config.par_map.items()}
    answer: dict[str, Any] = {"mle_parameters": {name: pars[at].tolist() for name, at in places.items()}}
    if value:
        answer["twice_nll"] = float(twice_nll)
    command.write(answer, output_file)


def cls(
    *,
    workspace: str,
    output_file: str | None,
    measurement: str | None,
    patch: list[str],
    backend: str,
    optimizer: str,
    optconf: list[str],
    test_poi: float,
    test_stat: str,
    calctype: str,
) -> None:
    """CLs values: observed and expected."""
    from .. import infer

    _choose(backend, optimizer, optconf)
    data, model = _problem(workspace, measurement, patch)
    observed, expected = infer.hypotest(
        test_poi, data, model, test_stat=test_stat, calctype=calctype, return_expected_set=True
    )
    answer = {"CLs_obs": float(observed), "CLs_exp": [float(value) for value in expected]}
    command.write(answer, output_file)
