"""Toys: data drawn at random from a model, each with its fits; tests, limits, significance and goodness of
fit from them.

Toy t depends on `seed` and t alone: not on the number of toys, of shards, of threads, nor on the device.
`store` keeps every toy in an SQLite file, whose table `toys` other tools can read; a run that was interrupted
goes on with resume=True, and shards, shard=(i, n) with i from 1 to n, are pooled by `merge` into the rows of
the run that was not cut. The stores are those of the program `paritas`. All functions take the keywords of
`paritas.fit`: data, init, bounds, fixed, device, precision, threads, progress.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import Any, Iterator, Optional, Sequence, Union
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine
from .arrays import whole
from .devices import ProgressFunction, engine
from .fits import _STATUS_ARRAY, _STATUSES, Bounds, Fixed, Job
from .model import Model, Values
from .progress import told
from .results import (
    GoodnessOfFit,
    GoodnessOfFitToys,
    LimitToysResult,
    SignificanceToysResult,
    Tally,
    ToyFits,
    ToyHypotestResult,
    ToySummary,
)

#: names of the numbers that `status` has in rows of toys
STATUSES: list[str] = _engine.FIT_STATUSES

Path = Union[str, "os.PathLike[str]"]
Progress = Union[bool, ProgressFunction, None]


def fit_toys(
    model: Model,
    params: Optional[Values] = None,
    n: int = 2000,
    seed: int = 0,
    *,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    expected: Optional[ArrayLike] = None,
    errors: bool = False,
    data: Optional[ArrayLike] = None,
    fix_aux: bool = False,
    keep: bool = True,
    minimizer: str = "auto",
    store: Optional[Path] = None,
    resume: bool = False,
    save_parameters: bool = False,
    shard: Optional[tuple[int, int]] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> ToyFits:
    """n toys drawn at `params`, or around `expected` data (main, then auxiliary), or at the best fit to the
    data, each fitted freely within bounds and fixed flags.

    init: where fits start, else `params`; a fixed parameter stays there, wherever toys are drawn. fix_aux:
        auxiliary data stay as observed. errors: of every fit, from its exact Hessian, 0.2 to 1 times the time
        of the fits. keep: the result has the values of every toy, not only their means. minimizer: "auto" or
        "newton". save_parameters: the store keeps them. Toys that the store had before are in the counts and,
        with save_parameters, in the means; their rows are read by `read_store`.
    """
    n, seed, shard = _cut(n, seed, shard)
    at = None if params is None else model.point(params)
    job = Job(model, init, bounds, fixed, at)
    with _toys(progress) as tell:
        status, tally, summary, rows, values, widths = _engine.fit_toys(
            model,
            n,
            seed,
            at,
            expected,
            errors,
            keep,
            save_parameters,
            shard,
            fix_aux,
            _newton_only(minimizer),
            _path(store),
            resume,
            _key(model, store),
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    columns = [np.array([row[k] for row in summary]) for k in range(7)]
    if rows is None:
        return ToyFits(
            model.parameter_names,
            _STATUSES[status],
            n,
            seed,
            ToySummary(*columns),
            Tally(*tally),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        )
    return ToyFits(
        model.parameter_names,
        _STATUSES[status],
        n,
        seed,
        ToySummary(*columns),
        Tally(*tally),
        rows["toy"],
        _STATUS_ARRAY[rows["status"]],
        rows["twice_nll"],
        rows["statistic"],
        rows["edm"],
        rows["iterations"],
        values,
        widths,
    )


def hypotest_toys(
    model: Model,
    mu: float = 1.0,
    n: int = 2000,
    seed: int = 0,
    *,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    fix_aux: bool = False,
    keep: bool = True,
    minimizer: str = "auto",
    store: Optional[Path] = None,
    resume: bool = False,
    shard: Optional[tuple[int, int]] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> ToyHypotestResult:
    """CLs of a value of the parameter of interest from n toys of each hypothesis: mu, and 0 (test_stat "q0":
    0, and 1), drawn around the conditional fits to the data, each with a free and a conditional fit. keep:
    the result has every toy."""
    n, seed, shard = _cut(n, seed, shard)
    job = Job(model, init, bounds, fixed)
    with _toys(progress) as tell:
        found, toys = _engine.hypotest_toys(
            model,
            mu,
            test_stat,
            n,
            seed,
            keep,
            shard,
            fix_aux,
            _newton_only(minimizer),
            _path(store),
            resume,
            _key(model, store),
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    return _test(found, _all_toys(toys, store, resume))


def significance_toys(
    model: Model,
    n: int = 2000,
    seed: int = 0,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    fix_aux: bool = False,
    keep: bool = True,
    minimizer: str = "auto",
    store: Optional[Path] = None,
    resume: bool = False,
    shard: Optional[tuple[int, int]] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> SignificanceToysResult:
    """Discovery by toys: p0 is the part of the toys drawn at 0 whose q0 is at least the observed one;
    expected: at least the median of toys drawn at 1."""
    n, seed, shard = _cut(n, seed, shard)
    job = Job(model, init, bounds, fixed)
    with _toys(progress) as tell:
        numbers, found, toys = _engine.significance_toys(
            model,
            n,
            seed,
            keep,
            shard,
            fix_aux,
            _newton_only(minimizer),
            _path(store),
            resume,
            _key(model, store),
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    fields: list[Any] = [*numbers, _test(found, _all_toys(toys, store, resume))]
    return SignificanceToysResult(*fields)


def upper_limit_toys(
    model: Model,
    n: int = 0,
    seed: int = 0,
    *,
    level: float = 0.05,
    rtol: float = 0.05,
    test_stat: str = "qtilde",
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    fix_aux: bool = False,
    keep: bool = False,
    minimizer: str = "auto",
    store: Optional[Path] = None,
    resume: bool = False,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> LimitToysResult:
    """Upper limits by toys, each to a standard error of rtol relative. n: most toys of each tested value and
    hypothesis; 0: 100000."""
    n, seed = whole(n, "n"), whole(seed, "seed")
    job = Job(model, init, bounds, fixed)
    with _toys(progress) as tell:
        *numbers, status, tally, scanned, toys = _engine.limit_toys(
            model,
            level,
            rtol,
            test_stat,
            n,
            seed,
            keep,
            fix_aux,
            _newton_only(minimizer),
            _path(store),
            resume,
            _key(model, store),
            data,
            job.start,
            job.lower,
            job.upper,
            job.fixed,
            engine(device, precision, threads),
            tell,
        )
    fields: list[Any] = [
        level,
        rtol,
        *numbers,
        _STATUSES[status],
        Tally(*tally),
        [_test(one, None) for one in scanned],
        _all_toys(toys, store, resume),
    ]
    return LimitToysResult(*fields)


def goodness_of_fit_toys(
    model: Model,
    n: int = 2000,
    seed: int = 0,
    *,
    data: Optional[ArrayLike] = None,
    init: Optional[Values] = None,
    bounds: Optional[Bounds] = None,
    fixed: Optional[Fixed] = None,
    fix_aux: bool = False,
    minimizer: str = "auto",
    store: Optional[Path] = None,
    resume: bool = False,
    shard: Optional[tuple[int, int]] = None,
    device: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> GoodnessOfFitToys:
    """Of the best fit against the saturated model, by toys drawn at it: p_toys is the part of them whose
    statistic is at least the observed one."""
    n, seed, shard = _cut(n, seed, shard)
    job = Job(model, init, bounds, fixed)
    with _toys(progress) as tell:
        (twice_nll, saturated, statistic, p, ndof, status), p_toys, error, answered, tally = (
            _engine.goodness_of_fit_toys(
                model,
                n,
                seed,
                shard,
                fix_aux,
                _newton_only(minimizer),
                _path(store),
                resume,
                _key(model, store),
                data,
                job.start,
                job.lower,
                job.upper,
                job.fixed,
                engine(device, precision, threads),
                tell,
            )
        )
    return GoodnessOfFitToys(
        GoodnessOfFit(twice_nll, saturated, statistic, ndof, p, _STATUSES[status]),
        p_toys,
        error,
        answered,
        Tally(*tally),
    )


def merge(stores: Sequence[Path], output: Path) -> None:
    """Pools stores, the shards of one run, into a new one at `output`, which appears whole or not at all:
    exactly the rows of the run that was not cut."""
    _engine.merge_stores([os.fspath(store) for store in stores], os.fspath(output))


def hypotest_of_store(store: Path, keep: bool = True) -> ToyHypotestResult:
    """The answer of `hypotest_toys`, or what is behind that of `significance_toys`, from a store alone. keep:
    with every toy."""
    return _test(_engine.hypotest_of_store(os.fspath(store)), read_store(store) if keep else None)


_CODES = {status: code for code, status in enumerate(_STATUSES)}
_CHUNK = 1 << 16  # rows of a store that are Python objects at a time


def _field(value: Any) -> Any:
    """A value of a store's row: statuses have their numbers, and what is missing is NaN."""
    if isinstance(value, bytes):
        return np.frombuffer(value)
    return np.nan if value is None else _CODES.get(value, value)


