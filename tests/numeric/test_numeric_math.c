/* The numeric kernel functions against MPFR, and the same bits from every shape of vector and optimisation
 * level.
 *
 * f32 results are checked at every float that an odd step hits (all of them with the argument "exhaustive":
 * minutes) against the f64 functions, whose own error is invisible there; elsewhere against MPFR. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#include "oracle.h"
#include "share.h"
#include "variants_here.h"
#include <float.h>

#define BLOCK 4096

static const char *const names[] = {
#define NAME(f) #f,
    NUMERIC_FUNCTIONS(NAME)
#undef NAME
};

/* A test passes where the error is within `ulp` or within `absolute`. Points are counted in blocks of
 * BLOCK. */
static const struct limits {
    int function, blocks;
    double ulp64, absolute64, ulp32, absolute32;
} limits[] = {
    {index_m_exp, 150, 1.0, 0.0, 1.0, 0.0},           {index_m_log, 150, 1.0, 0.0, 1.0, 0.0},
    {index_m_log1p, 150, 1.0, 0.0, 1.0, 0.0},         {index_m_deviance, 50, 3.0, 0.0, 3.0, 0.0},
    {index_m_erf, 25, 4.0, 1e-16, 4.0, 1e-7},         {index_m_erfc, 25, 8.0, 0.0, 8.0, 0.0},
    {index_m_lgamma, 12, 4.0, 1e-16, 4.0, 1e-7},      {index_m_normal_cdf, 12, 8.0, 0.0, 8.0, 0.0},
    {index_m_log_normal_cdf, 12, 8.0, 0.0, 8.0, 0.0}, {index_m_normal_quantile, 12, 8.0, 0.0, 8.0, 0.0},
    {index_m_sin_degrees, 50, 1.0, 0.0, 1.0, 0.0},    {index_m_cos_degrees, 50, 1.0, 0.0, 1.0, 0.0},
    {index_m_acos_degrees, 50, 2.0, 0.0, 2.0, 0.0},   {index_m_asin_root_degrees, 50, 2.0, 0.0, 2.0, 0.0},
};

static unsigned step = SHARE > 1 ? 611 : 61;

/* The first variant of a precision that this processor runs. */
static const struct numeric_variant *reference(int f64)
{
    for (size_t i = 0; i < COUNT(variants); i++)
        if (variants[i].variant->f64 == f64 && runs_here(variants[i].isa)) return variants[i].variant;
    fail_msg("no variant runs here");
    return NULL;
}

static uint64_t next_random(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *random)
{
    return (double)(next_random(random) >> 11) * 0x1p-53;
}

static double any_double(uint64_t *random, int f64)
{
    uint64_t bits = next_random(random);
    double value;
    float narrow;
    if (f64) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t half = (uint32_t)bits;
    memcpy(&narrow, &half, sizeof narrow);
    return narrow;
}

/* Where something happens: ends of ranges, zeros, and the borders between the ways a function is computed. */
static const double landmarks[] = {0.0,
                                   1.0,
                                   2.0,
                                   0.25,
                                   0.5,
                                   0.75,
                                   1.5,
                                   2.5,
                                   8.0,
                                   0.6744897501960817,
                                   709.782712893384,
                                   -708.3964185322641,
                                   -745.1332191019411,
                                   -690.0,
                                   88.72283,
                                   -87.33654,
                                   -60.0,
                                   26.5433,
                                   27.226,
                                   5.92,
                                   37.5,
                                   38.6,
                                   10.05,
                                   13.0,
                                   1e-300,
                                   1e-30,
                                   1e-17,
                                   1e-8,
                                   2.2250738585072014e-308,
                                   1.17549435e-38,
                                   1.7976931348623157e308,
                                   3.4028234663852886e38,
                                   2.55998e305,
                                   4.085e36,
                                   30.0,
                                   45.0,
                                   60.0,
                                   90.0,
                                   135.0,
                                   360.0,
                                   999.99,
                                   1e6,
                                   1e14};
static const double specials[] = {0.0,      -0.0,     1.0,       -1.0, 5e-324,  -5e-324,  1e-45,
                                  -1e-45,   INFINITY, -INFINITY, NAN,  DBL_MAX, -DBL_MAX, FLT_MAX,
                                  -FLT_MAX, DBL_MIN,  FLT_MIN,   0.5,  2.0,     3.0};

/* One argument of a function; for most the interesting ones lie in a few intervals that random bits seldom
 * hit. */
