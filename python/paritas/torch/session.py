"""Sessions whose arguments and answers are torch tensors."""
from __future__ import annotations

import functools
import threading
from typing import Any, Optional, Sequence, Union

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from .. import differentiable
from ..differentiable import EXPECTED_SIGNIFICANCE, NLL, Q0, STATUSES, Z0, Curves, Statistic, curve_bits

_HOST = torch.device("cpu")


def _array(tensor: torch.Tensor) -> Any:
    """As float64 on the host: the tensor's own memory where it is that. Converted on the host, since not every device has float64."""
    if not tensor.is_cpu:
        tensor = tensor.cpu()
    return (tensor if tensor.dtype is torch.float64 else tensor.to(torch.float64)).detach().numpy()


def _dtype(given: Sequence[tuple[int, torch.Tensor]]) -> torch.dtype:
    """Of the answer: the widest of the arguments'."""
    found = functools.reduce(torch.promote_types, [tensor.dtype for _, tensor in given])
    return found if found.is_floating_point else torch.float64


def _device(given: Sequence[tuple[int, torch.Tensor]]) -> torch.device:
    """Of the answer: that of the first argument that is not on the host."""
    return next((tensor.device for _, tensor in given if not tensor.is_cpu), _HOST)


class _Call(torch.autograd.Function):
    """Values of a statistic (..., k), or (...) where it has one output, for `at` and the row arguments."""

    @staticmethod
    def forward(ctx: Any, session: "Session", statistic: Statistic, *tensors: Optional[torch.Tensor]) -> Any:
        ctx.given = given = [(i, tensor) for i, tensor in enumerate(tensors) if tensor is not None]
        arrays: list[Any] = [None] * len(tensors)
        plain = True
        for i, tensor in given:
            if tensor.dtype is not torch.float64 or not tensor.is_cpu:
                plain = False
            arrays[i] = _array(tensor)
        ctx.answer = answer = session.call(statistic, arrays[0], arrays[1:], ctx.needs_input_grad[2:])
        session.last.codes = answer.codes.reshape(answer.batch)
        values = torch.from_numpy(answer.values.reshape(answer.batch if answer.values.shape[1] == 1 else (*answer.batch, -1)))
        return values if plain else values.to(_dtype(given)).to(_device(given))

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        return _refusing(ctx, weights) if torch.is_grad_enabled() else _pulled_back(ctx, weights)


def _pulled_back(ctx: Any, weights: torch.Tensor) -> Any:
    answer = ctx.answer
    numbers = _array(weights).reshape(answer.values.shape)
    slopes: list[Optional[torch.Tensor]] = [None] * len(ctx.needs_input_grad)
    for i, tensor in ctx.given:
        if ctx.needs_input_grad[2 + i]:
            slope = torch.from_numpy(answer.pulled_back(numbers, i, tensor.shape))
            slopes[2 + i] = slope if tensor.dtype is torch.float64 and tensor.is_cpu else slope.to(tensor.dtype).to(tensor.device)
    return tuple(slopes)


_refusing = once_differentiable(_pulled_back)  # where a graph of the gradient is made


