#!/usr/bin/env python3
"""RooFit beside Paritas on one workspace, one run: fit, Hesse, scan of the signal strength, toys.

    PYTHONPATH=python python bench/roofit.py WORKSPACE [--toys N] [--points N]

RooFit reads the workspace as HS3 and uses its CPU backend with Minuit2. Needs ROOT (PyPI: root). Both use one
thread. Prints a Markdown table."""

import argparse
import json
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore", message="(?s).*distribution of ROOT.*")

import ROOT  # noqa: E402

from paritas import Model, Workspace, convert  # noqa: E402


def timed(function):
    start = time.perf_counter()
    answer = function()
    return time.perf_counter() - start, answer


class RooFit:
    def __init__(self, spec) -> None:
        ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
        self.workspace = ROOT.RooWorkspace("workspace")
        document = convert.hs3.from_pyhf(spec).spec
        ROOT.RooJSONFactoryWSTool(self.workspace).importJSONfromString(json.dumps(document))
        self.config = self.workspace.obj("ModelConfig")
        self.pdf, self.data = (
            self.config.GetPdf(),
            (self.workspace.data("obsData") or self.workspace.embeddedData("obsData")),
        )
        self.poi = next(iter(self.config.GetParametersOfInterest()))
        self.nll = self._nll(self.data)
        self.start = self.pdf.getParameters(self.data).snapshot()

    def _nll(self, data):
        return self.pdf.createNLL(data, ROOT.RooFit.GlobalObservables(self.config.GetGlobalObservables()))

    def _reset(self):
        self.pdf.getParameters(self.data).assign(self.start)

    def fit(self, nll=None):
        """Twice the NLL at the minimum has another constant than ours."""
        self._reset()
        self.minimiser = ROOT.RooMinimizer(nll or self.nll)
        self.minimiser.setPrintLevel(-1)
        self.minimiser.minimize("Minuit2", "migrad")
        return self.poi.getVal()

    def hesse(self):
        self.minimiser.hesse()
        return self.poi.getError()

    def scan(self, values):
        for value in values:
            self.poi.setVal(value)
            self.poi.setConstant(True)
            self.minimiser = ROOT.RooMinimizer(self.nll)
            self.minimiser.setPrintLevel(-1)
            self.minimiser.minimize("Minuit2", "migrad")
        self.poi.setConstant(False)

    def toys(self, n):
        """Data of the main measurement alone are drawn, which is less work than ours."""
        self._reset()
        drawn = [
            self.pdf.generate(self.data.get(), ROOT.RooFit.Extended(), ROOT.RooFit.AllBinned())
            for _ in range(n)
        ]
        for data in drawn:
            self.fit(self._nll(data))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspace")
    parser.add_argument("--toys", type=int, default=100)
    parser.add_argument("--points", type=int, default=11)
    options = parser.parse_args()
    spec = Workspace.read(options.workspace).to_dict()
    model, roofit = Model.from_workspace(spec), RooFit(spec)
    values = [0.2 * i for i in range(options.points)]
    model.fit(covariance=False)  # the first call starts threads
    rows = []
    theirs, at = timed(roofit.fit)
    ours, fit = timed(lambda: model.fit(covariance=False))
    rows.append(("fit", ours, theirs))
    theirs, error = timed(roofit.hesse)
    ours, fit = timed(model.fit)
    rows.append(("fit with errors; RooFit: Hesse alone", ours, theirs))
    theirs, _ = timed(lambda: roofit.scan(values))
    ours, _ = timed(lambda: model.scan(values=values))
    rows.append((f"scan of {len(values)} values", ours, theirs))
    theirs, _ = timed(lambda: roofit.toys(options.toys))
    ours, _ = timed(lambda: model.fit_toys(n=options.toys, seed=1, threads=1))
    rows.append((f"{options.toys} toys, one fit each", ours, theirs))
    print(f"{model.poi_name}: {fit.values[model.poi_index]:.5f}, RooFit {at:.5f};", end=" ")
    print(f"error {fit.errors[model.poi_index]:.5f}, RooFit {error:.5f}\n")
    print("| | Paritas, ms | RooFit, ms | ratio |\n|---|---|---|---|")
    for what, here, there in rows:
        print(f"| {what} | {1e3 * here:.2f} | {1e3 * there:.0f} | {there / here:.0f} |")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
