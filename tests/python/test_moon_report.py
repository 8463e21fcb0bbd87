"""`python -m paritas moon`: one page of tables of loss cones, and its numbers as files."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

import paritas
from losscone_support import ROOT, equal, run, synthesize
from paritas import losscone
from paritas.report import figures, moon_command, moon_report
from paritas.report.moon import COLUMNS, MoonPage, products_of, summary_of, warnings_of
from paritas.report.moon_command import main
from paritas.report.moon_spherical import spherical
from test_losscone_products import table
from test_report import Outline

SECTIONS = [
    *("verdict", "maps", "spherical", "terminator", "regions", "harmonics", "series", "quality", "tables"),
    "again",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of two days, with positions along an orbit."""
    at = tmp_path_factory.mktemp("moon")
    er, truth = synthesize(at / "er", "--days", 2, "--sweeps", 60, "--plasma", "--seed", 4)
    lines = open(truth).read().splitlines()
    columns = "projection_longitude,projection_latitude,projection_in_sun"
    rows = [f"{lines[0]},{columns}"]
    for k, line in enumerate(lines[1:]):
        rows.append(f"{line},{(7 * k) % 360},{80.0 * np.sin(0.3 * k):.3f},{k % 2}")
    (at / "geometry.csv").write_text("\n".join(rows) + "\n")
    run("losscone", "fit", er, "--geometry", at / "geometry.csv", "-o", at / "tables", "--quiet")
    return at


@pytest.fixture
def words_only(monkeypatch):
    """Figures are drawn and not written as SVG, which takes half the time of a page."""
    monkeypatch.setattr(figures, "svg", lambda figure: "")


