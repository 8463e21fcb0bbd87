"""Kappa distributions and spacecraft potentials from Python: closed forms, balances of currents, the
program's bits."""

import os
import warnings

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from losscone_support import cases, directions, equal, run, synthesize
from paritas import kappa, losscone

ENERGY = np.geomspace(10.0, 12000.0, 15)
PLASMA = kappa.plasma([2e5, 1e6, 4e6], [3.0, 4.0, 5.0], [3e6, 5e6, 2.5e6])
MASS = 5.685630103565723e-12  # eV s^2/m^2


@pytest.fixture(scope="module")
def spectra():
    """Spectra of PLASMA without noise, as the instrument's channels see them."""
    energy = np.tile(ENERGY, (3, 1))
    flux = kappa.flux(ENERGY, PLASMA) @ kappa.response(ENERGY).T
    return kappa.Spectra(
        energy,
        flux,
        sensitivity=1e4 / flux.max(axis=1, keepdims=True) * np.ones(15),
        counts=np.full((3, 15), 1e6),
    )


def test_fluxes_are_the_formula():
    from math import gamma

    for row, found in zip(PLASMA, kappa.flux(ENERGY, PLASMA)):
        density, k, theta = row
        square = 2 * ENERGY / MASS
        phase = (
            density
            * gamma(k + 1)
            / ((np.pi * k) ** 1.5 * gamma(k - 0.5) * theta**3)
            * (1 + square / theta**2 / k) ** -(k + 1)
        )
        np.testing.assert_allclose(found, 1e-4 * 4 * np.pi * square * phase / MASS, rtol=1e-12)  # per cm^2


def test_temperature_and_speed_are_inverse():
    k, theta = np.array([[2.0], [4.0]]), np.array([1e6, 3e6, 1e7])
    T = kappa.temperature(k, theta)
    assert T.shape == (2, 3)
    np.testing.assert_allclose(T, k / (k - 1.5) * 0.5 * MASS * theta**2, rtol=1e-14)
    np.testing.assert_allclose(kappa.theta(k, T), np.broadcast_to(theta, (2, 3)), rtol=1e-14)
    assert np.isnan(kappa.temperature(1.5, 1e6)) and kappa.temperature(3.0, 1e6).shape == ()


@pytest.mark.parametrize("weights", ["counts", "original", "none"])
def test_fits_of_spectra_without_noise_find_their_plasma(spectra, weights):
    fit = kappa.fit(spectra, weights=weights)
    assert (
        fit.fitted.all()
        and fit["plasma_status"].tolist() == ["fitted"] * 3
        and fit["kappa_state"].tolist() == ["free"] * 3
    )
    np.testing.assert_allclose(fit.plasma, PLASMA, rtol=1e-4)
    np.testing.assert_allclose(fit["temperature"], kappa.temperature(fit["kappa"], fit["theta"]), rtol=1e-12)
    np.testing.assert_allclose(
        fit["density_error"] / fit["density"], np.sqrt(fit.covariance[:, 0, 0]), rtol=1e-9
    )
    at_fit = kappa.misfit(spectra, fit.plasma, weights=weights)
    np.testing.assert_allclose(np.diag(at_fit), fit["plasma_misfit"], rtol=1e-9, atol=1e-9)
    assert (at_fit + np.eye(3) * 1e300 > np.diag(at_fit)[:, None]).all()


