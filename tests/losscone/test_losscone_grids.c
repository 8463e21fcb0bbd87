/* test_losscone_grids.c: sweeps have the same bits on the kernels of every grid, on every device and
 * instruction set. Grids are compared by masked rows and cells more: 16 x 88 and 16 x 136 run in the kernels
 * of other grids.
 *
 *   losscone_grids opencl     on this device instead: its drivers compile for minutes
 *   losscone_grids cuda few   each entry on one sweep alone, with short searches */
#include "losscone/devices.h"
#include "moon/losscone/losscone_grid.h"

#define ROWS PARITAS_SWEEP_ROWS
#define MORE (ROWS + 1)
#define CELLS PARITAS_SWEEP_CELLS
#define CELLS_MOST 136
#define N 6
#define POINTS 17
#define DRAWS 3

static double energy[N * MORE], potential[N * MORE], cosine[N * MORE * CELLS_MOST],
    flux[N * MORE * CELLS_MOST], masked[N * MORE * CELLS_MOST], counts[N * ROWS * CELLS],
    more_counts[N * MORE * CELLS_MOST], measured[N * ROWS * CELLS], more_measured[N * MORE * CELLS_MOST],
    channel[N * ROWS * 5], more_channel[N * MORE * 5];

/* N x ROWS x width numbers to N x MORE x more, NaN around them. */
static void pad(const double *from, size_t width, size_t more, double *to)
{
    for (size_t i = 0; i < N * MORE * more; i++) {
        const size_t k = i / (MORE * more), row = i / more % MORE, j = i % more;
        to[i] = row < ROWS && j < width ? from[(k * ROWS + row) * width + j] : NAN;
    }
}

static const char *asked_device; /* NULL: the CPU's instruction sets */
static bool few;
static size_t n_asked = N; /* sweeps */

struct asked {
    const char *name;
    paritas_losscone_options options;
    bool lillis, channels, counted, measured;
};

struct given {
    paritas_sweeps sweeps[2]; /* 15 x 88, 16 x 88 */
};

/* cells: of the padded sweeps. */
static struct given give(const struct sample *s, const struct asked *asked, size_t cells)
{
    struct given g = {.sweeps = {PARITAS_SWEEPS_DEFAULT, PARITAS_SWEEPS_DEFAULT}};
    paritas_sweeps *own = &g.sweeps[0], *more = &g.sweeps[1];
    own->n = more->n = n_asked;
    own->energy = s->energy;
    own->potential = s->potential;
    own->cosine = s->cosine;
    own->flux = asked->lillis ? s->masked : s->flux;
    own->channel = asked->channels ? channel : NULL;
    own->counts = asked->counted ? counts : NULL;
    own->measured = asked->measured ? measured : NULL;
    more->measured = asked->measured ? more_measured : NULL;
    more->energy = energy;
    more->potential = potential;
    more->cosine = cosine;
    more->flux = asked->lillis ? masked : flux;
    more->channel = asked->channels ? more_channel : NULL;
    more->counts = asked->counted ? more_counts : NULL;
    more->rows = MORE;
    more->cells = cells;
    return g;
}

