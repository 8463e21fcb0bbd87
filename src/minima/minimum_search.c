/* minimum_search.c: further starts for the fits of a statistic.
 *
 *   known minima carried along ─► flips where bends call for them ─► a few starts of all kinds, once a data
 *   set ─► where they lowered an answer: rounds of starts, until nothing lower is found
 *
 * A model whose rates are nearly linear and whose fits were quick costs nothing. */
#include "minima/minimum_search.h"
#include "fit/family.h"
#include "minima/landscape.h"
#include "minima/many_starts.h"
#include "minima/search_kinks.h"
#include "minima/search_signs.h"

#include <math.h>
#include <string.h>

#define LONG_FIT 12          /* iterations: published analyses take 4 to 9 */
#define LOST_FIT 30          /* its usual start was far from any minimum */
#define CONTINUATION_STEPS 4 /* to a tested value */
#define POOL_MOST 32
#define MENDED_FROM 32   /* ends of other fits, for a fit without one: a ranking has thousands */
#define SEARCHED_MOST 8  /* fits of a data set at once, */
#define SEARCHED_LARGE 3 /* of a large model */
#define CHECK_LEAST 6    /* random starts of the first data set, */
#define CHECK_AGAIN 4    /* and of each further one; more of small models: */
#define CHECK_MOST 256
#define CHECK_WORK 60000.0 /* elements of Hessians */
#define FIRST_ROUND 8      /* random starts; each round has twice as many as the last, up to */
#define LARGEST_ROUND 64   /* (staus: one start in 60 leads to the lowest minimum of a conditional fit) */
#define ROUNDS_MOST 8      /* a round of the largest size without anything lower is the last */

/* What searches have learnt of a model and all of its data. */
struct minimum_search {
    struct nonlinear nonlinear;
    bool checked;                  /* one data set or more */
    bool suspicious;               /* signs of several minima, for any data */
    const double *pool[POOL_MOST]; /* minima beside the answers: starts of later searches */
    size_t n_pool;
};

static paritas_status learn(struct infer *infer)
{
    if (!infer->search) infer->search = infer_array(infer, 1, sizeof *infer->search);
    return infer_memory(infer);
}

static void put_in_pool(struct minimum_search *all, const double *parameters)
{
    for (size_t k = 0; k < all->n_pool; k++)
        if (all->pool[k] == parameters) return;
    if (all->n_pool < POOL_MOST) all->pool[all->n_pool++] = parameters;
}

/* ---- signs ---- */

static double largest_tested(const struct search *search)
{
    const size_t poi = search->infer->poi;
    if (poi == search->infer->n_parameters) return 0.0;
    double largest = fabs(search->infer->base.start[poi]);
    for (size_t i = 1; i < search->n; i++) {
        const struct infer_point *point = search->targets[i].point;
        if (point->parameter[0] == poi) largest = fmax(largest, fabs(point->value[0]));
    }
    return largest;
}

static bool took_long(paritas_fit_status status, unsigned iterations)
{
    return status != PARITAS_FIT_CONVERGED || iterations >= LONG_FIT;
}

bool minimum_search_has_factor_at_bound(const struct infer *infer, const double *parameters)
{
    for (size_t i = 0; i < infer->n_parameters; i++) {
        if (infer->base.fixed[i] || i == infer->poi) continue;
        if (parameters[i] == 0.0 && infer->base.lower[i] == 0.0) return true;
        if (!isnan(infer->widths[i])) continue;
        if (parameters[i] <= infer->base.lower[i] || parameters[i] >= infer->base.upper[i]) return true;
    }
    return false;
}

static bool has_signs(const struct search *search)
{
    const struct infer_profile *profile = search->profile;
    const struct minimum_search *all = search->infer->search;
    const bool kinked = paritas_model_frozen(search->infer->model)->kinked != NULL;
    bool signs = search->infer->starts > 1 || all->nonlinear.n > 0 || all->n_pool > 0 ||
                 (kinked && search->is_small) ||
                 took_long(profile->result.status, profile->result.iterations) ||
                 minimum_search_has_factor_at_bound(search->infer, profile->parameters);
    for (size_t i = 1; i < search->n; i++) {
        const struct infer_point *point = search->targets[i].point;
        signs = signs || took_long(point->status, point->iterations);
    }
    return signs;
}

