"""Where this interface meets the engine: models made of specifications, and what is asked of them.

Here alone the engine's module is used. It is told of a model when it is first asked for a number; what it
refuses is an InvalidModel.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Sequence

import numpy as np

from paritas import _engine
from paritas.pyhf import exceptions

STATUSES: list[str] = _engine.FIT_STATUSES
CONVERGED = STATUSES.index("converged")
#: models of more parameters are tested by threads; below, to start them takes longer than the fits
_SMALL = 64
_CODES: dict[str, dict[str, Any]] = {
    "normsys": {"code1": 1, "code4": 4},
    "histosys": {"code0": 0, "code2": 2, "code4p": "4p"},
}


@lru_cache(maxsize=None)
def _one_thread() -> Any:
    return _engine.Engine(threads=1)


def _plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as JSON knows them."""
    return value.tolist()


def _code(settings: Any, kind: str, fallback: str) -> Any:
    """The interpolation that `settings` say; pyhf falls back to the oldest code where they leave a type
    out."""
    code = settings.get(kind, {}).get("interpcode", fallback)
    if code not in _CODES[kind]:
        raise exceptions.InvalidInterpCode(f"{code!r} of {kind}: there are {', '.join(_CODES[kind])}")
    return _CODES[kind][code]


def make(
    spec: Any,
    channel_nbins: Any,
    poi_name: str | None,
    settings: Any,
    clip_sample: float | None,
    clip_bin: float | None,
) -> Any:
    """The engine's model of a specification (channels, parameters)."""
    document = {
        "channels": spec["channels"],
        "observations": [{"name": name, "data": [0.0] * bins} for name, bins in channel_nbins.items()],
        "measurements": [
            {
                "name": "measurement",
                "config": {"poi": poi_name or "", "parameters": spec.get("parameters", [])},
            }
        ],
        "version": "1.0.0",
    }
    try:
        text = json.dumps(document, default=_plain, ensure_ascii=False).encode()
        return _engine.Model(
            _engine.Document.parse(text, "specification"),
            None,
            None,
            _code(settings, "normsys", "code1"),
            _code(settings, "histosys", "code0"),
            clip_sample,
            clip_bin,
        )
    except _engine.Error as error:
        raise exceptions.InvalidModel(f"the engine refuses this model: {error}") from error


def twice_nll(model: Any, pars: Any, data: Any) -> Any:
    """Twice the NLL: a float for one point, else an array, row by row: `data` is one row for all, or one a
    point."""
    if pars.ndim == 1 and data.ndim == 1:
        return _engine.twice_nll(model, pars, data)
    pars, data = np.atleast_2d(pars), np.atleast_2d(data)
    if len(data) == 1 or len(pars) == 1:
        return _engine.evaluate(model, pars, data)[0].ravel()
    return np.array([_engine.twice_nll(model, point, row) for point, row in zip(pars, data)])


def expected_data(model: Any, pars: Any) -> Any:
    """Main, then auxiliary data: (bins,) or (points, bins)."""
    found = _engine.expected_data(model, pars)
    return found[0] if pars.ndim == 1 else found


def expected_by_sample(model: Any, point: Any, samples: Sequence[str], channel_slices: Any) -> Any:
    """Expected main data of one point: (samples, bins), 0 where a channel has no such sample."""
    rows = {name: row for row, name in enumerate(samples)}
    whole = np.zeros((len(samples), model.main_count))
    for (channel, _, names), part in zip(model.channel_layout, _engine.expected_by_sample(model, point)):
        whole[[rows[name] for name in names], channel_slices[channel]] = part
    return whole


def fit(
    model: Any,
    data: Any,
    start: Any,
    lower: Any,
    upper: Any,
    fixed: Any,
    covariance: bool,
    max_iterations: int,
) -> Any:
    """(status, iterations, twice NLL, edm, projected gradient, parameters, errors, covariance, states); see
    paritas._engine.fit."""
    return _engine.fit(model, data, start, lower, upper, fixed, covariance, "newton", max_iterations)


def errors_without_bounds(model: Any, data: Any, point: Any, fixed: Any) -> Any:
    """Errors of the parameters that are not fixed from the exact Hessian at a point, as if none were at a
    bound; NaN where it is no minimum's."""
    errors = np.full(len(point), np.nan)
    free = np.flatnonzero(fixed == 0)
    hessian = _engine.evaluate(model, point, data, False, True)[2]
    try:
        variances = 2.0 * np.diag(np.linalg.inv(hessian[0, 0][np.ix_(free, free)]))
    except np.linalg.LinAlgError:
        return errors
    errors[free] = np.sqrt(np.where(variances > 0, variances, np.nan))
    return errors


def fit_rows(
    model: Any, data: Any, start: Any, lower: Any, upper: Any, fixed: Any, progress: Any
) -> tuple[Any, Any, Any]:
    """A fit of each row of data: statuses, twice NLL and parameters."""
    status, _, value, _, _, parameters, _, _ = _engine.fit_batch(
        model, len(data), data, start, lower, upper, fixed, progress=progress
    )
    return status, value, parameters


def toys(
    model: Any,
    mu: float,
    statistic: str,
    n: int,
    seed: int,
    data: Any,
    start: Any,
    lower: Any,
    upper: Any,
    fixed: Any,
    progress: Any,
) -> tuple[Any, Any, int]:
    """Statistics of n toys drawn at mu and of n at the other hypothesis, and how many of all had no answer,
    which are left out."""
    rows: Any
    _, rows = _engine.hypotest_toys(
        model,
        mu,
        statistic,
        n,
        seed,
        data=data,
        start=start,
        lower=lower,
        upper=upper,
        fixed=fixed,
        progress=progress,
    )
    answered = rows[rows["status"] == CONVERGED]
    at_mu = answered["hypothesis"] == mu
    return answered["q"][at_mu], answered["q"][~at_mu], len(rows) - len(answered)


def hypotest(
    model: Any, mu: float, statistic: str, data: Any, start: Any, lower: Any, upper: Any, fixed: Any
) -> tuple[float, float, int]:
    """The statistic on the data and on Asimov data, and the worst status of the fits."""
    engine = _one_thread() if model.parameter_count <= _SMALL else None
    found = _engine.hypotest(model, (mu,), statistic, data, start, lower, upper, fixed, engine)[0]
    return found[6], found[7], found[11]
