"""Simplified likelihoods: moments by closed forms, models of moments by formulas and spey's numbers."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import paritas
import pytest
from package_support import PROGRAM, SBOTTOM, TWO
from paritas import InvalidArgument, InvalidInput, Model, Workspace


def workspace(background, modifiers, signal, observed, extra=(), parameters=()):
    """One channel SR; extra: further channels, with observations."""
    factor = [{"name": "mu", "type": "normfactor", "data": None}]
    channels = [
        {
            "name": "SR",
            "samples": [
                {"name": "signal", "data": signal, "modifiers": factor},
                {"name": "background", "data": background, "modifiers": modifiers},
            ],
        }
    ]
    observations = [{"name": "SR", "data": observed}]
    for channel, data in extra:
        channels.append(channel)
        observations.append({"name": channel["name"], "data": data})
    config = {"poi": "mu", "parameters": list(parameters)}
    measurements = [{"name": "m", "config": config}]
    return {
        "channels": channels,
        "observations": observations,
        "measurements": measurements,
        "version": "1.0.0",
    }


def histosys(name, nominal, up, down):
    high, low = (np.add(nominal, shift).tolist() for shift in (up, down))
    return {"name": name, "type": "histosys", "data": {"hi_data": high, "lo_data": low}}


BINS = [50.0, 30.0, 12.0]
SIGNAL, OBSERVED = [6.0, 7.0, 3.0], [54.0, 28.0, 15.0]
SHIFTS = [[4.0, -2.0, 1.0], [1.0, 3.0, 2.5]]
LINEAR = workspace(
    BINS,
    [histosys(f"s{k}", BINS, one, np.negative(one)) for k, one in enumerate(SHIFTS)],
    SIGNAL,
    OBSERVED,
)


# ---- moments ----


def test_without_uncertainties_the_model_is_exact():
    full = Model.from_workspace(workspace(BINS, [], SIGNAL, OBSERVED))
    assert not full.moments()["covariance"].any()
    for form in ("linear", "quadratic"):
        made = full.simplify(form=form).model().upper_limit()
        assert made.limit_obs == pytest.approx(full.upper_limit().limit_obs, rel=1e-9)
        assert made.limit_exp == pytest.approx(full.upper_limit().limit_exp, rel=1e-9)


def test_a_linear_model_is_exact():
    full = Model.from_workspace(LINEAR)
    found = full.moments()
    assert found["background"] == pytest.approx(BINS)
    assert found["covariance"] == pytest.approx(np.transpose(SHIFTS) @ SHIFTS, abs=1e-10)
    assert found["third_moments"] == pytest.approx(0.0, abs=1e-9)
    assert found["signal"] == pytest.approx(SIGNAL)
    made = paritas.simplify(LINEAR).model()
    assert made.parameter_count == 3  # two shifts of three bins
    assert made.upper_limit().limit_obs == pytest.approx(full.upper_limit().limit_obs, rel=1e-6)
    assert made.upper_limit().limit_exp == pytest.approx(full.upper_limit().limit_exp, rel=1e-6)
    assert made.significance().Z == pytest.approx(full.significance().Z, rel=1e-6)


def test_a_parabola_has_its_third_moment():
    up, down = np.array([5.0, 3.0, 2.0]), np.array([-3.0, -3.0, -1.0])
    document = workspace(BINS, [histosys("s", BINS, up, down)], SIGNAL, OBSERVED)
    slope, bend = (up - down) / 2.0, (up + down) / 2.0
    found = Model.from_workspace(document, histosys_code=2).moments()
    assert found["covariance"] == pytest.approx(np.outer(slope, slope), rel=1e-9)
    assert found["third_moments"] == pytest.approx(6.0 * slope**2 * bend, rel=1e-9)


def test_draws_have_the_moments_of_a_lognormal():
    """Means, variances and third moments of b k^z."""
    factor = {"name": "n", "type": "normsys", "data": {"hi": 1.2, "lo": 1 / 1.2}}
    full = Model.from_workspace(workspace([40.0], [factor], [5.0], [41.0]), normsys_code=1)
    found, width = full.moments(by="draws", draws=200000), np.log(1.2)
    growth = np.exp(width**2)
    mean, variance = 40.0 * np.sqrt(growth), 1600.0 * growth * (growth - 1.0)
    third = (growth + 2.0) * np.sqrt(growth - 1.0) * variance**1.5
    assert found["background"][0] == pytest.approx(mean, abs=5.0 * np.sqrt(variance / 2e5))
    assert found["covariance"][0, 0] == pytest.approx(variance, rel=5.0 * np.sqrt(2.6 / 2e5))
    assert found["third_moments"][0] == pytest.approx(third, rel=0.1)


def test_draws_depend_on_their_seed_alone():
    first, same, other = (
        paritas.moments(TWO, by="draws", draws=500, seed=seed)["covariance"] for seed in (1, 1, 2)
    )
    assert (first == same).all() and (first != other).any()


def test_draws_agree_with_derivatives():
    derived = paritas.moments(LINEAR)
    drawn = paritas.moments(LINEAR, by="draws", draws=100000)
    scale = np.sqrt(np.diag(derived["covariance"]))
    assert np.abs(drawn["background"] - derived["background"]).max() < 0.02 * scale.max()
    assert np.abs(drawn["covariance"] - derived["covariance"]).max() < 0.02 * scale.max() ** 2


def test_control_channels_measure_the_background():
    """Errors of yields after a fit without the kept channel."""
    free = [{"name": "k", "type": "normfactor", "data": None}]
    control = (
        {"name": "CR", "samples": [{"name": "background", "data": [200.0], "modifiers": free}]},
        [220.0],
    )
    scale = {"name": "n", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    document = workspace(BINS, [*free, scale], SIGNAL, OBSERVED, [control])
    found = paritas.moments(document, control=["C*"])
    assert found["channels"] == [{"name": "SR", "bins": 3}]
    after = Model.from_workspace(document, masks=["SR"]).predict(fixed={"mu": 0.0})["SR"]
    assert found["background"] == pytest.approx(after.postfit, rel=1e-9)
    assert np.sqrt(np.diag(found["covariance"])) == pytest.approx(after.error, rel=1e-9)
    with pytest.raises(InvalidArgument, match="'k': nothing constrains it; name `control` channels"):
        paritas.moments(document)
    with pytest.raises(InvalidArgument, match='no channel matches "VR"'):
        paritas.moments(document, control=["VR"])
    with pytest.raises(InvalidArgument, match="leaves no channel"):
        paritas.moments(document, control=["*"])


def test_postfit_moments_are_of_the_fit_to_all_channels():
    full = Model.from_workspace(SBOTTOM / "BkgOnly.json", SBOTTOM / "patch.sbottom_900_250_60.json")
    found, after = full.moments(postfit=True), full.predict(fixed={"mu_SIG": 0.0}).channels
    yields, errors = (np.concatenate([getattr(one, key) for one in after]) for key in ("postfit", "error"))
    assert found["background"] == pytest.approx(yields, rel=1e-9)
    assert np.sqrt(np.diag(found["covariance"])) == pytest.approx(errors, rel=1e-6)


# ---- models of moments ----

#: spey 0.2.7, default.correlated_background and default.third_moment_expansion: differences of the profiled
#: negative log-likelihood between mu = 2 and mu = 0.5
PUBLISHED = {
    "background": [24.0, 61.5, 38.0],
    "covariance": [[14.0, 5.5, -3.0], [5.5, 30.0, 4.0], [-3.0, 4.0, 11.0]],
    "third_moments": [18.0, -20.0, 12.0],
    "observed": [27.0, 55.0, 41.0],
    "signal": [4.0, 6.5, 3.0],
}
SPEY = {"linear": 1.6607416048, "quadratic": 1.6052436645}


@pytest.mark.parametrize("form", SPEY)
def test_profiles_are_speys(form):
    made = Workspace.from_moments(PUBLISHED, form).model()
    high, low = (made.fit(fixed={"mu": mu}).twice_nll for mu in (2.0, 0.5))
    assert (high - low) / 2.0 == pytest.approx(SPEY[form], abs=2e-6)


def test_the_expansion_has_the_moments():
    full = Model.from_workspace(SBOTTOM / "BkgOnly.json", SBOTTOM / "patch.sbottom_900_250_60.json")
    found = full.moments(control=["CR*"], by="draws", draws=5000)
    a, b, c = (found["expansion"][name] for name in "abc")
    rho = found["expansion"]["correlation"]
    assert a + c == pytest.approx(found["background"], rel=1e-12)
    second = np.outer(b, b) * rho + 2.0 * np.outer(c, c) * rho**2
    assert second == pytest.approx(found["covariance"], rel=1e-9, abs=1e-9)
    assert 6.0 * b**2 * c + 8.0 * c**3 == pytest.approx(found["third_moments"], rel=1e-9)


def test_rates_are_the_expansion():
    """At any point of u: theta = L u has the correlation, and rates follow from it."""
    moments = {**PUBLISHED, "third_moments": [18.0, 0.0, 12.0]}
    made = Workspace.from_moments(moments, "quadratic").model()
    names = [name for name in made.parameter_names if name != "mu"]
    point = dict.fromkeys(names, 0.0)
    nominal = made.expected_data(_point(made, point))[:3]
    columns = []
    for name in names:
        rates = [made.expected_data(_point(made, {**point, name: u}))[:3] for u in (1.0, -1.0)]
        columns.append((rates[0] - rates[1]) / 2.0)
    slope = np.array(columns).T  # b times L
    b = np.sqrt((slope**2).sum(axis=1))
    assert nominal[1] == pytest.approx(61.5) and b[1] == pytest.approx(np.sqrt(30.0))
    bend = [6.0 * v - 4.0 * c**2 for v, c in zip((14.0, 11.0), np.subtract([24.0, 38.0], nominal[[0, 2]]))]
    assert np.subtract([24.0, 38.0], nominal[[0, 2]]) * bend == pytest.approx([18.0, 12.0])


def _point(model, values):
    return [0.0 if name == "mu" else values[name] for name in model.parameter_names]


def test_all_bins_of_the_common_form_move_together():
    made = Workspace.from_moments(PUBLISHED, "common").to_dict()["channels"][0]["samples"][1]
    (shift,) = made["modifiers"]
    assert (made["name"], shift["name"]) == ("Bkg", "totalError")
    assert shift["data"]["hi_data"] == pytest.approx(np.add(PUBLISHED["background"], np.sqrt([14, 30, 11])))


def test_pyhf_reads_the_linear_form():
    pyhf = pytest.importorskip("pyhf")
    made = Workspace.from_moments(PUBLISHED)
    model = pyhf.Workspace(made.to_dict()).model()
    ours = made.model()
    assert model.config.par_order == [*dict.fromkeys(name.split("[")[0] for name in ours.parameter_names)]
    point, data = list(ours.suggested_init), list(ours.data)
    point[0] = 0.7
    assert -2.0 * float(model.logpdf(point, data)[0]) == pytest.approx(ours.twice_nll(point), rel=1e-9)


def test_what_the_expansion_does_not_reach_is_said(tmp_path):
    moments = tmp_path / "moments.json"
    moments.write_text(json.dumps({**PUBLISHED, "third_moments": [500.0, 0.0, 0.0]}))
    done = run("simplify", moments, "--to", "quadratic")
    assert done.returncode == 0 and "third moments of 1 bins are larger" in done.stderr


@pytest.mark.parametrize(
    "change, words",
    [
        ({"observed": [1.0]}, "observed: has 1 numbers, but `background` has 3"),
        ({"observed": [1.0, "a", 2.0]}, "must be a number"),
        ({"background": 3.0}, "background: must be an array"),
        ({"covariance": [[1.0, 0.0]]}, "covariance: must be as many rows"),
        ({"covariance": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "[1][0]: is more than the variances"),
        ({"covariance": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "[1][0]: must be symmetric"),
        ({"covariance": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]}, "covariance[0][0]: is a variance"),
        ({"channels": [{"name": "A", "bins": 2.5}]}, "channels: must be an array"),
        ({"channels": [{"name": "A", "bins": 2}]}, "channels: their bins must be as many"),
        ({"poi": 3}, "poi: must be a name"),
    ],
)
def test_wrong_moments_are_refused(change, words):
    with pytest.raises(InvalidInput) as refusal:
        Workspace.from_moments({**PUBLISHED, **change})
    assert words in str(refusal.value)


def test_correlations_above_one_by_rounding_are_one():
    """One shift of all bins, in a table of three digits: the first correlation is 1.003."""
    shift = np.array([3.7, 5.51, 2.0])
    exact = {
        "observed": [27, 55, 12],
        "background": [24.0, 61.5, 10.0],
        "signal": [4.0, 6.5, 3.0],
        "covariance": np.outer(shift, shift).tolist(),
    }
    rounded = {**exact, "covariance": [[13.7, 20.4, 7.4], [20.4, 30.2, 11.0], [7.4, 11.0, 4.0]]}
    limits = [Workspace.from_moments(one).model().upper_limit().limit_obs for one in (exact, rounded)]
    assert limits[1] == pytest.approx(limits[0], rel=5e-3)


def test_a_quadratic_form_needs_third_moments():
    given = {name: rows for name, rows in PUBLISHED.items() if name != "third_moments"}
    assert Workspace.from_moments(given).model().main_count == 3
    with pytest.raises(InvalidInput, match="third_moments: is missing"):
        Workspace.from_moments(given, "quadratic")


# ---- the program ----


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=100)


def test_the_program_says_the_same(tmp_path):
    moments, made = tmp_path / "moments.json", tmp_path / "made.json"
    assert run("simplify", TWO, "--to", "moments", "-o", moments).returncode == 0
    assert json.loads(moments.read_text())["covariance"] == paritas.moments(TWO)["covariance"].tolist()
    for source in (TWO, moments):
        assert run("simplify", source, "-o", made).returncode == 0
        assert json.loads(made.read_text()) == paritas.simplify(TWO).to_dict()
    moments.write_text('{"covariance": [[1.0]]}')
    done = run("simplify", moments)
    assert done.returncode == 3 and "moments.json: background: must be an array" in done.stderr


# ---- many signals ----


@pytest.mark.parametrize("document", [LINEAR, "simplified"])
def test_signals_have_the_limits_of_their_workspaces(document):
    if document == "simplified":
        document = paritas.simplify(LINEAR, form="quadratic").to_dict()
    rates = np.array([[6.0, 7.0, 3.0], [1.0, 2.0, 4.0], [0.5, 0.0, 9.0]])
    limits = paritas.signals(document, rates, "limit")
    tests = paritas.signals(document, rates, mu=[0.5, 1.0, 1.5])
    statistics = paritas.signals(document, rates, "q", mu=0.8)
    for k, mu in enumerate((0.5, 1.0, 1.5)):
        copy = json.loads(json.dumps(document))
        copy["channels"][0]["samples"][0]["data"] = rates[k].tolist()
        alone = Model.from_workspace(copy)
        limit, test = alone.upper_limit(), alone.hypotest(mu)
        assert limits[k] == pytest.approx([limit.limit_obs, *limit.limit_exp], rel=1e-6)
        assert tests[k] == pytest.approx([test.CLs_obs, *test.CLs_exp], rel=1e-6)
        assert statistics[k] == pytest.approx(alone.hypotest(0.8).q, abs=1e-7)


def test_signals_come_in_chunks(tmp_path):
    rates = np.multiply.outer(np.linspace(0.5, 2.0, 23), SIGNAL)
    whole = paritas.signals(LINEAR, rates, "limit", curve=0)
    out = np.lib.format.open_memmap(tmp_path / "limits.npy", "w+", shape=(23,))
    assert paritas.signals(LINEAR, rates, "limit", curve=0, chunk=4, out=out) is out
    assert (whole == np.load(tmp_path / "limits.npy")).all()


def test_wrong_signals_are_refused():
    with pytest.raises(InvalidArgument, match="rates: an array"):
        paritas.signals(TWO, [1.0, 2.0])
    with pytest.raises(InvalidArgument, match="the last dimension is 2"):
        paritas.signals(TWO, [[1.0, 2.0, 3.0]])
    with pytest.raises(InvalidArgument, match="answer 'Z'"):
        paritas.signals(TWO, [[1.0, 2.0]], "Z")
