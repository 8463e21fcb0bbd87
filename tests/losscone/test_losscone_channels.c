/* Channels of the folded edge by the measured spectrum, and noise from counts. */
#include "losscone/cases.h"

/* A power law has a closed form: exp(-2.5 sigma^2 + sigma z), z where the mean over a normal distribution
 * passes the geometric mean of two levels. */
TEST(channels_of_a_power_law_have_their_closed_form)
{
    static const double steps[5] = {1.2521, 0.5053, -0.0229, -0.5665, -1.5327};
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(2);
    double channel[2 * ROWS * 5];
    const double sigma = asinh(0.25) / sqrt(2.0 * log(2.0));
    for (int i = 0; i < 2 * ROWS; i++) {
        d.energy[i] = 40.0 * pow(1.5, i % ROWS);
        d.potential[i] = 10.0;
        for (int j = 0; j < CELLS; j++) {
            d.cosine[i * CELLS + j] = j < 44 ? 0.5 : -0.5;
            /* only incident cells count, and the second sweep has a row without electrons */
            d.flux[i * CELLS + j] = j >= 44 || i == ROWS + 6 ? 0.0 : 1e3 * pow(d.energy[i], -2.5);
        }
    }
    ASSERT_OK(context, paritas_losscone_channels(context, &d.sweeps, NULL, d.flux, channel));
    for (int i = 0; i < 2 * ROWS; i++)
        for (int n = 0; n < 5; n++)
            ASSERT_CLOSE(channel[5 * i + n], exp(-2.5 * sigma * sigma + sigma * steps[n]), 1e-9);
    for (int i = 0; i < ROWS * CELLS; i++) d.flux[i] = 0.0;
    ASSERT_OK(context, paritas_losscone_channels(context, &d.sweeps, NULL, d.flux, channel));
    assert_true(isnan(channel[0]) && isnan(channel[5 * ROWS - 1]) && channel[5 * ROWS] > 0.0);
    free_data(&d);
    paritas_close(context);
}

static void fit(paritas_context *context, const paritas_sweeps *sweeps, paritas_losscone_result *results,
                paritas_confidence *sets)
{
    paritas_losscone_options options = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    options.response = PARITAS_LOSSCONE_RESPONSE_FOLDED;
    for (size_t k = 0; k < sweeps->n; k++) {
        results[k] = (paritas_losscone_result){.size = sizeof *results};
        sets[k] = (paritas_confidence){.size = sizeof *sets};
    }
    ASSERT_OK(context, paritas_losscone_fit(context, sweeps, &options, results));
    ASSERT_OK(context, paritas_losscone_confidence(context, sweeps, &options, results, NULL, 0.0, sets));
}

TEST(channels_of_equal_weight_have_the_bits_of_none)
{
    enum { n = 3 };
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(n);
    uint64_t random = 11;
    double channel[n * ROWS * 5];
    paritas_losscone_result results[2][n];
    paritas_confidence sets[2][n];
    for (size_t k = 0; k < n; k++) make_sweep(context, NULL, &d, k, &random);
    for (int i = 0; i < n * ROWS * 5; i++) /* a row that does not fall is none */
        channel[i] = i / 5 == 4 ? (double)NAN : i / 5 == 9 ? 1.0 + i % 5 : 1.25 - 0.125 * (i % 5);
    fit(context, &d.sweeps, results[0], sets[0]);
    d.sweeps.channel = channel;
    fit(context, &d.sweeps, results[1], sets[1]);
    assert_memory_equal(results[0], results[1], sizeof results[0]);
    for (size_t k = 0; k < n; k++) /* 6 s^2 with channels, 4 s^2 without */
        ASSERT_CLOSE(sets[1][k].threshold, 1.5 * sets[0][k].threshold, 1e-12);
    free_data(&d);
    paritas_close(context);
}

TEST(counts_enlarge_sets_where_they_are_few_and_change_nothing_where_they_are_many)
{
    enum { n = 3 };
    paritas_context *context = open_context(NULL, 64, 1, 0);
    struct data d = make_data(n);
    uint64_t random = 12;
    double *counts = make_array(n * ALL, sizeof *counts);
    paritas_losscone_result results[n];
    paritas_confidence none[n], many[n], few[n];
    for (size_t k = 0; k < n; k++) make_sweep(context, NULL, &d, k, &random);
    fit(context, &d.sweeps, results, none);
    d.sweeps.counts = counts;
    for (int i = 0; i < n * ALL; i++) counts[i] = 1e9;
    fit(context, &d.sweeps, results, many);
    assert_memory_equal(none, many, sizeof none);
    for (int i = 0; i < n * ALL; i++) counts[i] = 100.0; /* 5 inside the cone */
    fit(context, &d.sweeps, results, few);
    for (size_t k = 0; k < n; k++) assert_true(few[k].threshold > 1.1 * none[k].threshold);
    free(counts);
    free_data(&d);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_of_a_power_law_have_their_closed_form),
        cmocka_unit_test(channels_of_equal_weight_have_the_bits_of_none),
        cmocka_unit_test(counts_enlarge_sets_where_they_are_few_and_change_nothing_where_they_are_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
