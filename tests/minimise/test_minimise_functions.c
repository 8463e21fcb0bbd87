/* Minimisers on functions whose minima are known, without any model family; every shape of vector with the
 * same bits. */
#include "common.h"
#include "fit/workspaces.h"
#include "minimise_variants.h"
#include "minimise_variant.h"

#define DECLARE(name, isa) extern const struct minimise_variant name;
MINIMISE_VARIANTS(DECLARE)

enum isa { portable, avx2, avx512 };
static const struct {
    const struct minimise_variant *variant;
    enum isa isa;
} variants[] = {
#define ENTRY(name, isa) {&name, isa},
    MINIMISE_VARIANTS(ENTRY)};

static int runs_here(enum isa isa)
{
#if defined(__x86_64__)
    if (isa == avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return isa == portable;
}

/* More jobs than lanes, and no multiple of them. */
enum { JOBS = 13, LIMIT = 2000 };
#define TOLERANCE 1e-14

struct list {
    enum function function;
    unsigned n;
    double rows[JOBS][ROWS][SLOTS], answers[JOBS][ANSWER];
};

/* Jobs on n variables with bounds [lower, upper] and starts drawn between `from` and `to`. */
static struct list make_list(enum function function, unsigned n, double lower, double upper, double from,
                             double to)
{
    struct list list = {.function = function, .n = n};
    struct random random = {n + 17};
    for (size_t k = 0; k < JOBS; k++)
        for (size_t i = 0; i < SLOTS; i++) {
            const int is_free = i < n;
            list.rows[k][ROW_START][i] = is_free ? random_uniform(&random, from, to) : 1.0;
            list.rows[k][ROW_LOWER][i] = is_free ? lower : 1.0;
            list.rows[k][ROW_UPPER][i] = is_free ? upper : 1.0;
            list.rows[k][ROW_FREE][i] = is_free;
            list.rows[k][ROW_UNIT][i] = list.rows[k][ROW_SLOPE][i] = list.rows[k][ROW_WEIGHT][i] = 1.0;
        }
    return list;
}

/* Runs the list by every variant that this processor has, by L-BFGS-B or, with `members`, by differential
 * evolution; all must answer with the bits of the first. */
static void run_by(struct list *list, unsigned limit, unsigned members, uint64_t seed)
{
    for (size_t v = 0; v < COUNT(variants); v++) {
        const struct minimise_variant *variant = variants[v].variant;
        if (!runs_here(variants[v].isa)) continue;
        const size_t bytes = (variant->slab + members * variant->member + 63) / 64 * 64;
        double *slab = aligned_alloc(64, bytes), answers[JOBS][ANSWER];
        assert_non_null(slab);
        /* what an earlier launch left */
        for (size_t i = 0; i < bytes / sizeof *slab; i++) slab[i] = (double)i;
        if (members)
            variant->de(list->function, list->n, JOBS, &list->rows[0][0][0], &answers[0][0], TOLERANCE, limit,
                        slab, members, seed);
        else
            variant->lbfgsb(list->function, list->n, JOBS, &list->rows[0][0][0], &answers[0][0], TOLERANCE,
                            limit, slab);
        free(slab);
        if (v == 0) memcpy(list->answers, answers, sizeof answers);
        if (memcmp(list->answers, answers, sizeof answers) != 0)
            fail_msg("%s answers other bits than %s", variant->name, variants[0].variant->name);
    }
}

static void run_list(struct list *list, unsigned limit)
{
    run_by(list, limit, 0, 0);
}

static void assert_converged(const struct list *list, size_t k)
{
    if (list->answers[k][SLOTS] != 0.0)
        fail_msg("job %zu: status %g after %g iterations at an EDM of %g", k, list->answers[k][SLOTS],
                 list->answers[k][SLOTS + 3], list->answers[k][SLOTS + 2]);
    for (size_t i = 0; i < SLOTS; i++) {
        const double x = list->answers[k][i];
        assert_true(x >= list->rows[k][ROW_LOWER][i] && x <= list->rows[k][ROW_UPPER][i]);
    }
}

TEST(rosenbrock_has_its_minimum_at_one)
{
    for (unsigned n = 2; n <= 10; n += 8) {
        struct list list = make_list(ROSENBROCK, n, -100.0, 100.0, 0.2, 2.0);
        list.rows[0][ROW_START][0] = -1.2; /* the classical start */
        list.rows[0][ROW_START][1] = 1.0;
        run_list(&list, LIMIT);
        for (size_t k = 0; k < JOBS; k++) {
            assert_converged(&list, k);
            /* beyond three dimensions there is a second minimum near x_0 = -1 */
            if (n > 3 && list.answers[k][0] < 0.0) continue;
            for (size_t i = 0; i < n; i++) ASSERT_CLOSE(list.answers[k][i], 1.0, 1e-6);
        }
    }
}

/* With x_0 at most 1/2 the first terms give x_1 = 1/4 and 1/4 for the value. */
TEST(rosenbrock_under_a_bound_ends_on_it)
{
    struct list list = make_list(ROSENBROCK, 2, -2.0, 0.5, -1.5, 0.5);
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        assert_true(list.answers[k][0] == 0.5);
        ASSERT_CLOSE(list.answers[k][1], 0.25, 1e-7);
        ASSERT_CLOSE(list.answers[k][SLOTS + 1], 0.25, 1e-12);
    }
}

