"""Devices, and the engine of a call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

from . import _engine
from ._engine import Engine
from .arrays import whole

if TYPE_CHECKING:
    from .results import Device

#: called now and then with finished and all jobs; an exception ends the call
ProgressFunction = Callable[[int, int], object]


def devices() -> list[Device]:
    """All devices. Opens every driver once, in about 1 s."""
    from .results import Device

    return [Device(row) for row in _engine.list_devices()]


def _has(kind: str) -> bool:
    try:
        return any(device.usable and device.name.startswith(kind) for device in devices())
    except Exception:  # a driver's failure means no
        return False


def has_cuda() -> bool:
    """Is there a CUDA device that passes its self-test? Never raises."""
    return _has("cuda")


def has_metal() -> bool:
    """Is there a Metal device that passes its self-test? Never raises."""
    return _has("metal")


def has_opencl() -> bool:
    """Is there an OpenCL device that passes its self-test? Never raises."""
    return _has("opencl")


_defaults: dict[str, Any] = {"device": "cpu", "precision": "f64", "threads": 0}
_engines: dict[tuple[str, str, int], Engine] = {("cpu", "f64", 0): _engine.host_engine()}
_default_engine: Engine = _engine.host_engine()


def cache_folder() -> str:
    """Of compiled kernels: $PARITAS_CACHE, else the user's."""
    given = os.environ.get("PARITAS_CACHE")
    if given is not None:
        return given
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "paritas")


def engine(device: str | None = None, precision: str | None = None, threads: int | None = None) -> Engine:
    """None: default. Raises DeviceUnavailable."""
    if device is None and precision is None and threads is None:
        return _default_engine
    key = (
        _defaults["device"] if device is None else device,
        _defaults["precision"] if precision is None else precision,
        _defaults["threads"] if threads is None else whole(threads, "threads", bits=32),
    )
    found = _engines.get(key)
    if found is None:
        found = _engines[key] = Engine(key[0], key[1], key[2], cache=cache_folder())
    return found


def set_defaults(device: str | None = None, precision: str | None = None, threads: int | None = None) -> None:
    """Default device, precision and threads (0: all processors). None changes nothing."""
    global _default_engine
    chosen = engine(device, precision, threads)
    for name, value in (("device", device), ("precision", precision), ("threads", threads)):
        if value is not None:
            _defaults[name] = value
    _default_engine = chosen
