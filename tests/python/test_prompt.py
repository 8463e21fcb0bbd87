"""Help, notebooks, masks and memory: what a session at a prompt meets first."""

import os
import subprocess
import sys

import numpy as np
import paritas
import pytest
from package_support import TWO


@pytest.fixture(scope="module")
def model():
    return paritas.Model.from_workspace(TWO)


WITHOUT = """
import inspect, pydoc, sys
for name in ("jax", "torch", "dask", "matplotlib", "scipy", "uproot"):
    sys.modules[name] = None
import paritas
names = [name for name, _ in inspect.getmembers(paritas)]
assert not {"jax", "torch"} & set(names), names
assert {"Model", "fit", "pyhf", "losscone"} <= set(names), names
assert "Paritas: statistical models" in pydoc.plain(pydoc.render_doc(paritas))
for name in ("jax", "torch"):
    try:
        getattr(paritas, name)
    except ImportError:
        continue
    raise SystemExit(name + " was imported")
import rlcompleter
completer = rlcompleter.Completer()
found = [completer.complete("paritas.py", k) for k in range(3)]
assert "paritas.pyhf" in found, found
"""


def test_help_and_completion_work_without_the_optional_packages():
    folder = os.path.dirname(os.path.dirname(paritas.__file__))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=folder),
    )
    assert done.returncode == 0, done.stderr


def test_notebooks_complete_names_and_show_models(model):
    names = model.parameter_names
    for result in (model.fit(), model.fit_batch([model.data] * 2), model.fit_toys(n=3)):
        assert result._ipython_key_completions_() == names
    table = model._repr_html_()
    assert "parameter of interest mu" in table and "<th>samples</th>" in table
    for channel in model.channels:
        assert channel.name in table and ", ".join(channel.samples) in table


def test_masked_numbers_are_refused(model):
    data = np.ma.array(model.data, mask=[True] + [False] * (len(model.data) - 1))
    start = np.ma.array(model.suggested_init, mask=[True] + [False] * (model.parameter_count - 1))
    flags = np.ma.array([False] * model.parameter_count, mask=[True] * model.parameter_count)
    bounds = np.ma.masked_less(np.stack([model.lower_bounds, model.upper_bounds], axis=1), 1e-3)
    mu = np.ma.array([0.0, 1.0], mask=[True, False])
    calls = [
        lambda: model.fit(data=data),
        lambda: model.fit_batch([data, data]),
        lambda: model.fit(init=start),
        lambda: model.fit(bounds=bounds),
        lambda: model.fit(fixed=flags),
        lambda: model.twice_nll(start),
        lambda: model.expected_data(start),
        lambda: model.hypotest(mu),
        lambda: model.scan(("mu", mu)),
        lambda: model.predict(data=data),
        lambda: paritas.kappa.temperature(mu, 1e7),
    ]
    for k, call in enumerate(calls):
        with pytest.raises(paritas.InvalidArgument, match="a masked array: its mask would be lost"):
            print(k, call())
    whole = np.ma.array(model.data)  # nothing is masked: nothing is lost
    assert model.fit(data=whole).twice_nll == model.fit().twice_nll


def test_toys_that_memory_cannot_keep_are_refused_before_they_start(model):
    for run in (model.fit_toys, lambda **given: model.hypotest_toys(1.0, **given), model.significance_toys):
        with pytest.raises(paritas.OutOfMemory, match=r"this machine has .* GB: pass keep=False"):
            run(n=10**12, keep=True)
        with pytest.raises(MemoryError):
            run(n=10**12)
    assert len(model.fit_toys(n=20, keep=True)) == 20
    assert model.fit_toys(n=10**12, shard=(1, 10**9), keep=True).values.shape[0] == 1000
