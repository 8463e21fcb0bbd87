"""cabinetry from fit to figures: numbers as JSON on the standard output, figures in the folder argv[1]."""

import json
import sys
from pathlib import Path

import cabinetry
import matplotlib

matplotlib.use("agg")
SAMPLES = [
    ("signal", [2.0, 9.0, 14.0], [{"name": "mu", "type": "normfactor", "data": None}]),
    (
        "background",
        [70.0, 50.0, 22.0],
        [
            {"name": "rate", "type": "normsys", "data": {"hi": 1.08, "lo": 0.93}},
            {"name": "shape", "type": "histosys", "data": {"hi_data": [75, 50, 20], "lo_data": [66, 51, 25]}},
            {"name": "staterror_SR", "type": "staterror", "data": [4.0, 3.5, 2.0]},
        ],
    ),
]
SPEC = {
    "channels": [
        {
            "name": "SR",
            "samples": [
                {"name": name, "data": data, "modifiers": modifiers} for name, data, modifiers in SAMPLES
            ],
        }
    ],
    "observations": [{"name": "SR", "data": [75.0, 61.0, 40.0]}],
    "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
    "version": "1.0.0",
}


def bands(prediction):
    return [prediction.model_yields, prediction.total_stdev_model_bins, prediction.total_stdev_model_channels]


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


model, data = cabinetry.model_utils.model_and_data(SPEC)
fit = cabinetry.fit.fit(model, data, minos=["mu", "shape"], goodness_of_fit=True)
ranking = cabinetry.fit.ranking(model, data, fit_results=fit)
scan = cabinetry.fit.scan(model, data, "mu", par_range=(0, 2), n_steps=5)
limit = cabinetry.fit.limit(model, data)
significance = cabinetry.fit.significance(model, data)
before = cabinetry.model_utils.prediction(model)
after = cabinetry.model_utils.prediction(model, fit_results=fit)
# the signal stands at its bound here: no signal in the data
none = cabinetry.fit.fit(model, [70.0, 48.0, 14.0] + model.config.auxdata)
drawn = {"figure_folder": sys.argv[1], "close_figure": True}
cabinetry.visualize.pulls(fit, **drawn)
cabinetry.visualize.correlation_matrix(fit, **drawn)
cabinetry.visualize.ranking(ranking, **drawn)
cabinetry.visualize.scan(scan, **drawn)
cabinetry.visualize.limit(limit, **drawn)
cabinetry.visualize.data_mc(before, data, **drawn)
cabinetry.visualize.data_mc(after, data, **drawn)
cabinetry.visualize.modifier_grid(model, **drawn)
found = {
    "values": fit.bestfit,
    "errors": fit.uncertainty,
    "minos": [fit.minos_uncertainty[name] for name in ("mu", "shape")],
    "correlations": fit.corr_mat.ravel(),
    "twice_nll": fit.best_twice_nll,
    "goodness_of_fit": fit.goodness_of_fit,
    "impacts": [ranking.prefit_up, ranking.prefit_down, ranking.postfit_up, ranking.postfit_down],
    "scan": scan.delta_nlls,
    "limits": [limit.observed_limit, *limit.expected_limit],
    "significance": [significance.observed_significance, significance.expected_significance],
    "bands_before": bands(before),
    "bands_after": bands(after),
    "values_at_bound": none.bestfit,
    "twice_nll_at_bound": none.best_twice_nll,
}
found["figures"] = sorted(path.name for path in Path(sys.argv[1]).glob("**/*.pdf"))
json.dump({name: plain(value) for name, value in found.items()}, sys.stdout, default=plain)
