"""Methods of other programs: data of toys in files, Kolmogorov-Smirnov and Anderson-Darling, compatibility of
channels. Each answer beside an evaluation of its own."""

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from package_support import PROGRAM, TWO, model_of, program

import paritas

CARDS = Path(__file__).parents[1] / "datacard"


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


# ---- data of toys ----


def test_data_of_toys_come_back_with_their_bits(tmp_path):
    for name in ("two_bins", "sbottom"):
        model = model_of(name)
        data = model.generate(n=4, seed=11)
        data.save(tmp_path / "toys.json")
        read = model.read_data(tmp_path / "toys.json")
        assert read.rows.tobytes() == data.rows.tobytes() and read.point.tobytes() == data.point.tobytes()
        assert (read.first, read.seed, read.fix_aux, read.expected, read.status) == (
            0,
            11,
            False,
            False,
            "converged",
        )
        for row, other in zip(data.rows, read.rows):
            one, two = model.fit(data=row), model.fit(data=other)
            assert one.row.tobytes() == two.row.tobytes() and one.values.tobytes() == two.values.tobytes()


@pytest.mark.parametrize("name", ["two_bins", "ttZ"])
def test_generated_data_are_those_of_the_toys_that_are_fitted(name):
    model = model_of(name)
    data, toys = model.generate(n=20, seed=3), model.fit_toys(n=20, seed=3)
    fits = model.fit_batch(data.rows)
    assert np.allclose(fits.twice_nll, toys.twice_nll, atol=1e-7)
    assert data.point == pytest.approx(model.fit().values, abs=1e-5)
    part = model.generate(n=20, seed=3, shard=(2, 4))
    assert part.first == 5 and part.rows.tobytes() == data.rows[5:10].tobytes()


def test_the_program_writes_and_reads_the_same_files(tmp_path):
    model, path = model_of("two_bins"), tmp_path / "toys.json"
    path.write_text(run("generate", TWO, "--ntoys", 3, "--seed", 7))
    data = model.generate(n=3, seed=7)
    assert model.read_data(path).rows.tobytes() == data.rows.tobytes()
    answers = program("fit", "two_bins", "--data", path)["answers"]
    assert [one["toy"] for one in answers] == [0, 1, 2]
    for toy, answer in enumerate(answers):
        alone = program("fit", "two_bins", "--data", path, "--toy", toy)
        fit = model.fit(data=data.rows[toy])
        assert alone["twice_nll"] == answer["twice_nll"] == fit.twice_nll
        assert [one["value"] for one in answer["parameters"]] == list(fit.values)
    limit = program("limit", "two_bins", "--data", path, "--toy", 1)
    assert limit["limit_obs"] == model.upper_limit(data=data.rows[1]).limit_obs
    z = program("significance", "two_bins", "--data", path)["answers"][2]["Z"]
    assert z == model.significance(data=data.rows[2]).Z
    gof = program("gof", "two_bins", "--data", path, "--toy", 2)
    assert gof["statistic"] == model.goodness_of_fit(data=data.rows[2]).statistic


def test_expected_data_need_no_look_at_the_data():
    model = model_of("two_bins")
    point = model.point({"mu": 0.0})
    prefit = model.expected_data(point)
    data = model.generate(point, only_expected=True)
    assert data.expected and data.rows.tobytes() == prefit.tobytes()
    text = json.loads(run("generate", TWO, "--at-start", "--expected", "--fix", "mu=0"))
    assert text["toys"][0]["main"] + text["toys"][0]["aux"] == list(prefit)
    blind = program("limit", "two_bins", "--asimov", 0, "--prefit")
    assert blind["limit_exp"] == list(model.upper_limit(data=prefit).limit_exp)
    assert blind["limit_obs"] == pytest.approx(blind["limit_exp"][2], rel=1e-6)


