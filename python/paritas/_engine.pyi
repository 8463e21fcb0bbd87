"""The C library as Python sees it. Arguments that are arrays are taken as they are where they are contiguous and float64; the engine None is the CPU in f64."""
from typing import Any, Callable, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

VERSION: str
FIT_STATUSES: list[str]
PARAMETER_STATES: list[str]
MINIMIZERS: list[str]
TEST_STATISTICS: list[str]
TOY: np.dtype[np.void]
TOY_FIT: np.dtype[np.void]

_Floats = NDArray[np.float64]
_Flags = Optional[ArrayLike]
_Progress = Optional[Callable[[int, int], object]]
_Entries = Sequence[tuple[str, str]]
_Shard = Optional[tuple[int, int]]

class Error(RuntimeError):
    status: str

class InvalidArgument(Error, ValueError): ...
class NotFound(Error, LookupError): ...
class InvalidInput(Error, ValueError): ...
class Unreadable(Error, OSError): ...
class Unwritable(Error, OSError): ...
class DeviceUnavailable(Error): ...
class NotConverged(Error): ...
class OutOfMemory(Error, MemoryError): ...

class Engine:
    device: str
    precision: str
    polish: str
    kernels: str
    def __init__(self, device: str = "cpu", precision: str = "f64", threads: int = 0, isa: Optional[str] = None, lanes: int = 0, workers: int = 0,
                 cache: Optional[str] = None, polish: bool = True, stream: int = 0, notes: Optional[Callable[[str], object]] = None) -> None: ...

def host_engine() -> Engine: ...
def list_devices(engine: Optional[Engine] = None) -> list[tuple[str, str, str, bool, bool, str, str]]: ...

class Document:
    label: str
    @staticmethod
    def read(path: str | bytes) -> Document: ...
    @staticmethod
    def parse(text: bytes, label: str = "document") -> Document: ...
    def patch(self, patch: Document) -> Document: ...
    def digest(self) -> str: ...
    def text(self, indent: int = 0) -> str: ...
    def verify(self, workspace: Document) -> None: ...
    def patch_names(self) -> list[str]: ...
    def apply(self, workspace: Document, name: str) -> Document: ...

class Model:
    parameter_count: int
    main_count: int
    aux_count: int
    data_count: int
    data: _Floats
    suggested_init: _Floats
    lower_bounds: _Floats
    upper_bounds: _Floats
    suggested_fixed: NDArray[np.bool_]
    constraint_widths: _Floats
    parameter_names: list[str]
    poi_index: Optional[int]
    channel_layout: list[tuple[str, int, list[str]]]
    document: Document
    options: dict[str, Any]
    def __init__(self, workspace: Document, measurement: Optional[str] = None, poi: Optional[str] = None, normsys_code: Optional[int] = None,
                 histosys_code: int | str | None = None, clip_sample: Optional[float] = None, clip_bin: Optional[float] = None) -> None: ...

def evaluate(model: Model, points: ArrayLike, data: Optional[ArrayLike] = None, gradient: bool = False, hessian: bool = False,
             engine: Optional[Engine] = None) -> tuple[_Floats, Any, Any]: ...
def twice_nll(model: Model, point: ArrayLike, data: Optional[ArrayLike] = None, engine: Optional[Engine] = None) -> float: ...
def expected_data(model: Model, points: ArrayLike, engine: Optional[Engine] = None) -> _Floats: ...
def expected_jacobian(model: Model, point: ArrayLike, engine: Optional[Engine] = None) -> _Floats: ...
def expected_by_sample(model: Model, point: ArrayLike, engine: Optional[Engine] = None) -> list[_Floats]: ...

