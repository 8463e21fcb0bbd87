"""HS3's constraint terms: kinds named by modifiers, and distributions."""

import math
from dataclasses import dataclass
from typing import Any, Optional

from .hs3_document import Document
from .json_nodes import Node


@dataclass(frozen=True)
class Constraint:
    """kind: Gauss (`width` around `nominal`), Poisson (parameter + offset around `nominal`, tau = 1/width^2),
    LogNormal (logarithm around `nominal`) or Const (fixed)."""

    kind: str
    nominal: float = 0.0
    width: float = 1.0
    offset: float = 0.0

    def configured(self, role: str) -> dict[str, Any]:
        """Configuration of a workspace's parameter, without defaults of alphas."""
        law: dict[str, Any] = {}
        if self.kind == "Gauss" and role == "alpha" and self.width == 1:
            return {"auxdata": [self.nominal]} if self.nominal != 0 else {}
        if self.kind == "Poisson":
            tau = self.width**-2
            law = {"type": "poisson", **({"offset": self.offset} if self.offset else {})}
            return {"constraint": law, "auxdata": [self.nominal * tau], "factors": [tau]}
        if self.kind not in ("Gauss", "LogNormal"):
            return {}
        law["type"] = "gaussian" if self.kind == "Gauss" else "lognormal"
        return {"constraint": law, "auxdata": [self.nominal], "sigmas": [self.width]}


_JOINT = "multivariate_normal_dist"
_KINDS = ("Gauss", "Const", "Poisson", "LogNormal", "Lognormal")


def kind_of(given: Node) -> str:
    name = given.string()
    if name not in _KINDS:
        raise given.refuse(
            f"'{name}' is neither a distribution nor a kind of constraint ({', '.join(_KINDS)})"
        )
    if name in ("LogNormal", "Lognormal"):
        raise given.inexpressible(f"a {name} constraint without its distribution")
    return name


