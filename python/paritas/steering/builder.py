"""Builds a workspace from arrays and histograms."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ..model import Model
from .histograms import Floats, Histogram, histogram, mirrored, normalised
from .places import SteeringError, nearest

Json = dict[str, Any]
#: a factor for all bins, or a template: an array or a histogram
Variation = Union[float, ArrayLike, Any]


class _Part:
    """A part of a workspace that names itself in errors."""

    place: str

    def refuse(self, why: str, *inside: str) -> SteeringError:
        return SteeringError(", ".join((self.place, *inside)), why)


class SampleBuilder(_Part):
    """A sample of a channel. Methods add a modifier and return the sample, so that calls can be chained."""

    def __init__(self, channel: "ChannelBuilder", name: str, values: Any, variances: Any = None) -> None:
        """Users call `ChannelBuilder.sample`."""
        self.channel, self.name = channel, name
        self.place = f"{channel.place}, sample '{name}'"
        self.nominal = channel.bins(values, self.refuse, variances=variances)
        self.allow_negative = False
        self.modifiers: list[Json] = []

    def __repr__(self) -> str:
        modifiers = ", ".join(one["name"] for one in self.modifiers) or "none"
        bins = len(self.nominal.values)
        return (
            f"<paritas.SampleBuilder: {self.name} in {self.channel.name}, {bins} bins, modifiers {modifiers}>"
        )

    def _add(self, name: str, kind: str, data: Any) -> "SampleBuilder":
        if any(one["name"] == name and one["type"] == kind for one in self.modifiers):
            raise self.refuse(f"the sample has a {kind} '{name}' already")
        self.modifiers.append({"name": name, "type": kind, "data": data})
        return self

    def factor(self, name: str) -> "SampleBuilder":
        """A free factor on all bins (normfactor)."""
        return self._add(name, "normfactor", None)

    def shapefactor(self, name: str) -> "SampleBuilder":
        """A free factor for each bin."""
        return self._add(name, "shapefactor", None)

    def staterror(self, name: Optional[str] = None) -> "SampleBuilder":
        """Statistical uncertainties from the variances, shared with the channel's other samples. name None:
        staterror_CHANNEL. `ChannelBuilder.sample` calls this where there are variances."""
        if self.nominal.variances is None:
            raise self.refuse("a statistical uncertainty needs variances")
        return self._add(
            name or "staterror_" + self.channel.name.replace(" ", "-"),
            "staterror",
            self.nominal.stdev.tolist(),
        )

    def shapesys(self, name: str, uncertainties: ArrayLike) -> "SampleBuilder":
        """An independent uncertainty of each bin, absolute, with a Poisson constraint."""
        found = self.channel.bins(uncertainties, self.refuse, f"shapesys '{name}'").values
        if (found < 0).any():
            raise self.refuse("uncertainties must not be negative", f"shapesys '{name}'")
        return self._add(name, "shapesys", found.tolist())

    def systematic(
        self, name: str, up: Variation, down: Optional[Variation] = None, split: bool = False
    ) -> "SampleBuilder":
        """A systematic uncertainty with a Gaussian constraint.

        up, down: yields at +1 and -1 sigma. Both are factors (normsys: 1.05, 0.95) or both are templates
        (histosys: arrays or histograms). down None: the mirror image of up. split: the templates' sums become
        a normsys and their shapes a histosys of the same name. One bin has no shape."""
        inside = f"systematic '{name}'"
        scalars = [np.ndim(one) == 0 and not hasattr(one, "values") for one in (up, down) if one is not None]
        if any(scalars) != all(scalars):
            raise self.refuse("up and down must both be factors or both be templates", inside)
        if any(scalars):
            if split:
                raise self.refuse("factors have no shape to split", inside)
            high = self._factor(up, inside)
            return self._normsys(name, high, 2 - high if down is None else self._factor(down, inside))
        nominal = self.nominal.values
        high_values = self.channel.bins(up, self.refuse, inside, "up").values
        low_values = None if down is None else self.channel.bins(down, self.refuse, inside, "down").values
        if split:
            return self.norm_plus_shape(name, high_values, low_values)
        return self._histosys(
            name, high_values, mirrored(high_values, nominal) if low_values is None else low_values
        )

    def norm_plus_shape(self, name: str, up: Optional[Floats], down: Optional[Floats]) -> "SampleBuilder":
        """Templates of the sample's bins as normsys and histosys. None: the mirror image of the other, after
        both were scaled to the nominal sum."""
        nominal, inside = self.nominal.values, f"systematic '{name}'"
        found = []
        for direction, values in (("up", up), ("down", down)):
            try:
                found.append(None if values is None else normalised(values, nominal))
            except ValueError as error:
                raise self.refuse(str(error), inside, direction) from None
        known = found[0] or found[1]
        if known is None:
            raise self.refuse("up and down cannot both be mirror images", inside)
        other = (mirrored(known[0], nominal), 2 - known[1])
        (high, high_factor), (low, low_factor) = found[0] or other, found[1] or other
        self._normsys(name, high_factor, low_factor)
        return self if len(nominal) == 1 else self._histosys(name, high, low)

    def _factor(self, value: Any, inside: str) -> float:
        found = float(value)
        if not np.isfinite(found):
            raise self.refuse(f"{found} is not a factor", inside)
        return found

    def _normsys(self, name: str, high: float, low: float) -> "SampleBuilder":
        for direction, value in (("up", high), ("down", low)):
            if value <= 0:
                raise self.refuse(
                    f"the factor {value:.6g} must be greater than 0, as no interpolation is defined there",
                    f"systematic '{name}'",
                    direction,
                )
        return self._add(name, "normsys", {"hi": high, "lo": low})

    def check_yields(self, values: Floats, *inside: str) -> None:
        """Refuses yields below 0, unless the sample allows them."""
        negative = np.flatnonzero(values < 0)
        if negative.size and not self.allow_negative:
            raise self.refuse(
                f"bin {negative[0]} has {values[negative[0]]:g} events; keep that with allow_negative=True",
                *inside,
            )

    def _histosys(self, name: str, high: Floats, low: Floats) -> "SampleBuilder":
        self.check_yields(high, f"systematic '{name}'", "up")
        self.check_yields(low, f"systematic '{name}'", "down")
        return self._add(name, "histosys", {"hi_data": high.tolist(), "lo_data": low.tolist()})


class ChannelBuilder(_Part):
    """A channel: observed data and samples of the same bins."""

    def __init__(self, name: str) -> None:
        self.name, self.place = name, f"channel '{name}'"
        self.data: Optional[Histogram] = None
        self.samples: list[SampleBuilder] = []
        self.first: Optional[Histogram] = None  #: others must agree with it

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.samples) or "none"
        return f"<paritas.ChannelBuilder: {self.name}, samples {names}>"

    def bins(self, given: Any, refuse: Any, *inside: str, variances: Any = None) -> Histogram:
        """A histogram of the channel's bins. Refuses other numbers of bins and other edges."""
        try:
            found = histogram(given, variances)
        except (ValueError, TypeError) as error:
            raise refuse(str(error), *inside) from None
        first = self.first = self.first or found
        if len(found.values) != len(first.values):
            raise refuse(f"there are {len(found.values)} bins; the channel has {len(first.values)}", *inside)
        if found.edges is not None and first.edges is not None:
            if not np.allclose(found.edges, first.edges, rtol=1e-9, atol=0.0):
                raise refuse(f"edges are {found.edges}; the channel has {first.edges}", *inside)
        return found

    def sample(
        self,
        name: str,
        values: Any,
        variances: Optional[ArrayLike] = None,
        factors: Sequence[str] = (),
        staterror: bool = True,
        allow_negative: bool = False,
    ) -> SampleBuilder:
        """Adds a sample. values: expected events, an array or a histogram. variances: of an array, as a
        histogram has its own. With variances it gets a staterror, unless `staterror` is False. factors: names
        of free factors. allow_negative: keep yields below 0, as weighted events may give, also of
        templates."""
        sample = SampleBuilder(self, name, values, variances)
        found = sample.nominal
        if any(one.name == name for one in self.samples):
            raise sample.refuse("the channel has this sample already")
        sample.allow_negative = allow_negative
        sample.check_yields(found.values)
        if found.variances is not None:
            bad = np.flatnonzero(~(found.variances >= 0) | np.isinf(found.variances))
            if bad.size:
                raise sample.refuse(f"bin {bad[0]} has variance {found.variances[bad[0]]}")
            if staterror:
                sample.staterror()
        for factor in [factors] if isinstance(factors, str) else factors:
            sample.factor(factor)
        self.samples.append(sample)
        return sample

    def observed(self) -> list[float]:
        """The data, or the sum of all samples."""
        if self.data is not None:
            return list(self.data.values.tolist())
        return list(np.sum([one.nominal.values for one in self.samples], axis=0).tolist())


