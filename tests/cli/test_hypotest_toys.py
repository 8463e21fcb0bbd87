"""paritas hypotest-toys from outside: answers, exit codes, stores that are resumed, cut, pooled and
killed."""

import json
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
BASE = ["hypotest-toys", TWO, "--mu", "1", "--seed", "7", "--json", "--quiet"]
TIMINGS = {"seconds", "toys_per_second"}
OF_THIS_CALL = TIMINGS | {"fitted", "iterations", "methods"}


def run(*arguments, environment=None):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ, **(environment or {})),
    )


def answer(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without(document, keys):
    return {key: value for key, value in document.items() if key not in keys}


def refused(code, arguments, *words):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), (arguments, done.returncode, done.stderr)
    for word in words:
        assert re.search(rf"(?<!\w){re.escape(str(word))}(?!\w)", done.stderr), (word, done.stderr)


def rows_of(path):
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT mu, hypothesis, toy, q, mu_hat, twice_nll_free, twice_nll_fixed, status, iterations FROM "
        "toys ORDER BY mu, hypothesis, toy"
    ).fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("statistic", ["qtilde", "q", "q0"])
def test_the_answer_has_the_keys_of_a_test_with_errors_and_counts(statistic):
    found = answer(*BASE, "--ntoys", 3000, "--test-stat", statistic)
    asked = {
        "mu",
        "CLs_obs",
        "CLs_exp",
        "CLsb",
        "CLb",
        "q",
        "mu_hat",
        "p0",
        "CLs_obs_error",
        "CLsb_error",
        "CLb_error",
        "p0_error",
        "status",
        "counts",
        "ntoys",
        "seed",
        "fitted",
        "methods",
        "toys_per_second",
    }
    assert asked <= set(found)
    assert found["mu"] == (0 if statistic == "q0" else 1) and (
        found["ntoys"],
        found["seed"],
        found["fitted"],
        found["status"],
    ) == (3000, 7, 6000, "converged")
    assert sum(found["counts"].values()) == 6000 and set(found["counts"]) == {"converged"}
    assert sum(count for name, count in found["methods"].items() if name != "refitted") == 6000
    assert (
        len(found["CLs_exp"]) == 5
        and found["CLs_exp"] == sorted(found["CLs_exp"])
        and found["toys_per_second"] > 0
    )
    if statistic == "q0":
        assert found["p0"] == found["CLsb"] and found["p0_error"] > 0
        return
    assert found["p0"] is None and found["p0_error"] is None
    assert found["CLs_obs"] == pytest.approx(found["CLsb"] / found["CLb"], rel=1e-12)
    for name in ("CLsb", "CLb"):
        p = found[name]
        assert found[name + "_error"] == pytest.approx(math.sqrt(p * (1 - p) / 3000), rel=0.02)
    asymptotic = answer("hypotest", TWO, "--mu", "1", "--test-stat", statistic, "--json")
    assert found["q"] == pytest.approx(asymptotic["q"], abs=1e-9) and found["mu_hat"] == pytest.approx(
        asymptotic["mu_hat"], abs=1e-6
    )
    assert abs(found["CLs_obs"] - asymptotic["CLs_obs"]) < 5 * found["CLs_obs_error"] + 0.01


def test_a_person_reads_a_table_and_files_receive_it(tmp_path):
    done = run("hypotest-toys", TWO, "--ntoys", 500, "--quiet")
    assert done.returncode == 0 and done.stderr == ""
    assert "CLs+b" in done.stdout and "1000 converged" in done.stdout and "seed 0" in done.stdout
    out = tmp_path / "answer.json"
    assert run(*BASE, "--ntoys", 500, "-o", out).stdout == ""
    assert json.loads(out.read_text())["ntoys"] == 500


