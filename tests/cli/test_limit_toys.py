"""paritas limit and significance by toys, and what merge answers, from outside."""

import json
import os
import sqlite3
import subprocess
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A")
LIMIT = ["limit", TWO, "--calc", "toys", "--rtol", "0.1", "--seed", "7", "--json"]
ONCE = {"seconds", "toys_per_second", "fitted", "iterations", "methods"}  # of this call


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def answer(*arguments, code=0):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (code, ""), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("ntoys", [20, 100])
def test_expected_limits_by_few_toys_ascend_and_say_so(ntoys):
    done = run("limit", TWO, "--calc", "toys", "--ntoys", ntoys, "--json")
    band = json.loads(done.stdout)
    assert band["limit_exp"] == sorted(band["limit_exp"]) and False in band["reached_exp"]
    assert "expected limits were out of order, as toys are few" in done.stderr


def refused(code, arguments, *words):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), (arguments, done.returncode, done.stderr)
    assert all(word in done.stderr for word in words), done.stderr


def lasting(document):
    return {key: value for key, value in document.items() if key not in ONCE}


def rows_of(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM toys").fetchall()
    connection.close()
    return rows


# ---- limits ----


def test_limits_have_errors_below_rtol_and_lie_near_the_asymptotic_ones():
    found, formula = answer(*LIMIT), answer("limit", TWO, "--json")
    assert (
        found["calc"],
        found["test_stat"],
        found["level"],
        found["rtol"],
        found["status"],
        found["ntoys"],
        found["seed"],
    ) == ("toys", "qtilde", 0.05, 0.1, "converged", 100000, 7)
    assert found["asymptotic"] == {"limit_obs": formula["limit_obs"], "limit_exp": formula["limit_exp"]}
    assert (
        found["reached_obs"] is True
        and found["reached_exp"] == [True] * 5
        and found["bound_widened"] is False
    )
    limits, errors = (
        [found["limit_obs"], *found["limit_exp"]],
        [found["limit_obs_error"], *found["limit_exp_error"]],
    )
    for limit, error, near in zip(limits, errors, [formula["limit_obs"], *formula["limit_exp"]]):
        assert 0 < error <= 0.1 * limit and abs(limit - near) < 4 * error + 0.1 * near
    assert found["limit_exp"] == sorted(found["limit_exp"])
    assert [point["mu"] for point in found["scan"]] == sorted(point["mu"] for point in found["scan"])
    assert (
        sum(point["n_tested"] + point["n_other"] for point in found["scan"])
        == found["fitted"]
        == sum(found["counts"].values())
    )
    point = found["scan"][0]
    assert {
        "CLs_obs",
        "CLs_obs_error",
        "CLs_exp",
        "CLs_exp_error",
        "CLsb",
        "CLb",
        "q",
        "mu_hat",
        "status",
    } <= set(point) and len(point["CLs_exp_error"]) == 5


def test_a_person_reads_limits_with_errors_beside_the_asymptotic_ones():
    done = run(*LIMIT[:-1])
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "by toys" in done.stdout
        and "asymptotic" in done.stdout
        and "median" in done.stdout
        and "seed 7" in done.stdout
    )


def test_errors_that_the_toys_do_not_reach_are_said_and_are_exit_1():
    found = answer(*LIMIT, "--ntoys", 1000, "--rtol", "0.01", code=1)
    assert (
        found["reached_obs"] is False
        and found["limit_obs"] > 0
        and found["limit_obs_error"] > 0.01 * found["limit_obs"]
    )
    assert all(point["n_tested"] <= 1000 for point in found["scan"])
    done = run(*LIMIT[:-1], "--ntoys", 1000, "--rtol", "0.01")
    assert done.returncode == 1 and "error above --rtol" in done.stdout and "raise --ntoys" in done.stdout


def test_the_statistic_and_the_auxiliary_data_matter():
    found = answer(*LIMIT)
    assert answer(*LIMIT, "--test-stat", "q")["test_stat"] == "q"
    assert answer(*LIMIT, "--fix-aux")["limit_exp"] != found["limit_exp"]
    assert lasting(answer(*LIMIT, "--threads", "1")) == lasting(found)


