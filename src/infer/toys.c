/* toys.c: see toys.h. */
#include "infer/toys.h"
#include "base/sized.h"
#include "fit/fit.h"
#include "infer/asymptotic.h"
#include "infer/toy_runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pool ---- */

void toy_pool_open(struct toy_pool *pool, paritas_context *context, bool raw)
{
    *pool = (struct toy_pool){.context = context, .same = raw ? RAW_SAME_MINIMUM : SAME_MINIMUM};
}

void toy_pool_close(struct toy_pool *pool)
{
    for (int h = 0; h < TOY_HYPOTHESES && pool->context; h++)
        paritas_release(&pool->context->allocator, pool->q[h]);
}

paritas_status toy_pool_add(struct toy_pool *pool, int hypothesis, double q, paritas_fit_status status)
{
    pool->counts[status]++;
    if (status != PARITAS_FIT_CONVERGED) return PARITAS_OK;
    if (pool->n[hypothesis] == pool->room[hypothesis]) {
        const size_t room = pool->room[hypothesis] ? 2 * pool->room[hypothesis] : 1024;
        double *more = paritas_reallocate(pool->context, pool->q[hypothesis], room, sizeof *more);
        if (!more) return paritas_fail_memory(pool->context);
        pool->q[hypothesis] = more;
        pool->room[hypothesis] = room;
    }
    pool->q[hypothesis][pool->n[hypothesis]++] = q;
    return PARITAS_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the ascending statistics are at least q. Equal data have equal statistics up to the minimiser's
 * tolerance, on neither side of which they may fall: where data are a few counts, one value is that of many
 * toys. */
static size_t count_from(const struct toy_pool *pool, int hypothesis, double q)
{
    const double *sorted = pool->q[hypothesis];
    const size_t n = pool->n[hypothesis];
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < q - pool->same)
            low = middle + 1;
        else
            high = middle;
    }
    return n - low;
}

/* CLs, or for q0 p0, of an observation that is the toy at `place` of those drawn at the other hypothesis, by
 * descending q. `shift`: of CLb. */
static double expected_at(const struct toy_pool *pool, paritas_test_statistic statistic, double place,
                          double shift)
{
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    const size_t at = place > 0.0 ? (size_t)place : 0;
    const double q = pool->q[TOY_OTHER][n - 1 - (at < n ? at : n - 1)];
    const double clsb = (double)count_from(pool, TOY_TESTED, q) / (double)n_tested,
                 clb = (double)count_from(pool, TOY_OTHER, q) / (double)n;
    return statistic == PARITAS_STATISTIC_Q0 ? clsb : clsb / (clb + shift);
}

/* What CLs (for q0 p0) each toy of the other hypothesis would have had as the observation, ascending; n of
 * them, the caller's. A fraction of counts, it may rise with q where these are few. */
static void expected_answers(const struct toy_pool *pool, paritas_test_statistic statistic, double *answers)
{
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    const double *other = pool->q[TOY_OTHER], *tested = pool->q[TOY_TESTED];
    bool sorted = true;
    for (size_t i = 0, below = 0, below_tested = 0; i < n; i++) { /* as count_from counts, but q only rises */
        while (other[below] < other[i] - pool->same) below++;
        while (below_tested < n_tested && tested[below_tested] < other[i] - pool->same) below_tested++;
        const double clsb = (double)(n_tested - below_tested) / (double)n_tested,
                     clb = (double)(n - below) / (double)n;
        answers[n - 1 - i] = statistic == PARITAS_STATISTIC_Q0 ? clsb : clsb / clb;
        sorted = sorted && (i == 0 || answers[n - 1 - i] <= answers[n - i]);
    }
    if (!sorted) qsort(answers, n, sizeof *answers, ascending);
}

/* Percentiles at -2 .. 2 sigma of those answers, interpolated as NumPy does. Errors: that of CLs+b there; and
 * that of the other hypothesis' distribution, which is shifted by its error d, so that the percentile is
 * another toy, or CLb is another number, or both. */
