"""HS3's functions of parameters, as factors of samples (expressions.py)."""

import re
from typing import Any, Container, Sequence

from .expressions import ONE, Terms, UnreadExpression, parameter_terms, plus, read_terms, times
from .hs3_document import Document
from .json_nodes import Node

_PARTS = {"product": "factors", "prod": "factors", "sum": "summands"}


def function_terms(
    document: Document, name: Node, parameters: Container[str], within: tuple[str, ...] = ()
) -> Terms:
    """Of a function by its name, of a parameter, or of a number. within: functions that this one is part
    of."""
    if not isinstance(name.value, str):
        return {(): name.number()} if name.number() else {}
    if name.value in within:
        circle = " > ".join([*within[within.index(name.value) :], name.value])
        raise name.refuse(f"the function '{name.value}' is made from itself: {circle}")
    if name.value in document.tables["functions"]:
        node = document.look_up("functions", name)
        return _terms(document, node, parameters, (*within, name.value))
    if name.value not in parameters:
        raise name.refuse(f"'{name.value}' is neither a function nor in the parameter point")
    return parameter_terms(name.value)


def _terms(document: Document, node: Node, parameters: Container[str], within: tuple[str, ...]) -> Terms:
    def inner(name: Node) -> Terms:
        return function_terms(document, name, parameters, within)

    kind: Any = node.get("type").value
    if kind == "generic_function":
        given = node.object("name type expression")["expression"]
        try:
            terms = read_terms(given.string())
        except UnreadExpression as error:
            raise given.inexpressible(f"the function {given.value!r}: {error}") from None
        found: Terms = {}
        for key, value in terms.items():
            product: Terms = {(): value}
            for name, power in key:
                part = inner(Node(name, given.path))
                if power == 1:
                    product = times(product, part)
                elif part == parameter_terms(name):
                    product = times(product, {((name, power),): 1.0})
                else:
                    raise given.inexpressible(f"a power of the function '{name}'")
            found = plus(found, product)
        return found
    if kind not in _PARTS:
        raise node.inexpressible(f"a function of type {kind!r}")
    factors = _PARTS[kind] == "factors"
    terms = ONE if factors else {}
    for one in node.object(f"name type {_PARTS[kind]}")[_PARTS[kind]]:
        terms = times(terms, inner(one)) if factors else plus(terms, inner(one))
    return terms


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
