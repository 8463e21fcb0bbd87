"""Interpolation between the variations down (alpha = -1), nominal (0) and up (1).

All take histogram sets [systematic][histogram][down, nominal, up][bin] and are called with alphas
[systematic][alpha]; what comes back is [systematic][histogram][alpha][bin]: what is added to nominal (codes
0, 2, 4p), or what it is multiplied by (codes 1, 4). Definitions: histfactory's, CERN-OPEN-2012-016, section
4.1, and RooStats' for 4 and 4p.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paritas.pyhf import exceptions
from paritas.pyhf.tensor.manager import get_backend

__all__ = ["code0", "code1", "code2", "code4", "code4p"]


def __dir__() -> list[str]:
    return __all__


class _Interpolator:
    """Down, nominal and up of all sets, with an axis for alphas."""

    def __init__(self, histogramssets: Any, subscribe: bool = True) -> None:
        histograms = np.asarray(histogramssets, dtype=np.float64)
        self.down, self.nominal, self.up = (histograms[:, :, k, np.newaxis, :] for k in range(3))

    def __call__(self, alphasets: Any) -> Any:
        tensorlib, _ = get_backend()
        alphas = np.asarray(alphasets, dtype=np.float64)
        return tensorlib.astensor(self._at(alphas[:, np.newaxis, :, np.newaxis]))

    def _at(self, alpha: Any) -> Any:
        raise NotImplementedError


class code0(_Interpolator):
    """Linear on either side."""

    def _at(self, alpha: Any) -> Any:
        return alpha * np.where(alpha > 0, self.up - self.nominal, self.nominal - self.down)


class code1(_Interpolator):
    """Exponential on either side."""

    def _at(self, alpha: Any) -> Any:
        return np.power(np.where(alpha > 0, self.up, self.down) / self.nominal, np.abs(alpha))


class code2(_Interpolator):
    """Quadratic between the variations, linear beyond them; as in pyhf, the linear pieces do not begin where
    the quadratic one ends."""

    def _at(self, alpha: Any) -> Any:
        a = 0.5 * (self.up + self.down) - self.nominal
        b = 0.5 * (self.up - self.down)
        beyond = np.where(alpha > 1, (b + 2 * a) * (alpha - 1), (b - 2 * a) * alpha)
        return np.where(np.abs(alpha) <= 1, (a * alpha + b) * alpha, beyond)


class code4(_Interpolator):
    """Exponential beyond alpha0; within, the polynomial of sixth degree that meets value, slope and curvature
    there."""

    def __init__(self, histogramssets: Any, subscribe: bool = True, alpha0: float = 1) -> None:
        super().__init__(histogramssets, subscribe)
        assert alpha0 > 0
        self.alpha0 = alpha0
        up, down = self.up / self.nominal, self.down / self.nominal
        conditions = []
        for ratio, sign in ((up, 1.0), (down, -1.0)):
            value, slope = np.power(ratio, alpha0), sign * np.log(ratio)
            conditions.append((value - 1.0, slope * value, slope * slope * value))
        (value_up, slope_up, curve_up), (value_down, slope_down, curve_down) = conditions
        powers = np.arange(1, 7)
        rows = []
        for at in (alpha0, -alpha0):
            rows += [
                at**powers,
                powers * float(at) ** (powers - 1),
                powers * (powers - 1) * np.where(powers > 1, float(at) ** np.maximum(powers - 2, 0), 0.0),
            ]
        right = np.stack([value_up, slope_up, curve_up, value_down, slope_down, curve_down])
        self.coefficients = np.tensordot(np.linalg.inv(np.asarray(rows, dtype=np.float64)), right, axes=1)

    def _at(self, alpha: Any) -> Any:
        within = np.zeros(1)
        for coefficient in self.coefficients[::-1]:
            within = (within + coefficient) * alpha
        far = np.abs(alpha) >= self.alpha0
        beyond = np.power(
            np.where(alpha > 0, self.up, self.down) / self.nominal, np.where(far, np.abs(alpha), 1.0)
        )
        return np.where(far, beyond, 1.0 + within)


class code4p(_Interpolator):
    """Linear beyond the variations; within, the polynomial of sixth degree that meets the lines smoothly."""

    def _at(self, alpha: Any) -> Any:
        up, down = self.up - self.nominal, self.nominal - self.down
        square = alpha * alpha
        within = alpha * (0.5 * (up + down)) + square * (15.0 + square * (3.0 * square - 10.0)) * (
            0.0625 * (up - down)
        )
        return np.where(alpha > 1, alpha * up, np.where(alpha < -1, alpha * down, within))


def _one_by_one(interpolator: type[_Interpolator]) -> Any:
    """The same, a number at a time: what checks that the axes are where they should be."""

    class _slow(interpolator):  # type: ignore[misc, valid-type]
        def __init__(self, histogramssets: Any, subscribe: bool = True, **options: Any) -> None:
            self._sets, self._options = histogramssets, options

        def __call__(self, alphasets: Any) -> Any:
            tensorlib, _ = get_backend()
            results = [
                [
                    [
                        [
                            float(
                                interpolator([[[[low], [middle], [high]]]], **self._options)([[alpha]])[
                                    0, 0, 0, 0
                                ]
                            )
                            for low, middle, high in zip(*histogram)
                        ]
                        for alpha in alphas
                    ]
                    for histogram in histograms
                ]
                for histograms, alphas in zip(self._sets, np.asarray(alphasets).tolist())
            ]
            return tensorlib.astensor(results)

    _slow.__name__ = f"_slow_{interpolator.__name__}"
    return _slow


_slow_code0, _slow_code1, _slow_code2, _slow_code4, _slow_code4p = map(
    _one_by_one, (code0, code1, code2, code4, code4p)
)

_CODES: dict[Any, tuple[Any, Any]] = {
    0: (code0, _slow_code0),
    1: (code1, _slow_code1),
    2: (code2, _slow_code2),
    4: (code4, _slow_code4),
    "4p": (code4p, _slow_code4p),
}


def get(interpcode: Any, do_tensorized_calc: bool = True) -> Any:
    """The interpolator of a code (0, 1, 2, 4, "4p"). InvalidInterpCode: there is none."""
    if interpcode not in _CODES:
        raise exceptions.InvalidInterpCode(f"{interpcode} is none of {list(_CODES)}")
    return _CODES[interpcode][0 if do_tensorized_calc else 1]
