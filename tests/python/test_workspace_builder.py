"""Workspaces from arrays and histograms."""

from __future__ import annotations

import numpy as np
import pytest

from paritas.steering import SteeringError, WorkspaceBuilder


class Plottable:
    """A histogram as PlottableHistogram says; its axes have edges, as boost-histogram's."""

    kind = "COUNT"

    def __init__(self, values, variances, edges):
        self._values, self._variances = np.asarray(values), variances
        self.axes = [type("Axis", (), {"edges": np.asarray(edges)})]

    def values(self):
        return self._values

    def variances(self):
        return self._variances


class Means(Plottable):
    kind = "MEAN"


EDGES = [0.0, 1.0, 3.0]


def region():
    builder = WorkspaceBuilder("search", poi="mu")
    return builder, builder.channel("S R", data=Plottable([52, 61], [52, 61], EDGES))


def test_arrays_give_the_workspace_that_one_would_write():
    builder, channel = region()
    channel.sample("signal", np.array([5, 10]), factors="mu")
    background = channel.sample("background", Plottable([50.0, 40.0], [25.0, 16.0], EDGES), factors=["free"])
    background.systematic("lumi", 1.25).systematic("scale", [60.0, 40.0]).systematic(
        "tune", [45, 41], [55, 39]
    )
    background.systematic("shape", [75.0, 37.5], split=True).shapesys("fakes", [3.0, 2.0]).shapefactor("any")
    builder.parameter("mu", start=2.0, bounds=(-1, 8)).parameter("free", fixed=True)
    assert builder.workspace() == {
        "channels": [
            {
                "name": "S R",
                "samples": [
                    {
                        "name": "signal",
                        "data": [5.0, 10.0],
                        "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
                    },
                    {
                        "name": "background",
                        "data": [50.0, 40.0],
                        "modifiers": [
                            {"name": "staterror_S-R", "type": "staterror", "data": [5.0, 4.0]},
                            {"name": "free", "type": "normfactor", "data": None},
                            {"name": "lumi", "type": "normsys", "data": {"hi": 1.25, "lo": 0.75}},
                            {
                                "name": "scale",
                                "type": "histosys",
                                "data": {"hi_data": [60.0, 40.0], "lo_data": [40.0, 40.0]},
                            },
                            {
                                "name": "tune",
                                "type": "histosys",
                                "data": {"hi_data": [45.0, 41.0], "lo_data": [55.0, 39.0]},
                            },
                            {"name": "shape", "type": "normsys", "data": {"hi": 1.25, "lo": 0.75}},
                            {
                                "name": "shape",
                                "type": "histosys",
                                "data": {"hi_data": [60.0, 30.0], "lo_data": [40.0, 50.0]},
                            },
                            {"name": "fakes", "type": "shapesys", "data": [3.0, 2.0]},
                            {"name": "any", "type": "shapefactor", "data": None},
                        ],
                    },
                ],
            }
        ],
        "observations": [{"name": "S R", "data": [52.0, 61.0]}],
        "measurements": [
            {
                "name": "search",
                "config": {
                    "poi": "mu",
                    "parameters": [
                        {"name": "mu", "inits": [2.0], "bounds": [[-1, 8]]},
                        {"name": "free", "fixed": True},
                    ],
                },
            }
        ],
        "version": "1.0.0",
    }
    assert builder.model().poi_name == "mu"


def test_without_data_a_channel_observes_its_samples():
    builder = WorkspaceBuilder()
    channel = builder.channel("A")
    channel.sample("a", [1.0, 2.0], factors=["free"])
    channel.sample("b", [3.0, -0.5], variances=[1.0, 1.0], staterror=False, allow_negative=True)
    assert builder.workspace()["observations"] == [{"name": "A", "data": [4.0, 1.5]}]
    assert builder.model().fit().twice_nll == pytest.approx(builder.model().twice_nll())


def test_a_split_systematic_of_one_bin_has_no_shape():
    builder = WorkspaceBuilder(poi="mu")
    sample = builder.channel("A", [3.0]).sample("a", [2.0], factors=["mu"])
    sample.systematic("s", [3.0], [1.5], split=True)
    assert [one["type"] for one in sample.modifiers] == ["normfactor", "normsys"]
    assert sample.modifiers[1]["data"] == {"hi": 1.5, "lo": 0.75}


@pytest.mark.parametrize("package", ["boost_histogram", "hist"])
def test_histograms_of_other_packages_are_taken(package):
    boost = pytest.importorskip(package)
    kind = boost.Hist if package == "hist" else boost.Histogram
    weighted = kind(boost.axis.Variable(EDGES), storage=boost.storage.Weight())
    weighted.fill([0.5, 2.0, 2.5], weight=[2.0, 1.0, 3.0])
    builder, channel = region()
    sample = channel.sample("signal", weighted, factors=["mu"])
    assert sample.nominal.values.tolist() == [2.0, 4.0]
    assert sample.modifiers[0]["data"] == [2.0, np.sqrt(10.0)]
    assert builder.model().parameter_count == 3


