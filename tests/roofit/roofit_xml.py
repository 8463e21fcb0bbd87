"""ROOT's own model of a HistFactory XML configuration. PyROOT from PyPI comes without the XML parser, so that
the elements go through HistFactory's C++ interface here. Needs ROOT (PyROOT)."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import ROOT

_FACTORY = ROOT.RooStats.HistFactory
_LAWS = {"Gaussian": _FACTORY.Constraint.Gaussian, "Gauss": _FACTORY.Constraint.Gaussian}


def _law(text, default):
    return _LAWS.get(text, _FACTORY.Constraint.Poisson) if text else default


def _sample(element, file, path):
    file, path = element.get("InputFile", file), element.get("HistoPath", path)
    sample = _FACTORY.Sample(element.get("Name"), element.get("HistoName"), file, path)
    sample.SetNormalizeByTheory(element.get("NormalizeByTheory", "True").lower() in ("true", "1"))
    for one in element:
        name = one.get("Name")
        where = (one.get("InputFile", file), one.get("HistoPath", path))
        if one.tag == "NormFactor":
            sample.AddNormFactor(name, float(one.get("Val")), float(one.get("Low")), float(one.get("High")))
        elif one.tag == "OverallSys":
            sample.AddOverallSys(name, float(one.get("Low")), float(one.get("High")))
        elif one.tag == "HistoSys":
            sides = [
                text
                for side in ("Low", "High")
                for text in (
                    one.get(f"HistoName{side}"),
                    one.get(f"HistoFile{side}", file),
                    one.get(f"HistoPath{side}", path),
                )
            ]
            sample.AddHistoSys(name, *sides)
        elif one.tag == "ShapeSys":
            law = _law(one.get("ConstraintType"), _FACTORY.Constraint.Gaussian)
            sample.AddShapeSys(name, law, one.get("HistoName"), *where)
        elif one.tag == "ShapeFactor":
            sample.AddShapeFactor(name)
        elif one.tag == "StatError" and one.get("Activate") == "True":
            if one.get("HistoName"):
                sample.ActivateStatError(one.get("HistoName"), *where)
            else:
                sample.ActivateStatError()
    return sample


def _channel(file):
    element = ElementTree.parse(file).getroot()
    channel = _FACTORY.Channel(element.get("Name"))
    where = (element.get("InputFile", ""), element.get("HistoPath", ""))
    channel.SetStatErrorConfig(0.05, _FACTORY.Constraint.Poisson)
    for one in element:
        if one.tag == "Data":
            places = (one.get("InputFile", where[0]), one.get("HistoPath", where[1]))
            channel.SetData(one.get("HistoName"), *places)
        elif one.tag == "StatErrorConfig":
            law = _law(one.get("ConstraintType"), _FACTORY.Constraint.Poisson)
            channel.SetStatErrorConfig(float(one.get("RelErrorThreshold", 0.05)), law)
        elif one.tag == "Sample":
            channel.AddSample(_sample(one, *where))
    return channel


def measurement_names(config: Path) -> list[str]:
    return [one.get("Name") for one in ElementTree.parse(config).getroot().iter("Measurement")]


def workspace(config: Path, name: str):
    """A RooWorkspace of one measurement."""
    return _FACTORY.MakeModelAndMeasurementFast(measurement(config, name))


def measurement(config: Path, name: str):
    """Relative paths start at the current folder, as in hist2workspace."""
    top = ElementTree.parse(config).getroot()
    element = next(one for one in top.iter("Measurement") if one.get("Name") == name)
    found = _FACTORY.Measurement(name, name)
    found.SetOutputFilePrefix(top.get("OutputFilePrefix"))
    found.SetLumi(float(element.get("Lumi")))
    found.SetLumiRelErr(float(element.get("LumiRelErr")))
    for poi in (poi for one in element.iter("POI") for poi in one.text.split()):
        found.AddPOI(poi)
    for one in element.iter("ParamSetting"):
        for parameter in one.text.split():
            if one.get("Const") == "True":
                found.AddConstantParam(parameter)
            if one.get("Val"):
                found.SetParamValue(parameter, float(one.get("Val")))
    for one in element.iter("ConstraintTerm"):
        for parameter in one.text.split():
            if one.get("Type") == "Gamma":
                found.AddGammaSyst(parameter, float(one.get("RelativeUncertainty")))
            elif one.get("Type") == "LogNormal":
                found.AddLogNormSyst(parameter, float(one.get("RelativeUncertainty")))
            elif one.get("Type") == "Uniform":
                found.AddUniformSyst(parameter)
            else:
                found.AddNoSyst(parameter)
    for one in top.iter("Function"):
        found.AddPreprocessFunction(one.get("Name"), one.get("Expression"), one.get("Dependents"))
    for one in top.iter("Input"):
        found.AddChannel(_channel(one.text.strip()))
    found.CollectHistograms()
    return found
