"""An objective as a minimiser of functions of one vector wants it."""

from __future__ import annotations

from typing import Any, Callable

from paritas.pyhf import exceptions
from paritas.pyhf.tensor.common import _TensorViewer
from paritas.pyhf.tensor.manager import get_backend


def _make_stitch_pars(tv: _TensorViewer | None = None, fixed_values: Any = None) -> Callable[..., Any]:
    """What puts fixed values back among the free ones; without a viewer, what returns its argument."""
    if tv is None or fixed_values is None:
        return lambda pars, stitch_with=None: pars

    def stitch_pars(pars: Any, stitch_with: Any = fixed_values) -> Any:
        return tv.stitch([get_backend()[0].astensor(stitch_with, dtype="float"), pars])

    return stitch_pars


def shim(
    objective: Callable[..., Any],
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_vals: Any = None,
    do_grad: bool = False,
    do_stitch: bool = False,
) -> tuple[dict[str, Any], Callable[..., Any]]:
    """(arguments of a minimiser: func, x0, do_grad, bounds, fixed_vals; what makes all parameters of those
    that it minimised over). With `do_stitch` the fixed ones (pairs of index and value) are kept from the
    minimiser."""
    if do_grad:
        raise exceptions.Unsupported("Numpy does not support autodifferentiation.")
    tensorlib, _ = get_backend()
    fixed_vals = fixed_vals or []
    fixed = [index for index, _ in fixed_vals]
    free = [index for index in range(pdf.config.npars) if index not in fixed]
    if do_stitch:
        stitch_pars = _make_stitch_pars(_TensorViewer([fixed, free]), [value for _, value in fixed_vals])
        init_pars, par_bounds, fixed_vals = (
            [init_pars[index] for index in free],
            [par_bounds[index] for index in free],
            [],
        )
    else:
        stitch_pars = _make_stitch_pars()
    observed = tensorlib.astensor(data)

    def func(pars: Any) -> Any:
        return objective(stitch_pars(tensorlib.astensor(pars)), observed, pdf)[0]

    return {
        "func": func,
        "x0": init_pars,
        "do_grad": do_grad,
        "bounds": par_bounds,
        "fixed_vals": fixed_vals,
    }, stitch_pars
