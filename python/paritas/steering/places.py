"""Errors of configuration files: file, line, place, reason."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Callable, Iterable, Union

from .._engine import InvalidInput

Step = Union[str, int]


class SteeringError(InvalidInput):
    """A configuration, a template or a builder's argument is wrong.

    where: the file with its line and place ("config.yml:12: Regions[1].Binning"), or the channel and sample
    of a builder. why: the reason."""

    status = "INVALID_INPUT"

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


@dataclass(frozen=True)
class Place:
    """A place in a configuration. `line` finds the line of a path, 0 if there is none."""

    file: str
    line: Callable[[tuple[Step, ...]], int]
    path: tuple[Step, ...] = ()

    def __truediv__(self, step: Step) -> "Place":
        return Place(self.file, self.line, (*self.path, step))

    @property
    def name(self) -> str:
        """The place's name, as in "Regions[1].Binning"."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return text.lstrip(".")

    def __str__(self) -> str:
        line = self.line(self.path)
        file = f"{self.file}:{line}" if line else self.file
        return f"{file}: {self.name}" if self.path else file

    def refuse(self, why: str) -> SteeringError:
        return SteeringError(str(self), why)

    def at(self, message: str) -> str:
        """The message with its place: a note."""
        return f"{self}: {message}"


def nearest(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'Binning'?", or nothing if no known name is near."""
    spelt = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), spelt, n=1)
    return f"; did you mean '{spelt[found[0]]}'?" if found else ""
