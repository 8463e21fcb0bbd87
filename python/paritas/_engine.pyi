"""Types of the C library's Python module. Arguments: see python/engine/*.pxi. Rows of records and answers of
several arrays are Any."""

from typing import Any, Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

VERSION: str
UNPACKED_MIB: int
UNPACKED_TIMES: int
SWEEP_ROWS: int
SWEEP_CELLS: int

_Floats = NDArray[np.float64]
_Answer = Callable[..., Any]
_FloatsAnswer = Callable[..., _Floats]

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
        precision: str | None = None,
        threads: int = 0,
        isa: str | None = None,
        lanes: int = 0,
        workers: int = 0,
        cache: str | None = None,
        polish: bool = True,
        stream: int = 0,
        notes: Callable[[str], object] | None = None,
        again: bool = False,
    ) -> None: ...

class Field:
    name: str
    word: str
    key: str
    unit: str
    doc: str
    kind: str
    is_array: bool
    enumeration: str
    nested: RecordType

class RecordType:
    name: str
    doc: str
    fields: tuple[Field, ...]
    dtype: np.dtype[Any]

class Option:
    name: str
    word: str
    unit: str
    doc: str
    kind: str
    enumeration: str | None
    default: Any
    lower: tuple[float, bool] | None
    upper: tuple[float, bool] | None
    bits: int

def host_engine() -> Engine: ...
def driver_settings() -> dict[str, str]: ...
def cache_folder(environment: Mapping[str, str]) -> str: ...
def unmasked(given: Any) -> Any: ...
def contiguous(given: Any, what: str) -> NDArray[np.float64]: ...
def list_devices(engine: Engine | None = None) -> Any: ...
def enumeration(name: str) -> dict[str, int]: ...
def record(name: str) -> RecordType: ...
def options(name: str) -> dict[str, Option]: ...
def option_values(name: str, given: dict[str, Any]) -> dict[str, Any]: ...

class Document:
    label: str
    read: Callable[..., Document]
    parse: Callable[..., Document]
    patch: Callable[..., Document]
    sort: Callable[..., Document]
    prune: Callable[..., Document]
    mask: Callable[..., Document]
    rename: Callable[..., Document]
    split: Callable[..., Document]
    simplified: Callable[..., Document]
    combine: Callable[..., Document]
    inspect: Callable[..., Document]
    apply: Callable[..., Document]
    card_groups: Callable[..., Document]
    def digest(self) -> str: ...
    def text(self, indent: int = 0) -> str: ...
    def card_names(self) -> Document: ...
    def verify(self, workspace: Document) -> None: ...
    def patch_names(self) -> list[str]: ...
    def patch_order(self) -> tuple[list[str], bool]: ...

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
    poi_index: int | None
    poi_indices: list[int]
    channel_layout: list[tuple[str, int, list[str]]]
    masked_channels: list[bool]
    document: Document
    options: dict[str, Any]
    def __init__(self, workspace: Document, *options: Any, **named: Any) -> None: ...

class UnfoldOptions:
    def __init__(self, parameters: Sequence[str], weights: Any, centres: Any, by: str) -> None: ...
    def set_strengths(
        self, taus: Any, truth: Any, scan: int, tau_min: float, tau_max: float, choose: str
    ) -> None: ...

def unfold(model: Model, options: UnfoldOptions, engine: Engine | None = None) -> Document: ...
def penalise(model: Model, options: UnfoldOptions, tau: float) -> Document: ...
def moments(model: Model, control: list[str], postfit: bool, by: str, draws: int, seed: int) -> Document: ...

class Job:
    data: _Floats | None
    start: _Floats | None
    lower: _Floats | None
    upper: _Floats | None
    fixed: NDArray[np.uint8] | None
    rows: int | None
    kept: NDArray[np.uint8] | None
    starts: int
    def __init__(
        self,
        model: Model,
        *arrays: Any,
        rows: int | None = None,
        starts: int = 0,
        max_iterations: int = 0,
        pois: Sequence[int] | None = None,
        kept: NDArray[np.bool_] | None = None,
    ) -> None: ...

