"""Where the parameters of some sets stand among all."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

__all__ = ["ParamViewer"]


def __dir__() -> list[str]:
    return __all__


class ParamViewer:
    """The parameters of the sets `par_selection`, out of tensors of `shape`: (parameters,) or (batch,
    parameters).

    index_selection       for each set the flat places of its parameters, (size,) or (batch, size)
    indices_concatenated  of all of them, (sizes,) or (sizes, batch)
    slices                for each set its rows in what `get` returns
    """

    def __init__(
        self, shape: Sequence[int], par_map: Mapping[str, Mapping[str, Any]], par_selection: Sequence[str]
    ) -> None:
        self.all_indices = np.arange(int(np.prod(shape))).reshape(shape)
        parts = [par_map[name]["slice"] for name in par_selection]
        self.index_selection = [self.all_indices[..., part] for part in parts]
        stops = np.cumsum([part.stop - part.start for part in parts])
        self.slices = [
            slice(int(stop - (part.stop - part.start)), int(stop)) for stop, part in zip(stops, parts)
        ]
        self.stitched = np.concatenate(self.index_selection, axis=-1) if parts else None
        self.indices_concatenated = None if self.stitched is None else self.stitched.T

    def get(self, data: Any, indices: Any = None) -> Any:
        """The values at `indices` (those of the selection); None where nothing is selected."""
        if not self.index_selection:
            return None
        return np.reshape(data, (-1,))[self.indices_concatenated if indices is None else indices]
