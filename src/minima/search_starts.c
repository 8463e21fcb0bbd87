/* search_starts.c: starts of a search. */
#include "minima/search_starts.h"
#include "base/math/counter_random.h"
#include "base/math/probability.h"
#include "fit/random_start.h"
#include "minima/landscape.h"
#include "minima/many_starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STARTS_ALONE 150
#define STARTS_POOLED 75     /* of a tested value: those to Asimov data serve it, too */
#define STARTS_STRAIGHT 20   /* where rates hardly bend */
#define STARTS_BESIDE 25     /* where a value above was searched, and around the tested ones */
#define STARTS_AGAIN 10      /* of a small model, once more at a value */
#define NEAR_ABOVE 1.6       /* times the value */
#define BELOW 0.5            /* the same */
#define OTHERS_MOST 4        /* fits of a large model that hold other parameters */
#define LOW_WIDTHS 6.0       /* of every second start, along directions in which rates bend */
#define NEWTON_PART 5        /* one start by Newton's method beside so many others: some minima need it */
#define FIRST_WAVE 16        /* by Fisher's matrix; it serves if half of them end in known minima */
#define LARGE_PARAMETERS 256 /* beyond, starts become fewer with the square, as one costs more */
#define LEAST_STARTS 4
#define PATH_STEPS 4
#define LONG_FIT 30 /* iterations */

/* ---- how many ---- */

static bool holds_poi(const struct search *search, const struct target *s)
{
    return s->point && s->point->k == 1 && s->point->parameter[0] == search->infer->poi;
}

/* The least ratio of a searched value to this one, of at least 1; infinity: none. */
static double searched_above(const struct landscape *landscape, double value)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < landscape->n_searched; i++) {
        const double at = landscape->searched[i], ratio = at == value ? 1.0 : at / value;
        if (ratio >= 1.0) least = fmin(least, ratio);
    }
    return least;
}

static size_t moving(const struct infer *infer, const struct target *s)
{
    size_t n = 0;
    for (size_t i = 0; i < infer->n_parameters; i++) n += !s->fixed[i];
    return n;
}

/* Where rates bend and a start costs little. */
static size_t full_count(const struct search *search, const struct target *s)
{
    const struct landscape *landscape = search->profile->landscape;
    const size_t again = search->is_small ? STARTS_AGAIN : 0;
    if (!s->point) return landscape->free_searched ? again : STARTS_ALONE;
    if (!holds_poi(search, s)) return landscape->n_others < OTHERS_MOST ? STARTS_BESIDE : again;
    const double above = searched_above(landscape, s->point->value[0]);
    if (above == 1.0) return again;
    if (above <= NEAR_ABOVE) return search->is_small ? STARTS_BESIDE : 0;
    if (isfinite(above) || !s->asked) return STARTS_BESIDE;
    return search->infer->tests && s->point->value[0] != 0.0 ? STARTS_POOLED : STARTS_ALONE;
}

static void note_searched(const struct search *search, const struct target *s)
{
    struct landscape *landscape = search->profile->landscape;
    if (!s->point)
        landscape->free_searched = true;
    else if (!holds_poi(search, s))
        landscape->n_others++;
    else if (landscape->n_searched < SEARCHED_VALUES_MOST)
        landscape->searched[landscape->n_searched++] = s->point->value[0];
}

static paritas_status count_starts(const struct search *search, struct plan *plan)
{
    const struct infer *infer = search->infer;
    const struct target *s = plan->target;
    const double p = (double)infer->n_parameters, part = LARGE_PARAMETERS / p * (LARGE_PARAMETERS / p);
    if (s->is_lowest || moving(infer, s) == 0) return PARITAS_OK;
    plan->n = infer->starts > 1 ? infer->starts - 1 : full_count(search, s); /* the usual fit was the first */
    plan->newton = plan->n;
    if (plan->n == 0 || search->is_small || infer->starts > 1) return PARITAS_OK;
    TRY(search_bends(search, s, &plan->bends));
    if (!plan->bends.several_possible && plan->n > STARTS_STRAIGHT) plan->n = STARTS_STRAIGHT;
    if (p > LARGE_PARAMETERS) plan->n = (size_t)fmax(LEAST_STARTS, part * (double)plan->n);
    plan->promised = plan->newton = plan->n;
    plan->approaches = search->approaches;
    if (!plan->approaches) return PARITAS_OK;
    plan->newton = (plan->n + NEWTON_PART - 1) / NEWTON_PART;
    plan->n += plan->newton;
    return PARITAS_OK;
}

/* ---- for which fits ---- */

/* Adds a fit beside a tested one, which starts where that one ended. */
static paritas_status add_beside(struct search *search, const struct target *s, double at)
{
    struct infer *infer = search->infer;
    const double value = infer_bounded(infer, infer->poi, at);
    if (value == s->point->value[0]) return PARITAS_OK;
    TRY(search_add_auxiliary(search, value));
    return search_run_attempts(search, 1, &(struct attempt){&search->targets[search->n - 1], s->parameters});
}

