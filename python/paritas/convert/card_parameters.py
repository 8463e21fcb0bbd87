"""Parameters of a workspace as lines of a datacard: laws, values a process, factors and their formulas."""

from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .formulas import numbered, parameters_in
from .card_processes import CardSource, Process
from .card_templates import Written
from .conversion import ConversionError

#: the signal strength in Combine
SIGNAL = "r"
#: bounds that a law has in Combine
_RANGES = {"lnN": 7.0, "lnU": 1.0, "trG": 7.0, "shape": 4.0, "shapeU": 1.0, "shape?": 7.0, "shapeN": 7.0}


def number(value: float) -> str:
    """Writes a number with all digits that it has."""
    text = repr(float(value))
    return text.removesuffix(".0")


def _lognormal(low: float, high: float) -> str:
    return number(high) if abs(low * high - 1.0) <= 1e-15 else f"{number(low)}/{number(high)}"


def _close(found: tuple[float, float], wanted: tuple[float, float]) -> bool:
    return all(abs(a - b) <= 1e-9 * max(abs(b), 1.0) for a, b in zip(found, wanted))


@dataclass
class Nuisance:
    """A line with a value a process. numbers: between law and values."""

    name: str
    law: str
    values: dict[int, str]  # by the process' place
    numbers: list[str] = field(default_factory=list)

    def words(self, columns: int) -> list[str]:
        values = [self.values.get(i, "-") for i in range(columns)]
        return [self.name, " ".join([self.law, *self.numbers]), *values]


