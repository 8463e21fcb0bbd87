"""Callbacks by the name of an event. They are held weakly: what is subscribed lives as long as its owner."""

from __future__ import annotations

import weakref
from functools import wraps
from typing import Any, Callable, Iterator

__all__ = ["Callables", "disable", "enable", "noop", "register", "subscribe", "trigger"]

__events: dict[str, Callables] = {}
__disabled_events: set[str] = set()


def __dir__() -> list[str]:
    return __all__


def noop(*args: Any, **kwargs: Any) -> None:
    """What an event without subscribers, or a disabled one, does."""


class Callables:
    """The subscribers of one event: pairs of weak references, to a function and, for a method, to its object
    (else None)."""

    def __init__(self) -> None:
        self._callbacks: list[tuple[Any, Any]] = []

    @property
    def callbacks(self) -> list[tuple[Any, Any]]:
        self._flush()
        return self._callbacks

    def append(self, callback: Callable[..., Any]) -> None:
        owner = getattr(callback, "__self__", None)
        if owner is None:
            self._callbacks.append((weakref.ref(callback), None))
        else:
            self._callbacks.append((weakref.ref(callback.__func__), weakref.ref(owner)))  # type: ignore[attr-defined]

    def _flush(self) -> None:
        self._callbacks = [
            (function, owner)
            for function, owner in self._callbacks
            if function() is not None and (owner is None or owner() is not None)
        ]

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for function, owner in list(self.callbacks):
            called = function()
            if owner is None:
                called(*args, **kwargs)
            else:
                called(owner(), *args, **kwargs)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.callbacks)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.callbacks[index]

    def __len__(self) -> int:
        return len(self.callbacks)

    def __repr__(self) -> str:
        return f"Callables({self.callbacks})"


def subscribe(event: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is called when `event` is triggered."""

    def subscriber(function: Callable[..., Any]) -> Callable[..., Any]:
        __events.setdefault(event, Callables()).append(function)
        return function

    return subscriber


def register(event: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: calls of the function trigger `event::before` and `event::after`."""

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
    """What is to be called to trigger `event`."""
    if event in __disabled_events or event not in __events:
        return noop
    return __events[event]


def disable(event: str) -> None:
    """Triggers of `event` do nothing until it is enabled."""
    __disabled_events.add(event)


def enable(event: str) -> None:
    """Undoes `disable`; KeyError where it was not disabled."""
    __disabled_events.remove(event)
