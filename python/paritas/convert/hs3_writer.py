"""From a pyhf workspace to an HS3 document.

What ROOT's reader and pyhs3 differ in, or changed over time, is written so that both take it the same way, or
else ROOT's: default interpolation is left out, other codes are numbers; the kind of a staterror's constraint
stands on the modifier (pyhs3) and on the channel (ROOT); vals of a shapesys are relative (ROOT); parameters
bear the names that ROOT would give them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Optional

from . import names as root_names
from .conversion import Conversion, ConversionError, Node, settings
from .hs3_codes import WRITTEN

_SCALAR_DEFAULTS = {"alpha": (0.0, [-5.0, 5.0]), "factor": (1.0, [0.0, 10.0])}


@dataclass
class _Parameter:
    """One HS3 parameter: element `index` of pyhf's set `owner` (scalars have one)."""

    owner: str
    index: int
    value: float
    bounds: list[float]
    fixed: bool = False


@dataclass
class _Set:
    """pyhf's parameters with one a bin: `elements[channel]` are their HS3 names there, `widths[channel]` the
    relative widths (None: free)."""

    type: str
    elements: dict[str, list[str]] = field(default_factory=dict)
    widths: dict[str, Optional[list[float]]] = field(default_factory=dict)


class Writer:
    def __init__(self, spec: Any, normsys_code: str, histosys_code: str) -> None:
        self.root = Node(spec).object("channels observations measurements version")
        for kind, code in (("normsys", normsys_code), ("histosys", histosys_code)):
            if code not in WRITTEN[kind]:
                known = " and ".join(WRITTEN[kind])
                raise ConversionError(
                    "modifier_settings",
                    f"HS3 readers have no interpolation that is pyhf's {code} for {kind}, only {known}",
                )
        self.codes = {"normsys": normsys_code, "histosys": histosys_code}
        self.notes: list[str] = []
        self.scalars: dict[str, str] = {}  # pyhf's name -> alpha, factor or lumi
        self.sets: dict[str, _Set] = {}
        self.parameters: dict[str, _Parameter] = {}
        self.nbins: dict[str, int] = {}
        self.extra_distributions: list[dict[str, Any]] = []

    # What there is

    def _collect(self) -> None:
        for channel in self.root["channels"]:
            channel.object("name samples")
            name = channel["name"].string()
            bins = {len(sample["data"].numbers()) for sample in channel["samples"]}
            if len(bins) != 1:
                raise channel.refuse("its samples are to have the same number of bins")
            nbins = self.nbins[name] = bins.pop()
            for sample in channel["samples"]:
                sample.object("name data modifiers")
                for modifier in sample["modifiers"]:
                    modifier.object("name type", "data")
                    self._collect_modifier(name, nbins, sample, modifier)
        for set_name, found in self.sets.items():
            if found.type == "staterror":
                for channel in self.root["channels"]:
                    if channel["name"].value in found.widths:
                        found.widths[channel["name"].value] = self._statistical_widths(channel, set_name)

    def _collect_modifier(self, channel: str, nbins: int, sample: Node, modifier: Node) -> None:
        kind, name = modifier["type"].string(), modifier["name"].string()
        role = {"normsys": "alpha", "histosys": "alpha", "normfactor": "factor", "lumi": "lumi"}.get(kind)
        if role is not None:
            if self.scalars.setdefault(name, role) != role:
                raise modifier.refuse(f"'{name}' is a {self.scalars[name]} elsewhere")
            return
        if kind not in ("shapefactor", "shapesys", "staterror"):
            raise modifier["type"].refuse(f"a modifier of type '{kind}' is not known")
        found = self.sets.setdefault(name, _Set(kind))
        if found.type != kind or (kind == "shapesys" and found.elements):
            raise modifier.refuse(f"'{name}' is used by another modifier, which a {kind} cannot share")
        stem = root_names.gamma_stem(name, channel) if kind == "staterror" else name
        if kind == "staterror" and stem == name and self._channels_of(name) > 1:
            stem = f"{name}_{channel}"
        found.elements[channel] = [root_names.gamma(stem, i) for i in range(nbins)]
        found.widths[channel] = None
        if kind == "shapesys":
            found.widths[channel] = [
                u / n if u > 0 and n > 0 else 0.0
                for u, n in zip(modifier["data"].numbers(nbins), sample["data"].numbers())
            ]

    def _channels_of(self, name: str) -> int:
        return sum(
            any(
                modifier["name"].value == name
                for sample in channel["samples"]
                for modifier in sample["modifiers"]
            )
            for channel in self.root["channels"]
        )

    def _statistical_widths(self, channel: Node, name: str) -> list[float]:
        errors, totals = [], []
        for sample in channel["samples"]:
            for modifier in sample["modifiers"]:
                if modifier["name"].value == name:
                    contents = sample["data"].numbers()
                    errors.append(modifier["data"].numbers(len(contents)))
                    totals.append(contents)
        return [math.hypot(*e) / sum(t) if sum(t) > 0 else 0.0 for e, t in zip(zip(*errors), zip(*totals))]

    # Parameters of a measurement

    def _configs(self, measurement: Node) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for config in measurement["config"].object("poi parameters")["parameters"]:
            config.object("name", "inits bounds auxdata factors sigmas fixed")
            name = config["name"].string()
            if name in found:
                raise config.refuse(f"'{name}' is configured twice")
            if name not in self.scalars and name not in self.sets:
                self.notes.append(
                    f"{config.path}: '{name}' is no parameter of these channels; its configuration was left out"
                )
            found[name] = config
        return found

    def _lumi(self, config: Optional[Node], measurement: Node) -> tuple[float, float]:
        if config is None or any(config.get(key) is None for key in ("inits", "bounds", "auxdata", "sigmas")):
            raise measurement.refuse("lumi wants inits, bounds, auxdata and sigmas")
        return config["auxdata"].numbers(1)[0], config["sigmas"].numbers(1)[0]

    def _parameters_of(self, measurement: Node) -> dict[str, _Parameter]:
        """All HS3 parameters with start, bounds and whether they are constant, in one measurement."""
        configs = self._configs(measurement)
        found: dict[str, _Parameter] = {}

        def put(name: str, parameter: _Parameter) -> None:
            if name in found and (found[name].owner, found[name].index) != (parameter.owner, parameter.index):
                raise ConversionError(
                    "/channels",
                    f"'{parameter.owner}' and '{found[name].owner}' would both have a parameter called '{name}'",
                )
            found.setdefault(name, parameter)

        for owner, role in self.scalars.items():
            config = configs.get(owner)
            value, bounds = (
                (self._lumi(config, measurement)[0], []) if role == "lumi" else _SCALAR_DEFAULTS[role]
            )
            put(self._scalar_name(owner), self._configured(_Parameter(owner, 0, value, bounds), config, 1))
        for owner, gammas in self.sets.items():
            config = configs.get(owner)
            total = (
                max(map(len, gammas.elements.values()))
                if gammas.type == "shapefactor"
                else sum(map(len, gammas.elements.values()))
            )
            if config is not None:
                for key in ("auxdata", "factors", "sigmas"):
                    if config.get(key) is not None:
                        raise config[key].refuse(
                            f"{key} of parameters with one a bin follow from the modifiers in HS3"
                        )
            first = 0
            for channel in sorted(gammas.elements):  # pyhf's order of a set that spans channels
                for i, name in enumerate(gammas.elements[channel]):
                    widths = gammas.widths[channel]
                    low = 0.0 if gammas.type == "shapefactor" else 1e-10
                    element = _Parameter(
                        owner, first + i, 1.0, [low, 10.0], widths is not None and not widths[i] > 0
                    )
                    put(name, self._configured(element, config, total))
                first += 0 if gammas.type == "shapefactor" else len(gammas.elements[channel])
        return found

    def _configured(self, parameter: _Parameter, config: Optional[Node], total: int) -> _Parameter:
        if config is not None:
            if config.get("inits") is not None:
                parameter.value = config["inits"].numbers(total)[parameter.index]
            if config.get("bounds") is not None:
                rows = list(config["bounds"])
                if len(rows) != total:
                    raise config["bounds"].refuse(f"{total} are wanted")
                parameter.bounds = rows[parameter.index].numbers(2)
            parameter.fixed = parameter.fixed or bool(config.value.get("fixed", False))
        return parameter

    def _scalar_name(self, owner: str) -> str:
        return {"alpha": root_names.alpha(owner), "factor": owner, "lumi": "Lumi"}[self.scalars[owner]]

    def _common(self, owner: str, key: str, default: list[float]) -> list[float]:
        """auxdata or sigmas of a scalar, which HS3 has once and a workspace in each measurement."""
        found = []
        for measurement in self.root["measurements"]:
            config = self._configs(measurement).get(owner)
            found.append(
                config[key].numbers(1) if config is not None and config.get(key) is not None else default
            )
        if any(value != found[0] for value in found):
            raise ConversionError(
                "/measurements",
                f"the {key} of '{owner}' differ among measurements; in HS3 they belong to the model",
            )
        return found[0]

    # What is written

    def convert(self) -> Conversion:
        self._collect()
        measurements = list(self.root["measurements"])
        for measurement in measurements:
            measurement.object("name config")
        if (
            len({measurement["name"].string() for measurement in measurements}) != len(measurements)
            or not measurements
        ):
            raise self.root["measurements"].refuse("one or more measurements with different names are wanted")
        by_measurement = [self._parameters_of(measurement) for measurement in measurements]
        self.parameters = by_measurement[0]
        self.notes = list(dict.fromkeys(self.notes))
        self._constraints_of_scalars()
        observed = {item["name"].string(): item["data"] for item in self.root["observations"]}
        channels = [channel["name"].string() for channel in self.root["channels"]]
        for channel in self.root["channels"]:
            if channel["name"].value not in observed:
                raise channel.refuse("it has no observation")
        self.notes += [
            f"/observations: '{name}' is no channel; its data were left out"
            for name in observed
            if name not in channels
        ]
        data = {"obsData": {name: observed[name].numbers(self.nbins[name]) for name in channels}}
        if self.codes["histosys"] != "code4p" and "histosys" in {
            modifier["type"].value
            for channel in self.root["channels"]
            for sample in channel["samples"]
            for modifier in sample["modifiers"]
        }:
            self.notes.append(
                "interpolation of histosys: ROOT up to 6.40 reads each with its code 4 (pyhf's code4p), whatever a document says"
            )
        asimov = self._asimov()
        if asimov is not None:
            data["asimovData"] = asimov
        analyses, domains, points = self._analyses(measurements, by_measurement, list(data))
        document = {
            "metadata": {"hs3_version": "0.2", "packages": [{"name": "paritas", "version": "0"}]},
            "distributions": [self._distribution(channel) for channel in self.root["channels"]]
            + self.extra_distributions,
            "data": [
                {"name": f"{kind}_{name}", "type": "binned", "axes": self._axes(name), "contents": contents}
                for kind, by_channel in data.items()
                for name, contents in by_channel.items()
            ],
            "likelihoods": [
                {
                    "name": f"simPdf_{kind}",
                    "distributions": [f"model_{name}" for name in channels],
                    "data": [f"{kind}_{name}" for name in channels],
                }
                for kind in data
            ],
            "analyses": analyses,
            "domains": domains,
            "parameter_points": points,
            "misc": {
                "ROOT_internal": self._root_internal(channels, list(data), analyses),
                "paritas": {"shapesys_vals": "relative"},
            },
        }
        names = {
            name: parameter.owner
            if parameter.owner in self.scalars
            else f"{parameter.owner}[{parameter.index}]"
            for name, parameter in self.parameters.items()
        }
        return Conversion(
            document, self.notes, names, settings(self.codes["normsys"], self.codes["histosys"])
        )

    def _constraints_of_scalars(self) -> None:
        for owner, role in self.scalars.items():
            if role == "lumi":
                nominal, width = self._common(owner, "auxdata", [])[0], self._common(owner, "sigmas", [])[0]
                self._constraint("lumiConstraint", "Lumi", nominal, width)
            elif role == "alpha":
                nominal = self._common(owner, "auxdata", [0.0])[0]
                if nominal != 0:
                    self._constraint(f"{owner}_constraint", self._scalar_name(owner), nominal, 1.0)

    def _constraint(self, name: str, parameter: str, nominal: float, width: float) -> None:
        self.extra_distributions.append(
            {"name": name, "type": "gaussian_dist", "x": parameter, "mean": nominal, "sigma": width}
        )

    def _axes(self, channel: str) -> list[dict[str, Any]]:
        nbins = self.nbins[channel]
        return [{"name": f"obs_x_{channel}", "min": 0.0, "max": float(nbins), "nbins": nbins}]

    def _distribution(self, channel: Node) -> dict[str, Any]:
        name = channel["name"].string()
        nbins = self.nbins[name]
        modifiers_of = [modifier for sample in channel["samples"] for modifier in sample["modifiers"]]
        statistical = sorted(
            {modifier["name"].string() for modifier in modifiers_of if modifier["type"].value == "staterror"}
        )
        # HS3 has one staterror a channel; several become Gaussian shapesys
        native = statistical[0] if len(statistical) == 1 else None
        samples = []
        for sample in channel["samples"]:
            data: dict[str, Any] = {"contents": sample["data"].value}
            modifiers = []
            for modifier in sample["modifiers"]:
                if modifier["type"].value == "staterror" and modifier["name"].value == native:
                    data["errors"] = modifier["data"].numbers(nbins)
                modifiers.append(self._modifier(name, nbins, modifier, native))
            samples.append({"name": sample["name"].string(), "data": data, "modifiers": modifiers})
        found: dict[str, Any] = {
            "name": f"model_{name}",
            "type": "histfactory_dist",
            "axes": self._axes(name),
            "samples": samples,
        }
        if native is not None:
            found["staterror"] = {"constraint": "Gauss", "constraint_type": "Gauss", "relThreshold": 0.0}
        return found

    def _modifier(self, channel: str, nbins: int, modifier: Node, native: Optional[str]) -> dict[str, Any]:
        kind, name = modifier["type"].string(), modifier["name"].string()
        if kind == "lumi":
            return {
                "name": "Lumi",
                "type": "normfactor",
                "parameter": "Lumi",
                "constraint_name": "lumiConstraint",
                "constraint": "lumiConstraint",
            }
        if kind == "normfactor":
            return {"name": name, "type": "normfactor", "parameter": name}
        if kind in ("normsys", "histosys"):
            named = any(extra["name"] == f"{name}_constraint" for extra in self.extra_distributions)
            found: dict[str, Any] = {
                "name": name,
                "type": kind,
                "parameter": self._scalar_name(name),
                "constraint": "Gauss",
            }
            if named:
                found["constraint"] = found["constraint_name"] = f"{name}_constraint"
            code = WRITTEN[kind][self.codes[kind]]
            if code is not None:
                found["interpolation"] = code
            if kind == "normsys":
                modifier["data"].object("hi lo")
                found["data"] = {side: modifier["data"][side].number() for side in ("hi", "lo")}
            else:
                modifier["data"].object("hi_data lo_data")
                found["data"] = {
                    side: {"contents": modifier["data"][f"{side}_data"].numbers(nbins)}
                    for side in ("hi", "lo")
                }
            return found
        parameters = self.sets[name].elements[channel]
        if kind == "shapefactor":
            return {"name": name, "type": "shapefactor", "parameters": parameters}
        if name == native:
            return {"name": "staterror", "type": "staterror", "parameters": parameters, "constraint": "Gauss"}
        law = "Poisson" if kind == "shapesys" else "Gauss"
        return {
            "name": name,
            "type": "shapesys",
            "parameters": parameters,
            "constraint": law,
            "constraint_type": law,
            "data": {"vals": self.sets[name].widths[channel]},
        }

    def _asimov(self) -> Optional[dict[str, list[float]]]:
        """Expected counts at the first measurement's start; None (with a note) where a systematic variation
        does not start at 0."""
        if any(
            self.scalars.get(parameter.owner) == "alpha" and parameter.value != 0
            for parameter in self.parameters.values()
        ):
            self.notes.append(
                "asimovData: left out, since a variation does not start at its nominal template"
            )
            return None
        found = {}
        for channel in self.root["channels"]:
            name = channel["name"].string()
            total = [0.0] * self.nbins[name]
            for sample in channel["samples"]:
                contents = sample["data"].numbers(len(total))
                for modifier in sample["modifiers"]:
                    owner = modifier["name"].value
                    if self.scalars.get(owner) in ("factor", "lumi"):
                        contents = [
                            content * self.parameters[self._scalar_name(owner)].value for content in contents
                        ]
                    elif owner in self.sets:
                        contents = [
                            content * self.parameters[gamma].value
                            for content, gamma in zip(contents, self.sets[owner].elements[name])
                        ]
                total = [a + b for a, b in zip(total, contents)]
            found[name] = total
        return found

    def _analyses(
        self, measurements: list[Node], by_measurement: list[dict[str, _Parameter]], kinds: list[str]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
        def domain(name: str, parameters: dict[str, _Parameter]) -> dict[str, Any]:
            axes = [
                {"name": key, "min": parameter.bounds[0], "max": parameter.bounds[1]}
                for key, parameter in parameters.items()
            ]
            return {"name": name, "type": "product_domain", "axes": axes}

        analyses, points = [], []
        domains = [domain("default_domain", by_measurement[0])]
        for i, (measurement, parameters) in enumerate(zip(measurements, by_measurement)):
            name, poi = measurement["name"].string(), measurement["config"]["poi"].string()
            if poi in self.sets:
                raise measurement["config"]["poi"].refuse(
                    f"'{poi}' has one parameter a bin and cannot be of interest"
                )
            if poi and poi not in self.scalars:  # background-only workspaces, whose signal comes by a patch
                self.notes.append(
                    f"{measurement.path}/config/poi: '{poi}' is no parameter of these channels; the analysis has no parameter of interest"
                )
            of_interest = [self._scalar_name(poi)] if poi in self.scalars else []
            point = "default_values" if i == 0 else f"{name}_values"
            points.append(
                {
                    "name": point,
                    "parameters": [
                        {
                            "name": key,
                            "value": parameter.value,
                            **({"const": True} if parameter.fixed else {}),
                        }
                        for key, parameter in parameters.items()
                    ],
                }
            )
            domains.append(
                domain(
                    f"{name}_nuisance_parameters",
                    {key: parameter for key, parameter in parameters.items() if key not in of_interest},
                )
            )
            domains.append(
                domain(f"{name}_parameters_of_interest", {key: parameters[key] for key in of_interest})
            )
            for kind in kinds:
                analyses.append(
                    {
                        "name": name if kind == "obsData" else f"{name}_{kind}",
                        "likelihood": f"simPdf_{kind}",
                        "parameters_of_interest": of_interest,
                        "domains": [f"{name}_nuisance_parameters", f"{name}_parameters_of_interest"],
                        "init": point,
                    }
                )
        return analyses, domains, points

    def _root_internal(
        self, channels: list[str], kinds: list[str], analyses: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """How ROOT joins channels and data sets: HS3's likelihoods have no name for either."""
        joined = {"index_cat": "channelCat", "indices": list(range(len(channels))), "labels": channels}
        return {
            "ModelConfigs": {
                analysis["name"]: {
                    "mcName": "ModelConfig" if i < len(kinds) else f"ModelConfig_{analysis['name']}",
                    "pdfName": "simPdf",
                }
                for i, analysis in enumerate(analyses)
            },
            "combined_datasets": {kind: joined for kind in kinds},
            "combined_distributions": {
                "simPdf": {"distributions": [f"model_{channel}" for channel in channels], **joined}
            },
        }
