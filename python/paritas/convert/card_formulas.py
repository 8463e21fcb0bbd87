"""Expressions of a workspace's functions as formulas of rateParams: @0*@1 with arguments a,b."""

import re
from typing import Callable, Iterator, Mapping

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


def formula(
    expression: str, functions: Mapping[str, str], argument: Callable[[str], str]
) -> tuple[str, list[str]]:
    """The formula and its arguments. functions: expressions to put in place of names. argument: what a
    parameter is called. Integers get a point, since ROOT divides integers without a remainder."""
    arguments: list[str] = []

    def text(part: str) -> str:
        written = []
        for kind, token in tokens(part):
            if kind == "name" and token in functions:
                written.append(f"({text(functions[token])})")
            elif kind == "name":
                name = argument(token)
                if name not in arguments:
                    arguments.append(name)
                written.append(f"@{arguments.index(name)}")
            elif kind == "number":
                written.append(token + ".0" if token.isdigit() else token)
            else:
                written.append("^" if token == "**" else token)
        return "".join(written)

    return text(expression), arguments


def names_in(expression: str) -> list[str]:
    """Parameters and functions, each once."""
    return list(dict.fromkeys(token for kind, token in tokens(expression) if kind == "name"))
