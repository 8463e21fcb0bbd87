"""Expected data and likelihoods agree with pyhf's to 1e-11, at random points of generated workspaces.

generate.py covers every modifier and edge case. The interpolation codes take turns."""

import itertools

import numpy as np
import pytest
from comparison import answer, pyhf_model, random_point
from generate import workspaces

pytestmark = pytest.mark.many

CODES = list(itertools.product(("4", "1"), ("4p", "0", "2")))
COUNT = 330
POINTS = 3
TOLERANCE = 1e-11


def cases():
    for index, (name, workspace) in enumerate(workspaces(COUNT, 20)):
        codes = CODES[index % len(CODES)]
        yield pytest.param(index, workspace, *codes, id=f"{name}-normsys{codes[0]}-histosys{codes[1]}")


@pytest.mark.parametrize("index, workspace, normsys, histosys", cases())
def test_expected_data_and_logpdf_are_pyhfs(index, workspace, normsys, histosys, saved):
    model = pyhf_model(workspace, normsys, histosys)
    data = np.array(model_data(workspace, model))
    path = saved(workspace)
    generator = np.random.default_rng([31, index])
    for point in [model.config.suggested_init()] + [random_point(model, generator) for _ in range(POINTS)]:
        ours = answer(
            "nll",
            path,
            "--point",
            saved(point),
            "--expected",
            "--normsys-code",
            normsys,
            "--histosys-code",
            histosys,
        )
        assert [parameter["name"] for parameter in ours["parameters"]] == model.config.par_names

        expected = np.asarray(model.expected_data(point))
        found = np.array(ours["expected_main"] + ours["expected_aux"])
        assert found.shape == expected.shape
        # the terms of a rate may cancel, so the scale of a bin is the sum of their sizes
        scale = np.concatenate([rate_scale(model, point), np.abs(expected[model.config.nmaindata :])])
        assert np.all(np.abs(found - expected) <= TOLERANCE * scale)

        rates = expected[: model.config.nmaindata]
        observed = data[: model.config.nmaindata]
        if np.any(rates < 0) or np.any((rates == 0) & (observed > 0)):
            assert ours["twice_nll"] is None  # outside the domain
            continue
        twice_nll = -2 * float(model.logpdf(point, data)[0])
        assert abs(ours["twice_nll"] - twice_nll) <= TOLERANCE * max(
            abs(twice_nll), likelihood_scale(rates, observed)
        )


def model_data(workspace, model):
    observations = {entry["name"]: entry["data"] for entry in workspace["observations"]}
    return [value for channel in model.config.channels for value in observations[channel]] + list(
        model.config.auxdata
    )


def rate_scale(model, point):
    by_sample = np.asarray(model.main_model.expected_data(point, return_by_sample=True))
    nominal = np.abs(np.asarray(model.nominal_rates)).reshape(len(model.config.samples), -1)
    return np.maximum(np.abs(by_sample).reshape(nominal.shape), nominal).sum(axis=0)


def likelihood_scale(rates, observed):
    """The size of the largest term. Rounding errors have this scale even if the sum is small."""
    logs = np.log(np.where(rates > 0, rates, 1.0))
    return float(np.max(2 * (np.abs(observed * logs) + rates), initial=1.0))
