"""The program from outside: exit codes, streams, files, tables."""

import json
import os
import stat
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
SBOTTOM = os.path.join(ROOT, "examples", "sbottom_A")
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
ANSWERS = [
    ["nll"],
    ["fit"],
    ["scan"],
    ["hypotest"],
    ["limit"],
    ["significance"],
    ["ranking"],
    ["gof"],
    ["gof", "--toys", "--ntoys", "100"],
    ["gof", "--algo", "ks", "--ntoys", "100"],
    ["compatibility"],
    ["generate", "--ntoys", "3"],
    ["toys", "--ntoys", "100"],
    ["predict"],
    ["inspect"],
    ["digest"],
    ["sort"],
]


def run(*arguments, stdin=None, environment=None):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ, **(environment or {})),
    )


def changed(tmp_path, change):
    with open(TWO, encoding="utf-8") as file:
        workspace = json.load(file)
    change(workspace)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(workspace))
    return path


@pytest.mark.parametrize("command", ANSWERS, ids="_".join)
def test_every_command_answers_a_table_and_one_json_document(command):
    table, document = run(*command, TWO), run(*command, TWO, "--json")
    assert table.returncode == document.returncode == 0, table.stderr + document.stderr
    assert table.stdout.strip() and table.stderr == document.stderr == ""
    json.loads(document.stdout)


@pytest.mark.parametrize("command", ANSWERS, ids="_".join)
def test_help_is_an_answer(command):
    done = run(*command, "--help")
    assert done.returncode == 0 and command[0] in done.stdout and done.stderr == ""


def test_a_workspace_may_come_from_standard_input():
    with open(TWO, encoding="utf-8") as file:
        assert run("fit", "-", "--json", stdin=file.read()).stdout == run("fit", TWO, "--json").stdout


UNPARSABLE = [
    [],
    ["fti", TWO],
    ["fit"],
    ["fit", TWO, "--fast"],
    ["fit", TWO, "--poi"],
    ["scan", TWO, "--points", "0"],
    ["hypotest", TWO, "--mu", "one"],
    ["fit", TWO, "--init", "mu"],
    ["fit", TWO, TWO],
    ["nll", TWO, "--normsys-code", "2"],
    ["fit", TWO, "--threads", "-1"],
    ["fit", TWO, "--patch-name", "x"],
    ["inspect", TWO, "--device", "cpu"],
    ["nll", "-", "--point", "-"],
    ["toys", "-", "--expected-data", "-"],
    ["fit", "-", "--patch", "-"],
    ["fit", TWO, "--patch", "-", "--patch", "-"],
    ["combine", "-", "-"],
    ["bench", "-", "--baseline", "-"],
]


