/* toys.c: tests of one mu by toys. */
#include "minima/domain.h"
#include "minima/lowest_points.h"
#include "toys/toys.h"
#include "base/sized.h"
#include "toys/toy_runner.h"
#include "toys/toy_p_values.h"

#include <math.h>
#include <string.h>

/* Toys' conditional fits cluster at this fit. */
static paritas_status conditional_start(struct toy_test *test, int h, const double *expected,
                                        const double **start)
{
    struct infer *infer = test->infer;
    const size_t n = infer->n_parameters;
    *start = test->point[h].parameters;
    if (test->pool.place[h] == test->pool.mu) return PARITAS_OK;
    double *moved = infer_reals(infer, n, 1);
    unsigned char *fixed = infer_array(infer, n, 1);
    TRY(infer_memory(infer));
    memcpy(moved, test->point[h].parameters, n * sizeof *moved);
    memcpy(fixed, infer->base.fixed, n);
    moved[infer->poi] = test->pool.mu;
    fixed[infer->poi] = 1;
    paritas_job job = infer->base;
    job.data = expected;
    job.start = moved;
    job.fixed = fixed;
    return toys_fit_expected(infer, &job, start);
}

/* Random streams: hypotheses have 0 and 1, with and without importance sampling. Others have streams that no
 * other run of toys uses. */
#define PURPOSE_OF(place) ((uint32_t)((place) < TOY_HYPOTHESES ? (place) : 16 + (place)))

static paritas_status open_ensemble(struct toy_test *test, int h)
{
    struct infer *infer = test->infer;
    const double *point = test->point[h].parameters;
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, point, expected));
    struct ensemble_options options = toys_ensemble(infer, test->options, point, expected, PURPOSE_OF(h));
    TRY(conditional_start(test, h, expected, &options.plan.conditional_start));
    options.plan.poi = (ptrdiff_t)infer->poi;
    options.plan.conditional = true;
    options.plan.mu = test->pool.mu;
    toys_fix_aux(infer, test->options, expected);
    test->expected[h] = expected;
    return ensemble_open(infer->context, &options, &test->ensemble[h]);
}

void toys_add_minima(const struct ensemble *ensemble, paritas_minima *minima)
{
    if (ensemble->below > 0.0)
        infer_add_minima(minima,
                         &(paritas_minima){.met = 2, .apart = ensemble->below, .next = ensemble->below});
}

/* Where toys of one place have several minima, all toys of this test get further starts. Other tests judge by
 * their own toys: a limit tests values far from any root, and further starts cost much. */
static paritas_status use_further_starts(struct toy_test *test)
{
    paritas_minima *minima = &test->result.minima;
    *minima = test->infer->minima;
    for (int h = 0; h < test->pool.n_places; h++) toys_add_minima(&test->ensemble[h], minima);
    for (int h = 0; h < test->pool.n_places && infer_has_several(minima); h++)
        TRY(ensemble_use_further_starts(test->infer->context, &test->ensemble[h]));
    return PARITAS_OK;
}

static size_t choose_strengths(const struct toy_test *test, const struct strength hypotheses[TOY_HYPOTHESES],
                               double *strengths)
{
    const struct infer *infer = test->infer;
    const double mu_hat = test->data.parameters[infer->poi];
    double beyond;
    /* one place is kept for add_tested_nuisances */
    size_t n = strengths_between(hypotheses, mu_hat, TOY_PLACES_MOST - TOY_HYPOTHESES - 1, strengths);
    bool wanted = strength_beyond(hypotheses[TOY_TESTED], mu_hat, infer->base.lower[infer->poi],
                                  infer->upper[infer->poi], &beyond);
    for (int h = 0; h < TOY_HYPOTHESES; h++) wanted = wanted && beyond != hypotheses[h].mu;
    for (size_t k = 0; k < n; k++) wanted = wanted && beyond != strengths[k];
    if (!wanted) return n;
    size_t at = n++;
    for (; at > 0 && strengths[at - 1] > beyond; at--) strengths[at] = strengths[at - 1];
    strengths[at] = beyond;
    return n;
}

/* The strengths of importance sampling and the fits there. The hypotheses' fits stay as without it. A chosen
 * strength whose fit has no answer is left out. */
