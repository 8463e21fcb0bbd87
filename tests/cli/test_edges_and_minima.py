"""Fits on the edge of the domain and from outside it, by closed forms; tests with several minima."""

import json
import math
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "hard"))

import hard_models  # noqa: E402

import paritas  # noqa: E402

PARITAS = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))

MET_TWO = re.compile(
    r"(paritas: a fit met 2 minima, the two lowest \S+ apart in 2 NLL: there [ab] is \S+ and \S+\n)+"
)


def run(*arguments, seconds=None):
    """seconds: where a fault would never end"""
    done = subprocess.run(
        [PARITAS, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=seconds
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def workspace(path, samples, observed, parameters=(), poi="mu", channels=()):
    """One channel of the given samples ([data, modifiers] each), then further (samples, observed)."""
    document = {"channels": [], "observations": [], "version": "1.0.0"}
    for k, (content, counts) in enumerate([(samples, observed), *channels]):
        name = f"channel_{k}"
        document["channels"].append(
            {
                "name": name,
                "samples": [
                    {"name": f"sample_{i}", "data": data, "modifiers": modifiers}
                    for i, (data, modifiers) in enumerate(content)
                ],
            }
        )
        document["observations"].append({"name": name, "data": counts})
    config = {"poi": poi, "parameters": list(parameters)}
    document["measurements"] = [{"name": "measurement", "config": config}]
    path.write_text(json.dumps(document))
    return str(path)


def two_nll_poisson(n, rate):
    return 2 * (rate - (n * math.log(rate) if n else 0) + math.lgamma(n + 1))


def two_nll_normal(x, mean, width):
    return ((x - mean) / width) ** 2 + math.log(2 * math.pi * width**2)


def two_nll_gamma(gamma, tau):
    """of a shapesys constraint, measured at tau"""
    return 2 * (tau * gamma - tau * math.log(tau * gamma) + math.lgamma(tau + 1))


# Each case: samples of a bin without events, parameters, the one that the edge holds, its value there and
# the constraint's part of twice the NLL. The second sample's rate is negative or constant.
def normfactor(background, signal):
    parameter = {"name": "k", "inits": [1.0], "bounds": [[-50.0, 50.0]]}
    samples = [([signal], [{"name": "k", "type": "normfactor", "data": None}]), ([background], [])]
    return samples, [parameter], "k", -background / signal, 0.0


def lumi(background, taken):
    parameter = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.5], "inits": [1.0], "bounds": [[-5.0, 5.0]]}
    samples = [([background], [{"name": "lumi", "type": "lumi", "data": None}]), ([-taken], [])]
    edge = taken / background
    return samples, [parameter], "lumi", edge, two_nll_normal(edge, 1.0, 0.5)


def histosys(background, part):
    shift = {"hi_data": [background * (1 + part)], "lo_data": [background * (1 - part)]}
    samples = [([background], [{"name": "a", "type": "histosys", "data": shift}])]
    return samples, [], "a", -1 / part, two_nll_normal(-1 / part, 0.0, 1.0)


def normsys(background, factor):
    taken = 0.5 * background
    data = {"hi": factor, "lo": 1 / factor}
    samples = [([background], [{"name": "a", "type": "normsys", "data": data}]), ([-taken], [])]
    edge = math.log(taken / background) / math.log(factor)
    return samples, [], "a", edge, two_nll_normal(edge, 0.0, 1.0)


def staterror(background, width):
    taken = 0.8 * background
    samples = [
        ([background], [{"name": "s", "type": "staterror", "data": [background * width]}]),
        ([-taken], []),
    ]
    return samples, [], "s[0]", 0.8, two_nll_normal(0.8, 1.0, width)


def shapesys(background, width):
    taken = 0.8 * background
    samples = [
        ([background], [{"name": "s", "type": "shapesys", "data": [background * width]}]),
        ([-taken], []),
    ]
    return samples, [], "s[0]", 0.8, two_nll_gamma(0.8, width**-2)


def shapefactor(background, taken):
    samples = [([background], [{"name": "s", "type": "shapefactor", "data": None}]), ([-taken], [])]
    return samples, [], "s[0]", taken / background, 0.0


EDGES = [
    normfactor(3.0, 2.0),
    normfactor(0.2, 7.0),
    lumi(6.0, 4.0),
    lumi(2.5, 2.0),
    histosys(2.0, 1.0),
    histosys(40.0, 0.5),
    normsys(8.0, 1.6),
    normsys(25.0, 1.3),
    staterror(4.0, 0.5),
    staterror(30.0, 0.2),
    shapesys(5.0, 0.5),
    shapesys(30.0, 0.25),
    shapefactor(4.0, 3.0),
    shapefactor(50.0, 10.0),
]


