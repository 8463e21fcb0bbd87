"""Day files, geometry and tables from Python: what is read is what stands there, and what is wrong is
named."""

import gc
import gzip
import re
import shutil

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from losscone_support import equal, run, synthesize
from paritas import losscone


def made(n=3):
    """A day of n sweeps, filled by hand: fluxes count up, so that every cell is another."""
    day = losscone.Day.empty(n)
    k = np.arange(n)[:, None]
    day.time[:] = 884908800.0 + 80.0 * k + 2.5 * np.arange(15)
    day.energy[:] = np.geomspace(40.0, 16000.0, 15)
    day.field[:] = [1.0, -2.0, 5.0]
    day.flux[:] = 1000.0 + np.arange(n * 15 * 88).reshape(n, 15, 88)
    day.azimuth[:] = (4.0 * np.arange(88) + 7.5 * np.arange(15)[:, None]) % 360.0
    return day


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "3D980116.TAB"
    made().write(path, exact=True)
    return path


def test_a_day_that_was_written_reads_back_to_the_same_bits(file):
    day, day_made = losscone.Day.read(file, digest=True), made()
    assert all(
        equal(getattr(day, name), getattr(day_made, name))
        for name in ("time", "energy", "field", "flux", "azimuth")
    )
    assert (
        day.date == 19980116
        and len(day) == 3
        and day.counts == {}
        and day.digest.startswith("sha256:")
        and day.utc[0] == b"1998-01-16T00:00:00"
    )
    other = losscone.Day.parse(file.read_bytes(), "text")
    assert equal(day.flux, other.flux) and equal(day.sweeps, other.sweeps) and other.digest == ""
    assert (
        losscone.find(file.parent) == [(str(file), 19980116)]
        and losscone.utc(884908800.9) == "1998-01-16T00:00:00"
    )


def test_arrays_are_views_that_keep_the_day_alive(file):
    day = losscone.Day.read(file)
    flux, before = day.flux, day.flux.copy()
    day.spacecraft_potential[:] = 3.0
    assert (day.sweeps["spacecraft_potential"] == 3.0).all() and not flux.flags.owndata
    del day
    gc.collect()
    assert equal(flux, before)


def test_damage_costs_its_row_and_has_a_reason(file):
    lines = file.read_text().splitlines()
    second = lines[1].split()
    second[7], second[96] = "9.999E-99", "999.99"
    bad = lines[22].split()
    bad[2] = "much"
    lines[1], lines[20], lines[22] = " ".join(second), " ".join(lines[20].split()[:100]), " ".join(bad)
    day = losscone.Day.parse("\n".join(lines) + "\n", "damaged")
    assert day.counts["flux_missing"] == losscone.Count(1, "cell", 2, 8) and day.counts["azimuth_missing"][
        :3
    ] == (1, "cell", 2)
    assert (
        sorted(day.rows["reason"].ravel().tolist()).count("kept") == 43
        and day.sweeps["rows"].tolist()[0] == 15
    )
    damaged = day.rows[1][day.rows[1]["reason"] != "kept"]
    # of a short row the spectrum is not known
    assert damaged["reason"].tolist() == ["row_missing", "number"] and np.isnan(damaged["energy"]).all()
    assert day.counts["field_count"] == (1, "row", 21, 0) and day.counts["number"] == (1, "row", 23, 3)
    assert np.isnan(day.flux[0, 1, 0])
    with pytest.raises(paritas.InvalidInput, match="damaged.*21"):
        losscone.Day.parse("\n".join(lines) + "\n", "damaged", strict=True)


def test_geometry_is_given_to_the_sweeps_that_the_table_has(file, tmp_path):
    table = tmp_path / "geometry.csv"
    table.write_text(
        "spectrum,date,polarity,spacecraft_potential,sun_azimuth,sun_elevation\n"
        "1,1998-01-16,1,4.5,10,0\n3,1998-01-16,-1,,,\n"
    )
    day = losscone.Day.read(file)
    assert (
        day.apply(table) == 2
        and losscone.Geometry(table).has("polarity")
        and not losscone.Geometry(table).has("altitude")
    )
    assert equal(day.polarity[:, 0], np.array([1.0, np.nan, -1.0])) and day.spacecraft_potential[0] == 4.5
    day.mask_sunlight(14.0)
    day.mask_polarity()
    assert (
        day.counts["polarity"].times == 15
        and day.counts["sunlight"].times > 0
        and day.counts["sunlight"].unit == "cell"
    )
    sweeps = losscone.load(file, geometry=table, spacecraft_potential=table)
    fit = losscone.fit(sweeps, response="hard")
    assert fit["status"].tolist()[1:] == ["polarity", "no_spacecraft_potential"] and fit[
        "spectrum"
    ].tolist() == [1, 2, 3]


