/* Misfits, models, cosines, normalisation and masks: against reference numbers of an independent
 * implementation, against the formula written down again, and the same bits however the work is cut. */
#include "losscone/cases.h"

#include "base/math/host_math.h"
#include "refusing.h"

/* Tables of the case that has the instrument's directions. */
static void read_directions(struct paritas_workspace *document, double *theta, double *phi)
{
    const struct json *first = json_get(document->root, "case01_geometry_pitch_counts");
    numbers_of(first, "theta_deg", theta, CELLS);
    numbers_of(first, "phi_deg", phi, CELLS);
}

TEST(pitch_angles_are_those_of_the_reference)
{
    static const struct {
        const char *key;
        double polarity;
        int given;
    } signs[] = {
        {"pitch_no_polarity", 0.0, 0}, {"pitch_polarity_plus", 1.0, 1}, {"pitch_polarity_minus", -1.0, 1}};
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *one = read_case(context, "case01_geometry_pitch_counts", &document);
    double theta[CELLS], phi[CELLS], b[3], pitch[CELLS], field[3 * ROWS], polarity[ROWS], azimuth[ALL],
        cosine[ALL];
    read_directions(document, theta, phi);
    numbers_of(one, "B_nT", b, 3);
    for (size_t s = 0; s < COUNT(signs); s++) {
        for (int i = 0; i < ROWS; i++) {
            polarity[i] = signs[s].polarity;
            memcpy(field + 3 * i, b, sizeof b);
            memcpy(azimuth + i * CELLS, phi, sizeof phi);
        }
        ASSERT_OK(context, paritas_losscone_cosines(context, 1, NULL, theta, field,
                                                    signs[s].given ? polarity : NULL, azimuth, cosine));
        numbers_of(one, signs[s].key, pitch, CELLS);
        for (int c = 0; c < ALL; c++)
            ASSERT_CLOSE(host_acos_degrees(cosine[c]), pitch[c % CELLS], 1e-12 * pitch[c % CELLS]);
    }
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(rows_without_field_or_polarity_have_no_pitch_angles)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    double theta[CELLS], phi[CELLS], field[3 * ROWS], polarity[ROWS], azimuth[ALL], cosine[ALL];
    directions(theta, phi);
    for (int i = 0; i < ROWS; i++) {
        polarity[i] = 1.0;
        for (int c = 0; c < 3; c++) field[3 * i + c] = c + 1.0;
        memcpy(azimuth + i * CELLS, phi, sizeof phi);
    }
    polarity[1] = 0.0;
    polarity[2] = (double)NAN;
    field[9] = field[10] = field[11] = 0.0;
    field[13] = (double)NAN;
    azimuth[5 * CELLS + 7] = (double)NAN;
    azimuth[5 * CELLS + 8] = (double)INFINITY;
    for (int c = 0; c < 3; c++) field[18 + c] = 1e300 * (c + 1.0), field[21 + c] = 1e-300 * (c + 1.0);
    ASSERT_OK(context, paritas_losscone_cosines(context, 1, NULL, theta, field, polarity, azimuth, cosine));
    for (int c = 0; c < ALL; c++) {
        const int row = c / CELLS, cell = c % CELLS,
                  unknown = (row >= 1 && row <= 4) || (row == 5 && (cell == 7 || cell == 8));
        assert_true(isnan(cosine[c]) == unknown);
        if (!unknown) ASSERT_CLOSE(cosine[c], cosine[cell], 1e-15);
    }
    paritas_close(context);
}

/* The sweep of case 02: rules in place of numbers, some cells spoilt. */
static void build_rules(paritas_context *context, struct paritas_workspace *document, const struct json *two,
                        struct data *d)
{
    double theta[CELLS], phi[CELLS], b[3], field[3 * ROWS], polarity[ROWS], azimuth[ALL];
    read_directions(document, theta, phi);
    numbers_of(two, "B", b, 3);
    numbers_of(two, "E", d->energy, ROWS);
    for (int i = 0; i < ROWS; i++) {
        polarity[i] = number_of(two, "polarity");
        memcpy(field + 3 * i, b, sizeof b);
        for (int j = 0; j < CELLS; j++) {
            azimuth[i * CELLS + j] = fmod(phi[j] + 20.0 + 7.5 * i, 360.0);
            d->flux[i * CELLS + j] =
                i == 6 ? 0.0 : 1e6 * pow(d->energy[i] / 100.0, -2.5) * (0.55 + 0.45 * sin(0.7 * j + 1.3 * i));
        }
    }
    d->flux[2 * CELLS + 5] = 0.0;
    d->flux[3 * CELLS + 7] = (double)NAN;
    d->flux[4 * CELLS + 9] = -5.0;
    ASSERT_OK(context,
              paritas_losscone_cosines(context, 1, NULL, theta, field, polarity, azimuth, d->cosine));
}