@pytest.mark.parametrize("minimizer", ["newton"])
@pytest.mark.parametrize("case", range(len(EDGES)))
def test_a_rate_of_zero_is_a_minimum(tmp_path, case, minimizer):
    samples, parameters, held, value, constraint = EDGES[case]
    mu = {"name": "mu", "type": "normfactor", "data": None}
    # mu is measured by a channel of its own, so that its error shows what stays free
    other = [([([10.0], [mu])], [12.0])]
    codes = ("--normsys-code", 1) if held == "a" else ()
    path = workspace(tmp_path / "edge.json", samples, [0.0], parameters, "mu", [(c, n) for c, n in other])
    code, fit, error = run("fit", path, "--minimizer", minimizer, *codes)
    assert code == 0 and fit["status"] == "converged", (error, fit)
    found = {p["name"]: p for p in fit["parameters"]}
    assert found[held]["value"] == pytest.approx(value, abs=1e-7)
    assert found[held]["error"] is None and found[held]["state"] == "at_edge"
    assert fit["edge"] == [{"channel": "channel_0", "bin": 0}] and found["mu"]["state"] == "free"
    assert found["mu"]["value"] == pytest.approx(1.2, abs=1e-7)
    assert found["mu"]["error"] == pytest.approx(math.sqrt(12.0) / 10.0, rel=1e-6)
    want = constraint + two_nll_poisson(12, 12.0)
    assert fit["twice_nll"] == pytest.approx(want, abs=1e-8)


def test_an_edge_shared_by_two_parameters_leaves_their_difference_free(tmp_path):
    """Rate b (1 + (a1 + a2) / 2): the edge holds a1 + a2 = -2, constraints share it evenly."""
    b = 20.0
    shift = {"hi_data": [1.5 * b], "lo_data": [0.5 * b]}
    samples = [([b], [{"name": name, "type": "histosys", "data": shift} for name in ("a1", "a2")])]
    path = workspace(tmp_path / "two.json", samples, [0.0], poi="")
    code, fit, error = run("fit", path)
    assert code == 0 and fit["status"] == "converged", error
    for parameter in fit["parameters"]:
        assert parameter["value"] == pytest.approx(-1.0, abs=1e-7)
        assert parameter["error"] == pytest.approx(math.sqrt(0.5), rel=1e-4) and parameter["state"] == "free"


@pytest.mark.parametrize("width, means_something", [(0.1, True), (0.03, False), (0.012, False)])
def test_an_error_along_the_edge_must_be_one_off_the_edge_too(tmp_path, width, means_something):
    """Rates mu + 3 l without events and mu + 20 with 5: l = 1 +- width. Along the edge mu follows l, and has
    the error 3 width. Off the edge twice the NLL rises by 1 only some 0.3 further, whatever the width is."""
    lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [width], "inits": [1.0], "bounds": [[0.5, 1.5]]}
    scaled = [{"name": "lumi", "type": "lumi", "data": None}]
    mu = [{"name": "mu", "type": "normfactor", "data": None}]
    first = [([1.0], mu), ([3.0], scaled)]
    second = ([([1.0], mu), ([20.0], [])], [5.0])
    bounds = {"name": "mu", "inits": [1.0], "bounds": [[-50.0, 50.0]]}
    path = workspace(tmp_path / "along.json", first, [0.0], [bounds, lumi], channels=[second])
    code, fit, error = run("fit", path, "--minos", "mu")
    assert code == 0 and fit["edge"] == [{"channel": "channel_0", "bin": 0}], error
    found = parameters_of(fit)
    along = -found["mu"]["minos_down"]
    assert along == pytest.approx(3 * width, rel=0.05) and found["mu"]["minos_up"] > 0.29
    assert found["lumi"]["state"] == "free" and found["lumi"]["error"] == pytest.approx(width, rel=0.05)
    if means_something:
        assert found["mu"]["state"] == "free" and found["mu"]["error"] == pytest.approx(along, rel=0.01)
    else:
        assert found["mu"]["state"] == "at_edge" and found["mu"]["error"] is None


def test_the_edge_is_said(tmp_path):
    samples, parameters, *_ = normfactor(3.0, 2.0)
    path = workspace(tmp_path / "edge.json", samples, [0.0], parameters, "k")
    done = subprocess.run([PARITAS, "fit", path], capture_output=True, text=True)
    assert "At the edge of the domain, as a rate is 0: channel channel_0, bin 0\n" in done.stdout
    assert "Parameter of interest: k = -1.50000, at_edge\n" in done.stdout
    assert "\n\nNo symmetric error at the edge of the domain (--minos gives both sides): k\n" in done.stdout
    code, fit, _ = run("fit", workspace(tmp_path / "inside.json", samples, [2.0], parameters, "k"))
    assert code == 0 and "edge" not in fit


@pytest.mark.parametrize("start", [-3.0, -4.5, 4.9])
def test_a_fit_may_start_where_a_rate_is_negative(tmp_path, start):
    data = {"hi_data": [20.0, 2.0], "lo_data": [2.0, 18.0]}
    samples = [([11.0, 10.0], [{"name": "a", "type": "histosys", "data": data}])]
    path = workspace(tmp_path / "outside.json", samples, [13.0, 9.0], poi="")
    code, usual, _ = run("fit", path)
    assert code == 0
    code, fit, error = run("fit", path, "--init", f"a={start}")
    assert code == 0 and fit["status"] == "converged", error
    assert fit["twice_nll"] == pytest.approx(usual["twice_nll"], abs=1e-9)


