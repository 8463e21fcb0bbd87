"""From cabinetry's configuration to a workspace."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional

import numpy as np

from ..files import PathLike
from ..model import Model
from .builder import ChannelBuilder, SampleBuilder, WorkspaceBuilder
from .config_file import ConfigLike, parse_config
from .config_schema import check_config
from .histograms import Histogram, histogram
from .ntuples import fill_histograms
from .places import Place, SteeringError
from .requests import Owner, Setting, TemplateRequest, in_scope, owners, template_requests
from .root_histograms import read_histograms
from .saved_templates import read_saved, save_histogram
from .smoothing import smoothed_variation

#: makes a template from region, sample, systematic ({} for nominal) and direction ("Up", "Down", None): a
#: histogram, or None to take it from the inputs
MakeTemplate = Callable[[Setting, Setting, Setting, Optional[str]], Any]
INPUTS = ("auto", "ntuples", "histograms", "saved")


@dataclass(frozen=True)
class Template:
    """A template: as read or filled, and after post-processing.

    name: its file in HistogramFolder, without suffix. direction: "Up", "Down" or None (nominal)."""

    name: str
    region: str
    sample: str
    systematic: Optional[str]
    direction: Optional[str]
    raw: Histogram
    processed: Histogram


@dataclass
class ConfiguredWorkspace:
    """What a configuration file makes.

    spec: the pyhf workspace, a dict. notes: what was decided or looks wrong, one sentence each.
    templates: all histograms. config: the file's content. folder: where its relative paths start."""

    spec: dict[str, Any]
    notes: list[str]
    templates: list[Template]
    config: Setting = field(repr=False)
    folder: str = "."

    def model(self, **options: Any) -> Model:
        """Its model; options: see `paritas.Model.from_workspace`."""
        return Model.from_workspace(self.spec, **options)

    def save_templates(self, folder: Optional[PathLike] = None) -> None:
        """Writes NAME.npz and NAME_modified.npz (after post-processing) of all templates, as cabinetry does.
        folder None: HistogramFolder. Raises OSError, and SteeringError if two templates have one name."""
        target = os.path.join(self.folder, self.config["General"]["HistogramFolder"])
        target = os.fspath(folder) if folder is not None else target
        names: set[str] = set()
        for one in self.templates:
            if one.name in names:
                raise SteeringError(target, f"two templates would be called {one.name}.npz")
            if re.search(r"[/\\\0]", one.name):
                raise SteeringError(target, f"a template cannot be called {one.name!r}, which is a path")
            names.add(one.name)
        os.makedirs(target, exist_ok=True)
        for one in self.templates:
            save_histogram(one.raw, os.path.join(target, one.name))
            save_histogram(one.processed, os.path.join(target, one.name + "_modified"))


def read(
    config: ConfigLike,
    inputs: str = "auto",
    folder: PathLike = ".",
    make_template: Optional[MakeTemplate] = None,
) -> ConfiguredWorkspace:
    """The workspace of cabinetry's configuration file (YAML, JSON, or its content as a dict).

    inputs: "ntuples" (fills templates from trees), "histograms" (in ROOT files), "saved" (what cabinetry or
    `save_templates` left in HistogramFolder), or "auto": ntuples if every sample has a Tree.
    folder: where relative paths start. make_template: makes templates in the user's own way.
    Raises SteeringError, OSError, and ImportError if uproot or PyYAML is missing."""
    if inputs not in INPUTS:
        raise ValueError(f"inputs must be one of {', '.join(INPUTS)}, not {inputs!r}")
    content, root = parse_config(config)
    notes = check_config(content, root)
    folder = os.fspath(folder)
    requests = list(template_requests(content, root))
    kind = _kind_of_inputs(content, root) if inputs == "auto" else inputs
    raw = _read_templates(requests, kind, folder, notes, make_template)
    templates = _process(requests, raw, notes)
    spec = _build(content, root, dict(zip(requests, templates)), notes)
    return ConfiguredWorkspace(spec, list(dict.fromkeys(notes)), templates, content, folder)


def _kind_of_inputs(config: Setting, root: Place) -> str:
    trees = ["Tree" in sample for sample in config["Samples"]]
    if any(trees) and not all(trees):
        raise (root / "Samples" / trees.index(False)).refuse(
            "'Tree' is missing, but other samples have it; say whether inputs are ntuples or histograms"
        )
    return "ntuples" if all(trees) else "histograms"


