/* toys_setup.c: options, shard, store key and ensemble of toys. */
#include "base/json/json.h"
#include "base/sized.h"
#include "fit/fit.h"
#include "fit/minimum.h"
#include "minima/minimum_search.h"
#include "toys/toys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static paritas_status check_strengths(paritas_context *context, const paritas_toys_options *options)
{
    const size_t most = PARITAS_STRENGTHS_MOST - TOY_HYPOTHESES;
    if (options->strengths && !options->importance)
        return paritas_refuse(context, "strengths: only `importance` sampling has them");
    if (options->n_strengths > most)
        return paritas_refuse(context, "strengths: %zu are given, there are at most %zu",
                              options->n_strengths, most);
    for (size_t k = 0; k < options->n_strengths && options->strengths; k++)
        if (!isfinite(options->strengths[k]))
            return paritas_refuse(context, "strengths[%zu]: must be a finite number", k);
    return PARITAS_OK;
}

paritas_status toys_refuse_shards(paritas_context *context, const paritas_toys_options *options,
                                  const char *what)
{
    if (options->shards <= 1) return PARITAS_OK;
    return paritas_refuse(context,
                          "shard %u/%u: %s cannot be cut into shards, since toys decide where toys are drawn",
                          options->shard, options->shards, what);
}

static paritas_status take_options(paritas_context *context, const paritas_toys_options *given,
                                   paritas_toys_options *options)
{
    *options = (paritas_toys_options)PARITAS_TOYS_OPTIONS_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_toys_options, "options", given, options));
    if (options->n_entries > 0 && !options->entries)
        return paritas_refuse(context, "options: entries must not be NULL");
    for (size_t k = 0; k < options->n_entries; k++)
        if (!options->entries[k].name || !options->entries[k].value)
            return paritas_refuse(context, "options: entries[%zu]: %s must not be NULL", k,
                                  options->entries[k].name ? "value" : "name");
    return check_strengths(context, options);
}

static paritas_status refuse_importance(paritas_context *context, const paritas_toys_options *options)
{
    return options->importance
               ? paritas_refuse(context, "importance: sampling by weights is for tests and significances")
               : PARITAS_OK;
}

static paritas_status refuse_algo(paritas_context *context, const paritas_toys_options *options)
{
    return options->algo != PARITAS_GOF_SATURATED
               ? paritas_refuse(context, "algo: only goodness of fit has another statistic")
               : PARITAS_OK;
}

paritas_status toys_take_test_options(paritas_context *context, const paritas_toys_options *given,
                                      paritas_toys_options *options)
{
    TRY(take_options(context, given, options));
    return refuse_algo(context, options);
}

paritas_status toys_take_gof_options(paritas_context *context, const paritas_toys_options *given,
                                     paritas_toys_options *options)
{
    TRY(take_options(context, given, options));
    return refuse_importance(context, options);
}

paritas_status toys_take_options(paritas_context *context, const paritas_toys_options *given,
                                 paritas_toys_options *options)
{
    TRY(take_options(context, given, options));
    TRY(refuse_algo(context, options));
    return refuse_importance(context, options);
}

