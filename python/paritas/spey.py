"""A plug-in for spey: its statistics on likelihoods that Paritas computes.

    spey.get_backend("paritas.full")(workspace=..., patch=...)
    spey.get_backend("paritas.correlated_background")(signal_yields=..., background_yields=..., data=...,
                                                      covariance_matrix=...)
    spey.get_backend("paritas.third_moment_expansion")(..., third_moment=...)

spey finds these backends by the entry points of this package. It fits with its own minimiser, and takes exact
gradients and Hessians from Paritas. `statistical_model.backend.model` is the Paritas model, with Paritas' own
fits and limits."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import ArrayLike
from spey import BackendBase, ExpectationType
from spey.base.model_config import ModelConfig

from . import __version__
from ._engine import InvalidArgument
from .documents import DocumentLike
from .model import Floats, Model
from .workspace import Workspace


class _Likelihood(BackendBase):
    """A model whose parameters are `turn` times spey's."""

    version = __version__
    author = "The Paritas developers"
    spey_requires = ">=0.2.0"
    doi: list[str] = []
    #: constraints are centred where Asimov data are made, as in pyhf
    moves_constraints = True

    def __init__(self, model: Model, turn: Floats | None = None) -> None:
        if model.poi_index is None:
            raise InvalidArgument("the model has no parameter of interest")
        self.model = model
        index: int = model.poi_index
        self.turn = np.eye(model.parameter_count) if turn is None else turn
        self.back = np.linalg.inv(self.turn)
        self.volume = float(np.linalg.slogdet(self.turn)[1])
        #: the parameter of interest, which keeps its scale; in the model's parameters and in spey's
        self.index = index
        self.poi = int(np.flatnonzero(self.turn[index])[0])
        start = np.array(model.suggested_init)
        start[index] = 0.0
        self.background = model.expected_data(start)
        start[index] = 1.0
        self.signal = (model.expected_data(start) - self.background)[: model.main_count]

    @property
    def is_alive(self) -> bool:
        return bool(np.any(self.signal > 0.0))

    def _least(self) -> float:
        seen = self.signal > 0.0
        ratios = self.background[: self.model.main_count][seen] / self.signal[seen]
        return -float(ratios.min()) if seen.any() else -np.inf

    def config(self, allow_negative_signal: bool = True, poi_upper_bound: float = 10.0) -> ModelConfig:
        bounds = list(zip(self.model.lower_bounds.tolist(), self.model.upper_bounds.tolist()))
        # theta has the bounds of u, which stand in another order
        bounds[self.index], bounds[self.poi] = bounds[self.poi], bounds[self.index]
        bounds[self.poi] = (self._least() if allow_negative_signal else 0.0, poi_upper_bound)
        start = self.back @ self.model.suggested_init
        return ModelConfig(self.poi, self._least(), start.tolist(), bounds)

    def _row(self, expected: ExpectationType, data: ArrayLike | None) -> Floats:
        """Main and auxiliary data. Of main data alone, those of the model follow."""
        row = np.array(self.model.data)
        main = self.model.main_count
        if data is not None:
            given = np.asarray(data, dtype=np.float64)
            row[: len(given)] = given
        elif expected == ExpectationType.apriori:
            row[:main] = self.background[:main]
        return row

    def get_logpdf_func(
        self, expected: ExpectationType = ExpectationType.observed, data: ArrayLike | None = None
    ) -> Callable[[ArrayLike], float]:
        row = self._row(expected, data)
        return lambda pars: self.volume - 0.5 * self.model.twice_nll(self.turn @ np.asarray(pars), row)

    def get_objective_function(
        self,
        expected: ExpectationType = ExpectationType.observed,
        data: ArrayLike | None = None,
        do_grad: bool = True,
    ) -> Callable[[ArrayLike], Any]:
        row = self._row(expected, data)
        logpdf = self.get_logpdf_func(expected, data)
        if not do_grad:
            return lambda pars: -logpdf(pars)
        return lambda pars: (
            -logpdf(pars),
            0.5 * self.turn.T @ self.model.gradient(self.turn @ np.asarray(pars), row),
        )

    def get_hessian_logpdf_func(
        self, expected: ExpectationType = ExpectationType.observed, data: ArrayLike | None = None
    ) -> Callable[[ArrayLike], Floats]:
        row = self._row(expected, data)
        return lambda pars: (
            -0.5 * self.turn.T @ self.model.hessian(self.turn @ np.asarray(pars), row) @ self.turn
        )

    def expected_data(self, pars: ArrayLike) -> list[float]:
        found = self.model.expected_data(self.turn @ np.asarray(pars))
        kept = len(found) if self.moves_constraints else self.model.main_count
        return [float(one) for one in found[:kept]]

    def get_sampler(self, pars: ArrayLike) -> Callable[..., Floats]:
        point = self.turn @ np.asarray(pars)

        def sampler(sample_size: int, include_auxiliary: bool = True) -> Floats:
            seed = int(np.random.randint(2**31))
            rows = self.model.generate(point, sample_size, seed).rows
            kept = include_auxiliary and self.moves_constraints
            return rows if kept else rows[:, : self.model.main_count]

        return sampler


