"""Progress bars and functions. Ctrl-C always ends a call."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from .devices import ProgressFunction


class _Silence:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_SILENCE = _Silence()


@contextmanager
def _bar(what: str) -> Iterator[ProgressFunction]:
    """tqdm, or lines on stderr."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        import sys

        def line(done: int, total: int) -> None:
            print(f"\r{what}: {done} of {total}", end="", file=sys.stderr, flush=True)

        yield line
        print(file=sys.stderr)
        return
    with tqdm(desc=what, unit_scale=True) as bar:

        def update(done: int, total: int) -> None:
            if done < bar.n:  # another list of jobs
                bar.reset(total)
            bar.total = total
            bar.update(done - bar.n)

        yield update


def told(progress: bool | ProgressFunction | None, what: str):  # type: ignore[no-untyped-def]
    """Gives the function to call, or None."""
    if progress is None or progress is False:
        return _SILENCE
    return _bar(what) if progress is True else _given(progress)


@contextmanager
def _given(progress: ProgressFunction) -> Iterator[ProgressFunction | None]:
    yield progress
