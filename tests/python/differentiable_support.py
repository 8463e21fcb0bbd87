"""What tests of differentiable statistics share: workspaces whose numbers can be exchanged, and derivatives
of what is made from them anew."""

from __future__ import annotations

import json
import math
from typing import Any, Callable

import numpy as np

from paritas import differentiable
from paritas.differentiable import EXPECTED_SIGNIFICANCE, NLL, Q0, ROW_ARGUMENTS, Z0, Statistic

#: all that a session answers, and the mu at which it is asked
STATISTICS: dict[str, tuple[Statistic, Any]] = {
    "q0": (Q0, None),
    "Z0": (Z0, None),
    "expected_significance": (EXPECTED_SIGNIFICANCE, None),
    "qmu": (Statistic("q", "qtilde"), 2.5),
    "q": (Statistic("q", "q"), 2.5),
    "cls": (Statistic("cls", "qtilde", 63), 2.5),
    "cls_q": (Statistic("cls", "q", 63), 2.2),
    "upper_limit": (Statistic("limit", "qtilde", 63), None),
}


def counting(n: float, s: float, b: float) -> dict[str, Any]:
    """One bin, no nuisance parameter."""
    return {
        "channels": [
            {
                "name": "bin",
                "samples": [
                    {
                        "name": "signal",
                        "data": [s],
                        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                    },
                    {"name": "background", "data": [b], "modifiers": []},
                ],
            }
        ],
        "observations": [{"name": "bin", "data": [n]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def analysis() -> dict[str, Any]:
    """Two channels with all that may depend on a template: interpolations, statistical errors of simulation,
    a background that a control region fixes."""
    mu = {"name": "mu", "type": "normfactor", "data": None}
    scale = {"name": "scale", "type": "normsys", "data": {"hi": 1.07, "lo": 0.94}}
    return {
        "channels": [
            {
                "name": "search",
                "samples": [
                    {
                        "name": "signal",
                        "data": [4.0, 9.0, 3.5],
                        "modifiers": [
                            mu,
                            {"name": "efficiency", "type": "normsys", "data": {"hi": 1.1, "lo": 0.92}},
                        ],
                    },
                    {
                        "name": "top",
                        "data": [50.0, 61.0, 40.0],
                        "modifiers": [
                            scale,
                            {
                                "name": "shape",
                                "type": "histosys",
                                "data": {"hi_data": [55.0, 62.0, 38.0], "lo_data": [46.0, 60.5, 42.5]},
                            },
                            {"name": "mc", "type": "staterror", "data": [2.0, 2.5, 1.5]},
                        ],
                    },
                    {
                        "name": "fakes",
                        "data": [6.0, 4.0, 3.0],
                        "modifiers": [{"name": "tau", "type": "shapesys", "data": [2.0, 1.2, 1.1]}],
                    },
                ],
            },
            {
                "name": "control",
                "samples": [
                    {"name": "signal", "data": [1.5], "modifiers": [mu]},
                    {
                        "name": "top",
                        "data": [210.0],
                        "modifiers": [
                            scale,
                            {
                                "name": "shape",
                                "type": "histosys",
                                "data": {"hi_data": [214.0], "lo_data": [205.0]},
                            },
                        ],
                    },
                ],
            },
        ],
        "observations": [
            {"name": "search", "data": [63.0, 82.0, 45.0]},
            {"name": "control", "data": [216.0]},
        ],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


#: of `analysis`; channels stand in order of names: control, search
CHOSEN: dict[str, Any] = {
    "signal": "signal",
    "background": ["top", ("search", "fakes")],
    "variations": "shape",
}
#: all that a session may take
EVERYTHING: dict[str, Any] = {**CHOSEN, "factors": ["scale", "efficiency"], "uncertainties": ["mc", "tau"]}
#: where the workspace has an argument's numbers: types of modifiers, key
_PLACES = {
    "variations_up": ("histosys", "hi_data"),
    "variations_down": ("histosys", "lo_data"),
    "factors_up": ("normsys", "hi"),
    "factors_down": ("normsys", "lo"),
    "uncertainties": ("staterror shapesys", ""),
}


def names_of(session: differentiable.Session) -> tuple[str, ...]:
    """Row arguments up to the last that the session was made with."""
    return ROW_ARGUMENTS[: 1 + max((i for i, name in enumerate(ROW_ARGUMENTS[1:], 1) if session.sizes[name]))]


def numbers_of(workspace: dict[str, Any], session: differentiable.Session) -> list[np.ndarray]:
    """The workspace's own numbers of each row argument."""

    def of(name: str, where: tuple[str, ...]) -> list[float]:
        sample = _sample(workspace, where)
        if name in ("signal", "background"):
            return list(sample["data"])
        modifier, key = _modifier(sample, name, where[2])
        found = modifier["data"][key] if key else modifier["data"]
        return list(found) if isinstance(found, list) else [found]

    observed = {one["name"]: one["data"] for one in workspace["observations"]}
    parts = [[x for channel in sorted(observed) for x in observed[channel]]]
    parts += [
        [x for where in session.arguments[name] for x in of(name, where)] for name in names_of(session)[1:]
    ]
    return [np.array(part) for part in parts]


def rebuilt(
    workspace: dict[str, Any], session: differentiable.Session, rows: list[np.ndarray]
) -> dict[str, Any]:
    """A workspace with these numbers of the row arguments in place of its own."""
    made = json.loads(json.dumps(workspace))  # modifiers may be one object in several samples
    observed = {one["name"]: one for one in made["observations"]}
    first = 0
    for channel in sorted(observed):
        bins = len(observed[channel]["data"])
        observed[channel]["data"] = rows[0][first : first + bins].tolist()
        first += bins
    for name, numbers in zip(ROW_ARGUMENTS[1:], rows[1:]):
        first = 0
        for where in session.arguments[name]:
            sample = _sample(made, where)
            bins = 1 if "factors" in name else len(sample["data"])
            piece = numbers[first : first + bins].tolist()
            if name in ("signal", "background"):
                sample["data"] = piece
            else:
                modifier, key = _modifier(sample, name, where[2])
                if key:
                    modifier["data"][key] = piece[0] if "factors" in name else piece
                else:
                    modifier["data"] = piece
            first += bins
    return made


def _sample(workspace: dict[str, Any], where: tuple[str, ...]) -> Any:
    channel = next(one for one in workspace["channels"] if one["name"] == where[0])
    return next(one for one in channel["samples"] if one["name"] == where[1])


def _modifier(sample: Any, argument: str, name: str) -> tuple[Any, str]:
    types, key = _PLACES[argument]
    return next(one for one in sample["modifiers"] if one["name"] == name and one["type"] in types), key


def derivative(
    function: Callable[[float], np.ndarray], at: float, step: float, levels: int = 4
) -> np.ndarray:
    """Central differences of steps halved level by level, extrapolated to 0 (Richardson)."""
    table = [
        (np.asarray(function(at + h)) - np.asarray(function(at - h))) / (2.0 * h)
        for h in (step / 2**i for i in range(levels))
    ]
    for order in range(1, levels):
        table = [finer + (finer - coarser) / (4.0**order - 1.0) for coarser, finer in zip(table, table[1:])]
    return table[0]


def discovery(n: float, b: float) -> float:
    """q0 of a count n above an expectation b."""
    return 2.0 * (n * math.log(n / b) - n + b)
