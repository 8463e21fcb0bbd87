"""Parts of an HS3 document: tables, analyses, data."""

import bisect
import math
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional

from .conversion import ConversionError
from .json_nodes import Node

#: of all axes of a channel
MOST_BINS = 1_000_000
_TABLES = ("distributions", "functions", "data", "likelihoods", "domains", "parameter_points")


@dataclass(eq=False)
class Analysis:
    """An analysis, or a likelihood if there are none. Chosen ones have parameter values by name."""

    name: str
    node: Node
    likelihood: Node
    poi: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    init: str = "default_values"
    point: dict[str, tuple[float, bool]] = field(default_factory=dict)  # value, is it constant?
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    half_open: dict[str, Node] = field(default_factory=dict)  # one bound

    def value(self, parameter: str) -> float:
        return self.point.get(parameter, (1.0, False))[0]

    def constant(self, parameter: str) -> bool:
        return self.point.get(parameter, (1.0, False))[1]

    def data(self) -> str:
        """Equal for measurements of one workspace."""
        keys = ("distributions", "data", "aux_distributions")
        return repr([self.likelihood.value.get(key) for key in keys])

    def take_bounds(self, node: Node) -> None:
        name, low, high = node["name"].string(), node.get("min"), node.get("max")
        if low and high:
            self.bounds[name] = (low.number(), high.number())
        elif low or high:
            self.half_open[name] = node


class Document:
    def __init__(self, document: Any) -> None:
        self.root = Node(document).object(
            "distributions data metadata", "likelihoods functions domains parameter_points analyses misc"
        )
        metadata = self.root["metadata"].object("hs3_version", "packages authors publications description")
        version = metadata["hs3_version"]
        if not version.string().startswith(("0.1.9", "0.2")):
            raise version.refuse(f"only version 0.2 is read, not {version.value}")
        self.notes: list[str] = []
        self.used: set[tuple[str, str]] = set()  # (table, name)
        self.written_out = 0  # letters and parts of functions of parameters
        self.tables: dict[str, dict[str, Node]] = {}
        for key in _TABLES:
            table = self.tables[key] = {}
            for node in self.root.get(key):
                if table.setdefault(node["name"].string(), node) is not node:
                    raise node.refuse(f"{key} has a second '{node['name'].value}'")

    def look_up(self, key: str, node: Node) -> Node:
        name = node.string()
        if name not in self.tables[key]:
            raise node.refuse(f"'{name}' is not in {key}")
        self.used.add((key, name))
        return self.tables[key][name]

    def _analysis(self, node: Node) -> Analysis:
        node.object("name likelihood", "domains domain parameters_of_interest init prior")
        domains = node.get("domains") or node.get("domain")
        listed = [domains] if isinstance(domains.value, str) else list(domains)
        for item in listed:
            self.look_up("domains", item)
        found = Analysis(node["name"].string(), node, self.look_up("likelihoods", node["likelihood"]))
        found.poi, found.domains = (
            node.get("parameters_of_interest").strings(),
            [item.value for item in listed],
        )
        if node.get("init"):
            found.init = self.look_up("parameter_points", node["init"])["name"].string()
        if node.get("prior"):
            self.notes.append(node["prior"].at("priors are not part of a likelihood; this one was left out"))
        return found

    def _by_axes(self) -> Analysis:
        """Pairs of a document without likelihoods: each channel with the only data of the same axes."""
        channels, chosen = [], []
        for name, node in self.tables["distributions"].items():
            if node.get("type").value != "histfactory_dist":
                continue
            axes = _axis_names(node["axes"])
            found = [
                one for one, data in self.tables["data"].items() if _axis_names(data.get("axes")) == axes
            ]
            if len(found) != 1 or not axes:
                raise ConversionError(
                    "/likelihoods",
                    f"there is none, and {len(found) or 'no'} data have the axes of '{name}': nothing says "
                    "which data belong to it",
                )
            channels.append(name)
            chosen += found
        if not channels:
            raise ConversionError("/distributions", "there is no histfactory_dist among them")
        self.notes.append("/likelihoods: there is none; each channel was joined with the data of its axes")
        node = Node({"name": "likelihood", "distributions": channels, "data": chosen}, "/likelihoods")
        return Analysis("likelihood", node, node)

    def choose(self, wanted: Optional[str]) -> list[Analysis]:
        """`wanted`, or that of the one data set that is not Asimov; then others of these channels
        and data."""
        every = [self._analysis(node) for node in self.root.get("analyses")]
        every = every or [Analysis(name, node, node) for name, node in self.tables["likelihoods"].items()]
        every = every or [self._by_axes()]
        groups: dict[str, list[Analysis]] = {}
        for analysis in every:
            groups.setdefault(analysis.data(), []).append(analysis)
        if wanted is not None:
            candidates = [analysis for analysis in every if analysis.name == wanted][:1]
            why = f"there is no analysis '{wanted}', only {', '.join(analysis.name for analysis in every)}"
        else:
            candidates = [group[0] for group in groups.values()]
            names = ", ".join(analysis.name for analysis in candidates)
            why = f"they differ in channels or data, and a workspace has one set of data; choose one: {names}"
            if len(candidates) > 1:
                candidates = [
                    analysis
                    for analysis in candidates
                    if not any(
                        str(item.value).startswith("asimovData") for item in analysis.likelihood.get("data")
                    )
                ]
        if len(candidates) != 1:
            raise ConversionError("/analyses", why)
        first = candidates[0]
        chosen = sorted(groups[first.data()], key=lambda analysis: analysis is not first)
        for analysis in every:
            if analysis not in chosen:
                self.notes.append(
                    analysis.node.at(f"'{analysis.name}' has other channels or data and was left out")
                )
        for analysis in chosen:
            self._read_values(analysis)
        return chosen

    def _read_values(self, analysis: Analysis) -> None:
        """Starts, and bounds: of the analysis' domains, the default domain, or ROOT's in the point."""
        points = self.tables["parameter_points"]
        point = points.get(analysis.init) or (next(iter(points.values())) if len(points) == 1 else None)
        if point:
            for item in point.object("name parameters")["parameters"]:
                item.object("name value", "const error nbins min max")
                analysis.point[item["name"].string()] = (
                    item["value"].number(),
                    item.get("const").truth(),
                )
                analysis.take_bounds(item)
        elif points:
            self.notes.append(
                f"/parameter_points: '{analysis.name}' names none of them and none is called default_values; "
                "pyhf's starting values were taken"
            )
        for name in ("default_domain", *analysis.domains):
            if name in self.tables["domains"]:
                node = self.tables["domains"][name].object("name type axes")
                if node["type"].string() != "product_domain":
                    raise node["type"].refuse(f"the domain type '{node['type'].value}' is not known here")
                for axis in node["axes"]:
                    analysis.take_bounds(axis.object("name", "min max"))

    def data(self, entry: Node) -> Node:
        node = self.look_up("data", entry)
        kind = node.get("type").value
        if kind == "binned":
            node.object("name type axes contents", "uncertainty")
            if node.get("uncertainty"):
                self.notes.append(
                    node["uncertainty"].at("errors of data are not part of a likelihood; they were left out")
                )
        elif kind == "point":
            node.object("name type value", "uncertainty axes")
        elif kind == "unbinned":
            node.object("name type axes entries", "weights entries_uncertainties")
        else:
            raise node.inexpressible(f"data of type {kind!r}")
        return node


