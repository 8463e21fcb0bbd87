/* Omnidirectional spectra from sweeps. */
#include "spectra.h"

static const double field[3] = {0.3745401188, 0.9507143064, 0.7319939418};

struct sweep {
    double theta[CELLS], energy[ROWS], flux[ROWS * CELLS], cosine[ROWS * CELLS];
    paritas_cells cells;
};
struct answer {
    double omni[ROWS], coverage[ROWS], sensitivity[ROWS], counts[ROWS], error[ROWS];
};

/* `incident` in every cell of the incident hemisphere for an omnidirectional flux of 1, `reflected` in the
 * others. */
static void make_sweep(struct sweep *s, double incident, double reflected)
{
    double phi[CELLS];
    make_cells(s->theta, phi);
    make_energies(20, 20000, s->energy);
    for (size_t i = 0; i < ROWS; i++) {
        make_cosines(field, -1, s->cosine + i * CELLS);
        for (size_t c = 0; c < CELLS; c++)
            s->flux[i * CELLS + c] = (s->cosine[i * CELLS + c] > 0 ? incident : reflected) / (4 * PI);
    }
    s->cells = (paritas_cells)PARITAS_CELLS_DEFAULT;
    s->cells.theta = s->theta;
}

static void make_spectrum(paritas_context *context, const struct sweep *s, struct answer *a)
{
    const paritas_spectrum_request request = {.size = sizeof request,
                                              .cells = &s->cells,
                                              .n = 1,
                                              .energy = s->energy,
                                              .flux = s->flux,
                                              .cosine = s->cosine,
                                              .omni = a->omni,
                                              .coverage = a->coverage,
                                              .sensitivity = a->sensitivity,
                                              .counts = a->counts,
                                              .error = a->error};
    ASSERT_OK(context, paritas_kappa_spectrum(context, &request));
}

TEST(an_isotropic_flux_is_its_integral)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer a;
    make_sweep(&s, 3e5, 3e5);
    make_spectrum(context, &s, &a);
    for (size_t i = 0; i < ROWS; i++) {
        ASSERT_CLOSE(a.omni[i], 3e5, 1e-9);
        ASSERT_CLOSE(a.coverage[i], 1, 1e-14);
        ASSERT_CLOSE(a.error[i], sqrt(a.counts[i]), 0);
    }
    paritas_close(context);
}

TEST(only_the_incident_hemisphere_counts_and_the_polarity_tells_which_it_is)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer a;
    make_sweep(&s, 2e5, 0);
    make_spectrum(context, &s, &a);
    for (size_t i = 0; i < ROWS; i++) ASSERT_CLOSE(a.omni[i], 2e5, 1e-9);
    for (size_t c = 0; c < ROWS * CELLS; c++) s.cosine[c] = -s.cosine[c];
    make_spectrum(context, &s, &a);
    for (size_t i = 0; i < ROWS; i++) ASSERT_CLOSE(a.omni[i], 0, 1e-9);
    paritas_close(context);
}

/* What is lost lowers the coverage and the counts, not the flux; the sensitivity tells what the rest is
 * worth. */
TEST(a_masked_cell_does_not_lower_the_flux)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer whole, part;
    const double marks[] = {(double)NAN, INFINITY, 9.999e-99, -9.99e-99};
    make_sweep(&s, 3e5, 3e5);
    make_spectrum(context, &s, &whole);
    for (size_t k = 0; k < ROWS * CELLS; k += 3) s.flux[k] = marks[k / 3 % 4];
    for (size_t k = 1; k < ROWS * CELLS; k += 7) s.cosine[k] = (double)NAN;
    make_spectrum(context, &s, &part);
    for (size_t i = 0; i < ROWS; i++) {
        ASSERT_CLOSE(part.omni[i], 3e5, 1e-9);
        assert_true(part.coverage[i] < 0.75 && part.coverage[i] > 0.4);
        assert_true(part.counts[i] < 0.75 * whole.counts[i]);
        assert_true(part.sensitivity[i] < 0.8 * whole.sensitivity[i]);
    }
    for (size_t c = 0; c < CELLS; c++) s.flux[c] = (double)NAN;
    s.energy[1] = 0;
    make_spectrum(context, &s, &part);
    for (size_t i = 0; i < 2; i++) {
        assert_true(isnan(part.omni[i]));
        assert_true(part.counts[i] == 0);
    }
    paritas_close(context);
}

