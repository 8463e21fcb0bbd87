/* profile_flips.c: fits from the other side of parameters. */
#include "fit/profiles/profile_flips.h"
#include "fit/profiles/profile_quasi_newton.h"
#include "fit/signs.h"

#include <math.h>
#include <string.h>

/* starts of a fit and round: one for each turn, then these */
#define FLIPS_MOST 8
enum { SUGGESTED = FLIPS_MOST, OTHER_END, STARTS };
#define FLIP_ROUNDS 6
/* of a sign: weaker ones lowered no toy of 600 (CMS ttgamma), at half the price again */
#define TURN_LEAST 0.6

/* What a round turns round in one end. */
struct turns {
    size_t n, parameters[FLIPS_MOST];
};

struct flips {
    paritas_context *context;
    const struct profile_plan *plan;
    const struct frozen *model;
    size_t n, n_fits; /* profiles; fits of each */
    const double *data;
    struct profile *profiles, *found; /* n each: as they stand; of the last start */
    double *ends, *starts;            /* n rows of KINDS points each */
    struct turns *turns;              /* KINDS n */
    double *row, *expected, *signs;   /* a user's data row; n_data; n_parameters */
    size_t *open, *which;             /* n each: profiles of this round; of the next launch */
};

static double *end_of(const struct flips *c, size_t profile, size_t kind)
{
    return c->ends + (KINDS * profile + kind) * c->model->n_parameters;
}

static bool may_turn(const struct flips *c, size_t i)
{
    return !c->plan->fixed[i] && (ptrdiff_t)i != c->plan->poi && c->model->width[i] > 0.0;
}

/* Chooses what to turn round in one end. */
static paritas_status choose_turns(const struct flips *c, size_t profile, size_t kind)
{
    const struct frozen *model = c->model;
    const double *end = end_of(c, profile, kind), *places = c->data + profile * model->n_places;
    struct turns *turns = &c->turns[KINDS * profile + kind];
    for (size_t i = 0; i < model->n_data; i++) c->row[i] = places[model->place_of[i]];
    TRY(family_expected_data(c->context, c->context->host, c->plan->model, 1, end, NULL, c->expected));
    TRY(signs_measure(c->context, model, NULL, end, c->row, c->expected, c->signs));
    for (size_t i = 0; i < model->n_parameters; i++)
        if (!may_turn(c, i) || c->signs[i] < TURN_LEAST) c->signs[i] = 0.0;
    turns->n = signs_take_largest(model->n_parameters, c->signs, FLIPS_MOST, turns->parameters);
    return PARITAS_OK;
}

/* Start k of a fit: its end with turn k; or, after all turns, the suggested start or the pair's other end. */
static void put_start(const struct flips *c, size_t profile, size_t kind, size_t k)
{
    const struct turns *turns = &c->turns[KINDS * profile + kind];
    const size_t p = c->model->n_parameters;
    double *start = c->starts + (KINDS * profile + kind) * p;
    const double *from = end_of(c, profile, k == OTHER_END && c->n_fits == KINDS ? 1 - kind : kind);
    memcpy(start, k == SUGGESTED ? c->model->init : from, p * sizeof *start);
    if (k < turns->n) {
        const size_t i = turns->parameters[k];
        start[i] = signs_moved(start[i], c->model->init[i], c->model->width[i], -1.0);
    }
    profile_land(c->plan, kind == CONDITIONAL_FIT, start);
}

/* Takes what start k lowered. Returns by how much. */
static double take_lower(const struct flips *c, size_t profile)
{
    struct profile *to = &c->profiles[profile];
    const struct profile *from = &c->found[profile];
    const double same = profile_same_minimum(c->context, c->plan);
    const size_t p = c->model->n_parameters;
    const double falls[KINDS] = {to->value_free - from->value_free, to->value_fixed - from->value_fixed};
    to->iterations += from->iterations;
    if (from->method == PROFILE_NO_ANSWER) return 0.0;
    double most = 0.0;
    for (size_t kind = 0; kind < c->n_fits; kind++) {
        if (!(falls[kind] > same)) continue;
        most = fmax(most, falls[kind]);
        memcpy(end_of(c, profile, kind), c->starts + (KINDS * profile + kind) * p, p * sizeof *c->starts);
    }
    if (falls[FREE_FIT] > same) {
        to->value_free = from->value_free;
        to->mu_hat = from->mu_hat;
        to->edm = from->edm;
    }
    if (falls[CONDITIONAL_FIT] > same) to->value_fixed = from->value_fixed;
    if (most > 0.0) to->method = PROFILE_FURTHER_STARTS;
    return most;
}

