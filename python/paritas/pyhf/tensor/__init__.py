"""Tensor backends: `numpy_backend`."""

from typing import Any

from .. import exceptions
from . import absence
from .numpy_backend import numpy_backend

_OTHER_FRAMEWORKS = ("jax_backend", "pytorch_backend", "tensorflow_backend")


class _BackendRetriever:
    numpy_backend = numpy_backend

    def __getattr__(self, name: str) -> Any:
        if name in _OTHER_FRAMEWORKS:
            if absence.numpy_stands_for(name):
                return numpy_backend
            raise exceptions.ImportBackendError(
                f"There is no {name}: Paritas has its own engine, for which the numpy backend stands. "
                'paritas.pyhf.install(absent_backend="numpy") takes NumPy instead. '
                "Likelihoods that other frameworks differentiate are in paritas.torch and paritas.jax."
            )
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    @property
    def array_types(self) -> tuple[type, ...]:
        return (numpy_backend.array_type,)

    @property
    def array_subtypes(self) -> tuple[type, ...]:
        return (numpy_backend.array_subtype,)


BackendRetriever = _BackendRetriever()
__all__ = ["BackendRetriever"]
