"""Histograms of a process in a datacard.

A channel without autoMCStats has fractions, which are clipped, scaled to the rate, and multiplied by the
norms of its variations. A channel with autoMCStats has whole histograms."""

from dataclasses import dataclass, field
from typing import Optional

from .card_processes import CardSource, Morph, Process

#: the least fraction of a process in a bin, or the least events
LEAST = 1e-9
#: fractions below this become `LEAST` in a card
LEAST_KEPT = 0.1 * LEAST
#: Combine drops norms that change the process by less than this
SMALL_NORM = 1e-3


@dataclass
class Kind:
    """Of a channel: "count", "fractions" or "whole" histograms. mode: 1: variations have the integral of the
    nominal histogram and a norm; 2: they keep their own."""

    word: str
    mode: int = 1
    threshold: int = -1
    with_signal: bool = False


@dataclass
class Written:
    """A process as the card has it. alpha: events for one of its control region."""

    rate: float
    alpha: float
    nominal: list[float] = field(default_factory=list)
    errors: Optional[list[float]] = None
    variations: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)  # up, down
    scales: dict[str, float] = field(default_factory=dict)


def kind_of(source: CardSource, processes: list[Process]) -> Kind:
    """Says what a channel's card has: counts, fractions or whole histograms."""
    with_total = [one for one in processes if one.is_scaled]
    whole = [
        one
        for one in processes
        if one.has_bin_parameters or (not one.is_scaled and (one.morphs or one.shape))
    ]
    if whole and with_total:
        why = f"a card has whole histograms in this channel, for {whole[0].title}; then none is scaled"
        raise source.refuse(with_total[0].sample, why, "shape")
    if whole:
        beside = any(name in one.lognormals for one in processes for name in one.morphs)
        return Kind("whole", 1 if beside else 2)
    one_bin = len(processes[0].data) == 1 if processes else False
    return Kind("count" if one_bin and not with_total else "fractions")


def _unclipped(data: list[float]) -> list[float]:
    """Contents that become these where their fractions are clipped and scaled. Bins at the least fraction
    were clipped before: they had the rest of the sum, which may be below 0."""
    total, least = sum(data), min(data)
    clipped = [value <= least * (1.0 + 1e-9) for value in data]
    if not LEAST_KEPT * total < least < LEAST * total or all(clipped):
        return list(data)
    scale = LEAST * total / least
    kept = [0.0 if at else scale * value for value, at in zip(data, clipped)]
    rest = (total - sum(kept)) / sum(clipped)
    return [rest if at else value for value, at in zip(kept, clipped)]


