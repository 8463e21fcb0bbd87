/* Toys without a test, each with its fit: closed forms, pulls, what a job may ask, stores, and goodness of
 * fit by toys. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkdtemp */
#endif
#include "infer_testing.h"

#include "fit/workspaces.h"
#include "base/math/probability.h"
#include "toys/toys.h"
#include "share.h"
#include "store/store.h"

#include <unistd.h>

static const double S = 5.0, B = 9.0;
enum { SOME = 6000 / SHARE, PARAMETERS_MOST = 24 };

/* ---- rows of fits ---- */

struct row {
    uint64_t toy;
    paritas_fit_result result;
    double statistic, parameters[PARAMETERS_MOST], errors[PARAMETERS_MOST];
};

struct taken {
    size_t n_parameters, n, room, calls, stop_after;
    struct row *rows;
};

static int keep_fits(void *user, size_t n, const paritas_toy_fit *fits)
{
    struct taken *taken = user;
    if (taken->n + n > taken->room) {
        taken->room = 2 * taken->room + n;
        taken->rows = realloc(taken->rows, taken->room * sizeof *taken->rows);
        assert_non_null(taken->rows);
    }
    for (size_t i = 0; i < n; i++) {
        struct row *row = &taken->rows[taken->n++];
        memset(row, 0, sizeof *row);
        row->toy = fits[i].toy;
        row->result = fits[i].result;
        row->statistic = fits[i].statistic;
        assert_true(taken->n_parameters <= PARAMETERS_MOST);
        memcpy(row->parameters, fits[i].parameters, taken->n_parameters * sizeof(double));
        if (fits[i].errors) memcpy(row->errors, fits[i].errors, taken->n_parameters * sizeof(double));
    }
    return ++taken->calls == taken->stop_after;
}

static paritas_toys_options toys_options(uint64_t n, uint64_t seed)
{
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    options.n = n;
    options.seed = seed;
    return options;
}

/* A run that must succeed, with its rows (freed by the caller) and moments. */
static struct taken run_toys(const struct fixture *f, const paritas_job *job, const double *point,
                             const double *expected, unsigned flags, const paritas_toys_options *options,
                             paritas_toys_parameter *parameters, paritas_toys_result *result)
{
    struct taken taken = {.n_parameters = paritas_model_parameter_count(f->model)};
    paritas_toys_result own = PARITAS_INIT(paritas_toys_result);
    if (paritas_toys(f->context, f->model, job,
                     SIZED(paritas_toys_request, .point = point, .expected = expected, .flags = flags,
                           .take = keep_fits, .user = &taken, .parameters = parameters),
                     options, result ? result : &own) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    for (size_t i = 0; i < taken.n; i++) assert_int_equal(taken.rows[i].toy, i);
    return taken;
}

/* ---- models ---- */

/* Two bins of 10^5 events, a correlated and an uncorrelated uncertainty of the size of the statistical one;
 * without `poi` there is no signal. */
static struct fixture many_events(bool poi)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[2000.0,900.0,1500.0],\"modifiers\":[%s]},"
             "{\"name\":\"b\",\"data\":[1e5,8e4,9e4],\"modifiers\":["
             "{\"name\":\"scale\",\"type\":\"normsys\",\"data\":{\"hi\":1.002,\"lo\":0.998}},"
             "{\"name\":\"unc\",\"type\":\"shapesys\",\"data\":[250.0,200.0,300.0]}]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[102200.0,80700.0,91600.0]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"%s\",\"parameters\":[%s]}}],"
             "\"version\":\"1.0.0\"}",
             poi ? "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}" : "", poi ? "mu" : "",
             poi ? "{\"name\":\"mu\",\"inits\":[1.0],\"bounds\":[[-10.0,10.0]]}" : "");
    return make_fixture(text);
}

/* One bin of `b` events whose uncertainty `alpha` is a shift by up to `shift`. */
static struct fixture shifted(double b, double shift)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"channels\":[{\"name\":\"c\",\"samples\":[{\"name\":\"b\",\"data\":[%.17g],\"modifiers\":["
        "{\"name\":\"alpha\",\"type\":\"histosys\",\"data\":{\"hi_data\":[%.17g],\"lo_data\":[%.17g]}}]}]}],"
        "\"observations\":[{\"name\":\"c\",\"data\":[1.0]}],"
        "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"\",\"parameters\":[]}}],\"version\":\"1.0."
        "0\"}",
        b, b + shift, b - shift);
    return make_fixture(text);
}

/* Twenty bins, each with one simulated event. */
static struct fixture few_simulated_events(void)
{
    char text[4096], signal[256] = "", background[256] = "", observed[256] = "";
    for (unsigned bin = 0; bin < 20; bin++) {
        const char *comma = bin ? "," : "";
        snprintf(signal + strlen(signal), sizeof signal - strlen(signal), "%s%u.0", comma, 1 + bin % 4);
        snprintf(background + strlen(background), sizeof background - strlen(background), "%s6.0", comma);
        snprintf(observed + strlen(observed), sizeof observed - strlen(observed), "%s%u.0", comma,
                 25 + bin % 7);
    }
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[%s],\"modifiers\":["
             "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null}]},"
             "{\"name\":\"b\",\"data\":[%s],\"modifiers\":["
             "{\"name\":\"stat\",\"type\":\"staterror\",\"data\":[%s]}]},"
             "{\"name\":\"known\",\"data\":[%s],\"modifiers\":[]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%s]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
             "{\"name\":\"mu\",\"inits\":[1.0],\"bounds\":[[-10.0,10.0]]}]}}],\"version\":\"1.0.0\"}",
             signal, background, background, observed, observed);
    return make_fixture(text);
}

