"""Which day files are fitted, which tables are taken as made, and what becomes of damaged files: from
outside."""

import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from lossconefiles import (
    arrays,
    bytes_of,
    fit,
    GIVEN,
    misfits,
    PROGRAM,
    read_csv,
    run,
    spoil,
    synthesize,
    days,
    tables,
)


# ---- which files ----


def test_folders_are_searched_and_filtered_by_date(days, tmp_path):
    deep = tmp_path / "1998" / "016_046JAN"
    deep.mkdir(parents=True)
    shutil.copy(days / "3D980116.TAB", deep / "3d980116.tab")
    shutil.copy(days / "3D980117.TAB", deep / "3D980117.TAB")
    (deep / "3D980116.LBL").write_text("no table")
    assert [day["date"] for day in fit(tmp_path / "1998", tmp_path / "all")["days"]] == [
        "1998-01-16",
        "1998-01-17",
    ]
    assert [
        day["date"]
        for day in fit(tmp_path / "1998", tmp_path / "one", "--year", 1998, "--month", 1, "--day", 17)["days"]
    ] == ["1998-01-17"]
    done = run("losscone", "fit", tmp_path / "1998", "-o", tmp_path / "none", *GIVEN, "--year", 1999)
    assert done.returncode == 3 and "day file" in done.stderr and "1999" in done.stderr


def test_files_named_are_dated_by_their_rows_and_parts_of_a_day_are_one(days, tables, tmp_path):
    lines = (days / "3D980116.TAB").read_text().splitlines(keepends=True)
    for name, part in (("b.txt", lines[:45]), ("c.txt", lines[45:])):
        (tmp_path / name).write_text("".join(part))
    whole = fit([tmp_path / "c.txt", tmp_path / "b.txt", tmp_path / "b.txt"], tmp_path / "t")
    assert [(day["date"], day["sweeps"]) for day in whole["days"]] == [("1998-01-16", 8)]
    provenance, rows = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")
    assert [entry["file"] for entry in provenance["inputs"]] == ["b.txt", "c.txt"]
    assert [row["misfit"] for row in rows] == [
        row["misfit"] for row in read_csv(tables / "losscone_1998-01-16.csv")[1]
    ]
    assert len({row["spectrum"] for row in rows}) == 8


def test_copies_and_links_are_fitted_once(days, tables, tmp_path):
    data = tmp_path / "d"
    (data / "deep").mkdir(parents=True)
    shutil.copy(days / "3D980116.TAB", data)
    os.symlink(".", data / "loop")
    assert [day["sweeps"] for day in fit(data, tmp_path / "t")["days"]] == [8]
    shutil.copy(days / "3D980116.TAB", data / "deep" / "3d980116.tab")
    done = run("losscone", "fit", data, "-o", tmp_path / "t", *GIVEN, "--json")
    assert (
        done.returncode == 0
        and "deep/3d980116.tab: is a copy of " in done.stderr
        and json.loads(done.stdout)["days"][0]["sweeps"] == 8
    )
    assert (tmp_path / "t" / "losscone_1998-01-16.csv").read_bytes() == (
        tables / "losscone_1998-01-16.csv"
    ).read_bytes()


# ---- resume ----


def test_a_table_that_is_there_answers(days, tables, tmp_path):
    folder = tmp_path / "t"
    shutil.copytree(tables, folder)
    before = {path: os.stat(folder / path).st_mtime_ns for path in os.listdir(folder)}
    again = fit(days, folder)
    assert [day["resumed"] for day in again["days"]] == [True, True] and again["days"][0]["fitted"] == 8
    assert {path: os.stat(folder / path).st_mtime_ns for path in os.listdir(folder)} == before
    (folder / "losscone_1998-01-17.csv").unlink()
    assert [day["resumed"] for day in fit(days, folder)["days"]] == [True, False]
    assert bytes_of(folder) == bytes_of(tables)


def edited(content):
    at = content.rindex(b",fitted,") - 1 if b",fitted," in content else len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


