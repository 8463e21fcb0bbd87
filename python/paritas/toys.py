"""Toys: random data with fits, and tests, limits, significance and goodness of fit from them.

Toy t depends only on `seed` and t: not on the number of toys, shards, threads or the device. A `store` keeps
every toy in an SQLite file (table `toys`), shared with the program `paritas`. resume=True continues an
interrupted run. `merge` pools shards, shard=(i, n) with i from 1 to n, into the store of the uncut run.

All functions take the keywords of `paritas.fit`. Tests, limits and significances take `starts`, as without
toys, for the fits to the data."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import number, whole
from .calls import (
    Call,
    DataKeywords,
    RunKeywords,
    StatisticDrawKeywords,
    StatisticRunKeywords,
    StatisticToyKeywords,
    ToyKeywords,
    UnkeptToyKeywords,
    job_of,
    poi_of,
)
from .documents import document
from .files import PathLike as Path
from .inference import compatibility_result, separate_model
from .keywords import default, takes
from .model import Floats, Model, ModelLike, Values, model_of
from .results import (
    CompatibilityToys,
    GoodnessOfFit,
    GoodnessOfFitToys,
    IntervalToysResult,
    LimitToysResult,
    LookElsewherePoints,
    LookElsewhereResult,
    SignificanceToysResult,
    ToyFits,
    ToyHypotestResult,
    ToySummary,
    _ToyRun,
)
from .workspace import PatchSet

if TYPE_CHECKING:
    import sqlite3

    from typing_extensions import Unpack


def _types_of(record: str) -> list[tuple[str, np.dtype[Any]]]:
    """Types without C's padding."""
    dtype = _engine.record(record).dtype
    return [(name, dtype[name]) for name in dtype.names or ()]


_CODES = _engine.enumeration("paritas_fit_status")
#: words for `status` in rows of toys
STATUSES: list[str] = list(_CODES)
_WEIGHTED_TOY = np.dtype(_types_of("paritas_toy"))
#: without the weights of importance sampling
_TOY = np.dtype([(name, _WEIGHTED_TOY[name]) for name in (_WEIGHTED_TOY.names or ())[:-2]])


class ToyData:
    """Data of toys, as `generate` draws them and `read_data` reads them.

    rows: (toys, main + auxiliary), for `data` of other functions and for pyhf. point: the truth; None where
    expected data were given. first: number of the first toy. seed, fix_aux, expected (nothing was drawn),
    status (of the fit where they are drawn). model: digest of the model that drew them; None: not known."""

    def __init__(self, data: _engine.ToyData) -> None:
        self._data = data
        self.rows: Floats = data.rows()
        self.point: Floats | None = data.point()
        facts = data.facts()
        self.first: int = facts["first"]
        self.seed: int = facts["seed"]
        self.fix_aux: bool = facts["fix_aux"]
        self.expected: bool = facts["expected"]
        self.status: str = facts["status"]
        self.model: str | None = facts["model"]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<paritas.toys.ToyData: {len(self)} toys from {self.first} on, seed {self.seed}>"

    def save(self, path: Path, any_model: bool = False) -> None:
        """A file for `read_data` and the program's --data: FILE.npz is for `numpy.load`, others are JSON.

        any_model: do not name the model. Otherwise another model refuses the file.

        >>> import tempfile
        >>> import numpy, paritas
        >>> model = paritas.Model.from_workspace("examples/two_bins.json")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.generate(n=3, seed=7).save(f"{folder}/toys.npz")
        ...     arrays = dict(numpy.load(f"{folder}/toys.npz"))
        >>> arrays["main"].shape, arrays["aux"].shape
        ((3, 2), (3, 2))"""
        archive = os.fspath(path).endswith(".npz")
        with open(path, "wb") as file:
            file.write(self._data.bytes(archive, any_model))


def generate(
    model: ModelLike,
    params: Values | None = None,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    expected: ArrayLike | None = None,
    only_expected: bool = False,
    **given: Unpack[DataKeywords],
) -> ToyData:
    """Data of n toys without fits, the same as in `fit_toys` with the same arguments. only_expected: one row,
    the expected data."""
    model = model_of(model)
    options = _options(model, n, seed, {**given, "keep": False})
    at = None if params is None else model.point(params)
    with Call(generate, model, given, "toys") as call:
        return ToyData(
            _engine.ToyData.generate(model, call.job, options, at, expected, only_expected, call.engine)
        )


