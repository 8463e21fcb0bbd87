"""Differentiable likelihoods and statistics of JAX arrays, under jit, grad and vmap.

session = paritas.jax.Session("workspace.json", signal="signal", background="background")
loss = lambda s, b: -session.expected_significance(signal=s, background=b, data=s + b)
value, slopes = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))(s, b)"""

from .histogram import Histogram, soft_histogram
from .session import Session

__all__ = ["Histogram", "Session", "soft_histogram"]