class Parameters:
    """poi: the parameter of interest, None if no sample has it as a factor. nuisances, lines: filled by
    `write`."""

    def __init__(self, source: CardSource, processes: Sequence[Process], poi: Optional[str]) -> None:
        self.source, self.processes, self.poi = source, processes, poi
        self.functions = source.functions
        self.used = dict.fromkeys(name for one in processes for name in one.parameters)
        self.arguments = parameters_in(self.functions, [name for name in self.used if name in self.functions])
        self.nuisances: list[Nuisance] = []
        self.lines: list[str] = []
        self.moved: list[str] = []  # bounds or starts that the card cannot say

    def control(self, process: Process) -> Optional[tuple[str, float]]:
        """The process' count of a control region: its parameter and its events. None: it has none."""
        found = [name for name in process.factors if self._law(name) == "gmN"]
        if len(found) > 1:
            raise self._refuse(found[1], f"{process.title} has another count, {found[0]!r}; a card has one")
        return (found[0], self._config(found[0])["auxdata"][0]) if found else None

    def write(self, written: Sequence[Written]) -> None:
        for name in self.used:
            role = self.source.kinds[name].role
            if name == self.poi:
                self._check_signal(name)
            elif name in self.functions:
                self._formula(name, *numbered(self.functions[name], self.functions, self._called))
            elif role == "alpha":
                self._alpha(name, written)
            else:
                self._factor(name, written)
        for name in self.arguments:
            if name not in self.used:
                self._argument(name)

    # ---- what a parameter is ----

    def _config(self, name: str) -> dict[str, Any]:
        return self.source.configs.get(name, {})  # type: ignore[no-any-return]

    def _refuse(self, name: str, why: str) -> ConversionError:
        config = self._config(name) or self.source.measurements[0]
        return self.source.refuse(config, f"'{name}': {why}")

    def _called(self, name: str) -> str:
        return SIGNAL if name == self.poi else name

    def _default(self, name: str) -> tuple[float, tuple[float, float]]:
        kind = self.source.kinds.get(name)
        return (kind.start, kind.bounds) if kind else (1.0, (0.0, 10.0))

    def _start(self, name: str) -> float:
        return float(self._config(name).get("inits", [self._default(name)[0]])[0])

    def _bounds(self, name: str) -> tuple[float, float]:
        low, high = self._config(name).get("bounds", [self._default(name)[1]])[0]
        return float(low), float(high)

    def _fixed(self, name: str) -> bool:
        return bool(self._config(name).get("fixed", False))

    def _law(self, name: str) -> str:
        """What a factor or an argument is: "free", "param", "gmN" or "gmM"."""
        config, kind = self._config(name), self.source.kinds.get(name)
        constraint = config.get("constraint", {})
        law = constraint.get("type", "gaussian" if kind and kind.role == "lumi" else "none")
        if law == "none":
            return "free"
        if constraint.get("offset", 0) != 0 or constraint.get("slope", 1) != 1:
            raise self._refuse(name, "a card measures the parameter itself, without offset and slope")
        if law in ("gaussian", "bifurcated"):
            return "param"
        if law == "poisson":
            events, factor = config["auxdata"][0], config["factors"][0]
            if factor == 1 and events == round(events) and events >= 0:
                return "gmN"
            if abs(factor - events - 1.0) <= 1e-5 * factor:
                return "gmM"
        raise self._refuse(name, f"a card has no such {law} constraint of a factor; it has gmN and gmM")

    # ---- lines ----

    def _check_signal(self, name: str) -> None:
        if self._law(name) != "free":
            raise self._refuse(name, "a signal strength has no constraint in a card")
        if self._fixed(name) or self._start(name) != 1.0 or self._bounds(name) != (0.0, 20.0):
            self.moved.append(name)

    def _alpha(self, name: str, written: Sequence[Written]) -> None:
        law = self._law_of_alpha(name)
        values: dict[int, str] = {}
        logarithmic: dict[int, str] = {}  # have a line of their own
        for i, (process, made) in enumerate(zip(self.processes, written)):
            if name in made.scales and process.logarithmic:
                logarithmic[i] = number(made.scales[name])
            elif name in made.scales:
                values[i] = number(made.scales[name])
            elif name in process.lognormals:
                values[i] = _lognormal(*process.lognormals[name])
            elif name in process.slopes:
                values[i] = number(process.slopes[name])
        numbers = []
        if law == "unif":
            numbers = [number(bound) for bound in self._bounds(name)]
            if self._start(name) != 0.5 * sum(self._bounds(name)):
                self.moved.append(name)
        elif not _close(self._bounds(name), self._range(name, law)) or self._start(name) != 0.0:
            if law in ("lnU", "shapeU"):
                raise self._refuse(name, f"without constraint it has bounds of -1 and 1 in a card (`{law}`)")
            self.moved.append(name)
        if values:
            self.nuisances.append(Nuisance(name, law, values, numbers))
        if logarithmic:
            self.nuisances.append(Nuisance(name, "shapeN", logarithmic))
        self._freeze(name)

    def _range(self, name: str, law: str) -> tuple[float, float]:
        low, high = -_RANGES[law], _RANGES[law]
        for slope in (one.slopes[name] for one in self.processes if name in one.slopes):
            low, high = (
                max(low, -1.0 / slope) if slope > 0 else low,
                min(high, -1.0 / slope) if slope < 0 else high,
            )
        return low, high

    def _law_of_alpha(self, name: str) -> str:
        config = self._config(name)
        law = config.get("constraint", {}).get("type", "gaussian")
        if law not in ("gaussian", "none"):
            raise self._refuse(name, f"a card has no {law} constraint of it")
        if law == "gaussian" and (config.get("auxdata", [0]) != [0] or config.get("sigmas", [1]) != [1]):
            raise self._refuse(name, "a card measures it as 0 with a width of 1")
        if {"offset", "slope"} & config.get("constraint", {}).keys():
            raise self._refuse(name, "a card measures the parameter itself, without offset and slope")
        free = law == "none"
        morphs = [one for one in self.processes if name in one.morphs and not one.logarithmic]
        exponents = any(name in one.morphs and one.logarithmic for one in self.processes)
        lognormal = any(name in one.lognormals and name not in one.morphs for one in self.processes)
        if any(name in one.slopes for one in self.processes):
            if morphs or lognormal or exponents:
                raise self._refuse(name, "a line of a card is either straight (`trG`), lognormal or a morph")
            return "unif" if free else "trG"
        if free and exponents:
            raise self._refuse(name, "a card has no free parameter of logarithmic shapes (`shapeN`)")
        if morphs and free and lognormal:
            raise self._refuse(name, "a card has no lognormals beside morphs of a free parameter (`shapeU`)")
        if not morphs:
            return "lnU" if free else "lnN"
        if free:
            return "shapeU"
        return "shape?" if lognormal or exponents or self._bounds(name)[1] > 4.0 else "shape"

    def _factor(self, name: str, written: Sequence[Written]) -> None:
        law = self._law(name)
        here = [i for i, one in enumerate(self.processes) if name in one.factors]
        if law == "gmN":
            events = self._config(name)["auxdata"][0]
            values = {i: number(written[i].alpha) for i in here}
            self.nuisances.append(Nuisance(name, "gmN", values, [number(events)]))
            if self._start(name) != events + 1.0:
                self.moved.append(name)
            self._freeze(name)
        elif law == "gmM":
            width = self._config(name)["factors"][0] ** -0.5
            self.nuisances.append(Nuisance(name, "gmM", dict.fromkeys(here, number(width))))
            self._freeze(name)
        elif law == "param" or self._fixed(name):
            self._argument(name)
            called = f"{name}_factor"
            while called in {*self.used, *self.arguments}:
                called += "_"
            self._formula(name, "@0", [name], called)
        else:
            self._lines_of(name, name, f"{number(self._start(name))} {self._interval(name)}")

    def _freeze(self, name: str) -> None:
        if self._fixed(name):
            self.lines.append(f"nuisance edit freeze {name}")

    def _interval(self, name: str) -> str:
        return "[{},{}]".format(*map(number, self._bounds(name)))

    def _argument(self, name: str) -> None:
        """A parameter without processes of its own."""
        law = self._law(name)
        if law not in ("param", "free"):
            raise self._refuse(name, "a card measures arguments of formulas by a width (`param`)")
        if self._fixed(name):
            self.lines.append(f"{name} extArg {number(self._start(name))} [const]")
        elif law == "free":
            self.lines.append(f"{name} extArg {number(self._start(name))} {self._interval(name)}")
        else:
            config = self._config(name)
            mean, width = config["auxdata"][0], number(config["sigmas"][0])
            ratio = config.get("constraint", {}).get("ratio", 1.0)
            if ratio != 1.0:
                width = f"-{width}/+{number(config['sigmas'][0] * ratio)}"
            if self._start(name) != mean:
                self.moved.append(name)
            self.lines.append(f"{name} param {number(mean)} {width} {self._interval(name)}")

    def _formula(self, name: str, text: str, arguments: list[str], called: str = "") -> None:
        if not arguments:
            raise self._refuse(name, "a formula of a card has arguments, and this one has none")
        self._lines_of(name, called or name, f"{text} {','.join(arguments)}")

    def _lines_of(self, name: str, called: str, value: str) -> None:
        for one in self.processes:
            if name in one.factors:
                self.lines.append(f"{called} rateParam {one.channel} {one.name} {value}")
