"""Fit and statistics for a report, with outcomes, times and reasons for missing results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from .._engine import DeviceUnavailable, Error, OutOfMemory
from ..documents import DocumentLike
from ..model import Model
from ..results import (
    FitResult,
    GoodnessOfFit,
    HypotestResult,
    LimitResult,
    MinosErrors,
    Prediction,
    RankingResult,
    ScanResult,
    SignificanceResult,
)
from ..workspace import PatchSet, Workspace

#: values of mu
BAND_POINTS, SCAN_POINTS = 31, 31


@dataclass
class Source:
    """A model's files, as named, with digests before and after patching."""

    workspace: Workspace
    name: str
    digest: str
    patches: list[str]
    patched_digest: str | None

    @classmethod
    def of(
        cls,
        given: DocumentLike,
        patches: Iterable[DocumentLike] = (),
        patchset: DocumentLike | None = None,
        patch_name: str | None = None,
        named: DocumentLike | None = None,
    ) -> "Source":
        """Reads a workspace, applies a patch of a patch set, then JSON patches in order. named: what
        the page calls it by (None: `given`)."""
        found = Workspace(given)
        name, digest, applied = _called(given if named is None else named, "workspace"), found.digest(), []
        if patchset is not None and patch_name is not None:
            found = PatchSet(patchset).apply(found, patch_name)
            applied.append(f"{patch_name} of {os.path.basename(_called(patchset, 'patch set'))}")
        for patch in patches:
            found = found.patch(patch)
            applied.append(_called(patch, "patch"))
        return cls(found, name, digest, applied, found.digest() if applied else None)


def _called(given: Any, otherwise: str) -> str:
    if given == "-":
        return "standard input"
    return str(given) if isinstance(given, str) or hasattr(given, "__fspath__") else otherwise


@dataclass
class Step:
    """outcome: a status, or an error message. good: all fits converged."""

    name: str
    outcome: str
    good: bool
    seconds: float
    detail: str = ""


@dataclass
class Analysis:
    """All results. `missing` has the reasons for those that are None, by attribute name."""

    model: Model
    source: Source
    fit: FitResult
    steps: list[Step]
    measurement: str
    missing: dict[str, str] = field(default_factory=dict)
    minos: MinosErrors | None = None
    goodness_of_fit: GoodnessOfFit | None = None
    prediction: Prediction | None = None
    limit: LimitResult | None = None
    tests: list[HypotestResult] | None = None
    significance: SignificanceResult | None = None
    scan: ScanResult | None = None
    ranking: RankingResult | None = None

    @property
    def converged(self) -> bool:
        """All fits of all steps converged."""
        return all(step.good for step in self.steps)

    @property
    def poi(self) -> str | None:
        return self.model.poi_name

    @property
    def poi_state(self) -> str:
        """ "free", "fixed", "at lower bound", "at upper bound", "at kink", "at edge"; "": no parameter of
        interest."""
        index, states = self.model.poi_index, self.fit.states
        return "" if index is None or states is None else in_words(states[index])

    @property
    def reach(self) -> float:
        """The largest limit; -inf without limits."""
        limits = [] if self.limit is None else [self.limit.limit_obs, *self.limit.limit_exp]
        return max((limit for limit in limits if np.isfinite(limit)), default=float("-inf"))

    def make(
        self,
        attribute: str,
        name: str,
        work: Callable[[], Any],
        statuses: Callable[[Any], Iterable[str]] = lambda result: [result.status],
    ) -> None:
        """Sets an attribute to the result of `work`, or notes its failure."""
        started = perf_counter()
        try:
            result = work()
        except (DeviceUnavailable, OutOfMemory):
            raise
        except Error as failure:
            self.missing[attribute] = str(failure)
            self.steps.append(Step(name, str(failure), False, perf_counter() - started))
            return
        kinds, counts = np.unique(np.array(list(statuses(result)), dtype=str), return_counts=True)
        good = kinds.tolist() == ["converged"]
        counted = ", ".join(f"{count} {kind}" for kind, count in zip(kinds.tolist(), counts.tolist()))
        outcome = "converged" if good else counted or "nothing to fit"
        seconds = perf_counter() - started
        setattr(self, attribute, result)
        self.steps.append(Step(name, outcome, good or not len(kinds), seconds, counted))


