#!/usr/bin/env python3
"""Holds models against RooFit: expected rates, differences of the NLL, minima.

    PYTHONPATH=python python tests/roofit/compare.py xml 0 100      # random XML models 0 to 99
    PYTHONPATH=python python tests/roofit/compare.py codes 0 100    # ROOT's JSON of them, mixed codes
    PYTHONPATH=python python tests/roofit/compare.py json 0 100     # ROOT's JSON of the XML models
    PYTHONPATH=python python tests/roofit/compare.py axes 0 100     # XML and JSON with two axes
    PYTHONPATH=python python tests/roofit/compare.py empty 0 100    # the same with empty bins
    PYTHONPATH=python python tests/roofit/compare.py tutorials      # ROOT's own examples, each measurement
    ... xml 0 3 --store FILE                                        # keeps points and RooFit's values

Needs ROOT (PyPI: root) and uproot, so it is no part of CI. A line a model, then counts. Chunks of numbers can
run side by side. Exit code 1: a model disagrees."""

import argparse
import collections
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message="(?s).*distribution of ROOT.*")

import ROOT  # noqa: E402
import roofit_models  # noqa: E402
import roofit_xml  # noqa: E402

from paritas import Model, convert  # noqa: E402

POINTS, LIMIT = 100, 1e-10


class RooFit:
    """A RooWorkspace as functions of its parameters."""

    def __init__(self, workspace, data="obsData") -> None:
        self.workspace, self.config = workspace, workspace.obj("ModelConfig")
        self.data = workspace.data(data)
        # RooFit makes no ModelConfig of a document without analyses
        one_channel = (one for one in workspace.allPdfs() if one.GetName().startswith("model_"))
        self.pdf = self.config.GetPdf() if self.config else next(one_channel)
        self.parameters = {one.GetName(): one for one in self.pdf.getParameters(self.data)}
        for one in self.config.GetGlobalObservables() if self.config else ():
            self.parameters.pop(one.GetName(), None)
        self.parameters = {
            name: one
            for name, one in self.parameters.items()
            if one.ClassName() == "RooRealVar" and not name.startswith(("nom_", "binWidth"))
        }
        self.held: set[str] = set()
        self.start = {name: one.getVal() for name, one in self.parameters.items()}

    def take_widths(self, widths) -> float:
        """ROOT keeps relative statistical errors in single precision. Takes ours instead; returns the largest
        relative difference. widths: parameter -> width.

        Without GlobalObservables RooFit normalizes constraints over their parameters, which is constant. Over
        the ranges of global observables it is not: 3e-9 of an NLL at an alpha of -4.2, more for a Gamma."""
        worst = 0.0
        for name in filter(lambda name: name.startswith("gamma_stat_"), widths):
            for suffix, width in (("sigma", widths[name]), ("tau", 1 / widths[name] ** 2)):
                constant = self.workspace.obj(f"{name}_{suffix}")
                if constant:
                    worst = max(worst, abs(constant.getVal() / width - 1))
                    constant.changeVal(width)
            if self.workspace.obj(f"{name}_tau"):
                self.workspace.var(f"nom_{name}").setVal(1 / widths[name] ** 2)
        self.widths = widths
        self.nll_function = self.pdf.createNLL(self.data)
        return worst

    def move(self, point) -> None:
        for name, value in point.items():
            self.parameters[name].setVal(value)

    def nll(self, point) -> float:
        self.move(point)
        return self.nll_function.getVal()

    def rates(self, point, channels) -> list[float]:
        self.move(point)
        found = []
        for channel in channels:
            pdf = self._sum_of(channel)
            axes = list(pdf.getObservables(self.data))
            found += self._rates_of(pdf, axes)
        return found

    def _sum_of(self, channel):
        parts = (self.pdf.getPdf(channel) if self.config else self.pdf).getComponents()
        return next(one for one in parts if one.ClassName() == "RooRealSumPdf")

    def _rates_of(self, pdf, axes) -> list[float]:
        if not axes:
            return [pdf.getVal()]
        found = []
        for i in range(axes[0].numBins()):
            axes[0].setBin(i)
            width = axes[0].getBinWidth(i)
            found += [rate * width for rate in self._rates_of(pdf, axes[1:])]
        return found

    def check_held(self, draw, channels) -> None:
        point = self.random_point(draw)
        for name in (one for one in self.held if not self.parameters[one].isConstant()):
            if self.rates(point, channels) != self.rates({**point, name: 0.9}, channels):
                raise LookupError(f"'{name}' acts in RooFit and is fixed here")

    def minimum(self) -> float:
        self.move(self.start)
        minimiser = ROOT.RooMinimizer(self.nll_function)
        minimiser.setPrintLevel(-1)
        minimiser.setStrategy(1)
        minimiser.minimize("Minuit2", "migrad")
        return self.nll_function.getVal()

    def random_point(self, draw) -> dict[str, float]:
        point = {}
        for name, one in self.parameters.items():
            low, high, value = one.getMin(), one.getMax(), self.start[name]
            if one.isConstant() or name in self.held:
                point[name] = value
            elif name.startswith("alpha_") and low < -1:
                point[name] = min(max(draw.gauss(0, 1.5), low), high)
            else:
                reach = min(0.4, 3 * self.widths.get(name, 1.0), high - value, value - low)
                point[name] = min(max(draw.uniform(value - reach, value + reach), low), high)
        return point


