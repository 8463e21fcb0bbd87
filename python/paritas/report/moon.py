"""From tables of loss cones to the Moon, as one page: maps, profile, regions, harmonics."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from .. import losscone
from .._engine import Error
from ..arrays import Table, structured
from ..files import PathLike, write_text
from ..losscone import Periodogram, Selection, SurfaceMap, Tables, TerminatorProfile
from ..losscone.averages import ORBIT, averages, blocks_of
from ..losscone.products import ILLUMINATIONS, TERMINATOR, lit, places_of
from ..losscone.selection import has, quality_of
from ..plot import losscone as plot_losscone
from ..plot import moon as plot_moon
from ..plot.tables import rounded
from .figures import shown
from .html import HtmlPage, Markup, again, beside, circumstances, missing, page, table, verdict

#: warn if fewer sweeps prefer the quoted model, or if fewer are good
PREFERRED, GOOD = 0.9, 0.5
#: options that a page lists, of the tables' provenance
_OPTIONS = (
    "method",
    "response",
    "search",
    "potential_lower",
    "potential_upper",
    "ratio_lower",
    "ratio_upper",
    "confidence",
    "geometry",
    "spice",
    "polarity",
    "spacecraft_potential",
    "illumination",
    "sunlight",
    "normalisation",
    "precision",
)


@dataclass
class Products:
    """All products of tables. None: see `missing`, by name."""

    tables: Tables
    selection: Selection
    at: str
    statistics: Table | None = None
    surface_map: SurfaceMap | None = None
    profile: TerminatorProfile | None = None
    regions: dict[str, Table] = field(default_factory=dict)
    harmonics: dict[str, Table] = field(default_factory=dict)
    periodograms: dict[str, Periodogram] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def make(self, name: str, work: Callable[[], Any]) -> None:
        """Sets a product, or notes why there is none."""
        try:
            setattr(self, name, work())
        except Error as reason:
            self.missing[name] = str(reason)

    @property
    def days(self) -> int:
        """Days with a used sweep."""
        time = self.selection.time[self.selection.used]
        return len(np.unique(np.floor(time[np.isfinite(time)] / 86400.0)))


@dataclass
class MoonPage(HtmlPage):
    """The page of a set of tables. converged: at least one sweep is used."""

    html: str
    products: Products

    @property
    def converged(self) -> bool:
        return bool(self.products.selection.used.any())

    def write_tables(self, folder: PathLike) -> list[str]:
        """Writes the numbers of every product as CSV files into a folder; returns their paths. Raises
        OSError."""
        os.makedirs(folder, exist_ok=True)
        return [_write_csv(found, os.path.join(folder, f"{name}.csv")) for name, found in self._numbers()]

    def _numbers(self) -> list[tuple[str, Table]]:
        made = self.products
        named: list[tuple[str, Table]] = []
        if made.surface_map is not None:
            named += [(f"map_{name}", part) for name, part in made.surface_map.parts.items()]
        if made.profile is not None:
            named += [(f"profile_{name}", part) for name, part in made.profile.sides.items()]
        named += [(f"regions_{name}", part) for name, part in made.regions.items()]
        named += [(f"harmonics_{name}", part) for name, part in made.harmonics.items()]
        for name, found in made.periodograms.items():
            columns = {"frequency": found.frequency, "power": found.power}
            named.append((f"periodogram_{name}", structured(columns)))
        return named


def _write_csv(found: Table, path: str) -> str:
    """Numbers read back to the same bits; NaN is an empty field."""
    names = found.dtype.names or ()
    lines = [",".join(names)]
    for row in found.tolist():
        lines.append(",".join("" if value != value else str(value) for value in row))
    write_text("\n".join(lines) + "\n", path)
    return path


def products_of(
    tables: Tables,
    *,
    response: str | None = None,
    good: bool = True,
    degrees: float = 10.0,
    at: str = "projection",
    block: float = ORBIT,
) -> Products:
    """All products; arguments as in `losscone.surface_map`."""
    chosen = losscone.select(tables, response=response, good=good)
    some: dict[str, Any] = {"response": chosen.response, "good": good}
    found = Products(tables, chosen, at)
    found.make("statistics", lambda: _statistics(chosen, at, block))
    place: dict[str, Any] = {"at": at, "block": block, **some}
    found.make("surface_map", lambda: losscone.surface_map(tables, degrees=degrees, **place))
    found.make("profile", lambda: losscone.terminator_profile(tables, **place))
    some_regions: dict[str, Any] = {"block": block, **some}
    found.make(
        "regions",
        lambda: {
            one: losscone.region_statistics(tables, illumination=one, **some_regions)
            for one in ("day", "night")
        },
    )
    parts = ("all", "day", "night") if found.surface_map is not None else ("all",)
    of: dict[str, Any] = {"at": at, **some}
    found.make(
        "harmonics", lambda: {one: losscone.harmonics(tables, illumination=one, **of) for one in parts}
    )
    found.make(
        "periodograms",
        lambda: {one: losscone.periodogram(tables, illumination=one, block=block, **of) for one in parts},
    )
    return found


def _statistics(chosen: Selection, at: str, block: float) -> Table:
    """Rows of all, day, terminator and night."""
    parts = lit(places_of(chosen, at).angle, TERMINATOR)
    blocks = blocks_of(chosen.time, block)
    rows = [
        averages(np.where(parts[name] & chosen.used, 0, -1), chosen.potential, 1, blocks)
        for name in ILLUMINATIONS
    ]
    return np.concatenate(rows)


def moon_report(
    tables: PathLike | Tables,
    *,
    response: str | None = None,
    good: bool = True,
    degrees: float = 10.0,
    at: str = "projection",
    block: float = ORBIT,
    command: list[str] | None = None,
) -> MoonPage:
    """The page of tables, or of a folder of them.

    response: "hard" or "folded"; None: the model that most sweeps prefer. good: only good sweeps. degrees: of
        a cell of the maps. at: "projection" or "spacecraft". block: hours whose sweeps in a cell count as
        one measurement. command: command line to show. A product that cannot be made says why on the page.
        Raises for a folder without tables."""
    read = tables if isinstance(tables, Tables) else losscone.read_tables(tables)
    made = products_of(read, response=response, good=good, degrees=degrees, at=at, block=block)
    name = "tables" if isinstance(tables, Tables) else os.path.basename(os.path.abspath(tables))
    sections = [
        (anchor, heading, missing(made.missing[of]) if of in made.missing else make(made))
        for anchor, heading, of, make in _SECTIONS
    ]
    last = again(command, "paritas.report.moon_report")
    return MoonPage(page(f"Surface potential of the Moon: {name}", [*sections, last]), made)


def warnings_of(made: Products) -> list[str]:
    rows, chosen = made.tables.sweeps, made.selection
    told = []
    if not chosen.used.any():
        told.append("No sweep is used, so no number on this page can be quoted.")
    if chosen.good and not has(rows, "good") and not has(rows, "quality"):
        told.append("The tables have no column `quality`: every sweep with status `fitted` counts as good.")
    if not chosen.good:
        told.append("Sweeps of any quality are used, because all were asked for.")
    if has(rows, "preferred"):
        named = rows["preferred"][chosen.used & (rows["preferred"] != "")]
        share = float(np.mean(named == chosen.response)) if len(named) else 1.0
        if share < PREFERRED:
            told.append(
                f"Only {100.0 * share:.0f} % of the used sweeps prefer the model {chosen.response}: compare "
                "the page of the other model (--response)."
            )
    fitted = np.isfinite(chosen.potential)
    if chosen.good and fitted.any() and np.mean(chosen.used[fitted]) < GOOD:
        told.append(f"Only {int(chosen.used.sum())} of {int(fitted.sum())} fitted sweeps are good.")
    options = [one.get("options") for one in made.tables.provenance]
    if any(one != options[0] for one in options):
        told.append("The tables were made with different options; see their provenance.")
    return told


def _pm(value: float, error: float) -> str:
    shown_value, shown_error = rounded(value, error)
    return f"{shown_value} \N{PLUS-MINUS SIGN} {shown_error}" if shown_error else shown_value


def _statistics_cells(row: Any) -> list[Any]:
    """count, blocks, mean, median, 16 to 84 % and deviation of a row of `averages`."""
    band = f"{row['lower']:.1f} to {row['upper']:.1f}" if row["count"] else "-"
    numbers = [_pm(row["mean"], row["error"]), rounded(row["median"], 1.0)[0], band]
    return [int(row["count"]), int(row["blocks"]), *numbers]


_STATISTICS = ("sweeps", "blocks", "mean U (V)", "median (V)", "16 to 84 % (V)")


def _verdict(made: Products) -> Markup:
    chosen, rows = made.selection, made.tables.sweeps
    n = int(chosen.used.sum())
    kind = "good sweeps" if chosen.good else "sweeps with a potential"
    words = f"{n} {kind} of {len(rows)}, from {made.days} days; model of the instrument: {chosen.response}."
    content = ""
    if made.statistics is not None:
        content = table(
            f"U by illumination; terminator: up to {TERMINATOR:g} degrees from it",
            ("where", *_STATISTICS),
            [
                [name, *_statistics_cells(row)]
                for name, row in zip(("everywhere", *ILLUMINATIONS[1:]), made.statistics)
            ],
        )
    note = (
        "<p>Errors are of the mean. Sweeps of one block of time (an orbit) count as one measurement, because "
        "they see the same plasma.</p>\n"
    )
    return Markup(verdict(bool(n), words, warnings_of(made)) + content + note)


def _read(made: Products) -> Markup:
    first = made.tables.provenance[0]
    options, run = first.get("options", {}), first.get("run", {})
    inputs = [file for one in made.tables.provenance for file in one.get("inputs", [])]
    known = made.selection.time[np.isfinite(made.selection.time)]
    time = f"{losscone.utc(known.min())} to {losscone.utc(known.max())}" if len(known) else "unknown"
    rows = [
        ["Tables", f"{len(made.tables.provenance)}, made by paritas {first.get('paritas', '')}"],
        [
            "Day files",
            ", ".join(str(one.get("file")) for one in inputs[:4]) + (", ..." if len(inputs) > 4 else ""),
        ],
        ["Time", time],
        ["Device of the fits", str(run.get("device", ""))],
        *circumstances(),
    ]
    shown_options = [(name, options[name]) for name in _OPTIONS if options.get(name) is not None]
    chosen = [[name.replace("_", " "), str(value)] for name, value in shown_options]
    return Markup(
        table("The tables and where they come from", ("what", "which"), rows)
        + table("Options of the fits, from the first table", ("option", "value"), chosen)
    )


def _quality(made: Products) -> Markup:
    chosen = made.selection
    quality = quality_of(chosen.table, chosen.response)
    words, counts = np.unique(quality, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    share = 100.0 / max(1, len(quality))
    rows = [
        [
            words[k].replace("_", " ") or "-",
            int(counts[k]),
            f"{share * counts[k]:.1f} %",
            int(np.sum(chosen.used & (quality == words[k]))),
        ]
        for k in order
    ]
    head = ("quality", "sweeps", "part", "used")
    return table(f"Sweeps by quality of the model {chosen.response}, or by status", head, rows)


def _series(made: Products) -> Markup:
    chosen = made.selection
    shade = "projection_in_sun" if has(chosen.table, "projection_in_sun") else "spacecraft_in_sun"
    return shown(
        "U of every sweep with its confidence set; grey: the foot of the field line is dark",
        f"U over time, {int(chosen.used.sum())} used sweeps of {len(chosen.table)}.",
        plot_losscone.time_series,
        chosen.table,
        response=chosen.response,
        shade=shade,
    )


def _maps(made: Products) -> Markup:
    found = made.surface_map
    assert found is not None
    area = f"{found.grid.area:.0f} square degrees"
    pieces = []
    for illumination, value, projection in (
        ("night", "mean", "mollweide"),
        ("day", "mean", "mollweide"),
        ("terminator", "mean", "mollweide"),
        ("all", "mean", "mollweide"),
        ("night", "mean", "sphere"),
        ("day", "mean", "sphere"),
        ("night", "error", "mollweide"),
        ("all", "count", "mollweide"),
    ):
        part = found[illumination]
        if not part["count"].any():
            pieces.append(missing(f"{illumination}: no used sweep has a known place there."))
            continue
        what = {"mean": "mean U", "error": "error of the mean of U", "count": "number of sweeps"}[value]
        caption = f"{what}, {illumination}, {'near and far side' if projection == 'sphere' else 'Mollweide'}"
        low, high = np.nanmin(part[value].astype(float)), np.nanmax(part[value].astype(float))
        alt = f"{caption}: {low:.4g} to {high:.4g} in {int((part['count'] > 0).sum())} cells of {area}."
        options = {"value": value, "projection": projection}
        pieces.append(shown(caption, alt, plot_moon.surface_map, found, illumination, **options))
    return beside(*pieces)


def _profile(made: Products) -> Markup:
    found = made.profile
    assert found is not None
    rows = [
        [f"{row['angle_lower']:.0f} to {row['angle_upper']:.0f}", *_statistics_cells(row)]
        for row in found["both"]
    ]
    drawn = shown(
        "U over the angle from the terminator, at dawn and at dusk",
        "Means of U with errors, medians and 16 to 84 % over the terminator angle; numbers in the table.",
        plot_moon.terminator_profile,
        found,
    )
    return beside(drawn, table("U by angle from the terminator, both sides", ("degrees", *_STATISTICS), rows))


def _regions(made: Products) -> Markup:
    pieces = []
    for name, found in made.regions.items():
        where = f"{name}: the foot of the field line is {'lit' if name == 'day' else 'dark'}"
        drawn = shown(
            f"U by plasma region, {where}",
            "Mean of U with its error, median and 16 to 84 % for each region; numbers in the table.",
            plot_moon.regions,
            found,
            response=made.selection.response,
        )
        rows = [[str(row["region"]), *_statistics_cells(row)] for row in found if row["sweeps"]]
        pieces.append(beside(drawn, table(f"U by plasma region, {name}", ("region", *_STATISTICS), rows)))
    return Markup("".join(pieces))


def _harmonics(made: Products) -> Markup:
    pieces = [
        shown(
            f"Lomb-Scargle periodogram of U, {name}",
            f"Power over the period, largest at {1.0 / found.frequency[np.nanargmax(found.power)]:.3g} days.",
            plot_moon.periodogram,
            found,
        )
        for name, found in made.periodograms.items()
    ]
    if "periodograms" in made.missing:
        pieces.append(missing(made.missing["periodograms"]))
    rows = [
        [
            name,
            f"{row['name']} / {row['order']}",
            float(row["period"]),
            _pm(row["amplitude"], row["amplitude_error"]),
            _pm(row["phase"], row["phase_error"]),
            f"{row['chance']:.2g}" if np.isfinite(row["chance"]) else "-",
        ]
        for name, found in made.harmonics.items()
        for row in found
    ]
    head = ("sweeps", "period / order", "days", "amplitude (V)", "phase at J2000 (deg)", "chance without it")
    note = (
        "<p>A dash: the data are shorter than the period. Lunar day (29.53 d) and lunar month (27.32 d) "
        "separate only in a year of data. Errors count the sweeps of one day as one measurement.</p>\n"
    )
    return Markup(beside(*pieces) + table("Harmonics by least squares", head, rows) + note)


#: anchor, heading, the product that must be there, function
_SECTIONS: tuple[tuple[str, str, str, Callable[[Products], Markup]], ...] = (
    ("verdict", "Verdict", "", _verdict),
    ("maps", "Maps", "surface_map", _maps),
    ("terminator", "Profile over the terminator", "profile", _profile),
    ("regions", "Plasma regions", "regions", _regions),
    ("harmonics", "Harmonics", "harmonics", _harmonics),
    ("series", "Series", "", _series),
    ("quality", "Quality of the sweeps", "", _quality),
    ("tables", "What was read", "", _read),
)