static paritas_status expected_band(const struct toy_pool *pool, paritas_test_statistic statistic,
                                    double band[5], double errors[5])
{
    static const double percentile[5] = {0.02275013194817921, 0.15865525393145707, 0.5, 0.84134474606854293,
                                         0.97724986805182079};
    const size_t n = pool->n[TOY_OTHER], n_tested = pool->n[TOY_TESTED];
    for (int i = 0; i < 5; i++) band[i] = errors[i] = (double)NAN;
    if (n == 0 || n_tested == 0) return PARITAS_OK;
    double *answers = paritas_allocate(pool->context, n, sizeof *answers);
    if (!answers) return paritas_fail_memory(pool->context);
    expected_answers(pool, statistic, answers);
    for (int i = 0; i < 5; i++) {
        const double place = percentile[i] * (double)(n - 1);
        const size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
        band[i] = answers[below] + (answers[above] - answers[below]) * (place - (double)below);
        const double d = sqrt(percentile[i] * (1.0 - percentile[i]) / (double)n), step = d * (double)(n - 1);
        const double low = expected_at(pool, statistic, place - step, d),
                     high = expected_at(pool, statistic, place + step, -d);
        const double q = pool->q[TOY_OTHER][n - 1 - below];
        double tested, other;
        toy_fraction(count_from(pool, TOY_TESTED, q), n_tested, &tested);
        if (statistic != PARITAS_STATISTIC_Q0)
            tested /= toy_fraction(count_from(pool, TOY_OTHER, q), n, &other);
        errors[i] = sqrt(tested * tested + 0.25 * (high - low) * (high - low));
    }
    paritas_release(&pool->context->allocator, answers);
    return PARITAS_OK;
}

paritas_status toy_pool_result(struct toy_pool *pool, paritas_test_statistic statistic, bool same,
                               paritas_hypotest_toys_result *result)
{
    for (int h = 0; h < TOY_HYPOTHESES; h++)
        if (pool->n[h]) qsort(pool->q[h], pool->n[h], sizeof *pool->q[h], ascending);
    const int other = same ? TOY_TESTED : TOY_OTHER;
    const double nan = (double)NAN;
    result->n_tested = pool->n[TOY_TESTED];
    result->n_other = pool->n[other];
    memcpy(result->tally.counts, pool->counts, sizeof result->tally.counts);
    result->clsb =
        toy_fraction(count_from(pool, TOY_TESTED, result->q), pool->n[TOY_TESTED], &result->clsb_error);
    result->clb = toy_fraction(count_from(pool, other, result->q), pool->n[other], &result->clb_error);
    const bool discovery = statistic == PARITAS_STATISTIC_Q0;
    result->p0 = discovery ? result->clsb : nan;
    result->p0_error = discovery ? result->clsb_error : nan;
    result->cls_obs = discovery ? result->clsb : same ? 1.0 : result->clsb / result->clb;
    /* of the quotient, from the errors of both to first order; the variances' own p where a fraction is 0 */
    const double a = result->clsb_error, b = result->clb_error * result->cls_obs;
    result->cls_obs_error = discovery ? result->clsb_error : same ? 0.0 : sqrt(a * a + b * b) / result->clb;
    for (int i = 0; i < 5 && same; i++) {
        result->cls_exp[i] = 1.0;
        result->cls_exp_error[i] = 0.0;
    }
    return same ? PARITAS_OK : expected_band(pool, statistic, result->cls_exp, result->cls_exp_error);
}

/* ---- a test ---- */

/* The conditional fit to the expected data of one hypothesis at the tested mu: there the toys' conditional
 * fits cluster. */
