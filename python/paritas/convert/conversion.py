"""Results and errors of conversions."""

from dataclasses import dataclass, field
from typing import Any, Optional

from .._engine import InvalidInput
from ..workspace import Workspace

#: pyhf's default interpolation
DEFAULT_CODES = {"normsys": "code4", "histosys": "code4p"}


class ConversionError(InvalidInput):
    """A document is wrong, or the target format cannot express it.

    where: the file, JSON pointer or XML element. why: the reason."""

    status = "INVALID_INPUT"

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


class Place:
    place: str

    def at(self, message: str) -> str:
        """The message with its place: a note."""
        return f"{self.place}: {message}"

    def refuse(self, why: str) -> ConversionError:
        return ConversionError(self.place, why)

    def inexpressible(self, what: str) -> ConversionError:
        return self.refuse(f"a pyhf workspace cannot express {what}")


def settings(codes: dict[str, str]) -> dict[str, dict[str, str]]:
    """pyhf's `modifier_settings`."""
    return {kind: {"interpcode": code} for kind, code in codes.items()}


def refusal_of(spec: dict[str, Any]) -> Optional[str]:
    """Why a workspace that was made gives no model, with the place in it."""
    try:
        workspace = Workspace(spec)
        workspace.inspect()
        for measurement in spec["measurements"]:
            workspace.model(measurement=measurement["name"], poi="")
    except InvalidInput as error:
        return str(error)
    return None


def beyond_pyhf(spec: dict[str, Any]) -> list[str]:
    """A note on what a workspace says beyond pyhf's schema."""
    configs = (one for measurement in spec["measurements"] for one in measurement["config"]["parameters"])
    names = dict.fromkeys(config["name"] for config in configs if "constraint" in config)
    listed = ", ".join(map(repr, names))
    notes = [f"/measurements: pyhf lacks these laws and refuses the workspace: {listed}"] if names else []
    for i, measurement in enumerate(spec["measurements"]):
        if "pois" in measurement["config"]:
            place = f"/measurements/{i}/config/pois"
            notes.append(f"{place}: pyhf has one parameter of interest and refuses the workspace")
        if measurement["config"].get("functions"):
            place = f"/measurements/{i}/config/functions"
            notes.append(f"{place}: pyhf has no functions of parameters and refuses the workspace")
        if measurement["config"].get("correlations"):
            place = f"/measurements/{i}/config/correlations"
            notes.append(f"{place}: pyhf has no correlated constraints and refuses the workspace")
        if measurement["config"].get("penalties"):
            place = f"/measurements/{i}/config/penalties"
            notes.append(f"{place}: pyhf has no penalties and refuses the workspace")
    return notes


@dataclass
class Conversion:
    """A converted document.

    spec: the workspace or HS3 document, in plain lists and dicts.
    notes: what was left out or decided, one sentence each; empty if nothing was lost.
    names: the other format's parameter names -> names here. `name[i]` is element i of a set of one parameter
        a bin.
    modifier_settings: pyhf's interpolation codes for the model, which a workspace cannot carry."""

    spec: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    modifier_settings: dict[str, dict[str, str]] = field(default_factory=lambda: settings(DEFAULT_CODES))
