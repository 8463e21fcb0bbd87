"""The package gives the bits that the program gives, on every analysis at hand."""

import sqlite3
import subprocess

import numpy as np
import pytest
from package_support import ANALYSES, PROGRAM, WITH_POI, assert_same, model_of, program

import paritas


@pytest.mark.parametrize("name", ANALYSES)
def test_fit_has_the_program_s_bits(name):
    model, theirs = model_of(name), program("fit", name, "--covariance")
    ours = model.fit()
    assert (ours.status, ours.iterations, ours.poi) == (theirs["status"], theirs["iterations"], theirs["poi"])
    for key in ("twice_nll", "nll", "edm", "projected_gradient"):
        assert_same(getattr(ours, key), theirs[key], key)
    assert ours.names == [p["name"] for p in theirs["parameters"]]
    assert_same(ours.values, [p["value"] for p in theirs["parameters"]], "values")
    assert_same(ours.errors, [p["error"] for p in theirs["parameters"]], "errors")
    assert ours.states == [p["state"] for p in theirs["parameters"]]
    assert_same(ours.covariance, theirs["covariance"], "covariance")


@pytest.mark.parametrize("name", ["two_bins", "displaced_leptons"])
@pytest.mark.parametrize("minimizer", ["lbfgsb", "de"])
def test_other_minimisers_have_the_program_s_bits(name, minimizer):
    seed = ("--seed", 5) if minimizer == "de" else ()
    model, theirs = model_of(name), program("fit", name, "--minimizer", minimizer, *seed)
    ours = model.fit(minimizer=minimizer, seed=5 if minimizer == "de" else 0)
    assert ours.status == theirs["status"]
    assert_same(ours.values, [p["value"] for p in theirs["parameters"]])


def test_several_starts_are_the_program_s():
    model, theirs = model_of("staus"), program("fit", "staus", "--starts", 8)
    ours = model.fit(starts=8)
    assert (ours.starts.n, ours.starts.converged, ours.starts.best_start) == tuple(
        theirs["starts"][key] for key in ("n", "converged", "best_start")
    )
    assert [count for _, count in ours.starts.minima] == [one["count"] for one in theirs["starts"]["minima"]]
    # the quantile of a normal distribution is another function's
    assert ours.twice_nll == pytest.approx(theirs["twice_nll"], abs=1e-9)


def test_minos_has_the_program_s_bits():
    model = model_of("two_bins")
    theirs = {
        p["name"]: (p["minos_down"], p["minos_up"])
        for p in program("fit", "two_bins", "--minos", "all", "--asimov", 1)["parameters"]
    }
    found = model.minos(data=model.asimov_data(1.0))
    assert set(found) == set(theirs)
    for name, pair in found.items():
        assert_same(list(pair), list(theirs[name]), name)


def check_test(ours, theirs):
    for key in ("mu", "CLs_obs", "CLsb", "CLb", "q", "q_A", "mu_hat", "p0"):
        assert_same(getattr(ours, key), theirs[key], key)
    assert_same(ours.CLs_exp, theirs["CLs_exp"])
    assert ours.status == theirs["status"]


@pytest.mark.parametrize("name", WITH_POI)
@pytest.mark.parametrize("statistic", ["qtilde", "q", "q0"])
def test_hypotest_has_the_program_s_bits(name, statistic):
    check_test(
        model_of(name).hypotest(0.5, test_stat=statistic),
        program("hypotest", name, "--mu", 0.5, "--test-stat", statistic),
    )


def test_tests_of_several_values_are_those_of_each():
    model = model_of("sbottom")
    together = model.hypotest([0.5, 1.0, 2.0])
    assert [one.CLs_obs for one in together] == [model.hypotest(mu).CLs_obs for mu in (0.5, 1.0, 2.0)]


@pytest.mark.parametrize("name", WITH_POI)
def test_limit_has_the_program_s_bits(name):
    ours, theirs = model_of(name).upper_limit(), program("limit", name)
    for key in ("limit_obs", "upper_bound", "bound_widened", "status"):
        assert_same(getattr(ours, key), theirs[key], key)
    assert_same(ours.limit_exp, theirs["limit_exp"])
    assert len(ours.scan) == len(theirs["scan"])
    for one, other in zip(ours.scan, theirs["scan"]):
        check_test(one, other)


@pytest.mark.parametrize("name", WITH_POI)
def test_significance_has_the_program_s_bits(name):
    ours, theirs = model_of(name).significance(), program("significance", name)
    for key in ("p0", "Z", "p0_exp", "Z_exp", "q0", "mu_hat", "status"):
        assert_same(getattr(ours, key), theirs[key], key)


