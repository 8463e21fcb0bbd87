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

static uint32_t next_bits(uint32_t *state)
{
    *state = *state * 747796405u + 2891336453u;
    const uint32_t mixed = (*state >> ((*state >> 28) + 4) ^ *state) * 277803737u;
    return mixed >> 22 ^ mixed;
}

/* Draws a number from 2^-20 to 2^6, of either sign, with as many bits as the precision has. */
static double next_number(uint32_t *state, unsigned precision)
{
    const uint32_t bits = next_bits(state), more = precision == 64 ? next_bits(state) >> 3 : 0;
    const double mantissa = (double)(0x800000 | (bits & 0x7fffff)) + (double)more / (1 << 29);
    return mantissa / (double)((uint64_t)1 << (18 + (bits >> 23) % 26)) * (bits >> 31 ? -1.0 : 1.0);
}

/* The same numbers everywhere, exact in the precision. Half of the c are -a b, rounded: there fma gives what
 * rounding took away, and two roundings give 0. */
void self_test_fill(struct self_test_data *data, unsigned precision)
{
    uint32_t state = 1;
    for (size_t i = 0; i < COUNT_OF(data->in); i++) data->in[i] = next_number(&state, precision);
    for (size_t i = 0; i < CONFORM_ELEMS; i++) data->reals[i] = next_number(&state, precision);
    for (size_t row = 0; row < SELF_TEST_ROWS; row++)
        for (size_t i = 1; i < 8; i += 2) {
            double *a = data->in + row * CONFORM_IN + i;
            a[16] = -(precision == 64 ? a[0] * a[8] : (double)(float)(a[0] * a[8]));
        }
    /* a b lies in the middle between two numbers, and c decides: fma by way of more digits rounds twice */
    static const double middles[2][3] = {{257.0 / 128, 65281.0 / 65536, 0x1p-53},
                                         {321.0 / 256, 28059810762433.0 / 0x1p45, 0x1p-70}};
    for (size_t k = 0; k < 3; k++)
        data->in[SELF_TEST_MIDDLE * CONFORM_IN + 8 * k] = middles[precision == 64][k];
    for (uint32_t i = 0; i < CONFORM_SHARED; i++) data->ints[i] = (77 * i + 13) % CONFORM_SHARED;
    for (uint32_t i = 0; i < CONFORM_INTS - CONFORM_SHARED; i++) data->ints[CONFORM_SHARED + i] = 5 * i % 8;
}

paritas_status self_test_launch(paritas_context *context, struct paritas_device *device,
                                const struct self_test_data *data, unsigned lanes, bool usual_teams,
                                double *out)
{
    const struct device_tables tables = {data->ints, data->reals, CONFORM_INTS, CONFORM_ELEMS};
    const uint32_t args[] = {SELF_TEST_ROWS, 8, CONFORM_SHARED};
    const struct device_launch launch = {.entry = 0,
                                         .rows = SELF_TEST_ROWS,
                                         .args = args,
                                         .in = data->in,
                                         .out = out,
                                         .n_args = COUNT_OF(args),
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
        self_test_fill(data, device->precision);
        status = reference(context, device->precision, data, wanted);
    }
    if (status == PARITAS_OK) status = self_test_launch(context, device, data, 1, usual_teams, got);
    if (status == PARITAS_OK) status = compare(context, device, got, wanted);
    paritas_release(&context->allocator, data);
    paritas_release(&context->allocator, wanted);
    return status;
}