/* ---- closed forms ---- */

TEST(every_toy_of_a_counting_experiment_has_the_fit_of_its_count)
{
    struct fixture f = counting(12.0, S, B, -1.7, 30.0);
    const paritas_toys_options options = toys_options(SOME, 5);
    for (unsigned flags = 0; flags <= PARITAS_TOYS_ERRORS; flags += PARITAS_TOYS_ERRORS) {
        paritas_toys_parameter mu = PARITAS_INIT(paritas_toys_parameter);
        paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
        struct taken taken = run_toys(&f, NULL, NULL, NULL, flags, &options, &mu, &result);
        assert_int_equal(taken.n, SOME);
        double sum = 0.0, squares = 0.0, pulls = 0.0;
        for (size_t i = 0; i < taken.n; i++) {
            const struct row *row = &taken.rows[i];
            const double found = row->parameters[0] * S + B, n = round(found), hat = (n - B) / S;
            assert_int_equal(row->result.status, PARITAS_FIT_CONVERGED);
            ASSERT_CLOSE(found, n, 1e-3);
            ASSERT_CLOSE(row->result.twice_nll, 2.0 * (n - n * log(n) + lgamma(n + 1.0)), 1e-9);
            ASSERT_CLOSE(row->statistic, 0.0, 1e-9);
            if (flags) ASSERT_CLOSE(row->errors[0], sqrt(n) / S, 1e-3);
            sum += hat;
            squares += hat * hat;
            pulls += (hat - 0.6) / (sqrt(n) / S);
        }
        const double mean = sum / SOME;
        ASSERT_CLOSE(mu.generated, 0.6, 1e-9);
        assert_int_equal(mu.n, SOME);
        ASSERT_CLOSE(mu.mean, mean, 1e-4);
        ASSERT_CLOSE(mu.rms, sqrt((squares - SOME * mean * mean) / (SOME - 1)), 1e-4);
        assert_int_equal(mu.n_pulls, flags ? SOME : 0);
        if (flags)
            ASSERT_CLOSE(mu.pull_mean, pulls / SOME, 1e-3);
        else
            assert_true(isnan(mu.pull_mean) && isnan(mu.pull_rms));
        /* counts are drawn around 12 */
        ASSERT_CLOSE(mu.mean, 0.6, 5.0 * sqrt(12.0 / SOME) / S);
        ASSERT_CLOSE(mu.rms, sqrt(12.0) / S, 5.0 * sqrt(12.0 / SOME) / S);
        assert_int_equal(result.status, PARITAS_FIT_CONVERGED);
        assert_true(result.tally.fitted == SOME && result.tally.counts[PARITAS_FIT_CONVERGED] == SOME);
        free(taken.rows);
    }
    free_fixture(&f);
}

TEST(pulls_of_a_well_behaved_model_are_normal_wherever_the_toys_are_drawn)
{
    struct fixture f = many_events(true);
    static const double points[2][5] = {{1.0, 0.0, 1.0, 1.0, 1.0}, {2.5, -0.7, 1.001, 0.999, 1.002}};
    const paritas_toys_options options = toys_options(SOME, 8);
    for (int k = 0; k < 3; k++) {
        paritas_toys_parameter parameters[5] = {PARITAS_INIT(paritas_toys_parameter)};
        struct taken taken = run_toys(&f, NULL, k < 2 ? points[k] : NULL, NULL, PARITAS_TOYS_ERRORS, &options,
                                      parameters, NULL);
        for (int p = 0; p < 5; p++) {
            if (k < 2) assert_true(parameters[p].generated == points[k][p]);
            assert_int_equal(parameters[p].n_pulls, SOME);
            ASSERT_CLOSE(parameters[p].pull_mean, 0.0, 4.5 / sqrt(SOME));
            ASSERT_CLOSE(parameters[p].pull_rms, 1.0, 4.5 / sqrt(2.0 * SOME) + 0.003);
        }
        free(taken.rows);
    }
    free_fixture(&f);
}

