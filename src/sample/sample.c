/* sample.c: chains in launches of some steps each.
 *
 *   space ─► states ─► launch: the chains that are not at their end, some steps ─► draws, states ─► launch */
#include "sample/sample_mode.h"
#include "sample/sample_store.h"
#include "base/math/host_math.h"
#include "base/sized.h"

#include <stdio.h>
#include <string.h>

/* Steps of a launch: many for a small model, whose launches cost as much as some of its steps. */
#define STEP_NUMBERS 65536
#define STEPS_LEAST 64
#define STEPS_MOST 1024
#define COUNT_MOST 9007199254740992.0 /* 2^53: numbers below count one by one */
#define VALUE_COST (1.0 / 16.0)       /* of a Newton fit's, with the gradient */

struct run {
    const struct frozen *model;
    const struct sample_space *space;
    const paritas_sample_options *options;
    const paritas_sample_answers *answers;
    double *states; /* chains x SAMPLE_STATE */
    struct sample_store *store;
    const double *data; /* kernel row */
    size_t *alive;      /* chains of the launch */
    uint32_t steps;
    double constant;
};

static size_t state_size(const struct run *run)
{
    return SAMPLE_STATE(run->model->n_slots);
}

static double *state_of(const struct run *run, size_t chain)
{
    return run->states + chain * state_size(run);
}

static double *scalars_of(const struct run *run, size_t chain)
{
    return state_of(run, chain) + SAMPLE_STATE_AT(run->model->n_slots, 0);
}

/* Draws that a chain has made. */
static size_t draws_of(const struct run *run, size_t chain)
{
    const double made = scalars_of(run, chain)[STATE_transition] - run->options->warmup;
    return made > 0.0 ? (size_t)made : 0;
}

static paritas_status fill(void *user, struct launch_rows *rows)
{
    const struct run *run = user;
    const paritas_sample_options *options = run->options;
    const size_t slots = run->model->n_slots, free = run->space->n_free, places = run->model->n_places,
                 shared = SAMPLE_SHARED(slots, free);
    uint32_t *args = rows->args;
    args[SAMPLE_ARG_CHAINS] = (uint32_t)rows->n;
    args[SAMPLE_ARG_FREE] = (uint32_t)free;
    args[SAMPLE_ARG_STEPS] = run->steps;
    args[SAMPLE_ARG_WARMUP] = options->warmup;
    args[SAMPLE_ARG_DRAWS] = options->draws;
    args[SAMPLE_ARG_DEPTH] = options->max_depth;
    args[SAMPLE_ARG_PRIORS] = run->space->has_priors;
    args[SAMPLE_ARG_SEED_LOW] = (uint32_t)options->seed;
    args[SAMPLE_ARG_SEED_HIGH] = (uint32_t)(options->seed >> 32);
    memcpy(args + SAMPLE_ARGS, run->space->slots, SAMPLE_ROW(free) * sizeof *args);
    memcpy(rows->in, run->data, places * sizeof *rows->in);
    memcpy(rows->in + places, run->space->shared, shared * sizeof *rows->in);
    for (size_t k = 0; k < rows->n; k++)
        memcpy(rows->in + places + shared + k * state_size(run), state_of(run, run->alive[rows->at + k]),
               state_size(run) * sizeof *rows->in);
    return PARITAS_OK;
}

static void take_draw(const struct run *run, size_t chain, const double *row)
{
    const paritas_sample_answers *answers = run->answers;
    paritas_chain *of = &answers->chains[chain];
    const size_t at = chain * run->options->draws + of->draws++;
    rows_get_point(run->model, row + DRAW_SCALARS, answers->parameters + at * run->model->n_parameters);
    answers->draws[at] = (paritas_draw){.twice_nll = 2.0 * (row[DRAW_NLL] + run->constant),
                                        .log_density = -row[DRAW_POTENTIAL],
                                        .energy = row[DRAW_ENERGY],
                                        .acceptance = row[DRAW_ACCEPTANCE],
                                        .steps = (unsigned)row[DRAW_STEPS],
                                        .depth = (unsigned)row[DRAW_DEPTH],
                                        .divergent = row[DRAW_DIVERGENT] != 0.0};
    of->divergent += row[DRAW_DIVERGENT] != 0.0;
}

