"""Looks at workspaces and edits them."""

from __future__ import annotations

from typing import Any

from . import command

_JOINS = ("none", "outer", "left outer", "right outer")


def add_to(commands: command.Commands) -> None:
    parser = commands.add("inspect", inspect)
    command.add_document(parser)
    command.add_output(parser)
    parser.add_argument("--measurement")
    _add_edit(commands, prune, {"metavar": "NAME"}).add_argument(
        "-t", "--modifier-type", action="append", default=[]
    )
    _add_edit(commands, rename, {"nargs": 2, "metavar": ("OLD", "NEW")})
    parser = commands.add("combine", combine)
    command.add_document(parser, "workspace_one", "workspace_two")
    parser.add_argument("-j", "--join", choices=_JOINS, default="none")
    command.add_output(parser)
    command.add_switch(parser, "--merge-channels", "--no-merge-channels", False)
    parser = commands.add("digest", digest)
    command.add_document(parser)
    command.add_repeated(parser, "-a", "--algorithm", help="of hashlib (default: sha256)")
    parser.add_argument("-j", "--json", action="store_true", dest="as_json")
    parser.add_argument("-p", "--plaintext", action="store_false", dest="as_json")
    parser = commands.add("sort", sort)
    command.add_document(parser)
    command.add_output(parser)


def _add_edit(commands: command.Commands, run: Any, settings: Any) -> Any:
    parser = commands.add(run.__name__, run)
    command.add_document(parser)
    command.add_output(parser)
    for flags in (("-c", "--channel"), ("-s", "--sample"), ("-m", "--modifier"), ("--measurement",)):
        command.add_repeated(parser, *flags, **settings)
    return parser


def _workspace(path: str) -> Any:
    from ..workspace import Workspace

    return Workspace(command.read(path))


def prune(
    *,
    workspace: str,
    output_file: str | None,
    channel: list[str],
    sample: list[str],
    modifier: list[str],
    measurement: list[str],
    modifier_type: list[str],
) -> None:
    """The workspace without what is named."""
    found = _workspace(workspace).prune(modifier, modifier_type, sample, channel, measurement)
    command.write(found, output_file)


def rename(
    *,
    workspace: str,
    output_file: str | None,
    channel: list[Any],
    sample: list[Any],
    modifier: list[Any],
    measurement: list[Any],
) -> None:
    """The workspace with new names."""
    found = _workspace(workspace).rename(*map(dict, (modifier, sample, channel, measurement)))
    command.write(found, output_file)


def combine(
    *, workspace_one: str, workspace_two: str, join: str, output_file: str | None, merge_channels: bool
) -> None:
    """One workspace of two."""
    left, right = _workspace(workspace_one), _workspace(workspace_two)
    command.write(type(left).combine(left, right, join=join, merge_channels=merge_channels), output_file)


def digest(*, workspace: str, algorithm: list[str], as_json: bool) -> None:
    """Hashes of the workspace."""
    from .. import utils

    whole = _workspace(workspace)
    found = {name: utils.digest(whole, algorithm=name) for name in algorithm or ["sha256"]}
    if as_json:
        command.write(found, None)
    else:
        print("\n".join(f"{name}:{text}" for name, text in found.items()))


def sort(*, workspace: str, output_file: str | None) -> None:
    """The workspace in the order of names."""
    whole = _workspace(workspace)
    command.write(type(whole).sorted(whole), output_file)


def inspect(*, workspace: str, output_file: str | None, measurement: str | None) -> None:
    """Tables of channels, samples, parameters and measurements."""
    whole = _workspace(workspace)
    summary = _summary(whole, whole.model(measurement_name=measurement))
    default = whole.get_measurement(measurement_name=measurement)["name"]
    for title, heads, rows in _tables(summary, default):
        print("\n".join(_aligned(title, heads, rows)), end="\n\n")
    if output_file:
        command.write(summary, output_file)


def _summary(workspace: Any, model: Any) -> dict[str, Any]:
    constraints = {
        name: type(entry["paramset"]).__name__ for name, entry in sorted(model.config.par_map.items())
    }
    kinds: dict[str, list[str]] = {name: [] for name in constraints}
    for name, kind in workspace.modifiers:
        kinds[name].append(kind)
    measurements = [(one["name"], one["config"]) for one in workspace["measurements"]]
    return {
        "samples": workspace.samples,
        "channels": list(workspace.channel_nbins.items()),
        "modifiers": dict(workspace.modifiers),
        "parameters": list(constraints.items()),
        "systematics": [(name, law, kinds[name]) for name, law in constraints.items()],
        "measurements": [
            (name, config["poi"], [one["name"] for one in config["parameters"]])
            for name, config in measurements
        ],
    }


def _tables(summary: Any, default: str) -> Any:
    """Titles of columns and rows of text."""
    counted = ("channels", "samples", "parameters", "modifiers")
    yield "Summary", (), [(name, str(len(summary[name]))) for name in counted]
    yield None, ("channels", "nbins"), [(name, str(bins)) for name, bins in summary["channels"]]
    yield None, ("samples",), [(name,) for name in summary["samples"]]
    parameters = [(name, law, ",".join(sorted(kinds))) for name, law, kinds in summary["systematics"]]
    yield None, ("parameters", "constraint", "modifiers"), parameters
    measurements = [
        (f"{'(*) ' if name == default else ''}{name}", poi, ",".join(names) or "(none)")
        for name, poi, names in summary["measurements"]
    ]
    yield None, ("measurement", "poi", "parameters"), measurements


def _aligned(title: str | None, heads: Any, rows: Any) -> list[str]:
    """The first column to the right, the others to the left."""
    lines = [heads, tuple("-" * 10 for _ in heads)] if heads else []
    cells = [*lines, *rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    text = [
        "  ".join(
            f"{cell:>{width}}" if not k else f"{cell:<{width}}"
            for k, (cell, width) in enumerate(zip(row, widths))
        )
        for row in cells
    ]
    return [line.rstrip() for line in ([title, "-" * 18, *text] if title else text)]
