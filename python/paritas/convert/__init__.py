"""Other formats of HistFactory models to pyhf workspaces and back: HS3 JSON, and HistFactory's XML with ROOT
files.

    from paritas import convert

    answer = convert.hs3.read("workspace.hs3.json")     # answer.spec is a pyhf workspace
    answer = convert.histfactory_xml.read("config/example.xml", "config")
    answer.notes                                        # what the other format says and a workspace cannot,
        or the other way round

A conversion either keeps the likelihood, or says by name and place what it cannot express (ConversionError),
or lists in `notes` what it left out. Nothing here needs the engine; ROOT files need uproot.
"""

from __future__ import annotations

from . import histfactory_xml, hs3
from .conversion import Conversion, ConversionError

__all__ = ["Conversion", "ConversionError", "histfactory_xml", "hs3"]
