/* day_losscone.h: what the commands on loss cones share: their options, and fits of a day's sweeps by one or
 * both models of the instrument. */
#ifndef PARITAS_DAY_LOSSCONE_H
#define PARITAS_DAY_LOSSCONE_H

#include "days/day_sweeps.h"

enum confidence_kind { CONFIDENCE_NONE, CONFIDENCE_RESIDUALS, CONFIDENCE_THRESHOLD, CONFIDENCE_BOOTSTRAP };

struct losscone_plan {
    paritas_losscone_options options; /* response: of `only` */
    bool hard, folded;                /* which models are fitted */
    enum confidence_kind confidence;
    double threshold, level, step;
    unsigned draws;
};

/* Tables of options. */
extern const struct option options_losscone[], options_losscone_confidence[];
#define GROUP_LOSSCONE {"Loss cones", options_losscone}
#define GROUP_CONFIDENCE {"Confidence sets", options_losscone_confidence}

paritas_status losscone_plan_open(struct session *session, struct losscone_plan *plan);
/* Keys and values for the provenance. */
void losscone_plan_describe(const struct losscone_plan *plan, struct writer *writer);
/* Models are numbered as their responses are: 0 hard, 1 folded. */
const char *losscone_model_name(int model);
/* The options of one model. */
paritas_losscone_options losscone_plan_options(const struct losscone_plan *plan, int model);

/* What the fits of n sweeps answered, model by model: NULL where it was not asked for. In an arena. */
struct losscone_answers {
    paritas_losscone_result *results[2];
    paritas_confidence *sets[2];
};
/* first: number of the first sweep, that random numbers are keyed by. */
paritas_status losscone_answer(paritas_context *context, const struct losscone_plan *plan,
                               const paritas_sweeps *sweeps, uint64_t first, struct arena *arena,
                               struct losscone_answers *answers);

/* Has the result numbers? */
bool losscone_fitted(const paritas_losscone_result *result);
/* What became of sweep `k`: why there is nothing to fit, else the outcome of the fit. */
const char *losscone_status_word(const struct sweeps *sweeps, size_t k,
                                 const paritas_losscone_result *result);

#endif
