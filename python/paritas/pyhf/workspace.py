"""Workspaces: channels, observations and measurements."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, ClassVar, Iterable

from paritas.pyhf import exceptions, schema
from paritas.pyhf.jsonpatch import JsonPatch, copied
from paritas.pyhf.mixins import _ChannelSummaryMixin
from paritas.pyhf.pdf import Model
from paritas.pyhf.schema.variables import SCHEMA_VERSION

log = logging.getLogger(__name__)

__all__ = ["Workspace"]

_JOINS = ["none", "outer", "left outer", "right outer"]
_UNSAFE_JOINS = ("left outer", "right outer")


def __dir__() -> list[str]:
    return __all__


def _names(items: Iterable[Any]) -> set[str]:
    return {item["name"] for item in items}


def _join_items(
    join: str, left_items: Any, right_items: Any, key: str = "name", deep_merge_key: str | None = None
) -> Any:
    """All of the first (right outer: the second) list, and of the other: with "none" everything, with "outer"
    what differs, else what has another name. With `deep_merge_key`, items of one name are merged under it."""
    first, second = (right_items, left_items) if join == "right outer" else (left_items, right_items)
    joined = copied(first)
    place = {item[key]: index for index, item in reversed(list(enumerate(joined)))}
    for item in second:
        if item[key] in place and deep_merge_key is not None:
            mine = joined[place[item[key]]]
            mine[deep_merge_key] = _join_items("left outer", mine[deep_merge_key], item[deep_merge_key])
        elif (
            join == "none"
            or (join == "outer" and item not in first)
            or (join in _UNSAFE_JOINS and item[key] not in place)
        ):
            joined.append(copied(item))
    return joined


def _refuse_common(what: str, left: Any, right: Any) -> None:
    common = _names(left) & _names(right)
    if common:
        raise exceptions.InvalidWorkspaceOperation(
            f"Workspaces cannot have any {what} in common with the same name: {common}. You can also try a different join operation: {_JOINS}."
        )


def _refuse_twice(what: str, joined: Any) -> None:
    twice = [name for name, count in Counter(item["name"] for item in joined).items() if count > 1]
    if twice:
        raise exceptions.InvalidWorkspaceOperation(
            f"Workspaces cannot have {what}: {twice}. You can also try a different join operation: {_JOINS}."
        )


def _join_versions(join: str, left_version: str, right_version: str) -> str:
    if left_version != right_version:
        raise exceptions.InvalidWorkspaceOperation(
            f"Workspaces of different versions cannot be combined: {left_version} != {right_version}"
        )
    return left_version


def _join_named(join: str, what: str, left: Any, right: Any, deep_merge_key: str | None = None) -> Any:
    """Channels, or observations: with "none" no name may be in both, with "outer" only what is equal."""
    joined = _join_items(join, left, right, deep_merge_key=deep_merge_key)
    if join == "none":
        _refuse_common(what, left, right)
    elif join == "outer":
        _refuse_twice(f"{what} in common with incompatible structure", joined)
    return joined


def _join_channels(join: str, left_channels: Any, right_channels: Any, merge: bool = False) -> Any:
    return _join_named(join, "channels", left_channels, right_channels, "samples" if merge else None)


def _join_observations(join: str, left_observations: Any, right_observations: Any) -> Any:
    return _join_named(join, "observations", left_observations, right_observations)


def _join_parameter_configs(measurement_name: str, left_parameters: Any, right_parameters: Any) -> Any:
    joined = _join_items("outer", left_parameters, right_parameters)
    _refuse_twice(f"a measurement ({measurement_name}) with incompatible parameter configs", joined)
    return joined


def _join_measurements(join: str, left_measurements: Any, right_measurements: Any) -> Any:
    joined = _join_items(join, left_measurements, right_measurements)
    if join == "none":
        _refuse_common("measurements", left_measurements, right_measurements)
    if join != "outer":
        return joined
    by_name: dict[str, list[Any]] = {}
    for measurement in joined:
        by_name.setdefault(measurement["name"], []).append(measurement)
    differing = [
        name
        for name, same in by_name.items()
        if len({measurement["config"]["poi"] for measurement in same}) > 1
    ]
    if differing:
        raise exceptions.InvalidWorkspaceOperation(
            f"Workspaces cannot have the same measurements with incompatible POI: {differing}."
        )
    merged = []
    for name, same in by_name.items():
        if len(same) > 1:
            configs = _join_parameter_configs(
                name, *(measurement["config"]["parameters"] for measurement in same)
            )
            merged.append({"name": name, "config": {"poi": same[0]["config"]["poi"], "parameters": configs}})
        else:
            merged.append(same[0])
    return merged


class Workspace(_ChannelSummaryMixin, dict):  # type: ignore[type-arg]
    """A workspace document: a dict with channels, observations, measurements and version."""

    valid_joins: ClassVar[list[str]] = _JOINS

    def __init__(self, spec: Any, validate: bool = True, **config_kwargs: Any) -> None:
        spec = copied(dict(spec))
        self.schema = config_kwargs.pop("schema", "workspace.json")
        self.version = config_kwargs.pop("version", spec.get("version", None))
        if validate:
            schema.validate(spec, self.schema, version=self.version)
        super().__init__(spec, channels=spec["channels"])
        self.measurement_names = [measurement["name"] for measurement in self.get("measurements", [])]
        self.observations = {observation["name"]: observation["data"] for observation in self["observations"]}
        if config_kwargs:
            raise exceptions.Unsupported(f"Unsupported options were passed in: {list(config_kwargs)}.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workspace) and dict(self) == dict(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return object.__repr__(self)

    def get_measurement(
        self, measurement_name: str | None = None, measurement_index: int | None = None
    ) -> Any:
        """By name, else by index, else the first. InvalidMeasurement: there is none."""
        if not self.measurement_names:
            raise exceptions.InvalidMeasurement("No measurements have been defined.")
        if measurement_name is not None:
            if measurement_name not in self.measurement_names:
                raise exceptions.InvalidMeasurement(
                    f"no measurement by name '{measurement_name}' was found in the workspace, there are {self.measurement_names}"
                )
            measurement_index = self.measurement_names.index(measurement_name)
        elif measurement_index is None:
            if len(self.measurement_names) > 1:
                log.warning("multiple measurements defined. Taking the first measurement.")
            measurement_index = 0
        try:
            measurement = self["measurements"][measurement_index]
        except IndexError:
            raise exceptions.InvalidMeasurement(
                f"The measurement index {measurement_index} is out of bounds as only {len(self.measurement_names)} measurement(s) have been defined."
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
        """The model of a measurement, with patches (lists of operations, or objects with `apply`) applied to
        channels and parameters one after the other. Further keywords are `Model`'s; poi_name is the
        measurement's unless it is given."""
        measurement = self.get_measurement(
            measurement_name=measurement_name, measurement_index=measurement_index
        )
        config_kwargs.setdefault("poi_name", measurement["config"]["poi"])
        spec = {"channels": self["channels"], "parameters": measurement["config"]["parameters"]}
        for patch in patches or []:
            spec = (patch if hasattr(patch, "apply") else JsonPatch(patch)).apply(spec)
        return Model(spec, **config_kwargs)

    def data(self, model: Model, include_auxdata: bool = True) -> list[Any]:
        """Observations in the model's order, and the auxiliary data behind them. KeyError: a channel without
        observation."""
        try:
            observed = [value for channel in model.config.channels for value in self.observations[channel]]
        except KeyError:
            log.error(
                "Invalid channel: the workspace does not have observation data for one of the channels in the model.",
                exc_info=True,
            )
            raise
        return observed + model.config.auxdata if include_auxdata else observed

    def _check_names(
        self, modifiers: Any, modifier_types: Any, samples: Any, channels: Any, measurements: Any
    ) -> None:
        known = (
            ("modifier types", modifier_types, {kind for _, kind in self.modifiers}),
            ("modifiers", modifiers, {name for name, _ in self.modifiers}),
            ("samples", samples, set(self.samples)),
            ("channels", channels, set(self.channels)),
            ("measurements", measurements, set(self.measurement_names)),
        )
        for what, asked, there in known:
            for name in asked:
                if name not in there:
                    raise exceptions.InvalidWorkspaceOperation(
                        f"{name} is not one of the {what} in this workspace."
                    )

    def _prune_and_rename(
        self,
        prune_modifiers: Any = None,
        prune_modifier_types: Any = None,
        prune_samples: Any = None,
        prune_channels: Any = None,
        prune_measurements: Any = None,
        rename_modifiers: Any = None,
        rename_samples: Any = None,
        rename_channels: Any = None,
        rename_measurements: Any = None,
    ) -> Workspace:
        """A new workspace without what is in the lists, and with the names of the dicts.
        InvalidWorkspaceOperation: a name that is not there."""
        no_modifiers, no_types, no_samples = (
            set(prune_modifiers or ()),
            set(prune_modifier_types or ()),
            set(prune_samples or ()),
        )
        no_channels, no_measurements = set(prune_channels or ()), set(prune_measurements or ())
        modifiers, samples, channels, measurements = (
            dict(names or {})
            for names in (rename_modifiers, rename_samples, rename_channels, rename_measurements)
        )
        self._check_names(
            [*no_modifiers, *modifiers],
            no_types,
            [*no_samples, *samples],
            [*no_channels, *channels],
            [*no_measurements, *measurements],
        )

        def renamed(item: Any, names: dict[str, str]) -> Any:
            return {**item, "name": names.get(item["name"], item["name"])}

        def kept(items: Any, dropped: set[str]) -> Any:
            return [item for item in items if item["name"] not in dropped]

        spec = copied(dict(self))
        spec["channels"] = [renamed(channel, channels) for channel in kept(spec["channels"], no_channels)]
        for channel in spec["channels"]:
            channel["samples"] = [renamed(sample, samples) for sample in kept(channel["samples"], no_samples)]
            for sample in channel["samples"]:
                left = kept(sample["modifiers"], no_modifiers)
                sample["modifiers"] = [
                    renamed(modifier, modifiers) for modifier in left if modifier["type"] not in no_types
                ]
        spec["observations"] = [
            renamed(observation, channels) for observation in kept(spec["observations"], no_channels)
        ]
        spec["measurements"] = [
            renamed(measurement, measurements) for measurement in kept(spec["measurements"], no_measurements)
        ]
        for measurement in spec["measurements"]:
            config = measurement["config"]
            config["poi"] = modifiers.get(config["poi"], config["poi"])
            config["parameters"] = [
                renamed(parameter, modifiers) for parameter in kept(config["parameters"], no_modifiers)
            ]
        return Workspace(spec)

    def prune(
        self,
        modifiers: Any = None,
        modifier_types: Any = None,
        samples: Any = None,
        channels: Any = None,
        measurements: Any = None,
    ) -> Workspace:
        """A new workspace without what is named. InvalidWorkspaceOperation: a name that is not there."""
        return self._prune_and_rename(
            prune_modifiers=modifiers,
            prune_modifier_types=modifier_types,
            prune_samples=samples,
            prune_channels=channels,
            prune_measurements=measurements,
        )

    def rename(
        self, modifiers: Any = None, samples: Any = None, channels: Any = None, measurements: Any = None
    ) -> Workspace:
        """A new workspace with new names: dicts from old to new. InvalidWorkspaceOperation: a name that is
        not there."""
        return self._prune_and_rename(
            rename_modifiers=modifiers,
            rename_samples=samples,
            rename_channels=channels,
            rename_measurements=measurements,
        )

    @classmethod
    def combine(
        cls, left: Any, right: Any, join: str = "none", merge_channels: bool = False, validate: bool = True
    ) -> Workspace:
        """Both workspaces in a new one. InvalidWorkspaceOperation: they have different versions, or what the
        join does not allow in common; ValueError: no such join, or channels that are to be merged without
        one."""
        if join not in _JOINS:
            raise ValueError(
                f"Workspaces must be joined using one of the valid join operations ({_JOINS}); not {join}"
            )
        if merge_channels and join == "none":
            raise ValueError(
                f"You can only merge channels using the 'outer', 'left outer', or 'right outer' join operations; not {join}"
            )
        if join in _UNSAFE_JOINS:
            log.warning(
                "You are using an unsafe join operation: what differs is dropped without a word, where an 'outer' join would raise an exception."
            )
        spec = {
            "version": _join_versions(join, left["version"], right["version"]),
            "channels": _join_channels(join, left["channels"], right["channels"], merge=merge_channels),
            "observations": _join_observations(join, left["observations"], right["observations"]),
            "measurements": _join_measurements(join, left["measurements"], right["measurements"]),
        }
        return cls(spec, validate=validate)

    @classmethod
    def sorted(cls, workspace: Any) -> Workspace:
        """A new workspace with channels, samples, modifiers, observations, measurements and configurations in
        the order of their names."""

        def name(item: Any) -> Any:
            return item["name"]

        spec = copied(dict(workspace))
        for part in ("channels", "measurements", "observations"):
            spec[part].sort(key=name)
        for channel in spec["channels"]:
            channel["samples"].sort(key=name)
            for sample in channel["samples"]:
                sample["modifiers"].sort(key=lambda modifier: (modifier["name"], modifier["type"]))
        for measurement in spec["measurements"]:
            measurement["config"]["parameters"].sort(key=name)
        return cls(spec)

    @classmethod
    def build(cls, model: Model, data: Any, name: str = "measurement", validate: bool = True) -> Workspace:
        """A workspace of a model and data in its order, with one measurement."""
        config = model.config
        parameters = [
            {
                "name": parameter,
                "inits": entry["paramset"].suggested_init,
                "bounds": [list(bounds) for bounds in entry["paramset"].suggested_bounds],
                "fixed": entry["paramset"].suggested_fixed_as_bool,
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
