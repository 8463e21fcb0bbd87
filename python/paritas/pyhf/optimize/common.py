"""Objectives as functions of one vector."""

from typing import Any, Callable

from ..tensor.common import _TensorViewer
from ..tensor.manager import as_tensor, get_backend
from .opt_numpy import wrap_objective


def twice_nll(pars: Any, data: Any, pdf: Any) -> Any:
    """All constants included: (1,)."""
    return -2 * pdf.logpdf(pars, data)


def _make_stitch_pars(tv: Any = None, fixed_values: Any = None) -> Any:
    if tv is None or fixed_values is None:
        return lambda pars, stitch_with=None: pars

    def stitch_pars(pars: Any, stitch_with: Any = fixed_values) -> Any:
        return tv.stitch([as_tensor(stitch_with), pars])

    return stitch_pars


def _get_tensor_shim() -> Callable[..., Any]:
    """What makes functions of one vector for the current backend."""
    name = get_backend()[0].name
    if name != "numpy":
        raise ValueError(f"No optimizer shim for {name}.")
    return wrap_objective


def shim(
    objective: Callable[..., Any],
    data: Any,
    pdf: Any,
    init_pars: Any,
    par_bounds: Any,
    fixed_vals: Any = None,
    do_grad: bool = False,
    do_stitch: bool = False,
) -> tuple[dict[str, Any], Any]:
    """(a minimiser's arguments, function from x to all parameters). `do_stitch` hides fixed ones."""
    fixed_vals = fixed_vals or []
    stitch_pars = _make_stitch_pars()
    if do_stitch:
        fixed = [index for index, _ in fixed_vals]
        free = [index for index in range(pdf.config.npars) if index not in fixed]
        stitch_pars = _make_stitch_pars(_TensorViewer([fixed, free]), [value for _, value in fixed_vals])
        init_pars, par_bounds = ([values[index] for index in free] for values in (init_pars, par_bounds))
        fixed_vals = []
    observed = as_tensor(data)

    arguments = {
        "func": _get_tensor_shim()(objective, observed, pdf, stitch_pars, do_grad),
        "x0": init_pars,
        "do_grad": do_grad,
        "bounds": par_bounds,
        "fixed_vals": fixed_vals,
    }
    return arguments, stitch_pars
