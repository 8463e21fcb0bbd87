"""The keys of cabinetry's configuration file, and what is wrong with one.

Keys, types and defaults are those of cabinetry 0.6.0's schema. Settings that cabinetry ignores are noted."""

import math
from collections.abc import Mapping
from typing import Any, Callable, Iterable

from .places import Place, nearest

Check = Callable[[Any, Place], None]
ALGORITHM = "353QH, twice"


def text(value: Any, place: Place) -> None:
    if not isinstance(value, str):
        quoted = f'; write "{value}" in quotes' if isinstance(value, (bool, int, float)) else ""
        raise place.refuse(f"must be a text, not {value!r:.40}{quoted}")


def number(value: Any, place: Place) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise place.refuse(f"must be a finite number, not {value!r:.40}")


def flag(value: Any, place: Place) -> None:
    if not isinstance(value, bool):
        raise place.refuse(f"must be True or False, not {value!r:.40}")


def listed(check: Check, least: int = 1) -> Check:
    def checked(value: Any, place: Place) -> None:
        if not isinstance(value, (list, tuple)):
            raise place.refuse(f"must be a list, not {value!r:.40}")
        if len(value) < least:
            raise place.refuse(f"must have at least {least} {'entry' if least == 1 else 'entries'}")
        for i, item in enumerate(value):
            check(item, place / i)

    return checked


def names(value: Any, place: Place) -> None:
    if isinstance(value, str):
        return
    listed(text)(value, place)
    refuse_twice(value, place)


def edges(value: Any, place: Place) -> None:
    listed(number, 2)(value, place)
    for i in range(1, len(value)):
        if value[i] <= value[i - 1]:
            raise place.refuse(f"edges must ascend, but {value[i]} comes after {value[i - 1]}")


def bounds(value: Any, place: Place) -> None:
    listed(number, 2)(value, place)
    if len(value) != 2 or value[0] >= value[1]:
        raise place.refuse("must be a lower and a higher number")


def one_of(*words: str) -> Check:
    def checked(value: Any, place: Place) -> None:
        text(value, place)
        if value not in words:
            known = " or ".join(f"'{word}'" for word in words)
            raise place.refuse(f"must be {known}, not '{value}'{nearest(value, words)}")

    return checked


def keys(required: dict[str, Check], optional: dict[str, Check]) -> Check:
    known = {**required, **optional}

    def checked(value: Any, place: Place) -> None:
        if not isinstance(value, Mapping):
            raise place.refuse(f"must have keys ({', '.join(known)}), not be {value!r:.40}")
        for key in value:
            if key not in known:
                near = nearest(str(key), known) or f"; known here: {', '.join(known)}"
                raise (place / str(key)).refuse(f"this key is not known here{near}")
        for key in required:
            if key not in value:
                raise place.refuse(f"'{key}' is missing")
        for key, one in value.items():
            known[key](one, place / key)

    return checked


_WHERE: dict[str, Check] = {"Regions": names, "Samples": names}
_TEMPLATE = keys(
    {},
    {
        **dict.fromkeys(("Tree", "Weight", "Variable", "Filter", "RegionPath", "VariationPath"), text),
        "SamplePath": names,
        "Normalization": number,
        "Symmetrize": flag,
    },
)
_GENERAL = keys(
    {"Measurement": text, "InputPath": text, "HistogramFolder": text},
    {"POI": text, "VariationPath": text, "Fixed": listed(keys({"Name": text, "Value": number}, {}))},
)
_REGION = keys({"Name": text}, {"Variable": text, "Binning": edges, "Filter": text, "RegionPath": text})
_SAMPLE = keys(
    {"Name": text},
    {
        **dict.fromkeys(("Tree", "Filter", "Weight"), text),
        "SamplePath": names,
        "Data": flag,
        "DisableStaterror": flag,
        "Regions": names,
    },
)
_SYSTEMATIC = keys(
    {"Name": text, "Type": one_of("Normalization", "NormPlusShape"), "Up": _TEMPLATE, "Down": _TEMPLATE},
    {**_WHERE, "ModifierName": text, "Smoothing": keys({"Algorithm": one_of(ALGORITHM)}, _WHERE)},
)
_NORM_FACTOR = keys({"Name": text}, {**_WHERE, "Nominal": number, "Bounds": bounds})
_CONFIG = keys(
    {
        "General": _GENERAL,
        "Regions": listed(_REGION),
        "Samples": listed(_SAMPLE),
        "NormFactors": listed(_NORM_FACTOR),
    },
    {"Systematics": listed(_SYSTEMATIC, 0)},
)