def test_answers_depend_on_the_seed_and_on_nothing_else():
    whole = without(answer(*BASE, "--ntoys", 2000), TIMINGS)
    for options, environment in (
        (["--threads", 1], {}),
        (["--threads", 3], {}),
        ([], {"PARITAS_ISA": "scalar"}),
        ([], {"PARITAS_ISA": "portable"}),
    ):
        done = run(*BASE, "--ntoys", 2000, *options, environment=environment)
        if done.returncode != 4:  # not in this build or not in this processor
            assert without(json.loads(done.stdout), TIMINGS) == whole
    assert without(answer(*BASE, "--ntoys", 2000, "--seed", 8), TIMINGS)["CLb"] != whole["CLb"]
    fixed = answer(*BASE, "--ntoys", 2000, "--fix-aux")
    assert fixed["q"] == whole["q"] and fixed["CLb"] != whole["CLb"]


def test_a_command_line_that_cannot_be_parsed_is_2():
    for arguments in (
        ["--ntoys", -5],
        ["--ntoys", "many"],
        ["--ntoys", 1.5],
        ["--seed", -1],
        ["--seed", "x"],
        ["--mu", "one"],
        ["--test-stat", "tmu"],
        ["--shard", "3"],
        ["--shard", "0/3"],
        ["--shard", "4/3"],
        ["--shard", "1/0"],
        ["--shard", "1/3x"],
        ["--shard", "-1/3"],
        ["--resume"],
        ["--store"],
        ["--minimizer", "fast"],
    ):
        done = run("hypotest-toys", TWO, *arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("paritas"), (
            arguments,
            done.stderr,
        )


def test_numbers_out_of_bounds_are_2():
    refused(2, [*BASE, "--ntoys", 2**60], f"--ntoys takes a number at most {2**48 - 1}, not {2**60}")


def test_what_the_model_does_not_allow_is_3(tmp_path):
    refused(3, [*BASE, "--mu", "1.1e7"], "mu")
    refused(3, [*BASE, "--mu", -1], "mu")
    refused(3, [*BASE, "--poi", "nobody"], "nobody")
    refused(3, [*BASE, "--ntoys", 5, "--shard", "1/7"], 7)
    with open(TWO, encoding="utf-8") as file:
        workspace = json.load(file)
    workspace["measurements"][0]["config"]["poi"] = "nu"
    (tmp_path / "no_poi.json").write_text(json.dumps(workspace))
    refused(3, ["hypotest-toys", tmp_path / "no_poi.json"], "nu")


def test_a_store_that_cannot_be_made_is_5(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "no" / "run.db", tmp_path / "file" / "run.db", "/proc/run.db"):
        refused(5, [*BASE, "--ntoys", 50, "--store", path], "run.db")
    assert os.listdir(tmp_path) == ["file"]


def test_a_store_has_a_row_a_toy_and_hypothesis_and_the_key_of_its_run(tmp_path):
    path = tmp_path / "run.db"
    kept = answer(*BASE, "--ntoys", 700, "--store", path)
    assert without(kept, TIMINGS) == without(answer(*BASE, "--ntoys", 700), TIMINGS)
    rows = rows_of(path)
    assert [row[:3] for row in rows] == [(1.0, h, toy) for h in (0.0, 1.0) for toy in range(700)]
    assert all(
        row[7] == "converged" and row[3] >= 0 and row[6] >= row[5] - 1e-8 and row[8] > 0 for row in rows
    )
    for h, name in ((0.0, "CLb"), (1.0, "CLsb")):
        assert sum(row[3] >= kept["q"] - 1e-8 for row in rows if row[1] == h) / 700 == kept[name]
    with sqlite3.connect(path) as connection:
        key, facts = (
            dict(connection.execute("SELECT * FROM run")),
            dict(connection.execute("SELECT * FROM facts")),
        )
    assert {"workspace", "mu", "seed", "ntoys", "test_statistic", "version", "fix_aux"} <= set(key)
    assert (key["mu"], key["seed"], key["ntoys"]) == ("1", "7", "700") and key[
        "workspace"
    ] == "sha256:" + answer("digest", TWO, "--json")["sha256"]
    assert facts["q"] == kept["q"] and facts["mu_hat"] == kept["mu_hat"]
    assert os.listdir(tmp_path) == ["run.db"]


def test_an_existing_store_is_resumed_only_when_asked_and_only_by_the_same_run(tmp_path):
    path, other = tmp_path / "run.db", tmp_path / "other.json"
    first = answer(*BASE, "--ntoys", 400, "--store", path, "--resume")  # a missing one is made
    before = path.read_bytes()
    refused(3, [*BASE, "--ntoys", 400, "--store", path], "run.db")
    with open(TWO, encoding="utf-8") as file:
        workspace = json.load(file)
    workspace["observations"][0]["data"][0] += 1
    other.write_text(json.dumps(workspace))
    resume = ["--store", path, "--resume"]
    for changed, word in (
        (["--mu", 2], "mu"),
        (["--seed", 8], "seed"),
        (["--ntoys", 399], "ntoys"),
        (["--fix-aux"], "fix_aux"),
        (["--test-stat", "q"], "test_statistic"),
        (["--shard", "1/2"], "shard"),
        (["--minimizer", "newton"], "minimizer"),
        (["--normsys-code", "1"], "normsys-code"),
        (["--init", "mu=0.5"], "no init, this run has init = mu=0.5"),
        (["--fix", "uncorr_bkguncrt[0]=1.2"], "no fix, this run has fix = uncorr_bkguncrt[0]=1.2"),
        (["--max-iterations", 7], "no max_iterations, this run has max_iterations = 7"),
        (["--starts", 2], "no starts, this run has starts = 2"),
    ):
        refused(3, [*BASE, "--ntoys", 400, *changed, *resume], "run.db", word)
    refused(3, ["hypotest-toys", other, *BASE[2:], "--ntoys", 400, *resume], "run.db", "workspace")
    assert path.read_bytes() == before
    again = answer(*BASE, "--ntoys", 400, *resume)
    assert again["fitted"] == 0 and without(again, OF_THIS_CALL) == without(first, OF_THIS_CALL)
    assert answer(*BASE, "--ntoys", 400, *resume, "--threads", 1)["fitted"] == 0


def test_more_toys_keep_the_first_ones(tmp_path):
    """one machine goes on with its store; the rows are those of the longer run"""
    whole = answer(*BASE, "--ntoys", 2000, "--store", tmp_path / "whole.db")
    for few in (10, 200):  # also fewer than the first toys that choose the method
        path = tmp_path / f"{few}.db"
        answer(*BASE, "--ntoys", few, "--store", path)
        longer = answer(*BASE, "--ntoys", 2000, "--store", path, "--resume")
        assert longer["fitted"] == 2 * (2000 - few)
        assert without(longer, OF_THIS_CALL) == without(whole, OF_THIS_CALL)
        assert rows_of(path) == rows_of(tmp_path / "whole.db")
        refused(
            3,
            [*BASE, "--ntoys", few, "--store", path, "--resume"],
            f"ntoys = 2000, this run has ntoys = {few}",
        )


def test_shards_of_a_longer_run_go_with_those_of_the_first(tmp_path):
    whole = answer(*BASE, "--ntoys", 2000, "--store", tmp_path / "whole.db")
    cuts = [(200, i, 2) for i in (1, 2)] + [(2000, i, 20) for i in range(3, 21)]
    parts = [tmp_path / f"{i}_{of}.db" for _, i, of in cuts]
    for (n, i, of), part in zip(cuts, parts):
        answer(*BASE, "--ntoys", n, "--shard", f"{i}/{of}", "--store", part)
    refused(3, [*BASE, "--ntoys", 2000, "--shard", "1/2", "--store", parts[0], "--resume"], "ntoys = 200")
    order = parts[5:] + parts[:5]
    for pool, stores, code, said in (
        ("all", order, 0, ""),
        ("part", order[1:], 1, "paritas: the pool is no whole run: shard 6/20 of 2000 toys missing"),
    ):
        done = run("merge", *stores, "-o", tmp_path / f"{pool}.db", "--json", "--quiet")
        assert done.returncode == code and done.stderr.startswith(said), done.stderr
    assert rows_of(tmp_path / "all.db") == rows_of(tmp_path / "whole.db")
    again = answer(*BASE, "--ntoys", 2000, "--store", tmp_path / "all.db", "--resume")
    assert again["fitted"] == 0 and without(again, OF_THIS_CALL) == without(whole, OF_THIS_CALL)


def test_what_is_no_store_is_3(tmp_path):
    noise, foreign = tmp_path / "noise.db", tmp_path / "foreign.db"
    noise.write_bytes(random.Random(1).randbytes(5000))
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE toys(mu REAL)")
    connection.close()
    for path in (noise, foreign):
        before = path.read_bytes()
        refused(3, [*BASE, "--ntoys", 50, "--store", path, "--resume"], path.name)
        assert path.read_bytes() == before


def test_shards_pool_to_the_rows_of_the_whole_run(tmp_path):
    n = 2003
    whole = answer(*BASE, "--ntoys", n, "--store", tmp_path / "whole.db")
    order = random.Random(3).sample(range(1, 8), 7)
    for i in order:
        part = answer(
            *BASE,
            "--ntoys",
            n,
            "--shard",
            f"{i}/7",
            "--threads",
            1 + i % 3,
            "--store",
            tmp_path / f"part{i}.db",
        )
        assert part["ntoys"] == n and part["fitted"] in (2 * (n // 7), 2 * (n // 7 + 1))
    pooled = tmp_path / "pooled.db"
    assert run("merge", *(tmp_path / f"part{i}.db" for i in order), "-o", pooled, "--json").returncode == 0
    assert rows_of(pooled) == rows_of(tmp_path / "whole.db") and len(rows_of(pooled)) == 2 * n
    again = answer(*BASE, "--ntoys", n, "--store", pooled, "--resume")
    assert again["fitted"] == 0 and without(again, OF_THIS_CALL) == without(whole, OF_THIS_CALL)


def count_rows(path):
    """0 for a store that was killed before its table was made, or before it was"""
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM toys").fetchone()[0]
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error)
        return 0
    finally:
        connection.close()


def start(*arguments):
    return subprocess.Popen(
        [PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_runs_on_one_store_are_one_run_and_an_error(tmp_path):
    path = tmp_path / "run.db"
    arguments = [*BASE, "--ntoys", 10000000, "--threads", 1, "--store", path, "--resume"]
    first = start(*arguments)
    try:
        until = time.monotonic() + 60
        while not os.path.exists(str(path) + "-lock") and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(0.05)
        refused(5, arguments, "run.db", "in use")
        refused(3, arguments[:-1], "run.db")
        assert first.poll() is None
        first.send_signal(signal.SIGKILL)
    finally:
        first.kill()
        first.communicate()
    small = [*BASE, "--ntoys", 100, "--threads", 1, "--store", path, "--resume"]
    refused(3, small, "ntoys")  # its holder is dead: what is in the way is the key alone
    rows = rows_of(path)
    assert len({row[:3] for row in rows}) == len(rows)


def test_a_run_that_is_killed_at_any_moment_goes_on_where_it_was(tmp_path):
    n, kills, middle = 30000, 0, 0
    arguments = [*BASE, "--ntoys", n, "--threads", 1]
    started = time.monotonic()
    undisturbed = answer(*arguments, "--store", tmp_path / "whole.db")
    longest = 1.1 * (time.monotonic() - started)
    whole, draw = rows_of(tmp_path / "whole.db"), random.Random(5)
    assert len(whole) == 2 * n
    rounds = 0
    while kills < 30:
        rounds += 1
        path = tmp_path / f"run{rounds}.db"
        there, finished = 0, False
        while not finished:
            process = start(*arguments, "--store", path, "--resume")
            try:
                output, error = process.communicate(
                    timeout=draw.uniform(0.0, longest) if kills < 30 else None
                )
                assert process.returncode == 0, error
                found, finished = json.loads(output), True
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                output, error = process.communicate()
                if process.returncode == 0:  # it was quicker
                    continue
                assert process.returncode == -signal.SIGKILL, error
                kills += 1
            before, there = there, count_rows(path)
            assert there >= before  # what was kept stays
            middle += 0 < there < 2 * n
        assert rows_of(path) == whole
        assert without(found, OF_THIS_CALL) == without(undisturbed, OF_THIS_CALL)
        path.unlink()
    assert middle >= 6  # how many runs the kills fall on depends on the machine's load


def test_degenerate_weights_leave_what_is_known_and_exit_code_1(tmp_path):
    store = tmp_path / "run.db"
    options = ["--mu", 4, "--ntoys", 20, "--importance", "--strength", 2, "--json"]
    done = run("hypotest-toys", TWO, *options, "--store", store)
    answer = json.loads(done.stdout)
    assert done.returncode == 1 and "weights degenerate" in done.stderr and "needs 25" in done.stderr
    assert answer["CLs_obs"] is None and answer["CLsb"] is None and answer["status"] == "converged"
    assert answer["q"] > 40 and answer["effective_tested"] < 25 and answer["strengths"] == [4, 0, 2]
    assert answer["counts"] == {"converged": 60}
    pooled = run("merge", store, "-o", tmp_path / "all.db", "--json")
    assert pooled.returncode == 1 and "weights degenerate" in pooled.stderr
    assert json.loads(pooled.stdout)["effective_tested"] == answer["effective_tested"]
    done = run("significance", TWO, "--importance")
    assert done.returncode == 2 and "--importance needs --calc toys" in done.stderr
    done = run("hypotest-toys", TWO, "--strength", 2)
    assert done.returncode == 2 and "--strength needs --importance" in done.stderr


def test_the_table_of_weighted_toys_has_a_dash_where_there_is_no_answer():
    done = run("hypotest-toys", TWO, "--mu", 3, "--ntoys", 200, "--importance")
    assert done.returncode == 0 and "expected at -2 .. 2 sigma: - " in done.stdout
    assert "nan" not in done.stdout
    done = run("hypotest-toys", TWO, "--mu", 3, "--ntoys", 1, "--importance")
    assert done.returncode == 1 and "nan" not in done.stdout and "at least 2 are needed" in done.stderr


def test_a_parameter_that_is_fixed_stays_where_it_is_from_every_start(tmp_path):
    """--fix NAME=VALUE against a measurement that fixes it there, with further starts of all fits."""
    scale = {"name": "scale", "type": "normsys", "data": {"hi": 1.2, "lo": 0.85}}
    samples = [
        {
            "name": "signal",
            "data": [4.0, 6.0],
            "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
        },
        {"name": "background", "data": [20.0, 15.0], "modifiers": [scale]},
    ]
    answers = []
    for parameters, fixed in (
        ([], ("--fix", "scale=0.7")),
        ([{"name": "scale", "inits": [0.7], "fixed": True}], ()),
    ):
        workspace = {
            "version": "1.0.0",
            "channels": [{"name": "bins", "samples": samples}],
            "observations": [{"name": "bins", "data": [26.0, 20.0]}],
            "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": parameters}}],
        }
        path = tmp_path / f"{len(answers)}.json"
        path.write_text(json.dumps(workspace))
        store = tmp_path / f"{len(answers)}.db"
        answer(
            "hypotest-toys", path, *fixed, "--starts", 3, "--ntoys", 30, "--store", store, "--json", "--quiet"
        )
        with sqlite3.connect(store) as file:
            answers.append(
                file.execute(
                    "SELECT mu, hypothesis, toy, twice_nll_free, twice_nll_fixed FROM toys"
                ).fetchall()
            )
    assert len(answers[0]) == 60 and len(answers[1]) == 60
    for mine, other in zip(*answers):
        assert mine == pytest.approx(other, rel=1e-9)
