"""Intervals."""

from functools import wraps
from typing import Any
from warnings import warn

from . import upper_limits

__all__ = ["upper_limits.upper_limit"]


@wraps(upper_limits.upper_limit, assigned=())
def upperlimit(*args: Any, **kwargs: Any) -> Any:
    """`upper_limit` before pyhf 0.7."""
    warn(
        "pyhf.infer.intervals.upperlimit is deprecated: use pyhf.infer.intervals.upper_limits.upper_limit",
        DeprecationWarning,
        stacklevel=2,
    )
    return upper_limits.upper_limit(*args, **kwargs)
