"""spey-pyhf's tests and limits, as JSON on the standard output."""

import json
import sys

import spey

statistics = spey.get_backend("pyhf.uncorrelated_background")(
    signal_yields=[12.0, 11.0],
    background_yields=[50.0, 52.0],
    data=[51, 48],
    absolute_uncertainties=[3.0, 7.0],
)
found = {
    "CLs": statistics.exclusion_confidence_level(),
    "CLs_expected": statistics.exclusion_confidence_level(expected=spey.ExpectationType.aposteriori),
    "limit": statistics.poi_upper_limit(),
    "maximum": statistics.maximize_likelihood(),
    "sigma": statistics.sigma_mu(1.0),
}
json.dump(found, sys.stdout, default=float)
