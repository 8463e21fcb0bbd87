/* toy_fits.c: see toy_fits.h. */
#include "infer/toy_fits.h"
#include "fit/fit.h"
#include "base/json.h"
#include "infer/toys.h"

#include <math.h>
#include <string.h>

#define PURPOSE 2 /* of the random numbers; tests have 0 and 1 */

paritas_status toy_fits_expect(struct infer *infer, const paritas_toys_options *options, const double *point,
                               double **expected)
{
    const size_t main = paritas_model_main_count(infer->model);
    *expected = arena_array(&infer->arena, infer->n_data + 1, sizeof **expected);
    if (!*expected) return paritas_fail_memory(infer->context);
    const paritas_status status = infer_expected(infer, point, *expected);
    if (status == PARITAS_OK && options->fix_aux)
        memcpy(*expected + main, infer->base.data + main, (infer->n_data - main) * sizeof **expected);
    return status;
}

paritas_status toy_fits_best(struct infer *infer, struct infer_profile *profile, const double **point)
{
    *profile = (struct infer_profile){.data = infer->base.data};
    paritas_status status = infer_free_fits(infer, 1, &profile);
    struct infer_point best = {.profile = profile, .parameters = profile->parameters};
    if (status == PARITAS_OK) status = infer_polish(infer, &best);
    *point = best.parameters;
    return status;
}

/* ---- opening ---- */

/* The fit to the expected data; where it does not converge, its start. */
static paritas_status find_centre(struct toy_fits *fits, const double **centre)
{
    struct infer *infer = fits->infer;
    double *fitted = arena_array(&infer->arena, infer->n_parameters + 1, sizeof *fitted);
    if (!fitted) return paritas_fail_memory(infer->context);
    paritas_job job = infer->base;
    job.data = fits->options.expected;
    job.start = *centre = fits->options.start;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    const paritas_status status = fit_run(infer->context, infer->model, NULL, 1, &job,
                                          &(paritas_fit_answers){.results = &result, .parameters = fitted});
    if (status == PARITAS_OK && result.status == PARITAS_FIT_CONVERGED) *centre = fitted;
    return status;
}

/* The store, whose key also says what the toys are drawn around, where their fits start and what is kept. */
static paritas_status open_store(struct toy_fits *fits, const double *centre)
{
    struct infer *infer = fits->infer;
    const struct toy_fits_options *o = &fits->options;
    if (!o->toys->store) return PARITAS_OK;
    paritas_toys_options options = *o->toys;
    paritas_key_entry *entries = arena_array(&infer->arena, options.n_entries + 4, sizeof *entries);
    char *expected = arena_array(&infer->arena, 65, 1), *start = arena_array(&infer->arena, 65, 1);
    if (!entries || !expected || !start) return paritas_fail_memory(infer->context);
    sha256_of_bytes((const char *)o->expected, infer->n_data * sizeof *o->expected, expected);
    sha256_of_bytes((const char *)centre, infer->n_parameters * sizeof *centre, start);
    for (size_t i = 0; i < options.n_entries; i++) entries[i] = options.entries[i];
    entries[options.n_entries++] = (paritas_key_entry){"expected", expected};
    entries[options.n_entries++] = (paritas_key_entry){"start", start};
    entries[options.n_entries++] =
        (paritas_key_entry){"parameters", o->flags & PARITAS_TOYS_KEEP_PARAMETERS ? "yes" : "no"};
    entries[options.n_entries++] =
        (paritas_key_entry){"errors", o->flags & PARITAS_TOYS_ERRORS ? "yes" : "no"};
    options.entries = entries;
    return toys_open_store(infer, &options, o->what, NULL, (double)NAN, STORE_FITS, &fits->store);
}

paritas_status toy_fits_open(struct toy_fits *fits, struct infer *infer,
                             const struct toy_fits_options *options)
{
    *fits = (struct toy_fits){.infer = infer, .options = *options};
    const double *centre = NULL;
    paritas_status status = ensemble_check(infer->context, infer->model, options->expected);
    if (status == PARITAS_OK) status = find_centre(fits, &centre);
    if (status == PARITAS_OK) status = open_store(fits, centre);
    if (status != PARITAS_OK) return status;
    const struct ensemble_options ensemble = {.plan = {.model = infer->model,
                                                       .start = centre,
                                                       .lower = infer->base.lower,
                                                       .upper = infer->base.upper,
                                                       .fixed = infer->base.fixed,
                                                       .poi = -1},
                                              .expected = options->expected,
                                              .seed = options->toys->seed,
                                              .purpose = PURPOSE,
                                              .fix_aux = options->toys->fix_aux != 0,
                                              .newton_only = options->toys->newton_only != 0};
    return ensemble_open(infer->context, &ensemble, &fits->ensemble);
}