TEST(normalised_fluxes_are_those_of_the_reference)
{
    static const struct {
        const char *key;
        paritas_normalisation normalisation;
    } modes[] = {{"ratio_mean", PARITAS_NORMALISATION_RATIO},
                 {"ratio_max", PARITAS_NORMALISATION_MAX},
                 {"ratio2_mean", PARITAS_NORMALISATION_PAIRS}};
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *two = read_case(context, "case02_normalisation_masks_chi2", &document);
    struct data d = make_data(1);
    build_rules(context, document, two, &d);
    for (size_t m = 0; m < COUNT(modes); m++) {
        const struct json *expected = json_get(two, modes[m].key);
        double n[ALL], sums[ROWS], counts[ROWS], first[8], last[8];
        ASSERT_OK(context,
                  paritas_losscone_normalise(context, 1, NULL, modes[m].normalisation, d.cosine, d.flux, n));
        numbers_of(expected, "row_sum_finite", sums, ROWS);
        numbers_of(expected, "n_finite", counts, ROWS);
        numbers_of(expected, "row0_first8", first, 8);
        numbers_of(expected, "row14_first8", last, 8);
        for (int i = 0; i < ROWS; i++) {
            double sum = 0.0;
            int finite = 0;
            for (int j = 0; j < CELLS; j++)
                if (isfinite(n[i * CELLS + j])) sum += n[i * CELLS + j], finite++;
            assert_int_equal(finite, (int)counts[i]);
            ASSERT_CLOSE(sum, sums[i], 1e-10 * sums[i]);
        }
        for (int j = 0; j < 8; j++) {
            ASSERT_CLOSE(n[j], first[j], 1e-10);
            ASSERT_CLOSE(n[14 * CELLS + j], last[j], 1e-10);
        }
        double in_place[ALL];
        memcpy(in_place, d.flux, sizeof in_place);
        ASSERT_OK(context, paritas_losscone_normalise(context, 1, NULL, modes[m].normalisation, d.cosine,
                                                      in_place, in_place));
        assert_memory_equal(in_place, n, sizeof n);
    }
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(masks_and_misfits_are_those_of_the_reference)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *two = read_case(context, "case02_normalisation_masks_chi2", &document);
    struct data d = make_data(1);
    build_rules(context, document, two, &d);
    double raw[ALL], ratio[ALL], counts[ROWS], mask[CELLS];
    memcpy(raw, d.flux, sizeof raw);
    ASSERT_OK(context, paritas_losscone_normalise(context, 1, NULL, PARITAS_NORMALISATION_RATIO, d.cosine,
                                                  raw, ratio));
    for (int lillis = 0; lillis < 2; lillis++) {
        paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        options.method = lillis ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
        memcpy(d.flux, ratio, sizeof ratio);
        ASSERT_OK(context, paritas_losscone_mask(context, 1, NULL, options.method, d.cosine, raw, d.flux));
        if (lillis) {
            numbers_of(two, "lillis_mask_count_per_row", counts, ROWS);
            numbers_of(two, "lillis_mask_row0", mask, CELLS);
            for (int i = 0; i < ROWS; i++) {
                int taken = 0;
                for (int j = 0; j < CELLS; j++) taken += !isnan(d.flux[i * CELLS + j]);
                assert_int_equal(taken, (int)counts[i]);
            }
            for (int j = 0; j < CELLS; j++) assert_int_equal(!isnan(d.flux[j]), (int)mask[j]);
        }
        for (const struct json *point = json_get(two, "chi2")->first; point; point = point->next) {
            const double at[3] = {number_of(point, "U"), number_of(point, "r"), number_of(point, "A")};
            double misfit, model[ALL], sum = 0.0;
            unsigned cells;
            for (int i = 0; i < ROWS; i++) d.potential[i] = number_of(point, "Usc");
            ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, &options, 1, at, &misfit, &cells));
            const double expected = number_of(point, lillis ? "lillis" : "halekas");
            ASSERT_CLOSE(misfit, expected, 1e-10 * expected);
            assert_int_equal(cells, (unsigned)number_of(point, lillis ? "n_lillis" : "n_halekas"));
            ASSERT_OK(context, paritas_losscone_model(context, &d.sweeps, &options, at, model, NULL));
            for (int c = 0; c < ALL; c++) sum += model[c];
            ASSERT_CLOSE(sum, number_of(point, "model_sum"), 1e-9);
        }
    }
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(the_mask_of_lillis_measures_by_the_largest_incident_flux)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *three = read_case(context, "case03_lillis_mask_mini", &document);
    struct data d = make_data(1);
    double normalised[ALL], flux[5], pitch[5], mask[5];
    numbers_of(three, "raw_flux", flux, 5);
    numbers_of(three, "pitch", pitch, 5);
    numbers_of(three, "mask", mask, 5);
    for (int c = 0; c < ALL; c++) d.flux[c] = d.cosine[c] = (double)NAN, normalised[c] = 1.0;
    for (int j = 0; j < 5; j++) d.flux[j] = flux[j], d.cosine[j] = host_cos_degrees(pitch[j]);
    ASSERT_OK(context, paritas_losscone_mask(context, 1, NULL, PARITAS_LOSSCONE_METHOD_LILLIS, d.cosine,
                                             d.flux, normalised));
    for (int c = 0; c < ALL; c++) assert_int_equal(!isnan(normalised[c]), c < 5 ? (int)mask[c] : 0);
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

