"""Sessions whose arguments and answers are torch tensors."""
from __future__ import annotations

import functools
import threading
from typing import Any, Optional, Sequence

import numpy as np
import torch

from .. import differentiable
from ..differentiable import STATUSES, Statistic

_HOST = torch.device("cpu")
_FIRST = 3  # tensor among the arguments of _Call


def _array(tensor: torch.Tensor) -> Any:
    """As float64 on the host: the tensor's own memory where it is that. Converted on the host, since not every device has float64."""
    if not tensor.is_cpu:
        tensor = tensor.cpu()
    return (tensor if tensor.dtype is torch.float64 else tensor.to(torch.float64)).detach().numpy()


def _kind(given: Sequence[Any]) -> Optional[tuple[torch.dtype, torch.device]]:
    """Of the answer: the widest type of the tensors among the arguments, and the device of the first that is not on the host; None: float64 on the host."""
    others = [one for one in given if isinstance(one, torch.Tensor) and (one.dtype is not torch.float64 or not one.is_cpu)]
    if not others:
        return None
    dtype = functools.reduce(torch.promote_types, [one.dtype for one in given if isinstance(one, torch.Tensor)])
    return (dtype if dtype.is_floating_point else torch.float64), next((one.device for one in others if not one.is_cpu), _HOST)


class _Call(torch.autograd.Function):
    """Values of a statistic (..., k), or (...) where it has one output, for `at` and the row arguments."""

    @staticmethod
    def forward(ctx: Any, session: "Session", statistic: Statistic, kind: Optional[tuple[torch.dtype, torch.device]], *tensors: Optional[torch.Tensor]) -> Any:
        ctx.given = [(i, tensor) for i, tensor in enumerate(tensors) if tensor is not None]
        arrays = [None if tensor is None else _array(tensor) for tensor in tensors]
        ctx.answer = answer = session.call(statistic, arrays[0], arrays[1:], ctx.needs_input_grad[_FIRST:])
        session._last.codes = answer.codes.reshape(answer.batch)
        values = torch.from_numpy(answer.values.reshape(answer.batch if answer.values.shape[1] == 1 else (*answer.batch, -1)))
        return values if kind is None else values.to(kind[0]).to(kind[1])

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        answer = ctx.answer
        numbers = _array(weights).reshape(answer.values.shape)
        slopes: list[Optional[torch.Tensor]] = [None] * len(ctx.needs_input_grad)
        for i, tensor in ctx.given:
            if ctx.needs_input_grad[_FIRST + i]:
                slope = torch.from_numpy(answer.pulled_back(numbers, i, tensor.shape))
                slope = slope if tensor.dtype is torch.float64 and tensor.is_cpu else slope.to(tensor.dtype).to(tensor.device)
                slopes[_FIRST + i] = _Refusal.apply(slope, tensor) if torch.is_grad_enabled() else slope
        return tuple(slopes)


class _Refusal(torch.autograd.Function):
    """A gradient in a graph of gradients, of which none is taken. (once_differentiable refuses only where the weights ask for one; the arguments may, too.)
    It stands behind the argument: a gradient that nothing joins to it would be taken for a constant."""

    @staticmethod
    def forward(ctx: Any, slope: torch.Tensor, argument: torch.Tensor) -> torch.Tensor:
        return slope.clone()

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        raise NotImplementedError("second derivatives of a statistic: sessions have first derivatives only")


class Session(differentiable.Session):
    __doc__ = (differentiable.Session.__doc__ or "") + """

    Tensors on other devices than the CPU are copied to the host and answers back. Numbers that are no tensors are taken for float64."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._last = threading.local()

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    @property
    def status(self) -> Any:
        """Of this thread's last call: "converged" or what else became of the worst fit behind it; of a batch an array of its shape; None before the first."""
        codes = getattr(self._last, "codes", None)
        if codes is None:
            return None
        return STATUSES[int(codes)] if codes.ndim == 0 else np.array(STATUSES)[codes]

    def _answer(self, statistic: Statistic, at: Any, rows: list[Any], with_codes: bool) -> Any:
        values = _Call.apply(self, statistic, _kind((at, *rows)), *[part if part is None else _tensor(part) for part in (at, *rows)])
        return (values, torch.from_numpy(self._last.codes).to(values.device)) if with_codes else values

    def _join(self, pieces: list[Any]) -> torch.Tensor:
        tensors = [_tensor(piece) for piece in pieces]
        batch = torch.broadcast_shapes(*[tensor.shape[:-1] for tensor in tensors])
        return torch.cat([tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors], dim=-1)


def _tensor(given: Any) -> torch.Tensor:
    return given if isinstance(given, torch.Tensor) else torch.from_numpy(np.array(given, dtype=np.float64))
