"""What the program must not do without a word: values that are lost, answers of a part, words of others."""

import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess

import pytest
from test_cli import PROGRAM, ROOT, TWO, changed, run


def first_sample(workspace, number):
    return workspace["channels"][0]["samples"][number]


def refused(code, *words, **options):
    done = run(*words, **options)
    assert done.returncode == code and done.stdout == "", done
    return done.stderr


# ---- models ----


@pytest.mark.parametrize(
    "name, kind, data",
    [("uncorr_bkguncrt[0]", "normsys", {"hi": 1.1, "lo": 0.9}), ("uncorr_bkguncrt[1]", "normfactor", None)],
)
def test_two_parameters_of_one_name_are_refused(tmp_path, name, kind, data):
    def change(workspace):
        first_sample(workspace, 0)["modifiers"].append({"name": name, "type": kind, "data": data})

    said = refused(3, "fit", changed(tmp_path, change))
    assert f'two parameters are named "{name}"' in said and "rename a modifier" in said


def test_a_name_with_brackets_of_no_set_is_a_name(tmp_path):
    def change(workspace):
        first_sample(workspace, 0)["modifiers"].append({"name": "mu[0]", "type": "normfactor", "data": None})

    assert run("fit", changed(tmp_path, change), "--fix", "mu[0]=1").returncode == 0


def test_a_member_of_a_set_can_be_of_interest():
    done = run("scan", TWO, "--poi", "uncorr_bkguncrt[1]", "--json")
    assert json.loads(done.stdout)["poi"] == "uncorr_bkguncrt[1]"
    assert "no parameter" in refused(3, "scan", TWO, "--poi", "uncorr_bkguncrt[2]")
    assert "no parameter" in refused(3, "scan", TWO, "--poi", "mu[0]")


def test_a_negative_shapesys_is_refused(tmp_path):
    def change(workspace):
        first_sample(workspace, 1)["modifiers"][0]["data"][1] = -7.0

    said = refused(3, "fit", changed(tmp_path, change))
    assert "channels[0].samples[1].modifiers[0].data[1]: must not be negative, found -7.0" in said


def test_gzip_is_named(tmp_path):
    path = tmp_path / "ws.json.gz"
    with open(TWO, "rb") as file:
        path.write_bytes(gzip.compress(file.read()))
    for command in ["fit", "convert", "sort"]:
        assert "is compressed by gzip" in refused(3, command, path)


# ---- the command line ----


@pytest.mark.parametrize("option", ["--fix", "--init"])
def test_a_value_given_twice_is_refused(option):
    assert f"{option} mu is given twice" in refused(2, "fit", TWO, option, "mu=1", option, "mu=2")
    assert run("fit", TWO, "--fix", "uncorr*", "--fix", "uncorr_bkguncrt[0]=1").returncode == 0


def test_an_interval_needs_toys_that_reach_its_level():
    assert "draw at least 20" in refused(3, "interval", TWO, "--ntoys", 1)
    assert run("interval", TWO, "--ntoys", 20).returncode == 0


@pytest.mark.parametrize("name", ["CPU", "Cpu", "Auto"])
def test_names_of_devices_are_found_in_any_case(name):
    assert run("fit", TWO, "--device", name).returncode == 0
    assert run("fit", TWO, environment={"PARITAS_DEVICE": name}).returncode == 0


def test_negative_auxiliary_counts_are_refused(tmp_path):
    data = tmp_path / "data.json"
    data.write_text('{"main": [51, 48], "aux": [277, -3]}')
    assert "aux[1] is -3: a count cannot be negative" in refused(3, "fit", TWO, "--data", data)

    def change(workspace):
        first_sample(workspace, 1)["modifiers"].append(
            {"name": "a", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
        )

    data.write_text('{"main": [51, 48], "aux": [-0.5, 277, 50]}')
    assert run("fit", changed(tmp_path, change), "--data", data).returncode == 0


def test_a_scan_to_the_end_of_numbers_has_no_nan():
    for word in ["--stop", "--start"]:
        done = run("scan", TWO, word, "1e308" if word == "--stop" else "-1e308")
        assert done.returncode != 0 and "nan" not in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["significance", "x", "-t", "-1"], "--asimov MU --prefit"),
        (["scan", "x", "-P", "r"], "--par NAME=LO:HI:N"),
        (["contour", "x", "-P", "r"], "--par NAME"),
        (["generate", "x", "-t", "-1"], "--expected --at-start"),
    ],
)
def test_words_of_combine_have_ours(words, said):
    assert said in refused(2, *words)