/* 88 equal steps of pitch angle in every row, as cases 04 and 06 have them. */
static void even_pitch(struct data *d)
{
    for (int c = 0; c < ALL; c++) d->cosine[c] = host_cos_degrees(180.0 * (c % CELLS) / 87.0);
}

TEST(models_are_those_of_the_reference)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *four = read_case(context, "case04_forward_model", &document);
    struct data d = make_data(1);
    numbers_of(four, "E", d.energy, ROWS);
    even_pitch(&d);
    for (const struct json *one = json_get(four, "cases")->first; one; one = one->next) {
        paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        options.beam_width = number_of(one, "width");
        options.beam_sigma = number_of(one, "sigma");
        options.background = number_of(one, "bg");
        const double at[3] = {number_of(one, "U"), number_of(one, "r"), number_of(one, "A")},
                     still[3] = {at[0], at[1], 0.0};
        double model[ALL], bare[ALL], edge[ROWS], alpha[ROWS], inside[ROWS], most[ROWS], last[ROWS],
            sum = 0.0, logs = 0.0;
        for (int i = 0; i < ROWS; i++) d.potential[i] = number_of(one, "Usc");
        const paritas_sweeps sweeps = {.size = sizeof(paritas_sweeps),
                                       .n = 1,
                                       .energy = d.energy,
                                       .potential = d.potential,
                                       .cosine = d.cosine};
        ASSERT_OK(context, paritas_losscone_model(context, &sweeps, &options, at, model, edge));
        ASSERT_OK(context, paritas_losscone_model(context, &sweeps, &options, still, bare, NULL));
        numbers_of(one, "alpha_c", alpha, ROWS);
        numbers_of(one, "n_inside", inside, ROWS);
        numbers_of(one, "row_max", most, ROWS);
        numbers_of(one, "col87", last, ROWS);
        for (int i = 0; i < ROWS; i++) {
            double largest = 0.0;
            int ones = 0;
            for (int j = 0; j < CELLS; j++) {
                const double m = model[i * CELLS + j];
                largest = m > largest ? m : largest;
                ones += bare[i * CELLS + j] == 1.0;
                sum += m;
                logs += log(m + 1e-6);
            }
            ASSERT_CLOSE(edge[i], alpha[i], 1e-10);
            assert_int_equal(ones, (int)inside[i]);
            ASSERT_CLOSE(largest, most[i], 1e-10);
            ASSERT_CLOSE(model[i * CELLS + 87], last[i], 1e-10);
        }
        ASSERT_CLOSE(sum, number_of(one, "model_sum"), 1e-9);
        ASSERT_CLOSE(logs, number_of(one, "log_sum"), 1e-9);
    }
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

