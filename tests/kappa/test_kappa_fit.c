/* Fits of kappa distributions: truth is found, its errors cover it, the minimum is one, what is said of it
 * holds. */
#include "plasmas.h"
#include "refusing.h"

static paritas_kappa_result *fit_set(const paritas_spectra *spectra, const paritas_kappa_options *options,
                                     unsigned precision)
{
    paritas_context *context = open_with(NULL, 0, 1, precision);
    paritas_kappa_result *results = sized_calloc(spectra->n, sizeof *results);
    assert_non_null(results);
    ASSERT_OK(context, paritas_kappa_fit(context, spectra, options, results));
    paritas_close(context);
    return results;
}

/* Numbers of energies: Lunar Prospector's, fewer, other instruments', the most. */
static const size_t energies[] = {ROWS, 8, 32, 48, PARITAS_SPECTRUM_ROWS_MOST};

static void find_exact_truth(size_t rows)
{
    struct set set = make_set_of(rows, 500, 1, -1);
    paritas_kappa_options options = default_options();
    options.response = 0;
    for (size_t i = 0; i < set.n * rows; i++) set.counts[i] += 1; /* the original's weights: none of 5e5 */
    for (int weights = 0; weights < 3; weights++) {
        options.weights = (paritas_kappa_weights)weights;
        paritas_kappa_result *results = fit_set(&set.spectra, &options, 64);
        for (size_t k = 0; k < set.n; k++) {
            const paritas_kappa_plasma *p = &set.truth[k];
            const paritas_kappa_result *q = &results[k];
            /* the floor under the logarithms bends what is near 1e-6, in the model as in the flux */
            assert_int_equal(results[k].status, PARITAS_SPECTRUM_FITTED);
            ASSERT_CLOSE(q->kappa / p->kappa, 1, 1e-4);
            ASSERT_CLOSE(q->theta / p->theta, 1, 1e-4);
            ASSERT_CLOSE(q->density / p->density, 1, 1e-4);
            ASSERT_CLOSE(results[k].temperature / paritas_kappa_temperature(p->kappa, p->theta), 1, 1e-3);
            assert_int_equal(results[k].rows, rows);
            assert_int_equal(results[k].dof, rows - 3);
        }
        free(results);
    }
    free_set(&set);
}

TEST(the_truth_of_exact_fluxes_is_found)
{
    for (size_t e = 0; e < COUNT(energies); e++) find_exact_truth(energies[e]);
}

/* Folded data are made with the matrix; what is fitted without it is off. */
static void find_truth_behind_response(size_t rows)
{
    struct set set = make_set_of(rows, 100, 2, -1);
    paritas_context *context = open_with(NULL, 0, 1, 64);
    for (size_t k = 0; k < set.n; k++) {
        double matrix[PARITAS_SPECTRUM_ROWS_MOST * PARITAS_SPECTRUM_ROWS_MOST],
            folded[PARITAS_SPECTRUM_ROWS_MOST];
        ASSERT_OK(context, paritas_kappa_response(context, 0.5, rows, set.energy + k * rows, matrix));
        for (size_t i = 0; i < rows; i++) {
            folded[i] = 0;
            for (size_t j = 0; j < rows; j++) folded[i] += matrix[i * rows + j] * set.flux[k * rows + j];
        }
        memcpy(set.flux + k * rows, folded, rows * sizeof *folded);
    }
    paritas_close(context);
    paritas_kappa_result *results = fit_set(&set.spectra, NULL, 64);
    paritas_kappa_options options = default_options();
    options.response = 0;
    paritas_kappa_result *without = fit_set(&set.spectra, &options, 64);
    size_t off = 0;
    for (size_t k = 0; k < set.n; k++) {
        assert_int_equal(results[k].status, PARITAS_SPECTRUM_FITTED);
        ASSERT_CLOSE(results[k].kappa / set.truth[k].kappa, 1, 1e-4);
        ASSERT_CLOSE(results[k].theta / set.truth[k].theta, 1, 1e-4);
        ASSERT_CLOSE(results[k].density / set.truth[k].density, 1, 1e-4);
        off += fabs(without[k].kappa / set.truth[k].kappa - 1) > 1e-3;
    }
    if (rows >= ROWS) assert_true(off > 90); /* energies farther apart hardly show the response */
    free(results);
    free(without);
    free_set(&set);
}

TEST(the_truth_behind_a_response_is_found_with_it)
{
    for (size_t e = 0; e < COUNT(energies); e++) find_truth_behind_response(energies[e]);
}

/* Pulls of each parameter: half of the errors' claim is their width, half that they have no bias. */
static void check_pulls(const char *name, double sum, double square, size_t inside, size_t n)
{
    const double mean = sum / (double)n, width = sqrt(square / (double)n - mean * mean),
                 covered = (double)inside / (double)n;
    if (fabs(mean) > 0.1 || fabs(width - 1) > 0.06 || fabs(covered - 0.6827) > 0.03)
        fail_msg("%s: pulls of mean %g, width %g; %g are within 1", name, mean, width, covered);
}

