"""Poisson, normal, and products."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from .tensor.manager import get_backend

__all__ = ["Independent", "Normal", "Poisson", "Simultaneous"]
__dir__ = __all__.copy


class _Distribution:
    _pdf: Any

    def log_prob(self, value: Any) -> Any:
        return self._pdf.log_prob(value)

    def expected_data(self) -> Any:
        return self._pdf.expected_data()

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._pdf.sample(sample_shape)


class Poisson(_Distribution):
    def __init__(self, rate: Any) -> None:
        self.rate = rate
        self._pdf = get_backend()[0].poisson_dist(rate)

    def expected_data(self) -> Any:
        return self.rate


class Normal(_Distribution):
    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc = loc
        self.scale = scale
        self._pdf = get_backend()[0].normal_dist(loc, scale)

    def expected_data(self) -> Any:
        return self.loc


class Independent(_Distribution):
    """Product over the last axis of `batched_pdf`."""

    def __init__(self, batched_pdf: Any, batch_size: int | None = None) -> None:
        self.batch_size = batch_size
        self._pdf = batched_pdf

    def log_prob(self, value: Any) -> Any:
        return np.sum(self._pdf.log_prob(value), axis=-1)


class Simultaneous:
    """Parts of the data are given by `tensorview`."""

    def __init__(self, pdfobjs: Any, tensorview: Any, batch_size: int | None = None) -> None:
        self.tv = tensorview
        self._pdfobjs = pdfobjs
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[Any]:
        yield from self._pdfobjs

    def __getitem__(self, index: int) -> Any:
        return self._pdfobjs[index]

    def expected_data(self) -> Any:
        return self.tv.stitch([pdf.expected_data() for pdf in self])

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.tv.stitch([pdf.sample(sample_shape) for pdf in self])

    def log_prob(self, value: Any) -> Any:
        return self._joint_logpdf([pdf.log_prob(part) for pdf, part in zip(self, self.tv.split(value))])

    @staticmethod
    def _joint_logpdf(terms: Any, batch_size: int | None = None) -> Any:
        return terms[0] if len(terms) == 1 else np.sum(np.stack(np.broadcast_arrays(*terms)), axis=0)
