"""Workspaces and patch sets: JSON documents."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Iterator, Mapping

from ._engine import Document, InvalidInput
from .documents import DocumentLike, Documented, document, names_of
from .files import PathLike as Path
from .model import Model


def _pairs(given: Mapping[str, str] | None) -> list[str]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"a mapping from old to new names is wanted, not {given!r}")
    return names_of([name for pair in (given or {}).items() for name in pair])


class Workspace(Documented):
    """A pyhf JSON workspace, or one that a datacard became. Immutable: operations return new ones. sort,
    prune, rename, combine and inspect check its shape and their results (pyhf's schema, no duplicates). They
    raise InvalidInput with the place, or NotFound for an unknown name."""

    def __init__(self, given: DocumentLike) -> None:
        """Makes one of a dict, or of a file's path."""
        self.document = document(given, "workspace")

    @classmethod
    def read(
        cls,
        path: Path,
        *,
        mass: float | str | None = None,
        masks: Iterable[str] = (),
        maps: Iterable[str] = (),
        exact: bool = False,
    ) -> "Workspace":
        """Reads a file: a JSON workspace, or a CMS datacard. Of a datacard, mass is what $MASS stands for in
        names of histograms (None: 120). Its maps "PATTERN:NAME[VALUE,LOW,HIGH]" say which parameter of
        interest scales which CHANNEL/PROCESS. exact: without Combine's roundings. masks: channels left out of
        the likelihood, see `mask`."""
        given = None if mass is None else str(mass)
        return cls(Document.read(os.fspath(path), given, names_of(masks), names_of(maps), exact))

    @classmethod
    def loads(cls, text: str | bytes) -> "Workspace":
        """Reads JSON text."""
        return cls(Document.parse(text.encode() if isinstance(text, str) else text, "workspace"))

    @classmethod
    def from_moments(cls, moments: Mapping[str, Any], form: str = "linear") -> "Workspace":
        """A simplified likelihood of moments, as publications have them. moments: background and observed
        (bins,), covariance (bins, bins), and perhaps third_moments and signal (bins,), channels
        [{"name", "bins"}] and poi. form: "linear", "quadratic" or "common", see `paritas.simplify`."""
        given = {name: rows.tolist() if hasattr(rows, "tolist") else rows for name, rows in moments.items()}
        given.pop("expansion", None)
        return cls(document(given, "moments").simplified(form))

    def __repr__(self) -> str:
        try:
            found = self.inspect()
        except InvalidInput:
            return f"<paritas.Workspace: not valid, {self.digest()}>"
        channels, measurements = (
            ", ".join(one[0] for one in found[part]) for part in ("channels", "measurements")
        )
        return f"<paritas.Workspace: channels {channels}; measurements {measurements}>"

    def __eq__(self, other: object) -> bool:
        """Equal digests; key order does not matter."""
        return self.digest() == other.digest() if isinstance(other, Workspace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest())

    def model(self, **options: Any) -> Model:
        """Its model; options: see `paritas.Model.from_workspace`."""
        return Model.from_workspace(self, **options)

    def patch(self, patch: DocumentLike) -> "Workspace":
        """A copy with a JSON Patch (RFC 6902) applied."""
        return Workspace(self.document.patch(document(patch, "patch")))

    def sort(self) -> "Workspace":
        """Sorts all lists by name, modifiers also by type."""
        return Workspace(self.document.sort())

    def prune(
        self,
        *,
        channels: Iterable[str] = (),
        samples: Iterable[str] = (),
        modifiers: Iterable[str] = (),
        modifier_types: Iterable[str] = (),
        measurements: Iterable[str] = (),
    ) -> "Workspace":
        """Drops channels with observations, samples in all channels, and modifiers (by name or type) with
        configurations."""
        return Workspace(
            self.document.prune(
                names_of(channels),
                names_of(samples),
                names_of(modifiers),
                names_of(modifier_types),
                names_of(measurements),
            )
        )

    def mask(self, channels: Iterable[str]) -> "Workspace":
        """Marks channels that models leave out of the likelihood. Their rates are still expected, and their
        parameters stay."""
        return Workspace(self.document.mask(names_of(channels)))

    def rename(
        self,
        *,
        channels: Mapping[str, str] | None = None,
        samples: Mapping[str, str] | None = None,
        modifiers: Mapping[str, str] | None = None,
        measurements: Mapping[str, str] | None = None,
    ) -> "Workspace":
        """Renames, {old: new}: channels with observations, modifiers with configurations and the parameter of
        interest. All at once, so two names can be swapped."""
        return Workspace(
            self.document.rename(_pairs(channels), _pairs(samples), _pairs(modifiers), _pairs(measurements))
        )

    def split(
        self,
        parameter: str | None = None,
        *,
        groups: Mapping[str, str] | None = None,
        measurement: str | None = None,
    ) -> "Workspace":
        """Gives each group of channels a parameter PARAMETER_GROUP in place of one. None: the parameter of
        interest of the measurement. groups: patterns of channels by name; others have a group each. The new
        ones are the parameters of interest."""
        return Workspace(self.document.split(parameter, measurement, _pairs(groups)))

    def combine(self, other: DocumentLike, join: str = "none", merge_channels: bool = False) -> "Workspace":
        """Combines two workspaces. `join` says what both may have: "none": nothing; "outer": equal channels
        and observations, and measurements of one parameter of interest, whose configurations are merged;
        "left outer" (this one wins) and "right outer" (the other wins): anything. `merge_channels` (not with
        "none"): channels of one name get the samples of both; duplicates are the winner's (with "outer" this
        one's). InvalidInput names what may not be in both; InvalidArgument: unknown join."""
        return Workspace(self.document.combine(document(other, "workspace"), join, merge_channels))

    def inspect(self) -> dict[str, Any]:
        """Contents, with pyhf's keys: channels [[name, bins]], samples [name], modifiers {name: type},
        parameters [[name, constraint]], systematics [[name, constraint, [type]]], sorted by name;
        measurements [[name, parameter of interest, [configured parameter]]], the first being the default;
        counts of channels, samples, parameters and modifiers. `unused` has what no model uses: observations
        [name], parameters [[measurement, name]], pois [[measurement, name]]. Measurements with functions of
        parameters add `functions` [[measurement, name, expression]]; unused ones [[measurement, name]]."""
        found: dict[str, Any] = json.loads(self.document.inspect().text())
        return found

    def digest(self) -> str:
        """pyhf's digest: "sha256:" and 64 digits."""
        return self.document.digest()

    def to_json(self, indent: int = 0) -> str:
        """The workspace as JSON text; `indent` 0: one line."""
        return self.document.text(indent)

    def to_dict(self) -> dict[str, Any]:
        """The workspace as Python objects."""
        found: dict[str, Any] = json.loads(self.document.text())
        return found


class PatchSet(Documented):
    """A pyhf patch set: named patches of one workspace with values of its labels. Iterates over names.

    names: of the patches. labels: of their values, for example masses. values: {name of the patch: tuple}."""

    def __init__(self, given: DocumentLike) -> None:
        self.document = document(given, "patch set")
        self.names: list[str] = self.document.patch_names()

    @property
    def labels(self) -> list[str]:
        return list(self.to_dict()["metadata"]["labels"])

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        patches = [patch["metadata"] for patch in self.to_dict()["patches"]]
        return {patch["name"]: tuple(patch["values"]) for patch in patches}

    def __repr__(self) -> str:
        shown = [*self.names[:3], "..."] if len(self.names) > 4 else self.names
        return f"<paritas.PatchSet: {len(self.names)} patches: {', '.join(shown)}>"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def verify(self, workspace: DocumentLike) -> None:
        """Raises InvalidInput for another workspace."""
        self.document.verify(document(workspace, "workspace"))

    def apply(self, workspace: DocumentLike, name: str) -> Workspace:
        """The workspace with the named patch, after `verify`."""
        return Workspace(self.document.apply(document(workspace, "workspace"), name))

    def to_dict(self) -> dict[str, Any]:
        """The patch set as Python objects: metadata, patches with values."""
        found: dict[str, Any] = json.loads(self.document.text())
        return found