/* n_drawn sets; `least` of them have small errors. */
static void check_coverage(size_t rows, size_t n_drawn, size_t least)
{
    static const double systematics[] = {0, 0.11180339887498949};
    for (size_t s = 0; s < COUNT(systematics); s++) {
        struct set set = make_set_of(rows, n_drawn, 10 + s, systematics[s]);
        paritas_kappa_options options = default_options();
        options.response = 0;
        options.systematic = systematics[s];
        options.kappa_lower = 1.6; /* so that no bound cuts the pulls off */
        options.kappa_upper = 200;
        options.theta_lower = 1e5;
        options.theta_upper = 1e9;
        paritas_kappa_result *results = fit_set(&set.spectra, &options, 64);
        static const char *const names[] = {"1 / kappa", "ln theta", "ln density", "ln temperature"};
        double sum[4] = {0}, square[4] = {0}, chi2 = 0, dof = 0;
        size_t inside[4] = {0}, n = 0;
        for (size_t k = 0; k < set.n; k++) {
            const paritas_kappa_plasma *p = &set.truth[k];
            const paritas_kappa_result *q = &results[k];
            assert_int_equal(results[k].status, PARITAS_SPECTRUM_FITTED);
            /* errors are those of a parabola: where they are small */
            if (results[k].kappa_error > 0.2 * q->kappa || results[k].kappa_state != PARITAS_PARAMETER_FREE ||
                results[k].theta_state != PARITAS_PARAMETER_FREE)
                continue;
            const double t = paritas_kappa_temperature(p->kappa, p->theta);
            const double pulls[4] = {
                -(1 / q->kappa - 1 / p->kappa) * q->kappa * q->kappa / results[k].kappa_error,
                log(q->theta / p->theta) * q->theta / results[k].theta_error,
                log(q->density / p->density) * q->density / results[k].density_error,
                log(results[k].temperature / t) * results[k].temperature / results[k].temperature_error};
            for (size_t i = 0; i < 4; i++) {
                sum[i] += pulls[i];
                square[i] += pulls[i] * pulls[i];
                inside[i] += fabs(pulls[i]) < 1;
            }
            chi2 += results[k].misfit;
            dof += results[k].dof;
            n++;
        }
        assert_true(n > least);
        for (size_t i = 0; i < 4; i++) check_pulls(names[i], sum[i], square[i], inside[i], n);
        ASSERT_CLOSE(chi2 / dof, 1, 0.08);
        free(results);
        free_set(&set);
    }
}

TEST(errors_cover_the_truth_as_often_as_they_say)
{
    check_coverage(ROWS, 6000, 5000);
}

TEST(errors_cover_the_truth_of_other_numbers_of_energies)
{
    check_coverage(8, 4000, 2000);
    check_coverage(32, 3000, 2500);
    check_coverage(48, 2000, 1700);
}

/* Of the same truth with one row empty: where nothing was expected there, and where much was. */
TEST(an_empty_row_does_not_decide_the_fit)
{
    double energy[ROWS], flux[ROWS], sensitivity[ROWS];
    const paritas_kappa_plasma truth = {5e6, 3.5, 2e6};
    paritas_context *context = open_with(NULL, 0, 1, 64);
    make_energies(20, 20000, energy);
    make_sensitivity(energy, sensitivity);
    size_t decided = 0;
    for (size_t row = 0; row < ROWS; row++)
        for (int systematic = 0; systematic < 2; systematic++) {
            paritas_kappa_options options = default_options();
            paritas_kappa_result result = PARITAS_INIT(paritas_kappa_result);
            options.response = 0;
            if (!systematic) options.systematic = 0;
            ASSERT_OK(context, paritas_kappa_flux(context, 1, &truth, ROWS, energy, flux));
            flux[row] = 0;
            const paritas_spectra spectra = {.size = sizeof(paritas_spectra),
                                             .n = 1,
                                             .energy = energy,
                                             .flux = flux,
                                             .sensitivity = sensitivity};
            ASSERT_OK(context, paritas_kappa_fit(context, &spectra, &options, &result));
            assert_int_equal(result.status, PARITAS_SPECTRUM_FITTED);
            assert_int_equal(result.empty_rows, 1);
            ASSERT_CLOSE(result.kappa / truth.kappa, 1, 1e-3);
            ASSERT_CLOSE(result.theta / truth.theta, 1, 1e-3);
            ASSERT_CLOSE(result.density / truth.density, 1, 1e-3);
            /* without that possibility it does: the test can fail */
            options.dead = 0;
            ASSERT_OK(context, paritas_kappa_fit(context, &spectra, &options, &result));
            decided +=
                result.status != PARITAS_SPECTRUM_FITTED || fabs(result.kappa / truth.kappa - 1) > 1e-2;
        }
    assert_true(decided > ROWS);
    paritas_close(context);
}