def test_toys_at_the_edge_are_all_answered(tmp_path):
    samples, parameters, *_ = histosys(2.0, 1.0)
    mu = {"name": "mu", "type": "normfactor", "data": None}
    path = workspace(tmp_path / "toys.json", [*samples, ([1.0], [mu])], [1.0], parameters)
    code, answer, error = run("hypotest-toys", path, "--mu", 1, "--ntoys", 2000)
    assert code == 0, error
    assert answer["toys"]["failed"] == 0 if "toys" in answer else True


def test_errors_at_the_edge_have_the_same_bits_in_any_number_of_lanes(tmp_path, monkeypatch):
    """Multipliers of a fit that has ended do not change while other lanes run."""
    answers = []
    for lanes in (1, 4):
        monkeypatch.setenv("PARITAS_LANES", str(lanes))
        code, answer, error = run("toys", *generated(tmp_path, "hard", 26), "--ntoys", 16, "--errors")
        if code == 4:
            pytest.skip(error)
        answers.append(answer["parameters"])
    assert answers[0] == answers[1]


def wells(path):
    """A parameter that raises the rate whichever way it goes, from 50 towards 98 events: two minima, and a
    second channel that prefers one."""
    bent = {"hi": 1.9, "lo": 1.6}
    turned = {"hi": 1.02, "lo": 0.9}
    mu = {"name": "mu", "type": "normfactor", "data": None}
    samples = [
        ([50.0], [{"name": "a", "type": "normsys", "data": bent}]),
        ([0.5], [mu]),
    ]
    side = ([([400.0], [{"name": "a", "type": "normsys", "data": turned}])], [385.0])
    return workspace(path, samples, [98.0], channels=[side])


@pytest.mark.parametrize("mu", [0.0, 1.0, 4.0])
def test_a_test_uses_the_lowest_minima(tmp_path, mu):
    path = wells(tmp_path / "wells.json")
    code, answer, error = run("hypotest", path, "--mu", mu, "--test-stat", "q")
    assert code == 0, error
    free = run("fit", path, "--starts", 60)[1]
    fixed = run("fit", path, "--starts", 60, "--fix", f"mu={mu}")[1]
    assert len(free["starts"]["minima"]) > 1 or len(fixed["starts"]["minima"]) > 1
    poi = {p["name"]: p["value"] for p in free["parameters"]}["mu"]
    want = max(0.0, fixed["twice_nll"] - free["twice_nll"]) if poi <= mu else 0.0
    assert answer["q"] == pytest.approx(want, abs=1e-6)
    assert answer["several_minima"] is True
    assert answer["minima"]["met"] >= 2 and answer["minima"]["apart"] > 1e-6


def test_a_plain_model_meets_one_minimum(tmp_path):
    mu = {"name": "mu", "type": "normfactor", "data": None}
    samples = [([5.0], [mu]), ([50.0], [{"name": "a", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}])]
    path = workspace(tmp_path / "plain.json", samples, [52.0])
    few = ("--ntoys", 200)
    for command in (
        ("hypotest",),
        ("limit",),
        ("significance",),
        ("hypotest-toys", *few),
        ("significance", "--calc", "toys", *few),
        ("limit", "--calc", "toys", "--rtol", 0.5, "--ntoys", 2000),
    ):
        code, answer, error = run(command[0], path, *command[1:])
        assert code == 0, error
        assert answer["several_minima"] is False and set(answer["minima"].values()) == {0, ""}


@pytest.mark.parametrize("command", ["fit", "hypotest", "limit", "gof", "scan", "ranking"])
def test_a_factor_at_its_bound_is_said(tmp_path, command):
    """A second background of any size, where the first alone expects more than was observed."""
    factors = [{"name": name, "type": "normfactor", "data": None} for name in ("mu", "k")]
    samples = [([5.0, 0.0], factors[:1]), ([0.0, 10.0], factors[1:]), ([50.0, 40.0], [])]
    path = workspace(tmp_path / "bound.json", samples, [52, 30])
    code, answer, error = run(command, path)
    assert code == 0 and answer is not None
    assert re.fullmatch(r"paritas: the [^\n]* ended with k at its lower bound 0\n", error)


@pytest.mark.parametrize("command", ["fit", "hypotest", "limit", "scan"])
def test_the_parameter_that_tells_two_minima_apart_is_named(tmp_path, command):
    """`a` has a minimum on either side of its kink: nothing else differs."""
    path = wells(tmp_path / "wells.json")
    code, answer, error = run(command, path)
    assert code == 0 and MET_TWO.search(error)
    if command != "fit":
        minima = answer["minima"]
        assert minima["parameter"] == "a" and minima["at_lowest"] * minima["at_next"] < 0
        assert 0 < minima["next"] <= minima["apart"]


