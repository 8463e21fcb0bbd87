/* Quotients and roots that are built from fma and approximate ones (kernels/dialect/dialect_division.h) are
 * those of IEEE 754, as this processor has them, whatever the approximation's error, as long as it is what
 * OpenCL grants. */
#include "common.h"
#include "share.h"

#include <float.h>

typedef float elem;
typedef int32_t elem_int;
#define FN static inline
#define FMA(a, b, c) fmaf(a, b, c)
#define BITS(a) bits_of(a)
#define FROM_BITS(i) from_bits(i)
#define BUILT_RECIPROCAL(x) wrong_by(1.0 / (double)(x), reciprocal_units)
#define BUILT_ROOT(x) wrong_by(sqrt((double)(x)), root_units)

static elem_int bits_of(float a)
{
    elem_int i;
    memcpy(&i, &a, sizeof i);
    return i;
}
static float from_bits(elem_int i)
{
    float a;
    memcpy(&a, &i, sizeof a);
    return a;
}

static double reciprocal_units, root_units; /* errors of the approximations */
/* one operand of so many is tried; with the argument "exhaustive" all are (seconds, where fma is an
 * instruction) */
static int share = 32 * SHARE;

/* A float about so many units in the last place above x, for x in (1/4, 2]. */
static float wrong_by(double x, double units)
{
    const double unit = x < 0.5 ? 0x1p-25 : x < 1.0 ? 0x1p-24 : 0x1p-23;
    return (float)(x + units * unit);
}

#include "dialect/dialect_division.h"

static uint64_t next(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Subnormal operands are zeros and subnormal results become zero. */
static float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x;
}

static void check_quotient(float a, float b)
{
    const float got = built_divide(a, b), wanted = flushed(flushed(a) / flushed(b));
    if (isnan(got) && isnan(wanted)) return;
    if (memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%a / %a = %a, not %a, with a reciprocal wrong by %g units", (double)a, (double)b,
                 (double)got, (double)wanted, reciprocal_units);
}
static void check_root(float a)
{
    const float got = built_root(a), wanted = sqrtf(flushed(a));
    if (isnan(got) && isnan(wanted)) return;
    if (memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("root of %a: %a, not %a, with a root wrong by %g and a reciprocal by %g units", (double)a,
                 (double)got, (double)wanted, root_units, reciprocal_units);
}

/* beside the rounding of the start itself: up to 2.5 */
static const double errors[] = {0.0, 2.0, -2.0, 1.0, -1.0};
static const float special[] = {0.0f,     -0.0f,     1.0f,       -1.0f,   FLT_MIN,
                                -FLT_MIN, 0x1p-130f, -0x1p-149f, FLT_MAX, -FLT_MAX,
                                INFINITY, -INFINITY, NAN,        3.0f,    0x1.fffffep0f};

TEST(quotients_are_correctly_rounded)
{
    uint64_t random = 1;
    const int count = (1 << 22) / share;
    for (size_t e = 0; e < COUNT(errors); e++) {
        reciprocal_units = errors[e];
        for (size_t i = 0; i < COUNT(special); i++)
            for (size_t j = 0; j < COUNT(special); j++) check_quotient(special[i], special[j]);
        for (int i = 0; i < count; i++) {
            const uint64_t word = next(&random);
            const float a = from_bits((elem_int)(uint32_t)word),
                        b = from_bits((elem_int)(uint32_t)(word >> 32));
            /* a quotient between the numbers below the smallest normal one and that one itself rounds
             * otherwise where there are no subnormal numbers */
            const double q = fabs((double)a / (double)b);
            if (q > 0x1p-127 && q < 0x1p-125) continue;
            check_quotient(a, b);
            /* near the middle between two numbers: b (q + half a unit), rounded */
            const float y = from_bits((elem_int)(0x3f800000 | (word & 0x7fffff))),
                        middle = from_bits((elem_int)(0x3f800000 | (word >> 32 & 0x7fffff)));
            const float x = (float)((double)y * ((double)middle + 0x1p-24));
            check_quotient(x, y);
            check_quotient(nextafterf(x, 4.0f), y);
            check_quotient(nextafterf(x, 0.0f), y);
        }
    }
}

TEST(every_divisor_is_served_with_any_error_of_the_start)
{
    uint64_t random = 2;
    const elem_int stride = share - (share > 1); /* odd */
    for (size_t e = 0; e < COUNT(errors); e++) {
        reciprocal_units = errors[e];
        for (elem_int i = 0; i < 1 << 23; i += stride) {
            const float y = from_bits(0x3f800000 + i);
            check_quotient(1.0f, y);
            check_quotient(from_bits((elem_int)(0x3f800000 | (next(&random) & 0x7fffff))), y);
        }
    }
}

TEST(every_root_is_correctly_rounded)
{
    static const double root_errors[] = {0.0, 2.5, -2.5};
    const elem_int stride = share - (share > 1); /* odd */
    for (size_t e = 0; e < COUNT(root_errors); e++)
        for (size_t r = 0; r < 3; r++) {
            root_units = root_errors[e];
            reciprocal_units = errors[r];
            for (size_t i = 0; i < COUNT(special); i++) check_root(special[i]);
            for (elem_int i = 0x3f800000; i < 0x40800000; i += stride) check_root(from_bits(i));
        }
    uint64_t random = 3;
    for (int i = 0; i < (1 << 20) / share; i++) check_root(from_bits((elem_int)(uint32_t)next(&random)));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exhaustive") == 0) share = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_are_correctly_rounded),
        cmocka_unit_test(every_divisor_is_served_with_any_error_of_the_start),
        cmocka_unit_test(every_root_is_correctly_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
