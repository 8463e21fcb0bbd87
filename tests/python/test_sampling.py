"""Posterior draws: the program's numbers, more draws, predictions, bad requests."""

import json
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import paritas
from package_support import PROGRAM

TWO = "examples/two_bins.json"
FEW = {"chains": 4, "draws": 50, "warmup": 30, "seed": 1}


def test_numbers_are_the_programs():
    run = subprocess.run(
        [PROGRAM, "sample", TWO, "--chains=4", "--draws=50", "--warmup=30", "--seed=1", "--json"],
        capture_output=True,
        check=False,
    )
    answer, found = json.loads(run.stdout), paritas.sample(TWO, **FEW)
    assert run.returncode == 1 and not answer["converged"] and not found.converged
    assert (answer["rhat"], answer["gradients"]) == (found.rhat, found.gradients)
    for one in answer["parameters"]:
        name = one.pop("name")
        assert one == found.summary(name)
        assert found[name].shape == (4, 50) and found[name].mean() == pytest.approx(one["mean"])


def test_more_draws_are_those_of_a_longer_run():
    whole, part = paritas.sample(TWO, **FEW), paritas.sample(TWO, **{**FEW, "draws": 20})
    assert part.more(50) == whole and part != whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    with pytest.raises(paritas.InvalidArgument, match="there are 50 already"):
        whole.more(20)


def test_threads_leave_the_bits():
    assert paritas.sample(TWO, threads=1, **FEW) == paritas.sample(TWO, threads=2, **FEW)


def test_predictions_are_expected_data_at_the_draws():
    found = paritas.sample(TWO, **FEW)
    rates = found.expected(200)
    assert rates.shape == (200, 4)
    last = found.values[-1, -1]
    np.testing.assert_array_equal(rates[-1], paritas.Model.from_workspace(TWO).expected_data(last))


def test_priors_and_fixed_parameters_count():
    usual = paritas.sample(TWO, chains=4, draws=400)
    narrow = paritas.sample(TWO, chains=4, draws=400, priors={"mu": ("normal", 0.5, 0.01)})
    assert usual.summary("mu")["sd"] > 0.2 and narrow.summary("mu")["sd"] < 0.012
    held = paritas.sample(TWO, fixed={"mu": 0.3}, **FEW)
    assert (held["mu"] == 0.3).all() and held.summary("mu")["sd"] == 0.0


def test_the_draws_of_a_file_are_the_same(tmp_path):
    path = tmp_path / "draws.npz"
    subprocess.run(
        [PROGRAM, "sample", TWO, "--chains=4", "--draws=50", "--warmup=30", "--seed=1", "--save", str(path)],
        capture_output=True,
        check=False,
    )
    kept, found = np.load(path), paritas.sample(TWO, **FEW)
    assert kept["parameters"].tolist() == found.parameters
    np.testing.assert_array_equal(kept["values"].reshape(found.values.shape), found.values)


def run(*words):
    return subprocess.run([PROGRAM, "sample", *map(str, words)], capture_output=True, check=False, text=True)


#: a run that waits between its parts until its store has draws, and then kills itself
KILLED = """
import os, signal, sys, time
import numpy as np, paritas
def wait(done, total):
    time.sleep(1.0)
    if np.load(sys.argv[2])["values"].any():
        os.kill(os.getpid(), signal.SIGKILL)
paritas.sample(sys.argv[1], chains=2, draws=100000, seed=5, threads=1, store=sys.argv[2], progress=wait)
"""


def test_a_killed_run_goes_on_to_the_bits_of_a_whole_one(tmp_path):
    store, whole, kept = tmp_path / "run.npz", tmp_path / "whole.npz", tmp_path / "kept.npz"
    killed = subprocess.run([sys.executable, "-c", KILLED, TWO, store], timeout=120)
    assert killed.returncode == -signal.SIGKILL
    part = np.load(store)["values"]
    assert part.any() and not part[-1].any()
    words = [TWO, "--chains=2", "--draws=100000", "--seed=5", "--threads=1"]
    assert "exists already" in run(*words, "--store", store).stderr
    done, wanted = run(*words, "--store", store, "--resume", "--save", kept), run(*words, "--save", whole)
    assert done.stdout == wanted.stdout and kept.read_bytes() == whole.read_bytes()


