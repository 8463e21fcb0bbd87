/* toy_fits.c: toys with their free fits. */
#include "toys/toy_fits.h"
#include "minima/conditional_fits.h"
#include "fit/fit.h"
#include "base/json/json.h"
#include "minima/domain.h"
#include "minima/edge_errors.h"
#include "toys/toys.h"

#include <math.h>
#include <string.h>

paritas_status toy_fits_expect(struct infer *infer, const paritas_toys_options *options, const double *point,
                               double **expected)
{
    *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, point, *expected));
    toys_fix_aux(infer, options, *expected);
    return PARITAS_OK;
}

paritas_status toy_fits_best(struct infer *infer, struct infer_profile *profile, bool place,
                             const double **point)
{
    *profile = (struct infer_profile){.data = infer->base.data};
    TRY(infer_free_fit(infer, profile));
    if (place) TRY(infer_judge_place(infer, -1, profile->parameters, &profile->result.status));
    TRY(domain_check(infer, profile->result.status, "the free fit, where toys are drawn,",
                     profile->parameters));
    struct infer_point best = {.profile = profile, .parameters = profile->parameters};
    TRY(infer_polish(infer, &best));
    *point = best.parameters;
    return PARITAS_OK;
}

/* The key includes the toys' centre, their starts and what is kept. */
static paritas_status open_store(struct toy_fits *fits, const double *centre)
{
    struct infer *infer = fits->infer;
    const struct toy_fits_options *o = &fits->options;
    char expected[65], start[65];
    if (!o->toys->store) return PARITAS_OK;
    sha256_of_bytes((const char *)o->expected, infer->n_data * sizeof *o->expected, expected);
    sha256_of_bytes((const char *)centre, infer->n_parameters * sizeof *centre, start);
    const paritas_key_entry entries[] = {
        {"expected", expected},
        {"start", start},
        {"parameters", o->flags & PARITAS_TOYS_KEEP_PARAMETERS ? "yes" : "no"},
        {"errors", o->flags & PARITAS_TOYS_ERRORS ? "yes" : "no"},
        {"algo", o->algo}}; /* the last one only where there is one */
    const struct toys_key key = {.what = o->what,
                                 .kind = STORE_FITS,
                                 .mu = (double)NAN,
                                 .n_entries = COUNT_OF(entries) - !o->algo,
                                 .entries = entries};
    return toys_open_store(infer, o->toys, &key, &fits->store);
}

paritas_status toy_fits_open(struct toy_fits *fits, struct infer *infer,
                             const struct toy_fits_options *options)
{
    *fits = (struct toy_fits){.infer = infer, .options = *options};
    const double *centre = options->start;
    paritas_job job = infer->base;
    job.data = options->expected;
    job.start = centre;
    TRY(ensemble_check(infer->context, infer->model, options->expected));
    TRY(toys_fit_expected(infer, &job, &centre));
    TRY(open_store(fits, centre));
    const struct ensemble_options ensemble =
        toys_ensemble(infer, options->toys, centre, options->expected, TOY_FITS_PURPOSE);
    return ensemble_open(infer->context, &ensemble, &fits->ensemble);
}

void toy_fits_close(struct toy_fits *fits)
{
    if (fits->ensemble.model) ensemble_close(&fits->ensemble);
    store_close(fits->store);
}

/* `data` are allocated only for errors and `measure`, `errors` only if they are asked. */
struct chunk {
    struct toy_fits *fits;
    struct arena arena;
    size_t room;
    struct profile *profiles;
    double *constants, *parameters, *statistics, *data, *errors;
    struct store_fit *rows;
    paritas_toy_fit *given;
};

/* Loses the content. */
static paritas_status chunk_hold(struct chunk *chunk, size_t step)
{
    const struct infer *infer = chunk->fits->infer;
    const size_t n = infer->n_parameters;
    struct arena *arena = &chunk->arena;
    if (step <= chunk->room) return PARITAS_OK;
    chunk->room = 0;
    arena_free(arena);
    chunk->profiles = arena_array(arena, step, sizeof *chunk->profiles);
    chunk->constants = arena_array(arena, step, sizeof *chunk->constants);
    chunk->parameters = arena_array(arena, step, n * sizeof *chunk->parameters);
    chunk->statistics = arena_array(arena, step, sizeof *chunk->statistics);
    chunk->rows = arena_array(arena, step, sizeof *chunk->rows);
    chunk->given = arena_array(arena, step, sizeof *chunk->given);
    bool whole = chunk->profiles && chunk->constants && chunk->parameters && chunk->statistics &&
                 chunk->rows && chunk->given;
    const struct toy_fits_options *options = &chunk->fits->options;
    if (options->flags & PARITAS_TOYS_ERRORS || options->measure) {
        chunk->data = arena_array(arena, step, infer->n_data * sizeof *chunk->data);
        whole = whole && chunk->data;
    }
    if (options->flags & PARITAS_TOYS_ERRORS) {
        chunk->errors = arena_array(arena, step, n * sizeof *chunk->errors);
        whole = whole && chunk->errors;
    }
    if (!whole) return paritas_fail_memory(infer->context);
    chunk->room = step;
    return PARITAS_OK;
}