static paritas_status take(void *user, const struct launch_rows *rows)
{
    struct run *run = user;
    const size_t size = SAMPLE_DRAW(run->model->n_slots);
    const double *out = rows->out + rows->n * state_size(run);
    for (size_t k = 0; k < rows->n; k++) {
        const size_t chain = run->alive[rows->at + k];
        const double before = scalars_of(run, chain)[STATE_gradients];
        for (size_t step = 0; step < run->steps; step++) {
            const double *row = out + (step * rows->n + k) * size;
            if (row[DRAW_IS_DRAW] != 0.0) take_draw(run, chain, row);
        }
        memcpy(state_of(run, chain), rows->out + k * state_size(run), state_size(run) * sizeof *out);
        const double *now = scalars_of(run, chain);
        run->answers->chains[chain].gradients = (uint64_t)now[STATE_gradients];
        run->answers->chains[chain].step = host_exp(now[STATE_log_step]);
        rows->context->work.gradients += (uint64_t)(now[STATE_gradients] - before);
    }
    return PARITAS_OK;
}

/* Lists the chains that are not at their end. Returns how many; *done: transitions made. */
static size_t list_alive(const struct run *run, uint64_t *done)
{
    const double end = (double)run->options->warmup + (double)run->options->draws;
    size_t n = 0;
    *done = 0;
    for (size_t c = 0; c < run->options->chains; c++) {
        const double transition = scalars_of(run, c)[STATE_transition];
        *done += (uint64_t)transition;
        if (transition < end) run->alive[n++] = c;
    }
    return n;
}

/* A cancelled run, with its message. */
static paritas_status keep_cancelled(const struct run *run)
{
    paritas_context *context = run->store->context;
    char said[256];
    snprintf(said, sizeof said, "%s", paritas_error_message(context));
    TRY(sample_store_keep(run->store, true));
    return paritas_fail(context, PARITAS_CANCELLED, "%s", said);
}

static paritas_status run_launches(paritas_context *context, struct run *run)
{
    const size_t slots = run->model->n_slots, free = run->space->n_free;
    struct launch_plan plan;
    TRY(rows_plan(context, run->model, run->model->family->sample, &plan));
    plan.slab += SAMPLE_MEMORY(slots);
    plan.touched = run->model->slab_value;
    plan.cost *= VALUE_COST * run->steps;
    plan.in.once = run->model->n_places + SAMPLE_SHARED(slots, free);
    plan.in.job = state_size(run);
    plan.out.job = state_size(run) + run->steps * SAMPLE_DRAW(slots);
    plan.args.once = SAMPLE_ARGS + SAMPLE_ROW(free);
    plan.fill = fill;
    plan.take = take;
    plan.user = run;
    plan.progress.report = context->progress;
    plan.progress.user = context->progress_user;
    plan.progress.total = run->options->chains * ((uint64_t)run->options->warmup + run->options->draws + 1);
    if (plan.slab > UINT32_MAX) return paritas_refuse(context, "the model is too large for chains");
    paritas_status status = sample_store_keep(run->store, true);
    for (size_t n; status == PARITAS_OK && (n = list_alive(run, &plan.progress.before)) > 0;) {
        status = launch_run(context, launch_device_f64(context), &plan, n);
        if (status == PARITAS_OK) status = sample_store_keep(run->store, false);
    }
    if (status == PARITAS_OK) return sample_store_keep(run->store, true);
    return status == PARITAS_CANCELLED ? keep_cancelled(run) : status;
}

static bool is_count(double number)
{
    return number >= 0.0 && number < COUNT_MOST && number == (double)(uint64_t)number;
}

static paritas_status check_state(const struct infer *infer, const struct run *run, size_t chain)
{
    const double *scalars = scalars_of(run, chain);
    if (scalars[STATE_chain] != (double)chain || !is_count(scalars[STATE_transition]) ||
        !is_count(scalars[STATE_gradients]))
        return paritas_refuse(infer->context, "`resume`: the state of chain %zu is not of such a run", chain);
    const size_t draws = draws_of(run, chain);
    if (draws > run->options->draws)
        return paritas_refuse(infer->context, "`draws` is %u: chain %zu has %zu already", run->options->draws,
                              chain, draws);
    if (draws > run->store->kept)
        return paritas_fail(infer->context, PARITAS_INVALID_INPUT,
                            "%s: is not a run of chains: chain %zu made %zu draws, of which it has %zu",
                            run->store->path, chain, draws, run->store->kept);
    return PARITAS_OK;
}