/* Does a fit of the profile have start k? The pair's other end is one where the pair shows two minima. */
static bool has_start(const struct flips *c, size_t profile, size_t k, int round, bool fell)
{
    const struct profile *at = &c->profiles[profile];
    const struct turns *turns = &c->turns[KINDS * profile];
    if (k == SUGGESTED) return round == 0;
    if (k < FLIPS_MOST) return k < turns[FREE_FIT].n || (c->n_fits == KINDS && k < turns[CONDITIONAL_FIT].n);
    return c->n_fits == KINDS &&
           (fell || at->value_fixed < at->value_free - profile_same_minimum(c->context, c->plan));
}

/* Start k of all open profiles that have one. `fell`: n; set where it lowered. */
static paritas_status run_start(struct flips *c, size_t n_open, size_t k, int round, bool *fell)
{
    size_t n = 0;
    for (size_t j = 0; j < n_open; j++) {
        const size_t profile = c->open[j];
        if (!has_start(c, profile, k, round, fell[profile])) continue;
        for (size_t kind = 0; kind < c->n_fits; kind++) put_start(c, profile, kind, k);
        c->found[profile] = profile_without_answer;
        c->which[n++] = profile;
    }
    if (n == 0) return PARITAS_OK;
    TRY(quasi_newton_run(
        c->context, launch_device_f64(c->context),
        &(struct quasi_newton){.plan = c->plan,
                               .n = n,
                               .which = c->which,
                               .data = c->data,
                               .profiles = c->found,
                               .ends = c->starts,
                               .flags = profile_poi_flag(c->plan) | PROFILE_POINTS | PROFILE_STARTS,
                               .evaluations = PROFILE_EVALUATIONS}));
    for (size_t j = 0; j < n; j++)
        if (take_lower(c, c->which[j]) > 0.0) fell[c->which[j]] = true;
    return PARITAS_OK;
}

/* Rounds of all profiles with an answer. Those that fell have another round. */
static paritas_status run_rounds(struct flips *c, bool *fell)
{
    size_t n_open = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->profiles[i].status_free == PARITAS_FIT_CONVERGED &&
            c->profiles[i].status_fixed == PARITAS_FIT_CONVERGED)
            c->open[n_open++] = i;
    for (int round = 0; round < FLIP_ROUNDS && n_open > 0; round++) {
        for (size_t j = 0; j < n_open; j++) {
            fell[c->open[j]] = false;
            for (size_t kind = 0; kind < c->n_fits; kind++) TRY(choose_turns(c, c->open[j], kind));
        }
        for (size_t k = 0; k < STARTS; k++) TRY(run_start(c, n_open, k, round, fell));
        size_t left = 0;
        for (size_t j = 0; j < n_open; j++)
            if (fell[c->open[j]]) c->open[left++] = c->open[j];
        n_open = left;
    }
    return PARITAS_OK;
}

paritas_status profiles_flip(paritas_context *context, const struct profile_plan *plan, size_t n,
                             const double *data, struct profile *profiles, double *ends)
{
    const struct frozen *model = paritas_model_frozen(plan->model);
    const size_t p = model->n_parameters;
    struct arena arena;
    arena_open(&arena, &context->allocator);
    struct flips c = {.context = context,
                      .plan = plan,
                      .model = model,
                      .n = n,
                      .n_fits = plan->conditional ? KINDS : 1,
                      .data = data,
                      .profiles = profiles,
                      .ends = ends,
                      .found = arena_array(&arena, n + 1, sizeof *c.found),
                      .starts = arena_array(&arena, KINDS * n * p + 1, sizeof *c.starts),
                      .turns = arena_array(&arena, KINDS * n + 1, sizeof *c.turns),
                      .row = arena_array(&arena, model->n_data + 1, sizeof *c.row),
                      .expected = arena_array(&arena, model->n_data + 1, sizeof *c.expected),
                      .signs = arena_array(&arena, p + 1, sizeof *c.signs),
                      .open = arena_array(&arena, n + 1, sizeof *c.open),
                      .which = arena_array(&arena, n + 1, sizeof *c.which)};
    bool *fell = arena_array(&arena, n + 1, sizeof *fell);
    const bool whole =
        c.found && c.starts && c.turns && c.row && c.expected && c.signs && c.open && c.which && fell;
    const paritas_status status = whole ? run_rounds(&c, fell) : paritas_fail_memory(context);
    arena_free(&arena);
    return status;
}
