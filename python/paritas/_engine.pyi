"""The C library as Python sees it. Arguments that are arrays are taken as they are where they are contiguous
and float64; the engine None is the CPU in f64."""

from typing import Any, Callable, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

VERSION: str
FIT_STATUSES: list[str]
PARAMETER_STATES: list[str]
MINIMIZERS: list[str]
TEST_STATISTICS: list[str]
TEMPLATE_KINDS: list[str]
QUANTITIES: list[str]
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
    def __init__(
        self,
        device: str = "cpu",
        precision: str = "f64",
        threads: int = 0,
        isa: Optional[str] = None,
        lanes: int = 0,
        workers: int = 0,
        cache: Optional[str] = None,
        polish: bool = True,
        stream: int = 0,
        notes: Optional[Callable[[str], object]] = None,
    ) -> None: ...

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
    def sort(self) -> Document: ...
    def prune(
        self,
        channels: Sequence[str],
        samples: Sequence[str],
        modifiers: Sequence[str],
        modifier_types: Sequence[str],
        measurements: Sequence[str],
    ) -> Document: ...
    def rename(
        self,
        channels: Sequence[str],
        samples: Sequence[str],
        modifiers: Sequence[str],
        measurements: Sequence[str],
    ) -> Document: ...
    def combine(self, other: Document, join: str, merge_channels: bool) -> Document: ...
    def inspect(self) -> Document: ...
    def verify(self, workspace: Document) -> None: ...
    def patch_names(self) -> list[str]: ...
    def apply(self, workspace: Document, name: str) -> Document: ...

class Model:
    parameter_count: int
    main_count: int
    aux_count: int
    template_count: int
    data_count: int
    data: _Floats
    suggested_init: _Floats
    lower_bounds: _Floats
    upper_bounds: _Floats
    suggested_fixed: NDArray[np.bool_]
    constraint_widths: _Floats
    @property
    def parameter_names(self) -> list[str]: ...
    poi_index: Optional[int]
    channel_layout: list[tuple[str, int, list[str]]]
    document: Document
    options: dict[str, Any]
    def __init__(
        self,
        workspace: Document,
        measurement: Optional[str] = None,
        poi: Optional[str] = None,
        normsys_code: Optional[int] = None,
        histosys_code: int | str | None = None,
        clip_sample: Optional[float] = None,
        clip_bin: Optional[float] = None,
        templates: Optional[Sequence[tuple[str, str, str, Optional[str]]]] = None,
    ) -> None: ...

def evaluate(
    model: Model,
    points: ArrayLike,
    data: Optional[ArrayLike] = None,
    gradient: bool = False,
    hessian: bool = False,
    engine: Optional[Engine] = None,
) -> tuple[_Floats, Any, Any]: ...
def twice_nll(
    model: Model, point: ArrayLike, data: Optional[ArrayLike] = None, engine: Optional[Engine] = None
) -> float: ...
def expected_data(model: Model, points: ArrayLike, engine: Optional[Engine] = None) -> _Floats: ...
def expected_jacobian(model: Model, point: ArrayLike, engine: Optional[Engine] = None) -> _Floats: ...
def expected_by_sample(model: Model, point: ArrayLike, engine: Optional[Engine] = None) -> list[_Floats]: ...
def fit(
    model: Model,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    covariance: bool = True,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[int, int, float, float, float, _Floats, Any, Any, Any]: ...
def fit_batch(
    model: Model,
    n: int,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    errors: bool = False,
    covariance: bool = False,
    minimizer: str = "newton",
    max_iterations: int = 0,
    population: int = 0,
    seed: int = 0,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64], _Floats, _Floats, _Floats, _Floats, Any, Any]: ...
