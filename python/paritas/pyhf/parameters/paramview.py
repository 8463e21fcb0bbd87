"""Views of some parameter sets."""

from typing import Any

import numpy as np

__all__ = ["ParamViewer"]
__dir__ = __all__.copy


class ParamViewer:
    """Views of tensors of `shape`: (parameters,) or (batch, parameters)."""

    def __init__(self, shape: Any, par_map: Any, par_selection: Any) -> None:
        self.all_indices = np.arange(int(np.prod(shape))).reshape(shape)
        parts = [par_map[name]["slice"] for name in par_selection]
        self.index_selection = [self.all_indices[..., part] for part in parts]
        stops = np.cumsum([part.stop - part.start for part in parts])
        self.slices = [slice(int(stop) - p.stop + p.start, int(stop)) for stop, p in zip(stops, parts)]
        self.stitched = np.concatenate(self.index_selection, axis=-1) if parts else None
        self.indices_concatenated = None if self.stitched is None else self.stitched.T

    def get(self, data: Any, indices: Any = None) -> Any:
        """Default: all sets. None without sets."""
        if not self.index_selection:
            return None
        return np.reshape(data, (-1,))[self.indices_concatenated if indices is None else indices]