def refuse_twice(found: Iterable[str], place: Place) -> None:
    seen: dict[str, int] = {}
    for i, name in enumerate(found):
        if name in seen:
            raise (place / i).refuse(f"'{name}' stands in {(place / seen[name]).name} too")
        seen[name] = i


def as_list(setting: Any) -> list[str]:
    """A setting that may be one name or several."""
    return [setting] if isinstance(setting, str) else list(setting)


def applies(setting: Mapping[str, Any], key: str, name: str) -> bool:
    """Does Regions or Samples of a setting allow this name? Without it all are allowed."""
    return key not in setting or name in as_list(setting[key])


def _check_systematic(systematic: Mapping[str, Any], place: Place) -> None:
    up, down = systematic["Up"], systematic["Down"]
    if systematic["Type"] == "Normalization":
        for direction, setting in (("Up", up), ("Down", down)):
            if "Normalization" not in setting:
                raise (place / direction).refuse("'Normalization' is missing: the relative change of yields")
    elif up.get("Symmetrize") and down.get("Symmetrize"):
        raise (place / "Down" / "Symmetrize").refuse("Up and Down cannot both be the other's mirror image")


def _unknown_names(config: Mapping[str, Any], root: Place) -> list[str]:
    """Notes on regions, samples and parameters that are named and not there. cabinetry ignores them."""
    notes = []
    there = {kind: [one["Name"] for one in config[kind]] for kind in ("Regions", "Samples")}

    def look(setting: Mapping[str, Any], place: Place) -> None:
        for kind, known in there.items():
            for name in as_list(setting.get(kind, [])):
                if name not in known:
                    notes.append(
                        (place / kind).at(f"no {kind[:-1].lower()} is called '{name}'{nearest(name, known)}")
                    )

    for kind in ("Samples", "NormFactors", "Systematics"):
        for i, one in enumerate(config.get(kind, [])):
            look(one, root / kind / i)
            look(one.get("Smoothing", {}), root / kind / i / "Smoothing")
    parameters = [one["Name"] for kind in ("NormFactors", "Systematics") for one in config.get(kind, [])]
    for i, one in enumerate(config["General"].get("Fixed", [])):
        if one["Name"] not in parameters:
            why = f"no normalisation factor or systematic is called '{one['Name']}', so nothing is fixed"
            notes.append((root / "General" / "Fixed" / i).at(why + nearest(one["Name"], parameters)))
    return notes


def check_config(config: Any, root: Place) -> list[str]:
    """Raises SteeringError; returns notes."""
    _CONFIG(config, root)
    for kind in ("Regions", "Samples", "NormFactors", "Systematics"):
        refuse_twice([one["Name"] for one in config.get(kind, [])], root / kind)
    refuse_twice([one["Name"] for one in config["General"].get("Fixed", [])], root / "General" / "Fixed")
    data = [one["Name"] for one in config["Samples"] if one.get("Data")]
    if len(data) != 1:
        which = f", not {len(data)} ({', '.join(data)})" if data else ""
        raise (root / "Samples").refuse(f"one sample must have 'Data: True'{which}")
    for i, systematic in enumerate(config.get("Systematics", [])):
        _check_systematic(systematic, root / "Systematics" / i)
    return _unknown_names(config, root)