TEST(objectives_and_fits_are_the_reference_ones)
{
    paritas_context *context = open_with(NULL, 0, 1, 64);
    paritas_workspace *document;
    const struct json *reference = read_case(context, "case08_kappa", &document);
    double energy[ROWS], flux[ROWS], counts[ROWS];
    paritas_kappa_result result = PARITAS_INIT(paritas_kappa_result);
    const paritas_spectra spectra = {
        .size = sizeof(paritas_spectra), .n = 1, .energy = energy, .flux = flux, .counts = counts};
    paritas_kappa_options options = default_options();
    options.density = PARITAS_KAPPA_DENSITY_ESTIMATE;
    for (size_t k = 0; k < 2; k++) {
        const struct json *fit = json_at(json_get(reference, "fits"), k);
        numbers(json_get(fit, "E"), ROWS, energy);
        numbers(json_get(fit, "omni_2x_incident"), ROWS, flux);
        numbers(json_get(fit, "count"), ROWS, counts);
        for (size_t o = 0; json_at(json_get(fit, "objective"), o); o++) {
            const struct json *one = json_at(json_get(fit, "objective"), o);
            const paritas_kappa_plasma point = {0, number(one, "kappa"), pow(10, number(one, "log10theta"))};
            double misfit;
            options.weights = PARITAS_KAPPA_WEIGHTS_ORIGINAL;
            options.response = 0.5;
            ASSERT_OK(context, paritas_kappa_misfit(context, &spectra, &options, 1, &point, &misfit));
            ASSERT_CLOSE(misfit / number(one, "weighted_conv"), 1, 1e-5);
            options.weights = PARITAS_KAPPA_WEIGHTS_NONE;
            options.response = 0;
            ASSERT_OK(context, paritas_kappa_misfit(context, &spectra, &options, 1, &point, &misfit));
            ASSERT_CLOSE(misfit / number(one, "unweighted_noconv"), 1, 1e-5);
        }
        static const char *const names[] = {"fit_w0_c0", "fit_w0_c1", "fit_w1_c0", "fit_w1_c1"};
        for (size_t f = 0; f < 4; f++) {
            const struct json *one = json_get(fit, names[f]);
            options.weights = f & 2 ? PARITAS_KAPPA_WEIGHTS_ORIGINAL : PARITAS_KAPPA_WEIGHTS_NONE;
            options.response = f & 1 ? 0.5 : 0;
            ASSERT_OK(context, paritas_kappa_fit(context, &spectra, &options, &result));
            assert_int_equal(result.status, PARITAS_SPECTRUM_FITTED);
            ASSERT_CLOSE(result.kappa / number(one, "kappa"), 1, 1e-6);
            ASSERT_CLOSE(result.theta / number(one, "theta"), 1, 1e-6);
            ASSERT_CLOSE(result.misfit / number(one, "chi2"), 1, 1e-5);
            ASSERT_CLOSE(result.density_estimate / number(fit, "density_estimate"), 1, 1e-7);
            assert_true(result.density == result.density_estimate && isnan(result.density_error));
        }
    }
    /* the second with an empty row: those weights let it decide */
    const struct json *one = json_get(json_at(json_get(reference, "fits"), 2), "fit");
    flux[ROWS - 1] = counts[ROWS - 1] = 0;
    options.weights = PARITAS_KAPPA_WEIGHTS_ORIGINAL;
    options.response = 0.5;
    ASSERT_OK(context, paritas_kappa_fit(context, &spectra, &options, &result));
    assert_true(result.kappa == number(one, "kappa") && result.theta == number(one, "theta"));
    assert_int_equal(result.kappa_state, PARITAS_PARAMETER_AT_UPPER_BOUND);
    assert_int_equal(result.theta_state, PARITAS_PARAMETER_AT_LOWER_BOUND);
    ASSERT_CLOSE(result.misfit / number(one, "chi2"), 1, 1e-5);
    ASSERT_CLOSE(result.temperature / number(one, "T_eV"), 1, 1e-12);
    paritas_workspace_free(document);
    paritas_close(context);
}

