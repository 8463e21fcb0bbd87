"""Toys and patch sets as tasks for a Dask cluster, or in this process without a client.

    from distributed import Client

    with Client("tcp://scheduler:8786") as client:
        test = paritas.dask.hypotest_toys("workspace.json", n=1_000_000, seed=1, client=client, progress=True)
        limits = paritas.dask.scan_patchset("BkgOnly.json", "patchset.json", "upper_limit", client=client)

Answers equal those of one process, bit for bit. Dask repeats a dead worker's tasks; each answer counts once.
Workers need the client's version of Paritas. `import paritas.dask` does not import Dask.

threads: of each task. With a client the default is 1, for workers that run a task on each thread. Use 0 (all)
    if they run one task on several cores. client: a synchronous `distributed.Client`."""

from __future__ import annotations

import math
import os
import tempfile
import zlib
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Callable, Generator, Mapping, Sequence, Union
from uuid import uuid4

import numpy as np

from . import _engine, toys
from .arrays import whole
from .files import PathLike as Path
from .keywords import Progress
from .model import FUNCTIONS, Model
from .progress import told
from .results import Tally, ToyHypotestResult
from .documents import DocumentLike, document
from .workspace import PatchSet

#: a method of Model by name, or your function(model, **options)
Function = Union[str, Callable[..., Any]]

TASKS_PER_THREAD = 4  # so that threads end together
# minimum: a shard begins with fits of its own; maximum: a dead worker loses it
TOYS_PER_SHARD = 250, 20000

_FUNCTIONS = {name for names in FUNCTIONS.values() for name in names} - {"asimov_data", "fit_batch"}


@dataclass
class Outcome:
    """The outcome of one model. status: the answer's ("answered" if it has none), or "failed" if the function
    raised or its worker died too often. error: None, or kind and message. labels: the patch's values, for
    example masses."""

    value: Any
    status: str
    error: str | None = None
    labels: tuple[Any, ...] = ()

    @property
    def converged(self) -> bool:
        """There is an answer; its fits (if any) converged."""
        return self.error is None and _converged(self.value)


