"""Models: likelihoods of specifications."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import numbers
from . import bridge, exceptions, parameters, probability, schema
from .constraints import gaussian_constraint_combined, poisson_constraint_combined
from .jsonpatch import copied
from .mixins import _ChannelSummaryMixin
from .modifiers import histfactory_set
from .parameters import reduce_paramsets_requirements
from .tensor.common import _TensorViewer
from .tensor.manager import as_tensor

log = logging.getLogger(__name__)

__all__ = ["Model", "_ModelConfig"]
__dir__ = __all__.copy

_DEFAULT_SETTINGS = {"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}


class _ModelConfig(_ChannelSummaryMixin):
    def __init__(self, spec: Any, **config_kwargs: Any) -> None:
        super().__init__(channels=spec["channels"])
        self.modifier_settings = config_kwargs.pop("modifier_settings", None) or copied(_DEFAULT_SETTINGS)
        exceptions.refuse_options(config_kwargs)
        self.par_order: list[str] = []
        self.poi_name: str | None = None
        self.poi_index: int | None = None
        self.nmaindata = sum(self.channel_nbins.values())
        self.nauxdata = 0
        self.auxdata: list[float] = []
        self.par_map: dict[str, dict[str, Any]] = {}
        self.auxdata_order: list[str] = []
        self.npars = 0
        self.parameters: list[str] = []

    def set_parameters(self, _required_paramsets: Any) -> None:
        for name, parset in _required_paramsets.items():
            first, self.npars = self.npars, self.npars + parset.n_parameters
            self.par_order.append(name)
            self.par_map[name] = {"slice": slice(first, self.npars), "paramset": parset}
            if parset.constrained:
                self.auxdata_order.append(name)
                self.auxdata += parset.auxdata
        self.nauxdata = len(self.auxdata)
        self.parameters = sorted(self.par_map)

    def _of_all(self, attribute: str) -> list[Any]:
        return [value for name in self.par_order for value in getattr(self.param_set(name), attribute)]

    def suggested_init(self) -> list[float]:
        return self._of_all("suggested_init")

    def suggested_bounds(self) -> list[Any]:
        return self._of_all("suggested_bounds")

    def suggested_fixed(self) -> list[bool]:
        return self._of_all("suggested_fixed")

    def par_slice(self, name: str) -> Any:
        return self.par_map[name]["slice"]

    def param_set(self, name: str) -> Any:
        return self.par_map[name]["paramset"]

    @property
    def par_names(self) -> list[str]:
        """name, or name[0], name[1] ... in sets of several."""
        names: list[str] = []
        for name in self.par_order:
            parset = self.param_set(name)
            several = [f"{name}[{index}]" for index in range(parset.n_parameters)]
            names += [name] if parset.is_scalar else several
        return names

    @cached_property
    def kinked_parameters(self) -> list[int]:
        """Indices of parameters whose interpolation has a kink at 0."""
        kinds = [kind for kind, code in bridge.KINKED if bridge.code_of(self.modifier_settings, kind) == code]
        names = {name for name, kind in self.modifiers if kind in kinds}
        return sorted(self.par_slice(name).start for name in names)

    def set_poi(self, name: str | None) -> None:
        """Takes None for no POI."""
        if name is None:
            self.poi_name = self.poi_index = None
            return
        known = name in self.par_map
        if not known or self.param_set(name).n_parameters > 1:
            reason = (
                f"The parameter '{name}' contains multiple components and is not currently supported as "
                "parameter of interest."
                if known
                else f"The parameter of interest '{name}' is not declared in the model specification."
            )
            raise exceptions.InvalidModel(reason)
        self.poi_name = name
        self.poi_index = self.par_slice(name).start


def _modifiers_by_sample(builders: Any, config: _ModelConfig, spec: Any) -> dict[Any, Any]:
    """By (channel, sample): the sample, and its modifiers by "type/name"."""
    samples = {}
    seen: set[str] = set()
    for channel in spec["channels"]:
        bins = config.channel_nbins[channel["name"]]
        for sample in channel["samples"]:
            if len(sample["data"]) != bins:
                raise exceptions.InvalidModel(
                    f"expected {bins} size sample data but got {len(sample['data'])} "
                    f"(sample {sample['name']} in channel {channel['name']})"
                )
            own: dict[str, Any] = {}
            for modifier in sample["modifiers"]:
                if modifier["type"] not in builders:
                    raise exceptions.InvalidModifier(f"{modifier['type']} not among {list(builders)}")
                key = f"{modifier['type']}/{modifier['name']}"
                if not builders[modifier["type"]].is_shared and (key in seen or key in own):
                    raise exceptions.InvalidModel(
                        f"Sample {sample['name']} in channel {channel['name']} has the modifier {key}, "
                        "which cannot be shared but stands elsewhere too."
                    )
                own[key] = modifier
            samples[channel["name"], sample["name"]] = (sample, own)
            seen.update(own)
    return samples


def _build(modifier_set: Any, config: _ModelConfig, spec: Any) -> dict[str, Any]:
    builders = {kind: builder(config) for kind, (builder, _) in modifier_set.items()}
    sparse = {kind for kind, builder in builders.items() if getattr(builder, "sparse", False)}
    samples = _modifiers_by_sample(builders, config, spec)
    everywhere = [(name, kind) for name, kind in config.modifiers if kind not in sparse]
    for channel in config.channels:
        for sample in config.samples:
            defined, own = samples.get((channel, sample), (None, {}))
            here = [(one["name"], one["type"]) for one in own.values() if one["type"] in sparse]
            for name, kind in sorted(here) + everywhere:
                key = f"{kind}/{name}"
                builders[kind].append(key, channel, sample, own.get(key), defined)
    for builder in builders.values():
        getattr(builder, "complete", builder.finalize)()
    return builders


def _parameters(builders: Any, user: Any) -> dict[str, Any]:
    configured: dict[str, Any] = {}
    for parameter in user:
        if parameter["name"] in configured:
            raise exceptions.InvalidModel(
                f"Multiple parameter configurations for {parameter['name']} were found."
            )
        configured[parameter["name"]] = parameter
    required: dict[str, list[Any]] = {}
    for builder in builders.values():
        for name, requirements in builder.required_parsets.items():
            required.setdefault(name, []).extend(requirements)
    reduced = reduce_paramsets_requirements(required, configured)
    if not reduced:
        raise exceptions.InvalidModel("No parameters specified for the Model.")
    return {
        name: getattr(parameters, arguments["paramset_type"])(**arguments)
        for name, arguments in reduced.items()
    }


class _ConstraintModel:
    def __init__(self, config: _ModelConfig, batch_size: int | None) -> None:
        self.config = config
        self.batch_size = batch_size
        self.constraints_gaussian = gaussian_constraint_combined(config, batch_size=batch_size)
        self.constraints_poisson = poisson_constraint_combined(config, batch_size=batch_size)
        both = (self.constraints_gaussian, self.constraints_poisson)
        self._parts = [part for part in both if part.has_pdf()]
        self.constraints_tv = _TensorViewer([part._places for part in self._parts], batch_size)

    def has_pdf(self) -> bool:
        return bool(self._parts)

    def make_pdf(self, pars: Any) -> Any:
        if not self._parts:
            return None
        parts = [part.make_pdf(pars) for part in self._parts]
        return probability.Simultaneous(parts, self.constraints_tv, self.batch_size)


class _MainModel:
    """Rates come from the engine, or from appliers with user-defined modifiers."""

    def __init__(self, model: Model, clip_sample_data: float | None, clip_bin_data: float | None) -> None:
        self._model = model
        self.config = model.config
        self.batch_size = model.batch_size
        self.clip_sample_data = clip_sample_data
        self.clip_bin_data = clip_bin_data
        if clip_sample_data is not None:
            log.warning("Clipping expected data per-bin for each sample below %s", clip_sample_data)
        if clip_bin_data is not None:
            log.warning("Clipping expected data per-bin below %s", clip_bin_data)

    @cached_property
    def modifiers_appliers(self) -> dict[str, Any]:
        return {
            kind: applier(
                modifiers=[modifier for modifier in self.config.modifiers if modifier[1] == kind],
                pdfconfig=self.config,
                builder_data=self._model._builders[kind].finalize(),
                batch_size=self.batch_size,
                **self.config.modifier_settings.get(kind, {}),
            )
            for kind, (_, applier) in self._model._modifier_set.items()
        }

    @cached_property
    def _nominal(self) -> Any:
        rates = np.zeros((len(self.config.samples), self.config.nmaindata))
        for channel in self._model.spec["channels"]:
            bins = self.config.channel_slices[channel["name"]]
            for sample in channel["samples"]:
                rates[self.config.samples.index(sample["name"]), bins] = sample["data"]
        return np.tile(rates[np.newaxis, :, np.newaxis, :], (1, 1, self.batch_size or 1, 1))

    @property
    def nominal_rates(self) -> Any:
        """[1][sample][batch or 1][bin]"""
        return as_tensor(self._nominal)

    def make_pdf(self, pars: Any) -> Any:
        return probability.Independent(probability.Poisson(self.expected_data(pars)))

    def _modifications(self, pars: Any) -> tuple[Any, Any]:
        found: dict[str, list[Any]] = {"addition": [], "multiplication": []}
        for applier in self.modifiers_appliers.values():
            values = applier.apply(pars)
            if values is not None:
                found[applier.op_code].append(values)
        return found["addition"], found["multiplication"]

    def _applied(self, pars: Any, by_sample: bool) -> Any:
        """[batch or 1][bin], or [batch or 1][sample][bin]."""
        deltas, factors = self._modifications(pars)
        total = np.sum(np.concatenate([*deltas, self.nominal_rates]), axis=0)
        rates = np.prod(np.concatenate([*factors, total[np.newaxis]]), axis=0)
        if self.clip_sample_data is not None:
            rates = np.maximum(rates, self.clip_sample_data)
        if by_sample:
            return rates.swapaxes(0, 1)
        rates = np.sum(rates, axis=0)
        return rates if self.clip_bin_data is None else np.maximum(rates, self.clip_bin_data)

    def expected_data(self, pars: Any, return_by_sample: bool = False) -> Any:
        """([batch,] bins), or by sample ([batch,] samples, bins)."""
        pars = numbers(pars)
        engine = self._model._engine_model()
        if engine is not None and not return_by_sample:
            return as_tensor(bridge.expected_data(engine, pars)[..., : self.config.nmaindata])
        if engine is None:
            rows = self._applied(pars, return_by_sample)
        else:
            rows = bridge.expected_by_sample(engine, pars, self.config)
        return as_tensor(rows[0] if self.batch_size is None else rows)


class Model:
    """The likelihood of a specification. NumPy evaluates and SciPy fits user-defined modifiers,
    `modifier_set` (type -> (builder, applier))."""

    def __init__(
        self,
        spec: Any,
        modifier_set: Any = None,
        batch_size: int | None = None,
        validate: bool = True,
        clip_sample_data: float | None = None,
        clip_bin_data: float | None = None,
        **config_kwargs: Any,
    ) -> None:
        self._modifier_set = modifier_set or histfactory_set
        self.batch_size = batch_size
        self.spec = copied(spec)
        self.schema = config_kwargs.pop("schema", "model.json")
        self.version = config_kwargs.pop("version", None)
        if validate:
            schema.validate(self.spec, self.schema, version=self.version)
        poi_name = config_kwargs.pop("poi_name", "mu")
        config = self._config = _ModelConfig(self.spec, **config_kwargs)
        self._builders = _build(self._modifier_set, config, self.spec)
        config.set_parameters(_parameters(self._builders, self.spec.get("parameters", [])))
        config.set_poi(poi_name or None)
        self.main_model = _MainModel(self, clip_sample_data, clip_bin_data)
        self.constraint_model = _ConstraintModel(config, batch_size)
        bins = config.nmaindata
        places = [range(bins)] + [range(bins, bins + config.nauxdata)] * bool(config.auxdata_order)
        self.fullpdf_tv = _TensorViewer(places, batch_size, ["main", "aux"])
        self._own = all(histfactory_set.get(kind) == pair for kind, pair in self._modifier_set.items())
        self._engine: Any = None
        self._engine_poi: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_engine": None}

    @property
    def config(self) -> _ModelConfig:
        return self._config

    def _engine_model(self) -> Any:
        """Remade for another POI; None with user-defined modifiers."""
        if not self._own:
            return None
        if self._engine is None or self._engine_poi != self._config.poi_name:
            main = self.main_model
            self._engine = bridge.make(self.spec, self._config, main.clip_sample_data, main.clip_bin_data)
            self._engine_poi = self._config.poi_name
        return self._engine

    @property
    def nominal_rates(self) -> Any:
        return self.main_model.nominal_rates

    def _modifications(self, pars: Any) -> tuple[Any, Any]:
        return self.main_model._modifications(pars)

    def expected_auxdata(self, pars: Any) -> Any:
        return self.make_pdf(pars)[1].expected_data()

    def expected_actualdata(self, pars: Any) -> Any:
        return self.main_model.expected_data(pars)

    def expected_data(self, pars: Any, include_auxdata: bool = True) -> Any:
        """Main, then auxiliary."""
        if not include_auxdata:
            return self.main_model.expected_data(pars)
        engine = self._engine_model()
        if engine is None:
            return self.make_pdf(pars).expected_data()
        return as_tensor(bridge.expected_data(engine, numbers(pars)))

    def constraint_logpdf(self, auxdata: Any, pars: Any) -> Any:
        return self.make_pdf(pars)[1].log_prob(auxdata)

    def mainlogpdf(self, maindata: Any, pars: Any) -> Any:
        return self.make_pdf(pars)[0].log_prob(maindata)

    def make_pdf(self, pars: Any) -> Any:
        """The density at a point, for sampling: [0] main, [1] auxiliary data."""
        pars = as_tensor(pars)
        parts = [self.main_model.make_pdf(pars)]
        if self.constraint_model.has_pdf():
            parts.append(self.constraint_model.make_pdf(pars))
        return probability.Simultaneous(parts, self.fullpdf_tv, self.batch_size)

    def _check_lengths(self, pars: int, data: int) -> None:
        config = self._config
        expected = config.nmaindata + config.nauxdata
        if pars != config.npars:
            raise exceptions.InvalidPdfParameters(
                f"eval failed as pars has len {pars} but {config.npars} was expected"
            )
        if data != expected:
            raise exceptions.InvalidPdfData(f"eval failed as data has len {data} but {expected} was expected")

    def logpdf(self, pars: Any, data: Any) -> Any:
        """Log density with all constants: (1,) or (batch,)."""
        pars, data = numbers(pars), numbers(data)
        self._check_lengths(pars.shape[-1], data.shape[-1])
        engine = self._engine_model()
        if engine is None:
            value = self.make_pdf(pars).log_prob(data)
        else:
            value = -0.5 * bridge.twice_nll(engine, pars, data)
        return as_tensor(value if self.batch_size else (value,)).reshape(-1)

    def pdf(self, pars: Any, data: Any) -> Any:
        """(1,) or (batch,)."""
        return np.exp(self.logpdf(pars, data))
