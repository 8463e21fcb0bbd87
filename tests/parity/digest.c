/* digest.c: digest [SEEDS]: the bits of everything that this build answers, in short.
 *
 * Prints one line a model and part of the interface: a 64-bit checksum of all result bytes (FNV-1a). Builds
 * for other compilers, optimisation levels, instruction sets and processors must print the same text. Models
 * are the random ones of tests/fit/workspaces.h, 0 .. SEEDS-1, and the example analyses; loss cones and
 * plasmas are those of tests/losscone/answers.h, in f64 and f32. PARITAS_ISA in the environment forces a
 * kernel build; exit 4 where it is not there. Plain C, no test framework: it is cross-compiled. */
#include "parity/results.h"
#include "fit/workspaces.h"
#include "losscone/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long checksum(const void *memory, size_t length)
{
    const unsigned char *bytes = memory;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Prints a model's lines. */
static int digest(paritas_context *context, const paritas_workspace *workspace, const char *name,
                  uint64_t seed)
{
    paritas_model *model;
    if (paritas_model_create(context, workspace, NULL, &model) != PARITAS_OK) {
        fprintf(stderr, "%s: %s\n", name, paritas_error_message(context));
        return 1;
    }
    int status = 0;
    for (int part = 0; part < RESULTS_PART_COUNT && status == 0; part++) {
        struct results results = {0};
        if (!results_collect(context, model, (enum results_part)part, seed, &results))
            status = 1;
        else
            printf("%s %s %zu bytes %016llx\n", name, results_part_names[part], results.length,
                   checksum(results.bytes, results.length));
        results_free(&results);
    }
    paritas_model_free(model);
    return status;
}

/* Prints the lines of loss cones and plasmas. */
static int digest_sample(const paritas_options *given, unsigned precision)
{
    paritas_options options = *given;
    paritas_context *context = NULL;
    const struct answers_wish wish = {0};
    struct sample *sample = sample_make();
    options.precision = precision;
    options.no_polish = 1;
    int status = !sample ? 1 : paritas_open(&options, &context) == PARITAS_OK ? 0 : 4;
    for (int part = 0; part < ANSWERS_PART_COUNT && status == 0; part++) {
        struct answers answers = {0};
        if (!answers_collect(context, sample, (enum answers_part)part, &wish, &answers))
            status = 1;
        else
            printf("f%u %s %zu numbers %016llx\n", precision, answers_part_names[part], answers.n,
                   checksum(answers.number, answers.n * sizeof *answers.number));
        answers_free(&answers);
    }
    if (status) fprintf(stderr, "failed: %s\n", context ? paritas_error_message(context) : "no sample");
    paritas_close(context);
    free(sample);
    return status;
}

int main(int argc, char **argv)
{
    const uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.isa = getenv("PARITAS_ISA");
    paritas_context *context;
    paritas_workspace *workspace;
    int status = paritas_open(&options, &context) == PARITAS_OK ? 0 : 4;
    if (status) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "no memory");
    for (uint64_t seed = 0; seed < seeds && status == 0; seed++) {
        char *text = random_workspace(seed, TRAIT_ALL), name[32];
        snprintf(name, sizeof name, "random_%llu", (unsigned long long)seed);
        status =
            !text || paritas_workspace_parse(context, text, strlen(text), name, &workspace) != PARITAS_OK;
        if (status == 0) {
            status = digest(context, workspace, name, seed);
            paritas_workspace_free(workspace);
        }
        free(text);
    }
    for (size_t k = 0; k < 2 && status == 0; k++) { /* those without a patch that ship */
        status = paritas_workspace_read(context, published[k].path, &workspace) != PARITAS_OK;
        if (status) break;
        status = digest(context, workspace, published[k].name, k);
        paritas_workspace_free(workspace);
    }
    if (status == 1) fprintf(stderr, "failed: %s\n", paritas_error_message(context));
    paritas_close(context);
    if (status == 0) status = digest_sample(&options, 64);
    if (status == 0) status = digest_sample(&options, 32);
    return status;
}
