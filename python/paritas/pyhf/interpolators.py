"""Interpolation between down (alpha = -1), nominal (0) and up (1).

Histogram sets [systematic][histogram][down, nominal, up][bin] and alphas [systematic][alpha] give
[systematic][histogram][alpha][bin]: terms (codes 0, 2, 4p) or factors (1, 4). CERN-OPEN-2012-016, section
4.1; codes 4 and 4p: RooStats."""

from functools import partial
from typing import Any, Callable

import numpy as np

from . import events, exceptions
from .tensor.manager import as_tensor

__all__ = ["code0", "code1", "code2", "code4", "code4p"]
__dir__ = __all__.copy


class _Interpolator:
    """`alphasets_shape`: of the last alphas. `subscribe`: a change of the backend prepares the histograms
    again."""

    _at: Callable[[Any], Any]

    def __init__(self, histogramssets: Any, subscribe: bool = True) -> None:
        self._histogramssets = np.asarray(histogramssets, dtype=np.float64)
        self.alphasets_shape: Any = (len(self._histogramssets), 1)
        self._precompute()
        if subscribe:
            events.subscribe("tensorlib_changed")(self._precompute)

    def _precompute(self) -> None:
        parts = self._histogramssets
        self.down, self.nominal, self.up = (parts[:, :, k, np.newaxis, :] for k in range(3))

    def _precompute_alphasets(self, alphasets_shape: Any) -> None:
        self.alphasets_shape = tuple(alphasets_shape)

    def __call__(self, alphasets: Any) -> Any:
        alphas = np.asarray(alphasets, dtype=np.float64)
        self._precompute_alphasets(alphas.shape)
        return as_tensor(self._at(alphas[:, np.newaxis, :, np.newaxis]))


class code0(_Interpolator):
    """Piecewise linear."""

    def _at(self, alpha: Any) -> Any:
        return alpha * np.where(alpha > 0, self.up - self.nominal, self.nominal - self.down)


class code1(_Interpolator):
    """Piecewise exponential."""

    def _at(self, alpha: Any) -> Any:
        return np.power(np.where(alpha > 0, self.up, self.down) / self.nominal, np.abs(alpha))


class code2(_Interpolator):
    """Quadratic inside, linear outside, with pyhf's step in between."""

    def _at(self, alpha: Any) -> Any:
        a = 0.5 * (self.up + self.down) - self.nominal
        b = 0.5 * (self.up - self.down)
        beyond = np.where(alpha > 1, (b + 2 * a) * (alpha - 1), (b - 2 * a) * alpha)
        return np.where(np.abs(alpha) <= 1, (a * alpha + b) * alpha, beyond)


class code4(_Interpolator):
    """Exponential beyond alpha0; within, a polynomial of degree six with equal value, slope and curvature."""

    def __init__(self, histogramssets: Any, subscribe: bool = True, alpha0: float = 1) -> None:
        super().__init__(histogramssets, subscribe)
        assert alpha0 > 0
        self.alpha0 = alpha0
        powers = np.arange(1, 7)
        rows, right = [], []
        for variation, sign in ((self.up, 1.0), (self.down, -1.0)):
            at, ratio = sign * alpha0, variation / self.nominal
            value, slope = np.power(ratio, alpha0), sign * np.log(ratio)
            right += [value - 1.0, slope * value, slope * slope * value]
            curvatures = powers * (powers - 1) * float(at) ** np.maximum(powers - 2, 0)
            rows += [at**powers, powers * float(at) ** (powers - 1), curvatures]
        self.coefficients = np.tensordot(np.linalg.inv(np.asarray(rows)), np.stack(right), axes=1)

    def _at(self, alpha: Any) -> Any:
        within = np.zeros(1)
        for coefficient in self.coefficients[::-1]:
            within = (within + coefficient) * alpha
        far = np.abs(alpha) >= self.alpha0
        ratio = np.where(alpha > 0, self.up, self.down) / self.nominal
        return np.where(far, np.power(ratio, np.where(far, np.abs(alpha), 1.0)), 1.0 + within)


class code4p(_Interpolator):
    """Linear beyond the variations; a smooth polynomial of degree six within."""

    def _at(self, alpha: Any) -> Any:
        up, down = self.up - self.nominal, self.nominal - self.down
        square = alpha * alpha
        within = alpha * (0.5 * (up + down)) + square * (15.0 + square * (3.0 * square - 10.0)) * (
            0.0625 * (up - down)
        )
        return np.where(alpha > 1, alpha * up, np.where(alpha < -1, alpha * down, within))


class _OneByOne(_Interpolator):
    def __init__(
        self, interpolator: Any, histogramssets: Any, subscribe: bool = True, **options: Any
    ) -> None:
        super().__init__(histogramssets, subscribe)

        def single(down: float, nominal: float, up: float, alpha: float) -> Any:
            return interpolator([[[[down], [nominal], [up]]]], **options)([[alpha]]).item()

        self._single = np.vectorize(single)

    def _at(self, alpha: Any) -> Any:
        return self._single(self.down, self.nominal, self.up, alpha)


_CODES: dict[Any, Any] = {0: code0, 1: code1, 2: code2, 4: code4, "4p": code4p}


def get(interpcode: Any, do_tensorized_calc: bool = True) -> Any:
    """The interpolation of a code: 0, 1, 2, 4 or "4p"."""
    if interpcode not in _CODES:
        raise exceptions.InvalidInterpCode(f"{interpcode} is none of {list(_CODES)}")
    found = _CODES[interpcode]
    return found if do_tensorized_calc else partial(_OneByOne, found)
