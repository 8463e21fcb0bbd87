"""paritas losscone fit on synthetic day files, good and bad: its tables held to formulas of the tests' own.
What is wrong with one sweep must not touch another."""

import os
import subprocess

import dayfiles
import numpy as np
import pytest
import reference as ref
from library import PROGRAM

DATE, USC, BAD = "1998-04-01", 8.0, 3  # BAD: place of the sweep that defects are put into
MODELS = {"": "hard", "_folded": "folded"}


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def tables(folder):
    with np.load(os.path.join(folder, f"losscone_{DATE}.npz"), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


# what the formulas know: no channels of the spectrum, no counts
PLAIN = ("--least-counts", 0, "--subtract-background", "none")
EQUAL = ("--response-weights", "equal")  # of folded edges


def fit(folder, rows, *options, weights=EQUAL):
    """writes the rows as a day's file, fits it, and answers its tables"""
    os.makedirs(folder, exist_ok=True)
    path = dayfiles.write(os.path.join(folder, dayfiles.name(DATE)), rows)
    run(
        "losscone",
        "fit",
        path,
        "--spacecraft-potential",
        USC,
        *PLAIN,
        *weights,
        *options,
        "-o",
        os.path.join(folder, "tables"),
    )
    return tables(os.path.join(folder, "tables"))


@pytest.fixture(scope="module")
def day():
    return dayfiles.synthetic(8, 21, Usc=(USC, USC), tables=(0, 1), start=DATE)


@pytest.fixture(scope="module")
def good(day, tmp_path_factory):
    return fit(tmp_path_factory.mktemp("good"), day)


def holds(found, k, sweep, suffix=""):
    """the answer for the day's k-th sweep is what the formulas say of `sweep`"""
    point = [found[name + suffix][k] for name in ("spec_potential_at_minimum", "spec_ratio_at_minimum")] + [
        0.0 if suffix else found["spec_amplitude"][k]
    ]
    assert found["spec_status" + suffix][k] == "fitted" and found["spec_cells" + suffix][k] == sweep.cells
    assert found["spec_misfit" + suffix][k] == pytest.approx(sweep.misfit(point), rel=1e-9)
    for name in ("spec_potential", "spec_ratio"):
        for at in ("", "_at_minimum"):
            assert (
                found[name + "_lower" + suffix][k]
                <= found[name + at + suffix][k]
                <= found[name + "_upper" + suffix][k]
            )


def test_a_day_is_fitted_by_both_models_as_the_formulas_say(day, good):
    assert good["spec_spec_no"].tolist() == day.number.tolist()
    for suffix, response in MODELS.items():
        for k in range(len(day)):
            holds(good, k, day.sweep(k, USC, response=response), suffix)
    np.testing.assert_array_equal(
        good["rows_projected_potential"].reshape(-1, 15),
        np.repeat(good["spec_u_surface"][:, None], 15, axis=1),
    )


def test_no_evolution_finds_less_than_the_tables_say(day, good):
    for suffix, response in MODELS.items():
        for k in range(2):
            objective = day.sweep(k, USC, response=response).prepared()
            best = min(
                ref.evolve(objective, seed, bounds=ref.BOUNDS[: 2 if suffix else 3])[0] for seed in range(2)
            )
            assert good["spec_misfit" + suffix][k] <= best + 1e-6 * (1 + best)


def test_lillis_tables(day, tmp_path):
    found = fit(tmp_path, day, "--method", "lillis", "--response", "hard", weights=())
    for k in range(len(day)):
        holds(found, k, day.sweep(k, USC, method="lillis"))


def test_threads_do_not_change_a_byte(day, good, tmp_path):
    for threads in (1, 3):
        found = fit(tmp_path / str(threads), day, "--threads", threads)
        assert all(
            (found[key] == good[key]).all()
            or (found[key].dtype.kind == "f" and np.array_equal(found[key], good[key], equal_nan=True))
            for key in good
            if not key.startswith("provenance")
        )


def test_the_polarity_of_a_table_turns_the_cones(tmp_path):
    polarity = np.array([1, -1, 1, 0, -1, 1])
    day = dayfiles.synthetic(6, 22, Usc=(USC, USC), polarity=np.where(polarity == 0, 1, polarity))
    table = tmp_path / "polarity.csv"
    table.write_text("spectrum,polarity\n" + "".join(f"{n},{p}\n" for n, p in zip(day.number, polarity)))
    found = fit(tmp_path, day, "--polarity", table)
    for k in range(6):
        if polarity[k] != 0:
            holds(found, k, day.sweep(k, USC, polarity=np.full(15, polarity[k])))
    assert found["spec_status"][3] == "polarity" and np.isnan(found["spec_potential"][3])


# ---- defects ----------------------------------------------------------------------------------------


def in_row(change):
    """a defect of one row of the bad sweep: its eighth"""

    def apply(rows):
        k = 15 * BAD + 7
        return rows[:k] + change(rows[k]) + rows[k + 1 :]

    return apply


def each_field(change, fields):
    def apply(rows):
        k = 15 * BAD + 7
        row = rows[k]
        for field in fields:
            row = dayfiles.put(row, field, change)
        return rows[:k] + [row] + rows[k + 1 :]

    return apply


FLUXES, AZIMUTHS = range(8, 96), range(96, 184)
LOST_ROW = np.zeros((15, 88), bool)
LOST_ROW[7] = True
SOME = LOST_ROW.copy()
SOME[7, 20:60] = False
DEFECTS = {  # what is done to the rows, and which cells of the bad sweep are lost
    "row missing": (in_row(lambda row: []), LOST_ROW),
    "a field too few": (in_row(lambda row: [row.rsplit(None, 1)[0]]), LOST_ROW),
    "a field too many": (in_row(lambda row: [row + b" 1.0"]), LOST_ROW),
    "no number": (each_field(b"1.2.3", [50]), LOST_ROW),
    "nan as a number": (each_field(b"nan", [50]), LOST_ROW),
    "stars": (each_field(b"*********", [3]), LOST_ROW),
    "clock not set": (each_field(b"0.000", [2]), LOST_ROW),
    "the epoch as UTC": (each_field(b"1970-01-01T00:00:00", [1]), LOST_ROW),
    "row twice": (in_row(lambda row: [row, row]), ~(LOST_ROW | ~LOST_ROW)),
    "fluxes missing": (each_field(b"9.999E-99", list(FLUXES)[:20] + list(FLUXES)[60:]), SOME),
    "fluxes flagged": (each_field(b"-9.99E-99", list(FLUXES)[:20] + list(FLUXES)[60:]), SOME),
    "azimuths missing": (each_field(b"999.99", list(AZIMUTHS)[:20] + list(AZIMUTHS)[60:]), SOME),
    "azimuths flagged": (each_field(b"998.99", list(AZIMUTHS)[:20] + list(AZIMUTHS)[60:]), SOME),
    "negative fluxes": (each_field(b"-3.20E+02", list(FLUXES)[:20] + list(FLUXES)[60:]), SOME),
    "row of zeros": (each_field(b"0.000E+00", FLUXES), LOST_ROW),
    "row cut": (in_row(lambda row: [row[:700]]), LOST_ROW),
    "blank lines": (in_row(lambda row: [b"", row, b"   "]), ~(LOST_ROW | ~LOST_ROW)),
    "leading blanks": (in_row(lambda row: [b"   " + row]), ~(LOST_ROW | ~LOST_ROW)),
    "carriage return": (in_row(lambda row: [row + b"\r"]), ~(LOST_ROW | ~LOST_ROW)),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_costs_what_it_hits_and_shifts_nothing(name, day, good, tmp_path):
    change, lost = DEFECTS[name]
    found = fit(tmp_path, change(dayfiles.lines(day)))
    same_elsewhere(found, good, [BAD])
    flux = np.where(lost, np.nan, day.flux[BAD])
    pitch = ref.pitch_angles(day.field[BAD], day.azimuth[BAD])
    for suffix, response in MODELS.items():
        holds(found, BAD, ref.Sweep(day.energy[BAD], pitch, flux, USC, response=response), suffix)


def same_elsewhere(found, good, but):
    """the tables' numbers of all sweeps but some (by place) have the same bits"""
    keep = [k for k in range(len(good["spec_spec_no"])) if k not in but]
    there = {int(number): k for k, number in enumerate(found["spec_spec_no"])}
    places = [there[int(good["spec_spec_no"][k])] for k in keep]
    for key in good:
        if key.startswith("spec_") and len(good[key]) == len(good["spec_spec_no"]):
            np.testing.assert_array_equal(found[key][places], good[key][keep], err_msg=key)


def test_a_sweep_without_a_field_is_masked_whole(day, good, tmp_path):
    rows = dayfiles.lines(day)
    for field in (5, 6, 7):
        rows[15 * BAD + 2] = dayfiles.put(rows[15 * BAD + 2], field, b"0.0")
    found = fit(tmp_path, rows)
    same_elsewhere(found, good, [BAD])
    assert found["spec_status"][BAD] == "field" and np.isnan(found["spec_potential"][BAD])


def test_a_file_cut_in_a_row_keeps_the_rows_before(day, good, tmp_path):
    rows = dayfiles.lines(day)
    found = fit(tmp_path, rows[: 15 * 7 + 9] + [rows[15 * 7 + 9][:400]])
    same_elsewhere(found, good, [7])
    flux = day.flux[7].copy()
    flux[9:] = np.nan
    holds(found, 7, ref.Sweep(day.energy[7], ref.pitch_angles(day.field[7], day.azimuth[7]), flux, USC))


def test_a_sweep_missing_altogether_shifts_nothing(day, good, tmp_path):
    rows = dayfiles.lines(day)
    found = fit(tmp_path, rows[: 15 * BAD] + rows[15 * BAD + 15 :])
    assert found["spec_spec_no"].tolist() == [n for n in day.number if n != BAD + 1]
    same_elsewhere(found, good, [BAD])


def test_rows_of_sweeps_may_be_mixed(day, good, tmp_path):
    rows = dayfiles.lines(day)
    mixed = [row for pair in zip(rows[:15], rows[15:30]) for row in pair] + rows[30:]
    same_elsewhere(fit(tmp_path, mixed), good, [])


def test_a_flux_that_nothing_measures_costs_its_sweep_alone(day, tmp_path):
    """fits of counts, the default for the folded edge"""
    good = fit_counts(tmp_path / "good", dayfiles.lines(day))
    for flux in (b"1.000E+16", b"1.000E+20", b"1.000E+60", b"1.000E+307"):
        rows = dayfiles.lines(day)
        rows[15 * BAD + 4] = dayfiles.put(rows[15 * BAD + 4], 28, flux)
        found = fit_counts(tmp_path / flux.decode(), rows)
        same_elsewhere(found, good, [BAD])
        moved = abs(found["spec_potential_folded"][BAD] - good["spec_potential_folded"][BAD])
        assert found["spec_misfit_folded"][BAD] >= 0.0 and (moved < 5.0 or not found["spec_good"][BAD])


def fit_counts(folder, rows, *options, code=0):
    os.makedirs(folder)
    path = dayfiles.write(os.path.join(folder, dayfiles.name(DATE)), rows)
    at = ("--spacecraft-potential", USC, "-o", os.path.join(folder, "tables"))
    run("losscone", "fit", path, *at, *options, code=code)
    return tables(os.path.join(folder, "tables"))


def test_the_exit_code_is_that_of_the_preferred_model(day, tmp_path):
    for kind, code in (("hard", 0), ("integral", 1)):
        rows = dayfiles.lines(dayfiles.synthetic(8, 21, kind, Usc=(USC, USC), start=DATE))
        found = fit_counts(tmp_path / kind, rows, "--box-limit", 100, code=code)
        limited = found["spec_status_folded"] == "at_limit"
        assert (found["spec_status"] == "fitted").all() and limited.any()
        assert (limited & (found["spec_preferred"] == "folded")).any() == bool(code)


def test_too_many_rows_of_a_number_mask_that_sweep(day, good, tmp_path):
    rows = dayfiles.lines(day)
    extra = dayfiles.put(rows[15 * BAD + 14], 3, b"30000.000")
    found = fit(tmp_path, rows[: 15 * BAD + 15] + [extra] + rows[15 * BAD + 15 :])
    same_elsewhere(found, good, [BAD])
    assert found["spec_status"][BAD] == "too_many_rows"


# ---- runs -------------------------------------------------------------------------------------------


def test_a_finished_day_is_not_fitted_again_and_never_answers_for_other_options_or_data(day, tmp_path):
    path = os.path.join(dayfiles.folder(tmp_path / "in", day), dayfiles.name(DATE))
    out = tmp_path / "out"
    command = ["losscone", "fit", path, "--spacecraft-potential", USC, "-o", out]
    run(*command)
    table = out / f"losscone_{DATE}.npz"
    first, stamp = table.read_bytes(), table.stat().st_mtime_ns
    run(*command)
    assert table.stat().st_mtime_ns == stamp
    assert run("losscone", "fit", path, "--spacecraft-potential", USC + 1, "-o", out, code=3).stderr != ""
    assert table.read_bytes() == first
    with open(path, "ab") as file:
        file.write(dayfiles.lines(day)[0].replace(b"   1 ", b"  77 ", 1) + b"\n")
    run(*command, code=3)
    assert table.read_bytes() == first
    run(*command, "--overwrite")
    assert 77 in tables(out)["spec_spec_no"]


def test_folders_are_searched_by_date(day, tmp_path):
    for date in ("1998-04-01", "1998-04-02", "1998-05-01"):
        dayfiles.folder(tmp_path / "in" / date, dayfiles.synthetic(2, 5, Usc=(USC, USC), start=date), date)
    out = tmp_path / "out"
    run(
        "losscone",
        "fit",
        tmp_path / "in",
        "--year",
        1998,
        "--month",
        4,
        "--spacecraft-potential",
        USC,
        "-o",
        out,
    )
    assert sorted(p.name for p in out.glob("*.npz")) == ["losscone_1998-04-01.npz", "losscone_1998-04-02.npz"]


def test_a_file_without_a_row_is_refused_by_name(tmp_path):
    path = tmp_path / dayfiles.name(DATE)
    path.write_text("nothing that a day file has\n")
    assert (
        path.name
        in run("losscone", "fit", path, "--spacecraft-potential", USC, "-o", tmp_path / "out", code=3).stderr
    )


def test_synthetic_files_of_the_program_are_what_the_formulas_take_them_for(tmp_path):
    run(
        "losscone",
        "synthesize",
        "-o",
        tmp_path / "er",
        "--sweeps",
        12,
        "--days",
        1,
        "--truth",
        "folded",
        *EQUAL,
    )
    path = next((tmp_path / "er").glob("3D*.TAB"))
    truth = np.genfromtxt(
        tmp_path / "er" / "truth.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    day = dayfiles.read(path)
    assert sorted(day) == truth["spectrum"].tolist()
    run(
        "losscone",
        "fit",
        path,
        "--polarity=-1",
        "--spacecraft-potential",
        tmp_path / "er" / "truth.csv",
        *PLAIN,
        *EQUAL,
        "-o",
        tmp_path / "out",
    )
    with np.load(next((tmp_path / "out").glob("*.npz"))) as found:
        for k, number in enumerate(found["spec_spec_no"]):
            rows, at = day[int(number)], truth[truth["spectrum"] == number][0]
            assert rows.shape == (15, 182)
            flux = np.where(
                np.abs(rows[:, 6:94]) < 1e-90, np.where(rows[:, 6:94] == 0, 0.0, np.nan), rows[:, 6:94]
            )
            pitch = ref.pitch_angles(rows[:, 3:6], rows[:, 94:], np.full(15, at["polarity"]))
            for suffix, response in MODELS.items():
                holds(
                    found,
                    k,
                    ref.Sweep(rows[:, 1], pitch, flux, at["spacecraft_potential"], response=response),
                    suffix,
                )
            # the file is of its truth: the noise about the folded model there is that of the table
            sweep = ref.Sweep(rows[:, 1], pitch, flux, at["spacecraft_potential"], response="folded")
            assert sweep.misfit((at["potential"], at["ratio"])) == pytest.approx(
                sweep.cells * at["noise"] ** 2, rel=0.35
            )
