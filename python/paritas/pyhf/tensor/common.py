"""Views of tensors by named parts of their last axis."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


class _TensorViewer:
    """Parts of the last axis: `indices[k]` are the places of part k (named `names[k]`). `split` takes a
    tensor apart, `stitch` puts one together."""

    def __init__(
        self, indices: Sequence[Any], batch_size: int | None = None, names: Sequence[str] | None = None
    ) -> None:
        self.batch_size = batch_size
        self.names = names
        self.partition_indices = [np.asarray(part, dtype=np.intp) for part in indices]
        self.sorted_indices = (
            np.concatenate(self.partition_indices).argsort()
            if self.partition_indices
            else np.empty(0, dtype=np.intp)
        )
        self.name_map = dict(zip(names, self.partition_indices)) if names else {}

    def stitch(self, data: Sequence[Any]) -> Any:
        assert len(data) == len(self.partition_indices)
        return np.concatenate(data, axis=-1)[..., self.sorted_indices]

    def split(self, data: Any, selection: Sequence[str] | None = None) -> list[Any]:
        data = np.asarray(data)
        parts = self.partition_indices if selection is None else [self.name_map[name] for name in selection]
        return [data[..., part] for part in parts]


def _tensorviewer_from_slices(
    target_slices: Sequence[slice], names: Sequence[str], batch_size: int | None
) -> _TensorViewer | None:
    if not target_slices:
        return None
    return _TensorViewer(
        [np.arange(part.start, part.stop) for part in target_slices], batch_size=batch_size, names=names
    )


def _tensorviewer_from_sizes(
    sizes: Sequence[int], names: Sequence[str], batch_size: int | None
) -> _TensorViewer | None:
    stops = np.cumsum(sizes)
    return _tensorviewer_from_slices(
        [slice(int(stop - size), int(stop)) for stop, size in zip(stops, sizes)], names, batch_size
    )
