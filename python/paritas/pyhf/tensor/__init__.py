"""Tensor backends by name. There is one, `numpy_backend`; asking for another says so."""

from __future__ import annotations

from typing import Any

from paritas.pyhf import exceptions
from paritas.pyhf.tensor.numpy_backend import numpy_backend

_OTHER_FRAMEWORKS = {"jax_backend": "JAX", "pytorch_backend": "PyTorch", "tensorflow_backend": "TensorFlow"}


class _BackendRetriever:
    numpy_backend = numpy_backend

    def __getattr__(self, name: str) -> Any:
        if name in _OTHER_FRAMEWORKS:
            raise exceptions.ImportBackendError(
                f"The {name.removesuffix('_backend')} backend does not exist here: Paritas computes in an engine of its own, "
                "for which the numpy backend stands. "
                f"Models that {_OTHER_FRAMEWORKS[name]} can differentiate are in paritas.torch and paritas.jax."
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
