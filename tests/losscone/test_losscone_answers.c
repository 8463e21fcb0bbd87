/* test_losscone_answers.c: what answers.c asks for is looked at: a few sweeps and spectra, all functions,
 * short enough for simulators of memory. */
#include "losscone/devices.h"

/* Inputs reach the answers: otherwise all that compares them would prove little. */
TEST(answers_differ_where_inputs_do)
{
    struct sample *sample = make_sample();
    const struct answers_wish wish = {.n = 8, .box_limit = 60, .few = true};
    for (unsigned part = 0; part < ANSWERS_PART_COUNT; part++) {
        struct answers before = reference(sample, 64, 1u << part, &wish);
        sample->flux[1319] *= 1.0 + 1e-9;
        sample->masked[1300] = 0.5;
        for (int j = 0; j < 88; j++) sample->measured[j] += 1.0;
        sample->truth[3] += 1.0;
        sample->azimuth[5] += 1e-9;
        sample->spectrum_flux[3] *= 1.0 + 1e-9;
        sample->plasma[1].theta *= 1.0 + 1e-9;
        struct answers after = reference(sample, 64, 1u << part, &wish);
        const char *difference = answers_difference(&after, &before);
        if (!difference) fail_msg("%s: no input was looked at", answers_part_names[part]);
        answers_free(&before);
        answers_free(&after);
    }
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_differ_where_inputs_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