def test_lines_along_the_field_meet_the_moon():
    point, polarity, latitude, longitude = losscone.footpoint([2000.0, 0.0, 0.0], [-1.0, 0.0, 0.0])
    assert (
        polarity == 1 and (latitude, longitude) == (0.0, 0.0) and point == pytest.approx([1737.4, 0.0, 0.0])
    )
    assert (
        losscone.footpoint([0.0, 0.0, 2000.0], [0.0, 0.0, 3.0])[1] == -1
        and losscone.footpoint([2000.0, 0.0, 0.0], [0.0, 1.0, 0.0])[1] == 0
    )
    axes = losscone.despun_axes(30.0, -80.0, [1.0, 2.0, 0.5])
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-14)
    assert losscone.solid_angles(losscone.theta()).sum() == pytest.approx(4 * np.pi, rel=1e-6)


def test_the_spin_axis_is_interpolated(tmp_path):
    table = tmp_path / "attitude.tab"
    table.write_text("1998-01-16T00:00:00,12.0,350.0,-80.0\n1998-01-16T01:00, 12.000, 10.00, -82.00\r\n")
    attitude = losscone.Attitude(table)  # the archive has no seconds
    ascension, declination = attitude.at(attitude.time[0] + np.array([0.0, 1800.0, 7200.0]))
    np.testing.assert_allclose(ascension, [350.0, 0.0, np.nan], atol=1e-9)
    np.testing.assert_allclose(declination, [-80.0, -81.0, np.nan])


def test_records_of_the_magnetometer_tell_polarity_and_light(file, tmp_path):
    """Both frames the same: the Sun stands over longitude 0. The spacecraft is over longitude 180, the field
    points down during the first two sweeps, up during the third."""
    path = tmp_path / "MA980116.TAB"
    with open(path, "w") as records:
        for k in range(60):
            field = f"{5.0 if 5 * k < 150 else -5.0:9.3f}   1.000   2.000"
            position = f"{-1838.0:10.2f}     0.00     0.00"
            time = f" 1998-01-16T00:{k // 12:02}:{5 * k % 60:02} 16.0"
            records.write(f"{time}{field}{field}    0.100{position}{position}  1\n")
        records.write("no record\n")
    records = losscone.Magnetometer(path)
    assert records.field.shape == (60, 3) and records.position[0, 0] == -1838.0 and records.skipped == 1
    day = losscone.Day.read(file)
    fields = day.apply_mag(records)
    assert np.array_equal(day.polarity[:, 0], [1.0, 1.0, -1.0])
    assert (day.spacecraft_in_sun == 0.0).all() and (day.projection_in_sun == 0.0).all()
    assert np.allclose(day.spacecraft_longitude, 180.0) and np.allclose(day.spacecraft_latitude, 0.0)
    assert np.allclose(fields[[0, 2]], [[5.0, 1.0, 2.0], [-5.0, 1.0, 2.0]])
    sweeps = losscone.load(file, mag=path, spacecraft_potential=0.0)
    assert equal(sweeps.days[0].polarity, day.polarity)
    with pytest.raises(paritas.InvalidInput, match="this is no file of the magnetometer"):
        losscone.Magnetometer(file)


def test_compressed_files_and_exponents_of_fortran_are_read(file, tmp_path):
    plain = losscone.Day.read(file)
    text = file.read_bytes().replace(b"e+", b"D+").replace(b"e-", b"D-")
    packed = tmp_path / "other.gz"
    packed.write_bytes(gzip.compress(text))
    assert equal(losscone.Day.read(packed).flux, plain.flux)


@pytest.mark.parametrize("cut_first", [True, False])
def test_sweeps_of_a_cut_copy_count_once(file, tmp_path, cut_first):
    cut = tmp_path / "cut.TAB"
    cut.write_bytes(
        b"".join(file.read_bytes().splitlines(keepends=True)[:20])
    )  # of the second sweep five rows
    files = [cut, file] if cut_first else [file, cut]
    with pytest.warns(UserWarning, match="2 of its sweeps are in .* too and count once"):
        sweeps = losscone.load(files, polarity=-1, spacecraft_potential=0.0)
    assert sweeps.days[0].sweeps["rows"].tolist() == [15, 15, 15] and len(sweeps.days) == 1
    assert losscone.fit(sweeps, response="hard")["status"].tolist() == ["fitted"] * 3


def test_days_of_one_date_that_were_read_before_are_joined(file, tmp_path):
    longer = made(5)
    longer.number[:] += 100
    longer.write(tmp_path / "longer.TAB", exact=True)
    later = losscone.Day.read(tmp_path / "longer.TAB")
    with pytest.warns(UserWarning, match="longer.TAB: 3 of its sweeps are in .* too and count once"):
        both = losscone.load([losscone.Day.read(file), later], polarity=-1, spacecraft_potential=0.0)
    assert both.days[0].number.tolist() == [1, 2, 3, 104, 105] and both.parts == [(0, 5, 19980116 << 24)]


