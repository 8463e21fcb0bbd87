"""RooFit's likelihood of HistFactory models with every constraint, for tests/python/test_roofit_laws.py.

    python tests/roofit/make_constraints.py --write             # constraints.json
    python tests/roofit/make_constraints.py --models 200        # compares so many random models
    python tests/roofit/make_constraints.py --xml top.xml ...   # compares XML files, paths from this folder

Needs ROOT 6.40 (pip install root) and this package on PYTHONPATH. The wheel lacks ROOT's XML parser, so this
script calls HistFactory as the parser does. Constraint terms are normalised over their parameters, as by
pdf.createNLL(data); over global observables ROOT adds the part of a law beyond the observable's range."""

import argparse
import json
import math
import os
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy
import ROOT

from paritas import Model, convert

HISTFACTORY = ROOT.RooStats.HistFactory
LAWS = {
    "": HISTFACTORY.Constraint.Gaussian,
    "Gaussian": HISTFACTORY.Constraint.Gaussian,
    "Poisson": HISTFACTORY.Constraint.Poisson,
}
POINTS = 100


# ---- XML to ROOT's model ----


def tree(path):
    return ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", Path(path).read_text()))


def is_true(text):
    return (text or "").lower() in ("true", "1")


def add_modifier(sample, element, file, path):
    given = element.get
    place = given("InputFile", file), given("HistoPath", path)
    if element.tag == "NormFactor":
        sample.AddNormFactor(given("Name"), *(float(given(key)) for key in ("Val", "Low", "High")))
    elif element.tag == "OverallSys":
        sample.AddOverallSys(given("Name"), float(given("Low")), float(given("High")))
    elif element.tag == "HistoSys":
        low, high = given("HistoNameLow"), given("HistoNameHigh")
        sample.AddHistoSys(given("Name"), low, *place, high, *place)
    elif element.tag == "ShapeSys":
        sample.AddShapeSys(given("Name"), LAWS[given("ConstraintType", "")], given("HistoName"), *place)
    elif element.tag == "ShapeFactor":
        sample.AddShapeFactor(given("Name"))
    elif is_true(given("Activate")):
        sample.ActivateStatError(*([given("HistoName"), *place] if given("HistoName") else []))


def make_channel(path):
    root = tree(path)
    file, folder = root.get("InputFile", ""), root.get("HistoPath", "")
    channel = HISTFACTORY.Channel(root.get("Name"))
    data = root.find("Data")
    channel.SetData(data.get("HistoName"), data.get("InputFile", file), data.get("HistoPath", folder))
    for config in root.findall("StatErrorConfig"):
        law = LAWS[config.get("ConstraintType", "Poisson")]
        channel.SetStatErrorConfig(float(config.get("RelErrorThreshold", "0.05")), law)
    for element in root.findall("Sample"):
        place = element.get("InputFile", file), element.get("HistoPath", folder)
        sample = HISTFACTORY.Sample(element.get("Name"), element.get("HistoName"), *place)
        sample.SetChannelName(root.get("Name"))
        sample.SetNormalizeByTheory(is_true(element.get("NormalizeByTheory")))
        for child in element:
            add_modifier(sample, child, *place)
        channel.AddSample(sample)
    return channel


def make_measurement(top, element):
    found = HISTFACTORY.Measurement(element.get("Name"), element.get("Name"))
    found.SetLumi(float(element.get("Lumi")))
    found.SetLumiRelErr(float(element.get("LumiRelErr")))
    for poi in element.findall("POI"):
        for name in poi.text.split():
            found.AddPOI(name)
    for setting in element.findall("ParamSetting"):
        for name in setting.text.split():
            if is_true(setting.get("Const")):
                found.AddConstantParam(name)
            if setting.get("Val"):
                found.SetParamValue(name, float(setting.get("Val")))
    for term in element.findall("ConstraintTerm"):
        relative = float(term.get("RelativeUncertainty", "0"))
        for name in term.text.split():
            if term.get("Type") == "NoConstraint":
                found.AddNoSyst(name)
            elif relative:
                if term.get("Type") == "Uniform":
                    found.AddUniformSyst(name)
                elif term.get("Type") == "Gamma":
                    found.AddGammaSyst(name, relative)
                else:
                    found.AddLogNormSyst(name, relative)
    for path in top.findall("Input"):
        found.AddChannel(make_channel(path.text.strip()))
    found.CollectHistograms()
    return found


