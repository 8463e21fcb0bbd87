/* test_search.c: the exact search finds the least misfit there is, where it says, with the same bits however it is run. */
#include "common.h"
#include "losscone/synthetic.h"
#include "share.h"

static paritas_context *open_with(unsigned threads, const char *isa, unsigned precision)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    options.threads = threads;
    options.isa = isa;
    options.precision = precision;
    return paritas_open(&options, &context) == PARITAS_OK ? context : (paritas_close(context), NULL);
}

static paritas_losscone_options beamless(paritas_response response)
{
    paritas_losscone_options o = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    o.amplitude_upper = 0.0;
    o.response = response;
    return o;
}

static void fit(paritas_context *context, const struct synthetic *data, const paritas_losscone_options *o, paritas_losscone_result *results)
{
    const paritas_sweeps sweeps = sweeps_of(data);
    memset(results, 0, data->n * sizeof *results);
    if (paritas_losscone_fit(context, &sweeps, o, results) != PARITAS_OK) fail_msg("%s", paritas_error_message(context));
}

/* Leaves each reflected cell with this chance. */
static void thin_out(struct synthetic *data, double chance, uint64_t seed)
{
    for (size_t i = 0; i < data->n * ROWS * CELLS; i++)
        if (data->cosine[i] < 0.0 && uniform(&seed) > chance) data->flux[i] = NAN;
}

/* ---- every cell of the arrangement ---- */

/* A row's thresholds and the misfit as a function of how many are passed, level by level; the test's own, from nothing but the formula. */
struct row {
    int n;
    double sine[CELLS], datum[CELLS], inverse[5];
};

struct arrangement {
    struct row rows[ROWS];
    double constant, levels[6];
    int energies;
};

static struct arrangement arrange(const struct synthetic *data, size_t k, const paritas_losscone_options *o)
{
    struct arrangement a = {.energies = o->response == PARITAS_RESPONSE_FOLDED ? 5 : 1};
    const int lillis = o->method == PARITAS_LILLIS;
    for (int n = 0; n <= a.energies; n++) {
        const double level = ((a.energies - n) + n * o->background) / a.energies;
        a.levels[n] = lillis ? level : log(level + 1e-6);
    }
    for (int i = 0; i < ROWS; i++) {
        struct row *row = &a.rows[i];
        for (int n = 0; n < a.energies; n++) {
            const double part = a.energies == 1 ? 1.0 : 1.0 + o->response_width * (1.0 - 0.5 * n);
            row->inverse[n] = 1.0 / fmax(data->energy[k * ROWS + (size_t)i] * part - data->potential[k * ROWS + (size_t)i], 1e-12);
        }
        for (int j = 0; j < CELLS; j++) {
            const size_t at = (k * ROWS + (size_t)i) * CELLS + (size_t)j;
            const double flux = data->flux[at], cosine = data->cosine[at], datum = lillis ? flux : log(flux + 1e-6);
            if (!(flux > 0.0)) continue;
            if (cosine >= 0.0) a.constant += (datum - a.levels[0]) * (datum - a.levels[0]);
            else {
                row->sine[row->n] = 1.0 - cosine * cosine;
                row->datum[row->n++] = datum;
            }
        }
    }
    return a;
}

static double misfit_at(const struct arrangement *a, double u, double r)
{
    double sum = a->constant;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &a->rows[i];
        double x[5];
        for (int n = 0; n < a->energies; n++) x[n] = r * (1.0 + u * row->inverse[n]);
        for (int j = 0; j < row->n; j++) {
            int inside = 0;
            for (int n = 0; n < a->energies; n++) inside += row->sine[j] < x[n];
            sum += (row->datum[j] - a->levels[inside]) * (row->datum[j] - a->levels[inside]);
        }
    }
    return sum;
}

