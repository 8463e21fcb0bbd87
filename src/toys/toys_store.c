/* toys_store.c: a test's result from a store alone. */
#include "base/json/number.h"
#include "base/sized.h"
#include "store/store_run.h"
#include "toys/toy_p_values.h"
#include "toys/toys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

paritas_status toys_set_minima(struct store *store, const paritas_hypotest_toys_result *result)
{
    const paritas_minima *m = &result->minima;
    if (!result->several_minima) return PARITAS_OK;
    TRY(store_set_fact(store, "several_minima", 1.0));
    TRY(store_set_fact(store, "minima_met", (double)m->met));
    TRY(store_set_fact(store, "minima_apart", m->apart));
    TRY(store_set_fact(store, "minima_next", m->next));
    TRY(store_set_fact(store, "minima_at_lowest", m->at_lowest));
    return store_set_fact(store, "minima_at_next", m->at_next);
}

paritas_status toys_set_best_fit(struct store *store, const paritas_hypotest_toys_result *result)
{
    TOYS_SET_FACT(mu_hat)
    TOYS_SET_FACT(twice_nll_free)
    return PARITAS_OK;
}

paritas_status toys_set_places(struct store *store, const struct toy_pool *pool)
{
    char name[32];
    if (!pool->weighted) return PARITAS_OK;
    TRY(store_set_fact(store, "strengths", (double)pool->n_places));
    for (int k = 0; k < pool->n_places; k++) {
        snprintf(name, sizeof name, "strength_%d", k);
        TRY(store_set_fact(store, name, pool->place[k]));
    }
    return PARITAS_OK;
}

static paritas_status get_minima(struct store *store, paritas_hypotest_toys_result *result)
{
    paritas_minima *m = &result->minima;
    const struct {
        const char *name;
        double *value;
    } facts[] = {{"minima_apart", &m->apart},
                 {"minima_next", &m->next},
                 {"minima_at_lowest", &m->at_lowest},
                 {"minima_at_next", &m->at_next}};
    double several, met, value;
    bool known;
    TRY(store_get_fact(store, "several_minima", &several, &known));
    result->several_minima = known && several != 0.0;
    if (!result->several_minima) return PARITAS_OK;
    TRY(store_get_fact(store, "minima_met", &met, &known));
    if (known && met >= 0.0 && met < 1e6) m->met = (size_t)met;
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        TRY(store_get_fact(store, facts[k].name, &value, &known));
        if (known && isfinite(value)) *facts[k].value = value;
    }
    return PARITAS_OK;
}

struct reading {
    struct toy_pool pool;
    uint64_t toys; /* of each hypothesis; 0: the key does not say */
    bool failed;
};

static int take(void *user, const paritas_toy *row)
{
    struct reading *reading = user;
    struct toy_pool *pool = &reading->pool;
    for (int h = 0; h < pool->n_places && row->mu == pool->mu; h++) {
        if (row->hypothesis != pool->place[h] || (reading->toys > 0 && row->toy >= reading->toys)) continue;
        reading->failed = toy_pool_add(pool, h, row) != PARITAS_OK;
        return reading->failed;
    }
    reading->failed = true;
    snprintf(pool->wrong, sizeof pool->wrong,
             "toy %llu at mu = %.10g, hypothesis = %.10g is none of this run", (unsigned long long)row->toy,
             row->mu, row->hypothesis);
    return 1;
}

/* Every run with a toy has this fact. */
static paritas_status get_fact(paritas_context *context, struct store *store, const char *name, double *value)
{
    bool known;
    TRY(store_get_fact(store, name, value, &known));
    if (known) return PARITAS_OK;
    return paritas_refuse(context,
                          "%s: no run that uses this store has come as far as a toy: %s is not known",
                          store_path(store), name);
}

static paritas_status get_places(paritas_context *context, struct store *store, struct toy_pool *pool)
{
    double n, strengths[TOY_PLACES_MOST];
    char name[32];
    if (!store_entry(store, STORE_IMPORTANCE)) return PARITAS_OK;
    TRY(get_fact(context, store, "strengths", &n));
    if (!(n >= TOY_HYPOTHESES && n <= TOY_PLACES_MOST))
        return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: %.17g strengths: there are %d to %d",
                            store_path(store), n, TOY_HYPOTHESES, TOY_PLACES_MOST);
    for (int k = TOY_HYPOTHESES; k < (int)n; k++) {
        snprintf(name, sizeof name, "strength_%d", k);
        TRY(get_fact(context, store, name, &strengths[k]));
        if (!isfinite(strengths[k]))
            return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: the fact %s is no finite number",
                                store_path(store), name);
    }
    toy_pool_weigh(pool, (size_t)n - TOY_HYPOTHESES, strengths + TOY_HYPOTHESES);
    return PARITAS_OK;
}

/* The observed fits have what a toy's have. */
static paritas_status check_facts(paritas_context *context, struct store *store, int statistic, double mu,
                                  const paritas_hypotest_toys_result *result)
{
    char reason[ROW_REASON] = "q is not that of its fits";
    const paritas_toy observed = {.mu = mu,
                                  .q = result->q,
                                  .mu_hat = result->mu_hat,
                                  .twice_nll_free = result->twice_nll_free,
                                  .twice_nll_fixed = result->twice_nll_fixed,
                                  .status = result->status,
                                  .weight = 1.0,
                                  .weight_other = 1.0};
    if (row_is_possible(run_table(store_run(store)), &observed, 0, reason) &&
        (result->status != PARITAS_FIT_CONVERGED ||
         toy_has_its_q((paritas_test_statistic)statistic, &observed)))
        return PARITAS_OK;
    return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: the observed data: %s", store_path(store),
                        reason);
}

