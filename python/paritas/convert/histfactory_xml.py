"""HistFactory's XML with ROOT files to a pyhf workspace, like pyhf's readxml, and back. Needs uproot.

pyhf and the files differ in constraint laws, thresholds and constraint terms. `constraints`: "file" follows
the files or refuses by name; "pyhf" follows pyhf with a note."""

import logging
import math
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, TypeVar

from .._engine import InvalidInput
from ..files import PathLike
from ..workspace import Workspace
from .conversion import Conversion, ConversionError
from .parameter_names import without_alpha
from .pyhf_workspace import MODIFIERS, histograms, modifier
from .root_files import RootFiles
from .xml_functions import Function, expanded, scaled
from .xml_grammar import MODIFIER_ELEMENTS, Element, XmlSource, parse_xml
from .xml_writer import write

__all__ = ["parse", "read", "write"]

log = logging.getLogger(__name__)
_Item = TypeVar("_Item")
_Mounts = Optional[Iterable[tuple[PathLike, PathLike]]]
_GAUSSIAN = ("Gaussian", "Gauss")


def parse(
    configfile: XmlSource,
    rootdir: PathLike,
    mounts: _Mounts = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
) -> dict[str, Any]:
    """pyhf's readxml.parse. Omissions are logged as warnings.

    configfile: the top-level XML file. rootdir: base of relative paths. mounts: pairs (folder here, folder in
        the XML). validation_as_error: raise ConversionError, not log it, if the workspace makes no model."""
    answer = read(configfile, rootdir, mounts, track_progress, validation_as_error, constraints="pyhf")
    for note in answer.notes:
        log.warning(note)
    return answer.spec


def read(
    config: XmlSource,
    rootdir: PathLike,
    mounts: _Mounts = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
    *,
    constraints: str = "file",
) -> Conversion:
    """A Conversion with notes. constraints: "file" or "pyhf", see above. Otherwise like `parse`.

    Raises ConversionError with file, line and element; OSError if a file cannot be read; ImportError without
    uproot."""
    if constraints not in ("file", "pyhf"):
        raise ValueError(f"constraints: must be 'file' or 'pyhf', not {constraints!r}")
    with RootFiles(Path(rootdir), [(Path(host), Path(mount)) for host, mount in mounts or ()]) as files:
        return _Reader(files, constraints == "file").convert(config, track_progress, validation_as_error)


def _progress(items: Sequence[_Item], unit: str, wanted: bool) -> Iterable[_Item]:
    """A progress bar, if wanted and tqdm is installed."""
    if wanted:
        try:
            from tqdm import tqdm
        except ImportError:
            log.warning("no progress is shown: tqdm is not installed")
        else:
            return tqdm(items, unit=unit)  # type: ignore[no-any-return]
    return items


