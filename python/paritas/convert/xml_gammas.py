"""ParamSettings of single factors of bins (gamma_stat_SR_bin_0). A workspace sets or fixes whole sets."""

import itertools
from dataclasses import dataclass, field
from typing import Any, Sequence

from .xml_grammar import Element


@dataclass
class _Setting:
    element: Element
    fixed: dict[int, bool] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)


class GammaSettings:
    """Settings of one configuration. Bins of several axes are counted row by row."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, int]] = {}  # ROOT's name -> set here, bin
        self.bins: dict[str, int] = {}
        self.constant: list[
            dict[str, tuple[frozenset[int], Element]]
        ] = []  # some of a set's bins, by measurement

    def add_set(self, stem: str, name: str, shape: Sequence[int]) -> None:
        """stem: in ROOT's names gamma_STEM_bin_0. shape: bins of each axis."""
        places = list(itertools.product(*map(range, shape)))
        for i, place in enumerate(places):
            self.places[f"gamma_{stem}_bin_{'_'.join(map(str, place))}"] = (name, i)
        self.bins[name] = max(len(places), self.bins.get(name, 0))

    def configs(self, settings: Sequence[Element]) -> dict[str, dict[str, Any]]:
        """What a measurement's settings say, by set."""
        found: dict[str, _Setting] = {}
        for element in settings:
            for root_name in (one for one in element.text.split() if one in self.places):
                name, i = self.places[root_name]
                own = found.setdefault(name, _Setting(element))
                if element.get("Const"):
                    own.fixed[i] = element.flag("Const")
                if element.get("Val"):
                    own.values[i] = element.number("Val")
        constants: dict[str, tuple[frozenset[int], Element]] = {}
        configs: dict[str, dict[str, Any]] = {}
        for name, own in found.items():
            count = self.bins[name]
            fixed = frozenset(i for i, flag in own.fixed.items() if flag)
            config: dict[str, Any] = {}
            configs[name] = config
            if own.values:
                config["inits"] = [own.values.get(i, 1.0) for i in range(count)]
            if len(fixed) == count:
                config["fixed"] = True
            elif fixed:
                if any(own.values.get(i, 1.0) != 1.0 for i in fixed):
                    raise own.element.inexpressible(f"some factors of '{name}' that are held away from 1")
                constants[name] = (fixed, own.element)
        self.constant.append(constants)
        return configs

    def drop_constant(self, channels: list[dict[str, Any]]) -> None:
        """Bins that every measurement fixes at 1 get no error, which makes them constant."""
        for name, (fixed, element) in (item for constants in self.constant for item in constants.items()):
            others = [constants.get(name) for constants in self.constant]
            if any(other is None or other[0] != fixed for other in others):
                raise element.inexpressible(
                    f"some factors of '{name}' that are held constant, but not in every measurement"
                )
            for one in (
                one for channel in channels for sample in channel["samples"] for one in sample["modifiers"]
            ):
                if one["name"] != name:
                    continue
                if one["data"] is None:
                    raise element.inexpressible(
                        f"some factors of '{name}' that are held constant, others free"
                    )
                for i in fixed:
                    one["data"][i] = 0.0
