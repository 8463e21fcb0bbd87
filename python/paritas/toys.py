"""Toys: data drawn at random from a model, each with its fits; tests, limits, significance and goodness of
fit from them.

Toy t depends on `seed` and t alone: not on the number of toys, of shards, of threads, nor on the device. A
`store` keeps every toy in an SQLite file, whose table `toys` other tools can read. A run that was interrupted
goes on with resume=True. Shards, shard=(i, n) with i from 1 to n, are pooled by `merge` into the rows of the
run that was not cut. The stores are those of the program `paritas`.

All functions take the keywords of `paritas.fit`: data, init, bounds, fixed, device, precision, threads,
progress.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import whole
from .calls import Call, Path, RunKeywords, ToyKeywords, takes
from .model import Model, Values
from .results import (
    GoodnessOfFit,
    GoodnessOfFitToys,
    LimitToysResult,
    SignificanceToysResult,
    ToyFits,
    ToyHypotestResult,
    ToySummary,
    _ToyRun,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _types_of(record: str) -> list[tuple[str, np.dtype[Any]]]:
    """Names and types of a record's fields, without the gaps of C."""
    dtype = _engine.record(record).dtype
    return [(name, dtype[name]) for name in dtype.names or ()]


_CODES = _engine.enumeration("paritas_fit_status")
#: words for the numbers that `status` has in rows of toys
STATUSES: list[str] = list(_CODES)
_TOY = np.dtype(_types_of("paritas_toy"))


def fit_toys(
    model: Model,
    params: Optional[Values] = None,
    n: int = 2000,
    seed: int = 0,
    *,
    expected: Optional[ArrayLike] = None,
    errors: bool = False,
    save_parameters: bool = False,
    **given: Unpack[ToyKeywords],
) -> ToyFits:
    """n toys, each fitted freely. They are drawn at `params`, or around `expected` data (main, then
    auxiliary), or at the best fit to the data.

    init: where fits start, else `params`; a fixed parameter stays there, wherever toys are drawn. fix_aux:
        auxiliary data stay as observed. errors: of every fit, from its exact Hessian, 0.2 to 1 times the time
        of the fits. keep: the result has the values of every toy, not only their means. minimizer: "auto" or
        "newton". save_parameters: the store keeps them.

    Toys that the store had before are in the counts and, with save_parameters, in the means. Their rows are
    read by `read_store`.
    """
    options = _options(model, n, seed, given)
    at = None if params is None else model.point(params)
    keep = given.get("keep", True)
    with _run("fit_toys", model, given, at) as call:
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
    model: Model,
    mu: float = 1.0,
    n: int = 2000,
    seed: int = 0,
    *,
    test_stat: str = "qtilde",
    **given: Unpack[ToyKeywords],
) -> ToyHypotestResult:
    """CLs of a value of the parameter of interest from n toys of each hypothesis: mu, and 0 (test_stat "q0":
    0, and 1). Toys are drawn around the conditional fits to the data, and each gets a free and a conditional
    fit. keep: the result has every toy."""
    options = _options(model, n, seed, given)
    with _run("hypotest_toys", model, given) as call:
        found = _engine.hypotest_toys(model, call.job, test_stat, mu, options, call.engine, call.tell)
    return ToyHypotestResult(found.result, toys=_all_toys(found.toys, given))


def significance_toys(
    model: Model, n: int = 2000, seed: int = 0, **given: Unpack[ToyKeywords]
) -> SignificanceToysResult:
    """Discovery by toys. p0 is the part of the toys drawn at 0 whose q0 is at least the observed one;
    expected: at least the median of toys drawn at 1."""
    options = _options(model, n, seed, given)
    with _run("significance_toys", model, given) as call:
        found = _engine.significance_toys(model, call.job, options, call.engine, call.tell)
    test = ToyHypotestResult(found.test, toys=_all_toys(found.toys, given))
    return SignificanceToysResult(found.result, test=test)


def upper_limit_toys(
    model: Model,
    n: int = 0,
    seed: int = 0,
    *,
    level: float = 0.05,
    rtol: float = 0.05,
    test_stat: str = "qtilde",
    keep: bool = False,
    **given: Unpack[RunKeywords],
) -> LimitToysResult:
    """Upper limits by toys, each to a standard error of rtol relative. n: most toys of each tested value and
    hypothesis; 0: 100000."""
    options = _options(model, n, seed, {**given, "keep": keep}, least=0)
    with _run("upper_limit_toys", model, given) as call:
        found = _engine.limit_toys(model, call.job, test_stat, level, rtol, options, call.engine, call.tell)
    scan = [ToyHypotestResult(row, toys=None) for row in found.scan]
    toys = _all_toys(found.toys, given)
    return LimitToysResult(found.result, level=level, rtol=rtol, scan=scan, toys=toys)


def goodness_of_fit_toys(
    model: Model,
    n: int = 2000,
    seed: int = 0,
    *,
    shard: Optional[tuple[int, int]] = None,
    **given: Unpack[RunKeywords],
) -> GoodnessOfFitToys:
    """Of the best fit against the saturated model, by toys drawn at it: p_toys is the part of them whose
    statistic is at least the observed one."""
    options = _options(model, n, seed, {**given, "keep": False, "shard": shard})
    with _run("goodness_of_fit_toys", model, given) as call:
        found = _engine.goodness_of_fit_toys(model, call.job, options, call.engine, call.tell)
    return GoodnessOfFitToys(found.result, asymptotic=GoodnessOfFit(found.gof))