/* Ten variables, all at most 0.8 except where a bound below 1 is the least: the gradient pushes only against
 * bounds. */
TEST(rosenbrock_of_ten_under_bounds_is_stationary)
{
    struct list list = make_list(ROSENBROCK, 10, 0.1, 0.8, 0.1, 0.8);
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) {
        const double *x = list.answers[k];
        size_t held = 0;
        assert_converged(&list, k);
        for (size_t i = 0; i < 10; i++) {
            double g = 0.0;
            if (i < 9) g += -400.0 * (x[i + 1] - x[i] * x[i]) * x[i] - 2.0 * (1.0 - x[i]);
            if (i > 0) g += 200.0 * (x[i] - x[i - 1] * x[i - 1]);
            held += x[i] == 0.1 || x[i] == 0.8;
            if (x[i] == 0.1)
                assert_true(g >= 0.0);
            else if (x[i] == 0.8)
                assert_true(g <= 0.0);
            else
                ASSERT_CLOSE(g, 0.0, 1e-6);
        }
        assert_true(held > 0);
    }
}

TEST(beale_has_its_minimum_at_three_and_a_half)
{
    struct list list = make_list(BEALE, 2, -4.5, 4.5, 0.5, 3.0);
    /* the valley's own side */
    for (size_t k = 0; k < JOBS; k++) list.rows[k][ROW_START][1] = 0.2 * list.rows[k][ROW_START][1];
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        ASSERT_CLOSE(list.answers[k][0], 3.0, 1e-6);
        ASSERT_CLOSE(list.answers[k][1], 0.5, 1e-6);
    }
}

/* A convex quadratic whose solution is chosen: a third of the variables on each bound, with multipliers of
 * the right sign. The slopes follow from the conditions of optimality, which for a convex function are
 * sufficient. */
