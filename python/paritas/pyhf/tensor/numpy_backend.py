"""NumPy, and the standard library's special functions for a light import."""

import logging
import math
from statistics import NormalDist
from typing import Any, Callable

import numpy as np

log = logging.getLogger(__name__)

_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_ROOT2 = math.sqrt(2.0)


def _erfinv(x: float) -> float:
    """The normal quantile; two Newton steps restore digits around 0."""
    if not -1.0 < x < 1.0:
        return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan
    if abs(x) > 0.9:
        return math.copysign(-NormalDist().inv_cdf(0.5 * (1.0 - abs(x))) / _ROOT2, x)
    y = NormalDist().inv_cdf(0.5 * (1.0 + x)) / _ROOT2
    for _ in range(2):
        y -= (math.erf(y) - x) * (0.5 * math.sqrt(math.pi)) * math.exp(y * y)
    return y


def _lgamma(x: float) -> float:
    return math.inf if x <= 0.0 and x == math.floor(x) else math.lgamma(x)


def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / _ROOT2)


def _elementwise(function: Callable[[float], float]) -> Any:
    loop = np.frompyfunc(function, 1, 1)

    def apply(x: Any) -> Any:
        return np.asarray(loop(np.asarray(x, dtype=np.float64)), dtype=np.float64)[()]

    return apply


erf = _elementwise(math.erf)
erfinv = _elementwise(_erfinv)
gammaln = _elementwise(_lgamma)
normal_cdf = _elementwise(_normal_cdf)


