"""Does a package work, installed or unpacked, with nothing but NumPy beside it? try_wheel.py WORKSPACE"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile

import paritas

PROGRAM = ["paritas"]
if not shutil.which("paritas"):  # unpacked: what the installed command runs
    PROGRAM = [sys.executable, "-c", "import paritas_program; paritas_program.main()"]

workspace = os.path.abspath(sys.argv[1])
model = paritas.Model.from_workspace(workspace)
fit = model.fit()
assert fit.converged, fit.status
limit = model.upper_limit().limit_obs
program = subprocess.run(
    [*PROGRAM, "limit", workspace, "--json", "--quiet"],
    capture_output=True,
    text=True,
    check=True,
    cwd=os.path.dirname(os.path.dirname(paritas.__file__)),
)
assert repr(limit) in program.stdout, (limit, program.stdout)
with tempfile.TemporaryDirectory() as folder:
    toys = model.hypotest_toys(1.0, n=100, seed=1, store=f"{folder}/toys.db")
    assert paritas.hypotest_of_store(f"{folder}/toys.db").CLs_obs == toys.CLs_obs
needed = [one for one in importlib.metadata.requires("paritas") if "extra" not in one]
assert len(needed) == 1 and needed[0].startswith("numpy"), needed
print(paritas.__version__, sys.version.split()[0], fit["mu"], limit)
