"""What a program may choose of paritas.pyhf, by an argument or the environment."""

from __future__ import annotations

import os


class Choice:
    """One of some words; the first is the default."""

    def __init__(self, name: str, words: tuple[str, ...], variable: str) -> None:
        """name: of the argument; variable: of the environment, asked where no argument is given."""
        self.name, self.words, self.variable = name, words, variable
        self._given: str | None = None

    def choose(self, word: str | None) -> None:
        """None: the variable's, else the default. Raises ValueError for other words."""
        self._given = None if word is None else self._checked(word, self.name)

    def chosen(self) -> str:
        if self._given is not None:
            return self._given
        return self._checked(os.environ.get(self.variable) or self.words[0], self.variable)

    def option(self) -> str:
        """Of a command line."""
        return f"--{self.name.replace('_', '-')}"

    def _checked(self, word: str, place: str) -> str:
        if word not in self.words:
            raise ValueError(f"{place} is {word!r}: it can be {' or '.join(self.words)}")
        return word


#: what set_backend gives for jax, pytorch and tensorflow
ABSENT_BACKEND = Choice("absent_backend", ("error", "numpy"), "PARITAS_PYHF_ABSENT_BACKEND")
#: what fits: the engine, or SciPy and iminuit themselves
MINIMISERS = Choice("minimisers", ("engine", "original"), "PARITAS_PYHF_MINIMISERS")
CHOICES = (ABSENT_BACKEND, MINIMISERS)
