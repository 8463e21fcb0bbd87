"""Draws from posteriors, by the No-U-Turn sampler (`paritas.sample`)."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine, fields
from .arrays import number, whole
from .calls import Call, FitKeywords
from .files import PathLike as Path
from .keywords import Place, default, engine_of, takes
from .model import Model, ModelLike, model_of
from .records import same
from .results import Floats

if TYPE_CHECKING:
    from typing_extensions import Unpack

_OPTIONS = "paritas_sample_options"

#: kind and two numbers: ("normal", mean, sd), ("lognormal", mean of ln x, sd of ln x),
#: ("gamma", shape, rate), ("uniform", low, high)
Prior = Sequence[Any]


class SampleKeywords(FitKeywords, total=False):
    data: ArrayLike | None  #: main, then auxiliary; None: observed


class Posteriors(fields.posterior_rows):
    """Summaries of the draws: arrays with a number for each of the `parameters`."""

    parameters: list[str]

    def _labels(self) -> list[tuple[str, Any]]:
        return [("parameter", self.parameters)]


class SampleResult(fields.sample_verdict):
    """Draws from a posterior.

    Attributes beside the verdict:
        parameters: names (p)
        values: array (chains, draws, p)
        draws: structured array (chains, draws), with twice_nll, log_density, energy, acceptance, steps,
            depth and divergent of each draw
        chains: structured array (chains), with draws, divergent, gradients and step
        posteriors: summaries of all parameters
    `result[name]` has a parameter's draws (chains, draws)."""

    parameters: list[str]
    values: Floats
    draws: NDArray[Any]
    chains: NDArray[Any]
    posteriors: Posteriors
    level: float
    _more: Any
    _shown = ("converged", "rhat", "ess", "divergent", "gradients")

    def _items(self) -> dict[str, Any]:
        return {name: value for name, value in super()._items().items() if name != "_more"}

    def __getitem__(self, name: str) -> Floats:
        """A parameter's draws (chains, draws)."""
        if name not in self.parameters:
            raise KeyError(name)
        found: Floats = self.values[:, :, self.parameters.index(name)]
        return found

    def _ipython_key_completions_(self) -> list[str]:
        return self.parameters

    def summary(self, name: str) -> dict[str, Any]:
        """A parameter's mean, sd, lower, median, upper, hdi, mcse_mean, rhat, ess_bulk, ess_tail."""
        if name not in self.parameters:
            raise KeyError(name)
        at, columns = self.parameters.index(name), self.posteriors
        return {field.key: getattr(columns, field.key)[at].tolist() for field in columns.record.fields}

    def more(self, draws: int, **given: Any) -> SampleResult:
        """The same chains with so many draws in all: the bits of a run that had asked for them at once.
        Keywords: device, precision, threads, progress."""
        model, numbers, priors, state, first = self._more
        numbers = {**numbers, "draws": whole(draws, "draws", bits=32)}
        if draws < self.values.shape[1]:
            raise _engine.InvalidArgument(f"draws {draws}: there are {self.values.shape[1]} already")
        return _sample(model, numbers, priors, self.level, {**first, **given}, self, state)

    def expected(self, draws: int = 1000, **given: Unpack[Place]) -> Floats:
        """Expected rates at draws evenly spaced over all chains: array (draws, main + auxiliary). They spread
        as the parameters do; `predictive` adds the counts' own spread. Keywords: device, precision,
        threads."""
        engine = engine_of(SampleResult.expected, given)
        found: Floats = _engine.expected_data(self._more[0], self._spaced(draws), engine)
        return found

    def predictive(self, draws: int = 1000, seed: int = 0, **given: Unpack[Place]) -> Floats:
        """Data drawn at the points of `expected`: array (draws, main + auxiliary), a sample of the posterior
        predictive distribution. Main data are Poisson counts; auxiliary data follow their constraints. Row i
        depends on its point, seed and i alone. Keywords: device, precision, threads.

        >>> result = paritas.sample("examples/two_bins.json", seed=1)
        >>> result.predictive(500).shape
        (500, 4)"""
        engine = engine_of(SampleResult.predictive, given)
        points = self._spaced(draws)
        found: Floats = _engine.predictive_data(self._more[0], points, whole(seed, "seed", bits=64), engine)
        return found

    def _spaced(self, draws: int) -> Floats:
        flat = self.values.reshape(-1, self.values.shape[2])
        which = np.linspace(0, len(flat) - 1, min(whole(draws, "draws", bits=32), len(flat))).astype(int)
        found: Floats = flat[which]
        return found

    def __eq__(self, other: object) -> bool:
        """Of draws and verdict; NaN equals NaN."""
        return type(self) is type(other) and same(self._compared(), other._compared())

    __hash__ = None  # type: ignore[assignment]

    def _compared(self) -> dict[str, Any]:
        return {name: value for name, value in self.__getstate__().items() if name != "_more"}

    def to_arviz(self) -> Any:
        """An `arviz.InferenceData` with posterior and sample statistics. Needs ArviZ."""
        import arviz

        statistics = {
            "lp": self.draws["log_density"],
            "energy": self.draws["energy"],
            "acceptance_rate": self.draws["acceptance"],
            "n_steps": self.draws["steps"],
            "tree_depth": self.draws["depth"],
            "diverging": self.draws["divergent"] != 0,
        }
        posterior = {name: self[name] for name in self.parameters}
        return arviz.from_dict(posterior=posterior, sample_stats=statistics)


