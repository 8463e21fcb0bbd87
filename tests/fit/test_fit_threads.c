/* Threads: contexts used side by side by several threads that share a model, each context with workers of its
 * own; and what a caller sees of the workers: progress, cancelling. Meant for the thread sanitizer, of use
 * without it. */
#include "fit/fit_testing.h"
#include "parity/results.h"

#include <pthread.h>

enum { CALLERS = 4, WORKERS = 3 };

/* What one calling thread does and finds; asserted by the thread that started it, since cmocka's jumps belong
 * to that one. */
struct caller {
    const char *text;               /* a workspace that each caller reads for itself */
    const paritas_workspace *plain; /* one that all share */
    const paritas_model *model;
    unsigned precision, lanes;
    uint64_t seed;
    struct results results;
    bool good;
};

static bool collect_all(struct caller *caller, paritas_context *context)
{
    static const enum results_part parts[] = {RESULTS_EVALUATE, RESULTS_EXPECTED, RESULTS_FIT, RESULTS_SCAN,
                                              RESULTS_HYPOTEST};
    paritas_workspace *own = NULL;
    paritas_model *shared_source = NULL, *own_source = NULL;
    char digest[72];
    bool good = paritas_workspace_digest(context, caller->plain, digest) == PARITAS_OK &&
                paritas_model_create(context, caller->plain, NULL, &shared_source) == PARITAS_OK &&
                paritas_workspace_parse(context, caller->text, strlen(caller->text), "own.json", &own) ==
                    PARITAS_OK &&
                paritas_model_create(context, own, NULL, &own_source) == PARITAS_OK;
    const paritas_model *models[] = {caller->model, shared_source, own_source};
    for (size_t m = 0; good && m < COUNT(models); m++)
        for (size_t k = 0; good && k < COUNT(parts); k++)
            good = results_collect(context, models[m], parts[k], caller->seed, &caller->results);
    paritas_model_free(own_source);
    paritas_model_free(shared_source);
    paritas_workspace_free(own);
    return good;
}

static void *run_caller(void *argument)
{
    struct caller *caller = argument;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = WORKERS;
    options.precision = caller->precision;
    options.lanes = caller->lanes;
    paritas_context *context = NULL;
    caller->good = paritas_open(&options, &context) == PARITAS_OK && collect_all(caller, context);
    paritas_close(context);
    return NULL;
}

static void compare_callers(const struct fixture *f, const char *text, uint64_t seed, unsigned precision)
{
    struct caller callers[CALLERS + 1] = {0};
    pthread_t ids[CALLERS];
    for (size_t k = 0; k <= CALLERS; k++)
        callers[k] = (struct caller){.text = text,
                                     .plain = f->workspace,
                                     .model = f->model,
                                     .precision = precision,
                                     .lanes = k % 2 && k < CALLERS ? 4 : 0,
                                     .seed = seed};
    run_caller(&callers[CALLERS]); /* alone */
    assert_true(callers[CALLERS].good);
    for (size_t k = 0; k < CALLERS; k++)
        assert_int_equal(pthread_create(&ids[k], NULL, run_caller, &callers[k]), 0);
    for (size_t k = 0; k < CALLERS; k++) pthread_join(ids[k], NULL);
    for (size_t k = 0; k < CALLERS; k++) {
        assert_true(callers[k].good);
        assert_int_equal(callers[k].results.length, callers[CALLERS].results.length);
        assert_memory_equal(callers[k].results.bytes, callers[CALLERS].results.bytes,
                            callers[k].results.length);
    }
    for (size_t k = 0; k <= CALLERS; k++) results_free(&callers[k].results);
}

TEST(contexts_of_several_threads_share_a_model_and_answer_the_same_bits)
{
    for (uint64_t seed = 60; seed < 66; seed += SHARE) {
        char *text = random_workspace(seed, TRAIT_ALL & ~(unsigned)TRAIT_WIDE);
        struct fixture f = make_fixture(text, NULL, NULL);
        compare_callers(&f, text, seed, 64);
        if (seed % 3 == 0) compare_callers(&f, text, seed, 32);
        free_fixture(&f);
        free(text);
    }
}

