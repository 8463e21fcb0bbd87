"""What a backend that is not here gives: an error, or NumPy."""

import warnings

from ..choices import ABSENT_BACKEND

_told: set[str] = set()


def numpy_stands_for(backend: str) -> bool:
    """Warns once of each backend."""
    if ABSENT_BACKEND.chosen() != "numpy":
        return False
    if backend not in _told:
        _told.add(backend)
        warnings.warn(f"paritas.pyhf has no {backend}: the numpy backend stands for it", stacklevel=4)
    return True