bool minimum_search_is_suspicious(const struct infer *infer)
{
    return infer->starts != 1 && infer->search && infer->search->suspicious;
}

bool minimum_search_suspects(const struct infer *infer)
{
    return infer->starts != 1 && infer->search &&
           (infer->search->suspicious || infer->search->nonlinear.n > 0);
}

bool minimum_search_has_starts(const struct infer *infer)
{
    return infer->search && infer->search->n_pool > 0;
}

/* ---- known minima ---- */

/* Each point from the minima of its neighbours. */
static paritas_status carry_minima(struct search *search)
{
    const double *starts[LANDSCAPE_STARTS];
    struct attempt *attempts = infer_array(search->infer, LANDSCAPE_STARTS * search->n, sizeof *attempts);
    size_t m = 0;
    TRY(infer_memory(search->infer));
    for (size_t i = 1; i < search->n; i++) {
        const struct infer_point *point = search->targets[i].point;
        const size_t n = landscape_starts(search->infer, search->profile, point, starts);
        for (size_t k = 0; k < n; k++) attempts[m++] = (struct attempt){&search->targets[i], starts[k]};
    }
    return search_run_attempts(search, m, attempts);
}

/* Minima of other data are starts once, for the fits of that time. */
static paritas_status try_pool(struct search *search)
{
    const struct minimum_search *all = search->infer->search;
    size_t *shared = &search->profile->landscape->shared, n = 0;
    struct attempt *attempts =
        infer_array(search->infer, (all->n_pool - *shared + 1) * search->n, sizeof *attempts);
    TRY(infer_memory(search->infer));
    for (; *shared < all->n_pool; ++*shared)
        for (size_t i = 0; i < search->n; i++)
            if (!search->targets[i].is_lowest)
                attempts[n++] = (struct attempt){&search->targets[i], all->pool[*shared]};
    return search_run_attempts(search, n, attempts);
}

/* How far the ends of another fit may be: one that holds the same parameters is nearer than any other. */
static double apart(const struct search *search, size_t i, size_t j)
{
    const struct infer_point *a = search->targets[i].point, *b = search->targets[j].point;
    const double places = fabs((double)i - (double)j);
    if (!a || !b) return 0.0; /* the free fit is every fit's neighbour */
    return infer_same_parameters(a, b) ? places : places + (double)search->n;
}

/* The nearest fits with an end, at most MENDED_FROM, in the order of the targets. */
static size_t nearest_ends(const struct search *search, size_t i, size_t *nearest)
{
    double least[MENDED_FROM];
    size_t n = 0, found = 0;
    for (size_t j = 0; j < search->n; j++) {
        if (search->targets[j].status != PARITAS_FIT_CONVERGED) continue;
        const double distance = apart(search, i, j);
        if (n == MENDED_FROM && !(distance < least[n - 1])) continue;
        size_t at = n < MENDED_FROM ? n++ : n - 1;
        for (; at > 0 && distance < least[at - 1]; at--) least[at] = least[at - 1];
        least[at] = distance;
    }
    for (size_t j = 0; j < search->n && found < n; j++)
        if (search->targets[j].status == PARITAS_FIT_CONVERGED && apart(search, i, j) <= least[n - 1])
            nearest[found++] = j;
    return found;
}

/* Fits without an end start where others ended, and where the job does. `plain`: conditional fits with an end
 * start there, too, so that no answer is above the plain fit. */
static paritas_status mend(struct search *search, bool plain)
{
    size_t nearest[MENDED_FROM], n = 0, most = search->n;
    for (size_t i = 0; i < search->n; i++)
        if (search->targets[i].status != PARITAS_FIT_CONVERGED) most += MENDED_FROM;
    struct attempt *attempts = infer_array(search->infer, most, sizeof *attempts);
    TRY(infer_memory(search->infer));
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        const bool converged = s->status == PARITAS_FIT_CONVERGED;
        if (s->is_lowest || (converged && !(plain && s->point))) continue;
        attempts[n++] = (struct attempt){s, search->infer->base.start};
        const size_t near = converged ? 0 : nearest_ends(search, i, nearest);
        for (size_t k = 0; k < near; k++)
            attempts[n++] = (struct attempt){s, search->targets[nearest[k]].parameters};
    }
    return search_run_attempts(search, n, attempts);
}