/* The misfit at the answer, at points around it, and what its second differences say of the covariance. */
static void check_second_differences(size_t rows)
{
    struct set set = make_set_of(rows, 60, 3, 0.1);
    double *background = room_for(60 * rows);
    set.flux[4] = 0;
    for (size_t i = 0; i < 60 * rows; i++) background[i] = i / rows % 2 ? 30.0 / set.sensitivity[i] : 0.0;
    set.spectra.background = background;
    paritas_context *context = open_with(NULL, 0, 1, 64);
    for (int weights = 0; weights < 3; weights += 2)
        for (int folded = 0; folded < 2; folded++) {
            paritas_kappa_options options = default_options();
            options.weights = (paritas_kappa_weights)weights;
            options.response = folded ? 0.5 : 0;
            paritas_kappa_result *results = fit_set(&set.spectra, &options, 64);
            for (size_t k = 0; k < set.n; k++) {
                const paritas_kappa_result *r = &results[k];
                const paritas_spectra one = {.size = sizeof(paritas_spectra),
                                             .n = 1,
                                             .energy = set.energy + k * rows,
                                             .flux = set.flux + k * rows,
                                             .sensitivity = set.sensitivity + k * rows,
                                             .rows = rows,
                                             .background = background + k * rows};
                assert_int_equal(r->status, PARITAS_SPECTRUM_FITTED);
                if (r->kappa_state != PARITAS_PARAMETER_FREE || r->theta_state != PARITAS_PARAMETER_FREE)
                    continue;
                double h[3], misfit[28], second[3][3];
                for (size_t a = 0; a < 3; a++) h[a] = 0.02 * sqrt(r->covariance[a][a]);
                paritas_kappa_plasma points[28];
                for (size_t p = 0; p < 27; p++) {
                    const double step[3] = {(double)(p % 3) - 1, (double)(p / 3 % 3) - 1,
                                            (double)(p / 9) - 1};
                    points[p] =
                        (paritas_kappa_plasma){r->density * exp(step[0] * h[0]), r->kappa + step[1] * h[1],
                                               r->theta * exp(step[2] * h[2])};
                }
                points[27] = (paritas_kappa_plasma){r->density, r->kappa, r->theta};
                ASSERT_OK(context, paritas_kappa_misfit(context, &one, &options, 28, points, misfit));
                ASSERT_CLOSE(misfit[27], r->misfit, 1e-10 * (1 + r->misfit));
                for (size_t p = 0; p < 27; p++) assert_true(misfit[p] >= r->misfit - 1e-10 * (1 + r->misfit));
                static const size_t axis[3] = {1, 3, 9};
                for (size_t a = 0; a < 3; a++)
                    for (size_t b = 0; b < 3; b++) {
                        const size_t i = axis[a], j = axis[b];
                        second[a][b] = a == b ? misfit[13 + i] - 2 * misfit[13] + misfit[13 - i]
                                              : 0.25 * (misfit[13 + i + j] - misfit[13 + i - j] -
                                                        misfit[13 - i + j] + misfit[13 - i - j]);
                        second[a][b] /= h[a] * h[b];
                    }
                const double unit = weights == PARITAS_KAPPA_WEIGHTS_NONE ? r->misfit / r->dof : 1;
                for (size_t a = 0; a < 3; a++)
                    for (size_t b = 0; b < 3; b++) {
                        double product = 0;
                        for (size_t c = 0; c < 3; c++)
                            product += 0.5 * second[a][c] * r->covariance[c][b] / unit;
                        /* in units of the errors */
                        ASSERT_CLOSE(product * sqrt(r->covariance[a][a] / r->covariance[b][b]), a == b, 0.01);
                    }
            }
            free(results);
        }
    paritas_close(context);
    free(background);
    free_set(&set);
}

/* -2 ln of the likelihood of counts N with mean mu, over its value at mu = N. */
static double counts_misfit(double counts, double mean, double systematic)
{
    const double s = systematic * systematic;
    return 2 * ((counts > 0 ? counts * log(counts / mean) : 0) -
                (counts + 1 / s) * log((1 + s * counts) / (1 + s * mean)));
}

TEST(a_background_is_a_part_of_the_mean_counts)
{
    enum { N = 20 };
    struct set set = make_set(N, 12, 0.1);
    double background[N * ROWS], flux[N * ROWS], sum, misfit;
    paritas_kappa_options options = default_options();
    paritas_context *context = open_with(NULL, 0, 1, 64);
    options.response = 0;
    options.dead = 0;
    for (size_t k = 0; k < N; k++) {
        const paritas_spectra one = {.size = sizeof(paritas_spectra),
                                     .n = 1,
                                     .energy = set.energy + k * ROWS,
                                     .flux = set.flux + k * ROWS,
                                     .sensitivity = set.sensitivity + k * ROWS,
                                     .background = background + k * ROWS};
        const double *sensitivity = one.sensitivity;
        ASSERT_OK(context, paritas_kappa_flux(context, 1, &set.truth[k], ROWS, one.energy, flux));
        sum = 0;
        for (size_t i = 0; i < ROWS; i++) {
            const double b = i % 3 ? 20.0 * i / sensitivity[i] : 0;
            background[k * ROWS + i] = b;
            if (i == 14) set.flux[k * ROWS + i] = -0.5 * b; /* fewer counts than the background brings */
            sum += counts_misfit(sensitivity[i] * (one.flux[i] + b), sensitivity[i] * (flux[i] + b),
                                 options.systematic);
        }
        ASSERT_OK(context, paritas_kappa_misfit(context, &one, &options, 1, &set.truth[k], &misfit));
        ASSERT_CLOSE(misfit, sum, 1e-8 * (1 + sum));
    }
    paritas_close(context);
    free_set(&set);
}

