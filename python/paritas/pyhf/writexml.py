"""Writes HistFactory's XML and ROOT files."""

from typing import Any

__all__ = ["writexml"]


def writexml(spec: Any, specdir: Any, data_rootdir: Any, resultprefix: str) -> bytes:
    """Channels into `specdir`, histograms into `data_rootdir`; returns the top-level XML."""
    from ..convert import histfactory_xml

    return histfactory_xml.write(spec, specdir, data_rootdir, resultprefix)