def read_store(store: Path) -> NDArray[Any]:
    """All toys of a store, in the order of tested value, hypothesis and number: a structured array with the
    columns of its table `toys`; status: the place in `paritas.toys.STATUSES`; parameters and errors, where
    they were kept: rows of parameters."""
    try:
        connection = sqlite3.connect(f"file:{quote(os.path.abspath(store))}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    try:
        names = [column[1] for column in connection.execute("PRAGMA table_info(toys)")]
        if not names:
            raise _engine.InvalidInput(f"{os.fspath(store)}: holds no table of toys")
        if set(names) == set(_engine.TOY.names or ()):  # in the order of toys that were not read
            names = list(_engine.TOY.names or ())
        cursor = connection.execute(f"SELECT {', '.join(names)} FROM toys")
        p = (
            connection.execute("SELECT count(*) FROM parameters").fetchone()[0]
            if "parameters" in names
            else 0
        )
        kinds: dict[str, Any] = {
            "toy": (np.uint64,),
            "status": (np.int32,),
            "iterations": (np.uint32,),
            "parameters": (np.float64, (p,)),
            "errors": (np.float64, (p,)),
        }
        dtype = np.dtype([(name, *kinds.get(name, (np.float64,))) for name in names])
        chunks = [np.empty(0, dtype)]
        while rows := cursor.fetchmany(_CHUNK):
            chunks.append(np.array([tuple(map(_field, row)) for row in rows], dtype=dtype))
    except sqlite3.Error as error:
        raise _engine.Unreadable(f"{os.fspath(store)}: {error}") from error
    finally:
        connection.close()
    return _in_order(np.concatenate(chunks))


def _in_order(toys: NDArray[Any]) -> NDArray[Any]:
    """By tested value, hypothesis and number, whatever the chunks that they were fitted in."""
    return toys[
        np.lexsort([toys[name] for name in ("toy", "hypothesis", "mu") if name in (toys.dtype.names or ())])
    ]


def _all_toys(fitted: Optional[NDArray[Any]], store: Optional[Path], resume: bool) -> Optional[NDArray[Any]]:
    """Toys of a run: those fitted now, and with a store that was there before, also those in it."""
    if fitted is None:
        return None
    return read_store(store) if resume and store is not None else _in_order(fitted)


def _test(found: Any, toys: Optional[NDArray[Any]]) -> ToyHypotestResult:
    fields: list[Any] = [*found[:15], _STATUSES[found[15]], found[16], found[17], Tally(*found[18]), toys]
    return ToyHypotestResult(*fields)


def _cut(n: int, seed: int, shard: Optional[tuple[int, int]]) -> tuple[int, int, Optional[tuple[int, int]]]:
    """A number of toys, their seed and shard, as whole numbers."""
    if shard is not None:
        i, shards = shard
        shard = whole(i, "shard", 1, 32), whole(shards, "shards", 1, 32)
    return whole(n, "n", 1), whole(seed, "seed"), shard


@contextmanager
def _toys(progress: Progress) -> Iterator[Optional[ProgressFunction]]:
    """A run of toys with its progress. Where the library's errors say `resume`, Python says resume=True."""
    try:
        with told(progress, "toys") as tell:
            yield tell
    except _engine.InvalidArgument as error:
        if "`resume`" not in str(error):
            raise
        rephrased = _engine.InvalidArgument(str(error).replace("`resume`", "resume=True"))
        rephrased.status = error.status
        raise rephrased from None


def _newton_only(minimizer: str) -> bool:
    if minimizer not in ("auto", "newton"):
        raise _engine.InvalidArgument(f"minimizer {minimizer!r}: there are 'auto' and 'newton'")
    return minimizer == "newton"


def _path(store: Optional[Path]) -> Optional[str]:
    return None if store is None else os.fspath(store)


def _key(model: Model, store: Optional[Path]) -> list[tuple[str, str]]:
    """What the program adds to a store's key: digest of the workspace, options of the model that are not the
    default."""
    if store is None:
        return []
    entries = [("workspace", model.document.digest())]
    for name, value in model.options.items():
        short = f"{value:g}" if isinstance(value, float) else str(value)
        entries.append(
            (
                name.replace("_", "-"),
                short if not isinstance(value, float) or float(short) == value else repr(value),
            )
        )
    return entries