def test_a_store_goes_on_to_more_draws_and_is_of_one_run(tmp_path):
    store, whole = tmp_path / "run.npz", paritas.sample(TWO, **FEW)
    paritas.sample(TWO, store=store, **{**FEW, "draws": 20})
    assert paritas.sample(TWO, store=store, resume=True, **FEW) == whole
    assert paritas.sample(TWO, store=store, resume=True, **FEW) == whole
    arrays = np.load(store)
    np.testing.assert_array_equal(arrays["values"].reshape(whole.values.shape), whole.values)
    at = arrays["fields"].tolist().index("twice_nll")
    np.testing.assert_array_equal(arrays["draws"][:, at].reshape(4, 50), whole.draws["twice_nll"])
    for changed, text in (
        ({}, "exists already; `resume` goes on with it"),
        ({"resume": True, "seed": 2}, "was made with seed = 1, this run has seed = 2"),
        ({"resume": True, "target": 0.8}, "target = 0.8"),
        ({"resume": True, "fixed": {"mu": 1.0}}, "this run has fix = mu=1"),
        ({"resume": True, "data": [60, 50, 278, 55]}, "model = "),
        ({"resume": True, "priors": {"mu": ("gamma", 2, 1)}}, "this run has priors = mu=gamma:2,1"),
        ({"resume": True, "draws": 10}, "chain 0 has 50 already"),
    ):
        with pytest.raises(paritas.InvalidArgument, match=text):
            paritas.sample(TWO, store=store, **{**FEW, **changed})
    bytes_of = bytearray(store.read_bytes())
    bytes_of[len(bytes_of) // 2] ^= 1
    for damage in (bytes_of, b"{}", b""):
        store.write_bytes(damage)
        with pytest.raises(paritas.InvalidInput, match="run.npz: "):
            paritas.sample(TWO, store=store, resume=True, **FEW)


def test_forged_stores_are_refused(tmp_path):
    store = tmp_path / "run.npz"
    paritas.sample(TWO, store=store, **FEW)
    good = dict(np.load(store))
    state = good["state"]
    for changed, message in (
        ({"key": np.zeros((5, 0), "U4")}, "key is no list of texts"),
        ({"key": np.zeros(3)}, "key is no list of texts"),
        (
            {"values": good["values"][:0], "draws": good["draws"][:0]},
            "chain 0 made 50 draws, of which it has 0",
        ),
        ({"values": good["values"][:0]}, "it has 0 rows of values and"),
        ({"values": good["values"].astype(int)}, "values has no rows of"),
        ({"draws": good["draws"] * np.nan}, "numbers that no draw has"),
        ({"state": state[:1]}, "there are 1 states for"),
        ({"state": np.full_like(state, np.inf)}, "the state of chain 0 is not of such a run"),
    ):
        np.savez(store, **{**good, **changed})
        with pytest.raises(paritas.Error, match=message):
            paritas.sample(TWO, store=store, resume=True, **FEW)
    with pytest.raises(paritas.Error, match="no regular file"):
        paritas.sample(TWO, store=tmp_path, resume=True, **FEW)


def test_predicted_counts_have_a_negative_binomial_distribution():
    """A flat prior and 7 events: the rate has the gamma distribution of shape 8, and counts failures before
    the eighth success at even odds."""
    channel = {
        "name": "c",
        "samples": [
            {"name": "s", "data": [1.0], "modifiers": [{"name": "mu", "type": "normfactor", "data": None}]}
        ],
    }
    poi = {"poi": "mu", "parameters": [{"name": "mu", "bounds": [[0, 200]]}]}
    workspace = {
        "channels": [channel],
        "observations": [{"name": "c", "data": [7.0]}],
        "measurements": [{"name": "m", "config": poi}],
        "version": "1.0.0",
    }
    result = paritas.sample(paritas.Model.from_workspace(workspace), seed=2)
    n = 16000
    rates, counts = result.expected(n)[:, 0], result.predictive(n, seed=3)[:, 0]
    wide = np.sqrt(n / result.summary("mu")["ess_bulk"])  # draws of a chain are alike
    assert abs(rates.mean() - 8) < 6 * wide * np.sqrt(8 / n) and abs(rates.var() - 8) < 1
    assert abs(counts.mean() - 8) < 6 * wide * np.sqrt(16 / n) and abs(counts.var() - 16) < 2
    for k, p in ((0, 2.0**-8), (7, 3432 * 2.0**-15), (8, 6435 * 2.0**-16)):
        assert abs((counts == k).mean() - p) < 6 * wide * np.sqrt(p / n)
    np.testing.assert_array_equal(counts, result.predictive(n, seed=3, threads=1)[:, 0])
    assert (counts[:9] != result.predictive(n, seed=4)[:9, 0]).any()


def test_the_programs_predictions_are_those_of_python(tmp_path):
    path = tmp_path / "data.json"
    few = [f"--{name}={value}" for name, value in FEW.items()]
    run(TWO, *few, "--predictive", path, "--npredictive", 30)
    rows = paritas.toys.read_data(TWO, path).rows
    np.testing.assert_array_equal(rows, paritas.sample(TWO, **FEW).predictive(30, seed=1))


def test_bad_requests_say_why():
    for keywords, text in (
        ({"priors": {"mu": ("normal", 1)}}, "a kind and two numbers are wanted"),
        ({"priors": {"mu": ("flat", 1, 2)}}, "prior 'flat'"),
        ({"priors": {"mu": ("gamma", -1, 2)}}, "gamma takes two positive numbers"),
        ({"chains": 0}, "`chains` is 0"),
    ):
        with pytest.raises(paritas.InvalidArgument, match=text):
            paritas.sample(TWO, **keywords)
