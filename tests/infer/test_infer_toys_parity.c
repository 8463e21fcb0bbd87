/* The same toys, bit by bit: in every build, width, number of threads, number of toys, shard and order, alone
 * or among thousands that take longer or shorter, in one run or in several that were cancelled. */
#define _GNU_SOURCE /* mkdtemp */
#include "fit/fit_testing.h"
#include "toys_testing.h"
#include "widths.h"

#include <ftw.h>
#include <unistd.h>

enum { TOYS = 1000 };

/* Random models by what their toys meet: few and many parameters, quasi-Newton for both hypotheses (10, 26,
 * 39), for one (30), for none (22, 40), and by Newton from every start (40). */
static const uint64_t models[] = {39, 26, 40, 22, 30, 10};
enum { SMALL_TRAITS = TRAIT_ALL & ~TRAIT_NO_POI };

static paritas_test_statistic statistic_of(uint64_t seed)
{
    return seed % 3 == 0   ? PARITAS_STATISTIC_Q0
           : seed % 3 == 1 ? PARITAS_STATISTIC_QTILDE
                           : PARITAS_STATISTIC_Q;
}

/* One start each: what differs between toys is their number of iterations, not of starts. Many starts are in
 * test_infer_toys_minima.c. */
static const paritas_job one_start = {.size = sizeof(paritas_job), .starts = 1};

static double mu_of(uint64_t seed)
{
    return seed % 3 == 0 ? 0.0 : 0.75;
}

/* A context of that build; NULL where the processor or the program lacks it. */
static paritas_context *open_build(const char *isa, unsigned lanes, unsigned threads)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = isa;
    options.lanes = lanes;
    options.threads = threads;
    return open_if_built(options);
}

/* Rows of a run with n toys of each hypothesis against those with `n_reference`, the first n of which they
 * are. */
static void assert_same_rows(const char *what, const struct taken *taken, size_t n,
                             const struct taken *reference, size_t n_reference)
{
    assert_int_equal(reference->n, 2 * n_reference);
    if (taken->n != 2 * n) fail_msg("%s: %zu rows for 2 x %zu toys", what, taken->n, n);
    for (int h = 0; h < 2; h++)
        for (size_t t = 0; t < n; t++) {
            const paritas_toy *got = &taken->rows[h * n + t], *wanted = &reference->rows[h * n_reference + t];
            if (memcmp(got, wanted, sizeof *got) != 0)
                fail_msg("%s: toy %llu of %g is (q %.17g, mu_hat %.17g, %.17g, %.17g, %s, %u), not toy %llu "
                         "of %g (q %.17g, mu_hat %.17g, %.17g, %.17g, %s, %u)",
                         what, (unsigned long long)got->toy, got->hypothesis, got->q, got->mu_hat,
                         got->twice_nll_free, got->twice_nll_fixed, paritas_fit_status_name(got->status),
                         got->iterations, (unsigned long long)wanted->toy, wanted->hypothesis, wanted->q,
                         wanted->mu_hat, wanted->twice_nll_free, wanted->twice_nll_fixed,
                         paritas_fit_status_name(wanted->status), wanted->iterations);
        }
}

/* All that a result says of the toys; what this call fitted is apart. */
static void assert_same_result(const paritas_hypotest_toys_result *a, const paritas_hypotest_toys_result *b)
{
    assert_memory_equal(a, b, offsetof(paritas_hypotest_toys_result, status));
    assert_int_equal(a->status, b->status);
    assert_memory_equal(&a->n_tested, &b->n_tested,
                        offsetof(paritas_hypotest_toys_result, tally) -
                            offsetof(paritas_hypotest_toys_result, n_tested));
    assert_memory_equal(a->tally.counts, b->tally.counts, sizeof a->tally.counts);
}

static void assert_same_methods(const paritas_hypotest_toys_result *a, const paritas_hypotest_toys_result *b)
{
    assert_memory_equal(&a->tally, &b->tally, sizeof a->tally);
}

struct reference {
    struct fixture f;
    uint64_t seed;
    struct taken rows;
    paritas_hypotest_toys_result result;
};