@pytest.mark.parametrize("name", WITH_POI)
def test_scan_has_the_program_s_bits(name):
    model = model_of(name)
    theirs = program("scan", name, "--start", 0, "--stop", 2, "--points", 5)
    ours = model.scan((theirs["parameters"][0], [point["mu"] for point in theirs["points"]]))
    assert_same(ours.q, [point["q"] for point in theirs["points"]])
    assert_same(ours.twice_nll, [point["twice_nll"] for point in theirs["points"]])
    assert ours.status.tolist() == [point["status"] for point in theirs["points"]]
    assert (ours.best_status, ours.best_twice_nll) == (theirs["status"], theirs["twice_nll_min"])
    assert_same(ours.best, theirs["best"])


def test_scan_of_two_parameters_has_the_program_s_bits():
    theirs = program("scan", "two_bins", "--par", "mu=0:2:3", "--par", "uncorr_bkguncrt[0]=0.9:1.1:4")
    ours = model_of("two_bins").scan(
        ("mu", np.linspace(0, 2, 3)),
        ("uncorr_bkguncrt[0]", [point["values"][1] for point in theirs["points"][:4]]),
    )
    assert_same(ours.values, [point["values"] for point in theirs["points"]])
    assert_same(ours.q, [point["q"] for point in theirs["points"]])


@pytest.mark.parametrize("name", ["two_bins", "sbottom", "displaced_leptons", "ttZ"])
def test_ranking_has_the_program_s_bits(name):
    ours, theirs = model_of(name).ranking(), program("ranking", name, "--top", 1000)
    entries = theirs.get("entries") or theirs["ranking"]
    assert ours.names == [entry["name"] for entry in entries]
    assert ours.status.tolist() == [entry["status"] for entry in entries]
    for key in ("pull", "constraint", "impact_up", "impact_down", "prefit_up", "prefit_down"):
        assert_same(getattr(ours, key), [entry[key] for entry in entries], key)


@pytest.mark.parametrize("name", ANALYSES)
def test_goodness_of_fit_has_the_program_s_bits(name):
    ours, theirs = model_of(name).goodness_of_fit(), program("gof", name)
    for key in ("twice_nll", "saturated", "statistic", "ndof", "p", "status"):
        assert_same(getattr(ours, key), theirs[key], key)


@pytest.mark.parametrize("name", ["two_bins", "sbottom", "displaced_leptons", "ttZ", "staus"])
def test_predictions_have_the_program_s_bits(name):
    ours, theirs = model_of(name).predict(), program("predict", name)
    assert (ours.fit.status, ours.fit.twice_nll) == (theirs["status"], theirs["twice_nll"])
    assert [channel.name for channel in ours.channels] == [channel["name"] for channel in theirs["channels"]]
    for channel, other in zip(ours.channels, theirs["channels"]):
        for key in ("prefit", "postfit", "error", "prefit_error", "data"):
            assert_same(getattr(channel, key), other[key], f"{channel.name} {key}")
        assert_same(channel.total_error, other["total"]["error"], channel.name)
        assert_same(channel.prefit_total_error, other["total"]["prefit_error"], channel.name)


@pytest.mark.parametrize("name", ANALYSES)
def test_asimov_data_are_the_program_s(name):
    if name not in WITH_POI:
        pytest.skip("no parameter of interest")
    model = model_of(name)
    theirs = program("fit", name, "--asimov", 1)
    assert model.fit(data=model.asimov_data(1.0)).twice_nll == theirs["twice_nll"]


# ---- toys ----


@pytest.mark.parametrize("name", ["two_bins", "sbottom"])
def test_toys_have_the_program_s_bits(name):
    ours, theirs = (
        model_of(name).fit_toys(n=60, seed=3, errors=True),
        program("toys", name, "--ntoys", 60, "--seed", 3, "--errors"),
    )
    for key in ("generated", "mean", "rms", "n", "n_pulls", "pull_mean", "pull_rms"):
        assert_same(getattr(ours.summary, key), [p[key] for p in theirs["parameters"]], key)
    assert {status: count for status, count in ours.tally.counts.items() if count} == {
        status: count for status, count in theirs["counts"].items() if count
    }
    assert (ours.tally.fitted, ours.tally.iterations) == (theirs["fitted"], theirs["iterations"])


