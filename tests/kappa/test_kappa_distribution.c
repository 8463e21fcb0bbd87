/* Kappa distributions: flux, density, temperature. */
#include "spectra.h"

/* The formula with libm's gamma function. */
static double flux_of(paritas_kappa_plasma p, double energy)
{
    const double m = 9.1093837015e-31 / 1.602176634e-19, v2 = 2 * energy / m;
    const double f = p.density * exp(lgamma(p.kappa + 1) - lgamma(p.kappa - 0.5) - 1.5 * log(PI * p.kappa)) /
                     pow(p.theta, 3) * pow(1 + v2 / (p.theta * p.theta * p.kappa), -p.kappa - 1);
    return 4 * PI * 1e-4 * f * v2 / m;
}

TEST(fluxes_are_those_of_the_formula)
{
    double energy[ROWS], flux[8 * ROWS];
    const paritas_kappa_plasma plasma[8] = {{1e6, 5, 1e7}, {5e6, 3.5, 2e6},  {1e6, 2.5, 1e6},
                                            {1e6, 6, 1e8}, {3e4, 1.51, 4e6}, {1e9, 1000, 3e6},
                                            {1, 20, 1e4},  {2e5, 1.9, 1e9}};
    make_energies(1, 30000, energy);
    for (unsigned precision = 64; precision >= 32; precision -= 32) {
        paritas_context *context = open_with(NULL, 0, 1, precision);
        ASSERT_OK(context, paritas_kappa_flux(context, 8, plasma, ROWS, energy, flux));
        for (size_t k = 0; k < 8; k++)
            for (size_t i = 0; i < ROWS; i++) {
                const double truth = flux_of(plasma[k], energy[i]);
                /* an exponent of 1000 magnifies the rounding of its logarithm; below 2^-63 f32 has zeros */
                const double tolerance = precision == 64 ? 1e-12 : plasma[k].kappa > 100 ? 2e-3 : 1e-5;
                ASSERT_CLOSE(flux[k * ROWS + i], truth,
                             tolerance * truth + (precision == 32 ? 1e-20 : 1e-290));
            }
        paritas_close(context);
    }
}

TEST(fluxes_are_the_reference_ones)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    paritas_workspace *document;
    const struct json *reference = read_case(context, "case08_kappa", &document);
    double energy[ROWS], truth[ROWS], flux[ROWS];
    assert_int_equal(numbers(json_get(reference, "E"), ROWS, energy), ROWS);
    for (size_t k = 0; json_at(json_get(reference, "flux"), k); k++) {
        const struct json *one = json_at(json_get(reference, "flux"), k);
        const paritas_kappa_plasma plasma = {number(one, "n"), number(one, "kappa"), number(one, "theta")};
        numbers(json_get(one, "omni_cm2_s_eV"), ROWS, truth);
        ASSERT_OK(context, paritas_kappa_flux(context, 1, &plasma, ROWS, energy, flux));
        for (size_t i = 0; i < ROWS; i++) ASSERT_CLOSE(flux[i] / truth[i], 1, 1e-6);
        ASSERT_CLOSE(paritas_kappa_temperature(plasma.kappa, plasma.theta) / number(one, "T_eV"), 1, 1e-12);
    }
    for (size_t k = 0; json_at(json_get(reference, "theta_from_T"), k); k++) {
        const struct json *one = json_at(json_get(reference, "theta_from_T"), k);
        ASSERT_CLOSE(paritas_kappa_theta(number(one, "kappa"), number(one, "T")) / number(one, "theta"), 1,
                     1e-12);
    }
    double matrix[ROWS * ROWS], row[ROWS];
    ASSERT_OK(context, paritas_kappa_response(context, 0.5, ROWS, energy, matrix));
    for (size_t r = 0; r <= 7; r += 7) {
        numbers(json_get(json_get(reference, "response"), r ? "row7" : "row0"), ROWS, row);
        for (size_t j = 0; j < ROWS; j++) ASSERT_CLOSE(matrix[r * ROWS + j], row[j], 1e-10 * row[j] + 1e-14);
    }
    paritas_workspace_free(document);
    paritas_close(context);
}

