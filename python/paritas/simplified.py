"""Simplified likelihoods, and statistics of many signals on one background."""

from __future__ import annotations

import json
from typing import Any, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from ._engine import InvalidArgument
from .calls import job_of
from .differentiable import Samples, Session, Statistic, curve_bits
from .documents import names_of
from .keywords import default
from .model import Floats, ModelLike, model_of
from .workspace import Workspace

_ARRAYS = ("observed", "background", "signal", "third_moments", "covariance")
_ANSWERS = ("q", "q_asimov", "cls", "limit")


class _Rows(Session):
    """Takes NumPy arrays, and gives no derivatives."""

    def start_at(self, rates: Floats) -> None:
        """Rates whose fit lends its curvature to all."""
        self._row[self.place_of("signal", rates.shape)] = rates
        kept = [self._made_of[name] for name in ("init", "bounds", "fixed")]
        self._fits = _engine.SharedFits(self.model, job_of(self.model, self._row, *kept), self._engine)

    def answer(self, statistic: Statistic, mu: Floats | None, rates: Floats) -> tuple[Floats, Any]:
        rows: list[Any] = [None, rates, *[None] * 6]
        found = self.call(statistic, mu, rows, [False] * 9)
        return found.values, found.codes


def moments(
    model: ModelLike,
    control: Iterable[str] = (),
    *,
    postfit: bool = False,
    by: str = default("paritas_simplify_options", "by"),
    draws: int = default("paritas_simplify_options", "draws"),
    seed: int = default("paritas_simplify_options", "seed"),
) -> dict[str, Any]:
    """Mean, covariance and third moments of the background in each bin (arXiv:1809.05548).

    control: patterns of channels (* is any text, ? one character). The background is fitted to these at
        mu = 0, and the others are kept. Without any, the constraints alone say what is known of the
        parameters.
    postfit: the fit is to all channels. Data that are tested again then count twice.
    by: "derivatives", exact first derivatives, third moments from rates an error up and down; "draws", sums
        over draws of the parameters.
    draws, seed: of "draws".

    Gives observed, background, signal and third_moments: arrays (bins,); covariance: (bins, bins);
    expansion: a, b, c (bins,) and correlation (bins, bins) of rates a + b theta + c theta^2;
    channels: [{name, bins}]; poi: its name.

    >>> paritas.moments("examples/two_bins.json")["covariance"]
    array([[ 9.,  0.],
           [ 0., 49.]])"""
    made = _engine.moments(model_of(model), names_of(control), postfit, by, draws, seed)
    found: dict[str, Any] = json.loads(made.text())
    found["expansion"] = {name: np.array(rows) for name, rows in found["expansion"].items()}
    return {name: np.array(rows) if name in _ARRAYS else rows for name, rows in found.items()}


def simplify(
    model: ModelLike, control: Iterable[str] = (), *, form: str = "linear", **options: Any
) -> Workspace:
    """A simplified likelihood as a workspace: `moments`, read back as a model.

    control, **options: see `moments`.
    form: "linear", normal background, which pyhf reads; "quadratic", with third moments; "common", all bins
        move together, as in ATLAS' simplify.

    >>> paritas.simplify("examples/two_bins.json").model().upper_limit().limit_obs
    1.0235163653136699"""
    return Workspace.from_moments(moments(model, control, **options), form)


def signals(
    model: ModelLike,
    rates: ArrayLike,
    answer: str = "cls",
    *,
    signal: Samples = "signal",
    mu: ArrayLike = 1.0,
    test_stat: str = "qtilde",
    curve: None | str | int = None,
    level: float = default("paritas_limit_request", "level"),
    chunk: int = 4096,
    out: NDArray[Any] | None = None,
    **options: Any,
) -> Floats:
    """A statistic of each of many signals on one background.

    model: the background, and the sample `signal` with any rates. It may be a full likelihood or a simplified
        one (`simplify`).
    rates: array (n, bins), rates of the signals for mu = 1 in all bins of `signal`: channels sorted by name.
        A memory-mapped file is read chunk by chunk.
    answer: "q", the test statistic at mu; "q_asimov", that of Asimov data of the background; "cls", CLs at
        mu; "limit", upper limits on mu.
    signal: name, (channel, sample), or several: samples whose nominal rates are replaced. Their systematic
        uncertainties stay as in the workspace.
    mu: tested strengths, a number or an array (n,).
    test_stat: "qtilde" or "q".
    curve: of "cls" and "limit": None for all six, else "observed" or -2 to 2, that curve alone, which is
        faster.
    level: of limits, CLs there.
    chunk: signals in one call of the engine. Answers do not depend on it.
    out: array that takes the answers, such as a memory-mapped file. None: a new array.
    **options: of `paritas.differentiable.Session`: device, threads, fixed, poi and others.

    Gives an array (n,), or (n, 6) of "cls" and "limit" with all curves: observed, then expected at -2 to 2
    sigma. NaN where a fit failed, or where there is no limit.

    >>> rates = [[12.0, 11.0], [6.0, 5.5]]
    >>> paritas.signals("examples/two_bins.json", rates, "limit", curve="observed")
    array([1.01157188, 2.02314376])"""
    found = np.asanyarray(rates)
    if answer not in _ANSWERS:
        raise InvalidArgument(f"answer {answer!r}: there are {', '.join(map(repr, _ANSWERS))}")
    if found.ndim != 2:
        raise InvalidArgument(f"rates: an array (signals, bins) is wanted, the shape given is {found.shape}")
    if chunk < 1:
        raise InvalidArgument(f"chunk {chunk}: must be at least 1")
    bands = answer in ("cls", "limit")
    statistic = Statistic(answer, test_stat, curve_bits(curve) if bands else 0, level)
    strengths = np.broadcast_to(np.asarray(mu, dtype=np.float64), len(found))
    shape = (len(found), statistic.output_count) if statistic.output_count > 1 else (len(found),)
    if out is None:
        out = np.empty(shape)
    if out.shape != shape:
        raise InvalidArgument(f"out: an array {shape} is wanted, the shape given is {out.shape}")
    session = _Rows(model, signal=signal, **options)
    for first in range(0, len(found), chunk):
        part = np.asarray(found[first : first + chunk], dtype=np.float64)
        if first == 0:
            session.start_at(part[0])
        at = None if answer == "limit" else strengths[first : first + chunk, None]
        values, _ = session.answer(statistic, at, part)
        out[first : first + chunk] = values.reshape(len(part), *shape[1:])
    return out