@pytest.mark.parametrize("rows", [8, 15, 32, 48, 64])
def test_spectra_of_any_number_of_energies_find_their_plasma(rows):
    """Counts of Poisson numbers with gains that differ by 5 % from what is thought."""
    random, n = np.random.default_rng(rows), 600
    energy = np.geomspace(8.0, 20000.0, rows)
    flux = np.repeat(kappa.flux(energy, PLASMA), n // 3, axis=0)
    sensitivity = 0.2 * energy * 15.0 / rows * np.ones((n, 1))
    mean = flux * sensitivity * random.gamma(400.0, 1.0 / 400.0, flux.shape)
    made = kappa.Spectra(np.tile(energy, (n, 1)), random.poisson(mean) / sensitivity, sensitivity)
    fit = kappa.fit(made, response=0.0, systematic=0.05, kappa_lower=1.6, kappa_upper=100.0, theta_lower=1e5)
    truth = np.repeat(PLASMA, n // 3, axis=0)
    temperature = kappa.temperature(truth[:, 1], truth[:, 2])
    assert fit.fitted.all() and (fit["plasma_rows"] == rows).all()
    for name, values in zip(("density", "kappa", "theta", "temperature"), (*truth.T, temperature)):
        pull = (fit[name] - values) / fit[f"{name}_error"]
        assert abs(np.median(pull)) < 0.25 and 0.62 < np.mean(np.abs(pull) < 1.0) < 0.75, name
    found = kappa.spacecraft_potential(made, True, kappa={"response": 0.0})
    assert (found["plasma_rows"] <= rows).all() and found.found.mean() > 0.9


def test_sweeps_of_another_grid_need_their_cells():
    flux = np.ones((2, 4, 6))
    with pytest.raises(paritas.InvalidArgument, match="sweeps of 4 energies and 6 directions need it"):
        kappa.spectrum(np.ones((2, 4)), flux, np.full(flux.shape, 0.5))
    made = kappa.spectrum(
        np.full((2, 4), 100.0), flux, np.full(flux.shape, 0.5), solid_angle=np.full(6, 0.5), exposure=1e-3
    )
    np.testing.assert_allclose(made.flux, 4.0 * np.pi, rtol=1e-12)
    np.testing.assert_allclose(made.coverage, 3.0 / (2.0 * np.pi), rtol=1e-12)
    assert made.counts.tolist() == [[0.0] * 4] * 2  # of 0.1 a cell
    with pytest.raises(paritas.InvalidArgument, match="spectra.rows: 65 energies; at most 64"):
        kappa.fit(kappa.Spectra(*np.ones((3, 2, 65))))


def test_plasmas_are_found_above_a_background(spectra):
    flux = 30.0 / spectra.sensitivity  # 30 counts a row
    above = kappa.Spectra(spectra.energy, spectra.flux, spectra.sensitivity, background=flux)
    fit, bare = kappa.fit(above), kappa.fit(spectra)
    np.testing.assert_allclose(fit.plasma, PLASMA, rtol=1e-3)
    assert (fit["kappa_error"] > bare["kappa_error"]).all()
    ignored = kappa.fit(kappa.Spectra(spectra.energy, spectra.flux + flux, spectra.sensitivity))
    assert (np.abs(ignored["temperature"] / bare["temperature"] - 1) > 0.02).any()
    shifted = above.shifted(5.0)
    np.testing.assert_allclose(shifted.background / shifted.flux, flux / spectra.flux, rtol=1e-12)


def test_a_spectrum_of_nothing_says_so(spectra):
    flux = spectra.flux.copy()
    flux[0], flux[1, 2:] = np.nan, np.nan
    fit = kappa.fit(kappa.Spectra(spectra.energy, flux, spectra.sensitivity))
    assert fit["plasma_status"].tolist() == ["no_rows", "too_few_rows", "fitted"] and fit[
        "kappa_state"
    ].tolist() == ["", "", "free"]
    assert np.isnan(fit["density"][:2]).all()
    assert "<table>" in fit._repr_html_() and len(fit) == 3


def test_written_fits_are_read(spectra, tmp_path):
    path = tmp_path / "kappa_mine.csv"
    for options in ({}, {"density": "estimate", "response": 0.0}):
        found = kappa.fit(spectra, **options)
        found.write(path)
        read = losscone.read_tables(path)
        names = found.table.dtype.names
        assert read.sweeps.dtype.names == names and all(equal(read[name], found[name]) for name in names)
        (provenance,) = read.provenance
        assert provenance["command"] == "paritas.kappa.fit" and provenance["columns"] == list(names)
        assert provenance["options"] == found.options and found.options.items() >= options.items()
    with pytest.raises(paritas.Unwritable, match="x.csv: cannot be written"):
        found.write(tmp_path / "nowhere" / "x.csv")


def test_the_response_keeps_sums():
    np.testing.assert_allclose(kappa.response(ENERGY, 0.4).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(kappa.response(ENERGY, 1e-3), np.eye(15), atol=1e-12)
    with pytest.raises(paritas.InvalidArgument, match="response: 0"):
        kappa.response(ENERGY, 0.0)


def test_an_isotropic_flux_is_its_own_spectrum():
    energy, cosine = directions(2)
    made = kappa.spectrum(energy, np.full((2, 15, 88), 3.0), cosine)
    np.testing.assert_allclose(made.flux, 4 * np.pi * 3.0, rtol=1e-12)
    np.testing.assert_allclose(made.coverage, 1.0, rtol=1e-12)
    rate, flux = np.array([0.0, 7.0]), np.full((2, 15, 88), 3.0)
    less = kappa.spectrum(energy, flux, cosine, background_rate=rate)
    np.testing.assert_allclose(
        less.background, 4 * np.pi * rate[:, None] / (0.02 * np.asarray(energy)), rtol=1e-12
    )
    np.testing.assert_allclose(less.flux + less.background, 4 * np.pi * 3.0, rtol=1e-12)
    flux[:, :, ::2] = np.nan
    half = kappa.spectrum(energy, flux, cosine)
    assert (half.coverage < 0.9).all() and len(half) == 2
    np.testing.assert_allclose(half.flux, made.flux, rtol=1e-12)


def test_currents_are_the_formulas():
    U = np.array([0.0, 5.0, 40.0])
    np.testing.assert_allclose(
        kappa.photoelectron_current(U), 1.07e-6 * np.exp(-U / 5) + 1.6e-8 * np.exp(-U / 60), rtol=1e-14
    )
    np.testing.assert_allclose(kappa.photoelectron_potential(kappa.photoelectron_current(U)), U, atol=1e-9)
    z = np.array([0.5, 2.0])
    np.testing.assert_allclose(kappa.secondary_yield(500 * z), 11.1 * z * np.exp(-2 * np.sqrt(z)), rtol=1e-14)
    E = np.exp(np.linspace(np.log(20.0), np.log(3000.0), 20001))
    integrand = kappa.flux(E, PLASMA) * 1e4 * 1.602176634e-19 / 4 * E
    expected = ((integrand[:, 1:] + integrand[:, :-1]) / 2 * np.diff(np.log(E))).sum(axis=1)
    np.testing.assert_allclose(kappa.electron_current(PLASMA, 20.0, 3000.0), expected, rtol=1e-7)


def test_currents_balance_at_the_potentials():
    sun, shade = kappa.spacecraft_potential(PLASMA, True), kappa.spacecraft_potential(PLASMA, False)
    assert sun.found.all() and sun["sunlit"].all() and not shade["sunlit"].any()
    np.testing.assert_allclose(sun.results["electrons"], sun.results["emitted"], rtol=1e-9)
    np.testing.assert_allclose(
        kappa.photoelectron_current(sun["spacecraft_potential"]), sun.results["emitted"], rtol=1e-9
    )
    for k in np.flatnonzero(shade.found):
        electrons, secondaries, ions = kappa.shade_currents(
            PLASMA[k], shade["spacecraft_potential"][k : k + 1]
        )[0, 0]
        assert electrons == pytest.approx(secondaries + ions, rel=1e-6)
    assert shade.found.any() and np.isnan(sun["spacecraft_potential_error"]).all()


def test_potentials_of_spectra_are_those_of_their_last_fits(spectra):
    found = kappa.spacecraft_potential(spectra, [True, False, True])
    again = kappa.spacecraft_potential(found.fits, [True, False, True])
    assert found["spacecraft_potential_status"].tolist() == ["found"] * 3
    np.testing.assert_allclose(found["spacecraft_potential"], again["spacecraft_potential"], rtol=1e-6)
    assert (found["spacecraft_potential_error"] > 0).all() and found["spacecraft_potential_shift"][1] == 0
    assert equal(found.table, kappa.spacecraft_potential(spectra, [True, False, True], threads=1).table)


@pytest.mark.parametrize(
    "words, kappa_options, illumination",
    [
        ("", {}, "sun"),
        (
            "--illumination shade --weights original --density estimate --channel-width 0 --kappa-upper 8",
            {"weights": "original", "density": "estimate", "response": 0.0, "kappa_upper": 8.0},
            "shade",
        ),
    ],
)
def test_spectra_of_a_day_have_the_bits_of_the_programs_tables(tmp_path, words, kappa_options, illumination):
    folder, _ = synthesize(tmp_path / "er", "--sweeps", 6, "--plasma", "--missing-cells", 0.01)
    run("kappa", "fit", folder, "--polarity=-1", *words.split(), "-o", tmp_path / "out", "--quiet")
    table = losscone.read_tables(tmp_path / "out")
    sweeps = losscone.load(
        os.path.join(folder, "3D980116.TAB"),
        polarity=-1,
        kappa_options=kappa_options,
        illumination=illumination,
    )
    found = sweeps.table()
    assert found.dtype.names == table.sweeps.dtype.names
    assert [name for name in found.dtype.names if not equal(found[name], table[name])] == []


def test_spectra_of_given_potentials_are_shifted_as_the_program_does(tmp_path):
    folder, _ = synthesize(tmp_path / "er", "--sweeps", 4, "--plasma")
    run(
        "kappa",
        "fit",
        folder,
        "--polarity=-1",
        "--spacecraft-potential",
        6.5,
        "-o",
        tmp_path / "out",
        "--quiet",
    )
    table = losscone.read_tables(tmp_path / "out")
    sweeps = losscone.load(os.path.join(folder, "3D980116.TAB"), polarity=-1, spacecraft_potential=6.5)
    fit = kappa.fit(kappa.spectrum(sweeps.energy, sweeps.measured, sweeps.cosine).shifted(6.5))
    assert [
        name for name in fit.table.dtype.names if not equal(fit[name], table[name])
    ] == [] and fit.fitted.any()


def test_mistakes_are_named(spectra):
    with pytest.raises(paritas.InvalidArgument, match="weights 'mine': there are counts, original, none"):
        kappa.fit(spectra, weights="mine")
    with pytest.raises(TypeError, match="there is no option 'width'"):
        kappa.fit(spectra, width=3)
    with pytest.raises(
        paritas.InvalidArgument,
        match=r"energy: an array of shape \(2, 15\) or \(15,\) is wanted, .* has shape \(3, 15\)",
    ):
        kappa.fit(kappa.Spectra(spectra.energy, spectra.flux[:2]))
    with pytest.raises(paritas.InvalidArgument, match="sensitivity is missing; .* 'none' do not"):
        kappa.fit(kappa.Spectra(spectra.energy, spectra.flux))
    with pytest.raises(paritas.InvalidArgument, match="flux: 3 axes"):
        kappa.Spectra(spectra.energy, spectra.flux[:, :, None])
    with pytest.raises(
        paritas.InvalidArgument, match=r"sunlit: one flag or 3 are wanted, the array given has shape \(2,\)"
    ):
        kappa.spacecraft_potential(spectra, [True, False])
    with pytest.raises(paritas.InvalidArgument, match="plasma: rows of 3 numbers"):
        kappa.flux(ENERGY, PLASMA[:, :2])


def test_distributions_are_the_reference_cases():
    c = cases()["case08_kappa"]
    for one in c["flux"]:
        found = kappa.flux(c["E"], kappa.plasma(one["n"], one["kappa"], one["theta"]))[0]
        np.testing.assert_allclose(found, one["omni_cm2_s_eV"], rtol=1e-6)  # of another mass
    np.testing.assert_allclose(kappa.response(c["E"], 0.5)[7], c["response"]["row7"], rtol=1e-9)
    charging = cases()["case09_spacecraft_charging"]
    for U, current in charging["J_of_U"]:
        assert kappa.photoelectron_current(U) == pytest.approx(current, rel=1e-10)


def test_what_spectra_have_in_common_is_given_once():
    energy = np.geomspace(10.0, 20000.0, 32)
    flux = kappa.flux(energy, kappa.plasma([2e6, 5e6], 4.0, kappa.theta(4.0, 40.0)))
    options = {"weights": "none", "response": 0.0}
    both = kappa.fit(kappa.Spectra(energy, flux), **options)
    each = kappa.fit(kappa.Spectra(np.tile(energy, (2, 1)), flux), **options)
    assert both.table.tobytes() == each.table.tobytes()
    assert len(kappa.fit(kappa.Spectra(energy, flux[0], 0.05 * energy), response=0.0)) == 1
    np.testing.assert_allclose(both["temperature"], 40.0, rtol=1e-3)


def test_fluxes_of_0_with_equal_weights_are_told():
    energy = np.geomspace(6.0, 28000.0, 24)
    flux = kappa.flux(energy, kappa.plasma([5e6] * 3, 4.0, kappa.theta(4.0, 49.0)))
    options = {"weights": "none", "response": 0.0}
    flux[1:, -3:] = 0.0
    told = "spectrum 1: the flux is 0 in 3 of 24 energies and in 1 more spectra. With weights 'none'"
    with pytest.warns(UserWarning, match=told):
        kappa.fit(kappa.Spectra(energy, flux), **options)
    with pytest.warns(UserWarning, match=told):
        kappa.spacecraft_potential(kappa.Spectra(energy, flux), True, kappa=options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kappa.fit(kappa.Spectra(energy, flux, 0.05 * energy), response=0.0)
        flux[1:, -3:] = np.nan
        unmeasured = kappa.fit(kappa.Spectra(energy, flux), **options)
    np.testing.assert_allclose(unmeasured["temperature"], 49.0, rtol=1e-3)