/* One lane, one thread, whole. */
static struct reference make_reference(uint64_t seed, const char *isa, size_t n)
{
    paritas_options context = PARITAS_OPTIONS_DEFAULT;
    context.isa = isa;
    context.lanes = context.threads = 1;
    char *text = random_workspace(seed, SMALL_TRAITS);
    struct reference r = {.f = make_fixture(text, &context, NULL), .seed = seed};
    const paritas_toys_options options = toys_options(n, seed);
    r.result =
        run_job_toys(r.f.context, r.f.model, &one_start, statistic_of(seed), mu_of(seed), &options, &r.rows);
    assert_int_equal(r.rows.n, 2 * n);
    free(text);
    return r;
}

static void free_reference(struct reference *r)
{
    free_taken(&r->rows);
    free_fixture(&r->f);
}

/* ---- builds and sizes ---- */

TEST(toys_are_the_same_in_every_build_width_and_number_of_threads)
{
    static const char *const builds[] = {"portable", "scalar", "avx2", "avx512", "neon"};
    static const unsigned lanes[] = {0, 1, 4, 8};
    uint64_t shared = 0, newton = 0, retried = 0, runs = 0;
    for (size_t k = 0; k < COUNT(models); k += SHARE > 1 ? 4 : 1) {
        const size_t n = k < 2 ? TOYS : TOYS / 4;
        struct reference r = make_reference(models[k], "portable", n);
        shared += r.result.tally.by_quasi_newton;
        newton += r.result.tally.by_newton;
        retried += r.result.tally.from_suggested_start + r.result.tally.from_the_other_fit +
                   r.result.tally.from_further_starts;
        for (size_t b = 0; b < COUNT(builds); b++)
            for (size_t w = 0; w < COUNT(lanes); w++)
                for (unsigned threads = 1; threads <= 3; threads++) {
                    if ((threads > 1 && lanes[w] % 4 != 0) || (b == 0 && threads != 2)) continue;
                    if (!width_is_apart(builds[b], lanes[w], 64)) continue;
                    paritas_context *context = open_build(builds[b], lanes[w], threads);
                    if (!context) continue;
                    char what[96];
                    snprintf(what, sizeof what, "model %u, %s, %u lanes, %u threads", (unsigned)models[k],
                             builds[b], lanes[w], threads);
                    const paritas_toys_options options = toys_options(n, models[k]);
                    struct taken taken;
                    const paritas_hypotest_toys_result result =
                        run_job_toys(context, r.f.model, &one_start, statistic_of(models[k]),
                                     mu_of(models[k]), &options, &taken);
                    assert_same_rows(what, &taken, n, &r.rows, n);
                    assert_same_result(&result, &r.result);
                    assert_same_methods(&result, &r.result);
                    free_taken(&taken);
                    paritas_close(context);
                    runs++;
                }
        free_reference(&r);
    }
    print_message("%lu runs: of each %lu toys by quasi-Newton, %lu by Newton, %lu from another start\n",
                  (unsigned long)runs, (unsigned long)shared, (unsigned long)newton, (unsigned long)retried);
    assert_true(runs > 0 && shared > 0);
    if (SHARE == 1) assert_true(newton > 0); /* few models need another start: see test_toys_plain */
}

/* Numbers around those of lanes, chunks and shares of a lane. */
TEST(a_run_of_fewer_toys_has_the_first_toys_of_a_longer_one)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 31, 33, 63, 64, 65, 255, 257, 999};
    for (size_t k = 0; k < COUNT(models); k += SHARE) {
        struct reference r = make_reference(models[k], NULL, TOYS);
        for (size_t s = 0; s < COUNT(sizes); s += SHARE > 1 ? 3 : 1) {
            paritas_context *context = open_build(NULL, s % 2 ? 0 : 8, 1 + s % 3);
            assert_non_null(context);
            char what[64];
            snprintf(what, sizeof what, "model %u, %zu toys", (unsigned)models[k], sizes[s]);
            const paritas_toys_options options = toys_options(sizes[s], models[k]);
            struct taken taken;
            const paritas_hypotest_toys_result result = run_job_toys(
                context, r.f.model, &one_start, statistic_of(models[k]), mu_of(models[k]), &options, &taken);
            assert_same_rows(what, &taken, sizes[s], &r.rows, TOYS);
            assert_int_equal(result.tally.fitted, 2 * sizes[s]);
            assert_int_equal(result.n_tested + result.n_other, result.tally.counts[PARITAS_FIT_CONVERGED]);
            free_taken(&taken);
            paritas_close(context);
        }
        free_reference(&r);
    }
}

