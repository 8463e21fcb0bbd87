"""From an HS3 document to a pyhf workspace.

    analyses ── choose ──► one set of data ──► channels ──► samples ──► modifiers
                                                                          │ parameter, constraint, data
               scalars (one parameter: alpha, factor) and sets (one parameter a bin: gammas) ◄──┘
    scalars, sets, domains, parameter points ──► names, modifiers, measurements

Modifiers are collected first and written last: whether a set of gammas is pyhf's shapesys, staterror or
shapefactor depends on all samples that share it and on what is held constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Optional

from . import names as root_names
from .conversion import Conversion, ConversionError, Node, settings
from .hs3_codes import DEFAULT, pyhf_code
from .hs3_constraints import KINDS, Constraint, Constraints

_DEFAULT_BOUNDS = {"shapefactor": (0.0, 10.0), "shapesys": (1e-10, 10.0), "staterror": (1e-10, 10.0)}


@dataclass
class _Sample:
    name: str
    contents: list[float]
    errors: Optional[list[float]]
    node: Node
    modifiers: list[dict[str, Any]] = field(default_factory=list)
    scalars: list[tuple[str, str, Any]] = field(default_factory=list)  # type, parameter, data


@dataclass
class _Channel:
    name: str
    nbins: int
    samples: list[_Sample]
    data: list[float]


@dataclass
class _Scalar:
    """One parameter: `alpha` (normsys, histosys) or `factor` (normfactor)."""

    role: str
    constraint: Optional[Constraint]
    node: Node
    name: str = ""

    def is_lumi(self) -> bool:
        """A factor with a Gaussian constraint, for which pyhf has one modifier, lumi."""
        return self.role == "factor" and self.constraint is not None and self.constraint.kind == "Gauss"


@dataclass
class _Set:
    """One parameter a bin, shared by samples of one channel (free ones by several channels)."""

    parameters: list[str]
    channel: _Channel
    node: Node
    label: str
    kind: Optional[str]  # Gauss, Poisson, Const; None: free, or what named constraints say
    relative: Optional[list[float]] = None
    statistical: bool = False
    vals: Optional[Node] = None
    samples: list[_Sample] = field(default_factory=list)
    lengths: dict[str, int] = field(default_factory=dict)  # by channel
    name: str = ""
    type: str = ""


@dataclass
class _Analysis:
    name: str
    node: Node
    likelihood: Node
    poi: list[str]
    domains: list[str]
    init: Optional[str]

    def data(self) -> tuple[Any, ...]:
        """What two analyses must share to be measurements of one workspace."""
        return tuple(
            repr(self.likelihood.value.get(key)) for key in ("distributions", "data", "aux_distributions")
        )

    def is_asimov(self) -> bool:
        """Whether its data are predictions, by the name that ROOT gives those."""
        data = self.likelihood.get("data")
        return any(str(entry.value).startswith("asimovData") for entry in data or ())


class Reader:
    def __init__(
        self,
        document: Any,
        names: str,
        analysis: Optional[str],
        shapesys_vals: Optional[str],
        poisson_staterror: str,
    ) -> None:
        self.root = Node(document).object(
            "distributions data likelihoods metadata", "functions domains parameter_points analyses misc"
        )
        self.name_style, self.wanted, self.vals_are, self.poisson = (
            names,
            analysis,
            shapesys_vals,
            poisson_staterror,
        )
        self.root["metadata"].object("hs3_version", "packages authors publications description")
        version = self.root["metadata"]["hs3_version"].string()
        if not version.startswith(("0.1.9", "0.2")):
            raise self.root["metadata"]["hs3_version"].refuse(f"version 0.2 is read, not {version}")
        self.notes: list[str] = []
        self.tables = {
            key: self._table(key)
            for key in ("distributions", "functions", "data", "likelihoods", "domains", "parameter_points")
        }
        self.used: set[str] = set()
        self.codes: dict[str, tuple[str, str]] = {}
        self.scalars: dict[str, _Scalar] = {}
        self.sets: dict[str, _Set] = {}  # by first parameter
        self.channels: list[_Channel] = []
        self.half_open: dict[str, str] = {}  # parameters with one bound, and where it stands

    def _table(self, key: str) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for node in self.root.get(key) or ():
            if not isinstance(node.value, dict) or not isinstance(node.value.get("name"), str):
                raise node.refuse("an object with a 'name' is wanted")
            if node.value["name"] in found:
                raise node.refuse(f"{key} has a second '{node.value['name']}'")
            found[node.value["name"]] = node
        return found

    def _look_up(self, key: str, node: Node) -> Node:
        found = self.tables[key].get(node.string())
        if found is None:
            raise node.refuse(f"'{node.value}' is not in {key}")
        return found

    # Which analyses

    def _analyses(self) -> list[_Analysis]:
        found = []
        for node in self.root.get("analyses") or ():
            node.object("name likelihood", "domains domain parameters_of_interest init prior")
            domains = node.get("domains") or node.get("domain")
            listed = [] if domains is None else [domains] if isinstance(domains.value, str) else list(domains)
            for item in listed:
                self._look_up("domains", item)
            init = node.get("init")
            if init is not None:
                self._look_up("parameter_points", init)
            if node.get("prior") is not None:
                self.notes.append(f"{node.path}/prior: a prior is no part of a likelihood and was left out")
            poi = node.get("parameters_of_interest")
            found.append(
                _Analysis(
                    node["name"].string(),
                    node,
                    self._look_up("likelihoods", node["likelihood"]),
                    poi.strings() if poi else [],
                    [item.string() for item in listed],
                    init.string() if init else None,
                )
            )
        if not found:
            found = [
                _Analysis(name, node, node, [], [], None) for name, node in self.tables["likelihoods"].items()
            ]
        if not found:
            raise ConversionError(
                "/likelihoods", "there is no likelihood: nothing says which data belong to which distribution"
            )
        return found

    def _choose(self) -> list[_Analysis]:
        every = self._analyses()
        if self.wanted is not None:
            first = next((analysis for analysis in every if analysis.name == self.wanted), None)
            if first is None:
                raise ConversionError(
                    "/analyses",
                    f"there is no analysis '{self.wanted}', only "
                    + ", ".join(analysis.name for analysis in every),
                )
        else:
            groups = {analysis.data(): analysis for analysis in reversed(every)}
            real = [analysis for analysis in groups.values() if not analysis.is_asimov()]
            if len(groups) > 1 and len(real) != 1:
                raise ConversionError(
                    "/analyses",
                    "analyses differ in channels or data, of which a workspace has one set; choose one: "
                    + ", ".join(analysis.name for analysis in groups.values()),
                )
            first = real[0] if len(groups) > 1 else every[0]
        chosen = [first] + [
            analysis for analysis in every if analysis is not first and analysis.data() == first.data()
        ]
        for analysis in every:
            if analysis not in chosen:
                self.notes.append(
                    f"{analysis.node.path}: '{analysis.name}' has other channels or data and was left out"
                )
        return chosen

    # Parameter points and domains

    def _point_node(self, analysis: _Analysis) -> Optional[Node]:
        points = self.tables["parameter_points"]
        return points.get(analysis.init or "default_values") or (
            next(iter(points.values())) if len(points) == 1 else None
        )

    def _point(self, analysis: _Analysis) -> dict[str, tuple[float, bool]]:
        """Values by name, and whether they are constant."""
        node = self._point_node(analysis)
        if node is None:
            if self.tables["parameter_points"]:
                self.notes.append(
                    f"/parameter_points: '{analysis.name}' names none of them and none is called default_values; "
                    "pyhf's starting values were taken"
                )
            return {}
        found: dict[str, tuple[float, bool]] = {}
        for item in node.object("name parameters")["parameters"]:
            item.object("name value", "const error nbins min max")
            found[item["name"].string()] = (item["value"].number(), bool(item.value.get("const", False)))
        return found

    def _bounds(self, analysis: _Analysis) -> dict[str, tuple[float, float]]:
        """By name: those of the analysis' domains, else of the default domain, else those that ROOT gives
        with the parameter point."""
        found: dict[str, tuple[float, float]] = {}
        point = self._point_node(analysis)
        for item in point["parameters"] if point is not None else ():
            self._take_bounds(item, found)
        for name in ["default_domain", *analysis.domains]:
            node = self.tables["domains"].get(name)
            if node is None:
                continue
            if node.object("name type axes")["type"].string() != "product_domain":
                raise node["type"].refuse(f"the domain type '{node['type'].value}' is not known here")
            for axis in node["axes"]:
                self._take_bounds(axis.object("name", "min max"), found)
        return found

    def _take_bounds(self, node: Node, found: dict[str, tuple[float, float]]) -> None:
        name, low, high = node["name"].string(), node.get("min"), node.get("max")
        if low is not None and high is not None:
            found[name] = (low.number(), high.number())
        elif low is not None or high is not None:
            self.half_open[name] = node.path

    # Channels

    def _axes_bins(self, node: Node) -> Optional[int]:
        """The number of bins of all axes together, their contents being flattened row by row; None where an
        axis does not say."""
        total = 1
        for axis in node:
            axis.object("name", "min max nbins edges bounds")
            if axis.get("nbins") is not None:
                total *= int(axis["nbins"].number())
            elif axis.get("edges") is not None or axis.get("bounds") is not None:
                total *= len((axis.get("edges") or axis["bounds"]).numbers()) - 1
            else:
                return None
        return total

    def _data(self, entry: Node) -> Node:
        node = self._look_up("data", entry)
        kind = node.value.get("type")
        if kind == "binned":
            node.object("name type axes contents", "uncertainty")
            if node.get("uncertainty") is not None:
                self.notes.append(
                    f"{node.path}/uncertainty: errors of data are no part of a likelihood and were left out"
                )
        elif kind == "point":
            node.object("name type value", "uncertainty axes")
        else:
            raise node.refuse(f"data of type {kind!r} cannot stand in a pyhf workspace, only binned data")
        return node

    def _read_channels(self, likelihood: Node) -> None:
        likelihood.object("name distributions data", "aux_distributions")
        entries, data = list(likelihood["distributions"]), list(likelihood["data"])
        if len(entries) != len(data):
            raise likelihood["data"].refuse(f"{len(entries)} distributions have {len(data)} data")
        channels = []
        for entry, datum in zip(entries, data):
            node = self._look_up("distributions", entry)
            self.used.add(entry.string())
            if node.value.get("type") == "histfactory_dist":
                channels.append((node, datum))
                continue
            value = (
                datum.number() if not isinstance(datum.value, str) else self._data(datum)["value"].number()
            )
            self.constraints.add(node, value)
        for entry in likelihood.get("aux_distributions") or ():
            self.used.add(entry.string())
            self.constraints.add(self._look_up("distributions", entry))
        stripped = [
            node["name"].string()[len("model_") :]
            for node, _ in channels
            if node["name"].string().startswith("model_")
        ]
        plain = len(stripped) == len(channels) and all(stripped)
        for i, (node, datum) in enumerate(channels):
            self._read_channel(node, stripped[i] if plain else node["name"].string(), datum)
        if not self.channels:
            raise likelihood["distributions"].refuse("there is no histfactory_dist among them")

    def _read_channel(self, node: Node, name: str, datum: Node) -> None:
        node.object("name type axes samples", "default_interpolation staterror barlow_beeston_method")
        if node.value.get("barlow_beeston_method", "lite") != "lite":
            raise node["barlow_beeston_method"].refuse(
                "only the lite method (one parameter a bin) is HistFactory's"
            )
        data = self._data(datum)
        if data["type"].value != "binned":
            raise datum.refuse("a channel wants binned data")
        nbins = self._axes_bins(node["axes"]) or len(data["contents"].numbers())
        channel = _Channel(name, nbins, [], data["contents"].numbers(nbins))
        self.channels.append(channel)
        for i, item in enumerate(node["samples"]):
            item.object("data", "name modifiers").get("data")
            item["data"].object("contents", "errors")
            errors = item["data"].get("errors")
            sample = _Sample(
                item["name"].string() if item.get("name") else f"sample_{i}",
                item["data"]["contents"].numbers(nbins),
                errors.numbers(nbins) if errors else None,
                item,
            )
            if any(other.name == sample.name for other in channel.samples):
                raise item.refuse(f"the channel has a second sample '{sample.name}'")
            channel.samples.append(sample)
            for modifier in item.get("modifiers") or ():
                self._read_modifier(node, channel, sample, modifier)
        for found in self.sets.values():
            if found.statistical and found.channel is channel:
                self._finish_statistical(node, found)

    # Modifiers

    def _read_modifier(self, dist: Node, channel: _Channel, sample: _Sample, node: Node) -> None:
        kind = node.value.get("type") if isinstance(node.value, dict) else None
        common = "name parameter constraint constraint_name constraint_type data"
        if kind == "normfactor":
            node.object("type", common)
            if node.get("data") is not None:
                raise node["data"].refuse("a normfactor has no data")
            self._scalar(sample, node, "factor", self._parameter(node, ""), None)
        elif kind == "normsys":
            node.object("type data", common + " interpolation")
            node["data"].object("hi lo", "interpolation")
            hi, lo = node["data"]["hi"].number(), node["data"]["lo"].number()
            if hi <= 0 or lo <= 0:
                raise node["data"].refuse("hi and lo of a normsys must be above 0")
            self._interpolation(dist, node, "normsys")
            self._scalar(sample, node, "alpha", self._parameter(node, "alpha_"), {"hi": hi, "lo": lo})
        elif kind == "histosys":
            node.object("type data", common + " interpolation")
            node["data"].object("hi lo", "interpolation")
            hi_data, lo_data = (
                node["data"][side].object("contents", "errors")["contents"].numbers(channel.nbins)
                for side in ("hi", "lo")
            )
            self._interpolation(dist, node, "histosys")
            self._scalar(
                sample,
                node,
                "alpha",
                self._parameter(node, "alpha_"),
                {"hi_data": hi_data, "lo_data": lo_data},
            )
        elif kind in ("shapefactor", "shapesys", "staterror"):
            self._gammas(dist, channel, sample, node, kind)
        else:
            raise node.refuse(f"a modifier of type {kind!r} cannot stand in a pyhf workspace")

    def _parameter(self, node: Node, prefix: str) -> str:
        given = node.get("parameter")
        if given is not None:
            return given.string()
        if node.get("name") is None:
            raise node.refuse("'parameter' is missing")
        return prefix + node["name"].string()

    def _interpolation(self, dist: Node, node: Node, kind: str) -> None:
        given = (
            node.get("interpolation")
            or node["data"].get("interpolation")
            or dist.get("default_interpolation")
        )
        code = pyhf_code(given, kind) if given else DEFAULT[kind]
        first, place = self.codes.setdefault(kind, (code, node.path))
        if first != code:
            raise node.refuse(
                f"this {kind} is interpolated with {code}, {place} with {first}: a pyhf model has one code for all"
            )

    def _scalar(self, sample: _Sample, node: Node, role: str, parameter: str, data: Any) -> None:
        constraint = self.constraints.of_modifier(node, parameter, role)
        known = self.scalars.setdefault(parameter, _Scalar(role, constraint, node))
        if known.role != role:
            raise node.refuse(
                f"'{parameter}' is here a {role} and at {known.node.path} a {known.role}; in pyhf a parameter is one or the other"
            )
        if constraint is not None and known.constraint is not None and constraint != known.constraint:
            raise node.refuse(f"'{parameter}' has another constraint at {known.node.path}")
        known.constraint = known.constraint or constraint
        kind = node["type"].value
        if any(have[:2] == (kind, parameter) for have in sample.scalars):
            raise node.refuse(f"the sample has a second {kind} of '{parameter}'")
        sample.scalars.append((kind, parameter, data))

    def _gammas(self, dist: Node, channel: _Channel, sample: _Sample, node: Node, kind: str) -> None:
        node.object("type", "name parameter parameters constraint constraint_type constraints data")
        label = node["name"].string() if node.get("name") else kind
        if node.get("parameters") is not None:
            parameters = node["parameters"].strings()
        elif node.get("parameter") is not None:
            if channel.nbins != 1:
                raise node["parameter"].refuse(f"a {kind} has one parameter a bin, named in 'parameters'")
            parameters = [node["parameter"].string()]
        else:
            stem = f"stat_{channel.name}" if kind == "staterror" else label
            parameters = [root_names.gamma(stem, i) for i in range(channel.nbins)]
        if len(parameters) != channel.nbins or len(set(parameters)) != len(parameters):
            raise node.refuse(f"{channel.nbins} different parameters are wanted, one a bin")
        constraint = self.constraints.kind_of_set(node, dist if kind == "staterror" else None, parameters)
        vals = None
        if node.get("data") is not None:
            if kind != "shapesys":
                raise node["data"].refuse(
                    f"a {kind} has no data; its errors are those of the sample"
                    if kind == "staterror"
                    else f"a {kind} has no data"
                )
            vals = node["data"].object("vals")["vals"].numbers(channel.nbins)
        if kind == "shapefactor" and constraint is not None:
            raise node.refuse("a shapefactor is free; with a constraint it is a shapesys with 'vals'")
        known = self.sets.get(parameters[0])
        if known is not None and known.channel is channel:
            if (
                known.parameters != parameters
                or known.kind != constraint
                or known.statistical != (kind == "staterror")
            ):
                raise node.refuse(
                    f"parameters of {known.node.path} stand in another order or under another constraint here"
                )
            if sample in known.samples:
                raise node.refuse("the sample has these parameters twice")
        elif known is not None:
            if constraint is not None or known.kind is not None or kind != "shapefactor":
                raise node.refuse(
                    f"'{parameters[0]}' stands in two channels; pyhf shares only free parameters (shapefactor) among channels"
                )
            shorter = min(len(parameters), len(known.parameters))
            if parameters[:shorter] != known.parameters[:shorter]:
                raise node.refuse(f"parameters of {known.node.path} stand in another order here")
            known.parameters = max(parameters, known.parameters, key=len)
        else:
            known = self.sets[parameters[0]] = _Set(
                parameters, channel, node, label, constraint, statistical=kind == "staterror"
            )
        known.samples.append(sample)
        known.lengths[channel.name] = channel.nbins
        known.vals = known.vals or (node["data"]["vals"] if vals is not None else None)
        if kind == "staterror":
            if sample.errors is None:
                raise sample.node["data"].refuse("'errors' are missing, which the staterror is made of")
        elif constraint in ("Gauss", "Poisson"):
            relative = self.constraints.widths(parameters) or self._relative(
                node, vals, sample, parameters, constraint
            )
            if known.relative is not None and any(
                abs(a - b) > 1e-9 * abs(a) for a, b in zip(known.relative, relative)
            ):
                raise node.refuse(
                    f"the same parameters are constrained with other widths at {known.node.path}"
                )
            known.relative = relative

    def _relative(
        self, node: Node, vals: Optional[list[float]], sample: _Sample, parameters: list[str], kind: str
    ) -> list[float]:
        """The relative width of each parameter's constraint, from `vals`. Files in the wild hold four things
        under this name; what decides is the caller's word, then this project's own mark, then the domains,
        where ROOT bounds a parameter by 1 + 5 widths."""
        if vals is None:
            raise node.refuse("a constrained shapesys wants 'data' with 'vals'")
        if any(value < 0 for value in vals):
            raise node["data"]["vals"].refuse("a width cannot be negative")

        def ratio(a: float, b: float) -> float:
            return a / b if b > 0 else 0.0

        readings = {"relative": vals, "absolute": [ratio(v, n) for v, n in zip(vals, sample.contents)]}
        if kind == "Poisson":
            readings.update(
                tau=[ratio(1.0, math.sqrt(v)) for v in vals], inverse=[ratio(1.0, v) for v in vals]
            )
        misc = self.root.value.get("misc")
        marked = (
            misc.get("paritas", {}).get("shapesys_vals")
            if isinstance(misc, dict) and isinstance(misc.get("paritas"), dict)
            else None
        )
        chosen = self.vals_are or marked
        if chosen in readings:
            return readings[chosen]
        evidence = [i for i, value in enumerate(vals) if value > 0]
        if not evidence:
            return [0.0] * len(vals)
        bounds = self.first_bounds
        if all(parameters[i] in bounds for i in evidence):
            for name, reading in readings.items():
                if all(
                    reading[i] > 0
                    and abs((bounds[parameters[i]][1] - 1.0) / 5.0 - reading[i]) <= 1e-6 * reading[i]
                    for i in evidence
                ):
                    return reading
        raise node["data"]["vals"].refuse(
            "nothing says whether these are relative or absolute widths (or tau, or 1/width): no domain bounds each parameter by "
            "1 + 5 widths; say which with shapesys_vals"
        )

    def _finish_statistical(self, dist: Node, found: _Set) -> None:
        """Widths of a staterror: errors of all samples that carry it, in quadrature, over the sum of their
        contents. Bins below the threshold are constant."""
        total = [sum(sample.contents[i] for sample in found.samples) for i in range(found.channel.nbins)]
        errors = [
            math.hypot(*((sample.errors or [])[i] for sample in found.samples))
            for i in range(found.channel.nbins)
        ]
        found.relative = [error / t if t > 0 else 0.0 for error, t in zip(errors, total)]
        config = dist.get("staterror")
        threshold = config["relThreshold"].number() if config and config.get("relThreshold") else 0.0
        for i, width in enumerate(found.relative):
            if 0 < width < threshold:
                found.relative[i] = 0.0
                self.notes.append(
                    f"{found.node.path}: '{found.parameters[i]}' is below the threshold {threshold} and was fixed by giving its bin no error"
                )

    # What is written

    def convert(self) -> Conversion:
        analyses = self._choose()
        points = [self._point(analysis) for analysis in analyses]
        self.first_bounds = self._bounds(analyses[0])
        constants = {name: value for name, (value, _) in points[0].items()}
        self.constraints = Constraints(
            self.tables["distributions"], self.tables["functions"], constants, self.used
        )
        self._read_channels(analyses[0].likelihood)
        self._apply_named_constraints()
        self._name_parameters()
        for found in self.sets.values():
            self._write_set(found, points)
        for channel in self.channels:
            for sample in channel.samples:
                for kind, parameter, data in sample.scalars:
                    name = self.scalars[parameter].name
                    lumi = kind == "normfactor" and self.scalars[parameter].is_lumi()
                    sample.modifiers.append({"name": name, "type": "lumi" if lumi else kind, "data": data})
        for key in ("distributions", "functions"):
            for name, node in self.tables[key].items():
                if name not in self.used:
                    self.notes.append(
                        f"{node.path}: nothing in '{analyses[0].name}' uses '{name}'; it was left out"
                    )
        spec = {
            "channels": [
                {
                    "name": channel.name,
                    "samples": [
                        {"name": sample.name, "data": sample.contents, "modifiers": sample.modifiers}
                        for sample in channel.samples
                    ],
                }
                for channel in self.channels
            ],
            "observations": [{"name": channel.name, "data": channel.data} for channel in self.channels],
            "measurements": [self._measurement(analysis, point) for analysis, point in zip(analyses, points)],
            "version": "1.0.0",
        }
        codes = {kind: self.codes[kind][0] if kind in self.codes else DEFAULT[kind] for kind in DEFAULT}
        return Conversion(
            spec,
            list(dict.fromkeys(self.notes)),
            self._names(),
            settings(codes["normsys"], codes["histosys"]),
        )

    def _apply_named_constraints(self) -> None:
        """Constraints that stand in the likelihood, not on a modifier; then what pyhf can make of those of
        single parameters."""
        gammas = {parameter for found in self.sets.values() for parameter in found.parameters}
        for parameter, constraint, node in self.constraints.extra():
            if parameter in self.scalars:
                known = self.scalars[parameter]
                if known.constraint not in (None, constraint):
                    raise node.refuse(f"'{parameter}' has another constraint at {known.node.path}")
                known.constraint = constraint
            elif parameter not in gammas:
                raise node.refuse(f"it constrains '{parameter}', which no modifier uses")
        for found in self.sets.values():
            if found.kind is None and self.constraints.any_of(found.parameters):
                found.kind = self.constraints.kind_by_name(found.parameters, found.node)
                found.relative = self.constraints.widths(found.parameters)
        factors = [name for name, scalar in self.scalars.items() if scalar.is_lumi()]
        if len(factors) > 1:
            raise self.scalars[factors[1]].node.refuse(
                f"'{factors[1]}' and '{factors[0]}' are factors with a constraint; a pyhf workspace has one, lumi"
            )
        for parameter, scalar in self.scalars.items():
            if scalar.role == "alpha" and scalar.constraint is None:
                scalar.constraint = KINDS["Gauss"]  # as ROOT and pyhs3 take it
            if (
                scalar.role == "alpha"
                and scalar.constraint is not None
                and scalar.constraint.kind == "Gauss"
                and scalar.constraint.width != 1
            ):
                raise scalar.node.refuse(
                    f"the constraint of '{parameter}' has width {scalar.constraint.width}; pyhf's alphas have width 1"
                )

    def _name_parameters(self) -> None:
        taken: set[str] = set()

        def take(node: Node, *candidates: str) -> str:
            for name in candidates:
                if name not in taken:
                    taken.add(name)
                    return name
            raise node.refuse(
                f"a name for its parameters is wanted, and {', '.join(map(repr, candidates))} stand for others already"
            )

        for parameter, scalar in self.scalars.items():
            if scalar.is_lumi():
                scalar.name = take(scalar.node, "lumi")
                if self.name_style == "keep" and parameter != "lumi":
                    self.notes.append(
                        f"{scalar.node.path}: '{parameter}' is a factor with a constraint, which pyhf calls lumi"
                    )
        for parameter, scalar in self.scalars.items():
            if not scalar.name:
                short = (
                    root_names.from_alpha(parameter)
                    if self.name_style == "pyhf" and scalar.role == "alpha"
                    else parameter
                )
                scalar.name = take(scalar.node, short, parameter)
        for found in self.sets.values():
            stem = root_names.common_stem(found.parameters) or found.label
            short = root_names.from_gamma_stem(stem) if self.name_style == "pyhf" else stem
            found.name = take(found.node, short, stem, found.label, f"{found.label}_{found.channel.name}")

    def _names(self) -> dict[str, str]:
        found = {parameter: scalar.name for parameter, scalar in self.scalars.items()}
        for gammas in self.sets.values():
            found.update({parameter: f"{gammas.name}[{i}]" for i, parameter in enumerate(gammas.parameters)})
        return found

    def _write_set(self, found: _Set, points: list[dict[str, tuple[float, bool]]]) -> None:
        relative = found.relative
        if found.kind is None and found.vals is not None:
            raise found.vals.refuse(
                "widths are given but no kind of constraint: readers differ in which they take"
            )
        frozen = [
            tuple(i for i, name in enumerate(found.parameters) if point.get(name, (1.0, False))[1])
            for point in points
        ]
        if self.constraints.any_of(found.parameters):
            for i, name in enumerate(found.parameters):
                if not self.constraints.any_of([name]) and not all(i in which for which in frozen):
                    raise found.node.refuse(
                        f"'{name}' has no constraint and is not constant, others have one; in pyhf a set is free or constrained as a whole"
                    )
        partly = [which for which in frozen if 0 < len(which) < len(found.parameters)]
        if found.kind in ("Gauss", "Poisson") and relative is not None and partly:
            loose = {i for i, width in enumerate(relative) if width > 0}
            kept = {frozenset(which) & loose for which in frozen}
            if len(kept) > 1 or any(
                point.get(found.parameters[i], (1.0, True))[0] != 1
                for point in points
                for i in next(iter(kept))
            ):
                raise found.node.refuse(
                    "some of its parameters are held constant, away from 1 or not in every analysis; a pyhf workspace fixes all of a set "
                    "or none"
                )
            relative = [0.0 if i in next(iter(kept)) else width for i, width in enumerate(relative)]
        elif partly:
            raise found.node.refuse(
                "some of its free parameters are held constant; a pyhf workspace fixes all of a set or none"
            )
        first = min(found.lengths)
        if found.lengths[first] < len(found.parameters):
            raise found.node.refuse(
                f"channel '{first}' has {found.lengths[first]} of the {len(found.parameters)} parameters; pyhf shares them if the channel "
                "that comes first by name has all"
            )
        if found.kind == "Const" or found.kind is None:
            found.type = "shapefactor"
            for sample in found.samples:
                sample.modifiers.append({"name": found.name, "type": "shapefactor", "data": None})
            return
        assert relative is not None
        found.type = "staterror" if found.kind == "Gauss" else "shapesys"
        if found.kind == "Poisson" and len(found.samples) > 1:
            if not (found.statistical and self.poisson == "gauss"):
                sharing = ", ".join(sample.name for sample in found.samples)
                remedy = (
                    " (poisson_staterror='gauss' takes a Gaussian of the same width)"
                    if found.statistical
                    else ""
                )
                raise found.node.refuse(
                    f"Poisson-constrained parameters are shared by samples {sharing}; pyhf's shapesys belongs to one sample and its "
                    f"staterror is Gaussian{remedy}"
                )
            found.type = "staterror"
            self.notes.append(
                f"{found.node.path}: Poisson constraints shared by samples became Gaussian ones of the same width"
            )
        total = [sum(sample.contents[i] for sample in found.samples) for i in range(found.channel.nbins)]
        for i, (width, content) in enumerate(zip(relative, total)):
            if width > 0 >= content:
                self.notes.append(
                    f"{found.node.path}: bin {i} has no content; '{found.parameters[i]}' is fixed at 1, as pyhf does"
                )
        for k, sample in enumerate(found.samples):
            if found.statistical:
                errors = [error if width > 0 else 0.0 for error, width in zip(sample.errors or [], relative)]
            # the whole width on the first sample: pyhf sums errors in quadrature and divides by the sum of
            # contents
            else:
                errors = [
                    width * max(content, 0.0) if k == 0 else 0.0 for width, content in zip(relative, total)
                ]
            sample.modifiers.append({"name": found.name, "type": found.type, "data": errors})

    def _measurement(self, analysis: _Analysis, point: dict[str, tuple[float, bool]]) -> dict[str, Any]:
        bounds = self._bounds(analysis)
        of_model = {*self.scalars, *(name for found in self.sets.values() for name in found.parameters)}
        self.notes += [
            f"{path}: '{name}' has a bound on one side alone; pyhf's default bounds were taken"
            for name, path in self.half_open.items()
            if name in of_model and name not in bounds
        ]
        parameters = []
        for parameter, scalar in self.scalars.items():
            config: dict[str, Any] = {}
            constraint = scalar.constraint
            if constraint is not None and scalar.is_lumi():
                config.update(
                    auxdata=[constraint.nominal],
                    sigmas=[constraint.width],
                    inits=[constraint.nominal],
                    bounds=[
                        [constraint.nominal - 5 * constraint.width, constraint.nominal + 5 * constraint.width]
                    ],
                )
            elif constraint is not None and constraint.kind == "Gauss" and constraint.nominal != 0:
                config["auxdata"] = [constraint.nominal]
            if parameter in bounds:
                config["bounds"] = [list(bounds[parameter])]
            if parameter in point:
                config["inits"] = [point[parameter][0]]
            if point.get(parameter, (0.0, False))[1] or (
                constraint is not None and constraint.kind == "Const"
            ):
                config["fixed"] = True
            if config:
                parameters.append({"name": scalar.name, **config})
        for found in self.sets.values():
            config = {}
            if any(name in bounds for name in found.parameters):
                config["bounds"] = [
                    list(bounds.get(name, _DEFAULT_BOUNDS[found.type])) for name in found.parameters
                ]
            if any(name in point for name in found.parameters):
                config["inits"] = [point.get(name, (1.0, False))[0] for name in found.parameters]
            if found.kind == "Const" or all(point.get(name, (1.0, False))[1] for name in found.parameters):
                config["fixed"] = True
            if config:
                parameters.append({"name": found.name, **config})
        poi = ""
        if analysis.poi:
            poi = self.scalars[analysis.poi[0]].name if analysis.poi[0] in self.scalars else ""
            if not poi:
                raise analysis.node["parameters_of_interest"].refuse(
                    f"'{analysis.poi[0]}' is not a parameter of a whole sample in these channels"
                )
            if len(analysis.poi) > 1:
                self.notes.append(
                    f"{analysis.node.path}: of {len(analysis.poi)} parameters of interest the first, '{poi}', was taken; the others are free "
                    "parameters"
                )
        return {"name": analysis.name, "config": {"poi": poi, "parameters": parameters}}
