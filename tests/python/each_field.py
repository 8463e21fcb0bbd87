"""Documents of each format, and all that they become where one field is changed."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import Any, Iterator, NamedTuple

#: what a field becomes; a callable makes it from the old one
CHANGES: dict[str, Any] = {
    "null": None,
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "negative": lambda old: -abs(old) or -1.0 if is_number(old) else -1.0,
    "huge": 1e308,
    "text": "word",
    "list": [],
    "object": {},
    "truth": True,
    "missing": ...,
}


class Case(NamedTuple):
    """place: of the field in its document. document: the changed one, ready for the reader."""

    place: str
    change: str
    document: Any


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- JSON ----


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every value below the top."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(document: Any, path: tuple[Any, ...], change: str) -> Any:
    """A copy with one value changed; None: the change changes nothing."""
    made = copy.deepcopy(document)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    new, old = CHANGES[change], inside[path[-1]]
    new = new(old) if callable(new) else new
    if type(new) is type(old) and new == old:
        return None
    if new is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = new
    return made


def cases_of_json(document: Any) -> Iterator[Case]:
    """JSON has no word for numbers that are not finite: Python writes NaN and Infinity, as others do."""
    for path in places(document):
        for change in CHANGES:
            made = changed(document, path, change)
            if made is not None:
                yield Case("/" + "/".join(map(str, path)), change, json.dumps(made))


WORKSPACE = {
    "channels": [
        {
            "name": "SR",
            "samples": [
                {
                    "name": "signal",
                    "data": [3.0, 4.0],
                    "modifiers": [
                        {"name": "mu", "type": "normfactor", "data": None},
                        {"name": "lumi", "type": "lumi", "data": None},
                    ],
                },
                {
                    "name": "top",
                    "data": [20.0, 30.0],
                    "modifiers": [
                        {"name": "scale", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}},
                        {
                            "name": "shape",
                            "type": "histosys",
                            "data": {"hi_data": [22.0, 31.0], "lo_data": [18.0, 29.0]},
                        },
                        {"name": "errors", "type": "staterror", "data": [1.0, 1.5]},
                    ],
                },
                {
                    "name": "fakes",
                    "data": [5.0, 6.0],
                    "modifiers": [
                        {"name": "each", "type": "shapesys", "data": [0.5, 0.7]},
                        {"name": "free", "type": "shapefactor", "data": None},
                    ],
                },
            ],
        }
    ],
    "observations": [{"name": "SR", "data": [27.0, 42.0]}],
    "measurements": [
        {
            "name": "first",
            "config": {
                "poi": "mu",
                "parameters": [
                    {
                        "name": "lumi",
                        "auxdata": [1.0],
                        "sigmas": [0.02],
                        "bounds": [[0.8, 1.2]],
                        "inits": [1.0],
                    },
                    {"name": "mu", "inits": [1.0], "bounds": [[0.0, 10.0]], "fixed": False},
                ],
            },
        }
    ],
    "version": "1.0.0",
}


# ---- texts of words: cards, XML, tables ----

#: what a word becomes
WORDS = {
    "nan": "nan",
    "infinity": "inf",
    "minus infinity": "-inf",
    "negative": "-1",
    "huge": "1e308",
    "text": "word",
    "null": "null",
    "empty": "",
}


def cases_of_words(text: str) -> Iterator[Case]:
    """Each word of a table or card. place: the line's first word, and the number of the word in it."""
    for line in re.finditer(r".+", text):
        for number, found in enumerate(re.finditer(r"\S+", line[0]), 1):
            yield from replaced(text, f"{line[0].split()[0]} {number}", line.start(), found)


def cases_of_xml(text: str) -> Iterator[Case]:
    """Each attribute and each text of elements. place: tag and attribute."""
    for element in re.finditer(r"<(\w+)([^>]*)>(?:([\w.]+)</)?", text):
        for found in re.finditer(r'(\w+)="([^"]*)"', element[2]):
            yield from replaced(text, f"{element[1]} {found[1]}", element.start(2), found, 2)
        if element[3]:
            yield from replaced(text, element[1], 0, element, 3)


def replaced(text: str, place: str, offset: int, found: re.Match[str], group: int = 0) -> Iterator[Case]:
    start, end = offset + found.start(group), offset + found.end(group)
    for change, word in WORDS.items():
        if word != text[start:end]:
            yield Case(place, change, text[:start] + word + text[end:])


