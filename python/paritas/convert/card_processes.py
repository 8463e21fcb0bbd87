"""Samples of a workspace as processes of a datacard: what multiplies, morphs and shifts them."""

from dataclasses import dataclass, field
from typing import Any, Optional

from .conversion import ConversionError
from .pyhf_workspace import CODE_KEY, MODIFIERS, ModifierType, WorkspaceSource, configs

#: the ending of a sample's name that has the shifts of another one's bins
SHIFTS = " (errors)"
#: codes that are a line between symmetric variations, also beyond them
_LINES = {"normsys": ("code0", "code2c", "code6"), "histosys": ("code0", "code2", "code2c", "code4p")}


@dataclass
class Morph:
    up: list[float]
    down: list[float]
    scale: float
    modifier: Any


@dataclass
class Process:
    """counts: events that a bin's Poisson parameter counts, 0 in other bins. shifts: errors of single bins,
    each with a parameter of its own."""

    channel: str
    sample: Any
    signal: bool = False
    lognormals: dict[str, tuple[float, float]] = field(default_factory=dict)  # low, high
    slopes: dict[str, float] = field(default_factory=dict)
    factors: list[str] = field(default_factory=list)
    morphs: dict[str, Morph] = field(default_factory=dict)
    errors: Optional[list[float]] = None
    counts: Optional[list[int]] = None
    shifts: dict[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.sample["name"])

    @property
    def data(self) -> list[float]:
        return self.sample["data"]  # type: ignore[no-any-return]

    @property
    def shape(self) -> dict[str, float]:
        return self.sample.get("shape", {})  # type: ignore[no-any-return]

    @property
    def logarithmic(self) -> bool:
        return bool(self.shape.get("logarithmic"))

    @property
    def is_scaled(self) -> bool:
        """Is it a card's fractions? Whole histograms of `shapeN` have a total, too, and a minimum."""
        return "total" in self.shape and not (self.logarithmic and self.shape["minimum"] > 0)

    @property
    def title(self) -> str:
        return f"'{self.name}' in '{self.channel}'"

    @property
    def parameters(self) -> list[str]:
        return list(dict.fromkeys([*self.factors, *self.lognormals, *self.slopes, *self.morphs]))

    @property
    def has_bin_parameters(self) -> bool:
        return bool(self.errors or self.counts or self.shifts)


def _slope(low: float, high: float) -> float:
    """Finds the slope of a line from low to high, in as few digits as give both."""
    for digits in range(1, 17):
        found = float(f"{high - 1.0:.{digits}g}")
        if 1.0 + found == high and 1.0 - found == low:
            return found
    return high - 1.0


