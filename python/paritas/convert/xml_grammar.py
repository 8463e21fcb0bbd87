"""HistFactory's XML: rules, a strict parser, and a DTD for ROOT.

Source: K. Cranmer et al., HistFactory: a tool for creating statistical models for use with RooFit and
RooStats, CERN-OPEN-2012-016."""

import re
from dataclasses import dataclass, field
from typing import IO, Any, Optional, Union
from xml.parsers import expat

from ..files import PathLike
from .conversion import ConversionError, Place

#: a file's path, or an open file
XmlSource = Union[PathLike, IO[bytes], IO[str]]
_SIZE_LIMIT = 64 << 20
_TEXT = "(#PCDATA)"

#: element -> (DTD content, required attributes, optional attributes)
RULES = {
    "Combination": ("(Function*, Input+, Measurement*)", "OutputFilePrefix", "Mode"),
    "Function": ("EMPTY", "Name Expression Dependents", ""),
    "Input": (_TEXT, "", ""),
    "Measurement": (
        "(POI+, ParamSetting*, ConstraintTerm*)",
        "Name Lumi LumiRelErr",
        "BinLow BinHigh Mode ExportOnly",
    ),
    "POI": (_TEXT, "", ""),
    "ParamSetting": (_TEXT, "", "Val Const"),
    "ConstraintTerm": (_TEXT, "Type", "RelativeUncertainty"),
    "Channel": ("(Data*, StatErrorConfig*, Sample+)", "Name", "InputFile HistoPath HistoName"),
    "Data": ("EMPTY", "", "InputFile HistoPath HistoName"),
    "StatErrorConfig": ("EMPTY", "", "RelErrorThreshold ConstraintType"),
    "Sample": (
        "(StatError | HistoSys | OverallSys | ShapeSys | NormFactor | ShapeFactor)*",
        "Name",
        "InputFile HistoName HistoPath NormalizeByTheory",
    ),
    "StatError": ("EMPTY", "Activate", "HistoName InputFile HistoFile HistoPath"),
    "HistoSys": (
        "EMPTY",
        "Name",
        "InputFile HistoFileHigh HistoPathHigh HistoNameHigh HistoFileLow HistoPathLow HistoNameLow",
    ),
    "OverallSys": ("EMPTY", "Name High Low", ""),
    "ShapeSys": ("EMPTY", "Name HistoName", "HistoPath InputFile ConstraintType"),
    "NormFactor": ("EMPTY", "Name Val High Low", "Const"),
    "ShapeFactor": ("EMPTY", "Name", ""),
}
#: modifier element -> pyhf's type
MODIFIER_ELEMENTS = {
    "StatError": "staterror",
    "HistoSys": "histosys",
    "OverallSys": "normsys",
    "ShapeSys": "shapesys",
    "NormFactor": "normfactor",
    "ShapeFactor": "shapefactor",
}


def dtd() -> str:
    lines = ["<!-- HistFactory: a combination with its measurements, and the channels that it reads -->"]
    for name, (content, required, optional) in RULES.items():
        lines.append(f"<!ELEMENT {name} {content}>")
        attributes = [f"{key} CDATA #REQUIRED" for key in required.split()]
        attributes += [f"{key} CDATA #IMPLIED" for key in optional.split()]
        if attributes:
            lines.append(f"<!ATTLIST {name} {' '.join(attributes)}>")
    return "\n".join(lines) + "\n"


@dataclass
class Element(Place):
    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    parent: Optional["Element"] = None
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    @property
    def place(self) -> str:  # type: ignore[override]
        name = f' Name="{self.attributes["Name"]}"' if "Name" in self.attributes else ""
        return f"{self.file}:{self.line}: <{self.tag}{name}>"

    def get(self, key: str) -> str:
        """ "" if absent, as in ROOT."""
        return self.attributes.get(key, "")

    def name(self) -> str:
        """Refuses an empty one."""
        if not self.get("Name"):
            raise self.refuse("Name is empty")
        return self.get("Name")

    def inherited(self, key: str) -> str:
        """Value of this element or of its nearest ancestor."""
        return self.get(key) or (self.parent.inherited(key) if self.parent else "")

    def number(self, key: str) -> float:
        given = f'{key}="{self.attributes[key]}"'
        try:
            value = float(self.attributes[key])
        except ValueError:
            raise self.refuse(f"{given} is not a number") from None
        if not abs(value) < float("inf"):
            raise self.refuse(f"{given} is not finite")
        return value

    def flag(self, key: str) -> bool:
        text = self.get(key).lower()
        if text not in ("", "true", "1", "false", "0"):
            raise self.refuse(f'{key}="{self.get(key)}" is neither True nor False')
        return text in ("true", "1")

    def all(self, tag: str) -> list["Element"]:
        return [child for child in self.children if child.tag == tag]


class _Builder:
    def __init__(self, file: str, root_tag: str) -> None:
        self.file, self.root_tag = file, root_tag
        self.document = self.open = Element("", {}, file, 0)
        self.parser = parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler, parser.SkippedEntityHandler = self.entity, self.skipped

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent, where = self.open, f"in <{self.open.tag}>"
        element = Element(tag, attributes, self.file, self.parser.CurrentLineNumber, parent)
        allowed = [self.root_tag]
        if parent is self.document:
            where = f"where <{self.root_tag}> is expected"
            if tag == "Channel" and self.root_tag == "Combination":
                where += ": give the file whose <Input> elements name this one"
        else:
            allowed = re.findall(r"\w+", RULES[parent.tag][0])
        if tag not in RULES or tag not in allowed:
            raise element.refuse(f"the element <{tag}> is not known {where}")
        _, required, optional = RULES[tag]
        for key in required.split():
            if key not in attributes:
                raise element.refuse(f"the attribute {key} is missing")
        for key in attributes:
            if key not in f"{required} {optional}".split():
                raise element.refuse(f"the attribute {key} is not known here")
        parent.children.append(element)
        self.open = element

    def end(self, _: str) -> None:
        self.open = self.open.parent or self.document

    def characters(self, text: str) -> None:
        if RULES[self.open.tag][0] == _TEXT:
            self.open.text += text
        elif text.strip():
            raise self.open.refuse(f"there must be no text here: {text.strip()[:40]!r}")

    def refuse(self, why: str) -> ConversionError:
        return ConversionError(f"{self.file}:{self.parser.CurrentLineNumber}", why)

    def entity(self, name: str, *_: Any) -> None:
        raise self.refuse(
            f"it declares the entity '{name}'; entities are refused, since they can expand without bound or "
            "name other files"
        )

    def skipped(self, name: str, _: Any) -> None:
        raise self.refuse(f"the entity '{name}' is not declared")


def parse_xml(source: XmlSource, root_tag: str) -> Element:
    """The tree of a configuration. A DOCTYPE is never fetched.

    Refused with file and line: entity declarations (unbounded expansion, other files), undeclared entities,
    elements and attributes, missing attributes, files above 64 MiB."""
    if hasattr(source, "read"):
        data, file = source.read(_SIZE_LIMIT + 1), str(getattr(source, "name", "(stream)"))
    else:
        with open(source, "rb") as stream:
            data, file = stream.read(_SIZE_LIMIT + 1), str(source)
    if len(data) > _SIZE_LIMIT:
        raise ConversionError(file, f"a configuration has no more than {_SIZE_LIMIT >> 20} MiB")
    builder = _Builder(file, root_tag)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ConversionError(
            f"{file}:{error.lineno}", f"not XML: {expat.errors.messages[error.code]}"
        ) from None
    return builder.document.children[0]
