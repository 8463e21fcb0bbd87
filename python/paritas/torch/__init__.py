"""Likelihoods and statistics as differentiable functions of torch tensors: values and exact gradients of
profiled statistics in training loops.

    session = paritas.torch.Session("workspace.json", signal="signal", background="background")
    loss = -session.expected_significance(signal=s, background=b, data=s + b)
    loss.backward()
"""

from .histogram import Histogram, SoftHistogram
from .session import Session

__all__ = ["Histogram", "Session", "SoftHistogram"]