/* Above the largest tested value: some minima are met there alone. In a small model also far above it, and
 * below the least one. */
static paritas_status add_around(struct search *search)
{
    const struct target *highest = NULL, *lowest = NULL;
    for (size_t i = 1; i < search->n_asked; i++) {
        const struct target *s = &search->targets[i];
        if (!holds_poi(search, s) || !(s->point->value[0] > 0.0)) continue;
        if (!highest || s->point->value[0] > highest->point->value[0]) highest = s;
        if (!lowest || s->point->value[0] < lowest->point->value[0]) lowest = s;
    }
    if (!highest || isfinite(searched_above(search->profile->landscape, highest->point->value[0])))
        return PARITAS_OK;
    const double value = highest->point->value[0], start = search->infer->base.start[search->infer->poi];
    if (search->is_small) {
        TRY(add_beside(search, lowest, BELOW * lowest->point->value[0]));
        TRY(add_beside(search, highest, fmax(2.0 * value, start + random_start_reach(start))));
    }
    return add_beside(search, highest, NEAR_ABOVE * value);
}

/* The largest value first, since it serves the others. */
static int downward(const void *a, const void *b)
{
    const struct infer_point *x = ((const struct plan *)a)->target->point,
                             *y = ((const struct plan *)b)->target->point;
    const double left = x ? x->value[0] : HUGE_VAL, right = y ? y->value[0] : HUGE_VAL;
    return (left < right) - (left > right);
}

paritas_status starts_plan(struct search *search, struct starts *starts)
{
    const size_t first_around = search->n;
    if (search->infer->starts == 0) TRY(add_around(search));
    starts->n = 0;
    starts->plans = infer_array(search->infer, search->n, sizeof *starts->plans);
    TRY(infer_memory(search->infer));
    for (size_t i = 0; i < search->n; i++)
        if (i < search->n_asked || i >= first_around) starts->plans[starts->n++].target = &search->targets[i];
    qsort(starts->plans, starts->n, sizeof *starts->plans, downward);
    for (size_t i = 0; i < starts->n; i++) TRY(count_starts(search, &starts->plans[i]));
    /* only now: a value that this search adds must not stand in for one that was asked for */
    for (size_t i = 0; i < starts->n; i++) note_searched(search, starts->plans[i].target);
    return PARITAS_OK;
}

/* ---- where ---- */

/* Draws a start from where the fit ended, along the directions in which rates bend most. */
static void draw_along_bends(const struct infer *infer, const struct plan *plan, uint64_t number,
                             double *start)
{
    const size_t p = infer->n_parameters;
    memcpy(start, plan->target->parameters, p * sizeof *start);
    for (size_t k = 0; k < plan->bends.n; k++) {
        const double far = LOW_WIDTHS * normal_quantile(random_part(counter_bits(number, k)));
        for (size_t i = 0; i < p; i++) start[i] += far * plan->bends.directions[k * p + i];
    }
}

/* Draws up to `each` starts of a plan. Fits have different ones, since what one meets serves all. */
static paritas_status draw(struct infer *infer, const struct starts *starts, size_t i, size_t each,
                           struct attempt *attempts, size_t *n)
{
    struct plan *plan = &starts->plans[i];
    const size_t p = infer->n_parameters;
    for (size_t k = 0; k < each && plan->n > 0; k++, plan->n--) {
        const uint64_t number = 1 + plan->drawn++ * starts->n + i;
        double *start = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        memcpy(start, infer->base.start, p * sizeof *start);
        if (plan->bends.n > 0 && plan->drawn % 2)
            draw_along_bends(infer, plan, number, start);
        else
            many_starts_draw(p, infer->widths, infer->base.lower, infer->base.upper, infer->base.fixed,
                             number, start);
        attempts[(*n)++] = (struct attempt){plan->target, start};
    }
    return PARITAS_OK;
}

/* ---- by which method ---- */

static paritas_status attempts_for(struct search *search, const struct starts *starts,
                                   struct attempt **attempts)
{
    size_t total = 1;
    for (size_t i = 0; i < starts->n; i++) total += starts->plans[i].n;
    *attempts = infer_array(search->infer, total, sizeof **attempts);
    return infer_memory(search->infer);
}

paritas_status starts_run_first(struct search *search, struct starts *starts)
{
    struct attempt *attempts;
    size_t n = 0;
    TRY(attempts_for(search, starts, &attempts));
    for (size_t i = 0; i < starts->n; i++)
        TRY(draw(search->infer, starts, i, starts->plans[i].newton, attempts, &n));
    return search_run_attempts(search, n, attempts);
}

/* Nothing that was tried has an end: more of it costs much and tells nothing. */
static bool has_no_ends(const struct target *s)
{
    return s->n_tried >= LEAST_STARTS && s->n_ended == 0;
}