TEST(plasmas_are_found_above_their_background_and_none_changes_no_bit)
{
    enum { N = 40 };
    struct set set = make_set(N, 13, -1);
    double *background = room_for(N * ROWS);
    paritas_kappa_options options = default_options();
    options.response = 0;
    paritas_kappa_result *bare = fit_set(&set.spectra, &options, 64);
    set.spectra.background = background;
    paritas_kappa_result *same = fit_set(&set.spectra, &options, 64);
    assert_memory_equal(bare, same, N * sizeof *bare);
    for (size_t i = 0; i < N * ROWS; i++) background[i] = 50 / set.sensitivity[i];
    paritas_kappa_result *above = fit_set(&set.spectra, &options, 64);
    options.weights = PARITAS_KAPPA_WEIGHTS_NONE;
    paritas_kappa_result *logs = fit_set(&set.spectra, &options, 64);
    set.spectra.background = NULL;
    paritas_kappa_result *bare_logs = fit_set(&set.spectra, &options, 64);
    assert_memory_equal(logs, bare_logs, N * sizeof *logs);
    for (size_t k = 0; k < N; k++) {
        assert_int_equal(above[k].status, PARITAS_SPECTRUM_FITTED);
        ASSERT_CLOSE(above[k].misfit, 0, 1e-6);
        ASSERT_CLOSE(above[k].kappa, set.truth[k].kappa, 1e-3);
        ASSERT_CLOSE(above[k].theta / set.truth[k].theta, 1, 1e-3);
        assert_true(above[k].kappa_error > bare[k].kappa_error); /* it brings noise */
    }
    paritas_kappa_result *all[] = {bare, same, above, logs, bare_logs};
    for (size_t i = 0; i < COUNT(all); i++) free(all[i]);
    free(background);
    free_set(&set);
}

TEST(the_answer_is_a_minimum_and_its_covariance_the_inverse_of_half_the_second_differences)
{
    for (size_t e = 0; e < COUNT(energies); e++) check_second_differences(energies[e]);
}

/* Rows that are masked say nothing: spectra of 15 energies have the same bits on the larger grid. */
TEST(masked_rows_change_no_bit)
{
    enum { N = 200, MORE = 41 };
    struct set set = make_set(N, 12, 0.1), wide = make_set_of(MORE, N, 12, 0.1);
    double *background = room_for(N * ROWS), *more = room_for(N * MORE);
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < MORE; i++) {
            const size_t to = k * MORE + i, from = k * ROWS + i;
            wide.energy[to] = i < ROWS ? set.energy[from] : (double)NAN;
            wide.flux[to] = i < ROWS ? set.flux[from] : 1e5;
            wide.sensitivity[to] = i < ROWS ? set.sensitivity[from] : 1;
            wide.counts[to] = i < ROWS ? set.counts[from] : 7;
            if (i < ROWS) background[from] = k % 2 ? 30.0 / set.sensitivity[from] : 0.0;
            more[to] = i < ROWS ? background[from] : 3.0;
        }
    set.spectra.background = background;
    wide.spectra.background = more;
    for (unsigned precision = 64; precision >= 32; precision -= 32)
        for (int weights = 0; weights < 3; weights++) {
            paritas_kappa_options options = default_options();
            options.weights = (paritas_kappa_weights)weights;
            paritas_kappa_result *small = fit_set(&set.spectra, &options, precision),
                                 *large = fit_set(&wide.spectra, &options, precision);
            assert_memory_equal(small, large, N * sizeof *small);
            free(small);
            free(large);
        }
    free(background);
    free(more);
    free_set(&set);
    free_set(&wide);
}

/* No point of a grid is lower, whatever the spectrum: noise of a factor of 4, two populations, empty and
 * missing rows. */
TEST(no_other_minimum_is_lower)
{
    enum { N = 60, KAPPAS = 6, THETAS = 40, DENSITIES = 21 };
    struct set set = make_set(N, 4, 0.1);
    uint64_t seed = 9;
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < ROWS; i++) {
            double *flux = &set.flux[k * ROWS + i];
            if (k % 4 == 1) {
                *flux = 1e5 * pow(set.energy[k * ROWS + i] / 100, -4 * uniform(&seed));
                *flux *= exp(1.4 * normal(&seed));
            }
            if (k % 4 == 2) *flux += set.flux[((k + 1) % N) * ROWS + i];
            if (k % 4 == 3 && uniform(&seed) < 0.3) *flux = uniform(&seed) < 0.5 ? 0 : (double)NAN;
        }
    paritas_kappa_plasma *points = malloc(KAPPAS * THETAS * DENSITIES * sizeof *points);
    double *misfit = malloc(KAPPAS * THETAS * DENSITIES * sizeof *misfit);
    assert_true(points && misfit);
    paritas_context *context = open_with(NULL, 0, 1, 64);
    for (int weights = 0; weights < 3; weights += 2) {
        paritas_kappa_options options = default_options();
        options.weights = (paritas_kappa_weights)weights;
        paritas_kappa_result *results = fit_set(&set.spectra, &options, 64);
        for (size_t k = 0; k < N; k++) {
            const paritas_kappa_result *r = &results[k];
            const paritas_spectra one = {.size = sizeof(paritas_spectra),
                                         .n = 1,
                                         .energy = set.energy + k * ROWS,
                                         .flux = set.flux + k * ROWS,
                                         .sensitivity = set.sensitivity + k * ROWS};
            if (r->status == PARITAS_SPECTRUM_TOO_FEW_ROWS) continue;
            assert_int_equal(r->status, PARITAS_SPECTRUM_FITTED);
            size_t n = 0;
            for (int a = 0; a < KAPPAS; a++)
                for (int b = 0; b < THETAS; b++)
                    for (int c = 0; c < DENSITIES; c++)
                        points[n++] = (paritas_kappa_plasma){r->density * pow(10, 0.2 * (c - 10)),
                                                             2.5 + 3.5 * a / (KAPPAS - 1),
                                                             pow(10, 6 + 2.0 * b / (THETAS - 1))};
            for (size_t p = 0; p < n; p++) points[p].density = fmax(1, points[p].density);
            ASSERT_OK(context, paritas_kappa_misfit(context, &one, &options, n, points, misfit));
            for (size_t p = 0; p < n; p++)
                if (misfit[p] < r->misfit - 1e-9 * (1 + r->misfit))
                    fail_msg("spectrum %zu: %g at n %g, kappa %g, theta %g is below %g", k, misfit[p],
                             points[p].density, points[p].kappa, points[p].theta, r->misfit);
        }
        free(results);
    }
    free(points);
    free(misfit);
    paritas_close(context);
    free_set(&set);
}

