"""Constraint terms of an HS3 document: the kinds that modifiers name (Gauss, Poisson, LogNormal, Const) and
the distributions they refer to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterator, Optional

from .conversion import ConversionError, Node


@dataclass(frozen=True)
class Constraint:
    """kind: Gauss (of width `width` around `nominal`), Poisson (tau = 1/width^2, for a factor around 1) or
    Const (held fixed)."""

    kind: str
    nominal: float = 0.0
    width: float = 1.0


#: what a modifier may say by name of kind; None: known, and nothing that a pyhf workspace can express
KINDS: dict[str, Optional[Constraint]] = {
    "Gauss": Constraint("Gauss"),
    "Const": Constraint("Const"),
    "Poisson": Constraint("Poisson"),
    "LogNormal": None,
    "Lognormal": None,
}


class Constraints:
    """Resolves constraints. `used` collects the names of distributions and functions that were."""

    def __init__(
        self,
        distributions: dict[str, Node],
        functions: dict[str, Node],
        constants: dict[str, float],
        used: set[str],
    ) -> None:
        self.distributions, self.functions, self.constants, self.used = (
            distributions,
            functions,
            dict(constants),
            used,
        )
        self.by_parameter: dict[str, tuple[Constraint, Node]] = {}
        self.loose: list[str] = []

    def add(self, node: Node, value: Optional[float] = None) -> None:
        """A distribution that stands in the likelihood by itself; `value`: the number observed for it."""
        parameter, constraint = self._resolve(node, value)
        self._note(parameter, constraint, node)
        self.loose.append(parameter)

    def extra(self) -> Iterator[tuple[str, Constraint, Node]]:
        for parameter in self.loose:
            yield (parameter, *self.by_parameter[parameter])

    def _note(self, parameter: str, constraint: Constraint, node: Node) -> None:
        known = self.by_parameter.setdefault(parameter, (constraint, node))
        if known[0] != constraint:
            raise node.refuse(f"'{parameter}' is constrained by {known[1].path} already")

    def of_modifier(self, node: Node, parameter: str, role: str) -> Optional[Constraint]:
        """The constraint that a modifier with one parameter states; None where it states none."""
        given = node.get("constraint_name") or node.get("constraint")
        if given is not None and given.string() in self.distributions:
            dist = self.distributions[given.string()]
            found, constraint = self._resolve(dist, None, parameter)
            if found != parameter:
                raise given.refuse(f"'{given.value}' constrains '{found}', not '{parameter}'")
            self._note(parameter, constraint, dist)
            return constraint
        if node.get("constraint_name") is not None:
            raise node["constraint_name"].refuse(f"'{node['constraint_name'].value}' is not in distributions")
        given = node.get("constraint_type") or node.get("constraint")
        if given is None:
            return None
        kind = self._kind(given)
        if kind.kind == "Poisson" or (kind.kind == "Gauss" and role == "factor"):
            raise given.refuse(
                f"a {kind.kind} constraint of a {node['type'].value} without its nominal value and width cannot stand in a pyhf workspace"
            )
        return kind

    def _kind(self, given: Node) -> Constraint:
        if given.string() not in KINDS:
            raise given.refuse(
                f"'{given.value}' is neither a distribution nor a kind of constraint ({', '.join(KINDS)})"
            )
        kind = KINDS[given.string()]
        if kind is None:
            raise given.refuse(f"a {given.value} constraint cannot stand in a pyhf workspace")
        return kind

    def kind_of_set(self, node: Node, dist: Optional[Node], parameters: list[str]) -> Optional[str]:
        """The kind of constraint of per-bin parameters: their own `constraints`, or the kind that the
        modifier says, or (staterror) the channel; a staterror that says nothing is Poisson, as ROOT takes
        it."""
        listed = node.get("constraints")
        if listed is not None:
            items = list(listed)
            if len(items) != len(parameters):
                raise listed.refuse(f"{len(parameters)} are wanted, one a parameter")
            for item, parameter in zip(items, parameters):
                if item.value is None:
                    continue
                if item.string() not in self.distributions:
                    raise item.refuse(f"'{item.value}' is not in distributions")
                target = self.distributions[item.string()]
                found, constraint = self._resolve(target, None, parameter)
                if found != parameter:
                    raise item.refuse(f"'{item.value}' constrains '{found}', not '{parameter}'")
                self._note(parameter, constraint, target)
            return self.kind_by_name(parameters, node)
        said = [given for given in (node.get("constraint_type"), node.get("constraint")) if given is not None]
        if dist is not None:
            config = dist.get("staterror")
            if config is not None:
                config.object("", "constraint constraint_type relThreshold")
                said += [
                    given
                    for given in (config.get("constraint_type"), config.get("constraint"))
                    if given is not None
                ]
        kinds = {self._kind(given).kind for given in said}
        if len(kinds) > 1:
            raise node.refuse(
                "it is said to be constrained in two ways: "
                + " and ".join(f"{given.value} ({given.path})" for given in said)
            )
        return kinds.pop() if kinds else "Poisson" if dist is not None else None

    def any_of(self, parameters: list[str]) -> bool:
        return any(parameter in self.by_parameter for parameter in parameters)

    def kind_by_name(self, parameters: list[str], node: Node) -> Optional[str]:
        """The kind that all named constraints of these parameters share; None where there are none."""
        kinds = {
            self.by_parameter[parameter][0].kind for parameter in parameters if parameter in self.by_parameter
        }
        if len(kinds) > 1:
            raise node.refuse(
                "its parameters have Gaussian and Poisson constraints; in pyhf a set has one kind"
            )
        for parameter in parameters:
            known = self.by_parameter.get(parameter)
            if known is not None and known[0].nominal != 1:
                raise known[1].refuse(
                    f"the nominal value of '{parameter}' is {known[0].nominal}; that of a per-bin factor is 1 in pyhf"
                )
        return kinds.pop() if kinds else None

    def widths(self, parameters: list[str]) -> Optional[list[float]]:
        """Relative widths by named constraints, 0 for a parameter without one; None where no parameter has
        one."""
        if not self.any_of(parameters):
            return None
        return [self.by_parameter[name][0].width if name in self.by_parameter else 0.0 for name in parameters]

    def _resolve(
        self, node: Node, value: Optional[float], wanted: Optional[str] = None
    ) -> tuple[str, Constraint]:
        """The parameter that a distribution constrains, and how. `wanted`: the parameter it should be, which
        tells it from a global observable."""
        self.used.add(node["name"].string())
        kind = node.value.get("type")
        if kind == "gaussian_dist":
            node.object("name type x mean sigma")
            if value is not None:  # data for x: its name is an observable's, not a parameter's
                return node["mean"].string(), Constraint("Gauss", value, self._number(node["sigma"]))
            sides = [(node["x"], node["mean"]), (node["mean"], node["x"])]
            for side, nominal in sides:
                if (
                    isinstance(side.value, str)
                    and self._is_number(nominal)
                    and (
                        side.value == wanted
                        if wanted in (node["x"].value, node["mean"].value)
                        else not self._is_nominal(side)
                    )
                ):
                    return side.string(), Constraint(
                        "Gauss", self._number(nominal), self._number(node["sigma"])
                    )
            raise node.refuse(
                "a constraint has a parameter on one side and a number, or a constant of the parameter point, on the other"
            )
        if kind == "poisson_dist":
            node.object("name type x mean", "integer")
            observed = value if value is not None else self._number(node["x"])
            parameter, tau = self._product(node["mean"])
            if not tau > 0 or abs(observed - tau) > 1e-9 * tau:
                raise node.refuse(
                    f"it observes {observed} where {tau} is expected; pyhf's shapesys observes what it expects"
                )
            return parameter, Constraint("Poisson", 1.0, 1.0 / math.sqrt(tau))
        raise node.refuse(f"a constraint of type {kind!r} cannot stand in a pyhf workspace")

    def _product(self, mean: Node) -> tuple[str, float]:
        """A Poisson term's mean: a function that multiplies a parameter with a constant."""
        if not isinstance(mean.value, str) or mean.value not in self.functions:
            raise mean.refuse(
                "the mean of a Poisson constraint is a product of a parameter and a constant, named in functions"
            )
        node = self.functions[mean.value]
        self.used.add(mean.value)
        if node.object("name type factors")["type"].string() not in ("product", "prod"):
            raise node["type"].refuse(
                f"a function of type '{node['type'].value}' cannot stand in a pyhf workspace"
            )
        factors = list(node["factors"])
        constants = [
            factor
            for factor in factors
            if self._is_number(factor)
            and (not isinstance(factor.value, str) or str(factor.value).endswith("_tau"))
        ]
        if len(factors) != 2 or len(constants) != 1:
            raise node["factors"].refuse("a parameter and a constant (a number, or named ..._tau) are wanted")
        parameter = factors[1] if factors[0].path == constants[0].path else factors[0]
        return parameter.string(), self._number(constants[0])

    def _is_number(self, node: Node) -> bool:
        return (
            node.value in self.constants
            if isinstance(node.value, str)
            else isinstance(node.value, (int, float))
        )

    def _is_nominal(self, node: Node) -> bool:
        """Whether a name is a global observable's: they are called nom_..., or nominal..., and have a value
        in the parameter point as parameters have."""
        return str(node.value).startswith(("nom_", "nominal"))

    def _number(self, node: Node) -> float:
        if isinstance(node.value, str):
            if node.value not in self.constants:
                raise ConversionError(node.path, f"'{node.value}' has no value in the parameter point")
            return self.constants[node.value]
        return node.number()