def test_options_of_toys_without_toys_are_2():
    for option in (
        ["--rtol", "0.1"],
        ["--ntoys", "10"],
        ["--seed", "1"],
        ["--store", "x.db"],
        ["--fix-aux"],
        ["--shard", "1/2"],
    ):
        if option[0] != "--shard":
            refused(2, ["limit", TWO, *option], option[0], "--calc toys")
        if option[0] != "--rtol":
            refused(2, ["significance", TWO, *option], option[0], "--calc toys")


def test_a_command_line_that_makes_no_sense_is_2(tmp_path):
    refused(2, [*LIMIT, "--shard", "1/2"], "limit has no option --shard")
    refused(2, [*LIMIT, "--rtol", "0"], "--rtol", "above 0 and below 1")
    refused(2, [*LIMIT, "--rtol", "1"], "--rtol")
    refused(2, [*LIMIT, "--level", "1"], "--level")
    refused(2, [*LIMIT, "--resume"], "--store")
    refused(2, ["limit", TWO, "--calc", "exact"], "--calc")
    refused(2, ["limit", TWO, "--test-stat", "q0", "--calc", "toys"], "--test-stat")
    patches = os.path.join(SBOTTOM, "patchset.json")
    refused(
        2,
        [
            "limit",
            os.path.join(SBOTTOM, "BkgOnly.json"),
            "--patchset",
            patches,
            "--calc",
            "toys",
            "--store",
            tmp_path / "a.db",
        ],
        "--store",
        "--patch-name",
    )