void toy_fits_close(struct toy_fits *fits)
{
    if (fits->ensemble.model) ensemble_close(&fits->ensemble);
    store_close(fits->store);
}

/* ---- running ---- */

/* A run's chunk: what is there for its toys between fit and store. Rows of `data` and `errors` only where
 * errors are asked. */
struct chunk {
    struct toy_fits *fits;
    size_t room; /* toys */
    struct profile *profiles;
    double *constants, *parameters, *data, *errors;
    paritas_job *jobs;
    paritas_fit_result *results;
    struct store_fit *rows;
    paritas_toy_fit *given;
    size_t *which;
};

static void chunk_free(struct chunk *chunk)
{
    const paritas_allocator *allocator = &chunk->fits->infer->context->allocator;
    paritas_release(allocator, chunk->profiles);
    paritas_release(allocator, chunk->constants);
    paritas_release(allocator, chunk->parameters);
    paritas_release(allocator, chunk->data);
    paritas_release(allocator, chunk->errors);
    paritas_release(allocator, chunk->jobs);
    paritas_release(allocator, chunk->results);
    paritas_release(allocator, chunk->rows);
    paritas_release(allocator, chunk->given);
    paritas_release(allocator, chunk->which);
    *chunk = (struct chunk){.fits = chunk->fits};
}

/* Room for as many toys; what was in it is lost. */
static paritas_status chunk_hold(struct chunk *chunk, size_t step)
{
    const struct toy_fits *fits = chunk->fits;
    paritas_context *context = fits->infer->context;
    const size_t n = fits->infer->n_parameters;
    if (step <= chunk->room) return PARITAS_OK;
    chunk_free(chunk);
    chunk->profiles = paritas_allocate(context, step, sizeof *chunk->profiles);
    chunk->constants = paritas_allocate(context, step, sizeof *chunk->constants);
    chunk->parameters = paritas_allocate(context, step * n + 1, sizeof *chunk->parameters);
    chunk->results = paritas_allocate(context, step, sizeof *chunk->results);
    chunk->rows = paritas_allocate(context, step, sizeof *chunk->rows);
    chunk->given = paritas_allocate(context, step, sizeof *chunk->given);
    bool whole = chunk->profiles && chunk->constants && chunk->parameters && chunk->results && chunk->rows &&
                 chunk->given;
    if (fits->options.flags & PARITAS_TOYS_ERRORS) {
        chunk->data = paritas_allocate(context, step * fits->infer->n_data + 1, sizeof *chunk->data);
        chunk->errors = paritas_allocate(context, step * n + 1, sizeof *chunk->errors);
        chunk->jobs = paritas_allocate(context, step, sizeof *chunk->jobs);
        chunk->which = paritas_allocate(context, step, sizeof *chunk->which);
        whole = whole && chunk->data && chunk->errors && chunk->jobs && chunk->which;
    }
    if (!whole) return paritas_fail_memory(context);
    chunk->room = step;
    return PARITAS_OK;
}

/* Fits with errors that go on from the answers. What has none keeps its status; at the edge of the domain
 * there is an answer but no curvature to have errors from. */
