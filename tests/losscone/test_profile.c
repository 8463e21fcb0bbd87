/* Profiles, confidence sets and the bootstrap. */
#include "losscone/cases.h"

/* Method, response and beam of variant v. */
#define VARIANTS 5
static paritas_losscone_options variant(int v)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.method = v == 1 ? PARITAS_LILLIS : PARITAS_HALEKAS;
    options.response = v == 2 ? PARITAS_RESPONSE_FOLDED : PARITAS_RESPONSE_HARD;
    if (v == 3) options.amplitude_upper = 0.0;
    if (v == 4) options.beam_sigma = 30.0, options.beam_width = 60.0; /* reaches incident cells */
    return options;
}

static struct data make_sweeps(size_t n, uint64_t seed)
{
    struct data d = make_data(n);
    paritas_context *context = open_context(NULL, 64, 1);
    for (size_t k = 0; k < n; k++) make_sweep(context, NULL, &d, k, &seed);
    paritas_close(context);
    return d;
}

TEST(profiles_lie_below_every_point_and_on_one)
{
    enum { sweeps = 4, potentials = 9, ratios = 200, amplitudes = 6 };
    paritas_context *context = open_context(NULL, 64, 2);
    struct data d = make_sweeps(sweeps, 21);
    static const double u[potentials] = {-2000.0, -600.0, -300.0, -200.0, -120.0, -80.0, -40.0, 0.0, 20.0};
    double *misfit = make_array(sweeps * potentials, sizeof *misfit), *ratio = make_array(sweeps * potentials, sizeof *ratio);
    double *amplitude = make_array(sweeps * potentials, sizeof *amplitude);
    double(*points)[3] = make_array(ratios * amplitudes, sizeof *points), *found = make_array(ratios * amplitudes, sizeof *found);
    for (int v = 0; v < VARIANTS; v++) {
        const paritas_losscone_options options = variant(v);
        double nearest = 1e300;
        ASSERT_OK(context, paritas_losscone_profile(context, &d.sweeps, &options, potentials, u, misfit, ratio, amplitude));
        for (size_t k = 0; k < sweeps; k++) {
            const paritas_sweeps one = {1, d.energy + k * ROWS, d.potential + k * ROWS, d.cosine + k * ALL, d.flux + k * ALL};
            for (int i = 0; i < potentials; i++) {
                const size_t at = k * potentials + (size_t)i;
                const double answer[3] = {u[i], ratio[at], amplitude[at]};
                double direct;
                ASSERT_OK(context, paritas_losscone_misfit(context, &one, &options, 1, answer, &direct, NULL));
                ASSERT_CLOSE(misfit[at], direct, 1e-9 * (1.0 + direct));
                for (int p = 0; p < ratios * amplitudes; p++) {
                    const int a = p % amplitudes;
                    points[p][0] = u[i];
                    points[p][1] = 0.3 + 0.8 * (p / amplitudes + 0.5) / ratios;
                    points[p][2] = a == 0 ? 0.0 : a == 1 ? answer[2] : options.amplitude_upper * pow(2.0, 2.0 * (2 - a));
                }
                ASSERT_OK(context, paritas_losscone_misfit(context, &one, &options, ratios * amplitudes, points[0], found, NULL));
                for (int p = 0; p < ratios * amplitudes; p++) {
                    if (found[p] < misfit[at] - 1e-7 * (1.0 + misfit[at])) fail_msg("variant %d, sweep %zu, U %g: %.12g, but %.12g at r %g, A %g", v, k, u[i], misfit[at], found[p], points[p][1], points[p][2]);
                    nearest = fmin(nearest, found[p] - misfit[at]);
                }
            }
        }
        assert_true(nearest < 1e-6);
    }
    free(misfit);
    free(ratio);
    free(amplitude);
    free(points);
    free(found);
    free_data(&d);
    paritas_close(context);
}

TEST(the_profile_at_the_minimum_is_the_minimum)
{
    enum { sweeps = 60 };
    paritas_context *context = open_context(NULL, 64, 2);
    struct data d = make_sweeps(sweeps, 22);
    for (int v = 0; v < VARIANTS; v++) {
        const paritas_losscone_options options = variant(v);
        paritas_losscone_result results[sweeps];
        ASSERT_OK(context, paritas_losscone_fit(context, &d.sweeps, &options, results));
        for (size_t k = 0; k < sweeps; k++) {
            const paritas_sweeps one = {1, d.energy + k * ROWS, d.potential + k * ROWS, d.cosine + k * ALL, d.flux + k * ALL};
            const double lower = results[k].potential_lower, upper = results[k].potential_upper;
            double at[12], misfit[12];
            at[0] = results[k].potential;
            for (int i = 1; i < 12; i++) at[i] = lower + (upper - lower) * (i - 0.5) / 11.0;
            ASSERT_OK(context, paritas_losscone_profile(context, &one, &options, 12, at, misfit, NULL, NULL));
            if (fabs(misfit[0] - results[k].misfit) > 1e-6 * (1.0 + misfit[0])) fail_msg("variant %d, sweep %zu: %.12g at %.9g of %.9g .. %.9g, not %.12g", v, k, misfit[0], at[0], lower, upper, results[k].misfit);
            for (int i = 1; i < 12; i++) {
                assert_true(misfit[i] >= results[k].misfit - 1e-6 * (1.0 + misfit[0]));
                if (v == 2 || v == 3) ASSERT_CLOSE(misfit[i], results[k].misfit, 1e-9 * (1.0 + misfit[0]));
            }
        }
    }
    free_data(&d);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_lie_below_every_point_and_on_one),
        cmocka_unit_test(the_profile_at_the_minimum_is_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