class Full(_Likelihood):
    """The whole likelihood of a workspace. patch: a JSON Patch, for example a signal's. options: those of
    `paritas.Model.from_workspace`."""

    name = "paritas.full"

    def __init__(self, workspace: DocumentLike, patch: DocumentLike | None = None, **options: Any) -> None:
        super().__init__(Model.from_workspace(workspace, () if patch is None else patch, **options))


class _Simplified(_Likelihood):
    """Parameters are mu and theta, a bin each; the model has L^-1 theta."""

    moves_constraints = False
    form = "linear"

    def __init__(
        self,
        signal_yields: ArrayLike,
        background_yields: ArrayLike,
        data: ArrayLike,
        covariance_matrix: ArrayLike,
        **moments: Any,
    ) -> None:
        covariance = np.asarray(covariance_matrix, dtype=np.float64)
        given = {
            "signal": signal_yields,
            "background": background_yields,
            "observed": data,
            "covariance": _symmetric(covariance, self.form),
            **moments,
        }
        lists = {name: np.asarray(rows, dtype=np.float64) for name, rows in given.items()}
        model = Workspace.from_moments(lists, self.form).model()
        super().__init__(model, _turn(model))
        self.background[: model.main_count] = lists["background"]


def _symmetric(covariance: Floats, form: str) -> Floats:
    """What spey makes of a matrix that is not symmetric. Its linear likelihood takes the symmetric part of
    the inverse; its quadratic one reads the lower triangle."""
    if np.array_equal(covariance, covariance.T):
        return covariance
    if form == "quadratic":
        return np.tril(covariance) + np.tril(covariance, -1).T
    inverse = np.linalg.inv(covariance)
    return np.asarray(np.linalg.inv(0.5 * (inverse + inverse.T)), dtype=np.float64)


def _turn(model: Model) -> Floats:
    """The matrix from (mu, theta) to the model's parameters. Slopes of rates are b L."""
    n, bins = model.parameter_count, model.main_count
    if n != bins + 1:
        raise InvalidArgument("covariance_matrix: must be positive definite")
    point = np.array(model.suggested_init)
    others = [i for i in range(n) if i != model.poi_index]
    point[model.poi_index] = 0.0
    slopes = model.expected_jacobian(point)[:, others]
    turn = np.zeros((n, n))
    turn[model.poi_index, 0] = 1.0
    turn[others, 1:] = np.linalg.inv(slopes / np.linalg.norm(slopes, axis=1)[:, None])
    return turn


class CorrelatedBackground(_Simplified):
    """The likelihood of spey's default.correlated_background."""

    name = "paritas.correlated_background"


class ThirdMomentExpansion(_Simplified):
    """The likelihood of spey's default.third_moment_expansion."""

    name = "paritas.third_moment_expansion"
    form = "quadratic"

    def __init__(self, *yields: Any, third_moment: ArrayLike, **named: Any) -> None:
        super().__init__(*yields, third_moments=third_moment, **named)