def test_the_page_has_all_products_and_the_numbers_of_the_functions(folder, tmp_path):
    output = tmp_path / "moon.html"
    arguments = [str(folder / "tables"), "-o", str(output), "--tables", str(tmp_path / "numbers")]
    assert main([*arguments, "--degrees", "30", "--response", "hard", "--lmax", "1", "--block", "0"]) == 0
    page = Outline(output.read_text())
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == SECTIONS
    assert len(page.all("img")) >= 11
    assert "script" not in {tag for tag, _ in page.tags}
    tables = losscone.read_tables(folder / "tables")
    options = {"response": "hard", "block": 0.0}
    found = losscone.surface_map(tables, degrees=30.0, **options)
    for name in ("all", "day", "terminator", "night"):
        read = np.genfromtxt(tmp_path / "numbers" / f"map_{name}.csv", delimiter=",", names=True)
        for column in found[name].dtype.names:
            np.testing.assert_array_equal(read[column], found[name][column])
    sphere = losscone.spherical_harmonics(tables, lmax=1, illumination="night", **options)
    read = np.genfromtxt(tmp_path / "numbers" / "spherical_night.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(read["coefficient"], sphere.table["coefficient"])
    read = np.genfromtxt(
        tmp_path / "numbers" / "spherical_night_covariance.csv", delimiter=",", skip_header=1
    )
    np.testing.assert_array_equal(read[:, 2:], sphere.covariance)
    used = losscone.select(tables, response="hard").used
    words = page.texts["p"][0]
    assert words == f"{used.sum()} good sweeps of 120, from 2 days; model of the instrument: hard."
    assert f"paritas moon {folder / 'tables'}" in page.texts["pre"][-1]


@pytest.mark.usefixtures("words_only")
def test_a_page_of_one_plasma_has_its_sweeps_alone_and_says_so(folder, tmp_path):
    tables = losscone.read_tables(folder / "tables")
    page = moon_report(tables, region="solar wind", block=0.0, lmax=0)
    warm = tables["temperature"] < 30.0
    assert 0 < warm.sum() < 120 and len(page.products.selection.table) == warm.sum()
    assert (page.products.selection.table["spectrum"] == tables["spectrum"][warm]).all()
    assert "good sweeps, solar wind; model" in page.html
    assert f"of {warm.sum()} of the solar wind, from" in page.html
    with pytest.raises(
        paritas.InvalidArgument, match="region 'sea': there are solar wind, magnetosheath, lobe, plasma sheet"
    ):
        moon_report(tables, region="sea")


def test_a_page_needs_a_fifth_of_the_columns(folder):
    whole, some = (losscone.read_tables(folder / "tables", columns=one) for one in (None, COLUMNS))
    assert some.sweeps.itemsize < 0.25 * whole.sweeps.itemsize and some.rows is None
    for name in some.sweeps.dtype.names:
        assert equal(some[name], whole[name])
    one, other = (products_of(tables, block=0.0, lmax=1) for tables in (whole, some))
    for left, right in zip(one.spherical.values(), other.spherical.values()):
        assert equal(left.table, right.table)
    assert equal(one.surface_map["all"], other.surface_map["all"])


@pytest.mark.usefixtures("words_only")
def test_harmonics_with_a_ridge_say_so():
    rows = table(1500, days=90.0)
    half = rows[rows["projection_longitude"] < 170.0]
    made = products_of(losscone.Tables(half, None, [{}]), block=0.0, lmax=8)
    assert made.spherical["night"].ridge == made.spherical["day"].ridge == 0.1
    assert "local time" in made.spherical and made.spherical["local time"].ridge == 0.0
    assert ", ridge 0.1" in spherical(made)
    told = (
        "The sweeps do not determine all spherical harmonics of night and day: a ridge of 0.1 pulls them "
        "towards 0."
    )
    assert told in warnings_of(made)
    made = products_of(losscone.Tables(half, None, [{}]), block=2.0, lmax=30)
    assert not made.spherical and "Not shown: night: the data determine" in spherical(made)


@pytest.mark.usefixtures("words_only")
def test_without_positions_the_page_says_what_is_missing(folder, tmp_path, capsys):
    run("losscone", "fit", folder / "er", "--polarity=-1", "--day", "16", "-o", tmp_path, "--quiet")
    page = moon_report(tmp_path)
    assert page.converged and page.products.surface_map is None and page.products.harmonics
    # maps, profile, three spherical harmonics
    assert page.html.count("give the fits a table of geometry") == 5
    assert any(
        told.startswith("No used sweep has a place (projection_longitude")
        for told in warnings_of(page.products)
    )
    assert main([str(tmp_path), "-o", str(tmp_path / "y.html")]) == 0
    assert "no used sweep has a place" in capsys.readouterr().err


@pytest.mark.usefixtures("words_only")
def test_what_is_empty_or_not_made_is_told(folder, tmp_path, capsys):
    tables = losscone.read_tables(folder / "tables")
    tables.sweeps["projection_latitude"], tables.sweeps["projection_in_sun"] = 89.0, np.nan
    page = moon_report(tables, region="solar wind")
    assert "day: all used sweeps are within 10 degrees of the terminator." in page.html
    assert "no sweep has projection_in_sun, which tells" in page.html
    assert len(page.products.tables.sweeps) == (tables["temperature"] < 30.0).sum() > 0
    told = summary_of(page, "y.html", "numbers")
    assert told.startswith("page in y.html, 12 tables in numbers; empty: map_day, map_night, series_day, ")
    assert "; not made, the page says why: regions, " in told
    assert main([str(folder / "tables"), "-o", str(tmp_path / "y.html"), "--lmax", "0"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"page in {tmp_path / 'y.html'}") and said.count("\n") == 1


def test_a_region_without_sweeps_is_named_and_keeps_the_model(folder):
    tables = losscone.read_tables(folder / "tables")
    tables.sweeps["preferred"] = "folded"
    for name in ("temperature", "plasma_temperature"):
        tables.sweeps[name] = np.nan
    made = products_of(tables, region="plasma sheet")
    assert not len(made.tables.sweeps) and made.selection.response == "folded"
    assert any(
        told.startswith("No sweep has the temperature of the plasma sheet") for told in warnings_of(made)
    )


def test_all_sweeps_can_be_asked_for_and_the_page_says_so(folder):
    tables = losscone.read_tables(folder / "tables")
    names = tables.sweeps.dtype.names
    for name, word in (("quality", "good"), ("quality_folded", "good"), ("good", 1), ("status", "fitted")):
        if name in names:
            tables.sweeps[name] = word
            tables.sweeps[name][:10] = 0 if word == 1 else "misfit"
    tables.sweeps["potential"][:10] = -50.0
    good, whole = (products_of(tables, good=good, response="hard") for good in (True, False))
    fitted = np.isfinite(tables["potential"])
    assert (whole.selection.used == fitted).all() and good.selection.used.sum() == fitted.sum() - 10
    told = "Sweeps of any quality are used, because all were asked for."
    assert told in warnings_of(whole) and told not in warnings_of(good)
    without = "The tables have no column `quality`: every sweep with status `fitted` counts as good."
    assert (without in warnings_of(good)) == ("quality" not in names)


@pytest.mark.usefixtures("words_only")
def test_a_table_without_potentials_has_a_page_that_says_so(folder, tmp_path, recwarn):
    run("kappa", "fit", folder / "er", "--polarity=-1", "--day", "16", "-o", tmp_path, "--quiet")
    page = moon_report(tmp_path)
    assert not page.converged and not len(recwarn)
    assert "No sweep is used, so no number on this page can be quoted." in page.html


def test_exit_codes(folder, tmp_path, capsys, monkeypatch):
    tables = str(folder / "tables")
    assert main([str(tmp_path)]) == 3 and "there is no table, losscone_" in capsys.readouterr().err
    for option, value, reason in (
        ("--degrees", "0.01", "degrees 0.01: a cell's size from 0.5 to 90"),
        ("--block", "-1", "block -1.0: hours from 0 are wanted"),
        ("--response", "soft", "invalid choice: 'soft'"),
        ("--lmax", "99", "lmax 99: a degree from 0 to 40"),
        ("--region", "sea", "invalid choice: 'sea'"),
    ):
        assert main([tables, option, value]) == 2 and reason in capsys.readouterr().err
    assert main([tables, "-o", str(tmp_path)]) == 5 and "it is a folder" in capsys.readouterr().err
    nowhere = tmp_path / "nowhere"
    assert main([tables, "-o", str(nowhere / "y.html")]) == 5
    assert f"there is no folder {nowhere}; make it first" in capsys.readouterr().err
    copies = shutil.copytree(tables, tmp_path / "copies")
    name, link = copies / "losscone_1998-01-16.csv", tmp_path / "page.html"
    link.symlink_to(name)
    for source, page in ((copies, name), (name, name), (copies, link)):
        assert (
            main([str(source), "-o", str(page)]) == 2
            and "the command reads that file" in capsys.readouterr().err
        )
    assert name.read_bytes() == (folder / "tables" / name.name).read_bytes()
    unused = losscone.read_tables(tables)
    unused.sweeps["potential"] = unused.sweeps["potential_folded"] = np.nan
    made = products_of(unused)
    monkeypatch.setattr(moon_command, "moon_report", lambda *_, **__: MoonPage("page", made))
    capsys.readouterr()
    assert main([tables, "-o", str(tmp_path / "y.html")]) == 1
    assert capsys.readouterr().err == "paritas moon: no sweep is used; the page says why\n"
    assert main([tables, "-o", str(tmp_path / "y.html"), "--tables", str(tmp_path / "y.html")]) == 5
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
    help_text = subprocess.run(
        [sys.executable, "-m", "paritas", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search("moon +one HTML page from tables of loss cones", help_text)
