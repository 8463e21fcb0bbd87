"""XML models with every constraint against RooFit 6.40: NLL differences at 100 random points, minima. The
truth, tests/roofit/constraints.json, is made by tests/roofit/make_constraints.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

numpy = pytest.importorskip("numpy")
uproot = pytest.importorskip("uproot")

from paritas import Model  # noqa: E402
from paritas.convert import histfactory_xml  # noqa: E402

TRUTH = json.loads(Path(__file__).parents[1].joinpath("roofit", "constraints.json").read_text())["models"]


def histogram(name, contents, errors, single):
    def flanked(values):  # with under- and overflow
        return numpy.concatenate([[0.0], values, [0.0]])

    bins, writing = len(contents), uproot.writing.identify
    return writing.to_TH1x(
        fName=name,
        fTitle="",
        data=flanked(contents).astype(numpy.float32 if single else float),
        fEntries=1.0,
        fTsumw=1.0,
        fTsumw2=1.0,
        fTsumwx=1.0,
        fTsumwx2=1.0,
        fSumw2=numpy.empty(0) if errors is None else flanked(numpy.square(errors)),
        fXaxis=writing.to_TAxis(fName="xaxis", fTitle="", fNbins=bins, fXmin=0.0, fXmax=float(bins)),
    )


def converted(model, folder):
    for name, text in model["files"].items():
        (folder / name).write_text(text)
    with uproot.recreate(folder / "input.root") as file:
        for name, (contents, errors) in model["histograms"].items():
            file[name] = histogram(name, contents, errors, model["single"])
    return histfactory_xml.read(folder / "top.xml", folder)


@pytest.mark.parametrize("model", TRUTH, ids=range(len(TRUTH)))
def test_the_likelihood_is_roofits_and_the_minimum_not_above_it(model, tmp_path):
    engine = Model.from_workspace(converted(model, tmp_path).spec)
    places = [engine.parameter_names.index(name) for name in model["names"]]
    points = numpy.tile(engine.suggested_init, (len(model["points"]), 1))
    points[:, places] = model["points"]
    nll = numpy.array([0.5 * engine.twice_nll(point) for point in points])
    truth = numpy.array(model["differences"])
    assert (abs(nll[1:] - nll[0] - truth) <= 1e-10 * numpy.maximum(abs(truth), 1.0)).all()
    fit = engine.fit()
    assert fit.status == "converged"
    assert 0.5 * fit.twice_nll - nll[0] <= model["minimum"] + 1e-9


def test_the_truth_has_every_law():
    text = json.dumps(TRUTH)
    for law in ("Gamma", "LogNormal", "Uniform", "NoConstraint"):
        assert f'ConstraintTerm Type=\\"{law}\\"' in text
    for law in ("Gaussian", "Poisson"):
        assert f'ConstraintType=\\"{law}\\"' in text
    assert any(model["single"] for model in TRUTH)
    assert len(TRUTH[0]["points"]) == 101