def _read_templates(
    requests: list[TemplateRequest],
    kind: str,
    folder: str,
    notes: list[str],
    make_template: Optional[MakeTemplate],
) -> list[Histogram]:
    found: dict[TemplateRequest, Histogram] = {}
    for request in requests:
        if make_template is None:
            break
        systematic = request.systematic.setting if request.systematic is not None else {}
        made = make_template(request.region.setting, request.sample.setting, systematic, request.direction)
        if made is not None:
            try:
                found[request] = histogram(made)
                _refuse_without_variances(request, found[request])
            except (ValueError, TypeError) as error:
                raise request.place.refuse(f"the template made for {request.name}: {error}") from None
    others = [request for request in requests if request not in found]
    readers = {"ntuples": fill_histograms, "histograms": read_histograms, "saved": read_saved}
    found.update(zip(others, readers[kind](others, folder, notes)))
    return [found[request] for request in requests]


def _refuse_without_variances(request: TemplateRequest, made: Histogram) -> None:
    """Raises ValueError if the sample has a statistical uncertainty and its template has none."""
    sample = request.sample.setting
    if request.systematic is None and made.variances is None:
        if not (sample.get("Data") or sample.get("DisableStaterror")):
            raise ValueError(
                "an array has no variances for the statistical uncertainty. Return "
                "steering.Histogram(values, variances) or a histogram, or set DisableStaterror: True"
            )


def _process(requests: list[TemplateRequest], raw: list[Histogram], notes: list[str]) -> list[Template]:
    """Post-processing: undefined statistical uncertainties become 0, variations are smoothed if asked."""
    nominal: dict[tuple[str, str], Histogram] = {}
    templates = []
    for request, found in zip(requests, raw):
        region, sample = request.region.setting["Name"], request.sample.setting["Name"]
        if request.systematic is None:
            nominal[region, sample] = found
        base = nominal[region, sample]
        if len(base.values) != len(found.values):
            raise request.place.refuse(
                f"{request.name} has {len(found.values)} bins, the nominal template has {len(base.values)}"
            )
        systematic = None if request.systematic is None else request.systematic.setting["Name"]
        notes.extend(request.place.at(f"{request.name} {text}") for text in _oddities(found))
        templates.append(
            Template(
                request.name,
                region,
                sample,
                systematic,
                request.direction,
                found,
                _smoothed(_defined(found), base, request),
            )
        )
    return templates


def _oddities(found: Histogram) -> Iterator[str]:
    for text, odd in (
        ("has empty bins", found.values == 0.0),
        ("has negative yields in bins", found.values < 0.0),
        ("has no statistical uncertainty, taken as 0, in bins", _undefined(found)),
    ):
        bins = np.flatnonzero(odd)
        if bins.size:
            yield f"{text}: {', '.join(map(str, bins))}"


def _undefined(found: Histogram) -> Any:
    return False if found.variances is None else ~(found.variances >= 0.0)


def _defined(found: Histogram) -> Histogram:
    if found.variances is None:
        return found
    return Histogram(found.values, np.where(_undefined(found), 0.0, found.variances), found.edges)


def _smoothed(found: Histogram, nominal: Histogram, request: TemplateRequest) -> Histogram:
    smoothing = None if request.systematic is None else request.systematic.setting.get("Smoothing")
    if request.systematic is None or smoothing is None:
        return found
    if not in_scope(smoothing, request.region.setting, request.sample.setting):
        return found
    try:
        return found.with_values(smoothed_variation(found.values, nominal.values))
    except ValueError as error:
        raise (request.systematic.place / "Smoothing").refuse(f"{request.name}: {error}") from None


@contextmanager
def _named(place: Place) -> Iterator[None]:
    """A builder's refusal gets the place in the configuration."""
    try:
        yield
    except SteeringError as error:
        raise place.refuse(str(error)) from None