# ---- answers ----


def test_digits_follow_the_error(tmp_path):
    def change(workspace):
        first_sample(workspace, 0)["data"] = [12e6, 11e6]
        workspace["observations"][0]["data"] = [71, 60]

    path = changed(tmp_path, change)
    fitted = json.loads(run("fit", path, "--json").stdout)["parameters"][0]
    row = next(line for line in run("fit", path).stdout.splitlines() if line.startswith("mu"))
    assert float(row.split()[1]) == pytest.approx(fitted["value"], rel=1e-3)
    assert float(row.split()[2]) == pytest.approx(fitted["error"], rel=1e-3)
    assert "mu                  0.00000" in run("fit", TWO).stdout


def test_flat_directions_are_said(tmp_path):
    def change(workspace):
        first_sample(workspace, 0)["modifiers"].append({"name": "other", "type": "normfactor", "data": None})
        workspace["observations"][0]["data"] = [71, 60]

    done = run("fit", changed(tmp_path, change), "--covariance")
    assert "\n\nNo error, as the likelihood is flat along it: mu, other\n" in done.stdout
    assert "nan" not in done.stdout
    assert "No error" not in run("fit", TWO).stdout


def two_channels(workspace):
    other = json.loads(json.dumps(workspace["channels"][0]))
    other["name"] = "other"
    other["samples"][1]["modifiers"] = [{"name": "scale", "type": "normfactor", "data": None}]
    workspace["channels"].append(other)
    workspace["observations"].append({"name": "other", "data": [65, 60]})


def test_a_masked_channel_has_no_degree_of_freedom(tmp_path):
    path = changed(tmp_path, two_channels)
    alone, masked = (
        json.loads(run("gof", *words, "--json").stdout) for words in ([TWO], [path, "--mask", "other"])
    )
    assert masked["ndof"] == alone["ndof"] == 1
    assert masked["statistic"] == pytest.approx(alone["statistic"]) and masked["ks"] == pytest.approx(
        alone["ks"]
    )
    assert json.loads(run("gof", path, "--json").stdout)["ndof"] == 2
    whole, part = (
        json.loads(run("compatibility", path, *words, "--json").stdout) for words in ([], ["--mask", "other"])
    )
    assert (whole["ndof"], len(whole["groups"])) == (1, 2) and (part["ndof"], len(part["groups"])) == (0, 1)
    both = run("compatibility", path).stdout
    assert "at_lower_bound" in both and "--toys gives p without the formula" in both
    shown = json.loads(run("predict", path, "--mask", "other", "--json").stdout)["channels"]
    assert [one["name"] for one in shown if one["masked"]] == ["other"]
    for command in ("predict", "inspect"):
        lines = run(command, path, "--mask", "other").stdout.splitlines()
        others = [line for line in lines if line.startswith("other ")]
        assert others and all(line.endswith("masked") for line in others)


def test_the_statistic_of_gof_is_that_of_its_algorithm():
    for algo in ["ks", "ad"]:
        answer = json.loads(run("gof", TWO, "--algo", algo, "--json").stdout)
        assert answer["statistic"] == answer[algo] and "p" not in answer and "ndof" not in answer
    assert "p" in json.loads(run("gof", TWO, "--json").stdout)