TEST(given_expected_data_are_what_toys_are_drawn_around)
{
    /* the count says nothing of alpha: its fit is its auxiliary datum, and no toy has another rate */
    struct fixture f = shifted(1e6, 1.0);
    static const double expected[2] = {1.01e6, 0.7};
    paritas_toys_options options = toys_options(SOME, 21);
    paritas_toys_parameter alpha = PARITAS_INIT(paritas_toys_parameter);
    struct taken taken = run_toys(&f, NULL, NULL, expected, PARITAS_TOYS_ERRORS, &options, &alpha, NULL);
    assert_true(isnan(alpha.generated) && isnan(alpha.pull_mean) && alpha.n_pulls == 0);
    ASSERT_CLOSE(alpha.mean, 0.7, 5.0 / sqrt(SOME) + 0.02);
    ASSERT_CLOSE(alpha.rms, 1.0, 5.0 / sqrt(2.0 * SOME));
    double pull = 0.0; /* of the count against the rate that fits all but know: 10^6 */
    for (size_t i = 0; i < taken.n; i++) pull += sqrt(taken.rows[i].statistic) / SOME;
    ASSERT_CLOSE(pull, 10.0, 0.2);
    free(taken.rows);
    options.fix_aux = 1; /* now it stays where it was given */
    taken = run_toys(&f, NULL, NULL, expected, 0, &options, &alpha, NULL);
    ASSERT_CLOSE(alpha.mean, 0.71, 1e-3); /* 0.7, and the 10^4 that are too many pull it by 10^4 / 10^6 */
    assert_true(alpha.rms < 2e-3);
    free(taken.rows);
    free_fixture(&f);
}

/* ---- what a job may ask ---- */

TEST(fixed_parameters_stay_at_their_start_wherever_the_toys_are_drawn)
{
    struct fixture f = many_events(true);
    static const double point[5] = {2.0, 0.5, 1.0, 1.0, 1.0}, start[5] = {0.25, -0.125, 1.0, 1.0, 1.0};
    static const unsigned char fixed[5] = {1, 1, 0, 0, 0};
    const paritas_job job = {.size = sizeof(paritas_job), .start = start, .fixed = fixed};
    const paritas_toys_options options = toys_options(500, 2);
    paritas_toys_parameter parameters[5] = {PARITAS_INIT(paritas_toys_parameter)};
    struct taken taken = run_toys(&f, &job, point, NULL, PARITAS_TOYS_ERRORS, &options, parameters, NULL);
    for (size_t i = 0; i < taken.n; i++) {
        assert_memory_equal(taken.rows[i].parameters, start, 2 * sizeof *start);
        assert_true(isnan(taken.rows[i].errors[0]) && isnan(taken.rows[i].errors[1]) &&
                    taken.rows[i].errors[2] > 0.0);
    }
    assert_true(parameters[0].generated == 2.0 && parameters[0].mean == 0.25 && parameters[0].rms == 0.0 &&
                parameters[0].n_pulls == 0);
    /* the signal that may not be fitted raises the first gamma: 1.75 * 2000 and 0.625 * 0.002 * 1e5 of 1e5,
     * against a width of 0.0025 beside the count's */
    const double share = 1.0 / (1.0 + 1e5 / (250.0 * 250.0));
    ASSERT_CLOSE(parameters[2].mean, 1.0 + share * (1.75 * 2000.0 + 0.625 * 0.002 * 1e5) / 1e5, 1e-3);
    free(taken.rows);
    /* no start: they stay where the toys are drawn */
    const paritas_job at_point = {.size = sizeof(paritas_job), .fixed = fixed};
    taken = run_toys(&f, &at_point, point, NULL, 0, &options, parameters, NULL);
    for (size_t i = 0; i < taken.n; i++)
        assert_memory_equal(taken.rows[i].parameters, point, 2 * sizeof *point);
    free(taken.rows);
    free_fixture(&f);
}

TEST(fits_stay_within_the_bounds_of_the_job)
{
    struct fixture f = counting(12.0, S, B, -1.7, 30.0);
    static const double lower = 0.5, upper = 0.75;
    const paritas_job job = {.size = sizeof(paritas_job), .lower = &lower, .upper = &upper, .start = &upper};
    const paritas_toys_options options = toys_options(1000, 3);
    static const double point = 4.0; /* drawn outside them */
    size_t at_lower = 0, at_upper = 0;
    for (int k = 0; k < 2; k++) {
        struct taken taken =
            run_toys(&f, &job, k ? &point : NULL, NULL, PARITAS_TOYS_ERRORS, &options, NULL, NULL);
        for (size_t i = 0; i < taken.n; i++) {
            const double mu = taken.rows[i].parameters[0];
            assert_int_equal(taken.rows[i].result.status, PARITAS_FIT_CONVERGED);
            assert_true(mu >= lower && mu <= upper);
            at_lower += mu == lower;
            at_upper += mu == upper;
            if (mu == lower || mu == upper) assert_true(isnan(taken.rows[i].errors[0]));
        }
        free(taken.rows);
    }
    assert_true(at_lower > 300 && at_upper > 1200);
    free_fixture(&f);
}

TEST(errors_are_those_of_a_fit_and_change_no_answer)
{
    struct fixture f = many_events(true);
    const paritas_toys_options options = toys_options(300, 4);
    struct taken plain = run_toys(&f, NULL, NULL, NULL, 0, &options, NULL, NULL),
                 whole = run_toys(&f, NULL, NULL, NULL, PARITAS_TOYS_ERRORS, &options, NULL, NULL);
    for (size_t i = 0; i < 300; i++) {
        const struct row *a = &plain.rows[i], *b = &whole.rows[i];
        assert_true(a->statistic == b->statistic && isnan(a->result.projected_gradient) &&
                    b->result.projected_gradient <= 1e-5);
        ASSERT_CLOSE(a->result.twice_nll, b->result.twice_nll, 1e-8);
        for (int p = 0; p < 5; p++) {
            assert_true(b->errors[p] > 0.0);
            ASSERT_CLOSE(a->parameters[p], b->parameters[p], 1e-4 * b->errors[p]);
        }
    }
    free(plain.rows);
    free(whole.rows);
    free_fixture(&f);
}