TEST(spectra_that_cannot_be_fitted_say_why)
{
    double energy[5 * ROWS], flux[5 * ROWS], sensitivity[5 * ROWS];
    paritas_kappa_result results[5] = {PARITAS_INIT(paritas_kappa_result)};
    for (size_t k = 0; k < 5; k++) {
        make_energies(20, 20000, energy + k * ROWS);
        make_sensitivity(energy + k * ROWS, sensitivity + k * ROWS);
        for (size_t i = 0; i < ROWS; i++) flux[k * ROWS + i] = 1e5 / (1 + (double)i);
    }
    for (size_t i = 0; i < ROWS; i++) {
        flux[i] = (double)NAN;
        energy[ROWS + i] = i < 13 ? -1 : energy[ROWS + i];
        flux[2 * ROWS + i] = 0;
        flux[3 * ROWS + i] = i < 12 ? -5 : flux[3 * ROWS + i];
    }
    sensitivity[4 * ROWS] = (double)NAN;
    sensitivity[4 * ROWS + 1] = 0;
    flux[4 * ROWS + 2] = INFINITY;
    paritas_context *context = open_with(NULL, 0, 1, 64);
    const paritas_spectra spectra = {
        .size = sizeof(paritas_spectra), .n = 5, .energy = energy, .flux = flux, .sensitivity = sensitivity};
    ASSERT_OK(context, paritas_kappa_fit(context, &spectra, NULL, results));
    assert_int_equal(results[0].status, PARITAS_SPECTRUM_NO_ROWS);
    assert_int_equal(results[1].status, PARITAS_SPECTRUM_TOO_FEW_ROWS);
    assert_int_equal(results[2].status, PARITAS_SPECTRUM_TOO_FEW_ROWS);
    assert_int_equal(results[2].empty_rows, ROWS);
    assert_int_equal(results[3].status, PARITAS_SPECTRUM_FITTED);
    assert_int_equal(results[3].empty_rows, 12);
    assert_int_equal(results[4].status, PARITAS_SPECTRUM_FITTED);
    assert_int_equal(results[4].rows, 12);
    for (size_t k = 0; k < 3; k++)
        assert_true(isnan(results[k].kappa) && isnan(results[k].temperature) && isnan(results[k].misfit));
    assert_string_equal(paritas_spectrum_status_name(results[1].status), "too_few_rows");
    paritas_close(context);
}

/* A bound holds its parameter, and the errors of the others are those for that value. */
TEST(bounds_are_kept_and_said)
{
    struct set set = make_set(200, 6, 0.1);
    paritas_kappa_options narrow = default_options(), fixed = default_options();
    narrow.kappa_lower = 3.5;
    narrow.kappa_upper = 4.5;
    fixed.kappa_lower = fixed.kappa_upper = 4.5;
    paritas_kappa_result *bounded = fit_set(&set.spectra, &narrow, 64),
                         *held = fit_set(&set.spectra, &fixed, 64);
    size_t at_upper = 0, at_lower = 0;
    for (size_t k = 0; k < set.n; k++) {
        assert_int_equal(bounded[k].status, PARITAS_SPECTRUM_FITTED);
        assert_int_equal(held[k].status, PARITAS_SPECTRUM_FITTED);
        assert_int_equal(held[k].kappa_state, PARITAS_PARAMETER_FIXED);
        assert_true(held[k].kappa == 4.5 && isnan(held[k].kappa_error) && held[k].dof == ROWS - 2);
        assert_true(bounded[k].kappa >= 3.5 && bounded[k].kappa <= 4.5);
        assert_true(bounded[k].misfit <= held[k].misfit + 1e-9);
        at_lower += bounded[k].kappa_state == PARITAS_PARAMETER_AT_LOWER_BOUND;
        if (bounded[k].kappa_state != PARITAS_PARAMETER_AT_UPPER_BOUND) continue;
        at_upper++;
        assert_true(bounded[k].kappa == 4.5 && isnan(bounded[k].kappa_error));
        ASSERT_CLOSE(bounded[k].theta / held[k].theta, 1, 1e-5);
        ASSERT_CLOSE(bounded[k].theta_error / held[k].theta_error, 1, 1e-4);
    }
    assert_true(at_upper > 20 && at_lower > 20);
    free(bounded);
    free(held);
    free_set(&set);
}

