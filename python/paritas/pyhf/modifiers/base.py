"""What the builders and the appliers of all modifiers share.

A builder collects the modifiers of one type from a specification; an applier holds them as arrays
[modifier][sample][batch][bin] over the bins of all channels and answers what a point of parameter space makes
of them. The engine needs neither: builders say which parameters a model has, appliers show single factors and
terms to whom asks, and evaluate models with modifiers of a user's own.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from paritas.pyhf import interpolators
from paritas.pyhf.exceptions import InvalidModifier
from paritas.pyhf.parameters import ParamViewer
from paritas.pyhf.tensor.manager import get_backend

NAMED_ONCE = {
    "paramset_type": "unconstrained",
    "n_parameters": 1,
    "is_scalar": True,
    "inits": (1.0,),
    "bounds": ((0, 10),),
    "fixed": False,
}
STANDARD_NORMAL = {
    "paramset_type": "constrained_by_normal",
    "n_parameters": 1,
    "is_scalar": True,
    "inits": (0.0,),
    "bounds": ((-5.0, 5.0),),
    "fixed": False,
    "auxdata": (0.0,),
}


class Builder:
    """Collects modifiers of one type. `required_parsets` are the requirements of their parameters, by name;
    only places that have a modifier need to be appended (`sparse`), `complete` ends that, and `finalize`
    gives arrays over all bins and samples."""

    is_shared = True
    sparse = True
    fields: tuple[str, ...] = ("mask",)

    def __init__(self, config: Any) -> None:
        self.config = config
        self.required_parsets: dict[str, list[dict[str, Any]]] = {}
        self._parts: dict[str, dict[str, dict[str, dict[str, list[Any]]]]] = {}

    def collect(self, thismod: Any, nom: Sequence[float]) -> dict[str, list[Any]]:
        """What is kept of the modifier (None: the sample has none there) of a sample with these yields."""
        return {"mask": [bool(thismod)] * len(nom)}

    def requirement(self, modifier_data: Any, sample_data: Sequence[float]) -> dict[str, Any] | None:
        """The requirement of one modifier; None where it needs all of them (then `complete` makes it)."""
        raise NotImplementedError

    def append(self, key: str, channel: str, sample: str, thismod: Any, defined_samp: Any) -> None:
        nom = defined_samp["data"] if defined_samp else [0.0] * self.config.channel_nbins[channel]
        part = self.collect(thismod, nom)
        self._parts.setdefault(key, {}).setdefault(sample, {})[channel] = part
        if not thismod:
            return
        kind, name = key.split("/", 1)
        sizes = {field: len(values) for field, values in part.items()}
        if len(set(sizes.values())) != 1:
            told = ", ".join(f"{size} in '{field}'" for field, size in sizes.items())
            raise InvalidModifier(
                f"The '{sample}' sample {kind} modifier '{name}' has data shape inconsistent with the sample.\n"
                f"{sample} has 'data' of length {len(nom)}: {told}."
            )
        if name not in self.required_parsets:
            requirement = self.requirement(thismod["data"], nom)
            if requirement is not None:
                self.required_parsets[name] = [requirement]

    def complete(self) -> None:
        """All has been appended."""

    def _dense(self, key: str) -> dict[str, dict[str, Any]]:
        by_sample = {}
        for sample in self.config.samples:
            parts = self._parts[key].get(sample, {})
            empty = {
                channel: self.collect(None, [0.0] * bins)
                for channel, bins in self.config.channel_nbins.items()
                if channel not in parts
            }
            whole = {**empty, **parts}
            by_sample[sample] = {
                "data": {
                    field: np.concatenate([whole[channel][field] for channel in self.config.channels])
                    for field in self.fields
                }
            }
        return by_sample

    def finalize(self) -> dict[str, Any]:
        """Arrays over all bins, by "type/name", sample and field."""
        self.complete()
        return {key: self._dense(key) for key in self._parts}


class Applier:
    """Modifiers of one type as arrays. `apply` gives [modifier][sample][batch or 1][bin], None where there
    are no modifiers."""

    name: str
    op_code: str

    def __init__(
        self,
        modifiers: Sequence[tuple[str, str]],
        pdfconfig: Any,
        builder_data: Mapping[str, Any],
        batch_size: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self._keys = [f"{kind}/{name}" for name, kind in modifiers]
        self._samples = pdfconfig.samples
        self._builder_data = builder_data
        self.param_viewer = ParamViewer(
            (batch_size or 1, pdfconfig.npars), pdfconfig.par_map, [name for name, _ in modifiers]
        )
        if self._keys:
            self._mask = self._field("mask").astype(bool)
            self._prepare(pdfconfig)

    def _field(self, field: str) -> Any:
        """One field of all modifiers: [modifier][sample][1][bin]."""
        return np.asarray(
            [
                [[self._builder_data[key][sample]["data"][field]] for sample in self._samples]
                for key in self._keys
            ]
        )

    def _prepare(self, pdfconfig: Any) -> None:
        """Arrays that do not depend on parameters."""

    def _values(self, pars: Any) -> Any:
        raise NotImplementedError

    def apply(self, pars: Any) -> Any:
        if not self._keys:
            return None
        tensorlib, _ = get_backend()
        values = self._values(np.asarray(pars, dtype=np.float64))
        return tensorlib.astensor(np.where(self._mask, values, 0.0 if self.op_code == "addition" else 1.0))


class FactorApplier(Applier):
    """One parameter is the factor of all bins."""

    op_code = "multiplication"

    def _values(self, pars: Any) -> Any:
        return self.param_viewer.get(pars)[:, np.newaxis, :, np.newaxis]


class InterpolationApplier(Applier):
    """One parameter interpolates between histograms, which `histograms` names (down, nominal, up), by one of
    the `codes`."""

    histograms: tuple[str, str, str]
    codes: tuple[str, ...]

    def __init__(
        self,
        modifiers: Any,
        pdfconfig: Any,
        builder_data: Any,
        interpcode: str,
        batch_size: int | None = None,
    ) -> None:
        assert interpcode in self.codes
        self.interpcode = interpcode
        super().__init__(modifiers, pdfconfig, builder_data, batch_size)

    def _prepare(self, pdfconfig: Any) -> None:
        fields = [self._field(field)[:, :, 0] for field in self.histograms]
        self.interpolator = getattr(interpolators, self.interpcode)(np.stack(fields, axis=2))

    def _values(self, pars: Any) -> Any:
        return self.interpolator(self.param_viewer.get(pars))


class BinApplier(Applier):
    """Each bin has a parameter: `_places` says which of the modifier's own it is."""

    op_code = "multiplication"

    def _places(self, mask: Any, pdfconfig: Any) -> Any:
        """For each bin its parameter, counted from the modifier's first; anything where `mask` (of the
        modifier's last sample) is False."""
        return np.cumsum(mask) - 1

    def _prepare(self, pdfconfig: Any) -> None:
        fields = []
        for mask, selection in zip(self._mask[:, :, 0], self.param_viewer.index_selection):
            last = mask[np.flatnonzero(mask.any(axis=1))[-1]]
            fields.append(selection[:, np.clip(self._places(last, pdfconfig), 0, selection.shape[1] - 1)])
        self._access_field = np.stack(fields)

    def _values(self, pars: Any) -> Any:
        return pars.reshape(-1)[self._access_field][:, np.newaxis]
