/* ranking.c: how each parameter's uncertainty moves the best fit of the parameter of interest. */
#include "minima/lowest_points.h"
#include "base/sized.h"
#include "minima/edge_errors.h"
#include "minima/fit_notes.h"

#include <math.h>
#include <stdlib.h>

/* best value +- error, and +- prefit width */
enum { BEST_UP, BEST_DOWN, PREFIT_UP, PREFIT_DOWN, SHIFTS };

#define RANKINGS_MOST 4 /* each from a lower best fit */

static double larger_impact(const paritas_ranking_entry *entry)
{
    double up = fabs(entry->impact_up), down = fabs(entry->impact_down);
    double larger = up > down || isnan(down) ? up : down;
    return isnan(larger) ? -1.0 : larger; /* no impact: last */
}

/* Largest first, then parameter order. */
static int by_impact(const void *first, const void *second)
{
    const paritas_ranking_entry *a = first, *b = second;
    const double x = larger_impact(a), y = larger_impact(b);
    return x != y ? (x < y) - (x > y) : (a->parameter > b->parameter) - (a->parameter < b->parameter);
}

/* Adds a fit with `parameter` shifted (NaN: none) within its bounds. */
static void add_point(const struct infer *infer, struct infer_profile *profile, size_t parameter,
                      double shift, size_t slot, struct infer_point *points, size_t *owner, size_t *n)
{
    if (isnan(shift)) return;
    const double value = infer_bounded(infer, parameter, profile->parameters[parameter] + shift);
    points[*n] = (struct infer_point){.profile = profile, .k = 1, .parameter = {parameter}, .value = {value}};
    owner[(*n)++] = slot;
}

static paritas_status rank(struct infer *infer, struct infer_profile *profile, paritas_ranking_entry *entries,
                           size_t *n, bool *lower_found)
{
    size_t count = infer->n_parameters, n_points = 0;
    const double *widths = infer->widths;
    double *errors;
    paritas_parameter_state *states;
    struct infer_point *points = infer_array(infer, SHIFTS * count, sizeof *points);
    size_t *owner = infer_array(infer, SHIFTS * count, sizeof *owner);
    double *centres = infer_reals(infer, count, 1);
    TRY(infer_memory(infer));
    TRY(infer_constraint_centres(infer, centres));
    TRY(edge_errors_of(infer, profile, &errors, &states));
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        if (infer->base.fixed[i] || i == infer->poi) continue;
        const double error = errors[i];
        paritas_ranking_entry *entry = &entries[*n];
        entry->size = sizeof *entry;
        entry->parameter = i;
        entry->pull = (profile->parameters[i] - centres[i]) / widths[i];
        entry->constraint = error / widths[i];
        entry->impact_up = entry->impact_down = entry->prefit_up = entry->prefit_down = (double)NAN;
        entry->status = profile->result.status;
        const double shift[SHIFTS] = {error, -error, widths[i], -widths[i]};
        size_t first = n_points;
        for (size_t k = 0; k < SHIFTS; k++)
            add_point(infer, profile, i, shift[k], SHIFTS * *n + k, points, owner, &n_points);
        /* these two and the free fit make a parabola */
        for (size_t j = first + PREFIT_UP; j < n_points && !isnan(error); j++) {
            points[j].wave = 1;
            points[j].neighbour[0] = &points[first + BEST_UP];
            points[j].neighbour[1] = &points[first + BEST_DOWN];
        }
        ++*n;
    }
    const double *best = profile->parameters;
    infer->told_unfinished = true; /* a repeated ranking has fits of its own to tell about */
    TRY(infer_points(infer, n_points, points));
    infer->told_unfinished = false;
    *lower_found = profile->parameters != best;
    if (!*lower_found) {
        TRY(fit_notes_profile(infer, profile));
        TRY(fit_notes_points(infer, n_points, points));
    }
    profile->start = *lower_found ? profile->parameters : profile->start;
    for (size_t j = 0; j < n_points; j++) {
        paritas_ranking_entry *entry = &entries[owner[j] / SHIFTS];
        double *const impact[SHIFTS] = {&entry->impact_up, &entry->impact_down, &entry->prefit_up,
                                        &entry->prefit_down};
        if (isfinite(points[j].twice_nll)) /* outside the domain no fit has a point */
            *impact[owner[j] % SHIFTS] = points[j].parameters[infer->poi] - profile->parameters[infer->poi];
        entry->status = infer_worse(entry->status, points[j].status);
    }
    return PARITAS_OK;
}

static void finish(const struct infer *infer, bool still_lower, paritas_ranking_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        entries[i].several_minima = infer_has_several(&infer->minima);
        entries[i].minima = infer->minima;
        if (still_lower) entries[i].status = infer_worse(entries[i].status, PARITAS_FIT_NO_PROGRESS);
    }
    qsort(entries, n, sizeof *entries, by_impact);
}

paritas_status paritas_ranking(paritas_context *context, const paritas_model *model, const paritas_job *job,
                               paritas_ranking_entry *entries, size_t *n)
{
    REQUIRE(context, model, entries, n);
    struct infer infer;
    TRY(SIZED_CHECK(context, paritas_ranking_entry, "entries", paritas_model_parameter_count(model),
                    entries));
    paritas_status status = infer_open(&infer, context, model, job, true);
    struct infer_profile profile = {.data = infer.base.data, .wants_parameters = true};
    /* a fit below the free one is another minimum: start again there */
    bool again = true;
    for (int round = 0; round < RANKINGS_MOST && again && status == PARITAS_OK; round++) {
        status = round == 0 ? infer_lowest_free_fit(&infer, &profile) : infer_free_fit(&infer, &profile);
        if (status == PARITAS_OK) status = rank(&infer, &profile, entries, n, &again);
    }
    if (status == PARITAS_OK) finish(&infer, again, entries, *n);
    if (status == PARITAS_OK) infer_note_widening(&infer);
    infer_close(&infer);
    return status;
}
