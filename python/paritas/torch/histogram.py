"""Differentiable histograms."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from ..differentiable import check_soft_histogram


class Histogram(NamedTuple):
    """values: sums of weights by bin (..., bins); variances: sums of squared weights."""

    values: torch.Tensor
    variances: torch.Tensor


class SoftHistogram(torch.nn.Module):
    """A histogram of events smeared with a kernel, differentiable by observables, weights, edges and
    bandwidth.

    An event of weight w adds w c to a bin's content and w^2 c to its sum of squared weights, where c is its
    kernel's part in the bin. With infinite outer edges, the bins add up to all weights and all their squares.
    As the bandwidth goes to 0, this becomes the usual histogram."""

    def __init__(self, edges: Any, bandwidth: float | torch.Tensor, kernel: str = "gaussian") -> None:
        """edges: ascending, bins + 1, may end in -inf and inf; kernel: "gaussian" (bandwidth: sigma) or
        "logistic" (bandwidth: scale). Edges and bandwidth may be tensors with gradients, or parameters."""
        super().__init__()
        self.edges = edges if isinstance(edges, torch.Tensor) else torch.as_tensor(edges, dtype=torch.float64)
        self.bandwidth = bandwidth
        self.kernel = kernel
        check_soft_histogram(
            self.edges.detach().cpu().numpy(), float(torch.as_tensor(bandwidth).detach()), kernel
        )

    def forward(self, x: torch.Tensor, weights: torch.Tensor | None = None) -> Histogram:
        """x: (..., events); weights broadcast to x (None: 1)."""
        edges = self.edges.to(x)
        finite = torch.isfinite(edges)
        distance = (torch.where(finite, edges, 0.0) - x[..., None]) / self.bandwidth
        smeared = torch.special.ndtr(distance) if self.kernel == "gaussian" else torch.sigmoid(distance)
        # no slope: infinity times 0 is NaN
        below = torch.where(finite, smeared, (edges > 0.0).to(x))
        parts = below[..., 1:] - below[..., :-1]
        if weights is None:
            found = parts.sum(-2)
            return Histogram(found, found)
        weight = weights[..., None]
        return Histogram((weight * parts).sum(-2), (weight * weight * parts).sum(-2))
