/* toys_key.c: which toys a run has, and what its store is known by. */
#include "base/json.h"
#include "base/sized.h"
#include "infer/toys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

paritas_status toys_take_options(paritas_context *context, const paritas_toys_options *given,
                                 paritas_toys_options *options)
{
    *options = (paritas_toys_options)PARITAS_TOYS_OPTIONS_DEFAULT;
    return SIZED_TAKE(context, paritas_toys_options, "options", given, options);
}

paritas_status toys_share(paritas_context *context, const paritas_toys_options *options, uint64_t *first,
                          uint64_t *end)
{
    const uint64_t n = options->n ? options->n : 2000;
    const bool whole = options->shard == 0 && options->shards == 0;
    const unsigned shards = whole ? 1 : options->shards, shard = whole ? 1 : options->shard;
    if (shard < 1 || shard > shards)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "shard %u/%u: there are 1 to %u", shard,
                            shards, shards);
    if (n >> 48)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%llu toys: there are at most 2^48",
                            (unsigned long long)n);
    if (n < shards)
        return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "%llu toys cannot be cut into %u shards",
                            (unsigned long long)n, shards);
    /* n / shards each, the first n % shards of them one more */
    const uint64_t each = n / shards, more = n % shards, before = shard - 1;
    *first = before * each + (before < more ? before : more);
    *end = *first + each + (before < more ? 1 : 0);
    return PARITAS_OK;
}

/* Hash of what the fits are made of: the frozen model, and the job with no default left. */
static paritas_status digest(const struct infer *infer, char hex[65])
{
    const struct frozen *f = paritas_model_frozen(infer->model);
    const size_t p = infer->n_parameters;
    const struct {
        const void *bytes;
        size_t length;
    } parts[] = {{f->tables.ints, f->tables.n_ints * sizeof *f->tables.ints},
                 {f->tables.reals, f->tables.n_reals * sizeof *f->tables.reals},
                 {infer->base.data, infer->n_data * sizeof(double)},
                 {infer->base.start, p * sizeof(double)},
                 {infer->base.lower, p * sizeof(double)},
                 {infer->base.upper, p * sizeof(double)},
                 {infer->base.fixed, p}};
    struct text text;
    text_open(&text, &infer->context->allocator);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        text_append(&text, parts[k].bytes, parts[k].length);
    const bool failed = text.failed;
    if (!failed) sha256_of_bytes(text.bytes, text.length, hex);
    text_free(&text);
    return failed ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

#define OWN_ENTRIES 11

paritas_status toys_open_store(struct infer *infer, const paritas_toys_options *options, const char *what,
                               const char *statistic, double mu, enum store_kind kind, struct store **store)
{
    paritas_context *context = infer->context;
    *store = NULL;
    if (!options->store) return PARITAS_OK;
    const bool fits = kind == STORE_FITS;
    char model[65], numbers[5][40], shard[40];
    struct store_entry *entries =
        arena_array(&infer->arena, OWN_ENTRIES + options->n_entries, sizeof *entries);
    const char **names = arena_array(&infer->arena, infer->n_parameters + 1, sizeof *names);
    if (!entries || !names) return paritas_fail_memory(context);
    const paritas_status status = digest(infer, model);
    if (status != PARITAS_OK) return status;
    snprintf(numbers[0], sizeof numbers[0], "%llu", (unsigned long long)(options->n ? options->n : 2000));
    snprintf(numbers[1], sizeof numbers[1], "%llu", (unsigned long long)options->seed);
    snprintf(numbers[2], sizeof numbers[2], "f%u%s", context->precision,
             fits_are_raw(context) ? TOYS_RAW : "");
    snprintf(numbers[3], sizeof numbers[3], "%.17g", mu);
    snprintf(shard, sizeof shard, "%u/%u", options->shard ? options->shard : 1,
             options->shards ? options->shards : 1);
    size_t n = 0;
    entries[n++] = (struct store_entry){"command", what};
    for (size_t k = 0; k < options->n_entries; k++)
        entries[n++] = (struct store_entry){options->entries[k].name, options->entries[k].value};
    entries[n++] = (struct store_entry){"model", model};
    if (statistic) entries[n++] = (struct store_entry){"test_statistic", statistic};
    if (!isnan(mu)) entries[n++] = (struct store_entry){"mu", numbers[3]};
    /* a limit's toys are as many as it takes: the number says only where it gives up, and a run may go on
     * with another one */
    if (fits || !isnan(mu)) entries[n++] = (struct store_entry){"ntoys", numbers[0]};
    entries[n++] = (struct store_entry){"seed", numbers[1]};
    entries[n++] = (struct store_entry){"fix_aux", options->fix_aux ? "yes" : "no"};
    entries[n++] = (struct store_entry){"minimizer", options->newton_only ? "newton" : "auto"};
    entries[n++] = (struct store_entry){"precision", numbers[2]};
    entries[n++] = (struct store_entry){"version", paritas_version()};
    /* a pooled store is the whole run's: that names no shard */
    if (options->shards > 1) entries[n++] = (struct store_entry){"shard", shard};
    for (size_t i = 0; i < infer->n_parameters; i++) names[i] = paritas_model_parameter_name(infer->model, i);
    const struct store_run run = {.kind = kind,
                                  .n_entries = n,
                                  .entries = entries,
                                  .n_parameters = fits ? infer->n_parameters : 0,
                                  .parameters = fits ? names : NULL};
    return store_open(context, options->store, &run, options->resume != 0, store);
}