static paritas_status add_strengths(struct toy_test *test)
{
    struct infer *infer = test->infer;
    const paritas_toys_options *options = test->options;
    const struct infer_profile *data = &test->data;
    struct toy_pool *pool = &test->pool;
    struct infer_point *points = test->point + TOY_HYPOTHESES;
    double strengths[TOY_PLACES_MOST];
    size_t n;
    if (pool->n_places < TOY_HYPOTHESES)
        return paritas_refuse(infer->context, "importance: both hypotheses are %.10g", pool->mu);
    const struct strength hypotheses[] = {strength_of(data, infer->poi, &test->point[TOY_TESTED]),
                                          strength_of(data, infer->poi, &test->point[TOY_OTHER])};
    if (options->strengths)
        n = strengths_given(options, pool->place, strengths);
    else
        n = choose_strengths(test, hypotheses, strengths);
    for (size_t k = 0; k < n; k++) {
        TRY(infer_check_tested(infer, infer->poi, strengths[k]));
        points[k] = infer_point_at(infer, &test->data, strengths[k]);
        points[k].place = true;
    }
    if (n > 0) TRY(infer_points(infer, n, points));
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        if (!options->strengths && points[k].status != PARITAS_FIT_CONVERGED) continue;
        strengths[kept] = strengths[k];
        points[kept++] = points[k];
    }
    toy_pool_weigh(pool, kept, strengths);
    return PARITAS_OK;
}

/* One place more, with the nuisance parameters of the tested value, unless these are the best fit's, too, or
 * a rate is outside the domain there. */
static paritas_status add_tested_nuisances(struct toy_test *test)
{
    struct infer *infer = test->infer;
    struct toy_pool *pool = &test->pool;
    const struct infer_point *from = &test->point[TOY_TESTED];
    const double *best = test->data.parameters;
    double mu, *parameters = infer_reals(infer, infer->n_parameters, 1);
    size_t n_outside;
    bool wanted =
        strength_with_tested_nuisances(strength_of(&test->data, infer->poi, from), best[infer->poi], &mu);
    bool moved = false;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < infer->n_parameters; i++) {
        moved = moved || (i != infer->poi && from->parameters[i] != best[i]);
        parameters[i] = i == infer->poi ? mu : from->parameters[i];
    }
    for (int k = 0; k < pool->n_places; k++) wanted = wanted && mu != pool->place[k];
    if (!wanted || !moved) return PARITAS_OK;
    TRY(paritas_find_outside(infer->context, infer->model, parameters, infer->base.data, 0, NULL,
                             &n_outside));
    if (n_outside > 0) return PARITAS_OK;
    struct infer_point *point = &test->point[pool->n_places];
    *point = *from;
    point->value[0] = mu;
    point->parameters = parameters;
    pool->place[pool->n_places++] = mu;
    return PARITAS_OK;
}

paritas_status toy_test_open(struct toy_test *test, struct infer *infer, const paritas_toys_options *options,
                             paritas_test_statistic statistic, double mu, struct store *store)
{
    *test =
        (struct toy_test){.infer = infer, .options = options, .data.data = infer->base.data, .store = store};
    struct toy_pool *pool = &test->pool;
    struct infer_profile *data = &test->data;
    struct infer_point *point = test->point;
    infer_forget_minima(infer);
    toy_pool_open(pool, infer->context, fits_are_raw(infer->context), statistic, mu);
    for (int h = 0; h < TOY_HYPOTHESES; h++) {
        TRY(infer_check_tested(infer, infer->poi, pool->place[h]));
        point[h] = infer_point_at(infer, data, pool->place[h]);
    }
    point[TOY_OTHER].place = pool->n_places > 1;
    TRY(infer_free_fit(infer, data));
    TRY(infer_points(infer, TOY_HYPOTHESES, point));
    if (options->importance) TRY(add_strengths(test));
    pool->part = options->shards > 1;
    for (int h = 0; h < TOY_HYPOTHESES || h < pool->n_places; h++) TRY(infer_polish(infer, &point[h]));
    if (options->importance && !options->strengths) TRY(add_tested_nuisances(test));
    for (int h = 0; h < pool->n_places; h++) {
        TRY(domain_check(infer, point[h].status, "a conditional fit, where toys are drawn,",
                         point[h].parameters));
        TRY(open_ensemble(test, h));
    }
    TRY(use_further_starts(test));
    if (pool->weighted) TRY(toy_weights_open(infer, pool->n_places, test->expected, &test->weights));
    paritas_hypotest_toys_result *r = &test->result;
    r->several_minima = infer_has_several(&r->minima);
    r->mu = pool->mu;
    r->mu_hat = data->parameters[infer->poi];
    r->twice_nll_free = data->result.twice_nll;
    r->twice_nll_fixed = point[TOY_TESTED].twice_nll;
    r->q = statistic_q(statistic, pool->mu, r->mu_hat, r->twice_nll_fixed, r->twice_nll_free);
    r->status =
        infer_worse(data->result.status, infer_worse(point[TOY_TESTED].status, point[TOY_OTHER].status));
    return PARITAS_OK;
}