class WorkspaceBuilder:
    """A workspace of one measurement, made channel by channel.

        builder = WorkspaceBuilder("search", poi="mu")
        region = builder.channel("SR", data=[52, 61])
        region.sample("signal", [5.0, 10.0], factors=["mu"])
        region.sample("background", [50.0, 52.0], variances=[25.0, 26.0]).systematic("lumi", 1.02, 0.98)
        model = builder.model()

    Arguments that do not fit raise SteeringError with channel, sample and reason."""

    def __init__(self, measurement: str = "measurement", poi: str = "") -> None:
        """poi: the parameter of interest; "" for none."""
        self.measurement, self.poi = measurement, poi
        self.channels: list[ChannelBuilder] = []
        self.parameters: list[Json] = []
        self.correlations: list[Json] = []

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.channels) or "none"
        return f"<paritas.WorkspaceBuilder: channels {names}>"

    def channel(self, name: str, data: Any = None) -> ChannelBuilder:
        """Adds a channel. data: observed events, an array or a histogram; None: the sum of all samples."""
        channel = ChannelBuilder(name)
        if any(one.name == name for one in self.channels):
            raise channel.refuse("the workspace has this channel already")
        if data is not None:
            channel.data = channel.bins(data, channel.refuse, "data")
            negative = np.flatnonzero(channel.data.values < 0)
            if negative.size:
                raise channel.refuse(f"bin {negative[0]} is {channel.data.values[negative[0]]:g}", "data")
        self.channels.append(channel)
        return channel

    def parameter(
        self,
        name: str,
        start: Optional[float] = None,
        bounds: Optional[Sequence[float]] = None,
        fixed: bool = False,
    ) -> "WorkspaceBuilder":
        """Sets start and bounds of a parameter, or fixes it at its start. None: the usual ones. Once for each
        parameter."""
        if any(one["name"] == name for one in self.parameters):
            raise SteeringError(f"parameter '{name}'", "it was set before")
        setting: Json = {"name": name}
        if start is not None:
            setting["inits"] = [start]
        if bounds is not None:
            setting["bounds"] = [list(bounds)]
        if fixed:
            setting["fixed"] = True
        self.parameters.append(setting)
        return self

    def correlate(self, parameters: Sequence[str], matrix: ArrayLike, name: str = "") -> "WorkspaceBuilder":
        """Correlates the measurements of parameters with normal constraints, which keep their sigmas.

        parameters: names, of factors of bins as "x[0]".
        matrix: their correlation matrix, an array of shape (len(parameters), len(parameters)).
        name: of the group; "": correlation_ and its number.

            builder.correlate(["jes", "jer"], [[1, 0.6], [0.6, 1]])"""
        rows = np.asarray(matrix, dtype=float).tolist()
        named = name or f"correlation_{len(self.correlations)}"
        self.correlations.append({"name": named, "parameters": list(parameters), "correlation": rows})
        return self

    def workspace(self) -> Json:
        """The workspace, a dict, after a model was made of it. Raises SteeringError, also for settings of a
        parameter that no modifier has."""
        names = self._modifier_names()
        for setting in self.parameters:
            name = setting["name"]
            if name not in names:
                raise SteeringError(
                    f"parameter '{name}'", f"no modifier is called '{name}'{nearest(name, names)}"
                )
        return self.modelled_workspace()

    def modelled_workspace(self) -> Json:
        """The same, with settings of parameters that are not there, as pyhf takes them."""
        spec = self.unchecked_workspace()
        for channel in self.channels:
            if not channel.samples:
                raise channel.refuse("the channel has no samples")
        if self.wrong_poi():
            raise SteeringError("poi", self.wrong_poi())
        try:
            Model.from_workspace(spec)
        except ValueError as error:
            raise SteeringError("workspace", str(error).removeprefix("workspace: ")) from None
        return spec

    def wrong_poi(self) -> str:
        """What is wrong with the parameter of interest, or nothing."""
        names = self._modifier_names()
        if not self.poi or self.poi in names:
            return ""
        return f"no modifier is called '{self.poi}'{nearest(self.poi, names)}"

    def _modifier_names(self) -> set[str]:
        return {one["name"] for channel in self.channels for it in channel.samples for one in it.modifiers}

    def unchecked_workspace(self) -> Json:
        """The workspace as it stands."""
        measurement: Json = {"poi": self.poi, "parameters": self.parameters}
        if self.correlations:
            measurement["correlations"] = self.correlations
        return {
            "channels": [
                {
                    "name": channel.name,
                    "samples": [
                        {
                            "name": sample.name,
                            "data": sample.nominal.values.tolist(),
                            "modifiers": list(sample.modifiers),
                        }
                        for sample in channel.samples
                    ],
                }
                for channel in self.channels
            ],
            "observations": [{"name": one.name, "data": one.observed()} for one in self.channels],
            "measurements": [{"name": self.measurement, "config": measurement}],
            "version": "1.0.0",
        }

    def model(self, **options: Any) -> Model:
        """Its model; options: see `paritas.Model.from_workspace`."""
        return Model.from_workspace(self.workspace(), **options)
