"""Expressions of a workspace's functions as ROOT's formulas."""

import re
from typing import Callable, Iterable, Iterator, Mapping

from .expressions import SMOOTH

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|'(?P<quoted>[^']*)'"
    r"|(?P<name>[A-Za-z_][\w.:\[\]]*)|(?P<sign>\*\*|[-+*/^(),]))"
)


def tokens(expression: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of an expression that the library has read."""
    at, end = 0, len(expression.rstrip())
    while at < end:
        found = _TOKEN.match(expression, at)
        if found is None:
            raise ValueError(f"unknown character at {at}")
        kind = str(found.lastgroup)
        at = found.end()
        called = expression[at:].lstrip().startswith("(")
        if kind == "name" and found[kind] in SMOOTH and called:
            yield "function", found[kind]
        else:
            yield ("name" if kind == "quoted" else kind), found[kind]


def formula(expression: str, functions: Mapping[str, str], called: Callable[[str], str]) -> str:
    """The formula. functions: expressions to put in place of names. called: what stands for a parameter.
    Integers get a point, since ROOT divides integers without a remainder."""
    written = []
    for kind, token in tokens(expression):
        if kind == "name" and token in functions:
            written.append(f"({formula(functions[token], functions, called)})")
        elif kind == "name":
            written.append(called(token))
        elif kind == "number":
            written.append(token + ".0" if token.isdigit() else token)
        else:
            written.append("^" if token == "**" else token)
    return "".join(written)


def numbered(
    expression: str, functions: Mapping[str, str], called: Callable[[str], str]
) -> tuple[str, list[str]]:
    """The formula of arguments @0, @1 .., and what these are called."""
    arguments: list[str] = []

    def place(name: str) -> str:
        if called(name) not in arguments:
            arguments.append(called(name))
        return f"@{arguments.index(called(name))}"

    return formula(expression, functions, place), arguments


def parameters_in(functions: Mapping[str, str], used: Iterable[str]) -> list[str]:
    """Parameters that these functions need, also by others."""
    found: dict[str, None] = {}
    todo = list(used)
    while todo:
        for name in names_in(functions[todo.pop()]):
            if name in functions:
                todo.append(name)
            else:
                found[name] = None
    return list(found)


def names_in(expression: str) -> list[str]:
    """Parameters and functions, each once."""
    return list(dict.fromkeys(token for kind, token in tokens(expression) if kind == "name"))
