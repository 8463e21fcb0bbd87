/* day_losscone.h: options and fits of the loss cone commands. */
#ifndef PARITAS_DAY_LOSSCONE_H
#define PARITAS_DAY_LOSSCONE_H

#include "days/day_sweeps.h"

/* the choices of --confidence, and --threshold */
enum confidence_kind { CONFIDENCE_NONE, CONFIDENCE_RESIDUALS, CONFIDENCE_BOOTSTRAP, CONFIDENCE_THRESHOLD };

struct losscone_plan {
    paritas_losscone_options options; /* response: of `only` */
    bool hard, folded;
    enum confidence_kind confidence;
    double threshold, level, step;
    unsigned draws;
    double least_counts; /* a cell of a row, on average; fewer: the row is masked; 0: counts do not matter */
    bool subtract;       /* a background, where a sweep shows it */
    bool weighted;       /* the folded edge by the measured spectrum */
};

extern const struct option options_losscone[], options_losscone_confidence[];
#define GROUP_LOSSCONE {"Loss cones", options_losscone}
#define GROUP_CONFIDENCE {"Confidence sets", options_losscone_confidence}

paritas_status losscone_plan_open(struct session *session, struct losscone_plan *plan);
void losscone_plan_describe(const struct losscone_plan *plan, struct writer *writer);
/* 0 hard, 1 folded, as responses. */
const char *losscone_model_name(int model);
paritas_losscone_options losscone_plan_options(const struct losscone_plan *plan, int model);

/* Completes a day's sweeps for fits: subtracts backgrounds, masks rows and cells that fits do not take, adds
 * channels and counts. `theta`: of the cells. `flux`: those of `sweeps`, normalised anew. Arrays of the
 * arena. rate: subtracted counts/s of each sweep; may be NULL. */
paritas_status losscone_plan_prepare(struct session *session, const struct losscone_plan *plan,
                                     const double *theta, paritas_normalisation normalisation,
                                     paritas_er_day *day, paritas_sweeps *sweeps, double *flux,
                                     const double **rate);

/* Fits of n sweeps by model, in an arena; NULL: not asked for. */
struct losscone_answers {
    paritas_losscone_result *results[2];
    paritas_confidence *sets[2];
};
/* first: number of the first sweep; keys random numbers. */
paritas_status losscone_answer(struct session *session, const struct losscone_plan *plan,
                               const paritas_sweeps *sweeps, uint64_t first,
                               struct losscone_answers *answers);

/* The model with the lesser misfit, of two; -1: not both have a fit. */
int losscone_preferred(const struct losscone_answers *answers, size_t k);
/* Quality of sweep k: of the preferred model, where there are two, else of the one. */
unsigned losscone_flags(const struct losscone_answers *answers, size_t k);

bool losscone_fitted(const paritas_losscone_result *result);
/* Why `k` has nothing to fit, else how the fit ended. */
const char *losscone_status_word(const struct sweeps *sweeps, size_t k,
                                 const paritas_losscone_result *result);

#endif
