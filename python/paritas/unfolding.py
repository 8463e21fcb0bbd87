"""Regularised unfolding: spectra of truth bins, each a sample with a normfactor of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .keywords import Place, default, engine_of, takes
from .model import Floats, ModelLike, model_of
from .records import html_table, text_table
from .workspace import Workspace

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, repr=False)
class Unfolding:
    """Fits of t strengths to n truth bins. Numbers of a fit that did not converge are NaN.

    parameters: n names, in the order of arrays.
    truth: (n,): the normfactors of the data that show the bias.
    chosen: number of the chosen strength; None: no fit has what is compared.
    tau, status: (t,).
    chi2: (t,): twice the NLL without the penalty, less that of the saturated model.
    penalty: (t,): |L W (x - c)|^2, without tau.
    curvature: (t,): of the L-curve, log10 penalty over log10 chi2.
    degrees: (t,): degrees of freedom that the data fix.
    correlation, correlation_most: (t,): mean and largest global correlation.
    estimates, errors, bias, correlations: (t, n).
    covariance: (t, n, n): of the estimates of repeated measurements."""

    parameters: list[str]
    truth: Floats
    chosen: int | None
    tau: Floats
    status: NDArray[np.str_]
    chi2: Floats
    penalty: Floats
    curvature: Floats
    degrees: Floats
    correlation: Floats
    correlation_most: Floats
    estimates: Floats
    errors: Floats
    bias: Floats
    correlations: Floats
    covariance: Floats

    _heads = "parameter", "value", "error", "correlation", "bias"

    def _title(self) -> str:
        if self.chosen is None:
            return f"{len(self.tau)} strengths, none chosen"
        k = self.chosen
        ends = len(self.tau) > 2 and k in (0, len(self.tau) - 1)
        place = ", an end of the scan" if ends else ""
        return (
            f"tau {self.tau[k]:.4g} of {len(self.tau)}{place}, chi2 {self.chi2[k]:.6g}, "
            f"{self.degrees[k]:.3g} degrees of freedom"
        )

    def _rows(self) -> Any:
        if self.chosen is None:
            return []
        columns = (self.estimates, self.errors, self.correlations, self.bias)
        return zip(self.parameters, *(column[self.chosen].tolist() for column in columns))

    def __repr__(self) -> str:
        return f"<paritas.Unfolding: {len(self.parameters)} truth bins, {self._title()}>"

    def __str__(self) -> str:
        return f"Unfolding: {self._title()}\n\n" + text_table(self._heads, self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._heads, self._rows())


def _patterns(parameters: str | Sequence[str]) -> Sequence[str]:
    return [parameters] if isinstance(parameters, str) else parameters


def unfold(
    model: ModelLike,
    parameters: str | Sequence[str] = "mu_*",
    taus: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    centres: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    scan: int = default("paritas_unfold_options", "scan"),
    tau_min: float = default("paritas_unfold_options", "tau_min"),
    tau_max: float = default("paritas_unfold_options", "tau_max"),
    by: str = default("paritas_unfold_options", "by"),
    choose: str = default("paritas_unfold_options", "choose"),
    **where: Unpack[Place],
) -> Unfolding:
    """Regularised unfolding of the workspace's data: fits with tau |L W (x - c)|^2 added to twice the NLL.

    parameters: patterns of the truth bins' normfactors, in their order (* is any text, ? one character).
        Those of one pattern are in the order of their numbers.
    taus: strengths; None: a scan.
    weights: W, such as the truth yields, (n,); None: 1.
    centres: c, (n,); None: 1.
    truth: normfactors of the expected data that show the bias, (n,); None: the fit without regularisation.
    scan: strengths of a scan, in equal steps of the logarithm.
    tau_min, tau_max: its ends; 0: found.
    by: L: "size", "derivative" or "curvature".
    choose: "lcurve", the largest curvature of the L-curve; "correlation", the smallest mean of the global
        correlations.

    >>> found = paritas.unfold("examples/unfolding.json", scan=80)
    >>> round(float(found.tau[found.chosen]), 2)
    26.25
    >>> found.estimates[found.chosen].shape
    (8,)"""
    options = _engine.UnfoldOptions(_patterns(parameters), weights, centres, by)
    options.set_strengths(taus, truth, scan, tau_min, tau_max, choose)
    made = _engine.unfold(model_of(model), options, engine_of(unfold, where))
    found: dict[str, Any] = json.loads(made.text())
    points = found.pop("points")
    # null is None, and becomes NaN
    columns = {
        key: np.array([one[key] for one in points], None if key == "status" else float) for key in points[0]
    }
    return Unfolding(found["parameters"], np.array(found["truth"], float), found["chosen"], **columns)


def penalise(
    model: ModelLike,
    parameters: str | Sequence[str],
    tau: float,
    *,
    weights: ArrayLike | None = None,
    centres: ArrayLike | None = None,
    by: str = default("paritas_unfold_options", "by"),
) -> Workspace:
    """The workspace with the penalty of `unfold` at one strength, for all other functions.

    tau: the strength.
    parameters, weights, centres, by: see `unfold`.

    >>> paritas.penalise("examples/unfolding.json", "mu_*", 26.2).model().fit().converged
    True"""
    options = _engine.UnfoldOptions(_patterns(parameters), weights, centres, by)
    return Workspace(_engine.penalise(model_of(model), options, tau))


takes(Place, unfold)
