"""Writes HistFactory's XML and ROOT files. `writexml` is `paritas.convert.histfactory_xml.write`; the steps
beside it make elements of xml.etree, for programs that call pyhf's. Their histograms go into _ROOT_DATA_FILE,
an open uproot file."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from ..convert.root_files import uproot
from ..convert.xml_grammar import MODIFIER_ELEMENTS

log = logging.getLogger(__name__)

__all__ = ["build_channel", "build_data", "build_measurement", "build_modifier", "build_sample", "indent"]
__dir__ = __all__.copy

_ROOT_DATA_FILE: Any = None
_ELEMENTS = {kind: element for element, kind in MODIFIER_ELEMENTS.items() if kind != "lumi"}
_ROOT_PREFIXES = {"normsys": "alpha_", "histosys": "alpha_", "shapesys": "gamma_", "staterror": "gamma_"}


def writexml(spec: Any, specdir: Any, data_rootdir: Any, resultprefix: str) -> bytes:
    """Channels into `specdir`, histograms into `data_rootdir`; returns the top-level XML."""
    from ..convert import histfactory_xml

    return histfactory_xml.write(spec, specdir, data_rootdir, resultprefix)


def indent(elem: Any, level: int = 0) -> None:
    """Two blanks a level, in place."""
    ET.indent(elem, level=level)


def _name_of_histogram(*parts: str | None, side: str = "") -> str:
    return "hist" + "_".join(part for part in parts if part) + side


def _export_root_histogram(hist_name: str, data: Any) -> None:
    if hist_name in _ROOT_DATA_FILE:
        raise KeyError(f"Duplicate key {hist_name} being written.")
    edges = np.arange(len(data) + 1)
    _ROOT_DATA_FILE[hist_name] = uproot().to_writable((np.asarray(data, dtype=np.float64), edges))


def build_measurement(measurementspec: Any, modifiertypes: Any) -> Any:
    """modifiertypes: by modifier's name. Fixed parameters stand in a `ParamSetting`."""
    config = measurementspec["config"]
    by_name = {parameter["name"]: parameter for parameter in config["parameters"]}
    lumi = by_name.get("lumi", {"auxdata": [1.0], "sigmas": [0.0]})
    element = ET.Element(
        "Measurement",
        Name=measurementspec["name"],
        Lumi=str(lumi["auxdata"][0]),
        LumiRelErr=str(lumi["sigmas"][0]),
        ExportOnly="True",
    )
    ET.SubElement(element, "POI").text = config["poi"]
    fixed = [
        "Lumi" if name == "lumi" else _ROOT_PREFIXES.get(modifiertypes[name], "") + name
        for name, parameter in by_name.items()
        if parameter.get("fixed", False)
    ]
    if fixed:
        ET.SubElement(element, "ParamSetting", Const="True").text = " ".join(fixed)
    return element


def _relative(uncertainties: Any, contents: Any) -> Any:
    part, whole = np.asarray(uncertainties, dtype=np.float64), np.asarray(contents, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole != 0)


def build_modifier(spec: Any, modifierspec: Any, channelname: Any, samplename: Any, sampledata: Any) -> Any:
    """None for lumi, an attribute of the sample, and for unknown types, which are logged."""
    kind, name, data = modifierspec["type"], modifierspec["name"], modifierspec.get("data")
    if name == "lumi":
        return None
    if kind not in _ELEMENTS:
        log.warning("Skipping modifier %s(%s) for now", name, kind)
        return None
    place = (channelname, samplename, name)
    found = {} if kind == "staterror" else {"Name": name}
    if kind == "histosys":
        for side, key in (("Low", "lo_data"), ("High", "hi_data")):
            found[f"HistoName{side}"] = _name_of_histogram(*place, side=side)
            _export_root_histogram(found[f"HistoName{side}"], data[key])
    elif kind == "normsys":
        found.update(High=str(data["hi"]), Low=str(data["lo"]))
    elif kind == "normfactor":
        found.update(_factor(spec, name))
    elif kind in ("staterror", "shapesys"):
        found.update({"Activate": "True"} if kind == "staterror" else {"ConstraintType": "Poisson"})
        found["HistoName"] = _name_of_histogram(*place)
        _export_root_histogram(found["HistoName"], _relative(data, sampledata))
    return ET.Element(_ELEMENTS[kind], found)


def _factor(spec: Any, name: str) -> dict[str, str]:
    """Start and bounds in the first measurement: in XML they belong to the factor."""
    parameters = spec["measurements"][0]["config"]["parameters"]
    config: dict[str, Any] = next((one for one in reversed(parameters) if one["name"] == name), {})
    low, high = config.get("bounds", [[0, 10]])[0]
    return {"Val": str(config.get("inits", [1])[0]), "Low": str(low), "High": str(high)}


def build_sample(spec: Any, samplespec: Any, channelname: Any) -> Any:
    name = _name_of_histogram(channelname, samplespec["name"])
    with_lumi = any(modifier["type"] == "lumi" for modifier in samplespec["modifiers"])
    element = ET.Element(
        "Sample",
        Name=samplespec["name"],
        HistoName=name,
        InputFile=_ROOT_DATA_FILE.file_path,
        NormalizeByTheory=str(with_lumi),
    )
    for modifier in samplespec["modifiers"]:
        built = build_modifier(spec, modifier, channelname, samplespec["name"], samplespec["data"])
        element.extend([] if built is None else [built])
    _export_root_histogram(name, samplespec["data"])
    return element


def build_data(obsspec: Any, channelname: Any) -> Any:
    name = _name_of_histogram(channelname, "data")
    observed = {observation["name"]: observation["data"] for observation in obsspec}
    _export_root_histogram(name, observed[channelname])
    return ET.Element("Data", HistoName=name, InputFile=_ROOT_DATA_FILE.file_path)


def build_channel(spec: Any, channelspec: Any, obsspec: Any) -> Any:
    """Builds a channel, without `Data` if there are no observations."""
    element = ET.Element("Channel", Name=channelspec["name"], InputFile=_ROOT_DATA_FILE.file_path)
    element.extend([build_data(obsspec, channelspec["name"])] if obsspec else [])
    element.extend([build_sample(spec, sample, channelspec["name"]) for sample in channelspec["samples"]])
    return element