def test_histograms_of_root_files_are_taken(tmp_path):
    uproot = pytest.importorskip("uproot")
    with uproot.recreate(tmp_path / "h.root") as file:
        file["h"] = np.histogram([0.5, 2.0, 2.5], EDGES)
    builder, channel = region()
    with uproot.open(tmp_path / "h.root") as file:
        sample = channel.sample("signal", file["h"], factors=["mu"])
    assert sample.nominal.values.tolist() == [1.0, 2.0]
    assert sample.modifiers[0]["data"] == [1.0, np.sqrt(2.0)]


BACKGROUND = "channel 'S R', sample 'background'"


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda channel, one: channel.sample("s", [1, 2, 3]),
            "sample 's': there are 3 bins; the channel has 2",
        ),
        (lambda channel, one: channel.sample("s", [[1, 2]]), r"must have one dimension, not shape \(1, 2\)"),
        (lambda channel, one: channel.sample("s", [1, np.nan]), "sample 's': bin 1 is nan"),
        (
            lambda channel, one: channel.sample("s", [1, -2]),
            "bin 1 has -2 events; keep that with allow_negative",
        ),
        (lambda channel, one: channel.sample("s", [1, 2], [1]), "there are 1 variances for 2 bins"),
        (lambda channel, one: channel.sample("s", [1, 2], [1, -1]), "bin 1 has variance -1.0"),
        (lambda channel, one: channel.sample("s", "no"), "sample 's': could not convert"),
        (lambda channel, one: channel.sample("s", Means([1, 2], None, EDGES)), "the histogram has means"),
        (lambda channel, one: channel.sample("s", []), "sample 's': has no bins"),
        (lambda channel, one: channel.sample("background", [1, 2]), "the channel has this sample already"),
        (
            lambda channel, one: channel.sample("s", Plottable([1, 2], None, [0, 1, 2])),
            "edges are .* the channel",
        ),
        (
            lambda channel, one: one.systematic("x", [60.0, 50.0], [40.0, -3.0]),
            f"{BACKGROUND}, systematic 'x', down: bin 1 has -3 events",
        ),
        (
            lambda channel, one: one.systematic("x", [-1.0, 50.0], split=True),
            f"{BACKGROUND}, systematic 'x', up: bin 0 has -.* events",
        ),
        (
            lambda channel, one: one.systematic("x", [60.0, 90.0]),  # its mirror image
            f"{BACKGROUND}, systematic 'x', down: bin 1 has -10 events",
        ),
        (
            lambda channel, one: one.systematic("x", 1.1, [1, 2]),
            f"{BACKGROUND}, systematic 'x': up and down must",
        ),
        (
            lambda channel, one: one.systematic("x", -0.1),
            "systematic 'x', up: the factor -0.1 must be greater",
        ),
        (
            lambda channel, one: one.systematic("x", 2.5),
            "systematic 'x', down: the factor -0.5 must be greater",
        ),
        (lambda channel, one: one.systematic("x", 1.1, split=True), "factors have no shape to split"),
        (
            lambda channel, one: one.systematic("x", [1, 2], [1]),
            "'x', down: there are 1 bins; the channel has 2",
        ),
        (lambda channel, one: one.systematic("x", [0, 0], split=True), "'x', up: the variation sums to 0"),
        (lambda channel, one: one.factor("mu").factor("mu"), "the sample has a normfactor 'mu' already"),
        (lambda channel, one: one.staterror(), "a statistical uncertainty needs variances"),
        (lambda channel, one: one.shapesys("x", [1, -1]), "shapesys 'x': uncertainties must not be negative"),
    ],
)
def test_what_does_not_fit_is_named(act, message):
    _, channel = region()
    background = channel.sample("background", [50.0, 40.0])
    with pytest.raises(SteeringError, match=message):
        act(channel, background)


def test_a_workspace_that_makes_no_model_is_refused():
    builder, channel = region()
    with pytest.raises(SteeringError, match="channel 'S R': the channel has no samples"):
        builder.workspace()
    channel.sample("s", [1.0, 2.0], factors=["mus"])
    with pytest.raises(SteeringError, match="poi: no modifier is called 'mu'; did you mean 'mus'"):
        builder.workspace()
    with pytest.raises(SteeringError, match="the workspace has this channel already"):
        builder.channel("S R")
    with pytest.raises(SteeringError, match="channel 'B', data: bin 0 is -1"):
        builder.channel("B", [-1.0])
    builder.poi = "mus"
    builder.parameter("muss", fixed=True)
    with pytest.raises(SteeringError, match="parameter 'muss': no modifier is .* did you mean 'mus'"):
        builder.workspace()
    builder.parameters.clear()
    builder.parameter("mus", start=3.0, bounds=(5.0, 4.0))
    with pytest.raises(SteeringError, match="workspace: measurements"):
        builder.workspace()


def test_a_sample_that_allows_negative_yields_has_templates_below_0():
    builder, channel = region()
    sample = channel.sample("s", [1.0, -0.5], factors=["mu"], allow_negative=True)
    sample.systematic("x", [1.0, -0.2], [1.0, -0.8])
    assert sample.modifiers[-1]["data"] == {"hi_data": [1.0, -0.2], "lo_data": [1.0, -0.8]}