def xlogy(x: Any, y: Any) -> Any:
    """0 where x = 0, also at y = 0."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((x == 0.0) & ~np.isnan(y), 0.0, x * np.log(y))[()]


class _BasicPoisson:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def sample(self, sample_shape: Any) -> Any:
        return np.random.poisson(self.rate, size=tuple(sample_shape) + self.rate.shape)

    def log_prob(self, value: Any) -> Any:
        return numpy_backend().poisson_logpdf(value, self.rate)


class _BasicNormal:
    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc = loc
        self.scale = scale

    def sample(self, sample_shape: Any) -> Any:
        return np.random.standard_normal(size=tuple(sample_shape) + self.loc.shape) * self.scale + self.loc

    def log_prob(self, value: Any) -> Any:
        return numpy_backend().normal_logpdf(value, self.loc, self.scale)


class numpy_backend:
    """ "32b" rounds results, computed in 64 bits."""

    __slots__ = ("default_do_grad", "dtypemap", "name", "precision")
    array_type = np.ndarray
    array_subtype = np.number

    def __init__(self, **kwargs: Any) -> None:
        self.name = "numpy"
        self.precision = kwargs.get("precision", "64b")
        float_type, int_type = (np.float64, np.int64) if self.precision == "64b" else (np.float32, np.int32)
        self.dtypemap: dict[str, Any] = {"float": float_type, "int": int_type, "bool": np.bool_}
        self.default_do_grad = False

    def _setup(self) -> None:
        """Called by `set_backend`."""

    def _dtype(self, dtype: str) -> Any:
        try:
            return self.dtypemap[dtype]
        except KeyError:
            log.error("Invalid dtype: dtype must be float, int, or bool.", exc_info=True)
            raise

    def astensor(self, tensor_in: Any, dtype: str = "float") -> Any:
        return np.asarray(tensor_in, dtype=self._dtype(dtype))

    def ones(self, shape: Any, dtype: str = "float") -> Any:
        return np.ones(shape, dtype=self._dtype(dtype))

    def zeros(self, shape: Any, dtype: str = "float") -> Any:
        return np.zeros(shape, dtype=self._dtype(dtype))

    def tolist(self, tensor_in: Any) -> Any:
        return tensor_in if isinstance(tensor_in, list) else tensor_in.tolist()

    def to_numpy(self, tensor_in: Any) -> Any:
        return tensor_in

    def shape(self, tensor: Any) -> Any:
        return tensor.shape

    def clip(self, tensor_in: Any, min_value: Any, max_value: Any) -> Any:
        return np.clip(tensor_in, min_value, max_value)

    def erf(self, tensor_in: Any) -> Any:
        return erf(tensor_in)

    def erfinv(self, tensor_in: Any) -> Any:
        return erfinv(tensor_in)

    def tile(self, tensor_in: Any, repeats: Any) -> Any:
        return np.tile(tensor_in, repeats)

    def conditional(self, predicate: Any, true_callable: Any, false_callable: Any) -> Any:
        return true_callable() if predicate else false_callable()

    def outer(self, tensor_in_1: Any, tensor_in_2: Any) -> Any:
        return np.outer(tensor_in_1, tensor_in_2)

    def gather(self, tensor: Any, indices: Any) -> Any:
        return tensor[indices]

    def boolean_mask(self, tensor: Any, mask: Any) -> Any:
        return tensor[mask]

    def isfinite(self, tensor: Any) -> Any:
        return np.isfinite(tensor)

    def sum(self, tensor_in: Any, axis: Any = None) -> Any:
        return np.sum(tensor_in, axis=axis)

    def product(self, tensor_in: Any, axis: Any = None) -> Any:
        return np.prod(tensor_in, axis=axis)

    def abs(self, tensor: Any) -> Any:
        return np.abs(tensor)

    def power(self, tensor_in_1: Any, tensor_in_2: Any) -> Any:
        return np.power(tensor_in_1, tensor_in_2)

    def sqrt(self, tensor_in: Any) -> Any:
        return np.sqrt(tensor_in)

    def divide(self, tensor_in_1: Any, tensor_in_2: Any) -> Any:
        return np.divide(tensor_in_1, tensor_in_2)

    def log(self, tensor_in: Any) -> Any:
        return np.log(tensor_in)

    def exp(self, tensor_in: Any) -> Any:
        return np.exp(tensor_in)

    def percentile(self, tensor_in: Any, q: Any, axis: Any = None, interpolation: Any = "linear") -> Any:
        if interpolation == "linear":  # old NumPy lacks `method`
            return np.percentile(tensor_in, q, axis=axis)
        return np.percentile(tensor_in, q, axis=axis, method=interpolation)

    def stack(self, sequence: Any, axis: int = 0) -> Any:
        return np.stack(sequence, axis=axis)

    def where(self, mask: Any, tensor_in_1: Any, tensor_in_2: Any) -> Any:
        return np.where(mask, tensor_in_1, tensor_in_2)

    def concatenate(self, sequence: Any, axis: Any = 0) -> Any:
        return np.concatenate(sequence, axis=axis)

    def simple_broadcast(self, *args: Any) -> Any:
        return np.broadcast_arrays(*args)

    def reshape(self, tensor: Any, newshape: Any) -> Any:
        return np.reshape(tensor, newshape)

    def ravel(self, tensor: Any) -> Any:
        return np.ravel(tensor)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        return np.einsum(subscripts, *operands)

    def transpose(self, tensor_in: Any) -> Any:
        return tensor_in.transpose()

    def poisson_logpdf(self, n: Any, lam: Any) -> Any:
        return xlogy(n, lam) - lam - gammaln(np.asarray(n) + 1.0)

    def poisson(self, n: Any, lam: Any) -> Any:
        return np.exp(self.poisson_logpdf(np.asarray(n), np.asarray(lam)))

    def normal_logpdf(self, x: Any, mu: Any, sigma: Any) -> Any:
        pull = np.divide(np.subtract(x, mu), sigma)
        return -0.5 * pull * pull - np.log(sigma) - _LOG_ROOT_2PI

    def normal(self, x: Any, mu: Any, sigma: Any) -> Any:
        return np.exp(self.normal_logpdf(x, mu, sigma))

    def normal_cdf(self, x: Any, mu: Any = 0, sigma: Any = 1) -> Any:
        return normal_cdf(np.divide(np.subtract(x, mu), sigma))

    def poisson_dist(self, rate: Any) -> _BasicPoisson:
        return _BasicPoisson(rate)

    def normal_dist(self, mu: Any, sigma: Any) -> _BasicNormal:
        return _BasicNormal(mu, sigma)