WRONG = [
    ({"toys": []}, "toys is an array, not an array of data"),
    ({"channels": {"other": 2}}, "the data are of another model"),
    ({"channels": {}}, "the data are of another model: this one has 1 channels"),
    ({"parameters": {"mu": 1.0}}, "not the 3 parameters of the model"),
    ({"seed": -1}, "seed is a number, not a whole number"),
    ({"seed": 2**64}, "seed is a number, not a whole number of 64 bits"),
    ({"toys": [{"main": [1.0, 2.0], "aux": [1.0, 2.0]}]}, "toys[0].toy is missing"),
    ({"toys": [{"toy": 0, "main": [1.0], "aux": [1.0, 2.0]}]}, "toys[0].main has 1 numbers; the model has 2"),
    ({"toys": [{"toy": 0, "main": [1.0, -2.0], "aux": [1.0, 2.0]}]}, "toys[0].main[1] is -2"),
]


@pytest.mark.parametrize("change,reason", WRONG)
def test_a_file_of_wrong_data_is_refused_with_its_place(tmp_path, change, reason):
    document = {**json.loads(run("generate", TWO, "--ntoys", 1)), **change}
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    with pytest.raises(paritas.InvalidInput) as raised:
        model_of("two_bins").read_data(path)
    assert reason in str(raised.value) and "wrong.json" in str(raised.value)


def test_options_of_data_that_make_no_sense_are_refused(tmp_path):
    path = tmp_path / "toys.json"
    path.write_text(run("generate", TWO, "--ntoys", 2))
    assert "no toy 2: it has 2" in run("fit", TWO, "--data", path, "--toy", 2, code=3)
    assert "--toy needs --data" in run("fit", TWO, "--toy", 2, code=2)
    assert "--prefit needs --asimov" in run("fit", TWO, "--prefit", code=2)
    assert "--data and --asimov" in run("fit", TWO, "--data", path, "--asimov", 1, code=2)
    assert "give no --point" in run("generate", TWO, "--at-start", "--point", path, code=2)


# ---- goodness of fit ----


def distances(model, data, values):
    """KS and AD of channels, summed."""
    expected, ks, ad = model.expected_data(values), 0.0, 0.0
    for channel in model.channels:
        n, rate = data[channel.slice], expected[channel.slice]
        if n.sum() == 0:
            ks, ad = ks - 1, ad - 1
            continue
        f, g = np.cumsum(n) / n.sum(), np.cumsum(rate) / rate.sum()
        ks += np.abs(f - g).max()
        inside = slice(0, len(g) - 1)
        steps = np.diff(g, prepend=0.0)
        ad += (n.sum() * (f - g) ** 2 * steps)[inside] @ (1 / (g * (1 - g))[inside])
    return {"ks": ks, "ad": ad}


@pytest.mark.parametrize("name", ["two_bins", "sbottom", "ttZ"])
def test_ks_and_ad_are_those_of_an_evaluation_in_numpy(name):
    model = model_of(name)
    gof, best = model.goodness_of_fit(), model.fit()
    wanted = distances(model, model.data, best.values)
    assert gof.ks == pytest.approx(wanted["ks"], abs=1e-9)
    assert gof.ad == pytest.approx(wanted["ad"], abs=1e-8)


@pytest.mark.parametrize("algo", ["ks", "ad"])
@pytest.mark.parametrize("name", ["two_bins", "ttZ"])
def test_p_values_of_ks_and_ad_are_parts_of_the_toys(name, algo):
    model, n = model_of(name), 200
    observed = distances(model, model.data, model.fit().values)[algo]
    data = model.generate(n=n, seed=5).rows
    fits = model.fit_batch(data)
    toys = np.array([distances(model, row, values)[algo] for row, values in zip(data, fits.values)])
    found = model.goodness_of_fit_toys(n=n, seed=5, algo=algo)
    assert found.p_toys == np.mean(toys >= observed - 1e-6)
    assert getattr(found.asymptotic, algo) == pytest.approx(observed, abs=1e-7)
    assert program("gof", name, "--algo", algo, "--ntoys", n, "--seed", 5)["p_toys"] == found.p_toys


def test_a_store_of_ks_is_not_one_of_the_saturated_model(tmp_path):
    model, path = model_of("two_bins"), tmp_path / "gof.db"
    whole = model.goodness_of_fit_toys(n=300, seed=5, algo="ks")
    model.goodness_of_fit_toys(n=300, seed=5, algo="ks", store=path)
    again = model.goodness_of_fit_toys(n=300, seed=5, algo="ks", store=path, resume=True)
    assert again.p_toys == whole.p_toys and again.tally.fitted == 0
    with pytest.raises(paritas.InvalidArgument, match="algo"):
        model.goodness_of_fit_toys(n=300, seed=5, store=path, resume=True)


