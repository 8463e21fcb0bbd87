/* test_model_devices.c: a user's model answers the CPU's bits on every kind of device, for every team size.
 * What is not here is skipped. OpenCL's drivers take half a minute over a fit: it runs with the argument
 * `opencl` alone. */
#include "device/matrix.h"
#include "model/bits.h"

/* What drivers and the compilers in them never give back is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\n";
}

typedef paritas_model_description (*describe)(void);

/* What is asked of a device: all, where its compiler is quick. */
struct wish {
    bool hessian, fits;
    unsigned minimisers; /* the first of paritas_minimizer */
};

static void answer(paritas_context *context, const paritas_model_description *description,
                   const struct wish *wish, struct bits *bits)
{
    static double rows[BITS_JOBS * PEAK_BINS];
    struct custom c = {.context = context};
    ASSERT_OK(context, paritas_model_define(context, description, &c.model));
    bits->n = 0;
    bits_rows(&c, rows);
    bits_of_values(&c, rows, wish->hessian, bits);
    for (unsigned m = 0; wish->fits && m < wish->minimisers; m++)
        bits_of_fits(&c, (paritas_minimizer)m, rows, false, bits);
    paritas_model_free(c.model);
}

static void compare(const struct cell *cell, const struct wish *wish)
{
    static struct bits wanted, got;
    const paritas_model_description description = (*(const describe *)cell->subject)();
    const struct target cpu = {"cpu", cell->target->precision, 0};
    paritas_context *context = target_open(cell->target);
    if (!context) skip();
    answer(context, &description, wish, &got);
    assert_true(context->device->launches > 0);
    target_close(cell->target, context);
    context = target_open(&cpu);
    answer(context, &description, wish, &wanted);
    target_close(&cpu, context);
    assert_bits(cell->name, &got, &wanted);
}

CLAIM(values_are_the_cpus)
{
    const struct cell *cell = *state;
    compare(cell, &(struct wish){.hessian = cell->target->workers == 1});
}
CLAIM(whole_fits_are_the_cpus)
{
    compare(*state, &(struct wish){.fits = true, .minimisers = 1});
}
CLAIM(all_answers_are_the_cpus)
{
    compare(*state, &(struct wish){.hessian = true, .fits = true, .minimisers = 3});
}

static const describe peak = peak_description, onoff = onoff_description, decay = decay_description;
static const struct subject models[] = {{"peak", &peak}, {"onoff", &onoff}, {"decay", &decay}};

static const struct target native[] = {
    {CUDA_TEXT, 64, 3}, {CUDA_TEXT, 64, 32}, {CUDA_TEXT, 32, 32}, {METAL_TEXT, 32, 1}, {METAL_TEXT, 32, 32}};
static const struct target real[] = {{"cuda", 64, 0}, {"cuda", 32, 7}, {"metal", 32, 0}};
static const struct target alone = {"opencl", 64, 1}, team = {"opencl", 64, 32}, floats = {"opencl", 32, 32},
                           odd = {"opencl", 64, 7};

int main(int count, char **arguments)
{
    static struct matrix matrix;
#define ADD(claim, ...) matrix_add(&matrix, #claim, claim, __VA_ARGS__)
    if (count > 1 && strcmp(arguments[1], "opencl") == 0) {
        ADD(values_are_the_cpus, &models[0], 1, &alone, 1);
        ADD(whole_fits_are_the_cpus, &models[0], 1, &team, 1);
        ADD(values_are_the_cpus, &models[1], 1, &floats, 1);
        ADD(values_are_the_cpus, &models[2], 1, &odd, 1);
    } else {
        ADD(all_answers_are_the_cpus, models, COUNT(models), native, COUNT(native));
        ADD(all_answers_are_the_cpus, models, COUNT(models), real, COUNT(real));
    }
    return matrix_run(&matrix);
}
