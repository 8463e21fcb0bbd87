"""Every number of a store changed to what it cannot be: the answer stays, or file and row are named."""

import os
import shutil
import sqlite3
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
WORKSPACE = os.path.join(ROOT, "examples", "two_bins.json")
LIES = {
    "null": None,
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "negative": -3.5,
    "huge": 1e300,
    "zero": 0,
    "whole": 12345678901,
    "text": "many",
    "blob": b"\x00\xff",
}
COLUMNS = "mu hypothesis toy q mu_hat twice_nll_free twice_nll_fixed status iterations".split()
WEIGHTS = ["weight", "weight_other"]
# What a fit may have found, too.
POSSIBLE = {("weight", "zero"), ("weight_other", "zero")}
POSSIBLE_FACTS = {("mu_hat", "zero"), ("mu_hat", "negative")}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100)


@pytest.fixture(scope="module", params=["toys", "weights"])
def store(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / "whole.db"
    weights = ["--importance"] if request.param == "weights" else []
    done = run("hypotest-toys", WORKSPACE, "--ntoys", 300, "--store", path, *weights)
    assert done.returncode == 0, done.stderr
    return path


def answer(path, tmp_path):
    return run("merge", path, "-o", tmp_path / "pool.db", "--json")


def results(done):
    """What the answer says of the test, without the paths"""
    return done.stdout.replace("\n", " ").split('"store"')[0] if done.returncode == 0 else None


def changed(store, tmp_path, statement, values):
    path = tmp_path / "lie.db"
    shutil.copy(store, path)
    c = sqlite3.connect(path)
    try:
        c.execute(statement, values)
        c.commit()
    except sqlite3.IntegrityError as reason:
        pytest.skip(f"SQLite itself refuses it: {reason}")
    finally:
        c.close()
    return path


def check(store, tmp_path, path, row):
    whole, after = answer(store, tmp_path / "a"), answer(path, tmp_path / "b")
    assert after.returncode >= 0, "a signal"
    if after.returncode == 0:
        assert results(after) == results(whole), "another answer"
    else:
        assert "lie.db" in after.stderr or "pool.db" in after.stderr, after.stderr
        assert row in after.stderr, after.stderr


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("column", COLUMNS + WEIGHTS)
def test_a_row_is_refused_by_name_or_changes_nothing(store, tmp_path, column, lie):
    with sqlite3.connect(store) as c:
        there = [name for _, name, *_ in c.execute("PRAGMA table_info(toys)")]
    c.close()
    if column not in there:
        pytest.skip("only toys of importance sampling have weights")
    if (column, lie) in POSSIBLE:
        pytest.skip("a number that a fit may have")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = changed(
        store, tmp_path, f"UPDATE toys SET {column} = ? WHERE toy = 7 AND hypothesis = mu", [LIES[lie]]
    )
    check(store, tmp_path, path, "toy ")


@pytest.mark.parametrize("lie", LIES)
def test_a_fact_is_refused_by_name_or_changes_nothing(store, tmp_path, lie):
    with sqlite3.connect(store) as c:
        facts = [name for (name,) in c.execute("SELECT name FROM facts")]
    c.close()
    for k, fact in enumerate(fact for fact in facts if (fact, lie) not in POSSIBLE_FACTS):
        folder = tmp_path / str(k)
        for part in (folder / "a", folder / "b"):
            part.mkdir(parents=True)
        path = changed(store, folder, "UPDATE facts SET value = ? WHERE name = ?", [LIES[lie], fact])
        check(store, folder, path, "")