static struct list chosen_quadratic(double solution[JOBS][SLOTS], double spread)
{
    struct list list = make_list(QUADRATIC, SLOTS, -1.0, 2.0, -1.0, 2.0);
    struct random random = {5};
    for (size_t k = 0; k < JOBS; k++) {
        double *x = solution[k], multiplier[SLOTS];
        for (size_t i = 0; i < SLOTS; i++) {
            list.rows[k][ROW_WEIGHT][i] =
                1.0 + (i % 4 == 1 ? spread : 0.0) + random_uniform(&random, 0.0, 1.0);
            list.rows[k][ROW_UNIT][i] = 1.0 / sqrt(list.rows[k][ROW_WEIGHT][i]);
            const unsigned at = random_below(&random, 3);
            x[i] = at == 0 ? -1.0 : at == 1 ? 2.0 : random_uniform(&random, -0.9, 1.9);
            multiplier[i] = at == 2 ? 0.0 : (at == 0 ? 1.0 : -1.0) * random_uniform(&random, 0.1, 3.0);
        }
        for (size_t i = 0; i < SLOTS; i++)
            list.rows[k][ROW_SLOPE][i] =
                list.rows[k][ROW_WEIGHT][i] * x[i] -
                0.25 * ((i > 0 ? x[i - 1] : 0.0) + (i + 1 < SLOTS ? x[i + 1] : 0.0)) - multiplier[i];
    }
    return list;
}

TEST(a_quadratic_ends_on_the_bounds_that_its_multipliers_name)
{
    static const double spreads[] = {0.0, 1e8};
    for (size_t c = 0; c < COUNT(spreads); c++) {
        double solution[JOBS][SLOTS];
        struct list list = chosen_quadratic(solution, spreads[c]);
        run_list(&list, LIMIT);
        for (size_t k = 0; k < JOBS; k++) {
            assert_converged(&list, k);
            for (size_t i = 0; i < SLOTS; i++) {
                if (solution[k][i] == -1.0 || solution[k][i] == 2.0)
                    assert_true(list.answers[k][i] == solution[k][i]);
                else
                    ASSERT_CLOSE(list.answers[k][i], solution[k][i], 1e-6);
            }
        }
    }
}

TEST(a_slot_that_is_not_free_stays)
{
    struct list list = make_list(QUADRATIC, SLOTS, -10.0, 10.0, -3.0, 3.0);
    for (size_t k = 0; k < JOBS; k++) list.rows[k][ROW_FREE][k] = 0.0;
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        assert_true(list.answers[k][k] == list.rows[k][ROW_START][k]);
    }
}

/* The starts are small and the first steps long: trials fall outside the domain. */
TEST(the_edge_of_the_domain_is_no_obstacle)
{
    struct list list = make_list(BARRIER, 6, -INFINITY, INFINITY, 0.05, 40.0);
    struct random random = {3};
    for (size_t k = 0; k < JOBS; k++)
        for (size_t i = 0; i < 6; i++) {
            list.rows[k][ROW_SLOPE][i] = random_uniform(&random, 0.5, 5.0);
            list.rows[k][ROW_UNIT][i] = 8.0;
        }
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        for (size_t i = 0; i < 6; i++) ASSERT_CLOSE(list.answers[k][i], list.rows[k][ROW_SLOPE][i], 1e-5);
    }
}

TEST(a_start_outside_the_domain_is_not_finite)
{
    struct list list = make_list(BARRIER, 3, -1.0, 5.0, 1.0, 3.0);
    list.rows[4][ROW_START][1] = -0.5;
    run_list(&list, LIMIT);
    for (size_t k = 0; k < JOBS; k++) assert_true(list.answers[k][SLOTS] == (k == 4 ? 3.0 : 0.0));
}

TEST(too_few_iterations_are_said_so)
{
    struct list list = make_list(ROSENBROCK, 10, -100.0, 100.0, -2.0, 0.0);
    run_list(&list, 3);
    for (size_t k = 0; k < JOBS; k++) {
        assert_true(list.answers[k][SLOTS] == 1.0);
        assert_true(list.answers[k][SLOTS + 3] <= 3.0);
    }
}

/* ---- one step of L-BFGS-B against its definition with whole matrices ---- */

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < SLOTS; i++) sum += a[i] * b[i];
    return sum;
}

static void times(double m[SLOTS][SLOTS], const double *v, double *to)
{
    for (size_t i = 0; i < SLOTS; i++) to[i] = dot(m[i], v);
}

