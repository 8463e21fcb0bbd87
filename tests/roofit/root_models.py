#!/usr/bin/env python3
"""Counts which models of ROOT's own HistFactory tests and tutorials are read, and holds each against RooFit.

    PYTHONPATH=python python tests/roofit/root_models.py --root ROOT   # ROOT: a checkout, for its tests
    PYTHONPATH=python python tests/roofit/root_models.py               # the tutorials alone

ROOT's own files make the models at run time (root_sources.py). Each is read as XML (Measurement::PrintXML)
and as JSON (RooFit). Rates and NLL differences at 100 random points must agree with RooFit to 1e-10.
If the JSON lacks something, they agree with the workspace that ROOT itself reads from it: the line says so.
NormalizeByTheory="False" is followed here, and not by ROOT 6.40: then Lumi is held. Equal models count once.
Exit code 1: a model is read wrongly.

Needs ROOT (PyPI: root; of the same version as its sources) and uproot, so it is no part of CI."""

import argparse
import collections
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
import ROOT

from paritas import convert

HERE = Path(__file__).resolve().parent
TUTORIALS = Path(ROOT.gROOT.GetTutorialDir().Data()) / "roofit"
#: ROOT cannot evaluate each model that it reads
ROOT_ERRORS = (TypeError, ROOT.std.runtime_error, ROOT.std.invalid_argument)
#: in ROOT's sources
TESTS = (
    "roofit/histfactory/test/testHistFactory.cxx",
    "roofit/histfactory/test/testHistFactoryPlotting.cxx",
    "roofit/histfactory/test/stressHistFactory.cxx",
    "roofit/hs3/test/testHS3HistFactory.cxx",
    "roofit/hs3/test/testRooFitHS3.cxx",
    "roofit/hs3/test/test_hs3_histfactory_json.py",
)


def sources(root):
    yield from (Path(root) / one for one in TESTS if root)
    folder = TUTORIALS / "histfactory"
    yield from (one for one in sorted(folder.glob("*.xml")) if "<Combination" in one.read_text())
    yield from (folder / one for one in ("hf001_example.py", "hf001_example.C", "ModifyInterpolation.C"))
    yield TUTORIALS / "roofit/rf515_hfJSON.json"


def workspace_in(path):
    file = ROOT.TFile.Open(str(path))
    key = next(one for one in file.GetListOfKeys() if one.GetClassName() == "RooWorkspace")
    return key.ReadObj()


def imported(text):
    workspace = ROOT.RooWorkspace("imported")
    ROOT.RooJSONFactoryWSTool(workspace).importJSONfromString(text)
    return workspace


def forms(folder):
    """(name, what it says, convert it, its RooWorkspace and the one that ROOT reads) of a kept model."""
    truth = folder / "workspace.root"
    for config in sorted((folder / "xml").glob("*.xml")):
        if "<Combination" in config.read_text():
            channels = b"".join(one.read_bytes() for one in sorted(config.parent.glob("*.xml")))
            yield (
                "XML",
                channels + truth_text(folder),
                lambda config=config: convert.histfactory_xml.read(config, folder),
                [lambda: workspace_in(truth)],
            )
    for path in (folder / "workspace.json", folder / "given.json"):
        if path.exists():
            text = path.read_text()
            made = [lambda: workspace_in(truth)] if path.stem == "workspace" else []
            yield (
                "JSON",
                text.encode(),
                lambda text=text: convert.hs3.to_pyhf(json.loads(text)),
                [*made, lambda text=text: imported(text)],
            )


def truth_text(folder):
    found = folder / "workspace.json"
    return found.read_bytes() if found.exists() else b""


def judge(convert_it, truths):
    """The verdict, and its numbers or reason."""
    try:
        answer = convert_it()
    except convert.ConversionError as error:
        return "refused", str(error)
    found = ""
    held = any("NormalizeByTheory is False" in note for note in answer.notes)
    for k, make in enumerate(truths):
        workspace = make()
        if held and not workspace.var("Lumi").isConstant():
            workspace.var("Lumi").setConstant(True)
        else:
            held = False
        roofit = compare.RooFit(workspace, data_name(workspace))
        names = answer.names or None
        try:
            rates, nll, above = compare.compare(roofit, answer, names, 1)[0]
        except (LookupError, *ROOT_ERRORS) as error:
            found += f"; {error}"
            continue
        numbers = f"rates {rates:.1e}, NLL {nll:.1e}, minimum {above:+.1e}"
        if max(rates, nll) <= compare.LIMIT:
            if held:
                return "agrees with Lumi held, as a note says", numbers
            lost = f" (as ROOT reads it; ROOT's workspace has more{found})" if k else ""
            return "agrees" if above <= 1e-6 else "agrees, minimum above", numbers + lost
        found += f"; {numbers}"
    return "WRONG", found[2:]


def data_name(workspace):
    names = [one.GetName() for one in workspace.allData()]
    return "obsData" if "obsData" in names else next(one for one in names if not one.startswith("asimov"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root")
    parser.add_argument("--keep", help="folder for the models; those in it are not made again")
    options = parser.parse_args()
    ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    counts, known = collections.Counter(), set()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        for source in sources(options.root):
            models = folder / "models" / source.name
            if not models.exists():
                command = [sys.executable, HERE / "root_sources.py", source, folder]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if done.returncode:
                    counts["files of ROOT that stop"] += 1
                    print(f"{source.name}: ROOT stops:\n{done.stdout[-2000:]}", flush=True)
            for model in sorted(models.glob("*")):
                for name, text, convert_it, truths in forms(model):
                    mark = hashlib.sha256(name.encode() + text).digest()
                    if mark in known:
                        continue
                    known.add(mark)
                    verdict, why = judge(convert_it, truths)
                    counts[verdict] += 1
                    print(f"{source.name} {model.name} {name}: {verdict}: {why}", flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:5d} {what}")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    compare.os._exit(code)  # ROOT deletes some histograms twice at the end