TEST(a_sweep_made_without_noise_has_no_misfit_at_its_truth)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(1);
    double raw[ALL];
    static const double truth[3] = {-50.0, 0.5, 2.0};
    for (int i = 0; i < ROWS; i++) d.energy[i] = 20.0 * pow(1000.0, i / 14.0);
    even_pitch(&d);
    ASSERT_OK(context, paritas_losscone_model(context, &d.sweeps, NULL, truth, d.flux, NULL));
    for (int c = 0; c < ALL; c++) raw[c] = d.flux[c] *= 1e3 * pow(10.0, (c / CELLS) / 14.0);
    ASSERT_OK(context, paritas_losscone_normalise(context, 1, NULL, PARITAS_NORMALISATION_RATIO, d.cosine,
                                                  d.flux, d.flux));
    for (int lillis = 0; lillis < 2; lillis++) {
        paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        options.method = lillis ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
        double misfit;
        unsigned cells;
        ASSERT_OK(context, paritas_losscone_mask(context, 1, NULL, options.method, d.cosine, raw, d.flux));
        ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, &options, 1, truth, &misfit, &cells));
        ASSERT_CLOSE(misfit, 0.0, 1e-24);
        assert_int_equal(cells, lillis ? 7 : ALL);
    }
    free_data(&d);
    paritas_close(context);
}

TEST(misfits_of_noisy_sweeps_are_those_of_the_reference)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct paritas_workspace *document;
    const struct json *seven = read_case(context, "case07_noisy_chunks", &document);
    struct data d = make_data(1);
    for (const struct json *chunk = json_get(seven, "chunks")->first; chunk; chunk = chunk->next) {
        double potentials[CHUNK_POTENTIALS], least[CHUNK_POTENTIALS], best[4];
        read_chunk(context, seven, chunk, &d);
        const struct json *truth = json_get(chunk, "truth");
        double at[3] = {number_of(truth, "U"), number_of(truth, "r"), number_of(truth, "A")}, misfit;
        ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, 1, at, &misfit, NULL));
        const double expected = number_of(chunk, "halekas_at_truth");
        ASSERT_CLOSE(misfit, expected, 1e-10 * expected);
        numbers_of(chunk, "halekas_best_known", best, 4);
        ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, 1, best, &misfit, NULL));
        ASSERT_CLOSE(misfit, best[3], 1e-9 * best[3]);
        /* the profile without beam, on the grid of r that it was made on */
        read_chunk_profile(chunk, potentials, least);
        for (int u = 0; u < CHUNK_POTENTIALS; u++) {
            double points[81][3], misfits[81], found = 1e300;
            for (int r = 0; r < 81; r++)
                points[r][0] = potentials[u], points[r][1] = 0.3 + 0.01 * r, points[r][2] = 0.0;
            ASSERT_OK(context,
                      paritas_losscone_misfit(context, &d.sweeps, NULL, 81, points[0], misfits, NULL));
            for (int r = 0; r < 81; r++) found = misfits[r] < found ? misfits[r] : found;
            ASSERT_CLOSE(found, least[u], 1e-9 * least[u]);
        }
    }
    free_data(&d);
    paritas_workspace_free(document);
    paritas_close(context);
}

