"""The commands on loss cones and kappa distributions from outside: tables, provenance, searches, options."""

import json
import os
import subprocess

import numpy as np

from lossconefiles import (
    answer,
    arrays,
    bytes_of,
    column,
    fit,
    GIVEN,
    misfits,
    read_csv,
    run,
    spoil,
    synthesize,
    days,
    tables,
)

SUN = ("--illumination", "sun")


# ---- synthetic days ----


def test_sweeps_depend_on_seed_and_number_alone(tmp_path):
    three, five, other = (
        synthesize(tmp_path / name, "--sweeps", n, "--seed", seed)
        for name, n, seed in (("three", 3, 1), ("five", 5, 1), ("other", 3, 2))
    )
    text = (three / "3D980116.TAB").read_text()
    assert (five / "3D980116.TAB").read_text()[: len(text)] == text
    assert (other / "3D980116.TAB").read_text() != text


def test_a_synthetic_day_has_the_archives_form(days):
    rows = [line.split() for line in (days / "3D980117.TAB").read_text().splitlines()]
    assert len(rows) == 8 * 15 and {len(row) for row in rows} == {183}
    assert rows[0][0] == "1998-01-17T00:00:00" and [int(row[3]) for row in rows] == [
        1 + i // 15 for i in range(120)
    ]
    _, truth = read_csv(days / "truth.csv")
    assert [row["date"] for row in truth] == ["1998-01-16"] * 8 + ["1998-01-17"] * 8


def test_what_was_asked_to_be_missing_is_missing(tmp_path):
    folder = synthesize(tmp_path / "d", "--sweeps", 20, "--missing-cells", 0.1, "--missing-rows", 0.1)
    rows = [line.split() for line in (folder / "3D980116.TAB").read_text().splitlines()]
    assert 240 < len(rows) < 295
    for sentinel, first in (("9.999E-99", 7), ("-9.99E-99", 7), ("999.99", 95), ("998.99", 95)):
        share = sum(row[first : first + 88].count(sentinel) for row in rows) / (88 * len(rows))
        assert 0.015 < share < 0.035, sentinel


def test_synthetic_days_replace_no_file_unasked(tmp_path):
    (tmp_path / "3D980117.TAB").write_text("of the archive")
    refused = run("losscone", "synthesize", "-o", tmp_path, "--days", 2, "--sweeps", 2)
    assert refused.returncode == 5 and "3D980117.TAB" in refused.stderr and "--overwrite" in refused.stderr
    assert bytes_of(tmp_path) == {"3D980117.TAB": b"of the archive"}
    synthesize(tmp_path, "--days", 2, "--sweeps", 2, "--overwrite")
    assert (
        sorted(os.listdir(tmp_path)) == ["3D980116.TAB", "3D980117.TAB", "truth.csv"]
        and (tmp_path / "3D980117.TAB").stat().st_size > 1000
    )
    refused = run("losscone", "synthesize", "-o", tmp_path, "--start", "1999-01-01", "--sweeps", 2)
    assert refused.returncode == 5 and "truth.csv" in refused.stderr


# ---- tables ----


def test_fits_find_the_truth_within_their_plateaus(days, tables):
    _, truth = read_csv(days / "truth.csv")
    found = [row for name in ("16", "17") for row in read_csv(tables / f"losscone_1998-01-{name}.csv")[1]]
    u, lower, upper, true = (
        column(found, "potential"),
        column(found, "potential_lower"),
        column(found, "potential_upper"),
        column(truth, "potential"),
    )
    assert {row["status"] for row in found} == {row["status_folded"] for row in found} == {"fitted"}
    assert np.mean((lower <= true) & (true <= upper)) > 0.8 and np.median(np.abs(u - true)) < 8
    assert np.all((lower <= u) & (u <= upper))
    assert np.allclose(column(found, "ratio"), column(truth, "ratio"), atol=0.02)
    # the truth has a hard edge: nearly every sweep says so, and the other model is off
    assert sum(row["preferred"] == "hard" for row in found) >= 14
    assert np.median(np.abs(column(found, "potential_folded") - true)) > 10


