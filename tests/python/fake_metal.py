"""The stand-in for Apple's libraries that tests/metal builds, put before the package's library as C tests do
it: through its variable `metal_library`."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

LIBRARY = (
    Path(os.environ.get("PARITAS_BIN", "build/release/bin/paritas")).resolve().parents[1]
    / "tests"
    / "libfake_metal.so"
)


def install() -> None:
    """Lets this process see the stand-in's devices. The variable is hidden: its place is what nm says, past
    where the library was loaded."""
    from paritas import _engine

    library = os.path.join(os.path.dirname(os.path.realpath(_engine.__file__)), "libparitas_package.so")
    symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    offset = next(
        int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" metal_library")
    )
    with open("/proc/self/maps") as maps:
        base = next(int(line.partition("-")[0], 16) for line in maps if line.rstrip().endswith(library))
    global kept
    kept = ctypes.c_char_p(str(LIBRARY).encode())
    ctypes.c_void_p.from_address(base + offset).value = ctypes.cast(kept, ctypes.c_void_p).value


kept = None
