"""ROOT itself reads the HS3 documents that are written here, with the same likelihood up to a constant (ROOT
6.40 from PyPI: `pip install ROOT`)."""

from __future__ import annotations

import copy
import json

import pytest
from convert_support import SHARED, TREE, random_points, twice_nll
from test_convert_to_hs3 import odd_workspace

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
