"""The reference of these tests against numbers computed elsewhere (cases.json of the project's shared
reference material, where that is)."""

import json
import os

import dayfiles
import numpy as np
import pytest
import reference as ref

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(os.path.dirname(ROOT), "shared", "losscone", "cases.json")


@pytest.fixture(scope="module")
def cases():
    if not os.path.exists(CASES):
        pytest.skip("no reference numbers here")
    with open(CASES) as file:
        return json.load(file)


def numbers(values):
    return np.array(values, dtype=float)


def near(a, b, relative):
    np.testing.assert_allclose(a, numbers(b), rtol=relative, atol=1e-300)


def test_cells_pitch_angles_and_counts(cases):
    c = cases["case01_geometry_pitch_counts"]
    near(ref.THETA, c["theta_deg"], 0)
    near(ref.PHI, c["phi_deg"], 0)
    near(ref.SOLID_ANGLE, c["solid_angle_sr"], 0)
    for polarity, key in (
        (None, "pitch_no_polarity"),
        (1, "pitch_polarity_plus"),
        (-1, "pitch_polarity_minus"),
    ):
        near(ref.pitch_angles(c["B_nT"], ref.PHI, polarity), c[key], 1e-12)
    assert ref.pseudo_counts(np.full(88, 1e5), 100.0) == c["count_for_flux_1e5_at_100eV"]["sum"]


def planted(c):
    i, j = np.arange(15)[:, None], np.arange(88)
    E = numbers(c["E"])
    flux = 1e6 * (E[:, None] / 100) ** -2.5 * (0.55 + 0.45 * np.sin(0.7 * j + 1.3 * i))
    flux[2, 5], flux[3, 7], flux[4, 9], flux[6] = 0, np.nan, -5, 0
    pitch = ref.pitch_angles(
        np.broadcast_to(numbers(c["B"]), (15, 3)), (ref.PHI + 20 + 7.5 * i) % 360, np.ones(15)
    )
    return E, pitch, flux


def test_normalisations_masks_and_misfits(cases):
    c = cases["case02_normalisation_masks_chi2"]
    E, pitch, flux = planted(c)
    near(pitch[0, :8], c["pitch_row0_first8"], 1e-12)
    for how, key in (("ratio", "ratio_mean"), ("max", "ratio_max"), ("pairs", "ratio2_mean")):
        found = ref.normalise(flux, pitch, how)
        near(np.nansum(found, axis=1), np.nan_to_num(numbers(c[key]["row_sum_finite"])), 1e-10)
        assert np.isfinite(found).sum(1).tolist() == c[key]["n_finite"]
        near(found[0, :8], c[key]["row0_first8"], 1e-10)
        near(found[14, :8], c[key]["row14_first8"], 1e-10)
    mask = ref.lillis_mask(flux, pitch)
    assert (
        mask.sum(1).tolist() == c["lillis_mask_count_per_row"]
        and mask[0].astype(int).tolist() == c["lillis_mask_row0"]
    )
    for method in ("halekas", "lillis"):
        for point in c["chi2"]:
            sweep = ref.Sweep(E, pitch, flux, point["Usc"], method)
            at = (point["U"], point["r"], point["A"])
            assert sweep.cells == point["n_" + method]
            near(sweep.misfit(at), point[method], 1e-10)
            near(sweep.prepared()(at), point[method], 1e-10)
            near(sweep.values(*at).sum(), point["model_sum"], 1e-10)


def test_small_lillis_mask(cases):
    c = cases["case03_lillis_mask_mini"]
    assert ref.lillis_mask(numbers(c["raw_flux"]), numbers(c["pitch"])).astype(int).tolist() == c["mask"]


def test_model(cases):
    c = cases["case04_forward_model"]
    E, pitch = numbers(c["E"]), np.broadcast_to(np.linspace(0, 180, 88), (15, 88))
    for k in c["cases"]:
        values = ref.model(E, pitch, k["U"], k["r"], k["A"], k["Usc"], k["width"], k["sigma"], k["bg"])
        alpha = ref.edge(E, k["U"], k["r"], k["Usc"])
        near(alpha, k["alpha_c"], 1e-10)
        assert (pitch <= 180 - alpha[:, None]).sum(1).tolist() == k["n_inside"]
        near(values.sum(), k["model_sum"], 1e-10)
        near(np.log(values + 1e-6).sum(), k["log_sum"], 1e-10)
        near(values.max(1), k["row_max"], 1e-10)
        near(values[:, 87], k["col87"], 1e-10)


def noisy(c, chunk):
    pitch = ref.pitch_angles(
        np.broadcast_to(numbers(chunk["B"]), (15, 3)),
        (ref.PHI + chunk["phi_offset"] + 7.5 * np.arange(15)[:, None]) % 360,
        np.full(15, chunk["polarity"]),
    )
    return numbers(c["E"]), pitch, numbers(chunk["flux"])