def test_limits_of_a_killed_run_are_those_of_an_undisturbed_one(tmp_path):
    whole = answer(*LIMIT, "--store", tmp_path / "whole.db")
    part = tmp_path / "part.db"
    killed = 0
    for delay in (0.05, 0.1, 0.2):
        process = subprocess.Popen(
            [PROGRAM, *LIMIT, "--store", str(part), "--resume"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        killed += process.poll() is None
        process.kill()
        process.wait()
    again = answer(*LIMIT, "--store", part, "--resume")
    assert killed and lasting(again) == lasting(whole) and rows_of(part) == rows_of(tmp_path / "whole.db")
    assert answer(*LIMIT, "--store", part, "--resume")["fitted"] == 0


def test_a_store_is_refused_to_another_run_with_the_difference_named(tmp_path):
    path = tmp_path / "run.db"
    answer(*LIMIT, "--store", path)
    refused(3, [*LIMIT, "--store", path], "exists already", "--resume")
    refused(3, [*LIMIT, "--store", path, "--resume", "--level", "0.1"], "level = 0.05")
    refused(3, [*LIMIT, "--store", path, "--resume", "--seed", "8"], "seed = 7", "seed = 8")
    refused(3, ["hypotest-toys", TWO, "--store", path, "--resume", "--seed", "7"], "command = limit")
    assert answer(*LIMIT, "--store", path, "--resume", "--rtol", "0.08")["rtol"] == 0.08  # goes on


# ---- significance ----


def excess(tmp_path):
    with open(TWO, encoding="utf-8") as file:
        workspace = json.load(file)
    workspace["observations"][0]["data"] = [75.0, 70.0]
    path = tmp_path / "excess.json"
    path.write_text(json.dumps(workspace))
    return path


def test_p0_by_toys_is_near_the_asymptotic_one(tmp_path):
    path = excess(tmp_path)
    found, formula = (
        answer("significance", path, "--calc", "toys", "--ntoys", 50000, "--json"),
        answer("significance", path, "--json"),
    )
    assert (found["calc"], found["status"], found["ntoys"]) == ("toys", "converged", 50000)
    assert found["q0"] == pytest.approx(formula["q0"], abs=1e-9) and found["mu_hat"] == pytest.approx(
        formula["mu_hat"], abs=1e-6
    )
    for name in ("", "_exp"):
        assert abs(found["Z" + name] - formula["Z" + name]) < 4 * found["Z" + name + "_error"] + 0.05
        assert found["p0" + name + "_error"] > 0
    assert (
        found["Z_at_least"] is None
        and found["p0_exp_band"] == sorted(found["p0_exp_band"])
        and found["p0_exp"] == found["p0_exp_band"][2]
    )
    done = run("significance", path, "--calc", "toys")
    assert done.returncode == 0 and "expected for 1" in done.stdout and "4000 converged" in done.stdout


def test_where_no_toy_is_as_extreme_z_is_a_lower_limit(tmp_path):
    path = excess(tmp_path)
    found = answer("significance", path, "--calc", "toys", "--ntoys", 50, "--json")
    assert found["p0"] == 0 and found["Z"] is None and found["p0_error"] > 0
    assert 1 < found["Z_at_least"] < answer("significance", path, "--json")["Z"]
    assert "> 1." in run("significance", path, "--calc", "toys", "--ntoys", 50).stdout


# ---- merge ----


@pytest.mark.parametrize(
    "command",
    [
        ["hypotest-toys", "--mu", "0.8"],
        ["hypotest-toys", "--test-stat", "q0"],
        ["significance", "--calc", "toys"],
    ],
    ids=["qtilde", "q0", "significance"],
)
def test_shards_pool_to_the_answer_of_the_whole_run(tmp_path, command):
    common = [command[0], TWO, *command[1:], "--ntoys", 2000, "--seed", 3, "--json"]
    whole = answer(*common, "--store", tmp_path / "whole.db")
    for i in (1, 2, 3):
        answer(*common, "--store", tmp_path / f"{i}.db", "--shard", f"{i}/3")
    pooled = answer("merge", *(tmp_path / f"{i}.db" for i in (1, 2, 3)), "-o", tmp_path / "all.db", "--json")
    assert (pooled["stores"], pooled["toys"], pooled["key"]["ntoys"], pooled["key"]["seed"]) == (
        3,
        4000,
        "2000",
        "3",
    )
    assert rows_of(tmp_path / "all.db") == rows_of(tmp_path / "whole.db")
    for key in {
        "mu",
        "CLs_obs",
        "CLs_obs_error",
        "CLs_exp",
        "CLs_exp_error",
        "CLsb",
        "CLsb_error",
        "CLb",
        "CLb_error",
        "q",
        "mu_hat",
        "p0",
        "p0_error",
        "status",
        "counts",
    }:
        assert key in pooled and (key not in whole or pooled[key] == whole[key]), key
    table = run("merge", *(tmp_path / f"{i}.db" for i in (1, 2, 3)), "-o", tmp_path / "more.db").stdout
    assert ("p0" if "CLs" not in table else "CLs+b") in table and "4000 toys of 3 stores" in table


def test_stores_of_limits_are_pooled_and_counted(tmp_path):
    answer(*LIMIT, "--store", tmp_path / "limit.db")
    pooled = answer("merge", tmp_path / "limit.db", "-o", tmp_path / "all.db", "--json")
    assert (
        set(pooled) == {"stores", "toys", "counts", "key"}
        and pooled["key"]["command"] == "limit"
        and pooled["toys"] == len(rows_of(tmp_path / "all.db"))
    )


def test_facts_that_contradict_are_refused(tmp_path):
    for i in (1, 2):
        answer(
            "hypotest-toys",
            TWO,
            "--ntoys",
            200,
            "--store",
            tmp_path / f"{i}.db",
            "--shard",
            f"{i}/2",
            "--json",
        )
    with sqlite3.connect(tmp_path / "2.db") as connection:
        connection.execute("UPDATE facts SET value = value + 1 WHERE name = 'q'")
    connection.close()
    refused(3, ["merge", tmp_path / "1.db", tmp_path / "2.db", "-o", tmp_path / "all.db"], "2.db", "q is")
    assert not (tmp_path / "all.db").exists()
