"""Builders collect modifiers of one type and their parameters. Appliers evaluate them as arrays
[modifier][sample][batch][bin], for NumPy alone."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import interpolators
from ..exceptions import InvalidModifier
from ..parameters import ParamViewer
from ..tensor.manager import as_tensor


def parset(
    paramset_type: str, bins: int | None, init: float, bounds: tuple[float, float], **more: Any
) -> dict[str, Any]:
    count = 1 if bins is None else bins
    return {
        "paramset_type": paramset_type,
        "n_parameters": count,
        "is_scalar": bins is None,
        "inits": (init,) * count,
        "bounds": (bounds,) * count,
        "fixed": False,
        **more,
    }


FREE_FACTOR = parset("unconstrained", None, 1.0, (0, 10))
STANDARD_NORMAL = parset("constrained_by_normal", None, 0.0, (-5.0, 5.0), auxdata=(0.0,))


class Builder:
    """Fills `required_parsets`. A `sparse` builder gets only places with its modifiers."""

    is_shared = True
    sparse = True
    fields: tuple[str, ...] = ("mask",)

    def __init__(self, config: Any) -> None:
        self.config = config
        self.required_parsets: dict[str, list[Any]] = {}
        self._parts: dict[str, Any] = {}

    def details(self, thismod: Any, nom: Any) -> dict[str, Any]:
        """What to keep besides the mask."""
        return {}

    @staticmethod
    def requirement(sample_data: Any, modifier_data: Any) -> dict[str, Any] | None:
        """None if `complete` makes it."""
        return None

    def collect(self, thismod: Any, nom: Any) -> dict[str, Any]:
        return {"mask": [bool(thismod)] * len(nom), **self.details(thismod, nom)}

    def append(self, key: str, channel: str, sample: str, thismod: Any, defined_samp: Any) -> None:
        nom = defined_samp["data"] if defined_samp else [0.0] * self.config.channel_nbins[channel]
        part = self.collect(thismod, nom)
        self._parts.setdefault(key, {}).setdefault(sample, {})[channel] = part
        if not thismod:
            return
        kind, name = key.split("/", 1)
        sizes = {field: len(part[field]) for field in self.fields}
        if len(set(sizes.values())) != 1:
            told = ", ".join(f"{size} in '{field}'" for field, size in sizes.items())
            raise InvalidModifier(
                f"The {kind} modifier '{name}' of sample '{sample}' with {len(nom)} bins has {told}."
            )
        if name not in self.required_parsets:
            requirement = self.requirement(nom, thismod["data"])
            if requirement is not None:
                self.required_parsets[name] = [requirement]

    def complete(self) -> None:
        """Called after the last `append`."""

    def _dense(self, key: str) -> dict[str, Any]:
        by_sample = {}
        for sample in self.config.samples:
            parts = self._parts[key].get(sample, {})
            whole = [
                parts[channel] if channel in parts else self.collect(None, [0.0] * bins)
                for channel, bins in self.config.channel_nbins.items()
            ]
            data = {field: np.concatenate([part[field] for part in whole]) for field in self.fields}
            for field, values in data.items():
                if values.dtype == object:  # integers beyond 64 bits
                    data[field] = values.astype(np.float64)
            by_sample[sample] = {"data": data}
        return by_sample

    def finalize(self) -> dict[str, Any]:
        """By "type/name", sample, "data" and field, over all bins."""
        self.complete()
        return {key: self._dense(key) for key in self._parts}


class UncertainBinsBuilder(Builder):
    fields = ("mask", "nom_data", "uncrt")

    def details(self, thismod: Any, nom: Any) -> dict[str, Any]:
        uncertainties = thismod["data"] if thismod else [0.0] * len(nom)
        return {"nom_data": list(nom), "uncrt": list(uncertainties)}


class Applier:
    name: str
    op_code = "multiplication"
    _values: Callable[[Any], Any]

    def __init__(
        self, modifiers: Any, pdfconfig: Any, builder_data: Any, batch_size: int | None = None
    ) -> None:
        self.batch_size = batch_size
        self._keys = [f"{kind}/{name}" for name, kind in modifiers]
        self._samples = pdfconfig.samples
        self._builder_data = builder_data
        names = [name for name, _ in modifiers]
        self.param_viewer = ParamViewer((batch_size or 1, pdfconfig.npars), pdfconfig.par_map, names)
        if self._keys:
            self._mask = self._field("mask").astype(bool)
            self._prepare(pdfconfig)

    def _field(self, field: str) -> Any:
        """[modifier][sample][1][bin]"""
        found = [self._builder_data[key] for key in self._keys]
        return np.asarray([[[one[sample]["data"][field]] for sample in self._samples] for one in found])

    def _prepare(self, pdfconfig: Any) -> None:
        """Makes what needs no parameters."""

    def apply(self, pars: Any) -> Any:
        """None without modifiers."""
        if not self._keys:
            return None
        values = self._values(np.asarray(pars, dtype=np.float64))
        unchanged = 0.0 if self.op_code == "addition" else 1.0
        return as_tensor(np.where(self._mask, values, unchanged))


class FactorApplier(Applier):
    def _values(self, pars: Any) -> Any:
        return self.param_viewer.get(pars)[:, np.newaxis, :, np.newaxis]


class InterpolationApplier(Applier):
    """Interpolates between `histograms` by one of `codes` (default: the first)."""

    histograms: tuple[str, str, str]
    codes: tuple[str, ...]

    def __init__(
        self,
        modifiers: Any,
        pdfconfig: Any,
        builder_data: Any,
        interpcode: str | None = None,
        batch_size: int | None = None,
    ) -> None:
        self.interpcode = interpcode or self.codes[0]
        assert self.interpcode in self.codes
        super().__init__(modifiers, pdfconfig, builder_data, batch_size)

    def _prepare(self, pdfconfig: Any) -> None:
        fields = [self._field(field)[:, :, 0] for field in self.histograms]
        self.interpolator = getattr(interpolators, self.interpcode)(np.stack(fields, axis=2))

    def _values(self, pars: Any) -> Any:
        return self.interpolator(self.param_viewer.get(pars))


class BinApplier(Applier):
    def _places(self, mask: Any, pdfconfig: Any) -> Any:
        """Arbitrary outside the last sample's `mask`."""
        return np.cumsum(mask) - 1

    def _prepare(self, pdfconfig: Any) -> None:
        fields = []
        for mask, selection in zip(self._mask[:, :, 0], self.param_viewer.index_selection):
            last = mask[np.flatnonzero(mask.any(axis=1))[-1]]
            fields.append(selection[:, np.clip(self._places(last, pdfconfig), 0, selection.shape[1] - 1)])
        self._access_field = np.stack(fields)

    def _values(self, pars: Any) -> Any:
        return pars.reshape(-1)[self._access_field][:, np.newaxis]