def test_answers_of_asimov_data_are_not_called_observed():
    for command in [["limit"], ["significance"], ["hypotest"], ["limit", "--calc", "toys", "--ntoys", 100]]:
        assert "observed" in run(*command, TWO).stdout
        blind = run(*command, TWO, "--asimov", 0, "--prefit").stdout
        assert "observed" not in blind.lower() and "Asimov" in blind


def test_the_map_of_a_card_is_always_that_of_the_answer(tmp_path):
    card = os.path.join(ROOT, "tests", "datacard", "counting.txt")
    shutil.copy(card, tmp_path / "card.txt")
    names = tmp_path / "ws.json.map"
    names.write_text("of an earlier answer")
    assert run("convert", tmp_path / "card.txt", "-o", tmp_path / "ws.json").returncode == 0
    assert isinstance(json.loads(names.read_text()), dict)


def test_edits_that_match_nothing_are_said(tmp_path):
    with open(os.path.join(ROOT, "tests", "datacard", "counting.txt"), encoding="utf-8") as file:
        card = file.read()
    path = tmp_path / "card.txt"
    path.write_text(card + "nuisance edit drop * * no_such_name\n")
    done = run("inspect", path)
    assert done.returncode == 0 and "the edit matches nothing, and changes nothing" in done.stderr
    path.write_text(card + "nuisance edit drop * * no_such_name ifexists\n")
    assert run("inspect", path).stderr == ""


def test_importance_sampling_beyond_a_bound_says_so(tmp_path):
    def change(workspace):
        workspace["observations"][0]["data"] = [500, 480]

    done = run("significance", changed(tmp_path, change), "--calc", "toys", "--importance", "--ntoys", 100)
    assert done.returncode == 1 and "widen the bound" in done.stderr


# ---- toys in parts ----


def test_parts_of_a_run_are_said(tmp_path):
    stores = [tmp_path / f"{i}.db" for i in (1, 2, 3)]
    for i, store in enumerate(stores):
        run("hypotest-toys", TWO, "--ntoys", 50, "--shard", f"{i + 1}/3", "--store", store)
    whole = run("merge", *stores, "-o", tmp_path / "whole.db")
    assert (whole.returncode, whole.stderr) == (0, "")
    done = run("merge", *stores[:2], "-o", tmp_path / "two.db", "--json")
    assert done.returncode == 1 and "shard 3/3 missing" in done.stderr and json.loads(done.stdout)["partial"]
    assert run("merge", *stores[:2], "-o", tmp_path / "said.db", "--partial").returncode == 0
    with sqlite3.connect(stores[0]) as store:
        store.execute("DELETE FROM toys WHERE toy > 5")
    done = run("merge", *stores, "-o", tmp_path / "killed.db")
    assert done.returncode == 1 and "shard 1/3 missing or incomplete" in done.stderr
    with sqlite3.connect(stores[0]) as store:
        store.execute("DELETE FROM toys")
    done = run("merge", stores[0], "-o", tmp_path / "empty.db")
    assert done.returncode == 1 and "shard 1/3" in done.stderr


# ---- other commands ----


