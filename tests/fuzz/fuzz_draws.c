/* fuzz_draws.c: any bytes are the store of a run of chains. It is refused by name, or the run goes on. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "fuzz_model.h"
#include "paritas_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHAINS = 2, DRAWS = 4, PARAMETERS = 8 };

static paritas_context *opened(void)
{
    static paritas_context *context;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 1;
    if (!context) check(paritas_open(&options, &context) == PARITAS_OK);
    return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double parameters[CHAINS * DRAWS * PARAMETERS];
    static paritas_draw draws[CHAINS * DRAWS];
    paritas_chain chains[CHAINS] = {PARITAS_INIT(paritas_chain)};
    paritas_context *const context = opened();
    const paritas_model *const model = fuzz_two_bins(context);
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    const paritas_sample_answers answers = {
        .size = sizeof answers, .parameters = parameters, .draws = draws, .chains = chains};
    check(paritas_model_parameter_count(model) <= PARAMETERS);
    fuzz_write(data, size);
    options.chains = CHAINS;
    options.draws = DRAWS;
    options.warmup = 4;
    options.max_depth = 3;
    options.resume = 1;
    options.store = fuzz_path;
    const paritas_status status = paritas_sample(context, model, NULL, &options, &answers);
    if (status)
        check((status == PARITAS_INVALID_INPUT || status == PARITAS_INVALID_ARGUMENT) &&
              strstr(context->message, fuzz_path) != NULL);
    return 0;
}
