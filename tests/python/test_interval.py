"""Feldman-Cousins intervals by toys: Poisson with known background has exact and published answers."""

import json
import math
import subprocess

import pytest
from package_support import PROGRAM

import paritas

BACKGROUND, CONFIDENCE = 3.0, 0.9
#: Phys. Rev. D 57 (1998) 3873, table IV, b = 3.0. The first row, n = 0, is left out: there the authors
#: lengthened the interval, so that limits do not fall with the background
PUBLISHED = {
    1: (0.00, 1.88),
    2: (0.00, 3.04),
    3: (0.00, 4.42),
    4: (0.00, 5.60),
    5: (0.00, 6.99),
    6: (0.15, 8.47),
    7: (0.89, 9.53),
    8: (1.51, 10.99),
    9: (1.88, 12.30),
    10: (2.63, 13.50),
}


def workspace(n, upper=10.0):
    signal = {
        "name": "signal",
        "data": [1.0],
        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
    }
    parameter = {"name": "mu", "bounds": [[0.0, upper]], "inits": [1.0]}
    samples = [signal, {"name": "background", "data": [BACKGROUND], "modifiers": []}]
    return {
        "channels": [{"name": "one", "samples": samples}],
        "observations": [{"name": "one", "data": [float(n)]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": [parameter]}}],
        "version": "1.0.0",
    }


def poisson(n, rate):
    return math.exp(n * math.log(rate) - rate - math.lgamma(n + 1))


def exact_p(n, mu):
    """Probability of counts whose likelihood ratio is at most that of n (their section IV B)."""

    def ratio(k):
        return poisson(k, mu + BACKGROUND) / poisson(k, max(0.0, k - BACKGROUND) + BACKGROUND)

    observed = ratio(n) * (1.0 + 1e-9)
    return 1.0 - sum(poisson(k, mu + BACKGROUND) for k in range(150) if ratio(k) > observed)


@pytest.mark.parametrize("n", [1, 4, 6, 9])
def test_intervals_of_a_poisson_count_are_those_of_feldman_and_cousins(n):
    found = paritas.interval_toys(workspace(n), n=10000, seed=1, level=1.0 - CONFIDENCE)
    lower, upper = PUBLISHED[n]
    assert found.converged and found.mu_hat == pytest.approx(max(0.0, n - BACKGROUND), abs=1e-6)
    assert abs(found.upper - upper) < 4.0 * found.upper_error + 0.01
    assert abs(found.lower - lower) < 4.0 * found.lower_error + 0.01
    assert found.lower_at_bound == (lower == 0.0)


@pytest.mark.parametrize("n", [0, 3, 8])
def test_p_values_are_exact_within_their_errors(n):
    found = paritas.interval_toys(workspace(n), n=10000, seed=2, level=1.0 - CONFIDENCE, rtol=0.1)
    tests = [test for test in found.scan if test.mu > 0.0]
    pulls = [(test.CLsb - exact_p(n, test.mu)) / test.CLsb_error for test in tests]
    assert len(pulls) >= 4 and max(map(abs, pulls)) < 4.0, pulls


def test_intervals_cover_a_gaussian_as_its_quantiles():
    """Many counts, far from the bound: t is chi-squared, and the interval the asymptotic one."""
    found = paritas.interval_toys(workspace(10000), n=4000, seed=3, level=0.3173)
    width = math.sqrt(10000)
    assert found.mu_hat == pytest.approx(9997.0) and found.bound_widened
    assert found.upper - found.mu_hat == pytest.approx(width, rel=0.05)
    assert found.mu_hat - found.lower == pytest.approx(width, rel=0.05)


def test_a_store_is_resumed_and_the_program_gives_the_same_bits(tmp_path):
    path, store = tmp_path / "one.json", tmp_path / "toys.db"
    path.write_text(json.dumps(workspace(6)))
    call = [PROGRAM, "interval", path, "--level", "0.1", "--ntoys", "500", "--rtol", "0.1", "--json"]
    first = json.loads(subprocess.run([*call, "--store", store], capture_output=True, check=True).stdout)
    again = json.loads(
        subprocess.run([*call, "--store", store, "--resume"], capture_output=True, check=True).stdout
    )
    found = paritas.interval_toys(path, n=500, level=0.1, rtol=0.1)
    assert (first["lower"], first["upper"]) == (found.lower, found.upper)
    assert (again["lower"], again["upper"], again["scan"]) == (found.lower, found.upper, first["scan"])
    assert [test["mu"] for test in first["scan"]] == [test.mu for test in found.scan]
    assert len(paritas.read_store(store)) == 500 * len(first["scan"])


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(paritas.InvalidArgument, match="`level` is 1.5; it must be above 0 and below 1"):
        paritas.interval_toys(workspace(3), level=1.5)
    with pytest.raises(paritas.InvalidArgument, match="`rtol` is 0; it must be above 0 and below 1"):
        paritas.interval_toys(workspace(3), rtol=0.0)


def test_a_value_without_probability_is_outside():
    """No background: 3 events exclude mu = 0. Feldman and Cousins have 0.82 to 8.25 at 95 %."""
    document = workspace(3, upper=50.0)
    del document["channels"][0]["samples"][1]
    found = paritas.interval_toys(document, 3000, level=0.05)
    assert found.converged and found.mu_hat == pytest.approx(3)
    assert found.lower == pytest.approx(0.82, abs=0.1) and found.upper == pytest.approx(8.25, abs=0.3)


def test_toys_too_few_for_the_level_are_refused():
    with pytest.raises(paritas.InvalidArgument, match="draw at least 10"):
        paritas.interval_toys(workspace(5), 9, level=0.1)
    assert paritas.interval_toys(workspace(5), 10, level=0.1).upper_error > 0


def test_a_missing_upper_edge_has_its_reason(tmp_path):
    document, path = workspace(12), tmp_path / "flat.json"
    document["channels"][0]["samples"][0]["data"] = [0.0]  # no signal: every mu is as good
    path.write_text(json.dumps(document))
    found = paritas.interval_toys(document, 100)
    assert math.isnan(found.upper) and found.upper_reason == "none_below_bound"
    told = subprocess.run([PROGRAM, "interval", path, "--ntoys", "100"], capture_output=True, text=True)
    assert f"No upper edge: all values up to {found.upper_bound:.6g} are in the interval" in told.stdout
    assert paritas.interval_toys(workspace(5), 200, rtol=0.5).upper_reason == "found"


def test_progress_is_one_count_over_all_values():
    told = []
    found = paritas.interval_toys(workspace(5), 200, rtol=0.1, progress=lambda *at: told.append(at))
    done, totals = zip(*told)
    assert list(done) == sorted(done) and list(totals[:-1]) == sorted(totals[:-1])
    assert told[-1] == (200 * len(found.scan), 200 * len(found.scan))


def test_toys_of_several_minima_get_many_starts():
    """Backgrounds that grow on both sides of a = 0: with one start a toy, the lower edge was 1.34."""
    mu = {"name": "mu", "type": "normfactor", "data": None}
    even = {"name": "a", "type": "histosys", "data": {"hi_data": [60.0], "lo_data": [60.0]}}
    even["data"]["interpcode"] = "code2c"
    odd = {"name": "a", "type": "normsys", "data": {"hi": 1.6, "lo": 0.5}}
    channels = [
        {
            "name": "c",
            "samples": [
                {"name": "s", "data": [20.0], "modifiers": [mu]},
                {"name": "b", "data": [50.0], "modifiers": [even]},
            ],
        },
        {
            "name": "d",
            "samples": [
                {"name": "s", "data": [20.0], "modifiers": [mu, odd]},
                {"name": "b", "data": [20.0], "modifiers": []},
            ],
        },
    ]
    wide = {"name": "a", "bounds": [[-6, 6]], "constraint": {"type": "gaussian"}, "auxdata": [-0.3]}
    document = {
        "channels": channels,
        "observations": [{"name": "c", "data": [100]}, {"name": "d", "data": [42]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": [{**wide, "sigmas": [2.0]}]}}],
        "version": "1.0.0",
    }
    found = paritas.interval_toys(document, 100, rtol=0.5)
    assert found.several_minima and found.minima.met > 1
