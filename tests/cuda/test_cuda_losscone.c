/* test_cuda_losscone.c: the CUDA text of the modules for loss cones and plasmas, run natively in teams of
 * several workers, answers the CPU's bits, in whatever order the workers take their turns; and a barrier that
 * is missing shows. The device is the CPU's, its kernels those of native_kernels.c. */
#include "cuda/cuda_native.h"
#include "losscone/devices.h"
#include "share.h"

/* ---- modules whose CPU kernels are the CUDA text ---- */

static char fault[256];      /* the first of a run's */
static size_t slab_elements; /* of the launch at hand */

/* Every team works in a slab of its own that holds no numbers: what it reads it must have written. */
static void run_entry(native_kernel kernel, const uint32_t *mi, const void *mr, const uint32_t *args,
                      const void *in, void *out, uint32_t team)
{
    uint32_t elements = 0, first_team = team;
    void *own = malloc((slab_elements + 1) * sizeof(double)),
         *arguments[] = {&mi, &mr, &args, &in, &out, &own, &elements, &first_team};
    assert_non_null(own);
    memset(own, 0xff, slab_elements * sizeof(double));
    const char *wrong = native_run(kernel, arguments, 1);
    if (wrong && !fault[0]) snprintf(fault, sizeof fault, "%s", wrong);
    free(own);
}