class FitOptions:
    def __init__(
        self, minimizer: str = "newton", max_iterations: int = 0, population: int = 0, seed: int = 0
    ) -> None: ...

class ToyOptions:
    def __init__(self, n: int, seed: int = 0, *options: Any, **named: Any) -> None: ...

class ToyData:
    model: Model
    read: Callable[..., ToyData]
    generate: Callable[..., ToyData]
    def bytes(self, archive: bool, any_model: bool = False) -> bytes: ...
    def rows(self) -> _Floats: ...
    def point(self) -> _Floats | None: ...
    def facts(self) -> dict[str, Any]: ...

class SharedFits:
    def __init__(self, model: Model, job: Job | None, engine: Engine | None = None) -> None: ...

class Quantity:
    def __init__(self, quantity: str, *options: Any) -> None: ...

evaluate: _Answer
twice_nll: Callable[..., float]
expected_data: _FloatsAnswer
expected_jacobian: _FloatsAnswer
expected_by_sample: Callable[..., list[_Floats]]
fit: _Answer
best_fit_bounds: _FloatsAnswer
minos: Callable[..., tuple[list[tuple[float, float]], list[tuple[int, int]], list[tuple[float, float]], Any]]
hypotest: _Answer
limit: _Answer
significance: _Answer
scan: _Answer
scan_range: _Answer
interval: _Answer
contour: _Answer
constraint_centres: _FloatsAnswer
ranking: _Answer
global_impacts: _Answer
breakdown: _Answer
goodness_of_fit: _Answer
compatibility: _Answer
asimov_data: _Answer
predict: _Answer
fit_toys: _Answer
hypotest_toys: _Answer
significance_toys: _Answer
look_elsewhere: _Answer
limit_toys: _Answer
interval_toys: _Answer
goodness_of_fit_toys: _Answer
sample: _Answer
predictive_data: Callable[..., _Floats]
summarise_draws: _Answer
judge_draws: _Answer
compatibility_toys: _Answer
differentiate: _Answer
differentiate_along: _Answer
hypotest_of_store: _Answer

def asymptotic_shift(statistic: str, q: float, q_asimov: float) -> float: ...
def merge_stores(paths: list[str], output: str) -> None: ...
def check_stores_whole(paths: list[str]) -> None: ...
def xla_function(function: Callable[[list[Any], list[Any]], object]) -> int: ...
def xla_handler(minor: int) -> object: ...

class Day:
    digest: str
    read: Callable[..., Day]
    create: Callable[[int], Day]
    write: Callable[[str, bool], None]
    arrays: Callable[[], dict[str, NDArray[Any]]]
    counts: Callable[[], dict[str, tuple[int, int, int]]]
    copy: Callable[[], Day]
    mask_sunlight: Callable[[Any, float], None]
    mask_polarity: Callable[[], None]
    find_background: _FloatsAnswer
    subtract_background: Callable[[Any], None]
    mask_counts: Callable[[Any, float], None]

class Geometry:
    read: Callable[[str], Geometry]
    has: Callable[[str], bool]
    apply: Callable[[Day], int]

class Magnetometer:
    read: Callable[[str], Magnetometer]
    arrays: Callable[[], dict[str, _Floats]]
    skipped: int
    apply: Callable[[Day], tuple[_Floats, int]]

class Attitude:
    read: Callable[[str], Attitude]
    arrays: Callable[[], dict[str, _Floats]]
    at: Callable[[Any], tuple[_Floats, _Floats]]

