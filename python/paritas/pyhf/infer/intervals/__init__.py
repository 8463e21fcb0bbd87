"""Intervals."""

from __future__ import annotations

from typing import Any
from warnings import warn

from paritas.pyhf.infer.intervals import upper_limits

__all__ = ["upper_limits.upper_limit"]


def __dir__() -> list[str]:
    return __all__


def upperlimit(
    data: Any,
    model: Any,
    scan: Any = None,
    level: float = 0.05,
    return_results: bool = False,
    **hypotest_kwargs: Any,
) -> Any:
    """The name that `upper_limits.upper_limit` had before pyhf 0.7."""
    warn(
        "pyhf.infer.intervals.upperlimit is deprecated: use pyhf.infer.intervals.upper_limits.upper_limit",
        DeprecationWarning,
        stacklevel=2,
    )
    return upper_limits.upper_limit(data, model, scan, level, return_results, **hypotest_kwargs)