TEST(a_model_without_parameter_of_interest_has_toys)
{
    struct fixture f = many_events(false);
    paritas_toys_parameter parameters[4] = {PARITAS_INIT(paritas_toys_parameter)};
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    const paritas_toys_options options = toys_options(SOME, 6);
    free(run_toys(&f, NULL, NULL, NULL, PARITAS_TOYS_ERRORS, &options, parameters, &result).rows);
    assert_int_equal(result.tally.counts[PARITAS_FIT_CONVERGED], SOME);
    for (int p = 0; p < 4; p++) ASSERT_CLOSE(parameters[p].pull_rms, 1.0, 4.5 / sqrt(2.0 * SOME) + 0.003);
    free_fixture(&f);
}

/* ---- the same toys however the work is cut ---- */

static void assert_same_rows(const struct taken *taken, const struct taken *first)
{
    assert_int_equal(taken->n, first->n);
    for (size_t i = 0; i < taken->n; i++) {
        const struct row *a = &taken->rows[i], *b = &first->rows[i];
        assert_memory_equal(a->parameters, b->parameters, sizeof a->parameters);
        assert_memory_equal(a->errors, b->errors, sizeof a->errors);
        assert_memory_equal(&a->statistic, &b->statistic, sizeof a->statistic);
        assert_memory_equal(&a->result.twice_nll, &b->result.twice_nll, sizeof(double));
        assert_int_equal(a->result.iterations, b->result.iterations);
    }
}

/* Toys in any number of lanes and threads. Returns rows of one run. */
static struct taken assert_same_in_lanes(const struct fixture *f, unsigned flags,
                                         const paritas_toys_options *options, paritas_toys_result *result)
{
    static const unsigned lanes[] = {1, 4, 8};
    struct taken first = {0};
    for (size_t k = 0; k < COUNT(lanes); k++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            paritas_options context = PARITAS_OPTIONS_DEFAULT;
            context.lanes = lanes[k];
            context.threads = threads;
            struct fixture other = *f;
            const paritas_status status = paritas_open(&context, &other.context);
            if (status == PARITAS_OK) {
                struct taken taken = run_toys(&other, NULL, NULL, NULL, flags, options, NULL, result);
                if (!first.rows) first = taken;
                assert_same_rows(&taken, &first);
                if (taken.rows != first.rows) free(taken.rows);
            }
            paritas_close(other.context);
        }
    assert_non_null(first.rows);
    return first;
}

TEST(rows_have_the_same_bits_for_any_lanes_and_threads)
{
    struct fixture f = many_events(true);
    const paritas_toys_options options = toys_options(3000 / SHARE, 9);
    struct taken rows = assert_same_in_lanes(&f, PARITAS_TOYS_ERRORS, &options, NULL);
    free(rows.rows);
    free_fixture(&f);
}

/* A sixth of the toys' means of such a bin is negative, which holds its factor at its bound. */
TEST(toys_that_hold_many_parameters_at_bounds_need_no_hessians)
{
    struct fixture f = few_simulated_events();
    const size_t p = paritas_model_parameter_count(f.model);
    const paritas_toys_options options = toys_options(1000, 3);
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    struct taken rows = assert_same_in_lanes(&f, 0, &options, &result), by_newton;
    size_t held_most = 0;
    assert_int_equal(result.tally.by_quasi_newton, options.n);
    paritas_toys_options newton = options;
    newton.newton_only = 1;
    by_newton = run_toys(&f, NULL, NULL, NULL, 0, &newton, NULL, &result);
    assert_int_equal(result.tally.by_newton, options.n);
    for (size_t i = 0; i < rows.n; i++) {
        size_t held = 0;
        for (size_t k = 0; k < p; k++)
            held += rows.rows[i].parameters[k] <= paritas_model_lower_bounds(f.model)[k];
        held_most = held > held_most ? held : held_most;
        ASSERT_CLOSE(rows.rows[i].result.twice_nll, by_newton.rows[i].result.twice_nll, 1e-8);
    }
    assert_true(held_most > 6);
    free(rows.rows);
    free(by_newton.rows);
    free_fixture(&f);
}

/* Rows of a store as one text, each number by its bits. */
struct listing {
    size_t n_parameters, length, room, n;
    char *text;
};

static int list_fit(void *user, const struct store_fit *row)
{
    struct listing *l = user;
    if (l->length + 4096 > l->room) assert_non_null(l->text = realloc(l->text, l->room = 2 * l->room + 8192));
    char *at = l->text + l->length;
    at += sprintf(at, "%llu %a %a %a %d %u", (unsigned long long)row->toy, row->twice_nll, row->statistic,
                  row->edm, (int)row->status, row->iterations);
    for (size_t p = 0; p < l->n_parameters; p++)
        at += sprintf(at, " %a %a", row->parameters ? row->parameters[p] : 0.0,
                      row->errors ? row->errors[p] : 0.0);
    *at++ = '\n';
    *at = '\0';
    l->length = (size_t)(at - l->text);
    l->n++;
    return 0;
}

