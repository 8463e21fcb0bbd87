"""Differentiable histograms."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..differentiable import check_soft_histogram


class Histogram(NamedTuple):
    """values: sums of weights by bin (..., bins); variances: sums of squared weights."""

    values: jax.Array
    variances: jax.Array


def soft_histogram(
    x: Any, edges: Any, bandwidth: Any, weights: Any | None = None, kernel: str = "gaussian"
) -> Histogram:
    """A histogram of smeared events, like paritas.torch.SoftHistogram, differentiable by all but the kernel.

    x: (..., events); weights: broadcast to x (None: 1). edges: ascending, bins + 1; with -inf and inf at the
        ends, the bins add up to all weights and all their squares. kernel: "gaussian" (bandwidth: sigma) or
        "logistic" (bandwidth: scale)."""
    if not isinstance(edges, jax.core.Tracer) and not isinstance(bandwidth, jax.core.Tracer):
        check_soft_histogram(np.asarray(edges), float(bandwidth), kernel)
    x, edges = jnp.asarray(x), jnp.asarray(edges)
    finite = jnp.isfinite(edges)
    distance = (jnp.where(finite, edges, 0.0) - x[..., None]) / bandwidth
    smeared = jax.scipy.special.ndtr(distance) if kernel == "gaussian" else jax.nn.sigmoid(distance)
    # no slope: infinity times 0 is NaN
    below = jnp.where(finite, smeared, jnp.where(edges > 0.0, 1.0, 0.0))
    parts = below[..., 1:] - below[..., :-1]
    if weights is None:
        found = parts.sum(-2)
        return Histogram(found, found)
    weight = jnp.asarray(weights)[..., None]
    return Histogram((weight * parts).sum(-2), (weight * weight * parts).sum(-2))
