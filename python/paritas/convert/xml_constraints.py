"""Constraint laws in HistFactory's XML, as ROOT 6.40 builds them, to a workspace's `constraint`.

ConstraintTerm acts on an OverallSys alone. ROOT's parameters, and x, the alpha of the interpolation:

    Gamma        beta = 1 + r x; density beta^n exp(-tau beta) with tau = 1 / r^2, n = min(tau, 10)
    LogNormal    alpha, normal; x = ((1 + r)^alpha - 1) / r
    Uniform      x, normal of width 100
    NoConstraint the OverallSys has no effect

Gamma's n is tau, but ROOT declares it in [0, 10] and clips it."""

import math
import struct
from dataclasses import dataclass
from typing import Any, Callable, Optional

from .xml_grammar import Element

_TYPES = ("Gamma", "LogNormal", "Uniform", "NoConstraint")
#: ROOT's default of a channel's statistical errors
STATISTICAL_LAW, STATISTICAL_THRESHOLD = "Poisson", 0.05
#: ROOT's bounds of a ShapeFactor
SHAPE_BOUNDS = (0.0, 1000.0)
_LAWS = {"Gaussian": "gaussian", "Gauss": "gaussian", "Poisson": "poisson", "Pois": "poisson"}
_NOMINAL_LIMIT, _BETA_LIMIT, _ALPHA_LIMIT = 10.0, 10.0, 5.0


def in_single(value: float) -> float:
    """Rounded to single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]  # type: ignore[no-any-return]


def law_of(element: Element, default: str) -> str:
    """ "gaussian" or "poisson", by ConstraintType."""
    given = element.get("ConstraintType") or default
    if given not in _LAWS:
        raise element.refuse(f'ConstraintType="{given}" is neither Gaussian nor Poisson')
    return _LAWS[given]


@dataclass(frozen=True)
class Term:
    """config: of the workspace's parameter. prefix: of ROOT's parameter. value: x for a value of ROOT's
    parameter; None: the parameter has no effect."""

    config: dict[str, Any]
    prefix: str = "alpha_"
    value: Optional[Callable[[float], float]] = float


def gamma(relative: float) -> Term:
    tau = 1.0 / relative**2

    def value(beta: float) -> float:
        return (beta - 1.0) / relative

    config = {
        "constraint": {"type": "poisson", "offset": 1.0, "slope": relative},
        "auxdata": [min(tau, _NOMINAL_LIMIT)],
        "factors": [tau],
        "bounds": [[value(0.0), value(_BETA_LIMIT)]],
        "inits": [0.0],
    }
    return Term(config, "beta_", value)


def log_normal(relative: float) -> Term:
    def value(alpha: float) -> float:
        return (math.pow(1.0 + relative, alpha) - 1.0) / relative

    config = {
        "constraint": {"type": "lognormal", "offset": 1.0, "slope": relative},
        "auxdata": [0.0],
        "sigmas": [math.log(1.0 + relative)],
        "bounds": [[value(-_ALPHA_LIMIT), value(_ALPHA_LIMIT)]],
        "inits": [0.0],
    }
    return Term(config, "alpha_", value)


def _uniform(_: float) -> Term:
    return Term({"constraint": {"type": "gaussian"}, "auxdata": [0.0], "sigmas": [100.0]})


def _no_constraint(_: float) -> Term:
    return Term({"inits": [0.0], "fixed": True}, value=None)


_TERMS = dict(zip(_TYPES, (gamma, log_normal, _uniform, _no_constraint)))


def read_terms(measurement: Element, types: dict[str, set[str]], notes: list[str]) -> dict[str, Term]:
    """By parameter name here. types: of the channels' modifiers, by name."""
    found: dict[str, Term] = {}
    for element in measurement.all("ConstraintTerm"):
        kind = element.get("Type")
        if kind not in _TYPES:
            raise element.refuse(f'Type="{kind}" is none of {", ".join(_TYPES)}')
        relative = element.number("RelativeUncertainty") if element.get("RelativeUncertainty") else 0.0
        for name in element.text.split():
            if kind != "NoConstraint" and not relative > 0:
                if relative < 0:
                    raise element.refuse("RelativeUncertainty is negative")
                notes.append(element.at(f"'{name}' has no RelativeUncertainty, so ROOT leaves the term out"))
            elif "normsys" not in types.get(name, ()):
                notes.append(element.at(f"'{name}' is no OverallSys, so ROOT leaves the term out"))
            elif "histosys" in types[name]:
                raise element.inexpressible(
                    f"the {kind} constraint of '{name}', which is also a HistoSys: ROOT interpolates both in "
                    "different parameters"
                )
            elif name in found:
                raise element.refuse(f"'{name}' has two constraint terms")
            else:
                found[name] = _TERMS[kind](relative)
                if kind == "Gamma" and relative**-2 > _NOMINAL_LIMIT:
                    what = f"the nominal value 1 / {relative:g}^2 of '{name}' is clipped at 10, as ROOT does"
                    notes.append(element.at(what))
    return found


def _is_close(one: Any, other: Any) -> bool:
    if isinstance(other, list):
        return len(one) == len(other) and all(map(_is_close, one, other))
    return abs(one - other) <= 1e-12 * max(1.0, abs(other))  # type: ignore[no-any-return]


def written_term(config: dict[str, Any]) -> Optional[tuple[str, dict[str, str]]]:
    """ROOT's prefix of the parameter, and the attributes of the ConstraintTerm that is read as this; None:
    there is none."""
    law = config["constraint"]
    relative = law.get("slope", 1.0)
    for kind in ("Gamma", "LogNormal", "Uniform"):
        term = _TERMS[kind](relative)
        known = term.config["constraint"]
        numbers = {key: term.config[key] for key in ("auxdata", "factors", "sigmas") if key in term.config}
        if (
            law["type"] == known["type"]
            and law.get("offset", 0.0) == known.get("offset", 0.0)
            and all(_is_close(config.get(key, []), value) for key, value in numbers.items())
            and config.get("inits", [0.0]) == [0.0]
        ):
            return term.prefix, {"Type": kind, "RelativeUncertainty": repr(float(relative))}
    return None
