"""What can run here runs for real: every device that `paritas devices` lists keeps the contract with the CPU
on the shipped example."""

import json
import os
import re
import subprocess

import pytest

PROGRAM = os.environ["PARITAS_BIN"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKSPACE = os.path.join(ROOT, "examples", "two_bins.json")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def listed():
    done = run("devices", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["devices"]


def test_the_cpu_is_first_and_runs_in_both_precisions():
    cpu = listed()[0]
    assert (cpu["name"], cpu["usable"], cpu["f64"], cpu["f32"], cpu["reason"]) == (
        "cpu",
        True,
        True,
        True,
        None,
    )


def test_every_kind_is_listed_and_says_why_it_cannot_run():
    devices = listed()
    assert {device["name"].partition(":")[0] for device in devices} == {"cpu", "cuda", "metal", "opencl"}
    for device in devices:
        assert device["usable"] == (device["f64"] or device["f32"])
        assert (device["reason"] is None) == (device["f64"] and device["f32"])
        assert device["usable"] == (device["description"] is not None)


def others():
    found = [device for device in listed() if device["usable"] and device["name"] != "cpu"]
    if not found:
        pytest.skip("there is none")
    return found


def test_the_table_says_why_without_the_name_twice():
    rows = dict(line.split(maxsplit=1) for line in run("devices").stdout.splitlines())
    for device in listed():
        assert device["name"] in rows and "device '" not in rows[device["name"]]
        if not device["usable"]:
            assert device["reason"].startswith("device '") and rows[device["name"]].startswith("none ")


def test_the_build_says_which_kernels_it_has():
    done = run("devices", "--json")
    build = json.loads(done.stdout)["build"]
    sets = listed()[0]["description"].split("built: ")[1].split()
    assert {name.split("_", 1)[1].rpartition("_")[0] for name in build["variants"]} == set(sets)
    assert all(re.fullmatch(r"f(64|32)_\w+_w\d+p\d+", name) for name in build["variants"])
    assert 0 <= build["cuda_bytes"] <= build["cuda_bytes_unpacked"]
    assert (build["cuda_kernels"] == 0) == (build["cuda_bytes"] == 0)
    line = run("devices").stdout.splitlines()[-1]
    assert line.startswith(f"built: {len(build['variants'])} variants of the CPU's kernels, ")
    assert f" {build['cuda_kernels']} of CUDA's kernels" in line


def test_devices_beside_the_cpu_keep_the_contract():
    for device in others():
        precision = "f64" if device["f64"] else "f32"
        done = run(
            "parity",
            WORKSPACE,
            "--device",
            device["name"],
            "--precision",
            precision,
            "--ntoys",
            "100",
            "--json",
        )
        assert done.returncode == 0, f"{device['name']}: {done.stdout}{done.stderr}"
        assert json.loads(done.stdout)["verdict"] == "passed"


def test_devices_with_both_precisions_have_the_bits_of_f32_too():
    """What all else is made of; OpenCL on a processor would compile for half a minute more for scans and
    toys."""
    for device in others():
        if not (device["f64"] and device["f32"]):
            continue  # the test before has it all
        for command in (["nll", WORKSPACE, "--gradient"], ["fit", WORKSPACE, "--no-polish"]):
            wanted, got = (
                run(*command, "--precision", "f32", "--json", "--device", name)
                for name in ("cpu", device["name"])
            )
            assert got.returncode == wanted.returncode == 0, got.stderr
            assert dict(json.loads(got.stdout), device="cpu") == json.loads(wanted.stdout)


def test_a_table_says_where_it_was_computed():
    for device in others():
        precision = "f64" if device["f64"] else "f32"
        table = run("nll", WORKSPACE, "--device", device["name"], "--precision", precision).stdout
        assert table.splitlines()[-1].startswith(f"device: {device['name']}, precision: {precision}")
    assert "device:" not in run("nll", WORKSPACE, "--device", "cpu").stdout


@pytest.mark.parametrize(
    "name", ["cuda:99", "metal:99", "opencl:99", "cpu:1", "opencl:", "opencl:x", "opencl:-1", "gpu", ""]
)
@pytest.mark.parametrize(
    "command", [["nll"], ["fit"], ["limit"], ["hypotest-toys", "--mu", "1", "--ntoys", "10"]]
)
def test_a_device_that_is_not_there_is_an_error(command, name):
    done = run(command[0], WORKSPACE, *command[1:], "--device", name)
    assert done.returncode == 4, done.stderr
    assert done.stdout == "" and done.stderr.startswith("paritas: device")


def test_a_patch_set_has_the_same_lines_on_every_device_and_any_number_of_threads(tmp_path):
    """Good and bad patches in turn: what a worker keeps from one patch to the next shows in no line but the
    device's name."""
    sbottom = os.path.join(ROOT, "examples", "sbottom_A")
    with open(os.path.join(sbottom, "patchset.json"), encoding="utf-8") as file:
        patchset = json.load(file)
    patchset["patches"] = patchset["patches"][:5]
    patchset["patches"][1]["patch"] = [{"op": "remove", "path": "/channels/77"}]
    patchset["patches"][3]["patch"] = [
        {"op": "replace", "path": "/measurements/0/config/poi", "value": "nowhere"}
    ]
    path = tmp_path / "patchset.json"
    path.write_text(json.dumps(patchset))

    def lines(*arguments):
        done = run(
            "hypotest", os.path.join(sbottom, "BkgOnly.json"), "--patchset", str(path), "--json", *arguments
        )
        assert done.returncode == 3 and "2 of 5 patches failed" in done.stderr, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return answers, [answer.pop("device", None) for answer in answers]

    expected, names = lines("--device", "cpu", "--threads", "1")
    assert names == ["cpu", None, "cpu", None, "cpu"]
    assert "77" in expected[1]["error"] and "nowhere" in expected[3]["error"]
    names_of_auto = {"cpu", None} | {device["name"] for device in listed()}
    for threads in ("1", "4"):
        assert lines("--device", "cpu", "--threads", threads) == (expected, names)
        found, where = lines("--device", "auto", "--threads", threads)
        assert found == expected and names_of_auto.issuperset(where)
    others = [device["name"] for device in listed() if device["f64"] and device["name"] != "cpu"]
    if not others:
        pytest.skip("there is no other device with f64")
    for name in others:
        for threads in ("1", "4"):
            assert lines("--device", name, "--threads", threads) == (expected, [name, None, name, None, name])
