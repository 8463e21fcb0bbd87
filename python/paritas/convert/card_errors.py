"""The threshold of autoMCStats that gives the bins of a channel the parameters that they have."""

from typing import Optional, Sequence

import numpy as np

from .card_processes import Process


def _whole(value: float) -> float:
    return float(np.floor(value + 0.5))


class BinErrors:
    """rates: of each process at the card's start values, by bin."""

    def __init__(self, processes: Sequence[Process], rates: Sequence[Sequence[float]]) -> None:
        self.processes, self.rates = processes, rates
        self.bins = len(rates[0])

    def errors(self, process: Process) -> list[float]:
        """Errors of the template's bins."""
        found = list(process.errors) if process.errors else [0.0] * self.bins
        for i, count in enumerate(process.counts or ()):
            if count:
                found[i] = self._events(process, i) / float(np.sqrt(count))
        for i, error in process.shifts.items():
            found[i] = error
        return found

    def _events(self, process: Process, i: int) -> float:
        return max(process.data[i], process.shape.get("minimum", process.data[i]))

    def threshold(self) -> Optional[tuple[int, bool]]:
        """The threshold, and whether signals count. None: no threshold gives these parameters."""
        for with_signal in (False, True):
            range_of = self._range(with_signal)
            if range_of and range_of[0] < range_of[1]:
                return int(range_of[0]), with_signal
        return None

    def _range(self, with_signal: bool) -> Optional[tuple[float, float]]:
        """Thresholds: the least one, and the first that is too much."""
        least, most = 0.0, np.inf
        for i in range(self.bins):
            shared = any(one.errors and one.errors[i] > 0 for one in self.processes)
            split = any((one.counts and one.counts[i]) or i in one.shifts for one in self.processes)
            events = self._effective_events(i, with_signal)
            if (shared and split) or (events < 0) == (shared or split):
                return None
            if shared:
                most = min(most, events)
            if split:
                least = max(least, events)
        for one in self.processes:
            least = max([least, *(one.counts or ())])
            for i, error in one.shifts.items():
                value = self._events(one, i)
                if value >= 0.999 * error and _whole((value / error) ** 2) > 0:
                    most = min(most, _whole((value / error) ** 2))
        return least, most

    def _effective_events(self, i: int, with_signal: bool) -> float:
        """Events of the bin with this relative error; -1: no process has one."""
        total = squares = 0.0
        for process, rates in zip(self.processes, self.rates):
            events = self._events(process, i)
            factor = rates[i] / events if events else 1.0
            if process.signal and not with_signal:
                continue
            total += rates[i]
            squares += (self.errors(process)[i] * factor) ** 2
        return _whole(total * total / squares) if squares > 0 else -1.0