@pytest.mark.parametrize("arguments", UNPARSABLE)
def test_a_command_line_that_cannot_be_parsed_is_2(arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("paritas")


def test_a_command_without_operands_says_so():
    done = run("devices", "foo")
    assert done.returncode == 2 and "devices takes no operands; 'foo' is one too many" in done.stderr
    assert (
        "usage: paritas devices [options]" in done.stderr
        and "usage: paritas devices [options]" in run("devices", "--help").stdout
    )


def test_standard_input_named_twice_is_said():
    assert "standard input can be read once" in run("nll", "-", "--point", "-").stderr


NO_DEVICE_NEEDED = [
    ["inspect", TWO],
    ["digest", TWO],
    ["sort", TWO],
    ["prune", TWO, "--channel", "no"],
    ["patchset", "inspect", os.path.join(SBOTTOM, "patchset.json")],
]


@pytest.mark.parametrize("command", NO_DEVICE_NEEDED, ids=lambda command: command[0])
def test_a_device_in_the_environment_is_for_commands_that_run_on_one(command):
    absent = {"PARITAS_DEVICE": "abacus"}
    plain, done = run(*command), run(*command, environment=absent)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert (
        run("nll", TWO, environment=absent).returncode
        == run("bench", TWO, environment=absent).returncode
        == 4
    )
    assert run("nll", TWO, "--device", "cpu", environment=absent).returncode == 0


def test_lanes_that_no_kernel_has_are_refused():
    for lanes in ("3", "0", "32", "4.0", "four", "-1"):
        done = run("nll", TWO, environment={"PARITAS_LANES": lanes})
        assert (
            done.returncode == 3 and f"PARITAS_LANES takes 1, 2, 4, 8 or 16, not '{lanes}'" in done.stderr
        ), lanes
    assert run("nll", TWO, environment={"PARITAS_LANES": ""}).returncode == 0


def test_names_that_the_input_lacks_are_3_and_named():
    for arguments in (
        ["--measurement", "nobody"],
        ["--poi", "nobody"],
        ["--fix", "nobody=1"],
        ["--init", "nobody=1"],
    ):
        done = run("fit", TWO, *arguments)
        assert done.returncode == 3 and "nobody" in done.stderr and done.stdout == "", arguments


def test_a_mu_outside_the_bounds_is_3():
    # a bound is widened from above, up to 2^20 times
    assert run("hypotest", TWO, "--mu", "11").returncode == 0
    for mu in ("-1", "1.1e7"):
        done = run("hypotest", TWO, "--mu", mu)
        assert done.returncode == 3 and "lies outside its bounds [0, 10]" in done.stderr, mu


def test_wrong_input_names_file_place_and_reason(tmp_path):
    path = changed(tmp_path, lambda w: w["channels"][0]["samples"][1]["data"].__setitem__(1, "52"))
    done = run("fit", path)
    assert done.returncode == 3 and done.stdout == ""
    assert "changed.json" in done.stderr and "channels[0].samples[1].data[1]" in done.stderr


def test_a_device_that_is_not_there_is_4():
    for device in ("cuda:99", "opencl:99", "abacus"):
        done = run("fit", TWO, "--device", device)
        assert done.returncode == 4 and done.stderr.strip() and done.stdout == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="Metal may be there")
@pytest.mark.parametrize("precision", [[], ["--precision", "f64"], ["--precision", "f32"]])
def test_metal_on_another_system_is_4_and_says_so_before_all_else(precision):
    done = run("fit", TWO, "--device", "metal", *precision)
    assert (done.returncode, done.stderr) == (
        4,
        "paritas: device 'metal:0': Metal needs macOS, and this is a different system\n",
    )


def test_an_output_that_cannot_be_written_is_5(tmp_path):
    assert run("fit", TWO, "-o", tmp_path / "no" / "such" / "file").returncode == 5