static double argument(uint64_t *random, int f64)
{
    double value, sign = next_random(random) & 1 ? 1.0 : -1.0;
    double epsilon = f64 ? 0x1p-52 : 0x1p-23;
    /* drawn here, since the order of operands is the compiler's */
    int exponent = (int)(next_random(random) >> 32);
    exponent = exponent < 0 ? ~exponent : exponent;
    switch (next_random(random) % 8) {
    case 0:
        return any_double(random, f64);
    case 1:
        value = sign * uniform(random);
        break;
    case 2:
        value = 4.0 * uniform(random);
        break;
    case 3:
        value = sign * 40.0 * uniform(random);
        break;
    case 4:
        value = sign * (f64 ? 750.0 : 104.0) * uniform(random);
        break;
    case 5:
        value = sign * ldexp(1.0 + uniform(random), -exponent % (f64 ? 60 : 30));
        break;
    case 6: /* near 2^k, 3/4 2^k and (k + 1/2) log 2 */
        value = (next_random(random) & 1 ? 1.0 : 0.75) * ldexp(1.0, exponent % 9 - 4);
        if (next_random(random) & 1)
            value = sign * (0.5 + (double)(next_random(random) % 90)) * 0.6931471805599453;
        if (next_random(random) & 1) value -= 1.0;
        value *= 1.0 + epsilon * ((double)(next_random(random) % 17) - 8.0);
        break;
    default:
        value = sign * landmarks[next_random(random) % COUNT(landmarks)];
        value *= 1.0 + epsilon * ((double)(next_random(random) % 33) - 16.0);
    }
    return f64 ? value : (double)(float)value;
}

static void *aligned(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes) != 0) fail_msg("out of memory");
    return p;
}

