"""Does an installed package work, with nothing but NumPy beside it? try_wheel.py WORKSPACE"""

import importlib.metadata
import subprocess
import sys
import tempfile

import paritas

model = paritas.Model.from_workspace(sys.argv[1])
fit = model.fit()
assert fit.converged, fit.status
limit = model.upper_limit().limit_obs
program = subprocess.run(
    ["paritas", "limit", sys.argv[1], "--json", "--quiet"], capture_output=True, text=True, check=True
)
assert repr(limit) in program.stdout, (limit, program.stdout)
with tempfile.TemporaryDirectory() as folder:
    toys = model.hypotest_toys(1.0, n=100, seed=1, store=f"{folder}/toys.db")
    assert paritas.hypotest_of_store(f"{folder}/toys.db").CLs_obs == toys.CLs_obs
needed = [one for one in importlib.metadata.requires("paritas") if "extra" not in one]
assert len(needed) == 1 and needed[0].startswith("numpy"), needed
print(paritas.__version__, sys.version.split()[0], fit["mu"], limit)
