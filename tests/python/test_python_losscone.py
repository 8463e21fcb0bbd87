"""Loss cones from Python: the program's bits, identities of model, misfit and fit, arrays that are not
copied, clear errors."""

import os

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from losscone_support import cases, directions, equal, numbers, run, synthesize
from paritas import losscone

TRUTH = np.array([[-60.0, 0.5, 0.0], [-250.0, 0.8, 0.0], [-20.0, 0.95, 0.0]])


@pytest.fixture(scope="module")
def noiseless():
    """Sweeps whose flux is the model's at TRUTH, spacecraft at 8 V."""
    energy, cosine = directions(len(TRUTH))
    blank = losscone.Sweeps.of(energy, 8.0, cosine, np.ones_like(cosine))
    flux, _ = losscone.model(blank, TRUTH)
    return losscone.Sweeps.of(energy, 8.0, cosine, flux)


@pytest.fixture(scope="module")
def noisy(noiseless):
    noise = np.exp(0.2 * np.random.default_rng(2).normal(size=noiseless.flux.shape))
    return losscone.Sweeps.of(noiseless.energy, noiseless.potential, noiseless.cosine, noiseless.flux * noise)


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Two days of clean sweeps, and one of damaged ones in a plasma, of either polarity."""
    folder = tmp_path_factory.mktemp("er")
    clean, clean_truth = synthesize(
        folder / "clean", "--days", 2, "--sweeps", 6, "--seed", 3, "--truth", "folded"
    )
    plasma, plasma_truth = synthesize(
        folder / "plasma",
        "--sweeps",
        8,
        "--plasma",
        "--missing-cells",
        0.02,
        "--missing-rows",
        0.05,
        "--bad-fields",
        0.2,
        "--true-polarity",
        "drawn",
        "--low-energies",
    )
    return {
        "clean": (os.path.join(clean, "3D980116.TAB"), clean_truth, clean),
        "plasma": (os.path.join(plasma, "3D980116.TAB"), plasma_truth, plasma),
    }


# ---- the program's bits ----

SAME = [
    ("clean", "--polarity=-1 --spacecraft-potential 7.5", {"polarity": -1, "spacecraft_potential": 7.5}, {}),
    (
        "clean",
        "--polarity=+1 --spacecraft-potential 7.5 --response hard --method lillis --threshold 0.02 "
        "--normalisation max --step 2",
        {"polarity": 1, "spacecraft_potential": 7.5, "normalisation": "max"},
        {"response": "hard", "method": "lillis", "confidence": 0.02, "step": 2.0},
    ),
    (
        "clean",
        "--polarity=-1 --spacecraft-potential 0 --response folded --search de --population 20 "
        "--generations 40 --seed 7 --normalisation pairs",
        {"polarity": -1, "spacecraft_potential": 0.0, "normalisation": "pairs", "method": "halekas"},
        {"response": "folded", "search": "de", "population": 20, "generations": 40, "seed": 7},
    ),
    (
        "plasma",
        "--geometry TRUTH --method halekas --confidence bootstrap --draws 4 --level 0.9",
        {"geometry": "TRUTH", "method": "halekas"},
        {"method": "halekas", "confidence": "bootstrap", "draws": 4, "level": 0.9},
    ),
    (
        "plasma",
        "--geometry TRUTH --spacecraft-potential TRUTH --precision f32 --potential-lower=-900 "
        "--amplitude-upper 0 --confidence none",
        {"geometry": "TRUTH", "spacecraft_potential": "TRUTH"},
        {"precision": "f32", "potential_lower": -900.0, "amplitude_upper": 0.0, "confidence": "none"},
    ),
]


@pytest.mark.parametrize("which, words, source, options", SAME)
def test_fits_have_the_bits_of_the_programs_tables(days, tmp_path, which, words, source, options):
    file, truth, _ = days[which]
    run(
        "losscone",
        "fit",
        file,
        "-o",
        tmp_path,
        "--quiet",
        *[truth if word == "TRUTH" else word for word in words.split()],
    )
    source = {name: truth if value == "TRUTH" else value for name, value in source.items()}
    fit = losscone.fit(losscone.load(file, **source), **options)
    text, arrays = losscone.read_tables(tmp_path), losscone.read_tables(tmp_path / "losscone_1998-01-16.npz")
    assert fit.table.dtype.names == text.sweeps.dtype.names
    assert [name for name in fit.table.dtype.names if not equal(fit[name], text[name])] == []
    # the arrays tell of the Sun where both flags are known alone
    shared = [
        name
        for name in fit.table.dtype.names
        if name in arrays.sweeps.dtype.names and not name.endswith("in_sun")
    ]
    assert [name for name in shared if not equal(fit[name], arrays[name])] == [] and len(shared) > 25
    assert text.provenance[0]["options"]["method"] == fit.options["method"]


def test_several_days_are_fitted_as_each_by_itself(days):
    _, _, folder = days["clean"]
    files = [path for path, _ in losscone.find(folder)]
    options = {"response": "hard", "confidence": "bootstrap", "draws": 3}
    together = losscone.fit(losscone.load(files, polarity=-1, spacecraft_potential=5.0), **options)
    alone = [
        losscone.fit(losscone.load(file, polarity=-1, spacecraft_potential=5.0), **options) for file in files
    ]
    assert len(together) == 12 and equal(together.table, np.concatenate([one.table for one in alone]))


def test_threads_and_neighbours_do_not_matter(noisy):
    options = {"confidence": "bootstrap", "draws": 4}
    whole = losscone.fit(noisy, threads=1, **options)
    assert equal(whole.table, losscone.fit(noisy, threads=2, **options).table)
    assert equal(whole.table[1:], losscone.fit(noisy[1:], **options).table) and equal(
        whole.table[2:3], losscone.fit(noisy[-1], **options).table
    )


# ---- identities ----


def test_a_fit_of_the_models_own_sweeps_finds_their_truth(noiseless):
    fit = losscone.fit(noiseless, response="hard")
    assert (
        fit["status"].tolist() == ["fitted"] * 3 and (fit["misfit"] < 1e-9).all() and (fit["gap"] == 0).all()
    )
    for k, (U, r, _) in enumerate(TRUTH):
        assert (
            fit["potential_lower"][k] <= U <= fit["potential_upper"][k]
            and fit["ratio_lower"][k] <= r <= fit["ratio_upper"][k]
        )
        corners = fit.plateau(k)
        assert (
            corners[:, 0].min() == fit["potential_lower"][k] and corners[:, 1].max() == fit["ratio_upper"][k]
        )


def test_the_edge_of_the_cone_is_where_the_formula_has_it(noiseless):
    _, edge = losscone.model(noiseless, TRUTH)
    U, r = TRUTH[:, 0, None], TRUTH[:, 1, None]
    share = r * (1 + U / (noiseless.energy - noiseless.potential))
    inside = (share > 0) & (share < 1) & (noiseless.energy > noiseless.potential)
    np.testing.assert_allclose(np.sin(np.radians(edge[inside])) ** 2, share[inside], rtol=1e-12)
    assert losscone.model(noiseless, TRUTH, response="folded")[1] is None


def test_the_misfit_is_the_sum_over_the_cells(noisy):
    points = np.array([[-100.0, 0.6, 0.0], [-30.0, 0.9, 1.5]])
    found, cells = losscone.misfit(noisy, points)
    for m, point in enumerate(points):
        model, _ = losscone.model(noisy, np.tile(point, (3, 1)))
        used = np.isfinite(noisy.cosine) & (noisy.flux > 0)
        terms = np.where(used, (np.log(noisy.flux + 1e-6) - np.log(model + 1e-6)) ** 2, 0.0)
        np.testing.assert_allclose(found[:, m], terms.sum(axis=(1, 2)), rtol=1e-12)
        assert cells.tolist() == used.sum(axis=(1, 2)).tolist()


def test_the_profile_touches_the_minimum_in_the_plateau_and_sets_lie_below_their_threshold(noisy):
    fit = losscone.fit(noisy, response="hard")
    for k in range(len(fit)):
        inside, outside = fit["potential_at_minimum"][k], fit["confidence_upper"][k] + 1.5
        profile = losscone.profile(noisy[k], [inside, outside])
        assert profile.misfit[0, 0] == pytest.approx(
            fit["misfit"][k], abs=2e-6 * (1 + fit["misfit"][k])
        ) and profile.potentials.tolist() == [inside, outside]
        assert profile.misfit[0, 1] > fit["misfit"][k] + fit["confidence_threshold"][k]
        intervals = fit.intervals(k)
        assert any(
            low <= fit["potential_lower"][k] and fit["potential_upper"][k] <= high for low, high in intervals
        )
        assert (
            equal(fit["confidence_set"][k][: len(intervals)], intervals)
            and np.isnan(fit["confidence_set"][k][len(intervals) :]).all()
        )


def test_sets_around_fits_are_those_made_with_them(noisy):
    plain, calibrated = losscone.fit(noisy), losscone.fit(noisy, confidence="bootstrap", draws=4, level=0.9)
    for response in ("hard", "folded"):
        thresholds = losscone.bootstrap(plain, response, draws=4, level=0.9)
        assert equal(losscone.confidence(plain, response), plain.sets[response])
        assert equal(losscone.confidence(plain, response, thresholds=thresholds), calibrated.sets[response])
    assert equal(plain["preferred"], np.where(plain["misfit"] <= plain["misfit_folded"], "hard", "folded"))


def test_what_is_masked_has_no_say(noisy):
    flux = noisy.flux.copy()
    flux[0], flux[1, :, :80] = np.nan, -1.0
    fit = losscone.fit((noisy.energy, noisy.potential, noisy.cosine, flux), response="hard")
    assert (
        fit["status"].tolist() == ["no_cells", "fitted", "fitted"]
        and np.isnan(fit["potential"][0])
        and fit["cells"][0] == 0
    )
    assert equal(fit.table[2:], losscone.fit(noisy, response="hard").table[2:]) and fit.plateau(
        0
    ).shape == fit.intervals(0).shape == (0, 2)
    assert fit.fitted().tolist() == [False, True, True]


# ---- arrays ----


def of_rows(sweeps, rows):
    """The sweeps with the flux of these rows alone."""
    kept = np.zeros(sweeps.energy.shape[1], bool)
    kept[rows] = True
    flux = np.where(kept[:, None], sweeps.flux, np.nan)
    return losscone.Sweeps.of(sweeps.energy, sweeps.potential, sweeps.cosine, flux)


@pytest.mark.parametrize("search", ["exact", "de"])
def test_a_cone_through_two_energies_is_not_good(noiseless, search):
    two, three = of_rows(noiseless, [3, 7]), of_rows(noiseless, [3, 5, 7])
    for sweeps, few, options in [
        (two, True, {}),
        (three, False, {}),
        (two, False, {"ratio_lower": 0.5, "ratio_upper": 0.5}),
        (of_rows(noiseless, [5]), True, {"ratio_lower": 0.5, "ratio_upper": 0.5}),
    ]:
        fit = losscone.fit(sweeps, response="hard", search=search, confidence="none", **options)
        assert all(("few_rows" in words.split("+")) == few for words in fit["quality"]), (few, options)
        assert not few or not fit.good().any()


def test_results_are_shown_by_their_sizes_counts_and_medians(noisy):
    fit = losscone.fit(noisy, response="hard")
    shown, table = repr(fit), fit.table
    words, counts = np.unique(table["status"], return_counts=True)
    assert len(shown) < 600 and f"table=<3 rows, {len(table.dtype)} columns; status" in shown
    assert all(f"{word}: {count}" in shown for word, count in zip(words, counts))
    assert f"potential median {np.nanmedian(table['potential']):.6g}" in shown
    assert f"flux=<(3, 15, 88), median {np.nanmedian(noisy.flux):.6g}>" in repr(noisy)
    assert len(repr(losscone.profile(noisy))) < 300


def test_arrays_are_borrowed_and_results_are_the_librarys_rows(noisy):
    arrays = noisy.arrays("halekas")
    assert all(
        getattr(arrays, name) is getattr(noisy, name) for name in ("energy", "potential", "cosine", "flux")
    )
    fit = losscone.fit(noisy, response="hard")
    assert fit.results["hard"].dtype["vertex"].shape == (16, 2) and np.shares_memory(
        fit.plateau(0), fit.results["hard"]
    )
    flux = noisy.flux.copy()
    assert losscone.normalise(noisy.cosine, flux, out=flux) is flux
    assert np.asarray(fit).dtype == fit.table.dtype and len(fit) == 3 and "<table>" in fit._repr_html_()


def test_one_energy_table_and_one_potential_serve_all(noisy):
    other = losscone.Sweeps.of(noisy.energy[0], [8.0] * 3, noisy.cosine, noisy.flux)
    assert equal(losscone.fit(other, response="hard").table, losscone.fit(noisy, response="hard").table)
    assert len(losscone.Sweeps.of(noisy.energy[0], 8.0, noisy.cosine[0], noisy.flux[0])) == 1
    plain = losscone.Sweeps(noisy.energy, noisy.potential, noisy.cosine, noisy.flux)
    assert equal(losscone.fit(plain, response="hard").table, losscone.fit(noisy, response="hard").table)


@pytest.mark.parametrize(
    "change, words",
    [
        (
            {"flux": np.ones((3, 15, 87))},
            r"cosine: an array of shape \(3, 15, 87\) is wanted, the one given has shape \(3, 15, 88\)",
        ),
        (
            {"cosine": np.ones((2, 15, 88))},
            r"cosine: an array of shape \(3, 15, 88\) is wanted, the one given has shape \(2, 15, 88\)",
        ),
        (
            {"energy": np.ones((3, 14))},
            r"energy: an array of shape \(3, 15\) is wanted, the one given has shape \(3, 14\)",
        ),
        ({"potential": [1.0, 2.0]}, r"potential: an array of shape \(3, 15\) is wanted"),
    ],
)
def test_a_wrong_shape_is_named(noisy, change, words):
    arrays = {name: getattr(noisy, name) for name in ("energy", "potential", "cosine", "flux")}
    with pytest.raises(paritas.InvalidArgument, match=words):
        losscone.Sweeps.of(**{**arrays, **change})


def test_degrees_for_cosines_are_named(noisy):
    angles = np.degrees(np.arccos(noisy.cosine))
    with pytest.raises(
        paritas.InvalidArgument, match=r"sweep 0, row 0, cell 0 is outside \[-1, 1\].*not degrees"
    ):
        losscone.Sweeps.of(noisy.energy, 8.0, angles, noisy.flux)
    rounded = noisy.cosine * (1.0 + 1e-15)
    assert len(losscone.Sweeps.of(noisy.energy, 8.0, rounded, noisy.flux)) == len(noisy)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"response": "soft"}, ValueError, "response 'soft': there are hard, folded, both"),
        ({"method": "least"}, ValueError, "method 'least': there are halekas, lillis"),
        ({"confidence": "sure"}, ValueError, "confidence 'sure'"),
        ({"confidence": "residuals", "search": "de"}, ValueError, "confidence sets need search='exact'"),
        ({"colour": 3}, TypeError, "there is no option 'colour'"),
        ({"ratio_lower": 2.0}, ValueError, "`ratio_lower` 2 and `ratio_upper` 1.1 are not bounds"),
        ({"box_limit": 0}, ValueError, "`box_limit` is 0"),
        ({"seed": -1}, ValueError, "seed -1: a whole number from 0"),
        ({"background": "low"}, ValueError, "background 'low': a number"),
        ({"confidence": -1.0}, ValueError, "confidence -1.0: a number from 0"),
        ({"confidence": "bootstrap", "draws": 0}, ValueError, "draws 0"),
        ({"step": -1.0}, ValueError, "step -1 V"),
    ],
)
def test_a_wrong_option_is_named(noisy, options, error, words):
    with pytest.raises(error, match=words):
        losscone.fit(noisy, **options)


def test_other_mistakes_are_told(noisy):
    with pytest.raises(paritas.InvalidArgument, match="four arrays"):
        losscone.fit((noisy.energy, noisy.flux))
    with pytest.raises(paritas.InvalidArgument, match=r"points: an array of shape \(3, 3\) is wanted"):
        losscone.model(noisy, TRUTH[:2])
    with pytest.raises(paritas.InvalidArgument, match="potentials"):
        losscone.profile(noisy, [50.0])
    assert len(noisy[np.int64(1)]) == 1
    with pytest.raises(TypeError, match="a number or a slice of step 1 is wanted, not an array"):
        noisy[np.arange(2)]
    with pytest.raises(IndexError):
        noisy[3]
    with pytest.raises(paritas.InvalidArgument, match="contiguous, writable"):
        losscone.normalise(noisy.cosine, noisy.flux, out=noisy.flux[:, ::-1])


def test_no_sweeps_have_no_answers():
    none = losscone.fit(
        (np.empty((0, 15)), np.empty((0, 15)), np.empty((0, 15, 88)), np.empty((0, 15, 88))),
        confidence="bootstrap",
        draws=2,
    )
    assert len(none) == 0 and "confidence_set" in none.table.dtype.names


def test_calls_from_threads_are_those_of_one(noisy):
    from concurrent.futures import ThreadPoolExecutor

    alone = losscone.fit(noisy)
    with ThreadPoolExecutor(4) as pool:
        assert all(
            equal(fit.table, alone.table)
            for fit in pool.map(lambda _: losscone.fit(noisy, threads=1), range(8))
        )


def test_progress_is_told_and_may_end_a_call(noisy):
    # calls of a few milliseconds tell nothing
    many = losscone.Sweeps.of(
        *(np.repeat(getattr(noisy, name), 60, axis=0) for name in ("energy", "potential", "cosine", "flux"))
    )
    told = []
    losscone.fit(many, response="hard", progress=lambda done, total: told.append((done, total)))
    assert told and all(0 <= done <= total for done, total in told)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        losscone.fit(many, progress=stop)
    assert equal(losscone.fit(noisy).table, losscone.fit(noisy, threads=1).table)


# ---- numbers computed elsewhere ----


def planted(c):
    i, j = np.arange(15)[:, None], np.arange(88)
    energy = numbers(c["E"])
    flux = 1e6 * (energy[:, None] / 100) ** -2.5 * (0.55 + 0.45 * np.sin(0.7 * j + 1.3 * i))
    flux[2, 5], flux[3, 7], flux[4, 9], flux[6] = 0, np.nan, -5, 0
    reference = cases()["case01_geometry_pitch_counts"]
    azimuth = (numbers(reference["phi_deg"]) + 20 + 7.5 * i) % 360
    cosine = losscone.cosines(
        reference["theta_deg"], np.broadcast_to(numbers(c["B"]), (1, 15, 3)), azimuth[None], np.ones((1, 15))
    )
    return energy, cosine, flux[None]


def test_pitch_angles_normalisations_masks_and_misfits_are_the_reference_cases():
    c = cases()["case02_normalisation_masks_chi2"]
    energy, cosine, flux = planted(c)
    np.testing.assert_allclose(np.degrees(np.arccos(cosine[0, 0, :8])), c["pitch_row0_first8"], rtol=1e-9)
    for how, key in (("ratio", "ratio_mean"), ("max", "ratio_max"), ("pairs", "ratio2_mean")):
        found = losscone.normalise(cosine, flux, how)[0]
        np.testing.assert_allclose(
            np.nansum(found, axis=1), np.nan_to_num(numbers(c[key]["row_sum_finite"])), rtol=1e-10
        )
        np.testing.assert_allclose(found[14, :8], numbers(c[key]["row14_first8"]), rtol=1e-10)
    normalised = losscone.normalise(cosine, flux)
    kept = np.isfinite(losscone.mask(cosine, flux, normalised, "lillis"))[0]
    assert (
        kept.sum(axis=1).tolist() == c["lillis_mask_count_per_row"]
        and kept[0].astype(int).tolist() == c["lillis_mask_row0"]
    )
    for point in c["chi2"]:
        sweeps = losscone.Sweeps.of(energy, point["Usc"], cosine, normalised, measured=flux)
        for method in ("halekas", "lillis"):
            found, cells = losscone.misfit(sweeps, [[point["U"], point["r"], point["A"]]], method=method)
            assert found[0, 0] == pytest.approx(point[method], rel=1e-9) and cells[0] == point["n_" + method]


def test_models_are_the_reference_cases():
    c = cases()["case04_forward_model"]
    cosine = np.broadcast_to(np.cos(np.radians(np.linspace(0, 180, 88))), (1, 15, 88))
    for one in c["cases"]:
        sweeps = losscone.Sweeps.of(numbers(c["E"]), one["Usc"], cosine, np.ones((1, 15, 88)))
        model, edge = losscone.model(
            sweeps,
            [one["U"], one["r"], one["A"]],
            beam_width=one["width"],
            beam_sigma=one["sigma"],
            background=one["bg"],
        )
        rows = np.isfinite(model[0]).all(axis=1)
        assert model[0, rows].sum() == pytest.approx(one["model_sum"], rel=1e-9)
        np.testing.assert_allclose(edge[0, rows], numbers(one["alpha_c"])[rows], rtol=1e-9)


def test_exact_fits_reach_the_best_that_is_known_of_the_reference_cases():
    c, reference = cases()["case07_noisy_chunks"], cases()["case01_geometry_pitch_counts"]
    for chunk in c["chunks"]:
        azimuth = (numbers(reference["phi_deg"]) + chunk["phi_offset"] + 7.5 * np.arange(15)[:, None]) % 360
        field, polarity = (
            np.broadcast_to(numbers(chunk["B"]), (1, 15, 3)),
            np.full((1, 15), float(chunk["polarity"])),
        )
        cosine = losscone.cosines(reference["theta_deg"], field, azimuth[None], polarity)
        measured = numbers(chunk["flux"])[None]
        sweeps = losscone.Sweeps.of(
            numbers(c["E"]), chunk["Usc"], cosine, losscone.normalise(cosine, measured), measured=measured
        )
        *point, best = chunk["halekas_best_known"]
        assert losscone.misfit(sweeps, [point])[0][0, 0] == pytest.approx(best, rel=1e-9)
        fit = losscone.fit(sweeps, response="hard")
        assert fit["misfit"][0] <= best + 1e-6 * (1 + best) and fit["gap"][0] == 0
        grid = chunk["beamless_profile"]
        beamless = losscone.profile(sweeps, grid["U"], amplitude_upper=0.0)
        assert (
            beamless.misfit[0] <= numbers(grid["min_over_r_grid_0.30_1.10_step_0.01"]) * (1 + 1e-9)
        ).all() and (beamless.amplitude == 0).all()


def test_beams_and_footpoints_are_the_reference_cases():
    c = cases()["case11_beam_detector"]
    found, row, ratio, energy = c["result"]
    cosine = np.broadcast_to(np.cos(np.radians(np.linspace(0, 180, 88))), (1, 15, 88))
    flux = np.where(cosine[0] < 0, numbers(c["profile"])[:, None], 1.0)[None]
    beam = losscone.beam(losscone.Sweeps.of(numbers(c["E"]), 5.0, cosine, flux))[0]
    assert (
        beam["beam_found"] == found
        and beam["beam_energy"] == energy
        and beam["beam_potential"] == 5.0 - energy
    )
    assert beam["beam_ratio"] == pytest.approx(ratio)
    ray = cases()["case10_geometry"]["ray"]
    for position, direction, expected in zip(ray["pos"], ray["dir"], ray["points"]):
        point, polarity, _, _ = losscone.footpoint(position, direction)
        wanted = numbers(expected)
        assert (polarity != 0) == bool(np.isfinite(wanted).all())
        if polarity != 0:
            np.testing.assert_allclose(point, wanted, rtol=1e-10, atol=1e-9)
    scd = cases()["case10_geometry"]["scd"]
    for spin, sun, axes in zip(scd["spin_radec"], scd["sun"], scd["matrix_rows_XYZ_columns"]):
        np.testing.assert_allclose(losscone.despun_axes(*spin, sun), numbers(axes), atol=1e-12)


# ---- quality ----


def test_a_common_factor_on_fluxes_leaves_every_answer(noisy, noiseless):
    measured = 3e-3 * noisy.flux
    for how in ("ratio", "max", "pairs"):
        normalised = losscone.normalise(noisy.cosine, measured, how)
        for power in (-900, -60, -1, 30):
            assert equal(losscone.normalise(noisy.cosine, measured * 2.0**power, how), normalised)
        tiny = losscone.normalise(noisy.cosine, measured * 1e-15, how)
        np.testing.assert_allclose(tiny, normalised, rtol=1e-14)
    arrays = noisy.energy, noisy.potential, noisy.cosine
    fits = [
        losscone.fit((*arrays, losscone.normalise(noisy.cosine, measured * factor)))
        for factor in (1.0, 2.0**-50, 1e-15)
    ]
    assert equal(fits[0]["potential"], fits[1]["potential"]) and equal(fits[0]["misfit"], fits[1]["misfit"])
    np.testing.assert_allclose(fits[2]["potential"], fits[0]["potential"], rtol=1e-12)


def test_good_is_the_quality_of_the_preferred_model(noisy):
    away = losscone.fit((noisy.energy, noisy.potential, -noisy.cosine, noisy.flux))
    assert not away.good().any() and all("no_edge" in words for words in away["quality"])
    fit = losscone.fit(noisy)
    assert fit.good().all() and (fit["quality"] == "good").all() and (fit["preferred"] == "hard").all()
    assert (fit["quality_folded"] == "other_model").all()
    alone = losscone.fit(noisy, response="folded")
    assert "other_model" not in set(alone["quality"]) and alone["noise"] == pytest.approx(0.2, rel=0.2)