FIELDS = {
    "rows_spec_no": "<i8",
    "rows_utc": "<U64",
    "rows_time": "<U64",
    "rows_spacecraft_latitude": "<f8",
    "rows_spacecraft_longitude": "<f8",
    "rows_projection_latitude": "<f8",
    "rows_projection_longitude": "<f8",
    "rows_spacecraft_potential": "<f8",
    "rows_projected_potential": "<f8",
    "rows_bs_over_bm": "<f8",
    "rows_beam_amp": "<f8",
    "rows_fit_chi2": "<f8",
    "rows_electron_temperature": "<f8",
    "rows_electron_density": "<f8",
    "rows_kappa_value": "<f8",
    "rows_spacecraft_in_sun": "|b1",
    "rows_projection_in_sun": "|b1",
    "rows_projection_polarity": "|i1",
    "rows_environment_class": "|i1",
}
OF_SPECTRA = [
    "spec_spec_no",
    "spec_time_start",
    "spec_time_end",
    "spec_has_fit",
    "spec_row_count",
    "spec_u_surface",
    "spec_bs_over_bm",
    "spec_fit_chi2",
    "spec_electron_temperature",
    "spec_electron_density",
    "spec_environment_class",
]


def test_arrays_have_the_names_types_and_shapes_that_readers_know(tables):
    z = arrays(tables / "losscone_1998-01-16.npz")
    assert {name: z[name].dtype.str for name in FIELDS} == FIELDS
    assert {z[name].shape for name in FIELDS} == {(120,)} and {z[name].shape for name in OF_SPECTRA} == {(8,)}
    assert z["rows_reason"].shape == (120, 88) and z["rows_reason"].dtype == np.uint8
    assert (
        np.array_equal(z["rows_projected_potential"], np.repeat(z["spec_u_surface"], 15))
        and z["spec_has_fit"].all()
    )
    assert (
        list(z["rows_utc"][:2]) == ["1998-01-16T00:00:00", "1998-01-16T00:00:02"]
        and float(z["rows_time"][0]) == 884908800.0
    )
    assert np.isnan(z["rows_spacecraft_latitude"]).all() and set(z["rows_projection_polarity"]) == {-1}
    assert np.isnan(z["rows_electron_temperature"]).all() and not z["rows_illumination_known"].any()
    json.loads(str(z["provenance"]))


def test_text_and_arrays_hold_the_same_bits(tables):
    z, (provenance, rows) = (
        arrays(tables / "losscone_1998-01-16.npz"),
        read_csv(tables / "losscone_1998-01-16.csv"),
    )
    assert json.loads(str(z["provenance"])) == provenance
    shared = [name for name in rows[0] if "spec_" + name in z and z["spec_" + name].ndim == 1]
    assert len(shared) > 25
    for name in shared:
        kind = z["spec_" + name].dtype.kind
        if kind == "f":
            assert column(rows, name).tobytes() == z["spec_" + name].tobytes(), name
        else:
            assert [row[name] for row in rows] == [
                str(value).lower() if kind == "b" else str(value) for value in z["spec_" + name]
            ], name