/* theta I, updated by the BFGS formula with one pair after the other. */
static void whole_matrix(double b[SLOTS][SLOTS], double theta, size_t pairs, double (*s)[SLOTS],
                         double (*y)[SLOTS])
{
    for (size_t i = 0; i < SLOTS; i++)
        for (size_t j = 0; j < SLOTS; j++) b[i][j] = i == j ? theta : 0.0;
    for (size_t k = 0; k < pairs; k++) {
        double bs[SLOTS];
        times(b, s[k], bs);
        const double sbs = dot(s[k], bs), sy = dot(s[k], y[k]);
        for (size_t i = 0; i < SLOTS; i++)
            for (size_t j = 0; j < SLOTS; j++) b[i][j] += y[k][i] * y[k][j] / sy - bs[i] * bs[j] / sbs;
    }
}

/* The first minimum of g z + z B z / 2 on the way of -g that bends at the bounds: segment by segment, each
 * with its own whole products. */
static void cauchy_of(double b[SLOTS][SLOTS], const double *g, const double *lower, const double *upper,
                      double *z)
{
    double end[SLOTS], behind = 0.0;
    for (size_t i = 0; i < SLOTS; i++) {
        z[i] = 0.0;
        end[i] = g[i] < 0.0 ? upper[i] / -g[i] : lower[i] / -g[i];
    }
    for (;;) {
        double d[SLOTS], bd[SLOTS], next = INFINITY;
        for (size_t i = 0; i < SLOTS; i++) {
            d[i] = end[i] > behind ? -g[i] : 0.0;
            if (end[i] > behind && end[i] < next) next = end[i];
        }
        times(b, d, bd);
        const double first = dot(g, d) + dot(z, bd), second = dot(d, bd), step = -first / second;
        if (!(first < 0.0)) return;
        const double part = step < next - behind ? step : next - behind;
        for (size_t i = 0; i < SLOTS; i++)
            z[i] = end[i] <= behind + part && d[i] != 0.0 ? (g[i] < 0.0 ? upper[i] : lower[i])
                                                          : z[i] + part * d[i];
        if (step < next - behind) return;
        behind = next;
    }
}

/* From there to the minimum over what lies on no bound (Gauss's elimination), into the bounds. */
static void subspace_of(double b[SLOTS][SLOTS], const double *g, const double *lower, const double *upper,
                        const double *z, double *to)
{
    double m[SLOTS][SLOTS + 1], bz[SLOTS];
    times(b, z, bz);
    for (size_t i = 0; i < SLOTS; i++) {
        const int inside = z[i] > lower[i] && z[i] < upper[i];
        for (size_t j = 0; j < SLOTS; j++)
            m[i][j] = inside && z[j] > lower[j] && z[j] < upper[j] ? b[i][j] : i == j;
        m[i][SLOTS] = inside ? -(g[i] + bz[i]) : 0.0;
    }
    for (size_t k = 0; k < SLOTS; k++)
        for (size_t i = 0; i < SLOTS; i++) {
            const double ratio = i == k ? 0.0 : m[i][k] / m[k][k];
            for (size_t j = k; j <= SLOTS; j++) m[i][j] -= ratio * m[k][j];
        }
    double part = 1.0;
    for (size_t i = 0; i < SLOTS; i++) {
        const double d = m[i][SLOTS] / m[i][i], x = z[i] + d;
        to[i] = x < lower[i] ? lower[i] : x > upper[i] ? upper[i] : x;
        if (to[i] != x && (to[i] - z[i]) / d < part) part = (to[i] - z[i]) / d;
    }
    if (dot(to, g) > 0.0)
        for (size_t i = 0; i < SLOTS; i++) to[i] = z[i] + part * m[i][SLOTS] / m[i][i];
}

