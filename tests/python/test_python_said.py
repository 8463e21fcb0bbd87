"""What Python says: our words for wrong numbers, short reprs, docstrings that teach, rows without data."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import paritas

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TWO = os.path.join(ROOT, "examples", "two_bins.json")
CARD = os.path.join(ROOT, "tests", "datacard", "shapes.txt")


@pytest.fixture(scope="module")
def model():
    return paritas.Model.from_workspace(TWO)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda m: m.fit_batch(fixed={"mu": np.array([1.0, 2.0])}), "mu: one number is wanted"),
        (lambda m: m.fit_batch(init={"mu": "a"}), "mu: numbers are wanted"),
        (lambda m: m.fit(data=["a", 2, 3, 4]), "data: numbers are wanted"),
        (lambda m: m.fit(data=np.array(["a", 2, 3, 4], dtype=object)), "data: numbers are wanted"),
        (lambda m: m.fit(init=[[1, 2], [3]]), "in rows of equal length"),
        (lambda m: m.hypotest("a"), "mu: numbers are wanted"),
        (lambda m: m.hypotest(1 + 2j), "mu: numbers are wanted"),
        (lambda m: m.fit(bounds={"mu": 3}), "bounds of mu: a pair"),
        (lambda m: m.twice_nll("abc"), "numbers are wanted"),
        (lambda m: m.twice_nll_batch([["a"]]), "points: numbers are wanted"),
    ],
)
def test_wrong_numbers_are_refused_in_our_words(model, call, said):
    with pytest.raises(paritas.InvalidArgument, match=said):
        call(model)


def test_python_numbers_of_an_object_array_are_numbers(model):
    from fractions import Fraction

    data = np.array([Fraction(51), 48, *model.data[2:]], dtype=object)
    assert model.fit(data=data).twice_nll == model.fit().twice_nll
    assert model.hypotest(Fraction(1)).CLs_obs == model.hypotest(1.0).CLs_obs


def test_a_row_without_data_has_no_answer_and_spoils_no_other(model):
    data = np.tile(model.data, (4, 1))
    data[1, 0], data[2, 1], data[3, 2] = np.nan, -1, np.inf
    found = model.fit_batch(data, errors=True, covariance=True)
    assert list(found.status) == ["converged"] + 3 * ["non_finite"]
    assert found.twice_nll[0] == model.fit().twice_nll and np.isnan(found.twice_nll[1:]).all()
    for numbers in (found.values, found.errors, found.covariance):
        assert np.isnan(numbers[1:]).all() and np.isfinite(numbers[0]).any()
    assert np.isnan(data[1, 0]) and list(found.converged) == [True, False, False, False]
    with pytest.raises(paritas.InvalidArgument, match="must be a finite number"):
        model.fit(data=data[1])


def test_completion_has_no_strangers():
    strangers = {"Any", "TYPE_CHECKING", "find_spec", "import_module", "name_hint"}
    assert not strangers & set(dir(paritas)) and set(paritas.__all__) <= set(dir(paritas))


def test_help_names_every_keyword_and_the_result():
    for function in (paritas.upper_limit, paritas.hypotest_toys, paritas.scan, paritas.significance):
        for name, one in inspect.signature(function).parameters.items():
            if one.kind is one.KEYWORD_ONLY:
                assert name in function.__doc__, (function, name)
    assert "Returns a LimitResult:" in paritas.upper_limit.__doc__
    assert "limit_obs: observed limit" in paritas.upper_limit.__doc__


def test_reprs_fit_on_two_lines(model):
    limit, test = model.upper_limit(), model.hypotest(1.0)
    assert len(repr(limit)) < 200 and repr(limit).startswith("<LimitResult: level=0.05, limit_obs=1.01157,")
    assert len(repr(test)) < 200 and "CLs_obs=0.0525155" in repr(test)
    from paritas.steering import WorkspaceBuilder

    builder = WorkspaceBuilder()
    channel = builder.channel("SR")
    sample = channel.sample("signal", [1.0, 2.0])
    assert repr(channel) == "<paritas.ChannelBuilder: SR, samples signal>"
    assert repr(sample) == "<paritas.SampleBuilder: signal in SR, 2 bins, modifiers none>"
    assert repr(builder) == "<paritas.WorkspaceBuilder: channels SR>"


def test_a_band_takes_one_test_and_starts_at_zero(model):
    plot = pytest.importorskip("paritas.plot")
    assert plot.brazil_band(model.hypotest(1.0)).axes
    limit = model.upper_limit()
    axes = plot.brazil_band(limit).axes[0]
    dots = next(line for line in axes.lines if line.get_marker() == "o")
    median = next(line for line in axes.lines if line.get_linestyle() == "--")
    x, y = median.get_data()
    assert axes.get_xlim()[0] == 0.0 and x[0] == 0.0 and y[0] == 1.0 and len(x) > 100
    assert (np.diff(y) <= 1e-12).all()
    tested = dict(zip(*(np.asarray(one) for one in dots.get_data())))
    for test in limit.scan:
        assert tested[test.mu] == pytest.approx(test.CLs_obs, rel=1e-9)
        assert y[x == test.mu][0] == pytest.approx(test.CLs_exp[2], rel=1e-9)
    mu = np.array([0.1, 0.3, 0.9, 1.2, 1.7])
    exact = [test.CLs_exp[2] for test in model.hypotest(mu)]
    np.testing.assert_allclose(np.interp(mu, x, y), exact, rtol=0.01)


def test_cards_have_their_options_everywhere(tmp_path):
    found = paritas.Model.from_workspace(CARD, mass=125, exact=True)
    assert found.parameter_names
    with pytest.raises(TypeError, match="mass, maps and exact go with the path"):
        paritas.Model.from_workspace({"channels": []}, mass=125)
    for command in (["report"], ["convert"]):
        out = tmp_path / command[0]
        words = ["-m", "125", "--map", ".*/sig.*:mu[1,0,5]", "--exact", "-o", str(out)]
        done = subprocess.run(
            [sys.executable, "-m", "paritas", *command, CARD, *words], capture_output=True, text=True
        )
        assert done.returncode in (0, 1), done.stderr
        assert out.exists() and "mu" in out.read_text()
        helped = subprocess.run(
            [sys.executable, "-m", "paritas", *command, "--help"], capture_output=True, text=True
        )
        assert all(word in helped.stdout for word in ("--mass", "--map", "--mask", "--exact"))


def test_channel_xml_for_a_combination_names_the_cure(tmp_path):
    from paritas.convert import histfactory_xml

    path = tmp_path / "channel.xml"
    path.write_text('<Channel Name="c"></Channel>')
    with pytest.raises(paritas.Error, match="give the file whose <Input> elements name this one"):
        histfactory_xml.read(str(path), str(tmp_path))


def test_a_long_fit_by_evolution_ends_when_it_is_interrupted(tmp_path):
    """The fit runs in a process of its own, whose main thread gets the signal."""
    import signal
    import time

    path = tmp_path / "long.py"
    path.write_text(
        "import paritas, sys\n"
        f"model = paritas.Model.from_workspace({TWO!r})\n"
        "print('now', flush=True)\n"
        "try:\n"
        "    model.fit(minimizer='de', population=60000, max_iterations=3000)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "now\n"
        time.sleep(0.5)
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 7 and time.monotonic() - began < 5


def test_a_watched_fit_has_the_bits_of_others(model):
    told = []
    found = model.fit(minimizer="de", seed=3, progress=lambda done, total: told.append(done))
    for threads in (1, 2):
        again = model.fit_batch(np.tile(model.data, (5, 1)), minimizer="de", seed=3, threads=threads)
        assert (again.values == found.values).all() and (again.twice_nll == found.twice_nll).all()