#: a parameter's states with an error; at the domain's edge by MINOS alone
FREE = ("free", "at kink", "at edge")


def in_words(state: str) -> str:
    return state.replace("_", " ")


def analyse(
    source: Source,
    poi: str | None = None,
    measurement: str | None = None,
    masks: Sequence[str] = (),
    blind: Sequence[str] = (),
    **options: Any,
) -> Analysis:
    """All results for a workspace. masks: channels left out of the likelihood. blind: the same, without their
    data. options: device, precision, threads. Raises only for a bad model or unusable device."""
    started = perf_counter()
    model = Model.from_workspace(source.workspace, measurement=measurement, poi=poi, masks=[*masks, *blind])
    read = perf_counter()
    fit = model.fit(**options)
    detail = (
        f"EDM {fit.edm:.2g}, {fit.iterations} iterations, projected gradient {fit.projected_gradient:.2g}"
    )
    steps = [
        Step("reading the model", "done", True, read - started),
        Step("best fit", fit.status, fit.converged, perf_counter() - read, detail),
    ]
    measurements = source.workspace.to_dict()["measurements"]
    chosen = next((one for one in measurements if one["name"] == measurement), measurements[0])
    found = Analysis(model, source, fit, steps, chosen["name"])
    found.make("goodness_of_fit", "goodness of fit", lambda: model.goodness_of_fit(**options))
    found.make(
        "prediction", "yields", lambda: model.predict(best=fit).without_data(blind), lambda _: [fit.status]
    )
    if model.poi_index is not None:
        _make_of_interest(found, model.poi_index, options)
        return found
    reason = "The model has no parameter of interest"
    named = chosen["config"].get("poi")
    if named and poi is None:
        reason += f": the measurement names {named}, which no sample has"
    of_interest = ("minos", "limit", "tests", "significance", "scan", "ranking")
    found.missing.update(dict.fromkeys(of_interest, reason + "."))
    return found


def _make_of_interest(found: Analysis, index: int, options: dict[str, Any]) -> None:
    model, fit, name = found.model, found.fit, found.model.parameter_names[index]
    if found.poi_state in FREE and fit.converged:
        found.make(
            "minos",
            f"MINOS errors of {name}",
            lambda: model.minos(name, best=fit, **options),
            lambda _: [fit.status],
        )
    else:
        state = f"{name} is {found.poi_state} in the fit"
        found.missing["minos"] = state if fit.converged else f"the fit did not converge ({fit.status})"
    found.make(
        "limit",
        "upper limit",
        lambda: model.upper_limit(**options),
        lambda limit: [limit.status, *(test.status for test in limit.scan)],
    )
    low, high = float(model.lower_bounds[index]), float(model.upper_bounds[index])
    lowest = max(0.0, low)
    if found.limit is None:
        found.missing["tests"] = found.missing["limit"]
    elif found.reach > lowest:
        widened = found.limit.upper_bound
        tested = np.linspace(lowest, min(lowest + 1.12 * (found.reach - lowest), widened), BAND_POINTS)
        found.make(
            "tests",
            "tests for the band",
            lambda: list(model.hypotest(tested, bounds={name: (low, widened)}, **options)),
            lambda tests: [test.status for test in tests],
        )
    else:
        found.missing["tests"] = "There is no limit to show tests around."
    found.make("significance", "significance", lambda: model.significance(**options))
    # three errors around the best fit, or up to the limits
    value, error = fit[name]
    if np.isfinite(error) and error > 0:
        first, last = value - 3.2 * error, value + 3.2 * error
    else:
        first, last = (value, found.reach) if found.reach > value else (low, high)
    values = np.linspace(max(first, low), min(last, high), SCAN_POINTS)
    found.make(
        "scan",
        f"scan of {name}",
        lambda: model.scan((name, values), **options),
        lambda scan: [scan.best_status, *scan.status.tolist()],
    )
    found.make("ranking", "ranking", lambda: model.ranking(**options), lambda ranking: ranking.status)
