"""Interpolation in HS3 (numbers, names, or {type, in, out}) and in pyhf (code0 ... code4p): which are the
same function."""

from __future__ import annotations

from typing import Any, Optional, Union

from .conversion import Node

#: (type, in, out) -> pyhf's code. `out` null means that the inner function goes on.
_STRUCTURED = {
    "normsys": {
        ("mult", "exp", None): "code1",
        ("mult", "exp", "exp"): "code1",
        ("mult", "poly6", "exp"): "code4",
    },
    "histosys": {
        ("add", "poly1", None): "code0",
        ("add", "poly1", "poly1"): "code0",
        ("add", "poly6", "poly1"): "code4p",
    },
}
#: numbers as ROOT counts them, names as the standard (lin, log, poly6) and pyhs3 (pyhf's) give them
_NAMED: dict[str, dict[Union[int, str], str]] = {
    "normsys": {
        1: "code1",
        4: "code4",
        5: "code4",
        "log": "code1",
        "exp": "code1",
        "code1": "code1",
        "code4": "code4",
    },
    "histosys": {
        0: "code0",
        4: "code4p",
        "lin": "code0",
        "code0": "code0",
        "code2": "code2",
        "poly6": "code4p",
        "code4p": "code4p",
    },
}
#: pyhf's code -> what a modifier is given in HS3; None: nothing, since every reader takes this code by
#: default
WRITTEN: dict[str, dict[str, Optional[int]]] = {
    "normsys": {"code1": 1, "code4": None},
    "histosys": {"code0": 0, "code4p": None},
}
DEFAULT = {"normsys": "code4", "histosys": "code4p"}


def pyhf_code(node: Node, kind: str) -> str:
    """pyhf's code for the interpolation that `node` names; ConversionError where pyhf has no such function
    for this kind of modifier."""
    value: Any = node.value
    if isinstance(value, dict):
        node.object("type in", "out")
        key = (node["type"].string(), node["in"].string(), node["out"].string() if node.get("out") else None)
        code = _STRUCTURED[kind].get(key)
    else:
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        code = (
            _NAMED[kind].get(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
        )
    if code is None:
        known = ", ".join(sorted(set(_NAMED[kind].values())))
        raise node.refuse(
            f"the interpolation {node.value!r} of a {kind} is none that a pyhf workspace can express ({known}; HS3's parabolic differs from "
            "code2 beyond 1)"
        )
    return code
