"""Fits of loss cones: U, r, A, plateaus, confidence sets; profiles, models and misfits.

Options are members of paritas_losscone_options (paritas_losscone.h)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _engine
from ..arrays import (
    Floats,
    Summarised,
    Table,
    Tabular,
    columns_by_name,
    html_of,
    numbers,
    structured,
    where,
    whole,
    words,
)
from ..files import PathLike as Path
from ..devices import ProgressFunction
from ..keywords import Where, check_keywords, place, running, takes, takes_options
from ..progress import told
from ..records import columns_of
from ..written_tables import write_table
from .day import Day
from .sweeps import Part, Sweeps, beam, load

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..fields import LossconeOptions

    class LossconeKeywords(LossconeOptions, Where, total=False): ...


#: sweeps, a day, day files, or (energy, potential, cosine, flux) for Sweeps.of
Given = Union[Sweeps, Day, Path, Sequence[Path], Sequence[ArrayLike]]
RESPONSES = ("hard", "folded")
_STATUSES = _engine.enumeration("paritas_sweep_status")
_SET_HERE = ("response", "first")
_DEFAULTS = {
    name: option.default
    for name, option in _engine.options("paritas_losscone_options").items()
    if name not in _SET_HERE
}


def sweeps_of(given: Given) -> Sweeps:
    if isinstance(given, Sweeps):
        return given
    if isinstance(given, (str, os.PathLike, Day)) or all(
        isinstance(one, (str, os.PathLike, Day)) for one in given
    ):
        return load(given)  # type: ignore[arg-type]
    if len(given) != 4:
        raise _engine.InvalidArgument(
            f"sweeps: four arrays (energy, potential, cosine, flux) are wanted, {len(given)} are given"
        )
    return Sweeps.of(*given)


def options_of(options: Any, response: str, part: Part | None = None) -> dict[str, Any]:
    """Members of paritas_losscone_options for one response."""
    chosen = options_of_points(options, response)
    if part is not None:
        chosen["first"] = part.first
    made: dict[str, Any] = _engine.losscone_options_of(chosen, response)
    return made


def _method(options: Any) -> str:
    method: str = options.get("method", _DEFAULTS["method"])
    return method


def _part_of(arrays: _engine.SweepArrays, part: Part) -> _engine.SweepArrays:
    if part.start == 0 and part.stop == arrays.n:
        return arrays
    rows = slice(part.start, part.stop)
    return _engine.SweepArrays(
        arrays.energy[rows],
        arrays.potential[rows],
        arrays.cosine[rows],
        arrays.flux[rows],
        *(
            None if more is None else more[rows]
            for more in (
                arrays.channel,
                arrays.counts,
                arrays.background,
                arrays.potential_error,
                arrays.measured,
                arrays.scatter,
            )
        ),
    )


@dataclass(repr=False)
class LossconeFit(Tabular):
    """Fits of n sweeps.

    table: one row a sweep, program's columns (docs/losscone.md), with suffix _folded if both models are
        fitted; of day files also the sweeps' columns. NaN without a fit; `status` says why. confidence_set:
        (8, 2), NaN after the last interval.
    results, sets: by response, the library's rows (paritas_losscone_result, paritas_confidence)."""

    table: Table
    results: dict[str, Table]
    sets: dict[str, Table]
    sweeps: Sweeps
    options: dict[str, Any]
    device: str
    precision: str

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.array(self.table, dtype=dtype) if copy else np.asarray(self.table, dtype=dtype)

    def _response(self, response: str | None) -> str:
        chosen = next(iter(self.results)) if response is None else response
        if chosen not in self.results:
            raise _engine.InvalidArgument(f"response {response!r}: fitted are {', '.join(self.results)}")
        return chosen

    def fitted(self, response: str | None = None) -> NDArray[np.bool_]:
        """Which sweeps have a fit; response None: the first one fitted."""
        return _fitted(self.results[self._response(response)])

    def good(self) -> NDArray[np.bool_]:
        """Which sweeps a loss cone describes: the quality of the preferred model is "good"."""
        found: NDArray[np.bool_] = self.table["good"] != 0
        return found

    def point(self, k: int, response: str | None = None) -> Floats:
        """(U, r, A) of sweep k at the centre of its plateau."""
        row = self.results[self._response(response)][k]
        return np.array([row["potential_centre"], row["ratio_centre"], row["amplitude"]])

    def plateau(self, k: int, response: str | None = None) -> Floats:
        """The polygon of least misfit of sweep k: (vertices, 2) of U, r; at most 16."""
        row = self.results[self._response(response)][k]
        if not _fitted(row[None])[0]:
            return np.empty((0, 2))
        found: Floats = row["vertex"][: min(int(row["vertices"]), len(row["vertex"]))]
        return found

    def intervals(self, k: int, response: str | None = None) -> Floats:
        """The confidence set of sweep k: (intervals, 2) of U."""
        chosen = self._response(response)
        if chosen not in self.sets or not _fitted(self.results[chosen][k][None])[0]:
            return np.empty((0, 2))
        row = self.sets[chosen][k]
        n = int(row["intervals"])
        return np.stack([row["lower"][:n], row["upper"][:n]], axis=1)

    def write(self, path: Path) -> None:
        """The table as a .csv, columns and numbers as the program writes them, after the options.
        `read_tables` reads it. An existing file is replaced."""
        write_table(path, self, "paritas.losscone.fit")

    def _repr_html_(self) -> str:
        return html_of(self.table, "Loss cones")


