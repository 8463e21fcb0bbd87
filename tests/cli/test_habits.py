"""What a physicist types first: titles, hints and refusals of the program."""

import csv
import gzip
import io
import json
import os
import subprocess
import tarfile
import zipfile

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
WORKSPACE = os.path.join(ROOT, "examples", "two_bins.json")
MU = {"name": "mu", "type": "normfactor", "data": None}


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


def refusal(*arguments, code=2):
    done = run(*arguments)
    assert done.returncode == code and done.stdout == "", done.stdout
    return done.stderr.splitlines()[0]


def patch_set(folder, patches, observed, background=(50.0, 50.0)):
    """Paths of a background and of its patch set, {name: operations}."""
    factor = {"name": "factor", "type": "normfactor", "data": None}
    spec = {
        "channels": [
            {"name": "sr", "samples": [{"name": "b", "data": list(background), "modifiers": []}]},
            {"name": "cr", "samples": [{"name": "x", "data": [90.0], "modifiers": [factor]}]},
        ],
        "observations": [{"name": "sr", "data": list(observed)}, {"name": "cr", "data": [90.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }
    base = folder / "background.json"
    base.write_text(json.dumps(spec))
    digest = run("digest", str(base), "--json").stdout
    document = {
        "metadata": {
            "references": {"hepdata": "ins1000000"},
            "digests": {"sha256": json.loads(digest)["sha256"]},
            "labels": ["m"],
            "description": "x",
        },
        "version": "1.0.0",
        "patches": [
            {"metadata": {"name": name, "values": [k]}, "patch": operations}
            for k, (name, operations) in enumerate(patches.items())
        ],
    }
    path = folder / "patches.json"
    path.write_text(json.dumps(document))
    return str(base), str(path)


def signal(*rates, factor=MU):
    sample = {"name": "s", "data": list(rates), "modifiers": [factor]}
    return [{"op": "add", "path": "/channels/0/samples/0", "value": sample}]


SIGNALS = {"m1": signal(10.0, 0.0), "m2": signal(0.0, 10.0)}


def test_a_patch_set_of_q0_has_the_title_p0(tmp_path):
    base, patches = patch_set(tmp_path, SIGNALS, [60.0, 50.0])
    for statistic, title in ("q0", "p0 observed"), ("qtilde", "CLs observed"):
        header = run("hypotest", base, "--patchset", patches, "--test-stat", statistic).stdout.splitlines()[0]
        assert header.split("  ")[1].strip() == title or title in header


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("command", [["limit"], ["hypotest"], ["limit", "--calc", "toys", "--ntoys", "200"]])
def test_a_patch_set_as_csv_has_the_numbers_of_its_json(tmp_path, command):
    base, patches = patch_set(tmp_path, SIGNALS, [60.0, 50.0])
    given = [command[0], base, "--patchset", patches, *command[1:]]
    rows = table_of(run(*given, "--csv").stdout)
    lines = [json.loads(line) for line in run(*given, "--json").stdout.splitlines()]
    assert [row["patch"] for row in rows] == ["m1", "m2"] and [row["m"] for row in rows] == ["0", "1"]
    for row, line in zip(rows, lines):
        assert row["status"] == "converged" and row["error"] == ""
        for key, cell in row.items():
            name, _, k = key.rpartition("_")
            if k.isdigit():
                assert float(cell) == line[name][int(k)]
            elif isinstance(line.get(key), float):
                assert float(cell) == line[key]
        assert {f"{'CLs' if 'mu' in row else 'limit'}_exp_{k}" for k in range(5)} < set(row)
        assert list(row)[-2:] == ["error", "excluded"]
        assert row["excluded"] == {True: "true", False: "false", None: ""}[line["excluded"]]
        columns = [key for key in list(row)[2:] if key != "error"]
        assert all(key in line or key.rpartition("_")[0] in line for key in columns)


def test_a_patch_that_fails_keeps_its_line_of_csv(tmp_path):
    wrong = [{"op": "remove", "path": "/channels/7"}]
    base, patches = patch_set(tmp_path, {"good": SIGNALS["m1"], "bad_one": wrong}, [60.0, 50.0])
    done = run("hypotest", base, "--patchset", patches, "--csv")
    good, bad = table_of(done.stdout)
    assert done.returncode == 3 and good["status"] == "converged"
    assert bad["patch"] == "bad_one" and bad["m"] == "1" and bad["status"] == "failed"
    assert "channels" in bad["error"] and bad["CLs_exp_2"] == bad["excluded"] == ""


def excluded_of(command, base, patches, *options):
    rows = table_of(run(command, base, "--patchset", patches, "--csv", *options).stdout)
    return [row["excluded"] for row in rows]


def test_a_point_is_excluded_where_its_strength_of_1_is(tmp_path):
    points = {"strong": signal(40.0, 0.0), "weak": signal(0.0, 4.0), "empty": signal(0.0, 0.0)}
    base, patches = patch_set(tmp_path, points, [52.0, 49.0])
    for options in ([], ["--test-stat", "q"], ["--asimov", "0"]):
        assert excluded_of("hypotest", base, patches, *options) == ["true", "false", "false"]
        assert excluded_of("limit", base, patches, *options) == ["true", "false", "false"]
    assert excluded_of("limit", base, patches, "--level", "1e-9") == ["false", "false", "false"]
    # another value and discovery say nothing of the point
    for options in (["--mu", "2"], ["--test-stat", "q0"]):
        assert excluded_of("hypotest", base, patches, *options) == [""] * 3


def test_what_is_not_known_is_not_excluded(tmp_path):
    points = {"strong": signal(40.0, 0.0), "weak": signal(0.0, 4.0), "empty": signal(0.0, 0.0)}
    base, patches = patch_set(tmp_path, points, [52.0, 49.0])
    for command in ("hypotest", "limit"):
        assert excluded_of(command, base, patches, "--max-iterations", "1")[:2] == ["", ""]
    toys = ["--calc", "toys", "--ntoys"]
    assert excluded_of("limit", base, patches, *toys, "4000", "--rtol", "0.1") == ["true", "false", ""]
    assert excluded_of("limit", base, patches, *toys, "20") == [""] * 3


@pytest.mark.parametrize("options", [[], ["--minos", "all"], ["--fix", "mu=1"], ["--max-iterations", "1"]])
def test_a_fit_as_csv_has_the_numbers_of_its_json(options):
    rows = table_of(run("fit", WORKSPACE, "--csv", *options).stdout)
    answer = json.loads(run("fit", WORKSPACE, "--json", *options).stdout)
    assert len(rows) == len(answer["parameters"]) and {row["status"] for row in rows} == {answer["status"]}
    for row, parameter in zip(rows, answer["parameters"]):
        assert set(row) == {*parameter, "status"}
        for key, value in parameter.items():
            cell = row[key]
            assert cell == value if isinstance(value, str) else (float(cell) if cell else None) == value


def test_a_fit_as_csv_is_a_table_alone(tmp_path):
    path = tmp_path / "fit.csv"
    assert run("fit", WORKSPACE, "--csv", "--precision", "f32", "-o", path).returncode == 0
    assert len(path.read_text().splitlines()) == 1 + len(table_of(run("fit", WORKSPACE, "--csv").stdout))
    assert refusal("fit", "x", "--csv", "--json") == "paritas: --csv or --json, not both"
    assert (
        refusal("fit", "x", "--csv", "--covariance") == "paritas: --csv has no covariance matrix: take --json"
    )
    toys = tmp_path / "toys.json"
    assert run("generate", WORKSPACE, "--ntoys", "2", "-o", toys).returncode == 0
    assert "choose data with --toy T" in refusal("fit", WORKSPACE, "--csv", "--data", toys)
    assert run("fit", WORKSPACE, "--csv", "--data", toys, "--toy", "1").returncode == 0


def test_csv_is_for_whole_patch_sets():
    assert refusal("limit", WORKSPACE, "--csv") == "paritas: --csv needs --patchset FILE"
    given = ["limit", "x", "--patchset", "y", "--csv"]
    assert refusal(*given, "--json") == "paritas: --csv or --json, not both"
    assert "leave --patch-name out" in refusal(*given, "--patch-name", "m1")


def test_a_patch_set_shows_its_values_by_their_labels(tmp_path):
    base, patches = patch_set(tmp_path, SIGNALS, [60.0, 50.0])
    shown = run("patchset", "inspect", patches).stdout.splitlines()
    assert [line.split() for line in shown[-3:]] == [["patch", "m"], ["m1", "0"], ["m2", "1"]]
    with open(patches, encoding="utf-8") as file:
        document = json.load(file)
    document["metadata"]["labels"] = [f"l{k}" for k in range(20)]
    for patch in document["patches"]:
        patch["metadata"]["values"] *= 20
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document))
    shown = run("patchset", "inspect", str(changed)).stdout.splitlines()
    assert [line.split(maxsplit=1) for line in shown[-3:]] == [
        ["patch", "values"],
        ["m1", f"[{', '.join(['0'] * 20)}]"],
        ["m2", f"[{', '.join(['1'] * 20)}]"],
    ]


def test_files_in_each_others_place_are_named(tmp_path):
    base, patches = patch_set(tmp_path, {"m1": SIGNALS["m1"], "n1": SIGNALS["m2"]}, [60.0, 50.0])
    patch = tmp_path / "patch.json"
    patch.write_text(json.dumps(SIGNALS["m1"]))
    said = refusal("limit", patches, code=3)
    assert "is a patch set: give it beside its workspace; `paritas patchset inspect " in said
    assert "is a JSON Patch: give it beside its workspace" in refusal("limit", str(patch), code=3)
    assert "is a JSON Patch: " in refusal("limit", base, "--patchset", str(patch), code=3)
    assert "is a workspace and no patch set" in refusal("patchset", "inspect", base, code=3)
    assert "--patch or --patchset adds the signal to a background" in refusal("limit", base, code=3)
    said = refusal("limit", base, "--patchset", patches, "--patch-name", "n2", code=3)
    assert said.endswith(': there is no patch "n2", but "n1"')


def test_archives_are_told_with_what_unpacks_them(tmp_path):
    for name, mode, command in ("a.tar", "w", "tar xf"), ("a.tar.gz", "w:gz", "tar xzf"):
        with tarfile.open(tmp_path / name, mode) as archive:
            archive.add(WORKSPACE, "w.json")
        said = refusal("fit", str(tmp_path / name), code=3)
        assert said.endswith(f"is a tar archive; run `{command}` on it, and give the workspace inside")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(WORKSPACE, "w.json")
    assert "is a zip archive; run `unzip` on it" in refusal("fit", str(tmp_path / "a.zip"), code=3)
    with open(WORKSPACE, "rb") as file:
        (tmp_path / "a.json.gz").write_bytes(gzip.compress(file.read()))
    for name, kept in ("a.json.gz", None), ("cut.gz", 30):
        (tmp_path / name).write_bytes((tmp_path / "a.json.gz").read_bytes()[:kept])
        assert "is compressed by gzip; run `gunzip` on it first" in refusal(
            "fit", str(tmp_path / name), code=3
        )


def test_a_whole_patch_set_takes_one_parameter_of_interest(tmp_path):
    base, patches = patch_set(tmp_path, SIGNALS, [60.0, 50.0])
    said = refusal("hypotest", base, "--patchset", patches, "--poi", "mu", "--poi", "factor")
    assert said == "paritas: a whole patch set takes one --poi"


@pytest.mark.parametrize("command", ["bench", "parity", "inspect"])
def test_commands_of_one_parameter_refuse_several(command):
    said = refusal(command, WORKSPACE, "--poi", "mu", "--poi", "uncorr_bkguncrt[0]")
    assert said == f"paritas: {command} takes one --poi"


def test_significance_of_a_patch_set_points_to_what_takes_one():
    said = refusal("significance", "x", "--patchset", "y")
    assert "`paritas hypotest --test-stat q0` and `paritas look-elsewhere`" in said


@pytest.mark.parametrize(
    "arguments, answer",
    [
        (["--mu", "1,1"], "--mu takes a number, not '1,1'; with several --poi give it once for each"),
        (["--poi", "a,b"], "--poi a,b: there is no such parameter; give --poi once for each"),
        (["--poi", "all", "--poi", "mu"], "--poi all cannot be combined with other names"),
        (["--mu", "1", "--mu", "2"], "--mu is wanted once, not 2 times: one --poi is tested"),
    ],
)
def test_lists_are_refused_with_what_to_write(arguments, answer):
    assert refusal("hypotest", WORKSPACE, *arguments) == "paritas: " + answer


def test_a_set_of_parameters_is_answered_with_its_members():
    for option in ["--fix", "uncorr_bkguncrt=1"], ["--minos", "uncorr_bkguncrt"]:
        assert "name its members, 'uncorr_bkguncrt[0]' and so on" in refusal(
            "fit", WORKSPACE, *option, code=3
        )


def test_other_formats_are_named(tmp_path):
    for start, what in (b'<?xml version="1.0"?>', "is XML"), (b"root\0\0\xf6\x00", "is a ROOT file"):
        path = tmp_path / "model"
        path.write_bytes(start + b" and more")
        said = refusal("fit", str(path), code=3)
        assert what in said and "`python -m paritas convert" in said


def test_a_level_above_one_half_is_pointed_out():
    assert "for 95 % confidence take --level 0.05" in run("limit", WORKSPACE, "--level", "0.95").stdout
    assert "--level 0.05" not in run("limit", WORKSPACE).stdout


def test_a_joint_test_names_itself_and_tells_of_bounds():
    """The best fit of mu is 0, its bound."""
    several = ["--poi", "mu", "--poi", "uncorr_bkguncrt[0]"]
    said = run("hypotest", WORKSPACE, *several).stdout
    assert "t_mu, two-sided; p by chi-squared with 2 degrees of freedom" in said
    assert "Note: a tested value or the best fit lies at a bound" in said


def test_no_excess_and_excesses_that_no_toy_reaches_are_told(tmp_path):
    base, patches = patch_set(tmp_path, SIGNALS, [30.0, 30.0])
    said = run("look-elsewhere", base, "--patchset", patches, "--ntoys", "20").stdout
    assert "No patch has an excess: the largest q0 is 0" in said and "Trial factor" not in said
    base, patches = patch_set(tmp_path, SIGNALS, [120.0, 50.0])
    said = run("look-elsewhere", base, "--patchset", patches, "--ntoys", "20").stdout
    assert "No trial factor: no toy reaches the largest q0; raise --ntoys" in said


def test_look_elsewhere_names_the_patch_at_fault(tmp_path):
    """Another parameter of interest, another background."""
    factor = {**MU, "name": "other"}
    poi = {"op": "replace", "path": "/measurements/0/config/poi", "value": "other"}
    bins = {"op": "replace", "path": "/channels/0/samples/1/data", "value": [50.0, 20.0]}
    wrong = {"poi": [*signal(0.0, 10.0, factor=factor), poi], "rates": [*signal(0.0, 10.0), bins]}
    for name, operations in wrong.items():
        base, patches = patch_set(tmp_path, {"m1": signal(10.0, 0.0), name: operations}, [60.0, 50.0])
        said = refusal("look-elsewhere", base, "--patchset", patches, "--ntoys", "20", code=3)
        assert said.startswith(f"paritas: {name}: "), said


def test_several_parameters_of_interest_are_shown(tmp_path):
    with open(WORKSPACE, encoding="utf-8") as file:
        spec = json.load(file)
    spec["channels"][0]["samples"][1]["modifiers"].append({**MU, "name": "b"})
    spec["measurements"][0]["config"]["pois"] = ["mu", "b", "none"]
    path = tmp_path / "pois.json"
    path.write_text(json.dumps(spec))
    assert "Parameters of interest: mu, b\n" in run("inspect", str(path)).stdout
    answer = json.loads(run("inspect", str(path), "--json").stdout)
    assert answer["pois"] == ["mu", "b"] and answer["unused"]["pois"] == [["measurement", "none"]]
    spec["measurements"][0]["config"].update(poi="x", pois=["x"])
    path.write_text(json.dumps(spec))
    said = refusal("significance", str(path), "--poi", "all", code=3)
    assert "no modifier of the model is named 'x'" in said


def test_a_region_takes_two_parameters():
    said = refusal("contour", WORKSPACE, "--poi", "mu", "--poi", "uncorr_bkguncrt[0]", "--par", "mu")
    assert said == "paritas: a region of two parameters: --par or several --poi, not both"


def test_tables_have_no_negative_zero(tmp_path):
    with open(WORKSPACE, encoding="utf-8") as file:
        spec = json.load(file)
    norm = {"name": "xs", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    spec["channels"][0]["samples"][1]["modifiers"].append(norm)
    path = tmp_path / "normsys.json"
    path.write_text(json.dumps(spec))
    several = ["--poi", "mu", "--poi", "xs", "--mu", "1", "--mu"]
    row = run("hypotest", str(path), *several, "-5.551e-17").stdout.splitlines()[4]
    assert row.split()[:2] == ["xs", "0.00000"]
