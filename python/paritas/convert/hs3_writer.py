"""From a pyhf workspace to an HS3 document for ROOT and pyhs3.

The form suits both, or else ROOT: default interpolation is omitted, other codes are numbers; a staterror's
constraint kind is on modifier (pyhs3) and channel (ROOT); shapesys vals are relative; parameters have ROOT's
names."""

import math
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from .conversion import Conversion, ConversionError, settings
from .formulas import formula, parameters_in
from .hs3_codes import ADDED, WRITTEN
from .parameter_names import gamma_names, root_name
from .pyhf_workspace import CODE_KEY, MODIFIERS, WorkspaceSource, configs, modifiers

_Json = dict[str, Any]
#: by kind of data (obsData, asimovData) and channel
_Data = dict[str, dict[str, list[float]]]


@dataclass
class _Parameter:
    owner: str
    index: int
    value: float
    bounds: list[float]
    fixed: bool


def _axes(channel: str, nbins: int) -> list[_Json]:
    return [{"name": f"obs_x_{channel}", "min": 0.0, "max": float(nbins), "nbins": nbins}]


def _domain(name: str, parameters: dict[str, _Parameter]) -> _Json:
    axes = [{"name": key, "min": one.bounds[0], "max": one.bounds[1]} for key, one in parameters.items()]
    return {"name": name, "type": "product_domain", "axes": axes}