def _fitted(results: Table) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = _engine.losscone_fitted(results)
    return found


def _status_words(sweeps: Sweeps, results: Table) -> NDArray[np.str_]:
    found = words(results["status"], list(_STATUSES)).astype("U24")
    at = 0
    for day in sweeps.days:
        rows = slice(at, at + len(day))
        found[rows] = _engine.day_status(day._memory, results[rows])
        at += len(day)
    return found


def _quality(results: dict[str, Table], response: str) -> NDArray[np.str_]:
    other = [rows for one, rows in results.items() if one != response]
    return _engine.losscone_quality(results[response], other[0] if other else None)


def _columns(
    sweeps: Sweeps, response: str, results: dict[str, Table], sets: Table | None, suffix: str
) -> dict[str, NDArray[Any]]:
    own = results[response]
    fitted = _fitted(own)
    columns = columns_of("paritas_losscone_result", own, fitted)
    columns["status"] = _status_words(sweeps, own)
    columns["quality"] = _quality(results, response)
    if response != "hard":
        del columns["amplitude"]
    if sets is not None:
        n = np.where(fitted, sets["intervals"], 0)
        there = np.arange(sets["lower"].shape[1]) < n[:, None]
        last = np.maximum(n.astype(int) - 1, 0)
        columns["confidence_threshold"] = where(fitted, sets["threshold"])
        columns["confidence_lower"] = where(n > 0, sets["lower"][:, 0])
        columns["confidence_upper"] = where(n > 0, sets["upper"][np.arange(len(sets)), last])
        columns["confidence_set"] = np.stack(
            [where(there, sets["lower"]), where(there, sets["upper"])], axis=2
        )
        for side in ("lower", "upper"):
            columns[f"confidence_at_{side}_bound"] = (n > 0) & (sets[f"at_{side}_bound"] != 0)
    return {name + suffix: values for name, values in columns.items()}