static void store(void *array, size_t i, double value, int f64)
{
    if (f64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static double load(const void *array, size_t i, int f64)
{
    return f64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void fill(void *x, uint64_t *random, int f64)
{
    for (size_t i = 0; i < BLOCK; i++)
        store(x, i, i < COUNT(specials) ? specials[i] : argument(random, f64), f64);
}

/* Which arguments the accuracy of a function is promised for, and how the oracle reads them. */
static int is_asked(int function, double x, int f64)
{
    if (function == index_m_erfc) return !(x > (f64 ? 26.54 : 9.19)); /* the result is normal */
    if (function == index_m_normal_cdf) return !(x < (f64 ? -37.5 : -12.9));
    if (function == index_m_log_normal_cdf)
        return !(x < -3e4) && /* beyond, MPFR underflows */ !(x > (f64 ? 37.5 : 12.9));
    return 1;
}

static void check_accuracy(const struct limits *limit, int f64)
{
    const struct numeric_variant *variant = reference(f64);
    double *x = aligned(BLOCK * sizeof *x), *y = aligned(BLOCK * sizeof *y);
    double worst = 0.0, worst_at = 0.0, worst_small = 0.0;
    double ulp = f64 ? limit->ulp64 : limit->ulp32, absolute = f64 ? limit->absolute64 : limit->absolute32;
    uint64_t random = (uint64_t)limit->function;
    for (int b = 0; b < limit->blocks; b += f64 ? SHARE : 4 * SHARE) {
        fill(x, &random, f64);
        variant->functions[limit->function](x, y, BLOCK);
        for (size_t i = 0; i < BLOCK; i++) {
            double at = load(x, i, f64), got = load(y, i, f64);
            if (!is_asked(limit->function, at, f64)) continue;
            if (!f64 && fabs(at) < FLT_MIN) at = copysign(0.0, at);
            struct oracle_error error = oracle_error(limit->function, f64 ? 53 : 24, at, got);
            if (!(error.ulp <= ulp || error.absolute <= absolute))
                fail_msg("%s(%a) = %a: %g units, %g", names[limit->function], at, got, error.ulp,
                         error.absolute);
            if (error.ulp > worst && error.absolute > absolute) worst = error.ulp, worst_at = at;
            if (error.ulp > worst_small && error.absolute <= absolute) worst_small = error.ulp;
        }
    }
    print_message("%-18s %s: at most %.3f units (at %a)", names[limit->function], f64 ? "f64" : "f32", worst,
                  worst_at);
    if (absolute > 0.0) print_message("; %.3g where the error is below %g", worst_small, absolute);
    print_message("\n");
    free(x);
    free(y);
}

TEST(f64_functions_are_as_accurate_as_promised)
{
    for (size_t i = 0; i < COUNT(limits); i++) check_accuracy(&limits[i], 1);
    oracle_close();
}

TEST(f32_functions_are_as_accurate_as_promised)
{
    for (size_t i = 0; i < COUNT(limits); i++) check_accuracy(&limits[i], 0);
    oracle_close();
}

TEST(f32_exp_and_logarithms_are_within_one_unit_wherever_the_steps_fall)
{
    static const int functions[] = {index_m_exp, index_m_log, index_m_log1p};
    const struct numeric_variant *narrow = reference(0), *wide = reference(1);
    double *x = aligned(BLOCK * sizeof *x), *y = aligned(BLOCK * sizeof *y);
    float *xf = aligned(BLOCK * sizeof *xf), *yf = aligned(BLOCK * sizeof *yf);
    for (size_t f = 0; f < COUNT(functions); f++) {
        double worst = 0.0, worst_at = 0.0;
        for (uint64_t bits = 0; bits < (uint64_t)1 << 32;) {
            for (size_t i = 0; i < BLOCK; i++, bits += step) {
                uint32_t low = (uint32_t)bits;
                memcpy(&xf[i], &low, sizeof low);
                x[i] = fabs((double)xf[i]) < FLT_MIN ? copysign(0.0, xf[i]) : (double)xf[i];
            }
            narrow->functions[functions[f]](xf, yf, BLOCK);
            wide->functions[functions[f]](x, y, BLOCK);
            for (size_t i = 0; i < BLOCK; i++) {
                if (fabs(y[i]) < FLT_MIN && yf[i] == 0.0f) continue;
                if (isnan(y[i]) && isnan(yf[i])) continue;
                if (fabs(y[i]) >= 0x1p128 && (double)yf[i] == copysign(INFINITY, y[i])) continue;
                int64_t top; /* a unit is 2^-23 times the power of two below */
                memcpy(&top, &y[i], sizeof top);
                top = (top & 0x7ff0000000000000) - ((int64_t)23 << 52);
                double unit;
                memcpy(&unit, &top, sizeof unit);
                double got = isinf(yf[i]) ? copysign(0x1p128, yf[i]) : (double)yf[i];
                double error = fabs(got - y[i]) / unit;
                if (!(error <= 1.0)) fail_msg("%s(%a) = %a, not %a", names[functions[f]], x[i], got, y[i]);
                if (error > worst) worst = error, worst_at = x[i];
            }
        }
        print_message("%-18s f32, every %u. float: at most %.4f units (at %a)\n", names[functions[f]], step,
                      worst, worst_at);
    }
    free(x);
    free(y);
    free(xf);
    free(yf);
}

TEST(zeros_keep_their_sign)
{
    static const int odd[] = {index_m_log1p, index_m_erf};
    for (int f64 = 0; f64 < 2; f64++)
        for (size_t f = 0; f < COUNT(odd); f++) {
            double x[16], y[16];
            for (size_t i = 0; i < 16; i++) store(x, i, i % 2 ? 0.0 : -0.0, f64);
            reference(f64)->functions[odd[f]](x, y, 16);
            for (size_t i = 0; i < 16; i++)
                assert_true(load(y, i, f64) == 0.0 && (signbit(load(y, i, f64)) != 0) == (i % 2 == 0));
        }
}

TEST(sine_and_cosine_are_exact_at_multiples_of_90_degrees)
{
    static const double sines[4] = {0.0, 1.0, 0.0, -1.0};
    for (int f64 = 0; f64 < 2; f64++)
        for (int first = -4000; first < 4000; first += 16) {
            double x[16], y[16], z[16];
            for (int i = 0; i < 16; i++) store(x, (size_t)i, 90.0 * (first + i), f64);
            reference(f64)->functions[index_m_sin_degrees](x, y, 16);
            reference(f64)->functions[index_m_cos_degrees](x, z, 16);
            for (int i = 0; i < 16; i++) {
                assert_true(load(y, (size_t)i, f64) == sines[(unsigned)(first + i) % 4]);
                assert_true(load(z, (size_t)i, f64) == sines[(unsigned)(first + i + 1) % 4]);
            }
        }
}

TEST(far_tails_of_the_normal_distribution_have_a_quantile)
{
    double p[16] = {1e-300, 1e-308, 5e-324, 1e-100}, x[16] = {0}, back[16];
    reference(1)->functions[index_m_normal_quantile](p, x, 16);
    reference(1)->functions[index_m_log_normal_cdf](x, back, 16);
    for (int i = 0; i < 4; i++) assert_true(fabs(back[i] - log(p[i])) <= 4e-15 * fabs(log(p[i])));
}

/* NaN included: every one is the same. */
TEST(all_variants_give_the_same_bits)
{
    size_t run = 0;
    double *x = aligned(BLOCK * sizeof *x), *y = aligned(BLOCK * sizeof *y),
           *expected = aligned(BLOCK * sizeof *expected);
    for (size_t v = 0; v < COUNT(variants); v++) {
        const struct numeric_variant *variant = variants[v].variant;
        if (!runs_here(variants[v].isa)) continue;
        run++;
        uint64_t random = 7;
        for (int block = 0; block < 24; block++) {
            fill(x, &random, variant->f64);
            for (int f = 0; f < NUMERIC_FUNCTION_COUNT; f++) {
                reference(variant->f64)->functions[f](x, expected, BLOCK);
                variant->functions[f](x, y, BLOCK);
                if (memcmp(y, expected, BLOCK * (variant->f64 ? sizeof(double) : sizeof(float))) == 0)
                    continue;
                for (size_t i = 0; i < BLOCK; i++) {
                    double got = load(y, i, variant->f64), wanted = load(expected, i, variant->f64);
                    if (memcmp(&got, &wanted, sizeof got) != 0)
                        fail_msg("%s of %s at %a: %a, not %a", names[f], variant->name,
                                 load(x, i, variant->f64), got, wanted);
                }
                fail_msg("%s of %s: another NaN", names[f], variant->name);
            }
        }
    }
    print_message("%zu of %zu variants run here\n", run, COUNT(variants));
    free(x);
    free(y);
    free(expected);
}

/* The definition: term i to partial sum i mod 8, ascending, then the tree. */
static double sum_by_definition(const double *a, const double *b, unsigned n, int f64)
{
    double p[8] = {0};
    for (unsigned i = 0; i < n; i++) {
        double *partial = &p[i % 8];
        if (f64)
            *partial = b ? fma(a[i], b[i], *partial) : *partial + a[i];
        else
            *partial = b ? fmaf((float)a[i], (float)b[i], (float)*partial) : (float)*partial + (float)a[i];
    }
#define ADD(u, v) (f64 ? (u) + (v) : (double)((float)(u) + (float)(v)))
    double left = ADD(ADD(p[0], p[4]), ADD(p[2], p[6])), right = ADD(ADD(p[1], p[5]), ADD(p[3], p[7]));
    return ADD(left, right);
#undef ADD
}

TEST(sums_have_one_order_in_all_variants)
{
    enum { most = 1000, lanes = 16 };
    static const unsigned lengths[] = {0, 8, 16, 24, 136, most};
    double a[most], b[most], *wide_a = aligned(most * lanes * sizeof *wide_a),
                             *wide_b = aligned(most * lanes * sizeof *wide_b);
    double *sums = aligned(lanes * sizeof *sums);
    uint64_t random = 11;
    for (size_t v = 0; v < COUNT(variants); v++) {
        const struct numeric_variant *variant = variants[v].variant;
        if (!runs_here(variants[v].isa)) continue;
        for (size_t length = 0; length < COUNT(lengths); length++) {
            unsigned n = lengths[length];
            for (unsigned i = 0; i < n; i++) {
                a[i] = uniform(&random) - 0.3;
                a[i] = ldexp(a[i], (int)(next_random(&random) % 20));
                b[i] = uniform(&random) - 0.6;
                b[i] = ldexp(b[i], (int)(next_random(&random) % 20));
                if (!variant->f64) a[i] = (float)a[i], b[i] = (float)b[i];
                for (unsigned l = 0; l < variant->lanes; l++) {
                    store(wide_a, i * variant->lanes + l, ldexp(a[i], (int)l), variant->f64);
                    store(wide_b, i * variant->lanes + l, b[i], variant->f64);
                }
            }
            variant->sum(wide_a, sums, n);
            for (unsigned l = 0; l < variant->lanes; l++)
                assert_true(load(sums, l, variant->f64) ==
                            ldexp(sum_by_definition(a, NULL, n, variant->f64), (int)l));
            variant->dot(wide_a, wide_b, sums, n);
            for (unsigned l = 0; l < variant->lanes; l++)
                assert_true(load(sums, l, variant->f64) ==
                            ldexp(sum_by_definition(a, b, n, variant->f64), (int)l));
        }
    }
    free(wide_a);
    free(wide_b);
    free(sums);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f64_functions_are_as_accurate_as_promised),
        cmocka_unit_test(f32_functions_are_as_accurate_as_promised),
        cmocka_unit_test(f32_exp_and_logarithms_are_within_one_unit_wherever_the_steps_fall),
        cmocka_unit_test(zeros_keep_their_sign),
        cmocka_unit_test(sine_and_cosine_are_exact_at_multiples_of_90_degrees),
        cmocka_unit_test(far_tails_of_the_normal_distribution_have_a_quantile),
        cmocka_unit_test(all_variants_give_the_same_bits),
        cmocka_unit_test(sums_have_one_order_in_all_variants),
    };
    if (argc > 1 && strcmp(argv[1], "exhaustive") == 0) step = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
