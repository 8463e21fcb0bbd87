"""HistFactory's XML and ROOT files, read as a workspace."""

from __future__ import annotations

from typing import Any

__all__ = ["clear_filecache", "parse"]


def __dir__() -> list[str]:
    return __all__


def parse(
    configfile: Any,
    rootdir: Any,
    mounts: Any = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
) -> Any:
    """The workspace (a dict) of a top-level XML file; its paths are relative to `rootdir`. mounts: pairs
    (here, there) of folders, where the files name folders that are elsewhere here."""
    from paritas.convert import histfactory_xml

    return histfactory_xml.parse(
        configfile,
        rootdir,
        mounts=mounts,
        track_progress=track_progress,
        validation_as_error=validation_as_error,
    )


def clear_filecache() -> None:
    """Nothing is kept of files between calls."""
