"""Day files as they come from archives and interrupted downloads: what is read, what is said of it, and that
a sweep counts once."""

import gzip
import json
import os
import resource
import shutil
import signal
import subprocess

import numpy as np
import pytest

from lossconefiles import PROGRAM, arrays, bytes_of, days, fit, GIVEN, read_csv, run, tables

NAME = "3D980116.TAB"
TABLE = "losscone_1998-01-16.csv"


def rows_of(days, name=NAME):
    return [line.split() for line in (days / name).read_text().splitlines()]


def text_of(rows):
    return "\n".join(" ".join(row) for row in rows) + "\n"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def body(path):
    """A table without its provenance."""
    return [line for line in path.read_text().splitlines() if not line.startswith("# ")]


# ---- 60 damaged files and folders ----


def fields(first, value, last=None):
    """Sets the fields first to last (from 1) of every row."""
    return lambda rows: [
        [value if first <= k <= (last or first) else field for k, field in enumerate(row, 1)] for row in rows
    ]


def each(change):
    return lambda rows: [change(k, row) for k, row in enumerate(rows)]


def later(row, seconds):
    return [row[0], str(float(row[1]) + seconds), *row[2:]]


def renumbered(rows):
    return [[*row[:3], str(int(row[3]) - 1), *row[4:]] for row in rows]


#: changes of the rows of a file, exit code, words of the answer
ROWS = {
    "no rows": (lambda rows: [], 3, "there are no rows"),
    "182 fields": (each(lambda k, row: row[:-1]), 3, "line 1: 182 fields instead of 183"),
    "184 fields": (each(lambda k, row: [*row, "0"]), 3, "line 1: 184 fields instead of 183"),
    "one short row": (lambda rows: [rows[0][:99], *rows[1:]], 0, "row_missing 1 row, field_count 1 row"),
    "no times": (
        fields(1, "today"),
        3,
        "no cell has a flux; the most frequent reason is bad_utc, in 30 rows",
    ),
    "day 32": (fields(1, "1998-01-32T00:00:00"), 3, "bad_utc, in 30 rows, first in line 1"),
    "clock not set": (fields(2, "0.000"), 3, "epoch, in 30 rows"),
    "clock not set, text": (fields(1, "1970-01-01T00:00:00"), 3, "epoch, in 30 rows"),
    "words for energies": (fields(3, "high"), 3, "number, in 30 rows, first in line 1"),
    "one word": (lambda rows: [[*rows[0][:9], "x", *rows[0][10:]], *rows[1:]], 0, "number 1 row"),
    "energies of 0": (fields(3, "0.0"), 3, "energy, in 30 rows"),
    "negative energies": (fields(3, "-40.0"), 3, "energy, in 30 rows"),
    "infinite energies": (fields(3, "1e999"), 3, "number, in 30 rows"),
    "not a number": (fields(3, "nan"), 3, "number, in 30 rows"),
    "fractions of spectra": (fields(4, "1.5"), 3, "number, in 30 rows"),
    "negative spectra": (fields(4, "-1"), 3, "number, in 30 rows"),
    "one spectrum": (fields(4, "1"), 3, "too_many_rows, in 1 sweep, first in line 16"),
    "no field": (fields(5, "0.0", 7), 3, "field, in 2 sweeps"),
    "a field of 10000 nT": (fields(5, "10000.0", 7), 3, "field, in 2 sweeps"),
    "fluxes missing": (fields(8, "9.999E-99", 95), 3, "flux_missing, in 2640 cells"),
    "fluxes in error": (fields(8, "-9.99E-99", 95), 3, "flux_error, in 2640 cells"),
    "negative fluxes": (fields(8, "-1.0E+03", 95), 3, "flux_negative, in 2640 cells"),
    "no counts": (fields(8, "0.0", 95), 3, "no_counts, in 2640 cells"),
    "azimuths missing": (fields(96, "999.99", 183), 3, "azimuth_missing, in 2640 cells"),
    "azimuths in error": (fields(96, "998.99", 183), 3, "azimuth_error, in 2640 cells"),
    "azimuths of 720 degrees": (fields(96, "720.0", 183), 3, "azimuth_range, in 2640 cells"),
    "energies out of order": (lambda rows: rows[1:3] + rows[:1] + rows[3:], 0, "energy_order 1 sweep"),
    "rows twice": (lambda rows: rows + rows[:5], 0, "duplicate 5 rows"),
    "a sweep of 16 rows": (
        lambda rows: rows[:15] + [[*rows[14][:2], "20000", *rows[14][3:]]] + rows[15:],
        0,
        "too_many_rows 1 sweep",
    ),
    "a number used again": (lambda rows: rows[:29] + [later(rows[29], 9000.0)], 0, "time_span 1 sweep"),
    "rows of two days": (
        lambda rows: rows[:15] + [later(row, 172800.0) for row in rows[15:]],
        0,
        f"{NAME}: 1 of its sweeps are of other days",
    ),
}