class Writer(WorkspaceSource):
    extensions = ("functions", "correlations")

    def __init__(self, spec: Any, codes: dict[str, str]) -> None:
        super().__init__(spec)
        for kind, code in codes.items():
            if code not in WRITTEN[kind]:
                known = " and ".join(WRITTEN[kind])
                raise ConversionError(
                    "modifier_settings", f"HS3 readers do not have pyhf's {code} for {kind}, only {known}"
                )
        self.codes = codes
        self.notes: list[str] = []
        self.elements: dict[str, dict[str, list[str]]] = {}  # HS3's names by pyhf's and channel ("": scalars)
        self.widths: dict[tuple[str, str], list[float]] = {}  # relative
        self.constraints: dict[str, _Json] = {}
        self.joint: dict[str, str] = {}  # names of joint laws by parameter
        self.correlated: dict[str, _Json] = {}  # the workspace's, by name
        self.loose: list[str] = []  # constraints that no modifier names

    def convert(self) -> Conversion:
        for channel in self.channels:
            for sample, modifier in modifiers(channel):
                self._collect(channel, sample, modifier)
        self._collect_arguments()
        self.parameters = [self._parameters_of(measurement) for measurement in self.measurements]
        self._constrain_scalars()
        data = self._data()
        document = {
            "metadata": {"hs3_version": "0.2", "packages": [{"name": "paritas", "version": "0"}]},
            "distributions": [
                *(self._distribution(channel) for channel in self.channels),
                *self.constraints.values(),
            ],
            **self._functions(),
            **self._likelihoods(data),
            **self._analyses(list(data)),
        }
        document["misc"] = self._misc(document["analyses"], list(data))
        names = {
            name: f"{one.owner}[{one.index}]" if self.kinds[one.owner].per_bin else one.owner
            for name, one in self.parameters[0].items()
        }
        return Conversion(document, self.notes, names, settings(self.codes))

    def _collect(self, channel: _Json, sample: _Json, modifier: _Json) -> None:
        name, where, data = modifier["name"], channel["name"], modifier["data"]
        if name in self.functions:
            return
        role, stem = self.kinds[name].role, name
        elements = self.elements.setdefault(name, {})
        if not self.kinds[name].per_bin:
            elements[""] = [root_name(role, name)]
            return
        if role == "shapesys":
            if elements:
                raise self.refuse(modifier, f"another modifier uses '{name}', which a shapesys cannot share")
            pairs = zip(data, sample["data"])
            self.widths[name, where] = [u / n if u > 0 and n > 0 else 0.0 for u, n in pairs]
        if role == "staterror":
            carriers = [pair for pair in modifiers(channel) if pair[1]["name"] == name]
            errors = zip(*(one["data"] for _, one in carriers))
            totals = map(sum, zip(*(one["data"] for one, _ in carriers)))
            self.widths[name, where] = [
                math.hypot(*column) / total if total > 0 else 0.0 for column, total in zip(errors, totals)
            ]
            spans = any(
                one["name"] == name for c in self.channels if c is not channel for _, one in modifiers(c)
            )
            stem = f"stat_{where}" if name == f"staterror_{where}" else f"{name}_{where}" if spans else name
        elements[where] = gamma_names(stem, self.nbins[where])

    def _collect_arguments(self) -> None:
        """Parameters of functions alone are factors. Functions have to be those of all measurements."""
        for measurement in self.measurements:
            given = measurement["config"].get("functions", [])
            if {one["name"]: one["expression"] for one in given} != self.functions:
                raise self.refuse(measurement, "its functions are not those of the first measurement")
        for name in self.functions:
            self.kinds.pop(name, None)
        for name in parameters_in(self.functions, self.functions):
            if not name.isidentifier():
                place = self.measurements[0]["config"]["functions"]
                raise self.refuse(place, f"HS3's functions cannot have the argument '{name}': rename it")
            if name not in self.kinds:
                self.kinds[name] = MODIFIERS["normfactor"]
                self.elements[name] = {"": [name]}
                self.loose.append(name)

    def _functions(self) -> _Json:
        found = [
            {
                "name": name,
                "type": "generic_function",
                "expression": formula(text, self.functions, lambda one: self.elements[one][""][0]),
            }
            for name, text in self.functions.items()
        ]
        return {"functions": found} if found else {}

    def _parameters_of(self, measurement: _Json) -> dict[str, _Parameter]:
        found: dict[str, _Parameter] = {}
        self.notes += self.unused_configs(measurement)
        for owner in sorted(self.elements, key=lambda owner: self.kinds[owner].per_bin):
            config = configs(measurement).get(owner, {})
            if (
                self.kinds[owner].role == "lumi"
                and not {"inits", "bounds", "auxdata", "sigmas"} <= config.keys()
            ):
                raise self.refuse(measurement, "lumi must have inits, bounds, auxdata and sigmas")
            for name, one in self._configured(owner, config).items():
                known = found.setdefault(name, one)
                if known is not one:
                    raise ConversionError(
                        "/channels",
                        f"'{owner}' and '{known.owner}' would both have a parameter called '{name}'",
                    )
        return found

    def _configured(self, owner: str, config: _Json) -> dict[str, _Parameter]:
        kind, elements = self.kinds[owner], self.elements[owner]
        shared = kind.role == "shapefactor"  # by all channels
        lengths = [len(names) for names in elements.values()]
        total = max(lengths) if shared else sum(lengths)
        for key in ("inits", "bounds"):
            self.check_count(config.get(key, [0] * total), total)
        for key in ("auxdata", "factors", "sigmas"):
            if kind.per_bin and key in config:
                raise self.refuse(
                    config, f"{key} of parameters with one a bin follow from the modifiers in HS3", key
                )
        found: dict[str, _Parameter] = {}
        for channel in sorted(elements):  # pyhf's order of sets across channels
            first, widths = 0 if shared else len(found), self.widths.get((owner, channel))
            for i, name in enumerate(elements[channel]):
                start = config.get("inits", [kind.start] * total)[first + i]
                bounds = config.get("bounds", [kind.bounds] * total)[first + i]
                fixed = config.get("fixed", False) or (widths is not None and not widths[i] > 0)
                found[name] = _Parameter(owner, first + i, start, bounds, fixed)
        return found

    def _constraint_name(self, owner: str) -> str:
        own = "lumiConstraint" if self.kinds[owner].role == "lumi" else f"{owner}_constraint"
        return self.joint.get(owner, own)

    def _correlate(self) -> None:
        """Opens the joint laws, which have to be those of all measurements."""
        first = self.measurements[0]["config"].get("correlations", [])
        for measurement in self.measurements:
            if measurement["config"].get("correlations", []) != first:
                raise self.refuse(measurement, "its correlations are not those of the first measurement")
        for one in first:
            for owner in one["parameters"]:
                if owner not in self.elements or self.kinds[owner].per_bin:
                    raise self.refuse(
                        one, f"HS3's modifiers cannot have a joint law of '{owner}'", "parameters"
                    )
                self.joint[owner] = one["name"]
            self.constraints[one["name"]] = {
                "name": one["name"],
                "type": "multivariate_normal_dist",
                "x": [self.elements[owner][""][0] for owner in one["parameters"]],
                "mean": [0.0] * len(one["parameters"]),
                "covariances": one.get("covariance") or [list(row) for row in one["correlation"]],
            }
            self.correlated[one["name"]] = one

    def _join(self, owner: str, law: _Json) -> None:
        """Puts a parameter's own law into the joint one."""
        one = self.correlated[self.joint[owner]]
        if law["type"] != "gaussian_dist":
            raise self.refuse(one, f"the constraint of '{owner}' is not normal", "parameters")
        written, i = self.constraints[one["name"]], one["parameters"].index(owner)
        written["mean"][i] = law["mean"]
        for j in range(len(written["x"]) if "correlation" in one else 0):
            written["covariances"][i][j] *= law["sigma"]
            written["covariances"][j][i] *= law["sigma"]

    def _constrain_scalars(self) -> None:
        self._correlate()
        for owner, kind in self.kinds.items():
            given = self.law(owner)
            if kind.role == "shapefactor" and given:
                raise self._refuse_law(owner)
            if kind.per_bin or (kind.role == "factor" and given.get("type", "none") == "none"):
                continue
            name = self._constraint_name(owner)
            law = self._law(owner, given)
            if owner in self.joint:
                self._join(owner, law)
            elif kind.role != "alpha" or given or law["mean"] != 0:
                self.constraints[name] = {"name": name, "x": self.elements[owner][""][0], **law}

    def _refuse_law(self, owner: str, beyond: Sequence[str] = ()) -> ConversionError:
        """beyond: keys of the constraint that HS3 lacks."""
        config = configs(self.measurements[0])[owner]
        why = f"HS3 has no such constraint of '{owner}'"
        if beyond:
            kind = config["constraint"].get("type")
            why = f"HS3 cannot say the {' and '.join(beyond)} of the {kind} constraint of '{owner}'"
        return self.refuse(config, why, "constraint")

    def _law(self, owner: str, given: _Json) -> _Json:
        """The distribution of the parameter itself; of a log-normal and a gamma the density of x."""
        kind, datum = given.get("type", "gaussian"), self._common(owner, "auxdata")
        beyond = ["slope"] if given.get("slope", 1.0) != 1 else []
        beyond += ["offset"] if kind == "lognormal" and given.get("offset") else []
        if kind in ("none", "bifurcated") or beyond:
            raise self._refuse_law(owner, beyond)
        if kind == "poisson":
            beta, offset = 1.0 / self._common(owner, "factors"), given.get("offset", 0.0)
            return {"type": "gamma_dist", "gamma": datum + 1.0, "beta": beta, "mu": -offset}
        width = self._common(owner, "sigmas") if given or self.kinds[owner].role == "lumi" else 1.0
        if kind == "lognormal":
            return {"type": "lognormal_dist", "mu": datum + width**2, "sigma": width}
        return {"type": "gaussian_dist", "mean": datum, "sigma": width}

    def _common(self, owner: str, key: str) -> float:
        """A scalar's auxdata or sigmas: one in HS3, one a measurement in pyhf."""
        rows = [configs(measurement).get(owner, {}).get(key, [0.0]) for measurement in self.measurements]
        if any(row != rows[0] for row in rows):
            raise ConversionError(
                "/measurements",
                f"the {key} of '{owner}' differ among measurements; in HS3 they belong to the model",
            )
        self.check_count(rows[0], 1)
        return rows[0][0]  # type: ignore[no-any-return]

    def _data(self) -> _Data:
        for name in self.observed:
            if name not in self.nbins:
                self.notes.append(f"/observations: '{name}' is no channel; its data were left out")
        types = {modifier["type"] for channel in self.channels for _, modifier in modifiers(channel)}
        if self.codes["histosys"] != "code4p" and "histosys" in types:
            self.notes.append(
                "interpolation of histosys: ROOT up to 6.40 reads all with its code 4 (pyhf's code4p), "
                "whatever a document says"
            )
        data = {"obsData": {name: self.observed[name] for name in self.nbins}}
        starts = [one.value for one in self.parameters[0].values() if self.kinds[one.owner].role == "alpha"]
        if self.functions:
            self.notes.append("asimovData: left out, since there are functions of parameters")
        elif any(starts):
            self.notes.append(
                "asimovData: left out, since a variation does not start at its nominal template"
            )
        else:
            data["asimovData"] = {channel["name"]: self._expected(channel) for channel in self.channels}
        return data

    def _expected(self, channel: _Json) -> list[float]:
        """At the first measurement's start, with nominal variations."""
        total = [0.0] * self.nbins[channel["name"]]
        for sample in channel["samples"]:
            contents = sample["data"]
            for modifier in sample["modifiers"]:
                kind, elements = MODIFIERS[modifier["type"]], self.elements[modifier["name"]]
                if kind.role != "alpha":
                    factors = elements[channel["name"]] if kind.per_bin else elements[""] * len(total)
                    contents = [a * self.parameters[0][factor].value for a, factor in zip(contents, factors)]
            total = [a + b for a, b in zip(total, contents)]
        return total

    def _distribution(self, channel: _Json) -> _Json:
        name = channel["name"]
        statistical = {one["name"] for _, one in modifiers(channel) if one["type"] == "staterror"}
        # HS3 has one staterror a channel; others become Gaussian shapesys
        native = statistical.pop() if len(statistical) == 1 else None
        samples = []
        for sample in channel["samples"]:
            data = {"contents": sample["data"]}
            data.update({"errors": one["data"] for one in sample["modifiers"] if one["name"] == native})
            written = [self._modifier(name, modifier, native) for modifier in self._in_order(sample)]
            samples.append({"name": sample["name"], "data": data, "modifiers": written})
        found: _Json = {
            "name": f"model_{name}",
            "type": "histfactory_dist",
            "axes": _axes(name, self.nbins[name]),
            "samples": samples,
        }
        if native is not None:
            law = self._law_of_bins(native, "staterror")
            found["staterror"] = {"constraint": law, "constraint_type": law, "relThreshold": 0.0}
        return found

    def _code(self, modifier: _Json) -> str:
        data = modifier["data"]
        code = data.get(CODE_KEY, self.codes[modifier["type"]])
        inverse = code == "lnN" and abs(data["lo"] * data["hi"] - 1.0) <= 1e-15
        return "code1" if inverse else code

    def _in_order(self, sample: _Json) -> list[_Json]:
        """Modifiers so that ROOT, which applies them one after the other, finds the same rates."""
        alphas = [one for one in sample["modifiers"] if MODIFIERS[one["type"]].role == "alpha"]
        added = [one for one in alphas if self._code(one) in ADDED[one["type"]]]
        sums = [one for one in added if one["type"] == "normsys"]
        if len(sums) > 1:
            raise self.refuse(
                sums[1],
                "a second normsys of code0 or code2c in its sample, which ROOT would add to the first",
            )
        if not sums and len(added) == sum(one["type"] == "histosys" for one in alphas):
            return sample["modifiers"]  # type: ignore[no-any-return]
        return sorted(sample["modifiers"], key=lambda one: one in alphas and one not in added)

    def _modifier(self, channel: str, modifier: _Json, native: Optional[str]) -> _Json:
        kind, name, data = modifier["type"], modifier["name"], modifier["data"]
        if name in self.functions:
            return {"name": name, "type": "custom"}
        found, role = {"name": name, "type": kind}, MODIFIERS[kind].role
        if MODIFIERS[kind].per_bin:
            found["parameters"] = self.elements[name][channel]
            if name == native:
                return {**found, "name": kind, "constraint": self._law_of_bins(name, kind)}
            if kind == "shapefactor":
                return found
            law, vals = self._law_of_bins(name, kind), {"vals": self.widths[name, channel]}
            return {**found, "type": "shapesys", "constraint": law, "constraint_type": law, "data": vals}
        found["parameter"] = self.elements[name][""][0]
        law = self._constraint_name(name)
        if role == "factor":
            return {**found, "constraint": law, "constraint_name": law} if law in self.constraints else found
        if role == "lumi":
            return {**found, "name": "Lumi", "type": "normfactor", "constraint_name": law, "constraint": law}
        named = {"constraint": law, "constraint_name": law}
        found.update(named if law in self.constraints else {"constraint": "Gauss"})
        code = self._code(modifier)
        if code not in WRITTEN[kind]:
            raise self.refuse(data, f"HS3 readers do not have {code} for {kind}", CODE_KEY)
        if WRITTEN[kind][code] is not None:
            found["interpolation"] = WRITTEN[kind][code]
        if kind == "normsys":
            return {**found, "data": {side: data[side] for side in ("hi", "lo")}}
        return {**found, "data": {side: {"contents": data[f"{side}_data"]} for side in ("hi", "lo")}}

    def _law_of_bins(self, name: str, kind: str) -> str:
        default = "poisson" if kind == "shapesys" else "gaussian"
        return "Poisson" if self.law_of_bins(name, default) == "poisson" else "Gauss"

    def _likelihoods(self, data: _Data) -> _Json:
        named = [f"{name}_constraint" for name in self.loose]
        loose = [name for name in named if name in self.constraints]
        return {
            "data": [
                {"name": f"{kind}_{name}", "type": "binned", "axes": _axes(name, len(row)), "contents": row}
                for kind, by_channel in data.items()
                for name, row in by_channel.items()
            ],
            "likelihoods": [
                {
                    "name": f"simPdf_{kind}",
                    "distributions": [f"model_{name}" for name in self.nbins],
                    "data": [f"{kind}_{name}" for name in self.nbins],
                    **({"aux_distributions": loose} if loose else {}),
                }
                for kind in data
            ],
        }

    def _analyses(self, kinds: list[str]) -> _Json:
        analyses: list[_Json] = []
        points: list[_Json] = []
        domains = [_domain("default_domain", self.parameters[0])]
        for measurement, parameters in zip(self.measurements, self.parameters):
            name, poi = measurement["name"], self._pois(measurement)
            point = f"{name}_values" if points else "default_values"
            values = [
                {"name": key, "value": one.value, **({"const": True} if one.fixed else {})}
                for key, one in parameters.items()
            ]
            points.append({"name": point, "parameters": values})
            nuisance = {key: one for key, one in parameters.items() if key not in poi}
            own = [
                _domain(f"{name}_nuisance_parameters", nuisance),
                _domain(f"{name}_parameters_of_interest", {key: parameters[key] for key in poi}),
            ]
            domains += own
            analyses += [
                {
                    "name": name if kind == "obsData" else f"{name}_{kind}",
                    "likelihood": f"simPdf_{kind}",
                    "parameters_of_interest": poi,
                    "domains": [domain["name"] for domain in own],
                    "init": point,
                }
                for kind in kinds
            ]
        return {"analyses": analyses, "domains": domains, "parameter_points": points}

    def _pois(self, measurement: _Json) -> list[str]:
        config, found = measurement["config"], []
        for poi in config.get("pois", [config["poi"]]):
            if poi in self.kinds:
                if self.kinds[poi].per_bin:
                    raise self.refuse(
                        config, f"'{poi}' has one parameter a bin and cannot be of interest", "poi"
                    )
                found += self.elements[poi][""]
            elif poi:  # none in a background-only workspace
                left = "it is left out of those" if poi != config["poi"] else "the analysis has no parameter"
                what = f"'{poi}' is no parameter of these channels; {left} of interest"
                self.notes.append(f"{self.place(config)}/poi: {what}")
        return found

    def _misc(self, analyses: list[_Json], kinds: list[str]) -> _Json:
        """ROOT's joint names of channels and data sets; this project's mark."""
        joined = {
            "index_cat": "channelCat",
            "indices": list(range(len(self.nbins))),
            "labels": list(self.nbins),
        }
        names = [analysis["name"] for analysis in analyses]
        configs = {
            name: {"mcName": "ModelConfig" if i < len(kinds) else f"ModelConfig_{name}", "pdfName": "simPdf"}
            for i, name in enumerate(names)
        }
        distributions = {"distributions": [f"model_{name}" for name in self.nbins], **joined}
        return {
            "ROOT_internal": {
                "ModelConfigs": configs,
                "combined_datasets": {kind: joined for kind in kinds},
                "combined_distributions": {"simPdf": distributions},
            },
            "paritas": {"shapesys_vals": "relative"},
        }