def test_tests_by_toys_have_the_program_s_bits():
    ours, theirs = (
        model_of("two_bins").hypotest_toys(1.0, 300, 7),
        program("hypotest-toys", "two_bins", "--ntoys", 300, "--seed", 7),
    )
    for key in (
        "mu",
        "CLs_obs",
        "CLs_obs_error",
        "CLs_exp",
        "CLs_exp_error",
        "CLsb",
        "CLsb_error",
        "CLb",
        "CLb_error",
        "q",
        "mu_hat",
        "p0",
        "status",
    ):
        assert_same(getattr(ours, key), theirs[key], key)
    observed = model_of("two_bins").significance_toys(300, 7)
    theirs = program("significance", "two_bins", "--calc", "toys", "--ntoys", 300, "--seed", 7)
    for key in (
        "p0",
        "p0_error",
        "Z",
        "Z_error",
        "Z_at_least",
        "p0_exp",
        "p0_exp_error",
        "Z_exp",
        "Z_exp_error",
        "Z_exp_at_least",
    ):
        assert_same(getattr(observed, key), theirs[key], key)


def test_limits_and_goodness_of_fit_by_toys_have_the_program_s_bits():
    model = model_of("two_bins")
    ours, theirs = (
        model.upper_limit_toys(seed=2, rtol=0.2),
        program("limit", "two_bins", "--calc", "toys", "--seed", 2, "--rtol", 0.2),
    )
    for key in (
        "limit_obs",
        "limit_obs_error",
        "limit_exp",
        "limit_exp_error",
        "reached_obs",
        "reached_exp",
        "mu_hat",
        "upper_bound",
        "status",
    ):
        assert_same(getattr(ours, key), theirs[key], key)
    fits, theirs = (
        model.goodness_of_fit_toys(200, 4),
        program("gof", "two_bins", "--toys", "--ntoys", 200, "--seed", 4),
    )
    assert (fits.p, fits.p_error, fits.asymptotic.statistic) == (
        theirs["p_toys"],
        theirs["p_toys_error"],
        theirs["statistic"],
    )


def test_toys_at_a_point_and_around_data_have_the_program_s_bits(tmp_path):
    model = model_of("two_bins")
    point = tmp_path / "point.json"
    point.write_text("[1.5, 1.05, 1.0]")
    ours = model.fit_toys([1.5, 1.05, 1.0], 100, fixed={"uncorr_bkguncrt[1]": 0.9})
    theirs = program("toys", "two_bins", "--point", point, "--ntoys", 100, "--fix", "uncorr_bkguncrt[1]=0.9")
    assert_same(ours.summary.mean, [p["mean"] for p in theirs["parameters"]])
    data = tmp_path / "data.json"
    data.write_text("[60, 70, 100, 36]")
    around, theirs = (
        model.fit_toys(n=100, expected=[60, 70, 100, 36]),
        program("toys", "two_bins", "--expected-data", data, "--ntoys", 100),
    )
    assert_same(around.summary.mean, [p["mean"] for p in theirs["parameters"]])
    assert np.isnan(around.summary.generated).all()


def test_a_store_goes_from_program_to_package_and_back(tmp_path):
    """One run in four shards, two made by either and one of each begun by the other, pooled by both: the rows
    of the run in one piece."""
    model = paritas.Model.from_workspace(ANALYSES["two_bins"][0], normsys_code=1, clip_bin=0.001)
    options = ["--ntoys", 200, "--seed", 9, "--normsys-code", 1, "--clip-bin", 0.001]
    stores = [tmp_path / f"{k}.db" for k in range(1, 5)]
    for k in (1, 2):
        program("hypotest-toys", "two_bins", *options, "--shard", f"{k}/4", "--store", stores[k - 1])
    for k in (3, 4):
        model.hypotest_toys(1.0, 200, 9, shard=(k, 4), store=stores[k - 1])
    again = model.hypotest_toys(1.0, 200, 9, shard=(1, 4), store=stores[0], resume=True)
    assert again.tally.fitted == 0 and len(again.toys) == 100
    assert (
        program("hypotest-toys", "two_bins", *options, "--shard", "3/4", "--store", stores[2], "--resume")[
            "fitted"
        ]
        == 0
    )
    paritas.merge(stores, tmp_path / "all.db")
    whole = model.hypotest_toys(1.0, 200, 9)
    pooled = paritas.hypotest_of_store(tmp_path / "all.db")
    assert (pooled.CLs_obs, pooled.q, pooled.n_tested) == (whole.CLs_obs, whole.q, 200)
    order = np.lexsort((whole.toys["toy"], whole.toys["hypothesis"]))
    assert (pooled.toys == whole.toys[order]).all()
    connection = sqlite3.connect(tmp_path / "all.db")
    assert connection.execute("SELECT count(*) FROM toys").fetchone()[0] == 400
    connection.close()