static paritas_status conditional_start(struct toy_test *test, int h, const double *expected,
                                        const double **start)
{
    struct infer *infer = test->infer;
    const size_t n = infer->n_parameters;
    *start = test->point[h].parameters;
    if (test->hypothesis[h] == test->mu) return PARITAS_OK;
    double *moved = arena_array(&infer->arena, n, sizeof *moved),
           *fitted = arena_array(&infer->arena, n, sizeof *fitted);
    unsigned char *fixed = arena_array(&infer->arena, n, 1);
    if (!moved || !fitted || !fixed) return paritas_fail_memory(infer->context);
    memcpy(moved, test->point[h].parameters, n * sizeof *moved);
    memcpy(fixed, infer->base.fixed, n);
    moved[infer->poi] = test->mu;
    fixed[infer->poi] = 1;
    paritas_job job = infer->base;
    job.data = expected;
    job.start = moved;
    job.fixed = fixed;
    paritas_fit_result outcome = PARITAS_INIT(paritas_fit_result);
    const paritas_status status = fit_run(infer->context, infer->model, NULL, 1, &job,
                                          &(paritas_fit_answers){.results = &outcome, .parameters = fitted});
    if (status == PARITAS_OK && outcome.status == PARITAS_FIT_CONVERGED) *start = fitted;
    return status;
}

static paritas_status open_ensemble(struct toy_test *test, int h)
{
    struct infer *infer = test->infer;
    double *expected = arena_array(&infer->arena, infer->n_data, sizeof *expected);
    if (!expected) return paritas_fail_memory(infer->context);
    paritas_status status = infer_expected(infer, test->point[h].parameters, expected);
    if (status != PARITAS_OK) return status;
    struct ensemble_options options = {.plan = {.model = infer->model,
                                                .start = test->point[h].parameters,
                                                .lower = infer->base.lower,
                                                .upper = infer->base.upper,
                                                .fixed = infer->base.fixed,
                                                .poi = (ptrdiff_t)infer->poi,
                                                .conditional = true,
                                                .mu = test->mu},
                                       .expected = expected,
                                       .seed = test->options->seed,
                                       .purpose = (uint32_t)h,
                                       .fix_aux = test->options->fix_aux != 0,
                                       .newton_only = test->options->newton_only != 0};
    status = conditional_start(test, h, expected, &options.plan.conditional_start);
    if (options.fix_aux) {
        const size_t main = paritas_model_main_count(infer->model);
        memcpy(expected + main, infer->base.data + main, (infer->n_data - main) * sizeof *expected);
    }
    return status == PARITAS_OK ? ensemble_open(infer->context, &options, &test->ensemble[h]) : status;
}

paritas_status toy_test_open(struct toy_test *test, struct infer *infer, const paritas_toys_options *options,
                             paritas_test_statistic statistic, double mu, struct store *store)
{
    memset(test, 0, sizeof *test);
    test->infer = infer;
    test->options = options;
    test->statistic = statistic;
    test->store = store;
    test->mu = test->hypothesis[TOY_TESTED] = statistic == PARITAS_STATISTIC_Q0 ? 0.0 : mu;
    test->hypothesis[TOY_OTHER] = statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0;
    test->n_hypotheses = test->mu == test->hypothesis[TOY_OTHER] ? 1 : 2;
    toy_pool_open(&test->pool, infer->context, fits_are_raw(infer->context));
    paritas_status status = PARITAS_OK;
    for (int h = 0; h < TOY_HYPOTHESES && status == PARITAS_OK; h++) {
        status = infer_check_value(infer, infer->poi, test->hypothesis[h]);
        test->point[h] = (struct infer_point){
            .profile = &test->data, .k = 1, .parameter = {infer->poi}, .value = {test->hypothesis[h]}};
    }
    if (status != PARITAS_OK) return status;
    struct infer_profile *const data = &test->data;
    data->data = infer->base.data;
    status = infer_free_fits(infer, 1, &data);
    if (status == PARITAS_OK) status = infer_points(infer, TOY_HYPOTHESES, test->point);
    for (int h = 0; h < TOY_HYPOTHESES && status == PARITAS_OK; h++)
        status = infer_polish(infer, &test->point[h]);
    for (int h = 0; h < test->n_hypotheses && status == PARITAS_OK; h++) status = open_ensemble(test, h);
    if (status != PARITAS_OK) return status;
    paritas_hypotest_toys_result *r = &test->result;
    r->mu = test->mu;
    r->mu_hat = data->parameters[infer->poi];
    r->twice_nll_free = data->result.twice_nll;
    r->twice_nll_fixed = test->point[TOY_TESTED].twice_nll;
    r->q = asymptotic_q(statistic, test->mu, r->mu_hat, r->twice_nll_fixed, r->twice_nll_free);
    r->status = infer_worse(data->result.status,
                            infer_worse(test->point[TOY_TESTED].status, test->point[TOY_OTHER].status));
    return PARITAS_OK;
}