def merge(stores: Sequence[Path], output: Path) -> None:
    """Pools stores, the shards of one run, into a new one at `output`, which appears whole or not at all:
    exactly the rows of the run that was not cut."""
    _engine.merge_stores([os.fspath(store) for store in stores], os.fspath(output))


def hypotest_of_store(store: Path, keep: bool = True) -> ToyHypotestResult:
    """The answer of `hypotest_toys`, or the test behind that of `significance_toys`, from a store alone.
    keep: with every toy."""
    row = _engine.hypotest_of_store(os.fspath(store))
    return ToyHypotestResult(row, toys=read_store(store) if keep else None)


_CHUNK = 1 << 16  # rows of a store that are Python objects at a time


def _field(value: Any) -> Any:
    """A value of a store's row: statuses have their numbers, and what is missing is NaN."""
    if isinstance(value, bytes):
        return np.frombuffer(value)
    return np.nan if value is None else _CODES.get(value, value)


def read_store(store: Path) -> NDArray[Any]:
    """All toys of a store, in the order of tested value, hypothesis and number: a structured array with the
    columns of its table `toys`. status: the place in `paritas.toys.STATUSES`. parameters and errors, where
    they were kept: rows of parameters."""
    try:
        connection = sqlite3.connect(f"file:{quote(os.path.abspath(store))}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    try:
        names = [column[1] for column in connection.execute("PRAGMA table_info(toys)")]
        if not names:
            raise _engine.InvalidInput(f"{os.fspath(store)}: holds no table of toys")
        cursor = connection.execute(f"SELECT {', '.join(names)} FROM toys")
        dtype = _store_type(connection, names)
        chunks = [np.empty(0, dtype)]
        while rows := cursor.fetchmany(_CHUNK):
            chunks.append(np.array([tuple(map(_field, row)) for row in rows], dtype=dtype))
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    finally:
        connection.close()
    return _in_order(np.concatenate(chunks))


def _store_type(connection: sqlite3.Connection, names: Sequence[str]) -> np.dtype[Any]:
    """The type of a store's rows: columns that records have are of their type, others real."""
    known = (*_types_of("paritas_fit_result"), *_types_of("paritas_toy"))
    kinds: dict[str, Any] = {name: (kind,) for name, kind in known}
    if "parameters" in names:
        p = connection.execute("SELECT count(*) FROM parameters").fetchone()[0]
        kinds["parameters"] = kinds["errors"] = np.float64, (p,)
    return np.dtype([(name, *kinds.get(name, (np.float64,))) for name in names])


def _in_order(toys: NDArray[Any]) -> NDArray[Any]:
    """By tested value, hypothesis and number, whatever the chunks that they were fitted in."""
    names = toys.dtype.names or ()
    order = np.lexsort([toys[name] for name in ("toy", "hypothesis", "mu") if name in names])
    found = np.empty(len(toys), _TOY if set(names) == set(_TOY.names or ()) else toys.dtype)
    for name in names:
        found[name] = toys[name][order]
    return found


def _all_toys(fitted: Optional[NDArray[Any]], given: Mapping[str, Any]) -> Optional[NDArray[Any]]:
    """Toys of a run: those fitted now, and with a store that was there before, also those in it."""
    if fitted is None:
        return None
    store = given.get("store")
    return read_store(store) if given.get("resume") and store is not None else _in_order(fitted)


def _options(model: Model, n: int, seed: int, given: Mapping[str, Any], least: int = 1) -> _engine.ToyOptions:
    """The options of a run, as the engine takes them."""
    shard, minimizer, store = given.get("shard"), given.get("minimizer", "auto"), given.get("store")
    if shard is not None:
        i, shards = shard
        shard = whole(i, "shard", 1, 32), whole(shards, "shards", 1, 32)
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
    )


def _key(model: Model) -> list[tuple[str, str]]:
    """What the program adds to a store's key: digest of the workspace, options of the model that are not the
    default."""
    entries = [("workspace", model.document.digest())]
    for name, value in model.options.items():
        text = str(value)
        if isinstance(value, float):
            text = f"{value:g}" if float(f"{value:g}") == value else repr(value)
        entries.append((name.replace("_", "-"), text))
    return entries


@contextmanager
def _run(
    function: str, model: Model, given: Mapping[str, Any], at: Optional[NDArray[np.float64]] = None
) -> Iterator[Call]:
    """The call of a run of toys. The library names the program's option where Python has a keyword."""
    try:
        with Call(function, model, given, "toys", at) as call:
            yield call
    except _engine.InvalidArgument as error:
        if "--resume" not in str(error):
            raise
        rephrased = _engine.InvalidArgument(str(error).replace("--resume", "`resume`"))
        rephrased.status = error.status
        raise rephrased from None


takes(ToyKeywords, fit_toys, hypotest_toys, significance_toys)
takes(RunKeywords, upper_limit_toys, goodness_of_fit_toys)
