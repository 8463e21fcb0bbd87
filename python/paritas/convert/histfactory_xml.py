"""HistFactory's XML and ROOT files to a pyhf workspace (as pyhf's readxml does it) and back.

ROOT files go through uproot, which is wanted only here. Where pyhf and the files differ (laws of constraints,
thresholds, constraint terms), `constraints` says who is followed: "file" represents what the files say or
refuses it by name, "pyhf" takes pyhf's choice and notes it.
"""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Iterable, Optional, Sequence, TypeVar, Union

from ..files import PathLike
from .conversion import Conversion, ConversionError
from .root_files import RootFiles
from .xml_grammar import Element, parse_xml
from .xml_writer import write

if TYPE_CHECKING:
    Mounts = Optional[Iterable[tuple[PathLike, PathLike]]]

__all__ = ["parse", "read", "write"]

log = logging.getLogger(__name__)
_Item = TypeVar("_Item")


def parse(
    config: Union[PathLike, IO[bytes], IO[str]],
    rootdir: PathLike,
    mounts: "Mounts" = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
) -> dict[str, Any]:
    """The workspace that pyhf's readxml.parse makes of these files; what it leaves out is logged as warnings.

    config: the top-level XML file; rootdir: where relative paths in it start; mounts: pairs (where the files
        are, where the XML says they are).
    validation_as_error: whether a workspace that no model can be made of raises ConversionError or is logged.
    """
    answer = read(config, rootdir, mounts, track_progress, validation_as_error, constraints="pyhf")
    for note in answer.notes:
        log.warning(note)
    return answer.spec


def read(
    config: Union[PathLike, IO[bytes], IO[str]],
    rootdir: PathLike,
    mounts: "Mounts" = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
    *,
    constraints: str = "file",
) -> Conversion:
    """As `parse`, and answers a Conversion with the notes. constraints: "file" or "pyhf", see above.
    Raises ConversionError with file, line and element; OSError where a file cannot be read; ImportError where
    uproot is not installed."""
    if constraints not in ("file", "pyhf"):
        raise ValueError(f"constraints: 'file' or 'pyhf', not {constraints!r}")
    with RootFiles(Path(rootdir), [(Path(host), Path(mount)) for host, mount in mounts or ()]) as files:
        return _Reader(files, constraints == "file").convert(config, track_progress, validation_as_error)


def _progress(items: Sequence[_Item], unit: str, wanted: bool) -> Iterable[_Item]:
    """A bar, where one is wanted and tqdm is installed."""
    if wanted:
        try:
            from tqdm import tqdm
        except ImportError:
            log.warning("no progress is shown: tqdm is not installed")
        else:
            return tqdm(items, unit=unit)  # type: ignore[no-any-return]
    return items