#define SAME(R, type, name, ...)                                 \
    if (memcmp(&one->name, &other->name, sizeof one->name) != 0) \
        fail_msg("%s, %s, sweep %zu: " #name " differs", device, what, k);
static void same_results(const char *device, const char *what, const paritas_losscone_result *results[2])
{
    for (size_t k = 0; k < N; k++) {
        const paritas_losscone_result *one = &results[0][k], *other = &results[1][k];
        PARITAS_LOSSCONE_RESULT_FIELDS(SAME, )
    }
}
static void same_sets(const char *device, const char *what, const paritas_confidence *sets[2])
{
    for (size_t k = 0; k < N; k++) {
        const paritas_confidence *one = &sets[0][k], *other = &sets[1][k];
        PARITAS_CONFIDENCE_FIELDS(SAME, )
    }
}
static void same(const char *device, const char *what, const double *one, const double *other, size_t n)
{
    if (memcmp(one, other, n * sizeof *one) != 0) fail_msg("%s: %s differ", device, what);
}

static void compare_grids(paritas_context *context, const char *device, const struct sample *s,
                          const struct asked *asked, size_t cells)
{
    static paritas_losscone_result results[2][N];
    static paritas_confidence sets[2][N];
    static double thresholds[2][N], profile[2][N * 3], ratio[2][N * 3], misfit[2][N * POINTS],
        points[POINTS * 3], model[N * ROWS * CELLS], more_model[N * MORE * CELLS_MOST];
    static const double at[3] = {-700.0, -55.0, 3.0};
    const struct given g = give(s, asked, cells);
    const paritas_losscone_options *options = &asked->options;
    for (size_t p = 0; p < POINTS * 3; p++) points[p] = s->truth[p % (N * 3)] * (p % 2 ? 1.0 : 0.9);
    for (size_t i = 0; i < 2; i++) {
        const paritas_sweeps *sweeps = &g.sweeps[i];
        for (size_t k = 0; k < N; k++) {
            results[i][k].size = sizeof results[i][k];
            sets[i][k].size = sizeof sets[i][k];
        }
        ASSERT_OK(context, paritas_losscone_fit(context, sweeps, options, results[i]));
        ASSERT_OK(context,
                  paritas_losscone_misfit(context, sweeps, options, POINTS, points, misfit[i], NULL));
        ASSERT_OK(context,
                  paritas_losscone_model(context, sweeps, options, points, i ? more_model : model, NULL));
        if (options->search == PARITAS_LOSSCONE_SEARCH_DE) continue;
        ASSERT_OK(context,
                  paritas_losscone_confidence(context, sweeps, options, results[i], NULL, 0.0, sets[i]));
        if (!asked->measured)
            ASSERT_OK(context, paritas_losscone_bootstrap(context, sweeps, options, results[i], DRAWS, 0.5,
                                                          thresholds[i]));
        ASSERT_OK(context,
                  paritas_losscone_profile(context, sweeps, options, 3, at, profile[i], ratio[i], NULL));
    }
    same_results(device, asked->name, (const paritas_losscone_result *[]){results[0], results[1]});
    same_sets(device, asked->name, (const paritas_confidence *[]){sets[0], sets[1]});
    if (cells == CELLS) /* a row's cells tell where its random numbers begin */
        same(device, "thresholds", thresholds[0], thresholds[1], N);
    same(device, "profiles", profile[0], profile[1], N * 3);
    same(device, "ratios", ratio[0], ratio[1], N * 3);
    same(device, "misfits", misfit[0], misfit[1], N * POINTS);
    for (size_t row = 0; row < n_asked * ROWS; row++)
        same(device, "models", model + row * CELLS, more_model + (row / ROWS * MORE + row % ROWS) * cells,
             CELLS);
}

static void compare_cosines(paritas_context *context, const char *device, const struct sample *s,
                            size_t cells)
{
    static double theta[CELLS_MOST], field[N * MORE * 3], polarity[N * MORE], azimuth[N * MORE * CELLS_MOST],
        own[N * ROWS * CELLS], more[N * MORE * CELLS_MOST];
    const paritas_sweep_grid grid = {MORE, cells};
    memcpy(theta, s->theta, sizeof s->theta);
    pad(s->field, 3, 3, field);
    pad(s->polarity, 1, 1, polarity);
    pad(s->azimuth, CELLS, cells, azimuth);
    ASSERT_OK(context,
              paritas_losscone_cosines(context, N, NULL, s->theta, s->field, s->polarity, s->azimuth, own));
    ASSERT_OK(context, paritas_losscone_cosines(context, N, &grid, theta, field, polarity, azimuth, more));
    for (size_t row = 0; row < N * ROWS; row++)
        same(device, "cosines", own + row * CELLS, more + (row / ROWS * MORE + row % ROWS) * cells, CELLS);
}

static struct asked ask(const char *name)
{
    return (struct asked){.name = name, .options = PARITAS_LOSSCONE_OPTIONS_DEFAULT};
}

static void pad_all(const struct sample *s, size_t cells)
{
    pad(s->energy, 1, 1, energy);
    pad(s->potential, 1, 1, potential);
    pad(s->cosine, CELLS, cells, cosine);
    pad(s->flux, CELLS, cells, flux);
    pad(s->masked, CELLS, cells, masked);
    pad(counts, CELLS, cells, more_counts);
    pad(measured, CELLS, cells, more_measured);
    pad(channel, 5, 5, more_channel);
}

static void compare_all(paritas_context *context, const char *device, const struct sample *s)
{
    struct asked all[] = {ask("hard"),   ask("no beam"), ask("folded"),
                          ask("lillis"), ask("de"),      ask("counts")};
    all[0].counted = true;
    all[1].options.amplitude_upper = 0.0;
    all[2].options.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    all[2].channels = true;
    all[3].options.method = PARITAS_LOSSCONE_METHOD_LILLIS;
    all[3].lillis = true;
    all[4].options.search = PARITAS_LOSSCONE_SEARCH_DE;
    all[4].options.generations = 20;
    all[5] = all[2];
    all[5].name = "counts";
    all[5].counted = all[5].measured = true;
    for (size_t cells = CELLS; cells <= CELLS_MOST; cells += CELLS_MOST - CELLS) {
        pad_all(s, cells);
        for (size_t q = 0; q < COUNT_OF(all); q++) {
            if (few && q > 0 && q < 4) continue; /* their entries run for the others */
            if (few) all[q].options.box_limit = 60;
            compare_grids(context, device, s, &all[q], cells);
        }
        compare_cosines(context, device, s, cells);
    }
}

static struct sample *prepared(void)
{
    struct sample *s = make_sample();
    for (size_t i = 0; i < N * ROWS * CELLS; i++) counts[i] = 20.0 + (double)(i % 90);
    for (size_t i = 0; i < N * ROWS * CELLS; i++)
        measured[i] =
            s->flux[i] > 0.0 && s->flux[i] < 10.0 ? (double)(int)(counts[i] * s->flux[i] + 0.5) : NAN;
    for (size_t i = 0; i < N * ROWS * 5; i++) channel[i] = 1.3 - 0.14 * (double)(i % 5);
    return s;
}

TEST(masked_rows_and_cells_more_change_no_bit)
{
    static const struct {
        const char *isa;
        unsigned precision;
    } places[] = {{"portable", 64}, {"scalar", 64}, {"avx2", 64}, {"avx512", 64}, {"neon", 64},
                  {"portable", 32}, {"scalar", 32}, {"avx2", 32}, {"avx512", 32}, {"neon", 32}};
    struct sample *s = prepared();
    for (size_t k = 0; k < COUNT_OF(places); k++) {
        char name[64];
        const char *isa = asked_device ? NULL : places[k].isa;
        if (asked_device && strcmp(places[k].isa, "portable") != 0) continue; /* once in each precision */
        paritas_context *context =
            open_as(asked_device ? asked_device : "cpu", isa, places[k].precision, 0, 1, 0);
        if (!context) continue;
        snprintf(name, sizeof name, "%s, f%u", isa ? isa : asked_device, places[k].precision);
        compare_all(context, name, s);
        paritas_close(context);
    }
    free(s);
}

/* An entry has one number in all modules. */
TEST(modules_have_their_entries_in_one_order)
{
    const struct losscone_grid *const others[] = {&losscone_grid_medium, &losscone_grid_wide};
    const struct kernel_module *own = losscone_grid_prospector.module;
    for (size_t g = 0; g < COUNT_OF(others); g++) {
        const struct kernel_module *other = others[g]->module;
        assert_int_equal(own->n_entries, other->n_entries);
        for (unsigned e = 0; e < own->n_entries; e++)
            assert_string_equal(strrchr(own->entries[e], '_'), strrchr(other->entries[e], '_'));
    }
}

TEST(grids_that_are_too_large_are_refused)
{
    paritas_context *context = open_as("cpu", NULL, 64, 0, 1, 0);
    paritas_sweeps sweeps = PARITAS_SWEEPS_DEFAULT;
    paritas_sweep_grid grid = {32, 513};
    double none = 0.0;
    paritas_losscone_result result = {.size = sizeof result};
    sweeps.rows = 40;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, NULL, &result), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "sweeps.rows: 40 energies; at most 32");
    sweeps.rows = 32;
    sweeps.cells = 1000;
    assert_int_equal(paritas_losscone_fit(context, &sweeps, NULL, &result), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "sweeps.cells: 1000 directions; at most 512");
    assert_int_equal(
        paritas_losscone_normalise(context, 1, &grid, PARITAS_NORMALISATION_RATIO, &none, &none, &none),
        PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "grid.cells: 513 directions; at most 512");
    paritas_close(context);
}

