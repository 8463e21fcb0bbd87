"""Functions to call at events."""

from __future__ import annotations

import weakref
from functools import wraps
from typing import Any, Callable, Iterator

__all__ = ["Callables", "disable", "enable", "noop", "register", "subscribe", "trigger"]
__dir__ = __all__.copy

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
__events: dict[str, Callables] = {}
__disabled_events: set[str] = set()


def noop(*args: Any, **kwargs: Any) -> None:
    """An event that does nothing."""


def _alive(function: Any, owner: Any) -> bool:
    return function() is not None and (owner is None or owner() is not None)


class Callables:
    """Weak references, as pairs: function, and object of a method or None."""

    def __init__(self) -> None:
        self._callbacks: list[Any] = []

    @property
    def callbacks(self) -> list[Any]:
        self._callbacks = [pair for pair in self._callbacks if _alive(*pair)]
        return self._callbacks

    def append(self, callback: Any) -> None:
        owner = getattr(callback, "__self__", None)
        function = callback if owner is None else callback.__func__
        self._callbacks.append((weakref.ref(function), None if owner is None else weakref.ref(owner)))

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for function, owner in list(self.callbacks):
            function()(*(() if owner is None else (owner(),)), *args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def __getitem__(self, index: int) -> Any:
        return self.callbacks[index]

    def __len__(self) -> int:
        return len(self.callbacks)

    def __repr__(self) -> str:
        return f"Callables({self.callbacks})"


def subscribe(event: str) -> _Decorator:
    """Decorator: `event` calls the function."""

    def subscriber(function: Callable[..., Any]) -> Callable[..., Any]:
        __events.setdefault(event, Callables()).append(function)
        return function

    return subscriber


def register(event: str) -> _Decorator:
    """Decorator: calls trigger `event::before` and `event::after`."""

    def registrar(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            trigger(f"{event}::before")()
            result = function(*args, **kwargs)
            trigger(f"{event}::after")()
            return result

        return wrapped

    return registrar


def trigger(event: str) -> Callable[..., Any]:
    if event in __disabled_events or event not in __events:
        return noop
    return __events[event]


def disable(event: str) -> None:
    """Lasts until `enable`."""
    __disabled_events.add(event)


def enable(event: str) -> None:
    __disabled_events.remove(event)
