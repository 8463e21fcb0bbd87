"""Parameter names of ROOT's HistFactory (alpha_X, gamma_X_bin_0, gamma_stat_CHANNEL_bin_0, Lumi) and pyhf (X,
X[0], staterror_CHANNEL[0], lumi)."""

import re
from typing import Optional, Sequence


def root_name(role: str, name: str) -> str:
    """`role` as in pyhf_workspace.MODIFIERS."""
    return {"alpha": f"alpha_{name}", "lumi": "Lumi"}.get(role, name)


def without_alpha(name: str) -> str:
    return name.removeprefix("alpha_") or name


def gamma_names(stem: str, bins: int) -> list[str]:
    """The stem is the modifier's name, or `stat_CHANNEL` for statistical errors."""
    return [f"gamma_{stem}_bin_{i}" for i in range(bins)]


def pyhf_set_name(stem: str) -> str:
    stem = stem.removesuffix("_bin")
    if stem.startswith("gamma_stat_"):
        return stem.replace("gamma_stat_", "staterror_", 1)
    return stem.removeprefix("gamma_") or stem


def common_stem(parameters: Sequence[str]) -> Optional[str]:
    """The stem of names numbered from 0 or 1; else None."""
    found = [re.fullmatch(r"(.+?)_?(\d+)", name) for name in parameters]
    ends = [(match.group(1), int(match.group(2))) for match in found if match]
    for first in (0, 1):
        if ends and ends == [(ends[0][0], first + i) for i in range(len(parameters))]:
            return ends[0][0]
    return None