def test_toys_of_a_model_with_several_minima_say_so(tmp_path):
    path = wells(tmp_path / "wells.json")
    run_toys = ("hypotest-toys", path, "--mu", 1, "--ntoys", 50)
    code, answer, error = run(*run_toys)
    assert code == 0, error
    assert answer["several_minima"] is True and answer["minima"]["met"] >= 2
    assert answer["methods"]["quasi_newton"] == 0
    for i in (1, 2):
        code, _, error = run(*run_toys, "--shard", f"{i}/2", "--store", tmp_path / f"part{i}.db")
        assert code == 0, error
    code, merged, error = run(
        "merge", tmp_path / "part1.db", tmp_path / "part2.db", "-o", tmp_path / "all.db"
    )
    assert code == 0, error
    assert answer["minima"].pop("parameter") and merged["minima"].pop("parameter") == ""
    for key in ("CLs_obs", "CLs_exp", "CLsb", "CLb", "q", "several_minima", "minima"):
        assert merged[key] == answer[key], key
    code, quick, error = run(*run_toys, "--quick")
    assert code == 0, error
    assert quick["several_minima"] is False


# Tests of generated models whose usual fits end in higher minima: family, seed, mu, q and q_A of the lowest
# minima that 100 starts find; is another one within 25?
LOWEST = [
    # the conditional fit's lowest minimum has a bent parameter on its other side
    ("ordinary", 35, 4.311395809871476, 13.34264344, 19.450501915, True),
    ("hard", 67, 0.7179791098181687, 2.74150667, None, True),
    # free fits are lowest at the other bound of mu
    ("hard", 84, 0.15, 0.0, None, True),
    # rates are 1e-5 at mu = 1 and of order 1 where they are tested
    ("hard", 159, 267139.0115492784, 2.16056352, 2.16060251, True),
    # k1 = 0 hides all other parameters
    ("hard", 174, 1.0, 9.72852102, 0.01272342936, False),
    # Asimov data from a minimum that is 27 higher
    ("hard", 105, 2.93564574371514, 0.04710887, 1.94075876, False),
    # 500 random starts end 46 higher: the way leads over tests of smaller mu
    ("hard", 198, 2.1875, 70.56509751, None, False),
    # two factors of one sample: both may change their sign
    ("hard", 9019, 1.0, 0.00013504871, None, True),
]


@pytest.mark.parametrize("family, seed, mu, q, q_asimov, several", LOWEST)
def test_generated_models_are_tested_with_the_lowest_minima(tmp_path, family, seed, mu, q, q_asimov, several):
    made = hard_models.generate(family, seed)
    code, answer, error = run("hypotest", hard_models.write(str(tmp_path), made), *made.options(), "--mu", mu)
    assert code == 0, error
    assert answer["q"] == pytest.approx(q, abs=1e-5)
    assert q_asimov is None or answer["q_A"] == pytest.approx(q_asimov, abs=1e-5)
    assert answer["several_minima"] is several


def generated(folder, family, seed):
    made = hard_models.generate(family, seed)
    return [hard_models.write(str(folder), made), *made.options()]


def test_a_scan_answers_the_same_whatever_else_it_scans(tmp_path):
    """Its points are compared with their neighbours."""
    model = generated(tmp_path, "hard", 198)
    fine, coarse, one = (
        {point["mu"]: point["q"] for point in run("scan", *model, *range_of)[1]["points"]}
        for range_of in (
            ("--start", 0, "--stop", 10, "--points", 33),
            ("--start", 0, "--stop", 10, "--points", 9),
            ("--start", 2.5, "--stop", 2.5, "--points", 1),
        )
    )
    assert one[2.5] == pytest.approx(78.07184945, abs=1e-6)
    for mu in coarse:
        assert fine[mu] == pytest.approx(coarse[mu], abs=1e-6)


def test_a_scan_of_one_point_knows_the_best_fit_of_the_significance(tmp_path):
    model = generated(tmp_path, "hard", 84)
    _, scan, _ = run("scan", *model, "--start", 0, "--stop", 0, "--points", 1)
    _, discovery, _ = run("significance", *model)
    assert scan["points"][0]["q"] == pytest.approx(discovery["q0"], abs=1e-6)


def test_a_scan_crosses_a_kink_that_is_a_maximum(tmp_path):
    """The likelihood falls more steeply below 0, where the second bin soon stops it, but further above."""
    bent = {"hi_data": [112.0, 100.0, 0.0], "lo_data": [115.0, 115.0, 0.0], "interpcode": "code0"}
    samples = [
        ([0.0, 0.0, 50.0], [{"name": "mu", "type": "normfactor", "data": None}]),
        ([100.0, 100.0, 0.0], [{"name": "a", "type": "histosys", "data": bent}]),
    ]
    path = workspace(tmp_path / "kink.json", samples, [130, 100, 50])
    steep, lowest = (run("fit", path, *start)[1] for start in (("--quick",), ("--quick", "--init", "a=1")))
    of = {
        key: {one["name"]: one["value"] for one in fit["parameters"]}
        for key, fit in (("steep", steep), ("lowest", lowest))
    }
    assert of["steep"]["a"] < -0.5 and of["lowest"]["a"] > 0.5
    assert lowest["twice_nll"] < steep["twice_nll"] - 0.5
    found = run("scan", path, "--points", 3)[1]
    assert found["twice_nll_min"] == pytest.approx(lowest["twice_nll"], abs=1e-8)
    assert run("fit", path, "--starts", 4)[1]["twice_nll"] == pytest.approx(lowest["twice_nll"], abs=1e-8)