@pytest.mark.parametrize("ending", ["npz", "csv"])
@pytest.mark.parametrize(
    "damage",
    [lambda content: content[: -len(content) // 5], edited, lambda content: content + b"\n"],
    ids=["cut", "edited", "longer"],
)
def test_a_damaged_table_is_made_again(days, tables, tmp_path, ending, damage):
    folder = tmp_path / "t"
    shutil.copytree(tables, folder)
    path = folder / f"losscone_1998-01-17.{ending}"
    path.write_bytes(damage(path.read_bytes()))
    done = run("losscone", "fit", days, "-o", folder, *GIVEN, "--json")
    assert (
        done.returncode == 0
        and f"{path}: is damaged" in done.stderr
        and [day["resumed"] for day in json.loads(done.stdout)["days"]] == [True, False]
    )
    assert bytes_of(folder) == bytes_of(tables)


OTHER = [
    ("method", ["--method", "lillis"]),
    ("response", ["--response", "hard"]),
    ("spacecraft_potential", ["--spacecraft-potential", "11"]),
    ("spacecraft_potential", ["--spacecraft-potential", "auto"]),
    ("polarity", ["--polarity", "+1"]),
    ("potential_lower", ["--potential-lower", "-1000"]),
    ("background", ["--background", "0.1"]),
    ("normalisation", ["--normalisation", "max"]),
    ("box_limit", ["--box-limit", "500"]),
    ("step", ["--step", "2"]),
    ("confidence", ["--confidence", "none"]),
    ("sunlight", ["--sunlight", "10"]),
]


@pytest.mark.parametrize("name, option", OTHER, ids=["_".join(option).strip("-") for _, option in OTHER])
def test_a_table_of_other_options_is_refused_by_their_name(days, tables, tmp_path, name, option):
    folder = tmp_path / "t"
    shutil.copytree(tables, folder)
    before = bytes_of(folder)
    done = run("losscone", "fit", days, "-o", folder, *GIVEN, *option)
    assert (
        done.returncode == 3
        and done.stdout == ""
        and f": {name} is " in done.stderr
        and "--overwrite" in done.stderr
    ), done.stderr
    assert bytes_of(folder) == before


def test_overwrite_replaces_tables_of_other_options(days, tables, tmp_path):
    folder = tmp_path / "t"
    shutil.copytree(tables, folder)
    assert [day["resumed"] for day in fit(days, folder, "--response", "hard", "--overwrite")["days"]] == [
        False,
        False,
    ]
    assert [day["resumed"] for day in fit(days, folder, "--response", "hard", "--overwrite")["days"]] == [
        True,
        True,
    ]
    assert "potential_folded" not in read_csv(folder / "losscone_1998-01-16.csv")[1][0]


def test_other_input_and_what_is_no_table_are_refused(days, tables, tmp_path):
    data, folder = tmp_path / "d", tmp_path / "t"
    shutil.copytree(days, data)
    shutil.copytree(tables, folder)
    lines = (data / "3D980117.TAB").read_text().splitlines(keepends=True)
    (data / "3D980117.TAB").write_text("".join(lines[:-1]))
    done = run("losscone", "fit", data, "-o", folder, *GIVEN)
    assert done.returncode == 3 and "losscone_1998-01-17" in done.stderr and "other files" in done.stderr
    assert bytes_of(folder) == bytes_of(tables)
    (folder / "losscone_1998-01-16.csv").write_text("a,b\n1,2\n")
    (folder / "losscone_1998-01-17.npz").write_bytes(b"PK")
    done = run("losscone", "fit", days, "-o", folder, *GIVEN)
    assert done.returncode == 3 and "no table of paritas" in done.stderr
    fit(days, folder, "--overwrite")
    assert bytes_of(folder) == bytes_of(tables)


def test_a_killed_run_leaves_whole_days_and_is_taken_up_again(tmp_path):
    data, folder, whole = (
        synthesize(tmp_path / "d", "--days", 12, "--sweeps", 40),
        tmp_path / "t",
        tmp_path / "w",
    )
    fit(data, whole)
    running = subprocess.Popen(
        [PROGRAM, "losscone", "fit", str(data), "-o", str(folder), *map(str, GIVEN)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while (
        running.poll() is None
        and time.monotonic() < end
        and not (folder.exists() and any(name.endswith(".npz") for name in os.listdir(folder)))
    ):
        time.sleep(0.001)
    running.send_signal(signal.SIGKILL)
    running.wait()
    wanted, left = bytes_of(whole), bytes_of(folder)
    assert {name: content for name, content in left.items() if name in wanted}.items() <= wanted.items()
    resumed = [day["resumed"] for day in fit(data, folder)["days"]]
    assert (
        resumed[0]
        and {name: content for name, content in bytes_of(folder).items() if name in wanted} == wanted
    )


# ---- damage ----


def test_a_missing_row_shifts_no_other_sweep(days, tables, tmp_path):
    path = spoil(days, tmp_path / "d" / "x.TAB", lambda rows: rows[:20] + rows[21:])
    done = fit(path, tmp_path / "t")
    assert done["days"][0]["reasons"]["row_missing"]["count"] == 1
    before, after = (
        misfits(tables / "losscone_1998-01-16.csv"),
        misfits(tmp_path / "t" / "losscone_1998-01-16.csv"),
    )
    assert {number for number in before if before[number] != after[number]} == {"2"}
    codes = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")[0]["answer"]["reason_codes"]
    z = arrays(tmp_path / "t" / "losscone_1998-01-16.npz")
    assert (
        list(z["spec_row_count"]) == [15, 14] + [15] * 6
        and np.count_nonzero(z["rows_reason"] == codes.index("row_missing")) == 88
    )


def test_sentinels_are_masked_and_counted_cell_by_cell(days, tables, tmp_path):
    def change(rows):
        rows[0][7 + 3] = "9.999E-99"
        rows[16][7 + 40] = "-9.99E-99"
        rows[16][95 + 41] = "999.99"
        return rows

    done = fit(spoil(days, tmp_path / "d" / "x.TAB", change), tmp_path / "t")
    reasons = {name: (entry["count"], entry["line"]) for name, entry in done["days"][0]["reasons"].items()}
    assert reasons == {"flux_missing": (1, 1), "flux_error": (1, 17), "azimuth_missing": (1, 17)}
    codes = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")[0]["answer"]["reason_codes"]
    z = arrays(tmp_path / "t" / "losscone_1998-01-16.npz")
    assert {(int(i), int(j), codes[z["rows_reason"][i, j]]) for i, j in np.argwhere(z["rows_reason"])} == {
        (0, 3, "flux_missing"),
        (16, 40, "flux_error"),
        (16, 41, "azimuth_missing"),
    }
    assert list(z["spec_cells"][:3]) == [1319, 1318, 1320]
    # one cell less: the misfit changes by what one cell brings, not by the hundreds that a sentinel taken for
    # a flux would
    before, after = (
        misfits(tables / "losscone_1998-01-16.csv"),
        misfits(tmp_path / "t" / "losscone_1998-01-16.csv"),
    )
    assert abs(float(before["1"]) - float(after["1"])) < 2.0


def test_every_sweep_without_an_answer_has_a_reason(days, tmp_path):
    def change(rows):
        for row in rows[15:30]:
            row[4:7] = ["0", "0", "0"]
        for row in rows[30:45]:
            row[7:95] = ["9.999E-99"] * 88
        rows[50] = rows[50][:100]
        return rows

    path = spoil(days, tmp_path / "d" / "x.TAB", change)
    done = fit(path, tmp_path / "t")["days"][0]
    assert done["statuses"] == {"field": 1, "fitted": 6, "no_cells": 1} and done["fitted"] == 6
    assert done["reasons"]["field_count"]["line"] == 51 and done["reasons"]["field"]["count"] == 1
    _, rows = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")
    assert [row["status"] for row in rows[1:3]] == ["field", "no_cells"] and rows[1]["misfit"] == rows[2][
        "misfit"
    ] == ""
    z = arrays(tmp_path / "t" / "losscone_1998-01-16.npz")
    assert np.isnan(z["rows_projected_potential"][15:45]).all() and list(z["spec_has_fit"][:4]) == [
        True,
        False,
        False,
        True,
    ]
    refused = run("losscone", "fit", path, "-o", tmp_path / "s", *GIVEN, "--strict")
    assert refused.returncode == 3 and "51" in refused.stderr


def test_a_day_without_an_answer_says_why(days, tmp_path):
    table, file = tmp_path / "polarity.csv", days / "3D980116.TAB"
    table.write_text("spectrum,polarity\n1,0\n")
    done = run(
        "losscone",
        "fit",
        file,
        "-o",
        tmp_path / "a",
        "--spacecraft-potential",
        10,
        "--polarity",
        table,
        "--json",
    )
    assert (
        done.returncode == 0
        and "no sweep of 1998-01-16 has an answer: polarity 8 of 8; see --polarity" in done.stderr
    )

    # fluxes a thousand times as large: more electrons than sunlight drives off
    def change(rows):
        return [row[:7] + [f"{1000 * float(cell):.3E}" for cell in row[7:95]] + row[95:] for row in rows]

    for _ in range(2):  # fitted, then resumed
        done = run(
            "losscone",
            "fit",
            spoil(days, tmp_path / "d" / "x.TAB", change),
            "-o",
            tmp_path / "b",
            "--polarity=-1",
            "--json",
        )
        got = json.loads(done.stdout)["days"][0]
        assert done.returncode == 0 and got["fitted"] == 0 and sum(got["spacecraft_potentials"].values()) == 8
        word, count = max(got["spacecraft_potentials"].items(), key=lambda item: item[1])
        assert (
            f"no_spacecraft_potential 8 of 8 (spacecraft_potential_status {word} {count}); "
            f"--spacecraft-potential"
            in done.stderr
            and "--illumination" in done.stderr
        )


def test_a_day_that_cannot_be_read_costs_itself(days, tables, tmp_path):
    data, folder = tmp_path / "d", tmp_path / "t"
    shutil.copytree(days, data)
    (data / "3D980115.TAB").write_text("1998-01-15T00:00:00 1 2 3\n" * 40)
    (data / "3D980118.TAB").write_bytes(b"")
    done = run("losscone", "fit", data, "-o", folder, *GIVEN, "--json")
    got = json.loads(done.stdout)["days"]
    assert done.returncode == 3 and "2 of 4 days" in done.stderr and "3D980115.TAB" in done.stderr
    assert ["error" in day for day in got] == [True, False, False, True] and "3D980118.TAB" in got[3]["error"]
    assert bytes_of(folder) == bytes_of(tables)
    done = run("losscone", "fit", data, "-o", folder, *GIVEN)
    assert (
        done.returncode == 3
        and done.stdout.count("could not be read") == 2
        and done.stdout.count("already there") == 2
    )


def test_a_named_file_that_is_no_day_file_costs_itself(days, tables, tmp_path):
    (tmp_path / "readme.txt").write_text("no day file\n")
    (tmp_path / "3D980115.TAB").write_text("1998-01-15\n" * 40)
    files = [tmp_path / "readme.txt", days / "3D980117.TAB", tmp_path / "3D980115.TAB", days / "3D980116.TAB"]
    done = run("losscone", "fit", *files, "-o", tmp_path / "t", *GIVEN, "--json")
    got = json.loads(done.stdout)["days"]
    assert (
        done.returncode == 3
        and "2 of 4 days" in done.stderr
        and [(day["date"], "error" in day) for day in got][:2] == [(None, True), ("1998-01-15", True)]
    )
    assert "readme.txt: " in got[0]["error"] and bytes_of(tmp_path / "t") == bytes_of(tables)
    missing = run("losscone", "fit", *files, tmp_path / "no.TAB", "-o", tmp_path / "s", *GIVEN)
    assert missing.returncode == 3 and "no.TAB" in missing.stderr and not (tmp_path / "s").exists()


def test_dates_are_asked_of_named_files_too(days, tmp_path):
    both = [days / "3D980116.TAB", days / "3D980117.TAB"]
    assert [day["date"] for day in fit(both, tmp_path / "t", "--day", 17)["days"]] == ["1998-01-17"]
    done = run("losscone", "fit", *both, "-o", tmp_path / "s", *GIVEN, "--year", 1999)
    assert done.returncode == 3 and "of year 1999" in done.stderr
    for option, value in (("--month", 13), ("--day", 32), ("--year", 12345)):
        done = run("losscone", "fit", *both, "-o", tmp_path / "s", *GIVEN, option, value)
        assert done.returncode == 2 and f"{option} takes" in done.stderr
