"""Interpolation codes in all their spellings: 1, "1" and pyhf's "code1"."""

from typing import Any, Mapping, Union

Code = Union[int, str]
#: types of modifiers that interpolate
_KINDS = ("normsys", "histosys")


def pyhfs_code(code: Code) -> str:
    """The code as pyhf spells it: "code1"."""
    return "code" + str(code).removeprefix("code")


def codes_of(modifier_settings: Mapping[str, Any]) -> dict[str, Any]:
    """normsys_code and histosys_code of pyhf's `modifier_settings`, {"normsys": {"interpcode": "code1"}}, or
    in short {"normsys": 1}. None, the default, for a type that is not named. Raises ValueError for other
    names."""
    if not isinstance(modifier_settings, Mapping):
        raise ValueError(
            "modifier_settings: a dict is wanted, {'normsys': {'interpcode': 'code1'}} or {'normsys': 1}, "
            f"not {modifier_settings!r}"
        )
    for kind in modifier_settings:
        if kind not in _KINDS:
            raise ValueError(f"modifier_settings: {kind!r} has no interpolation, only {', '.join(_KINDS)}")
    return {f"{kind}_code": _code_of(kind, modifier_settings.get(kind)) for kind in _KINDS}


def _code_of(kind: str, setting: Any) -> Any:
    if setting is None or (isinstance(setting, (int, str)) and not isinstance(setting, bool)):
        return setting
    if not isinstance(setting, Mapping):
        raise ValueError(
            f"modifier_settings: {kind}: {{'interpcode': 'code1'}} or a code is wanted, not {setting!r}"
        )
    for name in setting:
        if name != "interpcode":
            raise ValueError(f"modifier_settings: {kind} has no setting {name!r}, only 'interpcode'")
    return setting.get("interpcode")
