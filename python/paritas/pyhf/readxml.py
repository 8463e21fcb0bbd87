"""Reads HistFactory's XML and ROOT. `parse` calls `paritas.convert.histfactory_xml`'s. The steps beside it
take elements of xml.etree, for programs that call pyhf's."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

from ..convert import histfactory_xml
from ..convert.root_bins import bins_of
from ..convert.root_files import uproot
from . import compat, exceptions, schema

log = logging.getLogger(__name__)

__all__ = [
    "clear_filecache",
    "dedupe_parameters",
    "extract_error",
    "import_root_histogram",
    "parse",
    "process_channel",
    "process_data",
    "process_measurements",
    "process_sample",
]
__dir__ = __all__.copy

Resolver = Callable[[str], Path]
_files: dict[str, Any] = {}


def parse(
    configfile: Any,
    rootdir: Any,
    mounts: Any = None,
    track_progress: bool = False,
    validation_as_error: bool = True,
) -> dict[str, Any]:
    """The workspace of `paritas.convert.histfactory_xml.parse`, with these arguments. A workspace that breaks
    the schema raises InvalidSpecification, or is logged with validation_as_error=False."""
    found = histfactory_xml.parse(configfile, rootdir, mounts, track_progress, validation_as_error)
    try:
        schema.validate(found, "workspace.json")
    except exceptions.InvalidSpecification as error:
        if validation_as_error:
            raise
        log.warning(error)
    return found


def clear_filecache() -> None:
    """Forgets the files that `import_root_histogram` has opened."""
    _files.clear()


def resolver_factory(rootdir: Path, mounts: Iterable[tuple[Path, Path]]) -> Resolver:
    """A function from file names to paths. mounts: (folder here, folder in the XML)."""

    def resolver(filename: str) -> Path:
        path = Path(filename)
        for here, there in mounts:
            if there in (path, *path.parents):
                return rootdir / here / path.relative_to(there)
        return rootdir / path

    return resolver


def extract_error(hist: Any) -> list[float]:
    """Uncertainties of the bins of an uproot histogram: roots of squared weights, or of contents without
    weights."""
    contents, squares = bins_of(hist)
    return ((contents if squares is None else squares) ** 0.5).tolist()  # type: ignore[no-any-return]


def import_root_histogram(
    resolver: Resolver, filename: str, path: str, name: str, filecache: dict[str, Any] | None = None
) -> tuple[list[float], list[float]]:
    """Contents and uncertainties of `name`, else of `path/name`. Raises KeyError."""
    files = _files if filecache is None else filecache
    place = str(resolver(filename))
    if place not in files:
        file = uproot().open(place)
        files[place] = (file, set(file.keys(cycle=False)))
    file, keys = files[place]
    full = f"{(path or '').strip('/')}/{name}"
    for key in (name, full):
        if key in keys:
            return bins_of(file[key]).contents.tolist(), extract_error(file[key])
    raise KeyError(f"Both {name} and {full} were tried and not found in {place}")


class _Sample:
    """Modifiers of one sample: each tag of XML by the method of its name."""

    def __init__(
        self, sample: Any, resolver: Resolver, inputfile: str, histopath: str, channel_name: str
    ) -> None:
        self.resolver, self.channel = resolver, channel_name
        self.inputfile = sample.get("InputFile", inputfile)
        place = self.inputfile, sample.get("HistoPath", histopath), sample.attrib["HistoName"]
        self.data, self.errors = import_root_histogram(resolver, *place)
        self.configs: list[dict[str, Any]] = []

    def _histogram(self, tag: Any, side: str = "", file: str = "HistoFile") -> list[float]:
        filename, path = tag.get(file + side, self.inputfile), tag.get(f"HistoPath{side}", "")
        return import_root_histogram(self.resolver, filename, path, tag.attrib[f"HistoName{side}"])[0]

    def OverallSys(self, tag: Any) -> Any:
        return "normsys", tag.attrib["Name"], {"lo": float(tag.get("Low")), "hi": float(tag.get("High"))}

    def NormFactor(self, tag: Any) -> Any:
        name, start, *bounds = tag.attrib["Name"], *(float(tag.get(key)) for key in ("Val", "Low", "High"))
        config = {"name": name, "bounds": [bounds], "inits": [start]}
        if tag.get("Const"):
            config["fixed"] = tag.get("Const") == "True"
        self.configs.append(config)
        return "normfactor", name, None

    def HistoSys(self, tag: Any) -> Any:
        sides = {"lo_data": self._histogram(tag, "Low"), "hi_data": self._histogram(tag, "High")}
        return "histosys", tag.attrib["Name"], sides

    def StatError(self, tag: Any) -> Any:
        if tag.get("Activate") != "True":
            return None
        errors = self.errors
        if tag.get("HistoName"):
            errors = self._scaled(self._histogram(tag))
        if not errors:
            raise RuntimeError("cannot determine stat error.")
        return "staterror", f"staterror_{self.channel}", errors

    def ShapeSys(self, tag: Any) -> Any:
        if tag.get("ConstraintType", "Poisson") != "Poisson":
            log.warning("shapesys modifier %s has a non-poisson constraint", tag.attrib["Name"])
        return "shapesys", tag.attrib["Name"], self._scaled(self._histogram(tag, file="InputFile"))

    def ShapeFactor(self, tag: Any) -> Any:
        return "shapefactor", tag.attrib["Name"], None

    def _scaled(self, relative: list[float]) -> list[float]:
        return [part * content for part, content in zip(relative, self.data)]


def process_sample(
    sample: Any,
    resolver: Resolver,
    inputfile: str,
    histopath: str,
    channel_name: str,
    track_progress: bool = False,
) -> dict[str, Any]:
    """A `Sample` element: name, data, modifiers, parameter_configs. Unknown modifiers are logged."""
    reader = _Sample(sample, resolver, inputfile, histopath, channel_name)
    found = [("lumi", "lumi", None)] if sample.get("NormalizeByTheory", "False") == "True" else []
    for tag in sample:
        read = getattr(reader, tag.tag, None) if tag.tag[:1].isupper() else None
        if read is None:
            log.warning("not considering modifier tag %s", tag)
            continue
        modifier = read(tag)
        found += [modifier] if modifier else []
    return {
        "name": sample.attrib["Name"],
        "data": reader.data,
        "modifiers": [{"name": name, "type": kind, "data": data} for kind, name, data in found],
        "parameter_configs": reader.configs,
    }


def process_data(sample: Any, resolver: Resolver, inputfile: str, histopath: str) -> list[float]:
    """The contents of a `Data` element's histogram."""
    filename, name = sample.get("InputFile", inputfile), sample.attrib["HistoName"]
    if not filename or not name:
        raise NotImplementedError(
            "Conversion of workspaces without data is currently not supported.\n"
            "See https://github.com/scikit-hep/pyhf/issues/566"
        )
    return import_root_histogram(resolver, filename, sample.get("HistoPath", histopath), name)[0]


