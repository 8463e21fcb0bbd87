"""Models: frozen likelihoods."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import number, numbers
from .documents import DocumentLike, document, names_of
from .interpolation import codes_of
from .keywords import Place, engine_of, takes
from .other_programs import attribute_hint

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import fits, inference, sampling, simplified, toys, unfolding

Floats = NDArray[np.float64]
#: a model, or a workspace: a path, a dict or a Workspace, whose model is made with the default options
ModelLike = Union["Model", DocumentLike]
#: by parameter name, or an array of all
Values = Union[Mapping[str, float], ArrayLike]


@dataclass(frozen=True)
class Channel:
    """`slice`: its bins in the main data. masked: the likelihood leaves it out."""

    name: str
    bins: int
    samples: tuple[str, ...]
    slice: slice
    masked: bool = False


def _read(workspace: DocumentLike, mass: Any, maps: list[str], exact: bool) -> _engine.Document:
    if mass is None and not maps and not exact:
        return document(workspace, "workspace")
    if not isinstance(workspace, (str, os.PathLike)):
        raise TypeError(
            f"mass, maps and exact go with the path of a datacard, not with {type(workspace).__name__}"
        )
    given = None if mass is None else str(mass)
    return _engine.Document.read(os.fspath(workspace), given, [], maps, exact)


class Model(_engine.Model):
    """The likelihood of one measurement. Immutable; threads may share it.

    parameter_names, parameter_count, poi_index (None: no parameter of interest), suggested_init,
    lower_bounds, upper_bounds, suggested_fixed, constraint_widths and data (main, then auxiliary) are in
    pyhf's order. main_count and aux_count split the data."""

    @classmethod
    def from_workspace(
        cls,
        workspace: DocumentLike,
        patches: DocumentLike | Iterable[DocumentLike] = (),
        measurement: str | None = None,
        poi: str | Sequence[str] | None = None,
        normsys_code: None | int | str = None,
        histosys_code: None | int | str = None,
        clip_sample: float | None = None,
        clip_bin: float | None = None,
        modifier_settings: Mapping[str, Any] | None = None,
        masks: Iterable[str] = (),
        maps: Iterable[str] = (),
        mass: float | str | None = None,
        exact: bool = False,
    ) -> "Model":
        """The model of a workspace (path, dict or Workspace; a path may be a datacard's) with JSON patches
        applied in order. measurement None: the first; poi: "" for none, None for the measurement's; several
        names are `poi_names`.
        normsys_code 0, 1, "2c", 4 (default) or 6, histosys_code 0, 1, 2, "2c", "4p" (default), 5 or 6, for
        modifiers without a code of their own; "code1" is 1. clips: lower limits of expected rates of a
        sample, of a bin. modifier_settings: the codes as pyhf and `convert` have them; a type that they do
        not name keeps its default. masks: channels left out of the likelihood, see Workspace.mask. mass,
        maps, exact: of a datacard's path, see Workspace.read."""
        if modifier_settings is not None:
            if normsys_code is not None or histosys_code is not None:
                raise ValueError("give modifier_settings, or normsys_code and histosys_code, not both")
            normsys_code, histosys_code = codes_of(modifier_settings).values()
        found = _read(workspace, mass, names_of(maps), exact)
        for patch in _as_patches(patches):
            found = found.patch(document(patch, "patch"))
        hidden = names_of(masks)
        if hidden:
            found = found.mask(hidden)
        if poi is None or isinstance(poi, str):
            return cls(found, measurement, poi, normsys_code, histosys_code, clip_sample, clip_bin)
        several = several_names(poi)
        found = _with_pois(found, measurement, several)
        made = cls(found, measurement, None, normsys_code, histosys_code, clip_sample, clip_bin)
        for name in several:
            made.index(name)
        return made

    @property
    def poi_name(self) -> str | None:
        """Name of the parameter of interest; None: there is none."""
        return None if self.poi_index is None else self.parameter_names[self.poi_index]

    @property
    def poi_names(self) -> list[str]:
        """Parameters of interest that the measurement lists; poi_name is the first."""
        return [self.parameter_names[i] for i in self.poi_indices]

    @property
    def channels(self) -> list[Channel]:
        """Channels with names, numbers of bins and samples, in the order of the main data."""
        first, found = 0, []
        for (name, bins, samples), masked in zip(self.channel_layout, self.masked_channels):
            found.append(Channel(name, bins, tuple(samples), slice(first, first + bins), masked))
            first += bins
        return found

    @property
    def constraint_centres(self) -> Floats:
        """Where auxiliary data pull each parameter, the zero of pulls: suggested_init, unless the measurement
        sets it. NaN without a constraint."""
        return _engine.constraint_centres(self, self.data)

    def __new__(cls, *given: Any, **options: Any) -> "Model":
        """Of a Document; other workspaces are for from_workspace."""
        if given and not isinstance(given[0], _engine.Document):
            raise TypeError(
                f"Model() takes no {type(given[0]).__name__}: Model.from_workspace(...) makes the model of a "
                "path, a dict or a Workspace"
            )
        return super().__new__(cls, *given, **options)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'Model' object has no attribute {name!r}{attribute_hint(name, Model)}")

    def __repr__(self) -> str:
        return (
            f"<paritas.Model: {self.parameter_count} parameters, {self.main_count} bins in "
            f"{len(self.channel_layout)} channels, parameter of interest {self.poi_name!r}>"
        )

    def _repr_html_(self) -> str:
        from .records import html_table

        title = (
            f"{self.parameter_count} parameters, {self.main_count} bins; "
            f"parameter of interest {self.poi_name or 'none'}"
        )
        rows = [(one.name, one.bins, ", ".join(one.samples)) for one in self.channels]
        return html_table(title, ("channel", "bins", "samples"), rows)

    def index(self, parameter: str | int) -> int:
        """Index of a parameter, by name or index."""
        if isinstance(parameter, str):
            try:
                return self._index_of[parameter]
            except KeyError:
                raise _engine.NotFound(f"the model has no parameter {parameter!r}") from None
        if not 0 <= parameter < self.parameter_count:
            raise _engine.NotFound(
                f"the model has no parameter {parameter}: there are {self.parameter_count}"
            )
        return int(parameter)

    @property
    def _index_of(self) -> dict[str, int]:
        found: dict[str, int] | None = self.__dict__.get("_names")
        if found is None:
            found = self.__dict__["_names"] = {name: i for i, name in enumerate(self.parameter_names)}
        return found

    def point(self, values: Values | None = None) -> Floats:
        """The suggested start with values by name, or all values as given."""
        if values is None:
            return np.array(self.suggested_init)
        if isinstance(values, Mapping):
            found = np.array(self.suggested_init)
            for name, value in values.items():
                found[self.index(name)] = number(value, name)
            return found
        return numbers(values, "values")

    def twice_nll(
        self,
        point: Values | None = None,
        data: ArrayLike | None = None,
        **where: Unpack[Place],
    ) -> float:
        """Twice the negative log-likelihood, with all constants; NaN outside the domain. data: main, then
        auxiliary; None: observed."""
        return _engine.twice_nll(self, self.point(values=point), data, engine_of(Model.twice_nll, where))

    def nll(
        self, point: Values | None = None, data: ArrayLike | None = None, **where: Unpack[Place]
    ) -> float:
        """The negative log-likelihood."""
        return 0.5 * self.twice_nll(point, data, **where)

    def gradient(
        self,
        point: Values | None = None,
        data: ArrayLike | None = None,
        **where: Unpack[Place],
    ) -> Floats:
        """Exact gradient of twice the NLL."""
        used = engine_of(Model.gradient, where)
        found: Floats = _engine.evaluate(self, self.point(point), data, gradient=True, engine=used).gradient[
            0, 0
        ]
        return found

    def hessian(
        self,
        point: Values | None = None,
        data: ArrayLike | None = None,
        **where: Unpack[Place],
    ) -> Floats:
        """Exact Hessian of twice the NLL, all parameters free."""
        used = engine_of(Model.hessian, where)
        found: Floats = _engine.evaluate(self, self.point(point), data, hessian=True, engine=used).hessian[
            0, 0
        ]
        return found

    def twice_nll_batch(
        self,
        points: ArrayLike,
        data: ArrayLike | None = None,
        **where: Unpack[Place],
    ) -> Floats:
        """Twice the NLL of n points (n, parameters) for m data sets (m, main + aux): (n, m)."""
        used = engine_of(Model.twice_nll_batch, where)
        found: Floats = _engine.evaluate(self, points, data, engine=used).twice_nll
        return found

    def gradient_batch(
        self,
        points: ArrayLike,
        data: ArrayLike | None = None,
        **where: Unpack[Place],
    ) -> Floats:
        """Exact gradients of twice the NLL of n points (n, parameters) for m data sets (m, main + aux):
        (n, m, parameters)."""
        used = engine_of(Model.gradient_batch, where)
        found: Floats = _engine.evaluate(self, points, data, gradient=True, engine=used).gradient
        return found

    def expected_data(
        self,
        point: Values | None = None,
        include_aux: bool = True,
        **where: Unpack[Place],
    ) -> Floats:
        """Expected main data; `include_aux` appends auxiliary data."""
        found: Floats = _engine.expected_data(self, self.point(point), engine_of(Model.expected_data, where))[
            0
        ]
        return found if include_aux else found[: self.main_count]

    def expected_by_sample(
        self,
        point: Values | None = None,
        **where: Unpack[Place],
    ) -> dict[str, dict[str, Floats]]:
        """Expected main data by channel and sample."""
        parts = _engine.expected_by_sample(
            self, self.point(point), engine_of(Model.expected_by_sample, where)
        )
        return {
            name: dict(zip(samples, rows)) for (name, _, samples), rows in zip(self.channel_layout, parts)
        }

    def expected_jacobian(
        self,
        point: Values | None = None,
        **where: Unpack[Place],
    ) -> Floats:
        """Derivatives of expected main data: (bins, parameters)."""
        return _engine.expected_jacobian(self, self.point(point), engine_of(Model.expected_jacobian, where))

    if TYPE_CHECKING:
        fit = fits.fit
        fit_batch = fits.fit_batch
        minos = fits.minos
        hypotest = inference.hypotest
        upper_limit = inference.upper_limit
        significance = inference.significance
        scan = inference.scan
        interval = inference.interval
        contour = inference.contour
        ranking = inference.ranking
        global_impacts = inference.global_impacts
        breakdown = inference.breakdown
        compatibility = inference.compatibility
        predict = inference.predict
        goodness_of_fit = inference.goodness_of_fit
        asimov_data = inference.asimov_data
        sample = sampling.sample
        moments = simplified.moments
        signals = simplified.signals
        simplify = simplified.simplify
        fit_toys = toys.fit_toys
        generate = toys.generate
        read_data = toys.read_data
        hypotest_toys = toys.hypotest_toys
        significance_toys = toys.significance_toys
        upper_limit_toys = toys.upper_limit_toys
        interval_toys = toys.interval_toys
        goodness_of_fit_toys = toys.goodness_of_fit_toys
        compatibility_toys = toys.compatibility_toys
        penalise = unfolding.penalise
        unfold = unfolding.unfold


