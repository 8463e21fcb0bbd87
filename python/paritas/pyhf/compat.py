"""ROOT's names of parameters."""

import re
from typing import Any

__all__ = ["interpret_rootname", "paramset_to_rootnames"]
__dir__ = __all__.copy


def paramset_to_rootnames(paramset: Any) -> Any:
    """A name (Lumi, alpha_x, x), or a list (gamma_x_0, ...) if not scalar."""
    if paramset.name == "lumi":
        return "Lumi"
    if not paramset.is_scalar:
        return [f"gamma_{paramset.name}_{index}" for index in range(paramset.n_parameters)]
    return f"alpha_{paramset.name}" if paramset.constrained else paramset.name


def interpret_rootname(rootname: str) -> dict[str, Any]:
    """constrained, is_scalar, name, element; "n/a" if unknown."""
    told: dict[str, Any] = {"constrained": "n/a", "is_scalar": "n/a", "name": "n/a", "element": "n/a"}
    match = re.fullmatch(r"gamma_(.+)_(\d+)|alpha_(.+)", rootname)
    if match is None:
        if rootname.startswith(("gamma_", "alpha_")):
            raise ValueError(f"confusing rootname {rootname}: there is no name in it")
        name = "lumi" if rootname == "Lumi" else rootname
        return {**told, "is_scalar": True, "constrained": False, "name": name}
    gamma, element, alpha = match.groups()
    if alpha is not None:
        return {**told, "is_scalar": True, "constrained": True, "name": alpha}
    return {**told, "is_scalar": False, "name": gamma, "element": int(element)}
