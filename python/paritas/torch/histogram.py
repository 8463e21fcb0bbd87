"""Histograms that can be differentiated."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

import torch

from ..differentiable import check_soft_histogram


class Histogram(NamedTuple):
    """values: sums of weights by bin (..., bins); variances: sums of squared weights."""

    values: torch.Tensor
    variances: torch.Tensor


class SoftHistogram(torch.nn.Module):
    """A histogram of events each of which is smeared with a kernel: differentiable by their observables,
    their weights, the edges and the bandwidth.

    An event of weight w adds w c to the content of a bin and w^2 c to its sum of squared weights, c being the
    part of its kernel that lies in the bin. With infinite outer edges, the sums over bins are those of the
    weights and of their squares, whatever the bandwidth. As the bandwidth goes to 0, the histogram becomes
    the usual one."""

    def __init__(self, edges: Any, bandwidth: Union[float, torch.Tensor], kernel: str = "gaussian") -> None:
        """edges: ascending, bins + 1, -inf and inf allowed at the ends; kernel: "gaussian" (bandwidth: its
        sigma) or "logistic" (its scale: bins are differences of sigmoids). Edges and bandwidth may be tensors
        that need gradients, or parameters."""
        super().__init__()
        self.edges = edges if isinstance(edges, torch.Tensor) else torch.as_tensor(edges, dtype=torch.float64)
        self.bandwidth = bandwidth
        self.kernel = kernel
        check_soft_histogram(
            self.edges.detach().cpu().numpy(), float(torch.as_tensor(bandwidth).detach()), kernel
        )

    def forward(self, x: torch.Tensor, weights: Optional[torch.Tensor] = None) -> Histogram:
        """x: observables (..., events); weights of the same shape, or one that broadcasts (None: 1)."""
        edges = self.edges.to(x)
        finite = torch.isfinite(edges)
        distance = (torch.where(finite, edges, 0.0) - x[..., None]) / self.bandwidth
        smeared = torch.special.ndtr(distance) if self.kernel == "gaussian" else torch.sigmoid(distance)
        # what has no slope is kept out: infinity times 0 is NaN
        below = torch.where(finite, smeared, (edges > 0.0).to(x))
        parts = below[..., 1:] - below[..., :-1]
        if weights is None:
            found = parts.sum(-2)
            return Histogram(found, found)
        weight = weights[..., None]
        return Histogram((weight * parts).sum(-2), (weight * weight * parts).sum(-2))