def model_of(given: ModelLike) -> Model:
    """The model itself, or the model of a workspace. All functions of FUNCTIONS begin with it."""
    return given if isinstance(given, Model) else Model.from_workspace(given)


class _Method:
    """Imports its module at first use."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, model: Model | None, kind: type[Model]) -> Any:
        function = getattr(import_module(f".{self.module}", __package__), self.name)
        setattr(Model, self.name, function)
        return getattr(kind if model is None else model, self.name)


takes(
    Place,
    Model.twice_nll,
    Model.nll,
    Model.gradient,
    Model.hessian,
    Model.twice_nll_batch,
    Model.gradient_batch,
    Model.expected_data,
    Model.expected_by_sample,
    Model.expected_jacobian,
)

#: by module; also methods of Model
FUNCTIONS = {
    "fits": ("fit", "fit_batch", "minos"),
    "inference": (
        "asimov_data",
        "breakdown",
        "compatibility",
        "contour",
        "global_impacts",
        "goodness_of_fit",
        "hypotest",
        "interval",
        "predict",
        "ranking",
        "scan",
        "significance",
        "upper_limit",
    ),
    "sampling": ("sample",),
    "simplified": ("moments", "signals", "simplify"),
    "toys": (
        "compatibility_toys",
        "fit_toys",
        "generate",
        "goodness_of_fit_toys",
        "hypotest_toys",
        "interval_toys",
        "read_data",
        "significance_toys",
        "upper_limit_toys",
    ),
    "unfolding": ("penalise", "unfold"),
}
for _module, _names in FUNCTIONS.items():
    for _name in _names:
        setattr(Model, _name, _Method(_module, _name))


def several_names(poi: Any) -> list[str]:
    """Parameters of interest as a list: one name, or a list or tuple of different ones."""
    names = [poi] if isinstance(poi, str) else list(poi) if isinstance(poi, (list, tuple)) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise _engine.InvalidArgument(f"poi: a name or a list of different names is wanted, not {poi!r}")
    return names


def _with_pois(workspace: _engine.Document, measurement: str | None, names: list[str]) -> _engine.Document:
    """The workspace with other parameters of interest in a measurement."""
    listed = [one.get("name") for one in json.loads(workspace.text()).get("measurements", [])]
    if measurement is not None and measurement not in listed:
        raise _engine.NotFound(f"the workspace has no measurement {measurement!r}, only {listed}")
    place = f"/measurements/{0 if measurement is None else listed.index(measurement)}/config"
    changes = [("poi", names[0]), ("pois", names)]
    patch = [{"op": "add", "path": f"{place}/{key}", "value": value} for key, value in changes]
    return workspace.patch(document(patch, "poi"))


def _as_patches(given: Any) -> list[DocumentLike]:
    """A JSON Patch is itself a list of dicts with "op"."""
    if isinstance(given, (str, bytes)) or hasattr(given, "__fspath__") or isinstance(given, _engine.Document):
        return [given]
    listed = list(given)
    if listed and all(isinstance(item, Mapping) and "op" in item for item in listed):
        return [listed]
    return listed