def read_data(model: ModelLike, path: Path) -> ToyData:
    """Data from a file: of `ToyData.save` or `paritas generate`, or a JSON array, main then auxiliary, or an
    object {"main": [...], "aux": [...]}, or an archive of `numpy.savez(path, main=..., aux=...)` with a row a
    toy. Rows are for `data` of other functions."""
    return ToyData(_engine.ToyData.read(model_of(model), os.fspath(path)))


def fit_toys(
    model: ModelLike,
    params: Values | None = None,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    expected: ArrayLike | None = None,
    errors: bool = False,
    save_parameters: bool = False,
    **given: Unpack[ToyKeywords],
) -> ToyFits:
    """n toys, each fitted freely. They are drawn at `params`, around `expected` data (main, then auxiliary),
    or at the best fit to the data.

    init: where fits start (default: `params`); a fixed parameter stays there. fix_aux: do not draw auxiliary
        data. errors: from the exact Hessian; adds 0.2 to 1 times the fits' time. keep: return every toy, not
        only means. minimizer: "auto" or "newton". save_parameters: in the store.

    Toys already in the store enter counts and, with save_parameters, means. `read_store` reads them."""
    model = model_of(model)
    options = _options(model, n, seed, given)
    kept = _engine.record("paritas_fit_result").dtype.itemsize + 8 * (
        2 + model.parameter_count * (1 + errors)
    )
    _check_memory(n, kept, given)
    at = None if params is None else model.point(params)
    keep = given.get("keep", True)
    with Call(fit_toys, model, given, "toys", at) as call:
        found = _engine.fit_toys(
            model, call.job, options, at, expected, errors, keep, save_parameters, call.engine, call.tell
        )
    return ToyFits(
        None if found.fits is None else found.fits["fit"],
        names=model.parameter_names,
        n=int(n),
        seed=int(seed),
        run=_ToyRun(found.result),
        summary=ToySummary(found.summary),
        toy=None if found.fits is None else found.fits["toy"],
        statistic=None if found.fits is None else found.fits["statistic"],
        values=found.values,
        errors=found.errors,
    )


def hypotest_toys(
    model: ModelLike,
    mu: float = 1.0,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    test_stat: str = "qtilde",
    **given: Unpack[StatisticToyKeywords],
) -> ToyHypotestResult:
    """CLs of a value of the parameter of interest from n toys of each hypothesis: mu, and 0 (test_stat "q0":
    0, and 1), drawn around conditional fits. Each gets a free and a conditional fit. keep: return every toy.

    importance: small p-values from few toys. Toys are drawn at several values between the hypotheses, n at
        each, and weighted by the probability of their data. Raises NotConverged if the weights degenerate."""
    model = model_of(model)
    options = _options(model, n, seed, given)
    _check_memory(_places(given) * n, _engine.record("paritas_toy").dtype.itemsize, given)
    mu = number(mu, "mu")
    with Call(hypotest_toys, model, given, "toys") as call:
        found = _engine.hypotest_toys(model, call.job, test_stat, mu, options, call.engine, call.tell)
    return ToyHypotestResult(found.result, toys=_all_toys(found.toys, given))


def significance_toys(
    model: ModelLike, n: int = _engine.TOYS, seed: int = 0, **given: Unpack[StatisticToyKeywords]
) -> SignificanceToysResult:
    """Discovery by toys. p0: fraction of toys at 0 with at least the observed q0; expected: with at least the
    median of toys at 1. importance: as in `hypotest_toys`, for 5 sigma."""
    model = model_of(model)
    options = _options(model, n, seed, given)
    _check_memory(_places(given) * n, _engine.record("paritas_toy").dtype.itemsize, given)
    with Call(significance_toys, model, given, "toys") as call:
        found = _engine.significance_toys(model, call.job, options, call.engine, call.tell)
    test = ToyHypotestResult(found.test, toys=_all_toys(found.toys, given))
    return SignificanceToysResult(found.result, test=test)


def upper_limit_toys(
    model: ModelLike,
    n: int = 0,
    seed: int = 0,
    *,
    level: float = default("paritas_limit_toys_request", "level"),
    rtol: float = default("paritas_limit_toys_request", "rtol"),
    test_stat: str = "qtilde",
    keep: bool = False,
    **given: Unpack[StatisticRunKeywords],
) -> LimitToysResult:
    """Upper limits by toys, to a relative standard error of rtol. n: maximum of toys per tested value and
    hypothesis; 0: 100000."""
    model = model_of(model)
    options = _options(model, n, seed, {**given, "keep": keep}, least=0)
    level, rtol = number(level, "level"), number(rtol, "rtol")
    with Call(upper_limit_toys, model, given, "toys") as call:
        found = _engine.limit_toys(model, call.job, test_stat, level, rtol, options, call.engine, call.tell)
    scan = [ToyHypotestResult(row, toys=None) for row in found.scan]
    toys = _all_toys(found.toys, given)
    return LimitToysResult(found.result, level=level, rtol=rtol, scan=scan, toys=toys)


