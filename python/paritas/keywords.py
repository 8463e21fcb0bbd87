"""Keywords that many functions share, such as the device."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Sequence, TypedDict, Union

from ._engine import Engine, Option, options
from .devices import ProgressFunction, engine
from .other_programs import keyword_hint
from .progress import told

#: a bar, a function of (finished, all jobs), or none
Progress = Union[bool, ProgressFunction, None]


class Place(TypedDict, total=False):
    device: str | None  #: a name that `devices` lists, or "auto"
    precision: str | None  #: "f64", "f32" (polished in f64) or "auto"
    threads: int | None  #: CPU threads; 0: all


class Where(Place, total=False):
    progress: Progress


_DEFAULTS = {
    "max_iterations": 0,
    "starts": 0,
    "fix_aux": False,
    "minimizer": "auto",
    "resume": False,
    "keep": True,
}


#: what keywords of several functions are, for their docstrings
_DESCRIBED = {
    "level": "1 less the confidence level",
    "test_stat": '"qtilde", "q" or "q0"',
    "n": "number of toys; of a test: of each hypothesis",
    "seed": "toy t depends on it and t alone",
    "device": 'a name that `devices` lists, or "auto"; None: as set_defaults says',
    "precision": '"f64", "f32" (polished in f64) or "auto"',
    "threads": "of the CPU; 0: all",
    "progress": "True for a bar, or a function of (finished jobs, all jobs)",
    "init": "start values, by name or as an array (parameters,); the rest is the model's",
    "bounds": "by name as (low, high), or as an array (parameters, 2)",
    "fixed": "names, values by name, or an array (parameters,) of flags",
    "data": "array (main + auxiliary,): counts, then auxiliary data; None: observed",
    "max_iterations": "of each fit; 0: the default of the minimizer, 200 for newton",
    "starts": "starts of each fit; 1: only the usual one; 0: as many as the lowest minimum needs",
    "poi": "name of the parameter of interest; None: the model's",
    "fix_aux": "keep auxiliary data as observed",
    "shard": "(i, n): draw part i, from 1, of n",
    "minimizer": '"auto" (quasi-Newton if faster) or "newton"',
    "store": "an SQLite file that keeps every toy",
    "resume": "continue an existing store",
    "keep": "return every toy",
    "importance": "importance sampling: True, or the strengths at which to draw",
}


def default(struct: str, name: str) -> Any:
    """What an option of the library is by default."""
    return options(struct)[name].default


def takes(keywords: Any, *functions: Callable[..., Any]) -> None:
    """Shows these keywords in the signatures of functions with `**given`, or before their `**options`."""
    for function in functions:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        names = [name for name in keywords.__annotations__ if name not in signature.parameters]
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_DEFAULTS.get(name),
                annotation=keywords.__annotations__[name].__forward_arg__,
            )
            for name in names
        ]
        others = [one for name, one in signature.parameters.items() if name == "options"]
        parameters = [*own, *shared, *others]
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        function.needs_poi = "poi" in keywords.__annotations__  # type: ignore[attr-defined]
        function.__doc__ = _taught(function, shared)


def _taught(function: Callable[..., Any], shared: Sequence[inspect.Parameter]) -> str:
    """The docstring with the shared keywords, and the numbers of the result with their units."""
    lines = [inspect.cleandoc(function.__doc__ or "")]
    own = [
        one
        for name, one in inspect.signature(function, follow_wrapped=False).parameters.items()
        if name in _DESCRIBED and one not in shared and f"{name}:" not in lines[0]
    ]
    described = [*own, *shared]
    if described:
        lines += ["", "Keywords:"]
    for one in described:
        lines.append(f"    {one.name}: {_DESCRIBED[one.name]}. Default: {one.default!r}.")
    returned = str(function.__annotations__.get("return", ""))
    record = getattr(function.__globals__.get(returned), "record", None)
    if record is not None:
        lines += ["", f"Returns a {returned}:"]
        for field in record.fields:
            unit = f" ({field.unit})" if field.unit else ""
            lines.append(f"    {field.key}: {field.doc}{unit}.")
    return "\n".join(lines)


def _described(option: Option) -> str:
    """One line of a docstring: what the option is, its unit and default."""
    text = f"{option.doc} ({option.unit})" if option.unit else option.doc
    return f"    {option.name}: {text}. Default: {option.default!r}."


def takes_options(struct: str, *functions: Callable[..., Any], without: Sequence[str] = ()) -> None:
    """Shows a struct of the library's options in the signatures of functions, in place of their `**options`,
    with its defaults, and in their docstrings."""
    types = {"real": "float", "word": "str", "truth": "bool"}
    chosen = [option for name, option in options(struct).items() if name not in without]
    shown = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=types.get(one.kind, "int"),
        )
        for one in chosen
    ]
    for function in functions:
        signature = inspect.signature(function)
        others = [one for name, one in signature.parameters.items() if name != "options"]
        function.__signature__ = signature.replace(parameters=[*others, *shown])  # type: ignore[attr-defined]
        lines = [inspect.cleandoc(function.__doc__ or ""), "", "Options:", *map(_described, chosen)]
        function.__doc__ = "\n".join(lines)


def check_keywords(function: Any, given: Mapping[str, Any]) -> None:
    """Refuses keywords that a function of `takes` does not take, and names the one that was meant."""
    known = function.__signature__.parameters
    for name in given:
        if name not in known:
            hint = keyword_hint(function.__name__, name, known)
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")


def engine_of(function: Any, where: Any) -> Engine:
    """The engine for a call's keywords of Place."""
    if not where:
        return engine()
    check_keywords(function, where)
    return engine(**where)


def place(given: Any) -> Engine:
    """The engine for keywords of Place, which are taken out of `given`."""
    return engine(given.pop("device", None), given.pop("precision", None), given.pop("threads", None))


@contextmanager
def running(given: Any, what: str) -> Iterator[tuple[Engine, ProgressFunction | None]]:
    """Engine and progress function for keywords of Where, which are taken out of `given`. what: the jobs of a
    bar."""
    used = place(given)
    with told(given.pop("progress", None), what) as tell:
        yield used, tell