void toy_test_close(struct toy_test *test)
{
    for (int h = 0; h < TOY_HYPOTHESES; h++)
        if (test->ensemble[h].model) ensemble_close(&test->ensemble[h]);
    toy_pool_close(&test->pool);
}

/* ---- running ---- */

/* A run's chunk: what is there for its toys between fit and store. */
struct chunk {
    struct toy_test *test;
    size_t room; /* toys */
    struct profile *profiles;
    double *constants;
    paritas_toy *toys;
};

static void chunk_free(struct chunk *chunk)
{
    const paritas_allocator *allocator = &chunk->test->infer->context->allocator;
    paritas_release(allocator, chunk->profiles);
    paritas_release(allocator, chunk->constants);
    paritas_release(allocator, chunk->toys);
    *chunk = (struct chunk){.test = chunk->test};
}

/* Room for n toys; what was in it is lost. */
static paritas_status chunk_hold(struct chunk *chunk, size_t n)
{
    paritas_context *context = chunk->test->infer->context;
    if (n <= chunk->room) return PARITAS_OK;
    chunk_free(chunk);
    chunk->profiles = paritas_allocate(context, n, sizeof *chunk->profiles);
    chunk->constants = paritas_allocate(context, n, sizeof *chunk->constants);
    chunk->toys = paritas_allocate(context, n, sizeof *chunk->toys);
    if (!chunk->profiles || !chunk->constants || !chunk->toys) return paritas_fail_memory(context);
    chunk->room = n;
    return PARITAS_OK;
}

/* Toys first .. first + n - 1 of one hypothesis, none of which is there. */
static paritas_status run_toys(void *user, int h, uint64_t first, size_t n)
{
    struct chunk *chunk = user;
    struct toy_test *test = chunk->test;
    paritas_context *context = test->infer->context;
    paritas_status status = chunk_hold(chunk, n);
    if (status == PARITAS_OK)
        status = ensemble_run(context, &test->ensemble[h], first, n, chunk->profiles, NULL, NULL,
                              chunk->constants);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        const struct profile *profile = &chunk->profiles[i];
        const double free = 2.0 * (profile->value_free + chunk->constants[i]),
                     fixed = 2.0 * (profile->value_fixed + chunk->constants[i]);
        const double q = asymptotic_q(test->statistic, test->mu, profile->mu_hat, 2.0 * profile->value_fixed,
                                      2.0 * profile->value_free);
        chunk->toys[i] = (paritas_toy){.size = sizeof(paritas_toy),
                                       .toy = first + i,
                                       .mu = test->mu,
                                       .hypothesis = test->hypothesis[h],
                                       .q = q,
                                       .mu_hat = profile->mu_hat,
                                       .twice_nll_free = free,
                                       .twice_nll_fixed = fixed,
                                       .status = infer_worse(profile->status_free, profile->status_fixed),
                                       .iterations = profile->iterations};
        toy_tally_add(&test->result.tally, profile);
        status = toy_pool_add(&test->pool, h, q, chunk->toys[i].status);
    }
    if (status == PARITAS_OK && test->store) status = store_add(test->store, n, chunk->toys);
    if (status == PARITAS_OK && test->options->take &&
        test->options->take(test->options->user, n, chunk->toys))
        status = paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
    return status;
}

static paritas_status present_toys(void *user, int h, uint64_t first, size_t n, unsigned char *present)
{
    const struct toy_test *test = ((const struct chunk *)user)->test;
    return store_present(test->store, test->mu, test->hypothesis[h], first, n, present);
}

static int read_toy(void *user, const paritas_toy *row)
{
    struct toy_test *test = user;
    for (int h = 0; h < test->n_hypotheses; h++)
        if (row->mu == test->mu && row->hypothesis == test->hypothesis[h])
            return toy_pool_add(&test->pool, h, row->q, row->status) != PARITAS_OK;
    return 0;
}