def names_here(name: str, roofit: RooFit) -> str:
    """ROOT's parameter of an XML model as Paritas names it."""
    stem, bin_, place = name.partition("_bin_")
    if bin_:  # several axes: row by row
        places = [one.removeprefix(stem + bin_) for one in roofit.parameters if one.startswith(stem + bin_)]
        index = sorted(tuple(map(int, one.split("_"))) for one in places).index(
            tuple(map(int, place.split("_")))
        )
        label = stem.removeprefix("gamma_")
        return f"{'staterror' + label[len('stat') :] if label.startswith('stat_') else label}[{index}]"
    return "lumi" if name == "Lumi" else name.removeprefix("alpha_").removeprefix("beta_")


def value_here(law, value: float) -> float:
    """ROOT's own parameter of a Gamma or LogNormal ConstraintTerm as the alpha that Paritas has."""
    slope = law.get("slope")
    if slope is None:
        return value
    return ((value if law["type"] == "poisson" else (1 + slope) ** value) - 1) / slope


def compare(roofit: RooFit, answer, names, seed: int, measurement=None):
    """Largest relative disagreements of rates and NLL differences, and our minimum less RooFit's; then what
    `--store` keeps."""
    settings = {f"{kind}_code": one["interpcode"][4:] for kind, one in answer.modifier_settings.items()}
    model = Model.from_workspace(answer.spec, measurement=measurement, clip_sample=0.0, **settings)
    names = names or {name: names_here(name, roofit) for name in roofit.parameters}
    here = {name: names[name] for name in roofit.parameters if names.get(name) in model.parameter_names}
    widths = dict(zip(model.parameter_names, map(float, model.constraint_widths)))
    free = {name: own for name, own in here.items() if not roofit.parameters[name].isConstant()}
    rounded = roofit.take_widths({name: widths[own] for name, own in free.items() if widths[own] > 0})
    if rounded > 1e-6:
        raise LookupError(f"a width of a statistical error differs by {rounded:.1e}")
    measured = next(one for one in answer.spec["measurements"] if measurement in (None, one["name"]))
    laws = {one["name"]: one.get("constraint", {}) for one in measured["config"]["parameters"]}
    # a factor of an empty bin acts nowhere: fixed here, in ROOT a constraint alone
    roofit.held = {name for name, own in here.items() if model.suggested_fixed[model.index(own)]}
    draw = random.Random(seed)
    roofit.check_held(draw, [channel.name for channel in model.channels])
    lost = sorted(
        name for name in roofit.parameters if name not in here and not roofit.parameters[name].isConstant()
    )
    if lost:
        raise LookupError(f"parameters of RooFit that are not here: {', '.join(lost)}")
    worst, kept, first = [0.0, 0.0], [], None
    channels = [channel.name for channel in model.channels]
    for _ in range(POINTS):
        point = roofit.random_point(draw)
        there = {
            here[name]: value_here(laws.get(here[name], {}), value)
            for name, value in point.items()
            if name in here
        }
        rates, nll = roofit.rates(point, channels), roofit.nll(point)
        if not (min(rates) >= 0 and abs(nll) < 1e10):
            continue
        ours, own = model.expected_data(there)[: model.main_count], model.nll(there)
        if first is None:
            first = (nll, own)
        worst[0] = max(worst[0], *(abs(a - b) / max(abs(b), 1.0) for a, b in zip(ours, rates)))
        difference = (own - first[1]) - (nll - first[0])
        worst[1] = max(worst[1], abs(difference) / max(1.0, abs(nll)))
        kept.append({"point": there, "rates": rates, "nll": nll})
    if len(kept) < POINTS / 10:
        raise LookupError(f"only {len(kept)} points are inside the model's domain")
    fit = model.fit(starts=10)
    best = dict(zip(model.parameter_names, fit.values))
    lowest = roofit.minimum()
    if any("slope" in law for law in laws.values()):  # ROOT has other parameters: values alone
        start = {here[name]: value_here(laws.get(here[name], {}), roofit.start[name]) for name in here}
        above = (0.5 * fit.twice_nll - model.nll(start)) - (lowest - roofit.nll(roofit.start))
    else:
        above = roofit.nll({**roofit.start, **{name: best[here[name]] for name in here}}) - lowest
    return (*worst, above), kept


def add_shape_codes(document, workspace) -> None:
    """ROOT 6.40 leaves the codes of histosys out of its JSON, and reads none."""
    shapes = {
        one.GetName(): one for one in workspace.allFunctions() if one.ClassName() == "PiecewiseInterpolation"
    }
    for one in document["distributions"]:
        if one["type"] != "histfactory_dist":
            continue
        channel = one["name"].removeprefix("model_").removesuffix("_model")
        for sample in one["samples"]:
            found = shapes.get(f"{sample['name']}_{channel}_Hist_alpha")
            codes = (
                dict(zip((p.GetName() for p in found.paramList()), found.interpolationCodes()))
                if found
                else {}
            )
            for modifier in sample["modifiers"]:
                if modifier["type"] == "histosys":
                    modifier["interpolation"] = codes[modifier["parameter"]]