def fit(model: Model, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None,
        fixed: _Flags = None, covariance: bool = True, minimizer: str = "newton", max_iterations: int = 0, population: int = 0, seed: int = 0,
        engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[int, int, float, float, float, _Floats, Any, Any, Any]: ...
def fit_batch(model: Model, n: int, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None,
              upper: Optional[ArrayLike] = None, fixed: _Flags = None, errors: bool = False, covariance: bool = False, minimizer: str = "newton",
              max_iterations: int = 0, population: int = 0, seed: int = 0, engine: Optional[Engine] = None,
              progress: _Progress = None) -> tuple[NDArray[np.int32], NDArray[np.int64], _Floats, _Floats, _Floats, _Floats, Any, Any]: ...
def minos(model: Model, best: ArrayLike, best_twice_nll: float, error: float, parameter: int, data: Optional[ArrayLike] = None,
          start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None,
          engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[float, float]: ...

def hypotest(model: Model, mu: ArrayLike, statistic: str = "qtilde", data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
             lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
             progress: _Progress = None) -> list[tuple[Any, ...]]: ...
def limit(model: Model, level: float = 0.05, statistic: str = "qtilde", data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
          lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
          progress: _Progress = None) -> tuple[float, _Floats, float, bool, int, list[tuple[Any, ...]]]: ...
def significance(model: Model, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None,
                 upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[float, float,
                                                                                                                                                float, float,
                                                                                                                                                float, float,
                                                                                                                                                int]: ...
def scan(model: Model, parameters: Sequence[int], values: ArrayLike, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
         lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
         progress: _Progress = None) -> tuple[tuple[int, int, float, float, float], _Floats, _Floats, _Floats, NDArray[np.int32]]: ...
def ranking(model: Model, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None,
            upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None, progress: _Progress = None) -> list[tuple[int, float,
                                                                                                                                                float, float,
                                                                                                                                                float, float,
                                                                                                                                                float,
                                                                                                                                                int]]: ...
def goodness_of_fit(model: Model, data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None,
                    upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[float, float,
                                                                                                                                                   float, float,
                                                                                                                                                   int,
                                                                                                                                                   int]: ...

def fit_toys(model: Model, n: int, seed: int, params: Optional[ArrayLike] = None, expected: Optional[ArrayLike] = None, errors: bool = False, keep: bool = True,
             save_parameters: bool = False, shard: _Shard = None, fix_aux: bool = False, newton_only: bool = False, store: Optional[str] = None,
             resume: bool = False, entries: _Entries = (), data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
             lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
             progress: _Progress = None) -> tuple[int, tuple[Any, ...], list[tuple[float, ...]], Any, Any, Any]: ...
def hypotest_toys(model: Model, mu: float, statistic: str, n: int, seed: int, keep: bool = True, shard: _Shard = None, fix_aux: bool = False,
                  newton_only: bool = False, store: Optional[str] = None, resume: bool = False, entries: _Entries = (), data: Optional[ArrayLike] = None,
                  start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None,
                  engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[tuple[Any, ...], Optional[NDArray[Any]]]: ...
def significance_toys(model: Model, n: int, seed: int, keep: bool = True, shard: _Shard = None, fix_aux: bool = False, newton_only: bool = False,
                      store: Optional[str] = None, resume: bool = False, entries: _Entries = (), data: Optional[ArrayLike] = None,
                      start: Optional[ArrayLike] = None, lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None,
                      engine: Optional[Engine] = None, progress: _Progress = None) -> tuple[tuple[float, ...], tuple[Any, ...], Optional[NDArray[Any]]]: ...
def limit_toys(model: Model, level: float, rtol: float, statistic: str, n: int, seed: int, keep: bool = False, fix_aux: bool = False, newton_only: bool = False,
               store: Optional[str] = None, resume: bool = False, entries: _Entries = (), data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
               lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
               progress: _Progress = None) -> tuple[Any, ...]: ...
def goodness_of_fit_toys(model: Model, n: int, seed: int, shard: _Shard = None, fix_aux: bool = False, newton_only: bool = False, store: Optional[str] = None,
                         resume: bool = False, entries: _Entries = (), data: Optional[ArrayLike] = None, start: Optional[ArrayLike] = None,
                         lower: Optional[ArrayLike] = None, upper: Optional[ArrayLike] = None, fixed: _Flags = None, engine: Optional[Engine] = None,
                         progress: _Progress = None) -> tuple[tuple[float, float, float, float, int, int], float, float, int, tuple[Any, ...]]: ...
def merge_stores(paths: list[str], output: str) -> None: ...
def hypotest_of_store(path: str) -> tuple[Any, ...]: ...
