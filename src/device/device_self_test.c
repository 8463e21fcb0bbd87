/* device_self_test.c: compares a device with the CPU bit by bit. */
#include "device/device_self_test.h"

#include <string.h>

extern const struct kernel_module paritas_module_conformance;

const char *self_test_word(unsigned group)
{
#define WORD(name, word) word,
    static const char *const words[CONFORM_GROUPS] = {CONFORM_GROUP_LIST(WORD)};
#undef WORD
    return words[group];
}

/* Numbers from 2^-20 to 2^6, both signs, exact in f32, the same everywhere. */
void self_test_fill(struct self_test_data *data)
{
    uint32_t state = 1;
    for (size_t i = 0; i < SELF_TEST_ROWS * CONFORM_IN + CONFORM_REALS; i++) {
        state = state * 747796405u + 2891336453u;
        const uint32_t mixed = (state >> ((state >> 28) + 4) ^ state) * 277803737u,
                       bits = mixed >> 22 ^ mixed;
        const double number = (double)(0x800000 | (bits & 0x7fffff)) /
                              (double)((uint64_t)1 << (18 + (bits >> 23) % 26)) * (bits >> 31 ? -1.0 : 1.0);
        *(i < SELF_TEST_ROWS * CONFORM_IN ? &data->in[i] : &data->reals[i - SELF_TEST_ROWS * CONFORM_IN]) =
            number;
    }
    for (uint32_t i = 0; i < CONFORM_SHARED; i++) data->ints[i] = (77 * i + 13) % CONFORM_SHARED;
    for (uint32_t i = 0; i < CONFORM_INTS - CONFORM_SHARED; i++) data->ints[CONFORM_SHARED + i] = 5 * i % 8;
}

paritas_status self_test_launch(paritas_context *context, struct paritas_device *device,
                                const struct self_test_data *data, unsigned lanes, bool usual_teams,
                                double *out)
{
    const struct device_tables tables = {data->ints, data->reals, CONFORM_INTS, CONFORM_REALS};
    const uint32_t args[] = {SELF_TEST_ROWS, 8};
    const struct device_launch launch = {.entry = 0,
                                         .rows = SELF_TEST_ROWS,
                                         .args = args,
                                         .in = data->in,
                                         .out = out,
                                         .n_args = 2,
                                         .n_in = COUNT_OF(data->in),
                                         .n_out = SELF_TEST_OUT,
                                         .slab = CONFORM_SLAB,
                                         .slab_most = CONFORM_SLAB,
                                         .touched = CONFORM_SLAB,
                                         .lanes = lanes,
                                         .usual_teams = usual_teams};
    void *handle = NULL;
    paritas_status status =
        device->operations->model_upload(context, device, &paritas_module_conformance, &tables, &handle);
    if (status == PARITAS_OK) status = device->operations->launch(context, device, handle, &launch);
    device->operations->model_release(device, handle);
    return status;
}

static paritas_status compare(paritas_context *context, const struct paritas_device *device,
                              const double *got, const double *wanted)
{
    for (unsigned group = 0; group < CONFORM_GROUPS; group++)
        for (size_t row = 0; row < SELF_TEST_ROWS; row++) {
            const size_t at = row * CONFORM_OUT + 8 * group;
            if (memcmp(got + at, wanted + at, 8 * sizeof *got) != 0)
                return paritas_fail(
                    context, PARITAS_NO_DEVICE,
                    "device '%s': its self-test failed: %s gives other bits than the CPU's in f%u",
                    device->name, self_test_word(group), device->precision);
        }
    return PARITAS_OK;
}

/* Finds the CPU's answers, on a CPU opened for them. */
static paritas_status reference(paritas_context *context, unsigned precision,
                                const struct self_test_data *data, double *wanted)
{
    const struct device_operations *operations = &DEVICE_KIND(PARITAS_DEVICE_CPU);
    struct paritas_device cpu = {.operations = operations,
                                 .allocator = context->allocator,
                                 .precision = precision,
                                 .threads = 1,
                                 .name = "cpu"};
    paritas_status status = operations->open(context, &cpu, NULL);
    if (status != PARITAS_OK) return status;
    status = self_test_launch(context, &cpu, data, 1, false, wanted);
    operations->close(&cpu);
    return status;
}

paritas_status self_test_run(paritas_context *context, struct paritas_device *device, bool usual_teams)
{
    struct self_test_data *data = paritas_allocate(context, 1, sizeof *data);
    double *wanted = paritas_allocate(context, 2 * SELF_TEST_OUT, sizeof *wanted),
           *got = wanted ? wanted + SELF_TEST_OUT : NULL;
    paritas_status status = data && wanted ? PARITAS_OK : paritas_fail_memory(context);
    if (status == PARITAS_OK) {
        self_test_fill(data);
        status = reference(context, device->precision, data, wanted);
    }
    if (status == PARITAS_OK) status = self_test_launch(context, device, data, 1, usual_teams, got);
    if (status == PARITAS_OK) status = compare(context, device, got, wanted);
    paritas_release(&context->allocator, data);
    paritas_release(&context->allocator, wanted);
    return status;
}
