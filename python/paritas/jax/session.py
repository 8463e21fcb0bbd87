"""Sessions over JAX arrays."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .. import _engine, differentiable
from ..differentiable import ROW_ARGUMENTS, Statistic, summed_to

_TARGET = "paritas_statistic"
_WIDTH = 1 + len(ROW_ARGUMENTS)  # `at` and the row arguments
Flags = tuple[bool, ...]


def _register() -> bool:
    try:
        jax.ffi.register_ffi_target(_TARGET, _engine.xla_handler(), platform="cpu")
        return True
    except Exception:  # jaxlib has another calling convention
        return False


#: XLA calls the engine on the CPU if jaxlib can; else jax.pure_callback does
FOREIGN_FUNCTIONS = _register()


class Session(differentiable.Session):
    __doc__ = (
        (differentiable.Session.__doc__ or "")
        + """

    jit, grad and vmap go through its methods. A vmap is one call of the engine, with a row for each element.
    Arrays on devices other than the CPU go over the host."""
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._functions: dict[Statistic, Callable[..., Any]] = {}
        self._calls: dict[tuple[Statistic, Flags, Flags], tuple[int, Callable[..., Any]]] = {}

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        given = (at, *rows)
        floats = [
            array.dtype
            for array in given
            if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jnp.floating)
        ]
        dtype = jnp.result_type(*floats) if floats else jnp.result_type(float)
        function = self._functions.get(statistic)
        if function is None:
            function = self._functions[statistic] = _differentiable(self, statistic)
        values, codes = function(*[array if array is None else jnp.asarray(array, dtype) for array in given])
        return (values, codes) if with_codes else values

    def _join(self, pieces: list[Any]) -> jax.Array:
        arrays = [jnp.asarray(piece) for piece in pieces]
        batch = jnp.broadcast_shapes(*[array.shape[:-1] for array in arrays])
        return jnp.concatenate(
            [jnp.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays], axis=-1
        )

    def _host_call(
        self, statistic: Statistic, present: Flags, wanted: Flags
    ) -> tuple[int, Callable[..., Any]]:
        key = (statistic, present, wanted)
        if key not in self._calls:

            def run(arguments: Sequence[Any], results: Sequence[Any]) -> None:
                arrays: list[Any] = [None] * _WIDTH
                for i, array in zip([i for i, there in enumerate(present) if there], arguments):
                    arrays[i] = np.asarray(array, dtype=np.float64)
                answer = self.call(statistic, arrays[0], arrays[1:], wanted)
                found: list[Any] = [
                    answer.values,
                    answer.codes,
                    *[slope for slope, wish in zip(answer.slopes, wanted) if wish],
                ]
                for result, one in zip(results, found):
                    result[...] = one.reshape(result.shape)

            self._calls[key] = (_engine.xla_function(run), run)
        return self._calls[key]


def _evaluated(
    session: Session, statistic: Statistic, wanted: Flags, arrays: Sequence[jax.Array | None]
) -> list[jax.Array]:
    """Values, codes, wanted derivatives (batch, k, numbers)."""
    given = [array for array in arrays if array is not None]
    for name, array in zip(ROW_ARGUMENTS, arrays[1:]):
        if array is not None:
            session.place_of(name, array.shape)
    if arrays[0] is not None:
        session.check_at(statistic, arrays[0].shape)
    rank = max((array.ndim for array in given), default=1)
    # vmap adds dimensions in front
    aligned = [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in given]
    batch = jnp.broadcast_shapes(*[array.shape[:-1] for array in aligned])
    dtype = given[0].dtype if given else jnp.result_type(float)
    k = statistic.output_count
    shapes = [
        jax.ShapeDtypeStruct(batch if k == 1 else (*batch, k), dtype),
        jax.ShapeDtypeStruct(batch, np.int32),
    ]
    shapes += [
        jax.ShapeDtypeStruct((*batch, k, array.shape[-1]), dtype)
        for array, wish in zip(arrays, wanted)
        if wish and array is not None
    ]
    index, run = session._host_call(statistic, tuple(array is not None for array in arrays), wanted)
    if FOREIGN_FUNCTIONS and jax.default_backend() == "cpu":
        return list(
            jax.ffi.ffi_call(_TARGET, shapes, vmap_method="expand_dims")(*aligned, function=np.int64(index))
        )

    def callback(*arguments: Any) -> Any:
        lead = (
            np.broadcast_shapes(*[np.shape(argument)[:-1] for argument in arguments])[
                : len(np.shape(arguments[0])) - rank
            ]
            if arguments
            else ()
        )
        results = [np.empty((*lead, *shape.shape), shape.dtype) for shape in shapes]
        run(arguments, results)
        return results

    return list(jax.pure_callback(callback, shapes, *aligned, vmap_method="expand_dims"))


def _differentiable(session: Session, statistic: Statistic) -> Callable[..., Any]:
    """(values, codes) of `at` and row arguments (or None)."""

    @jax.custom_vjp
    def function(*arrays: Any) -> Any:
        values, codes = _evaluated(session, statistic, (False,) * _WIDTH, arrays)
        return values, codes

    def forward(*arguments: Any) -> Any:
        arrays = [None if argument is None else argument.value for argument in arguments]
        wanted = tuple(argument is not None and argument.perturbed for argument in arguments)
        values, codes, *slopes = _first_order(session, statistic, wanted, arrays)
        found = iter(slopes)
        return (values, codes), [
            (array, next(found) if wish else None) for array, wish in zip(arrays, wanted)
        ]

    def backward(kept: Any, weights: Any) -> Any:
        return tuple(
            None if array is None or slope is None else _pulled_back(weights[0], slope, array.shape)
            for array, slope in kept
        )

    function.defvjp(forward, backward, symbolic_zeros=True)
    return function


def _pulled_back(weights: Any, slope: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Weight 0 skips NaN, as in Answer.pulled_back."""
    if isinstance(weights, SymbolicZero):
        return jnp.zeros(shape, slope.dtype)
    weight = weights.reshape((*slope.shape[:-1], 1))
    return summed_to(jnp.where(weight == 0.0, 0.0, weight * slope).sum(axis=-2), shape)


def _first_order(
    session: Session, statistic: Statistic, wanted: Flags, arrays: Sequence[jax.Array | None]
) -> list[jax.Array]:
    """_evaluated, but refuses second derivatives."""

    @jax.custom_jvp
    def evaluated(*arguments: Any) -> Any:
        return _evaluated(session, statistic, wanted, arguments)

    @evaluated.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise NotImplementedError(
            f"second derivatives of {statistic.quantity}: sessions have first derivatives only"
        )

    return list(evaluated(*arrays))