CARD = """imax 2
jmax 1
kmax *
---
shapes * SR {file} $PROCESS $PROCESS_$SYSTEMATIC
shapes * CR FAKE
---
bin SR CR
observation -1 20
---
bin SR SR CR
process signal top top
process 0 1 1
rate -1 -1 18.5
---
lumi lnN 1.02 1.02 0.9/1.1
tilt shape - 1 -
control gmN 25 - - 0.74
flat lnU - 1.5 -
free rateParam SR top 1 [0,5]
width param 0.0 1.0
SR autoMCStats 10
"""
XML = """<Channel Name="SR" InputFile="{file}" HistoPath="">
  <Data HistoName="data_obs"/>
  <StatErrorConfig RelErrorThreshold="0.05" ConstraintType="Gaussian"/>
  <Sample Name="signal" HistoName="signal" NormalizeByTheory="True">
    <NormFactor Name="mu" Val="1" Low="0" High="5" Const="False"/>
    <OverallSys Name="xs" High="1.1" Low="0.92"/>
  </Sample>
  <Sample Name="top" HistoName="top">
    <HistoSys Name="tilt" HistoNameHigh="top_tiltUp" HistoNameLow="top_tiltDown"/>
    <StatError Activate="True"/>
    <ShapeSys Name="each" HistoName="relative" ConstraintType="Poisson"/>
    <ShapeFactor Name="free"/>
  </Sample>
</Channel>
"""
TOP = """<Combination OutputFilePrefix="results/example">
  <Input>channel.xml</Input>
  <Measurement Name="fit" Lumi="1.2" LumiRelErr="0.05" ExportOnly="True">
    <POI>mu</POI>
    <ParamSetting Const="True">alpha_xs</ParamSetting>
  </Measurement>
</Combination>
"""

#: contents and summed squares of weights; None: none
HISTOGRAMS = {
    "data_obs": [[27.0, 42.0], None],
    "signal": [[3.0, 4.0], [0.1, 0.2]],
    "top": [[20.0, 30.0], [1.0, 2.0]],
    "top_tiltUp": [[22.0, 31.0], None],
    "top_tiltDown": [[18.0, 29.0], None],
    "relative": [[0.1, 0.2], None],
}
NUMBERS = ("nan", "infinity", "minus infinity", "negative", "huge")


def cases_of_histograms() -> Iterator[Case]:
    """Each number of each histogram."""
    for path in places(HISTOGRAMS):
        for change in NUMBERS if len(path) == 3 else ():
            place = f"{path[0]}/{('contents', 'squares')[path[1]]}/{path[2]}"
            yield Case(place, change, changed(HISTOGRAMS, path, change))


PATCHES = {
    "metadata": {
        "references": {"hepdata": "ins1234567"},
        "digests": {"md5": ""},
        "labels": ["m"],
        "description": "d",
    },
    "patches": [
        {
            "metadata": {"name": "a", "values": [1]},
            "patch": [{"op": "replace", "path": "/channels/0/samples/1/data", "value": [21.0, 31.0]}],
        }
    ],
    "version": "1.0.0",
}
MOMENTS = {
    "background": [50.0, 51.0],
    "observed": [52.0, 47.0],
    "covariance": [[12.0, 0.2], [0.2, 57.0]],
    "third_moments": [1.0, -2.0],
    "signal": [3.0, 4.0],
    "channels": [{"name": "SR", "bins": 2}],
    "poi": "mu",
}
#: arrays of saved templates
TEMPLATES = {
    "SR_signal": {"yields": [3.0, 4.0], "stdev": [0.1, 0.2], "bins": [0.0, 1.0, 2.0]},
    "SR_observed": {"yields": [27.0, 42.0], "stdev": [0.0, 0.0], "bins": [0.0, 1.0, 2.0]},
}
#: what an array becomes
ARRAYS = {
    "empty": [],
    "text": ["a", "b"],
    "rows": [[1.0, 2.0], [3.0, 4.0]],
    "scalar": 1.0,
    "complex": [1j, 2.0],
    "short": [1.0],
    "missing": ...,
}


def cases_of_templates() -> Iterator[Case]:
    """Each number of each array, and each array."""
    for path in places(TEMPLATES):
        place = "/".join(map(str, path))
        for change in NUMBERS if len(path) == 3 else ():
            made = changed(TEMPLATES, path, change)
            if made is not None:
                yield Case(place, change, made)
        for change, new in ARRAYS.items() if len(path) == 2 else ():
            made = copy.deepcopy(TEMPLATES)
            made[path[0]][path[1]] = new
            yield Case(place, change, made)
