/* losscone_races.c: runs the kernels for loss cones, kappa distributions and potentials on an OpenCL device,
 * for a simulator that finds data races (tests/opencl/races). Its argument is the size of the work-groups. */
#include "losscone/answers.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context = NULL;
    options.device = "opencl";
    options.workers = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 8;
    options.threads = 1;
    struct sample *sample = sample_make();
    const struct answers_wish wish = {.n = 1, .box_limit = 10, .few = true};
    struct answers answers = {0};
    int good = sample && paritas_open(&options, &context) == PARITAS_OK;
    for (int part = 0; good && part < ANSWERS_PART_COUNT; part++) {
        good = answers_collect(context, sample, (enum answers_part)part, &wish, &answers);
        printf("%s: %zu numbers\n", answers_part_names[part], answers.n);
    }
    if (!good) printf("%s\n", context ? paritas_error_message(context) : "no sample");
    answers_free(&answers);
    paritas_close(context);
    free(sample);
    return !good;
}