def test_output_goes_to_the_file_whole_or_not_at_all(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text("before")
    path.chmod(0o640)
    assert run("fit", TWO, "--fix", "nobody=1", "-o", path).returncode == 3
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["answer.json"]
    done = run("fit", TWO, "--json", "-o", path)
    assert done.returncode == 0 and done.stdout == ""
    assert json.loads(path.read_text()) == json.loads(run("fit", TWO, "--json").stdout)
    assert os.listdir(tmp_path) == ["answer.json"] and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_dash_is_standard_output(tmp_path):
    done = subprocess.run([PROGRAM, "digest", TWO, "-o", "-"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == run("digest", TWO).stdout and os.listdir(tmp_path) == []


def test_output_to_a_device_file_is_written_in_place():
    assert run("fit", TWO, "--json", "-o", "/dev/stdout").stdout == run("fit", TWO, "--json").stdout


def test_a_fixed_parameter_stays_and_says_so():
    answer = json.loads(run("fit", TWO, "--fix", "mu=0.5", "--json").stdout)
    mu = answer["parameters"][0]
    assert (mu["name"], mu["value"], mu["error"], mu["state"]) == ("mu", 0.5, None, "fixed")


def test_a_parameter_on_its_bound_says_so():
    answer = json.loads(run("fit", TWO, "--json").stdout)
    assert answer["status"] == "converged"
    assert answer["parameters"][0]["state"] == "at_lower_bound" and answer["parameters"][0]["error"] is None
    assert all(p["state"] == "free" and p["error"] > 0 for p in answer["parameters"][1:])


def test_a_point_may_be_an_array_an_object_or_an_answer_of_fit(tmp_path):
    fitted = json.loads(run("fit", TWO, "--json").stdout)
    values = {p["name"]: p["value"] for p in fitted["parameters"]}
    found = []
    for document in (list(values.values()), values, fitted):
        path = tmp_path / "point.json"
        path.write_text(json.dumps(document))
        found.append(json.loads(run("nll", TWO, "--point", path, "--json").stdout)["twice_nll"])
    assert found[0] == found[1] == found[2] == pytest.approx(fitted["twice_nll"], rel=1e-12)


def test_poi_of_no_model_is_no_poi_unless_one_is_needed(tmp_path):
    path = changed(tmp_path, lambda w: w["measurements"][0]["config"].__setitem__("poi", "nu"))
    answer = run("fit", path, "--json")
    assert answer.returncode == 0 and json.loads(answer.stdout)["poi"] is None
    done = run("limit", path)
    assert done.returncode == 3 and "nu" in done.stderr


def test_a_patch_set_answers_a_line_a_patch_in_its_order():
    background, patchset = os.path.join(SBOTTOM, "BkgOnly.json"), os.path.join(SBOTTOM, "patchset.json")
    with open(patchset, encoding="utf-8") as file:
        patches = [patch["metadata"] for patch in json.load(file)["patches"]]
    done = run("hypotest", background, "--patchset", patchset, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and [(line["name"], line["values"]) for line in lines] == [
        (patch["name"], patch["values"]) for patch in patches
    ]
    for line in lines:
        one = ("--patchset", patchset, "--patch-name", line["name"], "--json")
        alone = json.loads(run("hypotest", background, *one).stdout)
        shared = line.keys() & alone.keys()
        assert shared == line.keys() - {"name", "values", "excluded"} and all(
            line[key] == alone[key] for key in shared
        )


def test_a_patch_that_fails_is_a_line_and_3_at_the_end(tmp_path):
    with open(os.path.join(SBOTTOM, "patchset.json"), encoding="utf-8") as file:
        patchset = json.load(file)
    patchset["patches"] = patchset["patches"][:3]
    patchset["patches"][1]["patch"] = [{"op": "remove", "path": "/channels/77"}]
    path = tmp_path / "patchset.json"
    path.write_text(json.dumps(patchset))
    done = run("hypotest", os.path.join(SBOTTOM, "BkgOnly.json"), "--patchset", path, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 3 and ["error" in line for line in lines] == [False, True, False]


def test_a_ranking_of_zeros_says_why(tmp_path):
    with open(TWO, encoding="utf-8") as file:
        workspace = json.load(file)
    workspace["observations"][0]["data"] = [20, 20]
    path = tmp_path / "low.json"
    path.write_text(json.dumps(workspace))
    assert "All impacts are 0: mu stays at its bound" in run("ranking", path).stdout
    assert "All impacts" not in run("ranking", TWO).stdout


def test_ranking_is_sorted_and_cut():
    path = [
        os.path.join(SBOTTOM, "BkgOnly.json"),
        "--patch",
        os.path.join(SBOTTOM, "patch.sbottom_900_250_60.json"),
    ]
    whole = json.loads(run("ranking", *path, "--json").stdout)["entries"]
    sizes = [max(abs(entry["impact_up"]), abs(entry["impact_down"])) for entry in whole]
    assert sizes == sorted(sizes, reverse=True)
    assert json.loads(run("ranking", *path, "--top", "5", "--json").stdout)["entries"] == whole[:5]


def test_a_forced_instruction_set_changes_no_digit():
    reference = run("fit", TWO, "--json", environment={"PARITAS_ISA": "portable"}).stdout
    others = [
        run("fit", TWO, "--json", environment={"PARITAS_ISA": isa}) for isa in ("scalar", "avx2", "neon")
    ]
    others = [done for done in others if done.returncode != 4]  # not in this build or not in this processor
    assert all(done.returncode == 0 and done.stdout == reference for done in others)
    assert run("fit", TWO, "--json", "--threads", "2").stdout == reference
    assert run("fit", TWO, environment={"PARITAS_ISA": "abacus"}).returncode == 4


def test_several_starts_find_the_lower_of_two_minima():
    path = os.path.join(SHARED, "SUSY-2018-04_staus.json")
    if not os.path.exists(path):
        pytest.skip("the workspace is not here")
    one, many = (json.loads(run("fit", path, "--json", "--starts", n).stdout) for n in (1, 20))
    assert many["status"] == "converged" and many["twice_nll"] <= one["twice_nll"] + 1e-9


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "command",
    [["--help"], ["--version"], ["fit", "--help"], ["losscone", "--help"], ["nll", TWO]],
    ids="_".join,
)
def test_an_answer_that_cannot_be_written_is_an_error(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 5
    assert done.stderr == "paritas: standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("exists", [False, True], ids=["dangling", "whole"])
def test_a_result_goes_through_links_to_their_target(tmp_path, exists):
    """Absolute and relative links, one behind the other: all stay links."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    real, middle, first = tmp_path / "a" / "b" / "real.json", tmp_path / "a" / "middle", tmp_path / "first"
    middle.symlink_to(os.path.join("b", "real.json"))
    first.symlink_to(middle)
    if exists:
        real.write_text("old")
    done = run("nll", TWO, "--json", "-o", first)
    assert done.returncode == 0, done.stderr
    assert first.is_symlink() and middle.is_symlink() and not real.is_symlink()
    assert real.read_text() == run("nll", TWO, "--json").stdout
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["real.json"]


def test_links_that_lead_nowhere_are_refused(tmp_path):
    circle, far = tmp_path / "circle", tmp_path / "far"
    circle.symlink_to("circle")
    far.symlink_to(os.path.join("missing", "file"))
    for link, why in ((circle, "Too many levels of symbolic links"), (far, "No such file or directory")):
        done = run("nll", TWO, "-o", link)
        assert done.returncode == 5 and why in done.stderr and link.is_symlink()


def test_the_range_of_a_scan_may_be_given_beside_par():
    def values(*options):
        done = run("scan", TWO, "--par", "mu=0:2:5", *options, "--json")
        assert done.returncode == 0, done.stderr
        return [point["mu"] for point in json.loads(done.stdout)["points"]]

    assert values() == [0, 0.5, 1, 1.5, 2]
    assert values("--start", 1) == [1, 1.25, 1.5, 1.75, 2]
    assert values("--stop", 1) == [0, 0.25, 0.5, 0.75, 1]
    assert values("--start", 1, "--stop", 3, "--points", 3) == [1, 2, 3]
    name = "uncorr_bkguncrt[0]"
    fitted = json.loads(run("fit", TWO, "--json").stdout)["parameters"][1]
    points = json.loads(run("scan", TWO, "--par", name, "--points", 3, "--json").stdout)["points"]
    wanted = [fitted["value"] + k * fitted["error"] for k in (-3, 0, 3)]
    assert [point["values"][0] for point in points] == pytest.approx(wanted, rel=1e-12)
    points = json.loads(run("scan", TWO, "--par", name, "--start", 0.9, "--stop", 1, "--json").stdout)[
        "points"
    ]
    assert (len(points), points[0]["values"], points[-1]["values"]) == (21, [0.9], [1])
    assert run("scan", TWO, "--par", "mu", "--json").stdout == run("scan", TWO, "--json").stdout
    done = run("scan", TWO, "--par", "mu", "--par", f"{name}=0:1:2")
    assert done.returncode == 2 and "--par of a grid takes NAME=LO:HI:N" in done.stderr
    for option in ("--start", "--stop", "--points"):
        grid = ["--par", "mu=0:2:5", "--par", f"{name}=0.9:1.1:2"]
        done = run("scan", TWO, *grid, option, 1)
        assert done.returncode == 2 and f"{option} is for one parameter" in done.stderr


def test_a_parameter_that_cannot_be_0_is_refused_as_the_strength_of_a_signal(tmp_path):
    def add_lumi(workspace):
        for sample in workspace["channels"][0]["samples"]:
            sample["modifiers"].append({"name": "lumi", "type": "lumi", "data": None})
        lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.02], "bounds": [[0.5, 1.5]], "inits": [1.0]}
        workspace["measurements"][0]["config"]["parameters"] = [lumi]

    path = changed(tmp_path, add_lumi)
    for command in (["hypotest"], ["limit"], ["significance"], ["hypotest-toys", "--ntoys", 10]):
        done = run(*command, path, "--poi", "lumi")
        assert (
            done.returncode == 3
            and "lumi is bounded to [0.5, 1.5], so it is no signal strength" in done.stderr
        )
        assert "lumi = 0" not in done.stderr
    assert run("scan", path, "--poi", "lumi").returncode == 0
    assert "lumi = 0 lies outside its bounds" in run("scan", path, "--par", "lumi=0:1:3").stderr
