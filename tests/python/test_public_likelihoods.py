"""The page of public likelihoods against its list, and its digits against the files that are at hand."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest
from package_support import PROGRAM, TREE

sys.path.insert(0, str(TREE / "tools"))
import public_likelihoods as tool  # noqa: E402

GIVEN = tool.listed()
FOLDER = os.environ.get("PARITAS_LIKELIHOODS", "")  # of clones, see tools/public_likelihoods.py
PAGE = (TREE / "docs" / "public-likelihoods.md").read_text(encoding="utf-8")
ROWS = tool.rows_on(PAGE)


def files_of(one):
    return [
        one.get("card") or one["workspace"],
        *([one["patch"]] if "patch" in one else []),
        *one.get("with", []),
    ]


def source_of(one):
    return files_of(one)[-1].split(":")[0]


def test_the_page_has_the_likelihoods_of_the_list_in_its_order():
    names = [one["name"] for one in GIVEN["likelihoods"]]
    assert len(set(names)) == len(names) >= 40 and len(GIVEN["analyses"]) >= 25
    for heading in ("## Answers", tool.TIMED, "## Where they are"):
        assert list(ROWS[heading]) == names, heading


def test_words_summaries_and_origins_are_those_of_the_tool():
    names = [one["name"] for one in GIVEN["likelihoods"]]
    assert tool.page_of(ROWS, names) == PAGE
    assert ROWS["## Where they are"] == {
        one["name"]: [tool.origin(one, GIVEN)] for one in GIVEN["likelihoods"]
    }


def test_every_file_has_a_hash_and_every_hash_a_file():
    files = [name for one in GIVEN["likelihoods"] for name in files_of(one)]
    assert set(files) == set(GIVEN["sha256"])
    assert {name.split(":")[0] for name in files} == set(GIVEN["sources"])
    assert {one["analysis"] for one in GIVEN["likelihoods"]} == set(GIVEN["analyses"])


def test_a_file_that_changed_is_refused():
    name = "examples:sbottom_A/BkgOnly.json"
    changed = dict(GIVEN, sha256={name: "0" * 64})
    with pytest.raises(SystemExit, match="hash"):
        tool.Sources(FOLDER, changed).bytes_of(name)
    assert tool.Sources(FOLDER, GIVEN).json_of(name)["channels"]


def test_a_clone_that_is_absent_is_told_from_a_wrong_one(tmp_path):
    name = next(name for name in GIVEN["sha256"] if not name.startswith(tool.HERE))
    with pytest.raises(tool.Absent, match=name.split(":")[0]):
        tool.Sources(str(tmp_path), GIVEN).bytes_of(name)


@pytest.mark.parametrize("source", GIVEN["sources"])
def test_answers_and_counts_are_those_of_the_page(source):
    options = SimpleNamespace(program=str(PROGRAM), check=True, write=None)
    sources, different, compared = tool.Sources(FOLDER, GIVEN), [], 0
    for one in GIVEN["likelihoods"]:
        if source_of(one) != source:
            continue
        try:
            document = tool.workspace_of(sources, one)
        except tool.Absent:
            continue
        different += tool.differences(one["name"], tool.rows_of(one, document, options, GIVEN), ROWS)
        compared += 1
    if not compared:
        pytest.skip(f"no clone of {source} in PARITAS_LIKELIHOODS")
    assert not different, "\n".join(different)