def kinked_modifier(name, code, up, down):
    content = {"hi_data": up, "lo_data": down, "interpcode": code}
    return {"name": name, "type": "histosys", "data": content}


def parameters_of(fit):
    return {one["name"]: one for one in fit["parameters"]}


def test_minos_crosses_a_kink_between_two_minima(tmp_path):
    """95 events, 100 - 50 |x| expected. The minima are at +-x with x^2 - 52 x + 5 = 0."""
    samples = [([100.0], [kinked_modifier("x", "code0", [50.0], [50.0])])]
    code, fit, error = run("fit", workspace(tmp_path / "x.json", samples, [95], poi=""), "--minos", "x")
    assert code == 0 and error == ""
    x = parameters_of(fit)["x"]
    assert abs(x["value"]) == pytest.approx(26 - math.sqrt(671), abs=1e-6)

    def rise(at):
        return two_nll_poisson(95, 100 - 50 * abs(at)) + two_nll_normal(at, 0, 1) - fit["twice_nll"]

    ends = [x["value"] + x["minos_down"], x["value"] + x["minos_up"]]
    assert [rise(at) for at in ends] == pytest.approx([1, 1], abs=1e-7)
    assert ends[0] == pytest.approx(-ends[1], abs=1e-7) and rise(0.0) < 0.3


@pytest.mark.parametrize("observed, sides", [([120, 100], 1), ([112, 100], 2)])
def test_minos_ends_where_the_lowest_side_of_other_kinks_does(tmp_path, observed, sides):
    """On the way up in a, b changes sides. The profile has a peak there: just above 1, then below."""
    modifiers = [
        kinked_modifier("a", "code0", [120.0, 80.0], [80.0, 120.0]),
        kinked_modifier("b", "code0", [150.0, 100.0], [100.0, 150.0]),
    ]
    path = workspace(tmp_path / "ab.json", [([100.0, 100.0], modifiers)], observed, poi="")
    code, fit, error = run("fit", path, "--starts", 4, "--minos", "a")
    assert code == 0 and MET_TWO.fullmatch(error)
    best = parameters_of(fit)
    a, level = best["a"], fit["twice_nll"] + 1

    def lowest(part, offset):
        held = f"a={a['value'] + part * offset:.17g}"
        fits = [run("fit", path, "--fix", held, "--init", f"b={b}")[1] for b in (-1.0, 1.0)]
        return min(fits, key=lambda one: one["twice_nll"])

    for part in (0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99):
        assert lowest(part, a["minos_up"])["twice_nll"] < level
    ends = [lowest(1, a[end]) for end in ("minos_down", "minos_up")]
    assert [end["twice_nll"] for end in ends] == pytest.approx([level, level], abs=1e-6)
    changed = best["b"]["value"] * parameters_of(ends[1])["b"]["value"] < 0
    assert changed == (sides == 2)


def subtracted(path, channels, luminosity=()):
    """Channels of one bin, (observed, background, signal) each. mu may be negative. Backgrounds may have a
    luminosity."""
    scaled = [{"name": "lumi", "type": "lumi", "data": None}] if luminosity else []
    contents = [
        (
            [([signal], [{"name": "mu", "type": "normfactor", "data": None}]), ([background], scaled)],
            [observed],
        )
        for observed, background, signal in channels
    ]
    parameters = [{"name": "mu", "inits": [1.0], "bounds": [[-50.0, 50.0]]}, *luminosity]
    return workspace(path, *contents[0], parameters, channels=contents[1:])


def minos_of_mu(path):
    code, fit, error = run("fit", path, "--minos", "mu")
    assert code == 0 and error == "", error
    mu = parameters_of(fit)["mu"]
    ends = mu["minos_down_end"], mu["minos_up_end"]
    for side, end in zip(("down", "up"), ends):
        assert (mu[f"minos_{side}"] is None) == (end != "crossing")
        assert end != "crossing" or mu[f"minos_{side}"] == mu[f"minos_{side}_reach"]
    return mu["value"], mu["minos_down_reach"], mu["minos_up_reach"], ends


def crossing(rise, inside, outside):
    """Where `rise` is 1, by bisection."""
    for _ in range(200):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if rise(middle) < 1 else (inside, middle)
    return inside


