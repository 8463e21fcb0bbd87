"""Writes HistFactory's XML and ROOT files."""

__all__ = ["writexml"]


def writexml(spec, specdir, data_rootdir, resultprefix: str) -> bytes:
    """Channels into `specdir`, histograms into `data_rootdir`; returns the top-level XML."""
    from ..convert import histfactory_xml

    return histfactory_xml.write(spec, specdir, data_rootdir, resultprefix)
