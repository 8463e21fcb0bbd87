"""Views of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np


class _TensorViewer:
    """Places `indices[k]` in the last axis for part `names[k]`."""

    def __init__(self, indices: Any, batch_size: int | None = None, names: Any = None) -> None:
        self.batch_size = batch_size
        self.names = names
        self.partition_indices = [np.asarray(part, dtype=np.intp) for part in indices]
        self.sorted_indices = np.empty(0, dtype=np.intp)
        if self.partition_indices:
            self.sorted_indices = np.concatenate(self.partition_indices).argsort()
        self.name_map = dict(zip(names, self.partition_indices)) if names else {}

    def stitch(self, data: Any) -> Any:
        assert len(data) == len(self.partition_indices)
        return np.concatenate(data, axis=-1)[..., self.sorted_indices]

    def split(self, data: Any, selection: Any = None) -> list[Any]:
        data = np.asarray(data)
        parts = self.partition_indices if selection is None else [self.name_map[name] for name in selection]
        return [data[..., part] for part in parts]
