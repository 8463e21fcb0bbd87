"""Interpolation codes in all their spellings: 1, "1" and pyhf's "code1"."""

from __future__ import annotations

from typing import Any, Mapping, Union

Code = Union[int, str]
#: what pyhf takes for a type that its settings do not name
_PYHFS = {"normsys": "code1", "histosys": "code0"}


def pyhfs_code(code: Code) -> str:
    """As pyhf spells it: "code1"."""
    return "code" + str(code).removeprefix("code")


def codes_of(modifier_settings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """normsys_code and histosys_code of pyhf's `modifier_settings`, where a type that is not named has code 1
    or 0. Raises ValueError for other names."""
    for kind, setting in modifier_settings.items():
        if kind not in _PYHFS:
            raise ValueError(f"modifier_settings: {kind!r} has no interpolation, only {', '.join(_PYHFS)}")
        for name in setting:
            if name != "interpcode":
                raise ValueError(f"modifier_settings: {kind} has no setting {name!r}, only 'interpcode'")
    return {
        f"{kind}_code": modifier_settings.get(kind, {}).get("interpcode", code)
        for kind, code in _PYHFS.items()
    }