#: changes of the bytes of a file
BYTES = {
    "empty": (lambda text: b"", 3, "there are no rows"),
    "blank lines": (lambda text: b"\n \n\t\n", 3, "there are no rows"),
    "noise": (lambda text: bytes((k * k + k // 7) % 251 for k in range(9000)), 3, "this is no day file"),
    "zeros": (lambda text: bytes(5000), 3, "this is no day file"),
    "a web page": (
        lambda text: b"<!DOCTYPE html>\n<html>404 Not Found</html>\n",
        3,
        "2 fields instead of 183",
    ),
    "a label": (lambda text: b"PDS_VERSION_ID = PDS3\nEND\n", 3, "3 fields instead of 183"),
    "commas": (lambda text: text.replace(b" ", b","), 3, "line 1: 1 fields instead of 183"),
    "UTF-16": (lambda text: text.decode().encode("utf-16"), 3, "bad_utc, in 30 rows"),
    "one endless line": (lambda text: text.replace(b"\n", b" ") * 20, 3, "line 1: "),
    "lines of other systems": (lambda text: text.replace(b"\n", b"\r\n"), 0, "sweeps: fitted 2\n"),
    "exponents of Fortran": (
        lambda text: text.replace(b"E+", b"D+").replace(b"E-", b"D-"),
        0,
        "sweeps: fitted 2\n",
    ),
    "cut within a row": (lambda text: text[:-500], 0, "file_cut 1 row"),
    "cut within a number": (lambda text: text[:-3], 0, "file_cut 1 row"),
    "cut at a row": (lambda text: text[: text.rindex(b"\n", 0, -1) + 1], 0, "row_missing 1 row"),
    "compressed": (gzip.compress, 0, "sweeps: fitted 2\n"),
    "compressed in parts": (
        lambda text: gzip.compress(text[:999]) + gzip.compress(text[999:]),
        0,
        "fitted 2\n",
    ),
    "compressed and cut": (lambda text: gzip.compress(text)[:-3000], 0, "file_cut 1 row"),
    "compressed, without its end": (lambda text: gzip.compress(text)[:-4], 0, "file_cut 1 row"),
    "compressed and cut at once": (lambda text: gzip.compress(text)[:15], 3, "there are no rows"),
    "compressed and damaged": (
        lambda text: (lambda z: z[:2000] + bytes([z[2000] ^ 64]) + z[2001:])(gzip.compress(text)),
        3,
        "the compressed data are damaged",
    ),
    "compressed, another sum": (
        lambda text: (lambda z: z[:-8] + bytes([z[-8] ^ 1]) + z[-7:])(gzip.compress(text)),
        3,
        "the compressed data are damaged",
    ),
    "compressed, with zeros behind": (lambda text: gzip.compress(text) + bytes(512), 0, "sweeps: fitted 2\n"),
    "compressed, with words behind": (
        lambda text: gzip.compress(text) + b"more",
        3,
        "the compressed data are damaged",
    ),
    "compressed words": (lambda text: gzip.compress(b"no day\n"), 3, "line 1: 2 fields instead of 183"),
}


@pytest.fixture(scope="module")
def two(days):
    """Two sweeps."""
    return rows_of(days)[:30]


def assert_answer(arguments, code, words):
    done = run("losscone", "fit", *arguments, *GIVEN)
    assert done.returncode == code and words in done.stdout + done.stderr, (done.stdout, done.stderr)
    if code == 3:
        assert NAME in done.stderr, done.stderr


@pytest.mark.parametrize("case", ROWS)
def test_what_is_wrong_with_rows_is_said(two, tmp_path, case):
    change, code, words = ROWS[case]
    assert_answer([write(tmp_path / NAME, text_of(change(two))), "-o", tmp_path / "t"], code, words)
    assert (tmp_path / "t" / TABLE).exists() == (code == 0)


@pytest.mark.parametrize("case", BYTES)
def test_what_is_wrong_with_bytes_is_said(two, tmp_path, case):
    change, code, words = BYTES[case]
    assert_answer([write(tmp_path / NAME, change(text_of(two).encode())), "-o", tmp_path / "t"], code, words)
    assert (tmp_path / "t" / TABLE).exists() == (code == 0)


#: what lies beside the file, further options, exit code, words. {d}: the folder
FOLDERS = {
    "nothing": ({}, ["{d}/no"], 3, "/no: "),
    "an empty folder": ({"e/x.txt": b""}, ["{d}/e"], 3, "there is no day file (3DYYMMDD.TAB)"),
    "another year": (
        {},
        ["{d}/" + NAME, "--year", 1999],
        3,
        "there is no day file (3DYYMMDD.TAB) of year 1999",
    ),
    "a file that is no day": ({"x.txt": b"words\n"}, ["{d}/x.txt"], 3, "x.txt: no row begins with a time"),
    "strict and cut": ({"c.TAB": "cut"}, ["{d}/c.TAB", "--strict"], 3, "the file ends within this row"),
    "87 inclinations": (
        {"theta.tab": b"11.25 " * 87},
        ["{d}/" + NAME, "--theta", "{d}/theta.tab"],
        3,
        "theta.tab",
    ),
    "words for inclinations": (
        {"theta.tab": b"north"},
        ["{d}/" + NAME, "--theta", "{d}/theta.tab"],
        3,
        "theta.tab: line 1",
    ),
    "no inclinations": ({}, ["{d}/" + NAME, "--theta", "{d}/theta.tab"], 3, "theta.tab: No such file"),
    "a table without a key": (
        {"g.csv": b"polarity\n1\n"},
        ["{d}/" + NAME, "--geometry", "{d}/g.csv"],
        3,
        "g.csv: line 1",
    ),
    "a table with a word": (
        {"g.csv": b"spectrum,polarity\n1,up\n"},
        ["{d}/" + NAME, "--geometry", "{d}/g.csv"],
        3,
        "g.csv: line 2",
    ),
    "a table with a key twice": (
        {"g.csv": b"spectrum,polarity\n1,1\n1,1\n"},
        ["{d}/" + NAME, "--geometry", "{d}/g.csv"],
        3,
        "g.csv: line 3",
    ),
    "a cut table": (
        {"g.csv": gzip.compress(b"spectrum\n1\n2\n")[:-9]},
        ["{d}/" + NAME, "--geometry", "{d}/g.csv"],
        3,
        "g.csv: the gzip file ends too early",
    ),
    "output over a file": ({"o": b""}, ["{d}/" + NAME, "-o", "{d}/o"], 5, "o: is no folder"),
    "output below a file": ({"o": b""}, ["{d}/" + NAME, "-o", "{d}/o/p/q"], 5, "o/p: cannot be made"),
    "a foreign table": (
        {"t/" + TABLE: b"a,b\n"},
        ["{d}/" + NAME],
        3,
        "is no table of paritas; --overwrite replaces the file",
    ),
    "a table cut in its provenance": (
        {"t/" + TABLE: b'# {\n#   "paritas": "0.1'},
        ["{d}/" + NAME],
        3,
        "ends inside a string; --overwrite replaces the file",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_what_is_wrong_with_folders_and_tables_is_said(two, tmp_path, case):
    beside, arguments, code, words = FOLDERS[case]
    write(tmp_path / NAME, text_of(two))
    for name, content in beside.items():
        write(tmp_path / name, text_of(two)[:-500] if content == "cut" else content)
    arguments = [str(one).replace("{d}", str(tmp_path)) for one in arguments]
    if "-o" not in arguments:
        arguments += ["-o", tmp_path / "t"]
    done = run("losscone", "fit", *arguments, *GIVEN)
    assert done.returncode == code and words in done.stderr, done


# ---- a sweep counts once ----

#: files of the day beside the whole one, as changes of its rows; words of the note
BESIDE = {
    "cut copy before": ("1.TAB", lambda rows: text_of(rows)[:90000], "3D980116.TAB: "),
    "cut copy behind": ("4.TAB", lambda rows: text_of(rows)[:90000], "4.TAB: "),
    "second half": ("4.TAB", lambda rows: text_of(rows[60:]), "4.TAB: 4 of its sweeps are in "),
    "half with other numbers": (
        "4.TAB",
        lambda rows: text_of(renumbered(rows[60:])),
        "4.TAB: 4 of its sweeps are in ",
    ),
    "compressed copy": (
        "4.TAB",
        lambda rows: gzip.compress(text_of(rows).encode()),
        "4.TAB: 8 of its sweeps are in ",
    ),
    "older version": (
        "4.TAB",
        lambda rows: text_of([[*row[:7], "1.000E+05", *row[8:]] for row in rows[:30]]),
        "4.TAB: 2 of its sweeps have other data",
    ),
}


@pytest.mark.parametrize("case", BESIDE)
def test_a_sweep_in_two_files_counts_once_and_is_noted(days, tables, tmp_path, case):
    name, make, words = BESIDE[case]
    write(tmp_path / "d" / NAME, text_of(rows_of(days)))
    write(tmp_path / "d" / name, make(rows_of(days)))
    for _ in range(2):  # made, then kept
        done = run("losscone", "fit", *sorted((tmp_path / "d").iterdir()), "-o", tmp_path / "t", *GIVEN)
        assert done.returncode == 0 and words in done.stderr, done
    assert body(tmp_path / "t" / TABLE) == body(tables / TABLE)


def test_parts_of_a_day_keep_their_numbers(days, tables, tmp_path):
    rows = rows_of(days)
    write(tmp_path / "d" / "a" / NAME, text_of(rows[:60]))
    write(tmp_path / "d" / "b" / NAME, text_of(rows[60:]))
    done = run("losscone", "fit", tmp_path / "d", "-o", tmp_path / "t", *GIVEN)
    assert (done.returncode, done.stderr) == (0, "")
    assert body(tmp_path / "t" / TABLE) == body(tables / TABLE)


def test_numbers_that_are_used_twice_are_shifted_and_it_is_noted(days, tmp_path):
    rows = rows_of(days)
    again = [[*row[:3], str(int(row[3]) - 4), *row[4:]] for row in rows[60:]]
    write(tmp_path / "a.TAB", text_of(rows[:60]))
    write(tmp_path / "b.TAB", text_of(again))
    done = run("losscone", "fit", tmp_path / "a.TAB", tmp_path / "b.TAB", "-o", tmp_path / "t", *GIVEN)
    assert done.returncode == 0 and "b.TAB: 5 is added to its spectrum numbers" in done.stderr
    provenance, table = read_csv(tmp_path / "t" / TABLE)
    assert [row["spectrum"] for row in table] == ["1", "2", "3", "4", "6", "7", "8", "9"]
    assert [one.get("added_to_numbers") for one in provenance["inputs"]] == [None, 5]


def test_rows_decide_the_date_against_the_name(days, tables, tmp_path):
    wrong = tmp_path / "d" / "3D980120.TAB"
    write(wrong, (days / NAME).read_bytes())
    for options, dates in (((), ["1998-01-16"]), (("--day", 16), ["1998-01-16"])):
        done = run("losscone", "fit", tmp_path / "d", "-o", tmp_path / "t", *GIVEN, *options, "--json")
        assert [day["date"] for day in json.loads(done.stdout)["days"]] == dates
        assert f"{wrong}: its rows are of 1998-01-16, not of 1998-01-20 as its name says" in done.stderr
    assert bytes_of(tmp_path / "t").keys() == {TABLE, TABLE.replace("csv", "npz")}
    assert run("losscone", "fit", tmp_path / "d", "-o", tmp_path / "t", *GIVEN, "--day", 20).returncode == 3
    shutil.copy(wrong, tmp_path / "d" / NAME)
    done = run("losscone", "fit", tmp_path / "d", "-o", tmp_path / "t", *GIVEN, "--json")
    assert json.loads(done.stdout)["days"][0]["sweeps"] == 8 and "is a copy of" in done.stderr


def test_a_day_that_begins_before_midnight_keeps_its_name(days, tmp_path):
    rows = rows_of(days)
    rows[0][0] = "1998-01-15T23:59:59"
    write(tmp_path / NAME, text_of(rows))
    assert [day["date"] for day in fit(tmp_path, tmp_path / "t")["days"]] == ["1998-01-16"]


# ---- tables ----


def test_compressed_files_and_fortrans_exponents_give_the_same_numbers(days, tables, tmp_path):
    text = (days / NAME).read_bytes().replace(b"E+", b"D+").replace(b"E-", b"d-")
    write(tmp_path / "d" / "1998" / "3D980116.TAB.gz", gzip.compress(text))
    assert [day["sweeps"] for day in fit(tmp_path / "d", tmp_path / "a" / "b" / "c")["days"]] == [8]
    assert body(tmp_path / "a" / "b" / "c" / TABLE) == body(tables / TABLE)


def test_units_stand_in_the_header_and_arrays_hold_every_column(tables):
    provenance, rows = read_csv(tables / TABLE)
    found = arrays(tables / TABLE.replace("csv", "npz"))
    assert list(provenance["columns"]) == list(rows[0])
    assert {name: provenance["columns"][name] for name in ("potential", "beam_energy", "time", "ratio")} == {
        "potential": "V",
        "beam_energy": "eV",
        "time": "s",
        "ratio": "",
    }
    lines = (tables / TABLE).read_text().splitlines()
    assert '#     "potential_folded": "V",' in lines  # a line a column
    for name in rows[0]:
        values, words = found[f"spec_{name}"], [row[name] for row in rows]
        assert len(values) == len(rows), name
        if values.dtype.kind == "f" and values.ndim == 1:
            assert np.array_equal(values, [float(word) if word else np.nan for word in words], equal_nan=True)
        elif values.dtype.kind == "U":
            assert list(values) == words, name


def test_ends_of_sets_are_decimals(days, tmp_path):
    fit(days, tmp_path / "t", "--step", "0.1", "--response", "folded", "--method", "halekas")
    ends = [
        end
        for table in sorted((tmp_path / "t").glob("*.csv"))
        for row in read_csv(table)[1]
        for end in row["confidence_set"].replace(";", " ").split()
        if end not in (row["potential_lower"], row["potential_upper"])
    ]
    assert len(ends) >= 4 and all(len(end.partition(".")[2]) <= 1 for end in ends), ends


def test_a_full_disk_leaves_neither_table(days, tables, tmp_path):
    sizes = {name.rpartition(".")[2]: len(content) for name, content in bytes_of(tables).items()}
    assert sizes["csv"] < sizes["npz"]

    def small_files(limit):
        def set_limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return set_limit

    for limit in (sizes["csv"] // 2, (sizes["csv"] + sizes["npz"]) // 2):
        folder = tmp_path / str(limit)
        done = subprocess.run(
            [PROGRAM, *map(str, ["losscone", "fit", days, "-o", folder, *GIVEN])],
            capture_output=True,
            text=True,
            preexec_fn=small_files(limit),
            env={"PARITAS_DEVICE": "cpu", **os.environ},
        )
        assert (
            done.returncode == 5
            and "losscone_1998-01-16" in done.stderr
            and "cannot be written" in done.stderr
        )
        assert os.listdir(folder) == []
