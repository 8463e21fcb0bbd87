"""Objectives of the NumPy backend."""

from typing import Any, Callable

from .. import exceptions
from ..tensor.manager import as_tensor


def wrap_objective(
    objective: Callable[..., Any],
    data: Any,
    pdf: Any,
    stitch_pars: Callable[..., Any],
    do_grad: bool = False,
    jit_pieces: Any = None,
) -> Callable[[Any], Any]:
    """A function of the vector that a minimiser varies. `jit_pieces` has no effect."""
    if do_grad:
        raise exceptions.Unsupported("Numpy does not support autodifferentiation.")

    def func(pars: Any) -> Any:
        return objective(stitch_pars(as_tensor(pars)), data, pdf)[0]

    return func
