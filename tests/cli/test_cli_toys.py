"""paritas toys and gof --toys: keys, exit codes, files that cannot be used, stores."""

import json
import os
import sqlite3
import struct
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
VARYING = {"seconds", "toys_per_second"}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def answer(*arguments, code=0):
    done = run(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return {key: value for key, value in json.loads(done.stdout).items() if key not in VARYING}


def refused(code, *arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr


def rows_of(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM toys ORDER BY toy").fetchall()
    connection.close()
    return rows


def test_keys_of_toys():
    a = answer("toys", TWO, "--ntoys", 500, "--seed", 3, "--errors")
    assert {
        "status",
        "counts",
        "ntoys",
        "seed",
        "fitted",
        "methods",
        "iterations",
        "parameters",
        "poi",
        "device",
        "precision",
    } <= set(a)
    assert (a["counts"], a["ntoys"], a["seed"], a["poi"]) == ({"converged": 500}, 500, 3, "mu")
    assert [p["name"] for p in a["parameters"]] == ["mu", "uncorr_bkguncrt[0]", "uncorr_bkguncrt[1]"]
    for p in a["parameters"]:
        assert (
            set(p) == {"name", "generated", "n", "mean", "rms", "n_pulls", "pull_mean", "pull_rms"}
            and p["n"] == 500
            and p["rms"] > 0
        )
    fitted = {p["name"]: p["value"] for p in answer("fit", TWO)["parameters"]}
    for p in a["parameters"]:
        assert p["generated"] == pytest.approx(fitted[p["name"]], abs=1e-5)
    assert sum(a["methods"][key] for key in a["methods"] if key != "refitted") == 500


def test_toys_depend_on_the_seed_alone():
    first = answer("toys", TWO, "--ntoys", 700, "--seed", 3)
    assert first == answer("toys", TWO, "--ntoys", 700, "--seed", 3, "--threads", 1)
    other = answer("toys", TWO, "--ntoys", 700, "--seed", 4)
    assert first["parameters"][0]["mean"] != other["parameters"][0]["mean"]


def test_toys_are_drawn_at_a_point_in_each_form(tmp_path):
    path = tmp_path / "point.json"
    values = {"mu": 1.5, "uncorr_bkguncrt[0]": 1.0, "uncorr_bkguncrt[1]": 0.9}
    found = []
    for document in (
        list(values.values()),
        values,
        {"parameters": [{"name": name, "value": value} for name, value in values.items()]},
    ):
        path.write_text(json.dumps(document))
        found.append(answer("toys", TWO, "--point", path, "--ntoys", 2000))
    assert found[0] == found[1] == found[2]
    assert [p["generated"] for p in found[0]["parameters"]] == list(values.values())
    mu = found[0]["parameters"][0]
    assert abs(mu["mean"] - 1.5) < 5 * mu["rms"] / 2000**0.5 + 0.05


def test_toys_are_drawn_around_expected_data_in_each_form(tmp_path):
    path = tmp_path / "expected.json"
    main, aux = [60.0, 66.0], [100.0, 36.0]
    found = []
    for document in (main + aux, {"main": main, "aux": aux}):
        path.write_text(json.dumps(document))
        found.append(answer("toys", TWO, "--expected-data", path, "--ntoys", 1000, "--errors"))
    assert found[0] == found[1]
    for p in found[0]["parameters"]:
        assert p["generated"] is p["pull_mean"] is p["pull_rms"] is None and p["mean"] is not None


def test_fixed_parameters_stay_wherever_toys_are_drawn(tmp_path):
    path = tmp_path / "point.json"
    path.write_text("[2.0, 1.0, 1.0]")
    mu = answer("toys", TWO, "--point", path, "--fix", "mu=0.25", "--ntoys", 200)["parameters"][0]
    assert (mu["generated"], mu["mean"], mu["rms"]) == (2.0, 0.25, 0.0)
    mu = answer("toys", TWO, "--point", path, "--init", "mu=3", "--ntoys", 200)["parameters"][0]
    assert mu["generated"] == 2.0 and mu["rms"] > 0


BAD_FILES = [
    ("--point", "[1.0, 1.0]", "an array of 2 values for a model of 3 parameters"),
    ("--point", '{"nu": 1.0}', "no parameter 'nu'"),
    ("--point", "7", "a point is an array"),
    ("--point", "[1.0,", "bad.json"),
    ("--point", "[-40.0, 1.0, 1.0]", "main datum 0 has the expectation"),
    ("--expected-data", "[50, 52, 100]", "the array has 3 numbers; the model has 4"),
    ("--expected-data", '{"main": [50], "aux": [100, 36]}', "main has 1 numbers; the model has 2"),
    ("--expected-data", '{"main": [50, 52]}', "aux is missing"),
    ("--expected-data", '{"main": [50, 52], "aux": 3}', "aux is a number"),
    ("--expected-data", '{"main": [50, "52"], "aux": [100, 36]}', "main[1] is a string"),
    ("--expected-data", '{"main": [50, -52], "aux": [100, 36]}', "main[1] is -52"),
    ("--expected-data", '{"main": [50, 52], "aux": [100, 36], "extra": []}', "not 'extra'"),
    ("--expected-data", "true", "data are an array, or an object"),
    ("--expected-data", "[50, 52, -1, 36]", "the array[2] is -1: a count cannot be negative"),
]


@pytest.mark.parametrize("option,text,reason", BAD_FILES)
def test_a_file_that_cannot_be_used_is_3_with_the_reason(tmp_path, option, text, reason):
    path = tmp_path / "bad.json"
    path.write_text(text)
    said = refused(3, "toys", TWO, option, path, "--ntoys", 10)
    assert reason in said and "bad.json" in said, said
    assert "nowhere.json" in refused(3, "toys", TWO, option, tmp_path / "nowhere.json")


def test_command_lines_that_contradict_themselves_are_2(tmp_path):
    path = tmp_path / "point.json"
    path.write_text("[1.0, 1.0, 1.0]")
    assert "not both" in refused(2, "toys", TWO, "--point", path, "--expected-data", path)
    assert "--save-parameters needs --store" in refused(2, "toys", TWO, "--save-parameters")
    assert "--resume needs --store" in refused(2, "toys", TWO, "--resume")
    assert "--seed needs --toys" in refused(2, "gof", TWO, "--seed", 3)
    assert "--shard" in refused(2, "toys", TWO, "--shard", "3/2")


def test_a_store_keeps_what_was_asked(tmp_path):
    path = tmp_path / "run.db"
    a = answer("toys", TWO, "--ntoys", 300, "--store", path, "--save-parameters", "--errors")
    rows = rows_of(path)
    assert [row[0] for row in rows] == list(range(300))
    values = [struct.unpack("<3d", row[6]) for row in rows]
    assert all(len(row[7]) == 24 for row in rows)
    for p, parameter in enumerate(a["parameters"]):
        assert parameter["mean"] == pytest.approx(sum(v[p] for v in values) / 300, rel=1e-12)
    assert "exists already" in refused(
        3, "toys", TWO, "--ntoys", 300, "--store", path, "--save-parameters", "--errors"
    )
    again = answer("toys", TWO, "--ntoys", 300, "--store", path, "--save-parameters", "--errors", "--resume")
    assert again["fitted"] == 0 and again["parameters"] == a["parameters"] and again["counts"] == a["counts"]
    assert "errors = yes" in refused(
        3, "toys", TWO, "--ntoys", 300, "--store", path, "--save-parameters", "--resume"
    )
    plain = tmp_path / "plain.db"
    answer("toys", TWO, "--ntoys", 300, "--store", plain)
    assert all(row[6] is row[7] is None for row in rows_of(plain)) and [row[2] for row in rows_of(plain)] == [
        row[2] for row in rows
    ]


@pytest.mark.parametrize(
    "command", [["toys", TWO, "--save-parameters"], ["gof", TWO, "--toys"]], ids=["toys", "gof"]
)
def test_shards_merge_to_the_whole(tmp_path, command):
    whole = answer(*command, "--ntoys", 1000, "--store", tmp_path / "whole.db")
    for i in (1, 2, 3):
        answer(*command, "--ntoys", 1000, "--shard", f"{i}/3", "--store", tmp_path / f"part{i}.db")
    assert (
        run("merge", *(tmp_path / f"part{i}.db" for i in (1, 2, 3)), "-o", tmp_path / "all.db").returncode
        == 0
    )
    assert rows_of(tmp_path / "all.db") == rows_of(tmp_path / "whole.db")
    pooled = answer(*command, "--ntoys", 1000, "--store", tmp_path / "all.db", "--resume")
    assert pooled["fitted"] == 0
    for key in {"p_toys", "p_toys_error", "parameters", "counts"} & set(whole):
        assert pooled[key] == whole[key]


def test_goodness_of_fit_by_toys_has_the_keys_of_both():
    plain, toys = answer("gof", TWO), answer("gof", TWO, "--toys", "--ntoys", 4000)
    assert {key: toys[key] for key in plain} == plain
    assert {"p_toys", "p_toys_error", "counts", "ntoys", "seed", "fitted", "methods"} <= set(toys)
    assert 0 < toys["p_toys"] < 1 and toys["p_toys_error"] == pytest.approx(
        (toys["p_toys"] * (1 - toys["p_toys"]) / 4000) ** 0.5, rel=0.01
    )
    assert "by toys p =" in run("gof", TWO, "--toys", "--ntoys", 100).stdout


def test_toys_need_no_parameter_of_interest():
    assert answer("toys", TWO, "--poi", "", "--ntoys", 100)["poi"] is None


def test_the_part_of_failed_toys_is_from_0_to_1():
    for part in (2, -0.1, 1.5):
        words = refused(2, "toys", TWO, "--ntoys", 10, "--max-failed", part)
        assert f"--max-failed takes a part from 0 to 1, not '{part}'" in words
    for part in (0, 0.5, 1):
        assert run("toys", TWO, "--ntoys", 10, "--max-failed", part).returncode == 0


def test_ntoys_is_the_word_of_all_commands_and_toys_its_synonym_for_gof():
    for options in (["--ntoys", 100], ["--toys", "--ntoys", 100]):
        done = run("gof", TWO, *options, "--seed", 3)
        assert done.returncode == 0 and "by toys p =" in done.stdout and "toys: 100 " in done.stdout
    assert "toys: 2000 " in run("gof", TWO, "--toys").stdout