def minos(
    model: Model,
    best: ArrayLike,
    best_twice_nll: float,
    error: float,
    parameter: int,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[float, float]: ...
def hypotest(
    model: Model,
    mu: ArrayLike,
    statistic: str = "qtilde",
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> list[tuple[Any, ...]]: ...
def limit(
    model: Model,
    level: float = 0.05,
    statistic: str = "qtilde",
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[float, _Floats, float, bool, int, list[tuple[Any, ...]]]: ...
def significance(
    model: Model,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[float, float, float, float, float, float, int]: ...
def scan(
    model: Model,
    parameters: Sequence[int],
    values: ArrayLike,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[tuple[int, int, float, float, float], _Floats, _Floats, _Floats, NDArray[np.int32]]: ...
def ranking(
    model: Model,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> list[tuple[int, float, float, float, float, float, float, int]]: ...
def goodness_of_fit(
    model: Model,
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[float, float, float, float, int, int]: ...
def fit_toys(
    model: Model,
    n: int,
    seed: int,
    params: Optional[ArrayLike] = None,
    expected: Optional[ArrayLike] = None,
    errors: bool = False,
    keep: bool = True,
    save_parameters: bool = False,
    shard: _Shard = None,
    fix_aux: bool = False,
    newton_only: bool = False,
    store: Optional[str] = None,
    resume: bool = False,
    entries: _Entries = (),
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[int, tuple[Any, ...], list[tuple[float, ...]], Any, Any, Any]: ...
def hypotest_toys(
    model: Model,
    mu: float,
    statistic: str,
    n: int,
    seed: int,
    keep: bool = True,
    shard: _Shard = None,
    fix_aux: bool = False,
    newton_only: bool = False,
    store: Optional[str] = None,
    resume: bool = False,
    entries: _Entries = (),
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[tuple[Any, ...], Optional[NDArray[Any]]]: ...
def significance_toys(
    model: Model,
    n: int,
    seed: int,
    keep: bool = True,
    shard: _Shard = None,
    fix_aux: bool = False,
    newton_only: bool = False,
    store: Optional[str] = None,
    resume: bool = False,
    entries: _Entries = (),
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[tuple[float, ...], tuple[Any, ...], Optional[NDArray[Any]]]: ...
def limit_toys(
    model: Model,
    level: float,
    rtol: float,
    statistic: str,
    n: int,
    seed: int,
    keep: bool = False,
    fix_aux: bool = False,
    newton_only: bool = False,
    store: Optional[str] = None,
    resume: bool = False,
    entries: _Entries = (),
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[Any, ...]: ...
def goodness_of_fit_toys(
    model: Model,
    n: int,
    seed: int,
    shard: _Shard = None,
    fix_aux: bool = False,
    newton_only: bool = False,
    store: Optional[str] = None,
    resume: bool = False,
    entries: _Entries = (),
    data: Optional[ArrayLike] = None,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[tuple[float, float, float, float, int, int], float, float, int, tuple[Any, ...]]: ...
def merge_stores(paths: list[str], output: str) -> None: ...
def hypotest_of_store(path: str) -> tuple[Any, ...]: ...

# ---- day files, loss cones, kappa distributions ----

ER_REASONS: list[str]
ER_UNITS: list[str]
SWEEP_STATUSES: list[str]
LOSSCONE_METHODS: list[str]
LOSSCONE_RESPONSES: list[str]
LOSSCONE_SEARCHES: list[str]
NORMALISATIONS: list[str]
LOSSCONE_DEFAULTS: dict[str, Any]
LOSSCONE_RESULT: np.dtype[np.void]
CONFIDENCE: np.dtype[np.void]
BEAM: np.dtype[np.void]
SPECTRUM_STATUSES: list[str]
POTENTIAL_STATUSES: list[str]
KAPPA_WEIGHTS: list[str]
KAPPA_DENSITIES: list[str]
CURRENTS: list[str]
KAPPA_DEFAULTS: dict[str, Any]
POTENTIAL_DEFAULTS: dict[str, Any]
CELL_DEFAULTS: dict[str, float]
KAPPA_RESULT: np.dtype[np.void]
POTENTIAL: np.dtype[np.void]

_Rows = NDArray[np.void]

class Day:
    @staticmethod
    def read(path: str, field_lower: float, field_upper: float, digest: bool, strict: bool) -> Day: ...
    @staticmethod
    def parse(
        text: bytes, label: str, field_lower: float, field_upper: float, digest: bool, strict: bool
    ) -> Day: ...
    @staticmethod
    def create(n: int) -> Day: ...
    def write(self, path: str, exact: bool) -> None: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    def counts(self) -> dict[str, tuple[int, int, int]]: ...
    def source(self) -> tuple[int, int, str]: ...
    def mask_sunlight(self, theta: ArrayLike, angle: float) -> None: ...
    def mask_polarity(self) -> None: ...

class Geometry:
    @staticmethod
    def read(path: str) -> Geometry: ...
    def has(self, column: str) -> bool: ...
    def apply(self, day: Day) -> int: ...

class Attitude:
    @staticmethod
    def read(path: str) -> Attitude: ...
    def arrays(self) -> dict[str, _Floats]: ...
    def at(self, times: ArrayLike) -> tuple[_Floats, _Floats]: ...

class Spice:
    @staticmethod
    def open(folder: str, library: Optional[str] = None) -> Spice: ...
    def apply(self, attitude: Attitude, day: Day) -> int: ...

def er_find(path: str, year: int = 0, month: int = 0, day: int = 0) -> list[tuple[str, int]]: ...
def er_file_date(path: str) -> int: ...
def er_theta(path: Optional[str] = None) -> _Floats: ...
def er_solid_angles(theta: ArrayLike) -> _Floats: ...
def er_utc(time: float) -> str: ...
def er_despun_axes(right_ascension: float, declination: float, sun: ArrayLike) -> _Floats: ...
def er_footpoint(position: ArrayLike, field: ArrayLike) -> tuple[_Floats, int, float, float]: ...

class SweepArrays:
    energy: _Floats
    potential: _Floats
    cosine: _Floats
    flux: _Floats
    n: int
    def __init__(
        self, energy: ArrayLike, potential: ArrayLike, cosine: ArrayLike, flux: ArrayLike
    ) -> None: ...

def losscone_fit(
    sweeps: SweepArrays, given: dict[str, Any], engine: Optional[Engine] = None, progress: _Progress = None
) -> _Rows: ...
def losscone_confidence(
    sweeps: SweepArrays,
    given: dict[str, Any],
    results: ArrayLike,
    thresholds: Optional[ArrayLike] = None,
    step: float = 0.0,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> _Rows: ...
def losscone_bootstrap(
    sweeps: SweepArrays,
    given: dict[str, Any],
    results: ArrayLike,
    draws: int,
    level: float,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> _Floats: ...
def losscone_profile(
    sweeps: SweepArrays,
    given: dict[str, Any],
    potentials: ArrayLike,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[_Floats, _Floats, _Floats]: ...
def losscone_misfit(
    sweeps: SweepArrays,
    given: dict[str, Any],
    points: ArrayLike,
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[_Floats, NDArray[np.uint32]]: ...
def losscone_model(
    sweeps: SweepArrays, given: dict[str, Any], points: ArrayLike, edge: bool, engine: Optional[Engine] = None
) -> tuple[_Floats, Optional[_Floats]]: ...
def losscone_beam(sweeps: SweepArrays) -> _Rows: ...
def losscone_cosines(
    theta: ArrayLike, field: ArrayLike, polarity: Optional[ArrayLike], azimuth: ArrayLike
) -> _Floats: ...
def losscone_normalise(
    cosine: ArrayLike, flux: ArrayLike, how: str, out: Optional[_Floats] = None
) -> _Floats: ...
def losscone_mask(cosine: ArrayLike, flux: ArrayLike, normalised: _Floats, method: str) -> None: ...

class SpectrumArrays:
    n: int
    def __init__(
        self,
        energy: ArrayLike,
        flux: ArrayLike,
        sensitivity: Optional[ArrayLike] = None,
        counts: Optional[ArrayLike] = None,
    ) -> None: ...

def kappa_flux(plasma: ArrayLike, energy: ArrayLike, engine: Optional[Engine] = None) -> _Floats: ...
def kappa_temperature(kappa: ArrayLike, theta: ArrayLike) -> _Floats: ...
def kappa_theta(kappa: ArrayLike, temperature: ArrayLike) -> _Floats: ...
def kappa_response(energy: ArrayLike, width: float) -> _Floats: ...
def kappa_spectrum(
    theta: ArrayLike,
    solid_angle: Optional[ArrayLike],
    geometric_factor: float,
    accumulation: float,
    energy: ArrayLike,
    flux: ArrayLike,
    cosine: ArrayLike,
) -> tuple[_Floats, _Floats, _Floats, _Floats, _Floats]: ...
def kappa_fit(
    spectra: SpectrumArrays,
    given: dict[str, Any],
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> _Rows: ...
def kappa_misfit(
    spectra: SpectrumArrays, given: dict[str, Any], points: ArrayLike, engine: Optional[Engine] = None
) -> _Floats: ...
def photoelectron_current(potential: ArrayLike) -> _Floats: ...
def photoelectron_potential(current: ArrayLike) -> _Floats: ...
def secondary_yield(energy: ArrayLike) -> _Floats: ...
def electron_current(plasma: ArrayLike, lower: float, upper: float) -> _Floats: ...
def shade_currents(
    plasma: ArrayLike, given: dict[str, Any], potentials: ArrayLike, engine: Optional[Engine] = None
) -> _Floats: ...
def spacecraft_potential(
    plasma: ArrayLike,
    covariance: Optional[ArrayLike],
    sunlit: ArrayLike,
    given: dict[str, Any],
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> _Rows: ...
def spacecraft_potential_of_spectra(
    spectra: SpectrumArrays,
    sunlit: ArrayLike,
    kappa: dict[str, Any],
    given: dict[str, Any],
    engine: Optional[Engine] = None,
    progress: _Progress = None,
) -> tuple[_Rows, _Rows]: ...
def differentiate(
    model: Model,
    quantity: str,
    statistic: str,
    n: int,
    at: Optional[ArrayLike] = None,
    data: Optional[ArrayLike] = None,
    outputs: int = 0,
    level: float = 0.05,
    shared: bool = False,
    aux_follow: bool = False,
    by_data: bool = False,
    by_at: bool = False,
    start: Optional[ArrayLike] = None,
    lower: Optional[ArrayLike] = None,
    upper: Optional[ArrayLike] = None,
    fixed: _Flags = None,
    engine: Optional[Engine] = None,
) -> tuple[_Floats, NDArray[np.int32], Any, Any]: ...
def xla_function(function: Callable[[list[Any], list[Any]], object]) -> int: ...
def xla_handler() -> object: ...
