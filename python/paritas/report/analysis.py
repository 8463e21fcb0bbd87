"""What a report tells, computed: a fit and the statistics that follow from it, each with its outcome and
time; what could not be made, with the reason."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Callable, Iterable, Optional, TypeVar

import numpy as np

from .._engine import DeviceUnavailable, Error, OutOfMemory
from ..model import Model
from ..results import (
    FitResult,
    GoodnessOfFit,
    HypotestResult,
    LimitResult,
    Prediction,
    RankingResult,
    ScanResult,
    SignificanceResult,
)
from ..workspace import DocumentLike, PatchSet, Workspace

Found = TypeVar("Found")
#: values of the parameter of interest that are tested for the Brazil band, and scanned
BAND_POINTS, SCAN_POINTS = 31, 31


@dataclass
class Source:
    """Where a model comes from: files as they were named, digests before and after patching."""

    workspace: Workspace
    name: str
    digest: str
    patches: list[str]
    patched_digest: Optional[str]

    @classmethod
    def of(
        cls,
        given: DocumentLike,
        patches: Iterable[DocumentLike] = (),
        patchset: Optional[DocumentLike] = None,
        patch_name: Optional[str] = None,
    ) -> "Source":
        """Reads a workspace and applies a patch of a patch set, then JSON patches in their order."""
        found = Workspace(given)
        name, digest, applied = _called(given, "workspace"), found.digest(), []
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
    """A computation: what came of it (a status of fits, or an error's message), and how long it took. good:
    all of its fits converged."""

    name: str
    outcome: str
    good: bool
    seconds: float
    detail: str = ""


@dataclass
class Analysis:
    """All results of a report; None where `missing` has the reason, by the attribute's name."""

    model: Model
    source: Source
    fit: FitResult
    steps: list[Step]
    measurement: str
    missing: dict[str, str] = field(default_factory=dict)
    minos: Optional[dict[str, tuple[float, float]]] = None
    goodness_of_fit: Optional[GoodnessOfFit] = None
    prediction: Optional[Prediction] = None
    limit: Optional[LimitResult] = None
    tests: Optional[list[HypotestResult]] = None
    significance: Optional[SignificanceResult] = None
    scan: Optional[ScanResult] = None
    ranking: Optional[RankingResult] = None

    @property
    def converged(self) -> bool:
        """Did every fit of every step converge?"""
        return all(step.good for step in self.steps)

    @property
    def poi(self) -> Optional[str]:
        return self.model.poi_name

    @property
    def poi_state(self) -> str:
        """Of the fit: "free", "fixed", "at_lower_bound", "at_upper_bound"; "" without a parameter of
        interest."""
        return (
            ""
            if self.model.poi_index is None or self.fit.states is None
            else self.fit.states[self.model.poi_index]
        )


def _counted(statuses: Iterable[str]) -> tuple[str, bool, str]:
    """Outcome, whether all converged, and the counts in words."""
    kinds, counts = np.unique(np.array(list(statuses), dtype=str), return_counts=True)
    good = kinds.tolist() == ["converged"]
    words = ", ".join(f"{count} {kind}" for kind, count in zip(kinds.tolist(), counts.tolist()))
    return "converged" if good else words or "nothing to fit", good or not len(kinds), words


def analyse(
    source: Source, poi: Optional[str] = None, measurement: Optional[str] = None, **options: Any
) -> Analysis:
    """Fits, and makes what follows. options: device, precision, threads. Raises where the model cannot be
    made or the device not be used; all else that fails is noted."""
    started = perf_counter()
    model = Model.from_workspace(source.workspace, measurement=measurement, poi=poi)
    read = perf_counter()
    fit = model.fit(**options)
    steps = [
        Step("reading the model", "done", True, read - started),
        Step(
            "best fit",
            fit.status,
            fit.converged,
            perf_counter() - read,
            f"EDM {fit.edm:.2g}, {fit.iterations} iterations, projected gradient {fit.projected_gradient:.2g}",
        ),
    ]
    # the model was made of it: it is as it should be
    measurements = source.workspace.to_dict()["measurements"]
    chosen = next((one for one in measurements if one["name"] == measurement), measurements[0])
    found = Analysis(model, source, fit, steps, chosen["name"])
    found.goodness_of_fit = _made(
        found,
        "goodness_of_fit",
        "goodness of fit",
        lambda: model.goodness_of_fit(**options),
        lambda r: [r.status],
    )
    found.prediction = _made(
        found, "prediction", "yields", lambda: model.predict(best=fit), lambda r: [fit.status]
    )
    if model.poi_index is None:
        reason = "The model has no parameter of interest"
        named = chosen["config"].get("poi")
        if named and poi is None:
            reason += f": the measurement names {named}, which no sample has"
        found.missing.update(
            dict.fromkeys(("minos", "limit", "tests", "significance", "scan", "ranking"), reason + ".")
        )
        return found
    return _of_interest(found, model.poi_index, options)


def _of_interest(found: Analysis, i: int, options: dict[str, Any]) -> Analysis:
    """What asks for a parameter of interest, the i-th."""
    model, fit, name = found.model, found.fit, found.model.parameter_names[i]
    if found.poi_state == "free" and fit.converged:
        found.minos = _made(
            found,
            "minos",
            f"MINOS errors of {name}",
            lambda: model.minos(name, best=fit, **options),
            lambda r: [fit.status],
        )
    else:
        found.missing["minos"] = (
            f"{name} is {found.poi_state.replace('_', ' ')} in the fit"
            if fit.converged
            else f"the fit did not converge ({fit.status})"
        )
    found.limit = _made(
        found,
        "limit",
        "upper limit",
        lambda: model.upper_limit(**options),
        lambda r: [r.status, *(test.status for test in r.scan)],
    )
    limit = found.limit
    if limit is None:
        found.missing["tests"] = found.missing["limit"]
    else:
        bounds = {name: (float(model.lower_bounds[i]), limit.upper_bound)}
        reach = _largest(limit.limit_obs, *limit.limit_exp)
        lowest = max(0.0, bounds[name][0])
        if reach > lowest:
            tested = np.linspace(
                lowest, min(lowest + 1.12 * (reach - lowest), limit.upper_bound), BAND_POINTS
            )
            found.tests = _made(
                found,
                "tests",
                "tests for the band",
                lambda: list(model.hypotest(tested, bounds=bounds, **options)),
                lambda r: [t.status for t in r],
            )
        else:
            found.missing["tests"] = "There is no limit to show tests around."
    found.significance = _made(
        found, "significance", "significance", lambda: model.significance(**options), lambda r: [r.status]
    )
    values = _scanned(found, i)
    found.scan = _made(
        found,
        "scan",
        f"scan of {name}",
        lambda: model.scan((name, values), **options),
        lambda r: [r.best_status, *r.status.tolist()],
    )
    found.ranking = _made(found, "ranking", "ranking", lambda: model.ranking(**options), lambda r: r.status)
    return found


def _largest(*values: float) -> float:
    return max((value for value in values if np.isfinite(value)), default=float("-inf"))


def _scanned(found: Analysis, i: int) -> Any:
    """Values for the scan: three errors around the best fit, else as far as the limits reach; within the
    bounds."""
    low, high = float(found.model.lower_bounds[i]), float(found.model.upper_bounds[i])
    value = float(found.fit.values[i])
    error = float("nan") if found.fit.errors is None else float(found.fit.errors[i])
    if np.isfinite(error) and error > 0:
        first, last = value - 3.2 * error, value + 3.2 * error
    else:
        reach = (
            float("-inf") if found.limit is None else _largest(found.limit.limit_obs, *found.limit.limit_exp)
        )
        first, last = (value, reach) if reach > value else (low, high)
    return np.linspace(max(first, low), min(last, high), SCAN_POINTS)


def _made(
    found: Analysis,
    attribute: str,
    name: str,
    work: Callable[[], Found],
    statuses: Callable[[Found], Iterable[str]],
) -> Optional[Found]:
    """The result of `work`, its outcome noted; None with the reason where it fails."""
    started = perf_counter()
    try:
        result = work()
    except (DeviceUnavailable, OutOfMemory):
        raise
    except Error as failure:
        found.missing[attribute] = str(failure)
        found.steps.append(Step(name, str(failure), False, perf_counter() - started))
        return None
    outcome, good, detail = _counted(statuses(result))
    found.steps.append(Step(name, outcome, good, perf_counter() - started, detail))
    return result
