"""The upper bound of a parameter of interest is where a search begins. No answer depends on it: the same
model in other units of the signal has the same answers. A bound that the caller gives stays."""

import json
import os
import subprocess

import numpy as np
import pytest

import paritas
from paritas import _engine

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
UNIT = 100.0  #: the smaller signal needs a strength so many times as large
ERROR = 0.2235  #: of the strength, in the first unit


def workspace(scale):
    """Two channels; the strength that fits is 0.887 / scale."""

    def sample(name, data, modifier):
        return {"name": name, "data": data, "modifiers": [modifier]}

    def channel(name, signal, background, error):
        strength = {"name": "mu", "type": "normfactor", "data": None}
        rate = {"name": f"u{name}", "type": "shapesys", "data": error}
        samples = [sample("sig", [scale * s for s in signal], strength), sample("bkg", background, rate)]
        return {"name": name, "samples": samples}

    channels = [
        channel("A", [30.0, 15.0], [40.0, 30.0], [4.0, 3.0]),
        channel("B", [12.0], [15.0], [2.0]),
    ]
    observations = [{"name": "A", "data": [70.0, 40.0]}, {"name": "B", "data": [25.0]}]
    measurement = {"name": "m", "config": {"poi": "mu", "parameters": []}}
    return {
        "channels": channels,
        "observations": observations,
        "measurements": [measurement],
        "version": "1.0.0",
    }