def interval_toys(
    model: ModelLike,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    level: float = default("paritas_interval_toys_request", "level"),
    rtol: float = default("paritas_interval_toys_request", "rtol"),
    keep: bool = False,
    **given: Unpack[StatisticRunKeywords],
) -> IntervalToysResult:
    """Feldman-Cousins interval of the parameter of interest, from n toys of each tested value. It has all
    values whose p-value of the likelihood ratio to the best fit is above `level`. rtol: distance of the
    values around an edge, in parts of the asymptotic half width."""
    model = model_of(model)
    options = _options(model, n, seed, {**given, "keep": keep})
    level, rtol = number(level, "level"), number(rtol, "rtol")
    with Call(interval_toys, model, given, "toys") as call:
        found = _engine.interval_toys(model, call.job, level, rtol, options, call.engine, call.tell)
    scan = [ToyHypotestResult(row, toys=None) for row in found.scan]
    toys = _all_toys(found.toys, given)
    return IntervalToysResult(found.result, level=level, rtol=rtol, scan=scan, toys=toys)


def _signals(background: ModelLike, patches: PatchSet) -> tuple[dict[str, ModelLike], bool]:
    """The patched workspaces by name; sorted, and True, if each patch has one number."""
    options: dict[str, Any] = {}
    if isinstance(background, Model):
        given = background.document
        options = {name: value for name, value in background.options.items() if value != ""}
    else:
        given = document(background, "workspace")
    names, ordered = patches.document.patch_order()
    return {name: Model(patches.apply(given, name).document, **options) for name in names}, ordered


def _is_bare(background: ModelLike) -> bool:
    """Has a workspace no modifier? It is no model then."""
    if isinstance(background, Model):
        return False
    channels = json.loads(document(background, "workspace").text()).get("channels", [])
    return not any(sample["modifiers"] for channel in channels for sample in channel["samples"])


def look_elsewhere(
    background: ModelLike,
    models: Mapping[str, ModelLike] | Sequence[ModelLike] | PatchSet | Path,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    upcrossed: float | None = None,
    **given: Unpack[UnkeptToyKeywords],
) -> LookElsewhereResult:
    """Global significance of the largest excess among many signals on one background, by n toys of the
    background fitted to the data. All models see the same toy: equal main data, and equal auxiliary data of
    parameters that they share. p_global is the fraction of toys whose largest q0 is at least the observed
    one.

    background: without signal, or with a parameter of interest that is fixed at 0. models: by name, a list,
    or the patch set of the background's workspace (a PatchSet or its path). upcrossed: above 0, also the
    estimate from upcrossings of this q0 (Gross, Vitells, arXiv:1005.1891), for models in order along a line.
    None: 0.5 for a patch set with one number a patch, which are sorted by it, else 0."""
    if isinstance(models, (str, os.PathLike)):
        models = PatchSet(models)
    if isinstance(models, PatchSet):
        models, ordered = _signals(background, models)
        if upcrossed is None and ordered:
            upcrossed = default("paritas_look_elsewhere_request", "upcrossed")
    names = list(models) if isinstance(models, Mapping) else [str(k) for k in range(len(models))]
    listed = [model_of(one) for one in (models.values() if isinstance(models, Mapping) else models)]
    bare = _is_bare(background) and bool(listed)
    common = listed[0] if bare else model_of(background)
    upcrossed = number(upcrossed or 0.0, "upcrossed")
    options = _options(common, n, seed, {**given, "keep": False})
    chosen: Mapping[str, Any] = given
    effort: dict[str, Any] = {key: chosen[key] for key in ("starts", "max_iterations") if key in chosen}
    with Call(look_elsewhere, common, given, "toys") as call:
        jobs = [job_of(model, **effort) for model in listed]
        found = _engine.look_elsewhere(
            None if bare else common, listed, jobs, call.job, upcrossed, options, call.engine, call.tell
        )
    return LookElsewhereResult(found.result, points=LookElsewherePoints(found.points, names=names))


