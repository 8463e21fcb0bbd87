"""What can run here runs for real: every device that `paritas devices` lists keeps the contract with the CPU on the shipped example."""
import json
import os
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
    assert (cpu["name"], cpu["usable"], cpu["f64"], cpu["f32"], cpu["reason"]) == ("cpu", True, True, True, None)


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


def test_devices_beside_the_cpu_keep_the_contract():
    for device in others():
        precision = "f64" if device["f64"] else "f32"
        done = run("parity", WORKSPACE, "--device", device["name"], "--precision", precision, "--ntoys", "100", "--json")
        assert done.returncode == 0, f"{device['name']}: {done.stdout}{done.stderr}"
        assert json.loads(done.stdout)["verdict"] == "passed"


def test_devices_with_both_precisions_have_the_bits_of_f32_too():
    """What all else is made of; OpenCL on a processor would compile for half a minute more for scans and toys."""
    for device in others():
        if not (device["f64"] and device["f32"]):
            continue  # the test before has it all
        for command in (["nll", WORKSPACE, "--gradient"], ["fit", WORKSPACE, "--no-polish"]):
            wanted, got = (run(*command, "--precision", "f32", "--json", "--device", name) for name in ("cpu", device["name"]))
            assert got.returncode == wanted.returncode == 0, got.stderr
            assert dict(json.loads(got.stdout), device="cpu") == json.loads(wanted.stdout)


def test_a_table_says_where_it_was_computed():
    for device in others():
        precision = "f64" if device["f64"] else "f32"
        table = run("nll", WORKSPACE, "--device", device["name"], "--precision", precision).stdout
        assert table.splitlines()[-1].startswith(f"device: {device['name']}, precision: {precision}")
    assert "device:" not in run("nll", WORKSPACE, "--device", "cpu").stdout


@pytest.mark.parametrize("name", ["cuda:99", "metal:99", "opencl:99", "cpu:1", "opencl:", "opencl:x", "opencl:-1", "gpu", ""])
@pytest.mark.parametrize("command", [["nll"], ["fit"], ["limit"], ["hypotest-toys", "--mu", "1", "--ntoys", "10"]])
def test_a_device_that_is_not_there_is_an_error(command, name):
    done = run(command[0], WORKSPACE, *command[1:], "--device", name)
    assert done.returncode == 4, done.stderr
    assert done.stdout == "" and done.stderr.startswith("paritas: device")
