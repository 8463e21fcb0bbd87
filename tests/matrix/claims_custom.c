/* claims_custom.c: models that users wrote (docs/models.md) have the CPU's bits. */
#include "matrix/matrix.h"
#include "model/bits.h"

typedef paritas_model_description (*describe)(void);

enum { VALUES = 1, HESSIAN = 2, NEWTON = 4, ALL_MINIMISERS = 8 };

static void ask(const struct cell *cell, paritas_context *context, unsigned parts, struct results *results)
{
    static double rows[BITS_JOBS * PEAK_BINS];
    static struct bits bits;
    const paritas_model_description description = (*(const describe *)cell->subject)();
    const unsigned minimisers = parts & ALL_MINIMISERS ? 3 : parts & NEWTON ? 1 : 0;
    struct custom c = {.context = context};
    ASSERT_OK(context, paritas_model_define(context, &description, &c.model));
    bits.n = 0;
    bits_rows(&c, rows);
    bits_of_values(&c, rows, parts & HESSIAN, &bits);
    for (unsigned m = 0; m < minimisers; m++) bits_of_fits(&c, (paritas_minimizer)m, rows, false, &bits);
    append_bytes(results, bits.number, bits.n * sizeof *bits.number);
    paritas_model_free(c.model);
}

CLAIM(values_are_the_cpus)
{
    const struct cell *cell = *state;
    matrix_compare(cell, ask, cell->target->workers == 1 ? VALUES | HESSIAN : VALUES);
}
CLAIM(whole_fits_are_the_cpus)
{
    matrix_compare(*state, ask, VALUES | NEWTON);
}
CLAIM(all_answers_are_the_cpus)
{
    matrix_compare(*state, ask, VALUES | HESSIAN | ALL_MINIMISERS);
}

static const describe peak = peak_description, onoff = onoff_description, decay = decay_description;
static const struct subject models[] = {{"peak", &peak}, {"onoff", &onoff}, {"decay", &decay}};

static const struct target texts[] = {ON(CUDA_TEXT, 64, 3, .turns = TURNS_MIXED),
                                      ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED),
                                      ON(CUDA_TEXT, 32, 32, .turns = TURNS_MIXED), ON(METAL_TEXT, 32, 1),
                                      ON(METAL_TEXT, 32, 32)},
                           devices[] = {ON("cuda", 64, 0), ON("cuda", 32, 7), ON("metal", 32, 0)};
/* OpenCL's drivers take half a minute over a fit. */
static const struct target alone = ON("opencl", 64, 1), team = ON("opencl", 64, 32),
                           floats = ON("opencl", 32, 32), odd = ON("opencl", 64, 7);

void add_custom(struct matrix *matrix)
{
    ADD(matrix, all_answers_are_the_cpus, models, COUNT(models), texts, COUNT(texts));
    ADD(matrix, all_answers_are_the_cpus, models, COUNT(models), devices, COUNT(devices));
    ADD(matrix, values_are_the_cpus, &models[0], 1, &alone, 1);
    ADD(matrix, whole_fits_are_the_cpus, &models[0], 1, &team, 1);
    ADD(matrix, values_are_the_cpus, &models[1], 1, &floats, 1);
    ADD(matrix, values_are_the_cpus, &models[2], 1, &odd, 1);
}
