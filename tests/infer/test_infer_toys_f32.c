/* Toys in f32, polished: their q is that of f64, within the contract's tolerance and share; and they are the
 * same toys, bit by bit, in every build, width, number of threads and shard. */
#define _GNU_SOURCE /* mkdtemp */
#include "fit/fit_testing.h"
#include "minimise/fit_tolerances.h"
#include "toys/toy_p_values.h"
#include "toys_testing.h"
#include "widths.h"

#include <unistd.h>

enum { TOYS = 1000 / SHARE, FEW = 150 };

static paritas_context *open_with(unsigned precision, const char *isa, unsigned lanes, unsigned threads,
                                  int no_polish)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.precision = precision;
    options.isa = isa;
    options.lanes = lanes;
    options.threads = threads;
    options.no_polish = no_polish;
    return open_if_built(options);
}

static struct taken toys_of(const struct fixture *f, paritas_context *context,
                            paritas_test_statistic statistic, double mu, const paritas_toys_options *options,
                            paritas_hypotest_toys_result *result)
{
    struct taken taken;
    *result = run_toys(context, f->model, statistic, mu, options, &taken);
    return taken;
}

/* The toys of one model in both precisions; how many have another q. */
static size_t count_others(const struct fixture *f, const char *name, paritas_test_statistic statistic,
                           double mu, size_t n)
{
    const paritas_toys_options options = toys_options(n, 11);
    paritas_hypotest_toys_result exact = PARITAS_INIT(paritas_hypotest_toys_result), single = exact;
    paritas_context *in_f64 = open_with(64, NULL, 0, 0, 0), *in_f32 = open_with(32, NULL, 0, 0, 0);
    struct taken a = toys_of(f, in_f64, statistic, mu, &options, &exact),
                 b = toys_of(f, in_f32, statistic, mu, &options, &single);
    size_t others = 0;
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        assert_true(a.rows[i].toy == b.rows[i].toy && a.rows[i].hypothesis == b.rows[i].hypothesis);
        if (a.rows[i].status == PARITAS_FIT_CONVERGED && b.rows[i].status != PARITAS_FIT_CONVERGED)
            fail_msg("%s: toy %llu has an answer in f64 and none in f32", name,
                     (unsigned long long)a.rows[i].toy);
        others +=
            !(fabs(a.rows[i].q - b.rows[i].q) <= POLISHED_Q) && a.rows[i].status == PARITAS_FIT_CONVERGED;
    }
    /* the methods are chosen alike */
    assert_true((exact.tally.by_quasi_newton > 0) == (single.tally.by_quasi_newton > 0));
    free_taken(&a);
    free_taken(&b);
    paritas_close(in_f64);
    paritas_close(in_f32);
    return others;
}

TEST(toys_of_random_models_have_the_q_of_f64)
{
    size_t others = 0, all = 0;
    for (uint64_t seed = 20; seed < 32; seed++) {
        char *text = random_workspace(seed, TRAIT_ALL & ~(unsigned)(TRAIT_NO_POI | TRAIT_FREE_SHAPE)),
             name[32];
        assert_non_null(text);
        snprintf(name, sizeof name, "workspace %d", (int)seed);
        struct fixture f = make_fixture(text, NULL, NULL);
        others += count_others(&f, name, seed % 2 ? PARITAS_STATISTIC_QTILDE : PARITAS_STATISTIC_Q0,
                               seed % 2 ? 0.75 : 0.0, FEW);
        all += 2 * FEW;
        free_fixture(&f);
        free(text);
    }
    assert_true((double)others <= (1.0 - POLISHED_TOYS) * (double)all);
}

TEST(toys_of_published_analyses_have_the_q_of_f64)
{
    size_t compared = 0;
    for (size_t k = 0; k < n_published; k += k >= 2 && k < 11 ? 9 : 1) {
        struct fixture f;
        if (!make_published(&published[k], NULL, &f)) continue;
        if (paritas_model_poi_index(f.model) >= 0) {
            const size_t others = count_others(&f, published[k].name, PARITAS_STATISTIC_QTILDE, 1.0, TOYS);
            if ((double)others > (1.0 - POLISHED_TOYS) * 2.0 * TOYS)
                fail_msg("%s: %zu of %d toys have another q than in f64", published[k].name, others,
                         2 * TOYS);
            compared++;
        }
        free_fixture(&f);
    }
    assert_true(compared > 0); /* the shipped ones */
}

