"""pyhf's exceptions."""

from __future__ import annotations

from typing import Any
from warnings import warn


class Unsupported(Exception):
    """An option that does not exist here."""


class InvalidMeasurement(Exception): ...


class InvalidNameReuse(Exception):
    """One name, different parameters."""


class SchemaNotFound(FileNotFoundError): ...


class InvalidSpecification(Exception):
    """A document that breaks its schema at `path`."""

    def __init__(self, ValidationError: Any, schema: str | None = None) -> None:
        self.parent = ValidationError
        self.schema = schema
        self.instance = ValidationError.instance
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in ValidationError.path)
        self.path = "".join(steps).lstrip(".")
        super().__init__(
            f"{ValidationError.message}.\n\tPath: {self.path}\n\tInstance: {self.instance} Schema: {schema}"
        )


class InvalidArchiveHost(Exception):
    """A host that needs `force`."""


class InvalidArchive(Exception): ...


class InvalidPatchSet(Exception): ...


class InvalidPatchLookup(Exception): ...


class PatchSetVerificationError(Exception):
    """A patch set for another document."""


class InvalidWorkspaceOperation(Exception): ...


class UnspecifiedPOI(Exception):
    """No parameter of interest (POI)."""


class InvalidModel(Exception): ...


class InvalidModifier(Exception): ...


class InvalidInterpCode(Exception): ...


class InvalidTestStatistic(Exception): ...


class ImportBackendError(Exception): ...


class InvalidBackend(Exception): ...


class InvalidOptimizer(Exception): ...


class InvalidPdfParameters(Exception): ...


class InvalidPdfData(Exception): ...


class FailedMinimization(Exception):
    """A fit that did not converge: `result`."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(getattr(result, "message", "Unknown failure. The fit result has more details."))


def _deprecated_api_warning(
    deprecated_api: str, new_api: str, deprecated_release: str, remove_release: str
) -> None:
    """Warns in pyhf's words, since programs filter warnings by them. Points at the caller's caller."""
    warn(
        f"{deprecated_api} is deprecated in favor of {new_api} as of pyhf v{deprecated_release} "
        f"and will be removed in pyhf v{remove_release}. Please use {new_api}.",
        DeprecationWarning,
        stacklevel=3,
    )


def refuse_options(options: Any) -> None:
    """Raises Unsupported."""
    if options:
        raise Unsupported(f"Unsupported options were passed in: {list(options)}.")


__all__ = [name for name, value in list(globals().items()) if Exception in getattr(value, "__mro__", ())]
__dir__ = __all__.copy