/* ---- a few starts ---- */

/* Adds random starts `first` ... to the list of n. */
static paritas_status add_random_starts(const struct search *search, uint64_t first, size_t n_random,
                                        const double **starts, size_t *n)
{
    struct infer *infer = search->infer;
    const size_t p = infer->n_parameters;
    double *wide = infer_reals(infer, p, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < p; i++) wide[i] = 2.0 * infer->widths[i];
    for (size_t k = 0; k < n_random; k++) {
        double *start = infer_reals(infer, p, 1);
        TRY(infer_memory(infer));
        memcpy(start, infer->base.start, p * sizeof *start);
        many_starts_draw(p, (first + k) % 2 ? infer->widths : wide, infer->base.lower, infer->base.upper,
                         infer->base.fixed, first + k, start);
        starts[(*n)++] = start;
    }
    return PARITAS_OK;
}

/* Far from what is tested the profile may fall again: twice the largest value, or three times its size. */
static paritas_status add_far(struct search *search)
{
    const struct infer *infer = search->infer;
    const size_t poi = infer->poi;
    if (poi == infer->n_parameters || infer->search->nonlinear.n == 0) return PARITAS_OK;
    return search_add_auxiliary(search,
                                fmax(infer->base.start[poi] + 3.0 * fmax(fabs(infer->base.start[poi]), 1.0),
                                     2.0 * largest_tested(search)));
}

/* All nonlinear parameters moved together: those of the free fit further out (staus: elsewhere starts end in
 * one minimum), those of conditional ones to the other side. */
static paritas_status add_collective(struct search *search, struct attempt *attempts, size_t *n)
{
    const struct nonlinear *nonlinear = &search->infer->search->nonlinear;
    for (size_t i = 0; i < search->n_asked && nonlinear->n > 0; i++) {
        struct target *s = &search->targets[i];
        if (s->is_lowest || s->status != PARITAS_FIT_CONVERGED) continue;
        attempts[*n].target = s;
        TRY(signs_move(search->infer, s->parameters, nonlinear->n, nonlinear->parameters,
                       s->point ? -1.0 : 1.0, &attempts[*n].start));
        ++*n;
    }
    return PARITAS_OK;
}

/* A test that stands alone gets neighbours on both sides. */
static paritas_status add_neighbours(struct search *search)
{
    const struct infer_point *point = search->targets[search->n_asked - 1].point;
    if (search->n_asked != 2 || point->parameter[0] != search->infer->poi) return PARITAS_OK;
    const double at = point->value[0];
    if (at == 0.0) return PARITAS_OK;
    TRY(search_add_auxiliary(search, 0.5 * at));
    return search_add_auxiliary(search, 1.5 * at);
}

/* A fit continued from another value of its parameter to the tested one. */
struct continuation {
    struct infer_point point;
    struct target at, *goal;
    double from;
};

static size_t add_path(struct continuation *paths, size_t n, struct target *goal, const struct target *origin)
{
    const struct infer_point *point = goal->point;
    if (!point || point->k > 1 || !origin->parameters) return n;
    paths[n] = (struct continuation){.goal = goal, .from = origin->parameters[point->parameter[0]]};
    paths[n].at = (struct target){.fixed = goal->fixed, .parameters = origin->parameters};
    return n + 1;
}

/* Each test is reached by steps of its parameter, from the free fit and from far away: some minima are found
 * from a neighbour's alone. Of a large model from far away alone, and only where the usual fit took long
 * (ttbar: there two branches cross, and one step from afar ends on the upper one). */