def of_xml(number: int, folder: Path, **kind: bool):
    model = roofit_models.Model(number, folder, **kind)
    answer = convert.histfactory_xml.read(model.config, ".")
    return RooFit(roofit_xml.workspace(model.config, "meas")), answer, None


def of_json(number: int, folder: Path, **kind: bool):
    model = roofit_models.Model(number, folder, **kind)
    workspace = roofit_xml.workspace(model.config, "meas")
    try:
        text = str(ROOT.RooJSONFactoryWSTool(workspace).exportJSONtoString())
    except ROOT.std.runtime_error as error:
        raise convert.ConversionError(
            "ROOT", f"exports none: {str(error).splitlines()[-1].strip()}"
        ) from None
    answer = convert.hs3.to_pyhf(json.loads(text))
    return RooFit(workspace), answer, answer.names


def of_either(number: int, folder: Path, **kind: bool):
    """The XML at even numbers, the JSON at odd ones."""
    return (of_json if number % 2 else of_xml)(number, folder, **kind)


def of_axes(number: int, folder: Path):
    return of_either(number, folder, two_axes=True)


def of_empty(number: int, folder: Path):
    return of_either(number, folder, empty=True)


def of_codes(number: int, folder: Path):
    model = roofit_models.Model(number, folder, plain=True)
    workspace = roofit_xml.workspace(model.config, "meas")
    roofit_models.mix_codes(workspace, number)
    document = json.loads(str(ROOT.RooJSONFactoryWSTool(workspace).exportJSONtoString()))
    add_shape_codes(document, workspace)
    answer = convert.hs3.to_pyhf(document)
    return RooFit(workspace), answer, answer.names


KINDS = {"xml": of_xml, "codes": of_codes, "json": of_json, "axes": of_axes, "empty": of_empty}


def tutorials(folder: Path):
    """(label, function) of each measurement of ROOT's examples, with the data of its makeExample.C."""
    source = Path(ROOT.gROOT.GetTutorialDir().Data()) / "roofit" / "histfactory"
    for name in ("config/examples", "data", "results"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for one in [*source.glob("*.xml"), Path(ROOT.gROOT.GetEtcDir().Data()) / "HistFactorySchema.dtd"]:
        shutil.copy(one, folder / "config")
        shutil.copy(one, folder / "config/examples")
    os.chdir(folder / "data")
    ROOT.gROOT.ProcessLine(f".x {source}/makeExample.C")
    os.chdir(folder)
    for config in sorted((folder / "config").glob("*.xml")):
        if "<Combination" not in config.read_text():
            continue
        for measurement in roofit_xml.measurement_names(config):

            def made(config=config, measurement=measurement):
                answer = convert.histfactory_xml.read(config, folder)
                return RooFit(roofit_xml.workspace(config, measurement)), answer, None

            yield f"{config.name} {measurement}", made, measurement


def run(label, made, seed, counts, measurement=None):
    try:
        roofit, answer, names = made()
        worst, kept = compare(roofit, answer, names, seed, measurement)
    except convert.ConversionError as error:
        counts[f"refused: {error.why}"] += 1
        print(f"{label}: refused: {error}", flush=True)
        return None
    except LookupError as error:
        counts["DISAGREES"] += 1
        print(f"{label}: DISAGREES: {error}", flush=True)
        return None
    good = worst[0] <= LIMIT and worst[1] <= LIMIT
    verdict = "agrees" if good else "DISAGREES"
    counts[verdict] += 1
    counts["minimum above RooFit's by over 1e-6"] += worst[2] > 1e-6
    print(
        f"{label}: {verdict}: rates {worst[0]:.1e}, NLL {worst[1]:.1e}, minimum {worst[2]:+.1e}", flush=True
    )
    return {"spec": answer.spec, "settings": answer.modifier_settings, "points": kept[:4]}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", choices=(*KINDS, "tutorials"))
    parser.add_argument("first", nargs="?", type=int, default=0)
    parser.add_argument("end", nargs="?", type=int, default=100)
    parser.add_argument("--store")
    options = parser.parse_args()
    ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    counts, stored = collections.Counter(), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.models == "tutorials":
            for label, made, measurement in tutorials(folder):
                run(label, made, 1, counts, measurement)
        else:
            make = KINDS[options.models]
            for number in range(options.first, options.end):
                label = f"{options.models} {number}"
                found = run(label, lambda: make(number, folder / str(number)), number, counts)
                if found:
                    stored[label] = found
    for what, count in sorted(counts.items()):
        print(f"{count:5d} {what}")
    if options.store:
        Path(options.store).write_text(json.dumps(stored))
    return 1 if counts["DISAGREES"] else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # ROOT deletes some histograms twice at the end
