"""PARITAS_DEVICE and PARITAS_CACHE: Python and the program understand the same."""

import os
import subprocess
import sys

import pytest
from package_support import TWO

from paritas import _engine

PROGRAM = os.environ.get("PARITAS_BIN", "")


def python(code, **environment):
    given = {**os.environ, "PYTHONPATH": ":".join(sys.path), **environment}
    return subprocess.run(
        [sys.executable, "-c", "import paritas\n" + code], capture_output=True, text=True, env=given
    )


FIT = f"print(paritas.fit({str(TWO)!r}).device)"


def test_a_device_of_the_environment_is_the_default():
    assert python(FIT, PARITAS_DEVICE="cpu").stdout == "cpu\n"
    assert python(FIT, PARITAS_DEVICE="").stdout == "cpu\n"


def test_a_wrong_device_is_an_error_that_names_the_variable():
    wrong = python(FIT, PARITAS_DEVICE="abacus")
    assert wrong.returncode == 1
    reason = "PARITAS_DEVICE: device 'abacus' is not known; there are auto, cpu, cuda[:i]"
    assert f"DeviceUnavailable: {reason}" in wrong.stderr
    program = subprocess.run(
        [PROGRAM, "fit", TWO],
        capture_output=True,
        text=True,
        env={**os.environ, "PARITAS_DEVICE": "abacus"},
    )
    assert program.returncode == 4 and program.stderr.startswith(f"paritas: {reason}")


def test_an_explicit_device_wins():
    explicit = f"print(paritas.fit({str(TWO)!r}, device='cpu').device)"
    assert python(explicit, PARITAS_DEVICE="abacus").stdout == "cpu\n"
    set_first = "paritas.set_defaults(device='cpu')\n" + FIT
    assert python(set_first, PARITAS_DEVICE="abacus").stdout == "cpu\n"
    named = python(f"paritas.fit({str(TWO)!r}, device='sundial')", PARITAS_DEVICE="abacus")
    assert "device 'sundial' is not known" in named.stderr and "PARITAS_DEVICE" not in named.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="Metal may be there")
def test_a_system_without_metal_is_told_so_before_all_else():
    for precision in (None, "f64", "f32", "auto"):
        found = python(f"paritas.fit({str(TWO)!r}, device='metal', precision={precision!r})")
        assert "device 'metal:0': Metal needs macOS, and this is a different system" in found.stderr


@pytest.mark.parametrize(
    "environment, folder",
    [
        ({"HOME": "/users/one"}, None),
        ({"HOME": "/users/one", "XDG_CACHE_HOME": "/var/caches"}, "/var/caches/paritas"),
        ({"HOME": "/users/one", "XDG_CACHE_HOME": "caches"}, None),
        ({"HOME": "/users/one", "PARITAS_CACHE": "here"}, "here"),
        ({"HOME": "/users/one", "PARITAS_CACHE": ""}, ""),
        ({"HOME": "one"}, ""),
        ({"HOME": "/" + 5000 * "x"}, ""),
        ({}, ""),
    ],
)
def test_the_cache_folder_follows_the_environment(environment, folder):
    usual = "/users/one/Library/Caches/paritas" if sys.platform == "darwin" else "/users/one/.cache/paritas"
    assert _engine.cache_folder(environment) == (usual if folder is None else folder)


def test_devices_say_how_much_they_take_at_once():
    found = python("[cpu, *_] = paritas.devices()\nprint(cpu.teams, cpu.workers, cpu.memory)")
    teams, workers, memory = map(int, found.stdout.split())
    assert teams >= 16 and (workers, memory) == (1, 0)
