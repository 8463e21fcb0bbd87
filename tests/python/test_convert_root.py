"""ROOT itself reads the HS3 documents that are written here, with the same likelihood up to a constant (ROOT
6.40 from PyPI: `pip install ROOT`)."""

from __future__ import annotations

import copy
import json

import pytest
from convert_support import SHARED, TREE, random_points, twice_nll
from test_convert_to_hs3 import odd_workspace

from paritas import Model
from paritas.convert import hs3

ROOT = pytest.importorskip("ROOT")


def _by_root(path, points):
    ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.ERROR)
    workspace = ROOT.RooWorkspace("workspace")
    ROOT.RooJSONFactoryWSTool(workspace).importJSON(str(path))
    config = workspace.obj("ModelConfig")
    nll = config.GetPdf().createNLL(
        workspace.data("obsData"), ROOT.RooFit.GlobalObservables(config.GetGlobalObservables())
    )
    values = []
    for point in points:
        for name, value in point.items():
            workspace.var(name).setVal(value)
            assert workspace.var(name).getVal() == value
        values.append(2 * nll.getVal())
    return values


@pytest.mark.parametrize(
    "name, codes",
    [("odd", {}), ("odd", {"normsys_code": "code1"}), ("two_bins", {}), ("displaced_leptons_signal", {})],
)
def test_root_reads_what_is_written_with_the_same_likelihood(name, codes, tmp_path):
    if name == "odd":
        spec = odd_workspace()
    else:
        path = (TREE / "examples" if name == "two_bins" else SHARED) / f"{name}.json"
        if not path.is_file():
            pytest.skip("no published workspaces here")
        spec = json.loads(path.read_text())
    written = hs3.write(spec, tmp_path / "model.json", **codes)
    points = random_points(written.spec, 4)
    original = copy.copy(written)
    original.spec = spec
    expected = twice_nll(
        original, [{written.names[key]: value for key, value in point.items()} for point in points]
    )
    found = _by_root(tmp_path / "model.json", points)
    assert [value - found[0] for value in found[1:]] == pytest.approx(
        [value - expected[0] for value in expected[1:]], abs=1e-11
    )


def test_root_clips_a_shifted_template_at_zero_and_a_model_can(tmp_path):
    """Below alpha = -2 the second bin of `b` would be negative."""
    b = {
        "name": "b",
        "data": [20.0, 2.0],
        "modifiers": [{"name": "h", "type": "histosys", "data": {"hi_data": [21, 3], "lo_data": [19, 1]}}],
    }
    modifiers = [{"name": "mu", "type": "normfactor", "data": None}]
    signal = {"name": "s", "data": [1.0, 5.0], "modifiers": modifiers}
    spec = {
        "channels": [{"name": "c", "samples": [signal, b]}],
        "observations": [{"name": "c", "data": [22.0, 6.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }
    hs3.write(spec, tmp_path / "model.json")
    points = [{"mu": 1.0, "alpha_h": alpha} for alpha in (0.0, -1.5, -3.0)]
    found = _by_root(tmp_path / "model.json", points)
    here = [{"mu": point["mu"], "h": point["alpha_h"]} for point in points]
    plain, clipped = Model.from_workspace(spec), Model.from_workspace(spec, clip_sample=0.0)
    assert [value - found[0] for value in found[1:]] == pytest.approx(
        [clipped.twice_nll(point) - clipped.twice_nll(here[0]) for point in here[1:]], abs=1e-11
    )
    assert plain.twice_nll(here[1]) == clipped.twice_nll(here[1])
    assert abs(plain.twice_nll(here[2]) - clipped.twice_nll(here[2])) > 0.1