def hypotest_toys(
    model: Model | DocumentLike,
    mu: float = 1.0,
    n: int = _engine.TOYS,
    seed: int = 0,
    *,
    client: Any = None,
    shards: int | None = None,
    keep: bool = True,
    store: Path | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> ToyHypotestResult:
    """`paritas.hypotest_toys` in shards: the same result, bit for bit.

    model: or a workspace. shards: number of tasks (default: 4 for each thread of the cluster, with 250 to
        20000 toys of each hypothesis in a task). keep: return all toys. store: a new file for the pooled
        store. progress: counts toys, after each task. options: test_stat, data, init, bounds, fixed, fix_aux,
        minimizer, importance, device, precision, as in `paritas.hypotest_toys`.

    A task that raises ends the run. So does a task that killed four workers (Dask's setting
    `distributed.scheduler.allowed-failures`)."""
    _check_client(client)
    for name in ("shard", "resume"):
        if name in options:
            raise _engine.InvalidArgument(f"{name}: of a run in shards the store is written once, at its end")
    if store is not None and os.path.exists(store):
        raise _engine.InvalidArgument(f"{os.fspath(store)}: is there already")
    model, n = _as_model(model), whole(n, "n", 1)
    if shards is None:
        at_once = 0 if client is None else TASKS_PER_THREAD * sum(client.nthreads().values())
        shards = max(min(max(at_once, math.ceil(n / TOYS_PER_SHARD[1])), n // TOYS_PER_SHARD[0]), 1)
    else:
        shards = whole(shards, "shards", 1, 32)
    options = {**options, "threads": _threads(client, threads)}
    tallies: dict[int, Tally] = {}
    with tempfile.TemporaryDirectory() as folder, told(progress, "toys") as tell:
        tasks = {i: (mu, n, seed, (i, shards), options) for i in range(1, shards + 1)}
        with closing(_answers(client, "paritas-toys", _shard, [model], tasks)) as answers:
            for i, answer, error in answers:
                if error is not None:
                    raise error
                packed, tallies[i] = answer
                with open(_part(folder, i), "wb") as file:
                    file.write(zlib.decompress(packed))
                if tell is not None:
                    done = sum(sum(tally.counts.values()) for tally in tallies.values())
                    # of importance sampling the first shards say how many toys there are
                    tell(done, done * shards // len(tallies) if options.get("importance") else 2 * n)
        pooled = os.fspath(store) if store is not None else os.path.join(folder, "all.db")
        toys.merge([_part(folder, i) for i in tasks], pooled)
        found = toys.hypotest_of_store(pooled, keep)
    return found.replace(tally=_sum([tallies[i] for i in tasks]))


def scan_patchset(
    workspace: DocumentLike,
    patchset: DocumentLike,
    function: Function = "hypotest",
    *,
    client: Any = None,
    patches: Sequence[str] | None = None,
    model_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> dict[str, Outcome]:
    """Runs a function on every patched workspace (or those in `patches`), in the patch set's order.

    function: the name of a function of models, for example "hypotest" or "upper_limit", which gets `options`
        and threads. Or your `function(model, **options)`, which gets threads only if you give it.
    model_options: keywords of `Model.from_workspace`: measurement, poi, interpolation codes, clips.
    progress: counts patches.

    A failed patch gets an Outcome with its error. Raises InvalidInput for another workspace's patch set,
    NotFound for an unknown name."""
    _check_client(client)
    _check_function(function)
    base, patch_document = document(workspace, "workspace"), document(patchset, "patch set")
    patch_document.verify(base)
    labels = PatchSet(patch_document).values
    names = list(labels) if patches is None else list(patches)
    for name in names:
        if name not in labels:
            raise _engine.NotFound(f"the patch set has no patch {name!r}")
    options = _options(function, client, threads, options)
    tasks = {name: (name, dict(model_options or {}), function, options) for name in names}
    found = _outcomes(client, "paritas-patches", _of_patch, [base, patch_document], tasks, progress)
    for name, outcome in found.items():
        outcome.labels = labels[name]
    return found


def map_models(
    function: Function,
    models: Mapping[str, Model | DocumentLike],
    *,
    client: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> dict[str, Outcome]:
    """Runs a function on every model (or workspace) of a mapping, in its order. function and options: as in
    `scan_patchset`. A failed model or unreadable file gets an Outcome with its error."""
    _check_client(client)
    _check_function(function)
    options = _options(function, client, threads, options)
    tasks, unread = {}, {}
    for name, given in models.items():
        try:  # workers may not see the client's files
            tasks[name] = (given if isinstance(given, Model) else document(given, name), function, options)
        except Exception as error:
            unread[name] = _failed(error)
    found = {**unread, **_outcomes(client, "paritas-models", _of_model, [], tasks, progress)}
    return {name: found[name] for name in models}


# ---- tasks: (shared arguments, own arguments) ----


def _shard(
    model: Model, mu: float, n: int, seed: int, shard: tuple[int, int], options: dict[str, Any]
) -> tuple[bytes, Tally]:
    with tempfile.TemporaryDirectory() as folder:
        path = _part(folder, shard[0])
        found = toys.hypotest_toys(model, mu, n, seed, keep=False, store=path, shard=shard, **options)
        with open(path, "rb") as file:
            return zlib.compress(file.read(), 1), found.tally


def _of_patch(
    workspace: _engine.Document,
    patchset: _engine.Document,
    name: str,
    model_options: dict[str, Any],
    function: Function,
    options: dict[str, Any],
) -> Outcome:
    return _called(function, Model.from_workspace(patchset.apply(workspace, name), **model_options), options)


def _of_model(model: Model | _engine.Document, function: Function, options: dict[str, Any]) -> Outcome:
    return _called(function, _as_model(model), options)


def _called(function: Function, model: Model, options: dict[str, Any]) -> Outcome:
    value = getattr(model, function)(**options) if isinstance(function, str) else function(model, **options)
    return Outcome(value, _status(value))


def _itself(given: Any) -> Any:
    return given


def _run(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A task on a worker of the client's version."""
    if version != _engine.VERSION:
        raise _engine.Error(f"the client has Paritas {version}, this worker {_engine.VERSION}")
    return function(*arguments)


def _answers(
    client: Any,
    name: str,
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Mapping[Any, tuple[Any, ...]],
) -> Generator[tuple[Any, Any, BaseException | None], None, None]:
    """Yields (key, answer, error) as tasks end: function(*shared, *task). Shared arguments are a
    task: sent once to a worker, remade if it dies."""
    if client is None:
        for key, own in tasks.items():
            try:
                answer = function(*shared, *own)
            except Exception as error:
                yield key, None, error
            else:
                yield key, answer, None
        return
    from asyncio import CancelledError

    from distributed import as_completed

    run = f"{name}-{uuid4().hex}"
    common = [client.submit(_itself, one, key=f"{run}-shared-{i}") for i, one in enumerate(shared)]
    futures = {
        client.submit(_run, _engine.VERSION, function, *common, *own, key=f"{run}-{i}"): key
        for i, (key, own) in enumerate(tasks.items())
    }
    try:
        for future in as_completed(list(futures)):
            key = futures.pop(future)
            try:
                answer = future.result()
            except (Exception, CancelledError) as error:
                yield key, None, error
            else:
                yield key, answer, None
            future.release()
    finally:  # cancels the rest if the caller gave up
        if client.status == "running":
            client.cancel([*futures, *common])


def _outcomes(
    client: Any,
    name: str,
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Mapping[str, tuple[Any, ...]],
    progress: Progress,
) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    with (
        told(progress, "models") as tell,
        closing(_answers(client, name, function, shared, tasks)) as answers,
    ):
        for key, answer, error in answers:
            found[key] = answer if error is None else _failed(error)
            if tell is not None:
                tell(len(found), len(tasks))
    return {key: found[key] for key in tasks}


def _failed(error: BaseException) -> Outcome:
    return Outcome(None, "failed", f"{type(error).__name__}: {error}")


def _check_client(client: Any) -> None:
    if client is not None and (
        getattr(client, "asynchronous", None) is not False or not hasattr(client, "nthreads")
    ):
        raise _engine.InvalidArgument("client: a distributed.Client that is not asynchronous is wanted")


def _check_function(function: Function) -> None:
    if isinstance(function, str) and function not in _FUNCTIONS:
        raise _engine.InvalidArgument(f"function {function!r}: there are {', '.join(sorted(_FUNCTIONS))}")


def _threads(client: Any, threads: int | None) -> int | None:
    return 1 if threads is None and client is not None else threads


def _options(function: Function, client: Any, threads: int | None, options: dict[str, Any]) -> dict[str, Any]:
    if isinstance(function, str):
        threads = _threads(client, threads)
    return options if threads is None else {**options, "threads": threads}


def _as_model(given: Model | DocumentLike) -> Model:
    return given if isinstance(given, Model) else Model.from_workspace(given)


def _part(folder: str, i: int) -> str:
    return os.path.join(folder, f"{i}.db")


def _sum(tallies: Sequence[Tally]) -> Tally:
    rows = np.array([one.row for one in tallies])
    total = rows[0].copy()
    for name in rows.dtype.names or ():
        total[name] = rows[name].sum(axis=0)
    return Tally(total)


def _converged(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_converged(one) for one in value)
    return bool(np.all(getattr(value, "converged", True)))


def _status(value: Any) -> str:
    """The first status that is not "converged"."""
    if isinstance(value, (list, tuple)):
        statuses = [_status(one) for one in value]
        return next(
            (status for status in statuses if status not in ("converged", "answered")),
            statuses[0] if statuses else "answered",
        )
    status = getattr(value, "status", None)
    if isinstance(status, str):
        return status
    if not hasattr(value, "converged"):
        return "answered"
    return "converged" if _converged(value) else "not converged"


__all__ = ["Outcome", "hypotest_toys", "map_models", "scan_patchset"]