paritas_status toys_describe_importance(struct infer *infer, const paritas_toys_options *options,
                                        const char **entry)
{
    struct text text;
    text_open(&text, &infer->context->allocator);
    for (size_t k = 0; k < options->n_strengths && options->strengths; k++)
        text_format(&text, "%s%.17g", k > 0 ? "," : "", options->strengths[k]);
    if (text.length == 0) text_format(&text, options->strengths ? "none" : "auto");
    char *copy = infer_array(infer, text.length + 1, 1);
    const bool failed = !copy || text.failed;
    if (!failed) memcpy(copy, text.bytes, text.length);
    text_free(&text);
    *entry = copy;
    return failed ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

paritas_status toys_share(paritas_context *context, const paritas_toys_options *options, uint64_t *first,
                          uint64_t *end)
{
    const uint64_t n = options->n ? options->n : PARITAS_TOYS;
    const bool whole = options->shard == 0 && options->shards == 0;
    const unsigned shards = whole ? 1 : options->shards, shard = whole ? 1 : options->shard;
    if (shard < 1 || shard > shards)
        return paritas_refuse(context, "shard %u/%u: there are 1 to %u", shard, shards, shards);
    if (n < shards)
        return paritas_refuse(context, "%llu toys cannot be cut into %u shards", (unsigned long long)n,
                              shards);
    const uint64_t each = n / shards, more = n % shards, before = shard - 1;
    *first = before * each + (before < more ? before : more);
    *end = *first + each + (before < more ? 1 : 0);
    return PARITAS_OK;
}

/* Hash of the frozen model and the data. */
static paritas_status digest(const struct infer *infer, char hex[65])
{
    const struct frozen *f;
    TRY(frozen_complete(infer->context, paritas_model_frozen(infer->model), &f));
    const struct {
        const void *bytes;
        size_t length;
    } parts[] = {{f->tables.ints, f->tables.n_ints * sizeof *f->tables.ints},
                 {f->tables.reals, f->tables.n_reals * sizeof *f->tables.reals},
                 {infer->base.data, infer->n_data * sizeof(double)}};
    struct text text;
    text_open(&text, &infer->context->allocator);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        text_append(&text, parts[k].bytes, parts[k].length);
    const bool failed = text.failed;
    if (!failed) sha256_of_bytes(text.bytes, text.length, hex);
    text_free(&text);
    return failed ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

/* What a job sets in place of the model's own: "mu=2,a=0.5". */
enum setting { SETTING_START, SETTING_BOUNDS, SETTING_FIXED, SETTINGS };
_Static_assert(2 + SETTINGS == TOYS_JOB_ENTRIES, "entries of a job");
#define LONGEST_SETTING 200 /* in bytes; a longer one is shown by its hash */

static void write_setting(const struct infer *infer, enum setting setting, struct text *text)
{
    const paritas_model *model = infer->model;
    const paritas_job *job = &infer->base;
    for (size_t i = 0; i < infer->n_parameters; i++) {
        const bool fixed = job->fixed[i] != 0,
                   moved = job->start[i] != paritas_model_suggested_init(model)[i],
                   held = fixed && (moved || !paritas_model_suggested_fixed(model)[i]),
                   freed = !fixed && paritas_model_suggested_fixed(model)[i],
                   bounded = job->lower[i] != paritas_model_lower_bounds(model)[i] ||
                             job->upper[i] != paritas_model_upper_bounds(model)[i];
        const bool differs[SETTINGS] = {moved && !fixed, bounded, held || freed};
        if (!differs[setting]) continue;
        text_format(text, "%s%s=", text->length > 0 ? "," : "", paritas_model_parameter_name(model, i));
        if (setting == SETTING_BOUNDS)
            text_format(text, "%.17g:%.17g", job->lower[i], job->upper[i]);
        else if (setting == SETTING_FIXED && freed)
            text_format(text, "free");
        else
            text_format(text, "%.17g", job->start[i]);
    }
}

/* *found: NULL where the job has the model's own. */
static paritas_status describe_setting(struct infer *infer, enum setting setting, const char **found)
{
    struct text text;
    text_open(&text, &infer->context->allocator);
    write_setting(infer, setting, &text);
    const bool hashed = text.length > LONGEST_SETTING;
    char *copy = infer_array(infer, hashed ? 65 : text.length + 1, 1);
    if (copy && hashed && !text.failed)
        sha256_of_bytes(text.bytes, text.length, copy);
    else if (copy && text.length > 0)
        memcpy(copy, text.bytes, text.length);
    const bool failed = !copy || text.failed;
    *found = text.length > 0 ? copy : NULL;
    text_free(&text);
    return failed ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

paritas_status toys_add_job(struct infer *infer, paritas_key_entry **next)
{
    static const char *const settings[SETTINGS] = {"init", "bounds", "fix"};
    char *model = infer_array(infer, 65, 1), *iterations = infer_array(infer, 32, 1);
    TRY(infer_memory(infer));
    TRY(digest(infer, model));
    *(*next)++ = (paritas_key_entry){"model", model};
    for (int k = 0; k < SETTINGS; k++) {
        const char *setting;
        TRY(describe_setting(infer, (enum setting)k, &setting));
        if (setting) *(*next)++ = (paritas_key_entry){settings[k], setting};
    }
    snprintf(iterations, 32, "%u", infer->base.max_iterations);
    if (infer->base.max_iterations > 0) *(*next)++ = (paritas_key_entry){"max_iterations", iterations};
    return PARITAS_OK;
}

#define OWN_ENTRIES (13 + TOYS_JOB_ENTRIES)

paritas_status toys_open_store(struct infer *infer, const paritas_toys_options *options,
                               const struct toys_key *key, struct store **store)
{
    paritas_context *context = infer->context;
    *store = NULL;
    if (!options->store) return PARITAS_OK;
    const bool fits = key->kind == STORE_FITS;
    char n[32], seed[32], precision[32], mu[40], shard[40], starts[32];
    paritas_key_entry *const entries =
        infer_array(infer, OWN_ENTRIES + options->n_entries + key->n_entries, sizeof *entries);
    const char **names = infer_array(infer, infer->n_parameters, sizeof *names);
    TRY(infer_memory(infer));
    snprintf(n, sizeof n, "%llu", (unsigned long long)(options->n ? options->n : PARITAS_TOYS));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    snprintf(precision, sizeof precision, "f%u%s", context->precision, fits_are_raw(context) ? TOYS_RAW : "");
    snprintf(mu, sizeof mu, "%.17g", key->mu);
    snprintf(starts, sizeof starts, "%u", infer->starts);
    snprintf(shard, sizeof shard, "%u/%u", options->shard, options->shards);
    paritas_key_entry *e = entries;
    *e++ = (paritas_key_entry){"command", key->what};
    for (size_t k = 0; k < options->n_entries; k++) *e++ = options->entries[k];
    for (size_t k = 0; k < key->n_entries; k++) *e++ = key->entries[k];
    TRY(toys_add_job(infer, &e));
    if (infer->tests && (ptrdiff_t)infer->poi != paritas_model_poi_index(infer->model))
        *e++ = (paritas_key_entry){"poi", paritas_model_parameter_name(infer->model, infer->poi)};
    if (key->statistic) *e++ = (paritas_key_entry){"test_statistic", key->statistic};
    if (!isnan(key->mu)) *e++ = (paritas_key_entry){"mu", mu};
    /* only a maximum for limits, which take what they need */
    if (fits || !isnan(key->mu)) *e++ = (paritas_key_entry){"ntoys", n};
    *e++ = (paritas_key_entry){"seed", seed};
    *e++ = (paritas_key_entry){"fix_aux", options->fix_aux ? "yes" : "no"};
    *e++ = (paritas_key_entry){"minimizer", options->newton_only ? "newton" : "auto"};
    if (infer->starts > 0) *e++ = (paritas_key_entry){"starts", starts};
    *e++ = (paritas_key_entry){"precision", precision};
    *e++ = (paritas_key_entry){"version", paritas_version()};
    /* a pooled store names no shard: it is the whole run's */
    if (options->shards > 1) *e++ = (paritas_key_entry){"shard", shard};
    for (size_t i = 0; i < infer->n_parameters; i++) names[i] = paritas_model_parameter_name(infer->model, i);
    const struct store_run run = {key->kind, (size_t)(e - entries), entries, fits ? infer->n_parameters : 0,
                                  fits ? names : NULL};
    return store_open(context, options->store, &run, options->resume != 0, store);
}

void toys_add_tally(paritas_toys_tally *sum, const paritas_toys_tally *one)
{
    uint64_t a[sizeof *sum / sizeof(uint64_t)], b[sizeof *one / sizeof(uint64_t)];
    memcpy(a, sum, sizeof a);
    memcpy(b, one, sizeof b);
    for (size_t k = 0; k < sizeof a / sizeof a[0]; k++) a[k] += b[k];
    memcpy(sum, a, sizeof a);
}

void toys_fix_aux(const struct infer *infer, const paritas_toys_options *options, double *expected)
{
    const size_t main = paritas_model_main_count(infer->model);
    if (options->fix_aux)
        memcpy(expected + main, infer->base.data + main, (infer->n_data - main) * sizeof *expected);
}

paritas_status toys_fit_expected(struct infer *infer, const paritas_job *job, const double **point)
{
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    double *fitted = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    TRY(fit_run(infer->context, infer->model, NULL, 1, job,
                &(paritas_fit_answers){.results = &result, .parameters = fitted}));
    if (result.status == PARITAS_FIT_CONVERGED) *point = fitted;
    return PARITAS_OK;
}

struct ensemble_options toys_ensemble(const struct infer *infer, const paritas_toys_options *options,
                                      const double *start, const double *expected, uint32_t purpose)
{
    return (struct ensemble_options){.plan = {.model = infer->model,
                                              .start = start,
                                              .lower = infer->base.lower,
                                              .upper = infer->base.upper,
                                              .fixed = infer->base.fixed,
                                              .widening = &infer->widening,
                                              .poi = -1},
                                     .expected = expected,
                                     .seed = options->seed,
                                     .purpose = purpose,
                                     .fix_aux = options->fix_aux != 0,
                                     .newton_only = options->newton_only != 0,
                                     .has_several = infer->starts > 1 || infer_has_several(&infer->minima),
                                     .may_have_several = minimum_search_suspects(infer)};
}
