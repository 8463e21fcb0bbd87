"""HS3's functions of parameters, as factors of samples (expressions.py), or as functions of a workspace."""

import ast
import re
from typing import Any, Callable, Container, Mapping, Sequence

from .expressions import LONGEST, UnreadExpression, check_depth, computed, read_terms, smooth_tree
from .hs3_document import Document
from .json_nodes import Node

_PARTS = {"product": "factors", "prod": "factors", "sum": "summands"}


class _Inlined(ast.NodeTransformer):
    """Functions of functions, written out."""

    def __init__(self, inner: Callable[[str], ast.expr]) -> None:
        self.inner = inner

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, [self.visit(one) for one in node.args], [])

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.inner(node.id)


def function_tree(document: Document, name: Node, parameters: Container[str]) -> ast.expr:
    """A function by its name, a parameter, or a number, as an expression of parameters alone."""
    try:
        with computed():
            tree = _written_out(document, name, parameters, ())
        check_depth(tree)
    except UnreadExpression as error:
        raise name.inexpressible(f"the function {name.value!r}: {error}") from None
    return tree


def _written_out(
    document: Document, name: Node, parameters: Container[str], within: tuple[str, ...]
) -> ast.expr:
    """within: functions that this one is part of. A few functions of functions could become endless."""
    document.written_out += 1
    if not isinstance(name.value, str):
        return ast.Constant(name.number())
    if name.value in within:
        circle = " > ".join([*within[within.index(name.value) :], name.value])
        raise name.refuse(f"the function '{name.value}' is made from itself: {circle}")
    if name.value in document.tables["functions"]:
        node = document.look_up("functions", name)
        document.written_out += len(str(node.get("expression").value))
        if document.written_out > LONGEST:
            raise name.refuse(f"functions are longer than {LONGEST} letters when they are written out")
        within = (*within, name.value)
        return _tree(node, lambda one: _written_out(document, one, parameters, within))
    if name.value not in parameters:
        raise name.refuse(f"'{name.value}' is neither a function nor in the parameter point")
    return ast.Name(name.value)


def _tree(node: Node, inner: Callable[[Node], ast.expr]) -> ast.expr:
    kind: Any = node.get("type").value
    if kind == "generic_function":
        given = node.object("name type expression")["expression"]
        try:
            tree = smooth_tree(given.string())
        except UnreadExpression as error:
            raise given.inexpressible(f"the function {given.value!r}: {error}") from None
        found: ast.expr = _Inlined(lambda name: inner(Node(name, given.path))).visit(tree)
        return found
    if kind not in _PARTS:
        raise node.inexpressible(f"a function of type {kind!r}")
    factors = _PARTS[kind] == "factors"
    parts = [inner(one) for one in node.object(f"name type {_PARTS[kind]}")[_PARTS[kind]]]
    whole: ast.expr = parts[0] if parts else ast.Constant(1.0 if factors else 0.0)
    for part in parts[1:]:
        whole = ast.BinOp(whole, ast.Mult() if factors else ast.Add(), part)
    return whole


def parameters_of(tree: ast.expr) -> list[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    return list(dict.fromkeys(names))


def written(tree: ast.expr, names: Mapping[str, str]) -> str:
    """The tree as an expression of a workspace. names: of the parameters there."""
    places = {f"parameter_{i}_": f"'{names[name]}'" for i, name in enumerate(parameters_of(tree))}
    to = dict(zip(parameters_of(tree), places))
    text = ast.unparse(_Inlined(lambda name: ast.Name(to[name])).visit(tree))
    return re.sub(r"parameter_\d+_", lambda found: places[found.group()], text)


def refuse_split_sums(document: Document, functions: Sequence[Node]) -> None:
    """ROOT 6.40 writes a function as factors X_part0, X_part1, .. It cuts the text at each `*`, also in sums:
    `0.4*k + 0.7` becomes `0.4` times `k + 0.7`. functions: names of a sample's factors."""
    texts: dict[str, list[str]] = {}
    for name in functions:
        part = re.fullmatch(r"(.+)_part\d+", name.string())
        node = document.tables["functions"].get(name.value)
        if part and node and node.get("expression"):
            texts.setdefault(part.group(1), []).append(node["expression"].string())
    for stem, parts in texts.items():
        whole = "*".join(parts)
        product = "*".join(f"({one})" for one in parts)
        if read_terms(whole) != read_terms(product):
            raise functions[0].refuse(
                f"ROOT wrote the function '{stem}' = {whole} as {product}, which is another function"
            )