/* Both ends of the kernels' grid: without noise the plateau holds the truth, and nothing is proven less. */
static void fit_grid(paritas_context *context, size_t rows, size_t cells, paritas_losscone_response response)
{
    static double e[PARITAS_SWEEP_ROWS_MOST], v[PARITAS_SWEEP_ROWS_MOST],
        c[PARITAS_SWEEP_ROWS_MOST * PARITAS_SWEEP_CELLS_MOST],
        f[PARITAS_SWEEP_ROWS_MOST * PARITAS_SWEEP_CELLS_MOST];
    static const double truth[3] = {-87.0, 0.7, 0.0}, at = -87.0;
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    paritas_sweeps sweeps = PARITAS_SWEEPS_DEFAULT;
    paritas_losscone_result result = {.size = sizeof result}, evolved = {.size = sizeof evolved};
    paritas_confidence set = {.size = sizeof set};
    double threshold, misfit;
    sweeps.n = 1;
    sweeps.rows = rows;
    sweeps.cells = cells;
    sweeps.energy = e;
    sweeps.potential = v;
    sweeps.cosine = c;
    sweeps.flux = f;
    options.response = response;
    for (size_t i = 0; i < rows; i++) e[i] = 20.0 + 11.0 * (double)(i * i);
    for (size_t j = 0; j < rows * cells; j++)
        c[j] = -1.0 + 2.0 * ((double)((j * 7919) % 16411) + 0.5) / 16411.0;
    ASSERT_OK(context, paritas_losscone_model(context, &sweeps, &options, truth, f, NULL));
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &options, &result));
    assert_int_equal(result.status, PARITAS_SWEEP_FITTED);
    assert_int_equal(result.cells, rows * cells);
    assert_true(result.misfit < 1e-12 && result.potential_lower <= at && at <= result.potential_upper);
    ASSERT_OK(context, paritas_losscone_confidence(context, &sweeps, &options, &result, NULL, 0.0, &set));
    assert_true(set.intervals == 1);
    ASSERT_OK(context, paritas_losscone_bootstrap(context, &sweeps, &options, &result, 2, 0.5, &threshold));
    ASSERT_OK(context, paritas_losscone_profile(context, &sweeps, &options, 1, &at, &misfit, NULL, NULL));
    assert_true(misfit < 1e-12 && threshold >= 0.0);
    options.search = PARITAS_LOSSCONE_SEARCH_DE;
    ASSERT_OK(context, paritas_losscone_fit(context, &sweeps, &options, &evolved));
    assert_true(evolved.misfit >= 0.0 && evolved.cells == result.cells);
}