TEST(toys_in_f32_are_the_same_in_every_build_width_and_shard)
{
    static const char *const builds[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const unsigned lanes[] = {0, 1, 8, 16};
    static const uint64_t models[] = {40, 26}; /* by Newton and by quasi-Newton */
    for (size_t m = 0; m < COUNT(models); m++)
        for (int no_polish = 0; no_polish < 2; no_polish++) {
            char *text = random_workspace(models[m], TRAIT_ALL & ~(unsigned)TRAIT_NO_POI);
            assert_non_null(text);
            struct fixture f = make_fixture(text, NULL, NULL);
            paritas_toys_options options = toys_options(48, 3);
            paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
            paritas_context *context = open_with(32, "portable", 1, 1, no_polish);
            assert_non_null(context);
            struct taken reference = toys_of(&f, context, PARITAS_STATISTIC_QTILDE, 0.75, &options, &result);
            paritas_close(context);
            for (size_t b = 0; b < COUNT(builds); b++)
                for (size_t w = 0; w < COUNT(lanes); w++) {
                    if (!width_is_apart(builds[b], lanes[w], 32)) continue;
                    context = open_with(32, builds[b], lanes[w], 1 + (unsigned)w % 2, no_polish);
                    if (!context) continue;
                    struct taken taken =
                        toys_of(&f, context, PARITAS_STATISTIC_QTILDE, 0.75, &options, &result);
                    assert_int_equal(taken.n, reference.n);
                    for (size_t i = 0; i < taken.n; i++)
                        if (memcmp(&taken.rows[i], &reference.rows[i], sizeof *taken.rows) != 0)
                            fail_msg("model %d, %s with %u lanes: toy %llu has q = %.17g, not %.17g",
                                     (int)models[m], builds[b], lanes[w],
                                     (unsigned long long)taken.rows[i].toy, taken.rows[i].q,
                                     reference.rows[i].q);
                    free_taken(&taken);
                    paritas_close(context);
                }
            context = open_with(32, NULL, 0, 1, no_polish);
            options.shard = 2;
            options.shards = 3;
            struct taken part = toys_of(&f, context, PARITAS_STATISTIC_QTILDE, 0.75, &options, &result);
            assert_true(part.n > 0 && part.n < reference.n);
            for (size_t i = 0, k = 0; i < part.n; i++) {
                while (reference.rows[k].toy != part.rows[i].toy ||
                       reference.rows[k].hypothesis != part.rows[i].hypothesis)
                    k++;
                assert_memory_equal(&part.rows[i], &reference.rows[k], sizeof *part.rows);
            }
            free_taken(&part);
            free_taken(&reference);
            paritas_close(context);
            free_fixture(&f);
            free(text);
        }
}

/* ---- fits that are not polished ---- */

TEST(statistics_of_raw_fits_are_equal_within_their_tolerance)
{
    for (int raw = 0; raw < 2; raw++) {
        paritas_context *context = open_with(32, NULL, 0, 1, raw);
        struct toy_pool pool;
        toy_pool_open(&pool, context, raw, PARITAS_STATISTIC_QTILDE, 1.0);
        for (int h = 0; h < TOY_HYPOTHESES; h++)
            for (int i = 0; i < 4; i++) {
                const double q = 1.0 - 0.4 * RAW_SAME_MINIMUM * i;
                const paritas_toy toy = {.mu = 1.0, .q = q, .twice_nll_fixed = q};
                assert_int_equal(toy_pool_add(&pool, h, &toy), PARITAS_OK);
            }
        paritas_hypotest_toys_result result = {.q = 1.0};
        assert_int_equal(toy_pool_result(&pool, &result), PARITAS_OK);
        assert_true(result.clsb == (raw ? 0.75 : 0.25) && result.clb == result.clsb);
        toy_pool_close(&pool);
        paritas_close(context);
    }
}

/* Half of the toys of one run into a store. */
static paritas_status store_half(const struct fixture *f, paritas_context *context, const char *path,
                                 unsigned shard, int resume, paritas_hypotest_toys_result *result)
{
    paritas_toys_options options = toys_options(40, 3);
    options.store = path;
    options.shard = shard;
    options.shards = 2;
    options.resume = resume;
    return paritas_hypotest_toys(context, f->model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &options, result);
}

TEST(raw_and_polished_toys_are_different_runs)
{
    char folder[] = "/tmp/paritas_raw_XXXXXX", paths[3][64];
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < 3; k++) snprintf(paths[k], sizeof paths[k], "%s/%d.db", folder, k);
    const char *const shards[] = {paths[0], paths[1]};
    char *text = random_workspace(26, TRAIT_ALL & ~(unsigned)TRAIT_NO_POI);
    struct fixture f = make_fixture(text, NULL, NULL);
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result), read = result;
    /* f64 has nothing to polish: one run, whatever is asked */
    for (int f64 = 0; f64 < 2; f64++) {
        paritas_context *polished = open_with(f64 ? 64 : 32, NULL, 0, 1, 0),
                        *raw = open_with(f64 ? 64 : 32, NULL, 0, 1, 1);
        const paritas_status expected = f64 ? PARITAS_OK : PARITAS_INVALID_ARGUMENT;
        const char *const reason = "precision = f32 raw";
        ASSERT_OK(polished, store_half(&f, polished, paths[0], 1, 0, &result));
        ASSERT_OK(raw, store_half(&f, raw, paths[1], 2, 0, &result));
        assert_int_equal(paritas_store_merge(polished, 2, shards, paths[2]),
                         f64 ? PARITAS_OK : PARITAS_INVALID_INPUT);
        if (!f64) assert_non_null(strstr(paritas_error_message(polished), reason));
        assert_int_equal(store_half(&f, raw, paths[0], 1, 1, &result), expected);
        if (!f64) assert_non_null(strstr(paritas_error_message(raw), reason));
        assert_int_equal(store_half(&f, polished, paths[1], 2, 1, &result), expected);
        /* what reads it later, in whatever precision, answers as the run did */
        ASSERT_OK(raw, store_half(&f, raw, paths[1], 2, 1, &result));
        ASSERT_OK(f.context, paritas_store_hypotest(f.context, paths[1], &read));
        assert_true(read.clsb == result.clsb && read.clb == result.clb);
        assert_memory_equal(read.cls_exp, result.cls_exp, sizeof read.cls_exp);
        paritas_close(polished);
        paritas_close(raw);
        for (int k = 0; k < 3; k++) unlink(paths[k]);
    }
    free_fixture(&f);
    free(text);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toys_of_random_models_have_the_q_of_f64),
        cmocka_unit_test(toys_of_published_analyses_have_the_q_of_f64),
        cmocka_unit_test(toys_in_f32_are_the_same_in_every_build_width_and_shard),
        cmocka_unit_test(statistics_of_raw_fits_are_equal_within_their_tolerance),
        cmocka_unit_test(raw_and_polished_toys_are_different_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