def test_spice_that_is_not_there_is_told_of(file, tmp_path):
    table = tmp_path / "attitude.tab"
    table.write_text("1998-01-16T00:00:00,12.0,350.0,-80.0\n1998-01-16T01:00:00,12.0,10.0,-82.0\n")
    with pytest.raises(paritas.DeviceUnavailable):
        losscone.Day.read(file).apply_spice(tmp_path, table, library="libnone.so")
    with pytest.raises(paritas.InvalidArgument, match="spice and attitude"):
        losscone.load(file, spice=tmp_path)


def test_what_is_no_day_file_is_named(tmp_path, file):
    with pytest.raises(paritas.Unreadable, match="none.TAB"):
        losscone.Day.read(tmp_path / "none.TAB")
    with pytest.raises(paritas.InvalidInput, match="poem"):
        losscone.Day.parse("no numbers here\n", "poem")
    with pytest.raises(paritas.InvalidInput, match="has no column polarity"):
        (tmp_path / "g.csv").write_text("spectrum,spacecraft_potential\n1,3\n")
        losscone.load(file, polarity=tmp_path / "g.csv")
    with pytest.raises(paritas.InvalidArgument, match="polarity 2"):
        losscone.load(file, polarity=2)
    with pytest.warns(UserWarning, match="polarity of the field is not known"):
        losscone.load(file, spacecraft_potential=0.0)
    with pytest.raises(paritas.InvalidArgument, match=r"theta: an array of shape \(88,\) is wanted"):
        losscone.solid_angles(np.zeros(87))


# ---- tables ----


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    er, _ = synthesize(folder / "er", "--days", 2, "--sweeps", 4)
    run("losscone", "fit", er, "--polarity=-1", "--spacecraft-potential", 8, "-o", folder / "out", "--quiet")
    return folder / "out"


def test_tables_of_a_folder_are_joined(tables):
    whole, parts = (
        losscone.read_tables(tables),
        [losscone.read_tables(tables / f"losscone_1998-01-{day}.csv") for day in (16, 17)],
    )
    assert (
        len(whole) == 8
        and equal(whole.sweeps, np.concatenate([part.sweeps for part in parts]))
        and len(whole.provenance) == 2
    )
    arrays = losscone.read_tables(tables / "losscone_1998-01-16.npz")
    assert (
        arrays.rows.shape == (4, 15)
        and arrays.rows["reason"].shape == (4, 15, 88)
        and equal(arrays.rows["projected_potential"][:, 3], arrays["potential"])
    )
    assert arrays.provenance[0]["answer"]["sweeps"] == 4 and "<table>" in arrays._repr_html_()


def test_what_is_no_table_is_named(tables, tmp_path):
    text = (tables / "losscone_1998-01-16.csv").read_text()
    (tmp_path / "cut.csv").write_text(text[:-200])
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n")
    (tmp_path / "cut.npz").write_bytes((tables / "losscone_1998-01-16.npz").read_bytes()[:5000])
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    wrong = {
        "cut.csv": r"line \d+ has \d+ fields",
        "bare.csv": "no table of the program",
        "cut.npz": "no whole archive",
        "other.npz": "no table of the program",
    }
    for name, words in wrong.items():
        with pytest.raises(paritas.InvalidInput, match=words):
            losscone.read_tables(tmp_path / name)
    with pytest.raises(paritas.Unreadable, match="none.csv"):
        losscone.read_tables(tmp_path / "none.csv")
    with pytest.raises(paritas.Unreadable, match="there is no table"):
        losscone.read_tables(tables.parent)


def test_tables_of_the_same_sweeps_are_refused_and_other_options_told(tables, tmp_path):
    copies = shutil.copytree(tables, tmp_path / "copies")
    assert len(losscone.read_tables(copies)) == len(losscone.read_tables(tables))
    later = copies / "losscone_1998-02-16.csv"
    shutil.copy(copies / "losscone_1998-01-16.csv", later)
    with pytest.raises(
        paritas.InvalidInput, match="02-16.csv: has the sweeps of losscone_1998-01-16.csv again"
    ):
        losscone.read_tables(copies)
    text = later.read_text().replace('"ratio_upper": 1.1', '"ratio_upper": 1.2')
    later.write_text(re.sub('"sha256": "[0-9a-f]{8}', '"sha256": "00000000', text))
    with pytest.warns(UserWarning, match="1 of . tables were made by another version or other options"):
        losscone.read_tables(copies)
