"""The only module here that uses `paritas._engine`."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from .. import _engine
from ..documents import document
from . import exceptions
from .schema.variables import SCHEMA_VERSION

STATUSES: list[str] = list(_engine.enumeration("paritas_fit_status"))
CONVERGED = STATUSES.index("converged")
_STATES: list[str] = list(_engine.enumeration("paritas_parameter_state"))
FREE = _STATES.index("free")
AT_BOUND = [_STATES.index(name) for name in ("at_lower_bound", "at_upper_bound")]
_AT_EDGE = _engine.enumeration("paritas_minos_end")["at_edge"]
#: start, lower bounds, upper bounds, fixed flags
Settings = tuple[Any, Any, Any, Any]
#: parameters; below, starting threads costs more than a test
_SMALL = 64
#: parameters; beyond, one pair of starts instead of one pair each
_MANY_KINKS = 32
#: interpolations with a kink at 0, where a likelihood can have a minimum on either side
KINKED = (("histosys", "code0"), ("normsys", "code1"))
#: pyhf's default first
_CODES: dict[str, dict[str, Any]] = {
    "normsys": {"code1": 1, "code4": 4},
    "histosys": {"code0": 0, "code2": 2, "code4p": "4p"},
}


@lru_cache(maxsize=None)
def _one_thread() -> Any:
    return _engine.Engine(threads=1)


def code_of(modifier_settings: Any, kind: str) -> str:
    """pyhf's name of the interpolation."""
    code: str = modifier_settings.get(kind, {}).get("interpcode", next(iter(_CODES[kind])))
    return code


def _code(modifier_settings: Any, kind: str) -> Any:
    codes, code = _CODES[kind], code_of(modifier_settings, kind)
    if code not in codes:
        raise exceptions.InvalidInterpCode(f"{code!r} of {kind}: there are {', '.join(codes)}")
    return codes[code]


def patched(whole: Any, operations: Any) -> Any:
    """A copy after a JSON Patch; numbers keep their digits. Raises InvalidInput."""
    return json.loads(document(whole).patch(document(operations, "patch")).text())


def make(spec: Any, config: Any, clip_sample: float | None, clip_bin: float | None) -> Any:
    """Raises InvalidModel."""
    nbins = config.channel_nbins
    measured = {"poi": config.poi_name or "", "parameters": spec.get("parameters", [])}
    workspace = {
        "channels": spec["channels"],
        "observations": [{"name": name, "data": [0.0] * bins} for name, bins in nbins.items()],
        "measurements": [{"name": "measurement", "config": measured}],
        "version": SCHEMA_VERSION,
    }
    try:
        text = json.dumps(workspace, default=lambda array: array.tolist(), ensure_ascii=False).encode()
        return _engine.Model(
            _engine.Document.parse(text, "specification"),
            normsys_code=_code(config.modifier_settings, "normsys"),
            histosys_code=_code(config.modifier_settings, "histosys"),
            clip_sample=clip_sample,
            clip_bin=clip_bin,
        )
    except _engine.Error as error:
        raise exceptions.InvalidModel(f"the engine refuses this model: {error}") from error


def twice_nll(model: Any, pars: Any, data: Any) -> Any:
    """Data for each point or all; of one point a float."""
    if pars.ndim == 1 and data.ndim == 1:
        return _engine.twice_nll(model, pars, data)
    pars, data = np.atleast_2d(pars), np.atleast_2d(data)
    if len(data) == 1 or len(pars) == 1:
        return _engine.evaluate(model, pars, data).twice_nll.ravel()
    return np.array([_engine.twice_nll(model, point, row) for point, row in zip(pars, data)])


def expected_data(model: Any, pars: Any) -> Any:
    """(data,) or (points, data)."""
    found = _engine.expected_data(model, pars)
    return found[0] if pars.ndim == 1 else found


def expected_by_sample(model: Any, pars: Any, config: Any) -> Any:
    """(points, samples, bins), 0 for absent samples."""
    pars = np.atleast_2d(pars)
    rows = {name: row for row, name in enumerate(config.samples)}
    whole = np.zeros((len(pars), len(rows), model.main_count))
    for point, found in zip(pars, whole):
        for (channel, _, names), part in zip(model.channel_layout, _engine.expected_by_sample(model, point)):
            found[[rows[name] for name in names], config.channel_slices[channel]] = part
    return whole


