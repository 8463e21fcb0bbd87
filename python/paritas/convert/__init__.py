"""Converts HistFactory models between pyhf workspaces, HS3 JSON, HistFactory's XML and CMS datacards.

    from paritas import convert

    answer = convert.hs3.read("workspace.hs3.json")     # answer.spec is a pyhf workspace
    answer = convert.histfactory_xml.read("config/example.xml", "config")
    answer = convert.datacard.read("card.txt")
    answer.notes                                        # what a format cannot say

The likelihood is kept. What the target cannot express is refused with its place (ConversionError) or noted.
ROOT files need uproot."""

from . import datacard, histfactory_xml, hs3
from .conversion import Conversion, ConversionError

__all__ = ["Conversion", "ConversionError", "datacard", "histfactory_xml", "hs3"]
