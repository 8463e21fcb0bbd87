"""The exceptions of this interface, by pyhf's names."""

from __future__ import annotations

from typing import Any

__all__ = [
    "FailedMinimization",
    "ImportBackendError",
    "InvalidArchive",
    "InvalidArchiveHost",
    "InvalidBackend",
    "InvalidInterpCode",
    "InvalidMeasurement",
    "InvalidModel",
    "InvalidModifier",
    "InvalidNameReuse",
    "InvalidOptimizer",
    "InvalidPatchLookup",
    "InvalidPatchSet",
    "InvalidPdfData",
    "InvalidPdfParameters",
    "InvalidSpecification",
    "InvalidTestStatistic",
    "InvalidWorkspaceOperation",
    "PatchSetVerificationError",
    "SchemaNotFound",
    "UnspecifiedPOI",
    "Unsupported",
]


def __dir__() -> list[str]:
    return __all__


class Unsupported(Exception):
    """An option that exists nowhere, or not here."""


class InvalidMeasurement(Exception):
    """No such measurement."""


class InvalidNameReuse(Exception):
    """One name stands for parameters that differ."""


class SchemaNotFound(FileNotFoundError):
    """No such schema document."""


class InvalidSpecification(Exception):
    """A document breaks its schema: `path` says where, `instance` is what stands there."""

    def __init__(self, ValidationError: Any, schema: str | None = None) -> None:
        self.parent = ValidationError
        self.schema = schema
        self.instance = ValidationError.instance
        self.path = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in ValidationError.path
        ).lstrip(".")
        super().__init__(
            f"{ValidationError.message}.\n\tPath: {self.path}\n\tInstance: {self.instance} Schema: {schema}"
        )


class InvalidArchiveHost(Exception):
    """Archives are not fetched from this host unless asked for with force."""


class InvalidArchive(Exception):
    """What was fetched is not an archive."""


class InvalidPatchSet(Exception):
    """A patch set that contradicts itself."""


class InvalidPatchLookup(Exception):
    """No patch of that name or of those values."""


class PatchSetVerificationError(Exception):
    """A patch set was made for another document."""


class InvalidWorkspaceOperation(Exception):
    """Workspaces that cannot be combined, or names that are not there to be pruned or renamed."""


class UnspecifiedPOI(Exception):
    """A test needs a parameter of interest."""


class InvalidModel(Exception):
    """A specification that is no model."""


class InvalidModifier(Exception):
    """A modifier of unknown type, or of the wrong shape."""


class InvalidInterpCode(Exception):
    """No such interpolation."""


class InvalidTestStatistic(Exception):
    """No such test statistic."""


class ImportBackendError(Exception):
    """A backend that is not there."""


class InvalidBackend(Exception):
    """No backend has this name."""


class InvalidOptimizer(Exception):
    """No optimizer has this name."""


class InvalidPdfParameters(Exception):
    """As many parameters as the model has were expected."""


class InvalidPdfData(Exception):
    """As many data as the model has were expected."""


class FailedMinimization(Exception):
    """A fit did not converge; `result` says how far it came."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(getattr(result, "message", "Unknown failure. The fit result has more details."))