static paritas_status read_facts(paritas_context *context, struct store *store,
                                 paritas_hypotest_toys_result *result)
{
    struct {
        double q, mu_hat, twice_nll_free, twice_nll_fixed, status;
    } facts;
#define GET_FACT(name) TRY(get_fact(context, store, #name, &facts.name));
    TOYS_TEST_FACTS(GET_FACT)
    result->q = facts.q;
    result->mu_hat = facts.mu_hat;
    result->twice_nll_free = facts.twice_nll_free;
    result->twice_nll_fixed = facts.twice_nll_fixed;
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (facts.status == k) {
            result->status = (paritas_fit_status)k;
            return PARITAS_OK;
        }
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s: the status of the observed fits is %.17g, which is none", store_path(store),
                        facts.status);
}

static paritas_status read_key(paritas_context *context, const struct store *store, int *statistic,
                               double *mu)
{
    const char *name = store_entry(store, "test_statistic"), *text = store_entry(store, "mu");
    if (store_run(store)->kind != STORE_TESTS || !name || !text)
        return paritas_refuse(context, "%s: holds no test of one value of mu", store_path(store));
    struct decimal decimal;
    const char *wrong, *end = text + strlen(text);
    const bool number = number_scan(text, end, &decimal, &wrong) == end && wrong == NULL;
    *mu = number ? number_value(&decimal, text, strlen(text)) : (double)NAN;
    if (isfinite(*mu) &&
        paritas_enumeration_value(paritas_enumeration_find("paritas_test_statistic"), name, statistic))
        return PARITAS_OK;
    return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: no test has the statistic %s and the value %s",
                        store_path(store), name, text);
}

static paritas_status answer(paritas_context *context, struct store *store, struct reading *reading,
                             paritas_hypotest_toys_result *result)
{
    int statistic = 0;
    double mu = 0.0;
    TRY(read_key(context, store, &statistic, &mu));
    TRY(read_facts(context, store, result));
    TRY(check_facts(context, store, statistic, mu, result));
    TRY(get_minima(store, result));
    /* unpolished f32 fits, whatever the reading context */
    const char *precision = store_entry(store, "precision");
    const bool raw = precision && strcmp(precision, "f32" TOYS_RAW) == 0;
    toy_pool_open(&reading->pool, context, raw, (paritas_test_statistic)statistic, mu);
    result->mu = reading->pool.mu;
    TRY(get_places(context, store, &reading->pool));
    const char *toys = store_entry(store, STORE_NTOYS);
    reading->toys = toys ? strtoull(toys, NULL, 10) : 0;
    const paritas_status status = store_read(store, take, reading);
    if (reading->failed) return toy_pool_refuse(&reading->pool, store_path(store));
    return status == PARITAS_OK ? toy_pool_result(&reading->pool, result) : status;
}

paritas_status paritas_store_hypotest(paritas_context *context, const char *path,
                                      paritas_hypotest_toys_result *result)
{
    REQUIRE(context, path, result);
    struct store *store;
    struct reading reading = {.failed = false};
    TRY(SIZED_CHECK(context, paritas_hypotest_toys_result, "result", 1, result));
    *result = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    TRY(store_open_read(context, path, &store));
    const paritas_status status = answer(context, store, &reading, result);
    store_close(store);
    toy_pool_close(&reading.pool);
    return status;
}

/* The public run comes first: its address is this one's. */
struct opened_run {
    paritas_store_run run;
    struct store *store;
    paritas_allocator allocator;
};

/* A test of one value has its q once a toy is there. */
static paritas_status read_run(struct store *store, paritas_store_run *run)
{
    const char *command = store_entry(store, "command");
    double q;
    bool known = false;
    run->n_entries = store_run(store)->n_entries;
    run->entries = store_run(store)->entries;
    TRY(store_counts(store, run->counts));
    if (command && strcmp(command, "hypotest-toys") == 0) TRY(store_get_fact(store, "q", &q, &known));
    run->has_hypotest = known;
    return PARITAS_OK;
}

paritas_status paritas_store_run_read(paritas_context *context, const char *path, paritas_store_run **run)
{
    REQUIRE(context, path, run);
    *run = NULL;
    struct opened_run *opened = paritas_allocate_clear(context, 1, sizeof *opened);
    if (!opened) return paritas_fail_memory(context);
    opened->allocator = context->allocator;
    paritas_status status = store_open_read(context, path, &opened->store);
    if (status == PARITAS_OK) status = read_run(opened->store, &opened->run);
    if (status == PARITAS_OK)
        *run = &opened->run;
    else
        paritas_store_run_free(&opened->run);
    return status;
}

void paritas_store_run_free(paritas_store_run *run)
{
    if (!run) return;
    struct opened_run *opened = (struct opened_run *)run;
    const paritas_allocator allocator = opened->allocator;
    store_close(opened->store);
    paritas_release(&allocator, opened);
}
