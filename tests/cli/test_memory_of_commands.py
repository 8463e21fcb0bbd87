"""Memory of the program is that of SECURITY.md, also where second derivatives would take the square."""

import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
MODIFIERS = 10000
TIMES = 32  # the file
FLOOR = 8 << 20  # bytes of the program with a file of nothing
DATA = {
    "normsys": {"hi": 1.001, "lo": 0.999},
    "normfactor": None,
    "histosys": {"hi_data": [50.1], "lo_data": [49.9]},
}


# A child counts what its parent held at the fork, so a small one stands between.
LAUNCHER = (
    "import os, sys; child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]); "
    "_, status, usage = os.wait4(child, 0); sys.stderr.write(f'{status} {usage.ru_maxrss}')"
)


def peak(*arguments):
    """Bytes that the program takes at most."""
    command = [sys.executable, "-I", "-S", "-c", LAUNCHER, PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    status, most = done.stderr.split()
    assert status == "0"
    return int(most) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not say what a child took")
@pytest.mark.parametrize("kind", DATA)
def test_a_value_and_a_look_take_no_square_of_the_parameters(kind, tmp_path):
    free = {"name": "mu", "type": "normfactor", "data": None}
    many = [{"name": f"n{i}", "type": kind, "data": DATA[kind]} for i in range(MODIFIERS)]
    samples = [
        {"name": "s", "data": [5.0], "modifiers": [free]},
        {"name": "b", "data": [50.0], "modifiers": many},
    ]
    spec = {
        "channels": [{"name": "a", "samples": samples}],
        "observations": [{"name": "a", "data": [55.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }
    path = tmp_path / "many.json"
    path.write_text(json.dumps(spec))
    promised = TIMES * path.stat().st_size + FLOOR
    taken = {command: peak(command, str(path)) for command in ("nll", "inspect", "digest")}
    assert max(taken.values()) <= promised, taken