def settings_of(problem: Any) -> Settings:
    """Of an optimizer's problem: fixed parameters start at their values."""
    start = np.array(problem.init_pars, dtype=np.float64)
    lower, upper = np.array(problem.par_bounds, dtype=np.float64).T
    fixed = np.zeros(len(start), dtype=np.uint8)
    for index, value in problem.fixed_vals or []:
        start[index], fixed[index] = value, 1
    return start, lower, upper, fixed


def minos(
    model: Any, data: Any, settings: Settings, parameter: int, best: Any, twice_nll: float, error: float
) -> list[tuple[float, float]]:
    """(offset, edge) of a parameter from a converged fit, down and up. NaN: no crossing; no edge of the
    domain before it."""
    job = _engine.Job(model, data, *settings)
    (offsets,), (ends,), (reach,), _ = _engine.minos(model, job, [parameter], best, twice_nll, [error])
    edges = [at if end == _AT_EDGE else float("nan") for end, at in zip(ends, reach)]
    return list(zip(offsets, edges))


def asymptotic_shift(statistic: str, q: float, q_asimov: float) -> float:
    """t of p-values, in units of -mu/sigma."""
    return _engine.asymptotic_shift(statistic, q, q_asimov)


def lowest_start(model: Any, data: Any, settings: Settings, kinked: Any) -> Settings:
    """Settings with the start from where the fit ends lowest: the given one, or those on either side of the
    kinks at 0 of parameters `kinked` (indices), all at once and one by one."""
    start, lower, upper, fixed = settings
    kinked = [index for index in kinked if not fixed[index]]
    if not kinked:
        return settings
    groups = [kinked, *([index] for index in kinked)] if len(kinked) <= _MANY_KINKS else [kinked]
    rows = np.tile(start, (1 + 2 * len(groups), 1))
    for row, (group, side) in zip(rows[1:], ((group, side) for group in groups for side in (-0.5, 0.5))):
        row[group] = side
    rows = np.clip(rows, lower, upper)
    observed = np.tile(np.asarray(data, dtype=np.float64), (len(rows), 1))
    statuses, values, _ = fit_rows(model, observed, (rows, lower, upper, fixed), None)
    found = np.where(statuses == CONVERGED, values, np.inf)
    best = int(np.argmin(found))
    return settings if found[best] > found[0] - _engine.SAME_MINIMUM else (rows[best], lower, upper, fixed)


def fit(model: Any, data: Any, settings: Settings, covariance: bool, max_iterations: int) -> Any:
    options = _engine.FitOptions("newton", max_iterations) if max_iterations else None
    return _engine.fit(
        model, _engine.Job(model, data, *settings), options, covariance, covariance, covariance
    )


def slopes_and_hessian(model: Any, data: Any, point: Any) -> Any:
    """Slopes and Hessian of twice the NLL at a point: (p,), (p, p)."""
    found = _engine.evaluate(model, point, data, gradient=True, hessian=True)
    return found.gradient[0, 0], found.hessian[0, 0]


def fit_rows(model: Any, data: Any, settings: Settings, progress: Any) -> Any:
    """Statuses, twice NLL, parameters."""
    job = _engine.Job(model, data, *settings, rows=len(data))
    found = _engine.fit(model, job, progress=progress)
    return found.results["status"], found.results["twice_nll"], found.parameters


def toys(
    model: Any, mu: float, statistic: str, n: int, seed: int, data: Any, settings: Settings, progress: Any
) -> tuple[Any, Any, int]:
    """Statistics of n toys of either hypothesis, mu first; failures."""
    job, options = _engine.Job(model, data, *settings), _engine.ToyOptions(n, seed, keep=True)
    rows: Any = _engine.hypotest_toys(model, job, statistic, mu, options, progress=progress).toys
    answered = rows[rows["status"] == CONVERGED]
    at_mu = answered["hypothesis"] == mu
    return answered["q"][at_mu], answered["q"][~at_mu], len(rows) - len(answered)


def hypotest(
    model: Any, mu: float, statistic: str, data: Any, settings: Settings, iteration_limit: int = 0
) -> tuple[float, float, int]:
    """Statistics of data and Asimov data, the worst status."""
    engine = _one_thread() if model.parameter_count <= _SMALL else None
    job = _engine.Job(model, data, *settings, max_iterations=iteration_limit)
    found = _engine.hypotest(model, job, statistic, (mu,), engine)[0]
    return float(found["q"]), float(found["q_asimov"]), int(found["status"])