/* The formula once more, in the C library's functions, angles rather than sines. */
static double formula(const struct data *d, size_t k, const paritas_losscone_options *o, const double *point)
{
    double sum = 0.0;
    unsigned cells = 0;
    for (int i = 0; i < ROWS; i++) {
        const double energy = d->energy[k * ROWS + i], spacecraft = d->potential[k * ROWS + i],
                     fall = spacecraft - point[0], degrees = 180.0 / acos(-1.0);
        const int energies = o->response == PARITAS_LOSSCONE_RESPONSE_FOLDED ? 5 : 1;
        for (int j = 0; j < CELLS; j++) {
            const double n = d->flux[k * ALL + (size_t)(i * CELLS + j)],
                         theta = degrees * acos(d->cosine[k * ALL + (size_t)(i * CELLS + j)]);
            if (!(n > 0.0)) continue;
            double model = 0.0;
            for (int e = 0; e < energies; e++) {
                const double left = fmax(
                    energy * (energies == 1 ? 1.0 : 1.0 + o->response_width * (e - 2) / 2.0) - spacecraft,
                    1e-12);
                const double alpha =
                    degrees * asin(sqrt(fmin(fmax(point[1] * (1.0 + point[0] / left), 0.0), 1.0)));
                model += (theta <= 180.0 - alpha ? 1.0 : o->background) / energies;
            }
            if (energies == 1 && fall > 0.0 && point[2] > 0.0)
                model += point[2] *
                         exp(-0.5 * pow((energy - fmax(fall, o->beam_width)) / o->beam_width, 2.0)) *
                         exp(-0.5 * pow((theta - 180.0) / o->beam_sigma, 2.0));
            const double rest =
                o->method == PARITAS_LOSSCONE_METHOD_LILLIS ? n - model : log(n + 1e-6) - log(model + 1e-6);
            sum += rest * rest;
            cells++;
        }
    }
    return o->method == PARITAS_LOSSCONE_METHOD_LILLIS ? sum / (cells - 3.0) : sum;
}

static void random_points(uint64_t *random, size_t n, double *points)
{
    for (size_t k = 0; k < n; k++) {
        points[3 * k] =
            uniform(random) < 0.3 ? -2000.0 + 2020.0 * uniform(random) : -150.0 + 170.0 * uniform(random);
        points[3 * k + 1] = 0.3 + 0.8 * uniform(random);
        points[3 * k + 2] = uniform(random) < 0.3 ? 0.0 : 5.0 * uniform(random);
    }
}

TEST(misfits_follow_the_formula)
{
    enum { sweeps = 20, points = 100 };
    paritas_context *context = open_context(NULL, 64, 1, 0), *narrow = open_context(NULL, 32, 1, 0);
    struct data d = make_data(sweeps);
    uint64_t random = 1;
    double at[3 * points], misfit[sweeps * points], raw[sweeps * points], far = 0.0;
    for (size_t k = 0; k < sweeps; k++) make_sweep(context, NULL, &d, k, &random);
    random_points(&random, points, at);
    for (int method = 0; method < 4; method++) {
        paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
        options.method = method % 2 ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
        options.response = method / 2 ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
        ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, &options, points, at, misfit, NULL));
        ASSERT_OK(narrow, paritas_losscone_misfit(narrow, &d.sweeps, &options, points, at, raw, NULL));
        for (size_t i = 0; i < sweeps * points; i++) {
            const double expected = formula(&d, i / points, &options, at + 3 * (i % points));
            ASSERT_CLOSE(misfit[i], expected, 1e-10 * (1.0 + expected));
            far = fmax(far, fabs(raw[i] - misfit[i]) / (1.0 + misfit[i]));
            /* an edge beside a cell may fall to its other side in f32: one of a thousand cells */
            ASSERT_CLOSE(raw[i], misfit[i], 0.1 * (1.0 + misfit[i]));
        }
    }
    print_message("f32 and f64 differ by up to %.2g of 1 + misfit\n", far);
    free_data(&d);
    paritas_close(context);
    paritas_close(narrow);
}