@pytest.mark.parametrize("observed", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("background, signal", [(3.0, 1.0), (7.0, 0.2), (40.0, 15.0)])
def test_minos_steps_back_from_rates_below_zero(tmp_path, observed, background, signal):
    """The usual first step down is one error: to a rate of n - sqrt(n), which is 0 or less."""
    path = subtracted(tmp_path / "one.json", [(observed, background, signal)])
    value, down, up, ends = minos_of_mu(path)
    assert ends == ("crossing", "crossing") and value == pytest.approx((observed - background) / signal)

    def rise(rate):
        return two_nll_poisson(observed, rate) - two_nll_poisson(observed, observed)

    low, high = crossing(rise, observed, 1e-12), crossing(rise, observed, 100 + observed)
    assert [down, up] == pytest.approx([(low - observed) / signal, (high - observed) / signal], rel=1e-6)


@pytest.mark.parametrize("signal", [0.1, 1.0, 12.0])
def test_minos_of_a_rate_of_zero_has_one_side(tmp_path, signal):
    """Twice the NLL is twice the rate: it has risen by 1 where the rate is a half."""
    path = subtracted(tmp_path / "none.json", [(0.0, 3.0, signal)])
    value, down, up, ends = minos_of_mu(path)
    assert ends == ("at_edge", "crossing") and value == pytest.approx(-3.0 / signal)
    assert [down, up] == pytest.approx([0.0, 0.5 / signal], rel=1e-7, abs=1e-9)


def test_minos_ends_at_the_edge_of_the_domain(tmp_path):
    """The first channel, without events, needs mu >= -1. The minimum is at -0.8: 1.5 (4 + 0.5 mu) = 5.4."""
    path = subtracted(tmp_path / "two.json", [(0.0, 1.0, 1.0), (10.8, 4.0, 0.5)])
    value, down, up, ends = minos_of_mu(path)

    def rise(mu):
        first, second = 1 + mu, 4 + 0.5 * mu
        return two_nll_poisson(0, first) + two_nll_poisson(10.8, second) - 0.4 - two_nll_poisson(10.8, 3.6)

    assert ends == ("at_edge", "crossing") and rise(-1) < 1
    assert value == pytest.approx(-0.8, abs=1e-4)  # of an error of 2.4
    assert [value + down, value + up] == pytest.approx([-1, crossing(rise, -0.8, 20)], abs=1e-5)
    done = subprocess.run([PARITAS, "fit", path, "--minos", "mu"], capture_output=True, text=True)
    assert "\n\nNo MINOS error where the domain ends first, as a rate would be negative: mu\n" in done.stdout


def test_minos_follows_the_edge_as_far_as_other_parameters_move_it(tmp_path):
    """Rate mu + 3 l, with l = 1 +- 0.1. Down, l grows until its constraint has risen by 1. Up, l is 0.97
    where the rate rises, and twice the NLL is 2 mu + 6 l + ((l - 1) / 0.1)^2."""
    lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.1], "inits": [1.0], "bounds": [[0.5, 1.5]]}
    path = subtracted(tmp_path / "lumi.json", [(0.0, 3.0, 1.0)], [lumi])
    value, down, up, ends = minos_of_mu(path)
    assert ends == ("crossing", "crossing") and value == pytest.approx(-3, abs=1e-7)
    assert [down, up] == pytest.approx([-0.3, 0.5 + 0.045], rel=1e-5)


def test_minos_says_that_a_bound_comes_first(tmp_path):
    path = subtracted(tmp_path / "bound.json", [(5.0, 4.0, 1.0)])
    code, fit, error = run("fit", path, "--range", "mu=0.5:50", "--minos", "mu")
    mu = parameters_of(fit)["mu"]
    assert code == 0 and (mu["minos_down"], mu["minos_down_end"]) == (None, "at_bound")
    assert mu["minos_down_reach"] == pytest.approx(-0.5) and mu["minos_up_end"] == "crossing"


def test_ranking_fits_are_the_lowest_of_both_sides(tmp_path):
    """With `b` held one error below its best value, `a` is on the other side than near the free fit."""
    a = kinked_modifier("a", "code0", [164.3, 135.0, 163.8], [181.4, 160.8, 101.3])
    b = kinked_modifier("b", "code1", [159.0, 116.8, 221.2], [124.0, 162.8, 129.2])
    samples = [
        ([130.0, 131.9, 168.9], [a, b]),
        ([20.9, 19.9, 27.1], [{"name": "mu", "type": "normfactor", "data": None}]),
    ]
    mu = {"name": "mu", "bounds": [[0, 20]]}
    path = workspace(tmp_path / "sides.json", samples, [149, 146, 164], [mu])
    best = parameters_of(run("fit", path, "--starts", 10)[1])
    for starts in ((), ("--starts", 10)):
        code, ranking, error = run("ranking", path, *starts)
        assert code == 0 and MET_TWO.fullmatch(error)
        for entry in ranking["entries"]:
            one = best[entry["name"]]
            for sign, impact in ((1, entry["impact_up"]), (-1, entry["impact_down"])):
                at = one["value"] + sign * one["error"]
                held = run("fit", path, "--fix", f"{one['name']}={at:.17g}", "--starts", 10)[1]
                expected = parameters_of(held)["mu"]["value"] - best["mu"]["value"]
                assert impact == pytest.approx(expected, abs=1e-5), (entry["name"], sign, starts)


