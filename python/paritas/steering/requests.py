"""The templates that a configuration asks for, and the settings of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from .config_schema import applies, as_list
from .places import Place

Setting = Mapping[str, Any]
Direction = Optional[str]  # "Up", "Down", None: nominal
DIRECTIONS = ("Up", "Down")


@dataclass(frozen=True, eq=False)
class Owner:
    """A part of the configuration with settings."""

    setting: Setting
    place: Place


def first_setting(key: str, *owners: Owner) -> tuple[Any, Place]:
    """The setting of the first owner that has it, with its place. None and the last owner's place if nobody
    has it."""
    for owner in owners:
        if owner.setting.get(key) is not None:
            return owner.setting[key], owner.place / key
    return None, owners[-1].place


@dataclass(frozen=True, eq=False)
class TemplateRequest:
    """One template: a sample in a region, nominal or varied."""

    general: Owner
    region: Owner
    sample: Owner
    systematic: Optional[Owner] = None
    direction: Direction = None

    @property
    def name(self) -> str:
        """The name of its file in HistogramFolder, without suffixes."""
        parts = [self.region.setting["Name"], self.sample.setting["Name"]]
        if self.systematic is not None:
            parts += [self.systematic.setting["Name"], str(self.direction)]
        return "_".join(parts).replace(" ", "-")

    @property
    def place(self) -> Place:
        """What asks for it: the systematic's direction, or the sample."""
        if self.systematic is None:
            return self.sample.place
        return self.systematic.place / str(self.direction)

    @property
    def variation(self) -> Setting:
        """Its direction's settings; empty for nominal."""
        return {} if self.systematic is None else self.systematic.setting[str(self.direction)]

    def find(self, key: str, *owners: Owner) -> tuple[Any, Place]:
        """The setting of the variation, else of the first owner that has it, with its place."""
        return first_setting(key, Owner(self.variation, self.place), *owners)

    def path(self, parts: Mapping[str, tuple[Any, Place]], notes: list[str]) -> tuple[list[str], Place]:
        """InputPath with the parts in place of {RegionPath} and so on, one path for each entry of a list;
        and the place of the part that names the file, or InputPath's."""
        text: str = self.general.setting["InputPath"]
        paths, at = [text], self.general.place / "InputPath"
        for key, (value, place) in parts.items():
            mark = "{" + key + "}"
            if value is None and mark in text:
                raise place.refuse(f"'{key}' is missing: InputPath has {mark}")
            if value is None:
                continue
            if mark in text:
                at = place if key == "SamplePath" else at
            elif len(as_list(value)) > 1:
                raise place.refuse(f"InputPath has no {mark}, so each file would be read {len(value)} times")
            elif place != self.general.place / key:
                notes.append(place.at(f"this changes nothing, as InputPath has no {mark}"))
            paths = [path.replace(mark, part) for path in paths for part in as_list(value)]
        return paths, at


def owners(config: Setting, root: Place, kind: str) -> list[Owner]:
    """The entries of Regions, Samples, NormFactors or Systematics."""
    return [Owner(one, root / kind / i) for i, one in enumerate(config.get(kind, []))]


def template_requests(config: Setting, root: Place) -> Iterator[TemplateRequest]:
    """All templates, region by region, sample by sample, nominal first."""
    general = Owner(config["General"], root / "General")
    systematics = owners(config, root, "Systematics")
    for region in owners(config, root, "Regions"):
        for sample in owners(config, root, "Samples"):
            if not applies(sample.setting, "Regions", region.setting["Name"]):
                continue
            yield TemplateRequest(general, region, sample)
            if sample.setting.get("Data"):
                continue
            for systematic in systematics:
                setting = systematic.setting
                if setting["Type"] == "NormPlusShape" and in_scope(setting, region.setting, sample.setting):
                    for direction in DIRECTIONS:
                        if not setting[direction].get("Symmetrize"):
                            yield TemplateRequest(general, region, sample, systematic, direction)


def in_scope(modifier: Setting, region: Setting, sample: Setting) -> bool:
    """Do Regions and Samples of a modifier allow this sample in this region?"""
    return applies(modifier, "Regions", region["Name"]) and applies(modifier, "Samples", sample["Name"])