class Session(differentiable.Session):
    __doc__ = (differentiable.Session.__doc__ or "") + """

    Methods take tensors by name, each with the numbers of its argument in the last dimension and, before it, batch dimensions that are broadcast against each other:

      signal, background  nominal rates, as the session names them; or a mapping from (channel, sample) to tensors
      variations          (up, down) templates, the same way; either may be None
      data                main data, auxiliary data then following the templates as in a workspace; or main and auxiliary data

    Answers have the shape of the batch. Values and derivatives are computed in float64 whatever the tensors are, and come in their type, on their device. A row
    whose fits do not converge is NaN with NaN derivatives; mask it (torch.where, nansum) and the others train on. return_status=True: (answer, codes), the codes of the
    fits behind each row, an int tensor (names: paritas.differentiable.STATUSES; 0 is "converged"). Second derivatives are refused."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.last = threading.local()

    __init__.__doc__ = differentiable.Session.__init__.__doc__

    @property
    def status(self) -> Any:
        """Of this thread's last call: "converged" or what else became of the worst fit behind it; of a batch an array of its shape; None before the first."""
        codes = getattr(self.last, "codes", None)
        if codes is None:
            return None
        return STATUSES[int(codes)] if codes.ndim == 0 else np.array(STATUSES)[codes]

    def nll(self, parameters: Any = None, *, return_status: bool = False, **rows: Any) -> Any:
        """The negative log-likelihood at points (..., parameters); None: at the suggested start."""
        at = self.model.suggested_init.copy() if parameters is None else parameters
        return self._one(NLL, at, return_status, rows)

    def q0(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The discovery test statistic; 0 with a zero gradient where the best fit is at or below mu = 0."""
        return self._one(Q0, None, return_status, rows)

    def qmu(self, mu: Any = 1.0, *, test_stat: str = "qtilde", return_status: bool = False, **rows: Any) -> Any:
        """The test statistic "qtilde" or "q" for upper limits at mu (...), differentiable by mu as well."""
        return self._one(Statistic("q", test_stat), self._mu(mu), return_status, rows)

    def Z0(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The significance of a discovery, sqrt(q0). Where q0 is 0 the gradient is given as 0."""
        return self._one(Z0, None, return_status, rows)

    def expected_significance(self, *, return_status: bool = False, **rows: Any) -> Any:
        """The significance expected for mu = 1: sqrt(q0) of the Asimov data at the conditional fit to the data at mu = 1."""
        return self._one(EXPECTED_SIGNIFICANCE, None, return_status, rows)

    def cls(self, mu: Any = 1.0, *, test_stat: str = "qtilde", curve: Union[None, str, int] = None, return_status: bool = False, **rows: Any) -> Any:
        """CLs at mu (...): Curves(observed, expected). curve: "observed" or -2 .. 2 for that one alone, which costs less."""
        return self._curves(Statistic("cls", test_stat, curve_bits(curve)), self._mu(mu), curve, return_status, rows)

    def upper_limit(self, *, level: float = 0.05, test_stat: str = "qtilde", curve: Union[None, str, int] = None, return_status: bool = False, **rows: Any) -> Any:
        """Upper limits on mu, where CLs = level: Curves(observed, expected). curve: "observed" or -2 .. 2 for that one alone. NaN where there is none."""
        return self._curves(Statistic("limit", test_stat, curve_bits(curve), level), None, curve, return_status, rows)

    # ---- the call ----

    def _one(self, statistic: Statistic, at: Any, return_status: bool, rows: dict[str, Any]) -> Any:
        values = _Call.apply(self, statistic, _tensor(at), *[_tensor(part) for part in self.row_arguments(rows, _join)])
        return (values, torch.from_numpy(self.last.codes).to(values.device)) if return_status else values

    def _curves(self, statistic: Statistic, at: Any, curve: Union[None, str, int], return_status: bool, rows: dict[str, Any]) -> Any:
        values = self._one(statistic, at, False, rows)
        found = Curves(values[..., 0], values[..., 1:]) if curve is None else values
        return (found, torch.from_numpy(self.last.codes).to(values.device)) if return_status else found

    @staticmethod
    def _mu(mu: Any) -> Any:
        return mu.unsqueeze(-1) if isinstance(mu, torch.Tensor) else np.asarray(mu, dtype=np.float64)[..., None]


def _tensor(given: Any) -> Optional[torch.Tensor]:
    return given if given is None or isinstance(given, torch.Tensor) else torch.from_numpy(np.asarray(given, dtype=np.float64))


def _join(pieces: list[Any]) -> torch.Tensor:
    tensors = [torch.as_tensor(piece) for piece in pieces]
    batch = torch.broadcast_shapes(*[tensor.shape[:-1] for tensor in tensors])
    return torch.cat([tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors], dim=-1)
