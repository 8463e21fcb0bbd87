"""RooFit for bench.py: it reads the workspace as HS3 and minimises with Minuit2 on its CPU backend.

The model is pyhf's: ROOT's clip of a template and its shifts at 0 is off. Needs ROOT (PyPI: root)."""

import json
import os
import sys
import warnings

warnings.filterwarnings("ignore", message="(?s).*distribution of ROOT.*")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))

import ROOT  # noqa: E402

from paritas import Model, convert  # noqa: E402

SCAN_POINTS, TOYS = 5, 2
__version__ = ROOT.__version__


class RooFit:
    def __init__(self, document):
        ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
        self.workspace = ROOT.RooWorkspace("workspace")
        ROOT.RooJSONFactoryWSTool(self.workspace).importJSONfromString(
            json.dumps(convert.hs3.from_pyhf(document).spec)
        )
        for function in self.workspace.allFunctions():
            if function.ClassName() == "PiecewiseInterpolation":
                function.setPositiveDefinite(False)
        config = self.workspace.obj("ModelConfig")
        self.pdf, self.globals = config.GetPdf(), config.GetGlobalObservables()
        self.data = self.workspace.data("obsData") or self.workspace.embeddedData("obsData")
        self.poi = next(iter(config.GetParametersOfInterest()), None)
        self.parameters = self.pdf.getParameters(self.data)
        self.start = self.parameters.snapshot()
        self.nll = self._nll(self.data)
        # RooFit's NLL has another constant: the two are equal at the start
        self.constant = Model.from_workspace(document).twice_nll() - 2 * self.nll.getVal()
        self.size = len(self.start)

    def _nll(self, data):
        return self.pdf.createNLL(data, ROOT.RooFit.GlobalObservables(self.globals))

    def _minimise(self, nll, errors=False):
        minimiser = ROOT.RooMinimizer(nll)
        minimiser.setPrintLevel(-1)
        minimiser.minimize("Minuit2", "migrad")
        if errors:
            minimiser.hesse()

    def fit(self):
        """Fits with Hesse's errors. Returns twice the NLL, with our constant."""
        self.parameters.assign(self.start)
        self._minimise(self.nll, errors=True)
        return 2 * self.nll.getVal() + self.constant

    def scan(self, values):
        self.parameters.assign(self.start)
        self._hold(self.nll, values)

    def _hold(self, nll, values):
        self.poi.setConstant(True)
        for value in values:
            self.poi.setVal(value)
            self._minimise(nll)
        self.poi.setConstant(False)

    def toys(self, n):
        """Each with a free and a conditional fit. Data of the main measurement alone are drawn, which is less
        work than ours."""
        self.parameters.assign(self.start)
        drawn = [
            self.pdf.generate(self.data.get(), ROOT.RooFit.Extended(), ROOT.RooFit.AllBinned())
            for _ in range(n)
        ]
        for data in drawn:
            self.parameters.assign(self.start)
            nll = self._nll(data)
            self._minimise(nll)
            self._hold(nll, [1.0])