def counts(data: Node, axes: Node) -> list[float]:
    """Counts of binned data, or of unbinned ones in the bins of a channel, whose density is constant in
    each."""
    if data["type"].value == "binned":
        found = data["contents"].numbers(bins(axes))
        _check_axes(data["axes"], axes)
        return found
    edges = {axis["name"].string(): _edges(axis) for axis in axes}
    order = _axis_names(data["axes"])
    if sorted(order) != sorted(edges):
        raise data["axes"].refuse(f"must be those of the channel: {', '.join(edges)}")
    nbins = math.prod(len(one) - 1 for one in edges.values())
    if nbins > MOST_BINS:
        raise axes.refuse(f"have {nbins} bins, more than {MOST_BINS}")
    found = [0.0] * nbins
    entries = list(data["entries"])
    weights = data["weights"].numbers(len(entries)) if data.get("weights") else [1.0] * len(entries)
    for entry, weight in zip(entries, weights):
        point, index = dict(zip(order, entry.numbers(len(order)))), 0
        for name, limits in edges.items():
            if not limits[0] <= point[name] <= limits[-1]:
                raise entry.refuse(f"{name} = {point[name]} is outside of the channel's bins")
            place = min(bisect.bisect_right(limits, point[name]), len(limits) - 1) - 1
            index = index * (len(limits) - 1) + place
        found[index] += weight
    return found


def _axis_names(axes: Node) -> list[str]:
    return [axis["name"].string() for axis in axes]


def _edges(axis: Node) -> list[float]:
    given = axis.get("edges") or axis.get("bounds")
    if given:
        edges = given.numbers()
        if len(edges) < 2 or any(low >= high for low, high in zip(edges, edges[1:])):
            raise given.refuse("must be two rising numbers or more")
        return edges
    low, high, count = axis["min"].number(), axis["max"].number(), int(axis["nbins"].number())
    if count < 1 or not low < high:
        raise axis.refuse("must have bins between min and max")
    if count > MOST_BINS:
        raise axis.refuse(f"has {count} bins, more than {MOST_BINS}")
    return [low + (high - low) * i / count for i in range(count)] + [high]


def _check_axes(data: Node, channel: Node) -> None:
    """Data have the channel's bins, as far as both say."""
    names, others = _axis_names(channel), _axis_names(data)
    for axis, name in zip(channel, names):
        if names.count(name) > 1:
            raise axis.refuse(f"a second axis is called '{name}'")
    if sorted(names) == sorted(others) and names != others:
        raise data.refuse(f"must be in the order of the channel: {', '.join(names)}")
    known = {name: _edges(axis) for axis, name in zip(channel, names) if _has_edges(axis)}
    for axis, name in zip(data, others):
        if name in known and _has_edges(axis):
            edges, reach = _edges(axis), 1e-9 * (known[name][-1] - known[name][0])
            if len(edges) != len(known[name]) or any(abs(a - b) > reach for a, b in zip(edges, known[name])):
                raise axis.refuse(f"its bins are not those of the channel's axis '{name}'")


def _has_edges(axis: Node) -> bool:
    return bool(axis.get("edges") or axis.get("bounds")) or all(map(axis.get, ("min", "max", "nbins")))


def bins(axes: Iterable[Node]) -> Optional[int]:
    """Bins of all axes together; None if one does not say."""
    total = 1
    for axis in axes:
        axis.object("name", "min max nbins edges bounds")
        edges = axis.get("edges") or axis.get("bounds")
        if not edges and not axis.get("nbins"):
            return None
        total *= int(axis["nbins"].number()) if axis.get("nbins") else len(edges.numbers()) - 1
    return total