static paritas_status follow_paths(struct search *search)
{
    struct infer *infer = search->infer;
    struct continuation *paths = infer_array(infer, 2 * search->n, sizeof *paths);
    struct attempt *attempts = infer_array(infer, 2 * search->n, sizeof *attempts);
    size_t n = 0;
    TRY(infer_memory(infer));
    for (size_t i = 0; i < search->n_asked; i++) {
        const struct infer_point *point = search->targets[i].point;
        if (!search->is_small && !(point && point->iterations >= LOST_FIT)) continue;
        if (search->is_small) n = add_path(paths, n, &search->targets[i], &search->targets[0]);
        if (search->n > search->n_asked)
            n = add_path(paths, n, &search->targets[i], &search->targets[search->n_asked]);
    }
    for (int step = 1; step <= CONTINUATION_STEPS; step++) {
        for (size_t i = 0; i < n; i++) {
            struct continuation *w = &paths[i];
            const double to = w->goal->point->value[0], part = (double)step / CONTINUATION_STEPS;
            attempts[i] = (struct attempt){step == CONTINUATION_STEPS ? w->goal : &w->at, w->at.parameters};
            w->point = *w->goal->point;
            w->point.value[0] = w->from + part * (to - w->from);
            w->at.point = &w->point;
            w->at.status = PARITAS_FIT_NO_PROGRESS;
            w->at.twice_nll = (double)NAN;
        }
        TRY(search_run_attempts(search, n, attempts));
    }
    return PARITAS_OK;
}

/* Random starts of a check: what they cost is bounded. */
static size_t check_size(const struct infer *infer)
{
    const double n = CHECK_WORK / ((double)infer->n_parameters * (double)infer->n_parameters);
    const size_t least = infer->search->checked ? CHECK_AGAIN : CHECK_LEAST;
    return !search_model_is_small(infer) ? least : n > CHECK_MOST ? CHECK_MOST : (size_t)n;
}

/* The point far away, from the free fit. */
static paritas_status fit_far(struct search *search)
{
    const size_t before = search->n;
    TRY(add_far(search));
    if (search->n == before) return PARITAS_OK;
    return search_run_attempts(search, 1,
                               &(struct attempt){&search->targets[before], search->profile->parameters});
}

/* Some minima are found from those of a neighbour alone. */
static paritas_status share_auxiliary_ends(struct search *search)
{
    struct attempt *attempts =
        infer_array(search->infer, AUXILIARY_MOST * ENDS_MOST * search->n_asked + 1, sizeof *attempts);
    size_t n = 0;
    TRY(infer_memory(search->infer));
    for (size_t j = search->n_asked; j < search->n; j++)
        for (size_t k = 0; k < search->targets[j].n_ends; k++)
            for (size_t i = 0; i < search->n_asked; i++)
                attempts[n++] = (struct attempt){&search->targets[i], search->targets[j].ends[k].parameters};
    return search_run_attempts(search, n, attempts);
}

/* A few starts of all kinds: random ones in turns, the ends of the other fits, collective moves. */
static paritas_status check(struct search *search)
{
    struct infer *infer = search->infer;
    const double *starts[CHECK_MOST];
    size_t n_starts = 0, n = 0;
    TRY(fit_far(search));
    if (search->is_small) TRY(add_neighbours(search));
    TRY(follow_paths(search));
    search->lowered = search->met_new = search->dead_end = false;
    TRY(add_random_starts(search, 1, check_size(infer), starts, &n_starts));
    infer->search->checked = true;
    struct attempt *attempts = infer_array(infer, n_starts + (search->n + 1) * search->n, sizeof *attempts);
    TRY(infer_memory(infer));
    const size_t n_fits = search->is_small ? search->n : search->n_asked;
    for (size_t k = 0, i = 0; k < n_starts; i = (i + 1) % n_fits)
        if (!search->targets[i].is_lowest) attempts[n++] = (struct attempt){&search->targets[i], starts[k++]};
    for (size_t i = 0; i < search->n_asked; i++)
        for (size_t j = search->n_asked; j < search->n && !search->targets[i].is_lowest; j++)
            if (search->targets[j].twice_nll < search->targets[0].twice_nll)
                attempts[n++] = (struct attempt){&search->targets[i], search->targets[j].parameters};
    TRY(add_collective(search, attempts, &n));
    search->gives_up = true;
    TRY(search_run_attempts(search, n, attempts));
    search->gives_up = false;
    return search->is_small ? share_auxiliary_ends(search) : PARITAS_OK;
}