def test_noisy_sweeps(cases):
    c = cases["case07_noisy_chunks"]
    for chunk in c["chunks"]:
        sweep = ref.Sweep(*noisy(c, chunk), chunk["Usc"])
        objective = sweep.prepared()
        truth = chunk["truth"]
        near(sweep.misfit((truth["U"], truth["r"], truth["A"])), chunk["halekas_at_truth"], 1e-10)
        for key in ("halekas_best_known", "halekas_cpu_default", "halekas_lhs_only"):
            *point, misfit = chunk[key]
            near(sweep.misfit(point), misfit, 1e-9)
            near(objective(point), misfit, 1e-9)
        *point, misfit = chunk["lillis_cpu_default"]
        near(ref.Sweep(*noisy(c, chunk), chunk["Usc"], "lillis").misfit(point), misfit, 1e-9)
        profile = chunk["beamless_profile"]
        grid = np.round(np.arange(0.30, 1.1001, 0.01), 2)
        near(
            [min(objective((U, r, 0.0)) for r in grid) for U in profile["U"][8:20]],
            profile["min_over_r_grid_0.30_1.10_step_0.01"][8:20],
            1e-9,
        )


def test_the_hypercube_of_the_original_finds_its_best_samples(cases):
    cell = numbers(cases["case05_lhs_seed42"]["cell"])
    c = cases["case07_noisy_chunks"]
    points = np.array([-1000, 0.3, 0]) + (cell + 0.5) / 400 * np.array([1000, 0.8, 5])
    for chunk in c["chunks"]:
        objective = ref.Sweep(*noisy(c, chunk), chunk["Usc"]).prepared()
        best = min(points, key=objective)
        near(best, chunk["halekas_lhs_only"][:3], 1e-12)


def test_kappa(cases):
    c = cases["case08_kappa"]
    for f in c["flux"]:
        near(ref.omnidirectional(c["E"], f["n"], f["kappa"], f["theta"]), f["omni_cm2_s_eV"], 1e-10)
        near(ref.temperature(f["kappa"], f["theta"]), f["T_eV"], 1e-8)
    for t in c["theta_from_T"]:
        near(ref.theta_of(t["T"], t["kappa"]), t["theta"], 1e-8)
    E = numbers(c["E"])
    near(ref.response(E)[0], c["response"]["row0"], 1e-10)
    near(ref.response(E)[7], c["response"]["row7"], 1e-10)


def test_currents(cases):
    c = cases["case09_spacecraft_charging"]
    for U, J in c["J_of_U"]:
        near(ref.photoelectrons(U), J, 1e-10)
    for J, U in c["U_from_J"]:
        near(ref.sunlit_potential(J), U, 1e-9)
    for j in c["Je"]:
        near(
            ref.simpson_current(j["n"], j["kappa"], j["theta"], j["E_min"], j["E_max"], j["n_steps"]),
            j["value_scipy_1_11_or_later"],
            1e-9,
        )
    for j in c["Je_analytic"]:
        near(ref.thermal_current(j["n"], j["kappa"], j["theta"]), j["value"], 1e-7)
    for E, d in c["sternglass"]:
        near(ref.secondary_yield(E), d, 1e-10)
    for s in c["shade"]:
        for U, *J in s["currents"]:
            found = ref.shade_currents(U, s["n"], s["kappa"], s["T_uc"])
            if found is None:
                assert J[2] == 1e12
            else:
                near(found, J, 1e-7)  # the numbers' ions have 1e-6 eV more
        if s["U_sc"] is not None and s["n"] > 1e6:  # in hot plasma the usual sums are 10 V off
            assert abs(ref.shade_potential(s["n"], s["kappa"], s["T_uc"]) - s["U_sc"]) < 0.05


@pytest.mark.parametrize(
    "method, response", [("halekas", "hard"), ("lillis", "hard"), ("halekas", "folded"), ("lillis", "folded")]
)
def test_the_exact_profile_is_the_formula_and_below_any_grid(method, response):
    day = dayfiles.synthetic(4, 5, kind=response)
    for k in range(len(day)):
        sweep = day.sweep(k, day.truth["Usc"][k], method=method, response=response)
        for U in (-900.0, -150.0, -20.0, 0.0, 12.0):
            misfit, r = ref.profile(sweep, U)
            near(misfit, sweep.misfit((U, r, 0.0)), 1e-9)
            near(misfit, sweep.prepared()((U, r, 0.0)), 1e-9)
            assert misfit <= min(sweep.misfit((U, x, 0.0)) for x in np.linspace(0.3, 1.1, 41)) * (1 + 1e-12)
