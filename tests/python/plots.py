"""Results to draw, and every figure of paritas.plot made of them. As a program it draws the reference
pictures anew: python tests/python/plots.py"""

import os

import numpy as np

import paritas
from paritas import plot
from paritas.dask import Outcome

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
DPI = 40


def modifier(kind, name, data=None):
    return {"type": kind, "name": name, "data": data}


WORKSPACE = {
    "version": "1.0.0",
    "channels": [
        {
            "name": "CR",
            "samples": [
                {
                    "name": "background",
                    "data": [100.0, 80.0],
                    "modifiers": [
                        modifier("normfactor", "k"),
                        modifier("normsys", "scale", {"hi": 1.05, "lo": 0.95}),
                        modifier("staterror", "stat_CR", [4.0, 3.5]),
                    ],
                },
                {
                    "name": "other",
                    "data": [10.0, 12.0],
                    "modifiers": [modifier("normsys", "theory", {"hi": 1.3, "lo": 0.8})],
                },
            ],
        },
        {
            "name": "SR",
            "samples": [
                {
                    "name": "background",
                    "data": [50.0, 30.0, 12.0],
                    "modifiers": [
                        modifier("normfactor", "k"),
                        modifier("normsys", "scale", {"hi": 1.08, "lo": 0.93}),
                        modifier(
                            "histosys",
                            "shape",
                            {"hi_data": [52.0, 31.0, 14.0], "lo_data": [48.5, 29.0, 10.5]},
                        ),
                        modifier("staterror", "stat_SR", [3.0, 2.0, 1.2]),
                    ],
                },
                {
                    "name": "other",
                    "data": [5.0, 4.0, 3.0],
                    "modifiers": [modifier("normsys", "theory", {"hi": 1.2, "lo": 0.9})],
                },
                {
                    "name": "signal",
                    "data": [2.0, 8.0, 10.0],
                    "modifiers": [
                        modifier("normfactor", "mu"),
                        modifier("normsys", "theory", {"hi": 1.1, "lo": 0.92}),
                    ],
                },
            ],
        },
    ],
    "observations": [{"name": "CR", "data": [112.0, 95.0]}, {"name": "SR", "data": [57.0, 41.0, 24.0]}],
    "measurements": [{"name": "fit", "config": {"poi": "mu", "parameters": []}}],
}


class Results:
    """Of the workspace above, each made once."""

    def __init__(self):
        self.model = paritas.Model.from_workspace(WORKSPACE)
        self.fit = self.model.fit()
        self.tests = self.model.hypotest(np.linspace(0.0, 3.0, 16))
        self.limit = self.model.upper_limit()
        self.ranking = self.model.ranking()
        self.prediction = self.model.predict(best=self.fit)
        self.scan = self.model.scan(("mu", np.linspace(0.0, 2.5, 21)))
        self.grid = self.model.scan(("mu", np.linspace(0.0, 2.5, 13)), ("k", np.linspace(0.8, 1.3, 11)))
        self.minos = self.model.minos("mu", best=self.fit)
        # quantiles of the asymptotic distributions: toys without chance
        share = (np.arange(400) + 0.5) / 400
        self.background_toys = np.sort(
            (2.0 + 3.2 * (share - 0.5) + 0.9 * np.sign(share - 0.5) * (2 * share - 1) ** 6) ** 2
        )
        self.signal_toys = np.where(share < 0.5, 0.0, -2.0 * np.log(2.0 - 2.0 * np.minimum(share, 1 - 1e-3)))


def patches_of(limit):
    """Points in a plane, excluded towards the lower left."""
    return {
        f"{x} {y}": Outcome(
            limit.replace(limit_obs=mu, limit_exp=mu * np.geomspace(0.5, 2.0, 5)), "converged", None, (x, y)
        )
        for x in (200, 400, 600, 800)
        for y in (0, 100, 250)
        for mu in [np.exp((x + y - 600.0) / 300.0)]
    }


FIGURES = {
    "brazil_band": lambda r: plot.brazil_band(r.tests, components=True),
    "brazil_band_log": lambda r: plot.brazil_band(r.limit, log=True),
    "exclusion": lambda r: plot.exclusion(patches_of(r.limit)),
    "mass_limits": lambda r: plot.mass_limits(
        [100, 200, 300], [r.limit, r.limit, r.limit], scale=[1.0, 0.3, 0.1], theory=[2.0, 0.5, 0.1]
    ),
    "pulls": lambda r: plot.pulls(r.fit, r.model),
    "ranking": lambda r: plot.ranking(r.ranking, top=6, best=r.fit),
    "correlation": lambda r: plot.correlation(r.fit, threshold=0.1),
    "scan": lambda r: plot.scan(r.scan, best=r.fit, minos=r.minos),
    "contours": lambda r: plot.contours(r.grid, expected=(1.0, 1.0)),
    "toys": lambda r: plot.toys(r.signal_toys, r.background_toys, 3.0, q_A=4.0),
    "goodness_of_fit": lambda r: plot.goodness_of_fit(np.linspace(1.0, 12.0, 200), 5.0, ndof=6),
    "data_model_prefit": lambda r: plot.data_model(r.prediction["SR"], "prefit", signal=["signal"]),
    "data_model_postfit": lambda r: plot.data_model(
        r.prediction["SR"], edges=[0.0, 50.0, 100.0, 250.0], xlabel="mass [GeV]", signal=["signal"]
    ),
    "templates": lambda r: plot.templates(r.model, "SR", "background", "shape"),
    "modifier_grid": lambda r: plot.modifier_grid(WORKSPACE),
}


def draw(figure):
    """Its picture: (height, width, 3) from 0 to 1, without text and legends and with the axes where they are
    before these are given room: what text looks like, and so how much room it takes, is another with every
    version of matplotlib and of FreeType."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.tick_params(which="both", labelleft=False, labelright=False, labeltop=False, labelbottom=False)
        if axes.get_legend() is not None:
            axes.get_legend().remove()
    for text in figure.findobj(Text):
        text.set_visible(False)
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3] / 255.0


def main():
    from matplotlib.image import imsave

    os.makedirs(PICTURES, exist_ok=True)
    results = Results()
    for name, make in FIGURES.items():
        imsave(os.path.join(PICTURES, name + ".png"), draw(make(results)), pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