void toy_test_close(struct toy_test *test)
{
    for (int h = 0; h < TOY_PLACES_MOST; h++)
        if (test->ensemble[h].model) ensemble_close(&test->ensemble[h]);
    toy_pool_close(&test->pool);
}

struct chunk {
    struct toy_test *test;
    struct arena arena;
    size_t room;
    struct profile *profiles;
    double *constants, *data; /* data: for weights; else NULL */
    paritas_toy *toys;
};

/* Loses the content. */
static paritas_status chunk_hold(struct chunk *chunk, size_t n)
{
    const struct toy_test *test = chunk->test;
    if (n <= chunk->room) return PARITAS_OK;
    arena_free(&chunk->arena);
    chunk->profiles = arena_array(&chunk->arena, n, sizeof *chunk->profiles);
    chunk->constants = arena_array(&chunk->arena, n, sizeof *chunk->constants);
    chunk->toys = arena_array(&chunk->arena, n, sizeof *chunk->toys);
    bool whole = chunk->profiles && chunk->constants && chunk->toys;
    if (test->pool.weighted) {
        chunk->data = arena_array(&chunk->arena, n, test->infer->n_data * sizeof *chunk->data);
        whole = whole && chunk->data;
    }
    chunk->room = whole ? n : 0;
    return whole ? PARITAS_OK : paritas_fail_memory(test->infer->context);
}

/* Runs toys of which none exists yet. */
static paritas_status run_toys(void *user, int h, uint64_t first, size_t n)
{
    struct chunk *chunk = user;
    struct toy_test *test = chunk->test;
    paritas_context *context = test->infer->context;
    TRY(chunk_hold(chunk, n));
    TRY(ensemble_run(context, &test->ensemble[h], first, n, chunk->profiles, chunk->data, NULL,
                     chunk->constants));
    for (size_t i = 0; i < n; i++) {
        const struct profile *profile = &chunk->profiles[i];
        paritas_toy *toy = &chunk->toys[i];
        double weight[TOY_HYPOTHESES] = {(double)NAN, (double)NAN};
        if (chunk->data)
            toy_weights_find(&test->weights, chunk->data + i * test->infer->n_data, TOY_HYPOTHESES, weight);
        *toy = (paritas_toy){.size = sizeof(paritas_toy),
                             .toy = first + i,
                             .mu = test->pool.mu,
                             .hypothesis = test->pool.place[h],
                             .q = statistic_q(test->pool.statistic, test->pool.mu, profile->mu_hat,
                                              2.0 * profile->value_fixed, 2.0 * profile->value_free),
                             .mu_hat = profile->mu_hat,
                             .twice_nll_free = 2.0 * (profile->value_free + chunk->constants[i]),
                             .twice_nll_fixed = 2.0 * (profile->value_fixed + chunk->constants[i]),
                             .status = infer_worse(profile->status_free, profile->status_fixed),
                             .iterations = profile->iterations,
                             .weight = weight[TOY_TESTED],
                             .weight_other = weight[TOY_OTHER]};
        toy_tally_add(&test->result.tally, profile);
        TRY(toy_pool_add(&test->pool, h, toy));
    }
    if (test->store) TRY(store_add(test->store, n, chunk->toys));
    if (test->options->take && test->options->take(test->options->user, n, chunk->toys))
        return paritas_fail(context, PARITAS_CANCELLED, "cancelled by the caller");
    return PARITAS_OK;
}

