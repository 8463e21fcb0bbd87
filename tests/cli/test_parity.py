"""`paritas parity`, `paritas bench` and the precisions, from outside."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A")


def run(*arguments, environment=None):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ, **(environment or {})),
    )


def answer(*arguments, environment=None):
    done = run(*arguments, "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def header_tolerances():
    with open(os.path.join(ROOT, "kernels", "minimise", "fit_tolerances.h"), encoding="utf-8") as file:
        return {
            line.split()[1]: float(line.split()[2])
            for line in file
            if line.startswith("#define ") and len(line.split()) > 2
        }


# ---- parity ----


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_the_cpu_has_the_bits_of_its_plainest_build(precision):
    document = answer("parity", TWO, "--device", "cpu", "--precision", precision, "--ntoys", "100")
    assert document["verdict"] == "passed" and document["precision"] == precision
    assert [c["quantity"] for c in document["checks"]] == [
        "likelihood",
        "gradient",
        "Hessian",
        "minimum",
        "best fit",
        "errors, covariance",
        "scan",
        "q and CLs",
        "toys",
    ]
    assert all(
        c["compared"] > 0 and c["worst_ulp"] == 0 and c["verdict"] == "identical" and c["class"] == precision
        for c in document["checks"]
    )
    assert document["checks"][-1]["compared"] == 2 * 100 * 3
    assert ("against_f64" in document) == (precision == "f32")


def test_f32_is_compared_with_f64_by_the_header_s_tolerances():
    t = header_tolerances()
    rows = {
        (r["quantity"], r["unit"]): r
        for r in answer("parity", TWO, "--precision", "f32", "--ntoys", "100")["against_f64"]
    }
    wanted = {
        ("likelihood", "of deviance and rates"): "RAW_NLL",
        ("gradient", "of the largest slope"): "RAW_SLOPE",
        ("minimum", "NLL"): "POLISHED_NLL",
        ("best fit", "errors"): "POLISHED_PARAMETER",
        ("errors", "relative"): "POLISHED_ERROR",
        ("scan", "q"): "POLISHED_Q",
        ("test", "CLs"): "POLISHED_CLS",
    }
    for row, name in wanted.items():
        r = rows[row]
        assert r["tolerance"] == t[name] and r["verdict"] == "within"
        assert (r["after"] if r["after"] is not None else r["before"]) <= r["tolerance"]
    assert rows["scan", "q"]["after"] < rows["scan", "q"]["before"]


@pytest.mark.parametrize("isa, other", [("scalar", "portable"), ("portable", "scalar")])
def test_no_build_of_the_cpu_is_compared_with_itself(isa, other):
    if any(run("nll", TWO, environment={"PARITAS_ISA": name}).returncode == 4 for name in (isa, other)):
        pytest.skip("not both are in this build")
    document = answer("parity", TWO, "--device", "cpu", "--ntoys", "0", environment={"PARITAS_ISA": isa})
    assert document["verdict"] == "passed" and document["reference"] == other


def test_what_is_not_compared_says_why():
    document, table = answer("parity", TWO, "--ntoys", "0"), run("parity", TWO, "--ntoys", "0").stdout
    assert (
        document["checks"][-1]["verdict"] == "not_asked"
        and "not asked" in table
        and "no parameter of interest" not in table
    )
    table = run("parity", TWO, "--ntoys", "50", "--fix", "mu=1").stdout
    assert table.count("no parameter of interest") == 2 and "not asked" not in table


def test_what_a_model_lacks_is_said_not_skipped():
    document = answer("parity", os.path.join(SBOTTOM, "BkgOnly.json"), "--ntoys", "50")
    assert {c["quantity"]: c["verdict"] for c in document["checks"] if c["verdict"] != "identical"} == {
        "q and CLs": "not_there",
        "toys": "not_there",
    }


def test_parity_refuses_what_it_cannot_do():
    assert run("parity", TWO, "--device", "abacus").returncode == 4
    assert run("parity", TWO, "--precision", "f32", "--no-polish").returncode == 2


# ---- bench ----


def measured(document, seconds):
    """The rows with a time. A busy machine may not end an operation within 40 times --seconds: it says so."""
    rows = document["operations"]
    for row in rows:
        if row["seconds"] is None:
            assert row["repeats"] == 0 and row["longer_than"] == pytest.approx(40 * seconds)
        else:
            assert row["repeats"] >= 1 and row["seconds"] > 0 and row["longer_than"] is None
    return {row["operation"]: row for row in rows if row["seconds"] is not None}


def test_bench_measures_saves_and_compares(tmp_path):
    kept = tmp_path / "kept.json"
    first = answer("bench", TWO, "--seconds", "0.01", "--save", kept)
    assert [o["operation"] for o in first["operations"]] == [
        "likelihood",
        "gradient",
        "1000 likelihoods",
        "fit",
        "scan of 21",
        "ranking",
        "1000 toys",
    ]
    before = measured(first, 0.01)
    assert all(
        o["device"] == "cpu"
        and o["faster_than_baseline"] is None
        and o["winner"] == (o["operation"] in before)
        for o in first["operations"]
    )
    assert all(o["faster_than_cpu"] == 1 for o in before.values())
    assert json.loads(kept.read_text())["workspace"] == first["workspace"]
    after = measured(answer("bench", TWO, "--seconds", "0.01", "--baseline", kept), 0.01)
    for name in before.keys() & after.keys():
        ratio = before[name]["seconds"] / after[name]["seconds"]
        assert after[name]["faster_than_baseline"] == pytest.approx(ratio, rel=1e-12)


def test_bench_has_a_model_of_its_own_and_no_other_s_baseline(tmp_path):
    kept = tmp_path / "kept.json"
    done = run("bench", "--seconds", "0.001", "--save", kept)
    assert done.returncode == 0 and "1000 toys" in done.stdout and "61 parameters" in done.stdout
    other = run("bench", TWO, "--seconds", "0.001", "--baseline", kept)
    assert other.returncode == 3 and "another workspace" in other.stderr
    assert run("bench", TWO, "--seconds", "0.001", "--baseline", TWO).returncode == 3
    assert run("bench", TWO, "--seconds", "0.001", "--save", tmp_path / "no" / "file").returncode == 5
    assert run("bench", TWO, "--device", "cpu,abacus").returncode == 4


def test_a_baseline_is_read_before_anything_is_measured(tmp_path):
    """Toys of 2e12 events cannot be drawn: measuring them is an error, which would come first."""
    kept, next_one = tmp_path / "kept.json", tmp_path / "next.json"
    answer("bench", TWO, "--seconds", "0.001", "--save", kept)
    many = tmp_path / "many.json"
    document = json.loads(pathlib.Path(TWO).read_text())
    channel = document["channels"][0]
    channel["samples"] = [dict(channel["samples"][0], data=[2e12, 2e12])]
    document["observations"][0]["data"] = [2e12, 2e12]
    many.write_text(json.dumps(document))
    assert "toys cannot be drawn" in run("bench", many).stderr
    for change in (
        lambda row: row.update(seconds=0),
        lambda row: row.update(seconds=-1.0),
        lambda row: row.update(seconds="1"),
        lambda row: row.pop("seconds"),
        lambda row: row.update(operation=3),
        lambda row: row.pop("device"),
    ):
        document = json.loads(kept.read_text())
        change(document["operations"][2])
        bad = tmp_path / "bad.json"
        bad.write_text(json.dumps(document))
        done = run("bench", many, "--baseline", bad, "--save", next_one)
        assert done.returncode == 3 and "bad.json: is no file of measurements" in done.stderr
        assert not next_one.exists()


def test_another_machine_s_baseline_is_said_under_the_table(tmp_path):
    kept = tmp_path / "kept.json"
    document = answer("bench", TWO, "--seconds", "0.001", "--threads", "1", "--save", kept)
    assert (
        document["threads"] == 1
        and document["baseline_differs"] == []
        and [d["device"] for d in document["devices"]] == ["cpu"]
    )
    same = run("bench", TWO, "--seconds", "0.001", "--threads", "1", "--baseline", kept)
    assert same.returncode == 0 and "the baseline has another" not in same.stdout
    before = json.loads(kept.read_text())
    before.update(isa="abacus", threads=7)
    before["devices"][0]["description"] = "an abacus"
    for row in before["operations"]:
        row["seconds"] = 1e-12
    kept.write_text(json.dumps(before))
    done = run(
        "bench", TWO, "--seconds", "0.001", "--threads", "1", "--baseline", kept, "--save", tmp_path / "now"
    )
    table = done.stdout
    assert (
        f"the baseline has another isa: abacus, now {document['isa']}" in table
        and "the baseline has another threads: 7, now 1" in table
    )
    assert "the baseline has another description of cpu: an abacus, now" in table
    for name in measured(json.loads((tmp_path / "now").read_text()), 0.001):
        ratio = next(line for line in table.splitlines() if line.startswith(name + " ")).split()[-1]
        assert "e-" in ratio and float(ratio) > 0


def test_bench_measures_each_device_once_and_no_auto():
    assert {
        row["device"]
        for row in answer("bench", TWO, "--seconds", "0.001", "--device", "cpu,cpu")["operations"]
    } == {"cpu"}
    done = run("bench", TWO, "--device", "cpu,auto")
    assert done.returncode == 2 and "auto" in done.stderr
    assert (
        answer("bench", TWO, "--seconds", "0.001", environment={"PARITAS_DEVICE": "auto"})["devices"]
        == answer("bench", TWO, "--seconds", "0.001")["devices"]
    )


def test_measurements_can_be_kept_on_standard_output():
    done = run("bench", TWO, "--seconds", "0.001", "--save", "-", "-o", os.devnull)
    assert done.returncode == 0 and len(json.loads(done.stdout)["operations"]) == 7


# ---- precisions ----


def test_auto_is_f64_on_the_cpu_and_says_so():
    document = answer("fit", TWO, "--precision", "auto", "--device", "cpu")
    assert (document["precision"], document["polish"]) == ("f64", "none")
    assert "precision: f64" in run("fit", TWO, "--precision", "auto", "--device", "cpu").stdout


def test_f32_says_whether_it_was_polished():
    for more, polish in (([], "f64"), (["--no-polish"], "none")):
        document = answer("fit", TWO, "--precision", "f32", *more)
        assert (document["precision"], document["polish"]) == ("f32", polish)
        assert (
            f"device: cpu, precision: f32, polish: {polish}"
            in run("fit", TWO, "--precision", "f32", "--device", "cpu", *more).stdout
        )


def test_values_at_a_point_are_no_fits_and_not_polished():
    document = answer("nll", TWO, "--precision", "f32")
    assert (document["precision"], document["polish"]) == ("f32", "none")
    assert "precision: f32, polish: none" in run("nll", TWO, "--precision", "f32").stdout
    exact = answer("nll", TWO)["twice_nll"]
    assert 0 < abs(document["twice_nll"] - exact) < 1e-6 * exact


def test_a_raw_fit_is_near_and_a_polished_one_is_there():
    exact, raw, polished = (
        answer("fit", TWO, "--fix", "mu=0.3", *more)
        for more in ([], ["--precision", "f32", "--no-polish"], ["--precision", "f32"])
    )
    for a, b, c in zip(exact["parameters"], raw["parameters"], polished["parameters"]):
        if a["error"] is None:
            assert a["value"] == b["value"] == c["value"] == 0.3
            continue
        assert 0 < abs(b["value"] - a["value"]) / a["error"] < 0.003
        assert abs(c["value"] - a["value"]) / a["error"] < header_tolerances()["POLISHED_PARAMETER"]
    assert raw["status"] == polished["status"] == "converged"


@pytest.mark.parametrize(
    "command",
    [
        ["scan"],
        ["hypotest"],
        ["limit"],
        ["significance"],
        ["ranking"],
        ["gof"],
        ["toys", "--ntoys", "50"],
        ["hypotest-toys", "--ntoys", "50"],
    ],
    ids="_".join,
)
def test_every_statistic_can_be_had_from_raw_fits(command):
    done = run(*command, TWO, "--precision", "f32", "--no-polish", "--json", "--quiet")
    assert done.returncode == 0 and json.loads(done.stdout)["polish"] == "none", done.stderr


# ---- a record of machines ----


def test_every_build_has_the_digests_of_the_page():
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tests", "parity", "record.py"), PROGRAM],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_record_is_one_row_with_a_cell_for_each_workspace():
    done = run("parity", "--record", TWO)
    cells = [cell.strip() for cell in done.stdout.split("|")]
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and len(cells) == 10, done.stderr
    assert cells[5].startswith("cpu: ") and cells[6] == "f64" and cells[8].startswith("two_bins.json ")
    document = answer("parity", "--record", TWO)
    assert cells[7] == document["digest"][:16]
    assert cells[8].split()[1] == document["workspaces"][0]["digest"][:16]


def test_digests_depend_on_data():
    patched = ("--patch", os.path.join(SBOTTOM, "patch.sbottom_900_250_60.json"))
    other = ("--patch", os.path.join(SBOTTOM, "patch.sbottom_1000_250_60.json"))
    background = os.path.join(SBOTTOM, "BkgOnly.json")
    digests = [answer("parity", "--record", background, *more)["workspaces"] for more in ((), patched, other)]
    assert len({one[0]["digest"] for one in digests}) == 3


@pytest.mark.parametrize(
    "options, why",
    [
        (["--record", "--mu", "2"], "--mu has no place beside --record: everybody is asked the same"),
        (["--record", TWO, "--fix", "mu=1"], "--fix has no place beside --record: everybody is asked"),
        (["--record", "--poi", "mu"], "--poi has no place beside --record: no workspace is given"),
        ([], "parity needs one of WORKSPACE, losscone and kappa, or --record"),
        ([TWO, TWO], "parity needs one of WORKSPACE, losscone and kappa, or --record"),
    ],
)
def test_a_record_asks_everybody_the_same(options, why):
    done = run("parity", *options)
    assert done.returncode == 2 and why in done.stderr


# ---- sweeps ----

QUESTIONS = {
    "losscone": [
        "fits, hard edge",
        "fits, folded edge",
        "fits, lillis",
        "confidence sets, hard edge",
        "confidence sets, folded edge",
        "differential evolution",
        "misfits at 64 points",
        "models",
    ],
    "kappa": [
        "kappa fits",
        "potentials in sunlight",
        "potentials in shade",
        "misfits at 64 points",
        "fluxes",
    ],
}


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("family", QUESTIONS)
def test_sweeps_have_the_bits_of_the_plainest_build(family, precision):
    document = answer("parity", family, "--device", "cpu", "--precision", precision, "--sweeps", "12")
    assert document["verdict"] == "passed" and document["precision"] == precision
    assert [check["quantity"] for check in document["checks"]] == QUESTIONS[family]
    assert all(check["worst_ulp"] == 0 and check["compared"] >= 12 for check in document["checks"])


@pytest.mark.parametrize("family", QUESTIONS)
def test_bench_counts_sweeps_a_second(family, tmp_path):
    kept = tmp_path / "bench.json"
    document = answer("bench", family, "--sweeps", "5", "--seconds", "0.05", "--save", kept)
    assert [row["operation"] for row in document["operations"]] == QUESTIONS[family]
    before = measured(document, 0.05)
    for row in before.values():
        assert row["sweeps_a_second"] * row["seconds"] == pytest.approx(5.0)
    after = measured(answer("bench", family, "--sweeps", "5", "--seconds", "0.05", "--baseline", kept), 0.05)
    assert all(after[name]["faster_than_baseline"] > 0 for name in before.keys() & after.keys())
    other = run("bench", family, "--sweeps", "6", "--seconds", "0.001", "--baseline", kept)
    assert other.returncode == 3 and "was measured on another workspace" in other.stderr
    assert "sweeps/s" in run("bench", family, "--sweeps", "2", "--seconds", "0.001").stdout


def test_options_of_workspaces_are_refused_with_sweeps(tmp_path):
    for command, options in (
        ("parity", ("--mu", "2")),
        ("parity", ("--ntoys", "5")),
        ("bench", ("--fix", "mu=1")),
    ):
        done = run(command, "losscone", *options)
        assert done.returncode == 2 and f"{options[0]} is for workspaces, not for losscone" in done.stderr
