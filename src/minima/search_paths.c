/* search_paths.c: steps from one value to another. */
#include "minima/search_paths.h"

#include <math.h>

#define STEPS 4
#define LONG_FIT 30 /* iterations */

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
static paritas_status step(struct search *search, int number, size_t n, struct path *paths,
                           struct attempt *attempts)
{
    const double part = (double)number / STEPS;
    for (size_t i = 0; i < n; i++) {
        struct path *path = &paths[i];
        attempts[i] = (struct attempt){number == STEPS ? path->goal : &path->at, path->at.parameters};
        path->point = *path->goal->point;
        path->point.value[0] = path->from + part * (path->goal->point->value[0] - path->from);
        path->at.point = &path->point;
        path->at.status = PARITAS_FIT_NO_PROGRESS;
        path->at.twice_nll = (double)NAN;
    }
    return search_run_attempts(search, n, attempts);
}

paritas_status search_follow_paths(struct search *search)
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
    for (int number = 1; number <= STEPS; number++) TRY(step(search, number, n, paths, attempts));
    return PARITAS_OK;
}