struct stored {
    struct toy_pool *pool;
    int h;
    uint64_t first;
    unsigned char *present;
};

static int take_stored(void *user, const paritas_toy *row)
{
    const struct stored *stored = user;
    stored->present[row->toy - stored->first] = 1;
    return toy_pool_add(stored->pool, stored->h, row) != PARITAS_OK;
}

static paritas_status present_toys(void *user, int h, uint64_t first, size_t n, unsigned char *present)
{
    struct toy_test *test = ((const struct chunk *)user)->test;
    struct stored stored = {&test->pool, h, first, present};
    const paritas_status status =
        store_read_range(test->store, test->pool.mu, test->pool.place[h], first, n, take_stored, &stored);
    return status == PARITAS_CANCELLED ? toy_pool_refuse(&test->pool, store_path(test->store)) : status;
}

paritas_status toy_test_run(struct toy_test *test, uint64_t first, uint64_t end)
{
    paritas_context *context = test->infer->context;
    struct chunk chunk = {.test = test};
    const struct toy_runner runner = {.context = context,
                                      .sized_by = &test->ensemble[TOY_TESTED],
                                      .n_ensembles = test->pool.n_places,
                                      .present = test->store ? present_toys : NULL,
                                      .run = run_toys,
                                      .user = &chunk,
                                      .tally = &test->result.tally};
    arena_open(&chunk.arena, &context->allocator);
    const paritas_status status = toy_runner_run(&runner, first, end);
    arena_free(&chunk.arena);
    return status;
}

paritas_status toy_test_result(struct toy_test *test, paritas_hypotest_toys_result *result)
{
    const paritas_status status = toy_pool_result(&test->pool, &test->result);
    test->result.size = sizeof test->result;
    *result = test->result;
    return status;
}

static paritas_status set_facts(struct store *store, const paritas_hypotest_toys_result *result)
{
    TOYS_TEST_FACTS(TOYS_SET_FACT)
    return PARITAS_OK;
}

static paritas_status hypotest_toys(struct infer *infer, const paritas_toys_options *options,
                                    paritas_test_statistic statistic, double mu, struct toy_test *test,
                                    struct store **store)
{
    uint64_t first, end;
    paritas_key_entry importance = {STORE_IMPORTANCE, NULL};
    const struct toys_key key = {.what = "hypotest-toys",
                                 .kind = STORE_TESTS,
                                 .statistic = paritas_test_statistic_name(statistic),
                                 .mu = statistic_tested(statistic, mu),
                                 .n_entries = options->importance ? 1 : 0,
                                 .entries = &importance};
    if (options->importance) TRY(toys_describe_importance(infer, options, &importance.value));
    TRY(toys_share(infer->context, options, &first, &end));
    TRY(infer_make_room(infer, infer->poi, key.mu));
    TRY(infer_check_tested(infer, infer->poi, key.mu));
    TRY(toys_open_store(infer, options, &key, store));
    TRY(toy_test_open(test, infer, options, statistic, mu, *store));
    infer_note_widening(infer);
    if (*store) {
        TRY(set_facts(*store, &test->result));
        TRY(toys_set_places(*store, &test->pool));
        TRY(toys_set_minima(*store, &test->result));
    }
    return toy_test_run(test, first, end);
}

paritas_status paritas_hypotest_toys(paritas_context *context, const paritas_model *model,
                                     const paritas_job *job, paritas_test_statistic statistic, double mu,
                                     const paritas_toys_options *given, paritas_hypotest_toys_result *result)
{
    REQUIRE(context, model);
    paritas_toys_options options;
    TRY(toys_take_test_options(context, given, &options));
    TRY(SIZED_CHECK(context, paritas_hypotest_toys_result, "result", 1, result));
    TRY(statistic_check(context, statistic));
    *result = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    struct infer infer;
    struct toy_test test = {.store = NULL};
    struct store *store = NULL;
    paritas_status status = infer_open_for_toys(&infer, context, model, job, true);
    if (status == PARITAS_OK) status = hypotest_toys(&infer, &options, statistic, mu, &test, &store);
    if (status == PARITAS_OK) status = toy_test_result(&test, result);
    toy_test_close(&test);
    store_close(store);
    infer_close(&infer);
    return status;
}
