"""What paritas.torch and paritas.jax share: differentiable statistics of many rows of NumPy arrays.

arguments (..., numbers) ─► data rows (main, auxiliary, templates) ─► one call of the engine
                         ─► values, statuses, derivatives by each argument"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from math import prod
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union, cast

import numpy as np
from numpy.typing import NDArray

from . import _engine
from ._engine import InvalidArgument, NotFound
from .devices import engine
from .keywords import default
from .calls import Bounds, Fixed, job_of
from .model import Floats, Model, Values
from .documents import DocumentLike, document

#: by code; 0 is "converged"
STATUSES: list[str] = list(_engine.enumeration("paritas_fit_status"))
#: a sample's name (in every channel), (channel, sample), or several
Samples = Union[str, tuple[str, str], Iterable[Union[str, tuple[str, str]]]]
#: a modifier's name (in every sample), (channel, sample, modifier), or several
Modifiers = Union[str, tuple[str, str, str], Iterable[Union[str, tuple[str, str, str]]]]
#: in the front ends' order
ROW_ARGUMENTS = (
    "data",
    "signal",
    "background",
    "variations_up",
    "variations_down",
    "factors_up",
    "factors_down",
    "uncertainties",
)
_ROW_ARGUMENTS = set(ROW_ARGUMENTS)
#: calls give both at once, (up, down)
_PAIRS = ("variations", "factors")
Template = tuple[str, str, str, Optional[str]]


class Curves(NamedTuple):
    """observed (...); expected (..., 5) at -2, -1, 0, 1, 2 sigma."""

    observed: Any
    expected: Any


@dataclass(frozen=True)
class Statistic:
    """Hashable. outputs: bits of the curves of cls and limit; else 0."""

    quantity: str
    test: str = "qtilde"
    outputs: int = 0
    level: float = default("paritas_gradient_options", "level")

    @property
    def output_count(self) -> int:
        return bin(self.outputs).count("1") or 1

    @property
    def is_likelihood(self) -> bool:
        return self.quantity == "nll"

    @property
    def is_shared(self) -> bool:
        """May its fits share their curvature?"""
        return self.quantity in ("q", "z", "limit")

    @property
    def has_second(self) -> bool:
        """Has it second derivatives? Others would need third ones of the likelihood."""
        return self.quantity in ("nll", "q", "z")

    @property
    def second_refused(self) -> str:
        return f"{self.quantity}: there are second derivatives of nll, q0, qmu and Z0, and no higher ones"


NLL = Statistic("nll")
Q0 = Statistic("q", "q0")
Z0 = Statistic("z", "q0")
EXPECTED_SIGNIFICANCE = Statistic("z_asimov", "q0")


def curve_bits(curve: None | str | int) -> int:
    """None: all six; "observed"; or the sigmas of an expected curve."""
    if curve is None:
        return 63
    if isinstance(curve, str):
        if curve == "observed":
            return 1
    elif curve in (-2, -1, 0, 1, 2):
        return 1 << (curve + 3)
    raise InvalidArgument(
        f"curve {curve!r}: there are 'observed', -2, -1, 0, 1, 2 (sigma of an expected one) and None for all"
    )


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _rows_by_name(method: _Method) -> _Method:
    """Refuses data and templates that stand without their names, and says how to give them."""
    kinds = [one.kind for one in signature(method).parameters.values()]
    most = kinds.count(kinds[0]) - 1  # without self
    name = method.__name__

    @wraps(method)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        if len(given) > most:
            raise TypeError(
                f"{name}() takes data and templates by name, as in {name}(signal=..., background=...)"
            )
        return method(self, *given, **named)

    return cast(_Method, checked)


class Session:
    """A model whose calls take some of its numbers as arguments. It keeps its state on the device between
    calls. Threads may share it. Unpickling rebuilds it on the device that it names.

    signal, background: samples whose nominal rates are arguments. variations: histosys modifiers whose up and
        down templates are. factors: normsys modifiers whose hi and lo are. uncertainties: staterror and
        shapesys modifiers whose absolute uncertainties are. Numbers not given are the workspace's.
    arguments: for each argument the (channel, sample) or (channel, sample, modifier) of its numbers, in
        order.
    sizes: how many numbers each argument has.

    Methods take arrays by name, with the argument's numbers in the last dimension. The dimensions before it
    broadcast to a batch of independent fits:

      signal, background  nominal rates, as the session names them; or a mapping from (channel, sample), or
                          channel, to arrays
      variations, factors (up, down) templates, and hi and lo, the same way; either may be None
      uncertainties       absolute, bin by bin, such as sqrt(SoftHistogram's variances)
      data                main data (auxiliary data then follow from these templates), or main and auxiliary

    Answers have the shape of the batch and the arrays' type; computations are in float64. A row and its
    derivatives are NaN if a fit does not converge or cannot be made ("non_finite": NaN, a negative count,
    rates that switch a bin's constraint on or off). Mask such rows (where, nansum); the others train on.
    return_status=True: (answer, codes), the code of each row's worst fit (names:
    paritas.differentiable.STATUSES; 0 is "converged"). nll, q0, qmu and Z0 have second derivatives; those of
    the others are refused."""

    def __init__(
        self,
        workspace: Model | DocumentLike,
        signal: Samples | None = None,
        background: Samples | None = None,
        variations: Modifiers | None = None,
        factors: Modifiers | None = None,
        uncertainties: Modifiers | None = None,
        *,
        poi: str | None = None,
        measurement: str | None = None,
        init: Values | None = None,
        bounds: Bounds | None = None,
        fixed: Fixed | None = None,
        shared: bool = True,
        device: str | None = None,
        precision: str | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        """workspace: path, dict, Workspace or Model; options: normsys_code, histosys_code, clip_sample,
        clip_bin of the model. init, bounds, fixed: of all fits, as in `paritas.fit`. shared: q0, qmu, Z0
        and limits take the curvature of the workspace's own fits. Dozens of similar rows are several times
        as fast; answers move within the fits' tolerance. threads: of one call; 1 is best for one row."""
        given = {
            name: value
            for name, value in (("poi", poi), ("measurement", measurement), *options.items())
            if value is not None
        }
        if isinstance(workspace, Model):
            given = {**workspace.options, **given}
            if given.pop("templates", None):
                raise InvalidArgument("the model has templates already: give the one without")
            found = workspace.document
            plain = workspace if given == workspace.options else Model(found, **given)
        else:
            found = document(workspace, "workspace")
            plain = Model(found, **given)
        samples = {
            "signal": _samples(plain, signal, "signal"),
            "background": _samples(plain, background, "background"),
        }
        types = _modifier_types(found, plain)
        shapes = _modifiers(types, variations, "variations", ("histosys",))
        scales = _modifiers(types, factors, "factors", ("normsys",))
        widths = _modifiers(types, uncertainties, "uncertainties", ("staterror", "shapesys"))
        _check_once("signal and background", [*samples["signal"], *samples["background"]])
        bins = {name: count for name, count, _ in plain.channel_layout}
        templates: list[Template] = [("nominal", *pair, None) for pairs in samples.values() for pair in pairs]
        templates += [(kind, *of) for kind in ("histosys_up", "histosys_down") for of in shapes]
        templates += [(kind, *of) for kind in ("normsys_up", "normsys_down") for of in scales]
        templates += [(_width_type(types, of), *of) for of in widths]
        self.model = Model(found, **given, templates=templates) if templates else plain
        self.arguments: dict[str, Sequence[tuple[str, ...]]] = {
            "data": [],
            **samples,
            "variations_up": shapes,
            "variations_down": shapes,
            "factors_up": scales,
            "factors_down": scales,
            "uncertainties": widths,
        }
        self.sizes = {
            name: len(scales) if "factors" in name else sum(bins[of[0]] for of in self.arguments[name])
            for name in ROW_ARGUMENTS[1:]
        }
        self._places = _places(self.model, self.sizes)
        self._row = np.array(self.model.data)
        self._job = job_of(self.model, None, init, bounds, fixed)
        self._shared = shared
        self._fits: _engine.SharedFits | None = None
        self._quantities: dict[tuple[Statistic, bool], _engine.Quantity] = {}
        self._made_of = {
            "workspace": found,
            "signal": samples["signal"] or None,
            "background": samples["background"] or None,
            "variations": shapes or None,
            "factors": scales or None,
            "uncertainties": widths or None,
            **given,
            **copy.deepcopy({"init": init, "bounds": bounds, "fixed": fixed}),
            "shared": shared,
            "device": device,
            "precision": precision,
            "threads": threads,
        }
        self._engine = engine(device, precision, threads)

    @property
    def parameter_names(self) -> list[str]:
        return self.model.parameter_names

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} of {size}" for name, size in self.sizes.items() if size)
        model, module = self.model, type(self).__module__
        counts = f"{model.parameter_count} parameters, {model.main_count} bins"
        return f"<{module}.Session: {counts}; arguments: {parts or 'data'}>"

    def __copy__(self) -> "Session":
        return self

    def __deepcopy__(self, memo: Any) -> "Session":
        return self

    def __reduce__(self) -> Any:
        return _session, (type(self), self._made_of)

    @_rows_by_name
    def nll(self, parameters: Any = None, *, return_status: bool = False, **rows: Any) -> Any:
        """The negative log-likelihood at points (..., parameters); None: the suggested start."""
        return self._one(
            NLL, self.model.suggested_init.copy() if parameters is None else parameters, return_status, rows
        )

    @_rows_by_name
    def q0(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The discovery test statistic; 0 with zero gradient if the best-fit mu <= 0."""
        return self._one(Q0, None, return_status, rows)

    @_rows_by_name
    def qmu(
        self, mu: Any = 1.0, *, test_stat: str = "qtilde", return_status: bool = False, **rows: Any
    ) -> Any:
        """The test statistic "qtilde" or "q" for upper limits at mu (...), also differentiable by mu."""
        return self._one(Statistic("q", test_stat), _with_tail(mu), return_status, rows)

    @_rows_by_name
    def Z0(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The significance of a discovery, sqrt(q0). The gradient is set to 0 where q0 is 0."""
        return self._one(Z0, None, return_status, rows)

    @_rows_by_name
    def expected_significance(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The expected significance for mu = 1: sqrt(q0) of Asimov data from the fit with mu = 1."""
        return self._one(EXPECTED_SIGNIFICANCE, None, return_status, rows)

    @_rows_by_name
    def cls(
        self,
        mu: Any = 1.0,
        *,
        test_stat: str = "qtilde",
        curve: None | str | int = None,
        return_status: bool = False,
        **rows: Any,
    ) -> Any:
        """CLs at mu (...): Curves(observed, expected). curve: "observed" or -2 .. 2 for one alone
        (cheaper)."""
        return self._curves(
            Statistic("cls", test_stat, curve_bits(curve)), _with_tail(mu), curve, return_status, rows
        )

    @_rows_by_name
    def upper_limit(
        self,
        *,
        level: float = default("paritas_gradient_options", "level"),
        test_stat: str = "qtilde",
        curve: None | str | int = None,
        return_status: bool = False,
        **rows: Any,
    ) -> Any:
        """Upper limits on mu, where CLs = level: Curves(observed, expected). curve: "observed" or -2 .. 2 for
        one alone. NaN: no limit."""
        return self._curves(
            Statistic("limit", test_stat, curve_bits(curve), level), None, curve, return_status, rows
        )

    def _one(self, statistic: Statistic, at: Any, return_status: bool, rows: dict[str, Any]) -> Any:
        return self._answer(statistic, at, self._row_arguments(rows), return_status)

    def _curves(
        self,
        statistic: Statistic,
        at: Any,
        curve: None | str | int,
        return_status: bool,
        rows: dict[str, Any],
    ) -> Any:
        found = self._one(statistic, at, return_status, rows)
        values = found[0] if return_status else found
        curves = Curves(values[..., 0], values[..., 1:]) if curve is None else values
        return (curves, found[1]) if return_status else curves

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        """Values (..., k), or (...) for one output; status codes (...) if asked for."""
        raise NotImplementedError

    def _join(self, pieces: list[Any]) -> Any:
        raise NotImplementedError

    def _row_arguments(self, given: dict[str, Any]) -> list[Any]:
        """Splits `variations` and `factors` into up and down, joins mappings."""
        found: list[Any] = [None] * len(ROW_ARGUMENTS)
        if not given:
            return found
        for name in _PAIRS:
            if name in given:
                given[f"{name}_up"], given[f"{name}_down"] = given.pop(name) or (None, None)
        if not given.keys() <= _ROW_ARGUMENTS:
            unknown = ", ".join(sorted(given.keys() - _ROW_ARGUMENTS))
            known = "data, signal, background, variations, factors and uncertainties"
            hint = "; qmu and cls take mu" if "mu" in given else ""
            raise TypeError(f"{unknown}: the arguments are {known}{hint}")
        for name, value in given.items():
            found[ROW_ARGUMENTS.index(name)] = (
                self._joined(name, value) if isinstance(value, Mapping) else value
            )
        return found

    def _joined(self, name: str, given: Mapping[Any, Any]) -> Any:
        wanted = self.arguments[name]
        pieces = {}
        for key, piece in given.items():
            found = [of for of in wanted if key in (of, of[0])]
            if len(found) != 1:
                raise InvalidArgument(f"{name}: {key!r} names {len(found)} of {_listed(wanted)}")
            pieces[found[0]] = piece
        missing = [of for of in wanted if of not in pieces]
        if missing:
            raise InvalidArgument(f"{name}: {_listed(missing)} missing")
        return self._join([pieces[of] for of in wanted])

    def place_of(self, name: str, shape: tuple[int, ...]) -> slice:
        """Where a row argument stands in a row. Raises for a wrong shape."""
        place = self._places[name]
        size = shape[-1] if shape else 0
        if size == place.stop - place.start != 0:
            return place
        if name == "data" and size == self.model.main_count + self.model.aux_count:
            return slice(0, size)
        raise InvalidArgument(self._misfit(name, shape))

    def _misfit(self, name: str, shape: tuple[int, ...]) -> str:
        if name == "data":
            main, aux = self.model.main_count, self.model.aux_count
            wanted = f"{main} (main data) or {main + aux} (auxiliary data behind them)"
        elif self.sizes[name]:
            what = "one each" if "factors" in name else "bins"
            wanted = f"{self.sizes[name]} ({what} of {_listed(self.arguments[name])})"
        else:
            return f"{name}: the session was made without; name it there"
        return f"{name}: the last dimension is {wanted}, the shape given is {shape}"

    def call(
        self,
        statistic: Statistic,
        at: Floats | None,
        rows: Sequence[Floats | None],
        wanted: Sequence[bool],
    ) -> "Answer":
        """at: points (..., parameters) of the likelihood, else mu (..., 1) or None; rows: ROW_ARGUMENTS or
        None. wanted: derivatives by `at` and each of rows."""
        batch = batch_of([array.shape for array in (at, *rows) if array is not None])
        points = self._points(statistic, at, batch)
        data, places = self._data(rows, batch, self._row)
        by_at, by_rows = wanted[0], True in wanted[1:]
        found = _engine.differentiate(
            self.model,
            self._quantity(statistic, places),
            self._job,
            prod(batch),
            points,
            data,
            by_rows,
            by_at,
            self._engine,
        )
        slopes = [found.by_at, *[None] * len(rows)]
        if by_rows:
            slopes[1:] = [
                found.by_data[:, :, place] if wish else None for place, wish in zip(places, wanted[1:])
            ]
        return Answer(batch, found.values, found.codes, slopes)

    def call_along(
        self,
        statistic: Statistic,
        at: Floats | None,
        rows: Sequence[Floats | None],
        directions: Sequence[Floats | None],
    ) -> "Answer":
        """Derivatives of a statistic with second derivatives: what `call` answers, differentiated along
        `directions` of `at` and each of rows (None: 0). They broadcast with the arguments."""
        batch = batch_of([array.shape for array in (at, *rows, *directions) if array is not None])
        data, places = self._data(rows, batch, self._row)
        turned, _ = self._data(directions[1:], batch, np.zeros_like(self._row))
        moved = directions[0]
        found = _engine.differentiate_along(
            self.model,
            self._quantity(statistic, places),
            self._job,
            prod(batch),
            self._points(statistic, at, batch),
            data,
            None
            if moved is None
            else np.broadcast_to(moved, (*batch, moved.shape[-1])).reshape(prod(batch), -1),
            turned,
            self._engine,
        )
        slopes = [None if at is None else found.by_at]
        slopes += [None if place is None else found.by_data[:, :, place] for place in places]
        return Answer(batch, found.values, found.codes, slopes)

    def _points(self, statistic: Statistic, at: Floats | None, batch: tuple[int, ...]) -> Any:
        if at is None:
            return None
        self.check_at(statistic, at.shape)
        wide = at if at.shape[:-1] == batch else np.broadcast_to(at, (*batch, at.shape[-1]))
        return wide.reshape((prod(batch), at.shape[-1]) if statistic.is_likelihood else prod(batch))

    def _data(self, rows: Sequence[Floats | None], batch: tuple[int, ...], otherwise: Floats) -> Any:
        """(data rows, or None without arguments; place of each argument or None)."""
        data = None
        places: list[Any] = [None] * len(rows)
        for i, array in enumerate(rows):
            if array is not None:
                if data is None:
                    data = np.empty((*batch, len(otherwise)))
                    data[...] = otherwise
                places[i] = self.place_of(ROW_ARGUMENTS[i], array.shape)
                data[..., places[i]] = array
        return None if data is None else data.reshape(prod(batch), len(otherwise)), places

    def _quantity(self, statistic: Statistic, places: Sequence[Any]) -> Any:
        follow = places[0] is None or places[0].stop == self.model.main_count
        found = self._quantities.get((statistic, follow))
        if found is None:
            found = self._quantities[statistic, follow] = _engine.Quantity(
                statistic.quantity,
                statistic.test,
                statistic.outputs,
                statistic.level,
                self._shared_fits() if statistic.is_shared else None,
                follow,
            )
        return found

    def _shared_fits(self) -> Any:
        """Made by the first call that needs them; threads that come at once make the same."""
        if self._shared and self._fits is None:
            self._fits = _engine.SharedFits(self.model, self._job, self._engine)
        return self._fits

    def check_at(self, statistic: Statistic, shape: tuple[int, ...]) -> None:
        if statistic.is_likelihood and (not shape or shape[-1] != self.model.parameter_count):
            raise InvalidArgument(
                f"parameters: the last dimension is {self.model.parameter_count}, the shape given is {shape}"
            )


class Answer(NamedTuple):
    """n rows of shape `batch`: values (n, k), codes (n); slopes (n, k, numbers) by `at` and each row
    argument, or None."""

    batch: tuple[int, ...]
    values: Floats
    codes: NDArray[np.int32]
    slopes: list[Floats | None]

    def chosen(self, places: Sequence[int]) -> list[Floats]:
        """The slopes of these places, each (*batch, k, numbers)."""
        found = [self.slopes[i] for i in places]
        return [one.reshape(*self.batch, *one.shape[1:]) for one in found if one is not None]


def pulled_back(slopes: Floats, weights: Floats, shape: tuple[int, ...]) -> Any:
    """The sum over outputs of weights (..., k) times slopes (..., k, numbers), in an argument's shape. Weight
    0 skips NaN, so that masked rows spoil no gradients."""
    if weights.size == 1 and weights.item() != 0.0 and slopes.size == prod(shape):
        return (weights.item() * slopes).reshape(shape)
    parts = weights[..., None] * slopes
    if np.isnan(parts).any():
        parts[weights == 0.0] = 0.0
    return summed_to(parts.sum(axis=-2), shape)


def summed_to(array: Any, shape: tuple[int, ...]) -> Any:
    """Sums over broadcast dimensions."""
    if array.shape == shape:
        return array
    extra = array.ndim - len(shape)
    array = array.sum(axis=tuple(range(extra)))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and array.shape[i] != 1)
    return array.sum(axis=stretched, keepdims=True) if stretched else array


def _listed(names: Sequence[tuple[str, ...]]) -> str:
    return ", ".join("/".join(of) for of in names)


def _with_tail(mu: Any) -> Any:
    return mu[..., None] if hasattr(mu, "ndim") else np.asarray(mu, dtype=np.float64)[..., None]


def check_real(are_complex: bool) -> None:
    if are_complex:
        raise InvalidArgument("arguments are real numbers, not complex ones")


def batch_of(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    if len(shapes) == 1:
        return shapes[0][:-1]
    leading = {shape[:-1] for shape in shapes}
    return leading.pop() if len(leading) == 1 else np.broadcast_shapes(*leading)


def check_soft_histogram(edges: NDArray[Any], bandwidth: float, kernel: str) -> None:
    """Raises InvalidArgument."""
    if (
        edges.ndim != 1
        or len(edges) < 2
        or not (np.diff(edges) > 0.0).all()
        or not np.isfinite(edges[1:-1]).all()
    ):
        raise InvalidArgument(
            "edges: two or more in ascending order are wanted, infinite ones only at the ends"
        )
    if not 0.0 < bandwidth < np.inf:
        raise InvalidArgument(f"bandwidth {bandwidth!r}: a number above 0 is wanted")
    if kernel not in ("gaussian", "logistic"):
        raise InvalidArgument(f"kernel {kernel!r}: there are 'gaussian' and 'logistic'")


def _places(model: Model, sizes: Mapping[str, int]) -> dict[str, slice]:
    found, first = {"data": slice(0, model.main_count)}, model.main_count + model.aux_count
    for name, size in sizes.items():
        found[name] = slice(first, first + size)
        first += size
    return found


def _several(given: Any, length: int) -> list[Any]:
    """One name, one tuple of `length` names, or several; sets are sorted."""
    if given is None:
        return []
    if isinstance(given, str) or (
        isinstance(given, tuple) and len(given) == length and all(isinstance(part, str) for part in given)
    ):
        return [given]
    return sorted(given, key=str) if isinstance(given, (set, frozenset)) else list(given)


def _session(kind: type[Session], made_of: dict[str, Any]) -> Session:
    return kind(**made_of)


def _chosen(given: Any, length: int, having: Sequence[Any], missing: Callable[[Any], str]) -> list[Any]:
    """The names (`length` parts each) in `having` that are given whole, or by their last part."""
    found: list[Any] = []
    for one in _several(given, length):
        chosen = [names for names in having if one in (names, names[-1])]
        if not chosen:
            raise NotFound(missing(one))
        found += chosen
    return found


def _samples(model: Model, given: Samples | None, what: str) -> list[tuple[str, str]]:
    def missing(one: Any) -> str:
        sought = f"{one!r}" if isinstance(one, str) else f"{one[1]!r} in a channel {one[0]!r}"
        return f"{what}: the model has no sample {sought}"

    having = [(channel, sample) for channel, _, samples in model.channel_layout for sample in samples]
    return _chosen(given, 2, having, missing)


def _check_once(what: str, chosen: Sequence[tuple[str, ...]]) -> None:
    for one in chosen:
        if chosen.count(one) > 1:
            raise InvalidArgument(f"{what}: {'/'.join(one)} is named twice")


def _modifier_types(workspace: _engine.Document, model: Model) -> list[tuple[str, tuple[str, str, str]]]:
    """(type, (channel, sample, name)) of all modifiers, channels sorted as in the model."""
    order = {name: i for i, (name, _, _) in enumerate(model.channel_layout)}
    having = [
        (modifier["type"], (channel["name"], sample["name"], modifier["name"]))
        for channel in json.loads(workspace.text())["channels"]
        for sample in channel["samples"]
        for modifier in sample["modifiers"]
    ]
    return sorted(having, key=lambda one: order[one[1][0]])


def _modifiers(
    types: Sequence[tuple[str, tuple[str, str, str]]],
    given: Modifiers | None,
    what: str,
    wanted: tuple[str, ...],
) -> list[tuple[str, str, str]]:
    having = [of for type_, of in types if type_ in wanted]
    found: list[tuple[str, str, str]] = _chosen(
        given, 3, having, lambda one: f"{what}: the model has no {' or '.join(wanted)} {one!r}"
    )
    _check_once(what, found)
    return found


def _width_type(types: Sequence[tuple[str, tuple[str, str, str]]], of: tuple[str, str, str]) -> str:
    return next(type_ for type_, one in types if one == of and type_ in ("staterror", "shapesys"))