TEST(a_step_is_that_of_the_whole_matrices)
{
    enum { PAIRS = 8, MOST = 11 };
    struct random random = {23};
    const struct minimise_variant *variant = variants[0].variant;
    double *slab = aligned_alloc(64, (variant->slab + 63) / 64 * 64);
    assert_non_null(slab);
    memset(slab, 0, variant->slab);
    size_t on_bound = 0, clipped = 0;
    for (size_t trial = 0; trial < 400; trial++) {
        double a[SLOTS][SLOTS] = {{0}}, s[MOST][SLOTS], y[MOST][SLOTS], b[SLOTS][SLOTS];
        double g[SLOTS], lower[SLOTS], upper[SLOTS], cauchy[SLOTS], step[SLOTS], z[SLOTS], x[SLOTS];
        const size_t pairs = trial % (MOST + 1), kept = pairs < PAIRS ? pairs : PAIRS;
        for (size_t k = 0; k < 6; k++) { /* a matrix of some coupling; the pairs are its products */
            double v[SLOTS];
            for (size_t i = 0; i < SLOTS; i++) v[i] = random_normal(&random);
            for (size_t i = 0; i < SLOTS; i++)
                for (size_t j = 0; j < SLOTS; j++)
                    a[i][j] +=
                        0.3 * v[i] * v[j] + (i == j && k == 0 ? random_uniform(&random, 0.5, 2.0) : 0.0);
        }
        const double reach = trial % 3 == 0 ? 1e3 : trial % 3 == 1 ? 1.0 : 0.1;
        for (size_t k = 0; k < pairs; k++) {
            for (size_t i = 0; i < SLOTS; i++) s[k][i] = random_normal(&random);
            times(a, s[k], y[k]);
        }
        for (size_t i = 0; i < SLOTS; i++) {
            g[i] = random_normal(&random);
            /* some stand on their bound */
            lower[i] = i % 5 == 4 ? 0.0 : -reach * random_uniform(&random, 0.1, 1.0);
            upper[i] = reach * random_uniform(&random, 0.1, 1.0);
        }
        const double theta = pairs ? dot(y[pairs - 1], y[pairs - 1]) / dot(s[pairs - 1], y[pairs - 1]) : 1.0;
        assert_int_equal(variant->step((uint32_t)pairs, s, y, theta, g, lower, upper, cauchy, step, slab), 0);
        whole_matrix(b, theta, kept, s + pairs - kept, y + pairs - kept);
        cauchy_of(b, g, lower, upper, z);
        subspace_of(b, g, lower, upper, z, x);
        for (size_t i = 0; i < SLOTS; i++) {
            ASSERT_CLOSE(cauchy[i], z[i], 1e-9);
            ASSERT_CLOSE(step[i], x[i], 1e-8);
            on_bound += z[i] == lower[i] || z[i] == upper[i];
            clipped += (x[i] == lower[i] || x[i] == upper[i]) && z[i] != x[i];
        }
    }
    free(slab);
    assert_true(on_bound > 500 && clipped > 100);
}

/* ---- differential evolution ---- */

