"""Sessions over JAX arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.dtypes import float0

from .. import _engine, differentiable
from ..differentiable import ROW_ARGUMENTS, Statistic
from .linear import gather_p, turn_p

_TARGET = "paritas_statistic"
_WIDTH = 1 + len(ROW_ARGUMENTS)  # `at` and the row arguments
Flags = tuple[bool, ...]


def _interface() -> int:
    """The version of XLA's interface that this jaxlib speaks, 0 with this minor number. Its headers say it; a
    jaxlib may refuse functions of a newer one only when they are called."""
    path = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    major, minor = re.findall(r"^#define XLA_FFI_API_M(?:AJ|IN)OR (\d+)", path.read_text("utf-8"), re.M)
    if major != "0":
        raise NotImplementedError("structures of another layout")
    return int(minor)


def _register() -> bool:
    try:
        jax.ffi.register_ffi_target(_TARGET, _engine.xla_handler(_interface()), platform="cpu")
        return True
    except Exception:  # jaxlib has another calling convention
        return False


#: XLA calls the engine on the CPU if jaxlib can; else jax.pure_callback does
FOREIGN_FUNCTIONS = _register()


class Session(differentiable.Session):
    __doc__ = (
        (differentiable.Session.__doc__ or "")
        + """

    jax.jit, grad, jvp and vmap work on its methods, jax.hessian on nll, q0, qmu and Z0. A vmap is one call of
    the engine, with a row for each element. Arrays on devices other than the CPU are copied to the host, and
    the answers are copied back."""
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._functions: dict[Statistic, Callable[..., Any]] = {}
        self._calls: dict[tuple[Statistic, Flags, Flags], tuple[int, Callable[..., Any]]] = {}
        self._turns: dict[tuple[Statistic, Flags, Flags], Callable[..., Any]] = {}

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        given = (at, *rows)
        types = [array.dtype for array in given if isinstance(array, jax.Array)]
        differentiable.check_real(any(jnp.issubdtype(one, jnp.complexfloating) for one in types))
        floats = [one for one in types if jnp.issubdtype(one, jnp.floating)]
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

    def _host_turn(self, statistic: Statistic, present: Flags, wanted: Flags) -> Callable[..., Any]:
        """A map of (points, directions) for turn_p: the same object for the same arguments."""
        key = (statistic, present, wanted)
        if key not in self._turns:

            def run(arguments: Sequence[Any], results: Sequence[Any]) -> None:
                given = iter(np.asarray(array, dtype=np.float64) for array in arguments)
                arrays = [next(given) if there else None for there in present]
                directions = [next(given) if wish else None for wish in wanted]
                answer = self.call_along(statistic, arrays[0], arrays[1:], directions)
                found = [slope for slope, wish in zip(answer.slopes, wanted) if wish]
                for result, one in zip(results, found):
                    assert one is not None
                    result[...] = one.reshape(result.shape)

            index = _engine.xla_function(run)

            def turn(points: Sequence[jax.Array], directions: Sequence[jax.Array]) -> list[jax.Array]:
                shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in directions]
                return _called(index, run, shapes, [*points, *directions])

            self._turns[key] = turn
        return self._turns[key]


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
    return _called(index, run, shapes, aligned)


def _called(
    index: int, run: Callable[..., Any], shapes: Sequence[Any], aligned: Sequence[jax.Array]
) -> list[jax.Array]:
    """A host call with results of these shapes. `aligned`: arrays of one rank."""
    if FOREIGN_FUNCTIONS and jax.default_backend() == "cpu":
        return list(
            jax.ffi.ffi_call(_TARGET, shapes, vmap_method="expand_dims")(*aligned, function=np.int64(index))
        )
    rank = aligned[0].ndim if aligned else 1

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

    @jax.custom_jvp
    def function(*arrays: Any) -> Any:
        values, codes = _evaluated(session, statistic, (False,) * _WIDTH, arrays)
        return values, codes

    def moved(arrays: Any, tangents: Any) -> Any:
        wanted = tuple(one is not None and not isinstance(one, SymbolicZero) for one in tangents)
        values, codes, *slopes = _first_order(session, statistic, wanted, arrays)
        moves = [one for one, wish in zip(tangents, wanted) if wish]
        return (values, codes), (_along(moves, slopes, values), np.zeros(codes.shape, float0))

    function.defjvp(moved, symbolic_zeros=True)
    return function


def _along(tangents: Sequence[Any], slopes: Sequence[jax.Array], values: jax.Array) -> jax.Array:
    """The sum of tangents times slopes, in the shape of `values`."""
    total = jnp.zeros_like(values)
    for tangent, slope in zip(tangents, slopes):
        wide = jnp.broadcast_to(tangent[..., None, :], slope.shape)
        total = total + gather_p.bind(wide, slope).reshape(values.shape)
    return total


def _first_order(
    session: Session, statistic: Statistic, wanted: Flags, arrays: Sequence[jax.Array | None]
) -> list[jax.Array]:
    """_evaluated, with second derivatives where the statistic has them."""

    @jax.custom_jvp
    def evaluated(*arguments: Any) -> Any:
        return _evaluated(session, statistic, wanted, arguments)

    def moved(arguments: Any, tangents: Any) -> Any:
        if not statistic.has_second:
            raise NotImplementedError(statistic.second_refused)
        turns = [one is not None and not isinstance(one, SymbolicZero) for one in tangents]
        both = tuple(a or b for a, b in zip(wanted, turns))
        values, codes, *found = _first_order(session, statistic, both, arguments)
        slopes = _spread_out(found, both)
        moves = [one for one, turn in zip(tangents, turns) if turn]
        along = _along(moves, [slope for slope, turn in zip(slopes, turns) if turn], values)
        directions = [
            (one if turn else jnp.zeros_like(array)) if wish else None
            for one, array, turn, wish in zip(tangents, arguments, turns, both)
        ]
        changes = _spread_out(_turned(session, statistic, arguments, directions, values.shape), both)
        return (
            [values, codes, *[one for one, wish in zip(slopes, wanted) if wish]],
            [along, np.zeros(codes.shape, float0), *[one for one, wish in zip(changes, wanted) if wish]],
        )

    evaluated.defjvp(moved, symbolic_zeros=True)
    return list(evaluated(*arrays))


def _spread_out(found: Sequence[Any], wanted: Flags) -> list[Any]:
    """One for each argument; None where it is not wanted."""
    rest = iter(found)
    return [next(rest) if wish else None for wish in wanted]


def _turned(
    session: Session,
    statistic: Statistic,
    arrays: Sequence[jax.Array | None],
    directions: Sequence[jax.Array | None],
    batch: tuple[int, ...],
) -> list[jax.Array]:
    """Second derivatives times `directions`, by each of them: (batch, 1, numbers)."""
    present = tuple(array is not None for array in arrays)
    wanted = tuple(one is not None for one in directions)

    def wide(array: jax.Array) -> jax.Array:
        return jnp.broadcast_to(array, (*batch, array.shape[-1]))

    points = [wide(array) for array in arrays if array is not None]
    moves = [wide(one) for one in directions if one is not None]
    found = turn_p.bind(
        *points,
        *moves,
        run=session._host_turn(statistic, present, wanted),
        n=len(moves),
        refused=statistic.second_refused,
    )
    return [one[..., None, :] for one in found]