/* Other seeds give other toys, in each of the seed's bits, and the two hypotheses have numbers of their
 * own. */
TEST(toys_depend_on_all_of_the_seed)
{
    struct reference r = make_reference(39, NULL, 20);
    for (int bit = 0; bit < 64; bit += 9) {
        const paritas_toys_options options = toys_options(20, 39 ^ (uint64_t)1 << bit);
        struct taken taken;
        run_job_toys(r.f.context, r.f.model, &one_start, statistic_of(39), mu_of(39), &options, &taken);
        size_t same = 0;
        for (size_t i = 0; i < taken.n; i++)
            same += taken.rows[i].twice_nll_free == r.rows.rows[i].twice_nll_free;
        assert_true(same < 20);
        free_taken(&taken);
    }
    free_reference(&r);
}

/* ---- shards ---- */

/* All shards of a run of n toys, in an order of chance, each in a context of its own kind, into one heap. */
static void collect_shards(const struct reference *r, size_t n, unsigned shards, struct random *random,
                           struct taken *taken)
{
    unsigned *order = make_array(shards, sizeof *order);
    paritas_context *contexts[] = {open_build(NULL, 0, 1), open_build(NULL, 4, 2), open_build(NULL, 1, 3)};
    for (unsigned i = 0; i < shards; i++) order[i] = i + 1;
    for (unsigned i = shards; i-- > 1;) {
        const unsigned j = random_below(random, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    uint64_t fitted = 0;
    *taken = (struct taken){0};
    for (unsigned i = 0; i < shards; i++) {
        paritas_context *context = contexts[i % COUNT(contexts)];
        assert_non_null(context);
        paritas_toys_options options = toys_options(n, r->seed);
        options.shard = order[i];
        options.shards = shards;
        options.take = keep_toys;
        options.user = taken;
        paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
        ASSERT_OK(context, paritas_hypotest_toys(context, r->f.model, &one_start, statistic_of(r->seed),
                                                 mu_of(r->seed), &options, &result));
        assert_true(result.tally.fitted == 2 * (n / shards) || result.tally.fitted == 2 * (n / shards + 1));
        fitted += result.tally.fitted;
    }
    assert_int_equal(fitted, 2 * n);
    sort_taken(taken);
    for (size_t c = 0; c < COUNT(contexts); c++) paritas_close(contexts[c]);
    free(order);
}

TEST(shards_have_the_toys_of_the_whole_run)
{
    static const struct {
        size_t n;
        unsigned shards;
    } cuts[] = {{TOYS, 7}, {257, 3}, {9, 8}, {7, 7}, {255, 2}};
    struct random random = {4};
    for (size_t k = 0; k < COUNT(models); k += SHARE > 1 ? 5 : 1) {
        struct reference r = make_reference(models[k], NULL, TOYS);
        for (size_t c = 0; c < COUNT(cuts); c++) {
            struct taken taken;
            char what[64];
            snprintf(what, sizeof what, "model %u, %zu toys in %u shards", (unsigned)models[k], cuts[c].n,
                     cuts[c].shards);
            collect_shards(&r, cuts[c].n, cuts[c].shards, &random, &taken);
            assert_same_rows(what, &taken, cuts[c].n, &r.rows, TOYS);
            free_taken(&taken);
        }
        free_reference(&r);
    }
}

/* ---- toys of very different length in one batch ---- */

/* Toys that keep the batch waiting, next to toys that are done at once: of all of them each has the answer
 * that it has when it is alone. */
TEST(a_toy_refitted_alone_gives_the_bits_it_had_in_the_batch)
{
    static const uint64_t seeds[] = {24, 41};
    enum { ALONE = 200 / SHARE };
    struct random random = {7};
    for (size_t k = 0; k < COUNT(seeds); k += SHARE > 1 ? 2 : 1) {
        struct reference r = make_reference(seeds[k], NULL, ALONE); /* one lane */
        struct taken batch, alone;
        paritas_context *context = open_build(NULL, 8, 2);
        assert_non_null(context);
        const paritas_toys_options options = toys_options(ALONE, seeds[k]);
        run_job_toys(context, r.f.model, &one_start, statistic_of(seeds[k]), mu_of(seeds[k]), &options,
                     &batch);
        unsigned least = batch.rows[0].iterations, most = least;
        for (size_t i = 0; i < batch.n; i++) {
            least = batch.rows[i].iterations < least ? batch.rows[i].iterations : least;
            most = batch.rows[i].iterations > most ? batch.rows[i].iterations : most;
        }
        print_message("model %u: %u to %u iterations\n", (unsigned)seeds[k], least, most);
        assert_true(most >= (SHARE > 1 ? 2 : 5) * least); /* fewer toys, less spread */
        assert_same_rows("8 lanes", &batch, ALONE, &r.rows, ALONE);
        collect_shards(&r, ALONE, ALONE, &random, &alone);
        assert_same_rows("alone", &alone, ALONE, &batch, ALONE);
        free_taken(&batch);
        free_taken(&alone);
        paritas_close(context);
        free_reference(&r);
    }
}

/* The data of each toy, fitted by paritas_fit from the suggested start: the minima are those of the toy's
 * row. These models have one minimum each, which a fit from there may miss, a toy's may not. */
TEST(the_minima_of_a_toy_are_those_of_a_fit_to_its_data)
{
    static const uint64_t seeds[] = {26, 22, 43, 47};
    enum { FITS = 400 / SHARE };
    for (size_t k = 0; k < COUNT(seeds); k += SHARE > 1 ? 3 : 1) {
        struct reference r = make_reference(seeds[k], NULL, FITS);
        const struct fixture *f = &r.f;
        const size_t n = f->n_parameters, poi = (size_t)paritas_model_poi_index(f->model);
        const double tested = mu_of(seeds[k]),
                     other = statistic_of(seeds[k]) == PARITAS_STATISTIC_Q0 ? 1.0 : 0.0;
        const paritas_toys_options options = toys_options(FITS, seeds[k]);
        double *start = make_array(n, sizeof *start);
        unsigned char *fixed = make_array(n, 1);
        memcpy(start, paritas_model_suggested_init(f->model), n * sizeof *start);
        memcpy(fixed, paritas_model_suggested_fixed(f->model), n);
        start[poi] = tested;
        fixed[poi] = 1;
        size_t lower = 0, higher = 0;
        for (int h = 0; h < TOY_HYPOTHESES; h++) {
            double *data =
                data_of_toys(f->context, f->model, statistic_of(seeds[k]), tested, &options, h, FITS, NULL);
            paritas_job *jobs = make_array(2 * FITS, sizeof *jobs);
            paritas_fit_result *results = sized_calloc(2 * FITS, sizeof *results);
            for (size_t t = 0; t < FITS; t++) {
                jobs[2 * t] = (paritas_job){.size = sizeof(paritas_job), .data = data + t * f->n_data};
                jobs[2 * t + 1] = (paritas_job){.size = sizeof(paritas_job),
                                                .data = data + t * f->n_data,
                                                .start = start,
                                                .fixed = fixed};
            }
            ASSERT_OK(f->context, paritas_fit(f->context, f->model, NULL, 2 * FITS, jobs,
                                              SIZED(paritas_fit_answers, .results = results)));
            const paritas_toy *rows =
                r.rows.rows + ((h == TOY_TESTED ? tested > other : other > tested) ? FITS : 0);
            for (size_t t = 0; t < FITS; t++) {
                assert_int_equal(rows[t].toy, t);
                assert_int_equal(rows[t].status, PARITAS_FIT_CONVERGED);
                assert_true(rows[t].twice_nll_fixed >= rows[t].twice_nll_free - 1.1e-8);
                const double ours[2] = {rows[t].twice_nll_free, rows[t].twice_nll_fixed};
                for (int c = 0; c < 2; c++) {
                    const paritas_fit_result *result = &results[2 * t + c];
                    if (result->status != PARITAS_FIT_CONVERGED) continue;
                    if (ours[c] > result->twice_nll + 1e-8) {
                        higher++;
                        print_message(
                            "model %u, %s fit of toy %zu of %g: %.17g is %.3g above the minimum %.17g\n",
                            (unsigned)seeds[k], c ? "conditional" : "free", t, rows[t].hypothesis, ours[c],
                            ours[c] - result->twice_nll, result->twice_nll);
                    }
                    lower += ours[c] < result->twice_nll - 1e-8;
                }
            }
            free(data);
            free(jobs);
            free(results);
        }
        print_message("model %u: %zu minima lower, %zu higher than from the suggested start\n",
                      (unsigned)seeds[k], lower, higher);
        assert_int_equal(higher, 0);
        assert_true(lower <= FITS / 25);
        free(start);
        free(fixed);
        free_reference(&r);
    }
}

/* ---- runs in pieces ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static char folder[] = "/tmp/paritas_toys_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *path_of(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
    return path;
}

static int keep_stored(void *user, const paritas_toy *row)
{
    return keep_toys(user, 1, row);
}

/* What a store has, as if it had been taken. */
static struct taken read_rows(paritas_context *context, const char *path)
{
    struct taken taken = {0};
    struct store *store;
    ASSERT_OK(context, store_open_read(context, path, &store));
    ASSERT_OK(context, store_read(store, keep_stored, &taken));
    store_close(store);
    sort_taken(&taken);
    return taken;
}

/* Random model 5 with its many parameters: a chunk is some thousand toys of one thread, more of several. */
enum { LONG = 8000 / SHARE };

struct stopper {
    struct taken taken;
    uint64_t calls, stop_after, last, total;
    bool backwards, beyond;
};

static int watch(void *user, uint64_t done, uint64_t total)
{
    struct stopper *s = user;
    if (total == 2 * LONG) { /* those before are the fits to the observed data and of the first toys */
        s->backwards |= done < s->last;
        s->last = done;
    }
    s->beyond |= done > total;
    s->total = total;
    return ++s->calls == s->stop_after;
}

/* One stretch of a run with a store; the answer's status. */
static paritas_status stretch(const struct reference *r, const char *path, unsigned threads, size_t takes,
                              uint64_t calls, struct stopper *s, paritas_hypotest_toys_result *result)
{
    paritas_options opened = PARITAS_OPTIONS_DEFAULT;
    opened.threads = threads;
    opened.progress = watch;
    opened.progress_user = s;
    paritas_context *context;
    assert_int_equal(paritas_open(&opened, &context), PARITAS_OK);
    s->calls = s->last = s->taken.calls = 0;
    s->stop_after = calls;
    s->taken.stop_after = takes;
    paritas_toys_options options = toys_options(LONG, r->seed);
    options.store = path;
    options.resume = 1;
    options.take = keep_toys;
    options.user = &s->taken;
    const paritas_status status = paritas_hypotest_toys(
        context, r->f.model, &one_start, statistic_of(r->seed), mu_of(r->seed), &options, result);
    if (status != PARITAS_OK) assert_true(paritas_error_message(context)[0] != '\0');
    paritas_close(context);
    return status;
}

static void assert_complete(const struct reference *r, const char *what, const char *path, struct stopper *s,
                            const paritas_hypotest_toys_result *result)
{
    struct taken stored = read_rows(r->f.context, path);
    sort_taken(&s->taken);
    assert_same_rows(what, &stored, LONG, &r->rows, LONG);
    assert_same_rows(what, &s->taken, LONG, &r->rows, LONG); /* each was handed out, and once */
    assert_same_result(result, &r->result);
    free_taken(&stored);
    free_taken(&s->taken);
}

TEST(a_run_cancelled_at_any_point_keeps_what_it_had_and_goes_on)
{
    struct reference r = make_reference(5, NULL, LONG);
    struct stopper s = {0};
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    char path[64];
    assert_int_equal(stretch(&r, path_of(path, "whole.db"), 1, 0, 0, &s, &result), PARITAS_OK);
    const uint64_t calls = s.calls;
    const size_t takes = s.taken.calls;
    assert_true(calls > 4 && takes >= (SHARE > 1 ? 2 : 4) && s.total == 2 * LONG && !s.beyond);
    assert_complete(&r, "whole", path, &s, &result);
    const uint64_t points[] = {1, 2, 3, calls / 5, calls / 3, calls / 2, calls - 1, calls};
    for (size_t k = 0; k < COUNT(points) && points[k] > 0; k += SHARE > 1 ? 3 : 1) {
        char name[32];
        snprintf(name, sizeof name, "progress%zu.db", k);
        path_of(path, name);
        assert_int_equal(stretch(&r, path, 1, 0, points[k], &s, &result), PARITAS_CANCELLED);
        const size_t first = s.taken.n;
        struct taken stored = read_rows(r.f.context, path);
        assert_int_equal(stored.n, first);
        free_taken(&stored);
        assert_int_equal(stretch(&r, path, 1 + k % 3, 0, 0, &s, &result), PARITAS_OK);
        assert_int_equal(result.tally.fitted, 2 * LONG - first);
        assert_complete(&r, name, path, &s, &result);
    }
    for (size_t k = 1; k <= takes; k += SHARE > 1 ? 2 : 1) {
        char name[32];
        snprintf(name, sizeof name, "take%zu.db", k);
        path_of(path, name);
        assert_int_equal(stretch(&r, path, 1, k, 0, &s, &result), PARITAS_CANCELLED);
        assert_int_equal(s.taken.calls, k);
        struct taken stored = read_rows(r.f.context, path);
        assert_int_equal(stored.n, s.taken.n); /* what was handed out is kept */
        free_taken(&stored);
        assert_int_equal(stretch(&r, path, 1 + k % 3, 0, 0, &s, &result), PARITAS_OK);
        assert_complete(&r, name, path, &s, &result);
        /* finished: nothing to do, the same answer */
        assert_int_equal(stretch(&r, path, 2, 0, 0, &s, &result), PARITAS_OK);
        assert_true(s.taken.n == 0 && result.tally.fitted == 0 && result.tally.iterations == 0);
        assert_same_result(&result, &r.result);
    }
    free_reference(&r);
}

TEST(progress_of_a_run_goes_up_to_its_end)
{
    struct reference r = make_reference(5, NULL, LONG);
    struct stopper s = {0};
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    char path[64];
    assert_int_equal(stretch(&r, path_of(path, "run.db"), 1, 0, 0, &s, &result), PARITAS_OK);
    assert_false(s.beyond);
    assert_false(s.backwards);
    assert_int_equal(s.last, 2 * LONG);
    free_taken(&s.taken);
    free_reference(&r);
}

/* Pooled shards name no shard: some of them are the whole run with holes, of any size, at any place, which a
 * resumed run fills. */
TEST(a_store_with_holes_is_filled)
{
    struct reference r = make_reference(5, NULL, LONG);
    struct stopper s = {0};
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    char path[64], parts[3][64];
    static const unsigned present[] = {2, 17, 95};
    const char *paths[COUNT(present)];
    for (size_t k = 0; k < COUNT(present); k++) {
        char name[32];
        snprintf(name, sizeof name, "part%zu.db", k);
        paritas_toys_options options = toys_options(LONG, r.seed);
        options.store = paths[k] = path_of(parts[k], name);
        options.shard = present[k];
        options.shards = 101;
        options.take = keep_toys;
        options.user = &s.taken;
        ASSERT_OK(r.f.context, paritas_hypotest_toys(r.f.context, r.f.model, &one_start, statistic_of(r.seed),
                                                     mu_of(r.seed), &options, &result));
    }
    ASSERT_OK(r.f.context, paritas_store_merge(r.f.context, COUNT(present), paths, path_of(path, "some.db")));
    const size_t before = s.taken.n;
    assert_true(before >= 2 * COUNT(present) * (LONG / 101) && before < LONG / 10);
    assert_int_equal(stretch(&r, path, 2, 0, 0, &s, &result), PARITAS_OK);
    assert_int_equal(result.tally.fitted, 2 * LONG - before);
    assert_complete(&r, "filled", path, &s, &result);
    free_reference(&r);
}

#define STORE_TEST(claim) cmocka_unit_test_setup_teardown(claim, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toys_are_the_same_in_every_build_width_and_number_of_threads),
        cmocka_unit_test(a_run_of_fewer_toys_has_the_first_toys_of_a_longer_one),
        cmocka_unit_test(toys_depend_on_all_of_the_seed),
        cmocka_unit_test(shards_have_the_toys_of_the_whole_run),
        cmocka_unit_test(a_toy_refitted_alone_gives_the_bits_it_had_in_the_batch),
        cmocka_unit_test(the_minima_of_a_toy_are_those_of_a_fit_to_its_data),
        STORE_TEST(a_run_cancelled_at_any_point_keeps_what_it_had_and_goes_on),
        STORE_TEST(progress_of_a_run_goes_up_to_its_end),
        STORE_TEST(a_store_with_holes_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