/* Spectra of a distribution over and under the limits of a density: what is fitted is within, and its misfit
 * can be asked for. */
TEST(densities_are_within_their_limits)
{
    static const double limits[] = {1.0, 1e15}, times[] = {0.5, 0.99, 1.01, 2.0};
    paritas_kappa_options options = default_options();
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        paritas_context *context = open_with(NULL, 0, 1, precision);
        for (size_t k = 0; k < 2 * COUNT(limits) * COUNT(times); k++) {
            const double limit = limits[k / COUNT(times) % 2], factor = times[k % COUNT(times)];
            const int outside = limit > 1.0 ? factor > 1.0 : factor < 1.0,
                      held = k >= COUNT(limits) * COUNT(times);
            const paritas_kappa_plasma truth = {limit, 4.0, limit > 1.0 ? 9e7 : 1e7};
            double energy[ROWS], flux[ROWS], sensitivity[ROWS], misfit;
            make_energies(20, 20000, energy);
            ASSERT_OK(context, paritas_kappa_flux(context, 1, &truth, ROWS, energy, flux));
            options.density = held ? PARITAS_KAPPA_DENSITY_ESTIMATE : PARITAS_KAPPA_DENSITY_FITTED;
            options.response = 0.0;
            for (size_t i = 0; i < ROWS; i++) {
                flux[i] *= factor;
                sensitivity[i] = 1e3 / flux[i];
            }
            const paritas_spectra spectra = {.size = sizeof(paritas_spectra),
                                             .n = 1,
                                             .energy = energy,
                                             .flux = flux,
                                             .sensitivity = sensitivity};
            paritas_kappa_result fit = PARITAS_INIT(paritas_kappa_result);
            ASSERT_OK(context, paritas_kappa_fit(context, &spectra, &options, &fit));
            if (!held)
                assert_int_equal(fit.status, outside ? PARITAS_SPECTRUM_NOT_FITTED : PARITAS_SPECTRUM_FITTED);
            if (held && !(fit.density_estimate >= 1.0 && fit.density_estimate <= 1e15))
                assert_int_equal(fit.status, PARITAS_SPECTRUM_NOT_FITTED);
            if (fit.status == PARITAS_SPECTRUM_FITTED) {
                const paritas_kappa_plasma found = {fit.density, fit.kappa, fit.theta};
                ASSERT_OK(context, paritas_kappa_misfit(context, &spectra, &options, 1, &found, &misfit));
                continue;
            }
            assert_int_not_equal(fit.fit, PARITAS_FIT_CONVERGED);
            assert_true(isnan(fit.density) && isnan(fit.kappa) && isnan(fit.theta) &&
                        isnan(fit.temperature) && isnan(fit.density_error));
        }
        paritas_close(context);
    }
}

/* What a callback for progress was told. */
struct watch {
    uint64_t done, total;
    size_t calls;
};
static int watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    assert_true(done >= watch->done && done <= total && (watch->calls == 0 || total == watch->total));
    *watch = (struct watch){done, total, watch->calls + 1};
    return 0;
}

/* Also of fits in f32, which f64 ends. */
TEST(progress_of_fits_rises_to_its_end)
{
    struct set set = make_set(300, 9, 0.1);
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        struct watch watch = {0};
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.threads = 1;
        options.precision = precision;
        options.progress = watch_progress;
        options.progress_user = &watch;
        paritas_context *context;
        paritas_kappa_result *results = sized_calloc(set.n, sizeof *results);
        ASSERT_OK(context, paritas_open(&options, &context));
        ASSERT_OK(context, paritas_kappa_fit(context, &set.spectra, NULL, results));
        assert_true(watch.calls > 1 && watch.done == watch.total &&
                    watch.total == set.n * (precision == 32 ? 2 : 1));
        free(results);
        paritas_close(context);
    }
    free_set(&set);
}

static void compare_precisions(size_t rows)
{
    struct set set = make_set_of(rows, 1000, 7, 0.1);
    paritas_kappa_options options = default_options();
    size_t lost = 0;
    for (int weights = 0; weights < 3; weights++) {
        options.weights = (paritas_kappa_weights)weights;
        paritas_kappa_result *f64 = fit_set(&set.spectra, &options, 64),
                             *f32 = fit_set(&set.spectra, &options, 32);
        for (size_t k = 0; k < set.n; k++) {
            assert_int_equal(f64[k].status, f32[k].status);
            if (f64[k].status == PARITAS_SPECTRUM_NOT_FITTED) {
                /* many empty rows, each of which decides the fit */
                assert_true(weights == PARITAS_KAPPA_WEIGHTS_ORIGINAL && f64[k].empty_rows > 2);
                lost++;
                continue;
            }
            ASSERT_CLOSE(f32[k].misfit, f64[k].misfit, 1e-9 * (1 + f64[k].misfit));
            if (f64[k].kappa_state == PARITAS_PARAMETER_FREE)
                ASSERT_CLOSE(f32[k].kappa, f64[k].kappa, 1e-4 * f64[k].kappa_error);
        }
        free(f64);
        free(f32);
    }
    assert_in_range(lost, 0, 8);
    free_set(&set);
}

