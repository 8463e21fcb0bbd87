"""HistFactory's XML: its elements and attributes, a parser that keeps to them, and the DTD that says the same
to ROOT.

Source: K. Cranmer et al., HistFactory: a tool for creating statistical models for use with RooFit and
RooStats, CERN-OPEN-2012-016.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, Any, Optional, Union
from xml.parsers import expat

from ..files import PathLike
from .conversion import ConversionError

#: no configuration is larger; what is, is no configuration
_SIZE_LIMIT = 64 << 20


@dataclass(frozen=True)
class _Rule:
    content: str  # as a DTD says it
    required: str = ""
    optional: str = ""

    def children(self) -> set[str]:
        return set(self.content.translate(str.maketrans("(),|*+?", "       ")).split()) - {"EMPTY", "#PCDATA"}


RULES = {
    "Combination": _Rule("(Function*, Input+, Measurement*)", "OutputFilePrefix", "Mode"),
    "Function": _Rule("EMPTY", "Name Expression Dependents"),
    "Input": _Rule("(#PCDATA)"),
    "Measurement": _Rule(
        "(POI+, ParamSetting*, ConstraintTerm*)", "Name Lumi LumiRelErr", "BinLow BinHigh Mode ExportOnly"
    ),
    "POI": _Rule("(#PCDATA)"),
    "ParamSetting": _Rule("(#PCDATA)", "", "Val Const"),
    "ConstraintTerm": _Rule("(#PCDATA)", "Type", "RelativeUncertainty"),
    "Channel": _Rule("(Data*, StatErrorConfig*, Sample+)", "Name", "InputFile HistoPath HistoName"),
    "Data": _Rule("EMPTY", "", "InputFile HistoPath HistoName"),
    "StatErrorConfig": _Rule("EMPTY", "", "RelErrorThreshold ConstraintType"),
    "Sample": _Rule(
        "(StatError | HistoSys | OverallSys | ShapeSys | NormFactor | ShapeFactor)*",
        "Name",
        "InputFile HistoName HistoPath NormalizeByTheory",
    ),
    "StatError": _Rule("EMPTY", "Activate", "HistoName InputFile HistoFile HistoPath"),
    "HistoSys": _Rule(
        "EMPTY",
        "Name",
        "InputFile HistoFileHigh HistoPathHigh HistoNameHigh HistoFileLow HistoPathLow HistoNameLow",
    ),
    "OverallSys": _Rule("EMPTY", "Name High Low"),
    "ShapeSys": _Rule("EMPTY", "Name HistoName", "HistoPath InputFile ConstraintType"),
    "NormFactor": _Rule("EMPTY", "Name Val High Low", "Const"),
    "ShapeFactor": _Rule("EMPTY", "Name"),
}


def dtd() -> str:
    """The rules as a document type definition, which ROOT's reader validates against."""
    lines = ["<!-- HistFactory: a combination with its measurements, and the channels that it reads -->"]
    for name, rule in RULES.items():
        lines.append(f"<!ELEMENT {name} {rule.content}>")
        attributes = [f"{key} CDATA #REQUIRED" for key in rule.required.split()] + [
            f"{key} CDATA #IMPLIED" for key in rule.optional.split()
        ]
        if attributes:
            lines.append(f"<!ATTLIST {name} " + " ".join(attributes) + ">")
    return "\n".join(lines) + "\n"


@dataclass
class Element:
    """An element of a configuration, with its place."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def refuse(self, why: str) -> ConversionError:
        name = f' Name="{self.attributes["Name"]}"' if "Name" in self.attributes else ""
        return ConversionError(f"{self.file}:{self.line}: <{self.tag}{name}>", why)

    def get(self, key: str, default: str = "") -> str:
        """An attribute; one that is empty counts as absent, as in ROOT."""
        return self.attributes.get(key) or default

    def number(self, key: str) -> float:
        try:
            value = float(self.attributes[key])
        except ValueError:
            raise self.refuse(f'{key}="{self.attributes[key]}" is no number') from None
        if not abs(value) < float("inf"):
            raise self.refuse(f'{key}="{self.attributes[key]}" is not finite')
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        text = self.get(key)
        if not text:
            return default
        if text.lower() in ("true", "1"):
            return True
        if text.lower() in ("false", "0"):
            return False
        raise self.refuse(f'{key}="{text}" is neither True nor False')

    def all(self, tag: str) -> list["Element"]:
        return [child for child in self.children if child.tag == tag]


def parse_xml(source: Union[PathLike, IO[bytes], IO[str]], root_tag: str) -> Element:
    """The tree of a configuration. Refused, with file and line: declarations of entities (which could expand
    without bound or name other files) and references to undeclared ones, elements and attributes that the
    rules do not know, missing attributes, files above 64 MiB. A DOCTYPE is allowed and never fetched."""
    opened = None if hasattr(source, "read") else open(source, "rb")
    stream: Any = opened or source
    file = str(getattr(stream, "name", "(stream)"))
    try:
        data = stream.read(_SIZE_LIMIT + 1)
    finally:
        if opened is not None:
            opened.close()
    if len(data) > _SIZE_LIMIT:
        raise ConversionError(file, f"a configuration has no more than {_SIZE_LIMIT >> 20} MiB")
    parser = expat.ParserCreate()
    stack: list[Element] = []
    root: list[Element] = []

    def here(why: str) -> ConversionError:
        return ConversionError(f"{file}:{parser.CurrentLineNumber}", why)

    def entity(name: str, *_: Any) -> None:
        raise here(
            f"it declares the entity '{name}'; entities are refused, since they can expand without bound or name other files"
        )

    def skipped(name: str, _: Any) -> None:
        raise here(f"the entity '{name}' is not declared")

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        rule: Optional[_Rule] = RULES.get(tag)
        if rule is None or (tag not in RULES[stack[-1].tag].children() if stack else tag != root_tag):
            where = f"in <{stack[-1].tag}>" if stack else f"where <{root_tag}> is wanted"
            raise element.refuse(f"the element <{tag}> is not known {where}")
        for key in rule.required.split():
            if key not in attributes:
                raise element.refuse(f"the attribute {key} is missing")
        for key in attributes:
            if key not in (rule.required + " " + rule.optional).split():
                raise element.refuse(f"the attribute {key} is not known here")
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        if "(#PCDATA)" == RULES[stack[-1].tag].content:
            stack[-1].text += text
        elif text.strip():
            raise stack[-1].refuse(f"text where none is wanted: {text.strip()[:40]!r}")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.EntityDeclHandler, parser.SkippedEntityHandler = entity, skipped
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ConversionError(
            f"{file}:{error.lineno}", f"no XML: {expat.errors.messages[error.code]}"
        ) from None
    return root[0]
