"""Reads a configuration file: YAML or JSON."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Iterator, Union

from ..convert.conversion import ConversionError
from ..convert.json_nodes import read_json
from ..files import PathLike
from .places import Place, Step, SteeringError

#: levels of lists and keys in a file; a configuration has 5
DEEPEST = 50
#: a file's path, or its content
ConfigLike = Union[PathLike, "Mapping[str, Any]"]


def _yaml() -> Any:
    try:
        import yaml as module
    except ImportError as error:
        raise ImportError("YAML files need PyYAML: pip install 'paritas[steering]'") from error
    return module


def _loader(text: str) -> Any:
    yaml = _yaml()
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)


def _children(node: Any) -> Iterator[tuple[Step, Any, int]]:
    """Key or index, node and line of all that stands in a mapping or sequence."""
    if node.id == "mapping":
        for key, value in node.value:
            if key.id == "scalar" and key.value != "<<":
                yield key.value, value, key.start_mark.line + 1
    elif node.id == "sequence":
        for i, item in enumerate(node.value):
            yield i, item, item.start_mark.line + 1


def _line(text: str, path: tuple[Step, ...]) -> int:
    """The line where a path begins, or as much of the path as there is."""
    node, line = _loader(text).get_single_node(), 0
    for step in path:
        found = next(((child, at) for key, child, at in _children(node) if key == step), None)
        if found is None:
            break
        node, line = found
    return line


def _refuse_depth(text: str, name: str) -> None:
    """Deeply nested files would crash libyaml's composer, which calls itself for each level."""
    depth = 0
    loader = _loader(text)
    while loader.check_event():
        kind = type(loader.get_event()).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > DEEPEST:
            raise SteeringError(name, f"the file is nested over {DEEPEST} levels")


def _refuse_duplicates(node: Any, place: Place, seen: set[int]) -> None:
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    keys: set[Step] = set()
    for key, child, line in _children(node):
        if key in keys:
            raise SteeringError(f"{place.file}:{line}: {(place / key).name}", "this key stands here twice")
        keys.add(key)
        _refuse_duplicates(child, place / key, seen)


def _parse_yaml(text: str, name: str) -> tuple[Any, Place]:
    place = Place(name, lru_cache(maxsize=None)(lambda path: _line(text, path)))
    yaml = _yaml()
    loader = _loader(text)
    try:
        _refuse_depth(text, name)
        node = loader.get_single_node()
        if node is None:
            raise SteeringError(name, "the file is empty")
        _refuse_duplicates(node, place, set())
        return loader.construct_document(node), place
    except SteeringError:
        raise
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SteeringError(f"{name}{line}", f"this is not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise SteeringError(name, f"this is not YAML: {error}") from None


def parse_config(config: ConfigLike) -> tuple[Any, Place]:
    """The content and the place of its root. Raises SteeringError, OSError, ImportError without PyYAML."""
    if isinstance(config, Mapping):
        return config, Place("configuration", lambda path: 0)
    name = os.fspath(config)
    if name.endswith(".json"):
        try:
            return read_json(name), Place(name, lambda path: 0)
        except ConversionError as error:
            raise SteeringError(error.where, error.why) from None
    with open(name, encoding="utf-8") as file:
        try:
            return _parse_yaml(file.read(), name)
        except UnicodeDecodeError as error:
            raise SteeringError(name, f"this is not text in UTF-8: {error.reason}") from None