# ---- one measurement in both ----


class Pair:
    """ROOT's and our model; parameters of ROOT by our names."""

    def __init__(self, top, element, spec):
        self.measurement = make_measurement(top, element)
        self.workspace = HISTFACTORY.HistoToWorkspaceFactoryFast.MakeCombinedModel(self.measurement)
        pdf, self.data = self.workspace.obj("ModelConfig").GetPdf(), self.workspace.data("obsData")
        self.nll = pdf.createNLL(self.data)
        self.model = Model.from_workspace(spec, measurement=element.get("Name"))
        self.names = list(self.model.parameter_names)
        measurement = next(one for one in spec["measurements"] if one["name"] == element.get("Name"))
        self.laws = {
            one["name"]: one["constraint"]
            for one in measurement["config"]["parameters"]
            if "constraint" in one
        }
        free = [one for one in self.nll.getVariables() if not one.isConstant()]
        self.variables = {self.name_of(one.GetName()): one for one in free}
        unknown = [name for name in self.variables if name not in self.names]
        assert not unknown, unknown
        for name in list(self.variables):  # constrained, but without effect: fixed here
            if self.model.suggested_fixed[self.names.index(name)]:
                self.variables.pop(name).setConstant(True)

    @staticmethod
    def name_of(root_name):
        if root_name == "Lumi":
            return "lumi"
        for prefix in ("alpha_", "beta_"):
            if root_name.startswith(prefix):
                return root_name[len(prefix) :]
        match = re.fullmatch(r"gamma_(stat_)?(.*)_bin_(\d+)(?:_(\d+))?", root_name)
        if not match:
            return root_name
        statistical, name, i, j = match.groups()
        return f"{'staterror_' if statistical else ''}{name}[{int(i) if j is None else 2 * int(i) + int(j)}]"

    def root_value(self, name, x):
        law = self.laws.get(name, {})
        if "slope" not in law:
            return x
        beta = 1.0 + law["slope"] * x
        return beta if law["type"] == "poisson" else math.log(beta) / math.log(1.0 + law["slope"])

    def draw(self, rnd, name):
        variable, law = self.variables[name], self.laws.get(name, {})
        if "slope" in law:
            return rnd.uniform(max(-2.0, -0.6 / law["slope"]), 2.0)
        low, high = variable.getMin(), variable.getMax()
        if variable.GetName().startswith("alpha_"):
            return rnd.uniform(-2.5, 2.5)
        if variable.GetName().startswith("gamma_"):
            return rnd.uniform(0.8, min(1.25, high))
        return rnd.uniform(0.97, 1.03) if name == "lumi" else rnd.uniform(max(low, 0.3), min(high, 2.0))

    def differences(self, points):
        """NLL differences to the first point by ROOT and here."""
        values = []
        for point in points:
            x = self.model.suggested_init.copy()
            for name, variable in self.variables.items():
                variable.setVal(self.root_value(name, point[name]))
                x[self.names.index(name)] = point[name]
            values.append((self.nll.getVal(), 0.5 * self.model.twice_nll(x)))
        values = numpy.array(values)
        return values[1:] - values[0], values[0]

    def minima(self, first):
        """Relative to the first point."""
        for name, variable in self.variables.items():
            start = self.model.suggested_init[self.names.index(name)]
            variable.setVal(self.root_value(name, float(start)))
        best = math.inf
        for _ in range(2):  # Migrad again from its end
            minimizer = ROOT.RooMinimizer(self.nll)
            minimizer.setPrintLevel(-1)
            minimizer.setStrategy(2)
            minimizer.setEps(1e-6)
            minimizer.migrad()
            best = min(best, self.nll.getVal())
        return best - first[0], 0.5 * self.model.fit().twice_nll - first[1]


