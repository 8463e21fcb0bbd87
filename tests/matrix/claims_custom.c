/* claims_custom.c: models that users wrote (docs/models.md) have the CPU's bits. */
#include "matrix/matrix.h"
#include "model/bits.h"
#include "paritas_sample.h"

typedef paritas_model_description (*describe)(void);

enum { VALUES = 1, HESSIAN = 2, NEWTON = 4, ALL_MINIMISERS = 8, CHAINS = 16 };

/* A few draws of a few chains. */
static void append_chains(const struct custom *c, struct results *results)
{
    enum { N = 3, DRAWS = 5 };
    double parameters[N * DRAWS * PEAK_PARAMETERS] = {0};
    paritas_draw draws[N * DRAWS] = {0};
    paritas_chain chains[N] = {PARITAS_INIT(paritas_chain)};
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    options.chains = N;
    options.draws = DRAWS;
    options.warmup = 5;
    options.max_depth = 4;
    spoil_memory(c->context);
    ASSERT_OK(c->context, paritas_sample(c->context, c->model, NULL, &options,
                                         SIZED(paritas_sample_answers, .parameters = parameters,
                                               .draws = draws, .chains = chains)));
    append_bytes(results, parameters, sizeof parameters);
    append_bytes(results, draws, sizeof draws);
    append_bytes(results, chains, sizeof chains);
}

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
    if (parts & VALUES) bits_of_values(&c, rows, parts & HESSIAN, &bits);
    for (unsigned m = 0; m < minimisers; m++) bits_of_fits(&c, (paritas_minimizer)m, rows, false, &bits);
    append_bytes(results, bits.number, bits.n * sizeof *bits.number);
    if (parts & CHAINS) append_chains(&c, results);
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
CLAIM(chains_are_the_cpus)
{
    matrix_compare(*state, ask, CHAINS);
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
    ADD(matrix, chains_are_the_cpus, models, COUNT(models), texts, 2);
    ADD(matrix, chains_are_the_cpus, models, COUNT(models), devices, 1);
    ADD(matrix, chains_are_the_cpus, models, COUNT(models), &team, 1);
    ADD(matrix, values_are_the_cpus, &models[0], 1, &alone, 1);
    ADD(matrix, whole_fits_are_the_cpus, &models[0], 1, &team, 1);
    ADD(matrix, values_are_the_cpus, &models[1], 1, &floats, 1);
    ADD(matrix, values_are_the_cpus, &models[2], 1, &odd, 1);
}
