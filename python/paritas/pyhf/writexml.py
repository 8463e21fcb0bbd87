"""A workspace, written as HistFactory's XML and ROOT files."""

from __future__ import annotations

from typing import Any

__all__ = ["writexml"]


def __dir__() -> list[str]:
    return __all__


def writexml(spec: Any, specdir: Any, data_rootdir: Any, resultprefix: str) -> bytes:
    """Writes the channels' XML into `specdir` and histograms into `data_rootdir`; the top-level XML is
    returned."""
    from paritas.convert import histfactory_xml

    return histfactory_xml.write(spec, specdir, data_rootdir, resultprefix)
