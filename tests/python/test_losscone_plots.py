"""Figures of loss cones show the numbers that they were given, and look as they did. As a program it draws
the reference pictures anew."""

import os

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

from losscone_support import directions
from paritas import losscone
from paritas.plot import losscone as figures
from plots import PICTURES, draw
from test_plot import difference

# As test_plot's, of figures on which matplotlib 3.6 and 3.11 agree within 3e-5; a map turned by 20 degrees
# differs by 0.012, a curve left out by 0.018.
TOLERANCE = 0.006


class Results:
    """Three sweeps of known truth with noise, and a table of a hundred."""

    def __init__(self):
        energy, cosine = directions(3)
        truth = np.array([[-80.0, 0.5, 1.5], [-250.0, 0.8, 0.0], [-20.0, 0.95, 0.0]])
        blank = losscone.Sweeps.of(energy, 8.0, cosine, np.ones_like(cosine))
        noise = np.exp(0.15 * np.sin(1e4 * np.arange(cosine.size).reshape(cosine.shape) ** 1.5))
        flux = losscone.model(blank, truth)[0] * noise
        flux[0, :, 60:66] = np.nan
        self.sweeps = losscone.Sweeps.of(energy, 8.0, cosine, flux)
        self.fit = losscone.fit(self.sweeps)
        self.profiles = [
            losscone.profile(self.sweeps, np.linspace(-200.0, 0.0, 401), response=response)
            for response in ("hard", "folded")
        ]
        k = np.arange(100)
        numbers = (
            "time",
            "potential",
            "potential_lower",
            "potential_upper",
            "confidence_lower",
            "confidence_upper",
            "spacecraft_in_sun",
            "projection_longitude",
            "projection_latitude",
        )
        flags = ("confidence_at_lower_bound", "confidence_at_upper_bound")
        t = self.table = np.zeros(
            100, [*((name, "f8") for name in numbers), *((name, "?") for name in flags)]
        )
        t["time"], t["potential"] = 884908800.0 + 80.0 * k, -150.0 + 100.0 * np.sin(0.1 * k)
        t["potential_lower"], t["potential_upper"] = t["potential"] - 8.0, t["potential"] + 5.0
        t["confidence_lower"], t["confidence_upper"] = t["potential"] - 30.0, t["potential"] + 15.0
        t["spacecraft_in_sun"] = np.where(k < 10, np.nan, np.where((k >= 40) & (k < 60), 0.0, 1.0))
        t["projection_longitude"], t["projection_latitude"] = 5.0 * k % 360.0, 80.0 * np.sin(0.2 * k)
        t["confidence_at_lower_bound"][70] = True
        t["potential"][5] = np.nan


FIGURES = {
    "losscone_sweep": lambda r: figures.sweep(r.fit, 0),
    "losscone_profile": lambda r: figures.profile(r.profiles, fit=r.fit),
    "losscone_time": lambda r: figures.time_series(r.table),
    "losscone_map": lambda r: figures.map(r.table),
}


@pytest.fixture(scope="module")
def results():
    return Results()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_as_its_reference(results, name):
    from matplotlib.image import imread

    before = dict(matplotlib.rcParams)
    drawn = draw(FIGURES[name](results))
    assert dict(matplotlib.rcParams) == before
    reference = imread(os.path.join(PICTURES, name + ".png"))[:, :, :3]
    assert drawn.shape == reference.shape and difference(drawn, reference) < TOLERANCE


def test_the_tolerance_tells_wrong_figures(results):
    turned = results.table.copy()
    turned["projection_longitude"] += 20.0
    for right, wrong in (
        (figures.map(results.table), figures.map(turned)),
        (
            figures.profile(results.profiles, fit=results.fit),
            figures.profile(results.profiles[:1], fit=results.fit),
        ),
        (figures.time_series(results.table), figures.time_series(results.table, intervals="plateau")),
    ):
        assert difference(draw(right), draw(wrong)) > 1.5 * TOLERANCE


def test_a_sweep_shows_every_cell_with_a_flux_its_model_and_their_difference(results):
    measured, model, residual = figures.sweep(results.fit, 0).axes[:3]
    shown = {axes: axes.collections[0] for axes in (measured, model, residual)}
    flux, there = results.sweeps.flux[0], np.isfinite(results.sweeps.flux[0])
    assert len(shown[measured].get_array()) == there.sum() and len(shown[model].get_array()) == there.size
    order = np.argsort(results.sweeps.cosine[0], axis=1)[:, ::-1]
    expected = np.concatenate([flux[i, order[i]][np.isfinite(flux[i, order[i]])] for i in range(15)])
    np.testing.assert_allclose(np.sort(shown[measured].get_array()), np.sort(expected), rtol=1e-12)
    point = results.fit.point(0)
    values, edge = losscone.model(results.sweeps[0], point)
    np.testing.assert_allclose(np.sort(shown[model].get_array()), np.sort(values.ravel()), rtol=1e-12)
    squares = (shown[residual].get_array() ** 2).sum()
    assert squares == pytest.approx(results.fit["misfit"][0], rel=1e-3)
    stairs = measured.patches[0].get_data()
    np.testing.assert_allclose(stairs.values, 180.0 - edge[0], rtol=1e-12)
    assert (stairs.edges[:-1] < results.sweeps.energy[0]).all() and (
        stairs.edges[1:] > results.sweeps.energy[0]
    ).all()
    boxes = [path.vertices for path in shown[measured].get_paths()]
    assert min(box[:, 1].min() for box in boxes) == 0.0 and max(box[:, 1].max() for box in boxes) == 180.0


