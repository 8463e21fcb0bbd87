"""From an HS3 document to a pyhf workspace.

analyses ── choose ──► one set of data ──► channels ──► samples ──► modifiers
  ──► scalars (one parameter: alpha, factor), sets (one parameter a bin: gammas)
scalars, sets, domains, parameter points ──► names, modifiers, measurements"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from .conversion import Conversion, ConversionError, beyond_pyhf, refusal_of, settings
from .expressions import ONE, ScaledSample, Terms, are_factors, expanded, product_of, terms_of
from .hs3_codes import code_of, settle_codes, settle_sums
from .hs3_constraints import Constraint, Constraints
from .hs3_document import Analysis, Document, counts
from .hs3_functions import function_tree, parameters_of, refuse_split_sums, written
from .hs3_gammas import Channel, Gammas, Sample
from .json_nodes import Node
from .parameter_names import common_stem, pyhf_set_name, without_alpha
from .pyhf_workspace import CODE_KEY, MODIFIERS, modifier


@dataclass
class _Scalar:
    """A factor with Gaussian constraint becomes lumi, pyhf's only such modifier; others keep their law beside
    pyhf's schema."""

    role: str
    node: Node
    constraint: Constraint = Constraint("")  # none
    name: str = ""


class Reader:
    def __init__(
        self,
        document: Any,
        names: str,
        analysis: Optional[str],
        shapesys_vals: Optional[str],
        poisson_staterror: str,
    ) -> None:
        self.document = Document(document)
        self.notes = self.document.notes
        self.pyhf_names, self.poisson_staterror = names == "pyhf", poisson_staterror
        self.analyses = self.document.choose(analysis)
        constants = {name: value for name, (value, _) in self.analyses[0].point.items()}
        self.constraints = Constraints(self.document, constants)
        self.gammas = Gammas(self.document, self.constraints, self.analyses, shapesys_vals)
        self.scalars: dict[str, _Scalar] = {}
        self.channels: list[Channel] = []
        self.names: dict[str, str] = {}  # HS3's parameter -> pyhf's
        self.functions: dict[str, str] = {}  # expressions of those that are no sums of factors

    def convert(self) -> Conversion:
        self._read_channels(self.analyses[0].likelihood)
        codes = self._settle_codes()
        self._constrain_scalars()
        sets = self.gammas.sets.values()
        for found in sets:
            self.gammas.finish(found)
        self._name_parameters()
        for found in sets:
            self.gammas.write(found, self.poisson_staterror)
        for sample in (sample for channel in self.channels for sample in channel.samples):
            for (kind, parameter), data in sample.scalars.items():
                scalar = self.scalars[parameter]
                sample.modifiers.append(
                    modifier(scalar.name, "lumi" if scalar.role == "lumi" else kind, data)
                )
        for key in ("distributions", "functions"):
            for name, node in self.document.tables[key].items():
                if (key, name) not in self.document.used:
                    self.notes.append(
                        node.at(f"'{self.analyses[0].name}' does not use '{name}', which was left out")
                    )
        channels = [
            {"name": channel.name, "samples": self._expanded(channel.samples)} for channel in self.channels
        ]
        spec = {
            "channels": channels,
            "observations": [{"name": channel.name, "data": channel.data} for channel in self.channels],
            "measurements": [self._measurement(analysis) for analysis in self.analyses],
            "version": "1.0.0",
        }
        notes = list(dict.fromkeys([*self.notes, *beyond_pyhf(spec)]))
        refusal = refusal_of(spec)
        if refusal:
            raise ConversionError("/", f"the workspace that it makes is refused: {refusal}")
        return Conversion(spec, notes, self.names, settings(codes))

    def _expanded(self, samples: list[Sample]) -> list[dict[str, Any]]:
        scaled = [self._scaled(one) for one in samples]
        kinds = {scalar.name: scalar.role for scalar in self.scalars.values()}

        def factor(name: str) -> dict[str, Any]:
            return modifier(name, "lumi" if kinds[name] == "lumi" else "normfactor")

        found, notes, poisson = expanded(scaled, factor)
        self.notes += notes
        for gammas in self.gammas.sets.values():
            if gammas.name in poisson:
                gammas.config = {"constraint": {"type": "poisson"}}
        return found

    def _scaled(self, sample: Sample) -> ScaledSample:
        """Scales it by the terms of its functions, or by the functions where factors cannot say these."""
        terms = self._terms(sample)
        if terms is None:
            terms = ONE
            for name, tree in sample.functions.items():
                sample.modifiers.append(modifier(name, "normfactor"))
                self.functions[name] = written(tree, self.names)
        return ScaledSample(sample.node, sample.name, sample.contents, sample.modifiers, self._renamed(terms))

    def _terms(self, sample: Sample) -> Optional[Terms]:
        """The product of its functions, by HS3's names. None: factors cannot say it."""
        terms: Optional[Terms] = ONE
        for tree in sample.functions.values():
            if terms is None or any(self.scalars[name].role == "alpha" for name in parameters_of(tree)):
                return None
            terms = product_of(terms, terms_of(tree))
        if terms is None:
            return None
        factors = [modifier(parameter, kind) for kind, parameter in sample.scalars]
        return terms if are_factors(terms, factors) else None

    def _arguments(self) -> set[str]:
        """Parameters of functions that stay functions, and of nothing else."""
        kept: set[str] = set()
        factors: set[str] = set()
        for sample in (sample for channel in self.channels for sample in channel.samples):
            for tree in sample.functions.values():
                (kept if self._terms(sample) is None else factors).update(parameters_of(tree))
            factors.update(parameter for _, parameter in sample.scalars)
        return kept - factors

    def _renamed(self, terms: Terms) -> Terms:
        return {
            tuple(sorted((self.names[name], power) for name, power in key)): value
            for key, value in terms.items()
        }

    def _read_function(self, sample: Sample, node: Node) -> None:
        """A factor that is a function of parameters."""
        name = node.object("type name")["name"]
        tree = function_tree(self.document, name, self.analyses[0].point)
        key = name.value if isinstance(name.value, str) else f"{sample.name}_factor"
        while key in sample.functions:
            key += "_"  # a factor may stand twice
        sample.functions[key] = tree
        for parameter in parameters_of(tree):
            if parameter not in self.scalars:
                self._scalar(parameter, "factor", node)

    def _read_channels(self, likelihood: Node) -> None:
        likelihood.object("name distributions data", "aux_distributions")
        entries, data = list(likelihood["distributions"]), list(likelihood["data"])
        if len(entries) != len(data):
            raise likelihood["data"].refuse(f"{len(entries)} distributions have {len(data)} data")
        channels, loose = [], {}
        for entry, datum in zip(entries, data):
            node = self.document.look_up("distributions", entry)
            if node.get("type").value == "histfactory_dist":
                channels.append((node["name"].string(), node, datum))
            else:
                value = self.document.data(datum)["value"] if isinstance(datum.value, str) else datum
                loose.update(dict.fromkeys(self.constraints.add_loose(node, value.number()), node))
        for entry in likelihood.get("aux_distributions"):
            node = self.document.look_up("distributions", entry)
            loose.update(dict.fromkeys(self.constraints.add_loose(node), node))
        prefix = "model_"
        if not all(name.startswith(prefix) and name != prefix for name, _, _ in channels):
            prefix = ""
        for name, node, datum in channels:
            self._read_channel(node, name[len(prefix) :], datum)
        if not channels:
            raise likelihood["distributions"].refuse("there is no histfactory_dist among them")
        used = {*self.scalars, *(name for found in self.gammas.sets.values() for name in found.parameters)}
        for parameter in (one for found, _ in self.constraints.joint.values() for one in found):
            loose[parameter] = self.constraints.by_parameter[parameter][1]
        for parameter, node in loose.items():
            if parameter not in used:
                raise node.refuse(f"it constrains '{parameter}', which no modifier uses")

    def _read_channel(self, node: Node, name: str, datum: Node) -> None:
        node.object("name type axes samples", "default_interpolation staterror barlow_beeston_method")
        method = node.get("barlow_beeston_method")
        if method and method.value != "lite":
            raise method.refuse("HistFactory has only the lite method (one parameter a bin)")
        data = self.document.data(datum)
        if data["type"].value == "point":
            raise datum.refuse("a channel must have binned data")
        observed = counts(data, node["axes"])
        nbins = len(observed)
        channel = Channel(name, nbins, observed, node)
        self.channels.append(channel)
        for i, item in enumerate(node["samples"]):
            histogram = item.object("data", "name modifiers")["data"].object("contents", "errors")
            errors = histogram.get("errors")
            sample = Sample(
                item.get("name").string(f"sample_{i}"),
                histogram["contents"].numbers(nbins),
                errors.numbers(nbins) if errors else [],
                item,
            )
            if any(other.name == sample.name for other in channel.samples):
                raise item.refuse(f"the channel has a second sample '{sample.name}'")
            channel.samples.append(sample)
            for modifier_node in item.get("modifiers"):
                self._read_modifier(channel, sample, modifier_node)
            functions = [one["name"] for one in item.get("modifiers") if one["type"].value == "custom"]
            refuse_split_sums(self.document, functions)

    def _read_modifier(self, channel: Channel, sample: Sample, node: Node) -> None:
        kind = node.get("type").value
        if kind == "custom":
            self._read_function(sample, node)
            return
        # in HS3 lumi is a normfactor with a constraint
        if not isinstance(kind, str) or kind not in MODIFIERS or kind == "lumi":
            raise node.inexpressible(f"a modifier of type {kind!r}")
        role = MODIFIERS[kind].role
        if MODIFIERS[kind].per_bin:
            self.gammas.read(channel, sample, node, kind)
            return
        keys, data = "name parameter constraint constraint_name constraint_type data", None
        if role == "alpha":
            node.object("type data", f"{keys} interpolation")
            data = self._variation(channel, node, kind)
        elif node.object("type", keys).get("data"):
            raise node["data"].refuse("a normfactor has no data")
        parameter = node.get("parameter").string("")
        if not node.get("parameter"):
            parameter = ("alpha_" if role == "alpha" else "") + node["name"].string()
        self.constraints.add_of_modifier(node, parameter, role)
        self._scalar(parameter, role, node)
        if (kind, parameter) in sample.scalars:
            raise node.refuse(f"the sample has a second {kind} of '{parameter}'")
        sample.scalars[kind, parameter] = data

    def _scalar(self, parameter: str, role: str, node: Node) -> None:
        known = self.scalars.setdefault(parameter, _Scalar(role, node))
        if known.node["type"].value == "custom":  # an argument of a function
            known.role, known.node = role, node
        if known.role != role:
            raise node.refuse(
                f"'{parameter}' is a parameter of type {role} here and {known.role} at {known.node.place}; "
                "in pyhf it has one type"
            )

    def _variation(self, channel: Channel, node: Node, kind: str) -> dict[str, Any]:
        sides = node["data"].object("hi lo", "interpolation")
        given = (
            node.get("interpolation")
            or sides.get("interpolation")
            or channel.node.get("default_interpolation")
        )
        code = {CODE_KEY: code_of(given if given else None, kind)}
        if kind == "histosys":
            templates = {
                f"{side}_data": sides[side].object("contents", "errors")["contents"].numbers(channel.nbins)
                for side in ("hi", "lo")
            }
            return {**templates, **code}
        factors = {side: sides[side].number() for side in ("hi", "lo")}
        if min(factors.values()) < 0:
            raise sides.refuse("hi and lo of a normsys must be at least 0")
        return {**factors, **code}

    def _settle_codes(self) -> dict[str, str]:
        data = []
        for sample in (sample for channel in self.channels for sample in channel.samples):
            varied = [(*key, one) for key, one in sample.scalars.items() if one is not None]
            others = {key: one for key, one in sample.scalars.items() if one is None}
            settled = settle_sums(sample.node, sample.contents, varied)
            sample.scalars = {**others, **{(kind, name): one for kind, name, one in settled}}
            data += [(kind, one) for kind, _, one in settled]
        return settle_codes(data, self.notes)

    def _constrain_scalars(self) -> None:
        for parameter, scalar in self.scalars.items():
            default = Constraint("Gauss" if scalar.role == "alpha" else "")  # as in ROOT and pyhs3
            scalar.constraint, _ = self.constraints.by_parameter.get(parameter, (default, scalar.node))
        arguments = self._arguments()
        measured = [
            parameter
            for parameter, scalar in self.scalars.items()
            if scalar.role == "factor" and scalar.constraint.kind == "Gauss" and parameter not in arguments
        ]
        if measured:
            by_name = [parameter for parameter in measured if parameter.lower() == "lumi"]
            self.scalars[(by_name or measured)[0]].role = "lumi"

    def _name_parameters(self) -> None:
        taken: set[str] = set()

        def take(node: Node, *candidates: str) -> str:
            for name in candidates:
                if name not in taken:
                    taken.add(name)
                    return name
            names = ", ".join(map(repr, candidates))
            raise node.refuse(f"its parameters need a name, but {names} stand for others already")

        # lumi first: it has no other name
        for parameter, scalar in sorted(self.scalars.items(), key=lambda item: item[1].role != "lumi"):
            shorten = self.pyhf_names and scalar.role == "alpha"
            names = (without_alpha(parameter) if shorten else parameter, parameter)
            if scalar.role == "lumi":
                names = ("lumi", "lumi")
                if not self.pyhf_names and parameter != "lumi":
                    self.notes.append(
                        scalar.node.at(f"'{parameter}' is a factor with a constraint; pyhf calls it lumi")
                    )
            scalar.name = take(scalar.node, *names)
        self.names = {parameter: scalar.name for parameter, scalar in self.scalars.items()}
        for found in self.gammas.sets.values():
            stem = common_stem(found.parameters) or found.label
            short = pyhf_set_name(stem) if self.pyhf_names else stem
            found.name = take(found.node, short, stem, found.label, f"{found.label}_{found.channel.name}")
            for i, parameter in enumerate(found.parameters):
                if parameter in self.names:
                    raise found.node.refuse(f"'{parameter}' is also a parameter of another modifier")
                self.names[parameter] = f"{found.name}[{i}]"

    def _measurement(self, analysis: Analysis) -> dict[str, Any]:
        for name, node in analysis.half_open.items():
            if name in self.names and name not in analysis.bounds:
                self.notes.append(
                    node.at(f"'{name}' has a bound on one side alone; pyhf's default bounds were taken")
                )
        configs = []
        for parameter, scalar in self.scalars.items():
            law = scalar.constraint
            config: dict[str, Any] = {"name": scalar.name}
            if scalar.role == "lumi":
                reach = 5 * law.width
                config.update(auxdata=[law.nominal], sigmas=[law.width], inits=[law.nominal])
                config["bounds"] = [[law.nominal - reach, law.nominal + reach]]
            else:
                config.update(law.configured(scalar.role))
            configs.append(self._configured(config, analysis, [parameter], law.kind))
        for gammas in self.gammas.sets.values():
            default = list(MODIFIERS[gammas.type].bounds)
            own = {"name": gammas.name, **gammas.config}
            configs.append(self._configured(own, analysis, gammas.parameters, gammas.kind, default))
        parameters = [config for config in configs if len(config) > 1]
        pois = self._pois(analysis)
        found: dict[str, Any] = {"poi": pois[0] if pois else "", "parameters": parameters}
        if len(pois) > 1:
            found["pois"] = pois
        if self.functions:
            found["functions"] = [{"name": name, "expression": text} for name, text in self.functions.items()]
        if self.constraints.joint:
            found["correlations"] = [
                {"name": name, "parameters": [self.names[one] for one in parameters], "correlation": matrix}
                for name, (parameters, matrix) in self.constraints.correlations().items()
            ]
        return {"name": analysis.name, "config": found}

    def _configured(
        self,
        config: dict[str, Any],
        analysis: Analysis,
        parameters: Sequence[str],
        kind: Optional[str],
        bounds: Sequence[float] = (),
    ) -> dict[str, Any]:
        if any(name in analysis.bounds for name in parameters):
            config["bounds"] = [list(analysis.bounds.get(name, bounds)) for name in parameters]
        if any(name in analysis.point for name in parameters):
            config["inits"] = [analysis.value(name) for name in parameters]
        if kind == "Const" or all(analysis.constant(name) for name in parameters):
            config["fixed"] = True
        return config

    def _pois(self, analysis: Analysis) -> list[str]:
        found: list[str] = []
        listed = analysis.node.get("parameters_of_interest")
        for i, name in enumerate(analysis.poi):
            if name in analysis.poi[:i]:
                raise list(listed)[i].refuse(f"'{name}' is there a second time")
            if name in self.scalars:
                found.append(self.scalars[name].name)
                continue
            what = f"'{name}' is not a parameter of a whole sample in these channels"
            if not found:
                raise listed.refuse(what)
            self.notes.append(analysis.node.at(f"{what}; it was left out of the parameters of interest"))
        return found
