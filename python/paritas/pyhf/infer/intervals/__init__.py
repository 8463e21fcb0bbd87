"""Intervals."""

from functools import wraps
from typing import Any

from ...exceptions import _deprecated_api_warning
from . import upper_limits

__all__ = ["upper_limits.upper_limit"]
__dir__ = __all__.copy


@wraps(upper_limits.upper_limit, assigned=())
def upperlimit(*args: Any, **kwargs: Any) -> Any:
    """`upper_limit` before pyhf 0.7."""
    _deprecated_api_warning(
        "pyhf.infer.intervals.upperlimit", "pyhf.infer.intervals.upper_limits.upper_limit", "0.7.0", "0.9.0"
    )
    return upper_limits.upper_limit(*args, **kwargs)
