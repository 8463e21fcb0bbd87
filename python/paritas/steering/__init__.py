"""Templates to workspaces: cabinetry's configuration file as it is, or arrays and histograms.

    from paritas import steering

    made = steering.read("config.yml")       # ntuples or histograms in ROOT files
    made.model().fit()
    made.notes                               # what looks wrong

    builder = steering.WorkspaceBuilder("search", poi="mu")
    region = builder.channel("SR", data=[52, 61])
    region.sample("signal", [5.0, 10.0], factors=["mu"])

Wrong input raises SteeringError with file, line, place and reason. ROOT files need uproot, YAML needs
PyYAML."""

from .builder import ChannelBuilder, SampleBuilder, WorkspaceBuilder
from .configured import ConfiguredWorkspace, Template, read
from .histograms import Histogram
from .places import SteeringError

__all__ = [
    "ChannelBuilder",
    "ConfiguredWorkspace",
    "Histogram",
    "SampleBuilder",
    "SteeringError",
    "Template",
    "WorkspaceBuilder",
    "read",
]