static struct listing list_store(const struct fixture *f, const char *path)
{
    struct listing l = {.n_parameters = paritas_model_parameter_count(f->model)};
    struct store *store;
    if (store_open_read(f->context, path, &store) != PARITAS_OK ||
        store_read_fits(store, list_fit, &l) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    store_close(store);
    return l;
}

static paritas_status toys_into(const struct fixture *f, const char *path, unsigned shard, unsigned shards,
                                bool resume, unsigned flags, struct taken *taken,
                                paritas_toys_parameter *parameters)
{
    paritas_toys_options options = toys_options(2500, 13);
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    options.store = path;
    options.shard = shard;
    options.shards = shards;
    options.resume = resume;
    return paritas_toys(f->context, f->model, NULL,
                        SIZED(paritas_toys_request, .flags = flags, .take = taken ? keep_fits : NULL,
                              .user = taken, .parameters = parameters),
                        &options, &result);
}

TEST(shards_and_resumed_runs_leave_the_rows_of_one_run)
{
    enum { ALL = PARITAS_TOYS_KEEP_PARAMETERS | PARITAS_TOYS_ERRORS };
    char folder[] = "/tmp/paritas_toys_XXXXXX", paths[7][64];
    const char *parts[3];
    static const char *const names[7] = {"whole", "part0", "part1", "part2", "pooled", "stopped", "other"};
    struct fixture f = many_events(true);
    paritas_toys_parameter once[5] = {PARITAS_INIT(paritas_toys_parameter)},
                           resumed[5] = {PARITAS_INIT(paritas_toys_parameter)},
                           again[5] = {PARITAS_INIT(paritas_toys_parameter)};
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < 7; k++) snprintf(paths[k], sizeof paths[k], "%s/%s.db", folder, names[k]);
    assert_int_equal(toys_into(&f, paths[0], 0, 0, false, ALL, NULL, once), PARITAS_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(toys_into(&f, paths[1 + i], i + 1, 3, false, ALL, NULL, NULL), PARITAS_OK);
        parts[i] = paths[1 + i];
    }
    assert_int_equal(paritas_store_merge(f.context, 3, parts, paths[4]), PARITAS_OK);
    struct taken taken = {.n_parameters = 5, .stop_after = 1};
    paritas_context *few = f.context;
    paritas_options one = PARITAS_OPTIONS_DEFAULT;
    one.threads = 1;
    assert_int_equal(paritas_open(&one, &f.context), PARITAS_OK);
    f.context->progress = NULL;
    assert_int_equal(toys_into(&f, paths[5], 0, 0, false, ALL, &taken, NULL), PARITAS_CANCELLED);
    const size_t before = taken.n;
    taken.stop_after = 0;
    assert_int_equal(toys_into(&f, paths[5], 0, 0, true, ALL, &taken, resumed), PARITAS_OK);
    assert_int_equal(taken.n, 2500); /* none is fitted twice */
    assert_true(before > 0);
    /* nothing is left to do: what is said comes from the store */
    assert_int_equal(toys_into(&f, paths[4], 0, 0, true, ALL, &taken, again), PARITAS_OK);
    assert_int_equal(taken.n, 2500);
    paritas_close(f.context);
    f.context = few;
    struct listing whole = list_store(&f, paths[0]), pooled = list_store(&f, paths[4]),
                   stopped = list_store(&f, paths[5]);
    assert_int_equal(whole.n, 2500);
    assert_string_equal(pooled.text, whole.text);
    assert_string_equal(stopped.text, whole.text);
    assert_memory_equal(resumed, once, sizeof once);
    assert_memory_equal(again, once, sizeof once);
    free(whole.text);
    free(pooled.text);
    free(stopped.text);
    free(taken.rows);
    /* other wishes make another run */
    assert_int_equal(toys_into(&f, paths[0], 0, 0, true, PARITAS_TOYS_KEEP_PARAMETERS, NULL, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "errors = yes, this run has errors = no"));
    static const double point[5] = {1.0, 0.0, 1.0, 1.0, 1.0};
    paritas_toys_options options = toys_options(2500, 13);
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    options.store = paths[0];
    options.resume = 1;
    assert_int_equal(paritas_toys(f.context, f.model, NULL,
                                  SIZED(paritas_toys_request, .point = point, .flags = ALL), &options,
                                  &result),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "expected = "));
    /* without the flag no parameters are kept: a run that goes on knows their moments for its own toys
     * only */
    assert_int_equal(toys_into(&f, paths[6], 0, 0, false, 0, NULL, once), PARITAS_OK);
    assert_int_equal(toys_into(&f, paths[6], 0, 0, true, 0, NULL, again), PARITAS_OK);
    assert_true(once[0].n == 2500 && again[0].n == 0 && isnan(again[0].mean));
    for (int k = 0; k < 7; k++) assert_int_equal(unlink(paths[k]), 0);
    assert_int_equal(rmdir(folder), 0);
    free_fixture(&f);
}

/* ---- none without an answer ---- */

