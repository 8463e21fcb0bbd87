"""Models: the likelihood of a specification, and its configuration."""

from __future__ import annotations

import logging
from typing import Any, Mapping

import numpy as np

from paritas.pyhf import bridge, exceptions, parameters, probability, schema
from paritas.pyhf.constraints import gaussian_constraint_combined, poisson_constraint_combined
from paritas.pyhf.jsonpatch import copied
from paritas.pyhf.mixins import _ChannelSummaryMixin
from paritas.pyhf.modifiers import histfactory_set
from paritas.pyhf.parameters import reduce_paramsets_requirements
from paritas.pyhf.tensor.common import _tensorviewer_from_sizes, _TensorViewer
from paritas.pyhf.tensor.manager import get_backend

log = logging.getLogger(__name__)

__all__ = ["Model", "_ModelConfig"]

_DEFAULT_SETTINGS = {"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}


def __dir__() -> list[str]:
    return __all__


class _ModelConfig(_ChannelSummaryMixin):
    """What a model consists of: its parameters in order, with starts, bounds and fixed flags; its auxiliary
    data; its parameter of interest."""

    def __init__(self, spec: Mapping[str, Any], **config_kwargs: Any) -> None:
        super().__init__(channels=spec["channels"])
        self.modifier_settings = config_kwargs.pop("modifier_settings", None) or copied(_DEFAULT_SETTINGS)
        if config_kwargs:
            raise exceptions.Unsupported(f"Unsupported options were passed in: {list(config_kwargs)}.")
        self._par_order: list[str] = []
        self._poi_name: str | None = None
        self._poi_index: int | None = None
        self._nmaindata = sum(self.channel_nbins.values())
        self._auxdata: list[float] = []
        self.par_map: dict[str, dict[str, Any]] = {}
        self.auxdata_order: list[str] = []
        self.npars = 0
        self.parameters: list[str] = []

    @property
    def par_order(self) -> list[str]:
        """Names of the parameter sets, in order."""
        return self._par_order

    @property
    def poi_name(self) -> str | None:
        """The parameter of interest; None: there is none."""
        return self._poi_name

    @property
    def poi_index(self) -> int | None:
        """Its index among all parameters."""
        return self._poi_index

    @property
    def auxdata(self) -> list[float]:
        """What is measured of constrained parameters."""
        return self._auxdata

    @property
    def nmaindata(self) -> int:
        """Bins of all channels."""
        return self._nmaindata

    @property
    def nauxdata(self) -> int:
        """Auxiliary data."""
        return len(self._auxdata)

    def set_parameters(self, _required_paramsets: Mapping[str, Any]) -> None:
        """Takes parameter sets by name, in their order."""
        first = 0
        for name, parset in _required_paramsets.items():
            self._par_order.append(name)
            self.par_map[name] = {"slice": slice(first, first + parset.n_parameters), "paramset": parset}
            first += parset.n_parameters
        self.npars = first
        self.parameters = sorted(self.par_map)

    def set_auxinfo(self, auxdata: list[float], auxdata_order: list[str]) -> None:
        """Takes the auxiliary data and the parameter sets that they belong to."""
        self._auxdata = auxdata
        self.auxdata_order = auxdata_order

    def _of_all(self, attribute: str) -> list[Any]:
        return [
            value for name in self._par_order for value in getattr(self.par_map[name]["paramset"], attribute)
        ]

    def suggested_init(self) -> list[float]:
        """Where fits start."""
        return self._of_all("suggested_init")

    def suggested_bounds(self) -> list[Any]:
        """(low, high) of each parameter."""
        return self._of_all("suggested_bounds")

    def suggested_fixed(self) -> list[bool]:
        """Which parameters fits hold at their start."""
        return self._of_all("suggested_fixed")

    def par_slice(self, name: str) -> slice:
        """Where the parameters of a set stand among all."""
        found: slice = self.par_map[name]["slice"]
        return found

    def param_set(self, name: str) -> Any:
        """A parameter set."""
        return self.par_map[name]["paramset"]

    @property
    def par_names(self) -> list[str]:
        """Names of all parameters; those of sets with several are numbered: `name[0]`."""
        names: list[str] = []
        for name in self._par_order:
            parset = self.param_set(name)
            names += (
                [name] if parset.is_scalar else [f"{name}[{index}]" for index in range(parset.n_parameters)]
            )
        return names

    def set_poi(self, name: str | None) -> None:
        """Makes a parameter the one of interest (None: none). InvalidModel: there is none of this name, or it
        is one of several of a set."""
        if name is None:
            self._poi_name = self._poi_index = None
            return
        if name not in self.par_map:
            raise exceptions.InvalidModel(
                f"The parameter of interest '{name}' cannot be fit as it is not declared in the model specification."
            )
        if self.param_set(name).n_parameters > 1:
            raise exceptions.InvalidModel(
                f"The parameter '{name}' contains multiple components and is not currently supported as parameter of interest."
            )
        self._poi_name = name
        self._poi_index = self.par_slice(name).start


def _build(modifier_set: Mapping[str, Any], config: _ModelConfig, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Builders of all types that have seen the whole specification. Those that need no places without a
    modifier are not shown them."""
    builders = {kind: builder(config) for kind, (builder, _) in modifier_set.items()}
    sparse = {kind for kind, builder in builders.items() if getattr(builder, "sparse", False)}
    samples: dict[tuple[str, str], tuple[Any, dict[str, Any]]] = {}
    seen: set[str] = set()
    for channel in spec["channels"]:
        for sample in channel["samples"]:
            if len(sample["data"]) != config.channel_nbins[channel["name"]]:
                raise exceptions.InvalidModel(
                    f"expected {config.channel_nbins[channel['name']]} size sample data but got {len(sample['data'])}"
                )
            own: dict[str, Any] = {}
            for modifier in sample["modifiers"]:
                if modifier["type"] not in builders:
                    raise exceptions.InvalidModifier(f"{modifier['type']} not among {list(builders)}")
                key = f"{modifier['type']}/{modifier['name']}"
                if not builders[modifier["type"]].is_shared and (key in seen or key in own):
                    raise exceptions.InvalidModel(
                        f"Trying to add paramset {key} on {sample['name']} sample in {channel['name']} channel but other paramsets exist with the same name."
                    )
                own[key] = modifier
            samples[channel["name"], sample["name"]] = (sample, own)
            seen.update(own)
    everywhere = [(name, kind) for name, kind in config.modifiers if kind not in sparse]
    for channel_name in config.channels:
        for sample_name in config.samples:
            defined, own = samples.get((channel_name, sample_name), (None, {}))
            here = [
                (modifier["name"], modifier["type"])
                for modifier in own.values()
                if modifier["type"] in sparse
            ]
            for name, kind in sorted(here) + everywhere:
                key = f"{kind}/{name}"
                builders[kind].append(key, channel_name, sample_name, own.get(key), defined)
    return builders


def _parameters(builders: Mapping[str, Any], user: Any) -> dict[str, Any]:
    """The parameter sets that builders require, as the user's configuration has them."""
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
    """The densities of the auxiliary data."""

    def __init__(self, config: _ModelConfig, batch_size: int | None) -> None:
        self.config = config
        self.batch_size = batch_size
        self.constraints_gaussian = gaussian_constraint_combined(config, batch_size=batch_size)
        self.constraints_poisson = poisson_constraint_combined(config, batch_size=batch_size)
        self._parts = [
            part for part in (self.constraints_gaussian, self.constraints_poisson) if part.has_pdf()
        ]
        self.constraints_tv = _TensorViewer([part._places for part in self._parts], batch_size)

    def has_pdf(self) -> bool:
        return bool(self._parts)

    def make_pdf(self, pars: Any) -> Any:
        if not self._parts:
            return None
        return probability.Simultaneous(
            [part.make_pdf(pars) for part in self._parts], self.constraints_tv, self.batch_size
        )

    def logpdf(self, auxdata: Any, pars: Any) -> Any:
        return self.make_pdf(pars).log_prob(auxdata)


class _MainModel:
    """The densities of the main data. Expected rates are the engine's; with modifiers of a user's own they
    are made of the appliers'."""

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
        self._appliers: dict[str, Any] | None = None
        self._nominal: Any = None

    @property
    def modifiers_appliers(self) -> dict[str, Any]:
        """By type, what applies its modifiers."""
        if self._appliers is None:
            self._appliers = {}
            for kind, (_, applier) in self._model._modifier_set.items():
                self._appliers[kind] = applier(
                    modifiers=[modifier for modifier in self.config.modifiers if modifier[1] == kind],
                    pdfconfig=self.config,
                    builder_data=self._model._builders[kind].finalize(),
                    batch_size=self.batch_size,
                    **self.config.modifier_settings.get(kind, {}),
                )
        return self._appliers

    @property
    def nominal_rates(self) -> Any:
        """[1][sample][batch or 1][bin]"""
        if self._nominal is None:
            rates = np.zeros((len(self.config.samples), self.config.nmaindata))
            for channel in self._model.spec["channels"]:
                for sample in channel["samples"]:
                    rates[
                        self.config.samples.index(sample["name"]), self.config.channel_slices[channel["name"]]
                    ] = sample["data"]
            self._nominal = np.tile(rates[np.newaxis, :, np.newaxis, :], (1, 1, self.batch_size or 1, 1))
        return get_backend()[0].astensor(self._nominal)

    def has_pdf(self) -> bool:
        return True

    def make_pdf(self, pars: Any) -> Any:
        return probability.Independent(probability.Poisson(self.expected_data(pars)))

    def logpdf(self, maindata: Any, pars: Any) -> Any:
        return self.make_pdf(pars).log_prob(maindata)

    def _modifications(self, pars: Any) -> tuple[list[Any], list[Any]]:
        applied = [(applier.op_code, applier.apply(pars)) for applier in self.modifiers_appliers.values()]
        deltas = [values for code, values in applied if code == "addition" and values is not None]
        factors = [values for code, values in applied if code == "multiplication" and values is not None]
        return deltas, factors

    def _applied(self, pars: Any) -> Any:
        """By sample: [sample][batch or 1][bin], of the appliers."""
        deltas, factors = self._modifications(pars)
        total = np.sum(np.concatenate([*deltas, self.nominal_rates]), axis=0)
        by_sample = np.prod(np.concatenate([*factors, total[np.newaxis]]), axis=0)
        return by_sample if self.clip_sample_data is None else np.maximum(by_sample, self.clip_sample_data)

    def expected_data(self, pars: Any, return_by_sample: bool = False) -> Any:
        """Expected rates of all bins: (bins,), with a batch (batch, bins); by sample (samples, bins), with a
        batch (batch, samples, bins)."""
        tensorlib, _ = get_backend()
        pars = np.asarray(pars, dtype=np.float64)
        engine = self._model._engine_model()
        if engine is None:
            by_sample = self._applied(pars)
            if return_by_sample:
                found = by_sample.swapaxes(0, 1)
            else:
                found = np.sum(by_sample, axis=0)
                found = found if self.clip_bin_data is None else np.maximum(found, self.clip_bin_data)
            return tensorlib.astensor(found[0] if self.batch_size is None else found)
        if not return_by_sample:
            return tensorlib.astensor(bridge.expected_data(engine, pars)[..., : self.config.nmaindata])
        rows = [
            bridge.expected_by_sample(engine, point, self.config.samples, self.config.channel_slices)
            for point in np.atleast_2d(pars)
        ]
        return tensorlib.astensor(rows[0] if self.batch_size is None else np.stack(rows))


class Model:
    """The likelihood of a specification (channels, and parameters' configuration).

    With the modifiers of HistFactory all is computed by the engine; with others in `modifier_set` (type ->
    (builder, applier), as pyhf has it) by NumPy from what those answer, and fitted by SciPy.
    """

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
        self._config = _ModelConfig(self.spec, **config_kwargs)
        self._builders = _build(self._modifier_set, self._config, self.spec)
        for builder in self._builders.values():
            getattr(builder, "complete", builder.finalize)()
        parsets = _parameters(self._builders, self.spec.get("parameters", []))
        constrained = {name: parset for name, parset in parsets.items() if parset.constrained}
        self._config.set_parameters(parsets)
        self._config.set_auxinfo(
            [value for parset in constrained.values() for value in parset.auxdata], list(constrained)
        )
        self._config.set_poi(poi_name or None)
        self.main_model = _MainModel(self, clip_sample_data, clip_bin_data)
        self.constraint_model = _ConstraintModel(self._config, batch_size)
        sizes = [self._config.nmaindata] + ([self._config.nauxdata] if constrained else [])
        self.fullpdf_tv = _tensorviewer_from_sizes(sizes, ["main", "aux"], batch_size)
        self._own = all(histfactory_set.get(kind) == pair for kind, pair in self._modifier_set.items())
        self._engine: Any = None
        self._engine_poi: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the engine's model, which a copy makes for itself."""
        return {**self.__dict__, "_engine": None}

    @property
    def config(self) -> _ModelConfig:
        """What the model consists of."""
        return self._config

    def _engine_model(self) -> Any:
        """The engine's model, made at first use and anew with another parameter of interest; None with
        modifiers that it does not know."""
        if not self._own:
            return None
        if self._engine is None or self._engine_poi != self._config._poi_name:
            main = self.main_model
            self._engine = bridge.make(
                self.spec,
                self._config.channel_nbins,
                self._config.poi_name,
                self._config.modifier_settings,
                main.clip_sample_data,
                main.clip_bin_data,
            )
            self._engine_poi = self._config.poi_name
        return self._engine

    @property
    def nominal_rates(self) -> Any:
        """Rates that no modifier has touched: [1][sample][batch or 1][bin]."""
        return self.main_model.nominal_rates

    def _modifications(self, pars: Any) -> tuple[list[Any], list[Any]]:
        """What is added to nominal rates, and the factors of the sum, of each type."""
        return self.main_model._modifications(pars)

    def expected_auxdata(self, pars: Any) -> Any:
        """Expected auxiliary data."""
        return self.make_pdf(pars)[1].expected_data()

    def expected_actualdata(self, pars: Any) -> Any:
        """Expected main data."""
        return self.main_model.expected_data(pars)

    def expected_data(self, pars: Any, include_auxdata: bool = True) -> Any:
        """Expected main data, and behind them the auxiliary ones."""
        if not include_auxdata:
            return self.main_model.expected_data(pars)
        engine = self._engine_model()
        if engine is None:
            return self.make_pdf(pars).expected_data()
        return get_backend()[0].astensor(bridge.expected_data(engine, np.asarray(pars, dtype=np.float64)))

    def constraint_logpdf(self, auxdata: Any, pars: Any) -> Any:
        """log of the auxiliary data's density."""
        return self.make_pdf(pars)[1].log_prob(auxdata)

    def mainlogpdf(self, maindata: Any, pars: Any) -> Any:
        """log of the main data's density."""
        return self.make_pdf(pars)[0].log_prob(maindata)

    def make_pdf(self, pars: Any) -> Any:
        """The density of all data at a point: of main data first, then of auxiliary ones, from which can be
        sampled."""
        pars = get_backend()[0].astensor(pars)
        parts = [self.main_model.make_pdf(pars)]
        if self.constraint_model.has_pdf():
            parts.append(self.constraint_model.make_pdf(pars))
        return probability.Simultaneous(parts, self.fullpdf_tv, self.batch_size)

    def _check_lengths(self, pars: int, data: int) -> None:
        config = self._config
        if pars != config.npars:
            raise exceptions.InvalidPdfParameters(
                f"eval failed as pars has len {pars} but {config.npars} was expected"
            )
        if data != config._nmaindata + len(config._auxdata):
            raise exceptions.InvalidPdfData(
                f"eval failed as data has len {data} but {config.nmaindata + config.nauxdata} was expected"
            )

    def logpdf(self, pars: Any, data: Any) -> Any:
        """log of the density, all constants included: (1,), or (batch,). InvalidPdfParameters,
        InvalidPdfData: another number of them is expected."""
        pars, data = np.asarray(pars, dtype=np.float64), np.asarray(data, dtype=np.float64)
        self._check_lengths(pars.shape[-1], data.shape[-1])
        engine = self._engine_model()
        value = (
            self.make_pdf(pars).log_prob(data)
            if engine is None
            else -0.5 * bridge.twice_nll(engine, pars, data)
        )
        return get_backend()[0].astensor(value if self.batch_size else (value,)).reshape(-1)

    def pdf(self, pars: Any, data: Any) -> Any:
        """The density: (1,), or (batch,)."""
        return np.exp(self.logpdf(pars, data))