/* Known answers of its authors (Random123, kat_vectors). */
TEST(philox_words_are_those_of_its_authors)
{
    static const uint32_t known[3][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                          {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                           0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                          {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                                           0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (size_t k = 0; k < COUNT(known); k++) {
        uint32_t words[4];
        variants[0].variant->philox(known[k], known[k] + 4, words);
        assert_memory_equal(words, known[k] + 6, sizeof words);
    }
}

/* A thousand minima lie between the bounds; the starts lie anywhere. */
TEST(a_population_finds_the_lowest_of_many_minima)
{
    static const enum function rough[] = {RASTRIGIN, ACKLEY};
    for (size_t c = 0; c < COUNT(rough); c++) {
        const double reach = rough[c] == RASTRIGIN ? 5.12 : 32.0;
        struct list list = make_list(rough[c], 5, -reach, reach, -reach, reach);
        for (size_t k = 0; k < JOBS; k++)
            for (size_t i = 0; i < 5; i++) list.rows[k][ROW_UNIT][i] = 0.5 * reach;
        run_by(&list, LIMIT, 100, 7);
        for (size_t k = 0; k < JOBS; k++) {
            assert_converged(&list, k);
            for (size_t i = 0; i < 5; i++) ASSERT_CLOSE(list.answers[k][i], 0.0, 1e-5);
        }
    }
}

TEST(a_population_agrees_with_the_known_minima)
{
    struct list list = make_list(ROSENBROCK, 2, -2.0, 0.5, -1.5, 0.5);
    run_by(&list, LIMIT, 30, 1);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        assert_true(list.answers[k][0] == 0.5);
        ASSERT_CLOSE(list.answers[k][1], 0.25, 1e-6);
    }
    double solution[JOBS][SLOTS];
    list = chosen_quadratic(solution, 0.0);
    run_by(&list, LIMIT, 100, 1);
    for (size_t k = 0; k < JOBS; k++) {
        assert_converged(&list, k);
        for (size_t i = 0; i < SLOTS; i++) ASSERT_CLOSE(list.answers[k][i], solution[k][i], 1e-5);
    }
}

TEST(a_population_keeps_what_is_not_free_and_says_where_it_ends)
{
    struct list list = make_list(QUADRATIC, SLOTS, -10.0, 10.0, -3.0, 3.0);
    for (size_t k = 0; k < JOBS; k++) list.rows[k][ROW_FREE][k] = 0.0;
    run_by(&list, 5, 20, 3);
    for (size_t k = 0; k < JOBS; k++) {
        assert_true(list.answers[k][k] == list.rows[k][ROW_START][k]);
        assert_true(list.answers[k][SLOTS] == 1.0 && list.answers[k][SLOTS + 3] == 5.0);
    }
    struct list other = list;
    run_by(&other, 5, 20, 4);
    assert_memory_not_equal(list.answers, other.answers, sizeof list.answers); /* another seed, another way */
}

/* A job's answer does not depend on its place in a list. */
TEST(a_population_answers_a_job_alone_as_in_a_list)
{
    struct list list = make_list(ACKLEY, 5, -10.0, 10.0, -10.0, 10.0), reversed = list;
    for (size_t k = 0; k < JOBS; k++) memcpy(reversed.rows[k], list.rows[JOBS - 1 - k], sizeof list.rows[k]);
    run_by(&list, 60, 20, 11);
    run_by(&reversed, 60, 20, 11);
    for (size_t k = 0; k < JOBS; k++)
        assert_memory_equal(list.answers[k], reversed.answers[JOBS - 1 - k], sizeof list.answers[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rosenbrock_has_its_minimum_at_one),
        cmocka_unit_test(rosenbrock_under_a_bound_ends_on_it),
        cmocka_unit_test(rosenbrock_of_ten_under_bounds_is_stationary),
        cmocka_unit_test(beale_has_its_minimum_at_three_and_a_half),
        cmocka_unit_test(a_quadratic_ends_on_the_bounds_that_its_multipliers_name),
        cmocka_unit_test(a_slot_that_is_not_free_stays),
        cmocka_unit_test(the_edge_of_the_domain_is_no_obstacle),
        cmocka_unit_test(a_start_outside_the_domain_is_not_finite),
        cmocka_unit_test(too_few_iterations_are_said_so),
        cmocka_unit_test(a_step_is_that_of_the_whole_matrices),
        cmocka_unit_test(philox_words_are_those_of_its_authors),
        cmocka_unit_test(a_population_finds_the_lowest_of_many_minima),
        cmocka_unit_test(a_population_agrees_with_the_known_minima),
        cmocka_unit_test(a_population_keeps_what_is_not_free_and_says_where_it_ends),
        cmocka_unit_test(a_population_answers_a_job_alone_as_in_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
