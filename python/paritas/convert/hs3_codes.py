"""HS3's interpolations as pyhf's codes."""

from typing import Any, Optional

from .json_nodes import Node

#: modifier type -> pyhf's code -> HS3 names: ROOT's number, the standard's words (lin, log, poly6), pyhs3's
#: (pyhf's), or (type, in, out). Without `out` the inner function continues.
_NAMES: dict[str, dict[str, tuple[Any, ...]]] = {
    "normsys": {
        "code1": (1, "log", "exp", "code1", ("mult", "exp"), ("mult", "exp", "exp")),
        "code4": (4, 5, "code4", ("mult", "poly6", "exp")),
    },
    "histosys": {
        "code0": (0, "lin", "code0", ("add", "poly1"), ("add", "poly1", "poly1")),
        "code2": ("code2",),
        "code4p": (4, "poly6", "code4p", ("add", "poly6", "poly1")),
    },
}
#: pyhf's code -> number; None: all readers' default, omitted
WRITTEN: dict[str, dict[str, Optional[int]]] = {
    "normsys": {"code1": 1, "code4": None},
    "histosys": {"code0": 0, "code4p": None},
}


def pyhf_code(node: Node, kind: str) -> str:
    value: Any = node.value
    if isinstance(value, dict):
        node.object("type in", "out")
        value = tuple(node[key].string() for key in ("type", "in", "out") if node.get(key))
    elif isinstance(value, str) and value.isdigit():
        value = int(value)
    if not isinstance(value, (bool, float)):
        for code, names in _NAMES[kind].items():
            if value in names:
                return code
    raise node.inexpressible(
        f"the interpolation {node.value!r} of a {kind}, only {', '.join(_NAMES[kind])} "
        "(HS3's parabolic differs from code2 beyond 1)"
    )
