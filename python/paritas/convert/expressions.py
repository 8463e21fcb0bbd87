"""Expressions of parameters as sums of terms c a^p b^q .., and samples that they scale.

A sample that an expression scales becomes one sample a term."""

import ast
import math
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Callable, Collection, Iterator, Optional

from .conversion import Place
from .pyhf_workspace import CODE_KEY, MODIFIERS

#: parameter and power of each factor, sorted -> coefficient
Terms = dict[tuple[tuple[str, Fraction], ...], float]
ONE: Terms = {(): 1.0}
#: of an expression, its functions written out: terms, letters, levels. A short text could have millions
MOST_TERMS, LONGEST, DEEPEST = 1000, 100_000, 150


class UnreadExpression(Exception):
    """Why an expression is no sum of terms."""

    def __init__(self, why: str = "only sums, products and powers") -> None:
        super().__init__(why)


@contextmanager
def computed() -> Iterator[None]:
    """Numbers and nesting beyond what Python computes."""
    try:
        yield
    except (ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadExpression(f"it cannot be computed: {error}") from None


def times(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    for a, b in ((a, b) for a in left for b in right):
        powers = dict(a)
        for name, power in b:
            powers[name] = powers.get(name, Fraction(0)) + power
        key = tuple(sorted((name, power) for name, power in powers.items() if power != 0))
        found[key] = found.get(key, 0.0) + left[a] * right[b]
        if len(found) > MOST_TERMS:
            raise UnreadExpression(f"it has more than {MOST_TERMS} terms")
    return {key: value for key, value in found.items() if value != 0.0}


def plus(left: Terms, right: Terms, sign: float = 1.0) -> Terms:
    found = dict(left)
    for key, value in right.items():
        found[key] = found.get(key, 0.0) + sign * value
    return {key: value for key, value in found.items() if value != 0.0}


def parameter_terms(name: str) -> Terms:
    return {((name, Fraction(1)),): 1.0}


def product_of(left: Terms, right: Optional[Terms]) -> Optional[Terms]:
    """None: it has too many terms, or the right is no sum of terms."""
    try:
        return None if right is None else times(left, right)
    except UnreadExpression:
        return None


def check_depth(tree: ast.expr) -> None:
    """Raises UnreadExpression for a tree that functions which call themselves could not walk."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise UnreadExpression(f"it is nested over {DEEPEST} levels")


def _parsed(expression: str) -> ast.expr:
    if len(expression) > LONGEST:
        raise UnreadExpression(f"it has more than {LONGEST} letters")
    try:
        with computed():
            tree = ast.parse(expression.strip().replace("^", "**"), mode="eval").body
    except SyntaxError:
        raise UnreadExpression from None
    check_depth(tree)
    return tree


def read_terms(expression: str, names: Optional[Collection[str]] = None) -> Terms:
    """Terms of a TFormula. names: the parameters; default: every name. Raises UnreadExpression."""
    with computed():
        return _evaluated(_parsed(expression), names)


def terms_of(tree: ast.expr) -> Optional[Terms]:
    """None: the expression is no sum of terms."""
    try:
        with computed():
            return _evaluated(tree, None)
    except UnreadExpression:
        return None


#: functions that a workspace's own expressions know, and their arguments
SMOOTH = {"exp": 1, "log": 1, "sqrt": 1, "pow": 2}


def smooth_expression(expression: str, names: Collection[str]) -> str:
    """A TFormula as the expression of a workspace's function. Raises UnreadExpression."""
    return ast.unparse(smooth_tree(expression, names))


def smooth_tree(expression: str, names: Optional[Collection[str]] = None) -> ast.expr:
    """The same before it is written. names: the parameters; default: every name."""
    tree = _parsed(expression)
    with computed():
        _check_smooth(tree, names)
    return tree


def _check_smooth(node: ast.AST, names: Optional[Collection[str]]) -> None:
    parts: list[Any] = []
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return
    if isinstance(node, ast.Name) and (names is None or node.id in names):
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        parts = [node.operand]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
        if isinstance(node.op, ast.Div) and _is_integer(node.left) and _is_integer(node.right):
            _refuse_rounded(node, _evaluated(node.left, names), _evaluated(node.right, names))
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        parts = node.args if SMOOTH.get(node.func.id) == len(node.args) else []
    if not parts:
        raise UnreadExpression(f"only sums, products, powers, {', '.join(SMOOTH)} of its parameters")
    for part in parts:
        _check_smooth(part, names)


def _refuse_rounded(node: ast.BinOp, left: Terms, right: Terms) -> None:
    """Refuses a quotient of integers that C++ rounds."""
    if not (_is_integer(node.left) and _is_integer(node.right)):
        return
    text = ast.unparse(node).replace(" ", "")
    exact = left.get((), 0.0) / right[()] if right else 0.0
    if not exact.is_integer() or not right:
        raise UnreadExpression(
            f"an integer division: {text} is {math.trunc(exact)} in ROOT, {exact:g} elsewhere; write "
            f"{text.replace('/', './', 1)}"
        )


def _evaluated(node: ast.AST, names: Optional[Collection[str]]) -> Terms:
    def part(one: ast.AST) -> Terms:
        return _evaluated(one, names)

    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return {(): float(node.value)} if node.value else {}
    if isinstance(node, ast.Name) and (names is None or node.id in names):
        return parameter_terms(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        return plus({}, part(node.operand), -1.0 if isinstance(node.op, ast.USub) else 1.0)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = [part(one) for one in node.args]
        if node.func.id == "sqrt" and len(arguments) == 1:
            return _power(arguments[0], Fraction(1, 2))
        if node.func.id == "pow" and len(arguments) == 2:
            return _power(arguments[0], _number(arguments[1]))
    if isinstance(node, ast.BinOp):
        left, right = part(node.left), part(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return plus(left, right, 1.0 if isinstance(node.op, ast.Add) else -1.0)
        if isinstance(node.op, ast.Mult):
            return times(left, right)
        if isinstance(node.op, ast.Div):
            _refuse_rounded(node, left, right)
            return times(left, _power(right, Fraction(-1)))
        if isinstance(node.op, ast.Pow):
            return _power(left, _number(right))
    raise UnreadExpression


def _is_integer(node: ast.AST) -> bool:
    """Is it an integer in C++, where 1/2 is 0? (A power is none.)"""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp):
        return _is_integer(node.operand)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
        return _is_integer(node.left) and _is_integer(node.right)
    return False


def _number(terms: Terms) -> Fraction:
    if set(terms) - {()}:
        raise UnreadExpression
    return Fraction(terms.get((), 0.0)).limit_denominator(64)


def _power(terms: Terms, power: Fraction) -> Terms:
    if len(terms) == 1:
        ((key, value),) = terms.items()
        if value > 0 or power.denominator == 1:
            return {tuple((name, one * power) for name, one in key): value ** float(power)}
    elif power.denominator == 1 and 0 <= power <= 8:
        found = ONE
        for _ in range(int(power)):
            found = times(found, terms)
        return found
    raise UnreadExpression


def are_factors(terms: Terms, modifiers: list[dict[str, Any]]) -> bool:
    """Has each parameter the power 1, also beside the sample's own factors?"""
    own = {one["name"] for one in modifiers if one["type"] in ("normfactor", "lumi")}
    return all(power == 1 and name not in own for key in terms for name, power in key)


@dataclass
class ScaledSample:
    """A sample before its terms become samples. terms: of what scales it, beside its modifiers."""

    place: Place
    name: str
    data: list[float]
    modifiers: list[dict[str, Any]]
    terms: Terms

    def check(self) -> None:
        """A workspace's factor has the power 1, and a sample has a rate."""
        if not self.terms:
            raise self.place.refuse("its functions are 0, whatever the parameters: it has no rate")
        factors = {one["name"] for one in self.modifiers if one["type"] in ("normfactor", "lumi")}
        for name, power in ((name, power) for key in self.terms for name, power in key):
            if power != 1 or name in factors:
                raise self.place.inexpressible(f"a sample that grows as '{name}'^{power + (name in factors)}")


def expanded(
    samples: list[ScaledSample], factor: Callable[[str], dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """The samples of a channel, notes, and the names of Poisson sets (shapesys) that became staterrors, since
    terms share them.

    factor: the modifier of a parameter's name. Relative widths of sets stay: their errors grow like the
    nominal rates that they belong to."""
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    poisson: list[str] = []
    for sample in samples:
        sample.check()
        changed = [_errors_grown(one, sample, samples) for one in sample.modifiers]
        if len(sample.terms) > 1:
            notes.append(
                sample.place.at(f"functions scale it by a sum; it became {len(sample.terms)} samples")
            )
            for one in changed:
                if one["type"] == "shapesys":
                    one["type"] = "staterror"
                    poisson.append(one["name"])
        for i, (key, value) in enumerate(sample.terms.items()):
            data = [value * content for content in sample.data]
            own = [_of_term(one, i, value) for one in changed] + [factor(name) for name, _ in key]
            name = f"{sample.name}_term{i}" if i else sample.name
            found.append({"name": name, "data": data, "modifiers": own})
    return found, notes, poisson


def _errors_grown(one: dict[str, Any], sample: ScaledSample, samples: list[ScaledSample]) -> dict[str, Any]:
    """A copy of the modifier; errors of bins grow by the ratio of their nominal rates with and without the
    terms."""
    if one["type"] not in ("staterror", "shapesys"):
        return dict(one)
    carriers = [sample]
    if one["type"] == "staterror":
        carriers = [each for each in samples if any(one["name"] == other["name"] for other in each.modifiers)]
    if all(sum(each.terms.values()) == 1.0 for each in carriers):
        return dict(one)
    errors = []
    for b, error in enumerate(one["data"]):
        before = sum(each.data[b] for each in carriers)
        after = sum(each.data[b] * sum(each.terms.values()) for each in carriers)
        if error > 0 and before > 0 and not after > 0:
            raise sample.place.inexpressible(
                f"errors of bin {b}, since the terms of its rate sum to {after:g}"
            )
        errors.append(error * after / before if before > 0 else error)
    return {**one, "data": errors}


def _of_term(one: dict[str, Any], index: int, coefficient: float) -> dict[str, Any]:
    """Modifiers of a term's sample, whose contents have the coefficient. The first term has the errors of
    all."""
    if one["type"] == "histosys":
        sides = one["data"].items()
        data = {side: [coefficient * x for x in row] if side != CODE_KEY else row for side, row in sides}
        return {**one, "data": data}
    if index and MODIFIERS[one["type"]].per_bin and one["data"] is not None:
        return {**one, "data": [0.0] * len(one["data"])}
    return one
