"""From tables of loss cones to the Moon, as one page: maps, profile, regions, harmonics."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from .. import losscone
from .._engine import Error, InvalidArgument
from ..arrays import Floats, Table, structured
from ..files import PathLike, write_text
from ..losscone import Periodogram, Selection, SphericalHarmonics, SurfaceMap, Tables, TerminatorProfile
from ..losscone.averages import ORBIT, averages, blocks_of
from ..losscone.products import ILLUMINATIONS, REGIONS, TERMINATOR, lit, places_of, plasmas_of
from ..losscone.selection import has, quality_of, reals, suffix_of
from ..plot import moon as plot_moon
from ..plot.style import matplotlib_found
from ..plot.tables import rounded
from .figures import shown
from .html import HtmlPage, Markup, again, beside, circumstances, missing, page, table, verdict
from .moon_maps import maps, series, words_of
from .moon_spherical import halves_of, numbers_of, spherical, spherical_of

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


#: columns of the tables that a page needs
COLUMNS = (
    *("utc", "time", "status", "quality", "good", "preferred", "potential"),
    *("confidence_lower", "confidence_upper", "confidence_at_lower_bound", "confidence_at_upper_bound"),
    *(f"{at}_{axis}" for at in ("projection", "spacecraft") for axis in ("longitude", "latitude", "in_sun")),
    *("temperature", "environment_class"),
)


#: regions that a temperature tells
PLASMAS = tuple(name for name in REGIONS if name not in ("unknown", "wake"))


@dataclass
class Products:
    """All products of tables. None: see `missing`, by name."""

    tables: Tables
    selection: Selection
    at: str
    block: float = ORBIT
    region: str = ""
    statistics: Table | None = None
    other: tuple[str, Table] | None = None
    surface_map: SurfaceMap | None = None
    profile: TerminatorProfile | None = None
    regions: dict[str, Table] = field(default_factory=dict)
    harmonics: dict[str, Table] = field(default_factory=dict)
    periodograms: dict[str, Periodogram] = field(default_factory=dict)
    spherical: dict[str, SphericalHarmonics] = field(default_factory=dict)
    halves: dict[str, Table] = field(default_factory=dict)
    series: dict[str, Table] = field(default_factory=dict)
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
        named += [(f"series_{name}", part) for name, part in made.series.items()]
        return named + numbers_of(made)


def summary_of(made: MoonPage, output: str, folder: str | None) -> str:
    """One line: where page and tables are, which tables are empty, and which products there are not."""
    numbers = made._numbers()
    line = f"page in {output}" + (f", {len(numbers)} tables in {folder}" if folder is not None else "")
    empty = [name for name, one in numbers if not len(one) or (has(one, "count") and not one["count"].any())]
    line += f"; empty: {', '.join(empty)}" if empty else ""
    without = [name.replace("_", " ") for name in made.products.missing]
    return line + (f"; not made, the page says why: {', '.join(without)}" if without else "")


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
    lmax: int = 10,
    region: str | None = None,
) -> Products:
    """All products; arguments as in `moon_report`."""
    if region is not None:
        whole, tables = tables, of_region(tables, region)
        if not len(tables.sweeps):
            response = losscone.select(whole, response=response).response
    chosen = losscone.select(tables, response=response, good=good)
    some: dict[str, Any] = {"response": chosen.response, "good": good}
    found = Products(tables, chosen, at, block, region or "")
    found.make("statistics", lambda: _statistics(chosen, chosen.potential, at, block))
    found.make("other", lambda: _other(chosen, at, block))
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
    found.spherical = spherical_of(tables, lmax, found.missing, **place)
    found.halves = halves_of(tables, found.spherical, lmax, found.missing, **place)
    found.make(
        "series",
        lambda: {one: losscone.time_averages(tables, illumination=one, **place) for one in ("day", "night")},
    )
    return found


def of_region(tables: Tables, region: str) -> Tables:
    """The sweeps of one plasma, by its temperature alone."""
    if region not in PLASMAS:
        raise InvalidArgument(f"region {region!r}: there are {', '.join(PLASMAS)}")
    inside = plasmas_of(tables.sweeps) == REGIONS.index(region)
    return Tables(tables.sweeps[inside], None, tables.provenance)


def _other(chosen: Selection, at: str, block: float) -> tuple[str, Table] | None:
    """The other model of the instrument over the same sweeps, if it is fitted: its name and statistics."""
    if not has(chosen.table, "potential_folded"):
        return None
    name = "hard" if chosen.response == "folded" else "folded"
    potential = reals(chosen.table, "potential" + suffix_of(chosen.table, name))
    return name, _statistics(chosen, potential, at, block)


def _statistics(chosen: Selection, potential: Floats, at: str, block: float) -> Table:
    """Rows of all, day, terminator and night."""
    parts = lit(places_of(chosen, at).angle, TERMINATOR)
    blocks = blocks_of(chosen.time, block)
    rows = [
        averages(np.where(parts[name] & chosen.used, 0, -1), potential, 1, blocks) for name in ILLUMINATIONS
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
    lmax: int = 10,
    region: str | None = None,
    command: list[str] | None = None,
) -> MoonPage:
    """The page of tables, or of a folder of them.

    response: "hard" or "folded"; None: the model that most sweeps prefer. good: only good sweeps. degrees: of
        a cell of the maps. at: "projection" or "spacecraft". block: hours whose sweeps in a cell count as
        one measurement. lmax: largest degree of the spherical harmonics. region: only sweeps in this plasma,
        by its temperature: "solar wind", "magnetosheath", "lobe" or "plasma sheet". command: command line to
        show. A product that cannot be made says why on the page. Raises for a folder without tables."""
    matplotlib_found()
    read = tables if isinstance(tables, Tables) else losscone.read_tables(tables, columns=COLUMNS)
    options: dict[str, Any] = {"response": response, "good": good, "degrees": degrees, "at": at}
    made = products_of(read, block=block, lmax=lmax, region=region, **options)
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
        if made.region and not len(rows):
            told.append(
                f"No sweep has the temperature of the {made.region}. Tables have temperatures if their fits "
                "found the spacecraft's potential from the plasma (--spacecraft-potential auto)."
            )
    elif made.surface_map is None:
        told.append(
            f"No used sweep has a place ({made.at}_longitude, {made.at}_latitude), so there are no maps, and "
            "neither day nor night. Fit the days again with --geometry, --mag or --spice."
        )
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
    ridged = [name for name, one in made.spherical.items() if one.ridge]
    if ridged:
        told.append(
            f"The sweeps do not determine all spherical harmonics of {' and '.join(ridged)}: a ridge of "
            f"{made.spherical[ridged[0]].ridge:g} pulls them towards 0."
        )
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


_STATISTICS = ("sweeps", "measurements", "mean U (V)", "median (V)", "16 to 84 % (V)")


def _verdict(made: Products) -> Markup:
    chosen, rows = made.selection, made.tables.sweeps
    n = int(chosen.used.sum())
    kind = "good sweeps" if chosen.good else "sweeps with a potential"
    of = f"{len(rows)} of the {made.region}" if made.region else str(len(rows))
    days = f"{made.days} {'day' if made.days == 1 else 'days'}"
    words = f"{n} {kind} of {of}, from {days}; model of the instrument: {chosen.response}."
    content = ""
    if made.statistics is not None:
        rows_of = [
            [name, *_statistics_cells(row)]
            for name, row in zip(("everywhere", *ILLUMINATIONS[1:]), made.statistics)
        ]
        head: tuple[str, ...] = ("where", *_STATISTICS)
        if made.other is not None:
            head = (*head, f"mean U, {made.other[0]} (V)")
            rows_of = [[*cells, _pm(row["mean"], row["error"])] for cells, row in zip(rows_of, made.other[1])]
        caption = (
            f"U by illumination, model {chosen.response}; terminator: up to {TERMINATOR:g} degrees from it"
        )
        content = table(caption, head, rows_of)
    note = (
        "<p>Errors are of the mean. Sweeps of one block of time (an orbit) count as one measurement, because "
        "they see the same plasma. A plasma that lasts for days needs longer blocks (<code>--block</code>). "
        "The other model of the instrument shows how much the choice matters; that is no part of the "
        "error.</p>\n"
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


def _profile(made: Products) -> Markup:
    found = made.profile
    assert found is not None
    rows = [
        [f"{row['angle_lower']:.0f} to {row['angle_upper']:.0f}", *_statistics_cells(row)]
        for row in found["both"]
    ]
    drawn = shown(
        f"U over the angle from the terminator, at dawn and at dusk; {words_of(made)}",
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
            f"U by plasma region, {where}; {words_of(made)}",
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
            f"Lomb-Scargle periodogram of U, {name}; {words_of(made)}",
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
    ("maps", "Maps", "surface_map", maps),
    ("spherical", "Spherical harmonics", "", spherical),
    ("terminator", "Profile over the terminator", "profile", _profile),
    ("regions", "Plasma regions", "regions", _regions),
    ("harmonics", "Harmonics", "harmonics", _harmonics),
    ("series", "Series", "", series),
    ("quality", "Quality of the sweeps", "", _quality),
    ("tables", "What was read", "", _read),
)
