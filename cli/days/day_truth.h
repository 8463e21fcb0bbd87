/* day_truth.h: options of synthetic sweeps. */
#pragma once

#include "session/session.h"
#include "paritas_days.h"

struct truth_plan {
    paritas_synthetic_options draw;
    const struct given *region; /* the choice of --region; NULL: none */
};

extern const struct option options_truth[];
#define GROUP_TRUTH {"Truth", options_truth}
paritas_status truth_plan_open(struct session *session, struct truth_plan *plan);
void truth_plan_describe(const struct truth_plan *plan, struct writer *writer);
/* Room for n sweeps, in the arena. */
paritas_status truths_open(struct session *session, size_t n, paritas_truths *truths);