TEST(the_largest_grid_and_the_least_are_fitted)
{
    paritas_context *context = open_as("cpu", NULL, 64, 0, 1, 0);
    for (int response = 0; response < 2; response++) {
        fit_grid(context, 32, 512, (paritas_losscone_response)response);
        fit_grid(context, 32, 128, (paritas_losscone_response)response);
        fit_grid(context, 32, 129, (paritas_losscone_response)response);
        fit_grid(context, 1, 512, (paritas_losscone_response)response);
        fit_grid(context, 32, 1, (paritas_losscone_response)response);
    }
    paritas_close(context);
}

/* A caller that was compiled before sweeps had rows and cells. */
TEST(sweeps_of_the_earlier_size_are_15_x_88)
{
    paritas_context *context = open_as("cpu", NULL, 64, 0, 1, 0);
    struct sample *s = prepared();
    const struct asked asked = ask("hard");
    struct given g = give(s, &asked, CELLS);
    static paritas_losscone_result results[2][N];
    for (size_t k = 0; k < N; k++) results[0][k].size = results[1][k].size = sizeof results[0][k];
    ASSERT_OK(context, paritas_losscone_fit(context, &g.sweeps[0], NULL, results[0]));
    g.sweeps[0].size = offsetof(paritas_sweeps, rows);
    g.sweeps[0].rows = g.sweeps[0].cells = 1000; /* nobody reads them */
    ASSERT_OK(context, paritas_losscone_fit(context, &g.sweeps[0], NULL, results[1]));
    same_results("cpu", "earlier size", (const paritas_losscone_result *[]){results[0], results[1]});
    paritas_close(context);
    free(s);
}

int main(int count, char **arguments)
{
    if (count > 1) asked_device = arguments[1];
    few = count > 2;
    if (few) n_asked = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_rows_and_cells_more_change_no_bit),
        cmocka_unit_test(modules_have_their_entries_in_one_order),
        cmocka_unit_test(grids_that_are_too_large_are_refused),
        cmocka_unit_test(the_largest_grid_and_the_least_are_fitted),
        cmocka_unit_test(sweeps_of_the_earlier_size_are_15_x_88),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