@pytest.fixture(scope="module")
def models():
    """The model, and the one with a signal of a hundredth."""
    return [paritas.Model.from_workspace(workspace(scale)) for scale in (1.0, 1.0 / UNIT)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scaled")
    paths = [folder / "unit.json", folder / "small.json"]
    for path, scale in zip(paths, (1.0, 1.0 / UNIT)):
        path.write_text(json.dumps(workspace(scale)))
    return paths


def run(command, path, *arguments):
    done = subprocess.run(
        [PROGRAM, command, str(path), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done


def both(models, question):
    """Answers of both models; the second is asked in its unit."""
    return question(models[0], 1.0), question(models[1], UNIT)


def gradient(quantity, statistic, shared):
    def question(model, unit):
        fits = _engine.SharedFits(model, None) if shared else None
        of = _engine.Quantity(quantity, statistic, shared=fits)
        at = None if quantity in ("limit",) or statistic == "q0" else [2.0 * unit]
        values = _engine.differentiate(model, of, None, 1, at=at).values[0]
        return values / unit if quantity == "limit" else values

    return question


def answers_of(model, unit):
    """Numbers of every statistic of the package, strengths in the unit of the first model."""
    test, limit = model.hypotest(2.0 * unit), model.upper_limit()
    found, fit = model.significance(), model.goodness_of_fit()
    common, parts = model.compatibility(), model.breakdown({"u": ["uA*"]})
    channels = model.predict().channels
    groups = common.groups
    strengths = [found.mu_hat, test.mu_hat, limit.limit_obs, *limit.limit_exp, common.mu]
    strengths += [parts.best, parts.total, parts.statistical, parts.systematic]
    strengths += [*groups.mu, *groups.error, *groups.minos_down, *groups.minos_up]
    return {
        "significance": [found.Z, found.q0],
        "hypotest": [test.CLs_obs, *test.CLs_exp],
        "gof": [fit.p, fit.statistic, fit.ks, fit.ad],
        "compatibility": [common.statistic, common.p],
        "predict": np.concatenate([[*c.postfit, *c.error] for c in channels]),
        "strengths": np.array(strengths) / unit,
    }


def toys_of(model, unit):
    options = {"n": 300, "seed": 3}
    test = model.hypotest_toys(0.0, test_stat="q0", **options)
    fit, observed = model.goodness_of_fit_toys(**options), model.compatibility_toys(**options)
    plain = paritas.fit_toys(model, **options)
    return {
        "hypotest": [test.q, test.p0, test.mu_hat / unit],
        "gof": [fit.p],
        "compatibility": [observed.p],
        "toys": plain.values[:, model.index("mu")] / unit,
    }


@pytest.mark.parametrize("question", [answers_of, toys_of], ids=["formulas", "toys"])
def test_no_answer_depends_on_the_unit_of_the_signal(models, question):
    first, second = both(models, question)
    for name, values in first.items():
        assert second[name] == pytest.approx(values, rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize(
    "quantity, statistic", [("q", "q0"), ("z", "q0"), ("cls", "qtilde"), ("limit", "qtilde")]
)
def test_no_loss_depends_on_the_unit_of_the_signal(models, quantity, statistic, shared):
    first, second = both(models, gradient(quantity, statistic, shared))
    assert second == pytest.approx(first, rel=1e-6)


def test_losses_agree_with_tests_beyond_the_bound(models):
    small = models[1]

    def value(quantity, statistic, at=None):
        of = _engine.Quantity(quantity, statistic)
        return _engine.differentiate(small, of, None, 1, at=at).values[0, 0]

    assert value("q", "q0") == pytest.approx(small.significance().q0, rel=1e-6)
    assert value("cls", "qtilde", [120.0]) == pytest.approx(small.hypotest(120.0).CLs_obs, rel=1e-6)


def scaled_entries(answer, unit):
    shifts = ("impact_up", "impact_down", "prefit_up", "prefit_down")
    return [entry[key] / unit for entry in answer["entries"] for key in shifts]


COMMANDS = {
    "ranking": ([], scaled_entries),
    "scan": (["--points", "5"], lambda a, u: [p["q"] for p in a["points"]]),
    "scan another": (["--par", "uA[0]=0.7:1.3:5"], lambda a, u: [p["q"] for p in a["points"]]),
    "contour": (
        ["--par", "mu", "--par", "uA[0]", "--points", "8"],
        lambda a, u: [
            number
            for region in a["contours"]
            for p in region["points"]
            for number in (p["values"][0] / u, p["values"][1], p["q"])
        ],
    ),
    "interval": (["--ntoys", "200"], lambda a, u: [a["lower"] / u, a["upper"] / u]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_depends_on_the_unit_of_the_signal(files, name):
    arguments, numbers = COMMANDS[name]
    command = name.split()[0]
    first, second = (
        numbers(json.loads(run(command, path, *arguments, "--json").stdout), unit)
        for path, unit in zip(files, (1.0, UNIT))
    )
    close = 1e-6 * ERROR if command == "ranking" else 1e-9  # impacts are shifts of fits
    assert first and second == pytest.approx(first, rel=1e-6, abs=close)


def test_look_elsewhere_does_not_depend_on_the_unit_of_the_signal():
    def search(scale):
        whole = workspace(scale)
        background = workspace(scale)
        for channel in background["channels"]:
            channel["samples"] = channel["samples"][1:]
        background = paritas.Model.from_workspace(background)
        return paritas.look_elsewhere(background, [paritas.Model.from_workspace(whole)], 300, 1)

    first, second = search(1.0), search(1.0 / UNIT)
    for name in ("q0", "z_local", "p_global"):
        key = name if hasattr(first, name) else name.replace("z_local", "Z_local")
        assert getattr(second, key) == pytest.approx(getattr(first, key), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("command", ["significance", "gof", "compatibility", "hypotest"])
def test_the_answer_says_that_the_bound_was_widened(files, command):
    arguments = ["--mu", "5"] if command == "hypotest" else []
    text = run(command, files[1], *arguments).stdout
    answer = json.loads(run(command, files[1], *arguments, "--json").stdout)
    assert "The upper bound of mu was widened from 10 to 160, as the best fit lies beyond" in text
    assert (answer["bound_widened"], answer["upper_bound"]) == (True, 160.0)
    assert json.loads(run(command, files[0], *arguments, "--json").stdout)["bound_widened"] is False


@pytest.mark.parametrize("command", ["scan", "ranking", "predict", "toys"])
def test_a_note_says_that_the_bound_was_widened(files, command):
    done = run(command, files[1], "--json", *(["--ntoys", "5"] if command == "toys" else []))
    assert "the upper bound of mu was widened from 10 to 160" in done.stderr
    assert json.loads(done.stdout)["notes"] == [done.stderr.strip().split("paritas: ")[1]]


@pytest.mark.parametrize("command", ["significance", "gof", "compatibility"])
def test_a_bound_that_is_given_stays(files, models, command):
    answer = json.loads(run(command, files[1], "--range", "mu=0:10", "--json").stdout)
    assert (answer["bound_widened"], answer["upper_bound"]) == (False, 10.0)
    small = models[1]
    assert small.significance(bounds={"mu": (0, 10)}).mu_hat == 10.0
    assert small.significance(bounds={"uB[0]": (0.1, 10)}).mu_hat > 10.0  # another one's bounds


def test_a_fit_keeps_its_bounds_and_names_the_range(files):
    text = run("fit", files[1]).stdout
    assert "mu = 10 is at its upper bound; --range mu=0:20 widens it" in text
    assert "--range" not in run("fit", files[1], "--range", "mu=0:10").stdout
    assert "--range" not in run("fit", files[0]).stdout


def test_the_clone_of_pyhf_keeps_its_bounds():
    pyhf = paritas.pyhf
    whole = pyhf.Workspace(workspace(1.0 / UNIT))
    model = whole.model()
    data = whole.data(model)
    assert pyhf.infer.mle.fit(data, model)[model.config.poi_index] == 10.0
    settings = [
        model.config.suggested_init(),
        model.config.suggested_bounds(),
        model.config.suggested_fixed(),
    ]
    q0 = pyhf.infer.test_statistics.q0(0.0, data, model, *settings)
    free, held = (
        2 * -float(model.logpdf(point, data)[0])
        for point in (pyhf.infer.mle.fit(data, model), pyhf.infer.mle.fixed_poi_fit(0.0, data, model))
    )
    assert float(q0) == pytest.approx(held - free, rel=1e-6)