def test_minos_errors_are_those_of_the_lowest_minimum(tmp_path):
    """The usual fit ends in the upper of two minima."""
    bent = kinked_modifier("a", "code0", [112.0, 100.0, 0.0], [115.0, 115.0, 0.0])
    samples = [
        ([0.0, 0.0, 50.0], [{"name": "mu", "type": "normfactor", "data": None}]),
        ([100.0, 100.0, 0.0], [bent]),
    ]
    path = workspace(tmp_path / "kink.json", samples, [130, 100, 50])
    usual, lowest = (run("fit", path, *words)[1]["twice_nll"] for words in (("--quick",), ()))
    assert lowest < usual - 1.0
    code, _, error = run("fit", path, "--minos", "a")
    assert code == 0 and MET_TWO.fullmatch(error)


def test_errors_of_asimov_data_at_a_kink_are_those_of_both_sides_from_every_start(tmp_path):
    """One bin of 20 mu + 100 + 20 jes above 0, - 30 jes below: mu follows jes by -1 and by +1.5."""
    samples = [
        ([20.0], [{"name": "mu", "type": "normfactor", "data": None}]),
        ([100.0], [kinked_modifier("jes", "code0", [120.0], [130.0])]),
    ]
    path = workspace(tmp_path / "kink.json", samples, [105])
    for jes in (-1.3, 0, 0.5):
        fit = run("fit", path, "--asimov", 1, "--init", f"jes={jes}", "--init", "mu=0.7")[1]
        found = parameters_of(fit)
        assert found["jes"]["value"] == 0 and found["jes"]["state"] == "at_kink"
        assert found["jes"]["error"] == pytest.approx(1, rel=1e-6)
        assert found["mu"]["error"] == pytest.approx(math.sqrt(120 / 20**2 + (1 + 1.5**2) / 2), rel=1e-6)


def test_no_minimum_above_a_known_point_is_told_as_the_lowest(tmp_path):
    """Fits stop where interpolation code 2 jumps, below every minimum that others converge to."""
    made = hard_models.generate("hard", 36)
    path = hard_models.write(str(tmp_path), made)
    code, answer, error = run("hypotest", path, *made.options(), "--mu", 1.5)
    assert code == 1 and answer["status"] != "converged"
    assert answer["q"] < 4.0


def test_an_entry_of_a_limits_scan_is_not_above_a_point_of_another(tmp_path):
    """Every entry that says `converged` is as low as a fit there from many starts."""
    made = hard_models.generate("hard", 36)
    path = hard_models.write(str(tmp_path), made)
    code, answer, _ = run("limit", path, *made.options())
    q = {entry["mu"]: entry["q"] for entry in answer["scan"] if entry["status"] == "converged"}
    assert code == 1 and len(q) > 8
    free = run("fit", path, *made.options(), "--starts", 20)[1]["twice_nll"]
    for mu in sorted(q)[::5]:
        fixed = run("fit", path, *made.options(), "--fix", f"mu={mu!r}", "--starts", 20)[1]
        assert q[mu] <= fixed["twice_nll"] - free + 1e-5, mu


def test_a_significance_is_that_of_the_test_of_q0(tmp_path):
    """The parameter of interest does nothing here: a q0 of 2e-11 is what fits leave open."""
    made = hard_models.generate("hard", 49)
    path = hard_models.write(str(tmp_path), made)
    test = run("hypotest", path, *made.options(), "--test-stat", "q0", "--quick")[1]
    found = run("significance", path, *made.options(), "--quick")[1]
    assert 0 < found["q0"] == test["q"] < 1e-8 and test["q_A"] == 0
    assert (found["p0"], found["Z"], test["p0"]) == (0.5, 0, 0.5)


def test_an_impact_without_a_fit_is_null(tmp_path):
    """The second bin's rate is 2 - 2 a: a = 1 is the best fit, and a = 2 has no likelihood."""
    variation = {"hi_data": [5.0, 0.0], "lo_data": [5.0, 4.0]}
    samples = [
        ([1.0, 0.0], [{"name": "mu", "type": "normfactor", "data": None}]),
        ([5.0, 2.0], [{"name": "a", "type": "histosys", "data": variation}]),
    ]
    path = workspace(tmp_path / "edge.json", samples, [5, 0])
    code, answer, _ = run("ranking", path)
    (entry,) = answer["entries"]
    assert (code, entry["status"], entry["prefit_up"]) == (1, "non_finite", None)
    assert entry["prefit_down"] == pytest.approx(0.0, abs=1e-6)


def mirrored(path, observed=(100.0, 100.0, 150.0), auxiliary=0.0):
    """A parameter that raises the rate whichever way it goes. It also moves a second channel's background to
    one of two bins. The data are the same if the bins change places; the signal is in the first."""
    bent = {"hi": 1.6, "lo": 1.6}
    moved = {"hi_data": [130.0, 70.0], "lo_data": [70.0, 130.0]}
    mu = {"name": "mu", "type": "normfactor", "data": None}
    shape = [
        ([100.0, 100.0], [{"name": "a", "type": "histosys", "data": moved}]),
        ([10.0, 0.0], [mu]),
    ]
    rate = ([([100.0], [{"name": "a", "type": "normsys", "data": bent}])], [observed[2]])
    told = [{"name": "a", "auxdata": [auxiliary]}]
    return workspace(path, shape, list(observed[:2]), told, channels=[rate])


