"""Impacts where conditional fits are far wider than the free one."""

import pytest

import paritas


def normsys(name, low, high):
    return {"name": name, "type": "normsys", "data": {"lo": low, "hi": high}}


def workspace():
    """One bin. At -1 of `efficiency` the signal is a twentieth: there mu has hardly any curvature."""
    signal = [
        {"name": "mu", "type": "normfactor", "data": None},
        normsys("efficiency", 0.05, 1.6),
        normsys("scale", 0.88, 1.05),
        normsys("theory", 1.17, 0.86),
        {"name": "shape", "type": "histosys", "data": {"hi_data": [7.8], "lo_data": [8.1]}},
    ]
    background = [
        normsys("rate", 0.18, 3.2),
        normsys("model", 0.95, 1.07),
        {"name": "counts", "type": "shapesys", "data": [106.0]},
    ]
    samples = [
        {"name": "signal", "data": [7.9], "modifiers": signal},
        {"name": "background", "data": [208.0], "modifiers": background},
    ]
    poi = {"name": "mu", "inits": [1.0], "bounds": [[-10.0, 10.0]]}
    return {
        "channels": [{"name": "one", "samples": samples}],
        "observations": [{"name": "one", "data": [201.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": [poi]}}],
        "version": "1.0.0",
    }


def test_impacts_are_those_of_the_closed_form():
    """Whatever is held, mu alone makes the rate that was observed."""
    found = paritas.Model.from_workspace(workspace()).ranking()
    assert len(found.names) >= 6  # so many points share the free fit's metric
    signal = {
        "efficiency": (0.05, 1.6),
        "scale": (0.88, 1.05),
        "theory": (1.17, 0.86),
        "shape": (8.1 / 7.9, 7.8 / 7.9),
    }
    background = {"model": (0.95, 1.07)}
    best = (201.0 - 208.0) / 7.9
    for side, impacts in enumerate((found.impact_down, found.impact_up)):
        got = dict(zip(found.names, impacts))
        for name, factors in signal.items():
            assert got[name] == pytest.approx(max(best / factors[side], -10.0) - best, abs=2e-6), name
        for name, factors in background.items():
            expected = (201.0 - 208.0 * factors[side]) / 7.9 - best
            assert got[name] == pytest.approx(expected, abs=2e-6), name