def test_a_channel_without_events_counts_minus_one():
    spec = json.loads(TWO.read_text())
    other = json.loads(json.dumps(spec["channels"][0]))
    other["name"] = "empty"
    other["samples"] = [{"name": "b", "data": [0.1, 0.2], "modifiers": []}]
    spec["channels"].append(other)
    spec["observations"].append({"name": "empty", "data": [0.0, 0.0]})
    alone = paritas.goodness_of_fit(str(TWO))
    both = paritas.goodness_of_fit(spec)
    assert both.ks == pytest.approx(alone.ks - 1) and both.ad == pytest.approx(alone.ad - 1)


# ---- compatibility of channels ----


def counting(observed, sigma=None):
    """Channels of 10 signal events on a background of 20."""
    modifiers = (
        [{"name": "xs", "type": "normsys", "data": {"hi": 1 + sigma, "lo": 1 - sigma}}] if sigma else []
    )
    channels = [
        {
            "name": f"bin_{k}",
            "samples": [
                {
                    "name": "signal",
                    "data": [10.0],
                    "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                },
                {"name": "background", "data": [20.0], "modifiers": modifiers},
            ],
        }
        for k in range(len(observed))
    ]
    return {
        "channels": channels,
        "observations": [{"name": f"bin_{k}", "data": [float(n)]} for k, n in enumerate(observed)],
        "measurements": [
            {
                "name": "m",
                "config": {
                    "poi": "mu",
                    "parameters": [{"name": "mu", "inits": [1.0], "bounds": [[-1.5, 10.0]]}],
                },
            }
        ],
        "version": "1.0.0",
    }


def test_counts_have_their_closed_form():
    n = np.array([25.0, 38.0, 31.0])
    found = paritas.compatibility(counting(n))
    rate = n.mean()
    chi2 = 2 * np.sum(rate - n + n * np.log(n / rate))
    assert found.statistic == pytest.approx(chi2, abs=1e-7) and found.ndof == 2
    assert found.mu == pytest.approx((rate - 20) / 10, abs=1e-5)
    assert found.groups.mu == pytest.approx((n - 20) / 10, abs=1e-5)
    assert found.groups.error == pytest.approx(np.sqrt(n) / 10, rel=1e-4)
    assert found.groups.names == ["mu_bin_0", "mu_bin_1", "mu_bin_2"]
    assert found.p == pytest.approx(np.exp(-chi2 / 2), rel=1e-6)
    held = paritas.compatibility(counting(n), fixed={"mu": 1.0})
    assert held.ndof == 3 and held.mu == 1.0
    assert held.statistic == pytest.approx(2 * np.sum(30 - n + n * np.log(n / 30)), abs=1e-7)


def test_rows_are_printed_as_tables():
    model = paritas.Model.from_workspace(counting([25, 38]))
    lines = str(model.compatibility().groups).splitlines()
    assert lines[0] == "One group of channels." and lines[2].split()[:3] == ["parameter", "mu", "error"]
    assert [line.split()[0] for line in lines[3:]] == model.compatibility().groups.names
    assert str(model.ranking()).splitlines()[2].startswith("impacts on mu")


def test_p_values_of_compatibility_are_parts_of_the_toys():
    model, n = paritas.Model.from_workspace(counting([25, 38], sigma=0.1)), 300
    found = model.compatibility_toys(n=n, seed=4)
    data = model.generate(n=n, seed=4)
    split = paritas.Workspace(counting([25, 38], sigma=0.1)).split().model()
    statistic = model.fit_batch(data.rows).twice_nll - split.fit_batch(data.rows).twice_nll
    observed = model.compatibility()
    assert found.asymptotic.statistic == observed.statistic
    assert found.asymptotic.groups.minos_up.tobytes() == observed.groups.minos_up.tobytes()
    assert found.p_toys == np.mean(statistic >= observed.statistic - 1e-8) and found.n == n
    assert found.p_toys == pytest.approx(observed.p, abs=4 * found.p_error + 0.02)
    threads = model.compatibility_toys(n=n, seed=4, threads=1)
    assert threads.p_toys == found.p_toys and threads.tally.counts == found.tally.counts
    held = model.compatibility_toys(n=50, fixed={"mu": 1.0}, data=[30.0, 30.0, 0.0], fix_aux=True)
    assert held.asymptotic.statistic == pytest.approx(0.0, abs=1e-6) and held.p_toys == 1.0
    assert 0.0 <= held.p_error < 0.1 and "compatibility of channels" in held._repr_html_()


def test_two_counts_have_the_exact_p_value():
    """Two equal channels without nuisances: the toys' statistic depends on the counts alone."""
    model = paritas.Model.from_workspace(counting([25, 38]))
    found = model.compatibility_toys(n=20000, seed=1)
    n = np.arange(90)[:, None]
    pmf = np.exp(n * np.log(31.5) - 31.5 - np.array([math.lgamma(k + 1) for k in range(90)])[:, None])

    def statistic(a, b):
        rate = np.maximum((a + b) / 2, 5.0)
        own = [np.maximum(k, 5.0) for k in (a, b)]
        terms = [k * np.log(one / rate) + rate - one for k, one in zip((a, b), own)]
        return 2 * sum(terms)

    exact = np.sum(pmf * pmf.T * (statistic(n, n.T) >= statistic(25.0, 38.0) - 1e-8))
    assert found.p_toys == pytest.approx(exact, abs=4 * found.p_error)


def test_groups_share_a_parameter_and_nuisances_stay_common():
    spec = counting([25, 38, 31, 29], sigma=0.1)
    found = paritas.compatibility(spec, {"first": "bin_0", "rest": "bin_*"})
    assert found.groups.names == ["mu_first", "mu_rest"]
    by_hand = json.loads(json.dumps(spec))
    for k, channel in enumerate(by_hand["channels"]):
        channel["samples"][0]["modifiers"][0]["name"] = "mu_first" if k == 0 else "mu_rest"
    config = by_hand["measurements"][0]["config"]
    config["poi"] = "mu_first"
    config["parameters"] = [{**config["parameters"][0], "name": name} for name in ("mu_first", "mu_rest")]
    model = paritas.Model.from_workspace(by_hand)
    alone = model.fit()
    assert found.twice_nll_separate == pytest.approx(alone.twice_nll, abs=1e-9)
    assert found.twice_nll == pytest.approx(paritas.fit(spec).twice_nll, abs=1e-9)
    for k, name in enumerate(("mu_first", "mu_rest")):
        down, up = model.minos(name)[name]
        assert found.groups.minos_down[k] == pytest.approx(down, rel=1e-4)
        assert found.groups.minos_up[k] == pytest.approx(up, rel=1e-4)
    assert "xs" in paritas.Workspace(spec).split().model().parameter_names


def test_functions_of_the_parameter_are_split_too():
    spec = counting([25, 38])
    for channel in spec["channels"]:
        channel["samples"][0]["modifiers"][0]["name"] = "double"
    spec["measurements"][0]["config"]["functions"] = [
        {"name": "half", "expression": "0.5 * mu"},
        {"name": "double", "expression": "2 * half * mu / mu"},
    ]
    split = paritas.Workspace(spec).split().to_dict()
    config = split["measurements"][0]["config"]
    assert config["pois"] == ["mu_bin_0", "mu_bin_1"]
    assert [one["name"] for one in config["functions"]] == [
        "half_bin_0",
        "half_bin_1",
        "double_bin_0",
        "double_bin_1",
    ]
    assert "mu_bin_1" in config["functions"][1]["expression"]
    found, plain = paritas.compatibility(spec), paritas.compatibility(counting([25, 38]))
    assert found.statistic == pytest.approx(plain.statistic, abs=1e-6)
    assert found.groups.mu == pytest.approx(plain.groups.mu, abs=1e-4)


def test_a_card_and_the_program_answer_alike():
    found = paritas.compatibility(CARDS / "shapes.txt")
    answer = json.loads(run("compatibility", CARDS / "shapes.txt", "--json", "--quiet"))
    assert answer["statistic"] == found.statistic and answer["ndof"] == found.ndof
    assert [one["name"] for one in answer["groups"]] == found.groups.names
    assert [one["mu"] for one in answer["groups"]] == list(found.groups.mu)


def test_what_cannot_be_split_is_refused():
    spec = counting([25, 38], sigma=0.1)
    workspace = paritas.Workspace(spec)
    with pytest.raises(paritas.InvalidInput, match="normsys .xs. cannot be split"):
        workspace.split("xs")
    with pytest.raises(paritas.NotFound, match="no channel depends on .nu."):
        workspace.split("nu")
    with pytest.raises(paritas.NotFound, match="no measurement .other."):
        workspace.split(measurement="other")
    spec["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "mu_bin_1", "type": "normfactor", "data": None}
    )
    with pytest.raises(paritas.InvalidInput, match="mu_bin_1. is there already"):
        paritas.Workspace(spec).split()
    with pytest.raises(paritas.InvalidArgument, match="parameter of interest"):
        paritas.Model.from_workspace(counting([25, 38]), poi="").compatibility()
    with pytest.raises(paritas.InvalidArgument, match='no channel is left that "zz" matches'):
        paritas.compatibility(counting([25, 38]), {"low": "zz"})


# ---- bounds ----


def test_ranges_are_bounds_in_place_of_the_workspaces():
    free = program("fit", "two_bins", "--range", "mu=-5:10")
    assert free["parameters"][0]["value"] == model_of("two_bins").fit(bounds={"mu": (-5, 10)}).values[0] < 0
    held = program("fit", "two_bins", "--range", "mu=1:2", "--range", "uncorr_bkguncrt[0]=0.5:1.5")
    assert (held["parameters"][0]["value"], held["parameters"][0]["state"]) == (1.0, "at_lower_bound")
    low = program("limit", "two_bins", "--range", "mu=-1:3", "--test-stat", "q")
    assert (
        low["limit_obs"] == model_of("two_bins").upper_limit(bounds={"mu": (-1, 3)}, test_stat="q").limit_obs
    )
    assert "its start, 1, lies outside; --init mu=V gives another" in run(
        "fit", TWO, "--range", "mu=2:3", code=3
    )
    assert program("fit", "two_bins", "--range", "mu=2:3", "--init", "mu=2.5")["status"] == "converged"
    for wrong in ("mu", "mu=3", "mu=3:2", "=1:2", "mu=a:b"):
        assert "--range takes NAME=LO:HI" in run("fit", TWO, "--range", wrong, code=2)
    assert "no parameter 'nu'" in run("fit", TWO, "--range", "nu=0:1", code=3)


def test_a_grid_of_two_parameters_has_the_ranges_of_both():
    grid = program("scan", "two_bins", "--par", "mu=0:2:3", "--par", "uncorr_bkguncrt[0]=0.9:1.1:2")
    assert [one["values"] for one in grid["points"]] == [[m, u] for m in (0.0, 1.0, 2.0) for u in (0.9, 1.1)]


def test_parameters_are_held_at_their_start_by_name_or_pattern():
    model = model_of("two_bins")
    held = program("fit", "two_bins", "--fix", "uncorr_bkguncrt[1]", "--init", "uncorr_bkguncrt[1]=1.05")
    assert held["twice_nll"] == model.fit(fixed={"uncorr_bkguncrt[1]": 1.05}).twice_nll
    alone = program("fit", "two_bins", "--fix", "*")
    assert [one["state"] for one in alone["parameters"]][1:] == ["fixed", "fixed"]
    assert alone["parameters"][0]["state"] != "fixed"
    one = program("fit", "two_bins", "--fix", "*[0]=1.1")
    assert [p["value"] for p in one["parameters"]][1] == 1.1
    assert [p["state"] for p in one["parameters"]][1:] == ["fixed", "free"]
    assert "no parameter has a name like 'x*'" in run("fit", TWO, "--fix", "x*", code=3)
    assert "--init takes NAME=V with a number, not 'mu'" in run("fit", TWO, "--init", "mu", code=2)
