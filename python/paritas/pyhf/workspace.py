"""Workspaces: channels, observations and measurements."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from typing import Any, Callable, ClassVar, Collection, Mapping

from . import exceptions, schema
from .jsonpatch import JsonPatch, copied
from .mixins import _ChannelSummaryMixin
from .pdf import Model
from .schema.variables import SCHEMA_VERSION

log = logging.getLogger(__name__)

__all__ = ["Workspace"]
__dir__ = __all__.copy

_JOINS = ["none", "outer", "left outer", "right outer"]
_UNSAFE_JOINS = ("left outer", "right outer")
_PARTS = ("modifiers", "modifier types", "samples", "channels", "measurements")
_NOTHING = (None,) * len(_PARTS)


def _name(item: Any) -> Any:
    return item["name"]


def _refuse(what: str, names: Collection[str]) -> None:
    if names:
        raise exceptions.InvalidWorkspaceOperation(
            f"Workspaces cannot have {what}: {names}. Perhaps another join operation can: {_JOINS}."
        )


def _repeated(items: Any) -> list[str]:
    return [name for name, count in Counter(map(_name, items)).items() if count > 1]


def _join_items(
    join: str, left_items: Any, right_items: Any, key: str = "name", deep_merge_key: str | None = None
) -> Any:
    """Items of one list ("right outer": the right), then of the other: all with "none", different with
    "outer", else those with a new `key`. `deep_merge_key` joins lists under it."""
    first, second = (right_items, left_items) if join == "right outer" else (left_items, right_items)
    joined = copied(first)
    by_key = {item[key]: item for item in reversed(joined)}
    for item in second:
        twin = by_key.get(item[key])
        if twin is not None and deep_merge_key is not None:
            lists = twin[deep_merge_key], item[deep_merge_key]
            twin[deep_merge_key] = _join_items("left outer", *lists)
        elif join == "none" or (item not in first if join == "outer" else twin is None):
            joined.append(copied(item))
    return joined


def _join_named(join: str, what: str, left: Any, right: Any, merge_key: str | None = None) -> Any:
    joined = _join_items(join, left, right, deep_merge_key=merge_key)
    if join == "none":
        common = set(map(_name, left)) & set(map(_name, right))
        _refuse(f"any {what} in common with the same name", common)
    return joined


def _join_parameter_configs(measurement_name: str, left_items: Any, right_items: Any) -> Any:
    joined = _join_items("outer", left_items, right_items)
    _refuse(f"a measurement ({measurement_name}) with incompatible parameter configs", _repeated(joined))
    return joined


def _merge_measurements(name: str, same: list[Any]) -> Any:
    merged, *others = same
    for other in others:
        lists = merged["config"]["parameters"], other["config"]["parameters"]
        parameters = _join_parameter_configs(name, *lists)
        merged = {"name": name, "config": {"poi": merged["config"]["poi"], "parameters": parameters}}
    return merged


def _join_measurements(join: str, left: Any, right: Any) -> Any:
    joined = _join_named(join, "measurements", left, right)
    if join != "outer":
        return joined
    by_name: dict[str, list[Any]] = defaultdict(list)
    for measurement in joined:
        by_name[measurement["name"]].append(measurement)
    pois = {name: {one["config"]["poi"] for one in same} for name, same in by_name.items()}
    _refuse("the same measurements with incompatible POI", [name for name in pois if len(pois[name]) > 1])
    return [_merge_measurements(name, same) for name, same in by_name.items()]


def _each_list(spec: Any, edited: Callable[[Any, str], Any]) -> Any:
    for part in ("channels", "observations", "measurements"):
        spec[part] = edited(spec[part], "channels" if part == "observations" else part)
    for channel in spec["channels"]:
        channel["samples"] = edited(channel["samples"], "samples")
        for sample in channel["samples"]:
            sample["modifiers"] = edited(sample["modifiers"], "modifiers")
    for measurement in spec["measurements"]:
        config = measurement["config"]
        config["parameters"] = edited(config["parameters"], "modifiers")
    return spec


def _measured(config: Any, observed: list[Any] | None) -> dict[str, dict[str, Any]]:
    """Auxiliary data, sigmas and factors of constrained parameters, as a measurement configures them."""
    found, first = {}, 0
    for name in config.auxdata_order:
        paramset = config.param_set(name)
        last = first + paramset.n_parameters
        found[name] = {"auxdata": list(paramset.auxdata if observed is None else observed[first:last])}
        first = last
        for key in ("sigmas", "factors"):
            if getattr(paramset, key, None):
                found[name][key] = list(getattr(paramset, key))
    return found


class Workspace(_ChannelSummaryMixin, dict):  # type: ignore[type-arg]
    valid_joins: ClassVar[list[str]] = _JOINS

    def __init__(self, spec: Any, validate: bool = True, **config_kwargs: Any) -> None:
        if not isinstance(spec, Mapping):
            schema.validate(spec, "workspace.json")  # refuses it
        spec = copied(dict(spec))
        self.schema = config_kwargs.pop("schema", "workspace.json")
        self.version = config_kwargs.pop("version", spec.get("version", None))
        if validate:
            schema.validate(spec, self.schema, version=self.version)
        super().__init__(spec, channels=spec["channels"])
        self.measurement_names = [measurement["name"] for measurement in self.get("measurements", [])]
        self.observations = {observation["name"]: observation["data"] for observation in self["observations"]}
        exceptions.refuse_options(config_kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workspace) and dict(self) == dict(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    __repr__ = object.__repr__

    def get_measurement(
        self, measurement_name: str | None = None, measurement_index: int | None = None
    ) -> Any:
        """By name, else by index, else the first."""
        names = self.measurement_names
        if not names:
            raise exceptions.InvalidMeasurement("No measurements have been defined in the workspace.")
        if measurement_name is not None:
            if measurement_name not in names:
                raise exceptions.InvalidMeasurement(
                    f"The workspace has no measurement '{measurement_name}': there are {names}."
                )
            measurement_index = names.index(measurement_name)
        elif measurement_index is None:
            if len(names) > 1:
                log.warning("multiple measurements defined. Taking the first measurement.")
            measurement_index = 0
        try:
            measurement = self.get("measurements", [])[measurement_index]
        except IndexError:
            raise exceptions.InvalidMeasurement(
                f"The measurement index {measurement_index} is out of bounds: there are {len(names)}."
            ) from None
        schema.validate(measurement, "measurement.json", version=self.version)
        return measurement

    def model(
        self,
        measurement_name: str | None = None,
        measurement_index: int | None = None,
        patches: Any = None,
        **config_kwargs: Any,
    ) -> Model:
        """A measurement's model after `patches` (lists of operations, or objects with `apply`). Other
        keywords go to `Model`."""
        config = self.get_measurement(measurement_name, measurement_index)["config"]
        config_kwargs.setdefault("poi_name", config["poi"])
        spec = {"channels": self["channels"], "parameters": config["parameters"]}
        for patch in patches or []:
            spec = (patch if hasattr(patch, "apply") else JsonPatch(patch)).apply(spec)
        return Model(spec, **config_kwargs)

    def data(self, model: Model, include_auxdata: bool = True) -> list[Any]:
        """Data in the model's order, followed by auxiliary data."""
        try:
            observed = [value for channel in model.config.channels for value in self.observations[channel]]
        except KeyError:
            log.error(
                "Invalid channel: the workspace has no observation data for a channel of the model.",
                exc_info=True,
            )
            raise
        return observed + model.config.auxdata if include_auxdata else observed

    def _edited(self, dropped: Any, new_names: Any) -> Workspace:
        """Both arguments in the order of _PARTS."""
        types, names = {kind for _, kind in self.modifiers}, {name for name, _ in self.modifiers}
        known = dict(zip(_PARTS, (names, types, self.samples, self.channels, self.measurement_names)))
        without = {part: set(names or ()) for part, names in zip(_PARTS, dropped)}
        renamed = {part: dict(names or {}) for part, names in zip(_PARTS, new_names)}
        for part in _PARTS:
            for name in (*without[part], *renamed[part]):
                if name not in known[part]:
                    raise exceptions.InvalidWorkspaceOperation(
                        f"{name} is not one of the {part} in this workspace."
                    )

        def edited(items: Any, part: str) -> Any:
            return [
                {**item, "name": renamed[part].get(item["name"], item["name"])}
                for item in items
                if item["name"] not in without[part] and item.get("type") not in without["modifier types"]
            ]

        spec = _each_list(copied(dict(self)), edited)
        for measurement in spec["measurements"]:
            poi = measurement["config"]["poi"]
            measurement["config"]["poi"] = renamed["modifiers"].get(poi, poi)
        return Workspace(spec)

    def prune(
        self,
        modifiers: Any = None,
        modifier_types: Any = None,
        samples: Any = None,
        channels: Any = None,
        measurements: Any = None,
    ) -> Workspace:
        return self._edited((modifiers, modifier_types, samples, channels, measurements), _NOTHING)

    def rename(
        self, modifiers: Any = None, samples: Any = None, channels: Any = None, measurements: Any = None
    ) -> Workspace:
        """Dicts from old to new names."""
        return self._edited(_NOTHING, (modifiers, None, samples, channels, measurements))

    @classmethod
    def combine(
        cls, left: Any, right: Any, join: str = "none", merge_channels: bool = False, validate: bool = True
    ) -> Workspace:
        """`merge_channels` joins samples of channels with one name."""
        if join not in _JOINS:
            raise ValueError(f"{join!r} is none of the join operations {_JOINS}.")
        if merge_channels and join == "none":
            raise ValueError(f"To merge channels, use one of the join operations {_JOINS[1:]}, not 'none'.")
        if join in _UNSAFE_JOINS:
            log.warning(
                "You are using an unsafe join operation: '%s' drops what differs, where 'outer' raises.", join
            )
        if left["version"] != right["version"]:
            raise exceptions.InvalidWorkspaceOperation(
                f"Workspaces have different versions: {left['version']} != {right['version']}."
            )
        spec = {"version": left["version"]}
        for what, merge_key in (("channels", "samples" if merge_channels else None), ("observations", None)):
            spec[what] = _join_named(join, what, left[what], right[what], merge_key)
            if join == "outer":
                _refuse(f"{what} in common with incompatible structure", _repeated(spec[what]))
        spec["measurements"] = _join_measurements(join, left["measurements"], right["measurements"])
        return cls(spec, validate=validate)

    @classmethod
    def sorted(cls, workspace: Any) -> Workspace:
        """By name, modifiers also by type."""

        def in_order(items: Any, part: str) -> Any:
            return sorted(items, key=lambda item: (item["name"], item.get("type", "")))

        return cls(_each_list(copied(dict(workspace)), in_order))

    @classmethod
    def build(cls, model: Model, data: Any, name: str = "measurement", validate: bool = True) -> Workspace:
        """One measurement from a model and data in its order. Unlike pyhf's it keeps auxiliary data, those of
        `data` if there are any, sigmas and factors."""
        config = model.config
        observed = list(data[config.nmaindata :]) if len(data) > config.nmaindata else None
        measured = _measured(config, observed)
        parameters = [
            {
                "name": parameter,
                "inits": entry["paramset"].suggested_init,
                "bounds": [list(bounds) for bounds in entry["paramset"].suggested_bounds],
                "fixed": entry["paramset"].suggested_fixed_as_bool,
                **measured.get(parameter, {}),
            }
            for parameter, entry in config.par_map.items()
        ]
        spec = {
            "channels": copied(model.spec["channels"]),
            "measurements": [{"name": name, "config": {"poi": config.poi_name, "parameters": parameters}}],
            "observations": [
                {"name": channel, "data": list(data[config.channel_slices[channel]])}
                for channel in config.channels
            ],
            "version": SCHEMA_VERSION,
        }
        return cls(spec, validate=validate)
