"""pyhf's modifier types, and workspaces to convert."""

import re
import sys
from dataclasses import dataclass
from typing import Any, Iterator

from .._engine import InvalidInput
from ..workspace import Workspace
from .conversion import ConversionError


@dataclass(frozen=True)
class ModifierType:
    """role: modifiers of one role may share a parameter name. start, bounds: pyhf's defaults (lumi has none).
    per_bin: one parameter a bin?"""

    role: str
    start: float = 1.0
    bounds: tuple[float, float] = (0.0, 10.0)
    per_bin: bool = False


#: the word for a modifier's own interpolation among its data; beyond pyhf's schema
CODE_KEY = "interpcode"
MODIFIERS = {
    "normsys": ModifierType("alpha", 0.0, (-5.0, 5.0)),
    "histosys": ModifierType("alpha", 0.0, (-5.0, 5.0)),
    "normfactor": ModifierType("factor"),
    "lumi": ModifierType("lumi"),
    "shapefactor": ModifierType("shapefactor", per_bin=True),
    "shapesys": ModifierType("shapesys", bounds=(1e-10, 10.0), per_bin=True),
    "staterror": ModifierType("staterror", bounds=(1e-10, 10.0), per_bin=True),
}


#: content of an empty bin with a factor that acts on variations alone; a width is an error over a content
EMPTY_BIN = 1e-100


def modifier(name: str, kind: str, data: Any = None) -> dict[str, Any]:
    return {"name": name, "type": kind, "data": data}


def modifiers(channel: Any) -> list[tuple[Any, Any]]:
    return [(sample, found) for sample in channel["samples"] for found in sample["modifiers"]]


def histograms(data: Any) -> list[list[float]]:
    sides = data.values() if isinstance(data, dict) else [data]
    return [values for values in sides if isinstance(values, list)]


def configs(measurement: Any) -> dict[str, Any]:
    return {config["name"]: config for config in measurement["config"]["parameters"]}


def _walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Parts of a document with JSON pointers."""
    yield path, value
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(part, (dict, list)):
            yield from _walk(part, f"{path}/{key}")
        else:
            yield f"{path}/{key}", part


class WorkspaceSource:
    """Plain data with the places of its parts. Refused if it breaks pyhf's schema or histogram lengths
    differ. types: what modifiers the other format has. extensions: what it has beyond pyhf's schema:
    "functions", "correlations", "shape", "scale"."""

    types = MODIFIERS
    extensions: tuple[str, ...] = ()

    def __init__(self, spec: Any) -> None:
        if not isinstance(spec, dict):
            raise ConversionError("/", "must be an object")
        try:
            workspace = Workspace(spec)
            workspace.inspect()
        except InvalidInput as error:
            for path, value in _walk(spec):
                if isinstance(value, (int, float)) and not abs(value) <= sys.float_info.max:
                    raise ConversionError(path, "must be a finite number") from None
            _, _, reason = str(error).partition(": ")
            place, colon, why = reason.partition(": ")
            if not colon:  # of the whole document
                place, why = "", reason
            raise ConversionError("/" + re.sub(r"[.\[]", "/", place).replace("]", ""), why) from None
        self.spec = workspace.to_dict()
        self.channels, self.measurements = self.spec["channels"], self.spec["measurements"]
        for config in (one["config"] for one in self.measurements):
            if config.get("functions") and "functions" not in self.extensions:
                named = ", ".join(repr(one["name"]) for one in config["functions"])
                raise self.refuse(config, f"the other format has no such functions: {named}", "functions")
            if config.get("correlations") and "correlations" not in self.extensions:
                named = ", ".join(repr(one["name"]) for one in config["correlations"])
                why = f"the other format has no correlated constraints: {named}"
                raise self.refuse(config, why, "correlations")
            if config.get("penalties"):
                named = ", ".join(repr(one["name"]) for one in config["penalties"])
                raise self.refuse(config, f"the other format has no penalties: {named}", "penalties")
        first = self.measurements[0]["config"] if self.measurements else {}
        #: of the first measurement, by name
        self.functions = {one["name"]: one["expression"] for one in first.get("functions", [])}
        self.observed = {item["name"]: item["data"] for item in self.spec["observations"]}
        self.kinds: dict[str, ModifierType] = {}  # by parameter name
        self.nbins = {channel["name"]: self._check(channel) for channel in self.channels}

    def _check(self, channel: Any) -> int:
        if channel["name"] not in self.observed:
            raise self.refuse(channel, "it has no observation")
        bins = len(self.observed[channel["name"]])
        if channel.get("masked"):
            raise self.refuse(channel, "the other format has no masked channels: prune it", "masked")
        for sample in channel["samples"]:
            self.check_count(sample["data"], bins)
            if "shape" in sample and "shape" not in self.extensions:
                raise self.refuse(
                    sample, "the other format has no clipped, scaled or logarithmic shapes", "shape"
                )
        for _, found in modifiers(channel):
            for values in histograms(found["data"]):
                self.check_count(values, bins)
            scaled = isinstance(found["data"], dict) and found["data"].get("scale", 1) != 1
            if scaled and "scale" not in self.extensions:
                raise self.refuse(found["data"], "the other format interpolates without a scale", "scale")
            if found["type"] not in self.types:
                raise self.refuse(found, f"the format cannot express {found['type']}", "type")
            name, kind = found["name"], self.types[found["type"]]
            if self.kinds.setdefault(name, kind) != kind:
                other = self.kinds[name].role
                raise self.refuse(found, f"'{name}' is also the name of a modifier of another type ({other})")
        return bins

    def place(self, part: Any) -> str:
        return next(path for path, value in _walk(self.spec) if value is part)

    def refuse(self, part: Any, why: str, key: str = "") -> ConversionError:
        """The error for an object, array or key."""
        return ConversionError(self.place(part) + (key and f"/{key}"), why)

    def check_count(self, part: Any, count: int) -> None:
        if len(part) != count:
            raise self.refuse(part, f"must have {count} entries, not {len(part)}")

    def law(self, name: str) -> dict[str, Any]:
        """The parameter's `constraint`, which lies beyond pyhf's schema; {}: its kind's. Measurements must
        agree."""
        found = [configs(measurement).get(name, {}) for measurement in self.measurements]
        laws = [config.get("constraint", {}) for config in found]
        for config, law in zip(found, laws):
            if law != laws[0]:
                raise self.refuse(
                    config or self.measurements[0],
                    f"the constraints of '{name}' differ among measurements; here they belong to the model",
                )
        return laws[0]  # type: ignore[no-any-return]

    def law_of_bins(self, name: str, default: str) -> str:
        """ "gaussian" or "poisson"."""
        law = self.law(name).get("type", default)
        if law not in ("gaussian", "poisson"):
            raise self.refuse(
                configs(self.measurements[0])[name], f"'{name}' has no constraint", "constraint"
            )
        return law  # type: ignore[no-any-return]

    def unused_configs(self, measurement: Any) -> list[str]:
        """Notes on parameters that the channels lack."""
        return [
            f"{self.place(config)}: '{name}' is no parameter of these channels; its configuration was left "
            "out"
            for name, config in configs(measurement).items()
            if name not in self.kinds
        ]