TEST(fits_in_f32_end_where_those_in_f64_do)
{
    compare_precisions(ROWS);
    compare_precisions(32);
}

TEST(bad_arguments_are_named)
{
    struct set set = make_set(2, 8, -1);
    paritas_context *context = open_with(NULL, 0, 1, 64);
    paritas_kappa_result results[2] = {PARITAS_INIT(paritas_kappa_result)};
    const struct {
        size_t offset;
        double value;
        const char *word;
    } wrong[] = {
        {offsetof(paritas_kappa_options, response), -1, "response"},
        {offsetof(paritas_kappa_options, systematic), (double)NAN, "systematic"},
        {offsetof(paritas_kappa_options, dead), 1, "dead"},
        {offsetof(paritas_kappa_options, kappa_lower), 1.5, "kappa"},
        {offsetof(paritas_kappa_options, kappa_upper), 2, "kappa"},
        {offsetof(paritas_kappa_options, theta_lower), 0, "theta"},
        {offsetof(paritas_kappa_options, theta_upper), INFINITY, "theta"},
    };
    for (size_t k = 0; k < COUNT(wrong); k++) {
        paritas_kappa_options options = default_options();
        memcpy((char *)&options + wrong[k].offset, &wrong[k].value, sizeof(double));
        assert_int_equal(paritas_kappa_fit(context, &set.spectra, &options, results),
                         PARITAS_INVALID_ARGUMENT);
        assert_non_null(strstr(paritas_error_message(context), wrong[k].word));
    }
    paritas_spectra spectra = set.spectra;
    spectra.sensitivity = NULL;
    assert_int_equal(paritas_kappa_fit(context, &spectra, NULL, results), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "sensitivity"));
    spectra.rows = PARITAS_SPECTRUM_ROWS_MOST + 1;
    assert_int_equal(paritas_kappa_fit(context, &spectra, NULL, results), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "spectra.rows: 65 energies; at most 64");
    spectra.size = offsetof(paritas_spectra, rows); /* of a caller that knows no other energies */
    spectra.sensitivity = set.sensitivity;
    ASSERT_OK(context, paritas_kappa_fit(context, &spectra, NULL, results));
    assert_int_equal(results[1].rows, ROWS);
    spectra.size = sizeof spectra;
    spectra.rows = 0;
    spectra.flux = NULL;
    assert_int_equal(paritas_kappa_fit(context, &spectra, NULL, results), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_kappa_fit(context, NULL, NULL, results), PARITAS_INVALID_ARGUMENT);
    spectra.n = 0;
    ASSERT_OK(context, paritas_kappa_fit(context, &spectra, NULL, NULL));
    paritas_close(context);
    free_set(&set);
}

TEST(memory_that_runs_out_is_an_error_and_nothing_leaks)
{
    struct set set = make_set(3, 11, -1);
    paritas_kappa_result results[3] = {PARITAS_INIT(paritas_kappa_result)};
    long requests = 1;
    for (long fail_at = 0; fail_at <= requests; fail_at++) {
        struct ledger ledger = {0};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        paritas_context *context;
        options.allocator = &allocator;
        options.threads = 1;
        options.precision = 32;
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        const long before = ledger.requests;
        if (fail_at) {
            ledger.fail_at = before + fail_at;
            ledger.for_good = true;
        }
        const paritas_status status = paritas_kappa_fit(context, &set.spectra, NULL, results);
        assert_int_equal(status, fail_at ? PARITAS_OUT_OF_MEMORY : PARITAS_OK);
        if (!fail_at) requests = ledger.requests - before;
        paritas_close(context);
        assert_int_equal(ledger.live, 0);
    }
    free_set(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_of_exact_fluxes_is_found),
        cmocka_unit_test(the_truth_behind_a_response_is_found_with_it),
        cmocka_unit_test(errors_cover_the_truth_as_often_as_they_say),
        cmocka_unit_test(errors_cover_the_truth_of_other_numbers_of_energies),
        cmocka_unit_test(masked_rows_change_no_bit),
        cmocka_unit_test(an_empty_row_does_not_decide_the_fit),
        cmocka_unit_test(objectives_and_fits_are_the_reference_ones),
        cmocka_unit_test(
            the_answer_is_a_minimum_and_its_covariance_the_inverse_of_half_the_second_differences),
        cmocka_unit_test(a_background_is_a_part_of_the_mean_counts),
        cmocka_unit_test(plasmas_are_found_above_their_background_and_none_changes_no_bit),
        cmocka_unit_test(no_other_minimum_is_lower),
        cmocka_unit_test(spectra_that_cannot_be_fitted_say_why),
        cmocka_unit_test(bounds_are_kept_and_said),
        cmocka_unit_test(densities_are_within_their_limits),
        cmocka_unit_test(progress_of_fits_rises_to_its_end),
        cmocka_unit_test(fits_in_f32_end_where_those_in_f64_do),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(memory_that_runs_out_is_an_error_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