/* A file has no bytes of what the caller's arrays held before. */
static void clear_rest(const struct run *run, size_t chain, size_t draws)
{
    const size_t n = run->model->n_parameters, first = chain * run->options->draws + draws,
                 rest = run->options->draws - draws;
    memset(run->answers->parameters + first * n, 0, rest * n * sizeof(double));
    memset(run->answers->draws + first, 0, rest * sizeof *run->answers->draws);
}

/* New states, or those of an earlier run. */
static paritas_status begin_chains(const struct infer *infer, const struct run *run, bool resumed)
{
    for (size_t c = 0; c < run->options->chains; c++) {
        double *scalars = scalars_of(run, c);
        if (resumed) TRY(check_state(infer, run, c));
        if (!resumed) {
            memset(state_of(run, c), 0, state_size(run) * sizeof *scalars);
            scalars[STATE_chain] = (double)c;
            scalars[STATE_fresh] = 1.0;
        }
        paritas_chain *chain = &run->answers->chains[c];
        *chain = (paritas_chain){.size = sizeof *chain,
                                 .draws = (unsigned)draws_of(run, c),
                                 .gradients = (uint64_t)scalars[STATE_gradients],
                                 .step = host_exp(scalars[STATE_log_step])};
        for (size_t i = 0; i < chain->draws; i++)
            chain->divergent += run->answers->draws[c * run->options->draws + i].divergent != 0;
        if (run->store->path) clear_rest(run, c, chain->draws);
    }
    return PARITAS_OK;
}

/* Without reports: they count transitions. */
static paritas_status open_space(struct infer *infer, const paritas_sample_options *options,
                                 struct sample_space *space)
{
    const paritas_progress report = infer->context->progress;
    infer->context->progress = NULL;
    const paritas_status status = sample_space_open(infer, options, space);
    infer->context->progress = report;
    return status;
}

static paritas_status sample(struct infer *infer, const paritas_sample_options *options,
                             const paritas_sample_answers *answers)
{
    const struct frozen *model = paritas_model_frozen(infer->model);
    const size_t steps = STEP_NUMBERS / model->n_slots;
    struct sample_space space;
    TRY(rows_check_data(infer->context, model, 1, infer->base.data));
    TRY(open_space(infer, options, &space));
    double *data = infer_reals(infer, model->n_places, 1);
    struct run run = {.model = model,
                      .space = &space,
                      .options = options,
                      .answers = answers,
                      .states = answers->state,
                      .data = data,
                      .alive = infer_array(infer, options->chains, sizeof *run.alive),
                      .steps = (uint32_t)(steps < STEPS_LEAST  ? STEPS_LEAST
                                          : steps > STEPS_MOST ? STEPS_MOST
                                                               : steps),
                      .constant = model->constant(model, infer->base.data)};
    if (!run.states) run.states = infer_reals(infer, options->chains, state_size(&run));
    TRY(infer_memory(infer));
    rows_put_data(model, infer->base.data, data);
    struct sample_store store;
    bool resumed;
    run.store = &store;
    paritas_status status = sample_store_open(infer, options, answers, run.states, &store, &resumed);
    if (status == PARITAS_OK) status = begin_chains(infer, &run, resumed);
    if (status == PARITAS_OK) status = run_launches(infer->context, &run);
    sample_store_close(&store);
    return status;
}

size_t paritas_sample_state_size(const paritas_model *model)
{
    return model ? SAMPLE_STATE(paritas_model_frozen(model)->n_slots) : 0;
}

paritas_status paritas_sample(paritas_context *context, const paritas_model *model, const paritas_job *job,
                              const paritas_sample_options *given, const paritas_sample_answers *to)
{
    paritas_sample_options options = PARITAS_SAMPLE_OPTIONS_DEFAULT;
    paritas_sample_answers answers = PARITAS_SAMPLE_ANSWERS_DEFAULT;
    REQUIRE(context, model);
    TRY(OPTIONS_READ(context, paritas_sample_options, "options", given, &options));
    TRY(SIZED_CHECK(context, paritas_sample_answers, "answers", 1, to));
    TRY(SIZED_TAKE(context, paritas_sample_answers, "answers", to, &answers));
    REQUIRE_AS(context, "parameters, draws", answers.parameters, answers.draws);
    TRY(SIZED_CHECK(context, paritas_chain, "chains", options.chains, answers.chains));
    if (options.n_priors > 0) REQUIRE_AS(context, "priors", options.priors);
    if (options.resume && !options.store) REQUIRE_AS(context, "state", answers.state);
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = sample(&infer, &options, &answers);
    infer_close(&infer);
    return status;
}