def goodness_of_fit_toys(
    model: ModelLike,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    algo: str = "saturated",
    shard: tuple[int, int] | None = None,
    **given: Unpack[RunKeywords],
) -> GoodnessOfFitToys:
    """Goodness of fit by toys at the best fit. p_toys: fraction with at least the observed statistic. algo:
    "saturated", "ks" (Kolmogorov-Smirnov) or "ad" (Anderson-Darling)."""
    model = model_of(model)
    options = _options(model, n, seed, {**given, "keep": False, "shard": shard}, algo=algo)
    with Call(goodness_of_fit_toys, model, given, "toys") as call:
        found = _engine.goodness_of_fit_toys(model, call.job, options, call.engine, call.tell)
    return GoodnessOfFitToys(found.result, asymptotic=GoodnessOfFit(found.gof))


def compatibility_toys(
    model: ModelLike,
    groups: Mapping[str, str] | None = None,
    n: int = _engine.TOYS,
    seed: int = 0,
    **given: Unpack[StatisticDrawKeywords],
) -> CompatibilityToys:
    """`compatibility` by n toys of the common best fit, each with both fits. p_toys: the part of the toys
    whose statistic is at least the observed one. asymptotic: the answer of `compatibility`.

    >>> import paritas
    >>> found = paritas.compatibility_toys("tests/datacard/shapes.txt", n=100)
    >>> found.p_toys, found.asymptotic.ndof
    (1.0, 0)"""
    model = model_of(model)
    poi = given.get("poi") or poi_of(model)
    separate = separate_model(model, poi, groups)
    options = _options(model, n, seed, {**given, "keep": False})
    with Call(compatibility_toys, model, given, "toys") as call:
        found = _engine.compatibility_toys(model, call.job, separate, options, call.engine, call.tell)
    return CompatibilityToys(
        found.result, asymptotic=compatibility_result(separate, poi, found.observed, found.groups)
    )


def merge(stores: Sequence[Path], output: Path, partial: bool = False) -> None:
    """Pools the shards of one run into a new store at `output`: the rows of the uncut run. Two stores of a
    toy are refused. If a shard is missing or was killed, InvalidInput names it, and nothing is written.
    partial: pool what there is; `n_tested` of the answer says how many toys that are."""
    paths = [os.fspath(store) for store in stores]
    if not partial:
        _engine.check_stores_whole(paths)
    _engine.merge_stores(paths, os.fspath(output))


def hypotest_of_store(store: Path, keep: bool = True) -> ToyHypotestResult:
    """The answer of `hypotest_toys`, or the test of `significance_toys`, from a store. keep: return every
    toy."""
    row = _engine.hypotest_of_store(os.fspath(store))
    return ToyHypotestResult(row, toys=read_store(store) if keep else None)


_CHUNK = 1 << 16  # rows that are Python objects at a time


def _field(value: Any) -> Any:
    """Statuses as codes, missing values as NaN."""
    if isinstance(value, bytes):
        return np.frombuffer(value)
    return np.nan if value is None else _CODES.get(value, value)


#: counts what no store has; a view could have rows without end
_FOREIGN = (
    "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR "
    "(type = 'table' AND rootpage = 0)"
)