def fit(
    sweeps: Given,
    *,
    response: str = "both",
    confidence: str | float | None = None,
    draws: int = 40,
    level: float = 0.68,
    step: float | None = None,
    **options: Unpack[LossconeKeywords],
) -> LossconeFit:
    """Fits every sweep.

    sweeps: Sweeps (see `load`, `Sweeps.of`), day files, or the arrays (energy, potential, cosine, flux).
        response: the cone's edge at the row's energy ("hard"), averaged over the energy response ("folded"),
        or "both". confidence: threshold of sets of U above the minimum: "residuals" (95 % for counts; else 4
        times the mean square residual, 6 times with a folded edge weighted by the spectrum), "bootstrap"
        (calibrated by `draws` fits), a number, or "none". None: "residuals", or "none" with search="de",
        which has no sets. level: coverage of the bootstrap. step: grid of the sets' ends, V (None: 1; folded
        0.05). Results equal the program's bit for bit, for any threads. A failed fit does not raise: see
        `status`."""
    data, search = sweeps_of(sweeps), options.get("search", "exact")
    if response != "both" and response not in RESPONSES:
        raise _engine.InvalidArgument(f"response {response!r}: there are hard, folded, both")
    if "seed" in options and search != "de" and confidence != "bootstrap":
        whole(options["seed"], "seed")
        raise _engine.InvalidArgument('seed has no effect: it needs search="de" or confidence="bootstrap"')
    asked = _Sets(_kind_of(confidence, search), draws, level, step or 0.0)
    chosen: dict[str, Any] = dict(options)
    used, progress = place(chosen), chosen.pop("progress", None)
    arrays = data.arrays(_method(chosen))
    results: dict[str, Table] = {}
    sets: dict[str, Table] = {}
    for one in RESPONSES if response == "both" else (response,):
        with told(progress, f"loss cones, {one}") as tell:
            found = [
                _fit_part(_part_of(arrays, part), options_of(chosen, one, part), asked, used, tell)
                for part in data.parts
            ]
        results[one] = _joined([rows for rows, _ in found])
        of_parts = [rows for _, rows in found if rows is not None]
        if of_parts:
            sets[one] = _joined(of_parts)
    chosen = {**_DEFAULTS, **chosen, "response": response, "confidence": asked.kind}
    chosen.update(draws=draws, level=level, step=step)
    table = structured(_all_columns(data, results, sets))
    return LossconeFit(table, results, sets, data, chosen, used.device, used.precision)


class _Sets(NamedTuple):
    """kind: "none", "residuals", "bootstrap", or a threshold."""

    kind: str | float
    draws: int
    level: float
    step: float


def _kind_of(confidence: str | float | None, search: str) -> str | float:
    if confidence is None:
        return "none" if search == "de" else "residuals"
    if isinstance(confidence, str):
        if confidence not in ("none", "residuals", "bootstrap"):
            raise _engine.InvalidArgument(
                f"confidence {confidence!r}: there are none, residuals, bootstrap, or a number from 0"
            )
    elif not confidence >= 0.0:
        raise _engine.InvalidArgument(
            f"confidence {confidence!r}: a number from 0 is wanted, or none, residuals, bootstrap"
        )
    if search == "de" and confidence != "none":
        raise _engine.InvalidArgument("confidence sets need search='exact'")
    return confidence


def _all_columns(data: Sweeps, results: dict[str, Table], sets: dict[str, Table]) -> dict[str, NDArray[Any]]:
    known = data.table()
    columns: dict[str, NDArray[Any]] = {} if known is None else columns_by_name(known)
    for one in results:
        suffix = "_folded" if len(results) == 2 and one == "folded" else ""
        columns.update(_columns(data, one, results, sets.get(one), suffix))
    both = _engine.losscone_both(results.get("hard"), results.get("folded"))
    if len(results) == 2:
        columns["preferred"] = both.preferred
    columns["good"] = both.good
    if known is not None:
        columns.update(columns_by_name(beam(data)))
        if "background_rate" in columns:
            columns["background_rate"] = columns.pop("background_rate")
    return columns


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _fit_part(
    arrays: _engine.SweepArrays,
    options: dict[str, Any],
    asked: _Sets,
    used: _engine.Engine,
    tell: ProgressFunction | None,
) -> tuple[Table, Table | None]:
    found = _engine.losscone_answer(
        arrays, options, asked.kind, asked.draws, asked.level, asked.step, used, tell
    )
    return found.results, found.sets


def bootstrap(
    found: LossconeFit,
    response: str | None = None,
    *,
    draws: int = 40,
    level: float = 0.68,
    **where: Unpack[Where],
) -> Floats:
    """Bootstrap thresholds of confidence sets around exact fits: n, NaN without a fit. level: coverage."""
    check_keywords(bootstrap, where)
    return _joined(
        [
            _engine.losscone_bootstrap(
                part.arrays, part.options, part.rows, draws, level, part.used, part.tell
            )
            for part in _parts_around(found, response, where, "bootstrap")
        ]
    )


