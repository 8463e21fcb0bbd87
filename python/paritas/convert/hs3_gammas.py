"""HS3 modifiers with one parameter a bin. They are written last: which of shapesys, staterror or shapefactor
a set is depends on all its samples and on constants."""

import ast
import itertools
import math
import re
from dataclasses import dataclass, field
from typing import Any, Optional

from .hs3_constraints import Constraints, kind_of
from .hs3_document import Analysis, Document, bins
from .json_nodes import ABSENT, Node
from .parameter_names import gamma_names
from .pyhf_workspace import EMPTY_BIN, histograms, modifier

_ALL_OR_NONE = "pyhf fixes and constrains all parameters of a set or none"


@dataclass(eq=False)
class Sample:
    name: str
    contents: list[float]
    errors: list[float]  # may be empty
    node: Node
    modifiers: list[dict[str, Any]] = field(default_factory=list)
    scalars: dict[tuple[str, str], Any] = field(default_factory=dict)  # (type, parameter) -> data
    functions: dict[str, ast.expr] = field(default_factory=dict)  # those that scale it


@dataclass(eq=False)
class Channel:
    name: str
    nbins: int
    data: list[float]
    node: Node
    samples: list[Sample] = field(default_factory=list)


@dataclass(eq=False)
class GammaSet:
    """One parameter a bin, shared by samples; free ones also by channels."""

    parameters: list[str]
    channel: Channel
    node: Node
    label: str
    statistical: bool
    kind: Optional[str] = None  # Gauss, Poisson, Const; None: free or named
    listed: list[int] = field(default_factory=list)  # bin of each place in the document's list
    vals: Node = ABSENT
    relative: list[float] = field(default_factory=list)  # constraint widths
    samples: list[Sample] = field(default_factory=list)
    lengths: dict[str, int] = field(default_factory=dict)  # by channel
    name: str = ""
    type: str = "shapefactor"
    config: dict[str, Any] = field(default_factory=dict)  # law beyond pyhf's schema


def _ratio(a: float, b: float) -> float:
    return a / b if b > 0 else 0.0