#define ENTRY(name, module, bits, number)                                                                \
    static void name##_f##bits(const uint32_t *mi, const void *mr, const uint32_t *args, const void *in, \
                               void *out, void *slab, uint32_t team)                                     \
    {                                                                                                    \
        (void)slab;                                                                                      \
        run_entry(native_##module##_f##bits[number].run, mi, mr, args, in, out, team);                   \
    }

#include "entry/losscone_entries.h"
enum {
#define X(name) LOSSCONE_##name,
    MODULE_ENTRIES(X)
#undef X
};
#define X(name) ENTRY(name, losscone, 64, LOSSCONE_##name) ENTRY(name, losscone, 32, LOSSCONE_##name)
MODULE_ENTRIES(X)
#undef X
#define X(name) name##_f64,
static const cpu_entry losscone_f64[] = {MODULE_ENTRIES(X)};
#undef X
#define X(name) name##_f32,
static const cpu_entry losscone_f32[] = {MODULE_ENTRIES(X)};
#undef X
#undef MODULE_ENTRIES

#include "entry/kappa_entries.h"
enum {
#define X(name) KAPPA_##name,
    MODULE_ENTRIES(X)
#undef X
};
#define X(name) ENTRY(name, kappa, 64, KAPPA_##name) ENTRY(name, kappa, 32, KAPPA_##name)
MODULE_ENTRIES(X)
#undef X
#define X(name) name##_f64,
static const cpu_entry kappa_f64[] = {MODULE_ENTRIES(X)};
#undef X
#define X(name) name##_f32,
static const cpu_entry kappa_f32[] = {MODULE_ENTRIES(X)};
#undef X

static const struct cpu_variant losscone_variants[] = {{"portable", 64, 1, 1, losscone_f64},
                                                       {"portable", 32, 1, 1, losscone_f32}};
static const struct cpu_variant kappa_variants[] = {{"portable", 64, 1, 1, kappa_f64},
                                                    {"portable", 32, 1, 1, kappa_f32}};

static paritas_status upload_native(paritas_context *context, struct paritas_device *device,
                                    const struct kernel_module *module, const struct device_tables *tables,
                                    void **handle)
{
    static struct kernel_module modules[2];
    const int kappa = strcmp(module->name, "kappa") == 0;
    assert_true(kappa || strcmp(module->name, "losscone") == 0);
    modules[kappa] = *module;
    modules[kappa].variants = kappa ? kappa_variants : losscone_variants;
    modules[kappa].n_variants = 2;
    const struct native_entry *native = kappa ? native_kappa_f64 : native_losscone_f64;
    for (unsigned k = 0; k < module->n_entries; k++) assert_string_equal(native[k].name, module->entries[k]);
    assert_null(native[module->n_entries].name);
    return DEVICE_KIND(PARITAS_DEVICE_CPU).model_upload(context, device, &modules[kappa], tables, handle);
}

static paritas_status launch_native(paritas_context *context, struct paritas_device *device, void *handle,
                                    const struct device_launch *launch)
{
    slab_elements = launch->slab;
    return DEVICE_KIND(PARITAS_DEVICE_CPU).launch(context, device, handle, launch);
}

/* A CPU whose kernels are the CUDA text. */
static paritas_context *open_native(unsigned precision)
{
    static struct device_operations operations;
    operations = DEVICE_KIND(PARITAS_DEVICE_CPU);
    operations.model_upload = upload_native;
    operations.launch = launch_native;
    paritas_context *context = open_as("cpu", "portable", precision, 1, 1, 0);
    assert_non_null(context);
    context->device->operations = &operations;
    return context;
}

/* ---- the same bits ---- */

static const struct {
    unsigned workers;
    enum native_order order;
    const char *name;
} teams[] = {{3, NATIVE_SHUFFLED, "3 workers, shuffled"},
             {32, NATIVE_SHUFFLED, "32 workers, shuffled"},
             {32, NATIVE_BACKWARD, "32 workers, backwards"},
             {1, NATIVE_FORWARD, "1 worker"}};

static void compare_teams(unsigned precision)
{
    struct sample *sample = make_sample();
    paritas_context *context = open_native(precision);
    const struct answers_wish wish = {.n = SHARE > 1 ? 3 : 0, .box_limit = 400};
    struct answers wanted = reference(sample, precision, DEVICE_PARTS, &wish);
    for (size_t t = 0; t < COUNT(teams); t++) {
        native_workers = teams[t].workers;
        native_settings = (struct native_settings){.order = teams[t].order, .seed = t};
        fault[0] = '\0';
        char name[64];
        snprintf(name, sizeof name, "f%u, %s", precision, teams[t].name);
        compare_answers(context, sample, DEVICE_PARTS, &wish, &wanted, name);
        if (fault[0]) fail_msg("%s: %s", name, fault);
    }
    answers_free(&wanted);
    paritas_close(context);
    free(sample);
}

TEST(all_answers_are_the_cpus_in_f64)
{
    compare_teams(64);
}
TEST(all_answers_are_the_cpus_in_f32)
{
    compare_teams(32);
}

/* ---- a missing barrier shows ---- */

static char shown[256];

static bool shows(paritas_context *context, const struct sample *sample, const struct answers_wish *wish,
                  struct native_place dropped, const struct answers *wanted)
{
    bool differs = false;
    for (unsigned k = 0; k < 3 && !differs; k++) {
        native_workers = 5;
        native_settings =
            (struct native_settings){.order = (enum native_order)k, .seed = 5, .dropped = dropped};
        fault[0] = '\0';
        struct answers got = {0};
        for (unsigned part = 0; part < ANSWERS_PART_COUNT && !differs; part++)
            if (DEVICE_PARTS >> part & 1)
                differs = !answers_collect(context, sample, (enum answers_part)part, wish, &got);
        const char *difference = answers_difference(&got, wanted);
        differs |= fault[0] || difference;
        snprintf(shown, sizeof shown, "%s",
                 fault[0]     ? fault
                 : difference ? difference
                              : paritas_error_message(context));
        answers_free(&got);
    }
    return differs;
}

TEST(a_barrier_that_is_missing_shows)
{
    struct sample *sample = make_sample();
    paritas_context *context = open_native(64);
    const struct answers_wish wish = {.n = 2, .box_limit = 60, .few = true};
    struct answers wanted = reference(sample, 64, DEVICE_PARTS, &wish);
    native_forget_barriers();
    if (shows(context, sample, &wish, (struct native_place){NULL, 0}, &wanted))
        fail_msg("without any: %s", shown);
    const struct native_place *met;
    const size_t n = native_barriers(&met);
    struct native_place places[256];
    assert_true(n > 20 && n <= COUNT(places));
    memcpy(places, met, n * sizeof *met);
    size_t seen = 0, tried = 0;
    for (size_t k = 0; k < n; k += SHARE > 1 ? 7 : 1) {
        tried++;
        if (shows(context, sample, &wish, places[k], &wanted))
            seen++;
        else
            print_message("not missed: %s:%u\n", places[k].file, places[k].line);
    }
    print_message("%zu of %zu barriers are missed\n", seen, tried);
    assert_true(3 * seen >= tried);
    answers_free(&wanted);
    paritas_close(context);
    free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_answers_are_the_cpus_in_f64),
        cmocka_unit_test(all_answers_are_the_cpus_in_f32),
        cmocka_unit_test(a_barrier_that_is_missing_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