TEST(no_toy_of_random_models_is_without_an_answer)
{
    /* among them those whose toys need further starts: 26, 40, 54 end a hair from a bound, 115 needs the fit
     * to the expected data */
    static const uint64_t seeds[] = {1, 7, 11, 26, 40, 54, 115, 203};
    for (size_t k = 0; k < COUNT(seeds); k++) {
        char *text = random_workspace(seeds[k], TRAIT_ALL);
        struct fixture f = make_fixture(text);
        const paritas_toys_options options = toys_options(300 / SHARE, seeds[k]);
        paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
        paritas_hypotest_toys_result test = PARITAS_INIT(paritas_hypotest_toys_result);
        assert_int_equal(paritas_toys(f.context, f.model, NULL, NULL, &options, &result), PARITAS_OK);
        assert_int_equal(result.tally.counts[PARITAS_FIT_CONVERGED], options.n);
        if (paritas_model_poi_index(f.model) >= 0) {
            assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, PARITAS_STATISTIC_QTILDE, 1.0,
                                                   &options, &test),
                             PARITAS_OK);
            assert_int_equal(test.tally.counts[PARITAS_FIT_CONVERGED], 2 * options.n);
        }
        free(text);
        free_fixture(&f);
    }
}

TEST(a_minimum_at_the_edge_of_the_domain_is_found)
{
    /* rate b + alpha: nothing observed would have alpha at -1, but the rate is 0 at -b already, where the
     * likelihood is alpha^2 / 2 */
    static const double b = 0.5;
    struct fixture f = shifted(b, 1.0);
    static const double expected[2] = {0.7, 0.0};
    paritas_toys_options options = toys_options(300, 1);
    options.fix_aux = 1;
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    for (unsigned flags = 0; flags <= PARITAS_TOYS_ERRORS; flags += PARITAS_TOYS_ERRORS) {
        struct taken taken = run_toys(&f, NULL, NULL, expected, flags, &options, NULL, &result);
        size_t none = 0;
        for (size_t i = 0; i < taken.n; i++) {
            const struct row *row = &taken.rows[i];
            assert_int_equal(row->result.status, PARITAS_FIT_CONVERGED);
            if (flags) assert_true(row->parameters[0] > -0.4 ? row->errors[0] > 0.0 : isnan(row->errors[0]));
            if (row->parameters[0] > -0.4) continue; /* a count: its minimum is inside */
            none++;
            ASSERT_CLOSE(row->parameters[0], -b, 1e-7);
            ASSERT_CLOSE(row->statistic, b * b, 1e-8);
        }
        assert_true(none > 100 && none < 200);
        assert_int_equal(result.tally.at_edge, none);
        free(taken.rows);
    }
    free_fixture(&f);
}

/* ---- data ---- */

typedef paritas_status write_data(paritas_context *context, const paritas_model *model,
                                  const paritas_toy_data *data, char **text, size_t *length);

/* Writes the data to a file and reads them. */
static paritas_toy_data *through_a_file(const struct fixture *f, const paritas_toy_data *data,
                                        write_data *written)
{
    char path[] = "/tmp/paritas_data_XXXXXX", *text;
    size_t length;
    paritas_toy_data *read = NULL;
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    ASSERT_OK(f->context, written(f->context, f->model, data, &text, &length));
    assert_int_equal(write(descriptor, text, length), length);
    close(descriptor);
    paritas_text_free(f->context, text);
    ASSERT_OK(f->context, paritas_toy_data_read(f->context, f->model, path, &read));
    unlink(path);
    return read;
}

static void fit_row(const struct fixture *f, const double *row, paritas_fit_result *result, double *values)
{
    const paritas_job job = {.size = sizeof job, .data = row};
    *result = (paritas_fit_result)PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 1, &job,
                                      SIZED(paritas_fit_answers, .results = result, .parameters = values)));
}

TEST(data_of_toys_come_back_from_a_file_and_have_the_same_fits)
{
    struct fixture f = many_events(true);
    const size_t n_data = paritas_model_main_count(f.model) + paritas_model_aux_count(f.model),
                 n = paritas_model_parameter_count(f.model);
    const paritas_toys_options options = toys_options(50, 21);
    paritas_toy_data *data = NULL;
    ASSERT_OK(f.context, paritas_generate(f.context, f.model, NULL, NULL, &options, &data));
    paritas_toy_data *read = through_a_file(&f, data, paritas_toy_data_write);
    paritas_toy_data *packed = through_a_file(&f, data, paritas_toy_data_pack);
    struct taken toys = run_toys(&f, NULL, NULL, NULL, 0, &options, NULL, NULL);
    assert_true(data->n == 50 && read->n == 50 && read->first == 0 && read->seed == 21);
    assert_memory_equal(read->rows, data->rows, 50 * n_data * sizeof(double));
    assert_memory_equal(read->point, data->point, n * sizeof(double));
    assert_memory_equal(packed->rows, data->rows, 50 * n_data * sizeof(double));
    assert_memory_equal(packed->point, data->point, n * sizeof(double));
    assert_true(packed->seed == 21 && strcmp(packed->model, data->model) == 0);
    paritas_toy_data_free(packed);
    for (size_t i = 0; i < data->n; i++) {
        paritas_fit_result one, other;
        double values[PARAMETERS_MOST] = {0}, others[PARAMETERS_MOST] = {0};
        fit_row(&f, data->rows + i * n_data, &one, values);
        fit_row(&f, read->rows + i * n_data, &other, others);
        assert_memory_equal(&one, &other, sizeof one);
        assert_memory_equal(values, others, sizeof values);
        ASSERT_CLOSE(one.twice_nll, toys.rows[i].result.twice_nll, 1e-8);
        for (size_t k = 0; k < n; k++) ASSERT_CLOSE(values[k], toys.rows[i].parameters[k], 1e-4);
    }
    free(toys.rows);
    paritas_toy_data_free(read);
    paritas_toy_data_free(data);
    free_fixture(&f);
}