/* ---- rounds ---- */

static bool met_several(const struct search *search)
{
    bool several = false;
    for (size_t i = 0; i < search->n; i++) several = several || search->targets[i].n_ends > 1;
    return several;
}

/* The first n_shared starts for all fits, the others for one fit each in turns; and each new answer with one
 * nonlinear parameter on the other side. */
static paritas_status run_round(struct search *search, size_t n_shared, size_t n, const double *const *starts)
{
    const struct nonlinear *nonlinear = &search->infer->search->nonlinear;
    struct attempt *attempts =
        infer_array(search->infer, n + (n_shared + 4 * nonlinear->n) * search->n, sizeof *attempts);
    size_t m = 0;
    TRY(infer_memory(search->infer));
    for (size_t k = n_shared, i = 0; k < n; i = (i + 1) % search->n)
        if (!search->targets[i].is_lowest) attempts[m++] = (struct attempt){&search->targets[i], starts[k++]};
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        if (s->is_lowest) continue;
        for (size_t k = 0; k < n_shared; k++) attempts[m++] = (struct attempt){s, starts[k]};
        if (!search->is_small || s->status != PARITAS_FIT_CONVERGED || s->mirrored == s->parameters) continue;
        s->mirrored = s->parameters;
        for (size_t k = 0; k < nonlinear->n; k++)
            for (double widths = -3.0; widths <= 3.0; widths += 2.0) {
                attempts[m].target = s;
                TRY(signs_move(search->infer, s->parameters, 1, &nonlinear->parameters[k], widths,
                               &attempts[m++].start));
            }
    }
    return search_run_attempts(search, m, attempts);
}

/* Ends that were met since the last round: a minimum of one fit is a start for the others. */
static void add_ends(const struct search *search, const double **starts, size_t *n)
{
    for (size_t i = 0; i < search->n; i++) {
        struct target *s = &search->targets[i];
        for (size_t k = 0; k < s->n_ends && *n < ENDS_MOST * 8; k++) {
            if (s->ends[k].shared) continue;
            s->ends[k].shared = true;
            starts[(*n)++] = s->ends[k].parameters;
        }
    }
}

/* The usual fit was the first start. */
static paritas_status run_rounds(struct search *search)
{
    const size_t asked = search->infer->starts;
    size_t size = FIRST_ROUND, random = asked ? 0 : check_size(search->infer);
    if (!search->is_small) {
        TRY(add_neighbours(search));
        TRY(follow_paths(search));
    }
    for (size_t round = 0; asked ? 1 + random < asked : round < ROUNDS_MOST; round++) {
        const double *starts[LARGEST_ROUND + ENDS_MOST * 8 + 1];
        size_t n = 0;
        if (asked && size > asked - 1 - random) size = asked - 1 - random;
        if (round == 0) starts[n++] = search->infer->base.start;
        add_ends(search, starts, &n);
        const size_t n_shared = n;
        TRY(add_random_starts(search, 1 + random, size, starts, &n));
        search->lowered = false;
        search->n_lost = 0;
        search->gives_up = true;
        TRY(run_round(search, asked ? n : n_shared, n, starts)); /* so many for each fit */
        search->gives_up = false;
        random += size;
        if (!asked && !search->lowered &&
            (size == LARGEST_ROUND || !met_several(search) || 2 * search->n_lost > size))
            break;
        size = size < LARGEST_ROUND ? 2 * size : size;
    }
    return search_leave_unconverged(search);
}

/* ---- all of it ---- */

static bool may_be_lower(const struct search *search)
{
    return search->n_asked > 1 || !search->targets[0].is_lowest;
}