def process_channel(
    channelxml: Any, resolver: Resolver, track_progress: bool = False
) -> tuple[str, list[float], list[Any], list[Any]]:
    """A channel's document: name, data, samples, parameter configurations."""
    channel = channelxml.getroot()
    name, place = channel.attrib["Name"], (channel.get("InputFile", ""), channel.get("HistoPath", ""))
    observed = channel.find("Data")
    if observed is None:
        raise RuntimeError(f"Channel {name} is missing data. See issue #1911.")
    data = process_data(observed, resolver, *place)
    samples = [
        process_sample(sample, resolver, *place, name, track_progress) for sample in channel.findall("Sample")
    ]
    configs = [config for sample in samples for config in sample.pop("parameter_configs")]
    return name, data, samples, configs


def process_measurements(toplvl: Any, other_parameter_configs: Sequence[Any] | None = None) -> list[Any]:
    """The measurements below an element. Settings here go before `other_parameter_configs`."""
    return [_measurement(element, other_parameter_configs or []) for element in toplvl.findall("Measurement")]


def _measurement(element: Any, others: Sequence[Any]) -> dict[str, Any]:
    name, lumi = element.attrib["Name"], float(element.attrib["Lumi"])
    width = lumi * float(element.attrib["LumiRelErr"])
    poi = element.find("POI")
    if poi is None:
        raise RuntimeError(f"Measurement {name} is missing POI specification")
    bounds = [[lumi - 5.0 * width, lumi + 5.0 * width]]
    luminosity = {"name": "lumi", "auxdata": [lumi], "bounds": bounds, "inits": [lumi], "sigmas": [width]}
    configs = {"lumi": luminosity, **{config["name"]: dict(config) for config in others}}
    for setting in element.findall("ParamSetting"):
        for parameter in (setting.text or "").split():
            told = compat.interpret_rootname(parameter)
            if not told["is_scalar"]:
                raise ValueError(
                    'pyhf does not support setting non-scalar parameters ("gammas") constant, such as for '
                    f"{parameter}."
                )
            config = configs.setdefault(told["name"], {"name": told["name"]})
            if setting.get("Const"):
                config["fixed"] = setting.get("Const") == "True"
            if setting.get("Val"):
                config["inits"] = [float(setting.get("Val"))]
    return {"name": name, "config": {"poi": (poi.text or "").strip(), "parameters": list(configs.values())}}


def dedupe_parameters(parameters: Sequence[Any]) -> list[Any]:
    """One configuration of each name. Raises RuntimeError if two of a name differ."""
    first: dict[str, Any] = {}
    for config in parameters:
        if first.setdefault(config["name"], config) != config:
            raise RuntimeError(
                f"cannot import workspace due to incompatible parameter configurations for {config['name']}: "
                f"{first[config['name']]} and {config}"
            )
    return list(first.values())