def confidence(
    found: LossconeFit,
    response: str | None = None,
    *,
    thresholds: float | ArrayLike | None = None,
    step: float | None = None,
    **where: Unpack[Where],
) -> Table:
    """Confidence sets around exact fits: rows of threshold, intervals, lower (8), upper (8), at_lower_bound,
    at_upper_bound. thresholds: above the minimum, one or n; None: 4 times the mean square residual,
        6 times with a folded edge weighted by the spectrum."""
    above: Any = None
    if thresholds is not None:
        above = np.array(np.broadcast_to(numbers(thresholds), (len(found),)))
    check_keywords(confidence, where)
    sets = []
    for part in _parts_around(found, response, where, "confidence sets"):
        own = None if above is None else above[part.at]
        around = part.arrays, part.options, part.rows, own, step or 0.0
        sets.append(_engine.losscone_confidence(*around, part.used, part.tell))
    return _joined(sets)


class _Part(NamedTuple):
    """A part of exact fits, and where it is computed. at: its sweeps."""

    arrays: _engine.SweepArrays
    options: dict[str, Any]
    rows: Table
    at: slice
    used: _engine.Engine
    tell: ProgressFunction | None


def _parts_around(found: LossconeFit, response: str | None, where: Any, what: str) -> Iterator[_Part]:
    if found.options["search"] != "exact":
        raise _engine.InvalidArgument(f"{what}: the fits must be exact")
    chosen = found._response(response)
    arrays = found.sweeps.arrays(found.options["method"])
    options = {name: found.options[name] for name in _DEFAULTS}
    with running(where, what) as (used, tell):
        for part in found.sweeps.parts:
            at = slice(part.start, part.stop)
            of_part = options_of(options, chosen, part)
            yield _Part(_part_of(arrays, part), of_part, found.results[chosen][at], at, used, tell)


@dataclass(repr=False)
class Profile(Summarised):
    """Least misfits of n sweeps over U: potentials (m); misfit, ratio, amplitude (n, m)."""

    potentials: Floats
    misfit: Floats
    ratio: Floats
    amplitude: Floats
    response: str


def profile(
    sweeps: Given,
    potentials: ArrayLike | None = None,
    *,
    response: str = "hard",
    **options: Unpack[LossconeKeywords],
) -> Profile:
    """The misfit minimised over r and A at potentials within the bounds of U (None: 401 across them)."""
    data = sweeps_of(sweeps)
    if potentials is None:
        bounds = {**_DEFAULTS, **options}
        potentials = np.linspace(bounds["potential_lower"], bounds["potential_upper"], 401)
    at = np.ascontiguousarray(numbers(potentials))
    with running(options, "profiles") as (used, tell):
        arrays = data.arrays(_method(options))
        found = _engine.losscone_profile(arrays, options_of(options, response), at, used, tell)
    return Profile(at, found.misfit, found.ratio, found.amplitude, response)


def misfit(
    sweeps: Given,
    points: ArrayLike,
    *,
    response: str = "hard",
    **options: Unpack[LossconeKeywords],
) -> tuple[Floats, NDArray[np.uint32]]:
    """The misfit of n sweeps at m points (rows of U, r, A): (n, m), NaN with too few cells; and the cells
    used, n."""
    data = sweeps_of(sweeps)
    with running(options, "misfits") as (used, tell):
        arrays = data.arrays(_method(options))
        found = _engine.losscone_misfit(arrays, options_of_points(options, response), points, used, tell)
    return found.misfit, found.cells


def options_of_points(options: Any, response: str) -> dict[str, Any]:
    """Uses the points' amplitudes."""
    if response not in RESPONSES:
        raise _engine.InvalidArgument(f"response {response!r}: there are hard, folded")
    return _engine.option_values("paritas_losscone_options", {**options, "response": response})


def model(
    sweeps: Given,
    points: ArrayLike,
    *,
    response: str = "hard",
    **options: Unpack[LossconeKeywords],
) -> tuple[Floats, Floats | None]:
    """The model of sweep k at points[k] (U, r, A): (n, rows, cells); and the hard cone's edge, degrees,
    (n, rows). Fluxes are not used."""
    data = sweeps_of(sweeps)
    at = np.atleast_2d(numbers(points))
    with running(options, "models") as (used, tell):
        arrays, chosen = data.arrays(_method(options)), options_of_points(options, response)
        found = _engine.losscone_model(arrays, chosen, at, response == "hard", used, tell)
    return found.model, found.edge


takes(Where, fit, bootstrap, confidence, profile, misfit, model)
takes_options("paritas_losscone_options", fit, profile, misfit, model, without=_SET_HERE)