/* sensitivity = flux / variance of the flux, where counts are Poisson numbers. */
TEST(the_sensitivity_is_that_of_counts_of_poisson)
{
    enum { SWEEPS = 4000 };
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer a, truth;
    uint64_t seed = 5;
    make_sweep(&s, 1e3, 1e3);
    make_spectrum(context, &s, &truth);
    double sum[ROWS] = {0}, square[ROWS] = {0};
    for (size_t k = 0; k < SWEEPS; k++) {
        for (size_t i = 0; i < ROWS; i++)
            for (size_t c = 0; c < CELLS; c++) {
                const double magnitude = fabs(s.theta[c]),
                             cells = magnitude < 45   ? 16
                                     : magnitude < 67 ? 8
                                                      : 4,
                             exposure = 0.02 * s.energy[i] * 2.5 / cells;
                s.flux[i * CELLS + c] = poisson(&seed, 1e3 / (4 * PI) * exposure) / exposure;
            }
        make_spectrum(context, &s, &a);
        for (size_t i = 0; i < ROWS; i++) {
            sum[i] += a.omni[i];
            square[i] += a.omni[i] * a.omni[i];
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        const double mean = sum[i] / SWEEPS, variance = square[i] / SWEEPS - mean * mean;
        ASSERT_CLOSE(mean / 1e3, 1, 5 * sqrt(variance / SWEEPS) / 1e3);
        ASSERT_CLOSE(variance * truth.sensitivity[i] / 1e3, 1, 5 * sqrt(2.0 / SWEEPS) + 0.02);
    }
    paritas_close(context);
}

TEST(spectra_and_counts_are_the_reference_ones)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    paritas_workspace *document;
    const struct json *reference = read_case(context, "case01_geometry_pitch_counts", &document);
    static struct sweep s;
    struct answer a;
    double solid_angle[CELLS], counts[ROWS], omni[ROWS], field_here[3];
    make_sweep(&s, 1, 1);
    assert_int_equal(numbers(json_get(reference, "theta_deg"), CELLS, s.theta), CELLS);
    assert_int_equal(numbers(json_get(reference, "solid_angle_sr"), CELLS, solid_angle), CELLS);
    for (size_t i = 0; i < ROWS; i++) s.energy[i] = 100;
    for (size_t c = 0; c < ROWS * CELLS; c++) s.flux[c] = 1e5;
    make_spectrum(context, &s, &a);
    assert_true(a.counts[3] == number(json_get(reference, "count_for_flux_1e5_at_100eV"), "sum"));
    assert_true(a.error[3] == number(json_get(reference, "count_for_flux_1e5_at_100eV"), "err"));
    const double given = a.omni[3];
    s.cells.solid_angle = solid_angle;
    make_spectrum(context, &s, &a);
    ASSERT_CLOSE(a.omni[3] / given, 1, 1e-6); /* the table has six digits */
    paritas_workspace_free(document);

    reference = read_case(context, "case08_kappa", &document);
    for (size_t k = 0; k < 2; k++) {
        const struct json *fit = json_at(json_get(reference, "fits"), k);
        const paritas_kappa_plasma plasma = {number(fit, "n"), number(fit, "kappa"), number(fit, "theta")};
        numbers(json_get(fit, "E"), ROWS, s.energy);
        numbers(json_get(fit, "omni_2x_incident"), ROWS, omni);
        numbers(json_get(fit, "count"), ROWS, counts);
        numbers(json_get(fit, "B_mag"), 3, field_here);
        double flux[ROWS];
        ASSERT_OK(context, paritas_kappa_flux(context, 1, &plasma, ROWS, s.energy, flux));
        for (size_t i = 0; i < ROWS; i++) {
            make_cosines(field_here, -1, s.cosine + i * CELLS);
            for (size_t c = 0; c < CELLS; c++) s.flux[i * CELLS + c] = flux[i] / (4 * PI);
        }
        make_spectrum(context, &s, &a);
        for (size_t i = 0; i < ROWS; i++) {
            ASSERT_CLOSE(a.omni[i] / omni[i], 1, 1e-6);
            assert_true(a.counts[i] == counts[i]);
        }
    }
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(counts_are_rounded_half_to_even)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer a;
    make_sweep(&s, 1, 1);
    for (size_t i = 0; i < ROWS; i++) s.energy[i] = 320; /* 1 count in a cell of 16 at a flux of 1 */
    for (size_t k = 0; k < ROWS * CELLS; k++) s.flux[k] = 0;
    s.flux[0] = 2.5;          /* 2 */
    s.flux[1] = 3.5;          /* 4 */
    s.flux[CELLS] = 0.5;      /* 0 */
    s.flux[CELLS + 1] = 0.51; /* 1 */
    s.flux[2 * CELLS] = -7;   /* 0 */
    make_spectrum(context, &s, &a);
    assert_true(a.counts[0] == 6 && a.counts[1] == 1 && a.counts[2] == 0);
    paritas_close(context);
}