def test_a_sweep_of_the_folded_edge_has_its_own_model(results):
    axes = figures.sweep(results.fit, 1, response="folded").axes[1]
    values, _ = losscone.model(results.sweeps[1], results.fit.point(1, "folded"), response="folded")
    np.testing.assert_allclose(np.sort(axes.collections[0].get_array()), np.sort(values.ravel()), rtol=1e-12)
    with pytest.raises(ValueError, match="response 'soft': fitted are hard, folded"):
        figures.sweep(results.fit, 1, response="soft")


def test_a_sweep_without_a_fit_is_refused(results):
    flux = np.full_like(results.sweeps.flux[:1], np.nan)
    fit = losscone.fit((results.sweeps.energy[:1], 8.0, results.sweeps.cosine[:1], flux))
    with pytest.raises(ValueError, match="sweep 0 has no fit: no_cells"):
        figures.sweep(fit, 0)


def span(patch):
    """Least and largest x of a span, which older matplotlibs draw as a polygon."""
    x = patch.get_patch_transform().transform(patch.get_path().vertices)[:, 0]
    return x.min(), x.max()


def test_a_profile_has_its_curve_its_plateau_and_its_threshold(results):
    axes = figures.profile(results.profiles, fit=results.fit).axes[0]
    curves = [line for line in axes.lines if line.get_label().startswith("misfit")]
    for line, profile in zip(curves, results.profiles):
        np.testing.assert_array_equal(line.get_ydata(), profile.misfit[0])
    spans = {patch.get_label(): patch for patch in axes.patches}
    assert span(spans["plateau, hard"]) == (
        results.fit["potential_lower"][0],
        results.fit["potential_upper"][0],
    )
    levels = [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == ":"]
    assert levels[0] == results.fit["misfit"][0] + results.fit["confidence_threshold"][0]


def test_a_time_series_has_its_intervals_and_is_grey_in_shade_alone(results):
    axes = figures.time_series(results.table).axes[0]
    points = axes.lines[-1]
    np.testing.assert_allclose(points.get_xdata() * 86400.0, results.table["time"])
    np.testing.assert_array_equal(points.get_ydata(), results.table["potential"])
    lines = axes.collections[0].get_segments()
    np.testing.assert_allclose(
        [line[:, 1] for line in lines],
        np.stack([results.table["confidence_lower"], results.table["confidence_upper"]], axis=1),
    )
    shaded = [end * 86400.0 - results.table["time"][0] for end in span(axes.patches[0])]
    assert len(axes.patches) == 1 and shaded == pytest.approx([39.5 * 80.0, 59.5 * 80.0], abs=1e-3)
    open_below = [line for line in axes.lines if line.get_marker() == "v"]
    assert len(open_below) == 1 and open_below[0].get_ydata().tolist() == [
        results.table["confidence_lower"][70]
    ]
    plateau = figures.time_series(results.table, intervals="plateau").axes[0].collections[0].get_segments()
    np.testing.assert_allclose(
        [line[:, 1] for line in plateau],
        np.stack([results.table["potential_lower"], results.table["potential_upper"]], axis=1),
    )
    with pytest.raises(ValueError, match="intervals 'all'"):
        figures.time_series(results.table, intervals="all")


def test_a_map_has_the_points_that_are_known_at_their_places(results):
    points = figures.map(results.table).axes[0].collections[0]
    known = np.isfinite(results.table["potential"])
    longitude = (results.table["projection_longitude"][known] + 180.0) % 360.0 - 180.0
    np.testing.assert_allclose(
        points.get_offsets(), np.stack([longitude, results.table["projection_latitude"][known]], axis=1)
    )
    np.testing.assert_array_equal(points.get_array(), results.table["potential"][known])
    nowhere = results.table.copy()
    nowhere["projection_latitude"] = np.nan
    with pytest.raises(ValueError, match="give the fits a table of geometry"):
        figures.map(nowhere)


if __name__ == "__main__":
    from matplotlib.image import imsave

    made = Results()
    for name, make in FIGURES.items():
        imsave(os.path.join(PICTURES, f"{name}.png"), draw(make(made)), pil_kwargs={"optimize": True})