def compare(pair, rnd):
    points = [{name: round(pair.draw(rnd, name), 5) for name in pair.variables} for _ in range(POINTS + 1)]
    found, first = pair.differences(points)
    scale = numpy.maximum(abs(found[:, 0]), 1.0)
    return points, found, float((abs(found[:, 0] - found[:, 1]) / scale).max()), pair.minima(first)


# ---- random models ----


def random_files(rnd, folder):
    """One model: {file: text}, {histogram: (contents, errors)}, in single precision?"""
    bins, single = rnd.randint(2, 4), rnd.random() < 0.3
    histograms, files, inputs = {}, {}, []
    systematics = [f"sys{i}" for i in range(3)]
    for name in ["SR", "CR"][: rnd.randint(1, 2)]:
        lines = []
        if rnd.random() < 0.9:
            threshold = "" if rnd.random() < 0.3 else f' RelErrorThreshold="{rnd.choice([0, 0.05, 0.1])}"'
            law = rnd.choice(["", ' ConstraintType="Gaussian"', ' ConstraintType="Poisson"'])
            lines.append(f"<StatErrorConfig{threshold}{law}/>")
        total = [0.0] * bins
        for sample in ["signal", "one", "two"][: rnd.randint(2, 3)]:
            key = f"{name}_{sample}"
            contents = [round(rnd.uniform(5, 90), 2) for _ in range(bins)]
            errors = [round(value * rnd.uniform(0.02, 0.2), 3) for value in contents]
            histograms[key] = (contents, errors)
            total = [a + b for a, b in zip(total, contents)]
            inside = [
                f'<OverallSys Name="{one}" Low="{rnd.uniform(0.8, 0.95):.3f}" '
                f'High="{rnd.uniform(1.04, 1.2):.3f}"/>'
                for one in systematics
                if rnd.random() < 0.7
            ]
            if sample == "signal":
                inside.append('<NormFactor Name="mu" Val="1" Low="0" High="5"/>')
            if sample != "signal" or rnd.random() < 0.5:
                external = ""
                if rnd.random() < 0.3:
                    histograms[f"{key}_stat"] = ([round(rnd.uniform(0.02, 0.3), 3) for _ in contents], None)
                    external = f' HistoName="{key}_stat"'
                inside.append(f'<StatError Activate="True"{external}/>')
            if rnd.random() < 0.6:
                histograms[f"{key}_shape"] = ([round(rnd.uniform(0.03, 0.25), 3) for _ in contents], None)
                law = rnd.choice(["", ' ConstraintType="Gaussian"', ' ConstraintType="Poisson"'])
                inside.append(f'<ShapeSys Name="shape_{key}" HistoName="{key}_shape"{law}/>')
            for side in ("up", "down") if rnd.random() < 0.5 else ():
                moved = [round(value * rnd.uniform(0.9, 1.1), 2) for value in contents]
                histograms[f"{key}_{side}"] = (moved, None)
            if f"{key}_up" in histograms:
                sides = f'HistoNameHigh="{key}_up" HistoNameLow="{key}_down"'
                inside.append(f'<HistoSys Name="histo" {sides}/>')
            lines.append(
                f'<Sample Name="{sample}" HistoName="{key}" NormalizeByTheory="True">{"".join(inside)}'
                "</Sample>"
            )
        histograms[f"{name}_data"] = ([float(round(value * rnd.uniform(0.9, 1.1))) for value in total], None)
        head = f'<Channel Name="{name}" InputFile="{folder}input.root"><Data HistoName="{name}_data"/>'
        files[f"{name}.xml"] = "\n".join([head, *lines, "</Channel>"])
        inputs.append(f"<Input>{folder}{name}.xml</Input>")
    terms = []
    for one in systematics:
        kind = rnd.choice(["Gamma", "LogNormal", "Uniform", "NoConstraint", ""])
        relative = round(rnd.uniform(0.2, 0.6) if kind == "Gamma" else rnd.uniform(0.05, 0.5), 4)
        size = "" if kind == "NoConstraint" else f' RelativeUncertainty="{relative}"'
        if kind:
            terms.append(f'<ConstraintTerm Type="{kind}"{size}>{one}</ConstraintTerm>')
    constant = '<ParamSetting Const="True">Lumi</ParamSetting>' if rnd.random() < 0.4 else ""
    measurement = f'<Measurement Name="m" Lumi="1" LumiRelErr="0.03"><POI>mu</POI>{constant}{"".join(terms)}'
    top = [*inputs, f"{measurement}</Measurement>", "</Combination>"]
    files["top.xml"] = "\n".join(['<Combination OutputFilePrefix="none">', *top])
    return files, histograms, single