class _Reader:
    """Reads one configuration. `strict`: follow the files, not pyhf."""

    def __init__(self, files: RootFiles, strict: bool) -> None:
        self.files, self.strict = files, strict
        self.notes = files.notes
        self.factors: dict[str, tuple[dict[str, Any], Element]] = {}  # with their places
        self.gaussian: dict[str, Element] = {}
        self.parameters: set[str] = set()
        self.functions: dict[str, Function] = {}
        self.shapes: dict[str, int] = {}  # shapefactors -> most bins

    def _beyond(self, element: Element, what: str) -> None:
        """Refuses what a workspace cannot express; "pyhf" notes it."""
        if self.strict:
            raise element.inexpressible(f"{what} (constraints='pyhf' leaves it out, as pyhf does)")
        self._note(element, f"{what} was left out, as pyhf does")

    def _note(self, element: Element, what: str) -> None:
        self.notes.append(element.at(what))

    def convert(self, config: XmlSource, track_progress: bool, validation_as_error: bool) -> Conversion:
        top = parse_xml(config, "Combination")
        for element in top.all("Function"):
            if self.strict:
                self.functions[element.get("Name")] = Function(element)
            else:
                self._beyond(element, "a function of parameters")
        inputs = [element for element in top.all("Input") if element.text.strip()]
        channels, observations = [], []
        for element in _progress(inputs, "channel", track_progress):
            channel = parse_xml(self.files.resolve(element.text.strip(), element), "Channel")
            name = channel.get("Name")
            observations.append({"name": name, "data": self._observation(channel)})
            channels.append({"name": name, "samples": self._samples(channel)})
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

    def _histogram(self, element: Element, side: str = "", file: str = "") -> tuple[list[float], list[float]]:
        """HistoSys has two sides. Path and file are inherited."""
        name = element.get(f"HistoName{side}")
        if element.tag in ("Sample", "Data"):
            name = element.inherited("HistoName")
        file = file or element.inherited("InputFile")
        for what, given in ((f"HistoName{side}", name), ("InputFile", file)):
            if not given:
                raise element.refuse(f"{what} is missing")
        path = element.get(f"HistoPath{side}") or element.inherited("HistoPath")
        return self.files.histogram(element, file, path, name)

    def _observation(self, channel: Element) -> list[float]:
        data = channel.all("Data")
        if not data:
            raise channel.refuse("it has no <Data>; a workspace must have observed counts")
        for element in data[1:]:
            self._note(element, "a second <Data>; the first was taken")
        return self._histogram(data[0])[0]

    def _samples(self, channel: Element) -> list[dict[str, Any]]:
        samples, statistical = [], []
        for element in channel.all("Sample"):
            contents, errors = self._histogram(element)
            modifiers = []
            if self._follows_lumi(element):
                modifiers.append(modifier("lumi", "lumi"))
            for child in element.children:
                if child.tag != "StatError":
                    modifiers.append(self._modifier(child, contents))
                elif child.flag("Activate"):
                    modifiers.append(self._stat_error(child, channel.get("Name"), contents, errors))
                    statistical.append((contents, modifiers[-1]))
            samples += self._terms(element, contents, modifiers)
            for one in modifiers:
                if one["type"] == "shapefactor":
                    self.shapes[one["name"]] = max(self.shapes.get(one["name"], 0), len(contents))
            self.parameters.update(one["name"] for one in modifiers if not MODIFIERS[one["type"]].per_bin)
        if statistical:
            self._follow_stat_config(channel, statistical)
        return samples

    def _terms(
        self, element: Element, contents: list[float], modifiers: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The sample; or, if functions scale it, one for each term of their product."""
        name = element.get("Name")
        if not any(one["name"] in self.functions for one in modifiers):
            return [{"name": name, "data": contents, "modifiers": modifiers}]
        for function in (self.functions.get(one["name"]) for one in modifiers):
            for one in function.dependents.values() if function else ():
                self.parameters.add(one.name)
                if one.config:
                    self.factors.setdefault(one.name, (one.config, element))
        terms = expanded(element, modifiers, self.functions)
        if len(terms) > 1:
            self._note(element, f"functions scale it by a sum, so that it became {len(terms)} samples")
        return [
            {
                "name": f"{name}_term{i}" if i else name,
                "data": [value * content for content in contents],
                "modifiers": [scaled(value, one) for one in changed],
            }
            for i, (value, changed) in enumerate(terms)
        ]

    def _follows_lumi(self, sample: Element) -> bool:
        """ROOT's default is True, pyhf's False."""
        if not sample.get("NormalizeByTheory"):
            return self.strict
        follows = sample.flag("NormalizeByTheory")
        if self.strict and not follows:
            self._note(
                sample,
                "NormalizeByTheory is False, so that Lumi does not act; ROOT 6.40 applies it all the same",
            )
        return follows

    def _modifier(self, element: Element, contents: list[float]) -> dict[str, Any]:
        name, kind = element.get("Name"), MODIFIER_ELEMENTS[element.tag]
        if not name:
            raise element.refuse("Name is empty")
        data: Any = None
        if kind == "normsys":
            data = {"lo": element.number("Low"), "hi": element.number("High")}
        elif kind == "histosys":
            data = {
                f"{key}_data": self._histogram(element, side, element.get(f"HistoFile{side}"))[0]
                for key, side in (("lo", "Low"), ("hi", "High"))
            }
        elif kind == "shapesys":
            relative, kind = self._histogram(element)[0], self._law_of_shapesys(element)
            data = self._scaled(element, relative, contents)
        elif kind == "normfactor":
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
        return modifier(name, kind, data)

    def _stat_error(
        self, element: Element, channel: str, contents: list[float], errors: list[float]
    ) -> dict[str, Any]:
        if element.get("HistoName"):
            file = element.get("InputFile") or element.get("HistoFile")
            errors = self._scaled(element, self._histogram(element, file=file)[0], contents)
        if not all(error >= 0 for error in errors):
            raise element.refuse(
                "the histogram has negative contents and no errors of its own, so it has no statistical "
                "errors"
            )
        return modifier(f"staterror_{channel}", "staterror", errors)

    def _scaled(self, element: Element, relative: list[float], contents: list[float]) -> list[float]:
        if len(relative) != len(contents):
            raise element.refuse(f"its histogram has {len(relative)} bins, the sample's {len(contents)}")
        return [a * b for a, b in zip(contents, relative)]

    def _law_of_shapesys(self, element: Element) -> str:
        """shapesys (Poisson), or staterror for a Gaussian if strict: equal on one sample."""
        law = element.get("ConstraintType")
        if not law:
            self._note(
                element, "no ConstraintType: Poisson was taken, as pyhf does (ROOT's default is Gaussian)"
            )
        if law in ("", "Poisson"):
            return "shapesys"
        if law not in _GAUSSIAN or not self.strict:
            self._beyond(element, f'ConstraintType="{law}"')
            return "shapesys"
        first = self.gaussian.setdefault(element.get("Name"), element)
        if first is not element:
            raise element.inexpressible(
                f"a Gaussian ShapeSys that samples share; it stands also at {first.file}:{first.line}"
            )
        return "staterror"

    def _follow_stat_config(self, channel: Element, active: list[tuple[list[float], dict[str, Any]]]) -> None:
        """Constraint law of active StatErrors, and threshold for constrained bins."""
        total = [sum(column) for column in zip(*(contents for contents, _ in active))]
        for config in channel.all("StatErrorConfig"):
            law, given = config.get("ConstraintType"), config.get("RelErrorThreshold")
            threshold = config.number("RelErrorThreshold") if given else 0.0
            other_law = law not in ("", *_GAUSSIAN)
            if not self.strict:
                if other_law:
                    self._beyond(config, f'ConstraintType="{law}"')
                if threshold > 0:
                    self._beyond(config, f'RelErrorThreshold="{given}"')
                continue
            errors = [math.hypot(*column) for column in zip(*(one["data"] for _, one in active))]
            for i, (content, error) in enumerate(zip(total, errors)):
                if content > 0 and error / content < threshold:
                    for _, one in active:
                        one["data"][i] = 0.0
            if law == "Poisson" and len(active) == 1:
                active[0][1]["type"] = "shapesys"
            elif other_law:
                self._beyond(
                    config, f'ConstraintType="{law}" of statistical errors that {len(active)} samples share'
                )

    def _measurement(self, element: Element) -> dict[str, Any]:
        lumi = element.number("Lumi")
        width = lumi * element.number("LumiRelErr")
        if width == 0 and "lumi" in self.parameters:
            self._note(
                element,
                "LumiRelErr is 0 and samples are normalized by theory: a lumi without width makes no model",
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
            self._beyond(term, f'Type="{term.get("Type")}" of the constraint of {term.text.strip()}')
        bounds = [[lumi - 5.0 * width, lumi + 5.0 * width]]
        configs: dict[str, dict[str, Any]] = {
            "lumi": {"name": "lumi", "auxdata": [lumi], "bounds": bounds, "inits": [lumi], "sigmas": [width]}
        }
        factors = {name: config for name, (config, _) in self.factors.items() if name not in self.functions}
        configs.update({name: dict(config) for name, config in factors.items()})
        if self.strict:  # ROOT's range
            configs.update(
                {name: {"name": name, "bounds": [[0.0, 1000.0]] * n} for name, n in self.shapes.items()}
            )
        for setting in element.all("ParamSetting"):
            given: dict[str, Any] = {}
            if setting.get("Const"):
                given["fixed"] = setting.flag("Const")
            if setting.get("Val"):
                given["inits"] = [setting.number("Val")]
            for root_name in setting.text.split():
                name = self._parameter(setting, root_name)
                config = configs["lumi"] if name == "lumi" else configs.pop(name, {"name": name})
                configs[name] = {**config, **given}  # set values go last, as in pyhf
        config = {"poi": pois[0], "parameters": list(configs.values())}
        return {"name": element.get("Name"), "config": config}

    def _parameter(self, setting: Element, root_name: str) -> str:
        if root_name.startswith("gamma_"):
            raise setting.refuse(
                f"'{root_name}' is one of several parameters of a set; a pyhf workspace fixes or sets only a "
                "whole set"
            )
        name = "lumi" if root_name == "Lumi" else without_alpha(root_name)
        if name not in self.parameters and name != "lumi":
            self._note(setting, f"'{root_name}' is no parameter of these channels")
        return name


def _problems(spec: dict[str, Any]) -> Iterable[str]:
    try:
        Workspace(spec).inspect()
    except InvalidInput as error:
        yield str(error)
    for channel, observation in zip(spec["channels"], spec["observations"]):
        bins = len(observation["data"])
        for sample in channel["samples"]:
            values = [
                sample["data"],
                *(row for one in sample["modifiers"] for row in histograms(one["data"])),
            ]
            lengths = {len(row) for row in values}
            if lengths != {bins}:
                yield (
                    f"channel '{channel['name']}', sample '{sample['name']}': histograms of "
                    f"{sorted(lengths)} bins, but the data have {bins}"
                )
