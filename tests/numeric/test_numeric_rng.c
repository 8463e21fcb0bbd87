/* Random numbers: known answers, distributions against exact probabilities, and the same bits from every
 * shape of vector. Draws come from fixed seeds, so a p-value is the same on every run; one below 1e-6 is
 * taken for a mistake. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#include "share.h"
#include "statistics.h"
#include "variants_here.h"

#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "numeric/math.h"
#include "numeric/rng.h"

enum { DRAWS = 1200000 / SHARE, BLOCK = 4096, CELLS = 64 };
#define P_LEAST 1e-6

static const double rates[] = {1e-300, 1e-10, 0.1,   1.0,    3.0, 9.99, 10.0, 10.01,
                               12.5,   30.0,  100.0, 1000.0, 1e6, 1e9,  1e12};

/* The variant that draws: the last, and widest, of f64 that runs here. */
static const struct numeric_variant *fastest(void)
{
    const struct numeric_variant *last = NULL;
    for (size_t v = 0; v < COUNT(variants); v++)
        if (variants[v].variant->f64 && runs_here(variants[v].isa)) last = variants[v].variant;
    assert_non_null(last);
    return last;
}

static double *aligned(size_t n)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, n * sizeof(double)) != 0) fail_msg("out of memory");
    return p;
}

/* ---- Philox and uniform numbers ---- */

