"""Backend and optimizer."""

from __future__ import annotations

from typing import Any

from .. import events, exceptions
from ..optimize import OptimizerRetriever
from . import BackendRetriever

_PRECISIONS = ("32b", "64b")
_OPTIMIZERS = ("scipy", "minuit")

state: dict[str, tuple[Any, Any]] = {}


def get_backend(default: bool = False) -> tuple[Any, Any]:
    return state["default" if default else "current"]


def as_tensor(value: Any) -> Any:
    """A tensor of the current backend, in its precision."""
    return state["current"][0].astensor(value)


state["default"] = state["current"] = (BackendRetriever.numpy_backend(), OptimizerRetriever.scipy_optimizer())


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _check_kind(what: str, thing: Any, known: Any) -> None:
    if known is not None and not isinstance(thing, known):
        raise AttributeError(f"{type(thing)} needs a name of its own: there is another {what} '{thing.name}'")


def _backend(backend: Any, precision: str | None) -> Any:
    options = {"precision": precision} if precision else {}
    if isinstance(backend, str):
        maker = getattr(BackendRetriever, f"{backend.lower()}_backend")
        if maker is None:
            raise exceptions.InvalidBackend(f"There is no backend '{backend.lower()}', only numpy.")
        return maker(**options)
    known = getattr(BackendRetriever, f"{backend.name}_backend")
    _check_kind("backend", backend, known)
    if known is not None and precision is not None and backend.precision != precision:
        return known(**options)
    return backend


def _optimizer(optimizer: Any) -> Any:
    if optimizer is None:
        return OptimizerRetriever.scipy_optimizer()
    if isinstance(optimizer, str):
        if optimizer.lower() not in _OPTIMIZERS:
            raise exceptions.InvalidOptimizer(
                f"There is no optimizer '{optimizer}', only {', '.join(_OPTIMIZERS)}."
            )
        return getattr(OptimizerRetriever, f"{optimizer.lower()}_optimizer")()
    _check_kind("optimizer", optimizer, getattr(OptimizerRetriever, f"{optimizer.name}_optimizer"))
    return optimizer


@events.register("change_backend")
def set_backend(
    backend: Any, custom_optimizer: Any = None, precision: Any = None, default: bool = False
) -> None:
    """Backend: "numpy" or alike; optimizer: "scipy", "minuit", or an object with `name` and `minimize`; array
    precision: "64b", "32b"; `default`: also as defaults."""
    precision = _text(precision)
    if precision:
        precision = precision.lower()
        if precision not in _PRECISIONS:
            raise exceptions.Unsupported(
                f"There is no precision '{precision}', only {', '.join(_PRECISIONS)}."
            )
    new = (_backend(_text(backend), precision), _optimizer(_text(custom_optimizer)))
    old, old_default = state["current"], state["default"]
    state["current"] = new
    if default:
        state["default"] = new
        _announce("default_", old_default, new)
    _announce("", old, new)
    new[0]._setup()


def _announce(prefix: str, old: Any, new: Any) -> None:
    if (old[0].name, old[0].precision) != (new[0].name, new[0].precision):
        events.trigger(f"{prefix}tensorlib_changed")()
    if old[1] != new[1]:
        events.trigger(f"{prefix}optimizer_changed")()