class Templates:
    """Histograms of one process. control: the events of its control region; None: it has none."""

    def __init__(self, source: CardSource, kind: Kind, process: Process, control: Optional[float]) -> None:
        self.source, self.kind, self.process, self.control = source, kind, process, control

    def write(self) -> Written:
        process, events = self.process, self.control or 1.0
        self._check_bins()
        if self.kind.word == "count":
            return Written(process.data[0] * events, process.data[0])
        data, lifted = self._fractions() if self.kind.word == "fractions" else (list(process.data), 0.0)
        total = process.shape.get("total", sum(data))
        scale = events * total / sum(data)
        found = Written(total * events, total, [scale * value for value in data])
        q = self._smoothing()
        for name, morph in process.morphs.items():
            ratios = self._ratios(name, q * morph.scale)
            sides = []
            for side, ratio in zip((morph.up, morph.down), ratios):
                moved = self._side(morph, side, lifted)
                grown = [self._grown(x, n, q) for x, n in zip(moved, data)]
                own = sum(data) / sum(grown) if process.logarithmic else 1.0
                sides.append([scale * ratio * own * x for x in grown])
            found.variations[name] = (sides[0], sides[1])
            found.scales[name] = q * morph.scale
        return found

    def _grown(self, varied: float, nominal: float, q: float) -> float:
        """The variation of a morph whose scale shrinks by q."""
        if not self.process.logarithmic:
            return nominal + (varied - nominal) / q
        return nominal * (varied / nominal) ** (1.0 / q) if varied > 0 and nominal > 0 else nominal

    def _check_bins(self) -> None:
        process, shape = self.process, self.process.shape
        if not shape:
            for i, value in enumerate(process.data):
                if value < 0:
                    why = f"bin {i} of {process.title} is below 0, and a card clips it"
                    raise self.source.refuse(process.sample, why, f"data/{i}")
            if not sum(process.data) > 0:
                why = f"{process.title} has variations, but no events; a card has none without events"
                raise self.source.refuse(process.sample, why, "data")
            return
        unknown = sorted(shape.keys() - {"minimum", "total", "padding", "logarithmic"})
        if unknown:
            why = f"a card cannot say it of {process.title}"
            raise self.source.refuse(process.sample, why, f"shape/{unknown[0]}")
        least = LEAST * sum(process.data) if process.is_scaled else LEAST / (self.control or 1.0)
        if process.logarithmic and process.is_scaled:
            least = 0.0
        if abs(shape["minimum"] - least) > 1e-6 * least:
            why = f"bins of {process.title} are at least {shape['minimum']:g}; a card has {least:g}"
            raise self.source.refuse(process.sample, why, "shape/minimum")
        if shape.get("padding", 0.0) != 0:
            why = f"a card does not pad {process.title}"
            raise self.source.refuse(process.sample, why, "shape/padding")
        if not sum(process.data) > 0:
            raise self.source.refuse(process.sample, f"{process.title} has no events above 0", "data")

    def _fractions(self) -> tuple[list[float], float]:
        """Contents, and what was taken off bins that the card's reader lifts again."""
        data = self.process.data
        lifted = [value for value in data if value == LEAST]
        if (
            self.process.shape
            and lifted
            and abs(sum(value for value in data if value != LEAST) - 1.0) < 1e-12
        ):
            return [0.0 if value == LEAST else value for value in data], LEAST
        return (list(data) if self.process.shape else _unclipped(data)), 0.0

    def _side(self, morph: Morph, side: list[float], lifted: float) -> list[float]:
        process = self.process
        moved = [x - lifted if n == lifted else x for x, n in zip(side, process.data)]
        nominal = sum(process.data) - (lifted * sum(n == lifted for n in process.data) if lifted else 0.0)
        if process.logarithmic or (self.kind.word == "whole" and self.kind.mode == 2):
            return moved
        if abs(sum(moved) - nominal) <= 1e-6 * abs(nominal):
            return moved
        if self.kind.word == "fractions":
            why = "a variation has another integral than the sample, whose shape is scaled"
        else:
            why = (
                "it changes the integral, and in its channel a normsys has the parameter of a histosys; a "
                "card's variations either keep their integrals or have such a norm"
            )
        raise self.source.refuse_modifier(process, morph.modifier, why)

    def _ratios(self, name: str, scale: float) -> tuple[float, float]:
        low, high = self.process.lognormals.get(name, (1.0, 1.0))
        return high ** (1.0 / scale), low ** (1.0 / scale)

    def _smoothing(self) -> float:
        """Finds a factor of scales. A smaller one needs larger variations for the same morph, whose norm
        Combine then does not drop."""
        if not any(name in self.process.lognormals for name in self.process.morphs):
            return 1.0
        for q in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01):
            kept = [
                max(abs(ratio - 1.0) for ratio in self._ratios(name, q * morph.scale)) > 1.001 * SMALL_NORM
                for name, morph in self.process.morphs.items()
                if name in self.process.lognormals
            ]
            if all(kept):
                return q
            if min(morph.scale for morph in self.process.morphs.values()) > 1.0:
                break
        names = [name for name in self.process.morphs if name in self.process.lognormals]
        morph = self.process.morphs[names[0]]
        why = "its norm is so small that Combine leaves it out"
        raise self.source.refuse_modifier(self.process, morph.modifier, why)