class Constraints:
    """`constants`: values of the parameter point."""

    def __init__(self, document: Document, constants: dict[str, float]) -> None:
        self.document, self.constants = document, constants
        self.by_parameter: dict[str, tuple[Constraint, Node]] = {}
        #: parameters and covariances of joint normal laws, by name
        self.joint: dict[str, tuple[list[str], list[list[float]]]] = {}

    def _add(self, parameter: str, constraint: Constraint, node: Node) -> str:
        known, where = self.by_parameter.setdefault(parameter, (constraint, node))
        if known != constraint:
            raise node.refuse(f"'{parameter}' has another constraint at {where.place}")
        return parameter

    def add_loose(self, node: Node, observed: Optional[float] = None) -> list[str]:
        """Adds a distribution of the likelihood with its datum; returns its parameters."""
        if node.get("type").value == _JOINT and observed is None:
            return self._add_joint(node)
        return [self._add(*self._resolve(node, observed), node)]

    def _add_joint(self, node: Node, wanted: Optional[str] = None) -> list[str]:
        """A joint normal law: of each parameter its own constraint, and the covariances."""
        name = node["name"].string()
        self.document.used.add(("distributions", name))
        node.object("name type x mean covariances")
        xs, means, rows = list(node["x"]), list(node["mean"]), list(node["covariances"])
        if not len(xs) == len(means) == len(rows):
            raise node.refuse(f"{len(xs)} x have {len(means)} means and {len(rows)} rows of covariances")
        covariances = [row.numbers(len(xs)) for row in rows]
        parameters = []
        for i, (x, mean) in enumerate(zip(xs, means)):
            if not covariances[i][i] > 0:
                raise rows[i].refuse(f"the variance of '{x.value}' must be above 0")
            parameter, nominal = self._sides(node, x, mean, wanted)
            law = Constraint("Gauss", nominal, math.sqrt(covariances[i][i]))
            parameters.append(self._add(parameter, law, node))
        self.joint[name] = parameters, covariances
        return parameters

    def add_named(self, given: Node, parameter: str) -> None:
        node = self.document.look_up("distributions", given)
        if node.get("type").value == _JOINT:
            if parameter not in self._add_joint(node, parameter):
                raise given.refuse(f"'{given.value}' does not constrain '{parameter}'")
            return
        found, constraint = self._resolve(node, None, parameter)
        if found != parameter:
            raise given.refuse(f"'{given.value}' constrains '{found}', not '{parameter}'")
        self._add(parameter, constraint, node)

    def correlations(self) -> dict[str, tuple[list[str], list[list[float]]]]:
        """Parameters and correlation matrices of joint laws."""

        def scaled(rows: list[list[float]]) -> list[list[float]]:
            sigmas = [math.sqrt(row[i]) for i, row in enumerate(rows)]
            return [
                [1.0 if i == j else v / (sigmas[i] * sigmas[j]) for j, v in enumerate(row)]
                for i, row in enumerate(rows)
            ]

        return {name: (parameters, scaled(rows)) for name, (parameters, rows) in self.joint.items()}

    def add_of_modifier(self, node: Node, parameter: str, role: str) -> None:
        name, given = node.get("constraint_name"), node.get("constraint")
        if name or (given and given.string() in self.document.tables["distributions"]):
            self.add_named(name or given, parameter)
            return
        given = node.get("constraint_type") or given
        if given:
            kind = kind_of(given)
            if kind == "Poisson" or (kind == "Gauss" and role == "factor"):
                of = f"a {kind} constraint of a {node['type'].value}"
                raise given.inexpressible(f"{of} without nominal value and width")
            self._add(parameter, Constraint(kind), node)

    def of_set(self, parameters: list[str], node: Node) -> dict[str, Constraint]:
        """All must be of one kind."""
        known = {name: self.by_parameter[name] for name in parameters if name in self.by_parameter}
        if len({constraint.kind for constraint, _ in known.values()}) > 1:
            raise node.refuse(
                "its parameters have Gaussian and Poisson constraints; a set of pyhf has one kind"
            )
        for name, (constraint, where) in known.items():
            if constraint.nominal != 1:
                raise where.refuse(
                    f"the nominal value of '{name}' is {constraint.nominal}; pyhf's factors of bins have 1"
                )
            if constraint.kind == "LogNormal" or constraint.offset:
                raise where.inexpressible(f"this constraint of '{name}', a factor of one bin")
        return {name: constraint for name, (constraint, _) in known.items()}

    def _resolve(
        self, node: Node, observed: Optional[float], wanted: Optional[str] = None
    ) -> tuple[str, Constraint]:
        """The constrained parameter, and how. `wanted` is no global observable."""
        self.document.used.add(("distributions", node["name"].string()))
        kind = node.get("type").value
        if kind == "gaussian_dist":
            return self._gaussian(node.object("name type x mean sigma"), observed, wanted)
        if kind == "lognormal_dist":
            return self._log_normal(node.object("name type x mu sigma"))
        if kind == "gamma_dist":
            return self._gamma(node.object("name type x gamma beta", "mu"))
        if kind != "poisson_dist":
            raise node.inexpressible(f"a constraint of type {kind!r}")
        node.object("name type x mean", "integer")
        if observed is None:
            observed = self._number(node["x"])
        parameter, tau = self._product(node["mean"])
        if not tau > 0 or observed < 0:
            raise node.refuse(f"it observes {observed} and expects {tau}; both must be positive")
        nominal = 1.0 if abs(observed - tau) <= 1e-9 * tau else observed / tau
        return parameter, Constraint("Poisson", nominal, 1.0 / math.sqrt(tau))

    def _log_normal(self, node: Node) -> tuple[str, Constraint]:
        """The density of x: (ln x - mu)^2 / (2 sigma^2) + ln x is a square around mu - sigma^2."""
        mu, sigma = self._number(node["mu"]), self._number(node["sigma"])
        if not sigma > 0:
            raise node["sigma"].refuse("must be above 0")
        return node["x"].string(), Constraint("LogNormal", mu - sigma**2, sigma)

    def _gamma(self, node: Node) -> tuple[str, Constraint]:
        """(x - mu)^(gamma - 1) exp(-(x - mu) / beta): gamma - 1 counts, 1 / beta expected per unit."""
        count, beta = self._number(node["gamma"]) - 1.0, self._number(node["beta"])
        if not (count >= 0 and beta > 0):
            raise node.refuse("gamma must be at least 1 and beta above 0")
        offset = -self._number(node["mu"]) if node.get("mu") else 0.0
        return node["x"].string(), Constraint("Poisson", count * beta, math.sqrt(beta), offset)

    def _gaussian(
        self, node: Node, observed: Optional[float], wanted: Optional[str]
    ) -> tuple[str, Constraint]:
        x, mean, sigma = node["x"], node["mean"], node["sigma"]
        if observed is not None:  # x is the observable
            return mean.string(), Constraint("Gauss", observed, self._number(sigma))
        parameter, nominal = self._sides(node, x, mean, wanted)
        return parameter, Constraint("Gauss", nominal, self._number(sigma))

    def _sides(self, node: Node, x: Node, mean: Node, wanted: Optional[str]) -> tuple[str, float]:
        """The parameter among x and mean, and the other's value."""
        for side, nominal in ((x, mean), (mean, x)):
            if not isinstance(side.value, str) or not self._is_number(nominal):
                continue
            # ROOT's global observables have values, as parameters do
            observable = side.value.startswith(("nom_", "nominal"))
            if side.value == wanted or (wanted != nominal.value and not observable):
                return side.value, self._number(nominal)
        raise node.refuse(
            "a constraint has a parameter on one side and on the other a number or a name of the parameter "
            "point"
        )

    def _product(self, mean: Node) -> tuple[str, float]:
        """Its parameter and constant: the mean of a Poisson term."""
        if not isinstance(mean.value, str) or mean.value not in self.document.tables["functions"]:
            raise mean.refuse(
                "the mean of a Poisson constraint must name a function, a parameter times a constant"
            )
        node = self.document.look_up("functions", mean).object("name type factors")
        if node["type"].string() not in ("product", "prod"):
            raise node["type"].inexpressible(f"a function of type '{node['type'].value}'")
        factors = sorted(node["factors"], key=self._is_constant)
        if [self._is_constant(factor) for factor in factors] != [False, True]:
            raise node["factors"].refuse("must be a parameter and a constant (a number, or named ..._tau)")
        return factors[0].string(), self._number(factors[1])

    def _is_constant(self, node: Node) -> bool:
        return self._is_number(node) and (not isinstance(node.value, str) or node.value.endswith("_tau"))

    def _is_number(self, node: Node) -> bool:
        return isinstance(node.value, (int, float)) or (
            isinstance(node.value, str) and node.value in self.constants
        )

    def _number(self, node: Node) -> float:
        if not isinstance(node.value, str):
            return node.number()
        if node.value not in self.constants:
            raise node.refuse(f"'{node.value}' has no value in the parameter point")
        return self.constants[node.value]
