/* minimum_search.c: further starts for the fits of a statistic.
 *
 *   known minima carried along ─► the parameter of interest held elsewhere, then freed ─► starts
 *   (search_starts.h) ─► what one fit met is a start of all others
 *
 * docs/contract.md has the promise. */
#include "minima/minimum_search.h"
#include "fit/family.h"
#include "fit/random_start.h"
#include "minima/landscape.h"
#include "minima/search_kinks.h"
#include "minima/search_signs.h"
#include "minima/search_starts.h"

#include <math.h>
#include <string.h>

#define ANCHORS_MOST 4 /* values of a large model that are searched at once; the others hear of theirs */
#define HOLDS 4
#define SHARING_MOST 8 /* rounds of ends that become starts */
#define ROUNDS_MOST 4  /* of a hard model */
#define POOL_MOST 64
#define MENDED_FROM 32  /* ends of other fits, for a fit without one: a ranking has thousands */
#define TOGETHER_MOST 8 /* fits of a small model that are searched at once */

/* What searches have learnt of a model and all of its data. */
struct minimum_search {
    struct nonlinear nonlinear;
    bool suspicious;               /* a start lowered an answer, of any data */
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
    return search_carry_attempts(search, m, attempts);
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
    return search_carry_attempts(search, n, attempts);
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

/* ---- held and freed ---- */

/* Values of the parameter of interest far from its best fit, on both sides. */
static void list_holds(const struct infer *infer, const double *best, double *values)
{
    const size_t poi = infer->poi;
    const double lower = infer->base.lower[poi], upper = infer->base.upper[poi], at = best[poi],
                 reach = fmax(random_start_reach(infer->base.start[poi]), 2.0 * fabs(at)),
                 low = fmax(lower, fmin(-reach, at - reach)), high = fmin(upper, fmax(reach, at + reach));
    values[0] = low;
    values[1] = 0.5 * (low + at);
    values[2] = 0.5 * (at + high);
    values[3] = high;
}

/* The free fit, from where fits ended that held the parameter of interest elsewhere. */
static paritas_status hold_and_free(struct search *search)
{
    struct infer *infer = search->infer;
    struct target *free = &search->targets[0];
    double values[HOLDS];
    struct attempt attempts[HOLDS];
    if (infer->poi == infer->n_parameters || free->fixed[infer->poi] || free->is_lowest) return PARITAS_OK;
    list_holds(infer, free->parameters, values);
    for (size_t k = 0; k < HOLDS; k++) {
        TRY(search_add_auxiliary(search, values[k]));
        attempts[k] = (struct attempt){&search->targets[search->n - 1], free->parameters};
    }
    TRY(search_run_attempts(search, HOLDS, attempts));
    for (size_t k = 0; k < HOLDS; k++) {
        const struct target *held = attempts[k].target;
        attempts[k] = (struct attempt){free, held->parameters ? held->parameters : infer->base.start};
    }
    return search_run_attempts(search, HOLDS, attempts);
}

/* An end of one fit is a start of all others that were asked for; in a small model of all. */
static paritas_status share_ends(struct search *search)
{
    struct attempt *attempts =
        infer_array(search->infer, ENDS_MOST * search->n * search->n, sizeof *attempts);
    TRY(infer_memory(search->infer));
    const size_t n_goals = search->is_small ? search->n : search->n_asked;
    for (int round = 0; round < SHARING_MOST; round++) {
        size_t n = 0;
        for (size_t j = 0; j < search->n; j++)
            for (size_t k = 0; k < search->targets[j].n_ends; k++) {
                struct end *end = &search->targets[j].ends[k];
                for (size_t i = 0; i < n_goals && !end->shared; i++)
                    if (i != j && !search->targets[i].is_lowest)
                        attempts[n++] = (struct attempt){&search->targets[i], end->parameters};
                end->shared = true;
            }
        if (n == 0) break;
        TRY(search_carry_attempts(search, n, attempts));
    }
    return PARITAS_OK;
}

/* ---- all of it ---- */

/* Starts with nonlinear parameters moved, from where fits ended: all together, those of the free fit further
 * out, those of conditional ones to the other side. In a small model also each alone. */
static paritas_status move_nonlinear(struct search *search)
{
    const struct nonlinear *nonlinear = &search->infer->search->nonlinear;
    struct attempt *attempts =
        infer_array(search->infer, (1 + 4 * nonlinear->n) * search->n_asked, sizeof *attempts);
    size_t n = 0;
    TRY(infer_memory(search->infer));
    for (size_t i = 0; i < search->n_asked && nonlinear->n > 0; i++) {
        struct target *s = &search->targets[i];
        if (s->is_lowest || s->status != PARITAS_FIT_CONVERGED) continue;
        attempts[n].target = s;
        TRY(signs_move(search->infer, s->parameters, nonlinear->n, nonlinear->parameters,
                       s->point ? -1.0 : 1.0, &attempts[n++].start));
        for (size_t k = 0; k < nonlinear->n && search->is_small; k++)
            for (double widths = -3.0; widths <= 3.0; widths += 2.0) {
                attempts[n].target = s;
                TRY(signs_move(search->infer, s->parameters, 1, &nonlinear->parameters[k], widths,
                               &attempts[n++].start));
            }
    }
    return search_run_attempts(search, n, attempts);
}

/* Rounds of a hard model, while they lower an answer. */
static paritas_status run_more(struct search *search, struct starts *starts)
{
    const bool lowered = search->lowered;
    bool went, lower = true;
    for (int round = 0; round < ROUNDS_MOST && lower; round++) {
        search->lowered = false;
        TRY(starts_run_more(search, starts, &went));
        if (!went) break;
        TRY(share_ends(search));
        TRY(starts_follow_paths(search));
        lower = search->lowered;
        TRY(search_leave_unconverged(search));
        search->lowered = lowered || lower;
    }
    return PARITAS_OK;
}

static paritas_status look(struct search *search)
{
    struct landscape *landscape = search->profile->landscape;
    struct starts starts;
    TRY(mend(search, true));
    if (landscape->several) TRY(carry_minima(search));
    TRY(try_pool(search));
    search->lowered = false;
    if (!landscape->free_searched) TRY(hold_and_free(search));
    TRY(starts_plan(search, &starts));
    TRY(signs_flip(search));
    TRY(move_nonlinear(search));
    TRY(starts_run_first(search, &starts));
    TRY(share_ends(search));
    TRY(starts_run_rest(search, &starts));
    TRY(share_ends(search));
    TRY(starts_follow_paths(search));
    TRY(run_more(search, &starts));
    search->infer->search->suspicious = search->infer->search->suspicious || search->lowered;
    return search_leave_unconverged(search);
}

static void keep_minima(struct search *search)
{
    struct minimum_search *all = search->infer->search;
    landscape_take(search);
    all->suspicious = all->suspicious || search->profile->landscape->several;
    for (size_t i = 0; i < search->n_asked; i++)
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
        if (n > 0 || !search.targets[0].is_lowest) TRY(look(&search));
    } else {
        TRY(mend(&search, false));
        if (profile->landscape->several) TRY(carry_minima(&search));
        TRY(try_pool(&search));
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
    bool wanted = profile->landscape->several || paritas_model_frozen(infer->model)->kinked ||
                  profile->landscape->shared < infer->search->n_pool;
    for (size_t i = 0; i < n; i++) wanted = wanted || points[i]->status != PARITAS_FIT_CONVERGED;
    return wanted ? search_fits(infer, profile, n, points, false) : PARITAS_OK;
}

paritas_status minimum_search_run(struct infer *infer, struct infer_profile *profile, size_t n,
                                  struct infer_point *const *points)
{
    if (infer->starts == 1) return PARITAS_OK;
    TRY(learn(infer));
    TRY(landscape_open(infer, profile));
    const bool all = search_model_is_small(infer) || infer->starts > 1;
    if (n <= ANCHORS_MOST || (all && n <= TOGETHER_MOST)) return search_fits(infer, profile, n, points, true);
    if (all) {
        for (size_t i = 0; i < n; i += TOGETHER_MOST)
            TRY(search_fits(infer, profile, n - i < TOGETHER_MOST ? n - i : TOGETHER_MOST, points + i, true));
        return minimum_search_carry(infer, profile, n, points);
    }
    /* minima move continuously: of many fits some are searched, and the others hear of what they found */
    struct infer_point *some[ANCHORS_MOST];
    for (size_t k = 0; k < ANCHORS_MOST; k++) some[k] = points[k * (n - 1) / (ANCHORS_MOST - 1)];
    TRY(search_fits(infer, profile, ANCHORS_MOST, some, true));
    return minimum_search_carry(infer, profile, n, points);
}
