"""The examples of docs/python/losscone.md, other-instruments.md and losscone-day.md run as they stand, one
after the other."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

from losscone_support import ROOT, program


def text_of(name):
    with open(os.path.join(ROOT, "docs", name)) as file:
        return file.read()


def run_examples(name):
    text = text_of(name)
    names = {"__name__": "docs"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.S | re.M))
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block.group(1), name, "exec"), names)
    return len(blocks)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, with the program on the path."""
    (tmp_path / "bin").mkdir()
    os.symlink(os.path.abspath(program()), tmp_path / "bin" / "paritas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ.get("PATH", "")]))
    return tmp_path


def test_the_examples_of_other_instruments_run():
    assert run_examples("python/other-instruments.md") == 4


def test_the_examples_run(empty):
    assert run_examples("python/losscone.md") > 5
    assert {"sweep.png", "profile.png", "time.png"} <= set(os.listdir(empty)) and sys.modules["paritas"]


def test_one_day_goes_from_files_to_a_map(empty):
    text = text_of("losscone-day.md").replace("\\\n", "")
    for command in re.findall(r"^\$ (paritas losscone .*)$", text, re.M):
        subprocess.run(command.split(), check=True, capture_output=True)
    assert run_examples("losscone-day.md") == 3
    assert {"map.png", "mine.png", "time.png"} <= set(os.listdir(empty))