/* n = integral of 4 pi v^2 f dv = 1e4 integral of flux / v dE, and T = (2/3) of the mean energy. */
TEST(density_and_temperature_are_the_moments_of_the_flux)
{
    enum { POINTS = 40001 };
    paritas_context *context = open_with(NULL, 0, 1, 64);
    double *energy = malloc(POINTS * sizeof *energy), *flux = malloc(POINTS * sizeof *flux);
    assert_true(energy && flux);
    const double first = log(1e-6), last = log(1e9), step = (last - first) / (POINTS - 1);
    for (size_t i = 0; i < POINTS; i++) energy[i] = fmin(1e9, exp(first + step * (double)i));
    const paritas_kappa_plasma plasma[] = {{1e6, 5, 1e7}, {5e6, 3.5, 2e6}, {2e5, 2.5, 5e6}};
    for (size_t k = 0; k < COUNT(plasma); k++) {
        double density = 0, energies = 0;
        ASSERT_OK(context, paritas_kappa_flux(context, 1, &plasma[k], POINTS, energy, flux));
        for (size_t i = 0; i < POINTS; i++) {
            const double v = sqrt(2 * energy[i] * 1.602176634e-19 / 9.1093837015e-31),
                         part = 1e4 * flux[i] / v * energy[i] * step;
            density += part;
            energies += part * energy[i];
        }
        ASSERT_CLOSE(density / plasma[k].density, 1, 1e-7);
        /* a power law of 1e9 eV / 100 eV to the -(kappa - 1.5) is cut off */
        ASSERT_CLOSE(energies / density / 1.5 / paritas_kappa_temperature(plasma[k].kappa, plasma[k].theta),
                     1, plasma[k].kappa > 3 ? 1e-6 : 1e-5);
    }
    free(energy);
    free(flux);
    paritas_close(context);
}

TEST(a_temperature_that_does_not_exist_is_nan)
{
    assert_true(isnan(paritas_kappa_temperature(1.5, 1e6)));
    assert_true(isnan(paritas_kappa_temperature(3, 0)));
    assert_true(isnan(paritas_kappa_theta(1.5, 10)));
    assert_true(isnan(paritas_kappa_theta(3, -1)));
    assert_true(isnan(paritas_kappa_theta((double)NAN, 10)));
    ASSERT_CLOSE(paritas_kappa_theta(4, paritas_kappa_temperature(4, 3e6)), 3e6, 1e-8);
}

TEST(a_response_keeps_a_constant_and_its_width)
{
    enum { POINTS = 401 };
    paritas_context *context = open_with(NULL, 0, 1, 64);
    double *energy = malloc(POINTS * sizeof *energy), *matrix = malloc(POINTS * POINTS * sizeof *matrix);
    assert_true(energy && matrix);
    for (size_t i = 0; i < POINTS; i++) energy[i] = 100 * exp(0.01 * ((double)i - 200));
    ASSERT_OK(context, paritas_kappa_response(context, 0.5, POINTS, energy, matrix));
    double sum = 0;
    for (size_t j = 0; j < POINTS; j++) sum += matrix[200 * POINTS + j];
    ASSERT_CLOSE(sum, 1, 1e-14);
    /* half of the maximum at energies that lie 0.5 of the middle one apart */
    const double h = asinh(0.25), middle = matrix[200 * POINTS + 200];
    const size_t j = 200 + (size_t)(h / 0.01);
    const double part = h / 0.01 - floor(h / 0.01),
                 at = matrix[200 * POINTS + j] * (1 - part) + matrix[200 * POINTS + j + 1] * part;
    ASSERT_CLOSE(at / middle, 0.5, 1e-3);
    ASSERT_CLOSE(exp(h) - exp(-h), 0.5, 1e-12);
    free(energy);
    free(matrix);
    paritas_close(context);
}

TEST(bad_arguments_are_named)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    double flux[4], energy[2] = {10, 20};
    const paritas_kappa_plasma plasma[2] = {{1e6, 5, 1e7}, {1e6, 1.5, 1e7}};
    assert_int_equal(paritas_kappa_flux(context, 2, plasma, 2, energy, flux), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "plasma[1]"));
    energy[1] = -1;
    assert_int_equal(paritas_kappa_flux(context, 1, plasma, 2, energy, flux), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "energy[1]"));
    assert_int_equal(paritas_kappa_response(context, 0, 1, energy, flux), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "response"));
    ASSERT_OK(context, paritas_kappa_flux(context, 0, NULL, 0, NULL, NULL));
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fluxes_are_those_of_the_formula),
        cmocka_unit_test(fluxes_are_the_reference_ones),
        cmocka_unit_test(density_and_temperature_are_the_moments_of_the_flux),
        cmocka_unit_test(a_temperature_that_does_not_exist_is_nan),
        cmocka_unit_test(a_response_keeps_a_constant_and_its_width),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