static paritas_status find_errors(struct chunk *chunk, size_t n_toys)
{
    const struct infer *infer = chunk->fits->infer;
    const size_t n = infer->n_parameters;
    size_t answered = 0;
    for (size_t i = 0; i < n_toys * n; i++) chunk->errors[i] = (double)NAN;
    for (size_t i = 0; i < n_toys; i++) {
        if (chunk->results[i].status != PARITAS_FIT_CONVERGED || chunk->profiles[i].rung == PROFILE_AT_EDGE)
            continue;
        chunk->jobs[answered] = infer->base;
        chunk->jobs[answered].data = chunk->data + i * infer->n_data;
        chunk->jobs[answered].start = chunk->parameters + i * n;
        chunk->which[answered++] = i;
    }
    paritas_fit_options near = PARITAS_FIT_OPTIONS_DEFAULT;
    near.start_is_near = 1;
    paritas_fit_result *results = paritas_allocate(infer->context, answered + 1, sizeof *results);
    double *parameters = paritas_allocate(infer->context, 2 * answered * n + 1, sizeof *parameters),
           *errors = NULL;
    paritas_status status = results && parameters ? PARITAS_OK : paritas_fail_memory(infer->context);
    if (status == PARITAS_OK) errors = parameters + answered * n;
    if (status == PARITAS_OK)
        status =
            fit_run(infer->context, infer->model, &near, answered, chunk->jobs,
                    &(paritas_fit_answers){.results = results, .parameters = parameters, .errors = errors});
    for (size_t k = 0; k < answered && status == PARITAS_OK; k++) {
        const size_t i = chunk->which[k];
        const unsigned before = chunk->results[i].iterations;
        chunk->results[i] = results[k];
        chunk->results[i].iterations += before;
        memcpy(chunk->parameters + i * n, parameters + k * n, n * sizeof *parameters);
        memcpy(chunk->errors + i * n, errors + k * n, n * sizeof *errors);
    }
    paritas_release(&infer->context->allocator, results);
    paritas_release(&infer->context->allocator, parameters);
    return status;
}

/* Counts, shows, keeps and gives away toys first .. first + n - 1. */
static paritas_status deliver(struct chunk *chunk, uint64_t first, size_t n_toys)
{
    struct toy_fits *fits = chunk->fits;
    const struct toy_fits_options *o = &fits->options;
    const size_t n = fits->infer->n_parameters;
    for (size_t i = 0; i < n_toys; i++) {
        const paritas_fit_result *result = &chunk->results[i];
        struct store_fit *row = &chunk->rows[i];
        *row = (struct store_fit){.toy = first + i,
                                  .twice_nll = result->twice_nll,
                                  .statistic = 2.0 * chunk->profiles[i].value_free,
                                  .edm = result->edm,
                                  .status = result->status,
                                  .iterations = result->iterations,
                                  .parameters = chunk->parameters + i * n,
                                  .errors = chunk->errors ? chunk->errors + i * n : NULL};
        chunk->given[i] = (paritas_toy_fit){.size = sizeof(paritas_toy_fit),
                                            .toy = row->toy,
                                            .result = *result,
                                            .statistic = row->statistic,
                                            .parameters = row->parameters,
                                            .errors = row->errors};
        fits->tally.counts[row->status]++;
        toy_tally_add(&fits->tally, &chunk->profiles[i]);
        o->see(o->see_user, row);
        if (!(o->flags & PARITAS_TOYS_KEEP_PARAMETERS)) row->parameters = NULL;
    }
    const paritas_status status = fits->store ? store_add_fits(fits->store, n_toys, chunk->rows) : PARITAS_OK;
    if (status == PARITAS_OK && o->take && o->take(o->take_user, n_toys, chunk->given))
        return paritas_fail(fits->infer->context, PARITAS_CANCELLED, "cancelled by the caller");
    return status;
}

static paritas_status run_fits(void *user, int which, uint64_t first, size_t n)
{
    (void)which;
    struct chunk *chunk = user;
    struct toy_fits *fits = chunk->fits;
    paritas_status status = chunk_hold(chunk, n);
    if (status == PARITAS_OK)
        status = ensemble_run(fits->infer->context, &fits->ensemble, first, n, chunk->profiles, chunk->data,
                              chunk->parameters, chunk->constants);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        const struct profile *profile = &chunk->profiles[i];
        chunk->results[i] =
            (paritas_fit_result){.size = sizeof(paritas_fit_result),
                                 .status = profile->status_free,
                                 .iterations = profile->iterations,
                                 .twice_nll = 2.0 * (profile->value_free + chunk->constants[i]),
                                 .edm = profile->edm,
                                 .projected_gradient = (double)NAN};
    }
    if (status == PARITAS_OK && chunk->errors) status = find_errors(chunk, n);
    return status == PARITAS_OK ? deliver(chunk, first, n) : status;
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
    paritas_status status = toys_share(infer->context, fits->options.toys, &first, &end);
    if (status == PARITAS_OK && fits->store) status = store_read_fits(fits->store, read_fit, fits);
    if (status != PARITAS_OK) return status;
    const struct toy_runner runner = {.context = infer->context,
                                      .sized_by = &fits->ensemble,
                                      .n_ensembles = 1,
                                      .present = fits->store ? present_fits : NULL,
                                      .run = run_fits,
                                      .user = &chunk};
    status = toy_runner_run(&runner, first, end);
    chunk_free(&chunk);
    return status;
}