/* Answers from the authors' library Random123, file kat_vectors. */
TEST(philox_gives_the_published_answers)
{
    static const struct {
        u32 counter[4], key[2], words[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t v = 0; v < COUNT(variants); v++) {
        if (!variants[v].variant->f64 || !runs_here(variants[v].isa)) continue;
        for (size_t k = 0; k < COUNT(known); k++) {
            u32 words[4 * 8];
            variants[v].variant->philox(known[k].counter, known[k].key, words, 8);
            for (size_t i = 0; i < 4; i++) assert_int_equal(words[i], known[k].words[i]);
        }
    }
}

TEST(a_stream_is_the_counter_that_is_documented)
{
    const rng_stream stream = {
        .toy = 0x123456789abcdef0, .item = 0xabcdef, .purpose = 0x5a, .key0 = 17, .key1 = 0xfedcba98};
    const rng_block got = rng_draw(stream, 3),
                    expected = rng_philox(0x9abcdef0, 0x12345678, 0x5aabcdef, 3, 17, 0xfedcba98);
    assert_memory_equal(&got, &expected, sizeof got);
}

TEST(uniform_numbers_lie_inside_and_mirror_each_other)
{
    assert_true(rng_uniform(0, 0) == 0x1p-53 && rng_uniform(0xffffffff, 0xffffffff) == 1.0 - 0x1p-53);
    assert_true(rng_uniform(0x80000000, 0) == 0.5 + 0x1p-53 &&
                rng_uniform(0x7fffffff, 0xffffffff) == 0.5 - 0x1p-53);
    for (u32 i = 0; i < 10000; i++) {
        const rng_block b = rng_philox(i, 0, 0, 0, 1, 2);
        const elem u = rng_uniform(b.word[0], b.word[1]),
                   mirrored = rng_uniform(b.word[0] ^ 0xffffffff, b.word[1] ^ 0xffffffff);
        assert_true(u + mirrored == 1.0 && 1.0 - u == mirrored);
        assert_true(u == ((double)(b.word[0] << 20 | b.word[1] >> 12) + 0.5) * 0x1p-52);
    }
}

TEST(uniform_numbers_are_uniform)
{
    double counts[2][CELLS] = {{0}}, probabilities[CELLS], pairs[CELLS] = {0}, sum = 0.0, squares = 0.0;
    for (int i = 0; i < CELLS; i++) probabilities[i] = 1.0 / CELLS;
    for (u32 i = 0; i < DRAWS; i++) {
        const rng_block b = rng_philox(i, 0, 3, 0, 20, 26);
        const elem u = rng_uniform(b.word[0], b.word[1]), v = rng_uniform(b.word[2], b.word[3]);
        counts[0][(int)(u * CELLS)]++;
        counts[1][(int)(v * CELLS)]++;
        pairs[(int)(u * 8.0) * 8 + (int)(v * 8.0)]++;
        sum += u - 0.5;
        squares += (u - 0.5) * (u - 0.5);
    }
    for (int k = 0; k < 2; k++) assert_true(cells_p_value(counts[k], probabilities, CELLS) > P_LEAST);
    assert_true(cells_p_value(pairs, probabilities, CELLS) > P_LEAST);
    ASSERT_CLOSE(sum / DRAWS, 0.0, 5.0 * sqrt(1.0 / 12.0 / DRAWS));
    ASSERT_CLOSE(squares / DRAWS, 1.0 / 12.0, 5.0 * sqrt(1.0 / 180.0 / DRAWS));
}

/* ---- normal numbers ---- */

TEST(a_normal_number_is_the_quantile_of_its_uniform_number)
{
    for (int i = 0; i < 40000; i++) {
        const rng_block b = rng_philox(i, 1, 0, 0, 1, 2);
        elem u = 0.5 * rng_uniform(b.word[0], b.word[1]);
        /* into the tail, where uniform numbers lie */
        if (i % 2) u = floor(ldexp(u, 53 - i % 52)) * 0x1p-53 + 0x1p-53;
        const elem x = rng_normal_of(u);
        const double back = (double)(0.5L * erfcl(-(long double)x / sqrtl(2.0L)));
        const double slope = 0.3989422804014327 * exp(-0.5 * x * x);
        assert_true(x <= 0.0 && x > -8.3);
        ASSERT_CLOSE((back - u) / slope, 0.0, 4e-15 * (1.0 + fabs(x)));
        assert_true(rng_normal_of(1.0 - u) == -rng_normal_of(1.0 - (1.0 - u)));
    }
    assert_true(rng_normal_of(0.5) == 0.0);
}

TEST(normal_numbers_are_normal)
{
    const struct numeric_streams streams = {.seed = 0x0123456789abcdef, .item = 77, .purpose = 4};
    double *x = aligned(DRAWS / 8 * 8), counts[CELLS] = {0}, probabilities[CELLS], moments[5] = {0},
           beyond[5] = {0};
    fastest()->normal(&streams, x, DRAWS / 8 * 8);
    for (int i = 0; i < CELLS; i++) probabilities[i] = 1.0 / CELLS;
    const double n = DRAWS / 8 * 8;
    for (size_t i = 0; i < (size_t)n; i++) {
        counts[(int)(0.5 * erfc(-x[i] * sqrt(0.5)) * CELLS)]++;
        for (int k = 1; k < 5; k++) moments[k] += pow(x[i], k) / n;
        for (int k = 1; k < 5; k++) beyond[k] += x[i] > k ? 1.0 : x[i] < -k ? -1.0 : 0.0;
        for (int k = 3; k < 5; k++) beyond[0] += fabs(x[i]) > 3.0;
    }
    assert_true(cells_p_value(counts, probabilities, CELLS) > P_LEAST);
    static const double expected[5] = {1.0, 0.0, 1.0, 0.0, 3.0}, variance[5] = {0.0, 1.0, 2.0, 15.0, 96.0};
    for (int k = 1; k < 5; k++) ASSERT_CLOSE(moments[k], expected[k], 5.0 * sqrt(variance[k] / n));
    /* both tails alike */
    for (int k = 1; k < 5; k++) ASSERT_CLOSE(beyond[k], 0.0, 5.0 * sqrt(n * erfc(k * sqrt(0.5))));
    ASSERT_CLOSE(0.5 * beyond[0], n * erfc(3.0 * sqrt(0.5)), 5.0 * sqrt(n * erfc(3.0 * sqrt(0.5))));
    free(x);
}

/* ---- Poisson numbers ---- */

/* P(n) of a rate, by the series of D(x) = x - log(1 + x) where that cancels. */
static long double poisson_probability(long double rate, long double n)
{
    if (n == 0.0L) return expl(-rate);
    const long double x = (rate - n) / n;
    long double deviance = 0.0L, power = -x;
    if (fabsl(x) < 0.03L)
        for (int k = 2; k < 24; k++) {
            power *= -x;
            deviance += power / k;
        }
    else
        deviance = x - log1pl(x);
    const long double pi = 3.14159265358979323846L, w = 1.0L / n, w2 = w * w;
    long double rest =
        w * (1.0L / 12 - w2 * (1.0L / 360 - w2 * (1.0L / 1260 - w2 * (1.0L / 1680 - w2 / 1188))));
    if (n < 50.0L) rest = lgammal(n + 1.0L) - (n + 0.5L) * logl(n) + n - 0.5L * logl(2.0L * pi);
    return expl(-n * deviance - rest) / sqrtl(2.0L * pi * n);
}

/* What v must not exceed for a proposal at distance s from the end to be accepted. */
static long double acceptance(rng_hat hat, double rate, double n, double s)
{
    return poisson_probability(rate, n) * ((long double)hat.a / ((long double)s * s) + hat.b) /
           hat.inverse_alpha;
}

/* The point of (-1/2, 1/2) from which on `n` is proposed. */
static double begin_of(rng_hat hat, double rate, double n)
{
    const double z = n - rate - 0.43, size = fabs(z), b = 2.0 * hat.a + 0.5 * hat.b + size;
    return copysign(size / (b + sqrt(b * b - 2.0 * hat.b * size)), z);
}

/* For every number that is proposed, at the ends of the points that propose it. */
TEST(the_hat_covers_the_probabilities_at_every_rate)
{
    for (double rate = 10.0; rate < 2e15; rate *= rate < 100.0 ? 1.0005 : rate < 1e4 ? 1.01 : 1.7) {
        const rng_hat hat = rng_hat_of(rate);
        const double reach = 12.0 * sqrt(rate) + 20.0;
        for (double n = fmax(0.0, floor(rate - reach)); n < rate + reach;
             n += floor(fmax(1.0, reach / 500.0))) {
            const double u = begin_of(hat, rate, n), v = begin_of(hat, rate, n + 1.0);
            const double s = 0.5 - fmax(fabs(u), fabs(v)),
                         inner = u < 0.0 && v > 0.0 ? 0.5 : 0.5 - fmin(fabs(u), fabs(v));
            const double most = (double)acceptance(hat, rate, n, s),
                         least = (double)acceptance(hat, rate, n, inner);
            if (!(most <= 1.0)) fail_msg("rate %g, number %g: the hat is %g too low", rate, n, most - 1.0);
            if (inner >= 0.07 && !(least >= hat.squeeze))
                fail_msg("rate %g, number %g: %g is below the squeeze %g", rate, n, least, hat.squeeze);
            if (s < 0.013 && !(most <= s)) fail_msg("rate %g, number %g: %g is above %g", rate, n, most, s);
        }
    }
}

TEST(a_proposal_is_accepted_with_its_probability_to_1e_13)
{
    for (double rate = 10.0; rate < 2e12; rate *= 1.37) {
        const rng_hat hat = rng_hat_of(rate);
        for (int i = 0; i <= 100; i++) {
            const double n = floor(rate + (i - 50) * 0.11 * sqrt(rate)), s = 0.01 + 0.0049 * i;
            if (n < 0.0) continue;
            const long double limit = acceptance(hat, rate, n, s);
            const double below = (double)(limit * (1.0L - 1e-13L)), over = (double)(limit * (1.0L + 1e-13L));
            if (!rng_poisson_accepts(hat, rate, n, s, below) || rng_poisson_accepts(hat, rate, n, s, over))
                fail_msg("rate %g, n %g: the limit is not within 1e-13 of %.17Lg", rate, n, limit);
        }
    }
}

/* Where the search goes from n to n + 1, the uniform number is P(N > n), for a tiny rate almost the rate. */
TEST(the_search_changes_its_answer_where_the_tail_is)
{
    static const double small[] = {1e-10, 1e-7, 1e-3, 0.1, 1.0, 3.3, 7.0, 9.99};
    for (size_t k = 0; k < COUNT(small); k++) {
        const long double rate = small[k];
        long double term = expl(-rate), tail = -expm1l(-rate);
        for (int n = 0; tail > 1e-14L; n++) {
            assert_true(rng_poisson_searched((double)tail + 1e-15, small[k], 1) == n);
            assert_true(rng_poisson_searched((double)tail - 1e-15, small[k], 1) == n + 1);
            term *= rate / (n + 1);
            tail = 0.0L;
            long double next = term; /* summed anew, since differences lose digits */
            for (int m = n + 2; next > 1e-25L; m++) tail += next *= rate / m;
        }
    }
    assert_true(rng_poisson_searched(0.9999e-10, 1e-10, 1) == 1.0 &&
                rng_poisson_searched(1.0001e-10, 1e-10, 1) == 0.0);
    assert_true(rng_poisson_searched(0x1p-53, 1e-300, 1) == 0.0 &&
                rng_poisson_searched(0x1p-53, 0.0, 1) == 0.0);
}

/* The search ends, also where rounding leaves a tail that is never small enough. */
TEST(the_search_ends_at_the_ends)
{
    for (double rate = 1e-320; rate < 10.0; rate = rate < 1e-3 ? rate * 10.0 : rate * 1.001) {
        const double most = rng_poisson_searched(0x1p-53, rate, 1);
        assert_true(rng_poisson_searched(1.0 - 0x1p-53, rate, 1) == 0.0);
        assert_true(most <= 52.0 && (rate < 1.0 || most > 15.0));
    }
}

/* Exact cells: weights from 10 deviations below the rate upwards, each from the one before, then normalised.
 * Returns how many. */
static size_t poisson_cells(double rate, double *last, double *probabilities)
{
    const double first = fmax(0.0, floor(rate - 10.0 * sqrt(rate))),
                 end = floor(rate + 10.0 * sqrt(rate) + 30.0);
    long double total = 0.0L, weight = 1.0L, mass = 0.0L;
    for (double n = first; n <= end; n++) {
        total += weight;
        weight *= rate / (n + 1.0);
    }
    weight = 1.0L;
    size_t cells = 0;
    /* of small rates all numbers but the rarest */
    const long double share = rate > 30.0 ? 1.0L / CELLS : 50.0L / DRAWS;
    long double left = 1.0L;
    for (double n = first; n <= end && left - mass > share; n++) {
        mass += weight / total;
        weight *= rate / (n + 1.0);
        if (mass < share) continue;
        last[cells] = n;
        probabilities[cells++] = (double)mass;
        left -= mass;
        mass = 0.0L;
    }
    last[cells] = INFINITY;
    probabilities[cells++] = (double)left;
    return cells;
}

static void draw_poisson(double rate, uint32_t item, double *y)
{
    const struct numeric_streams streams = {
        .first_toy = 0xfffff000, .seed = 0x9e3779b97f4a7c15, .item = item, .purpose = 2};
    double *same = aligned(BLOCK);
    for (size_t i = 0; i < BLOCK; i++) same[i] = rate;
    for (size_t i = 0; i < DRAWS; i += BLOCK) {
        struct numeric_streams block = streams;
        block.first_toy += i;
        const size_t n = DRAWS - i < BLOCK ? (DRAWS - i) / 16 * 16 : BLOCK;
        fastest()->poisson(&block, same, same, y + i, n);
    }
    free(same);
}

TEST(poisson_numbers_have_their_exact_probabilities)
{
    double *y = aligned(DRAWS);
    const size_t n = DRAWS / 16 * 16;
    for (size_t r = 0; r < COUNT(rates); r++) {
        double last[CELLS + 2], probabilities[CELLS + 2], counts[CELLS + 2] = {0}, digits[8] = {0},
                                                                         eighths[8];
        draw_poisson(rates[r], (uint32_t)r, y);
        const size_t cells = rates[r] < 1e-3 ? 1 : poisson_cells(rates[r], last, probabilities);
        for (size_t i = 0; i < n; i++) {
            assert_true(y[i] >= 0.0 && y[i] == floor(y[i]));
            size_t low = 0, high = cells - 1; /* the first cell whose last number is not below */
            while (low < high) {
                const size_t middle = (low + high) / 2;
                if (last[middle] < y[i])
                    low = middle + 1;
                else
                    high = middle;
            }
            counts[low]++;
            digits[(int)fmod(y[i], 8.0)]++;
        }
        if (cells == 1) { /* 1 of 10^10 draws, at most, is not 0 */
            assert_true(digits[0] == (double)n);
            continue;
        }
        const double p = cells_p_value(counts, probabilities, cells);
        print_message("rate %-8g %2zu cells, p = %.4f\n", rates[r], cells, p);
        if (!(p > P_LEAST)) fail_msg("rate %g: p = %g", rates[r], p);
        if (rates[r] < 1000.0) continue;
        for (int k = 0; k < 8; k++) eighths[k] = 0.125;
        /* the last binary digits of large numbers */
        assert_true(cells_p_value(digits, eighths, 8) > P_LEAST);
    }
    free(y);
}

TEST(what_is_no_rate_gives_nan_and_what_is_not_wanted_gives_0)
{
    double x[16] = {-1.0,   -1e-300, NAN, INFINITY, -INFINITY, 1.1e15, 0.0,   -0.0,
                    5e-324, 1e15,    NAN, -1.0,     3.0,       300.0,  1e300, 12.0},
           y[16];
    double wanted[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    _Alignas(64) double in[16], where[16], out[16];
    memcpy(in, x, sizeof in);
    memcpy(where, wanted, sizeof where);
    const struct numeric_streams streams = {.seed = 5};
    fastest()->poisson(&streams, in, where, out, 16);
    memcpy(y, out, sizeof y);
    for (int i = 0; i < 6; i++) assert_true(isnan(y[i]));
    for (int i = 6; i < 9; i++) assert_true(y[i] == 0.0);
    assert_true(fabs(y[9] - 1e15) < 10.0 * sqrt(1e15));
    for (int i = 10; i < 16; i++) assert_true(y[i] == 0.0);
}

/* Also that no number depends on its neighbours: with one lane and packs of 1, which is the reference, it has
 * none. */
TEST(all_variants_draw_the_same_bits)
{
    double *rate = aligned(BLOCK), *wanted = aligned(BLOCK), *expected = aligned(BLOCK),
           *got = aligned(BLOCK);
    const struct numeric_streams streams = {
        .first_toy = 0x00000002fffff800, .seed = 0xfeedfacecafebeef, .item = 0xfffffe, .purpose = 255};
    for (u32 i = 0; i < BLOCK; i++) {
        const rng_block b = rng_philox(i, 0, 0, 0, 3, 4);
        rate[i] = i % 5 == 0 ? 20.0 * rng_uniform(b.word[0], b.word[1])
                             : pow(10.0, 14.0 * rng_uniform(b.word[0], b.word[1]) - 2.0);
        if (i % 97 == 0) rate[i] = NAN;
        wanted[i] = i / 16 % 16 == 0 ? i % 3 == 0 : i % 7 != 0;
    }
    const struct numeric_variant *reference = NULL;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const struct numeric_variant *variant = variants[v].variant;
        if (!variant->f64 || !runs_here(variants[v].isa)) continue;
        if (!reference) {
            reference = variant;
            assert_int_equal(reference->lanes * reference->pack, 1);
        }
        reference->normal(&streams, expected, BLOCK);
        variant->normal(&streams, got, BLOCK);
        if (memcmp(got, expected, BLOCK * sizeof *got) != 0)
            fail_msg("%s: other normal numbers", variant->name);
        reference->poisson(&streams, rate, wanted, expected, BLOCK);
        variant->poisson(&streams, rate, wanted, got, BLOCK);
        if (memcmp(got, expected, BLOCK * sizeof *got) != 0)
            fail_msg("%s: other Poisson numbers", variant->name);
    }
    free(rate);
    free(wanted);
    free(expected);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(a_stream_is_the_counter_that_is_documented),
        cmocka_unit_test(uniform_numbers_lie_inside_and_mirror_each_other),
        cmocka_unit_test(uniform_numbers_are_uniform),
        cmocka_unit_test(a_normal_number_is_the_quantile_of_its_uniform_number),
        cmocka_unit_test(normal_numbers_are_normal),
        cmocka_unit_test(the_hat_covers_the_probabilities_at_every_rate),
        cmocka_unit_test(a_proposal_is_accepted_with_its_probability_to_1e_13),
        cmocka_unit_test(the_search_changes_its_answer_where_the_tail_is),
        cmocka_unit_test(the_search_ends_at_the_ends),
        cmocka_unit_test(poisson_numbers_have_their_exact_probabilities),
        cmocka_unit_test(what_is_no_rate_gives_nan_and_what_is_not_wanted_gives_0),
        cmocka_unit_test(all_variants_draw_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