TEST(misfits_and_models_have_the_same_bits_however_the_work_is_cut)
{
    enum { sweeps = 33, points = 37 };
    struct data d = make_data(sweeps);
    double at[3 * sweeps + 3 * points], *model = make_array(sweeps * ALL, sizeof *model),
                                        *expected_model = make_array(sweeps * ALL, sizeof *model);
    double misfit[sweeps * points], expected[sweeps * points];
    for (unsigned precision = 32; precision <= 64; precision += 32) {
        int first = 1;
        size_t way = 0;
        for (paritas_context *context; (context = next_context(precision, &way)) != NULL;) {
            uint64_t random = 2;
            paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
            /* of f64 also in f32 */
            for (size_t k = 0; k < sweeps && precision == 64; k++) make_sweep(context, NULL, &d, k, &random);
            if (precision == 32 && first) {
                paritas_context *wide = open_context(NULL, 64, 1, 0);
                for (size_t k = 0; k < sweeps; k++) make_sweep(wide, NULL, &d, k, &random);
                paritas_close(wide);
            }
            random = 3;
            random_points(&random, sweeps + points, at);
            for (int folded = 0; folded < 2; folded++) {
                options.response = folded ? PARITAS_LOSSCONE_RESPONSE_FOLDED : PARITAS_LOSSCONE_RESPONSE_HARD;
                ASSERT_OK(context,
                          paritas_losscone_misfit(context, &d.sweeps, &options, points, at, misfit, NULL));
                if (folded == 0) {
                    if (first) memcpy(expected, misfit, sizeof expected);
                    assert_memory_equal(misfit, expected, sizeof expected);
                }
                for (size_t k = 0; k < sweeps; k += 5) { /* one by one */
                    const paritas_sweeps one = part_of(&d, k, 1);
                    double alone[points];
                    ASSERT_OK(context,
                              paritas_losscone_misfit(context, &one, &options, points, at, alone, NULL));
                    assert_memory_equal(alone, misfit + k * points, sizeof alone);
                    ASSERT_OK(context,
                              paritas_losscone_misfit(context, &one, &options, 1, at + 3 * 11, alone, NULL));
                    assert_memory_equal(alone, misfit + k * points + 11, sizeof *alone);
                }
            }
            options.response = PARITAS_LOSSCONE_RESPONSE_HARD;
            ASSERT_OK(context, paritas_losscone_model(context, &d.sweeps, &options, at, model, NULL));
            if (first) memcpy(expected_model, model, sweeps * ALL * sizeof *model);
            assert_memory_equal(model, expected_model, sweeps * ALL * sizeof *model);
            first = 0;
            paritas_close(context);
        }
    }
    free(model);
    free(expected_model);
    free_data(&d);
}

TEST(cells_and_rows_that_cannot_count_do_not)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(1);
    uint64_t random = 4;
    static const double at[3] = {-100.0, 0.7, 1.0};
    double before, after;
    unsigned cells;
    make_sweep(context, NULL, &d, 0, &random);
    for (int c = 0; c < ALL; c++)
        if (c / CELLS == 3 || c / CELLS == 5 || c / CELLS == 9 || c % CELLS == 20) d.flux[c] = 0.0;
    ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, 1, at, &before, NULL));
    unsigned left = 0;
    for (int c = 0; c < ALL; c++) left += d.flux[c] > 0.0;
    for (int c = 0; c < ALL; c++)
        if (d.flux[c] == 0.0)
            d.flux[c] = c % CELLS != 20 ? 1.0
                        : c % 3 == 0    ? (double)INFINITY
                        : c % 3 == 1    ? -1.0
                                        : (double)NAN;
    d.energy[3] = (double)NAN;
    d.potential[5] = (double)NAN;
    d.potential[9] = d.energy[9] * 1.000001;
    ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, NULL, 1, at, &after, &cells));
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(cells, left);
    /* Lillis needs five cells, Halekas one */
    for (int keep = 0; keep <= 5; keep++)
        for (int lillis = 0; lillis < 2; lillis++) {
            paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
            options.method = lillis ? PARITAS_LOSSCONE_METHOD_LILLIS : PARITAS_LOSSCONE_METHOD_HALEKAS;
            for (int c = 0; c < ALL; c++) d.flux[c] = c < keep ? 0.5 : 0.0;
            ASSERT_OK(context, paritas_losscone_misfit(context, &d.sweeps, &options, 1, at, &after, &cells));
            assert_int_equal(cells, keep);
            assert_true(isnan(after) == (keep < (lillis ? 5 : 1)));
        }
    /* the model asks for energy and potential alone, and needs no flux */
    double model[ALL], edge[ROWS];
    const paritas_sweeps dark = {.size = sizeof(paritas_sweeps),
                                 .n = 1,
                                 .energy = d.energy,
                                 .potential = d.potential,
                                 .cosine = d.cosine};
    d.cosine[7] = (double)NAN;
    ASSERT_OK(context, paritas_losscone_model(context, &dark, NULL, at, model, edge));
    for (int c = 0; c < ALL; c++)
        assert_true(isnan(model[c]) == (c == 7 || c / CELLS == 3 || c / CELLS == 5));
    for (int i = 0; i < ROWS; i++) assert_true(isnan(edge[i]) == (i == 3 || i == 5));
    free_data(&d);
    paritas_close(context);
}

