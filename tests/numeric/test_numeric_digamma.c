/* The host's digamma against MPFR. */
#include "base/math/host_math.h"
#include "common.h"

#include <mpfr.h>

static double worst;

static void check(double x)
{
    mpfr_t exact, got;
    mpfr_inits2(200, exact, got, (mpfr_ptr)NULL);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_digamma(exact, exact, MPFR_RNDN);
    mpfr_set_d(got, host_digamma(x), MPFR_RNDN);
    mpfr_sub(got, got, exact, MPFR_RNDN);
    mpfr_div(got, got, exact, MPFR_RNDN);
    const double off = fabs(mpfr_get_d(got, MPFR_RNDN));
    mpfr_clears(exact, got, (mpfr_ptr)NULL);
    if (!(off <= 1e-15)) fail_msg("digamma(%.17g) is off by %.3g of itself", x, off);
    if (off > worst) worst = off;
}

TEST(digamma_is_right_to_its_last_digits)
{
    for (int i = 0; i < 4000; i++) {
        check(1e-3 + i * 5e-3 + 1e-4 * (i % 7)); /* up to 20 */
        if (i < 1000) check(i + 1.0);
    }
    for (double x = 1e-300; x < 1e300; x *= 7.3) check(x);
    for (double step = 0.2; step > 1e-16; step *= 0.37) { /* its zero */
        check(1.4616321449683622 + step);
        check(1.4616321449683622 - step);
    }
    check(1.4616321449683622);
    printf("largest error: %.3g of the value\n", worst);
    assert_true(isnan(host_digamma(0.0)) && isnan(host_digamma(-1.5)) && isnan(host_digamma((double)NAN)));
    assert_true(host_digamma((double)INFINITY) == (double)INFINITY);
    mpfr_free_cache();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digamma_is_right_to_its_last_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