TEST(generated_data_are_those_of_their_shard_and_of_kept_auxiliary_data)
{
    struct fixture f = many_events(true);
    paritas_toys_options options = toys_options(11, 4);
    paritas_toy_data *all = NULL, *part = NULL, *expected = NULL;
    const size_t n_main = paritas_model_main_count(f.model), n_aux = paritas_model_aux_count(f.model);
    options.fix_aux = 1;
    ASSERT_OK(f.context, paritas_generate(f.context, f.model, NULL, NULL, &options, &all));
    options.shard = 2;
    options.shards = 3;
    ASSERT_OK(f.context, paritas_generate(f.context, f.model, NULL, NULL, &options, &part));
    assert_true(part->n == 4 && part->first == 4 && part->fix_aux);
    assert_memory_equal(part->rows, all->rows + 4 * (n_main + n_aux), 4 * (n_main + n_aux) * sizeof(double));
    for (size_t i = 0; i < all->n; i++)
        assert_memory_equal(all->rows + i * (n_main + n_aux) + n_main, paritas_model_data(f.model) + n_main,
                            n_aux * sizeof(double));
    const double *start = paritas_model_suggested_init(f.model);
    double wanted[64];
    ASSERT_OK(f.context,
              paritas_generate(f.context, f.model, NULL,
                               SIZED(paritas_toys_request, .point = start, .flags = PARITAS_TOYS_EXPECTED),
                               NULL, &expected));
    ASSERT_OK(f.context, paritas_expected_data(f.context, f.model, 1, start, wanted));
    assert_true(expected->n == 1 && expected->expected);
    assert_memory_equal(expected->rows, wanted, (n_main + n_aux) * sizeof(double));
    paritas_toy_data_free(expected);
    paritas_toy_data_free(part);
    paritas_toy_data_free(all);
    paritas_toy_data_free(NULL);
    free_fixture(&f);
}

/* ---- goodness of fit ---- */

static double poisson(double n, double rate)
{
    return exp(n * log(rate) - rate - lgamma(n + 1.0));
}

TEST(goodness_of_fit_of_a_known_rate_is_a_sum_of_poisson_probabilities)
{
    static const double observed[] = {2.0, 9.0, 14.0, 17.0};
    static const double mu = 0.0;
    static const unsigned char fixed = 1;
    const paritas_job job = {.size = sizeof(paritas_job), .start = &mu, .fixed = &fixed};
    const paritas_toys_options options = toys_options(100000 / SHARE, 12);
    for (size_t k = 0; k < COUNT(observed); k++) {
        struct fixture f = counting(observed[k], S, B, 0.0, 10.0);
        paritas_gof_toys_result r = PARITAS_INIT(paritas_gof_toys_result);
        paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
        double exact = 0.0;
        for (double n = 0.0; n < 100.0; n++)
            if (deviance(n, B) >= deviance(observed[k], B) - 1e-9) exact += poisson(n, B);
        assert_int_equal(paritas_gof_toys(f.context, f.model, &job, &options, &r, &gof), PARITAS_OK);
        ASSERT_CLOSE(gof.statistic, deviance(observed[k], B), 1e-9);
        assert_true(r.n == options.n && gof.ndof == 1 && r.tally.counts[PARITAS_FIT_CONVERGED] == options.n);
        ASSERT_CLOSE(r.p, exact, 4.5 * r.p_error + 1e-12);
        ASSERT_CLOSE(r.p_error, sqrt(fmax(exact * (1.0 - exact), 0.0) / (double)options.n),
                     0.1 * r.p_error + 1.0 / (double)options.n);
        free_fixture(&f);
    }
}

TEST(with_many_events_goodness_of_fit_by_toys_is_that_of_chi_squared)
{
    struct fixture f = many_events(true);
    const paritas_toys_options options = toys_options(40000 / SHARE, 14);
    static const double counts[4][3] = {{102200.0, 80700.0, 91600.0},
                                        {101300.0, 81700.0, 91700.0},
                                        {102000.0, 80900.0, 90300.0},
                                        {101900.0, 81200.0, 91600.0}};
    double least = 1.0, largest = 0.0;
    for (int k = 0; k < 4; k++) {
        double data[7];
        memcpy(data, paritas_model_data(f.model), sizeof data);
        memcpy(data, counts[k], sizeof counts[k]);
        const paritas_job job = {.size = sizeof(paritas_job), .data = data};
        paritas_gof_result asymptotic = PARITAS_INIT(paritas_gof_result), gof = asymptotic;
        paritas_gof_toys_result r = PARITAS_INIT(paritas_gof_toys_result);
        assert_int_equal(paritas_gof(f.context, f.model, &job, &asymptotic), PARITAS_OK);
        assert_int_equal(paritas_gof_toys(f.context, f.model, &job, &options, &r, &gof), PARITAS_OK);
        assert_true(gof.statistic == asymptotic.statistic && gof.p == asymptotic.p &&
                    gof.saturated == asymptotic.saturated && gof.ndof == 2 && asymptotic.ndof == 2);
        ASSERT_CLOSE(gof.p, chi2_survival(gof.statistic, 2.0), 1e-15);
        ASSERT_CLOSE(r.p, gof.p, 4.5 * r.p_error + 0.002);
        least = fmin(least, gof.p);
        largest = fmax(largest, gof.p);
    }
    assert_true(least > 1e-3 && least < 0.1 && largest > 0.4); /* a range of them */
    free_fixture(&f);
}