def test_asimov_data_of_two_equally_low_minima_give_both_answers(tmp_path):
    path = mirrored(tmp_path / "mirrored.json")
    code, answer, error = run("hypotest", path, "--mu", 2)
    assert code == 0, error
    # each minimum's expectation as observed data: q there is q_A
    q = []
    for start in (0.8, -0.8):
        options = (path, "--fix", "mu=0", "--init", f"a={start}")
        end = {p["name"]: p["value"] for p in run("fit", *options)[1]["parameters"]}["a"]
        rates = run("predict", *options)[1]["channels"]
        observed = [rate for channel in rates for rate in channel["postfit"]]
        made = mirrored(tmp_path / "made.json", observed, end)
        q.append(run("hypotest", made, "--mu", 2)[1]["q"])
    assert abs(q[0] - q[1]) > 0.1
    assert [answer["q_A"], answer["other_asimov"]["q_A"]] in (
        pytest.approx(q, abs=1e-5),
        pytest.approx(q[::-1], abs=1e-5),
    )
    assert answer["other_asimov"]["CLs_obs"] != pytest.approx(answer["CLs_obs"], rel=1e-2)
    assert answer["other_asimov"]["CLs_exp"] == sorted(answer["other_asimov"]["CLs_exp"])
    plain = run("hypotest", wells(tmp_path / "wells.json"))[1]
    assert "other_asimov" not in plain


def test_a_fit_that_ends_early_is_named_with_its_steepest_parameter(tmp_path):
    path = wells(tmp_path / "wells.json")
    for command in (("hypotest", "--quick"), ("scan", "--quick"), ("gof",)):
        code, answer, error = run(*command, path, "--max-iterations", 1)
        assert code == 1, error
        assert "paritas: the free fit reached its limit of iterations: 2 NLL falls most with a" in error
    code, _, error = run("hypotest", path)
    assert code == 0 and "reached" not in error


def test_qtilde_says_that_its_range_begins_at_0():
    two = os.path.join(ROOT, "examples", "two_bins.json")
    told = (
        "qtilde is defined for best fits from 0 on: give the range a lower end of 0, or take the statistic q"
    )
    for command in (["limit"], ["hypotest", "--mu", "1"]):
        assert told in run(command[0], two, *command[1:], "--range", "mu=-5:10")[2]
        assert told not in run(command[0], two, *command[1:])[2]
        assert told not in run(command[0], two, *command[1:], "--range", "mu=-5:10", "--test-stat", "q")[2]


@pytest.mark.parametrize("slope, signal", [(2.3, 1.0), (1.7, 0.3), (3.1, 4.7)])
def test_asimov_data_are_0_where_the_edge_holds_the_fit(tmp_path, slope, signal):
    """The rate 1 + slope a of an empty bin holds the background's fit at a = -1 / slope. Rounding left a
    count of 1e-13 there, which fits approach in hundreds of iterations. a moves by signal mu / slope."""
    shift = {"hi_data": [1 + slope], "lo_data": [1 - slope]}
    background = [[1.0], [{"name": "a", "type": "histosys", "data": shift}]]
    mu = [{"name": "mu", "type": "normfactor", "data": None}]
    path = workspace(tmp_path / "w.json", [[[signal], mu], background], [0.0])
    assert paritas.asimov_data(path, 0.0)[0] == 0.0
    code, test, _ = run("hypotest", path)
    moved = signal / slope
    assert code == 0 and test["q_A"] == pytest.approx(moved**2, rel=1e-9)
    assert test["q"] == pytest.approx(moved**2 + 2 * moved / slope, rel=1e-9)
    counts = subprocess.run([PARITAS, "hypotest", path, "--counts"], capture_output=True, text=True).stderr
    fits, iterations = map(int, re.findall(r": (\d+)", counts.splitlines()[-1])[:2])
    assert iterations <= 20 * fits, counts


def test_a_fit_that_goes_round_ends_however_many_iterations_it_may_take(tmp_path):
    """Nothing observed; a rate that steep nuisance parameters take to 0. Some fits go round there."""
    jes = {"name": "jes", "type": "histosys", "data": {"hi_data": [2.02], "lo_data": [0.001]}}
    rate = {"name": "n0", "type": "normsys", "data": {"hi": 23.4, "lo": 0.05}}
    mu = {"name": "mu", "type": "normfactor", "data": None}
    path = workspace(tmp_path / "round.json", [([2.6], [mu]), ([0.1], [rate, jes])], [0.0], poi="mu")
    words = ("limit", path, "--calc", "toys", "--ntoys", 1, "--max-iterations")
    few, many = run(*words, 100000)[1], run(*words, 2**32 - 1, seconds=600)[1]
    assert many["limit_obs"] == few["limit_obs"] and many["counts"] == few["counts"]
