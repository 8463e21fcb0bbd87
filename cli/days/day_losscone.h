/* day_losscone.h: options and fits of the loss cone commands. */
#pragma once

#include "session/session.h"
#include "paritas_days.h"

struct losscone_plan {
    paritas_losscone_options options;
    bool hard, folded;
    paritas_losscone_sets sets;
    bool weighted; /* the folded edge by the measured spectrum */
};

extern const struct option options_losscone[], options_search[], options_losscone_confidence[],
    options_background[];
#define GROUP_LOSSCONE {"Loss cones", options_losscone, .without = "--search|--population|--generations"}
#define GROUP_SEARCH {"Search", options_search} /* not of profiles, which are exact */
#define GROUP_BACKGROUND {"Background", options_background}
#define GROUP_CONFIDENCE {"Confidence sets", options_losscone_confidence}

paritas_status losscone_plan_open(struct session *session, struct losscone_plan *plan);
/* options: of the day, with the least counts. */
void losscone_plan_describe(const struct losscone_plan *plan, const paritas_day_options *options,
                            struct writer *writer);
/* The plan in the options of a day, which borrow it. */
void losscone_plan_take(const struct losscone_plan *plan, paritas_day_options *options);
/* The background, of kappa fits too. */
void background_take(const struct session *session, paritas_day_options *options);
void background_describe(const paritas_day_options *options, struct writer *writer);
/* 0 hard, 1 folded, as responses. */
const char *losscone_model_name(int model);

/* Completes a day's sweeps for fits: backgrounds, channels, counts, masks. */
paritas_status losscone_count(struct session *session, const struct losscone_plan *plan,
                              const paritas_day_options *options, paritas_er_day *day,
                              paritas_day_sweeps *sweeps);

/* Fits of n sweeps by model, in an arena; NULL: not asked for. */
struct losscone_answers {
    paritas_losscone_result *results[2];
    paritas_confidence *sets[2];
};
/* first: number of the first sweep; keys random numbers. */
paritas_status losscone_answer(struct session *session, const struct losscone_plan *plan,
                               const paritas_sweeps *sweeps, uint64_t first,
                               struct losscone_answers *answers);
/* Quality of sweep k by both models. */
unsigned losscone_flags(const struct losscone_answers *answers, size_t k);
/* The preferred model of sweep k; -1: not both have a fit. */
int losscone_preferred(const struct losscone_answers *answers, size_t k);
