/* The numeric kernel functions in f32 on a processor that flushes subnormal numbers: the bits that they have
 * where those are used in full. */
#include "common.h"
#include "flush.h"
#include "share.h"
#include "variants_here.h"

#include <float.h>

#define BLOCK 4096

static const char *const names[] = {
#define NAME(f) #f,
    NUMERIC_FUNCTIONS(NAME)
#undef NAME
};

static const struct numeric_variant *some_variant(unsigned lanes, unsigned pack)
{
    for (size_t i = 0; i < COUNT(variants); i++) {
        const struct numeric_variant *v = variants[i].variant;
        if (!v->f64 && v->lanes >= lanes && v->pack >= pack && runs_here(variants[i].isa)) return v;
    }
    return NULL;
}

static float any_float(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const uint32_t bits = (uint32_t)(*random >> 32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* x and, flushing, x again through every function. */
static void compare(const struct numeric_variant *variant, const float *x)
{
    static _Alignas(64) float usual[BLOCK], flushed[BLOCK];
    for (int f = 0; f < NUMERIC_FUNCTION_COUNT; f++) {
        variant->functions[f](x, usual, BLOCK);
        const uint64_t mode = flush_begin();
        variant->functions[f](x, flushed, BLOCK);
        flush_end(mode);
        for (size_t i = 0; i < BLOCK; i++)
            if (memcmp(&usual[i], &flushed[i], sizeof usual[i]) != 0)
                fail_msg("%s of %s at %a: %a, flushing %a", names[f], variant->name, (double)x[i],
                         (double)usual[i], (double)flushed[i]);
    }
}

TEST(functions_do_not_depend_on_flushing)
{
    if (!FLUSH_IS_KNOWN) skip_because(FLUSH_UNKNOWN);
    static const unsigned shapes[][2] = {{1, 1}, {4, 1}, {1, 4}};
    static _Alignas(64) float x[BLOCK];
    /* near which results or steps in between come to the end of the normal numbers: of each a
     * neighbourhood */
    static const float ends[] = {0.0f,     -0.0f,     FLT_MIN, -FLT_MIN, FLT_MIN / 3, 1e-45f,  -1e-45f,
                                 0x1p-63f, -0x1p-63f, 1e-20f,  -1e-20f,  -87.3365f,   -87.33f, -103.97f,
                                 1.0f,     -1.0f,     2.0f,    10.0f,    9.2f,        -12.9f,  -13.0f,
                                 14.2f,    1e30f,     FLT_MAX, 0x1p-30f, 0x1p-76f};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        const struct numeric_variant *variant = some_variant(shapes[s][0], shapes[s][1]);
        if (!variant) continue;
        uint64_t random = 5;
        for (int block = 0; block < (SHARE > 1 ? 10 : 100); block++) {
            for (size_t i = 0; i < BLOCK; i++) x[i] = any_float(&random);
            compare(variant, x);
        }
        for (size_t e = 0; e < COUNT(ends); e++) {
            uint32_t bits;
            memcpy(&bits, &ends[e], sizeof bits);
            for (uint32_t i = 0; i < BLOCK; i++) {
                const uint32_t at = bits + (i - BLOCK / 2) * 61;
                memcpy(&x[i], &at, sizeof at);
            }
            compare(variant, x);
        }
    }
}

TEST(exp_underflows_to_zero_and_log_takes_a_subnormal_number_for_zero)
{
    static _Alignas(64) float x[BLOCK] = {-87.3f, -87.4f, -103.0f, -1e30f}, y[BLOCK];
    const struct numeric_variant *variant = some_variant(1, 1);
    assert_non_null(variant);
    variant->functions[index_m_exp](x, y, BLOCK);
    assert_true(y[0] >= FLT_MIN && y[1] == 0.0f && y[2] == 0.0f && y[3] == 0.0f);
    x[0] = FLT_MIN / 2;
    x[1] = FLT_MIN;
    variant->functions[index_m_log](x, y, BLOCK);
    assert_true(isinf(y[0]) && y[0] < 0.0f);
    ASSERT_CLOSE((double)y[1], -126.0 * log(2.0), 1e-5);
}

TEST(what_is_below_the_least_that_counts_becomes_zero)
{
    static _Alignas(64) float x[BLOCK] = {0x1p-63f, -0x1p-63f, 0x1.fffffep-64f, -0x1.fffffep-64f, -0.0f,
                                          1e-45f,   1.5f,      INFINITY},
                              y[BLOCK];
    static const float wanted[] = {0x1p-63f, -0x1p-63f, 0.0f, 0.0f, 0.0f, 0.0f, 1.5f, INFINITY};
    x[COUNT(wanted)] = NAN;
    const struct numeric_variant *variant = some_variant(1, 1);
    assert_non_null(variant);
    variant->functions[index_pflush](x, y, BLOCK);
    assert_memory_equal(y, wanted, sizeof wanted);
    assert_true(isnan(y[COUNT(wanted)]));
}

/* Numbers that count. Every other turn one factor has few digits: sums then often lie in the middle between
 * two numbers, where the smallest term decides. */
TEST(sums_and_dot_products_do_not_depend_on_flushing)
{
    if (!FLUSH_IS_KNOWN) skip_because(FLUSH_UNKNOWN);
    enum { TERMS = 64, LANES_MOST = 16, TURNS = 2000 };
    static _Alignas(64) float a[TERMS * LANES_MOST], b[TERMS * LANES_MOST], usual[LANES_MOST],
        flushed[LANES_MOST];
    const struct numeric_variant *variant = some_variant(1, 1);
    assert_non_null(variant);
    uint64_t random = 3;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < TERMS; i++) {
            a[i] = ldexpf(1.0f + (float)(random >> 41) * 0x1p-23f, -(turn + (int)(random % 37)) % 64);
            (void)any_float(&random);
            const float digits = (float)(random >> 41) * 0x1p-23f;
            b[i] = ldexpf(1.0f + (turn % 2 ? digits : floorf(8.0f * digits) / 8.0f),
                          -(turn / 7 + (int)(random % 11)) % 64) *
                   (random & 64 ? -1.0f : 1.0f);
            (void)any_float(&random);
        }
        variant->dot(a, b, usual, TERMS);
        const uint64_t mode = flush_begin();
        variant->dot(a, b, flushed, TERMS);
        flush_end(mode);
        assert_memory_equal(usual, flushed, sizeof usual[0]);
        assert_true(usual[0] == 0.0f || fabsf(usual[0]) >= 0x1p-63f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_do_not_depend_on_flushing),
        cmocka_unit_test(exp_underflows_to_zero_and_log_takes_a_subnormal_number_for_zero),
        cmocka_unit_test(what_is_below_the_least_that_counts_becomes_zero),
        cmocka_unit_test(sums_and_dot_products_do_not_depend_on_flushing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
