/* sample_key.c: what the draws of a run depend on, as named texts. */
#include "sample/sample_store.h"
#include "base/json/json.h"
#include "store/store_run.h"
#include "toys/toys.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES 16
#define LONGEST_NUMBER 32

static const char *numbered(struct infer *infer, const char *format, double value)
{
    char *text = infer_array(infer, LONGEST_NUMBER, 1);
    if (text) snprintf(text, LONGEST_NUMBER, format, value);
    return text;
}

static const char *counted(struct infer *infer, uint64_t value)
{
    char *text = infer_array(infer, LONGEST_NUMBER, 1);
    if (text) snprintf(text, LONGEST_NUMBER, "%llu", (unsigned long long)value);
    return text;
}

/* "mu=gamma:2,1.5 nu=normal:0,1" */
static paritas_status describe_priors(struct infer *infer, const paritas_sample_options *options,
                                      const char **found)
{
    const paritas_enumeration *kinds = paritas_enumeration_find("paritas_prior_kind");
    struct text text;
    text_open(&text, &infer->context->allocator);
    for (size_t i = 0; i < options->n_priors; i++) {
        const paritas_prior *prior = &options->priors[i];
        text_format(&text, "%s%s=%s:%.17g,%.17g", i > 0 ? " " : "",
                    paritas_model_parameter_name(infer->model, prior->parameter),
                    paritas_enumeration_word(kinds, prior->kind), prior->numbers[0], prior->numbers[1]);
    }
    char *copy = infer_array(infer, text.length + 1, 1);
    if (copy && text.length > 0) memcpy(copy, text.bytes, text.length);
    *found = copy;
    infer->out_of_memory = infer->out_of_memory || text.failed;
    text_free(&text);
    return infer_memory(infer);
}

paritas_status sample_key_make(struct infer *infer, const paritas_sample_options *options,
                               struct store_run **run)
{
    paritas_key_entry *entries = infer_array(infer, ENTRIES, sizeof *entries), *e = entries;
    const char **names = infer_array(infer, infer->n_parameters, sizeof *names), *priors;
    char *digest = infer_array(infer, 72, 1);
    *run = infer_array(infer, 1, sizeof **run);
    TRY(infer_memory(infer));
    *e++ = (paritas_key_entry){"command", "sample"};
    TRY(paritas_model_digest(infer->context, infer->model, digest));
    *e++ = (paritas_key_entry){"digest", digest}; /* also of the parameters' names */
    TRY(toys_add_job(infer, &e));
    TRY(describe_priors(infer, options, &priors));
    if (options->n_priors > 0) *e++ = (paritas_key_entry){"priors", priors};
    *e++ = (paritas_key_entry){"chains", counted(infer, options->chains)};
    *e++ = (paritas_key_entry){"warmup", counted(infer, options->warmup)};
    *e++ = (paritas_key_entry){"seed", counted(infer, options->seed)};
    *e++ = (paritas_key_entry){"target", numbered(infer, "%.17g", options->target)};
    *e++ = (paritas_key_entry){"max_depth", counted(infer, options->max_depth)};
    *e++ = (paritas_key_entry){"version", paritas_version()};
    for (size_t i = 0; i < infer->n_parameters; i++) names[i] = paritas_model_parameter_name(infer->model, i);
    **run = (struct store_run){STORE_FITS, (size_t)(e - entries), entries, infer->n_parameters, names};
    return infer_memory(infer);
}

paritas_status sample_key_check(paritas_context *context, const char *path, const struct store_run *run,
                                const struct store_run *there)
{
    const struct store_run ours = {run->kind, run->n_entries, run->entries, 0, NULL},
                           theirs = {run->kind, there->n_entries, there->entries, 0, NULL};
    return run_compare(context, path, &theirs, &ours, NULL, "this run", PARITAS_INVALID_ARGUMENT);
}