paritas_status toy_test_run(struct toy_test *test, uint64_t first, uint64_t end, int n_hypotheses)
{
    struct chunk chunk = {.test = test};
    const struct toy_runner runner = {.context = test->infer->context,
                                      .sized_by = &test->ensemble[TOY_TESTED],
                                      .n_ensembles = n_hypotheses < test->n_hypotheses ? n_hypotheses
                                                                                       : test->n_hypotheses,
                                      .present = test->store ? present_toys : NULL,
                                      .run = run_toys,
                                      .user = &chunk};
    const paritas_status status = toy_runner_run(&runner, first, end);
    chunk_free(&chunk);
    return status;
}

paritas_status toy_test_result(struct toy_test *test, paritas_hypotest_toys_result *result)
{
    const paritas_status status =
        toy_pool_result(&test->pool, test->statistic, test->n_hypotheses == 1, &test->result);
    test->result.size = sizeof test->result;
    *result = test->result;
    return status;
}

static paritas_status hypotest_toys(struct infer *infer, const paritas_toys_options *options,
                                    paritas_test_statistic statistic, double mu, struct toy_test *test,
                                    paritas_hypotest_toys_result *result)
{
    uint64_t first, end;
    struct store *store = NULL;
    paritas_status status = toys_share(infer->context, options, &first, &end);
    if (status == PARITAS_OK)
        status = infer_check_value(infer, infer->poi, statistic == PARITAS_STATISTIC_Q0 ? 0.0 : mu);
    if (status == PARITAS_OK)
        status = toys_open_store(infer, options, "hypotest-toys", paritas_test_statistic_name(statistic),
                                 statistic == PARITAS_STATISTIC_Q0 ? 0.0 : mu, STORE_TESTS, &store);
    if (status == PARITAS_OK) status = toy_test_open(test, infer, options, statistic, mu, store);
    if (status == PARITAS_OK && store) {
        const paritas_hypotest_toys_result *r = &test->result;
        status = store_set_fact(store, "q", r->q);
        if (status == PARITAS_OK) status = store_set_fact(store, "mu_hat", r->mu_hat);
        if (status == PARITAS_OK) status = store_set_fact(store, "twice_nll_free", r->twice_nll_free);
        if (status == PARITAS_OK) status = store_set_fact(store, "twice_nll_fixed", r->twice_nll_fixed);
        if (status == PARITAS_OK) status = store_set_fact(store, "status", (double)r->status);
        if (status == PARITAS_OK) status = store_read(store, read_toy, test);
        /* read_toy stops for nothing else */
        if (status == PARITAS_CANCELLED) status = paritas_fail_memory(infer->context);
    }
    if (status == PARITAS_OK) status = toy_test_run(test, first, end, TOY_HYPOTHESES);
    if (status == PARITAS_OK) status = toy_test_result(test, result);
    store_close(store);
    return status;
}

paritas_status paritas_hypotest_toys(paritas_context *context, const paritas_model *model,
                                     const paritas_job *job, paritas_test_statistic statistic, double mu,
                                     const paritas_toys_options *given, paritas_hypotest_toys_result *result)
{
    paritas_toys_options options;
    paritas_status status = toys_take_options(context, given, &options);
    if (status == PARITAS_OK)
        status = SIZED_CHECK(context, paritas_hypotest_toys_result, "result", 1, result);
    if (status == PARITAS_OK) status = infer_check_statistic(context, statistic);
    if (status != PARITAS_OK) return status;
    *result = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    struct infer infer;
    status = infer_open_for_toys(&infer, context, model, job, true);
    struct toy_test *test = status == PARITAS_OK ? arena_array(&infer.arena, 1, sizeof *test) : NULL;
    if (status == PARITAS_OK && !test) status = paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        status = hypotest_toys(&infer, &options, statistic, mu, test, result);
        toy_test_close(test);
    }
    infer_close(&infer);
    return status;
}
