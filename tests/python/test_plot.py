"""Figures show the numbers that they were given, in the conventions of the field, and look as they did."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

import paritas
from paritas import plot
from paritas.dask import Outcome
from paritas.plot.distributions import asymptotic_density
from paritas.plot.histograms import poisson_errors
from paritas.plot.style import plain
from plots import FIGURES, PICTURES, WORKSPACE, Results, draw, modifier, patches_of

# Root mean square difference of pictures (0 black, 1 white), of means over blocks of 8 x 8 pixels. matplotlib
# 3.6 and 3.11 differ by 0.024 at most; a band one sigma too wide differs by 0.12.
TOLERANCE = 0.03


@pytest.fixture(scope="module")
def results():
    return Results()


def blocks(picture, side=8):
    height, width = (n - n % side for n in picture.shape[:2])
    return picture[:height, :width].reshape(height // side, side, width // side, side, 3).mean(axis=(1, 3))


def difference(one, other):
    return float(np.sqrt(np.mean((blocks(one) - blocks(other)) ** 2)))


@pytest.fixture(scope="module")
def figures(results):
    """All figures and their pictures, with what drawing them did to matplotlib."""
    before, opened = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    made = {name: make(results) for name, make in FIGURES.items()}
    untouched = dict(matplotlib.rcParams) == before and ("matplotlib.pyplot" in sys.modules) == opened
    return {"made": made, "untouched": untouched}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_as_its_reference(results, name):
    from matplotlib.image import imread

    drawn = draw(FIGURES[name](results))
    reference = imread(os.path.join(PICTURES, name + ".png"))[:, :, :3]
    assert drawn.shape == reference.shape
    assert difference(drawn, reference) < TOLERANCE


def test_the_tolerance_tells_a_wrong_band(results):
    right = draw(plot.brazil_band(results.tests))
    wrong = draw(
        plot.brazil_band([test.replace(CLs_exp=test.CLs_exp[[0, 1, 2, 4, 4]]) for test in results.tests])
    )
    assert difference(right, wrong) > TOLERANCE


def test_figures_use_no_global_setting_and_leave_nothing_open(figures):
    assert figures["untouched"]


def test_matplotlib_is_imported_at_the_first_figure_only():
    program = "import sys, paritas, paritas.plot, paritas.report; assert 'matplotlib' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
    )


def test_a_brazil_band_has_the_numbers_of_its_tests(results):
    axes = plot.brazil_band(results.tests[::-1]).axes[0]
    lines = {line.get_color() + line.get_linestyle(): line for line in axes.lines}
    np.testing.assert_array_equal(lines["black-"].get_ydata(), [test.CLs_obs for test in results.tests])
    np.testing.assert_array_equal(lines["black--"].get_ydata(), [test.CLs_exp[2] for test in results.tests])
    np.testing.assert_array_equal(lines["black-"].get_xdata(), [test.mu for test in results.tests])
    wide, narrow = (collection.get_paths()[0].vertices for collection in axes.collections[:2])
    for band, (low, high) in ((wide, (0, 4)), (narrow, (1, 3))):
        assert {round(test.CLs_exp[low], 12) for test in results.tests} <= set(np.round(band[:, 1], 12))
        assert {round(test.CLs_exp[high], 12) for test in results.tests} <= set(np.round(band[:, 1], 12))
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == r"$\alpha = 0.05$"


def test_a_test_that_did_not_converge_leaves_a_gap(results):
    tests = results.model.hypotest([0.5, 1.0, 1.5])
    tests[1] = tests[1].replace(status="at_iteration_limit")
    observed = [line for line in plot.brazil_band(tests).axes[0].lines if line.get_marker() == "o"][0]
    np.testing.assert_array_equal(np.isnan(observed.get_ydata()), [False, True, False])


def test_pulls_are_in_units_of_the_prefit_error(results):
    model, fit = results.model, results.fit
    upper, lower = plot.pulls(fit, model).axes
    names = [text.get_text() for text in upper.get_yticklabels()]
    assert sorted(names) == ["scale", "shape", "theory"] and upper.get_xlim() == (-3.0, 3.0)
    np.testing.assert_allclose(upper.lines[-1].get_xdata(), [fit[name][0] for name in names], rtol=1e-14)
    values = [text.get_text() for text in lower.get_yticklabels()]
    assert set(values) == set(model.parameter_names) - set(names)
    np.testing.assert_allclose(lower.lines[-1].get_xdata(), [fit[name][0] for name in values], rtol=1e-14)
    assert len(plot.pulls(fit, model, parameters=["theory", "mu"]).axes) == 2
    assert [
        text.get_text()
        for text in plot.pulls(fit, model, parameters=["theory", "shape"]).axes[0].get_yticklabels()
    ] == ["theory", "shape"]


def test_a_ranking_has_bars_of_the_impacts(results):
    figure = plot.ranking(results.ranking, top=3, first=1)
    pulls, impacts = figure.axes
    assert [text.get_text() for text in pulls.get_yticklabels()] == results.ranking.names[1:4]
    widths = [bar.get_width() for bar in impacts.patches]
    np.testing.assert_array_equal(widths[:3], results.ranking.impact_up[1:4])
    np.testing.assert_array_equal(widths[3:6], results.ranking.impact_down[1:4])
    low, high = impacts.get_xlim()
    assert low == -high and high >= np.nanmax(np.abs(results.ranking.impact_up[1:4]))
    with pytest.raises(ValueError, match="ranks from 99"):
        plot.ranking(results.ranking, first=99)


def test_correlations_below_the_threshold_are_left_out(results):
    figure = plot.correlation(results.fit, threshold=0.3)
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    matrix = results.fit.correlation - np.eye(len(results.fit.names))
    assert shown == [name for name, row in zip(results.fit.names, matrix) if np.abs(row).max() >= 0.3]
    with pytest.raises(ValueError, match="no two free parameters"):
        plot.correlation(results.fit, threshold=0.9999)


def test_a_scan_has_its_points_gaussian_and_minos(results):
    axes = plot.scan(results.scan, best=results.fit, minos=results.minos).axes[0]
    points = axes.lines[0]
    np.testing.assert_allclose(points.get_ydata(), results.scan.q, atol=1e-9)
    gauss = axes.lines[1]
    value, error = results.fit["mu"]
    np.testing.assert_allclose(
        gauss.get_ydata(), ((gauss.get_xdata() - value) / error) ** 2, rtol=1e-6, atol=1e-9
    )
    ends = sorted(line.get_xdata()[0] for line in axes.lines if line.get_color() == "crimson")
    np.testing.assert_allclose(ends, [results.scan.best[0] + offset for offset in results.minos["mu"]])
    assert [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == ":"] == [1.0, 4.0]


def test_contours_stand_where_the_profile_rises_by_their_level(results):
    axes = plot.contours(results.grid).axes[0]
    mesh = axes.collections[0]
    np.testing.assert_allclose(
        np.sort(np.ma.compressed(mesh.get_array())),
        np.sort(results.grid.twice_nll - results.grid.best_twice_nll),
    )
    with pytest.raises(ValueError, match="full grid"):
        part = results.model.scan("mu", "k", values=[[0.5, 1.0], [1.0, 1.1], [1.5, 1.2]])
        plot.contours(part)
    with pytest.raises(ValueError, match="see contours"):
        plot.scan(results.grid)


def test_data_and_stack_add_up_to_the_prediction(results):
    channel = results.prediction["SR"]
    for when, total in (("prefit", channel.prefit), ("postfit", channel.postfit)):
        axes = plot.data_model(channel, when, signal=["signal"]).axes[0]
        bars = [bar for bar in axes.containers if hasattr(bar, "patches")]
        np.testing.assert_allclose(
            np.sum([[patch.get_height() for patch in bar.patches] for bar in bars[:-1]], axis=0),
            total,
            rtol=1e-12,
        )
    band = [patch.get_height() / 2 for patch in bars[-1].patches]
    np.testing.assert_allclose(band, channel.error)
    # two of the stack, the band, the data
    assert len(plot.data_model(channel, most_samples=2).axes[0].containers) == 4


def test_a_prefit_error_is_that_of_the_constraints(results):
    model, channel = results.model, results.prediction["SR"]
    jacobian = model.expected_jacobian()[model.channels[1].slice]
    widths = np.nan_to_num(model.constraint_widths)
    np.testing.assert_allclose(
        channel.prefit_error, np.sqrt(((jacobian * widths) ** 2).sum(axis=1)), rtol=1e-12
    )
    np.testing.assert_allclose(
        channel.prefit_total_error, np.sqrt(((jacobian.sum(axis=0) * widths) ** 2).sum()), rtol=1e-12
    )
    jacobian = model.expected_jacobian(results.fit.values)[model.channels[1].slice].sum(axis=0)
    np.testing.assert_allclose(
        channel.total_error, np.sqrt(jacobian @ results.fit.covariance @ jacobian), rtol=1e-12
    )


def test_templates_are_those_of_the_workspace(results):
    axes = plot.templates(results.model, "SR", "background", "shape").axes[0]
    drawn = [patch.get_data()[0] for patch in axes.patches]
    np.testing.assert_allclose(drawn, [[50, 30, 12], [52, 31, 14], [48.5, 29, 10.5]], rtol=1e-12)
    with pytest.raises(ValueError, match="shift"):
        plot.templates(results.model, "SR", "background", "mu")
    with pytest.raises(ValueError, match="'none'"):
        plot.templates(results.model, "SR", "none", "shape")


def test_poisson_errors_are_the_central_intervals():
    stats = pytest.importorskip("scipy.stats")
    n = np.array([0, 1, 2, 3, 5, 10, 50, 1000])
    down, up = poisson_errors(n)
    tail = stats.norm.sf(1.0)
    exact_low = np.where(n > 0, stats.chi2.ppf(tail, 2 * np.maximum(n, 1)) / 2, 0.0)
    np.testing.assert_allclose(n - down, exact_low, atol=0.02)
    np.testing.assert_allclose(n + up, stats.chi2.isf(tail, 2 * n + 2) / 2, atol=0.02)


def test_toys_of_results_are_drawn(results):
    tested = results.model.hypotest_toys(1.0, 300, 1)
    figure = plot.toys(tested, q_A=results.model.hypotest(1.0).q_A)
    drawn = [patch for patch in figure.axes[0].patches if not patch.get_fill()]
    for patch, hypothesis in zip(drawn, (1.0, 0.0)):
        heights, edges, _ = patch.get_data()
        q = tested.toys["q"][tested.toys["hypothesis"] == hypothesis]
        np.testing.assert_allclose(heights, np.histogram(q, edges, density=True)[0])
    assert [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_label() == "observed"] == [
        tested.q
    ]
    fits, observed = results.model.fit_toys(n=300, seed=1), results.model.goodness_of_fit()
    axes = plot.goodness_of_fit(fits, observed).axes[0]
    assert sum(patch.get_height() for patch in axes.patches) == 300
    share = np.mean(fits.statistic >= observed.statistic)
    assert f"{share:.3f}" in axes.get_legend().get_texts()[-1].get_text()


@pytest.mark.parametrize(
    "test_stat, root, true_root",
    [("q", 2.0, 0.0), ("q", 2.0, 2.0), ("qtilde", 1.5, 0.0), ("qtilde", 1.5, 1.5), ("q0", 2.0, 2.0)],
)
def test_asymptotic_densities_integrate_to_what_is_not_at_zero(test_stat, root, true_root):
    from math import erf, sqrt

    root_q = np.linspace(0.0, 12.0, 200001)[1:]  # over sqrt(q): the density of q has an integrable pole at 0
    whole = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
    mass = whole(asymptotic_density(root_q**2, root, true_root, test_stat) * 2 * root_q, root_q)
    assert mass == pytest.approx(0.5 * (1 + erf(true_root / sqrt(2))), abs=2e-4)


def test_yields_tables_add_up_and_escape(results):
    text = plot.yields(results.prediction)
    assert text.splitlines()[0].split() == ["channel", "background", "other", "signal", "model", "data"]
    assert text.splitlines()[1].split()[-1] == "207" and " +- " in text
    assert len(plot.yields(results.prediction, by="bin").splitlines()) == 6
    latex = plot.yields(results.prediction, "prefit", form="latex", by="bin")
    assert latex.count(r"\\") == 6 and r"$\pm$" in latex
    nasty = json.loads(json.dumps(WORKSPACE).replace('"other"', '"<script>alert(1)</script>_$&"'))
    prediction = paritas.Model.from_workspace(nasty).predict()
    html = plot.yields(prediction, form="html")
    assert "<script>" not in html and "&lt;script&gt;" in html and html.count("<caption>") == 1
    assert r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{}\_\$\&" in plot.yields(
        prediction, form="latex"
    )
    with pytest.raises(ValueError, match="form"):
        plot.yields(results.prediction, form="xml")


def test_names_are_shown_as_they_are():
    assert plain("a_$b$") == r"a_\$b\$"
    assert plain("_hidden").strip() == "_hidden"
    assert len(plain("x" * 500)) <= 64 and "\n" not in plain("a\nb")


def inside(figure):
    """Does all that a figure shows lie on its paper?"""
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01


def overlapping(axes, along):
    """Do labels of the ticks of an axis overlap?"""
    boxes = sorted(
        (getattr(text.get_window_extent(), f"{along}0"), getattr(text.get_window_extent(), f"{along}1"))
        for text in getattr(axes, f"get_{along}ticklabels")()
        if text.get_text()
    )
    return any(later[0] < former[1] - 0.5 for former, later in zip(boxes, boxes[1:]))


def test_nothing_is_clipped_with_300_long_names():
    long = "a_systematic_uncertainty_with_a_name_that_nobody_would_want_to_type_number_{}"
    workspace = json.loads(json.dumps(WORKSPACE))
    for i in range(300):
        workspace["channels"][1]["samples"][0]["modifiers"].append(
            modifier("normsys", long.format(i), {"hi": 1.001 + i * 1e-5, "lo": 0.999})
        )
    model = paritas.Model.from_workspace(workspace)
    fit, ranked = model.fit(), model.ranking()
    figures = [
        plot.pulls(fit, model, top=30),
        plot.ranking(ranked, top=12, best=fit),
        plot.correlation(fit, top=9),
        plot.modifier_grid(workspace, top=30, first=100),
    ]
    for figure in figures:
        assert inside(figure)
        assert not overlapping(figure.axes[0], "y")
        box = figure.axes[0].get_position()
        assert box.width * figure.get_size_inches()[0] > 1.9  # inches left for what the names are about


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_inside_its_paper(figures, name):
    assert inside(figures["made"][name])


def test_given_axes_and_figures_are_drawn_into(results):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    assert plot.brazil_band(results.tests, ax=left) is figure and plot.scan(results.scan, ax=right) is figure
    assert left.lines and right.lines and len(figure.axes) == 2
    parts = Figure(figsize=(8, 4)).subfigures(1, 2)
    plot.data_model(results.prediction["SR"], figure=parts[0])
    assert len(parts[0].axes) == 2
    alone = Figure()
    plot.data_model(results.prediction["SR"], ax=alone.subplots())
    assert len(alone.axes) == 1


def test_an_exclusion_contour_is_where_the_limit_is_one(results):
    figure = plot.exclusion(patches_of(results.limit), ylabel="m_N")
    axes = figure.axes[0]
    paths = [path.vertices for drawn in axes.collections for path in drawn.get_paths() if len(path.vertices)]
    sums = sorted(np.mean(path.sum(axis=1)) for path in paths)
    # observed and median: log mu is linear in x + y and 0 at 600; -1 and +1 sigma: at sqrt(2) and its inverse
    shift = 300.0 * 0.5 * np.log(2.0)
    assert np.allclose(sums, [600 - shift, 600, 600, 600 + shift], atol=1e-6)
    excluded, others = (line for line in axes.lines if line.get_marker() == "o")
    assert len(excluded.get_xdata()) == 5 and len(others.get_xdata()) == 7
    assert axes.get_ylabel() == "m_N"
    on_a_line = {name: point for name, point in patches_of(results.limit).items() if point.labels[1] == 0}
    assert not plot.exclusion(on_a_line).axes[0].collections


def test_a_figure_of_nothing_is_refused_with_the_reason(results):
    lost = [test.replace(status="non_finite") for test in results.tests]
    nowhere = results.limit.replace(limit_obs=np.nan, limit_exp=np.full(5, np.nan))
    fixed = results.fit.replace(states=["fixed"] * len(results.fit.names))
    for reason, make in {
        "none converged": lambda: plot.brazil_band(lost),
        "of 1 points none converged": lambda: plot.exclusion({"a": Outcome(None, "failed", "no", (1, 2))}),
        "'a' and 'b' are both at": lambda: plot.exclusion(
            {name: Outcome(results.limit, "converged", None, (1, 2)) for name in "ab"}
        ),
        "none was found": lambda: plot.mass_limits([1, 2], [nowhere, nowhere]),
        "of 21 points none converged": lambda: plot.scan(
            results.scan.replace(status=np.full(21, "non_finite"))
        ),
        "of 143 points none converged": lambda: plot.contours(
            results.grid.replace(status=np.full(143, "non_finite"))
        ),
        "all are fixed": lambda: plot.pulls(fixed, results.model),
        "no toy with an answer": lambda: plot.toys([np.nan], []),
        "no covariance": lambda: plot.correlation(results.fit.replace(covariance=None)),
        "no channel 'X'": lambda: plot.modifier_grid(WORKSPACE, channel="X"),
        "3 bins have 4": lambda: plot.data_model(results.prediction["SR"], edges=[0.0, 1.0]),
    }.items():
        with pytest.raises(ValueError, match=reason):
            make()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_odd_results_are_drawn(results):
    channel, zero = results.prediction["SR"], np.zeros(3)
    empty = dataclasses.replace(
        channel,
        data=zero,
        postfit=zero,
        error=np.full(3, np.nan),
        samples={name: zero for name in channel.samples},
    )
    negative = dataclasses.replace(
        channel, postfit=-channel.postfit, samples={name: -values for name, values in channel.samples.items()}
    )
    some = np.where(np.arange(143) % 7 == 0, "non_finite", "converged")
    still = results.ranking.replace(
        **{
            name: np.zeros(len(results.ranking))
            for name in ("impact_up", "impact_down", "prefit_up", "prefit_down")
        },
    )
    for figure in (
        plot.data_model(empty),
        plot.data_model(negative),
        plot.data_model(dataclasses.replace(channel, data=1e5 * channel.data)),
        plot.contours(results.grid.replace(status=some)),
        plot.ranking(still),
        plot.brazil_band(results.tests[:1]),
        plot.pulls(results.fit.replace(errors=None), results.model),
        plot.toys([0.0], None, 0.0, q_A=0.0),
    ):
        assert inside(figure)


def test_a_style_that_is_not_there_is_named(results):
    with pytest.raises((ImportError, ValueError), match="mplhep"):
        plot.scan(results.scan, style="NO_SUCH_STYLE")
    plot.scan(results.scan, style="user")


def test_a_style_of_mplhep_holds_for_its_figure(results):
    pytest.importorskip("mplhep")
    before = dict(matplotlib.rcParams)
    figure = plot.data_model(results.prediction["SR"], style="CMS")
    assert dict(matplotlib.rcParams) == before and inside(figure)
    assert figure.axes[0].spines["left"].get_linewidth() == 2.0


def test_a_label_names_experiment_and_luminosity(results):
    figure = plot.scan(results.scan)
    plot.label(figure.axes[0], "ATLAS", "Internal", r"$\sqrt{s}$ = 13 TeV, 139 fb$^{-1}$")
    assert inside(figure)
    assert {text.get_text() for text in figure.axes[0].texts} >= {"ATLAS", "Internal"}
