"""The examples of docs/python/losscone.md and other-instruments.md run as they stand, one after the other."""

import os
import re
import sys

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

from losscone_support import ROOT, program


def run_examples(name):
    page = os.path.join(ROOT, "docs", "python", name)
    with open(page) as file:
        text = file.read()
    names = {"__name__": "docs"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.S | re.M))
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block.group(1), page, "exec"), names)
    return len(blocks)


def test_the_examples_of_other_instruments_run():
    assert run_examples("other-instruments.md") == 2


def test_the_examples_run(tmp_path, monkeypatch):
    found = program()
    (tmp_path / "bin").mkdir()
    os.symlink(os.path.abspath(found), tmp_path / "bin" / "paritas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ.get("PATH", "")]))
    assert run_examples("losscone.md") > 5
    assert {"sweep.png", "profile.png", "time.png"} <= set(os.listdir(tmp_path)) and sys.modules["paritas"]