TEST(only_goodness_of_fit_takes_another_statistic)
{
    struct fixture f = many_events(true);
    paritas_toys_options options = toys_options(100, 14);
    paritas_toys_result toys = PARITAS_INIT(paritas_toys_result);
    paritas_gof_toys_result r = PARITAS_INIT(paritas_gof_toys_result);
    paritas_gof_result gof = PARITAS_INIT(paritas_gof_result);
    options.algo = PARITAS_GOF_KS;
    assert_int_equal(paritas_toys(f.context, f.model, NULL, NULL, &options, &toys), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "algo"));
    ASSERT_OK(f.context, paritas_gof_toys(f.context, f.model, NULL, &options, &r, &gof));
    assert_true(r.n == 100 && r.p > 0.0 && r.p < 1.0 && gof.ks > 0.0 && gof.ad > 0.0);
    free_fixture(&f);
}

/* ---- refusals ---- */

TEST(wishes_that_make_no_sense_are_refused_by_name)
{
    struct fixture f = counting(12.0, S, B, -5.0, 30.0);
    static const double nowhere = (double)NAN, far = -4.0, point = 1.0, expected = 9.0, negative = -1.0,
                        start = 40.0;
    paritas_toys_options options = toys_options(10, 0);
    paritas_toys_result result = PARITAS_INIT(paritas_toys_result);
    const struct {
        const double *point, *expected;
        unsigned flags, shard, shards;
        const char *says;
    } wrong[] = {{&point, &expected, 0, 0, 0, "not both"},
                 {&nowhere, NULL, 0, 0, 0, "mu must be a finite number"},
                 {&far, NULL, 0, 0, 0, "main datum 0 has the expectation -11"},
                 {NULL, &negative, 0, 0, 0, "main datum 0"},
                 {NULL, NULL, 8, 0, 0, "flags"},
                 {NULL, NULL, 0, 4, 3, "shard 4/3"}};
    for (size_t k = 0; k < COUNT(wrong); k++) {
        options.shard = wrong[k].shard;
        options.shards = wrong[k].shards;
        assert_int_equal(paritas_toys(f.context, f.model, NULL,
                                      SIZED(paritas_toys_request, .point = wrong[k].point,
                                            .expected = wrong[k].expected, .flags = wrong[k].flags),
                                      &options, &result),
                         PARITAS_INVALID_ARGUMENT);
        if (!strstr(paritas_error_message(f.context), wrong[k].says))
            fail_msg("'%s' does not say '%s'", paritas_error_message(f.context), wrong[k].says);
    }
    const paritas_job outside = {.size = sizeof(paritas_job), .start = &start};
    options.shard = options.shards = 0;
    assert_int_equal(paritas_toys(f.context, f.model, &outside, SIZED(paritas_toys_request, .point = &point),
                                  &options, &result),
                     PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(f.context), "start of mu: 40"));
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_toy_of_a_counting_experiment_has_the_fit_of_its_count),
        cmocka_unit_test(pulls_of_a_well_behaved_model_are_normal_wherever_the_toys_are_drawn),
        cmocka_unit_test(given_expected_data_are_what_toys_are_drawn_around),
        cmocka_unit_test(fixed_parameters_stay_at_their_start_wherever_the_toys_are_drawn),
        cmocka_unit_test(fits_stay_within_the_bounds_of_the_job),
        cmocka_unit_test(errors_are_those_of_a_fit_and_change_no_answer),
        cmocka_unit_test(a_model_without_parameter_of_interest_has_toys),
        cmocka_unit_test(rows_have_the_same_bits_for_any_lanes_and_threads),
        cmocka_unit_test(toys_that_hold_many_parameters_at_bounds_need_no_hessians),
        cmocka_unit_test(shards_and_resumed_runs_leave_the_rows_of_one_run),
        cmocka_unit_test(no_toy_of_random_models_is_without_an_answer),
        cmocka_unit_test(a_minimum_at_the_edge_of_the_domain_is_found),
        cmocka_unit_test(data_of_toys_come_back_from_a_file_and_have_the_same_fits),
        cmocka_unit_test(generated_data_are_those_of_their_shard_and_of_kept_auxiliary_data),
        cmocka_unit_test(only_goodness_of_fit_takes_another_statistic),
        cmocka_unit_test(goodness_of_fit_of_a_known_rate_is_a_sum_of_poisson_probabilities),
        cmocka_unit_test(with_many_events_goodness_of_fit_by_toys_is_that_of_chi_squared),
        cmocka_unit_test(wishes_that_make_no_sense_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
