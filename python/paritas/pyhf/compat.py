"""Names of parameters in ROOT's workspaces."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["interpret_rootname", "paramset_to_rootnames"]


def __dir__() -> list[str]:
    return __all__


def paramset_to_rootnames(paramset: Any) -> Any:
    """The name of a scalar set (Lumi, alpha_x, x), the names of another (gamma_x_0, ...)."""
    if paramset.name == "lumi":
        return "Lumi"
    if not paramset.is_scalar:
        return [f"gamma_{paramset.name}_{index}" for index in range(paramset.n_parameters)]
    return f"alpha_{paramset.name}" if paramset.constrained else paramset.name


def interpret_rootname(rootname: str) -> dict[str, Any]:
    """constrained, is_scalar, name and element of what ROOT calls so; "n/a" where the name does not say.
    ValueError: a prefix without the rest."""
    told = {"constrained": "n/a", "is_scalar": "n/a", "name": "n/a", "element": "n/a"}
    if rootname.startswith("gamma_"):
        match = re.fullmatch(r"gamma_(.+)_(\d+)", rootname)
        found: dict[str, Any] = (
            {"is_scalar": False, "name": match[1], "element": int(match[2])} if match else {}
        )
    elif rootname.startswith("alpha_"):
        match = re.fullmatch(r"alpha_(.+)", rootname)
        found = {"is_scalar": True, "constrained": True, "name": match[1]} if match else {}
    else:
        found = {"is_scalar": True, "constrained": False, "name": "lumi" if rootname == "Lumi" else rootname}
    if not found:
        raise ValueError(f"confusing rootname {rootname}: there is no name in it")
    return {**told, **found}
