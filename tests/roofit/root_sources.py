#!/usr/bin/env python3
"""Runs one of ROOT's own HistFactory tests or tutorials, and keeps each model that it makes.

    python tests/roofit/root_sources.py roofit/histfactory/test/testHistFactory.cxx FOLDER

FOLDER/models has a folder for each model (see record.h). The file runs in FOLDER/run. Files of one FOLDER
share their inputs. Needs ROOT (PyPI: root). Nothing of ROOT's files is stored in this project."""

import os
import runpy
import sys
import unittest
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message="(?s).*distribution of ROOT.*")

import ROOT  # noqa: E402
import roofit_xml  # noqa: E402

HERE = Path(__file__).resolve().parent
FACTORY = ROOT.RooStats.HistFactory


def start(output: Path) -> None:
    """Loads record.h."""
    ROOT.gROOT.SetBatch(True)
    ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    for library in ("HistFactory", "RooFitHS3", "RooStats"):
        ROOT.gSystem.Load(f"lib{library}")
    ROOT.gInterpreter.AddIncludePath(str(HERE))
    if not ROOT.gInterpreter.Declare("#include <record.h>"):
        raise SystemExit("ROOT's interpreter refuses record.h")
    ROOT.gInterpreter.ProcessLine(f'paritas::output() = "{output}";')


def record_python() -> None:
    """Models that PyROOT makes. (C++ code is recorded by macros of gtest.h.)"""
    make = FACTORY.MakeModelAndMeasurementFast

    def kept(measurement, *rest):
        return make(ROOT.paritas.kept(measurement), *rest)

    FACTORY.MakeModelAndMeasurementFast = kept
    FACTORY.HistoToWorkspaceFactoryFast.MakeCombinedModel = lambda _, measurement: kept(measurement)
    FACTORY.FitModel = lambda *_: None
    FACTORY.Measurement.SetExportOnly = lambda *_: None  # gone since ROOT 6.40


def run_test(source: Path) -> None:
    if not ROOT.gInterpreter.Declare(f'#include "{source}"'):
        raise SystemExit(f"ROOT's interpreter refuses {source}")
    for i in range(len(ROOT.paritas.tests())):
        ROOT.gInterpreter.ProcessLine(f"paritas::tests()[{i}].second();")
    if source.stem == "stressHistFactory":
        make_stress_input()
        ROOT.buildAPI_XML_TestModel("API_XML_TestModel")


def make_stress_input() -> None:
    """Histograms of the names that stressHistFactory takes from its HistFactoryTest.tar."""
    contents = {
        "SignalRegion": {
            "Data": [64.0, 55.0, 71.0],
            "signal": [5.0, 8.0, 12.0],
            "background1": [30.0, 25.0, 20.0],
            "background1_Low": [27.0, 24.0, 21.5],
            "background1_High": [33.0, 26.5, 18.0],
            "background2": [2.5, 2.0, 3.0],
            "bkg2_shape_unc": [0.1, 0.15, 0.2],
        },
        "SidebandRegion": {"Data": [96.0], "unitHist": [1.0]},
    }
    file = ROOT.TFile("HistFactory_input.root", "RECREATE")
    for region, histograms in contents.items():
        folder = file.mkdir(f"API_vs_XML/{region}", "", True)
        for name, values in histograms.items():
            one = ROOT.TH1F(name, name, len(values), 0, len(values))
            for i, value in enumerate(values):
                one.SetBinContent(i + 1, value)
            folder.WriteTObject(one)
    file.Close()


def make_example_data() -> None:
    """data/, by ROOT's makeExample.C."""
    Path("data").mkdir(exist_ok=True)
    if not Path("data/example.root").exists():
        os.chdir("data")
        ROOT.gROOT.ProcessLine(f".x {tutorials() / 'histfactory/makeExample.C'}")
        os.chdir("..")


def tutorials() -> Path:
    return Path(ROOT.gROOT.GetTutorialDir().Data()) / "roofit"


def run_xml(source: Path) -> None:
    """Each measurement of a configuration, whose channels stand beside it."""
    Path("config").mkdir(exist_ok=True)
    for one in [*source.parent.glob("*.xml"), Path(ROOT.gROOT.GetEtcDir().Data()) / "HistFactorySchema.dtd"]:
        Path("config", one.name).write_bytes(one.read_bytes())
    config = Path("config", source.name)
    Path("config/examples").mkdir(exist_ok=True)
    for one in Path("config").glob("*.*"):
        Path("config/examples", one.name).write_bytes(one.read_bytes())
    for name in roofit_xml.measurement_names(config):
        ROOT.paritas.kept(roofit_xml.measurement(config, name))


def run_quick_model(source: Path) -> None:
    record_python()
    make = runpy.run_path(str(source))["MakeSimpleMeasurement"]
    make(10.0, 100.0, 105.0)
    make(10.0, 100.0, 105.0, signal_uncertainty=0.05, background_uncertainty=0.1, Export=True)


def run_interpolation(source: Path) -> None:
    """Its two functions on the first measurement of example.xml, each code."""
    config = tutorials() / "histfactory/example.xml"
    Path("config").mkdir(exist_ok=True)
    for one in config.parent.glob("*.xml"):
        Path("config", one.name).write_bytes(one.read_bytes())
    ROOT.gROOT.ProcessLine(f".L {source}")
    name = roofit_xml.measurement_names(config)[0]
    for code in range(5):
        workspace = roofit_xml.workspace(config, name)
        ROOT.ModifyInterpolationForAll(workspace, code)
        ROOT.paritas.keep_workspace(workspace)
    workspace = roofit_xml.workspace(config, name)
    nuisances = ROOT.RooArgSet(workspace.obj("ModelConfig").GetNuisanceParameters())
    ROOT.ModifyInterpolationForSet(nuisances, 2)
    ROOT.paritas.keep_workspace(workspace)


def run_python(source: Path) -> None:
    record_python()
    sys.argv = [str(source)]
    before = set(unittest.TestCase.__subclasses__())
    found = runpy.run_path(str(source))
    cases = [
        one
        for one in found.values()
        if isinstance(one, type) and issubclass(one, unittest.TestCase) and one not in before
    ]
    for case in cases:
        unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))


def run(source: Path) -> None:
    if source.suffix == ".json":
        ROOT.paritas.kept(ROOT.std.string(source.read_text()))
    elif source.suffix == ".xml":
        run_xml(source)
    elif source.stem == "makeQuickModel":
        run_quick_model(source)
    elif source.stem == "ModifyInterpolation":
        run_interpolation(source)
    elif source.suffix == ".py":
        run_python(source)
    elif source.suffix == ".C":
        ROOT.gInterpreter.Declare("#include <gtest/gtest.h>")
        ROOT.gROOT.ProcessLine(f".x {source}")
    else:
        run_test(source)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    (folder / "run/results").mkdir(parents=True, exist_ok=True)
    os.chdir(folder / "run")
    start(folder / "models" / source.name)
    make_example_data()
    run(source)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # ROOT deletes some histograms twice at the end