/* Fisher's matrix does not serve this fit. */
static void leave_to_newton(struct plan *plan)
{
    plan->approaches = false;
    plan->n = plan->drawn < plan->promised ? plan->promised - plan->drawn : 0;
}

/* One wave, of up to `each` starts a plan; true in *went: there was one. */
static paritas_status run_wave(struct search *search, struct starts *starts, size_t each,
                               struct attempt *attempts, bool *went)
{
    size_t n = 0, left, drawn;
    for (size_t i = 0; i < starts->n; i++)
        if (starts->plans[i].approaches) TRY(draw(search->infer, starts, i, each, attempts, &n));
    left = drawn = n;
    TRY(search_approach(search, &left, attempts));
    for (size_t i = 0; i < starts->n; i++) {
        size_t own = 0;
        for (size_t k = 0; k < left; k++) own += attempts[k].target == starts->plans[i].target;
        if (starts->plans[i].approaches && 2 * own > FIRST_WAVE) leave_to_newton(&starts->plans[i]);
    }
    for (size_t i = 0; i < starts->n; i++)
        if (!starts->plans[i].approaches) TRY(draw(search->infer, starts, i, SIZE_MAX, attempts, &left));
    *went = left > 0 || drawn > 0;
    return search_run_attempts(search, left, attempts);
}

/* Does a fit that was asked for have several minima, or starts without an end? */
static bool is_hard(const struct search *search)
{
    bool hard = false;
    for (size_t i = 0; i < search->n_asked; i++) {
        const struct target *s = &search->targets[i];
        hard = hard || s->n_ends > 1 || s->n_ended < s->n_tried;
    }
    return hard;
}

paritas_status starts_run_more(struct search *search, struct starts *starts, bool *went)
{
    *went = search->is_small && search->infer->starts == 0 && is_hard(search);
    if (!*went) return PARITAS_OK;
    for (size_t i = 0; i < starts->n; i++) {
        struct plan *plan = &starts->plans[i];
        if (plan->drawn > STARTS_AGAIN) plan->n = plan->newton = STARTS_POOLED;
    }
    return starts_run_first(search, starts);
}

paritas_status starts_run_rest(struct search *search, struct starts *starts)
{
    struct attempt *attempts;
    bool went = true;
    TRY(attempts_for(search, starts, &attempts));
    for (size_t i = 0; i < starts->n; i++)
        if (has_no_ends(starts->plans[i].target)) starts->plans[i].n = 0;
    for (size_t each = FIRST_WAVE; went; each = SIZE_MAX)
        TRY(run_wave(search, starts, each, attempts, &went));
    return PARITAS_OK;
}

/* ---- by steps from other values ---- */

/* A fit continued from another value of its parameter to the tested one. */
struct path {
    struct infer_point point;
    struct target at, *goal;
    double from;
};

static size_t add_path(struct path *paths, size_t n, struct target *goal, const struct target *origin)
{
    const struct infer_point *point = goal->point;
    if (!point || point->k > 1 || !origin->parameters || goal == origin) return n;
    paths[n] = (struct path){.goal = goal, .from = origin->parameters[point->parameter[0]]};
    paths[n].at = (struct target){.fixed = goal->fixed, .parameters = origin->parameters};
    return n + 1;
}

/* One step of all paths; the last one ends at the goals. */
static paritas_status follow_step(struct search *search, int number, size_t n, struct path *paths,
                                  struct attempt *attempts)
{
    const double part = (double)number / PATH_STEPS;
    for (size_t i = 0; i < n; i++) {
        struct path *path = &paths[i];
        attempts[i] = (struct attempt){number == PATH_STEPS ? path->goal : &path->at, path->at.parameters};
        path->point = *path->goal->point;
        path->point.value[0] = path->from + part * (path->goal->point->value[0] - path->from);
        path->at.point = &path->point;
        path->at.status = PARITAS_FIT_NO_PROGRESS;
        path->at.twice_nll = (double)NAN;
    }
    return search_run_attempts(search, n, attempts);
}

paritas_status starts_follow_paths(struct search *search)
{
    struct infer *infer = search->infer;
    const size_t origins = 1 + search->n - search->n_asked;
    struct path *paths = infer_array(infer, origins * search->n_asked, sizeof *paths);
    struct attempt *attempts = infer_array(infer, origins * search->n_asked, sizeof *attempts);
    size_t n = 0;
    TRY(infer_memory(infer));
    for (size_t i = 1; i < search->n_asked; i++) {
        if (!search->is_small && search->targets[i].point->iterations < LONG_FIT) continue;
        if (search->is_small) n = add_path(paths, n, &search->targets[i], &search->targets[0]);
        for (size_t j = search->n_asked; j < search->n; j++)
            n = add_path(paths, n, &search->targets[i], &search->targets[j]);
    }
    for (int number = 1; number <= PATH_STEPS; number++) TRY(follow_step(search, number, n, paths, attempts));
    return PARITAS_OK;
}
