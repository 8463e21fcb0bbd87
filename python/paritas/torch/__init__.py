"""Differentiable likelihoods and statistics of torch tensors: exact gradients of profiled statistics for
training.

    session = paritas.torch.Session("workspace.json", signal="signal", background="background")
    loss = -session.expected_significance(signal=s, background=b, data=s + b)
    loss.backward()"""

from .histogram import Histogram, SoftHistogram
from .session import Session

__all__ = ["Histogram", "Session", "SoftHistogram"]
