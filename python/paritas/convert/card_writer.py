"""From a workspace to a CMS datacard and its histograms."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Optional

from ..model import Model
from ..workspace import Workspace
from .card_errors import BinErrors
from .card_parameters import SIGNAL, Parameters, number
from .card_processes import CardSource, Process
from .card_templates import LEAST, LEAST_KEPT, Templates, Written, kind_of

#: contents and errors, by path in the ROOT file
Histograms = dict[str, tuple[list[float], Optional[list[float]]]]
_NAME = re.compile(r"[A-Za-z_][\w.+-]*", re.ASCII)
#: no whole number, which would be a process' number
_PROCESS = re.compile(r"(?![+-]?\d+$)\w[\w.+-]*", re.ASCII)


@dataclass
class Card:
    """The text, the histograms that stand in the file that it names, names of parameters there -> here, and
    notes."""

    text: str
    histograms: Histograms = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class CardWriter:
    """file: the name of the ROOT file, as the card says it."""

    def __init__(self, spec: Any, file: str, codes: dict[str, str]) -> None:
        self.source, self.file = CardSource(spec, codes), file
        self.notes: list[str] = []
        self.processes = [one for one in self.source.processes if self._has_events(one)]
        self.poi = self._signals()
        self.parameters = Parameters(self.source, self.processes, self.poi)
        self.kinds = {channel: kind_of(self.source, self._of(channel)) for channel in self.source.nbins}
        self._check_names()
        for channel in self.source.channels:
            if not self._of(channel["name"]):
                raise self.source.refuse(
                    channel, f"'{channel['name']}' has no events, and a card needs a process"
                )

    def card(self) -> Card:
        written = [self._written(one) for one in self.processes]
        self.parameters.write(written)
        self._bin_errors(written)
        histograms = self._histograms(written)
        names = dict(self.source.bin_names)
        if self.poi not in (None, SIGNAL):
            names[SIGNAL] = str(self.poi)
        self._note(written)
        return Card(self._text(written), histograms, names, self.notes)

    def _of(self, channel: str) -> list[Process]:
        return [one for one in self.processes if one.channel == channel]

    def _has_events(self, process: Process) -> bool:
        if any(process.data) or process.morphs or process.has_bin_parameters:
            return True
        self.notes.append(f"{process.title} has no events and was left out")
        return False

    def _signals(self) -> Optional[str]:
        """Marks them."""
        poi = self.source.measurements[0]["config"]["poi"]
        if not any(poi in one.factors for one in self.processes):
            if poi:
                why = f"no sample has '{poi}' as a factor, so the card has no signal strength"
                self.notes.append(f"{why}; give --redefineSignalPOIs {poi}")
            return None
        signals = {one.name for one in self.processes if poi in one.factors}
        for one in self.processes:
            one.signal = one.name in signals
            if one.signal and poi not in one.factors:
                why = f"{one.title} has no '{poi}'; in a card a process is signal in all channels or in none"
                raise self.source.refuse(one.sample, why)
        return str(poi)

    def _check_names(self) -> None:
        parts: list[tuple[Any, str, str]] = [(one, one["name"], "a channel") for one in self.source.channels]
        parts += [(one.sample, one.name, "a process") for one in self.processes]
        first = self.source.measurements[0]
        names = [*self.parameters.used, *self.parameters.arguments]
        parts += [(self.source.configs.get(name, first), name, "a parameter") for name in names]
        for part, name, what in parts:
            if not (_PROCESS if what == "a process" else _NAME).fullmatch(name):
                why = f"'{name}' cannot be {what} of a card, where names have letters, digits and _ . + -"
                rule = "are no numbers" if what == "a process" else "begin with a letter"
                raise self.source.refuse(part, f"{why}, and {rule}: rename it")
            if what == "a parameter" and name == SIGNAL and self.poi != SIGNAL and self.poi is not None:
                raise self.source.refuse(part, f"'{SIGNAL}' is the signal strength in a card: rename it")

    def _is_lifted(self, process: Process) -> bool:
        """Has it bins that only a card fills?"""
        word = self.kinds[process.channel].word
        least = LEAST if word == "whole" else LEAST_KEPT * sum(process.data)
        return word != "count" and not process.shape and min(process.data) < 0.99 * least

    # ---- histograms ----

    def _written(self, process: Process) -> Written:
        control = self.parameters.control(process)
        events = control[1] if control else None
        return Templates(self.source, self.kinds[process.channel], process, events).write()

    def _bin_errors(self, written: list[Written]) -> None:
        """Finds the thresholds, and writes errors."""
        channels = [
            name for name in self.source.nbins if any(one.has_bin_parameters for one in self._of(name))
        ]
        if not channels:
            return
        rates = self._start_rates()
        for channel in channels:
            processes = self._of(channel)
            errors = BinErrors(processes, [rates[channel][one.name] for one in processes])
            found = errors.threshold()
            if found is None:
                part = next(one for one in self.source.channels if one["name"] == channel)
                why = "no threshold of autoMCStats gives its bins these parameters"
                raise self.source.refuse(part, f"'{channel}': {why}")
            self.kinds[channel].threshold, self.kinds[channel].with_signal = found
            for one, made in zip(self.processes, written):
                if one.channel == channel:
                    events = sum(made.nominal) / sum(one.data)
                    made.errors = [events * error for error in errors.errors(one)]

    def _start_rates(self) -> Any:
        """Rates by channel and process at the card's start values."""
        model = Model.from_workspace(Workspace(self.source.spec))
        point = dict(zip(model.parameter_names, model.suggested_init))
        if self.poi:
            point[self.poi] = 1.0
        for one in self.processes:
            control = self.parameters.control(one)
            if control:
                point[control[0]] = control[1] + 1.0
        return model.expected_by_sample(point)

    def _histograms(self, written: list[Written]) -> Histograms:
        found: Histograms = {}

        def add(name: str, contents: list[float], errors: Optional[list[float]], part: Any) -> None:
            if name in found:
                raise self.source.refuse(part, f"two histograms are called '{name}' in a card: rename it")
            found[name] = (contents, errors)

        for channel in self.source.channels:
            name = channel["name"]
            if self.kinds[name].word != "count":
                add(f"{name}/data_obs", list(self.source.observed[name]), None, channel)
        for one, made in zip(self.processes, written):
            if not made.nominal:
                continue
            path = f"{one.channel}/{one.name}"
            zeros = [0.0] * len(made.nominal)
            add(path, made.nominal, made.errors or zeros, one.sample)
            for name, (up, down) in made.variations.items():
                add(f"{path}_{name}Up", up, zeros, one.morphs[name].modifier)
                add(f"{path}_{name}Down", down, zeros, one.morphs[name].modifier)
        return found

    # ---- text ----

    def _text(self, written: list[Written]) -> str:
        channels = list(self.source.nbins)
        processes = list(dict.fromkeys(one.name for one in self.processes))
        line = "-" * 40
        shaped = [name for name in channels if self.kinds[name].word != "count"]
        observed = {name: number(sum(self.source.observed[name])) for name in channels}
        rows = [["bin", *channels], ["observation", *(observed[name] for name in channels)]]
        parts = [f"imax {len(channels)}", f"jmax {max(len(processes) - 1, 0)}", "kmax *", line]
        if shaped:
            parts.append(f"shapes * * {self.file} $CHANNEL/$PROCESS $CHANNEL/$PROCESS_$SYSTEMATIC")
            parts += [f"shapes * {name} FAKE" for name in channels if name not in shaped] + [line]
        parts += [*_aligned(rows), line]
        parts += _aligned(self._columns(written)) + self.parameters.lines + self._auto_stats()
        return "\n".join(parts) + "\n"

    def _columns(self, written: list[Written]) -> list[list[str]]:
        """The tables of processes, and nuisances with a value for each."""
        numbers = self._process_numbers()
        columns = [
            [one.channel, one.name, numbers[one.name], number(made.rate)]
            for one, made in zip(self.processes, written)
        ]
        words = ("bin", "process", "process", "rate")
        rows = [[word, "", *(column[i] for column in columns)] for i, word in enumerate(words)]
        return rows + [one.words(len(columns)) for one in self.parameters.nuisances]

    def _process_numbers(self) -> dict[str, str]:
        signals = dict.fromkeys(one.name for one in self.processes if one.signal)
        others = dict.fromkeys(one.name for one in self.processes if not one.signal)
        found = {name: str(-i) for i, name in enumerate(signals)}
        return {**found, **{name: str(i + 1) for i, name in enumerate(others)}}

    def _auto_stats(self) -> list[str]:
        return [
            f"{name} autoMCStats {kind.threshold} {int(kind.with_signal)} {kind.mode}"
            for name, kind in self.kinds.items()
            if kind.word == "whole"
        ]

    # ---- notes ----

    def _note(self, written: list[Written]) -> None:
        source, parameters = self.source, self.parameters
        first = source.measurements[0]
        self.notes += [
            f"the measurement '{one['name']}' was left out; a card has one" for one in source.measurements[1:]
        ]
        if first["config"].get("pois", [])[1:]:
            self.notes.append("parameters of interest beyond the first: give --redefineSignalPOIs")
        known = {*parameters.used, *parameters.arguments, *source.bin_names.values()}
        lost = [name for name, kind in source.kinds.items() if not kind.per_bin and name not in known]
        if lost:
            self.notes.append(f"without any effect, and left out: {_listed(lost)}")
        if parameters.moved:
            self.notes.append(
                f"Combine has its own start values or bounds of {_listed(parameters.moved)}; give "
                "--setParameters and --setParameterRanges"
            )
        empty = [one.title for one in self.processes if self._is_lifted(one)]
        if empty:
            self.notes.append(f"an empty bin has at least 1e-9 in a card: {_listed(empty)}")
        clipped = [one.title for one in self.processes if one.morphs and not one.shape]
        if clipped:
            self.notes.append(f"a morph ends at 1e-9 events in a card: {_listed(clipped)}")
        short = [
            one.title
            for one, made in zip(self.processes, written)
            if not one.parameters and float(f"{made.rate:.6g}") != made.rate
        ]
        if short and any(self.kinds[one.channel].word != "whole" for one in self.processes):
            self.notes.append(f"Combine rounds rates without factors to 6 digits: {_listed(short)}")


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = [f"and {len(found) - 5} more"] if len(found) > 5 else []
    return ", ".join([*found[:5], *more])


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]


def root_file(path: Path) -> Path:
    """Names the file of a card's histograms, which is beside it."""
    return path.with_suffix(".root")