class _Reader:
    def __init__(self, files: RootFiles, strict: bool) -> None:
        self.files, self.strict = files, strict
        self.notes: list[str] = files.notes
        self.factors: dict[str, tuple[dict[str, Any], Element]] = {}
        self.shared: dict[str, Element] = {}
        self.gammas: set[str] = set()
        self.parameters: set[str] = set()

    def _beyond(self, element: Element, what: str) -> None:
        """Something said in the files that this workspace does not say: refused, or noted where pyhf is
        followed."""
        if self.strict:
            raise element.refuse(
                f"{what} cannot stand in a pyhf workspace (constraints='pyhf' leaves it out, as pyhf does)"
            )
        self._note(element, f"{what} was left out, as pyhf does")

    def _note(self, element: Element, what: str) -> None:
        self.notes.append(str(element.refuse(what)))

    def convert(
        self, config: Union[PathLike, IO[bytes], IO[str]], track_progress: bool, validation_as_error: bool
    ) -> Conversion:
        top = parse_xml(config, "Combination")
        for function in top.all("Function"):
            self._beyond(function, "a function of parameters")
        inputs = [(element, element.text.strip()) for element in top.all("Input") if element.text.strip()]
        channels, observations = [], []
        for element, name in _progress(inputs, "channel", track_progress):
            path = self.files.resolve(name)
            if not path.is_file():
                raise element.refuse(f"there is no file {path}")
            channel = parse_xml(path, "Channel")
            observations.append({"name": channel.attributes["Name"], "data": self._observation(channel)})
            channels.append({"name": channel.attributes["Name"], "samples": self._channel(channel)})
        spec = {
            "measurements": [self._measurement(element) for element in top.all("Measurement")],
            "channels": channels,
            "observations": observations,
            "version": "1.0.0",
        }
        for problem in _problems(spec):
            if validation_as_error:
                raise ConversionError(top.file, problem)
            self.notes.append(f"{top.file}: {problem}")
        return Conversion(spec, self.notes)

    # Channels

    def _histogram(
        self,
        element: Element,
        parents: Sequence[Element],
        kind: str = "",
        file_keys: Sequence[str] = ("InputFile",),
    ) -> tuple[list[float], list[float]]:
        """Contents and errors of the histogram that HistoName (HistoPath, InputFile), with an ending, name;
        file and path are inherited from the parents."""

        def inherited(key: str) -> str:
            return next((parent.get(key) for parent in parents if parent.get(key)), "")

        name = element.get(f"HistoName{kind}") or (
            inherited("HistoName") if element.tag in ("Sample", "Data") else ""
        )
        file = next((element.get(key) for key in file_keys if element.get(key)), "") or inherited("InputFile")
        path = element.get(f"HistoPath{kind}") or inherited("HistoPath")
        for what, given in ((f"HistoName{kind}", name), ("InputFile", file)):
            if not given:
                raise element.refuse(f"{what} is missing")
        return self.files.histogram(element, file, path, name)

    def _observation(self, channel: Element) -> list[float]:
        data = channel.all("Data")
        if not data:
            raise channel.refuse("it has no <Data>; a workspace wants observed counts")
        for element in data[1:]:
            self._note(element, "a second <Data>; the first was taken")
        return self._histogram(data[0], [channel])[0]

    def _channel(self, channel: Element) -> list[dict[str, Any]]:
        samples, statistical = [], []
        for element in channel.all("Sample"):
            contents, errors = self._histogram(element, [channel])
            modifiers: list[dict[str, Any]] = []
            if element.flag("NormalizeByTheory"):
                modifiers.append({"name": "lumi", "type": "lumi", "data": None})
                self.parameters.add("lumi")
            for child in element.children:
                modifier = self._modifier(child, [element, channel], contents, errors)
                if modifier is not None:
                    modifiers.append(modifier)
                    (
                        self.gammas
                        if modifier["type"] in ("staterror", "shapesys", "shapefactor")
                        else self.parameters
                    ).add(modifier["name"])
                    if child.tag == "StatError":
                        statistical.append((contents, modifier))
            samples.append({"name": element.attributes["Name"], "data": contents, "modifiers": modifiers})
        self._statistical(channel, statistical)
        return samples

    def _modifier(
        self, element: Element, parents: Sequence[Element], contents: list[float], errors: list[float]
    ) -> Optional[dict[str, Any]]:
        """One modifier of a sample with these contents and errors; None for a StatError that is not
        active."""
        name = element.get("Name")
        if not name and element.tag != "StatError":
            raise element.refuse("Name is empty")
        if element.tag == "OverallSys":
            return {
                "name": name,
                "type": "normsys",
                "data": {"lo": element.number("Low"), "hi": element.number("High")},
            }
        if element.tag == "NormFactor":
            config: dict[str, Any] = {
                "name": name,
                "bounds": [[element.number("Low"), element.number("High")]],
                "inits": [element.number("Val")],
            }
            if element.get("Const"):
                config["fixed"] = element.flag("Const")
            known, first = self.factors.setdefault(name, (config, element))
            if known != config:
                raise element.refuse(
                    f"Val, Low, High or Const differ from those at {first.file}:{first.line}"
                )
            return {"name": name, "type": "normfactor", "data": None}
        if element.tag == "ShapeFactor":
            return {"name": name, "type": "shapefactor", "data": None}
        if element.tag == "HistoSys":
            lo, _ = self._histogram(element, parents, "Low", ("HistoFileLow", "InputFile"))
            hi, _ = self._histogram(element, parents, "High", ("HistoFileHigh", "InputFile"))
            return {"name": name, "type": "histosys", "data": {"lo_data": lo, "hi_data": hi}}
        if element.tag == "ShapeSys":
            relative, _ = self._histogram(element, parents)
            return {
                "name": name,
                "type": self._law_of_shapesys(element),
                "data": self._scaled(element, relative, contents),
            }
        if not element.flag("Activate"):
            return None
        if element.get("HistoName"):
            relative, _ = self._histogram(element, parents, "", ("InputFile", "HistoFile"))
            errors = self._scaled(element, relative, contents)
        if not all(error >= 0 for error in errors):
            raise element.refuse(
                "the histogram has negative contents and no errors of its own, so a statistical error cannot be had"
            )
        return {"name": f"staterror_{parents[-1].attributes['Name']}", "type": "staterror", "data": errors}

    def _scaled(self, element: Element, relative: list[float], contents: list[float]) -> list[float]:
        if len(relative) != len(contents):
            raise element.refuse(f"its histogram has {len(relative)} bins, the sample's {len(contents)}")
        return [a * b for a, b in zip(contents, relative)]

    def _law_of_shapesys(self, element: Element) -> str:
        """shapesys (Poisson), or staterror where the files say Gaussian and are followed: on one sample both
        are a factor a bin with a constraint."""
        law = element.get("ConstraintType")
        if not law:
            self._note(
                element, "no ConstraintType: Poisson was taken, as pyhf does (ROOT's default is Gaussian)"
            )
        if law in ("", "Poisson"):
            return "shapesys"
        if law not in ("Gaussian", "Gauss") or not self.strict:
            self._beyond(element, f'ConstraintType="{law}"')
            return "shapesys"
        first = self.shared.setdefault(element.attributes["Name"], element)
        if first is not element:
            raise element.refuse(
                f"the same Gaussian ShapeSys stands at {first.file}:{first.line}; shared among samples it cannot stand in a pyhf workspace"
            )
        return "staterror"

    def _statistical(self, channel: Element, active: list[tuple[list[float], dict[str, Any]]]) -> None:
        """What a channel's StatErrorConfig says of its active StatErrors: the law of their constraints and
        the threshold below which they are none."""
        if not active:
            return
        for config in channel.all("StatErrorConfig"):
            law, threshold = (
                config.get("ConstraintType"),
                config.number("RelErrorThreshold") if config.get("RelErrorThreshold") else 0.0,
            )
            if not self.strict:
                if law not in ("", "Gaussian", "Gauss"):
                    self._beyond(config, f'ConstraintType="{law}"')
                if threshold > 0:
                    self._beyond(config, f'RelErrorThreshold="{config.get("RelErrorThreshold")}"')
                continue
            total = [sum(column) for column in zip(*(contents for contents, _ in active))]
            errors = [math.hypot(*column) for column in zip(*(modifier["data"] for _, modifier in active))]
            for i, (content, error) in enumerate(zip(total, errors)):
                if content > 0 and error / content < threshold:
                    for _, modifier in active:
                        modifier["data"][i] = 0.0
            if law == "Poisson" and len(active) == 1:
                active[0][1]["type"] = "shapesys"
            elif law not in ("", "Gaussian", "Gauss"):
                self._beyond(
                    config, f'ConstraintType="{law}" of statistical errors that {len(active)} samples share'
                )

    # Measurements

    def _measurement(self, element: Element) -> dict[str, Any]:
        lumi = element.number("Lumi")
        width = lumi * element.number("LumiRelErr")
        if width == 0 and "lumi" in self.parameters:
            self._note(
                element,
                "LumiRelErr is 0 where samples are normalized by theory: no model can be made of a lumi without width",
            )
        pois = [name for poi in element.all("POI") for name in (poi.text.split() or [""])]
        if not pois:
            raise element.refuse("it has no <POI>")
        if len(pois) > 1:
            self._note(element, f"of {len(pois)} parameters of interest the first, '{pois[0]}', was taken")
        for key in ("BinLow", "BinHigh"):
            if element.get(key):
                self._note(element, f"{key} was left out, as pyhf does: all bins of the histograms are taken")
        for term in element.all("ConstraintTerm"):
            self._beyond(term, f'Type="{term.attributes["Type"]}" of the constraint of {term.text.strip()}')
        configs: dict[str, dict[str, Any]] = {
            "lumi": {
                "name": "lumi",
                "auxdata": [lumi],
                "bounds": [[lumi - 5.0 * width, lumi + 5.0 * width]],
                "inits": [lumi],
                "sigmas": [width],
            }
        }
        configs.update({name: dict(config) for name, (config, _) in self.factors.items()})
        for setting in element.all("ParamSetting"):
            given: dict[str, Any] = {}
            if setting.get("Const"):
                given["fixed"] = setting.flag("Const")
            if setting.get("Val"):
                given["inits"] = [setting.number("Val")]
            for root_name in setting.text.split():
                name = self._parameter(setting, root_name)
                # what is set goes last, as in pyhf
                config = configs["lumi"] if name == "lumi" else configs.pop(name, {"name": name})
                config.update(given)
                configs[name] = config
        return {
            "name": element.attributes["Name"],
            "config": {"poi": pois[0], "parameters": list(configs.values())},
        }

    def _parameter(self, setting: Element, root_name: str) -> str:
        if root_name.startswith("gamma_"):
            raise setting.refuse(
                f"'{root_name}' is one of several parameters of a set, which a pyhf workspace fixes or sets only as a whole"
            )
        name = (
            "lumi"
            if root_name == "Lumi"
            else root_name[len("alpha_") :]
            if root_name.startswith("alpha_")
            else root_name
        )
        if name not in self.parameters and name != "lumi":
            self._note(setting, f"'{root_name}' is no parameter of these channels")
        return name


def _problems(spec: dict[str, Any]) -> Iterable[str]:
    """Why no model could be made of a workspace."""
    for key in ("channels", "measurements"):
        if not spec[key]:
            yield f"there are no {key}"
        names = [item["name"] for item in spec[key]]
        yield from (
            f"two {key} are called '{name}'" for name in dict.fromkeys(names) if names.count(name) > 1
        )
    for channel, observation in zip(spec["channels"], spec["observations"]):
        bins = len(observation["data"])
        names = [sample["name"] for sample in channel["samples"]]
        if not names:
            yield f"channel '{channel['name']}' has no samples"
        yield from (
            f"channel '{channel['name']}' has two samples '{name}'"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        )
        for sample in channel["samples"]:
            lengths = {len(sample["data"])}
            for modifier in sample["modifiers"]:
                data = modifier["data"]
                lengths |= (
                    {len(data)}
                    if isinstance(data, list)
                    else {len(side) for side in data.values() if isinstance(side, list)}
                    if data
                    else set()
                )
            if lengths != {bins}:
                yield f"channel '{channel['name']}', sample '{sample['name']}': histograms of {sorted(lengths)} bins where the data have {bins}"