def test_a_background_without_parameters_can_be_looked_at(tmp_path):
    """Eight independent bins, one of them high: the example of docs/toys.md."""
    workspace = {
        "channels": [{"name": "c", "samples": [{"name": "b", "data": [50.0] * 8, "modifiers": []}]}],
        "observations": [{"name": "c", "data": [50.0] * 7 + [70.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }
    path = tmp_path / "background.json"
    path.write_text(json.dumps(workspace))
    digest = json.loads(run("digest", path, "--json").stdout)["sha256"]
    patches = [
        {
            "metadata": {"name": f"bin{i}", "values": [i]},
            "patch": [
                {
                    "op": "add",
                    "path": "/channels/0/samples/0",
                    "value": {
                        "name": "signal",
                        "data": [10.0 if k == i else 0.0 for k in range(8)],
                        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                    },
                }
            ],
        }
        for i in range(8)
    ]
    metadata = {
        "name": "bins",
        "description": "a signal in each bin",
        "digests": {"sha256": digest},
        "labels": ["bin"],
        "references": {"hepdata": "ins1234567"},
    }
    patchset = {"metadata": metadata, "patches": patches, "version": "1.0.0"}
    (tmp_path / "patches.json").write_text(json.dumps(patchset))
    words = ["look-elsewhere", path, "--patchset", tmp_path / "patches.json", "--ntoys", 4000, "--json"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["largest"] == "bin7"
    assert answer["p_global"] == pytest.approx(0.0342, abs=4 * answer["p_global_error"])
    paritas = pytest.importorskip("paritas")
    found = paritas.look_elsewhere(path, tmp_path / "patches.json", n=4000)
    assert found.p_global == answer["p_global"]


def test_combined_cards_have_the_histograms_beside_them(tmp_path):
    card = tmp_path / "folder" / "shapes.txt"
    card.parent.mkdir()
    for name in ["shapes.txt", "shapes.root"]:
        shutil.copy(os.path.join(ROOT, "tests", "datacard", name), card.parent)
    (tmp_path / "shapes.root").write_text("of something else")
    done = subprocess.run(
        [PROGRAM, "combine", "a=folder/shapes.txt", "b=folder/shapes.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    paths = [line.split()[3] for line in done.stdout.splitlines() if line.startswith("shapes")]
    assert done.returncode == 0 and paths and set(paths) <= {"folder/shapes.root", "FAKE"}


def test_injected_counts_are_no_count_of_fits():
    done = run("losscone", "inject", "--counts", "--sweeps", 2, "--quiet")
    assert done.stderr == "" and done.stdout


# ---- times ----


def test_an_operation_that_takes_too_long_is_given_up():
    done = run("bench", TWO, "--seconds", "1e-6", "--threads", 1)
    row = next(line for line in done.stdout.splitlines() if line.startswith("1000 toys"))
    assert done.returncode == 0 and "> 4e-05 s" in row
    rows = json.loads(run("bench", TWO, "--seconds", "1e-6", "--json").stdout)["operations"]
    assert [one["seconds"] for one in rows if one["operation"] == "1000 toys"] == [None]
    assert all((one["seconds"] is None) == (one["longer_than"] is not None) for one in rows)


# ---- numbers that are absent ----

FAR = ("--range", "mu=0:1e308")  # a rate that overflows has no likelihood


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "--fix", "mu=1e308"),
        ("fit", "--fix", "mu=1e308", "--starts", 3),
        ("fit", "--fix", "mu=1e308", "--covariance", "--minos", "uncorr_bkguncrt[0]"),
        ("hypotest", "--mu", "1e308"),
        ("hypotest", "--mu", "1e308", "--mu", 1, "--poi", "mu", "--poi", "uncorr_bkguncrt[0]"),
        ("scan", "--fix", "mu=1e308", "--par", "uncorr_bkguncrt[0]=0.5:1.5:3"),
        ("scan", "--init", "mu=1e308", "--par", "mu=0:1e308:3"),
        ("contour", "--fix", "mu=1e308", "--par", "uncorr_bkguncrt[0]", "--par", "uncorr_bkguncrt[1]"),
        ("predict", "--fix", "mu=1e308"),
        ("gof", "--fix", "mu=1e308"),
        ("gof", "--fix", "mu=1e308", "--ntoys", 3),
        ("hypotest-toys", "--mu", "1e308", "--ntoys", 4),
        ("ranking", "--init", "mu=1e308"),
        ("toys", "--init", "mu=1e308", "--ntoys", 2),
    ],
)
def test_an_absent_number_is_a_dash_or_a_reason(words):
    done = run(words[0], TWO, *FAR, *words[1:])
    assert done.returncode in (0, 1) and done.stdout, done.stderr
    assert not re.search(r"\bnan\b", done.stdout + done.stderr, re.IGNORECASE), done.stdout
    assert max(map(len, re.split(r"\s+", done.stdout))) < 40, done.stdout  # 308 digits say nothing
