"""Reads HistFactory's XML and ROOT."""

from ..convert.histfactory_xml import parse

__all__ = ["clear_filecache", "parse"]


def clear_filecache() -> None:
    """No cache here: does nothing."""
