"""paritas merge, on stores that Python wrote: what a store is does not depend on who made it."""

import json
import os
import random
import sqlite3
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
KEY = {"kind": "tests", "workspace": "sha256:00", "mu": "1", "seed": "7"}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def make(path, rows, **key):
    with sqlite3.connect(path) as c:
        c.executescript("""PRAGMA application_id = 0x50544f59; PRAGMA user_version = 1;
            CREATE TABLE run(name TEXT PRIMARY KEY, value TEXT);
            CREATE TABLE facts(name TEXT PRIMARY KEY, value REAL);
            CREATE TABLE toys(mu REAL, hypothesis REAL, toy INTEGER, q REAL, mu_hat REAL, twice_nll_free REAL,
                              twice_nll_fixed REAL, status TEXT, iterations INTEGER,
                              PRIMARY KEY(mu, hypothesis, toy)) WITHOUT ROWID""")
        c.executemany("INSERT INTO run VALUES(?, ?)", {**KEY, **key}.items())
        c.executemany("INSERT INTO toys VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    c.close()


def rows_of(path):
    c = sqlite3.connect(path)
    rows = c.execute("SELECT * FROM toys").fetchall()
    c.close()
    return rows


@pytest.fixture
def rows():
    draw = random.Random(1)
    return [
        (
            1.0,
            h,
            toy,
            draw.expovariate(1),
            draw.gauss(0, 1),
            draw.gauss(500, 10),
            None if toy % 9 == 8 else draw.gauss(500, 10),
            "non_finite" if toy % 9 == 8 else "converged",
            draw.randrange(40),
        )
        for h in (0.0, 1.0)
        for toy in range(90)
    ]


def test_shards_pool_to_all_rows(tmp_path, rows):
    for i in range(3):
        make(tmp_path / f"part{i}.db", [row for row in rows if row[2] % 3 == i], shard=f"{i + 1}/3")
    done = run("merge", *(tmp_path / f"part{i}.db" for i in range(3)), "-o", tmp_path / "all.db", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer == {
        "stores": 3,
        "toys": 180,
        "counts": {"converged": 160, "non_finite": 20},
        "key": {k: v for k, v in KEY.items() if k != "kind"},
    }
    assert rows_of(tmp_path / "all.db") == rows
    assert sorted(os.listdir(tmp_path)) == ["all.db", "part0.db", "part1.db", "part2.db"]


def make_part(path, rows, n, shard=None, toys=None):
    """a store of toys from `rows`: those of a shard "I/N" of n, or the first `toys` of n without one"""
    i, of = map(int, shard.split("/")) if shard else (1, 1)
    first = [n // of * k + min(k, n % of) for k in range(of + 1)]
    end = first[i - 1] + toys if toys is not None else first[i]
    own = [row for row in rows if first[i - 1] <= row[2] < end]
    make(path, own, ntoys=str(n), **({"shard": shard} if shard else {}))


@pytest.mark.parametrize(
    "parts, missing",
    [
        ([(72, "1/4"), (72, "2/3"), (72, "3/3")], "toys 18 to 23"),
        ([(72, "2/3"), (72, "1/4")], "toys 18 to 23, shard 3/3"),
        ([(72, "1/2"), (72, "3/4")], "shard 4/4"),
        ([(72, "1/3"), (72, "2/3", 7), (72, "3/3")], "shard 2/3"),
        ([(72, "1/9"), (72, "2/3", 0), (72, "3/9")], "shard 2/9, shard 2/3, shard 3/3"),
        ([(24, "1/3"), (24, "2/3"), *((72, f"{i}/9") for i in range(4, 10))], "shard 3/3 of 24 toys"),
        ([(24, None), *((72, f"{i}/9") for i in range(4, 9))], "shard 9/9 of 72 toys"),
        ([(24, None, 16), *((72, f"{i}/9") for i in range(4, 10))], "16 of 144 toys"),
        ([(72, "1/72")], ", ".join(f"shard {i}/72" for i in range(2, 10)) + " and more"),
        ([(72, "1/2"), (72, "3/4"), (72, "4/4")], None),
        ([(24, None), *((72, f"{i}/9") for i in range(4, 10))], None),
    ],
)
def test_what_is_missing_is_named(tmp_path, rows, parts, missing):
    stores = [tmp_path / f"{k}.db" for k in range(len(parts))]
    for store, part in zip(stores, parts):
        make_part(store, rows, *part)
    done = run("merge", *stores, "-o", tmp_path / "all.db", "--json")
    said = "" if missing is None else f"the pool is no whole run: {missing} missing or incomplete; give all"
    assert done.returncode == (missing is not None) and said in done.stderr, done.stderr
    assert json.loads(done.stdout).get("partial", False) == (missing is not None)


def test_a_person_reads_a_table(tmp_path, rows):
    make(tmp_path / "a.db", rows)
    done = run("merge", tmp_path / "a.db", "-o", tmp_path / "all.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "180 toys of 1 store" in done.stdout and "converged" in done.stdout and "seed" in done.stdout


def test_exit_codes(tmp_path, rows):
    a, b, other, out = (tmp_path / n for n in ("a.db", "b.db", "other.db", "all.db"))
    make(a, rows[:10], shard="1/2")
    make(b, rows[9:20], shard="2/2")
    make(other, rows[20:30], seed="8")
    for arguments, code, words in (
        ([a, b, "-o", out], 3, ["toy 9", "a.db", "b.db"]),
        ([a, other, "-o", out], 3, ["other.db: was made with seed = 8", "seed = 7"]),
        ([a, "-o", b], 3, ["b.db: exists already"]),
        ([a, tmp_path / "c.db", "-o", out], 3, ["c.db", "No such file"]),
        ([a, "-o", tmp_path / "no" / "all.db"], 5, ["no/all.db"]),
        ([a], 2, ["-o FILE"]),
        (["-o", out], 2, ["STORE"]),
    ):
        done = run("merge", *arguments)
        assert (done.returncode, done.stdout) == (code, ""), arguments
        assert all(word in done.stderr for word in words), done.stderr
        assert not out.exists()