/* Lunar Prospector's sweep as that of another instrument, and directions that it does not have. */
TEST(sweeps_of_another_instrument_have_their_own_cells)
{
    enum { MORE = CELLS + 3 };
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    static double flux[ROWS * MORE], cosine[ROWS * MORE], angle[ROWS * MORE], exposure[ROWS * MORE];
    struct answer own, other;
    const double angles[] = {0.15027943247108658, 0.12740075116381128, 0.170252920765062,
                             0.11956975072518114},
                 cells[] = {16, 16, 8, 4};
    make_sweep(&s, 3e5, 2e5);
    for (size_t c = 0; c < ROWS * CELLS; c += 5) s.flux[c] = (double)NAN;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < MORE; c++) {
            const size_t to = i * MORE + c, ring = c < CELLS ? (size_t)(fabs(s.theta[c]) / 22.5) : 0;
            flux[to] = c < CELLS ? s.flux[i * CELLS + c] : 7e9;
            cosine[to] = c < CELLS ? s.cosine[i * CELLS + c] : 0.5;
            angle[to] = c == CELLS ? 0 : angles[ring];
            exposure[to] = c > CELLS ? (double)NAN : 0.02 * 2.5 / cells[ring];
        }
    paritas_spectrum_request request = {.size = sizeof request,
                                        .n = 1,
                                        .energy = s.energy,
                                        .flux = flux,
                                        .cosine = cosine,
                                        .omni = other.omni,
                                        .coverage = other.coverage,
                                        .sensitivity = other.sensitivity,
                                        .counts = other.counts,
                                        .error = other.error,
                                        .grid = {ROWS, MORE},
                                        .solid_angle = angle,
                                        .exposure = exposure};
    make_spectrum(context, &s, &own);
    ASSERT_OK(context, paritas_kappa_spectrum(context, &request));
    for (size_t i = 0; i < ROWS; i++) {
        ASSERT_CLOSE(other.omni[i] / own.omni[i], 1, 1e-12);
        ASSERT_CLOSE(other.coverage[i] / own.coverage[i], 1, 1e-12);
        ASSERT_CLOSE(other.sensitivity[i] / own.sensitivity[i], 1, 1e-12);
        assert_true(other.counts[i] == own.counts[i] && other.error[i] == own.error[i]);
    }
    request.exposure = NULL;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "exposure: NULL; the cells of another grid need it");
    request.exposure = exposure;
    request.rate = s.theta;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "rate: not NULL; exposures of another grid"));
    request.rate = NULL;
    request.grid.rows = 65;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "grid.rows: 65 energies; at most 64");
    request.grid = (paritas_sweep_grid){ROWS, 65537};
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "grid.cells: 65537 directions; at most 65536");
    paritas_close(context);
}

TEST(bad_arguments_are_named)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    static struct sweep s;
    struct answer a;
    make_sweep(&s, 1, 1);
    paritas_spectrum_request request = {.size = sizeof request,
                                        .n = 1,
                                        .energy = s.energy,
                                        .flux = s.flux,
                                        .cosine = s.cosine,
                                        .omni = a.omni};
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "cells: must not be NULL");
    request.cells = &s.cells;
    s.theta[5] = 91;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "theta[5]"));
    s.theta[5] = 11.25;
    request.cosine = NULL;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "cosine"));
    request.cosine = s.cosine;
    ASSERT_OK(context, paritas_kappa_spectrum(context, &request));
    request.grid.rows = 99;
    request.size = offsetof(paritas_spectrum_request, grid); /* of a caller that knows no other grids */
    ASSERT_OK(context, paritas_kappa_spectrum(context, &request));
    request.size = 8;
    assert_int_equal(paritas_kappa_spectrum(context, &request), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "paritas_spectrum_request"));
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_isotropic_flux_is_its_integral),
        cmocka_unit_test(only_the_incident_hemisphere_counts_and_the_polarity_tells_which_it_is),
        cmocka_unit_test(a_masked_cell_does_not_lower_the_flux),
        cmocka_unit_test(the_sensitivity_is_that_of_counts_of_poisson),
        cmocka_unit_test(spectra_and_counts_are_the_reference_ones),
        cmocka_unit_test(counts_are_rounded_half_to_even),
        cmocka_unit_test(sweeps_of_another_instrument_have_their_own_cells),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
