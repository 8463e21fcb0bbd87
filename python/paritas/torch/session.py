"""Sessions over torch tensors."""

from __future__ import annotations

import functools
import threading
from typing import Any, Sequence

import numpy as np
import torch

from .. import differentiable
from ..differentiable import ROW_ARGUMENTS, STATUSES, Statistic

_HOST = torch.device("cpu")
_WIDTH = 1 + len(ROW_ARGUMENTS)  # `at` and the row arguments
_FIRST = 4  # index of _Call's first tensor


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.dtype is torch.float64 and tensor.is_cpu


def _array(tensor: torch.Tensor) -> Any:
    """On the host, since not every device has float64; shares memory if it can."""
    return (tensor if _is_plain(tensor) else tensor.cpu().to(torch.float64)).detach().numpy()


def _kind(given: Sequence[Any]) -> tuple[torch.dtype, torch.device] | None:
    """The tensors' widest type, on the first device other than the host; None: float64 on the host."""
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    others = [one for one in tensors if not _is_plain(one)]
    if not others:
        return None
    dtype = functools.reduce(torch.promote_types, [one.dtype for one in tensors])
    return (dtype if dtype.is_floating_point else torch.float64), next(
        (one.device for one in others if not one.is_cpu), _HOST
    )


class _Call(torch.autograd.Function):
    """places: of the tensors among `at` and the row arguments."""

    @staticmethod
    def forward(
        ctx: Any,
        session: "Session",
        statistic: Statistic,
        kind: tuple[torch.dtype, torch.device] | None,
        places: list[int],
        *tensors: torch.Tensor,
    ) -> Any:
        arrays: list[Any] = [None] * _WIDTH
        wanted = [False] * _WIDTH
        for i, tensor, wish in zip(places, tensors, ctx.needs_input_grad[_FIRST:]):
            arrays[i], wanted[i] = _array(tensor), wish
        answer = session.call(statistic, arrays[0], arrays[1:], wanted)
        ctx.kept = answer, places, tensors
        session._last.codes = answer.codes.reshape(answer.batch)
        values = torch.from_numpy(
            answer.values.reshape(answer.batch if answer.values.shape[1] == 1 else (*answer.batch, -1))
        )
        return values if kind is None else values.to(kind[0]).to(kind[1])

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        answer, places, tensors = ctx.kept
        numbers = weights.item() if answer.values.size == 1 else _array(weights).reshape(answer.values.shape)
        slopes: list[torch.Tensor | None] = [None] * _FIRST
        for i, tensor in zip(places, tensors):
            slope = None
            if answer.slopes[i] is not None:
                slope = torch.from_numpy(answer.pulled_back(numbers, i, tensor.shape))
                slope = slope if _is_plain(tensor) else slope.to(tensor.dtype).to(tensor.device)
                slope = _Refusal.apply(slope, tensor) if torch.is_grad_enabled() else slope
            slopes.append(slope)
        return tuple(slopes)


class _Refusal(torch.autograd.Function):
    """Refuses second derivatives, also by arguments, which once_differentiable misses. It follows the
    argument: an unconnected gradient would be a constant."""

    @staticmethod
    def forward(ctx: Any, slope: torch.Tensor, argument: torch.Tensor) -> torch.Tensor:
        return slope.clone()

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        raise NotImplementedError("second derivatives of a statistic: sessions have first derivatives only")


class Session(differentiable.Session):
    __doc__ = (
        (differentiable.Session.__doc__ or "")
        + """

    Tensors on devices other than the CPU are copied to the host, and answers back. Numbers that are no
    tensors count as float64."""
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._last = threading.local()

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    @property
    def status(self) -> Any:
        """Of this thread's last call: "converged", or the worst fit's status; an array for a batch; None
        before."""
        codes = getattr(self._last, "codes", None)
        if codes is None:
            return None
        return STATUSES[int(codes)] if codes.ndim == 0 else np.array(STATUSES)[codes]

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        places = [i for i, part in enumerate((at, *rows)) if part is not None]
        given = [rows[i - 1] if i else at for i in places]
        values = _Call.apply(self, statistic, _kind(given), places, *[_tensor(part) for part in given])
        return (values, torch.from_numpy(self._last.codes.copy()).to(values.device)) if with_codes else values

    def _join(self, pieces: list[Any]) -> torch.Tensor:
        tensors = [_tensor(piece) for piece in pieces]
        batch = torch.broadcast_shapes(*[tensor.shape[:-1] for tensor in tensors])
        return torch.cat([tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors], dim=-1)


def _tensor(given: Any) -> torch.Tensor:
    return given if isinstance(given, torch.Tensor) else torch.from_numpy(np.array(given, dtype=np.float64))
