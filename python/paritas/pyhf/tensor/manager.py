"""Which backend and which optimizer are in use."""

from __future__ import annotations

from typing import Any

from paritas.pyhf import events, exceptions
from paritas.pyhf.optimize import OptimizerRetriever
from paritas.pyhf.tensor import BackendRetriever

_PRECISIONS = ("32b", "64b")
_OPTIMIZERS = ("scipy", "minuit")

state: dict[str, tuple[Any, Any]] = {}


def get_backend(default: bool = False) -> tuple[Any, Any]:
    """The backend and the optimizer in use, or the default ones."""
    return state["default" if default else "current"]


state["default"] = state["current"] = (BackendRetriever.numpy_backend(), OptimizerRetriever.scipy_optimizer())


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _backend(backend: Any, precision: str | None) -> Any:
    options = {"precision": precision} if precision else {}
    if isinstance(backend, str):
        maker = getattr(BackendRetriever, f"{backend.lower()}_backend")
        if maker is None:
            raise exceptions.InvalidBackend(
                f"The backend provided is not supported: {backend.lower()}. There is numpy."
            )
        return maker(**options)
    known = getattr(BackendRetriever, f"{backend.name}_backend")
    if known is not None and not isinstance(backend, known):
        raise AttributeError(
            f"'{backend.name}' is not a valid name attribute for backend type {type(backend)}: custom backends need names of their own"
        )
    if known is not None and precision is not None and backend.precision != precision:
        return known(**options)
    return backend


def _optimizer(optimizer: Any) -> Any:
    if optimizer is None:
        return OptimizerRetriever.scipy_optimizer()
    if isinstance(optimizer, str):
        if optimizer.lower() not in _OPTIMIZERS:
            raise exceptions.InvalidOptimizer(
                f"The optimizer provided is not supported: {optimizer}. There are {', '.join(_OPTIMIZERS)}."
            )
        return getattr(OptimizerRetriever, f"{optimizer.lower()}_optimizer")()
    if optimizer.name in _OPTIMIZERS and not isinstance(
        optimizer, getattr(OptimizerRetriever, f"{optimizer.name}_optimizer")
    ):
        raise AttributeError(
            f"'{optimizer.name}' is not a valid name attribute for optimizer type {type(optimizer)}: custom optimizers need names of their own"
        )
    return optimizer


@events.register("change_backend")
def set_backend(
    backend: Any, custom_optimizer: Any = None, precision: Any = None, default: bool = False
) -> None:
    """Sets the backend ("numpy", or an object like it), the optimizer ("scipy", "minuit", or an object with
    `name` and `minimize`) and the precision of arrays ("64b", "32b"); with `default`, as the default ones
    too. ImportBackendError: a backend of another framework."""
    precision = _text(precision)
    if precision:
        precision = precision.lower()
        if precision not in _PRECISIONS:
            raise exceptions.Unsupported(
                f"The backend precision provided is not supported: {precision}. There are {', '.join(_PRECISIONS)}."
            )
    new = (_backend(_text(backend), precision), _optimizer(_text(custom_optimizer)))
    old, old_default = state["current"], state["default"]
    state["current"] = new
    if default:
        state["default"] = new
        _announce("default_", old_default, new)
    _announce("", old, new)
    new[0]._setup()


def _announce(prefix: str, old: tuple[Any, Any], new: tuple[Any, Any]) -> None:
    if (old[0].name, old[0].precision) != (new[0].name, new[0].precision):
        events.trigger(f"{prefix}tensorlib_changed")()
    if old[1] != new[1]:
        events.trigger(f"{prefix}optimizer_changed")()