def read_store(store: Path) -> NDArray[Any]:
    """A store's table `toys` as a structured array, by tested value, hypothesis and number. status: index in
    `paritas.toys.STATUSES`. parameters and errors (if kept): one column each parameter."""
    import sqlite3  # a Python may be built without it, and nothing else needs it

    try:
        connection = sqlite3.connect(f"file:{quote(os.path.abspath(store))}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        if connection.execute(_FOREIGN).fetchone()[0]:
            raise _engine.InvalidInput(f"{os.fspath(store)}: has a view, a trigger or a virtual table")
        names = [column[1] for column in connection.execute("PRAGMA table_info(toys)")]
        if not names:
            raise _engine.InvalidInput(f"{os.fspath(store)}: holds no table of toys")
        quoted = (name.replace('"', '""') for name in names)
        cursor = connection.execute(f"""SELECT "{'", "'.join(quoted)}" FROM toys""")
        dtype = _store_type(connection, names)
        chunks = [np.empty(0, dtype)]
        while rows := cursor.fetchmany(_CHUNK):
            chunks.append(np.array([tuple(map(_field, row)) for row in rows], dtype=dtype))
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    except (ValueError, TypeError, OverflowError) as error:  # values that no toy has
        raise _engine.InvalidInput(f"{os.fspath(store)}: the table of toys is damaged: {error}") from error
    finally:
        connection.close()
    return _in_order(np.concatenate(chunks))


def _store_type(connection: sqlite3.Connection, names: Sequence[str]) -> np.dtype[Any]:
    """Types of the records' columns; others are real."""
    known = (*_types_of("paritas_fit_result"), *_types_of("paritas_toy"))
    kinds: dict[str, Any] = {name: (kind,) for name, kind in known}
    if "parameters" in names:
        p = connection.execute("SELECT count(*) FROM parameters").fetchone()[0]
        kinds["parameters"] = kinds["errors"] = np.float64, (p,)
    return np.dtype([(name, *kinds.get(name, (np.float64,))) for name in names])


def _in_order(toys: NDArray[Any]) -> NDArray[Any]:
    names = toys.dtype.names or ()
    order = np.lexsort([toys[name] for name in ("toy", "hypothesis", "mu") if name in names])
    alike = (dtype for dtype in (_TOY, _WEIGHTED_TOY) if set(names) == set(dtype.names or ()))
    found = np.empty(len(toys), next(alike, toys.dtype))
    for name in names:
        found[name] = toys[name][order]
    return found


def _all_toys(fitted: NDArray[Any] | None, given: Mapping[str, Any]) -> NDArray[Any] | None:
    """Toys fitted now and those already in the store."""
    if fitted is None:
        return None
    store = given.get("store")
    if given.get("resume") and store is not None:
        return read_store(store)
    weighted = given.get("importance", False) is not False
    return _in_order(fitted if weighted else fitted[list(_TOY.names or ())])


def _options(
    model: Model, n: int, seed: int, given: Mapping[str, Any], least: int = 1, algo: str = "saturated"
) -> _engine.ToyOptions:
    shard, minimizer, store = given.get("shard"), given.get("minimizer", "auto"), given.get("store")
    if shard is not None:
        i, shards = shard
        shard = whole(i, "shard", 1, 32), whole(shards, "shards", 1, 32)
    strengths = given.get("importance", False)
    if minimizer not in ("auto", "newton"):
        raise _engine.InvalidArgument(f"minimizer {minimizer!r}: there are 'auto' and 'newton'")
    return _engine.ToyOptions(
        whole(n, "n", least),
        whole(seed, "seed"),
        shard,
        fix_aux=given.get("fix_aux", False),
        newton_only=minimizer == "newton",
        store=None if store is None else os.fspath(store),
        resume=given.get("resume", False),
        entries=() if store is None else _key(model),
        keep=given.get("keep", True),
        importance=bool(strengths) if isinstance(strengths, bool) else [float(mu) for mu in strengths],
        algo=algo,
    )


def _places(given: Mapping[str, Any]) -> int:
    """Values where toys are drawn, at most."""
    most: int = _engine.record("paritas_hypotest_toys_result").dtype["strengths"].shape[0]
    return most if given.get("importance", False) is not False else 2


def _check_memory(n: int, bytes_of_toy: int, given: Mapping[str, Any]) -> None:
    """Refuses to keep more toys than this machine's memory can hold, before the first is drawn."""
    pages = getattr(os, "sysconf_names", {})  # Windows has none
    if not given.get("keep", True) or "SC_PHYS_PAGES" not in pages:
        return
    _, shards = given.get("shard") or (1, 1)
    wanted, memory = n // shards * bytes_of_toy, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if wanted > memory:
        raise _engine.OutOfMemory(
            f"n {n}: {n // shards} toys of {bytes_of_toy} bytes take {wanted / 1e9:.3g} GB, this machine has "
            f"{memory / 1e9:.3g} GB: pass keep=False, with store=FILE for every toy, or use shards"
        )


def _key(model: Model) -> list[tuple[str, str]]:
    """What stands in the store's key: workspace digest, non-default model options."""
    entries = [("workspace", model.document.digest())]
    for name, value in model.options.items():
        text = str(value)
        if isinstance(value, float):
            text = f"{value:g}" if float(f"{value:g}") == value else repr(value)
        entries.append((name.replace("_", "-"), text))
    return entries


takes(ToyKeywords, fit_toys)
takes(DataKeywords, generate)
takes(StatisticToyKeywords, hypotest_toys, significance_toys)
takes(StatisticRunKeywords, upper_limit_toys, interval_toys)
takes(RunKeywords, goodness_of_fit_toys)
takes(UnkeptToyKeywords, look_elsewhere)
takes(StatisticDrawKeywords, compatibility_toys)
