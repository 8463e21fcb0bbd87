"""Random HistFactory models as ROOT users have them: XML and a ROOT file, and codes of interpolations.

A model is drawn from its number alone. Needs ROOT (PyROOT)."""

import random
import shutil
from pathlib import Path
from xml.sax.saxutils import quoteattr

import ROOT

#: ROOT's codes for normsys (FlexibleInterpVar) and histosys (PiecewiseInterpolation)
FACTOR_CODES, SHAPE_CODES = (0, 1, 2, 4, 5), (0, 1, 2, 4, 5, 6)
_DTD = Path(ROOT.gROOT.GetEtcDir().Data()) / "HistFactorySchema.dtd"


def _element(tag, attributes, content=""):
    text = "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{tag}{text}>{content}</{tag}>\n"


class Model:
    """Writes model `number` to `folder`. `plain`: constraints of pyhf alone, and no ShapeFactor. `two_axes`:
    histograms of 2 x 3 bins. `empty`: some contents and errors are 0."""

    def __init__(
        self, number: int, folder: Path, plain: bool = False, two_axes: bool = False, empty: bool = False
    ) -> None:
        self.draw = random.Random(number)
        self.folder, self.plain, self.two_axes, self.empty = folder, plain, two_axes, empty
        self.alphas = [f"sys{i}" for i in range(self.draw.randint(2, 5))]
        self.functions: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(_DTD, folder)
        self.data = ROOT.TFile(str(folder / "data.root"), "RECREATE")
        channels = [self._channel(f"ch{i}") for i in range(self.draw.randint(1, 3))]
        self.data.Close()
        self.config = folder / "top.xml"
        self._write(self.config, "Combination", self._combination(channels))

    def _write(self, path, root, text):
        path.write_text(f"<!DOCTYPE {root} SYSTEM 'HistFactorySchema.dtd'>\n{text}")

    def _chance(self, part):
        return self.draw.random() < part

    def _some_zero(self, values, part):
        return [0.0 if self.empty and self._chance(part) else value for value in values]

    def _histogram(self, name, contents, errors=None):
        if self.two_axes:
            histogram = ROOT.TH2D(name, name, 2, 0.0, 2.0, 3, 0.0, 3.0)
        else:
            histogram = ROOT.TH1D(name, name, len(contents), 0.0, float(len(contents)))
        for i, content in enumerate(contents):
            bin_ = histogram.GetBin(i // 3 + 1, i % 3 + 1) if self.two_axes else i + 1
            histogram.SetBinContent(bin_, content)
            histogram.SetBinError(bin_, errors[i] if errors else 0.0)
        self.data.WriteTObject(histogram)
        return name

    def _around(self, contents, spread):
        return [content * self.draw.uniform(1 - spread, 1 + spread) for content in contents]

    def _channel(self, name):
        bins = 6 if self.two_axes else self.draw.randint(1, 6)
        samples, total = [], [0.0] * bins
        statistical = self._chance(0.7)
        for k in range(self.draw.randint(1, 4)):
            contents = [self.draw.uniform(5, 60) for _ in range(bins)]
            total = [a + b for a, b in zip(total, contents)]
            samples.append(self._sample(name, k, contents, statistical))
        observed = [round(self.draw.gauss(rate, rate**0.5)) for rate in total]
        content = _element(
            "Data", {"HistoName": self._histogram(f"{name}_data", [max(n, 1) for n in observed])}
        )
        if statistical:
            law = "Gaussian" if self.plain else self.draw.choice(["Gaussian", "Poisson"])
            threshold = self.draw.choice(["0.", "0.05", "0.08"])
            content += _element("StatErrorConfig", {"RelErrorThreshold": threshold, "ConstraintType": law})
        path = self.folder / f"{name}.xml"
        attributes = {"Name": name, "InputFile": str(self.folder / "data.root")}
        self._write(path, "Channel", _element("Channel", attributes, content + "".join(samples)))
        return path

    def _sample(self, channel, k, contents, statistical):
        stem = f"{channel}_s{k}"
        content = ""
        if statistical and (k > 0 or self._chance(0.5)):
            if self._chance(0.3):
                relative = self._some_zero([self.draw.uniform(0.02, 0.2) for _ in contents], 0.3)
                content += _element(
                    "StatError", {"Activate": "True", "HistoName": self._histogram(f"{stem}_stat", relative)}
                )
            else:
                content += _element("StatError", {"Activate": "True"})
        if k == 0:
            content += _element("NormFactor", {"Name": "mu", "Val": 1, "Low": 0, "High": 5})
        elif not self.plain and self._chance(0.15):
            content += self._function()
        elif self._chance(0.2):
            content += _element("NormFactor", {"Name": f"norm{k}", "Val": 1, "Low": 0, "High": 4})
        for alpha in self.alphas:
            if self._chance(0.5):
                high, low = self.draw.uniform(0.85, 1.3), self.draw.uniform(0.75, 1.1)
                content += _element("OverallSys", {"Name": alpha, "High": repr(high), "Low": repr(low)})
            if self._chance(0.4) and alpha != self.alphas[0]:
                sides = {
                    f"HistoName{side}": self._histogram(f"{stem}_{alpha}_{side}", self._around(contents, 0.2))
                    for side in ("Low", "High")
                }
                content += _element("HistoSys", {"Name": alpha, **sides})
        if self._chance(0.25):
            relative = self._some_zero([self.draw.uniform(0.03, 0.25) for _ in contents], 0.3)
            law = "Poisson" if self.plain else self.draw.choice(["Poisson", "Gaussian"])
            content += _element(
                "ShapeSys",
                {
                    "Name": f"shape_{stem}",
                    "ConstraintType": law,
                    "HistoName": self._histogram(f"{stem}_shape", relative),
                },
            )
        if k > 1 and self._chance(0.15) and not self.plain:
            content += _element("ShapeFactor", {"Name": f"free_{stem}"})
        errors = self._some_zero([self.draw.uniform(0.02, 0.15) * rate for rate in contents], 0.2)
        contents = self._some_zero(contents, 0.2 if k else 0.0)
        attributes = {"Name": f"s{k}", "HistoName": self._histogram(stem, contents, errors)}
        if self._chance(0.5):  # the default; ROOT 6.40 takes False for True
            attributes["NormalizeByTheory"] = "True"
        return _element("Sample", attributes, content)

    def _function(self):
        known = (
            ("product", "k1*k2", "k1[1,0,3], k2[1.2,0,3]"),
            ("root", "sqrt(k3)*pow(k3, 0.5)", "k3[1,0.1,3]"),
            ("sum", "0.4*k1 + 0.7", "k1[1,0,3]"),
            ("polynomial", "(1 + 0.5*k4)*(k1 + 0.3*k2) - 0.1*k2", "k1[1,0,3], k2[1.2,0,3], k4[0.5,0,3]"),
        )
        name, expression, dependents = self.draw.choice(known)
        self.functions[name] = _element(
            "Function", {"Name": name, "Expression": expression, "Dependents": dependents}
        )
        return _element("NormFactor", {"Name": name, "Val": 1, "Low": 0, "High": 5})

    def _combination(self, channels):
        content = "".join(self.functions.values())
        content += "".join(_element("Input", {}, path) for path in channels)
        measurement = _element("POI", {}, "mu")
        if self._chance(0.5):
            measurement += _element(
                "ParamSetting", {"Const": "True"}, f"alpha_{self.draw.choice(self.alphas)}"
            )
        if not self.plain:
            if self._chance(0.4):  # of an alpha without HistoSys, where ROOT would have two parameters
                law = self.draw.choice(["Gamma", "LogNormal", "Uniform"])
                term = {"Type": law, "RelativeUncertainty": repr(self.draw.uniform(0.1, 0.4))}
                measurement += _element("ConstraintTerm", term, self.alphas[0])
        attributes = {"Name": "meas", "Lumi": repr(self.draw.choice([1.0, 1.5])), "LumiRelErr": "0.05"}
        content += _element("Measurement", attributes, measurement)
        return _element("Combination", {"OutputFilePrefix": str(self.folder / "out")}, content)


def mix_codes(model, number: int) -> None:
    """Draws a code for each normsys and histosys of a RooWorkspace. In ROOT an additive one after a
    multiplicative one has no other form, so that they are sorted."""
    draw = random.Random(number)
    for function in model.allFunctions():
        factor = function.ClassName().endswith("FlexibleInterpVar")
        if not factor and not function.ClassName().endswith("PiecewiseInterpolation"):
            continue
        parameters = list(function.variables() if factor else function.paramList())
        codes = [draw.choice(FACTOR_CODES if factor else SHAPE_CODES) for _ in parameters]
        added = (0, 2) if factor else (0, 2, 4)
        if factor and sum(code in added for code in codes) > 1:
            codes = [code if code not in added else 1 for code in codes]
        codes.sort(key=lambda code: code not in added)
        for parameter, code in zip(parameters, codes):
            function.setInterpCode(parameter, code)