static paritas_status look(struct search *search)
{
    struct landscape *landscape = search->profile->landscape;
    const bool asked = search->infer->starts > 1;
    if (!may_be_lower(search)) return PARITAS_OK;
    TRY(mend(search, true));
    if (landscape->several) TRY(carry_minima(search));
    TRY(try_pool(search));
    TRY(signs_flip(search));
    if (landscape->checked && !landscape->surprised && !search->is_small && !asked)
        return search_leave_unconverged(search);
    landscape->checked = true;
    TRY(check(search));
    landscape->surprised = landscape->surprised || search->lowered;
    const bool rounds =
        asked || landscape->surprised || (search->is_small && (search->met_new || search->dead_end));
    TRY(signs_flip(search));
    if (!rounds) return search_leave_unconverged(search);
    search->infer->search->suspicious = true;
    return run_rounds(search);
}

static void keep_minima(struct search *search)
{
    struct minimum_search *all = search->infer->search;
    landscape_take(search);
    all->suspicious = all->suspicious || search->profile->landscape->several;
    for (size_t i = 0; i < search->n; i++)
        for (size_t k = 0;
             k < search_minima_within(&search->targets[i]) && search->profile->landscape->several; k++)
            put_in_pool(all, search->targets[i].ends[k].parameters);
    search->profile->landscape->shared = all->n_pool;
}

/* Looks for lower minima of these fits, or only carries known ones to them. */
static paritas_status search_fits(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points, bool looks)
{
    struct search search;
    TRY(search_open(infer, profile, n, points, &search));
    if (looks) {
        TRY(signs_find_nonlinear(infer, largest_tested(&search), &infer->search->nonlinear));
        if (has_signs(&search)) TRY(look(&search));
    } else {
        TRY(mend(&search, false));
        if (profile->landscape->several) TRY(carry_minima(&search));
        TRY(search_leave_unconverged(&search));
    }
    TRY(search_kinks(&search));
    keep_minima(&search);
    return search_give_answers(&search);
}

paritas_status minimum_search_carry(struct infer *infer, struct infer_profile *profile, size_t n,
                                    struct infer_point *const *points)
{
    if (infer->starts == 1 || !profile->landscape) return PARITAS_OK;
    bool wanted = profile->landscape->several || paritas_model_frozen(infer->model)->kinked;
    for (size_t i = 0; i < n; i++) wanted = wanted || points[i]->status != PARITAS_FIT_CONVERGED;
    return wanted ? search_fits(infer, profile, n, points, false) : PARITAS_OK;
}

paritas_status minimum_search_run(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points)
{
    if (infer->starts == 1) return PARITAS_OK;
    TRY(learn(infer));
    TRY(landscape_open(infer, profile));
    const size_t most = search_model_is_small(infer) ? SEARCHED_MOST : SEARCHED_LARGE;
    if (n <= most || infer->starts > 1) return search_fits(infer, profile, n, points, true);
    /* minima move continuously: of many fits some are searched, and the others hear of what they found */
    struct infer_point *some[SEARCHED_MOST];
    for (size_t k = 0; k < most; k++) some[k] = points[k * (n - 1) / (most - 1)];
    TRY(search_fits(infer, profile, most, some, true));
    return minimum_search_carry(infer, profile, n, points);
}

paritas_status minimum_search_each(struct infer *infer, struct infer_profile *profile, size_t n,
                                   struct infer_point *const *points)
{
    if (infer->starts == 1) return PARITAS_OK;
    if (n <= SEARCHED_MOST || infer->starts > 1 || !search_model_is_small(infer))
        return minimum_search_run(infer, profile, n, points);
    for (size_t i = 0; i < n; i += SEARCHED_MOST)
        TRY(minimum_search_run(infer, profile, n - i < SEARCHED_MOST ? n - i : SEARCHED_MOST, points + i));
    return minimum_search_carry(infer, profile, n, points);
}

paritas_status minimum_search_others(struct infer *infer, struct infer_profile *profile, size_t n,
                                     struct infer_point *const *points)
{
    if (infer->starts == 1 || n == 0) return PARITAS_OK;
    return search_model_is_small(infer) ? minimum_search_run(infer, profile, n, points)
                                        : minimum_search_carry(infer, profile, n, points);
}
