"""The densities of the auxiliary data: all normal measurements in one, all counts in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from paritas.pyhf import probability
from paritas.pyhf.parameters import ParamViewer
from paritas.pyhf.tensor.manager import get_backend

__all__ = ["gaussian_constraint_combined", "poisson_constraint_combined"]


def __dir__() -> list[str]:
    return __all__


class _Constraint:
    """The constrained parameters of one kind (`pdf_type`), the places of what measures them among the
    auxiliary data, and one number of each: a width or a factor."""

    pdf_type: str

    def __init__(self, pdfconfig: Any, batch_size: int | None = None) -> None:
        self.batch_size = batch_size
        chosen, places, constants, first = [], [np.empty(0, dtype=np.intp)], [np.empty(0)], 0
        for name in pdfconfig.auxdata_order:
            parset = pdfconfig.param_set(name)
            if parset.pdf_type == self.pdf_type:
                chosen.append(name)
                places.append(np.arange(first, first + parset.n_parameters))
                constants.append(np.asarray(self._constants(parset), dtype=np.float64))
            first += parset.n_parameters
        self.param_viewer = ParamViewer((batch_size or 1, pdfconfig.npars), pdfconfig.par_map, chosen)
        self._parameters = ParamViewer((pdfconfig.npars,), pdfconfig.par_map, chosen).indices_concatenated
        self._places = np.concatenate(places)
        self._numbers = np.concatenate(constants)

    def _constants(self, parset: Any) -> Any:
        raise NotImplementedError

    def has_pdf(self) -> bool:
        return self._parameters is not None

    def _density(self, parameters: Any) -> Any:
        raise NotImplementedError

    def make_pdf(self, pars: Any) -> Any:
        """The density at a point, None where there is nothing of this kind."""
        if self._parameters is None:
            return None
        return probability.Independent(
            self._density(np.asarray(pars)[..., self._parameters]), batch_size=self.batch_size
        )

    def logpdf(self, auxdata: Any, pars: Any) -> Any:
        """Of all auxiliary data, only what is of this kind."""
        pdf = self.make_pdf(pars)
        if pdf is None:
            return get_backend()[0].zeros(() if self.batch_size is None else (self.batch_size,))
        return pdf.log_prob(np.asarray(auxdata)[..., self._places])


class gaussian_constraint_combined(_Constraint):
    """Normal measurements of parameters."""

    pdf_type = "normal"

    def _constants(self, parset: Any) -> Any:
        return parset.width()

    @property
    def sigmas(self) -> Any:
        return self._numbers

    @property
    def normal_data(self) -> Any:
        return self._places

    def _density(self, parameters: Any) -> Any:
        return probability.Normal(parameters, self._numbers)


class poisson_constraint_combined(_Constraint):
    """Counts around parameter x factor."""

    pdf_type = "poisson"

    def _constants(self, parset: Any) -> Any:
        return parset.factors

    @property
    def batched_factors(self) -> Any:
        return np.tile(self._numbers, (self.batch_size or 1, 1))

    @property
    def poisson_data(self) -> Any:
        return self._places

    def _density(self, parameters: Any) -> Any:
        return probability.Poisson(parameters * self._numbers)