/* What a callback for progress was told, and when it says stop. */
struct watch {
    pthread_t caller;
    uint64_t calls, last, total, stop_after;
    bool strange; /* called by another thread, backwards or beyond the end */
};

static int watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;
    if (!pthread_equal(watch->caller, pthread_self()) || done > total ||
        (watch->total == total && done < watch->last))
        watch->strange = true;
    watch->last = done;
    watch->total = total;
    return ++watch->calls == watch->stop_after;
}

/* Fits with progress watched, stopped at the first call and again to the end. The calling thread does its
 * share of the jobs, which among several may be none: nothing is told then, and nothing stops. */
static void watch_fits(const char *text, unsigned threads)
{
    enum { JOBS = 64 };
    struct watch watch = {.caller = pthread_self()};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = threads;
    options.lanes = 1;
    options.progress = watch_progress;
    options.progress_user = &watch;
    struct fixture f = make_fixture(text, &options, NULL);
    struct jobs jobs;
    assert_true(jobs_make(f.model, JOBS, 7, &jobs));
    paritas_fit_result results[JOBS] = {PARITAS_INIT(paritas_fit_result)}, again[JOBS] = {results[0]};
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, JOBS, jobs.jobs,
                                     SIZED(paritas_fit_answers, .results = results)));
    assert_true(watch.calls <= JOBS && (threads > 1 || watch.calls == JOBS));
    assert_false(watch.strange);
    watch = (struct watch){.caller = pthread_self(), .stop_after = 1};
    const paritas_status status =
        paritas_fit(f.context, f.model, NULL, JOBS, jobs.jobs, SIZED(paritas_fit_answers, .results = again));
    assert_true(watch.calls == 1 || (watch.calls == 0 && threads > 1));
    assert_int_equal(status, watch.calls ? PARITAS_CANCELLED : PARITAS_OK);
    assert_true(!watch.calls || paritas_error_message(f.context)[0] != '\0');
    watch = (struct watch){.caller = pthread_self()};
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, JOBS, jobs.jobs,
                                     SIZED(paritas_fit_answers, .results = again)));
    for (size_t k = 0; k < JOBS; k++)
        assert_memory_equal(&results[k].twice_nll, &again[k].twice_nll, sizeof results[k].twice_nll);
    jobs_free(&jobs);
    free_fixture(&f);
}

TEST(progress_comes_from_the_calling_thread_and_may_cancel)
{
    char *text = random_workspace(61, TRAIT_SETS);
    watch_fits(text, 1);
    for (int round = 0; round < 10; round++) watch_fits(text, CALLERS);
    free(text);
}

TEST(more_threads_than_jobs_or_processors_do_no_harm)
{
    static const unsigned counts[] = {1, 2, 7, 64, 256, 100000};
    char *text = random_workspace(62, TRAIT_SETS);
    struct results reference = {0};
    for (size_t k = 0; k < COUNT(counts); k++) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.threads = counts[k];
        options.lanes = 1;
        struct fixture f = make_fixture(text, &options, NULL);
        struct results results = {0};
        assert_true(results_collect(f.context, f.model, RESULTS_FIT, 62, &results));
        if (k == 0) {
            reference = results;
        } else {
            assert_int_equal(results.length, reference.length);
            assert_memory_equal(results.bytes, reference.bytes, reference.length);
            results_free(&results);
        }
        free_fixture(&f);
    }
    results_free(&reference);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_of_several_threads_share_a_model_and_answer_the_same_bits),
        cmocka_unit_test(progress_comes_from_the_calling_thread_and_may_cancel),
        cmocka_unit_test(more_threads_than_jobs_or_processors_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
