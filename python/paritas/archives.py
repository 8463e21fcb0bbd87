"""Archives from others: nothing is unpacked before its size is known."""

from __future__ import annotations

import os
import zipfile
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from . import _engine
from .files import PathLike


def check_sizes(sizes: Iterable[tuple[int, int]]) -> None:
    """Raises ValueError. sizes: plain and packed bytes of each member."""
    plain = packed = 0
    for one, own in sizes:
        plain, packed = plain + one, packed + own
    most, times = _engine.UNPACKED_MIB, _engine.UNPACKED_TIMES
    if plain > most << 20 and plain > times * packed:
        raise ValueError(f"it would unpack to {plain} bytes, more than {most} MiB and {times} times its size")


def read_npz(path: PathLike) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz, without objects. Raises OSError if the file cannot be read, else ValueError."""
    with open(path, "rb") as file:  # the reason of the system, if there is one
        try:
            with zipfile.ZipFile(file) as archive:
                check_sizes((one.file_size, one.compress_size) for one in archive.infolist())
            with np.load(file, allow_pickle=False) as arrays:
                return {name: np.asarray(arrays[name]) for name in arrays.files}
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: is no archive of arrays: {error}") from None
        except Exception as error:  # cut and damaged archives raise many types
            why = str(error) or type(error).__name__
            raise ValueError(f"{os.fspath(path)}: is no whole archive of arrays: {why}") from None


__all__ = ["check_sizes", "read_npz"]
