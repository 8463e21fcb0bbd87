"""Reads HistFactory's XML and ROOT."""

from typing import Any

__all__ = ["clear_filecache", "parse"]


def parse(
    configfile: Any,
    rootdir: Any,
    mounts: Any = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
) -> Any:
    """mounts: pairs (folder here, folder in the files)."""
    from ..convert import histfactory_xml

    return histfactory_xml.parse(configfile, rootdir, mounts, track_progress, validation_as_error)


def clear_filecache() -> None:
    """No cache here: does nothing."""
