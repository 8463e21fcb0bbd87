"""Parameter names: HistFactory's in ROOT (alpha_X, gamma_X_bin_i, gamma_stat_CHANNEL_bin_i, Lumi) and pyhf's
(X, X[i], staterror_CHANNEL[i], lumi)."""

from __future__ import annotations

import re
from typing import Optional, Sequence


def alpha(name: str) -> str:
    """ROOT's name of the parameter of a normsys or histosys."""
    return f"alpha_{name}"


def from_alpha(root_name: str) -> str:
    return (
        root_name[len("alpha_") :]
        if root_name.startswith("alpha_") and len(root_name) > len("alpha_")
        else root_name
    )


def gamma(stem: str, bin_index: int) -> str:
    """ROOT's name of one parameter a bin; the stem is the modifier's name, or `stat_CHANNEL` for the
    statistical errors of a channel."""
    return f"gamma_{stem}_bin_{bin_index}"


def gamma_stem(set_name: str, channel: str) -> str:
    """The stem for a set of pyhf's: its name `staterror_CHANNEL` is ROOT's `stat_CHANNEL`."""
    return f"stat_{channel}" if set_name == f"staterror_{channel}" else set_name


def from_gamma_stem(stem: str) -> str:
    """pyhf's name for a common stem of per-bin parameters, as `common_stem` answers it."""
    stem = stem[: -len("_bin")] if stem.endswith("_bin") else stem
    if stem.startswith("gamma_stat_"):
        return "staterror_" + stem[len("gamma_stat_") :]
    return stem[len("gamma_") :] if stem.startswith("gamma_") and len(stem) > len("gamma_") else stem


def common_stem(parameters: Sequence[str]) -> Optional[str]:
    """What per-bin parameter names have in common, where they are a stem and the bin's number (from 0 or from
    1); else None."""
    found = [re.fullmatch(r"(.+?)_?(\d+)", name) for name in parameters]
    if not all(found):
        return None
    stems = {match.group(1) for match in found if match}
    numbers = [int(match.group(2)) for match in found if match]
    if len(stems) != 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        return None
    return stems.pop()
