"""What a physicist types first: titles, hints and refusals of the program."""

import json
import os
import subprocess

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