static paritas_status find_errors(struct chunk *chunk, paritas_context *context, size_t n_toys,
                                  struct arena *arena)
{
    const struct infer *infer = chunk->fits->infer;
    const size_t n = infer->n_parameters;
    size_t answered = 0, *which = arena_array(arena, n_toys, sizeof *which);
    paritas_job *jobs = arena_array(arena, n_toys, sizeof *jobs);
    paritas_fit_result *results = arena_array(arena, n_toys, sizeof *results);
    double *parameters = arena_array(arena, n_toys, n * sizeof *parameters),
           *errors = arena_array(arena, n_toys, n * sizeof *errors);
    if (!which || !jobs || !results || !parameters || !errors) return paritas_fail_memory(context);
    for (size_t i = 0; i < n_toys * n; i++) chunk->errors[i] = (double)NAN;
    for (size_t i = 0; i < n_toys; i++) {
        if (chunk->given[i].result.status != PARITAS_FIT_CONVERGED) continue;
        jobs[answered] = infer->base;
        jobs[answered].data = chunk->data + i * infer->n_data;
        jobs[answered].start = chunk->parameters + i * n;
        which[answered++] = i;
    }
    paritas_fit_options near = PARITAS_FIT_OPTIONS_DEFAULT;
    near.start_is_near = 1;
    paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    answers.results = results;
    answers.parameters = parameters;
    answers.errors = errors;
    TRY(fit_run(context, infer->model, &near, answered, jobs, &answers));
    TRY(edge_errors_judge(context, infer->model, answered, jobs, &answers));
    for (size_t k = 0; k < answered; k++) {
        const size_t i = which[k];
        results[k].iterations += chunk->given[i].result.iterations;
        chunk->given[i].result = results[k];
        memcpy(chunk->parameters + i * n, parameters + k * n, n * sizeof *parameters);
        memcpy(chunk->errors + i * n, errors + k * n, n * sizeof *errors);
    }
    return PARITAS_OK;
}

static paritas_status deliver(struct chunk *chunk, uint64_t first, size_t n_toys)
{
    struct toy_fits *fits = chunk->fits;
    const struct toy_fits_options *o = &fits->options;
    const size_t n = fits->infer->n_parameters;
    for (size_t i = 0; i < n_toys; i++) {
        paritas_toy_fit *given = &chunk->given[i];
        const paritas_fit_result *result = &given->result;
        struct store_fit *row = &chunk->rows[i];
        *row = (struct store_fit){.toy = first + i,
                                  .twice_nll = result->twice_nll,
                                  .statistic = chunk->statistics[i],
                                  .edm = result->edm,
                                  .status = result->status,
                                  .iterations = result->iterations,
                                  .parameters = chunk->parameters + i * n,
                                  .errors = chunk->errors ? chunk->errors + i * n : NULL};
        given->size = sizeof *given;
        given->toy = row->toy;
        given->statistic = row->statistic;
        given->parameters = row->parameters;
        given->errors = row->errors;
        fits->tally.counts[row->status]++;
        toy_tally_add(&fits->tally, &chunk->profiles[i]);
        o->see(o->see_user, row);
        if (!(o->flags & PARITAS_TOYS_KEEP_PARAMETERS)) row->parameters = NULL;
    }
    if (fits->store) TRY(store_add_fits(fits->store, n_toys, chunk->rows));
    if (o->take && o->take(o->take_user, n_toys, chunk->given))
        return paritas_fail(fits->infer->context, PARITAS_CANCELLED, "cancelled by the caller");
    return PARITAS_OK;
}

static paritas_status run_fits(void *user, int which, uint64_t first, size_t n)
{
    (void)which;
    struct chunk *chunk = user;
    struct toy_fits *fits = chunk->fits;
    paritas_context *context = fits->infer->context;
    TRY(chunk_hold(chunk, n));
    TRY(ensemble_run(context, &fits->ensemble, first, n, chunk->profiles, chunk->data, chunk->parameters,
                     chunk->constants));
    for (size_t i = 0; i < n; i++) {
        const struct profile *profile = &chunk->profiles[i];
        chunk->given[i].result =
            (paritas_fit_result){.size = sizeof(paritas_fit_result),
                                 .status = profile->status_free,
                                 .iterations = profile->iterations,
                                 .twice_nll = 2.0 * (profile->value_free + chunk->constants[i]),
                                 .edm = profile->edm,
                                 .projected_gradient = (double)NAN};
        chunk->statistics[i] = 2.0 * profile->value_free;
    }
    const struct toy_fits_options *o = &fits->options;
    if (o->measure) TRY(o->measure(o->see_user, n, chunk->data, chunk->parameters, chunk->statistics));
    if (chunk->errors) {
        struct arena arena;
        arena_open(&arena, &context->allocator);
        const paritas_status status = find_errors(chunk, context, n, &arena);
        arena_free(&arena);
        TRY(status);
    }
    return deliver(chunk, first, n);
}

static paritas_status present_fits(void *user, int which, uint64_t first, size_t n, unsigned char *present)
{
    (void)which;
    return store_present(((const struct chunk *)user)->fits->store, 0.0, 0.0, first, n, present);
}

static int read_fit(void *user, const struct store_fit *row)
{
    struct toy_fits *fits = user;
    fits->tally.counts[row->status]++;
    fits->options.see(fits->options.see_user, row);
    return 0;
}

paritas_status toy_fits_run(struct toy_fits *fits)
{
    struct infer *infer = fits->infer;
    uint64_t first, end;
    struct chunk chunk = {.fits = fits};
    TRY(toys_share(infer->context, fits->options.toys, &first, &end));
    if (fits->store) TRY(store_read_fits(fits->store, read_fit, fits));
    const struct toy_runner runner = {.context = infer->context,
                                      .sized_by = &fits->ensemble,
                                      .n_ensembles = 1,
                                      .present = fits->store ? present_fits : NULL,
                                      .run = run_fits,
                                      .user = &chunk,
                                      .tally = &fits->tally};
    arena_open(&chunk.arena, &infer->context->allocator);
    const paritas_status status = toy_runner_run(&runner, first, end);
    arena_free(&chunk.arena);
    return status;
}