MOON_RADIUS: float
SAME_MINIMUM: float
CONTOUR_CONFIDENCE: tuple[float, float]
INTERVAL_CONFIDENCE: tuple[float, float]
TOYS: int
er_apply_spice: Callable[[str, str | None, Attitude, Day], int]
er_reasons: Callable[[], Mapping[str, str]]
er_find: Callable[..., list[tuple[str, int]]]
er_find_mags: Callable[[str], list[tuple[str, int]]]
er_file_date: Callable[[str], int]
er_theta: _FloatsAnswer
er_solid_angles: _FloatsAnswer
er_utc: Callable[[float], str]
er_despun_axes: _FloatsAnswer
er_footpoint: Callable[..., tuple[_Floats, int, float, float]]

class SweepArrays:
    energy: _Floats
    potential: _Floats
    cosine: _Floats
    flux: _Floats
    channel: _Floats | None
    counts: _Floats | None
    background: _Floats | None
    potential_error: _Floats | None
    measured: _Floats | None
    scatter: _Floats | None
    n: int
    rows: int
    cells: int
    def __init__(
        self,
        energy: Any,
        potential: Any,
        cosine: Any,
        flux: Any,
        channel: Any = None,
        counts: Any = None,
        background: Any = None,
        potential_error: Any = None,
        measured: Any = None,
        scatter: Any = None,
    ) -> None: ...

def losscone_options_of(options: dict[str, Any], response: str) -> dict[str, Any]: ...
def losscone_fitted(results: Any) -> NDArray[np.bool_]: ...
def losscone_quality(results: Any, others: Any = None) -> NDArray[np.str_]: ...

QUALITY_TEXT: int
losscone_fit: _Answer
losscone_answer: _Answer
losscone_both: _Answer
losscone_confidence: _Answer
losscone_bootstrap: _FloatsAnswer
losscone_profile: _Answer
losscone_misfit: _Answer
losscone_model: _Answer
losscone_beam: _Answer
losscone_cosines: _FloatsAnswer
losscone_normalise: _FloatsAnswer
losscone_channels: _FloatsAnswer
losscone_mask: Callable[..., None]

class SpectrumArrays:
    n: int
    def __init__(
        self, energy: Any, flux: Any, sensitivity: Any = None, counts: Any = None, background: Any = None
    ) -> None: ...

kappa_flux: _FloatsAnswer
kappa_temperature: _FloatsAnswer
kappa_theta: _FloatsAnswer
kappa_response: _FloatsAnswer
kappa_spectrum: _Answer
kappa_fit: _Answer
kappa_misfit: _FloatsAnswer
photoelectron_current: _FloatsAnswer
photoelectron_potential: _FloatsAnswer
secondary_yield: _FloatsAnswer
electron_current: _FloatsAnswer
shade_currents: _FloatsAnswer
spacecraft_potential: _Answer
spacecraft_potential_of_spectra: _Answer

class Days:
    find: Callable[[list[str]], Days]
    date: Callable[[int], int]
    paths: Callable[[int], list[str]]
    read: Callable[[int, bool], tuple[Day, list[dict[str, int]]]]
    def __len__(self) -> int: ...

class DayOptions:
    set_mags: Callable[[list[Magnetometer]], None]
    set_sources: Callable[..., None]
    prepare: Callable[[Day, str | None, Attitude | None], DaySweeps]
    def __init__(
        self,
        theta: Any,
        potential: Any,
        polarity: float,
        sunlight: float,
        normalisation: str,
        sunlit: bool,
        least_counts: float,
        subtract_background: bool,
        weighted: bool,
        response_width: float,
        method: str,
        kappa: dict[str, Any],
        charging: dict[str, Any],
    ) -> None: ...

class DaySweeps:
    arrays: Callable[[], dict[str, Any]]
    plasma: _Answer
    count: Callable[[DayOptions, Day], None]

day_join: Callable[[list[Day]], tuple[Day, list[dict[str, int]]]]
day_status: Callable[[Day, Any], NDArray[np.str_]]
environments: Callable[[Any, Any], NDArray[np.int64]]