class Gammas:
    """A document's sets, by first parameter."""

    def __init__(
        self, document: Document, constraints: Constraints, analyses: list[Analysis], vals_are: Optional[str]
    ) -> None:
        self.notes, self.constraints, self.analyses = document.notes, constraints, analyses
        self.packages = list(document.root["metadata"].get("packages"))
        misc = document.root.value.get("misc")
        own = misc.get("paritas") if isinstance(misc, dict) else None
        self.vals_are = vals_are or (own.get("shapesys_vals") if isinstance(own, dict) else None)
        self.sets: dict[str, GammaSet] = {}

    def read(self, channel: Channel, sample: Sample, node: Node, kind: str) -> None:
        node.object("type", "name parameter parameters constraint constraint_type constraints data")
        label, statistical = node.get("name").string(kind), kind == "staterror"
        parameters = self._parameters(channel, node, f"stat_{channel.name}" if statistical else label)
        new = GammaSet(parameters, channel, node, label, statistical)
        new.kind = self._kind(new)
        order = self._row_by_row(channel, parameters)
        new.parameters = parameters = [parameters[i] for i in order]
        new.listed = [order.index(i) for i in range(len(order))]
        if kind == "shapefactor" and new.kind is not None:
            raise node.refuse("a shapefactor is free; with a constraint it is a shapesys with 'vals'")
        if node.get("data"):
            if kind != "shapesys":
                errors = "; its errors are those of the sample" if statistical else ""
                raise node["data"].refuse(f"a {kind} has no data{errors}")
            new.vals = node["data"].object("vals")["vals"]
            widths = new.vals.numbers(channel.nbins)
            new.vals = Node([widths[i] for i in order], new.vals.path)
            self._free_if_unconstrained(new)
        if statistical and not sample.errors:
            if any(content < 0 for content in sample.contents):
                raise sample.node["data"].refuse("'errors' are missing; the staterror needs them")
            sample.errors = [math.sqrt(content) for content in sample.contents]
            self.notes.append(
                sample.node["data"].at("'errors' are missing; roots of the contents were taken, as in ROOT")
            )
        found = self.sets.setdefault(parameters[0], new)
        if found is not new:
            self._check_shared(found, new, sample, kind)
        if not statistical and new.kind in ("Gauss", "Poisson"):
            named = self.constraints.of_set(parameters, node)
            relative = self._named_widths(new) if named else self._relative(new, sample)
            if found.relative and any(abs(a - b) > 1e-9 * abs(a) for a, b in zip(found.relative, relative)):
                raise node.refuse(
                    f"the same parameters have constraints of other widths at {found.node.place}"
                )
            found.relative = relative
        found.parameters = max(parameters, found.parameters, key=len)
        found.samples.append(sample)
        found.lengths[channel.name] = channel.nbins
        found.vals = found.vals or new.vals

    def _row_by_row(self, channel: Channel, parameters: list[str]) -> list[int]:
        """Places of the parameters in the order of the contents, whose last axis runs fastest. In ROOT's
        lists the first one does: gamma_X_bin_0_0, gamma_X_bin_1_0, .. (ParamHistFunc)."""
        plain = list(range(len(parameters)))
        sizes = [bins([axis]) or 0 for axis in channel.node["axes"]]
        if len(sizes) < 2:
            return plain
        index = re.compile("_bin" + r"_(\d+)" * len(sizes) + "$")
        found = [index.search(name) for name in parameters]
        if not all(found):
            if any(one.get("name").value == "ROOT" for one in self.packages):
                raise channel.node["axes"].refuse(
                    f"'{parameters[0]}' does not say its bin on each axis (.._bin_0_0), and ROOT lists "
                    "parameters by the first axis, contents by the last"
                )
            return plain
        places = {tuple(map(int, one.groups())): i for i, one in enumerate(found) if one}
        wanted = list(itertools.product(*map(range, sizes)))
        if sorted(places) != wanted:
            raise channel.node["axes"].refuse(f"the bins of '{parameters[0]}' and the others are not these")
        return [places[one] for one in wanted]

    def _free_if_unconstrained(self, new: GammaSet) -> None:
        """A width of 0 is no constraint. Such a parameter is constant in ROOT unless the parameter point says
        otherwise; so ROOT writes a ShapeFactor."""
        if new.kind not in ("Gauss", "Poisson"):
            return
        free = [
            value == 0 and any(name in one.point and not one.constant(name) for one in self.analyses)
            for name, value in zip(new.parameters, new.vals.numbers())
        ]
        if any(free):
            if any(value != 0 for value in new.vals.numbers()):
                raise new.vals.refuse(
                    f"'{new.parameters[free.index(True)]}' has the width 0, so no constraint, and is not "
                    f"constant; others have one; {_ALL_OR_NONE}"
                )
            new.kind, new.vals = None, ABSENT

    def _parameters(self, channel: Channel, node: Node, stem: str) -> list[str]:
        parameter = node.get("parameter")
        if node.get("parameters"):
            found = node["parameters"].strings()
        elif not parameter:
            found = gamma_names(stem, channel.nbins)
        elif channel.nbins == 1:
            found = [parameter.string()]
        else:
            raise parameter.refuse("it has one parameter a bin, named in 'parameters'")
        if len(found) != channel.nbins or len(set(found)) != len(found):
            raise node.refuse(f"must have {channel.nbins} different parameters, one a bin")
        return found

    def _kind(self, new: GammaSet) -> Optional[str]:
        """From `constraints`, the modifier, or the channel (staterror; ROOT's default is Poisson)."""
        node, listed = new.node, new.node.get("constraints")
        if listed:
            if len(list(listed)) != len(new.parameters):
                raise listed.refuse(f"must have {len(new.parameters)}, one a parameter")
            for item, parameter in zip(listed, new.parameters):
                if item.value is not None:
                    self.constraints.add_named(item, parameter)
            kinds = {one.kind for one in self.constraints.of_set(new.parameters, node).values()}
            return kinds.pop() if kinds else None
        config = new.channel.node.get("staterror") if new.statistical else ABSENT
        if config:
            config.object("", "constraint constraint_type relThreshold")
        said = [where.get(key) for where in (node, config) for key in ("constraint_type", "constraint")]
        said = [given for given in said if given]
        kinds = {kind_of(given) for given in said}
        if len(kinds) > 1:
            both = " and ".join(f"{given.value} ({given.place})" for given in said)
            raise node.refuse(f"its constraint is of two kinds: {both}")
        return kinds.pop() if kinds else "Poisson" if new.statistical else None

    def _check_shared(self, known: GammaSet, new: GammaSet, sample: Sample, kind: str) -> None:
        if known.channel is new.channel:
            if sample in known.samples:
                raise new.node.refuse("the sample has these parameters twice")
            same = (known.kind, known.statistical) == (new.kind, new.statistical)
        else:
            if new.kind is not None or known.kind is not None or new.statistical or known.statistical:
                raise new.node.refuse(
                    f"'{new.parameters[0]}' stands in two channels; pyhf shares only free parameters "
                    "(shapefactor) among channels"
                )
            same = True
        if not same or any(a != b for a, b in zip(new.parameters, known.parameters)):
            raise new.node.refuse(
                f"its parameters have another order or another constraint than at {known.node.place}"
            )

    def _relative(self, new: GammaSet, sample: Sample) -> list[float]:
        """Relative widths from `vals`, one of four quantities: by the caller's word, this project's mark, or
        ROOT's domains (bounds at 1 + 5 widths)."""
        if not new.vals:
            raise new.node.refuse("a constrained shapesys must have 'data' with 'vals'")
        vals = new.vals.numbers()
        if any(value < 0 for value in vals):
            raise new.vals.refuse("a width cannot be negative")
        readings = {"relative": vals, "absolute": [_ratio(v, n) for v, n in zip(vals, sample.contents)]}
        if new.kind == "Poisson":
            readings["tau"] = [_ratio(1.0, math.sqrt(v)) for v in vals]
            readings["inverse"] = [_ratio(1.0, v) for v in vals]
        for name, reading in readings.items():
            if name == self.vals_are:
                return reading
        evidence = [i for i, value in enumerate(vals) if value > 0]
        if not evidence:
            return [0.0] * len(vals)
        bounds = self.analyses[0].bounds
        if all(new.parameters[i] in bounds for i in evidence):
            by_domain = {i: (bounds[new.parameters[i]][1] - 1.0) / 5.0 for i in evidence}
            for reading in readings.values():
                if all(
                    reading[i] > 0 and abs(by_domain[i] - reading[i]) <= 1e-6 * reading[i] for i in evidence
                ):
                    return reading
        raise new.vals.refuse(
            "nothing says whether these are relative or absolute widths (or tau, or 1/width): no domain "
            "bounds each parameter by 1 + 5 widths; choose with shapesys_vals"
        )

    def _note(self, found: GammaSet, what: str) -> None:
        self.notes.append(found.node.at(what))

    def _named_widths(self, found: GammaSet) -> list[float]:
        named = self.constraints.of_set(found.parameters, found.node)
        return [named[name].width if name in named else 0.0 for name in found.parameters]

    def finish(self, found: GammaSet) -> None:
        named = self.constraints.of_set(found.parameters, found.node)
        if found.kind is None and named:
            found.kind, found.relative = next(iter(named.values())).kind, self._named_widths(found)
        if found.statistical:
            # ROOT divides place by place; with several axes the results belong to the parameters as listed
            columns = zip(*(sample.errors for sample in found.samples))
            widths = [_ratio(math.hypot(*errors), total) for errors, total in zip(columns, _total(found))]
            found.relative = [0.0] * len(widths)
            for place, width in zip(found.listed, widths):
                found.relative[place] = width
            threshold = found.channel.node.get("staterror").get("relThreshold").number(0.0)
            for i, width in enumerate(found.relative):
                if 0 < width < threshold:
                    found.relative[i] = 0.0
                    which = f"'{found.parameters[i]}' is below the threshold {threshold}"
                    self._note(found, f"{which}; its bin got no error, which fixes it")
        if found.kind is None and found.vals:
            raise found.vals.refuse(
                "these widths have no kind of constraint; readers differ in which they take"
            )
        self._fix_constants(found, named)

    def _fix_constants(self, found: GammaSet, named: Any) -> None:
        """Removes widths if every analysis fixes the parameters at 1."""
        every = range(len(found.parameters))
        frozen = [{i for i in every if one.constant(found.parameters[i])} for one in self.analyses]
        for i in every:
            if named and found.parameters[i] not in named and not all(i in which for which in frozen):
                raise found.node.refuse(
                    f"'{found.parameters[i]}' has no constraint and is not constant, others have one; "
                    f"{_ALL_OR_NONE}"
                )
        if not any(0 < len(which) < len(every) for which in frozen):
            return
        kept = [{i for i in which if found.relative and found.relative[i] > 0} for which in frozen]
        moved = any(one.value(found.parameters[i]) != 1 for one in self.analyses for i in kept[0])
        if found.kind not in ("Gauss", "Poisson") or moved or any(which != kept[0] for which in kept):
            raise found.node.refuse(
                "some of its parameters are held constant, but are free, away from 1 or not constant in "
                f"every analysis; {_ALL_OR_NONE}"
            )
        found.relative = [0.0 if i in kept[0] else width for i, width in enumerate(found.relative)]

    def write(self, found: GammaSet, shared_poisson: str) -> None:
        first = min(found.lengths)
        if found.lengths[first] < len(found.parameters):
            raise found.node.refuse(
                f"channel '{first}' has {found.lengths[first]} of the {len(found.parameters)} parameters; "
                "pyhf shares them if the channel that comes first by name has all"
            )
        whole = None
        if found.kind in ("Gauss", "Poisson"):
            self._choose_type(found, shared_poisson)
            _fill_empty_bins(found)
            total = _total(found)
            for i, (width, content) in enumerate(zip(found.relative, total)):
                if width > 0 >= content:
                    what = f"bin {i} has no content; '{found.parameters[i]}' is fixed at 1, as pyhf does"
                    self._note(found, what)
            whole = [width * max(content, 0.0) for width, content in zip(found.relative, total)]
        for sample in found.samples:
            data = whole
            if whole is not None and found.statistical and found.listed == sorted(found.listed):
                data = [error if width > 0 else 0.0 for error, width in zip(sample.errors, found.relative)]
            # pyhf adds errors in quadrature over summed contents: one sample gets the whole width
            elif whole is not None and sample is not found.samples[0]:
                data = [0.0] * len(whole)
            sample.modifiers.append(modifier(found.name, found.type, data))

    def _choose_type(self, found: GammaSet, shared_poisson: str) -> None:
        found.type = "staterror" if found.kind == "Gauss" or len(found.samples) > 1 else "shapesys"
        if found.kind == "Gauss" or len(found.samples) == 1:
            return
        if shared_poisson == "keep":
            found.config = {"constraint": {"type": "poisson"}}
            return
        if not (found.statistical and shared_poisson == "gauss"):
            names = ", ".join(sample.name for sample in found.samples)
            remedy = " (poisson_staterror='gauss' takes a Gaussian of the same width)"
            raise found.node.refuse(
                f"Poisson-constrained parameters are shared by samples {names}; pyhf's shapesys belongs to "
                f"one sample and its staterror is Gaussian{remedy if found.statistical else ''}"
            )
        self._note(found, "Poisson constraints that samples share became Gaussian ones of the same width")


def _fill_empty_bins(found: GammaSet) -> None:
    """Lets factors act on a histosys where the samples are empty."""
    for b, (width, content) in enumerate(zip(found.relative, _total(found))):
        for sample in found.samples if width > 0 and content == 0 else ():
            shifts = [data for (kind, _), data in sample.scalars.items() if kind == "histosys"]
            if any(row[b] != 0 for data in shifts for row in histograms(data)):
                sample.contents[b] = EMPTY_BIN
                break


def _total(found: GammaSet) -> list[float]:
    return [sum(column) for column in zip(*(sample.contents for sample in found.samples))]
