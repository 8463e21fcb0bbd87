"""HistFactory's XML with ROOT files to a pyhf workspace, like pyhf's readxml, and back. Needs uproot.

pyhf and the files differ in constraint laws, thresholds and constraint terms. `constraints`: "file" follows
the files or refuses by name; "pyhf" follows pyhf with a note."""

import logging
import math
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, TypeVar

from ..files import PathLike
from .conversion import Conversion, ConversionError, beyond_pyhf, refusal_of
from .expressions import ONE, ScaledSample, Terms, are_factors, expanded, product_of
from .parameter_names import without_alpha
from .pyhf_workspace import EMPTY_BIN, MODIFIERS, histograms, modifier
from .root_files import Histogram, RootFiles
from .xml_constraints import (
    SHAPE_BOUNDS,
    STATISTICAL_LAW,
    STATISTICAL_THRESHOLD,
    Term,
    in_single,
    law_of,
    read_terms,
)
from .xml_functions import Function
from .xml_gammas import GammaSettings
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
        self.functions: dict[str, Function] = {}
        self.kept: dict[str, str] = {}  # expressions of functions that are no sums of factors
        self.shape_bins: dict[str, int] = {}  # of shapefactors
        self.types: dict[str, set[str]] = {}  # of modifiers, by name; without those of bins
        self.poisson: list[str] = []  # staterrors with that law
        self.gammas = GammaSettings()

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
            name = channel.name()
            observations.append({"name": name, "data": self._observation(channel)})
            channels.append({"name": name, "samples": self._samples(channel)})
        measurements = [self._measurement(element) for element in top.all("Measurement")]
        self.gammas.drop_constant(channels)
        spec = {
            "measurements": measurements,
            "channels": channels,
            "observations": observations,
            "version": "1.0.0",
        }
        for problem in _problems(spec):
            if validation_as_error:
                raise ConversionError(top.file, problem)
            self.notes.append(f"{top.file}: {problem}")
        self.notes += beyond_pyhf(spec)
        return Conversion(spec, self.notes)

    def _histogram(self, element: Element, side: str = "", file: str = "") -> Histogram:
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
            histogram = self._histogram(element)
            contents, modifiers = histogram.contents, []
            if self.strict and element.all("ShapeSys"):
                self._fill_empty_bins(element, contents)
            if self._follows_lumi(element):
                modifiers.append(modifier("lumi", "lumi"))
            for child in element.children:
                stem = child.get("Name")
                if child.tag != "StatError":
                    modifiers.append(self._modifier(child, contents))
                elif child.flag("Activate"):
                    modifiers.append(self._stat_error(child, channel.get("Name"), histogram))
                    statistical.append((histogram, modifiers[-1]))
                    stem = f"stat_{channel.get('Name')}"
                else:
                    continue
                if MODIFIERS[modifiers[-1]["type"]].per_bin:
                    self.gammas.add_set(stem, modifiers[-1]["name"], histogram.shape)
            samples.append(self._scaled_sample(element, contents, modifiers))
        if statistical:
            self._follow_stat_config(channel, statistical)
        found, notes, poisson = expanded(samples, lambda name: modifier(name, "normfactor"))
        self.notes += notes
        self.poisson += poisson
        return found

    def _fill_empty_bins(self, sample: Element, contents: list[float]) -> None:
        """Lets factors of a ShapeSys act on a HistoSys where the sample is empty."""
        rows = [
            self._histogram(one, side, one.get(f"HistoFile{side}")).contents
            for one in sample.all("HistoSys")
            for side in ("Low", "High")
        ]
        for b, content in enumerate(contents):
            if content == 0 and any(b < len(row) and row[b] != 0 for row in rows):
                contents[b] = EMPTY_BIN

    def _scaled_sample(
        self, element: Element, contents: list[float], modifiers: list[dict[str, Any]]
    ) -> ScaledSample:
        """The sample with the terms of its functions, which stand as factors."""
        terms: Optional[Terms] = ONE
        rest: list[dict[str, Any]] = []
        scaling: list[tuple[dict[str, Any], Function]] = []
        for one in modifiers:
            if not MODIFIERS[one["type"]].per_bin:
                self.types.setdefault(one["name"], set()).add(one["type"])
            function = self.functions.get(one["name"]) if one["type"] == "normfactor" else None
            if not function:
                rest.append(one)
                continue
            scaling.append((one, function))
            terms = None if terms is None else product_of(terms, function.terms)
            for dependent in function.dependents.values():
                self.types.setdefault(dependent.name, set()).add("normfactor")
                if dependent.config:
                    self.factors.setdefault(dependent.name, (dependent.config, element))
        if terms is None or not are_factors(terms, rest):
            terms = ONE
            rest += [one for one, _ in scaling]
            self.kept.update({one["name"]: function.expression for one, function in scaling})
        # errors of bins are set later, in place
        return ScaledSample(element, element.name(), contents, rest, terms)

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
        name, kind = element.name(), MODIFIER_ELEMENTS[element.tag]
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
        elif kind == "shapefactor":
            self.shape_bins[name] = max(len(contents), self.shape_bins.get(name, 0))
        elif kind == "normfactor":
            config: dict[str, Any] = {
                "name": name,
                "bounds": [[element.number("Low"), element.number("High")]],
                "inits": [element.number("Val")],
            }
            if element.get("Const"):
                self._take_const(element, config)
            known, first = self.factors.setdefault(name, (config, element))
            if known != config:
                raise element.refuse(
                    f"Val, Low, High or Const differ from those at {first.file}:{first.line}"
                )
        return modifier(name, kind, data)

    def _take_const(self, element: Element, config: dict[str, Any]) -> None:
        """ROOT warns of a factor's own Const, and lets the factor float. pyhf holds it."""
        if not self.strict:
            config["fixed"] = element.flag("Const")
        elif element.flag("Const"):
            name = element.get("Name")
            self._note(
                element,
                f"Const is ignored, as ROOT does: '{name}' floats. <ParamSetting Const=\"True\">{name}"
                "</ParamSetting> in the Measurement holds it",
            )

    def _stat_error(self, element: Element, channel: str, sample: Histogram) -> dict[str, Any]:
        errors, single = sample.errors, sample.single
        if element.get("HistoName"):
            relative = self._histogram(element, file=element.get("InputFile") or element.get("HistoFile"))
            errors, single = self._scaled(element, relative.contents, sample.contents), relative.single
        if not all(0 <= error < math.inf for error in errors):
            raise element.refuse(
                "the histogram has negative contents and no errors of its own, or errors that are no "
                "numbers, so it has no statistical errors"
            )
        if self.strict and single:
            errors = [in_single(error) for error in errors]
        return modifier(f"staterror_{channel}", "staterror", errors)

    def _scaled(self, element: Element, relative: list[float], contents: list[float]) -> list[float]:
        if len(relative) != len(contents):
            raise element.refuse(f"its histogram has {len(relative)} bins, the sample's {len(contents)}")
        return [a * b for a, b in zip(contents, relative)]

    def _law_of_shapesys(self, element: Element) -> str:
        """shapesys (Poisson), or staterror for a Gaussian if strict: equal on one sample."""
        if not self.strict:
            law = element.get("ConstraintType")
            if not law:
                what = "no ConstraintType: Poisson was taken, as pyhf does (ROOT's default is Gaussian)"
                self._note(element, what)
            elif law != "Poisson":
                self._beyond(element, f'ConstraintType="{law}"')
            return "shapesys"
        if law_of(element, "Gaussian") == "poisson":
            return "shapesys"
        first = self.gaussian.setdefault(element.get("Name"), element)
        if first is not element:
            raise element.inexpressible(
                f"a Gaussian ShapeSys that samples share; it stands also at {first.file}:{first.line}"
            )
        return "staterror"

    def _follow_stat_config(self, channel: Element, active: list[tuple[Histogram, dict[str, Any]]]) -> None:
        """Constraint law of active StatErrors, and threshold for constrained bins."""
        configs = channel.all("StatErrorConfig")
        for config in configs if not self.strict else ():
            law, given = config.get("ConstraintType"), config.get("RelErrorThreshold")
            if law not in ("", *_GAUSSIAN):
                self._beyond(config, f'ConstraintType="{law}"')
            if given and config.number("RelErrorThreshold") > 0:
                self._beyond(config, f'RelErrorThreshold="{given}"')
        if not self.strict:
            return
        if not configs:
            what = (
                f"no StatErrorConfig: {STATISTICAL_LAW} above {STATISTICAL_THRESHOLD:g} was taken, as in ROOT"
            )
            self._note(channel, what)
        config = configs[-1] if configs else channel
        threshold = STATISTICAL_THRESHOLD
        if "RelErrorThreshold" in config.attributes:
            threshold = config.number("RelErrorThreshold")
        total = [sum(column) for column in zip(*(histogram.contents for histogram, _ in active))]
        errors = [math.hypot(*column) for column in zip(*(one["data"] for _, one in active))]
        for i, (content, error) in enumerate(zip(total, errors)):
            if not (content > 0 and error > 0):
                continue
            width, factor = error / content, 1.0
            if active[0][0].single:  # ROOT stores the widths like the first sample
                factor = in_single(width) / width
            factor = factor if width * factor >= threshold else 0.0
            for _, one in active:
                one["data"][i] *= factor
        if law_of(config, STATISTICAL_LAW) == "gaussian":
            return
        if len(active) == 1:
            active[0][1]["type"] = "shapesys"  # pyhf's name of the same
        else:
            self.poisson.append(active[0][1]["name"])

    def _measurement(self, element: Element) -> dict[str, Any]:
        lumi = element.number("Lumi")
        width = lumi * element.number("LumiRelErr")
        if width == 0 and "lumi" in self.types:
            self._note(
                element,
                "LumiRelErr is 0 and samples are normalized by theory: a lumi without width makes no model",
            )
        pois = [name for poi in element.all("POI") for name in (poi.text.split() or [""])]
        if not pois:
            raise element.refuse("it has no <POI>")
        if len(pois) > 1 and not self.strict:
            self._note(element, f"of {len(pois)} parameters of interest the first, '{pois[0]}', was taken")
        for key in ("BinLow", "BinHigh"):
            if element.get(key):
                self._note(element, f"{key} was left out, as pyhf does: all bins of the histograms are taken")
        terms: dict[str, Term] = {}
        if self.strict:
            terms = read_terms(element, self.types, self.notes)
        for said in element.all("ConstraintTerm") if not self.strict else ():
            self._beyond(said, f'Type="{said.get("Type")}" of the constraint of {said.text.strip()}')
        bounds = [[lumi - 5.0 * width, lumi + 5.0 * width]]
        configs: dict[str, dict[str, Any]] = {
            "lumi": {"name": "lumi", "auxdata": [lumi], "bounds": bounds, "inits": [lumi], "sigmas": [width]}
        }
        factors = {name: config for name, (config, _) in self.factors.items() if name not in self.functions}
        configs.update({name: dict(config) for name, config in factors.items()})
        configs.update({name: {"name": name, **term.config} for name, term in terms.items()})
        for name, bins in self.shape_bins.items() if self.strict else ():
            configs[name] = {"name": name, "bounds": [list(SHAPE_BOUNDS)] * bins}
        for name in self.poisson:
            configs[name] = {"name": name, "constraint": {"type": "poisson"}}
        gammas = self.gammas.configs(element.all("ParamSetting")) if self.strict else {}
        for name, own in gammas.items():
            configs[name] = {**configs.get(name, {"name": name}), **own}
        for setting in element.all("ParamSetting"):
            given: dict[str, Any] = {}
            if setting.get("Const"):
                given["fixed"] = setting.flag("Const")
            if setting.get("Val"):
                given["inits"] = [setting.number("Val")]
            for root_name in setting.text.split():
                if root_name in self.gammas.places and self.strict:
                    continue
                name, term = self._parameter(setting, root_name, terms)
                if term and term.value is None:
                    continue
                own = dict(given)
                if term and term.value and "inits" in given:
                    own["inits"] = [term.value(setting.number("Val"))]
                config = configs["lumi"] if name == "lumi" else configs.pop(name, {"name": name})
                configs[name] = {**config, **own}  # set values go last, as in pyhf
        found: dict[str, Any] = {"poi": pois[0], "parameters": list(configs.values())}
        if len(pois) > 1 and self.strict:
            found["pois"] = list(dict.fromkeys(pois))
        if self.kept:
            found["functions"] = [{"name": name, "expression": text} for name, text in self.kept.items()]
        return {"name": element.name(), "config": found}

    def _parameter(
        self, setting: Element, root_name: str, terms: dict[str, Term]
    ) -> tuple[str, Optional[Term]]:
        if root_name.startswith("gamma_") and not self.strict:
            raise setting.refuse(f"'{root_name}' is one factor of a set, which pyhf sets as one")
        for name, term in terms.items():
            if root_name == term.prefix + name:
                return name, term
        name = "lumi" if root_name == "Lumi" else without_alpha(root_name)
        if name not in self.types and name != "lumi":
            self._note(setting, f"'{root_name}' is no parameter of these channels")
        if name not in terms:
            return name, None
        self._note(
            setting, f"ROOT calls the parameter '{terms[name].prefix}{name}'; the setting was left out"
        )
        return name, Term({}, value=None)


def _problems(spec: dict[str, Any]) -> Iterable[str]:
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
    refusal = refusal_of(spec)
    if refusal:
        yield refusal
