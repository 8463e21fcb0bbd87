"""What a program may choose of paritas.pyhf, by an argument or the environment."""

from __future__ import annotations

import os


class Choice:
    """One of some words; the first is the default."""

    def __init__(self, names: tuple[str, ...], words: tuple[str, ...]) -> None:
        """names: of the argument, the usual spelling first."""
        self.name, self.names, self.words = names[0], names, words
        self._given: str | None = None

    @property
    def variable(self) -> str:
        """Variable of the environment, asked where no argument is given."""
        return _variable(self.name)

    def choose(self, word: str | None) -> None:
        """None: the variable's, else the default. Raises ValueError for other words."""
        self._given = None if word is None else self._checked(word, self.name)

    def chosen(self) -> str:
        if self._given is not None:
            return self._given
        for variable in map(_variable, self.names):
            if os.environ.get(variable):
                return self._checked(os.environ[variable], variable)
        return self.words[0]

    def options(self) -> list[str]:
        """Options of a command line."""
        return [f"--{name.replace('_', '-')}" for name in self.names]

    def _checked(self, word: str, place: str) -> str:
        if word not in self.words:
            raise ValueError(f"{place} is {word!r}: it can be {' or '.join(self.words)}")
        return word


def _variable(name: str) -> str:
    return f"PARITAS_PYHF_{name.upper()}"


#: what set_backend gives for jax, pytorch and tensorflow
ABSENT_BACKEND = Choice(("absent_backend",), ("error", "numpy"))
#: what fits: the engine, or SciPy and iminuit themselves
MINIMIZERS = Choice(("minimizers", "minimisers"), ("engine", "original"))
CHOICES = (ABSENT_BACKEND, MINIMIZERS)
