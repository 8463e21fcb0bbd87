/* test_metal_losscone.c: loss cones, kappa distributions and potentials on Metal devices are the CPU's in
 * f32, bit by bit. On a Mac with its own device; elsewhere, where FAKE_METAL names it, by the library that
 * runs the Metal text as native code. */
#include "device/accelerator.h"
#include "device/metal/metal.h"
#include "losscone/devices.h"
#include "share.h"
#if defined(FAKE_METAL)
#include "flush.h"
#include "metal/metal_fake.h"
#endif

static void compare_with(unsigned workers, const struct answers_wish *wish, const char *name)
{
    paritas_context *context = open_as("metal", NULL, 32, 0, 1, workers);
    if (!context) skip();
    struct sample *sample = make_sample();
    struct answers wanted = reference(sample, 32, DEVICE_PARTS, wish);
    compare_answers(context, sample, DEVICE_PARTS, wish, &wanted, name);
    const struct accelerator *accelerator = context->device->state;
    unsigned loaded = 0, all = 0;
    for (const struct accelerator_module *m = accelerator->modules;
         m < accelerator->modules + ACCELERATOR_MODULES_MAX && m->module; m++)
        for (unsigned k = 0; k < m->module->n_entries; k++) {
            if (strcmp(m->module->entries[k], "losscone_cosines") == 0) continue; /* in f64, on the host */
            all++;
            loaded += m->kernels[k].function != NULL || m->alone[k].function != NULL;
            if (!m->kernels[k].function && !m->alone[k].function)
                print_error("%s was not run\n", m->module->entries[k]);
        }
    print_message("%s, %u workers: %zu numbers equal, %u of %u entries\n", name, workers, wanted.n, loaded,
                  all);
    assert_int_equal(loaded, all);
    answers_free(&wanted);
    paritas_close(context);
    free(sample);
}

TEST(a_metal_device_of_this_system_answers_the_bits_of_the_cpu)
{
    const struct answers_wish all = {0};
    metal_library = NULL;
    compare_with(0, &all, "this system");
    compare_with(32, &all, "this system");
}

#if defined(FAKE_METAL)
static void compare_fake(unsigned workers, enum team_order order, bool flushes,
                         const struct answers_wish *wish)
{
    char name[64];
    snprintf(name, sizeof name, "order %d%s", (int)order, flushes ? ", flushing" : "");
    fake_metal_reset();
    fake_metal.order = order;
    fake_metal.flushes = flushes;
    metal_library = FAKE_METAL;
    compare_with(workers, wish, name);
    assert_true(fake_metal.was_safe);
    assert_string_equal(fake_metal.violation, "");
    assert_int_equal(fake_metal.live, 0);
    assert_int_equal(fake_metal.pools, 0);
}

static const struct answers_wish some = {.n = SHARE > 1 ? 3 : 0, .chunk = 10, .box_limit = 400};

TEST(the_text_answers_the_bits_of_the_cpu_with_any_number_of_workers_in_any_order)
{
    compare_fake(1, TEAM_ASCENDING, false, &some);
    compare_fake(3, TEAM_DESCENDING, false, &some);
    compare_fake(32, TEAM_TURNING, false, &some);
}

TEST(a_device_that_flushes_subnormal_numbers_answers_the_same_bits)
{
    if (!FLUSH_IS_KNOWN) skip();
    compare_fake(3, TEAM_TURNING, true, &some);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_metal_device_of_this_system_answers_the_bits_of_the_cpu),
#if defined(FAKE_METAL)
        cmocka_unit_test(the_text_answers_the_bits_of_the_cpu_with_any_number_of_workers_in_any_order),
        cmocka_unit_test(a_device_that_flushes_subnormal_numbers_answers_the_same_bits),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
