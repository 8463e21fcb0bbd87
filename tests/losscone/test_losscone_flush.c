/* test_losscone_flush.c: loss cones and plasmas in f32 on a processor that flushes subnormal numbers, as many
 * devices do: the same bits as where such numbers are used in full, also where fluxes are next to nothing. */
#include "flush.h"
#include "losscone/devices.h"
#include "share.h"

static paritas_status launch_flushing(paritas_context *context, struct paritas_device *device, void *handle,
                                      const struct device_launch *launch)
{
    const uint64_t mode = flush_begin();
    const paritas_status status = DEVICE_KIND(PARITAS_DEVICE_CPU).launch(context, device, handle, launch);
    flush_end(mode);
    return status;
}

TEST(flushing_changes_no_bit)
{
    static const double scales[] = {1.0, 1e-12, 1e-22, 1e-30, 1e-36, 1e-39, 1e-43};
    static const unsigned lanes[] = {1, 0};
    if (!FLUSH_IS_KNOWN) skip_because(FLUSH_UNKNOWN);
    struct device_operations flushing = DEVICE_KIND(PARITAS_DEVICE_CPU);
    flushing.launch = launch_flushing;
    for (size_t k = 0; k < COUNT(scales); k += SHARE) {
        struct sample *sample = make_sample();
        const struct answers_wish wish = {.n = k ? 8 : 0, .box_limit = 400};
        for (size_t i = 0; i < COUNT(sample->flux); i++)
            sample->flux[i] *= scales[k], sample->masked[i] *= scales[k];
        for (size_t i = 0; i < COUNT(sample->spectrum_flux); i++) sample->spectrum_flux[i] *= scales[k];
        for (size_t i = 0; k && i < SAMPLE_SWEEPS; i++) sample->truth[3 * i + 2] *= scales[k];
        struct answers wanted = reference(sample, 32, DEVICE_PARTS & ~(1u << ANSWERS_COSINES), &wish);
        for (size_t l = 0; l < COUNT(lanes); l++) {
            paritas_context *context = open_as("cpu", l ? NULL : "portable", 32, lanes[l], 1, 0);
            char name[64];
            snprintf(name, sizeof name, "fluxes times %g, %s, flushing", scales[k], l ? "lanes" : "portable");
            context->device->operations = &flushing;
            compare_answers(context, sample, DEVICE_PARTS & ~(1u << ANSWERS_COSINES), &wish, &wanted, name);
            context->device->operations = &DEVICE_KIND(PARITAS_DEVICE_CPU);
            paritas_close(context);
        }
        answers_free(&wanted);
        free(sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flushing_changes_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