/* The least misfit at points beside all crossings of two thresholds and beside the thresholds' ends on the domain's edges. */
static double least_by_force(const struct arrangement *a, const paritas_losscone_options *o)
{
    double least = misfit_at(a, o->potential_lower, o->ratio_lower), (*line)[2] = malloc((size_t)ROWS * CELLS * 5 * sizeof *line);
    int lines = 0;
    assert_non_null(line);
    for (int i = 0; i < ROWS; i++)
        for (int n = 0; n < a->energies; n++)
            for (int j = 0; j < a->rows[i].n; j++, lines++) line[lines][0] = a->rows[i].inverse[n], line[lines][1] = a->rows[i].sine[j];
    const double aside = 1e-7;
    for (int p = 0; p < lines; p++) {
        for (int q = -2; q < p; q++) {
            /* a + c b = s and the same of another line, or a = a bound of r */
            for (int side = 0; side < 4; side++) {
                const double s = line[p][1] + (side & 1 ? aside : -aside), c = line[p][0];
                double ratio, product;
                if (q < 0) {
                    ratio = q == -2 ? o->ratio_lower : o->ratio_upper;
                    product = (s - ratio) / c;
                } else {
                    const double other = line[q][1] + (side & 2 ? aside : -aside), d = line[q][0];
                    if (fabs(c - d) < 1e-9 * c) continue;
                    product = (s - other) / (c - d);
                    ratio = s - c * product;
                }
                const double u = product / ratio;
                if (!(ratio >= o->ratio_lower && ratio <= o->ratio_upper && u >= o->potential_lower && u <= o->potential_upper)) continue;
                const double misfit = misfit_at(a, u, ratio);
                if (misfit < least) least = misfit;
            }
        }
        for (int side = 0; side < 4; side++) { /* and U = a bound of U */
            const double u = side & 2 ? o->potential_upper : o->potential_lower, ratio = (line[p][1] + (side & 1 ? aside : -aside)) / (1.0 + u * line[p][0]);
            if (!(ratio >= o->ratio_lower && ratio <= o->ratio_upper)) continue;
            const double misfit = misfit_at(a, u, ratio);
            if (misfit < least) least = misfit;
        }
    }
    free(line);
    return least;
}

static void check_against_force(paritas_losscone_options o, size_t n, double chance, double lowest, uint64_t seed)
{
    struct synthetic data = synthetic_sweeps(n, seed, lowest, &o);
    paritas_losscone_result *results = calloc(n, sizeof *results);
    paritas_context *context = open_with(1, NULL, 64);
    assert_non_null(results);
    assert_non_null(context);
    thin_out(&data, chance, seed);
    fit(context, &data, &o, results);
    for (size_t k = 0; k < n; k++) {
        const struct arrangement a = arrange(&data, k, &o);
        const double forced = least_by_force(&a, &o), raw = o.method == PARITAS_LILLIS ? results[k].misfit * (results[k].cells - 3) : results[k].misfit;
        assert_int_equal(results[k].status, PARITAS_SWEEP_FITTED);
        if (raw > forced + 1e-9 * (1.0 + forced)) fail_msg("sweep %zu: %.15g, but %.15g is there", k, raw, forced);
        ASSERT_CLOSE(raw, forced, 1e-3 * (1.0 + forced)); /* force misses only cells thinner than 1e-7 */
        ASSERT_CLOSE(misfit_of(&data, k, results[k].potential, results[k].ratio, 0.0, &o), raw, 1e-9 * (1.0 + raw));
    }
    free(results);
    synthetic_free(&data);
    paritas_close(context);
}

TEST(no_cell_of_a_hard_edge_has_a_lesser_misfit)
{
    check_against_force(beamless(PARITAS_RESPONSE_HARD), 12 / SHARE, 0.3, -400.0, 11);
    check_against_force(beamless(PARITAS_RESPONSE_HARD), 12 / SHARE, 0.2, 20.0, 12);
    paritas_losscone_options lillis = beamless(PARITAS_RESPONSE_HARD);
    lillis.method = PARITAS_LILLIS;
    check_against_force(lillis, 12 / SHARE, 0.25, -300.0, 13);
}

TEST(no_cell_of_the_response_has_a_lesser_misfit)
{
    check_against_force(beamless(PARITAS_RESPONSE_FOLDED), 6 / SHARE, 0.06, -400.0, 21);
    check_against_force(beamless(PARITAS_RESPONSE_FOLDED), 6 / SHARE, 0.06, 20.0, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cell_of_a_hard_edge_has_a_lesser_misfit),
        cmocka_unit_test(no_cell_of_the_response_has_a_lesser_misfit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
