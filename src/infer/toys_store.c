/* toys_store.c: the answer of a test from the toys of a store alone. */
#include "base/number.h"
#include "base/sized.h"
#include "infer/toys.h"

#include <math.h>
#include <string.h>

struct reading {
    struct toy_pool pool;
    double mu, hypothesis[TOY_HYPOTHESES];
    bool failed; /* memory ran out */
};

static int take(void *user, const paritas_toy *row)
{
    struct reading *reading = user;
    for (int h = 0; h < TOY_HYPOTHESES && row->mu == reading->mu; h++) {
        if (row->hypothesis != reading->hypothesis[h]) continue;
        reading->failed = toy_pool_add(&reading->pool, h, row->q, row->status) != PARITAS_OK;
        return reading->failed;
    }
    return 0;
}

/* A number that every run that came as far as a toy has written. */
static paritas_status get_fact(paritas_context *context, struct store *store, const char *name, double *value)
{
    bool known;
    const paritas_status status = store_get_fact(store, name, value, &known);
    if (status != PARITAS_OK || known) return status;
    return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                        "%s: no run that uses this store has come as far as a toy: %s is not known",
                        store_path(store), name);
}

static paritas_status read_facts(paritas_context *context, struct store *store,
                                 paritas_hypotest_toys_result *result)
{
    double fit_status;
    paritas_status status = get_fact(context, store, "q", &result->q);
    if (status == PARITAS_OK) status = get_fact(context, store, "mu_hat", &result->mu_hat);
    if (status == PARITAS_OK) status = get_fact(context, store, "twice_nll_free", &result->twice_nll_free);
    if (status == PARITAS_OK) status = get_fact(context, store, "twice_nll_fixed", &result->twice_nll_fixed);
    if (status == PARITAS_OK) status = get_fact(context, store, "status", &fit_status);
    if (status != PARITAS_OK) return status;
    for (int k = 0; k < PARITAS_FIT_STATUS_COUNT; k++)
        if (fit_status == k) {
            result->status = (paritas_fit_status)k;
            return PARITAS_OK;
        }
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s: the status of the observed fits is %.17g, which is none", store_path(store),
                        fit_status);
}

/* What was tested, from the run's key. */
static paritas_status read_key(paritas_context *context, const struct store *store,
                               paritas_test_statistic *statistic, double *mu)
{
    const char *name = store_entry(store, "test_statistic"), *text = store_entry(store, "mu");
    if (store_run(store)->kind != STORE_TESTS || name == NULL || text == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%s: holds no test of one value of mu",
                            store_path(store));
    struct decimal decimal;
    const char *wrong, *end = text + strlen(text);
    const bool number = number_scan(text, end, &decimal, &wrong) == end && wrong == NULL;
    *mu = number ? number_value(&decimal, text, strlen(text)) : (double)NAN;
    int value;
    if (isfinite(*mu) &&
        paritas_enumeration_value(paritas_enumeration_find("paritas_test_statistic"), name, &value)) {
        *statistic = (paritas_test_statistic)value;
        return PARITAS_OK;
    }
    return paritas_fail(context, PARITAS_INVALID_INPUT, "%s: no test has the statistic %s and the value %s",
                        store_path(store), name, text);
}

/* Are these toys' fits of f32 alone? Whatever the context is that reads them. */
static bool is_raw(const struct store *store)
{
    const char *precision = store_entry(store, "precision");
    return precision && strcmp(precision, "f32" TOYS_RAW) == 0;
}

static paritas_status answer(paritas_context *context, struct store *store, struct reading *reading,
                             paritas_hypotest_toys_result *result)
{
    paritas_test_statistic statistic = PARITAS_STATISTIC_QTILDE;
    paritas_status status = read_key(context, store, &statistic, &reading->mu);
    if (status == PARITAS_OK) status = read_facts(context, store, result);
    if (status != PARITAS_OK) return status;
    result->mu = reading->hypothesis[TOY_TESTED] = reading->mu;
    reading->hypothesis[TOY_OTHER] = statistic == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0;
    status = store_read(store, take, reading);
    if (reading->failed) status = paritas_fail_memory(context);
    if (status == PARITAS_OK)
        status =
            toy_pool_result(&reading->pool, statistic, reading->mu == reading->hypothesis[TOY_OTHER], result);
    return status;
}

paritas_status paritas_store_hypotest(paritas_context *context, const char *path,
                                      paritas_hypotest_toys_result *result)
{
    if (context == NULL) return PARITAS_INVALID_ARGUMENT;
    if (path == NULL || result == NULL)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT,
                            "a store and a place for the answer are needed");
    struct store *store = NULL;
    struct reading reading = {.failed = false};
    paritas_status status = SIZED_CHECK(context, paritas_hypotest_toys_result, "result", 1, result);
    if (status != PARITAS_OK) return status;
    *result = (paritas_hypotest_toys_result)PARITAS_INIT(paritas_hypotest_toys_result);
    status = store_open_read(context, path, &store);
    toy_pool_open(&reading.pool, context, store && is_raw(store));
    if (status == PARITAS_OK) status = answer(context, store, &reading, result);
    store_close(store);
    toy_pool_close(&reading.pool);
    return status;
}
