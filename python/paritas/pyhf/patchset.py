"""Patch sets: patches by name or values."""

from typing import Any, Iterator, Mapping

from . import exceptions, schema, utils
from .jsonpatch import JsonPatch
from .workspace import Workspace

__all__ = ["Patch", "PatchSet"]
__dir__ = __all__.copy


def _described(thing: Any, what: str) -> str:
    kind = type(thing)
    return f"<{kind.__module__}.{kind.__qualname__} object {what} at {hex(id(thing))}>"


def _of_metadata(key: str) -> Any:
    return property(lambda self: self._metadata[key])


class Patch(JsonPatch):
    def __init__(self, spec: Any) -> None:
        super().__init__(spec["patch"])
        self._metadata = spec["metadata"]

    @property
    def metadata(self) -> Any:
        return self._metadata

    name = _of_metadata("name")

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self._metadata["values"])

    def __repr__(self) -> str:
        return _described(self, f"'{self.name}{self.values}'")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Patch) and super().__eq__(other) and self.metadata == other.metadata

    __hash__ = JsonPatch.__hash__


class PatchSet:
    """Each patch has a value for each label."""

    def __init__(self, spec: Any, **config_kwargs: Any) -> None:
        if not isinstance(spec, Mapping):
            schema.validate(spec, "patchset.json")  # refuses it
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
                    raise exceptions.InvalidPatchSet(f"Several patches have the {what} {key}.")
            if len(patch.values) != len(self.labels):
                raise exceptions.InvalidPatchSet(
                    f"The patch {patch.name} has {len(patch.values)} values, expected {len(self.labels)}."
                )
            self._patches.append(patch)
            self._patches_by_key[patch.name] = self._patches_by_key[patch.values] = patch

    @property
    def version(self) -> Any:
        return self._version

    @property
    def metadata(self) -> Any:
        return self._metadata

    references = _of_metadata("references")
    description = _of_metadata("description")
    digests = _of_metadata("digests")  # by algorithm
    labels = _of_metadata("labels")  # names of a patch's values

    @property
    def patches(self) -> list[Patch]:
        return self._patches

    def __repr__(self) -> str:
        count = len(self._patches)
        return _described(self, f"with {count} patch{'es' if count != 1 else ''}")

    def __getitem__(self, key: Any) -> Patch:
        """By name or values."""
        key = tuple(key) if isinstance(key, list) else key
        if key not in self._patches_by_key:
            raise exceptions.InvalidPatchLookup(f'No patch associated with "{key}" is in the patch set.')
        return self._patches_by_key[key]

    def __iter__(self) -> Iterator[Patch]:
        return iter(self._patches)

    def __len__(self) -> int:
        return len(self._patches)

    def verify(self, spec: Any) -> None:
        """Raises PatchSetVerificationError."""
        for algorithm, expected in self.digests.items():
            found = utils.digest(spec, algorithm=algorithm)
            if found != expected:
                raise exceptions.PatchSetVerificationError(
                    f"The {algorithm} digest differs. Expected: {expected}. Got: {found}"
                )

    def apply(self, spec: Any, key: Any) -> Workspace:
        """Applies a patch after `verify`."""
        self.verify(spec)
        return Workspace(self[key].apply(dict(spec)))
