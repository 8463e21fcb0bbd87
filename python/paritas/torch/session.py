"""Sessions over torch tensors."""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple, Sequence

import numpy as np
import torch
from torch.autograd import forward_ad

from .. import differentiable
from ..differentiable import ROW_ARGUMENTS, STATUSES, Statistic, pulled_back

_HOST = torch.device("cpu")
_WIDTH = 1 + len(ROW_ARGUMENTS)  # `at` and the row arguments


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.dtype is torch.float64 and tensor.is_cpu


def _host(tensor: torch.Tensor) -> torch.Tensor:
    """On the host, since not every device has float64; shares memory if it can."""
    return tensor if _is_plain(tensor) else tensor.cpu().to(torch.float64)


def _array(tensor: torch.Tensor) -> Any:
    return _host(tensor).detach().numpy()


def _back(found: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return found if _is_plain(like) else found.to(like.dtype).to(like.device)


def _kind(given: Sequence[Any]) -> tuple[torch.dtype, torch.device] | None:
    """The tensors' widest type, on the first device other than the host; None: float64 on the host."""
    others = [one for one in given if isinstance(one, torch.Tensor) and not _is_plain(one)]
    if not others:
        return None
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    dtype = functools.reduce(torch.promote_types, [one.dtype for one in tensors])
    differentiable.check_real(dtype.is_complex)
    return (dtype if dtype.is_floating_point else torch.float64), next(
        (one.device for one in others if not one.is_cpu), _HOST
    )


def _is_transformed() -> bool:
    """Is it within torch.func or forward-mode derivatives?"""
    return torch._C._functorch.peek_interpreter_stack() is not None or forward_ad._current_level >= 0


class _Asked(NamedTuple):
    """What a call asks: places of its tensors among `at` and the row arguments, and which derivatives it
    wants."""

    session: "Session"
    statistic: Statistic
    kind: tuple[torch.dtype, torch.device] | None
    places: list[int]
    wanted: list[bool]

    def answer(self, tensors: Sequence[torch.Tensor]) -> tuple[differentiable.Answer, torch.Tensor]:
        """The engine's answer and its values as a tensor of the batch."""
        arrays, wanted = self.arrays(tensors), [False] * _WIDTH
        for i, wish in zip(self.places, self.wanted):
            wanted[i] = wish
        answer = self.session.call(self.statistic, arrays[0], arrays[1:], wanted)
        batch, k = answer.batch, answer.values.shape[1]
        self.session._last.codes = answer.codes.reshape(batch)
        values = torch.from_numpy(answer.values.reshape(batch if k == 1 else (*batch, k)))
        return answer, values if self.kind is None else values.to(self.kind[0]).to(self.kind[1])

    def arrays(self, tensors: Sequence[torch.Tensor]) -> list[Any]:
        found: list[Any] = [None] * _WIDTH
        for i, tensor in zip(self.places, tensors):
            found[i] = _array(tensor)
        return found

    def chosen(self, tensors: Sequence[Any]) -> list[Any]:
        return [one for one, wish in zip(tensors, self.wanted) if wish]

    def spread(self, found: Sequence[Any]) -> list[Any]:
        """One for each tensor; None where it is not wanted."""
        rest = iter(found)
        return [next(rest) if wish else None for wish in self.wanted]

    def check_second(self) -> None:
        if not self.statistic.has_second:
            raise NotImplementedError(self.statistic.second_refused)


def _in_front(in_dims: Sequence[Any], tensors: Sequence[Any], rank: int | None = None) -> list[Any]:
    """Tensors under vmap: its dimension stands before all others, also those that broadcasting to `rank` adds
    (None: the largest)."""
    moved = [t if d is None else t.movedim(d, 0) for t, d in zip(tensors, in_dims)]
    ranks = [t.ndim - (d is not None) for t, d in zip(moved, in_dims)]
    most = max(ranks) if rank is None else rank
    return [
        t if d is None else t.reshape(t.shape[0], *[1] * (most - rank), *t.shape[1:])
        for t, d, rank in zip(moved, in_dims, ranks)
    ]


def _widened(size: int, in_dims: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Tensors under vmap, each with its dimension in front."""
    return [t.expand(size, *t.shape) if d is None else t.movedim(d, 0) for t, d in zip(tensors, in_dims)]


def _summed(found: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return _back(found.sum_to_size(like.shape), like)


def _turned_back(
    asked: _Asked, weights: torch.Tensor, slopes: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """Gradients by the tensors, themselves differentiable."""
    found: list[torch.Tensor | None] = []
    slopes = _Slopes.apply(asked, len(slopes), *slopes, *tensors)
    for slope, tensor in zip(asked.spread(slopes), tensors):
        if slope is not None:
            weight = _host(weights).reshape(slope.shape[:-1])[..., None]
            slope = torch.where(weight == 0.0, 0.0, weight * slope).sum(-2)
            slope = _summed(slope, tensor)
        found.append(slope)
    return found


class _PlainCall(torch.autograd.Function):
    """The values, outside torch.func and forward-mode derivatives: _Call for them costs three times as much.
    The derivatives stay arrays."""

    @staticmethod
    def forward(ctx: Any, asked: _Asked, *tensors: torch.Tensor) -> Any:
        answer, values = asked.answer(tensors)
        ctx.asked, ctx.answer = asked, answer
        ctx.save_for_backward(*tensors)
        return values

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        asked, answer, tensors = ctx.asked, ctx.answer, ctx.saved_tensors
        slopes = answer.chosen(asked.chosen(asked.places))
        if torch.is_grad_enabled():
            return (None, *_turned_back(asked, weights, [torch.from_numpy(one) for one in slopes], tensors))
        weight = _array(weights).reshape(slopes[0].shape[:-1])
        return (
            None,
            *[
                None
                if slope is None
                else _back(torch.from_numpy(pulled_back(slope, weight, tensor.shape)), tensor)
                for slope, tensor in zip(asked.spread(slopes), tensors)
            ],
        )


class _Call(torch.autograd.Function):
    """(values, codes, wanted derivatives (batch, k, numbers)); differentiable: the values."""

    @staticmethod
    def forward(asked: _Asked, *tensors: torch.Tensor) -> Any:
        answer, values = asked.answer(tensors)
        return (
            values,
            torch.from_numpy(answer.codes.reshape(answer.batch).copy()),
            *[torch.from_numpy(one) for one in answer.chosen(asked.chosen(asked.places))],
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.asked, *tensors = inputs
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.n = len(output) - 2
        ctx.save_for_backward(*output[2:], *tensors)
        ctx.save_for_forward(*output[2:], *tensors)
        ctx.shape = output[0].shape

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor | None, *others: Any) -> Any:
        tensors = ctx.saved_tensors[ctx.n :]
        if weights is None:
            return (None,) * (1 + len(tensors))
        return (None, *_turned_back(ctx.asked, weights, ctx.saved_tensors[: ctx.n], tensors))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: torch.Tensor | None) -> Any:
        asked, tensors = ctx.asked, ctx.saved_tensors[ctx.n :]
        slopes = _Slopes.apply(asked, ctx.n, *ctx.saved_tensors[: ctx.n], *tensors)
        total: Any = 0.0
        for slope, tangent in zip(asked.spread(slopes), tangents):
            if slope is not None and tangent is not None:
                total = total + (slope * _host(tangent)[..., None, :]).sum(-1)
        total = total.reshape(ctx.shape)
        if asked.kind is not None:
            total = total.to(asked.kind[0]).to(asked.kind[1])
        return (total, None, *[None] * ctx.n)

    @staticmethod
    def vmap(info: Any, in_dims: Any, asked: _Asked, *tensors: torch.Tensor) -> Any:
        found = _Call.apply(asked, *_in_front(in_dims[1:], tensors))
        return found, (0,) * len(found)


class _Slopes(torch.autograd.Function):
    """(asked, n, n derivatives that are known, tensors): the derivatives, differentiable by the tensors."""

    @staticmethod
    def forward(asked: _Asked, n: int, *given: torch.Tensor) -> Any:
        return tuple(one.clone() for one in given[:n])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.asked, ctx.n, *given = inputs
        ctx.batch = output[0].shape[:-2]
        ctx.save_for_backward(*given[ctx.n :])
        ctx.save_for_forward(*given[ctx.n :])

    @staticmethod
    def _turned(ctx: Any, directions: Sequence[Any]) -> list[Any]:
        """For each tensor: second derivatives times directions, (batch, 1, numbers) or None."""
        ctx.asked.check_second()
        return ctx.asked.spread(_Turn.apply(ctx.asked, ctx.batch, *ctx.saved_tensors, *directions))

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        turned = _Slopes._turned(ctx, [weight.squeeze(-2) for weight in weights])
        found = [
            None if one is None else _summed(one.squeeze(-2), tensor)
            for one, tensor in zip(turned, ctx.saved_tensors)
        ]
        return (None, None, *[None] * ctx.n, *found)

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: torch.Tensor | None) -> Any:
        directions = [
            (torch.zeros_like(tensor) if tangent is None else tangent)
            for tensor, tangent in zip(
                ctx.asked.chosen(ctx.saved_tensors), ctx.asked.chosen(tangents[ctx.n :])
            )
        ]
        wide = [_host(one).expand(*ctx.batch, one.shape[-1]) for one in directions]
        return tuple(one for one in _Slopes._turned(ctx, wide) if one is not None)

    @staticmethod
    def vmap(info: Any, in_dims: Any, asked: _Asked, n: int, *given: torch.Tensor) -> Any:
        dims = in_dims[2:]
        slopes = _widened(info.batch_size, dims[:n], given[:n])
        tensors = _in_front(dims[n:], given[n:], slopes[0].ndim - 2)
        found = _Slopes.apply(asked, n, *slopes, *tensors)
        return found, (0,) * len(found)


class _Turn(torch.autograd.Function):
    """(asked, batch, tensors, directions (batch, numbers) of the wanted ones): second derivatives times the
    directions, a symmetric map of them."""

    @staticmethod
    def forward(asked: _Asked, batch: Any, *given: torch.Tensor) -> Any:
        n = len(asked.places)
        arrays = asked.arrays(given[:n])
        directions: list[Any] = [None] * _WIDTH
        for i, one in zip(asked.places, asked.spread(given[n:])):
            directions[i] = None if one is None else _array(one)
        answer = asked.session.call_along(asked.statistic, arrays[0], arrays[1:], directions)
        found = asked.chosen([answer.slopes[i] for i in asked.places])
        return tuple(torch.from_numpy(one.reshape(*batch, 1, one.shape[-1])) for one in found)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.asked, ctx.batch, *given = inputs
        ctx.save_for_backward(*given[: len(ctx.asked.places)])
        ctx.save_for_forward(*given[: len(ctx.asked.places)])

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        n = len(ctx.asked.places)
        if any(ctx.needs_input_grad[2 : 2 + n]):
            raise NotImplementedError(ctx.asked.statistic.second_refused)
        turned = _Turn.apply(ctx.asked, ctx.batch, *ctx.saved_tensors, *[one.squeeze(-2) for one in weights])
        return (None, None, *[None] * n, *[one.squeeze(-2) for one in turned])

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: torch.Tensor | None) -> Any:
        n = len(ctx.asked.places)
        if any(one is not None for one in tangents[:n]):
            raise NotImplementedError(ctx.asked.statistic.second_refused)
        moves = [one if one is not None else 0.0 for one in tangents[n:]]
        return _Turn.apply(ctx.asked, ctx.batch, *ctx.saved_tensors, *moves)

    @staticmethod
    def vmap(info: Any, in_dims: Any, asked: _Asked, batch: Any, *given: torch.Tensor) -> Any:
        n, dims = len(asked.places), in_dims[2:]
        directions = _widened(info.batch_size, dims[n:], given[n:])
        tensors = _in_front(dims[:n], given[:n], len(batch) + 1)
        found = _Turn.apply(asked, (info.batch_size, *batch), *tensors, *directions)
        return found, (0,) * len(found)


class Session(differentiable.Session):
    __doc__ = (
        (differentiable.Session.__doc__ or "")
        + """

    Tensors on devices other than the CPU are copied to the host, and the answers are copied back. Numbers
    that are not tensors count as float64."""
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._last = threading.local()

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    @property
    def status(self) -> Any:
        """The status of this thread's last call: "converged", or the worst fit's; an array for a batch. None
        before the first call."""
        codes = getattr(self._last, "codes", None)
        if codes is None:
            return None
        return STATUSES[int(codes)] if codes.ndim == 0 else np.array(STATUSES)[codes]

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        given = [part for part in (at, *rows) if part is not None]
        places = [i for i, part in enumerate((at, *rows)) if part is not None]
        tensors = [_tensor(part) for part in given]
        every, slopes = _is_transformed(), torch.is_grad_enabled()
        wanted = [every or (slopes and one.requires_grad) for one in tensors]
        asked = _Asked(self, statistic, _kind(given), places, wanted)
        if every:
            values, codes, *_ = _Call.apply(asked, *tensors)
        else:
            values, codes = _PlainCall.apply(asked, *tensors), None
        if not with_codes:
            return values
        if codes is None:
            codes = torch.from_numpy(self._last.codes.copy())
        return values, codes.to(values.device)

    def _join(self, pieces: list[Any]) -> torch.Tensor:
        tensors = [_tensor(piece) for piece in pieces]
        batch = torch.broadcast_shapes(*[tensor.shape[:-1] for tensor in tensors])
        return torch.cat([tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors], dim=-1)


def _tensor(given: Any) -> torch.Tensor:
    return given if isinstance(given, torch.Tensor) else torch.from_numpy(np.array(given, dtype=np.float64))
