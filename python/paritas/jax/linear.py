"""Linear maps whose transposes JAX cannot find: derivatives times tangents, where weight 0 skips the NaN of
rows that failed, and products of second derivatives, which are their own transposes."""

from typing import Any, Callable, Sequence

import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir


def _spread(weights: Any, slopes: Any) -> Any:
    """(..., k), (..., k, numbers) -> (..., k, numbers)."""
    wide = weights[..., None]
    return jnp.where(wide == 0.0, 0.0, wide * slopes)


def _gathered(tangents: Any, slopes: Any) -> Any:
    """(..., k, numbers) twice -> (..., k)."""
    return jnp.where(tangents == 0.0, 0.0, tangents * slopes).sum(axis=-1)


def _at_front(arguments: Sequence[Any], axes: Sequence[Any]) -> list[Any]:
    size = next(one.shape[axis] for one, axis in zip(arguments, axes) if axis is not None)
    return [
        jnp.broadcast_to(one, (size, *one.shape)) if axis is None else jnp.moveaxis(one, axis, 0)
        for one, axis in zip(arguments, axes)
    ]


def _bilinear(name: str, function: Callable[[Any, Any], Any]) -> Primitive:
    primitive = Primitive(f"paritas_{name}")

    def batched(arguments: Sequence[Any], axes: Sequence[Any]) -> Any:
        return primitive.bind(*_at_front(arguments, axes)), 0

    primitive.def_impl(function)
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=False))
    return primitive


spread_p = _bilinear("spread", _spread)
spread_p.def_abstract_eval(lambda weights, slopes: ShapedArray(slopes.shape, slopes.dtype))
gather_p = _bilinear("gather", _gathered)
gather_p.def_abstract_eval(lambda tangents, slopes: ShapedArray(slopes.shape[:-1], slopes.dtype))
ad.defbilinear(
    gather_p,
    lambda weights, tangents, slopes: spread_p.bind(weights, slopes),
    lambda weights, tangents, slopes: spread_p.bind(weights, tangents),
)
ad.defbilinear(
    spread_p,
    lambda cotangents, weights, slopes: gather_p.bind(cotangents, slopes),
    lambda cotangents, weights, slopes: _spread(weights, cotangents),
)

#: turn(*points, *tangents, run=..., refused=...): a symmetric map of the tangents, as many arrays of the same
#: shapes; all of one batch. run: computes it. refused: why the points have no derivatives
turn_p = Primitive("paritas_turn")
turn_p.multiple_results = True


def _turned(*arguments: Any, run: Callable[..., Any], n: int, refused: str) -> Any:
    return run(arguments[: len(arguments) - n], arguments[len(arguments) - n :])


@turn_p.def_abstract_eval
def _shapes(*arguments: Any, run: Any, n: int, refused: str) -> Any:
    return [ShapedArray(one.shape, one.dtype) for one in arguments[len(arguments) - n :]]


def _batched_turn(arguments: Sequence[Any], axes: Sequence[Any], **of: Any) -> Any:
    return turn_p.bind(*_at_front(arguments, axes), **of), [0] * of["n"]


def _moved_turn(primals: Sequence[Any], tangents: Sequence[Any], **of: Any) -> Any:
    fixed = len(primals) - of["n"]
    if any(type(one) is not ad.Zero for one in tangents[:fixed]):
        raise NotImplementedError(of["refused"])
    moves = [ad.instantiate_zeros(one) for one in tangents[fixed:]]
    return turn_p.bind(*primals, **of), turn_p.bind(*primals[:fixed], *moves, **of)


def _transposed_turn(cotangents: Sequence[Any], *arguments: Any, **of: Any) -> Any:
    fixed = len(arguments) - of["n"]
    weights = [ad.instantiate_zeros(one) for one in cotangents]
    return [None] * fixed + turn_p.bind(*arguments[:fixed], *weights, **of)


turn_p.def_impl(_turned)
batching.primitive_batchers[turn_p] = _batched_turn
mlir.register_lowering(turn_p, mlir.lower_fun(_turned, multiple_results=True))
ad.primitive_jvps[turn_p] = _moved_turn
ad.primitive_transposes[turn_p] = _transposed_turn