def write_files(files, histograms, single):
    for name, text in files.items():
        Path(name).write_text(text)
    output = ROOT.TFile("input.root", "RECREATE")
    for name, (contents, errors) in histograms.items():
        made = (ROOT.TH1F if single else ROOT.TH1D)(name, "", len(contents), 0, len(contents))
        for i, content in enumerate(contents):
            made.SetBinContent(i + 1, content)
            if errors:
                made.SetBinError(i + 1, errors[i])
        output.WriteTObject(made)
    output.Close()


def compare_files(top_file, rnd, show):
    root, spec = tree(top_file), convert.histfactory_xml.read(top_file, rootdir=".").spec
    for element in root.findall("Measurement"):
        pair = Pair(root, element, spec)
        points, found, worst, (theirs, ours) = compare(pair, rnd)
        show(f"{top_file} {element.get('Name')}: {len(pair.variables)} parameters, largest difference of NLL")
        show(f"    {worst:.1e}, minimum here {ours - theirs:+.1e} of RooFit's")
        yield pair, points, found, worst, (theirs, ours)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--write", action="store_true")
    options.add_argument("--models", type=int, default=0)
    options.add_argument("--xml", nargs="*", default=[])
    given = options.parse_args()
    ROOT.gROOT.SetBatch(True)
    ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.ERROR)
    store = Path(__file__).resolve().with_name("constraints.json")
    for path in given.xml:
        list(compare_files(path, random.Random(1), print))
    kept, worst, above = [], 0.0, -math.inf
    count = 6 if given.write else given.models
    os.chdir(tempfile.mkdtemp())
    for seed in range(count):
        rnd = random.Random(seed)
        files, histograms, single = random_files(rnd, "")
        write_files(files, histograms, single)
        for pair, points, found, difference, (theirs, ours) in compare_files("top.xml", rnd, lambda _: None):
            worst, above = max(worst, difference), max(above, ours - theirs)
            if difference > 1e-10 or ours - theirs > 1e-7:
                print(f"seed {seed}: NLL {difference:.1e}, minimum {ours - theirs:+.1e}", flush=True)
            names = list(pair.variables)
            kept.append(
                {
                    "files": files,
                    "histograms": histograms,
                    "single": single,
                    "names": names,
                    "points": [[point[name] for name in names] for point in points],
                    "differences": found[:, 0].tolist(),
                    "minimum": theirs,
                }
            )
    if count:
        print(
            f"{count} models: NLL differences within {worst:.1e}; minima at most {above:+.1e} above RooFit's"
        )
    if given.write:
        head = {
            "made_by": "tests/roofit/make_constraints.py",
            "root": ROOT.gROOT.GetVersion(),
            "models": kept,
        }
        store.write_text(json.dumps(head, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
