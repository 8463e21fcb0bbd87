"""Interpolations of HS3 and ROOT as codes of a workspace."""

from typing import Any, Optional

from .conversion import DEFAULT_CODES, Place
from .json_nodes import Node
from .pyhf_workspace import CODE_KEY

#: type, parameter, data with code
Variation = tuple[str, str, dict[str, Any]]
Variations = list[Variation]
#: modifier type -> code -> HS3 names: ROOT's numbers, the standard's words (lin, log, poly6), pyhs3's
#: (pyhf's), or (type, in, out). Without `out` the inner function continues.
_NAMES: dict[str, dict[str, tuple[Any, ...]]] = {
    "normsys": {
        "code0": (0, "lin", "code0", ("add", "poly1"), ("add", "poly1", "poly1")),
        "code1": (1, "log", "exp", "code1", ("mult", "exp"), ("mult", "exp", "exp")),
        "code2c": (2, 3, "parabolic", ("add", "poly2", "poly1")),
        "code4": (4, 5, "code4", ("mult", "poly6", "exp")),
    },
    "histosys": {
        "code0": (0, "lin", "code0", ("add", "poly1"), ("add", "poly1", "poly1")),
        "code1": (1, "log", "exp", "code1", ("mult", "exp"), ("mult", "exp", "exp")),
        "code2": ("code2",),
        "code2c": (2, 3, "parabolic", ("add", "poly2", "poly1")),
        "code4p": (4, "poly6", "code4p", ("add", "poly6", "poly1")),
        "code5": (5, ("mult", "poly6", "exp")),
        "code6": (6, ("mult", "poly6", "poly1")),
    },
}
#: what a model can have as its one code for all modifiers of a type in pyhf
PYHFS = {"normsys": ("code1", "code4"), "histosys": ("code0", "code2", "code4p")}
#: code -> ROOT's number; None: all readers' default, omitted
WRITTEN: dict[str, dict[str, Optional[int]]] = {
    "normsys": {"code0": 0, "code1": 1, "code2c": 2, "code4": None},
    "histosys": {"code0": 0, "code1": 1, "code2c": 2, "code4p": None, "code5": 5, "code6": 6},
}
#: ROOT adds these to what the modifiers before made of a sample; the others multiply it
ADDED = {"normsys": ("code0", "code2c"), "histosys": ("code0", "code2", "code2c", "code4p")}


def code_of(node: Optional[Node], kind: str) -> str:
    """The code of a modifier's interpolation; None: HS3's default."""
    if node is None:
        return DEFAULT_CODES[kind]
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
    raise node.inexpressible(f"the interpolation {node.value!r} of a {kind}, only {', '.join(_NAMES[kind])}")


def settle_sums(sample: Place, contents: list[float], variations: Variations) -> Variations:
    """A sample's normsys and histosys as a workspace applies them: first all shifts, then all factors. ROOT
    takes one after the other."""
    added, multiplied = ([one for one in variations if _adds(one) == adds] for adds in (True, False))
    shapes = [one for one in variations if one[0] == "histosys"]
    if shapes and not _adds(shapes[0]) and shapes[0][2][CODE_KEY] == "code6" and len(shapes) > 1:
        # the first multiplies the nominal template, so that it may as well be added
        shapes[0][2][CODE_KEY] = "code4p"
        return settle_sums(sample, contents, variations)
    for kind in DEFAULT_CODES:
        order = [_adds(one) for one in variations if one[0] == kind]
        if order != sorted(order, reverse=True):
            raise sample.inexpressible(f"a {kind} that is added after another was multiplied")
    factors = [one for one in added if one[0] == "normsys"]
    if len(factors) < 2:
        return variations
    if shapes:
        raise sample.inexpressible(f"a sum of {len(factors)} normsys that multiplies histosys")
    for one in factors:  # their sum times the template is a sum of templates
        factor, code = one[2], one[2][CODE_KEY]
        shifted = {f"{side}_data": [factor[side] * rate for rate in contents] for side in ("hi", "lo")}
        added[added.index(one)] = ("histosys", one[1], {**shifted, CODE_KEY: code})
    return added + multiplied


def _adds(variation: Variation) -> bool:
    return variation[2][CODE_KEY] in ADDED[variation[0]]


def settle_codes(data: list[tuple[str, dict[str, Any]]], notes: list[str]) -> dict[str, str]:
    """Codes of a model, by type: one for all if pyhf has that, else the default. Others stay in `data` of
    their modifiers, with a note. data: type and data of all modifiers."""
    model = dict(DEFAULT_CODES)
    used = {kind: {one[CODE_KEY] for of, one in data if of == kind} for kind in model}
    if all(len(codes) <= 1 and codes <= set(PYHFS[kind]) for kind, codes in used.items()):
        model.update({kind: next(iter(codes)) for kind, codes in used.items() if codes})
    else:
        notes.append(
            f"interpolations that pyhf cannot mix or does not have stand in '{CODE_KEY}' of the modifiers' "
            "data, which pyhf refuses"
        )
    if model != DEFAULT_CODES:
        given = ", ".join(f"{kind}_code {code.removeprefix('code')}" for kind, code in model.items())
        notes.append(f"a workspace cannot carry its interpolation: build the model with {given}")
    for kind, one in data:
        if one[CODE_KEY] == model[kind]:
            del one[CODE_KEY]
    return model
