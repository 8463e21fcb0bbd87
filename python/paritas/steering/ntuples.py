"""Templates filled from trees in ROOT files. Each tree is read once, in chunks, for all of its templates."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from ..convert.root_files import uproot
from .histograms import Floats, Histogram
from .open_files import OpenFiles, kind_of
from .places import Place, SteeringError, nearest
from .requests import TemplateRequest

#: read at once from a tree
CHUNK = "100 MB"
#: settings that are expressions
EXPRESSIONS = ("Variable", "Weight", "Filter")


@dataclass
class Filling:
    """One histogram while it is filled. places: of Tree and of the expressions. expressions: of Variable, and
    of Weight and Filter if they are expressions. weight: of every event if Weight is none."""

    edges: Floats
    places: dict[str, Place]
    expressions: dict[str, str]
    weight: float = 1.0
    sums: Floats = field(init=False)  #: of weights and of squared weights, (2, bins)

    def __post_init__(self) -> None:
        self.sums = np.zeros((2, len(self.edges) - 1))

    def add(self, chunk: "Chunk") -> None:
        """Adds events to the sums one by one, in their order: chunks of any size give the same bits."""
        selected, bins = chunk.selection(self)
        if "Weight" in self.expressions:
            weights = chunk.events("Weight", self)[selected]
        else:
            weights = np.ones_like(chunk.events("Variable", self)[selected]) * self.weight
        weights = np.asarray(weights, dtype=float)
        if not np.isfinite(weights).all():
            raise self.places["Weight"].refuse("a selected event has a weight that is not finite")
        for i, terms in enumerate((weights, weights * weights)):
            self.sums[i] = np.bincount(bins, np.concatenate((self.sums[i], terms)))


class Chunk:
    """Some events of a tree. Expressions are converted once, and selections made once."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        self.known: dict[str, NDArray[Any]] = {}
        self.selections: dict[Any, tuple[NDArray[Any], NDArray[Any]]] = {}

    def events(self, setting: str, filling: Filling) -> NDArray[Any]:
        expression = filling.expressions[setting]
        if expression not in self.known:
            try:
                found = self.arrays[expression].to_numpy()
            except ValueError:
                found = np.empty((0, 0))
            if found.ndim != 1 or np.ma.is_masked(found):
                raise filling.places[setting].refuse(
                    f"'{expression}' has not one number for each event; the first of several is X[:,0]"
                )
            self.known[expression] = found
        return self.known[expression]

    def selection(self, filling: Filling) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers of the events in bins that pass the filter; all bins once, then the bins of these events.
        A bin's upper edge is outside."""
        key = (filling.expressions["Variable"], filling.expressions.get("Filter"), filling.edges.tobytes())
        if key not in self.selections:
            events = np.asarray(self.events("Variable", filling), dtype=float)
            count = len(filling.edges) - 1
            bins = np.searchsorted(filling.edges, events, side="right") - 1  # NaN is above all
            selected = (bins >= 0) & (bins < count)
            if "Filter" in filling.expressions:
                selected &= self.events("Filter", filling) != 0
            numbers = np.flatnonzero(selected)
            self.selections[key] = numbers, np.concatenate((np.arange(count), bins[numbers]))
        return self.selections[key]


def _filling(request: TemplateRequest) -> tuple[str, Filling]:
    """The name of a template's tree, and the template, still empty."""
    region, sample = request.region, request.sample
    edges = region.setting.get("Binning")
    if edges is None:
        raise region.place.refuse("'Binning' is missing: templates are filled from ntuples")
    found = {
        "Tree": request.find("Tree", sample),
        "Variable": request.find("Variable", region),
        "Weight": request.find("Weight", sample),
        "Filter": request.find("Filter", sample, region),
    }
    for key in ("Tree", "Variable"):
        if found[key][0] is None:
            raise found[key][1].refuse(f"'{key}' is missing: templates are filled from ntuples")
    places = {key: place for key, (_, place) in found.items()}
    expressions = {key: found[key][0] for key in EXPRESSIONS if found[key][0] is not None}
    filling = Filling(np.asarray(edges, dtype=float), places, expressions)
    try:
        filling.weight = float(expressions.get("Weight", "1.0"))
        expressions.pop("Weight", None)
    except ValueError:
        pass  # an expression
    return found["Tree"][0], filling


def _matches(path: str) -> list[str]:
    """A path, or all that a pattern with wildcards finds, sorted."""
    return (sorted(glob.glob(path)) or [path]) if glob.has_magic(path) and "://" not in path else [path]


def fill_histograms(requests: Iterable[TemplateRequest], folder: str, notes: list[str]) -> list[Histogram]:
    """Fills histograms in the order of the requests. folder: where relative paths start."""
    fillings: list[Filling] = []
    trees: dict[tuple[str, ...], tuple[Place, list[Filling]]] = {}
    with OpenFiles(folder) as files:
        for request in requests:
            tree, filling = _filling(request)
            parts = {
                "RegionPath": request.find("RegionPath", request.region),
                "SamplePath": request.find("SamplePath", request.sample),
            }
            paths, place = request.path(parts, notes)
            fillings.append(filling)
            trees.setdefault((tree, *paths), (place, []))[1].append(filling)
        for (tree, *paths), (place, members) in trees.items():
            for path in [match for path in paths for match in _matches(files.full(path))]:
                files.open(path, place)
                events = files.object(path, tree, members[0].places["Tree"])
                _fill(events, f"tree '{tree}' in {path}", members)
    return [Histogram(one.sums[0], one.sums[1], one.edges) for one in fillings]


def _fill(events: Any, where: str, fillings: list[Filling]) -> None:
    if not hasattr(events, "iterate"):
        raise fillings[0].places["Tree"].refuse(f"{where} is a {kind_of(events)}, not a tree")
    expressions = sorted({one for filling in fillings for one in filling.expressions.values()})
    try:
        for arrays in events.iterate(expressions, step_size=CHUNK):
            chunk = Chunk(arrays)
            for filling in fillings:
                filling.add(chunk)
    except SteeringError:
        raise
    except Exception as error:  # uproot evaluates what users wrote: anything can fail
        raise _cause(events, where, fillings, error) from error


def _cause(events: Any, where: str, fillings: list[Filling], error: Exception) -> SteeringError:
    """The first expression that fails alone, with its place."""
    for filling in fillings:
        for setting, expression in filling.expressions.items():
            place = filling.places[setting]
            try:
                events.arrays([expression])[expression]
            except uproot().KeyInFileError as reason:
                missing = str(reason.key)
                return place.refuse(f"{where} has no branch '{missing}'{nearest(missing, events.keys())}")
            except Exception as reason:
                why = " ".join(str(reason).split())
                return place.refuse(f"'{expression}' cannot be evaluated on {where}: {why:.300}")
    return fillings[0].places["Tree"].refuse(f"{where} cannot be read: {error}")
