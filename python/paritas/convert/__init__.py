"""Converts other formats of HistFactory models to pyhf workspaces and back: HS3 JSON, and HistFactory's XML
with ROOT files.

    from paritas import convert

    answer = convert.hs3.read("workspace.hs3.json")     # answer.spec is a pyhf workspace
    answer = convert.histfactory_xml.read("config/example.xml", "config")
    answer.notes                                        # what one of the formats cannot say

A conversion keeps the likelihood. What the target cannot express is refused with its place (ConversionError)
or left out with a note. ROOT files need uproot.
"""

from __future__ import annotations

from . import histfactory_xml, hs3
from .conversion import Conversion, ConversionError

__all__ = ["Conversion", "ConversionError", "histfactory_xml", "hs3"]
