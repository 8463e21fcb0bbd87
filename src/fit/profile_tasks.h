/* profile_tasks.h: launches of the quasi-Newton entry (kernels/minimise/quasi_newton.h). */
#ifndef PARITAS_FIT_PROFILE_TASKS_H
#define PARITAS_FIT_PROFILE_TASKS_H

#include "fit/ladder.h"

/* Data rows with both fits' points (user's order). Without an answer, profile and end stay. */
struct profile_tasks {
    const struct profile_plan *plan;
    const struct frozen *model;
    const double *data;
    struct profile *profiles;
    double *ends;
    size_t n;
    const size_t *which; /* n; NULL: 0 .. n - 1 */
    bool from_ends;      /* not at the plan's start */
    bool knows;          /* these are the ends of free fits */
    bool own_holds;      /* all fit the first data row; `ends` has starts and what moves */
    bool holds_poi;      /* the parameter of interest where the first end has it */
    double *slopes;      /* of twice the NLL by it, in the last fit; NULL: not asked for */
    bool wants_ends;
    bool closest;
    bool by_f32, raw;
    uint32_t evaluations;
};

paritas_status profile_tasks_run(paritas_context *context, struct paritas_device *device,
                                 struct profile_tasks *tasks);

#endif