def test_a_pool_without_a_shard_is_refused_as_the_program_does(tmp_path):
    model = model_of("two_bins")
    stores = [tmp_path / f"{k}.db" for k in (1, 3)]
    for k, store in zip((1, 3), stores):
        model.hypotest_toys(1.0, 60, 9, shard=(k, 3), store=store)
    with pytest.raises(paritas.InvalidInput) as refused:
        paritas.merge(stores, tmp_path / "all.db")
    assert not (tmp_path / "all.db").exists()
    done = subprocess.run(
        [PROGRAM, "merge", *stores, "-o", tmp_path / "theirs.db"], capture_output=True, text=True
    )
    assert str(refused.value) == (
        "the pool is no whole run: shard 2/3 missing or incomplete; give all, or `partial`"
    )
    assert done.stderr == f"paritas: {refused.value}\n".replace("`partial`", "--partial")
    paritas.merge(stores, tmp_path / "all.db", partial=True)
    assert paritas.hypotest_of_store(tmp_path / "all.db").n_tested == 40


def test_a_store_of_another_run_is_refused(tmp_path):
    model = model_of("two_bins")
    model.hypotest_toys(1.0, 20, 1, store=tmp_path / "a.db")
    with pytest.raises(paritas.Error, match="seed"):
        model.hypotest_toys(1.0, 20, 2, store=tmp_path / "a.db", resume=True)
    with pytest.raises(paritas.Error, match="exists"):
        model.hypotest_toys(1.0, 20, 1, store=tmp_path / "a.db")


def test_weighted_toys_are_the_program_s_and_their_shards_pool_to_the_run(tmp_path):
    model = model_of("two_bins")
    theirs = program("hypotest-toys", "two_bins", "--mu", 3, "--ntoys", 300, "--seed", 5, "--importance")
    ours = model.hypotest_toys(3.0, 300, 5, importance=True)
    assert ours.strengths.tolist() == theirs["strengths"] == pytest.approx([3, 0, 1, 2, 0.3])
    for name in ("CLs_obs", "CLs_obs_error", "CLsb", "CLb", "effective_tested", "effective_other"):
        assert getattr(ours, name) == theirs[name], name
    assert len(ours.toys) == 5 * 300 and len(ours.q_tested) == len(ours.q_other) == 300
    assert abs(ours.toys["weight"].mean() - 1) < 0.2 and ours.CLsb < 1e-6
    for k in (1, 2):
        model.hypotest_toys(3.0, 300, 5, importance=True, shard=(k, 2), store=tmp_path / f"{k}.db")
    paritas.merge([tmp_path / "2.db", tmp_path / "1.db"], tmp_path / "all.db")
    pooled = paritas.hypotest_of_store(tmp_path / "all.db")
    assert pooled.CLs_obs == ours.CLs_obs and pooled.strengths.tolist() == ours.strengths.tolist()
    assert pooled.toys.tobytes() == ours.toys.tobytes()
    given = program(
        "significance", "two_bins", "--calc", "toys", "--importance", "--strength", 2, "--ntoys", 200
    )
    assert given["strengths"] == [0, 1, 2]
    assert model.significance_toys(200, importance=[2.0]).test.strengths.tolist() == [0, 1, 2]
    assert "weight" not in model.hypotest_toys(3.0, 3).toys.dtype.names


def test_a_store_whose_weights_are_none_is_refused(tmp_path):
    store = tmp_path / "a.db"
    model = model_of("two_bins")
    model.hypotest_toys(3.0, 300, 5, importance=True, store=store)
    reasons = (
        (-1.0, "weight is -1: .* from 0"),
        (6.0, "weights are from 0 to 5"),
        (None, "weight is nothing: "),
    )
    for wrong, reason in reasons:
        connection = sqlite3.connect(store)
        connection.execute("UPDATE toys SET weight = ? WHERE toy = 7 AND hypothesis = 3", (wrong,))
        connection.commit()
        connection.close()
        with pytest.raises(paritas.InvalidInput, match=f"a.db: toy 7 .*{reason}"):
            paritas.hypotest_of_store(store)
        with pytest.raises(paritas.InvalidInput, match=f"a.db: toy 7 .*{reason}"):
            model.hypotest_toys(3.0, 300, 5, importance=True, store=store, resume=True)


def test_weights_that_degenerate_are_an_error():
    with pytest.raises(paritas.NotConverged, match="weights degenerate"):
        model_of("two_bins").hypotest_toys(4.0, 50, importance=[])
    with pytest.raises(paritas.InvalidArgument, match="importance"):
        model_of("two_bins").hypotest_toys(0.0, 50, importance=True)