def _build(
    config: Setting, root: Place, templates: dict[TemplateRequest, Template], notes: list[str]
) -> dict[str, Any]:
    general = config["General"]
    builder = WorkspaceBuilder(general["Measurement"], general.get("POI", ""))
    found = {
        (one.region, one.sample, one.systematic, one.direction): _without_edges(one.processed)
        for one in templates.values()
    }
    data = next(one for one in owners(config, root, "Samples") if one.setting.get("Data"))
    _note_edges(templates, notes)
    for region in owners(config, root, "Regions"):
        name = region.setting["Name"]
        observed = found.get((name, data.setting["Name"], None, None))
        if observed is None:
            raise data.place.refuse(f"the data must be in all regions; '{name}' has none")
        with _named(region.place):
            channel = builder.channel(name, observed)
        for sample in owners(config, root, "Samples"):
            nominal = found.get((name, sample.setting["Name"], None, None))
            if sample is not data and nominal is not None and not sample.setting.get("Data"):
                _add_sample(channel, config, root, (region, sample), found)
    _add_parameters(builder, config, root, notes)
    if builder.wrong_poi():
        raise (root / "General" / "POI").refuse(builder.wrong_poi())
    with _named(root):
        return builder.modelled_workspace()


def _without_edges(found: Histogram) -> Histogram:
    return Histogram(found.values, found.variances)


def _note_edges(templates: dict[TemplateRequest, Template], notes: list[str]) -> None:
    """cabinetry compares no edges; the number of bins must agree."""
    first: dict[str, Template] = {}
    for request, one in templates.items():
        base = first.setdefault(one.region, one)
        if one.raw.edges is None or base.raw.edges is None or len(one.raw.edges) != len(base.raw.edges):
            continue
        if not np.allclose(one.raw.edges, base.raw.edges, rtol=1e-9, atol=0.0):
            notes.append(request.place.at(f"{one.name} has other edges than {base.name}"))


def _add_sample(
    channel: ChannelBuilder,
    config: Setting,
    root: Place,
    where: tuple[Owner, Owner],
    found: dict[tuple[str, str, Optional[str], Optional[str]], Histogram],
) -> None:
    """A sample with statistical errors, then factors, then systematics, in the order of the file."""
    region, sample = (owner.setting for owner in where)
    nominal = found[region["Name"], sample["Name"], None, None]
    with _named(where[1].place):
        built = channel.sample(sample["Name"], nominal, staterror=False, allow_negative=True)
        if not sample.get("DisableStaterror"):
            built.staterror()
    for factor in owners(config, root, "NormFactors"):
        if in_scope(factor.setting, region, sample):
            built.factor(factor.setting["Name"])
    for systematic in owners(config, root, "Systematics"):
        if in_scope(systematic.setting, region, sample):
            varied = [
                found.get((region["Name"], sample["Name"], systematic.setting["Name"], direction))
                for direction in ("Up", "Down")
            ]
            with _named(systematic.place):
                _add_systematic(built, systematic.setting, varied)


def _add_systematic(sample: SampleBuilder, systematic: Setting, varied: list[Optional[Histogram]]) -> None:
    name = systematic.get("ModifierName", systematic["Name"])
    if systematic["Type"] == "Normalization":
        up, down = (1 + systematic[direction]["Normalization"] for direction in ("Up", "Down"))
        sample.systematic(name, up, down)
    else:
        sample.norm_plus_shape(name, *(None if one is None else one.values for one in varied))


def _add_parameters(builder: WorkspaceBuilder, config: Setting, root: Place, notes: list[str]) -> None:
    """Settings of normalisation factors, then fixed systematics."""
    fixed = {one["Name"]: one["Value"] for one in config["General"].get("Fixed", [])}
    for factor in owners(config, root, "NormFactors"):
        name, nominal = factor.setting["Name"], factor.setting.get("Nominal")
        value = fixed.get(name)
        if nominal is not None and value not in (None, nominal):
            notes.append(factor.place.at(f"fixed at Nominal ({nominal}), not at Fixed's {value}"))
        start = value if nominal is None else nominal
        builder.parameter(name, start, factor.setting.get("Bounds"), fixed=value is not None)
    for systematic in owners(config, root, "Systematics"):
        name = systematic.setting["Name"]
        if name in fixed:
            builder.parameter(name, fixed[name], fixed=True)
            if systematic.setting.get("ModifierName", name) != name:
                notes.append(
                    systematic.place.at("Fixed needs a ModifierName equal to Name; nothing is fixed")
                )
