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


def _set_for_drivers() -> None:
    """Drivers read these when they are opened."""
    for name, value in _engine.driver_settings().items():
        os.environ.setdefault(name, value)


def devices(again: bool = False) -> list[Device]:
    """All devices. Opens every driver once, in about 1 s, except drivers that crashed or hung before. again:
    opens those too, and compiles all kernels anew."""
    from .results import Device

    _set_for_drivers()
    asking = Engine(cache=_engine.cache_folder(os.environ), again=again)
    return [Device(row) for row in _engine.list_devices(asking)]


#: kinds of devices beside the processor
ACCELERATORS = [kind for kind in _engine.enumeration("paritas_device_kind") if kind != "cpu"]


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


#: what $PARITAS_DEVICE was when this module was imported; "": not set
_named = os.environ.get("PARITAS_DEVICE", "")
_defaults: dict[str, Any] = {"device": _named or "cpu", "precision": None, "threads": 0}
_engines: dict[tuple[str, str | None, int], Engine] = {("cpu", None, 0): _engine.host_engine()}
_default_engine: Engine | None = None if _named else _engine.host_engine()  # None: opened at first use


def _opened(device: str, precision: str | None, threads: int) -> Engine:
    """Says where a device without f64 runs in f32 unasked."""
    if device != "cpu":
        _set_for_drivers()
    found = Engine(device, precision, threads, cache=_engine.cache_folder(os.environ))
    if precision is None and found.precision == "f32":
        from warnings import warn

        warn(
            f"device {found.device!r} has no arithmetic in f64: it runs in f32, and fits of HistFactory "
            "models are polished in f64. precision='f32' asks for that without a warning",
            RuntimeWarning,
            stacklevel=2,
        )
    return found


def engine(device: str | None = None, precision: str | None = None, threads: int | None = None) -> Engine:
    """None: default, of which $PARITAS_DEVICE sets the device. Raises DeviceUnavailable."""
    global _default_engine
    if device is None and precision is None and threads is None and _default_engine is not None:
        return _default_engine
    key = (
        _defaults["device"] if device is None else device,
        _defaults["precision"] if precision is None else precision,
        _defaults["threads"] if threads is None else whole(threads, "threads", bits=32),
    )
    found = _engines.get(key)
    if found is None:
        try:
            found = _engines[key] = _opened(*key)
        except _engine.DeviceUnavailable as error:
            if device is not None or key[0] != _named:
                raise
            raise _engine.DeviceUnavailable(f"PARITAS_DEVICE: {error}") from None
    if device is None and precision is None and threads is None:
        _default_engine = found
    return found


def set_defaults(device: str | None = None, precision: str | None = None, threads: int | None = None) -> None:
    """Default device, precision and threads (0: all processors). None changes nothing."""
    global _default_engine
    chosen = engine(device, precision, threads)
    for name, value in (("device", device), ("precision", precision), ("threads", threads)):
        if value is not None:
            _defaults[name] = value
    _default_engine = chosen
