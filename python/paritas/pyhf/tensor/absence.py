"""What a backend that is not here gives: an error, or NumPy."""

from __future__ import annotations

import os
import warnings

CHOICES = ("error", "numpy")
VARIABLE = "PARITAS_PYHF_ABSENT_BACKEND"

_chosen: list[str] = []
_told: set[str] = set()


def choose(choice: str | None) -> None:
    """One of CHOICES. None: VARIABLE's, else "error"."""
    _checked(choice or "error", "absent_backend")
    _chosen[:] = [choice] if choice else []
    _told.clear()


def numpy_stands_for(backend: str) -> bool:
    """Warns once of each backend."""
    choice = _chosen[0] if _chosen else _checked(os.environ.get(VARIABLE) or "error", VARIABLE)
    if choice == "error":
        return False
    if backend not in _told:
        _told.add(backend)
        warnings.warn(f"paritas.pyhf has no {backend}: the numpy backend stands for it", stacklevel=4)
    return True


def _checked(choice: str, place: str) -> str:
    if choice not in CHOICES:
        raise ValueError(f"{place} is {choice!r}: it can be {' or '.join(CHOICES)}")
    return choice
