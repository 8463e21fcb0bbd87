"""CMS datacards to workspaces and back.

`read` is the library's reader (docs/datacards.md). `write` makes a card, and a ROOT file of its histograms
beside it. What a card cannot say is refused with its place."""

import json
import os
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Union

from .. import _engine
from ..files import PathLike, write_text
from ..interpolation import Code
from ..workspace import Workspace
from .card_writer import Card, CardWriter, root_file
from .conversion import DEFAULT_CODES, Conversion
from .root_files import write_histograms

__all__ = ["from_pyhf", "groups", "read", "write"]


def _code(code: Code) -> str:
    text = str(code)
    return text if text == "lnN" or text.startswith("code") else f"code{text}"


def read(
    path: PathLike,
    *,
    mass: Optional[Union[float, str]] = None,
    masks: Iterable[str] = (),
    maps: Iterable[str] = (),
    exact: bool = False,
) -> Conversion:
    """The workspace of a card. mass: what $MASS stands for; None: 120. masks: channels left out of the
    likelihood. maps: "PATTERN:NAME[VALUE,LOW,HIGH]", which parameter scales which process. exact: without
    Combine's roundings."""
    workspace = Workspace.read(path, mass=mass, masks=masks, maps=maps, exact=exact)
    names = json.loads(workspace.document.card_names().text())
    return Conversion(workspace.to_dict(), names={theirs: one["name"] for theirs, one in names.items()})


def groups(path: PathLike) -> dict[str, list[str]]:
    """Groups of a card's nuisances by their names, as `breakdown` takes them. Workspaces do not keep them."""
    found: dict[str, list[str]] = json.loads(_engine.Document.card_groups(os.fspath(path)).text())
    return found


def from_pyhf(
    spec: Any,
    file: str,
    *,
    normsys_code: Code = DEFAULT_CODES["normsys"],
    histosys_code: Code = DEFAULT_CODES["histosys"],
) -> Card:
    """The card of a workspace: its `text`, `histograms` for the ROOT file that it calls `file`, `names` of
    parameters there -> here, and `notes`.

    normsys_code, histosys_code: of modifiers without an interpcode of their own; "lnN" takes such normsys as
        lognormals. Raises ConversionError with the place."""
    spec = {"version": "1.0.0", **spec} if isinstance(spec, Mapping) else spec
    codes = {"normsys": _code(normsys_code), "histosys": _code(histosys_code)}
    return CardWriter(spec, file, codes).card()


def write(spec: Any, path: PathLike, **options: Any) -> Card:
    """Writes `from_pyhf` to a file, and its histograms, if there are any, beside it: NAME.root."""
    beside = root_file(Path(path))
    card = from_pyhf(spec, beside.name, **options)
    if card.histograms:
        write_histograms(beside, card.histograms)
    write_text(card.text, path)
    return card