def sample(
    model: ModelLike,
    *,
    chains: int = default(_OPTIONS, "chains"),
    draws: int = default(_OPTIONS, "draws"),
    warmup: int = default(_OPTIONS, "warmup"),
    seed: int = default(_OPTIONS, "seed"),
    target: float = default(_OPTIONS, "target"),
    max_depth: int = default(_OPTIONS, "max_depth"),
    priors: Mapping[str, Prior] | None = None,
    level: float = 0.9,
    store: Path | None = None,
    resume: bool = False,
    **given: Unpack[SampleKeywords],
) -> SampleResult:
    """Draws from the posterior, by the No-U-Turn sampler. Constraint terms are priors; other parameters are
    flat within their bounds.

    `chains` of `draws` each follow `warmup` transitions that adapt step sizes to the mean acceptance
    `target`, with at most `max_depth` doublings. priors: by parameter, ("normal", mean, sd),
    ("lognormal", mean of ln x, sd of ln x), ("gamma", shape, rate) or ("uniform", low, high). level: share
    of draws in the intervals. seed: of random numbers. Draws have the same bits on every device.
    store: keeps the run in a file of arrays (.npz), replaced each second, so that a stopped run can continue.
    resume: continue an existing store, also to more draws; the bits are those of a run without the pause.

    >>> result = paritas.sample("examples/two_bins.json", seed=1)
    >>> result.converged, result["mu"].shape
    (True, (16, 1000))"""
    model = model_of(model)
    numbers = {
        "chains": whole(chains, "chains", bits=32),
        "draws": whole(draws, "draws", bits=32),
        "warmup": whole(warmup, "warmup", bits=32),
        "seed": whole(seed, "seed", bits=64),
        "target": number(target, "target"),
        "max_depth": whole(max_depth, "max_depth", bits=32),
    }
    listed = [_prior(model, name, prior) for name, prior in (priors or {}).items()]
    kept = (None if store is None else os.fspath(store), bool(resume))
    return _sample(model, numbers, listed, number(level, "level"), dict(given), kept=kept)


def _prior(model: Model, name: str, prior: Prior) -> tuple[int, str, float, float]:
    if isinstance(prior, str) or len(prior) != 3 or not isinstance(prior[0], str):
        raise _engine.InvalidArgument(
            f"priors: of {name!r} a kind and two numbers are wanted, as ('normal', 1, 0.2), not {prior!r}"
        )
    return model.index(name), prior[0], number(prior[1], name), number(prior[2], name)


def _sample(
    model: Model,
    numbers: dict[str, Any],
    priors: list[tuple[int, str, float, float]],
    level: float,
    given: dict[str, Any],
    before: SampleResult | None = None,
    state: Any = None,
    kept: tuple[str | None, bool] = (None, False),
) -> SampleResult:
    earlier = None
    if before is not None:
        earlier = SimpleNamespace(values=before.values, draws=before.draws, state=state)
    with Call(sample, model, given, "sample") as call:
        found = _engine.sample(model, call.job, numbers, priors, earlier, *kept, call.engine, call.tell)
        rows = _engine.summarise_draws(found.values, level, call.engine)
        verdict = _engine.judge_draws(rows, found.chains, call.engine)
    job = {name: one for name, one in given.items() if name in ("init", "bounds", "fixed", "data")}
    return SampleResult(
        verdict,
        parameters=model.parameter_names,
        values=found.values,
        draws=found.draws,
        chains=found.chains,
        posteriors=Posteriors(rows, parameters=model.parameter_names),
        level=level,
        _more=(model, numbers, priors, found.state, job),
    )


takes(SampleKeywords, sample)
takes(Place, SampleResult.expected, SampleResult.predictive)
