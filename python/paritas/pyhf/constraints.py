"""Densities of auxiliary data."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import probability
from .parameters import ParamViewer
from .tensor.manager import get_backend

__all__ = ["gaussian_constraint_combined", "poisson_constraint_combined"]
__dir__ = __all__.copy


class _Constraint:
    """Constraints of one kind: places in auxiliary data, widths or factors."""

    pdf_type: str
    _numbers_of: Callable[[Any], Any]
    _density: Callable[[Any], Any]

    def __init__(self, pdfconfig: Any, batch_size: int | None = None) -> None:
        self.batch_size = batch_size
        chosen, places, numbers, first = [], [np.empty(0, dtype=np.intp)], [np.empty(0)], 0
        for name in pdfconfig.auxdata_order:
            parset = pdfconfig.param_set(name)
            if parset.pdf_type == self.pdf_type:
                chosen.append(name)
                places.append(np.arange(first, first + parset.n_parameters))
                numbers.append(np.asarray(self._numbers_of(parset), dtype=np.float64))
            first += parset.n_parameters
        self.param_viewer = ParamViewer((batch_size or 1, pdfconfig.npars), pdfconfig.par_map, chosen)
        self._parameters = ParamViewer((pdfconfig.npars,), pdfconfig.par_map, chosen).indices_concatenated
        self._places = np.concatenate(places)
        self._numbers = np.concatenate(numbers)

    def has_pdf(self) -> bool:
        return self._parameters is not None

    def make_pdf(self, pars: Any) -> Any:
        """None without constraints."""
        if self._parameters is None:
            return None
        density = self._density(self._own(np.asarray(pars)))
        return probability.Independent(density, batch_size=self.batch_size)

    def _own(self, pars: Any) -> Any:
        """([points,] constrained), or (batch, constrained) from the first batch x npars numbers."""
        if self.batch_size is None:
            return pars[..., self._parameters]
        return pars.ravel()[self.param_viewer.stitched]

    def logpdf(self, auxdata: Any, pars: Any) -> Any:
        pdf = self.make_pdf(pars)
        if pdf is None:
            return get_backend()[0].zeros(() if self.batch_size is None else (self.batch_size,))
        return pdf.log_prob(np.asarray(auxdata)[..., self._places])


class gaussian_constraint_combined(_Constraint):
    pdf_type = "normal"

    def _numbers_of(self, parset: Any) -> Any:
        return parset.width()

    def _density(self, parameters: Any) -> Any:
        return probability.Normal(parameters, self._numbers)

    @property
    def sigmas(self) -> Any:
        return self._numbers

    @property
    def normal_data(self) -> Any:
        return self._places


class poisson_constraint_combined(_Constraint):
    pdf_type = "poisson"

    def _numbers_of(self, parset: Any) -> Any:
        return parset.factors

    def _density(self, parameters: Any) -> Any:
        return probability.Poisson(parameters * self._numbers)

    @property
    def batched_factors(self) -> Any:
        return np.tile(self._numbers, (self.batch_size or 1, 1))

    @property
    def poisson_data(self) -> Any:
        return self._places