def test_the_provenance_tells_options_inputs_and_codes(days, tables):
    provenance, _ = read_csv(tables / "losscone_1998-01-16.csv")
    digest = subprocess.run(
        ["sha256sum", days / "3D980116.TAB"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    options = provenance["options"]
    assert provenance["command"] == "losscone fit" and provenance["inputs"] == [
        {"file": "3D980116.TAB", "sha256": digest}
    ]
    assert (
        options["method"],
        options["response"],
        options["search"],
        options["polarity"],
        options["spacecraft_potential"],
    ) == ("auto", "both", "exact", "-1", 10.0)
    assert (options["potential_lower"], options["ratio_upper"], options["theta"], options["precision"]) == (
        -2000.0,
        1.1,
        "built-in",
        "f64",
    )
    assert (
        provenance["answer"]["reason_codes"][:4] == ["kept", "no_counts", "flux_missing", "flux_error"]
        and provenance["run"]["device"]
    )


def test_bytes_do_not_depend_on_threads_or_on_which_days_share_a_run(days, tables, tmp_path):
    fit(days, tmp_path / "one", "--threads", 1)
    for name in ("3D980117.TAB", "3D980116.TAB"):
        fit(days / name, tmp_path / "apart", "--threads", 3)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "apart") == bytes_of(tables)


def test_without_a_polarity_the_usual_one_is_taken_and_said_so(days, tmp_path):
    done = run("losscone", "fit", days / "3D980116.TAB", "-o", tmp_path, "--spacecraft-potential", 10)
    assert done.returncode == 0 and "polarity" in done.stderr
    assert (
        read_csv(tmp_path / "losscone_1998-01-16.csv")[0]["options"]["polarity"]
        == "-1, not known and taken so"
    )


# ---- geometry ----


def test_polarities_and_potentials_come_from_tables(tmp_path):
    data = synthesize(
        tmp_path / "d", "--sweeps", 16, "--true-polarity", "drawn", "--noise", 0.1, "--beams", 0, "--seed", 3
    )
    _, truth = read_csv(data / "truth.csv")
    polarity, true = column(truth, "polarity"), column(truth, "potential")
    assert set(polarity) == {-1.0, 1.0}
    done = answer(
        "losscone",
        "fit",
        data,
        "-o",
        tmp_path / "t",
        "--geometry",
        data / "truth.csv",
        "--spacecraft-potential",
        data / "truth.csv",
    )
    assert (
        done["days"][0]["fitted"] == 16
        and done["options"]["geometry"].startswith("sha256:")
        and done["options"]["polarity"] == "of the geometry"
    )
    _, rows = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")
    assert np.array_equal(column(rows, "polarity"), polarity) and np.array_equal(
        column(rows, "spacecraft_potential"), column(truth, "spacecraft_potential")
    )
    assert np.median(np.abs(column(rows, "potential") - true)) < 8
    assert list(arrays(tmp_path / "t" / "losscone_1998-01-16.npz")["rows_projection_polarity"]) == list(
        np.repeat(polarity.astype(int), 15)
    )
    # the other half is upside down where all are taken for one
    half = run(
        "losscone",
        "fit",
        data,
        "-o",
        tmp_path / "s",
        "--polarity",
        "+1",
        "--spacecraft-potential",
        data / "truth.csv",
    )
    assert "with another --polarity 10 of 10 others are good" in half.stderr
    wrong = column(read_csv(tmp_path / "s" / "losscone_1998-01-16.csv")[1], "misfit") > 3 * column(
        rows, "misfit"
    )
    assert np.array_equal(wrong, polarity < 0)


def test_sweeps_whose_polarity_is_not_known_are_masked_and_a_changed_table_is_noticed(days, tmp_path):
    table, tables = tmp_path / "geometry.csv", tmp_path / "t"
    table.write_text(
        "spectrum,date,polarity,sun_azimuth,sun_elevation\n"
        + "".join(f"{k},1998-01-16,{(0, '', 1)[k] if k < 2 else -1},10,5\n" for k in range(1, 8))
    )
    run_it = [
        "losscone",
        "fit",
        days / "3D980116.TAB",
        "-o",
        tables,
        "--spacecraft-potential",
        10,
        "--geometry",
        table,
    ]
    done = answer(*run_it)["days"][0]
    assert (
        done["statuses"] == {"fitted": 6, "polarity": 2}
        and done["reasons"]["polarity"]["count"] == 30
        and 0 < done["reasons"]["sunlight"]["count"] < 0.1 * 7 * 15 * 88
    )
    assert [row["status"] for row in read_csv(tables / "losscone_1998-01-16.csv")[1]] == ["polarity"] + [
        "fitted"
    ] * 6 + ["polarity"]
    table.write_text(table.read_text().replace(",10,5", ",11,5"))
    refused = run(*run_it)
    assert refused.returncode == 3 and ": geometry is " in refused.stderr


def test_a_table_without_dates_is_for_one_day(days, tmp_path):
    table = tmp_path / "geometry.csv"
    table.write_text(
        "spectrum,polarity,spacecraft_potential\n" + "".join(f"{k},-1,10\n" for k in range(1, 9))
    )
    for i, option in enumerate(("--geometry", "--polarity", "--spacecraft-potential")):
        given = ["--spacecraft-potential", 10] if i < 2 else ["--polarity=-1"]
        assert (
            answer("losscone", "fit", days / "3D980116.TAB", "-o", tmp_path / str(i), *given, option, table)[
                "days"
            ][0]["fitted"]
            == 8
        )
        done = run("losscone", "fit", days, "-o", tmp_path / "t", *given, option, table)
        assert (
            done.returncode == 3
            and f"{table}: has neither a column date nor utc" in done.stderr
            and not (tmp_path / "t").exists()
        )


def test_a_table_that_is_of_no_use_is_noted(days, tmp_path):
    table = tmp_path / "geometry.csv"

    def write(date):
        table.write_text(
            "spectrum,date,spacecraft_in_sun,spacecraft_potential\n"
            + "".join(f"{k},{date},1,10\n" for k in range(1, 9)),
            encoding="utf-8-sig",
        )

    write("1999-01-16")
    done = run("losscone", "fit", days, "-o", tmp_path / "a", *GIVEN, "--geometry", table)
    assert (
        done.returncode == 0
        and f"{table}: has no sweep of 2 of the 2 days" in done.stderr
        and "1998-01-16" in done.stderr
    )
    write("1998-01-16")
    done = run("losscone", "fit", days / "3D980116.TAB", "-o", tmp_path / "b", *GIVEN, "--geometry", table)
    assert (done.returncode, done.stderr) == (0, "") and {
        row["spacecraft_in_sun"] for row in read_csv(tmp_path / "b" / "losscone_1998-01-16.csv")[1]
    } == {"1.0"}
    done = run(
        "kappa", "fit", days / "3D980116.TAB", "-o", tmp_path / "c", "--polarity=-1", "--geometry", table
    )
    assert done.returncode == 0 and "spacecraft_potential of --geometry is not used" in done.stderr


def test_inclinations_come_from_a_file(days, tables, tmp_path):
    theta = [
        sign * size
        for size, cells in ((11.25, 16), (33.75, 16), (56.25, 8), (78.75, 4))
        for sign in (1, -1)
        for _ in range(cells)
    ]
    order = np.random.default_rng(1).permutation(88)
    (tmp_path / "theta.tab").write_text("\n".join(f"{theta[j]:.2f}" for j in order) + "\n")
    lines = [line.split() for line in (days / "3D980116.TAB").read_text().splitlines()]
    (tmp_path / "x.TAB").write_text(
        "\n".join(
            " ".join(row[:7] + [row[7 + j] for j in order] + [row[95 + j] for j in order]) for row in lines
        )
        + "\n"
    )
    fit(tmp_path / "x.TAB", tmp_path / "t", "--theta", tmp_path / "theta.tab")
    before, after = (
        read_csv(tables / "losscone_1998-01-16.csv")[1],
        read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")[1],
    )
    for name in ("potential", "ratio", "misfit"):
        assert np.allclose(column(before, name), column(after, name), rtol=1e-9)


# ---- searches and sets ----


def test_evolution_depends_on_date_sweep_and_seed_alone(days, tmp_path):
    evolve = ["--search", "de", "--population", 40, "--response", "hard"]
    fit(days, tmp_path / "all", *evolve)
    for name in ("3D980117.TAB", "3D980116.TAB"):
        fit(days / name, tmp_path / "apart", *evolve, "--threads", 1)
    assert bytes_of(tmp_path / "all") == bytes_of(tmp_path / "apart")
    provenance, rows = read_csv(tmp_path / "all" / "losscone_1998-01-16.csv")
    assert (
        provenance["options"]["seed"],
        provenance["options"]["population"],
        provenance["options"]["generations"],
    ) == (42, 40, 500)
    assert np.isnan(column(rows, "gap")).all() and "confidence_set" not in rows[0]
    # it ends at a point, which tells of no plateau
    assert (
        all(
            row[name] == ""
            for row in rows
            for name in ("potential_lower", "potential_upper", "ratio_lower", "ratio_upper")
        )
        and np.isfinite(column(rows, "potential")).all()
    )
    other = run("losscone", "fit", days, "-o", tmp_path / "all", *GIVEN, *evolve, "--seed", 43)
    assert other.returncode == 3 and ": seed is 42" in other.stderr
    fit(days, tmp_path / "other", *evolve, "--seed", 43)
    assert misfits(tmp_path / "other" / "losscone_1998-01-16.csv") != misfits(
        tmp_path / "all" / "losscone_1998-01-16.csv"
    )


def test_no_evolution_beats_the_exact_search(days, tmp_path):
    fit(days, tmp_path / "de", "--search", "de")
    fit(days, tmp_path / "exact", "--method", "halekas")
    for day in ("16", "17"):
        exact, evolved = (
            read_csv(tmp_path / search / f"losscone_1998-01-{day}.csv")[1] for search in ("exact", "de")
        )
        for suffix in ("", "_folded"):
            least = column(exact, "misfit" + suffix)
            assert np.all(least <= column(evolved, "misfit" + suffix) + 1e-6 * (1 + least))


def test_sets_hold_the_plateau_and_grow_with_their_threshold(days, tmp_path):
    def hull(folder, suffix):
        _, rows = read_csv(folder / "losscone_1998-01-16.csv")
        return column(rows, "confidence_lower" + suffix), column(rows, "confidence_upper" + suffix), rows

    for name, options in (("none", ("--threshold", 0)), ("usual", ()), ("large", ("--threshold", 30))):
        fit(days / "3D980116.TAB", tmp_path / name, "--method", "halekas", *options)
    for suffix in ("", "_folded"):
        none, usual, large = (hull(tmp_path / name, suffix) for name in ("none", "usual", "large"))
        for lower, upper, rows in (none, usual, large):
            assert np.all(lower <= column(rows, "potential_lower" + suffix)) and np.all(
                upper >= column(rows, "potential_upper" + suffix)
            )
            for row in rows:
                ends = [
                    float(end)
                    for interval in row["confidence_set" + suffix].split(";")
                    for end in interval.split()
                ]
                assert ends == sorted(ends) and (ends[0], ends[-1]) == (
                    float(row["confidence_lower" + suffix]),
                    float(row["confidence_upper" + suffix]),
                )
        assert (
            np.all(none[0] >= usual[0])
            and np.all(usual[0] >= large[0])
            and np.all(usual[1] <= large[1])
            and np.sum(large[1] - large[0]) > 2 * np.sum(usual[1] - usual[0])
        )


def test_sets_have_steps_of_their_model_where_none_is_asked_for(days, tables, tmp_path):
    assert read_csv(tables / "losscone_1998-01-16.csv")[0]["options"]["step"] is None
    fit(days / "3D980116.TAB", tmp_path / "usual", "--method", "halekas")
    fit(days / "3D980116.TAB", tmp_path, "--method", "halekas", "--step", 1)
    provenance, coarse = read_csv(tmp_path / "losscone_1998-01-16.csv")
    assert provenance["options"]["step"] == 1.0
    usual = read_csv(tmp_path / "usual" / "losscone_1998-01-16.csv")[1]
    assert [row["confidence_set"] for row in usual] == [row["confidence_set"] for row in coarse]
    assert [row["confidence_set_folded"] for row in usual] != [row["confidence_set_folded"] for row in coarse]
    fit(days / "3D980116.TAB", tmp_path, "--method", "halekas", "--step", 0.05, "--overwrite")
    assert [row["confidence_set_folded"] for row in usual] == [
        row["confidence_set_folded"] for row in read_csv(tmp_path / "losscone_1998-01-16.csv")[1]
    ]
    refused = run("losscone", "profile", days / "3D980116.TAB", "--spectrum", 3, *GIVEN, "--step", 0)
    assert refused.returncode == 2 and "--step" in refused.stderr


def test_bootstrapped_sets_do_not_depend_on_the_run(days, tmp_path):
    bootstrap = ["--confidence", "bootstrap", "--draws", 8, "--level", 0.9, "--response", "folded"]
    bootstrap += ["--method", "halekas"]
    fit(days, tmp_path / "all", *bootstrap)
    fit(days / "3D980117.TAB", tmp_path / "alone", *bootstrap)
    name = "losscone_1998-01-17.csv"
    assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    provenance, rows = read_csv(tmp_path / "all" / name)
    assert (provenance["options"]["draws"], provenance["options"]["level"]) == (8, 0.9)
    assert np.all(column(rows, "confidence_threshold") >= 0) and np.any(
        column(rows, "confidence_threshold") > 0
    )


def test_a_search_at_its_limit_says_what_is_left_unproven(days, tmp_path):
    done = run(
        "losscone",
        "fit",
        days / "3D980116.TAB",
        "-o",
        tmp_path,
        *GIVEN,
        "--box-limit",
        15,
        "--confidence",
        "none",
        "--json",
    )
    assert done.returncode == 1 and json.loads(done.stdout)["days"][0]["statuses"].get("at_limit", 0) > 0
    _, rows = read_csv(tmp_path / "losscone_1998-01-16.csv")
    limited = np.array([row["status"] == "at_limit" for row in rows])
    assert (
        np.all(column(rows, "gap")[limited] > 0)
        and np.all(column(rows, "gap")[~limited] == 0)
        and np.all(column(rows, "boxes")[limited] >= 15)
    )


# ---- command lines ----


def test_exit_codes(days, tmp_path):
    (tmp_path / "file").write_text("")
    file = days / "3D980116.TAB"
    fit = ["losscone", "fit", file, "-o", tmp_path]
    for arguments, code, words in (
        (["losscone"], 2, "needs an action"),
        (["losscone", "ft"], 2, "no action 'ft'"),
        (["losscone", "fit", file], 2, "-o DIR"),
        (["losscone", "fit", "-o", tmp_path], 2, "FILE|DIR"),
        (["losscone", "fit", file, "-o", tmp_path, "--method", "mean"], 2, "halekas|lillis"),
        (["losscone", "fit", tmp_path / "no", "-o", tmp_path], 3, "no: "),
        (["losscone", "fit", tmp_path / "file", "-o", tmp_path], 3, "file: "),
        (["losscone", "fit", tmp_path, "-o", tmp_path], 3, "day file"),
        (["losscone", "fit", file, "-o", tmp_path / "file"], 5, "file"),
        (["losscone", "fit", file, "-o", tmp_path / "file" / "t"], 5, "file/t"),
        (["losscone", "fit", file, "-o", tmp_path, "--potential-lower", "30"], 2, "--potential-lower"),
        (["losscone", "fit", file, "-o", tmp_path, "--ratio-lower", "0"], 2, "--ratio-lower"),
        (["losscone", "fit", file, "-o", tmp_path, "--population", "3"], 2, "--population"),
        (["losscone", "fit", file, "-o", tmp_path, "--background", "0"], 2, "--background"),
        (["losscone", "fit", file, "-o", tmp_path, "--draws", "1000000000"], 2, "to 999999999"),
        ([*fit, "--confidence", "bootstrap", "--draws", "70000"], 2, "to 65536"),
        (["losscone", "fit", file, "-o", tmp_path, "--polarity", "2"], 2, "--polarity"),
        (
            ["kappa", "fit", file, "-o", tmp_path, "--spacecraft-potential", "abc"],
            2,
            "--spacecraft-potential",
        ),
        ([*fit, "--search", "de", "--confidence", "bootstrap"], 2, "exact"),
        (["losscone", "fit", file, "-o", tmp_path, "--device", "abacus"], 4, "abacus"),
        (["losscone", "fit", file, "-o", tmp_path, "--attitude", file], 2, "--spice"),
        (["losscone", "profile", file], 2, "--spectrum"),
        (["losscone", "profile", file, "--spectrum", "9", *GIVEN], 3, "no spectrum 9"),
        (["losscone", "synthesize"], 2, "-o DIR"),
        (["losscone", "synthesize", "-o", tmp_path, "--start", "1998"], 2, "YYYY-MM-DD"),
        (["losscone", "synthesize", "-o", tmp_path, "--noise", "2:1"], 2, "LO:HI"),
        (["kappa", "fit", file, "-o", tmp_path, "--kappa-lower", "1"], 2, "--kappa-lower"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (code, "") and words in done.stderr, (arguments, done)


def test_actions_have_help():
    for command in (
        "losscone fit",
        "losscone profile",
        "losscone synthesize",
        "losscone inject",
        "kappa fit",
    ):
        done = run(*command.split(), "--help")
        assert done.returncode == 0 and done.stdout.startswith(f"usage: paritas {command}")
    assert "losscone fit" in run("losscone", "--help").stdout


def test_a_person_reads_a_table(days, tmp_path):
    done = run("losscone", "fit", days, "-o", tmp_path, *GIVEN)
    assert done.returncode == 0 and "1998-01-17" in done.stdout and "sweeps: fitted 16" in done.stdout


# ---- one sweep, injection, plasma ----


def test_a_profile_has_its_least_value_at_the_fit(days, tables):
    _, rows = read_csv(tables / "losscone_1998-01-16.csv")
    got = answer(
        "losscone",
        "profile",
        days / "3D980116.TAB",
        "--spectrum",
        3,
        *GIVEN,
        "--start",
        -420,
        "--stop",
        20,
        "--points",
        221,
    )
    for model, suffix in zip(got["models"], ("", "_folded")):
        assert model["potential"] == float(rows[2]["potential" + suffix]) and model["misfit"] == float(
            rows[2]["misfit" + suffix]
        )
        values, grid = (
            np.array([point["misfit"] for point in model["profile"]]),
            np.array([point["potential"] for point in model["profile"]]),
        )
        assert values.min() >= model["misfit"] - 1e-6 * (1 + model["misfit"])
        inside = (grid > model["potential_lower"]) & (grid < model["potential_upper"])
        assert np.all(values[inside] <= model["misfit"] + 1e-3 * (1 + model["misfit"]))
        plateau = np.array(model["plateau"])
        if suffix:  # of counts
            assert len(plateau) == 1 and plateau[0, 1] == model["ratio"]
        assert np.isclose(plateau[:, 0].min(), model["potential_lower"]) and np.isclose(
            plateau[:, 0].max(), model["potential_upper"]
        )
        intervals = model["confidence"]["intervals"]
        assert intervals[0][0] <= model["potential_lower"] and model["potential_upper"] <= intervals[-1][1]


def test_a_profile_of_a_sweep_without_a_fit_says_why(days, tmp_path):
    def change(rows):
        for row in rows[15:30]:
            row[4:7] = ["0", "0", "0"]
        return rows

    path = spoil(days, tmp_path / "d" / "x.TAB", change)
    empty = tmp_path / "potentials.csv"
    empty.write_text("spectrum,spacecraft_potential\n1,10\n2,10\n")
    for spectrum, reason, words in (
        (2, "field", "10 V"),
        (3, "no_spacecraft_potential", "no spacecraft potential"),
    ):
        arguments = [
            "losscone",
            "profile",
            path,
            "--spectrum",
            spectrum,
            "--polarity=-1",
            "--spacecraft-potential",
            empty,
        ]
        got = answer(*arguments)
        assert [(model["status"], model["profile"], model["potential"]) for model in got["models"]] == [
            (reason, [], None)
        ] * 2
        text = run(*arguments).stdout
        assert text.count(reason) == 2 and words in text and "nan" not in text and len(text.splitlines()) == 3


def test_profiles_keep_to_the_bounds_of_the_potential(days):
    for option, words in (
        (["--start", "-5000"], "--start takes"),
        (["--stop", "30"], "--stop takes"),
        (["--start", "0", "--stop", "-9"], "above the last"),
        (["--points", "100001"], "100000"),
    ):
        done = run("losscone", "profile", days / "3D980116.TAB", "--spectrum", 3, *GIVEN, *option)
        assert done.returncode == 2 and words in done.stderr, option


def test_injections_tell_nothing_of_what_was_not_found():
    for entry in answer("losscone", "inject", "--sweeps", 5, "--bad-fields", 1)["fits"]:
        assert entry["fitted"] == 0 and {
            value for name, value in entry.items() if name not in ("truth", "response", "fitted")
        } == {None}
    for entry in answer("losscone", "inject", "--sweeps", 5, "--search", "de", "--response", "hard")["fits"]:
        assert (
            entry["fitted"] == 5
            and entry["plateau_width"] is entry["plateau_coverage"] is None
            and entry["rmse"] > 0
        )


def test_each_model_finds_its_own_truth_and_misses_the_other():
    got = {
        (entry["truth"], entry["response"]): entry
        for entry in answer("losscone", "inject", "--sweeps", 60)["fits"]
    }
    for truth, other in (("hard", "folded"), ("folded", "hard")):
        right, wrong = got[truth, truth], got[truth, other]
        assert (
            right["fitted"] == 60
            and abs(right["bias"]) < 5
            and right["rmse"] < 15
            and right["lesser_misfit"] > 0.9
        )
        assert abs(wrong["bias"]) > 4 * abs(right["bias"]) and wrong["rmse"] > 2 * right["rmse"]


def test_kappa_fits_find_the_plasma_and_the_potential(tmp_path):
    data = synthesize(
        tmp_path / "d",
        "--sweeps",
        40,
        "--plasma",
        "--noise",
        0.05,
        "--true-density",
        "1e6:3e6",
        "--true-temperature",
        "15:60",
    )
    got = answer("kappa", "fit", data, "-o", tmp_path / "t", "--polarity=-1", *SUN)
    assert got["days"][0]["statuses"] == {"fitted": 40}
    _, rows = read_csv(tmp_path / "t" / "kappa_1998-01-16.csv")
    _, truth = read_csv(data / "truth.csv")
    for name, within in (
        ("density", 0.15),
        ("kappa", 0.1),
        ("temperature", 0.15),
        ("spacecraft_potential", 0.1),
    ):
        assert np.median(np.abs(column(rows, name) / column(truth, name) - 1)) < within, name
    z = arrays(tmp_path / "t" / "kappa_1998-01-16.npz")
    assert z["spec_density"].tobytes() == column(rows, "density").tobytes() and z["rows_coverage"].shape == (
        600,
    )
    again = answer("kappa", "fit", data, "-o", tmp_path / "t", "--polarity=-1", *SUN)
    assert again["days"][0]["resumed"]
    refused = run("kappa", "fit", data, "-o", tmp_path / "t", "--polarity=-1", "--weights", "none")
    assert refused.returncode == 3 and "weights" in refused.stderr


def test_errors_of_kappa_fits_hold_the_truth_where_channels_are_folded_alike(tmp_path):
    def share(folder, *arguments):
        data = synthesize(tmp_path / folder, "--sweeps", 60, "--plasma", "--noise", 0.05, *arguments)
        answer("kappa", "fit", data, "-o", tmp_path / (folder + "t"), "--polarity=-1", *SUN)
        _, rows = read_csv(tmp_path / (folder + "t") / "kappa_1998-01-16.csv")
        pull = (
            column(rows, "temperature") - column(read_csv(data / "truth.csv")[1], "temperature")
        ) / column(rows, "temperature_error")
        return np.mean(np.abs(pull[np.isfinite(pull)]) < 1)

    assert share("folded") > 0.8 and share("none", "--channel-width", 0) < 0.3


def test_a_speed_at_its_bound_gives_no_potential(tmp_path):
    data = synthesize(
        tmp_path / "d",
        "--sweeps",
        10,
        "--plasma",
        "--noise",
        0.05,
        "--true-density",
        "1e6:3e6",
        "--true-temperature",
        "15:60",
    )
    speed = ["--speed-lower", "5e6"]  # above that of every temperature there
    got = answer("kappa", "fit", data, "-o", tmp_path / "k", "--polarity=-1", *SUN, *speed)
    _, rows = read_csv(tmp_path / "k" / "kappa_1998-01-16.csv")
    assert got["days"][0]["statuses"] == {"fitted": 10}
    assert got["days"][0]["spacecraft_potentials"] == {"distribution_at_bound": 10}
    assert {
        (row["theta_state"], row["spacecraft_potential_status"], row["spacecraft_potential"]) for row in rows
    } == {("at_lower_bound", "distribution_at_bound", "")}
    assert {row["kappa_state"] for row in rows} <= {"free", "at_lower_bound", "at_upper_bound"}
    done = run(
        "losscone", "fit", data, "-o", tmp_path / "l", "--polarity=-1", "--response", "hard", *speed, "--json"
    )
    assert (
        done.returncode == 0
        and json.loads(done.stdout)["days"][0]["statuses"] == {"no_spacecraft_potential": 10}
        and "distribution_at_bound 10" in done.stderr
    )
    one = answer("losscone", "profile", data / "3D980116.TAB", "--spectrum", 1, "--polarity=-1", *SUN, *speed)
    assert (
        one["spacecraft_potential_status"] == "distribution_at_bound" and one["spacecraft_potential"] is None
    )


def test_automatic_potentials_of_a_fit_are_those_of_the_plasma(tmp_path):
    data = synthesize(
        tmp_path / "d", "--sweeps", 12, "--plasma", "--true-density", "1e6:3e6", "--true-temperature", "15:60"
    )
    answer("kappa", "fit", data, "-o", tmp_path / "k", "--polarity=-1", *SUN)
    answer("losscone", "fit", data, "-o", tmp_path / "l", "--polarity=-1", *SUN)
    z, plasma = (
        arrays(tmp_path / "l" / "losscone_1998-01-16.npz"),
        arrays(tmp_path / "k" / "kappa_1998-01-16.npz"),
    )
    for name in ("spec_spacecraft_potential", "spec_temperature", "spec_density", "spec_kappa"):
        assert z[name].tobytes() == plasma[name].tobytes(), name
    assert np.array_equal(z["rows_electron_temperature"], np.repeat(z["spec_temperature"], 15))


# ---- quality ----


def test_medians_and_counts_of_a_day_are_those_of_good_sweeps(tmp_path):
    data = synthesize(tmp_path / "d", "--sweeps", 30, "--true-ratio", "0.26:0.6", "--beams", 0)
    day = answer("losscone", "fit", data, "-o", tmp_path / "t", *GIVEN)["days"][0]
    _, rows = read_csv(tmp_path / "t" / "losscone_1998-01-16.csv")
    z = arrays(tmp_path / "t" / "losscone_1998-01-16.npz")
    good = column(rows, "good") == 1
    words = [row["quality_folded" if row["preferred"] == "folded" else "quality"] for row in rows]
    assert [word == "good" for word in words] == list(good) and 0 < good.sum() < 30
    assert day["good"] == day["qualities"]["good"] == good.sum() and day["fitted"] == 30
    assert day["qualities"]["ratio_at_bound"] == sum("ratio_at_bound" in word for word in words)
    assert day["medians"]["potential"] == np.median(column(rows, "potential")[good])
    assert list(z["spec_good"]) == list(good) and list(z["spec_quality"]) == [row["quality"] for row in rows]
    text = run("losscone", "fit", data, "-o", tmp_path / "t", *GIVEN).stdout
    assert "good sweeps" in text and f"good {good.sum()}" in text


def test_a_day_without_cones_says_that_no_setting_helps(tmp_path):
    data = synthesize(tmp_path / "d", "--sweeps", 12, "--background", 1)
    done = run("losscone", "fit", data, "-o", tmp_path / "t", *GIVEN, "--json")
    day = json.loads(done.stdout)["days"][0]
    assert (
        done.returncode == 0 and "0 of 12 sweeps are good" in done.stderr and "does not help" in done.stderr
    )
    assert day["few_good"] == {"tried": 12, "good": 0, "cause": None} and day["medians"]["potential"] is None
