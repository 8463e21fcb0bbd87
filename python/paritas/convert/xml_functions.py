"""Functions of parameters in HistFactory's XML, as far as factors of samples can say them.

    <Function Name="scale" Expression="k*k*mu" Dependents="k[1,0,3], mu[1,0,5]"/>

An expression is a sum of terms c a^p b^q .. A sample with functions as factors becomes one sample a term."""

import ast
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Optional

from .xml_grammar import Element

#: parameter and power of each factor, sorted -> coefficient
Terms = dict[tuple[tuple[str, Fraction], ...], float]
_ONE: Terms = {(): 1.0}


@dataclass(frozen=True)
class Dependent:
    """A parameter as RooFit's factory writes it: name, name[low,high], name[value,low,high]."""

    name: str
    numbers: tuple[float, ...] = ()

    @property
    def config(self) -> Optional[dict[str, Any]]:
        """None: declared elsewhere."""
        if not self.numbers:
            return None
        low, high = self.numbers[-2:] if len(self.numbers) > 1 else 2 * self.numbers
        start = self.numbers[0] if len(self.numbers) != 2 else 0.5 * (low + high)
        config: dict[str, Any] = {"name": self.name, "inits": [start]}
        return {**config, "fixed": True} if len(self.numbers) == 1 else {**config, "bounds": [[low, high]]}


def times(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    for a, b in ((a, b) for a in left for b in right):
        powers = dict(a)
        for name, power in b:
            powers[name] = powers.get(name, Fraction(0)) + power
        key = tuple(sorted((name, power) for name, power in powers.items() if power != 0))
        found[key] = found.get(key, 0.0) + left[a] * right[b]
    return {key: value for key, value in found.items() if value != 0.0}


def _plus(left: Terms, right: Terms, sign: float) -> Terms:
    found = dict(left)
    for key, value in right.items():
        found[key] = found.get(key, 0.0) + sign * value
    return {key: value for key, value in found.items() if value != 0.0}


class Function:
    """terms: of the expression; dependents: by name."""

    def __init__(self, element: Element) -> None:
        self.element = element
        listed = re.findall(r"([^\s,\[\]]+)\s*(?:\[([^\]]*)\])?", element.get("Dependents"))
        try:
            found = [
                Dependent(name, tuple(map(float, text.split(",") if text else ()))) for name, text in listed
            ]
        except ValueError:
            raise element.refuse("Dependents must be like a[1,0,3], b") from None
        if any(len(one.numbers) > 3 for one in found):
            raise element.refuse("Dependents must be like a[1,0,3], b")
        self.dependents = {one.name: one for one in found}
        text = element.get("Expression")
        for i, one in enumerate(found):
            text = re.sub(rf"@{i}\b", one.name, text)
        try:
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
        except SyntaxError:
            raise self._refuse() from None
        self.terms = self._evaluate(tree.body)

    def _refuse(self) -> Exception:
        return self.element.inexpressible(
            f"the function {self.element.get('Expression')!r}: only sums, products and powers"
        )

    def _evaluate(self, node: ast.AST) -> Terms:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return {(): float(node.value)} if node.value else {}
        if isinstance(node, ast.Name) and node.id in self.dependents:
            return {((node.id, Fraction(1)),): 1.0}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            return _plus({}, self._evaluate(node.operand), -1.0 if isinstance(node.op, ast.USub) else 1.0)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            arguments = [self._evaluate(one) for one in node.args]
            if node.func.id == "sqrt" and len(arguments) == 1:
                return self._power(arguments[0], Fraction(1, 2))
            if node.func.id == "pow" and len(arguments) == 2:
                return self._power(arguments[0], self._number(arguments[1]))
        if isinstance(node, ast.BinOp):
            left, right = self._evaluate(node.left), self._evaluate(node.right)
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return _plus(left, right, 1.0 if isinstance(node.op, ast.Add) else -1.0)
            if isinstance(node.op, ast.Mult):
                return times(left, right)
            if isinstance(node.op, ast.Div):
                return times(left, self._power(right, Fraction(-1)))
            if isinstance(node.op, ast.Pow):
                return self._power(left, self._number(right))
        raise self._refuse()

    def _number(self, terms: Terms) -> Fraction:
        if set(terms) - {()}:
            raise self._refuse()
        return Fraction(terms.get((), 0.0)).limit_denominator(64)

    def _power(self, terms: Terms, power: Fraction) -> Terms:
        if len(terms) == 1:
            ((key, value),) = terms.items()
            if value > 0 or power.denominator == 1:
                return {tuple((name, one * power) for name, one in key): value ** float(power)}
        elif power.denominator == 1 and 0 <= power <= 8:
            found = _ONE
            for _ in range(int(power)):
                found = times(found, terms)
            return found
        raise self._refuse()


def expanded(
    sample: Element, modifiers: list[dict[str, Any]], functions: dict[str, Function]
) -> list[tuple[float, list[dict[str, Any]]]]:
    """Coefficient and modifiers of each term of a sample."""
    used = [functions[one["name"]] for one in modifiers if one["name"] in functions]
    rest = [one for one in modifiers if one["name"] not in functions]
    terms = _ONE
    for function in used:
        terms = times(terms, function.terms)
    factors = {one["name"] for one in rest if one["type"] == "normfactor"}
    for name, power in ((name, power) for key in terms for name, power in key):
        if power != 1 or name in factors:
            raise sample.inexpressible(f"a sample that grows as '{name}'^{power + (name in factors)}")
    if list(terms.values()) != [1.0] and any(one["type"] in ("staterror", "shapesys") for one in rest):
        raise sample.inexpressible("a sum or a number that scales a sample with errors of its bins")
    return [
        (value, rest + [{"name": name, "type": "normfactor", "data": None} for name, _ in key])
        for key, value in terms.items()
    ]


def scaled(coefficient: float, modifier: dict[str, Any]) -> dict[str, Any]:
    """A modifier of a sample whose contents are multiplied."""
    if modifier["type"] != "histosys" or coefficient == 1.0:
        return modifier
    sides = modifier["data"].items()
    return {**modifier, "data": {side: [coefficient * one for one in row] for side, row in sides}}
