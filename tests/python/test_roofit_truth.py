"""Models against RooFit's stored numbers: expected rates and the NLL, with a code for each modifier,
and with factors that are functions. tests/roofit/compare.py --store made the file, and compares many more."""

import json
from pathlib import Path

import pytest

from paritas import Model

TRUTH = json.loads((Path(__file__).parent / "roofit_truth.json").read_text())


@pytest.mark.parametrize("label", TRUTH)
def test_rates_and_differences_of_the_nll_are_roofits(label):
    stored = TRUTH[label]
    codes = {f"{kind}_code": one["interpcode"][4:] for kind, one in stored["settings"].items()}
    model = Model.from_workspace(stored["spec"], clip_sample=0.0, **codes)
    first = stored["points"][0]
    for one in stored["points"]:
        rates = model.expected_data(one["point"])[: model.main_count]
        assert rates == pytest.approx(one["rates"], rel=1e-12, abs=0)
        ours = model.nll(one["point"]) - model.nll(first["point"])
        assert ours == pytest.approx(one["nll"] - first["nll"], rel=1e-10, abs=1e-10)