class CardSource(WorkspaceSource):
    """codes: of modifiers without one of their own."""

    types = {**MODIFIERS, "mcstat": ModifierType("mcstat", 0.0, (-7.0, 7.0), per_bin=True)}
    extensions = ("functions", "shape", "scale")

    def __init__(self, spec: Any, codes: dict[str, str]) -> None:
        super().__init__(spec)
        self.codes = codes
        self.configs = configs(self.measurements[0])
        self.bin_names: dict[str, str] = {}  # a card's names -> names here; of bins
        self.processes = [one for channel in self.channels for one in self._channel(channel)]

    def refuse_modifier(self, process: Process, one: Any, why: str) -> ConversionError:
        return self.refuse(one, f"the {one['type']} '{one['name']}' of {process.title}: {why}")

    def _channel(self, channel: Any) -> list[Process]:
        found: dict[str, Process] = {}
        shifts = []
        for sample in channel["samples"]:
            if sample["name"].endswith(SHIFTS) and not any(sample["data"]):
                shifts.append(sample)
                continue
            process = found[sample["name"]] = Process(channel["name"], sample)
            for one in sample["modifiers"]:
                getattr(self, f"_{one['type']}")(process, one)
        for sample in shifts:
            self._join(found, Process(channel["name"], sample))
        return list(found.values())

    def _normsys(self, process: Process, one: Any) -> None:
        data, name = one["data"], one["name"]
        low, high = float(data["lo"]), float(data["hi"])
        code = data.get(CODE_KEY, self.codes["normsys"])
        inverse = abs(low * high - 1.0) <= 1e-12
        if low == high == 1.0:
            return
        if min(low, high) > 0.0 and (code in ("lnN", "codelnN") or (code == "code1" and inverse)):
            process.lognormals[name] = (low, high)
        elif code in _LINES["normsys"] and abs(low + high - 2.0) <= 1e-12 and 0.0 < high < 2.0:
            process.slopes[name] = _slope(low, high)
        else:
            raise self.refuse_modifier(
                process,
                one,
                f"a card has no interpolation {code} of {low:g} and {high:g}; it has lnN, which is code1 of "
                "an effect and its inverse, and straight lines. Take lnN by --normsys-code lnN",
            )

    def _histosys(self, process: Process, one: Any) -> None:
        data = one["data"]
        up, down, scale = data["hi_data"], data["lo_data"], float(data.get("scale", 1.0))
        code = data.get(CODE_KEY, self.codes["histosys"])
        straight = not process.logarithmic and all(
            abs(u + d - 2.0 * n) <= 1e-12 * (abs(u) + abs(d)) for u, d, n in zip(up, down, process.data)
        )
        if code != "code4p" and not (straight and code in _LINES["histosys"]):
            why = f"a card has no interpolation {code}; it has code4p, and straight lines"
            raise self.refuse_modifier(process, one, why)
        if scale < 1.0 and not straight:
            raise self.refuse_modifier(
                process, one, f"a card has no bend beyond 1, as by the scale {scale:g}"
            )
        if scale < 1.0:
            up, down = ([n + scale * (x - n) for x, n in zip(side, process.data)] for side in (up, down))
        process.morphs[one["name"]] = Morph(up, down, max(scale, 1.0), one)

    def _normfactor(self, process: Process, one: Any) -> None:
        process.factors.append(one["name"])

    _lumi = _normfactor

    def _mcstat(self, process: Process, one: Any) -> None:
        process.errors = one["data"]
        for i, error in enumerate(one["data"]):
            if error > 0:
                self.bin_names[f"prop_bin{process.channel}_bin{i}"] = f"{one['name']}[{i}]"

    def _shapesys(self, process: Process, one: Any) -> None:
        if "constraint" in self.configs.get(one["name"], {}):
            raise self.refuse_modifier(process, one, "a card has Poisson constraints of such counts")
        if process.counts:
            raise self.refuse_modifier(process, one, "the process has another shapesys; a card has one")
        process.counts = [0] * len(one["data"])
        for i, (width, value) in enumerate(zip(one["data"], process.data)):
            if not (width > 0 and value > 0):
                continue
            events = (value / width) ** 2
            process.counts[i] = round(events)
            if round(events) < 1 or abs(events - round(events)) > 1e-6 * events:
                why = f"bin {i} is a count of {events:g} events; a card has whole numbers"
                raise self.refuse_modifier(process, one, why)
            self.bin_names[f"prop_bin{process.channel}_bin{i}_{process.name}"] = f"{one['name']}[{i}]"

    def _staterror(self, process: Process, one: Any) -> None:
        why = "it multiplies bins; a card's autoMCStats adds errors, as mcstat does"
        raise self.refuse_modifier(process, one, why)

    def _shapefactor(self, process: Process, one: Any) -> None:
        raise self.refuse_modifier(process, one, "a card has no free factor a bin")

    def _join(self, found: dict[str, Process], part: Process) -> None:
        """Shifts of bins stand in a sample of their own, with the factors of the process."""
        process = found.get(part.name.removesuffix(SHIFTS))
        if process is None:
            raise self.refuse(part.sample, "no sample has this name without the ending")
        for one in part.sample["modifiers"]:
            if one["type"] != "histosys":
                getattr(self, f"_{one['type']}")(part, one)
                continue
            up, down = one["data"]["hi_data"], one["data"]["lo_data"]
            bins = [i for i, value in enumerate(up) if value != 0]
            if len(bins) != 1 or up[bins[0]] <= 0 or [-value for value in up] != list(down):
                raise self.refuse_modifier(
                    part, one, "a card shifts one bin by a parameter, up and down alike"
                )
            process.shifts[bins[0]] = up[bins[0]]
            self.bin_names[f"prop_bin{part.channel}_bin{bins[0]}_{process.name}"] = one["name"]
        mine = (set(part.factors), part.lognormals, part.slopes)
        if mine != (set(process.factors), process.lognormals, process.slopes):
            raise self.refuse(part.sample, f"its factors are not those of {process.title}")