TEST(what_makes_no_sense_is_refused_by_name)
{
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(1);
    double at[3] = {0.0, 0.5, (double)NAN}, misfit, theta[CELLS] = {91.0};
    assert_int_equal(paritas_losscone_misfit(context, &d.sweeps, NULL, 1, at, &misfit, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "points[0][2]"));
    assert_int_equal(paritas_losscone_misfit(context, NULL, NULL, 0, NULL, NULL, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_model(context, &d.sweeps, NULL, NULL, d.flux, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_losscone_cosines(context, 1, NULL, theta, d.flux, NULL, d.flux, d.cosine),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "theta[0]"));
    assert_int_equal(
        paritas_losscone_normalise(context, 1, NULL, (paritas_normalisation)3, d.cosine, d.flux, d.flux),
        PARITAS_INVALID_ARGUMENT);
    assert_int_equal(
        paritas_losscone_mask(context, 1, NULL, PARITAS_LOSSCONE_METHOD_LILLIS, d.cosine, NULL, d.flux),
        PARITAS_INVALID_ARGUMENT);
    free_data(&d);
    paritas_close(context);
}

TEST(every_refused_allocation_is_reported_and_nothing_leaks)
{
    struct data d = make_data(3);
    uint64_t random = 5;
    paritas_context *context = open_context(NULL, 64, 1, 0);
    for (size_t k = 0; k < 3; k++) make_sweep(context, NULL, &d, k, &random);
    paritas_close(context);
    static const double at[9] = {-100.0, 0.7, 1.0, -100.0, 0.7, 1.0, -100.0, 0.7, 1.0};
    long requests = 0;
    for (long fail_at = 0; fail_at <= requests; fail_at++) {
        struct ledger ledger = {0};
        const paritas_allocator allocator = ledger_allocator(&ledger);
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.allocator = &allocator;
        options.threads = 1;
        assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
        const long before = ledger.requests;
        double misfit[9], *model = make_array(3 * ALL, sizeof *model);
        ledger.fail_at = fail_at ? before + fail_at : 0;
        ledger.for_good = true;
        const paritas_status first = paritas_losscone_misfit(context, &d.sweeps, NULL, 3, at, misfit, NULL);
        const paritas_status second = paritas_losscone_model(context, &d.sweeps, NULL, at, model, NULL);
        if (fail_at == 0)
            requests = ledger.requests - before;
        else
            assert_true(first == PARITAS_OUT_OF_MEMORY || second == PARITAS_OUT_OF_MEMORY);
        paritas_close(context);
        assert_int_equal(ledger.live, 0);
        free(model);
    }
    assert_true(requests > 3);
    free_data(&d);
}

TEST(choices_have_names)
{
    assert_string_equal(paritas_losscone_method_name(PARITAS_LOSSCONE_METHOD_LILLIS), "lillis");
    assert_string_equal(paritas_losscone_response_name(PARITAS_LOSSCONE_RESPONSE_FOLDED), "folded");
    assert_string_equal(paritas_losscone_search_name(PARITAS_LOSSCONE_SEARCH_DE), "de");
    assert_string_equal(paritas_sweep_status_name(PARITAS_SWEEP_AT_LIMIT), "at_limit");
    assert_string_equal(paritas_sweep_status_name((paritas_sweep_status)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pitch_angles_are_those_of_the_reference),
        cmocka_unit_test(rows_without_field_or_polarity_have_no_pitch_angles),
        cmocka_unit_test(normalised_fluxes_are_those_of_the_reference),
        cmocka_unit_test(masks_and_misfits_are_those_of_the_reference),
        cmocka_unit_test(the_mask_of_lillis_measures_by_the_largest_incident_flux),
        cmocka_unit_test(models_are_those_of_the_reference),
        cmocka_unit_test(a_sweep_made_without_noise_has_no_misfit_at_its_truth),
        cmocka_unit_test(misfits_of_noisy_sweeps_are_those_of_the_reference),
        cmocka_unit_test(misfits_follow_the_formula),
        cmocka_unit_test(misfits_and_models_have_the_same_bits_however_the_work_is_cut),
        cmocka_unit_test(cells_and_rows_that_cannot_count_do_not),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
        cmocka_unit_test(every_refused_allocation_is_reported_and_nothing_leaks),
        cmocka_unit_test(choices_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
