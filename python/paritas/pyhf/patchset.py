"""Sets of patches, each told apart by its name and by the values of the set's labels."""

from __future__ import annotations

from typing import Any, Iterator

from paritas.pyhf import exceptions, schema, utils
from paritas.pyhf.jsonpatch import JsonPatch
from paritas.pyhf.workspace import Workspace

__all__ = ["Patch", "PatchSet"]


def __dir__() -> list[str]:
    return __all__


class Patch(JsonPatch):
    """A JSON Patch with metadata."""

    def __init__(self, spec: Any) -> None:
        super().__init__(spec["patch"])
        self._metadata = spec["metadata"]

    @property
    def metadata(self) -> Any:
        return self._metadata

    @property
    def name(self) -> Any:
        return self._metadata["name"]

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self._metadata["values"])

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} object '{self.name}{self.values}' at {hex(id(self))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Patch) and super().__eq__(other) and self.metadata == other.metadata

    __hash__ = JsonPatch.__hash__


class PatchSet:
    """The patches of a document, by name or values. InvalidPatchSet: names or values twice, or another number
    of values than of labels."""

    def __init__(self, spec: Any, **config_kwargs: Any) -> None:
        self.schema = config_kwargs.pop("schema", "patchset.json")
        self._version = config_kwargs.pop("version", spec.get("version", None))
        schema.validate(spec, self.schema, version=self._version)
        self._metadata = spec["metadata"]
        self._patches: list[Patch] = []
        self._patches_by_key: dict[Any, Patch] = {}
        for one in spec["patches"]:
            patch = Patch(one)
            for what, key in (("name", patch.name), ("values", patch.values)):
                if key in self._patches_by_key:
                    raise exceptions.InvalidPatchSet(f"Multiple patches were defined by {what} for {patch}.")
            if len(patch.values) != len(self.labels):
                raise exceptions.InvalidPatchSet(
                    f"Incompatible number of values ({len(patch.values)} for {patch} in patchset. Expected {len(self.labels)}."
                )
            self._patches.append(patch)
            self._patches_by_key[patch.name] = self._patches_by_key[patch.values] = patch

    @property
    def version(self) -> Any:
        return self._version

    @property
    def metadata(self) -> Any:
        return self._metadata

    @property
    def references(self) -> Any:
        return self._metadata["references"]

    @property
    def description(self) -> Any:
        return self._metadata["description"]

    @property
    def digests(self) -> Any:
        """By algorithm, the digest of the document that the patches are for."""
        return self._metadata["digests"]

    @property
    def labels(self) -> Any:
        """What the values of a patch are values of."""
        return self._metadata["labels"]

    @property
    def patches(self) -> list[Patch]:
        return self._patches

    def __repr__(self) -> str:
        count = len(self._patches)
        return f"<{type(self).__module__}.{type(self).__qualname__} object with {count} patch{'es' if count != 1 else ''} at {hex(id(self))}>"

    def __getitem__(self, key: Any) -> Patch:
        """By name, or by values as a tuple or list. InvalidPatchLookup: there is none."""
        try:
            return self._patches_by_key[tuple(key) if isinstance(key, list) else key]
        except KeyError:
            raise exceptions.InvalidPatchLookup(
                f'No patch associated with "{key}" is defined in patchset.'
            ) from None

    def __iter__(self) -> Iterator[Patch]:
        return iter(self._patches)

    def __len__(self) -> int:
        return len(self._patches)

    def verify(self, spec: Any) -> None:
        """Checks all digests. PatchSetVerificationError: this is not the document that the patches are
        for."""
        for algorithm, expected in self.digests.items():
            found = utils.digest(spec, algorithm=algorithm)
            if found != expected:
                raise exceptions.PatchSetVerificationError(
                    f"The digest verification failed for hash algorithm '{algorithm}'. Expected: {expected}. Got: {found}"
                )

    def apply(self, spec: Any, key: Any) -> Workspace:
        """Verifies, then applies a patch."""
        self.verify(spec)
        return Workspace(self[key].apply(dict(spec)))
